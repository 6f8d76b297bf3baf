"""What an association result can compute from its counts: values, gaps, intervals, tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association_counts import AssociationCounts
from biasamp.resampling.multiplicity import q_values

from .gap_intervals import GapIntervals, Moments, contrast_weights, gap_intervals, rate_tests
from .gaps import association, gap_under_independence
from .metrics import metric_form

Array = NDArray[np.float64]
# The gap of two identities, or of one against the mean of all others.
Contrast = tuple[int, int | None]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def kept(method: Callable[Concatenate[Any, _P], _R]) -> Callable[Concatenate[Any, _P], _R]:
    """A method that computes once for the same arguments; its results stay in ``self._kept``."""

    @wraps(method)
    def held(self: Any, /, *args: _P.args, **options: _P.kwargs) -> _R:
        key = (method.__name__, args, tuple(options.items()))
        if key not in self._kept:
            self._kept[key] = method(self, *args, **options)
        out: _R = self._kept[key]
        return out

    return held


class AssociationValues:
    """Numbers of one data set, each computed when first asked for; arrays have one entry, or row, per label.

    Parameters
    ----------
    counts : AssociationCounts
    alpha : float
        Add-alpha smoothing of each two-by-two table of an identity and a label; 0 for none. Tests always
        use the counts as they are.
    paper_literal : bool
    correction : {"bh", "by"}
    tested : ndarray of bool, shape (labels,)
        The labels that are tested: those that are no identity.
    """

    def __init__(
        self, counts: AssociationCounts, *, alpha: float, paper_literal: bool, correction: str, tested: Any
    ) -> None:
        self.counts = counts
        self.paper_literal = paper_literal
        self.correction = correction
        self.tested = tested
        many = len(counts.identities)
        self.pairs: list[Contrast] = [(k, m) for k in range(many) for m in range(k + 1, many)]
        self.contrasts = self.pairs + ([(k, None) for k in range(many)] if many > 2 else [])
        self._kept: dict[Any, Any] = {}
        self._raw = Moments(counts.n, counts.count, counts.overlap, counts.identity_joint, counts.both)
        self._smooth = self._raw if alpha == 0 else self._smoothed(alpha)

    def _smoothed(self, alpha: float) -> Moments:
        """Every cell of the table of (x, y) gets alpha more records; identities overlap as before."""
        c = self.counts
        overlap = c.overlap + 2 * alpha * np.eye(len(c.identities))
        return Moments(c.n + 4 * alpha, c.count + 2 * alpha, overlap, c.identity_joint + alpha, c.both)

    @kept
    def values(self, metric: str) -> Array:
        """A(x, y): one row per label, one column per identity."""
        m = self._smooth
        return association(metric, m.n, m.size, m.count[:, None], m.together, paper_literal=self.paper_literal)

    @kept
    def gaps(self, metric: str, contrast: Contrast) -> Array:
        """Gap of every label."""
        return self._smooth.gaps(metric, contrast, paper_literal=self.paper_literal)

    def lean(self, metric: str, contrast: Contrast) -> Array:
        """What labels are ranked by: larger leans more to x1, whatever the metric or its printed sign."""
        form = metric_form(metric, self.paper_literal)
        if form.ratio:
            if contrast[1] is not None:
                return self._smooth.gaps("llr", contrast)
            weights = contrast_weights(contrast, len(self.counts.identities))
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = weights * np.log(self._smooth.together)
                return np.where(np.isnan(self.gaps(metric, contrast)), np.nan, terms.sum(axis=1))
        gaps = self.gaps(metric, contrast)
        return gaps if form.leans > 0 else 0.0 - gaps

    @kept
    def interval(self, metric: str, contrast: Contrast, level: float = 0.95) -> GapIntervals:
        """Lower limit, upper limit and standard error of the gap of every label."""
        gaps = self.gaps(metric, contrast)
        return gap_intervals(self._smooth, metric, contrast, level=level, paper_literal=self.paper_literal, gaps=gaps)

    @kept
    def independence(self, metric: str, contrast: Contrast) -> Array:
        """What the gap would be if the label were independent of every identity."""
        m = self._smooth
        first, second = contrast
        others = [k for k in range(len(m.size)) if k != first] if second is None else [second]
        gaps = [
            gap_under_independence(metric, m.n, m.size[first], m.size[k], m.count, paper_literal=self.paper_literal)
            for k in others
        ]
        out: Array = np.mean(gaps, axis=0)
        return out

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
        """q-value among the tests of all labels and all pairs of identities; NaN against the rest."""
        if contrast not in self.pairs:
            return np.full(len(self.counts.labels), np.nan)
        out: Array = self._q[self.pairs.index(contrast)]
        return out
