"""What an association result can compute from its counts: values, gaps, intervals, tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association_counts import AssociationCounts
from biasamp.resampling.multiplicity import q_values

from .gap_intervals import Moments, contrast_weights, gap_intervals, rate_tests
from .gaps import association, gap_under_independence
from .metrics import metric_form

Array = NDArray[np.float64]
Contrast = tuple[int, int | None]


class AssociationValues:
    """Numbers of one data set, each computed when first asked for.

    Parameters
    ----------
    counts : AssociationCounts
    alpha : float
        Add-alpha smoothing of each two-by-two table of an identity and a label; 0 for none. Tests always
        use the counts as they are.
    paper_literal : bool
    correction : {"bh", "by"}
    """

    def __init__(
        self, counts: AssociationCounts, *, alpha: float, paper_literal: bool, correction: str, tested: Any
    ) -> None:
        self.counts = counts
        self.alpha = alpha
        self.paper_literal = paper_literal
        self.correction = correction
        self.tested = tested
        many = len(counts.identities)
        self.pairs: list[Contrast] = [(k, m) for k in range(many) for m in range(k + 1, many)]
        self.rest: list[Contrast] = [(k, None) for k in range(many)] if many > 2 else []
        self.contrasts = self.pairs + self.rest
        self._kept: dict[Any, Any] = {}
        self._raw = Moments(counts.n, counts.count, counts.overlap, counts.identity_joint, counts.both)
        self._smooth = self._raw if alpha == 0 else self._smoothed(alpha)

    def _smoothed(self, alpha: float) -> Moments:
        """Every cell of the table of (x, y) gets alpha more records; identities overlap as before."""
        c = self.counts
        many = len(c.identities)
        one = np.eye(many)
        joint = c.identity_joint + alpha
        return Moments(c.n + 4 * alpha, c.count + 2 * alpha, c.overlap + 2 * alpha * one, joint, c.both)

    def _keep(self, key: Any, make: Any) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def values(self, metric: str) -> Array:
        """A(x, y): one row a label, one column an identity."""
        m = self._smooth

        def make() -> Array:
            return association(metric, m.n, m.size, m.count[:, None], m.together, paper_literal=self.paper_literal)

        out: Array = self._keep(("values", metric), make)
        return out

    def gaps(self, metric: str, contrast: Contrast) -> Array:
        """Gap of every label."""
        out: Array = self._keep(
            ("gaps", metric, contrast),
            lambda: self._smooth.gaps(metric, contrast, paper_literal=self.paper_literal),
        )
        return out

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

    def interval(self, metric: str, contrast: Contrast, level: float = 0.95) -> tuple[Array, Array, Array]:
        """Lower limit, upper limit and standard error of the gap of every label."""

        def make() -> Any:
            return gap_intervals(
                self._smooth,
                metric,
                contrast,
                level=level,
                paper_literal=self.paper_literal,
                gaps=self.gaps(metric, contrast),
            )

        low, high, error = self._keep(("interval", metric, contrast, level), make)
        return low, high, error

    def independence(self, metric: str, contrast: Contrast) -> Array:
        """What the gap would be if the label were independent of every identity."""
        m = self._smooth

        def make() -> Array:
            first, second = contrast
            others = [k for k in range(len(m.size)) if k != first] if second is None else [second]
            parts = [
                gap_under_independence(metric, m.n, m.size[first], m.size[k], m.count, paper_literal=self.paper_literal)
                for k in others
            ]
            out: Array = np.mean(parts, axis=0)
            return out

        out: Array = self._keep(("independence", metric, contrast), make)
        return out

    def both(self, contrast: Contrast) -> NDArray[np.int64] | None:
        """C(x1, x2, y) of every label: the records that carry both identities of a gap; None against the rest."""
        first, second = contrast
        return None if second is None else self.counts.both(first, second)

    def p_values(self, contrast: Contrast) -> Array:
        """p-value of P(y|x1) = P(y|x2); NaN against the rest and for labels that are an identity."""
        first, second = contrast
        if second is None:
            return np.full(len(self.counts.labels), np.nan)
        out: Array = self._keep(
            ("p", contrast),
            lambda: np.where(self.tested, rate_tests(self._raw, first, second), np.nan),
        )
        return out

    def q_values(self, contrast: Contrast) -> Array:
        """q-value among the tests of all labels and all pairs of identities."""

        def make() -> Array:
            if not self.pairs:
                return np.full((0, len(self.counts.labels)), np.nan)
            return q_values(np.stack([self.p_values(pair) for pair in self.pairs]), self.correction)

        if contrast not in self.pairs:
            return np.full(len(self.counts.labels), np.nan)
        table = self._keep("q", make)
        out: Array = table[self.pairs.index(contrast)]
        return out
