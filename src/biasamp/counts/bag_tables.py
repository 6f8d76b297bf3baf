"""Counting records into the tables of their bags: by matrix products, in numba, or by listing what records hold."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, LabelSet

from .fixed import Count, Fixed, add, concatenate, limbs, total
from .joint import WIDE
from .kernels import sparse
from .pair import present_rows

Index = NDArray[np.int64]
Tables = tuple[Count, Count]

# Records whose columns are laid out at once.
CHUNK = 1 << 14
# Below so many labels of records, loading the compiler would take longer than counting.
_WORTH_COMPILING = 1 << 21


def pair_tables_of_bags(
    evaluation: Evaluation, bag: Index, bags: int, accelerate: bool | None
) -> tuple[dict[str, Any], Count]:
    """The arrays of pair counts by bag, and how often truth and prediction agree that a label holds.

    Parameters
    ----------
    evaluation : Evaluation
        The records.
    bag : ndarray of shape (records,)
        The row of each record's bag, below ``bags``.

    Returns
    -------
    arrays : dict of counts of shape (bags, given labels or 1, outcome labels or 1)
    agreeing : counts of shape (outcome labels,)
    """
    if evaluation.missing:
        return _masked(evaluation, bag, bags)
    return _named(_tables(evaluation, bag, bags, accelerate), evaluation.truth.width)


def worth_compiling(labels: int, accelerate: bool | None) -> bool:
    """Whether so many labels are counted in numba: where it is installed and pays, or as the caller says."""
    if accelerate is not None:
        return accelerate
    return labels >= _WORTH_COMPILING and find_spec("numba") is not None


def sums_by(keys: Index, groups: int, values: NDArray[Any]) -> Count:
    """Sum the rows of ``values`` over the records of each key, exactly: whole numbers, or fractions in limbs.

    Parameters
    ----------
    keys : ndarray of shape (records,)
        Which of ``groups`` sums each row goes to.
    values : ndarray of shape (records, columns)
    """
    if values.dtype.kind == "f":
        nothing = np.zeros((groups, values.shape[1]), dtype=np.int64)
        return Fixed(*(nothing if limb is None else _whole_sums(keys, groups, limb) for limb in limbs(values)))
    return _whole_sums(keys, groups, values)


def _whole_sums(keys: Index, groups: int, values: NDArray[Any]) -> NDArray[np.int64]:
    from scipy.sparse import csr_array

    out = np.zeros((groups, values.shape[1]), dtype=np.int64)
    used, place = np.unique(keys, return_inverse=True)
    ones = np.ones(len(keys), dtype=np.float64)
    indicator = csr_array((ones, (place.reshape(-1), np.arange(len(keys)))), shape=(len(used), len(keys)))
    out[used] = (indicator @ values.astype(np.float64)).astype(np.int64)
    return out


def weighted(values: NDArray[Any], weights: NDArray[Any] | None, start: int, stop: int) -> NDArray[Any]:
    """The values of some records, times their weights where there are any."""
    return values if weights is None else values * weights[start:stop, None]


def held_in_bags(labels: LabelSet, bag: Index, start: int, stop: int, groups: int) -> tuple[Index, Index]:
    """Row and (bag, label) of every label held, and for every record a last label that all hold."""
    row, label = labels.nonzero(start, stop)
    here = bag[start:stop] * groups
    rows = np.concatenate([row, np.arange(stop - start)])
    return rows, np.concatenate([here[row] + label, here + groups - 1])


def shaped(table: Count | None, *shape: int) -> Count:
    """Counts in another shape; zeros where nothing was counted."""
    if table is None:
        return np.zeros(shape, dtype=np.int64)
    if isinstance(table, Fixed):
        return Fixed(*(part.reshape(shape) for part in (table.whole, table.high, table.low)))
    return table.reshape(shape)


def _tables(evaluation: Evaluation, bag: Index, bags: int, accelerate: bool | None) -> Tables:
    """Tables (bags, given labels and everyone, columns): of truth and one, and of predictions and both."""
    hard = not evaluation.predicted.soft
    if evaluation.truth.width > WIDE and hard:
        return _listed(evaluation, bag, bags)
    labels = len(evaluation) * evaluation.truth.width
    if hard and evaluation.weights is None and worth_compiling(labels, accelerate):
        return compiled_tables(evaluation, bag, bags)
    return _summed(evaluation, bag, bags)


def _summed(evaluation: Evaluation, bag: Index, bags: int) -> Tables:
    """As matrix products, whatever the labels."""
    groups, width = evaluation.given.width + 1, evaluation.truth.width
    tables: list[Count | None] = [None, None]
    for start in range(0, len(evaluation), CHUNK):
        stop = min(start + CHUNK, len(evaluation))
        one, held = evaluation.truth.rows(start, stop), evaluation.predicted.rows(start, stop)
        rows, keys = held_in_bags(evaluation.given, bag, start, stop, groups)
        for i, columns in enumerate(([one, np.ones((stop - start, 1), dtype=one.dtype)], [held, one * held])):
            values = weighted(np.concatenate(columns, axis=1), evaluation.weights, start, stop)
            part, before = sums_by(keys, bags * groups, values[rows]), tables[i]
            tables[i] = part if before is None else add(before, part)
    return shaped(tables[0], bags, groups, width + 1), shaped(tables[1], bags, groups, 2 * width)


def compiled_tables(evaluation: Evaluation, bag: Index, bags: int) -> Tables:
    """As :func:`_summed` for hard unweighted labels, in numba."""
    from .kernels.bagged import add_to_bags

    given, groups, width = evaluation.given, evaluation.given.width + 1, evaluation.truth.width
    table = np.zeros((bags, groups, 3 * width + 1), dtype=np.int64)
    step = 1 << 17
    everyone = False
    for start in range(0, len(evaluation), step):
        stop = min(start + step, len(evaluation))
        mine = bag[start:stop]
        # Records of one bag together, so that its counts stay in cache.
        order = np.argsort(mine.astype(np.uint16), kind="stable")
        one = np.ascontiguousarray(evaluation.truth.rows(start, stop))
        held = np.ascontiguousarray(evaluation.predicted.rows(start, stop))
        row, label = given.nonzero(start, stop)
        # Records with one given label each are all in the totals of these labels.
        apart = len(row) != stop - start or not np.array_equal(row, np.arange(len(row)))
        if apart and not everyone and start:
            table[:, -1] = table[:, :-1].sum(axis=1)
        everyone = everyone or apart
        ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=stop - start))])
        add_to_bags(order, mine, ends, label, one, held, table, everyone)
    if not everyone:
        table[:, -1] = table[:, :-1].sum(axis=1)
    return table[..., : width + 1], table[..., width + 1 :]


def _listed(evaluation: Evaluation, bag: Index, bags: int) -> Tables:
    """As :func:`_summed` for many outcome labels of which a record has few."""
    groups, width = evaluation.given.width + 1, evaluation.truth.width
    shape = (bags * groups, width)
    table: Count | None = None
    for start in range(0, len(evaluation), 1 << 17):
        stop = min(start + (1 << 17), len(evaluation))
        weights = None if evaluation.weights is None else evaluation.weights[start:stop]
        rows, keys = held_in_bags(evaluation.given, bag, start, stop, groups)
        order = np.argsort(rows, kind="stable")
        left = rows[order], keys[order]
        one, held = evaluation.truth.nonzero(start, stop), evaluation.predicted.nonzero(start, stop)
        parts = [sparse.cross(left, side, shape, weights) for side in (one, held, sparse.both(one, held, width))]
        parts.insert(1, sparse.marginal(left, shape[0], weights)[:, None])
        part = concatenate(parts, axis=1)
        table = part if table is None else add(table, part)
    whole = shaped(table, bags, groups, 3 * width + 1)
    return whole[..., : width + 1], whole[..., width + 1 :]


def _named(tables: Tables, width: int) -> tuple[dict[str, Any], Count]:
    """The arrays of pair counts, and how often truth and prediction agree that a label holds."""
    true, held = tables
    arrays = {
        "n": true[:, -1:, -1:],
        "given": true[:, :-1, -1:],
        "truth": true[:, -1:, :-1],
        "predicted": held[:, -1:, :width],
        "joint_truth": true[:, :-1, :-1],
        "joint_predicted": held[:, :-1, :width],
        "joint_both": held[:, :-1, width:],
    }
    return arrays, total(held[:, -1, width:])


def _masked(evaluation: Evaluation, bag: Index, bags: int) -> tuple[dict[str, Any], Count]:
    """Records with a missing label are left out of that pair alone, so every pair has its own totals."""
    groups, width = evaluation.given.width, evaluation.truth.width
    sums: dict[tuple[int, int], Count] = {}
    agreeing: Count = np.zeros(width, dtype=np.int64)
    for start in range(0, len(evaluation), CHUNK):
        stop = min(start + CHUNK, len(evaluation))
        given, one, held, here, there = present_rows(evaluation, start, stop)
        for j, columns in enumerate(([there, one], [held, one * held])):
            values = weighted(np.concatenate(columns, axis=1), evaluation.weights, start, stop)
            for i, side in enumerate((here, given)):
                row, label = np.nonzero(side)
                part = sums_by(bag[start:stop][row] * groups + label, bags * groups, values[row])
                sums[i, j] = add(sums[i, j], part) if (i, j) in sums else part
            if j:
                agreeing = add(agreeing, total(sums_by(np.zeros(len(values), np.int64), 1, values[:, width:])))
    known, known_held, true, held_there = (
        shaped(sums.get(place), bags, groups, 2 * width) for place in ((0, 0), (0, 1), (1, 0), (1, 1))
    )
    arrays = {
        "n": known[..., :width],
        "given": true[..., :width],
        "truth": known[..., width:],
        "predicted": known_held[..., :width],
        "joint_truth": true[..., width:],
        "joint_predicted": held_there[..., :width],
        "joint_both": held_there[..., width:],
    }
    return arrays, agreeing
