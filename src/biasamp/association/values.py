r"""What follows from association counts: values, gaps, their intervals by the delta method, and tests.

A gap is a smooth function of the shares of records with x, with y and with both. Its linear part gives each
record a value: for identity k, ``phi_k = a_k [x_k] + b_k [y] + c_k [x_k][y]`` with the partial derivatives of
``A(x_k, y)`` as coefficients. The variance of a gap, or of any contrast of identities, follows from the
covariances of the ``phi_k``, and these need no more than C(x1, x2) and C(x1, x2, y): intervals are right also where
identities overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from itertools import combinations, combinations_with_replacement
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association_counts import AssociationCounts
from biasamp.resampling.significance import fisher_exact, q_values

from .association_metric import Array, Counts, Slope
from .contrasts import FEW, Contrast
from .gaps import gap_under_independence, rest_gap, slope
from .metrics import metric_form
from .overlap_test import overlap_test

_P = ParamSpec("_P")
_R = TypeVar("_R")
# A label never seen with an identity has a rate somewhere below 1/C(x): half a record stands for it where a
# derivative is needed.
_HALF = 0.5


class GapIntervals(NamedTuple):
    """Lower and upper limits of the gaps; NaN where a gap has none."""

    low: Array
    high: Array
    error: Array


class Moments:
    """The counts of labels with identities, as the delta method needs them.

    ``count`` has the shape (labels,), ``overlap`` (identities, identities), ``joint`` (labels, identities, identities),
    or (labels, identities) where ``both`` gives C(x1, x2, y) of every label from two identities.
    """

    def __init__(
        self, n: Any, count: Any, overlap: Any, joint: Any, both: Callable[[int, int], Any] | None = None
    ) -> None:
        self.n = float(n)
        self.count = np.asarray(count, dtype=np.float64)
        self.overlap = np.asarray(overlap, dtype=np.float64)
        joint = np.asarray(joint, dtype=np.float64)
        self.together = joint if joint.ndim == 2 else np.diagonal(joint, axis1=1, axis2=2)
        self._both = both or (lambda first, second: joint[:, first, second])
        self.filled = np.maximum(self.together, np.minimum(_HALF, self.count[:, None]))
        self.size = np.diagonal(self.overlap)

    def both(self, first: int, second: int) -> Array:
        """C(x1, x2, y) of every label, for two identities."""
        return np.asarray(self._both(first, second), dtype=np.float64)

    def variance(self, metric: str, weights: Array, *, paper_literal: bool = False) -> Array:
        """Variance of the sum of ``A(x_k, y)`` over identities k with some weights, for every label.

        It is the sum of ``w_k w_m Cov(A(x_k, y), A(x_m, y))``, one pair of identities at a time.
        """
        n = self.n
        used = np.flatnonzero(weights)
        w = weights[used]
        size, p_y = self.size[used] / n, self.count / n
        p_xy = self.filled[:, used] / n
        a, b, c = self.slopes(metric, used, paper_literal=paper_literal)
        out = np.zeros(len(self.count))
        with np.errstate(invalid="ignore", over="ignore"):
            mean = a * size + b * p_y[:, None] + c * p_xy
            for k, m in combinations_with_replacement(range(len(used)), 2):
                shared = self.overlap[used[k], used[m]] / n
                product = (
                    (a[:, k] * b[:, m] + c[:, k] * b[:, m]) * p_xy[:, k]
                    + (b[:, k] * a[:, m] + b[:, k] * c[:, m]) * p_xy[:, m]
                    + b[:, k] * b[:, m] * p_y
                )
                if shared:
                    both = p_xy[:, k] if k == m else self.both(used[k], used[m]) / n
                    product += a[:, k] * a[:, m] * shared
                    product += (a[:, k] * c[:, m] + c[:, k] * a[:, m] + c[:, k] * c[:, m]) * both
                times = w[k] * w[m] * (1.0 if k == m else 2.0)
                out += times * (product - mean[:, k] * mean[:, m]) / n
        return out

    def rest_variances(self, metric: str, *, paper_literal: bool = False) -> Array:
        """Variance of each identity's gap against the mean of all others, of shape (labels, identities).

        With C the covariances of the ``A(x_k, y)``, that of ``A(x_k, y)`` with the sum over all identities, ``(C 1)_k``, is
        all that the sum over pairs is needed for, so that one walk over the pairs serves every identity.
        """
        n, many = self.n, len(self.size)
        size, p_y, p_xy = self.size / n, (self.count / n)[:, None], self.filled / n
        a, b, c = self.slopes(metric, np.arange(many), paper_literal=paper_literal)
        with np.errstate(invalid="ignore", over="ignore"):
            mean, own = a * size + b * p_y + c * p_xy, (a + c) * p_xy
            alone = 2.0 * own * b + b**2 * p_y + a**2 * size + (2.0 * a * c + c**2) * p_xy
            others, owns = b.sum(axis=1, keepdims=True) - b, own.sum(axis=1, keepdims=True) - own
            row = alone + own * others + b * owns + b * others * p_y - mean * mean.sum(axis=1, keepdims=True)
            for k, m in combinations(range(many), 2):
                if self.overlap[k, m]:
                    both = self.both(k, m) / n
                    product = a[:, k] * a[:, m] * (self.overlap[k, m] / n)
                    product += (a[:, k] * c[:, m] + c[:, k] * a[:, m] + c[:, k] * c[:, m]) * both
                    row[:, k] += product
                    row[:, m] += product
            share = 1.0 / (many - 1)
            whole = (1.0 + share) ** 2 * (alone - mean**2) - 2.0 * (1.0 + share) * share * row
            return np.asarray((whole + share**2 * row.sum(axis=1, keepdims=True)) / n)

    def of_labels(self, labels: NDArray[np.int64]) -> Moments:
        """The moments of some labels."""
        return Moments(
            self.n,
            self.count[labels],
            self.overlap,
            self.together[labels],
            lambda first, second: self.both(first, second)[labels],
        )

    def __add__(self, other: Moments) -> Moments:
        """The moments of both sets of records together, of the same labels and identities."""
        return Moments(
            self.n + other.n,
            self.count + other.count,
            self.overlap + other.overlap,
            self.together + other.together,
            lambda first, second: self.both(first, second) + other.both(first, second),
        )

    def slopes(self, metric: str, identities: NDArray[np.int64], *, paper_literal: bool = False) -> Slope:
        """Derivatives of ``A(x, y)`` by p(x), p(y) and p(x,y): one row per label, one column per identity."""
        n = self.n
        at = (self.size[identities] / n, self.count[:, None] / n, self.filled[:, identities] / n)
        return slope(metric, n, *at, paper_literal=paper_literal)

    def counts(self, identity: int, *, filled: bool = False) -> Counts:
        """The four counts of one identity, over labels."""
        xy = self.filled if filled else self.together
        return Counts(*np.broadcast_arrays(self.n, self.size[identity], self.count, xy[:, identity]))

    def values(self, metric: str, *, paper_literal: bool = False, filled: bool = False) -> Array:
        """A(x, y): one row per label, one column per identity."""
        form = metric_form(metric, paper_literal)
        return np.column_stack([form.value(self.counts(k, filled=filled)) for k in range(len(self.size))])

    def gaps(self, metric: str, contrast: Contrast, *, paper_literal: bool = False, filled: bool = False) -> Array:
        """Gap of every label."""
        first, second = contrast
        if second is None:
            return rest_gap(self.values(metric, paper_literal=paper_literal, filled=filled), first)
        form = metric_form(metric, paper_literal)
        return form.gap(self.counts(first, filled=filled), self.counts(second, filled=filled))


def gap_intervals(
    moments: Moments,
    metric: str,
    contrast: Contrast,
    *,
    level: float = 0.95,
    paper_literal: bool = False,
    gaps: Array | None = None,
    variance: Array | None = None,
    centre: Array | None = None,
) -> GapIntervals:
    """Delta-method intervals of the gaps of every label, with the nominal coverage ``level``.

    ``gaps``, their ``variance``, and the gaps ``centre`` with half a record where there is none may be known already.

    Where a label never occurs with one of the identities, the limits are those of half a record, stretched to
    take in the gap itself, which may be infinite.

    >>> m = Moments(1000, [60], [[300, 0], [0, 300]], [[[30, 0], [0, 15]]])
    >>> low, high, _ = gap_intervals(m, "dp", (0, 1))
    >>> [round(float(v), 3) for v in (low[0], high[0])]
    [0.008, 0.092]
    """
    from scipy.special import ndtri

    if gaps is None:
        gaps = moments.gaps(metric, contrast, paper_literal=paper_literal)
    weights = contrast_weights(contrast, len(moments.size))
    if variance is None:
        variance = moments.variance(metric, weights, paper_literal=paper_literal)
    error = np.sqrt(np.maximum(variance, 0.0))
    reach = float(ndtri(0.5 + level / 2.0)) * error
    low, high = gaps - reach, gaps + reach
    empty = (moments.together[:, weights != 0] == 0).any(axis=1)
    if empty.any():
        if centre is None:
            centre = moments.gaps(metric, contrast, paper_literal=paper_literal, filled=True)
        low = np.where(empty, np.fmin(centre - reach, gaps), low)
        high = np.where(empty, np.fmax(centre + reach, gaps), high)
    # Gaps cannot pass this bound, the limits of a normal approximation can.
    bound = metric_form(metric, paper_literal).bound
    low, high = (
        np.where(np.isnan(gaps), np.nan, limit) for limit in (np.maximum(low, -bound), np.minimum(high, bound))
    )
    return GapIntervals(low, high, np.where(np.isfinite(gaps), error, np.nan))


def contrast_weights(contrast: Contrast, many: int) -> Array:
    """The weight of each identity in a gap."""
    first, second = contrast
    weights = np.full(many, -1.0 / (many - 1)) if second is None else 0.0 - np.eye(many)[second]
    weights[first] = 1.0
    return weights


def rate_tests(moments: Moments, first: int, second: int) -> Array:
    """p-value of ``P(y|x1) = P(y|x2)`` of every label: Fisher's exact test where no record carries both identities."""
    shared = moments.overlap[first, second]
    joint_1, joint_2 = moments.together[:, first], moments.together[:, second]
    size_1, size_2 = moments.size[first], moments.size[second]
    if shared == 0:
        return fisher_exact(joint_1, size_1, joint_2, size_2)
    both = moments.both(first, second)
    return overlap_test(joint_1 - both, joint_2 - both, both, size_1 - shared, size_2 - shared, shared)


