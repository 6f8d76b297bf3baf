"""``biasamp.mals``: the metric of "Men Also Like Shopping"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import FEWEST_BAGS, addends, bag_weights, weighted_sums
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.data import Evaluation, LabelSet, printable, same_length, weights_of
from biasamp.data.arguments import (
    labels_with_truth,
    read,
    read_clusters,
    read_train,
    warn_of_one_group,
)
from biasamp.data.plain_arguments import one_of
from biasamp.data.same_columns import refuse_labels_as, refuse_same, refuse_train_of_sides, same_index
from biasamp.data.vocabulary import UNSEEN, one_space
from biasamp.resampling.intervals import SMALL_GROUP, Intervals
from biasamp.resampling.sample import TOO_MANY_PAIRS
from biasamp.results import Table

from .base import pairs_without_sign
from .invented import warn_of, with_apart
from .mals_sample import MalsSample, all_errors, influence_of_bags, mals_intervals, mals_p, unseen_variance
from .pair_table import PairValues, excluded_pairs, pair_table
from .result import Amplification, Estimate
from .signs import association_p, association_signs, compare_products

Floats = NDArray[np.float64]


def mals(
    A: Any,
    T: Any,
    A_pred: Any,
    T_pred: Any,
    *,
    train: Any = None,
    weights: Any = None,
    cluster: Any = None,
    unseen: str = "invented",
) -> Amplification:
    r"""Bias amplification as in Zhao et al. (2017), BiasAmp-MALS.

    .. math::
        \frac{1}{|T|} \sum_{a, t} y_{at} \, [P(\hat a = 1 | \hat t = 1) - P(a = 1 | t = 1)], \quad
        y_{at} = 1\left[P(a = 1 | t = 1) > \tfrac{1}{|A|}\right]

    It mixes the two directions, looks at positive correlations only, and may follow the larger group instead of
    the one that is associated with the task: such pairs are flagged ``wrong_group`` in ``.pairs``.

    Of one column of 0 and 1 both values are tasks; of a table of one column, and of :func:`biasamp.binary`, only value 1 is,
    as in the paper's examples, and the value is another.

    Where groups exclude each other the value lies between -1 and 1. Groups that overlap count each by itself, so that
    it may reach from :math:`-|A|` (every record of a task has every group, and none is predicted) to below
    :math:`|A| - 1`.

    Parameters
    ----------
    A, T : array-like or None
        True groups and tasks of the evaluated records. With ``train`` they are not needed and may be None.
    A_pred, T_pred : array-like
        Predicted groups and tasks, hard or soft. A model that predicts tasks alone has ``A_pred=A``.
    train : pair of array-like, optional
        ``(A, T)`` of the training set, which then gives the indicator and ``P(a | t)``.
    weights : array-like, optional
        One weight an evaluated record.
    cluster : array-like, optional
        What each evaluated record belongs to: intervals then resample clusters.
    unseen : {"invented", "error"}
        What to do about predicted values that the labels never have, as for :func:`biasamp.directional`. Invented
        groups and tasks are no pair and no part of ``|A|`` and ``|T|``; ``.invented`` has the tasks among them.

    Returns
    -------
    Amplification
        ``.pairs`` has the attribute as ``given`` and the task as ``outcome``; ``support`` is the number of
        records predicted to have the task.

    See Also
    --------
    directional : tells the two directions apart and takes base rates into account.

    References
    ----------
    Zhao, J., Wang, T., Yatskar, M., Ordonez, V. and Chang, K.-W. (2017). Men also like shopping: reducing gender
    bias amplification using corpus-level constraints. EMNLP.

    Examples
    --------
    Shortcoming 2 of the 2021 paper: MALS picks the larger group and reports a decrease.

    >>> import biasamp
    >>> group = ["first"] * 90 + ["second"] * 30
    >>> task = biasamp.binary([0] * 60 + [1] * 30 + [0] * 10 + [1] * 20)
    >>> model = biasamp.binary([0] * 90 + [1] * 30)
    >>> result = biasamp.mals(group, task, group, model)
    >>> round(result.value, 4), [row["given"] for row in result.pairs.rows() if row["wrong_group"]]
    (-0.6, ['first', 'second'])
    """
    if train is None and (A is None or T is None):
        raise ValueError(f"{'A' if A is None else 'T'} is None: true labels are needed unless train=(A, T) is given")
    if (A is None) != (T is None):
        raise ValueError("A and T come together: give both or neither")
    one_of(unseen, "unseen", UNSEEN)
    same_index({"A": A, "T": T, "A_pred": A_pred, "T_pred": T_pred, "weights": weights})
    refuse_same({"A": A, "T": T, "T_pred": T_pred})
    refuse_labels_as("weights", weights, {"A": A, "T": T, "T_pred": T_pred})
    if isinstance(train, (tuple, list)) and len(train) == 2:
        refuse_train_of_sides({"A": A, "T": T, "T_pred": T_pred}, train)
    # Groups that are known stand for their predictions too.
    refuse_same({"T": T, "A": None, "A_pred": A_pred})
    known = (None, None) if train is None else read_train(train, ("A", "T"))
    a = _side(A, A_pred, known[0], "A", unseen)
    t = _side(T, T_pred, known[1], "T", unseen)
    one_attribute(a.predicted)
    if train is None and a.truth is not None:
        warn_of_one_group(a.truth, "A")
    count = same_length({"A": a.truth, "T": t.truth, "A_pred": a.predicted, "T_pred": t.predicted})
    signed = a.signed, t.signed
    unsigned = pairs_without_sign((a.labels.labels, t.labels.labels), signed, "the train labels")
    warn_of(unsigned)
    a, t = a.only(signed[0]), t.only(signed[1])
    w = weights_of(weights, count)
    labels = JointCounts.from_labels(a.labels, t.labels, w if train is None else None)
    predictions = JointCounts.from_labels(a.predicted, t.predicted, w)
    units = read_clusters(cluster, count, {"A": A, "T": T, "T_pred": T_pred})
    predicted = (a.predicted.owned(), t.predicted.owned())
    held = (a.labels.owned(), t.labels.owned()) if train is None else None
    sample = MalsSample(predicted, held, None if w is None else w.copy(), units, cluster is not None)
    result = from_counts(labels, predictions, "the evaluated labels" if train is None else "the train labels", sample)
    groups = a.predicted if a.truth is None else a.truth
    return with_apart(result, unsigned, Evaluation(groups, t.labels, t.predicted, w, clusters=units), t.invented)


class _Side(NamedTuple):
    """One side of MALS: true labels where there are any, predictions, and the labels that give rates and indicators.

    ``signed`` says which labels those have; ``invented`` are predicted labels that no truth has.
    """

    truth: LabelSet | None
    predicted: LabelSet
    labels: LabelSet
    signed: NDArray[np.bool_]
    invented: LabelSet | None = None

    def only(self, keep: NDArray[np.bool_]) -> _Side:
        """The side with some of its labels."""
        truth = None if self.truth is None else self.truth.only(keep)
        return self._replace(truth=truth, predicted=self.predicted.only(keep), labels=self.labels.only(keep))


def _side(own: Any, said: Any, train: LabelSet | None, name: str, unseen: str) -> _Side:
    """One side of MALS in one label space; without truth it is that of the train labels."""
    truth = None if own is None else read(own, name, "groups" if name == "A" else "outcomes")
    known = train if truth is None else truth
    assert known is not None
    predicted = read(said, f"{name}_pred", soft=True, like=known)
    names = [f"train {name}" if truth is None else name, f"{name}_pred", f"train {name}"]
    placed, p, placed_train = one_space(known, predicted, None if truth is None else train, names, unseen=unseen)
    assert p is not None
    labels = placed if placed_train is None else placed_train
    real = labels_with_truth(placed, placed_train)
    apart = ~real & (p.totals() > 0)
    # What train labels lack has no rate to go by; without them, what the truth lacks is undefined in its pairs alone.
    signed = np.ones(labels.width, dtype=bool) if train is None else labels.totals() > 0
    side = _Side(None if truth is None else placed, p, labels, signed[real])
    return side.only(real)._replace(invented=p.only(apart) if apart.any() else None)


@dataclass(frozen=True, eq=False)
class MalsValues(PairValues):
    """MALS pair by pair, with the flag of Sec. 3.2 of the 2021 paper."""

    wrong_group: NDArray[np.bool_]


def mals_pairs(labels: JointCounts, predictions: JointCounts, kept: NDArray[np.bool_] | None = None) -> MalsValues:
    r"""MALS of every pair (Zhao et al. 2017), attributes by rows, tasks by columns.

    .. math:: y_{at} [P(\hat a | \hat t) - P(a | t)], \quad y_{at} = 1[P(a | t) > 1 / |A|]

    The indicator is decided on whole numbers, ``|A| C(a, t) > C(t)``. A task that no record has, or that is
    never predicted, is undefined. Pairs of groups that are not ``kept`` count as undefined; they stay among the ``|A|``.
    """
    groups = np.array(labels.joint.shape[-2], dtype=np.int64)
    one = np.ones((1, 1), dtype=np.int64)
    above = compare_products(one * groups, labels.joint, one, labels.right)
    associated = association_signs(labels)
    t, t_hat = floats(labels.right), floats(predictions.right)
    defined = np.broadcast_to((t > 0) & (t_hat > 0), np.broadcast_shapes(above.shape, t_hat.shape))
    if kept is not None:
        defined = defined & kept[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        truth_rate = floats(labels.joint) / t
        predicted_rate = floats(predictions.joint) / t_hat
        delta = predicted_rate - truth_rate
    indicator = (above > 0).astype(np.int8)
    shape = delta.shape
    amplification = np.where(indicator > 0, delta, 0.0)
    return MalsValues(
        np.broadcast_to(indicator, shape),
        np.where(defined, truth_rate, np.nan),
        np.where(defined, predicted_rate, np.nan),
        np.where(defined, delta, np.nan),
        np.where(defined, amplification + 0.0, np.nan),
        defined,
        np.broadcast_to(above * associated < 0, shape),
    )


def mals_value(pairs: PairValues) -> Floats:
    r"""The sum over pairs divided by the number of tasks that are defined."""
    tasks = pairs.defined.any(axis=-2).sum(axis=-1)
    total = np.where(pairs.defined, pairs.amplification, 0.0).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / tasks, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Mals(Estimate):
    """MALS of joint counts of the labels and of the predictions, and of the sample behind them."""

    labels: JointCounts
    predictions: JointCounts
    sample: MalsSample
    level: float = 0.95
    kept: NDArray[np.bool_] | None = None

    @cached_property
    def values(self) -> MalsValues:
        """What every pair contributes."""
        return mals_pairs(self.labels, self.predictions, self.kept)

    @cached_property
    def factor(self) -> NDArray[np.float64]:
        """What the change of every pair is multiplied with."""
        tasks = max(int(self.values.defined.any(axis=0).sum()), 1)
        return np.where(self.values.defined, self.values.sign, 0) / tasks

    @property
    def value(self) -> float:
        """The sum over pairs divided by the number of tasks that are defined."""
        return float(mals_value(self.values))

    @property
    def range(self) -> tuple[float, float] | None:
        """Groups that do not overlap share each task out: what moves between them is no more than all of it."""
        shared = (
            np.array_equal(floats(side.joint).sum(axis=-2), floats(side.right)[..., 0, :])
            for side in (self.labels, self.predictions)
        )
        return (-1.0, 1.0) if all(shared) else None

    @cached_property
    def _moved(self) -> tuple[NDArray[np.int64], int, Floats]:
        return influence_of_bags(self.labels, self.predictions, self.sample, self.factor)

    def influence(self) -> Floats:
        """How much every bag moves the value."""
        return self._moved[2]

    @property
    def first_order(self) -> bool:
        """Whether there are too many pairs to resample each: then only the influences are resampled."""
        return self.sample.bags[0].bags < FEWEST_BAGS

    def replicates(self, resamples: int, seed: int) -> Floats:
        """The value in every resample of the bags."""
        if self.first_order:
            numbers, bags, moved = self._moved
            pulls = addends(moved, whole=False)[:, None]
            weights = bag_weights(numbers, bags, resamples, seed)
            return self.value + weighted_sums(weights, pulls)[:, 0] - pulls.sum()
        predicted, truth = self.sample.bags
        base = self.labels if truth is None else truth.resampled(resamples, seed)
        return mals_value(mals_pairs(base, predicted.resampled(resamples, seed), self.kept))

    def pairs(self) -> Table:
        """One row for each pair."""
        errors = all_errors(self.labels, self.predictions, self.sample)
        low, high = mals_intervals(self.values.delta, errors, self.level)
        return pair_table(
            self.labels.left_labels,
            self.labels.right_labels,
            self.values,
            factor=self.values.sign,
            sign_p=association_p(self.labels),
            low=low,
            high=high,
            support=floats(self.predictions.right),
            p=mals_p(self.values.delta, errors),
            wrong_group=self.values.wrong_group,
        )

    def between_models(self) -> float:
        """What records in which two models differ, and that were not seen, add to the variance of their difference."""
        return unseen_variance(self.labels, self.predictions, False, self.factor)

    def cautions(self) -> tuple[str, ...]:
        """Where the interval of the value covers less often than its level."""
        doubts = _doubts(self.labels, self.predictions, self.values, self.sample.truth is not None)
        return doubts if self.sample.has_bags else (*doubts, TOO_MANY_PAIRS)

    def interval(self, of: str) -> Intervals | None:
        """What makes the intervals of the value; None where there are too few bags."""
        if of != "value" or not self.sample.has_bags:
            return None
        sampled = self.sample.truth is not None
        factor = self.factor
        if sampled:
            # A task that is shared out evenly here counts no group, and would count one with a record more.
            even = self.values.defined & ~factor.any(axis=0)
            factor = np.where(even, 1.0 / len(factor) / max(int(self.values.defined.any(axis=0).sum()), 1), factor)
        unseen = unseen_variance(self.labels, self.predictions, sampled, factor)
        return Intervals(self, self.sample.clustered, self.cautions(), unseen=unseen)


def _doubts(labels: JointCounts, predictions: JointCounts, pairs: MalsValues, sampled: bool) -> tuple[str, ...]:
    """Where the interval of the value covers less often than its level."""
    out: tuple[str, ...] = ()
    size = np.broadcast_to(floats(predictions.right), pairs.delta.shape)[0]
    defined = pairs.defined.any(axis=0)
    small = int((defined & (size < SMALL_GROUP)).sum())
    if small >= 0.2 * max(int(defined.sum()), 1) and small:
        out += (
            f"{small} of {int(defined.sum())} tasks are predicted for fewer than {SMALL_GROUP} records: intervals "
            "of so few records cover less often than their level",
        )
    if sampled:
        groups = len(labels.left_labels)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (pairs.truth_rate - 1.0 / groups) / np.sqrt((groups - 1.0) / groups**2 / floats(labels.right))
        near = int((pairs.defined & (np.abs(z) < 2.0)).sum())
        if near >= 0.2 * int(pairs.defined.sum()):
            out += (
                f"{near} of {int(pairs.defined.sum())} pairs are so near 1/{groups} that the records cannot tell "
                "whether they count: the value is biased and its interval covers less often than its level",
            )
    return out


def one_attribute(labels: LabelSet) -> None:
    """Refuse several attributes at once: ``1 / |A|`` is of the groups of one."""
    attributes = [variable.name for variable in labels.variables]
    if len(attributes) > 1 and any(variable.kind == "categorical" for variable in labels.variables):
        shown = ", ".join(repr(printable(name, 30)) for name in attributes[:5])
        raise ValueError(
            f"A holds {len(attributes)} attributes ({shown}), and 1/|A| is a matter of one: measure them one by one, or "
            "join them into one column whose values are their combinations"
        )


def from_counts(
    labels: JointCounts,
    predictions: JointCounts,
    sign_source: str,
    sample: MalsSample,
    level: float = 0.95,
    kept: NDArray[np.bool_] | None = None,
) -> Amplification:
    """The result for joint counts of the labels and of the predictions, and the sample they are of.

    ``kept`` are the groups whose pairs count; all by default.
    """
    estimate = Mals(labels, predictions, sample, level, kept)
    values = estimate.values
    if not values.defined.any():
        raise ValueError("no task is defined: none is both present in the labels and predicted")
    return Amplification(
        metric="mals",
        value=estimate.value,
        n=float(floats(predictions.n).max()),
        sign_source=sign_source,
        excluded=excluded_pairs(
            labels.left_labels,
            labels.right_labels,
            values if kept is None else replace(values, defined=values.defined | ~kept[:, None]),
            "the task is absent from the labels or is never predicted",
            outcome_count=floats(labels.right),
            predicted_count=floats(predictions.right),
            joint_count=floats(labels.joint),
        ),
        _estimate=estimate,
    )
