r"""Intervals of association gaps by the delta method, right also where identities overlap.

A gap is a smooth function of the shares of records with x, with y and with both. Its linear part gives each
record a value: for identity k, ``phi_k = a_k [x_k] + b_k [y] + c_k [x_k][y]`` with the partial derivatives of
``A(x_k, y)`` as coefficients. The variance of a gap, or of any contrast of identities, follows from the
covariances of the ``phi_k``, and these need no more than C(x1, x2) and C(x1, x2, y).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.resampling.fisher import fisher_exact

from .association_metric import Counts
from .gaps import rest_gap
from .metrics import metric_form
from .orientation import slope
from .overlap_test import overlap_test

Array = NDArray[np.float64]

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

    Parameters
    ----------
    n : float
        Records in all.
    count : ndarray of shape (labels,)
    overlap : ndarray of shape (identities, identities)
    joint : ndarray of shape (labels, identities, identities), or (labels, identities)
        C(x1, x2, y), or C(x, y) alone where ``both`` gives the rest.
    both : callable, optional
        From two identities to C(x1, x2, y) of every label.
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
        size, p_y = self.size[used] / n, self.count / n
        p_xy = self.filled[:, used] / n
        a, b, c = slope(metric, n, size, p_y[:, None], np.minimum(p_xy, 1.0), paper_literal=paper_literal)
        out = np.zeros(len(self.count))
        with np.errstate(invalid="ignore", over="ignore"):
            mean = a * size + b * p_y[:, None] + c * p_xy
            for k in range(len(used)):
                for m in range(k, len(used)):
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
                    times = weights[used[k]] * weights[used[m]] * (1.0 if k == m else 2.0)
                    out += times * (product - mean[:, k] * mean[:, m]) / n
        return out

    def counts(self, identity: int, *, filled: bool = False) -> Counts:
        """The four counts of one identity, over labels."""
        xy = self.filled if filled else self.together
        return Counts(*np.broadcast_arrays(self.n, self.size[identity], self.count, xy[:, identity]))

    def gaps(self, metric: str, contrast: Any, *, paper_literal: bool = False, filled: bool = False) -> Array:
        """Gaps of one contrast: a pair of identities, or one identity against the rest ``(k, None)``."""
        form = metric_form(metric, paper_literal)
        first, second = contrast
        if second is not None:
            return form.gap(self.counts(first, filled=filled), self.counts(second, filled=filled))
        values = np.column_stack([form.value(self.counts(k, filled=filled)) for k in range(len(self.size))])
        return rest_gap(values, first)


def gap_intervals(
    moments: Moments,
    metric: str,
    contrast: tuple[int, int | None],
    *,
    level: float = 0.95,
    paper_literal: bool = False,
    gaps: Array | None = None,
) -> GapIntervals:
    """Delta-method intervals of the gaps of every label.

    Where a label never occurs with one of the identities, the limits are those of half a record, stretched to
    take in the gap itself, which may be infinite.

    Parameters
    ----------
    moments : Moments
    metric : str
    contrast : tuple
        ``(k, l)`` for the gap of identity k over l, ``(k, None)`` for k against the mean of the others.
    level : float
        Nominal coverage.

    Examples
    --------
    >>> m = Moments(1000, [60], [[300, 0], [0, 300]], [[[30, 0], [0, 15]]])
    >>> low, high, _ = gap_intervals(m, "dp", (0, 1))
    >>> [round(float(v), 3) for v in (low[0], high[0])]
    [0.008, 0.092]
    """
    from scipy.special import ndtri

    if gaps is None:
        gaps = moments.gaps(metric, contrast, paper_literal=paper_literal)
    weights = contrast_weights(contrast, len(moments.size))
    error = np.sqrt(np.maximum(moments.variance(metric, weights, paper_literal=paper_literal), 0.0))
    reach = float(ndtri(0.5 + level / 2.0)) * error
    used = weights != 0
    empty = (moments.together[:, used] == 0).any(axis=1)
    centre = gaps
    if empty.any():
        centre = np.where(empty, moments.gaps(metric, contrast, paper_literal=paper_literal, filled=True), gaps)
    low, high = centre - reach, centre + reach
    if empty.any():
        low, high = np.where(empty, np.fmin(low, gaps), low), np.where(empty, np.fmax(high, gaps), high)
    # Gaps cannot pass this bound, the limits of a normal approximation can.
    bound = metric_form(metric, paper_literal).bound
    low, high = np.maximum(low, -bound), np.minimum(high, bound)
    nowhere = np.isnan(gaps)
    error = np.where(np.isfinite(gaps), error, np.nan)
    return GapIntervals(np.where(nowhere, np.nan, low), np.where(nowhere, np.nan, high), error)


def contrast_weights(contrast: tuple[int, int | None], many: int) -> Array:
    """The weight of each identity in a gap."""
    first, second = contrast
    weights = np.zeros(many)
    if second is None:
        weights[:] = -1.0 / (many - 1)
    else:
        weights[second] = -1.0
    weights[first] = 1.0
    return weights


def rate_tests(moments: Moments, first: int, second: int) -> Array:
    """p-value of ``P(y|x1) = P(y|x2)`` of every label.

    Fisher's exact test where no record carries both identities, else
    :func:`~biasamp.association.overlap_test.overlap_test`.
    """
    shared = moments.overlap[first, second]
    if shared == 0:
        return fisher_exact(
            moments.together[:, first], moments.size[first], moments.together[:, second], moments.size[second]
        )
    both = moments.both(first, second)
    return overlap_test(
        moments.together[:, first] - both,
        moments.together[:, second] - both,
        both,
        moments.size[first] - shared,
        moments.size[second] - shared,
        shared,
    )
