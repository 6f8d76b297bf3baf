"""Each record as one number a given label: what an aggregate with fixed signs needs of it.

With fixed factors ``f`` a directional aggregate is a mean over given labels of
``sum_i h_ig s_ig / sum_i h_ig``, where ``h_ig`` says whether record i has label g and
``s_ig = sum_o f_go (o_hat_i - o_i)``. Resampling needs two sums a given label instead of two a pair, and
where every record has one given label at most, only how many records share a score.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, LabelSet

from .fixed import Count, add, exact_sums, floats
from .joint import WIDE, chunks
from .poisson import Drawing

Floats = NDArray[np.float64]

# Records weighed at once; a block of their weights stays in cache for the matrix product.
_CHUNK = 2048
# Given labels whose sums are formed side by side.
MOST_GIVEN = 1024
# Distinct scores that are resampled as counts; beyond, resampling records is no slower.
_MOST_CELLS = 1 << 14


def scorable(evaluation: Evaluation) -> bool:
    """Whether a score a given label is enough: not where each pair leaves out records of its own."""
    return not (evaluation.given.missing or evaluation.truth.missing or evaluation.predicted.missing)


def change(evaluation: Evaluation, start: int, stop: int, against_truth: bool = True) -> Any:
    """``o_hat - o`` (or ``o_hat`` alone) of some records, 0 where a label is missing: a matrix, sparse if wide."""
    truth, predicted = evaluation.truth, evaluation.predicted
    complete = not (truth.missing or predicted.missing)
    if truth.width > WIDE and not predicted.soft and complete:
        held = _sparse(predicted, start, stop)
        return held - _sparse(truth, start, stop) if against_truth else held
    held = predicted.rows(start, stop)
    dtype = np.float64 if held.dtype.kind == "f" else np.float32
    difference: NDArray[Any] = held.astype(dtype)
    if against_truth:
        difference = difference - truth.rows(start, stop)
    if not complete:
        difference = difference * there(evaluation, start, stop)
    return difference


def there(evaluation: Evaluation, start: int, stop: int) -> NDArray[np.bool_]:
    """Which outcome labels of some records are known, both the true and the predicted one."""
    mask = np.ones((min(stop, len(evaluation)) - start, evaluation.truth.width), dtype=bool)
    for labels in (evaluation.truth, evaluation.predicted):
        present = labels.present(start, stop)
        if present is not None:
            mask &= present
    return mask


def _sparse(labels: LabelSet, start: int, stop: int) -> Any:
    from scipy.sparse import csr_array

    row, column = labels.nonzero(start, stop)
    shape = (min(stop, len(labels)) - start, labels.width)
    return csr_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=shape)


def _chunk_scores(
    evaluation: Evaluation, factor: NDArray[np.int8], against_truth: bool, start: int, stop: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Row, given label and score of every given label held."""
    row, label = evaluation.given.nonzero(start, stop)
    moved = change(evaluation, start, stop, against_truth)
    if evaluation.predicted.soft:
        # Row by row and not as a matrix product, whose rounding depends on how many records go together.
        table = np.stack([(moved * factor[g]).sum(axis=1) for g in range(len(factor))], axis=1)
        return row, label, table[row, label]
    table = np.asarray(moved @ np.ascontiguousarray(factor.T, dtype=np.float32))
    return row, label, np.rint(table[row, label]).astype(np.int64)


