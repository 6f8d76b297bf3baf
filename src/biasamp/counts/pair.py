"""Pair counts of one direction: what every directional metric and parity companion is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, Label

from .fixed import Count, Fixed, add, as_fixed, concatenate, floats, subtract
from .joint import WIDE, JointCounts, and_everyone, chunks, refuse_too_many, same_labels, squared_weights
from .kernels import dense, sparse
from .kernels.slabs import pair_tables

NO_RECORD = "no record has all labels: every one lacks its group, its truth or its prediction"
# Adding whole rows pays when rows are wide and a record holds few given labels; else a matrix product does.
_WORTH_ADDING = 16
_GATHERED = 1 << 14
_FEW_LABELS = 4


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of every pair (given g, outcome o) of one direction; they add up over records.

    Attributes
    ----------
    n, given, truth, predicted : counts
        ``n``, ``C(g)``, ``C(o)``, ``C(o_hat)``; they broadcast against the pair tables. Where records with
        a missing label are left out of some pairs they have the full shape.
    joint_truth, joint_predicted, joint_both : counts of shape (given labels, outcome labels)
        ``C(g, o)``, ``C(g, o_hat)`` and ``C(g, o and o_hat)``.
    spread : tuple of counts or None
        With weights ``w`` or soft predictions, ``sum w**2``, ``sum w**2 d`` and ``sum w**2 d**2`` over the
        records with g, where ``d = o_hat - o``; None where the tables above say the same.
    """

    given_labels: tuple[Label, ...]
    outcome_labels: tuple[Label, ...]
    records: int
    n: Count
    given: Count
    truth: Count
    predicted: Count
    joint_truth: Count
    joint_predicted: Count
    joint_both: Count
    squared: Count
    spread: tuple[Count, Count, Count] | None = None

    @classmethod
    def from_labels(cls, evaluation: Evaluation, *, accelerate: bool | None = None) -> PairCounts:
        """Count the pairs of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            Labels in one label space.
        accelerate : bool, optional
            Whether to use numba; by default where it is installed.
        """
        refuse_too_many(evaluation.given.labels, evaluation.truth.labels)
        evaluation = drop_records(evaluation)
        given, truth, predicted = evaluation.given, evaluation.truth, evaluation.predicted
        cut: dict[str, Any] = {
            "given_labels": given.labels,
            "outcome_labels": truth.labels,
            "squared": squared_weights(evaluation.weights, len(evaluation)),
        }
        if truth.missing or predicted.missing or given.missing:
            return cls(**cut, **_masked(evaluation), spread=pair_spread(evaluation))
        plain = not predicted.soft and evaluation.weights is None
        if (given.width > WIDE or truth.width > WIDE) and not predicted.soft:
            tables = _listed(evaluation)
        elif plain and truth.width >= _WORTH_ADDING and _few_held(evaluation):
            tables = _row_sums(evaluation, _accelerated(accelerate))
        else:
            tables = None
            for start, stop in chunks(len(given), given.width + 3 * truth.width):
                part = _dense(evaluation, start, stop)
                tables = part if tables is None else _added(tables, part)
        if tables is None:
            raise ValueError(NO_RECORD)
        size, one, held, other = tables
        return cls(
            **cut,
            records=len(given),
            n=size[-1:],
            given=size[:-1],
            truth=one[-1:],
            predicted=held[-1:],
            joint_truth=one[:-1],
            joint_predicted=held[:-1],
            joint_both=other[:-1],
            spread=None if plain else pair_spread(evaluation),
        )

    @classmethod
    def side_by_side(cls, parts: Sequence[PairCounts], wholes: Sequence[PairCounts] | None = None) -> PairCounts:
        """The counts of the same records and given labels for several lots of outcome labels.

        Where the parts are of bags, ``wholes`` are their counts of all records, which the spread is of.
        """
        first = parts[0]
        wide = {
            name: concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in ("truth", "predicted", "joint_truth", "joint_predicted", "joint_both")
        }
        spread = None
        if any(part.spread is not None for part in parts):
            lots = [whole_spread(part) for part in (wholes or parts)]
            spread = tuple(concatenate([lot[i] for lot in lots], axis=-1) for i in range(3))
        labels = tuple(label for part in parts for label in part.outcome_labels)
        return replace(first, outcome_labels=labels, **wide, spread=spread)  # type: ignore[arg-type]

    @property
    def truth_joint(self) -> JointCounts:
        """The joint counts of given and truth alone."""
        return JointCounts(
            self.given_labels,
            self.outcome_labels,
            self.records,
            self.n,
            self.given,
            self.truth,
            self.joint_truth,
            self.squared,
        )

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """``sum w**2``, ``sum w**2 d`` and ``sum w**2 d**2`` over the records with g, ``d = o_hat - o``."""
        if self.spread is not None:
            zero, first, second = self.spread
            return floats(zero), floats(first), floats(second)
        one, held = floats(self.joint_truth), floats(self.joint_predicted)
        discordant = one + held - 2.0 * floats(self.joint_both)
        return np.broadcast_to(floats(self.given), one.shape), held - one, discordant

    def __add__(self, other: PairCounts) -> PairCounts:
        if not isinstance(other, PairCounts):
            return NotImplemented
        same_labels(self.given_labels, other.given_labels, "given")
        same_labels(self.outcome_labels, other.outcome_labels, "outcome")
        spread = None
        if self.spread is not None or other.spread is not None:
            mine, theirs = whole_spread(self), whole_spread(other)
            spread = tuple(add(a, b) for a, b in zip(mine, theirs, strict=True))
        summed = {
            field.name: add(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
            if field.name in _SUMMED
        }
        return PairCounts(
            self.given_labels,
            self.outcome_labels,
            self.records + other.records,
            **summed,
            spread=spread,  # type: ignore[arg-type]
        )


_SUMMED = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both", "squared")
_Tables = tuple[Count, Count, Count, Count]


def _added(left: _Tables, right: _Tables) -> _Tables:
    a, b, c, d = (add(one, two) for one, two in zip(left, right, strict=True))
    return a, b, c, d


def _accelerated(wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    from importlib.util import find_spec

    return find_spec("numba") is not None


def _long_chunks(records: int, step: int = 1 << 17) -> list[tuple[int, int]]:
    return [(start, min(start + step, records)) for start in range(0, records, step)]


def _few_held(evaluation: Evaluation) -> bool:
    """Whether a record holds few given labels, so that adding its row for each of them is cheap."""
    given = evaluation.given
    if given.width <= _FEW_LABELS or given.exclusive:
        return True
    return len(given.nonzero(0, 4096)[0]) <= _FEW_LABELS * min(4096, len(given))


def _row_sums(evaluation: Evaluation, accelerate: bool) -> _Tables:
    total: _Tables | None = None
    given = evaluation.given
    # Rows gathered in numpy should stay in cache; the compiled loop gathers nothing.
    for start, stop in _long_chunks(len(evaluation), 1 << 17 if accelerate else _GATHERED):
        one, held = evaluation.truth.rows(start, stop), evaluation.predicted.rows(start, stop)
        labels = given.nonzero(start, stop)
        tables, sizes = pair_tables(labels, given.width, one, held, accelerate, given.exclusive)
        part = (sizes[:, None], tables[:, 0], tables[:, 1], tables[:, 2])
        total = part if total is None else _added(total, part)
    assert total is not None
    return total


def _dense(evaluation: Evaluation, start: int, stop: int) -> _Tables:
    given = evaluation.given.rows(start, stop)
    one, held = evaluation.truth.rows(start, stop), evaluation.predicted.rows(start, stop)
    weights = None if evaluation.weights is None else evaluation.weights[start:stop]
    ones = np.ones((len(given), 1), dtype=np.uint8)
    left = np.concatenate([given, ones], axis=1)
    if held.dtype.kind != "f":
        together = dense.cross(left, np.concatenate([ones, one, held, one & held], axis=1), weights)
        width = one.shape[1]
        return (
            together[:, :1],
            together[:, 1 : 1 + width],
            together[:, 1 + width : 1 + 2 * width],
            together[:, 1 + 2 * width :],
        )
    sizes = dense.cross(left, np.concatenate([ones, one], axis=1), weights)
    soft = dense.cross(left, np.concatenate([held, one * held], axis=1), weights)
    width = one.shape[1]
    return sizes[:, :1], sizes[:, 1:], soft[:, :width], soft[:, width:]


def _listed(evaluation: Evaluation) -> _Tables:
    """Many labels, few a record: list the pairs instead of laying out a matrix."""
    total: _Tables | None = None
    width = evaluation.truth.width
    groups = evaluation.given.width + 1
    for start, stop in _long_chunks(len(evaluation)):
        weights = None if evaluation.weights is None else evaluation.weights[start:stop]
        left = and_everyone(evaluation.given.nonzero(start, stop), groups - 1, np.arange(stop - start))
        one = evaluation.truth.nonzero(start, stop)
        held = evaluation.predicted.nonzero(start, stop)
        size = sparse.marginal(left, groups, weights)
        part = (
            size[:, None],
            sparse.cross(left, one, (groups, width), weights),
            sparse.cross(left, held, (groups, width), weights),
            sparse.cross(left, sparse.both(one, held, width), (groups, width), weights),
        )
        total = part if total is None else _added(total, part)
    assert total is not None
    return total


def drop_records(evaluation: Evaluation) -> Evaluation:
    """A record whose one variable is missing is in none of its pairs: leave it out whole."""
    keep = np.ones(len(evaluation), dtype=bool)
    for labels in (evaluation.given, evaluation.truth, evaluation.predicted):
        if labels.missing and len(labels.variables) == 1:
            keep &= labels.complete()
    return evaluation if keep.all() else evaluation.take(keep)


def _masked(evaluation: Evaluation) -> dict[str, Any]:
    """Records with a missing label are left out of that pair alone, so every pair has its own totals."""
    names = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")
    total: list[Count] | None = None
    for start, stop in chunks(len(evaluation), evaluation.given.width + 3 * evaluation.truth.width):
        given, one, held, here, there = present_rows(evaluation, start, stop)
        weights = None if evaluation.weights is None else evaluation.weights[start:stop]
        part = [
            dense.cross(left, right, weights)
            for left, right in (
                (here, there),
                (given, there),
                (here, one),
                (here, held),
                (given, one),
                (given, held),
                (given, one & held if held.dtype.kind != "f" else one * held),
            )
        ]
        total = part if total is None else [add(a, b) for a, b in zip(total, part, strict=True)]
    assert total is not None
    return {"records": len(evaluation), **dict(zip(names, total, strict=True))}


def present_rows(evaluation: Evaluation, start: int, stop: int) -> tuple[Any, Any, Any, Any, Any]:
    """Given, truth and prediction of some records, 0 where missing, and which given and outcome labels are known."""
    given = evaluation.given.rows(start, stop)
    one, held = evaluation.truth.rows(start, stop), evaluation.predicted.rows(start, stop)
    here = evaluation.given.present(start, stop)
    there = np.ones(one.shape, dtype=bool)
    for labels in (evaluation.truth, evaluation.predicted):
        mask = labels.present(start, stop)
        if mask is not None:
            there &= mask
    here = np.ones(given.shape, dtype=np.uint8) if here is None else here.astype(np.uint8)
    mark = there.astype(np.uint8)
    return given * here, one * mark, held * mark, here, mark


def pair_spread(evaluation: Evaluation) -> tuple[Count, Count, Count]:
    """Moments of ``d = o_hat - o`` under squared weights, for standard errors."""
    total: list[Count] | None = None
    for start, stop in chunks(len(evaluation), evaluation.given.width + 3 * evaluation.truth.width):
        given, one, held, _, there = present_rows(evaluation, start, stop)
        weights = None if evaluation.weights is None else evaluation.weights[start:stop]
        squares = None if weights is None else weights.astype(np.float64) ** 2
        up = np.maximum(held - one.astype(np.float64), 0.0)
        down = np.maximum(one - held.astype(np.float64), 0.0)
        part = [dense.cross(given, columns, squares) for columns in (there, up, down, (up + down) ** 2)]
        total = part if total is None else [add(a, b) for a, b in zip(total, part, strict=True)]
    if total is None:  # no records
        nothing = Fixed.zeros((evaluation.given.width, evaluation.truth.width))
        return nothing, nothing, nothing
    size, up_sum, down_sum, square = (as_fixed(part) for part in total)
    return size, up_sum - down_sum, square


def whole_spread(counts: PairCounts) -> tuple[Count, Count, Count]:
    """The spread of counts, told from the tables where it is not kept apart."""
    if counts.spread is not None:
        return counts.spread
    one, held, both = counts.joint_truth, counts.joint_predicted, counts.joint_both
    size = add(counts.given, np.zeros(one.shape, dtype=np.int64))
    gained, lost = subtract(held, both), subtract(one, both)
    return as_fixed(size), as_fixed(subtract(gained, lost)), as_fixed(add(gained, lost))
