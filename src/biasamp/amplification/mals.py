"""``biasamp.mals``: the metric of "Men Also Like Shopping"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bag_joints import resampled_joint
from biasamp.counts.bags import FEWEST_BAGS
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.replicates import replicate_joints
from biasamp.data import LabelSet, align, printable, same_length, weights_of
from biasamp.data.arguments import read, read_clusters, read_train, refuse_one_cluster
from biasamp.data.keys import Keys, row_keys
from biasamp.resampling.aggregate import MOST_REPLICATED
from biasamp.resampling.closed_form import ratio_influence
from biasamp.resampling.interval_cautions import SMALL_GROUP
from biasamp.resampling.intervals import Intervals

from .mals_errors import MalsErrors, bag_mals_errors, bag_ratio_influence, mals_errors, mals_intervals, mals_p
from .pair_table import excluded_pairs, pair_table
from .pair_values import MalsValues, mals_pairs, mals_value
from .result import Amplification
from .signs import association_p


def mals(
    A: Any, T: Any, A_pred: Any, T_pred: Any, *, train: Any = None, weights: Any = None, cluster: Any = None
) -> Amplification:
    r"""Bias amplification as in Zhao et al. (2017), BiasAmp-MALS.

    .. math::
        \frac{1}{|T|} \sum_{a, t} y_{at} \, [P(\hat a = 1 | \hat t = 1) - P(a = 1 | t = 1)], \quad
        y_{at} = 1\left[P(a = 1 | t = 1) > \tfrac{1}{|A|}\right]

    It mixes the two directions, looks at positive correlations only, and may follow the larger group instead of
    the one that is associated with the task: such pairs are flagged ``wrong_group`` in ``.pairs``.

    Parameters
    ----------
    A, T : array-like or None
        True groups and tasks of the evaluated records. With ``train`` they are not needed and may be None.
    A_pred, T_pred : array-like
        Predicted groups and tasks, hard or soft.
    train : pair of array-like, optional
        ``(A, T)`` of the training set, which then gives the indicator and ``P(a | t)``.
    weights : array-like, optional
        One weight an evaluated record.
    cluster : array-like, optional
        What each evaluated record belongs to: intervals then resample clusters.

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
        lacking = "A" if A is None else "T"
        raise ValueError(f"{lacking} is None: true labels are needed unless train=(A, T) is given")
    a_sets: dict[str, LabelSet] = {}
    t_sets: dict[str, LabelSet] = {}
    if train is not None:
        a_sets["train A"], t_sets["train T"] = read_train(train, ("A", "T"))
    if A is not None and T is not None:
        a_sets["A"], t_sets["T"] = read(A, "A"), read(T, "T")
    elif A is not None or T is not None:
        raise ValueError("A and T come together: give both or neither")
    one_attribute(next(iter(a_sets.values())))
    a_sets["A_pred"] = read(A_pred, "A_pred", soft=True, like=next(iter(a_sets.values())))
    t_sets["T_pred"] = read(T_pred, "T_pred", soft=True, like=next(iter(t_sets.values())))
    count = same_length({name: s for name, s in {**a_sets, **t_sets}.items() if not name.startswith("train")})
    a_sets = dict(zip(a_sets, align(list(a_sets.values()), list(a_sets)), strict=True))
    t_sets = dict(zip(t_sets, align(list(t_sets.values()), list(t_sets)), strict=True))
    w = weights_of(weights, count)
    predictions = JointCounts.from_labels(a_sets["A_pred"], t_sets["T_pred"], w)
    truth = None if train is not None else (a_sets["A"], t_sets["T"])
    if train is not None:
        labels = JointCounts.from_labels(a_sets["train A"], t_sets["train T"])
    else:
        labels = JointCounts.from_labels(a_sets["A"], t_sets["T"], w)
    records = MalsRecords((a_sets["A_pred"], t_sets["T_pred"]), truth, w, clusters=read_clusters(cluster, count))
    return from_counts(labels, predictions, "the evaluated labels" if train is None else "the train labels", records)


