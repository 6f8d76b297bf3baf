"""``biasamp.decompose``: how much of a value is the score, how much the threshold, and what happens inside strata."""

from __future__ import annotations

from typing import Any

from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.threshold_counts import count_scores
from biasamp.counts.why_counts import count_parts
from biasamp.data.scores import GIVEN_DECISIONS, USUAL, Scored, read_scored
from biasamp.resampling.sample import Sample

from .base import pairs_without_sign, read_base
from .invented import invented_of, warn_of
from .pair_table import pairs_without_given
from .why_parts import ScoreParts
from .why_result import Decomposition
from .why_strata import StrataParts


def decompose(
    given: Any,
    truth: Any,
    scores: Any,
    *,
    threshold: Any = USUAL,
    predicted: Any = None,
    strata: Any = None,
    train: Any = None,
    base: Any = None,
    weights: Any = None,
    cluster: Any = None,
) -> Decomposition:
    r"""Directional amplification as the part of the scores plus the part of the threshold, and inside strata.

    For scores :math:`S \in [0, 1]` and decisions :math:`\hat o` on the same records, per pair exactly

    .. math::
        P(\hat o | g) - P(o | g) = \underbrace{E[S | g] - P(o | g)}_{\text{score}}
        + \underbrace{P(\hat o | g) - E[S | g]}_{\text{threshold}}

    Both parts carry the pair's sign into the mean. With strata the change is the mean of the changes inside them,
    :math:`\sum_s P(s | g) [P(\hat o | g, s) - P(o | g, s)]`, shown by the sign of the whole and by the sign inside each
    stratum. The parts add up; none of them says why: a stratum can stand for the group.

    Parameters
    ----------
    given, truth : array-like
        As for :func:`biasamp.directional`.
    scores : array-like
        Probabilities in [0, 1]: P(1) of a 0/1 variable, one column per yes/no label, or class probabilities as
        ``biasamp.categorical(P, categories=[...])``.
    threshold : float, sequence or mapping
        A record is decided positive where its score is at or above it. One for all, one per task (in order or by name), or
        one per group, by its name. Of class probabilities the highest decides, the first label where they are tied.
    predicted : array-like, optional
        The decisions, where another rule than a threshold made them. A caution says how far they are from any threshold.
    strata : array-like, optional
        The stratum of each record, such as a department; several columns are crossed.
    train : tuple of array-like, optional
        ``(given, truth)`` or ``(given, truth, strata)`` of the training set, which then decides the signs.
    base : optional
        As for :func:`biasamp.directional`. With strata ``(given, truth, strata)``: the change is then also split into
        the part of the rates inside strata and the part of their mix (Kitagawa 1955), in both orders.
    weights, cluster : array-like, optional
        As for :func:`biasamp.directional`.

    Returns
    -------
    Decomposition

    See Also
    --------
    directional : the value alone.
    sweep : the value at every threshold.

    References
    ----------
    Plecko, D. and Bareinboim, E. (2024). Mind the Gap: A Causal Perspective on Bias Amplification in Prediction and
    Decision-Making. NeurIPS.

    Kitagawa, E. M. (1955). Components of a Difference Between Two Rates. Journal of the American Statistical
    Association 50, 1168-1194.

    Examples
    --------
    The scores of both groups are right on average. Deciding at 0.5 takes one group whole and the other not at all.

    >>> import biasamp
    >>> group = ["f"] * 10 + ["m"] * 10
    >>> hired = [1] * 6 + [0] * 4 + [1] * 4 + [0] * 6
    >>> parts = biasamp.decompose(group, hired, [0.6] * 10 + [0.4] * 10)
    >>> [round(part, 10) + 0.0 for part in (parts.value, parts.score, parts.threshold)]
    [0.4, 0.0, 0.4]
    """
    records = read_scored(
        given,
        truth,
        scores,
        threshold=threshold,
        predicted=predicted,
        strata=strata,
        train=train,
        base=base,
        weights=weights,
        cluster=cluster,
    )
    return _parts_of(records, with_base=base is not None)


def _parts_of(records: Scored, with_base: bool) -> Decomposition:
    """The parts of records that were read."""
    if records.strata is not None and with_base and records.base_labels is None:
        raise ValueError(
            "base has no strata, so what changes against it inside strata is not known: give it as a tuple (given, truth, "
            "strata) of labels, or leave strata out"
        )
    counts = None if records.train is None else JointCounts.from_labels(*records.train)
    source = read_base(records.base, None, records.decided, counts)
    signed = source.signed(records.decided.given.width, records.decided.truth.width)
    labels = records.decided.given.labels, records.decided.truth.labels
    unsigned = pairs_without_sign(labels, signed, source.sign_source)
    warn_of(unsigned)
    few, source = records.only(*signed), source.only(*signed)
    layers = ((), None) if records.strata is None else (records.strata.names, records.strata.codes)
    counted = count_parts(few.decided, few.scored.predicted, *layers)
    if counted is None:
        parts, of_strata = ScoreParts.of_records(few, source), None
        thresholds, reliability = count_scores(few.scored)
    else:
        held, of_strata, thresholds, reliability = counted
        clustered = few.decided.clusters is not None
        parts = ScoreParts.of_samples([Sample(bags, clustered) for bags in held], source)
    decided = parts.decided
    if not decided.values.defined.any():
        raise ValueError("no pair is defined: no record has any of the given labels")
    inside = None if records.strata is None else StrataParts.of_records(records, decided, signed, of_strata)
    return Decomposition(
        decided.value,
        parts.scored.value,
        parts.margin.value,
        float(floats(decided.sample.counts.n).max()),
        records.rule,
        source.sign_source,
        source.rate_source,
        (*pairs_without_given(decided.sample.counts, decided.values), *unsigned),
        invented_of(records.decided, records.invented),
        _parts=parts,
        _strata=inside,
        _reliability=reliability,
        _hard=not records.scored.predicted.soft,
        _thresholds=thresholds if records.rule == GIVEN_DECISIONS else None,
    )
