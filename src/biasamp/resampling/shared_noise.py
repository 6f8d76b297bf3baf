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

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.scores import change, there
from biasamp.data import Evaluation, LabelSet

Floats = NDArray[np.float64]

# The covariances are estimated from so many records and pairs; more would hardly change their sum.
_RECORDS = 20_000
_PAIRS = 1000
# Records whose noise is held at once.
_CHUNK = 1024
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
    g, o, scale = unclear_pairs(delta, z)
    if not len(g):
        return 0.0
    given_labels, g_place = np.unique(g, return_inverse=True)
    outcome_labels, o_place = np.unique(o, return_inverse=True)
    size = np.broadcast_to(floats(counts.given), delta.shape)[g, o]
    centre = None if own else association_rates(counts, g, o)
    part, edges = _some_records(evaluation)
    share = len(evaluation) / len(part)
    complete = not (part.truth.missing or part.predicted.missing)
    spread, product = np.zeros(len(g)), np.zeros((len(g), len(g)))
    for start, stop in pairwise(edges.tolist()):
        weights = 1.0 if part.weights is None else part.weights[start:stop, None].astype(np.float64)
        known = weights if complete else weights * there(part, start, stop)[:, o]
        held = _columns(part.given, start, stop, given_labels)[:, g_place]
        moved = change(part, start, stop)[:, outcome_labels]
        moved = np.asarray(moved.todense() if hasattr(moved, "todense") else moved, dtype=np.float64)[:, o_place]
        noise = lean = held * (moved - delta[g, o]) * known / size
        if centre is not None:
            left, right, apart = centre
            truth = _columns(part.truth, start, stop, outcome_labels)[:, o_place]
            lean = ((held - left) * (truth - right) - apart) * known
        if part.clusters is not None:
            noise, lean = (_by_cluster(part.clusters[start:stop], values) for values in (noise, lean))
        spread += (lean**2).sum(axis=0)
        product += noise.T @ lean
    return _lent(spread * share, product * share, delta, z, g, o, scale)


def unclear_pairs(delta: Floats, z: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """The pairs whose sign goes with the noise, or some that stand for them, and for how many each of those stands."""
    half = np.abs(z) / np.sqrt(2.0)
    g, o = np.nonzero(~np.isnan(delta) & (half < _CLEAR))
    if len(g) <= _PAIRS:
        return g, o, 1.0
    # Some labels of the side that has more of them stand for all.
    side = o if len(np.unique(o)) >= len(np.unique(g)) else g
    keep = np.isin(side, np.unique(side)[:: -(-len(g) // _PAIRS)])
    return g[keep], o[keep], len(g) / int(keep.sum())


def covariance_of(
    noise: Floats,
    lean: Floats,
    delta: Floats,
    z: Floats,
    g: NDArray[np.int64],
    o: NDArray[np.int64],
    scale: float,
) -> float:
    """The added variance from the noise of delta, and of what the signs are of, of every unit and pair."""
    return _lent((lean**2).sum(axis=0), noise.T @ lean, delta, z, g, o, scale)


def _lent(
    spread: Floats,
    product: Floats,
    delta: Floats,
    z: Floats,
    g: NDArray[np.int64],
    o: NDArray[np.int64],
    scale: float,
) -> float:
    spread = np.sqrt(spread)
    half = np.abs(z) / np.sqrt(2.0)
    # An observed statistic is further from 0 than the true one by about 1 where the true one is 0.
    density = np.exp(-0.5 * np.maximum(half[g, o] - 1.0, 0.0) ** 2) / np.sqrt(2.0 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        lent = np.where(spread > 0, 2.0 * density / spread, 0.0)
    shared = product * lent
    pairs = int((~np.isnan(delta)).sum())
    return max(float((shared * shared.T).sum()) * scale / pairs**2, 0.0)


def association_rates(counts: PairCounts, g: NDArray[np.int64], o: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Both rates of some pairs, and by how much they hold together more often than by chance."""
    shape = counts.joint_truth.shape
    n = np.broadcast_to(floats(counts.n), shape)[g, o]
    left = np.broadcast_to(floats(counts.given), shape)[g, o] / n
    right = np.broadcast_to(floats(counts.truth), shape)[g, o] / n
    return left, right, floats(counts.joint_truth)[g, o] / n - left * right


def _columns(labels: LabelSet, start: int, stop: int, wanted: NDArray[np.int64]) -> Floats:
    """Some labels of some records as a matrix; all of them might not fit in memory."""
    row, column = labels.nonzero(start, stop)
    place = np.full(labels.width, -1)
    place[wanted] = np.arange(len(wanted))
    at = place[column]
    out = np.zeros((stop - start, len(wanted)))
    out[row[at >= 0], at[at >= 0]] = 1.0
    return out


def _some_records(evaluation: Evaluation) -> tuple[Evaluation, NDArray[np.int64]]:
    """All records, or some that are spread over them, and the edges of parts of them; whole clusters together."""
    count, clusters = len(evaluation), evaluation.clusters
    if clusters is None:
        part = evaluation if count <= _RECORDS else evaluation.take(np.arange(0, count, -(-count // _RECORDS)))
        return part, np.append(np.arange(0, len(part), _CHUNK), len(part))
    order = np.argsort(clusters, kind="stable")
    if count > _RECORDS:
        ranked, last = clusters[order], clusters[order[_RECORDS]]
        order = order[: int(np.searchsorted(ranked, last) or np.searchsorted(ranked, last, side="right"))]
    ranked = clusters[order]
    first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    edges = first[np.unique(first // _CHUNK, return_index=True)[1]]
    return evaluation.take(order), np.append(edges, len(order))


def _by_cluster(clusters: NDArray[np.uint64], values: Floats) -> Floats:
    order = np.argsort(clusters, kind="stable")
    ranked = clusters[order]
    first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    return np.asarray(np.add.reduceat(values[order], first, axis=0))
