"""Closed-form errors: how much each record moves an aggregate, to first order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.joint import WIDE, JointCounts, chunks
from biasamp.counts.pair import PairCounts
from biasamp.counts.scores import change, there
from biasamp.data import Evaluation, LabelSet
from biasamp.data.keys import Keys

Floats = NDArray[np.float64]


def directional_influence(
    evaluation: Evaluation, counts: PairCounts, factor: NDArray[Any], base: Floats | None = None
) -> Floats:
    r"""The influence of every record on a mean of ``factor * delta`` over the defined pairs.

    .. math::
        \psi_i = \frac{w_i}{K} \sum_{g, o} \frac{f_{go}}{C(g)} h_{ig}
        \left[(\hat o_i - o_i) - \Delta_{go}\right]

    with ``K`` defined pairs and fixed factors ``f``; with a ``base`` only the predicted rate varies. The
    influences sum to 0 and the sum of their squares is the variance of the aggregate.
    """
    given = np.broadcast_to(floats(counts.given), factor.shape)
    defined = given > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(defined, factor / given, 0.0) / max(int(defined.sum()), 1)
        moved = floats(counts.joint_predicted)
        if base is None:
            moved = moved - floats(counts.joint_truth)
        centre = each * np.where(defined, moved / given, 0.0)
    complete = not (evaluation.truth.missing or evaluation.predicted.missing)
    constant = centre.sum(axis=1)
    out = np.zeros(len(evaluation))
    columns = np.ascontiguousarray(each.T)
    for start, stop in chunks(len(evaluation), evaluation.given.width + 2 * evaluation.truth.width):
        row, label = evaluation.given.nonzero(start, stop)
        moved_here = change(evaluation, start, stop, base is None)
        if evaluation.given.width > WIDE and isinstance(moved_here, np.ndarray):
            # A record holds few of so many given labels: only theirs are worth a product.
            pull = (moved_here[row] * each[label]).sum(axis=1)
        else:
            pull = np.asarray(moved_here @ columns)[row, label]
        if complete:
            pull = pull - constant[label]
        else:
            pull = pull - (there(evaluation, start, stop).astype(np.float64) @ centre.T)[row, label]
        out[start:stop] = np.bincount(row, pull, minlength=stop - start)
    return out if evaluation.weights is None else out * evaluation.weights


def ratio_influence(
    held: LabelSet, outcome: LabelSet, counts: JointCounts, factor: NDArray[Any], weights: NDArray[Any] | None
) -> Floats:
    r"""The influence of every record on :math:`\sum_{at} f_{at} P(a | t)`, attributes ``a`` given tasks ``t``.

    ``held`` are the tasks (the right labels of ``counts``), ``outcome`` the attributes (the left ones); both
    may be soft.
    """
    size, joint = floats(counts.right), floats(counts.joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(size > 0, factor / size, 0.0)
        constant = (each * np.where(size > 0, joint / size, 0.0)).sum(axis=0)
    known = held.complete() & outcome.complete()
    out = np.zeros(len(held))
    for start, stop in chunks(len(held), held.width + outcome.width):
        rates = outcome.rows(start, stop).astype(np.float64) @ each
        out[start:stop] = (held.rows(start, stop) * (rates - constant)).sum(axis=1)
    out[~known] = 0.0
    return out if weights is None else out * weights


def by_unit(influence: Floats, units: Keys | None) -> Floats:
    """Influences summed over the records of each unit that is sampled as one; None keeps records apart."""
    if units is None:
        return influence
    _, place = np.unique(units, return_inverse=True)
    return np.bincount(place.reshape(-1), influence).astype(np.float64)


def standard_error(influence: Floats) -> float:
    """The standard error that the influences of independent units give."""
    units = len(influence)
    return float(np.sqrt((influence**2).sum() * (units / max(units - 1, 1))))


def degrees_of_freedom(influence: Floats) -> float:
    r"""How well the influences determine their own variance.

    Satterthwaite's :math:`2 V^2 / \operatorname{Var} V` with :math:`V = \sum \psi^2` and
    :math:`\operatorname{Var} V \approx \sum \psi^4 - V^2 / n`: about ``n`` where influences are normal, about
    twice the number of records whose prediction is wrong where few are.
    """
    square = influence**2
    total = float(square.sum())
    if total == 0.0:
        return 0.0
    spread = float((square**2).sum()) - total**2 / len(influence)
    return float("inf") if spread <= 0.0 else min(2.0 * total**2 / spread, float(len(influence) - 1))


def student_interval(value: float, influence: Floats, level: float) -> tuple[float, float]:
    """``value`` plus and minus Student's quantile times the closed-form error."""
    from scipy.special import ndtri, stdtrit

    tail = 0.5 + level / 2.0
    freedom = degrees_of_freedom(influence)
    if freedom <= 0.0:
        return value, value
    quantile = float(stdtrit(max(freedom, 1.0), tail)) if np.isfinite(freedom) else float(ndtri(tail))
    reach = quantile * standard_error(influence)
    return value - reach, value + reach