def score_replicates(
    evaluation: Evaluation, factor: NDArray[np.int8], resamples: int, seed: int, against_truth: bool = True
) -> tuple[Floats, Floats]:
    """``sum w h`` and ``sum w h s`` of every given label under each keyed Poisson resample.

    Returns
    -------
    size, total : ndarray of shape (resamples, given labels)
        The same to the bit whatever the order of the records.
    """
    groups = evaluation.given.width
    total: Count = np.zeros((resamples, 2 * groups), dtype=np.int64)
    units = evaluation.units
    drawing = Drawing(resamples, seed, len(evaluation))
    for start in range(0, len(evaluation), _CHUNK):
        stop = min(start + _CHUNK, len(evaluation))
        row, label, score = _chunk_scores(evaluation, factor, against_truth, start, stop)
        own = np.ones(len(row), dtype=np.int64) if evaluation.weights is None else evaluation.weights[start:stop][row]
        whole = score.dtype.kind != "f" and own.dtype.kind != "f"
        if whole and drawing.compiled:
            from .kernels.compiled_draws import add_scores

            part = np.zeros((2, groups, resamples), dtype=np.int64)
            add_scores(drawing.by_record(units[start:stop]), row, label, own.astype(np.int64), score, part)
            total = add(total, part.reshape(2 * groups, resamples).T)
            continue
        columns = np.zeros((stop - start, 2 * groups), dtype=np.int64 if whole else np.float64)
        columns[row, label] = own
        columns[row, groups + label] = own * score
        total = add(total, weighted_sums(drawing.weights(units[start:stop]), columns))
    sums = floats(total)
    return sums[:, :groups], sums[:, groups:]


def weighted_sums(weights: NDArray[np.float32], columns: NDArray[Any]) -> Count:
    """Sums of columns under each resample's weights, exactly: of whole numbers, or of fractions in two limbs."""
    if columns.dtype.kind == "f":
        wide = weights.astype(np.float64)
        return exact_sums(columns, lambda limb, rows: wide[:, rows] @ limb)
    # Float32 holds whole numbers below 2**24, and a weight is 8 at most.
    largest = 8 * len(columns) * max(int(columns.max(initial=0)), -int(columns.min(initial=0)))
    dtype = np.float32 if largest < 1 << 24 else np.float64
    return (weights.astype(dtype, copy=False) @ columns.astype(dtype)).astype(np.int64)


def collapsed(
    evaluation: Evaluation, factor: NDArray[np.int8], against_truth: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
    """How many records share a given label and a score; None where records cannot be collapsed so.

    Records need one given label at most, hard unweighted predictions and no cluster: then a bootstrap of the
    records is a multinomial draw over these cells.

    Returns
    -------
    label, score, count : ndarray
        One item a cell; label -1 stands for the records with no given label.
    """
    plain = evaluation.weights is None and evaluation.clusters is None and evaluation.ids is None
    hard = not evaluation.predicted.soft and scorable(evaluation)
    if not (plain and hard and evaluation.given.exclusive):
        return None
    groups, reach = evaluation.given.width, evaluation.truth.width
    span = 2 * reach + 1
    counts = np.zeros(groups * span, dtype=np.int64)
    held = 0
    for start, stop in chunks(len(evaluation), groups + reach):
        row, label, score = _chunk_scores(evaluation, factor, against_truth, start, stop)
        counts += np.bincount(label * span + score + reach, minlength=groups * span)
        held += len(row)
    cells = np.flatnonzero(counts)
    if len(cells) > _MOST_CELLS:
        return None
    label, score, count = cells // span, cells % span - reach, counts[cells]
    if held < len(evaluation):
        return np.append(label, -1), np.append(score, 0), np.append(count, len(evaluation) - held)
    return label, score, count


def collapsed_replicates(
    cells: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], groups: int, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    """As :func:`score_replicates`, by multinomial draws over collapsed cells."""
    label, score, count = cells
    n = int(count.sum())
    drawn = np.random.default_rng(np.random.SeedSequence(seed % (1 << 64))).multinomial(n, count / n, size=resamples)
    columns = np.zeros((len(label), 2 * groups))
    inside = label >= 0
    columns[np.flatnonzero(inside), label[inside]] = 1.0
    columns[np.flatnonzero(inside), groups + label[inside]] = score[inside]
    sums = drawn.astype(np.float64) @ columns
    return sums[:, :groups], sums[:, groups:]