@dataclass(frozen=True, eq=False)
class MalsRecords:
    """The records behind the counts, for intervals.

    Attributes
    ----------
    predicted, truth : pair of LabelSet
        Attributes and tasks; ``truth`` is None where the labels come from elsewhere (train) and are fixed.
    weights, ids, clusters : ndarray, optional
        As of an :class:`~biasamp.labels.Evaluation`.
    """

    predicted: tuple[LabelSet, LabelSet]
    truth: tuple[LabelSet, LabelSet] | None = None
    weights: NDArray[Any] | None = None
    ids: Keys | None = None
    clusters: Keys | None = None

    def errors(self, labels: JointCounts, predictions: JointCounts) -> MalsErrors:
        """Errors of every pair."""
        return mals_errors(labels, predictions, self.truth, self.predicted, self.weights, self.clusters)

    @property
    def units(self) -> Keys:
        """What is resampled as one."""
        if self.clusters is not None:
            return self.clusters
        return row_keys(0, len(self.predicted[0])) if self.ids is None else self.ids

    def intervals(self, labels: JointCounts, predictions: JointCounts, pairs: MalsValues) -> Intervals:
        """Intervals of the value."""
        factor = _factor(pairs)

        def influences() -> NDArray[np.float64]:
            moved = ratio_influence(self.predicted[1], self.predicted[0], predictions, factor, self.weights)
            if self.truth is None:
                return moved
            return moved - ratio_influence(self.truth[1], self.truth[0], labels, factor, self.weights)

        def draw(resamples: int, seed: int) -> NDArray[np.float64]:
            tables = [self.predicted] if self.truth is None else [self.predicted, self.truth]
            drawn = replicate_joints(tables, self.units, self.weights, resamples, seed)
            base = labels if self.truth is None else drawn[1]
            return mals_value(mals_pairs(base, drawn[0]))

        if self.clusters is not None:
            refuse_one_cluster(self.clusters)
        return Intervals(
            float(mals_value(pairs)),
            influences,
            draw if pairs.delta.size * 1000 <= MOST_REPLICATED else None,
            len(self.predicted[0]),
            units=self.ids if self.clusters is None else self.clusters,
            clustered=self.clusters is not None,
            cautions=_doubts(labels, predictions, pairs, self.truth is not None),
        )


@dataclass(frozen=True, eq=False)
class MalsBags:
    """Joint counts of bags of records, for intervals; their arrays have a leading axis of bags.

    Attributes
    ----------
    predicted, truth : JointCounts
        Of predicted and of true attributes and tasks; ``truth`` is None where the labels come from elsewhere.
    """

    predicted: JointCounts
    truth: JointCounts | None = None
    clustered: bool = False

    def errors(self, labels: JointCounts, predictions: JointCounts) -> MalsErrors:
        """Errors of every pair."""
        return bag_mals_errors(labels, predictions, self.truth, self.predicted)

    def intervals(self, labels: JointCounts, predictions: JointCounts, pairs: MalsValues) -> Intervals | None:
        """Intervals of the value; None where there are too few bags."""
        bags = self.predicted.n.shape[0]
        if bags < FEWEST_BAGS or predictions.records < 2:
            return None
        factor = _factor(pairs)

        def influences() -> NDArray[np.float64]:
            moved = bag_ratio_influence(self.predicted, predictions, factor)
            return moved if self.truth is None else moved - bag_ratio_influence(self.truth, labels, factor)

        def draw(resamples: int, seed: int) -> NDArray[np.float64]:
            drawn = resampled_joint(self.predicted, resamples, seed)
            base = labels if self.truth is None else resampled_joint(self.truth, resamples, seed)
            return mals_value(mals_pairs(base, drawn))

        return Intervals(
            float(mals_value(pairs)),
            influences,
            draw,
            bags,
            clustered=self.clustered,
            cautions=_doubts(labels, predictions, pairs, self.truth is not None),
        )


def _factor(pairs: MalsValues) -> NDArray[np.float64]:
    """What the change of every pair is multiplied with."""
    tasks = max(int(pairs.defined.any(axis=0).sum()), 1)
    return np.where(pairs.defined, pairs.sign, 0) / tasks


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
    records: MalsRecords | MalsBags | None = None,
    level: float = 0.95,
) -> Amplification:
    """The result for joint counts of the labels and of the predictions; intervals need the records."""
    pairs = mals_pairs(labels, predictions)
    if not pairs.defined.any():
        raise ValueError("no task is defined: none is both present in the labels and predicted")
    support = floats(predictions.right)
    low = high = p = np.full(pairs.delta.shape, np.nan)
    maker = None
    if records is not None:
        errors = records.errors(labels, predictions)
        low, high = mals_intervals(pairs.delta, errors, level)
        p = mals_p(pairs.delta, errors)
        maker = records.intervals(labels, predictions, pairs)
    return Amplification(
        metric="mals",
        value=float(mals_value(pairs)),
        pairs=pair_table(
            labels.left_labels,
            labels.right_labels,
            pairs,
            factor=pairs.sign,
            sign_p=association_p(labels),
            low=low,
            high=high,
            support=support,
            p=p,
            wrong_group=pairs.wrong_group,
        ),
        excluded=excluded_pairs(
            labels.left_labels,
            labels.right_labels,
            pairs,
            "the task is absent from the labels or is never predicted",
            outcome_count=floats(labels.right),
            predicted_count=support,
            joint_count=floats(labels.joint),
        ),
        n=float(floats(predictions.n).max()),
        sign_source=sign_source,
        cautions=() if maker is None else maker.cautions,
        _interval=maker,
    )