def kept(method: Callable[Concatenate[Any, _P], _R]) -> Callable[Concatenate[Any, _P], _R]:
    """A method that computes once for the same arguments; its results stay in ``self._kept``."""

    @wraps(method)
    def held(self: Any, /, *args: _P.args, **options: _P.kwargs) -> _R:
        store: dict[Any, _R] = self._kept
        key = (method.__name__, args, tuple(options.items()))
        if key not in store:
            store[key] = method(self, *args, **options)
        return store[key]

    return held


class AssociationValues:
    """Numbers of one data set, each computed when first asked for; arrays have one entry, or row, per label.

    Of the settings it goes by ``alpha``, the add-alpha smoothing of each two-by-two table of an identity and a label
    (tests always use the counts as they are), ``paper_literal`` and ``correction``. ``tested`` are the labels, as bool,
    that are no identity; ``contrasts`` are the gaps that are looked at, whose tests make up one family.
    """

    def __init__(
        self,
        counts: AssociationCounts,
        settings: Mapping[str, Any],
        tested: NDArray[np.bool_],
        contrasts: Sequence[Contrast],
    ) -> None:
        self.counts, self.settings = counts, settings
        self.paper_literal: bool = settings["paper_literal"]
        self.correction: str = settings["correction"]
        self.tested = tested
        self.contrasts = tuple(contrasts)
        self.pairs = [contrast for contrast in contrasts if contrast[1] is not None]
        self._kept: dict[Any, Any] = {}
        self._raw = Moments(counts.n, counts.count, counts.overlap, counts.identity_joint, counts.both)
        self.alpha: float = settings["alpha"] or 0.0
        self._smooth = self._with_more(self.alpha)

    def _with_more(self, add: float) -> Moments:
        """The moments where every cell of the table of (x, y) has so many more records; identities overlap as before."""
        if not add:
            return self._raw
        counts, many = self.counts, len(self.counts.identities)
        cells = counts.count + 2 * add, counts.overlap + 2 * add * np.eye(many), counts.identity_joint + add
        return Moments(counts.n + 4 * add, *cells, counts.both)

    @cached_property
    def at_least_half(self) -> Moments:
        """The moments with half a record more in each cell, or as many as the settings say: no gap or error is infinite."""
        return self._with_more(max(self.alpha, _HALF))

    @kept
    def values(self, metric: str) -> Array:
        """A(x, y): one row per label, one column per identity."""
        return self._smooth.values(metric, paper_literal=self.paper_literal)

    @kept
    def gaps(self, metric: str, contrast: Contrast) -> Array:
        """Gap of every label."""
        return self.gaps_once(metric, contrast)

    def gaps_once(self, metric: str, contrast: Contrast) -> Array:
        """Gap of every label, which is not kept."""
        if contrast[1] is None:
            return rest_gap(self.values(metric), contrast[0])
        return self._smooth.gaps(metric, contrast, paper_literal=self.paper_literal)

    def of_labels(self, labels: NDArray[np.int64]) -> AssociationValues:
        """The numbers of some labels; q-values are those among these."""
        return AssociationValues(self.counts.take(labels.tolist()), self.settings, self.tested[labels], self.contrasts)

    def lean(self, metric: str, contrast: Contrast, gaps: Array | None = None) -> Array:
        """What labels are ranked by: larger leans more to x1, whatever the metric or its printed sign."""
        gaps = self.gaps(metric, contrast) if gaps is None else gaps
        form = metric_form(metric, self.paper_literal)
        if form.ratio:
            if contrast[1] is not None:
                return self._smooth.gaps("llr", contrast)
            weights = contrast_weights(contrast, len(self.counts.identities))
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = weights * np.log(self._smooth.together)
                return np.where(np.isnan(gaps), np.nan, terms.sum(axis=1))
        return gaps if form.leans > 0 else 0.0 - gaps

    @kept
    def interval(self, metric: str, contrast: Contrast, level: float = 0.95) -> GapIntervals:
        """Lower limit, upper limit and standard error of the gap of every label."""
        gaps = self.gaps(metric, contrast)
        known: dict[str, Any] = {}
        if contrast[1] is None:
            known["centre"] = rest_gap(self._filled(metric), contrast[0])
            if len(self.counts.identities) > FEW:
                known["variance"] = self._rest_variances(metric)[:, contrast[0]]
        literal = self.paper_literal
        return gap_intervals(self._smooth, metric, contrast, level=level, paper_literal=literal, gaps=gaps, **known)

    @kept
    def _filled(self, metric: str) -> Array:
        return self._smooth.values(metric, paper_literal=self.paper_literal, filled=True)

    @kept
    def _rest_variances(self, metric: str) -> Array:
        return self._smooth.rest_variances(metric, paper_literal=self.paper_literal)

    @kept
    def independence(self, metric: str, contrast: Contrast) -> Array:
        """What the gap would be if the label were independent of every identity."""
        m = self._smooth
        first, second = contrast
        if second is None and len(m.size) > FEW:
            return rest_gap(self._independent(metric), first)
        others = [k for k in range(len(m.size)) if k != first] if second is None else [second]
        gaps = [
            gap_under_independence(metric, m.n, m.size[first], m.size[k], m.count, paper_literal=self.paper_literal)
            for k in others
        ]
        return np.asarray(np.mean(gaps, axis=0))

    @kept
    def _independent(self, metric: str) -> Array:
        """A(x, y) were x and y independent, up to what is the same for all identities: its gap to the first of them."""
        m, literal = self._smooth, self.paper_literal
        columns = [
            gap_under_independence(metric, m.n, m.size[k], m.size[0], m.count, paper_literal=literal)
            for k in range(len(m.size))
        ]
        return np.column_stack(columns)

    def both(self, contrast: Contrast) -> NDArray[np.int64] | None:
        """C(x1, x2, y) of every label: the records that carry both identities of a gap; None against the rest."""
        first, second = contrast
        return None if second is None else self.counts.both(first, second)

    @kept
    def p_values(self, contrast: Contrast) -> Array:
        """p-value of P(y|x1) = P(y|x2); NaN against the rest and for labels that are an identity."""
        first, second = contrast
        if second is None:
            return np.full(len(self.counts.labels), np.nan)
        return np.where(self.tested, rate_tests(self._raw, first, second), np.nan)

    @cached_property
    def _q(self) -> Array:
        return q_values(np.stack([self.p_values(pair) for pair in self.pairs]), self.correction)

    def q_values(self, contrast: Contrast) -> Array:
        """q-value among the tests of all labels and all pairs that are looked at; NaN against the rest.

        The tests of a pair that is not among them are added to those that are.
        """
        if contrast[1] is None:
            return np.full(len(self.counts.labels), np.nan)
        if contrast in self.pairs:
            return np.asarray(self._q[self.pairs.index(contrast)])
        return np.asarray(
            q_values(np.stack([self.p_values(pair) for pair in (*self.pairs, contrast)]), self.correction)[-1]
        )
