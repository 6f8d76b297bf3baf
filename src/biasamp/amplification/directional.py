"""``biasamp.directional``: in which direction, and for which pairs, a model amplifies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats, subtract
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Column, Columns, label_set, read_columns
from biasamp.data.arguments import read_evaluation, warn_of_one_value
from biasamp.data.columns import IndexMatrix
from biasamp.data.plain_arguments import one_of
from biasamp.resampling.intervals import Intervals, normal_statistic, pair_errors, sign_cautions, small_cautions
from biasamp.resampling.pair_bags import PairBags
from biasamp.resampling.sample import Added, Aggregates, Sample
from biasamp.resampling.significance import ClusterEffect, delta_p, pair_intervals, rate_intervals, rate_p
from biasamp.resampling.statistics_of_bags import Redrawn, Statistic
from biasamp.resampling.unseen_errors import Unseen
from biasamp.results import Table
from biasamp.results.interval import Interval

from .base import Base, pairs_without_sign, read_base
from .base_error import mean_variance, pair_variance, widened
from .bounds import ERRORS_MORE, LentSigns, WorseSigns, bounds_of, clustered_sign_p, worse_signs
from .invented import warn_of, with_apart
from .pair_table import CLEAR_SIGN, PairValues, mean_over_pairs, pair_table, pairs_without_given
from .result import Amplification, Estimate
from .signs import association_p, association_signs

_SIGNS = ("plugin", "crossfit")
_TIES = ("zero", "negative")
# A sign with a p-value below this does not change in any of a thousand resamples.
_DECIDED = 1e-5


def directional(
    given: Any,
    truth: Any,
    predicted: Any,
    *,
    train: Any = None,
    base: Any = None,
    direction: Any = None,
    weights: Any = None,
    cluster: Any = None,
    signs: str = "plugin",
    ties: str = "zero",
    unseen: str = "invented",
) -> Amplification:
    r"""Directional bias amplification, BiasAmp→.

    .. math::
        \frac{1}{|G||O|} \sum_{g, o} y_{go} \, [P(\hat o = 1 | g = 1) - P(o = 1 | g = 1)], \quad
        y_{go} = \operatorname{sign}[P(g, o) - P(g) P(o)]

    For A→T give ``(A, T, T_hat)``, for T→A give ``(T, A, A_hat)``. A positive value means that the model
    strengthens the association that the labels already have. The arrow is no claim of causality, values of
    the two directions are not comparable, and zero amplification is not fairness.

    Parameters
    ----------
    given, truth : array-like
        The labels conditioned on, and the true labels of what is predicted. One column is a variable whose
        every value is a label; several columns are yes/no labels. ``truth`` may be None when ``base`` says
        what to compare with.
    predicted : array-like
        The model's labels, hard or as probabilities, which count as fractions.
    train : pair of array-like, optional
        ``(given, truth)`` of the training set, which then decides the signs ``y``.
    base : optional
        Another source for ``P(o | g)``: a pair ``(given, truth)`` of labels, a joint table, conditionals with
        the given's marginal, or ``"uniform"``. See :func:`biasamp.amplification.base.read_base`.
    direction : optional
        Where the signs come from instead: a pair of labels, or a table of signs.
    weights : array-like, optional
        One weight per record.
    cluster : array-like, optional
        What each record belongs to, such as the person on an image: intervals then resample clusters.
    signs : {"plugin", "crossfit"}
        Without train labels, ``"plugin"`` takes the signs from the evaluated labels, as the paper does; sign
        and delta then share their noise and the value is biased down. ``"crossfit"`` takes them from the
        other half of the records, which is unbiased without amplification only: with amplification both are drawn to
        0 where associations are weak. Either way ``.crossfit`` holds the latter, and ``.bounds()`` how far
        amplification may reach whatever the directions that the records do not tell.
    ties : {"zero", "negative"}
        Pairs without association count 0 but stay in the mean, or ``-delta`` as the formula is printed.
    unseen : {"invented", "error"}
        Predicted values that the truth never has. Likely mistakes are refused: a second spelling of a true value, any
        other value than the two of a two-valued truth, values that most records have. Others are labels that the model
        invented: they have no truth to be amplified, so they are no pair and stand in ``.invented``; or they are
        refused too.

    Returns
    -------
    Amplification

    See Also
    --------
    multi : the size of the changes, also for sets of labels, without regard to sign.
    mals : the earlier metric, which mixes both directions.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML.

    Examples
    --------
    Shortcoming 2 of the paper: 90 people of one group and 30 of another; the model gives the task to the whole
    second group and to nobody in the first.

    >>> import biasamp
    >>> group = ["first"] * 90 + ["second"] * 30
    >>> task = [0] * 60 + [1] * 30 + [0] * 10 + [1] * 20
    >>> model = [0] * 90 + [1] * 30
    >>> round(biasamp.directional(group, task, model).value, 4)
    0.3333
    """
    one_of(signs, "signs", _SIGNS)
    one_of(ties, "ties", _TIES)
    if truth is None and base is None:
        raise ValueError("truth is None: give the true labels, or a base to compare the predictions with")
    if direction is not None and base is None and train is not None:
        raise ValueError("both train and direction say where the signs come from: give one of them")
    without_truth = truth is None
    known = predicted_as_truth(predicted) if without_truth else truth
    evaluation, train_sets, invented = read_evaluation(
        given,
        known,
        predicted,
        train,
        weights,
        unseen=unseen,
        apart=not without_truth,
        cluster=cluster,
        compared=base is None and direction is None,
    )
    train_counts = None if train_sets is None else JointCounts.from_labels(*train_sets)
    if train is None and base is None and direction is None:
        warn_of_one_value(evaluation.truth, "truth", stacklevel=3)
    source = read_base(base, direction, evaluation, train_counts, without_truth)
    if signs == "crossfit" and source.signs is not None:
        raise ValueError("signs='crossfit' is for signs from the evaluated labels; here they come from elsewhere")
    signed = source.signed(evaluation.given.width, evaluation.truth.width)
    labels = evaluation.given.labels, evaluation.truth.labels
    unsigned = pairs_without_sign(labels, signed, source.sign_source)
    warn_of(unsigned)
    sample = Sample.keeping(evaluation.only(*signed))
    result = from_sample(sample, source.only(*signed), signs=signs, ties=ties)
    return with_apart(result, unsigned, evaluation, invented)


def predicted_as_truth(predicted: Any) -> Any:
    """Without truth, the label space is that of the predictions."""
    columns = read_columns(predicted, "predicted")
    labels = label_set(columns, "predicted", soft=True)
    if labels.exclusive and labels.variables[0].kind == "categorical":
        codes = np.zeros(len(labels), dtype=np.int64)
        column = Column(labels.variables[0].name, "text", codes, None, labels.variables[0].categories)
        return Columns([column], single=True, declared="categorical", categories=labels.variables[0].categories)
    names = tuple(variable.name for variable in labels.variables)
    nothing = np.zeros(len(labels) + 1, dtype=np.int64)
    return Columns([IndexMatrix(names, nothing, nothing[:0])], single=False)


def oriented(signs: NDArray[np.int8], ties: str) -> NDArray[np.int8]:
    """The factor of delta: the sign, with ties at 0 or, as the formula is printed, at -1."""
    return np.where(signs == 0, -1, signs).astype(np.int8) if ties == "negative" else signs


def directional_pairs(
    counts: PairCounts, signs: NDArray[np.int8], ties: str = "zero", base: NDArray[np.float64] | None = None
) -> PairValues:
    r"""Directional amplification of every pair (Wang & Russakovsky 2021, eq. 2).

    .. math:: y_{go} \Delta_{go}, \quad \Delta_{go} = P(\hat o = 1 | g = 1) - P(o = 1 | g = 1)

    A pair whose given label no record has is undefined. ``base`` takes the place of ``P(o | g)``.
    """
    given, held = np.broadcast_arrays(floats(counts.given), floats(counts.joint_predicted))
    defined = given > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        predicted_rate = held / given
        if base is None:
            truth_rate = floats(counts.joint_truth) / given
            delta = floats(subtract(counts.joint_predicted, counts.joint_truth)) / given
        else:
            truth_rate = np.broadcast_to(base, given.shape)
            delta = predicted_rate - truth_rate
    signs = np.broadcast_to(signs, delta.shape)
    # Not ``sign * delta``: a tie must give 0, also where delta is undefined, and never -0.
    amplification = np.where(signs == 0, 0.0, oriented(signs, ties) * delta)
    if ties == "negative":
        amplification = oriented(signs, ties) * delta
    return PairValues(
        signs,
        np.where(defined, truth_rate, np.nan),
        np.where(defined, predicted_rate, np.nan),
        np.where(defined, delta, np.nan),
        np.where(defined, amplification + 0.0, np.nan),
        defined & ~np.isnan(delta),
    )


@dataclass(frozen=True, eq=False)
class Directional(Estimate):
    """Directional amplification of one sample.

    Attributes
    ----------
    sample : Sample
        The records, or counts of them.
    source : Base
        Where signs and base rates come from, where not from the sample.
    ties : {"zero", "negative"}
    level : float
        The level of the pairs' intervals.
    crossed : bool
        Whether the value is the cross-fitted one.
    """

    sample: Sample
    source: Base
    ties: str = "zero"
    level: float = 0.95
    crossed: bool = False

    def signs(self, counts: PairCounts) -> NDArray[np.int8]:
        """The signs of pairs, from their own counts unless they come from elsewhere."""
        return association_signs(counts.truth_joint) if self.source.signs is None else self.source.signs

    def of_counts(self, counts: PairCounts) -> NDArray[np.float64]:
        """The value of counts: those of the data, or of many resamples at once."""
        pairs = directional_pairs(counts, self.signs(counts), self.ties, self.source.rates)
        return mean_over_pairs(pairs.amplification, pairs.defined)

    @cached_property
    def values(self) -> PairValues:
        """What every pair contributes."""
        counts = self.sample.counts
        return directional_pairs(counts, self.signs(counts), self.ties, self.source.rates)

    @cached_property
    def value(self) -> float:
        """The mean over all defined pairs."""
        return float(mean_over_pairs(self.values.amplification, self.values.defined))

    @cached_property
    def factor(self) -> NDArray[np.int8]:
        """What delta of every pair is multiplied with."""
        return np.broadcast_to(oriented(self.values.sign, self.ties), self.sample.counts.joint_truth.shape)

    @cached_property
    def sign_p(self) -> NDArray[np.float64]:
        """How sure each sign is."""
        given = self.source.sign_p
        if given is None:
            given = association_p(self.source.sign_counts or self.sample.counts.truth_joint)
        return np.broadcast_to(given, self.values.defined.shape)

    @cached_property
    def clear(self) -> NDArray[np.bool_]:
        """The pairs whose sign is clear."""
        return self.values.defined & (self.sign_p <= CLEAR_SIGN)

    @cached_property
    def aggregates(self) -> Aggregates:
        """The aggregates with fixed signs."""
        lent = None
        if self.lends_signs:
            assert self.sample.halves is not None
            upper, lower = (
                oriented(association_signs(half.counts.truth_joint), self.ties) for half in self.sample.halves
            )
            lent = (upper, lower)
        z = normal_statistic(self.sign_p)
        others = (self.worse.up, self.worse.down) if self.unknown else ()
        return Aggregates(self.sample, self.factor, lent, self.values.delta, z, self.source.rates, self.clear, others)

    @cached_property
    def clusters(self) -> ClusterEffect | None:
        """How much clusters widen the error of each pair."""
        against_truth = self.source.rates is None
        moved = self.values.delta if against_truth else self.values.predicted_rate
        return self.sample.cluster_effect(moved, against_truth)

    @cached_property
    def cluster_sign_p(self) -> NDArray[np.float64]:
        """How sure each sign is where records come in clusters."""
        if not self.sample.clustered or self.source.own_signs:
            return self.sign_p
        # Where no bags tell how records of one cluster lean together, no sign is clear.
        bags = self.sample.bags
        return clustered_sign_p(bags, self.sign_p) if bags.resamplable else np.ones(self.sign_p.shape)

    @cached_property
    def worse(self) -> WorseSigns:
        """The signs of the bounds: a table of signs is as it is, and records have to tell theirs."""
        if not self.source.told:
            sign_p = self.cluster_sign_p
        elif self.lent is None:
            return WorseSigns(self.factor, self.factor, np.zeros(self.factor.shape, dtype=bool))
        else:
            sign_p = np.where(self.lent.told, 0.0, 1.0)
        return worse_signs(self.sample.counts, self.factor, self.values.delta, sign_p)

    @cached_property
    def lent(self) -> LentSigns | None:
        """The signs of other records held against these; None where signs come from these, or from a table."""
        others, counts = self.source.sign_counts, self.sample.counts
        if others is None or self.source.signs is None:
            return None
        own = association_signs(counts.truth_joint), association_p(counts.truth_joint)
        lent = self.source.signs, self.sign_p, float(floats(others.n).max())
        return LentSigns.compare(counts, lent, own, self.values.defined)

    @property
    def contradicted(self) -> tuple[int, int] | None:
        """Of the pairs whose sign is clear here and in the records that lend it, how many are opposite, and of how many."""
        return None if self.lent is None else (self.lent.contradicted, self.lent.both)

    @cached_property
    def _errors(self) -> Unseen:
        return Unseen(self.sample.counts, self.clusters, self.source.rates is None)

    def unseen_variance(self, factor: NDArray[np.int8], counted: NDArray[np.bool_] | None = None) -> float:
        """What errors that were not seen add to the variance of the mean of ``factor * delta``."""
        counted = self.values.defined if counted is None else counted
        return self._errors.variance(factor, counted, self.source.signs is None)

    def added_variance(
        self, factor: NDArray[np.int8], counted: NDArray[np.bool_] | None = None, more: float = 1.0
    ) -> float:
        """What bags of records do not show of the variance: ``more`` times that of unseen errors, and that of a base."""
        return more * self.unseen_variance(factor, counted) + self.base_error(factor, counted)

    def base_error(self, factor: NDArray[np.int8], counted: NDArray[np.bool_] | None = None) -> float:
        """What the error of base rates adds to the variance of the mean of ``factor * delta``."""
        counted = self.values.defined if counted is None else counted
        return mean_variance(self.source, self.sample.counts, factor, counted)

    def between_models(self) -> float:
        """What records in which two models differ, and that were not seen, add to the variance of their difference."""
        return self._errors.between_models(self.factor, self.values.defined)

    def pairs_by_bag(self) -> PairBags | None:
        """What every bag of records adds to the change of each pair."""
        return PairBags.of(self.sample.bags, self.factor, self.source.rates)

    @property
    def unknown(self) -> int:
        """How many pairs have a direction that the records do not tell."""
        return int(self.worse.unknown.sum())

    def bounds(self, level: float) -> Interval | None:
        """How far amplification may reach; None where there is no interval."""
        made = self.worse_intervals()
        return None if made is None else bounds_of(*made, self.unknown, level)

    def worse_intervals(self) -> tuple[Intervals, Intervals] | None:
        """What makes the intervals of the values with the worse signs, upward and downward; None where there is none."""
        if not self.sample.has_intervals:
            return None
        made = []
        for number, factor in enumerate((self.worse.up, self.worse.down)):
            signed = self.aggregates.other(number) if self.unknown else self.aggregates.whole
            made.append(self.sample.intervals(signed, (), None, self.added_variance(factor, more=ERRORS_MORE)))
        return made[0], made[1]

    @property
    def lends_signs(self) -> bool:
        """Whether signs come from the evaluated records, and both halves of them can lend the other theirs."""
        return self.source.signs is None and self.sample.halves is not None

    def pairs(self) -> Table:
        """One row for each pair."""
        counts, rates, values = self.sample.counts, self.source.rates, self.values
        clusters = self.clusters
        if rates is None:
            (low, high), p = pair_intervals(counts, self.level, clusters=clusters), delta_p(counts)
        else:
            ends = rate_intervals(counts, self.level, clusters=clusters)
            p = rate_p(counts, np.broadcast_to(rates, values.delta.shape))
            of_base = (ends[0] - rates, ends[1] - rates)
            low, high, p = widened(self.source, values.delta, of_base, p, self.level)
        return pair_table(
            counts.given_labels,
            counts.outcome_labels,
            values,
            factor=oriented(values.sign, self.ties),
            sign_p=self.sign_p,
            low=low,
            high=high,
            support=floats(counts.given),
            p=p if clusters is None else clusters.widened(p),
            either_way=self.source.signs is None or self.lent is not None,
            known=~self.worse.unknown,
        )

    def figure(self, name: str) -> float | None:
        """The cross-fitted value, or the value over the pairs whose sign is clear."""
        if name == "crossfit" and self.lends_signs:
            return self.aggregates.crossed.value
        if name == "clear_value" and self.clear.any():
            return float(mean_over_pairs(self.values.amplification, self.clear))
        return None

    def cautions(self) -> tuple[str, ...]:
        """Where the interval of the value covers less often than its level."""
        return self._cautions(crossfit=self.crossed)

    def _cautions(self, crossfit: bool) -> tuple[str, ...]:
        out = small_cautions(self.sample.counts)
        if self.lends_signs or self.source.own_signs:
            delta = self.values.delta
            error = np.sqrt(pair_errors(self.sample.counts) ** 2 + pair_variance(self.source, delta.shape))
            out += sign_cautions(self.sign_p, delta, error, crossfit, self.source.own_signs)
        return out + self.sample.no_interval

    @cached_property
    def _intervals(self) -> dict[str, Intervals | None]:
        return {}

    def interval(self, of: str) -> Intervals | None:
        """What makes the intervals of a figure, and keeps the resamples that were drawn for it."""
        if of not in self._intervals:
            self._intervals[of] = self._interval(of)
        return self._intervals[of]

    def _interval(self, of: str) -> Intervals | None:
        if not self.sample.has_intervals:
            return None
        unseen = self.added_variance(self.factor)
        if of == "clear_value":
            if not self.clear.any():
                return None
            small = small_cautions(self.sample.counts)
            return self.sample.intervals(
                self.aggregates.some, small, None, self.added_variance(self.factor, self.clear)
            )
        if of == "crossfit" or self.crossed:
            if not self.lends_signs:
                return None
            shared = Added(self.aggregates)
            return self.sample.intervals(self.aggregates.crossed, self._cautions(crossfit=True), shared, unseen)
        whole: Statistic = self.aggregates.whole
        decided = self.source.signs is not None or bool((self.sign_p[self.values.defined] <= _DECIDED).all())
        # Signs that the records do not decide are drawn anew in every resample, where those fit in memory.
        if not decided and self.sample.bags.resamplable:
            whole = Redrawn(whole, self.sample.bags, self.of_counts)
        return self.sample.intervals(whole, self._cautions(crossfit=False), None, unseen)


def from_sample(
    sample: Sample,
    source: Base,
    *,
    signs: str = "plugin",
    ties: str = "zero",
    direction: str | None = None,
    level: float = 0.95,
) -> Amplification:
    """The result for a sample; ``level`` is that of the pairs' intervals."""
    estimate = Directional(sample, source, ties, level, signs == "crossfit")
    counts, values = sample.counts, estimate.values
    if not values.defined.any():
        raise ValueError("no pair is defined: no record has any of the given labels")
    if signs == "crossfit" and not estimate.lends_signs:
        raise ValueError("signs='crossfit' needs records in both halves; there are too few")
    return Amplification(
        metric="directional",
        value=estimate.aggregates.crossed.value if signs == "crossfit" else estimate.value,
        n=float(floats(counts.n).max()),
        direction=direction,
        sign_source=source.sign_source,
        base_source=source.rate_source,
        excluded=pairs_without_given(counts, values),
        _estimate=estimate,
    )
