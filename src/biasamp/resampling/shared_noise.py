r"""What two halves of the records share when each lends the other its signs.

A cross-fitted value is the mean of :math:`S_1 = \sum_k y_{2k} \Delta_{1k}` and
:math:`S_2 = \sum_k y_{1k} \Delta_{2k}`. Either is unbiased, but where signs are near chance they are not
independent: the noise of :math:`\Delta_1` goes with :math:`y_1`, that of :math:`\Delta_2` with :math:`y_2`, and

.. math:: \operatorname{Cov}(S_1, S_2) = \sum_{kl} M_{kl} M_{lk}, \quad
    M_{kl} = \operatorname{Cov}(\Delta_k, y_l)
    \approx 2 \phi(z_l) \operatorname{Cov}(\Delta_k, a_l) / \sigma_{a_l}

with the statistic ``a`` whose sign ``y`` is and its test statistic ``z`` in half the records. Errors that hold
the signs fixed leave it out, and come out up to a quarter too small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import Count, floats, subtract
from biasamp.counts.pair import PairCounts

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# The covariances are estimated from so many pairs; more would hardly change their sum.
_PAIRS = 1000
# A sign with a test statistic beyond this in half the records hardly goes with the noise.
_CLEAR = 4.0


def unclear_pairs(delta: Floats, z: Floats) -> tuple[Index, Index, float]:
    """The pairs whose sign goes with the noise, or some that stand for them, and for how many each of those stands."""
    half = np.abs(z) / np.sqrt(2.0)
    g, o = np.nonzero(~np.isnan(delta) & (half < _CLEAR))
    if len(g) <= _PAIRS:
        return g, o, 1.0
    # Some labels of the side that has more of them stand for all.
    side = o if len(np.unique(o)) >= len(np.unique(g)) else g
    keep = np.isin(side, np.unique(side)[:: -(-len(g) // _PAIRS)])
    return g[keep], o[keep], len(g) / int(keep.sum())


def bag_crossfit_covariance(bags: BagCounts, delta: Floats, z: Floats, pairs: tuple[Index, Index], own: bool) -> float:
    """The sum over these pairs that the halves' sharing adds to the variance of a cross-fitted sum over pairs.

    Parameters
    ----------
    bags : BagCounts
        The counts of all records.
    delta : ndarray of shape (given labels, outcome labels)
        The change of every pair; NaN where undefined.
    z : ndarray of shape (given labels, outcome labels)
        The test statistic of every sign in all the records.
    pairs : pair of ndarray
        Numbers of the given and of the outcome label of every pair.
    own : bool
        Whether the signs are those of delta itself (Multi), not of the association of the labels.
    """
    g, o = pairs
    counts = bags.whole
    size = np.broadcast_to(floats(counts.given), delta.shape)[g, o]
    held = subtract(bags.counts.joint_predicted, bags.counts.joint_truth)
    moved, given = (_of_pairs(part, bags.counts, g, o) for part in (held, bags.counts.given))
    noise = lean = (moved - given * delta[g, o]) / size
    if not own:
        left, right, apart = _association_rates(counts, g, o)
        n, truth, joint = (
            _of_pairs(part, bags.counts, g, o) for part in (bags.counts.n, bags.counts.truth, bags.counts.joint_truth)
        )
        lean = joint - left * truth - right * given + (left * right - apart) * n
    spread = np.sqrt((lean**2).sum(axis=0))
    # An observed statistic is further from 0 than the true one by about 1 where the true one is 0.
    half = np.abs(z)[g, o] / np.sqrt(2.0)
    density = np.exp(-0.5 * np.maximum(half - 1.0, 0.0) ** 2) / np.sqrt(2.0 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        lent = np.where(spread > 0, 2.0 * density / spread, 0.0)
    shared = _exact_product(noise, lean) * lent
    return max(float((shared * shared.T).sum()), 0.0)


def _exact_product(left: Floats, right: Floats) -> Floats:
    """``left.T @ right`` of numbers cut to 19 bits, which adds up without rounding: the same from every library."""
    cut = []
    for values in (left, right):
        largest = float(np.abs(values).max(initial=0.0))
        scale = 2.0 ** (19 - int(np.ceil(np.log2(largest)))) if largest > 0 else 1.0
        cut.append((np.rint(values * scale), scale))
    (a, first), (b, second) = cut
    return np.asarray((a.T @ b) / (first * second))


def _association_rates(counts: PairCounts, g: Index, o: Index) -> tuple[Floats, Floats, Floats]:
    """Both rates of some pairs, and by how much they hold together more often than by chance."""
    shape = counts.joint_truth.shape
    n = np.broadcast_to(floats(counts.n), shape)[g, o]
    left = np.broadcast_to(floats(counts.given), shape)[g, o] / n
    right = np.broadcast_to(floats(counts.truth), shape)[g, o] / n
    return left, right, floats(counts.joint_truth)[g, o] / n - left * right


def _of_pairs(part: Count, counts: PairCounts, g: Index, o: Index) -> Floats:
    """One number for each bag and pair, of shape (bags, pairs); where it does not differ by label it is drawn out."""
    values = floats(part)
    rows, left, right = values.shape
    flat = (g if left > 1 else np.zeros_like(g)) * right + (o if right > 1 else np.zeros_like(o))
    return np.take(values.reshape(rows, left * right), flat, axis=1)
