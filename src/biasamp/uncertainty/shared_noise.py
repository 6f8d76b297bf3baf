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

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.scores import change, there
from biasamp.labels import Evaluation

Floats = NDArray[np.float64]

# The covariances are estimated from so many records and pairs; more would hardly change their sum.
_RECORDS = 20_000
_PAIRS = 1000
# A sign with a test statistic beyond this in half the records hardly goes with the noise.
_CLEAR = 4.0


def crossfit_covariance(evaluation: Evaluation, counts: PairCounts, delta: Floats, z: Floats, own: bool) -> float:
    """The variance that the two halves' sharing adds to a cross-fitted mean over pairs.

    Parameters
    ----------
    evaluation, counts
        All records, and their counts.
    delta : ndarray
        The change of every pair; NaN where undefined.
    z : ndarray
        The test statistic of every sign in all the records.
    own : bool
        Whether the signs are those of delta itself (Multi), not of the association of the labels.
    """
    half = np.abs(z) / np.sqrt(2.0)
    unclear = ~np.isnan(delta) & (half < _CLEAR)
    g, o = np.nonzero(unclear)
    if not len(g):
        return 0.0
    scale = 1.0
    if len(g) > _PAIRS:
        outcomes = np.unique(o)
        few = outcomes[:: -(-len(g) // _PAIRS)]
        scale = len(g)
        keep = np.isin(o, few)
        g, o = g[keep], o[keep]
        scale /= len(g)
    records = _some_records(evaluation)
    part = evaluation.take(records)
    share = len(evaluation) / len(records)
    given = np.broadcast_to(floats(counts.given), delta.shape)
    held = part.given.rows().astype(np.float64)
    moved = change(part, 0, len(part))
    moved = np.asarray(moved.todense() if hasattr(moved, "todense") else moved, dtype=np.float64)
    weights = np.ones((len(part), 1)) if part.weights is None else part.weights[:, None].astype(np.float64)
    known = there(part, 0, len(part))[:, o] if part.truth.missing or part.predicted.missing else 1.0
    noise = held[:, g] * (moved[:, o] - delta[g, o]) * known * weights / given[g, o]
    if own:
        lean = noise
    else:
        n = np.broadcast_to(floats(counts.n), delta.shape)[g, o]
        left = np.broadcast_to(floats(counts.given), delta.shape)[g, o] / n
        right = np.broadcast_to(floats(counts.truth), delta.shape)[g, o] / n
        joint = floats(counts.joint_truth)[g, o] / n
        truth = part.truth.rows().astype(np.float64)
        lean = ((held[:, g] - left) * (truth[:, o] - right) - (joint - left * right)) * known * weights
    if part.clusters is not None:
        noise, lean = (_by_cluster(part.clusters, values) for values in (noise, lean))
    spread = np.sqrt((lean**2).sum(axis=0) * share)
    # An observed statistic is further from 0 than the true one by about 1 where the true one is 0.
    density = np.exp(-0.5 * np.maximum(half[g, o] - 1.0, 0.0) ** 2) / np.sqrt(2.0 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        lent = np.where(spread > 0, 2.0 * density / spread, 0.0)
    shared = (noise.T @ lean) * share * lent
    pairs = int((~np.isnan(delta)).sum())
    return max(float((shared * shared.T).sum()) * scale / pairs**2, 0.0)


def _some_records(evaluation: Evaluation) -> NDArray[np.int64]:
    """All records, or some that are spread over them; whole clusters."""
    count = len(evaluation)
    if count <= _RECORDS:
        return np.arange(count)
    if evaluation.clusters is None:
        return np.arange(0, count, -(-count // _RECORDS))
    order = np.argsort(evaluation.clusters, kind="stable")
    last = evaluation.clusters[order[_RECORDS]]
    return np.sort(order[evaluation.clusters[order] < last])


def _by_cluster(clusters: NDArray[np.uint64], values: Floats) -> Floats:
    order = np.argsort(clusters, kind="stable")
    ranked = clusters[order]
    first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    return np.asarray(np.add.reduceat(values[order], first, axis=0))
