"""The parts of directional values in an audit: of the scores, of the threshold, and inside strata."""

from __future__ import annotations

import warnings
from typing import Any

from biasamp.amplification.base import pairs_without_sign
from biasamp.amplification.why_followed import not_followed_classes
from biasamp.amplification.why_parts import PARTS, ScoreParts
from biasamp.amplification.why_result import Decomposition
from biasamp.amplification.why_strata import StrataParts
from biasamp.counts.fixed import floats
from biasamp.resampling.sample import Sample
from biasamp.results.interval import Caution, plain
from biasamp.results.table import Table

from .plan import Spec
from .score_types import WhyPair
from .settings import Measured, Settings
from .skill_cautions import agreement_z
from .subject import Counted, within

# Pairs whose parts a document lists.
_MOST_PAIRS = 200
_GIVEN = "the decisions given as predictions"
_NO_STRATA_OF_BASE = "the base has no strata, so that what changes against it inside strata is not known"
_SOFT = "the parts of scores and strata need decisions: give probabilities as task_scores or attribute_scores"


def measure_why(subject: Counted, direction: str, settings: Settings, out: Measured) -> None:
    """Add the parts of one direction, where there are scores or strata."""
    plan = subject.plan
    asked = plan.strata is not None or _scores(subject, direction) is not None
    if not asked or direction not in subject.counts.pairs:
        return
    if direction not in subject.counts.why:
        out.skip(subject.attribute, "why", direction, _SOFT)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            out.why.append(why_entry(subject, direction, settings, out))
        except ValueError as error:
            out.skip(subject.attribute, "why", direction, str(error))


def _scores(subject: Counted, direction: str) -> Spec | None:
    """The columns of scores of a direction."""
    plan = subject.plan
    if direction == "A->T":
        return plan.task_scores
    named = dict(zip(plan.groups, plan.group_scores or (None,) * len(plan.groups), strict=True))
    return named.get(subject.attribute)


def _rule(subject: Counted, direction: str) -> str:
    """How decisions follow from scores, in words."""
    plan, scores = subject.plan, _scores(subject, direction)
    made = plan.task_prediction
    if direction == "T->A":
        made = dict(zip(plan.groups, plan.group_predictions, strict=True)).get(subject.attribute)
    if made is not None or scores is None:
        return _GIVEN
    _, outcome = subject.sides(direction)
    several = scores.declared == "categorical" or any(v.width > 2 for v in outcome.variables)
    return "the class with the highest score" if several else "a score of 0.5 or more"


def decomposition(subject: Counted, direction: str, settings: Settings, out: Measured) -> Decomposition:
    """The parts of one direction from its counts."""
    source = subject.base_source(direction)
    kept = subject.kept(direction)
    labels = [side.only(keep).labels for side, keep in zip(subject.sides(direction), kept, strict=True)]
    signed = source.signed(*map(len, labels))
    pairs_without_sign(labels, signed, source.sign_source)
    kept = within(kept[0], signed[0]), within(kept[1], signed[1])
    source = source.only(*signed)
    counts = subject.counts.why[direction].only(*kept)
    samples = [Sample(bags, subject.clustered) for bags in counts.whole]
    parts = ScoreParts.of_samples(samples, source, settings.confidence)
    if not parts.decided.values.defined.any():
        raise ValueError("no pair is defined: no record has any of the given labels")
    strata = None
    if counts.stratified and source.rates is not None:
        out.skip(subject.attribute, "why", direction, _NO_STRATA_OF_BASE)
    elif counts.stratified:
        strata = StrataParts(counts.strata, parts.decided, counts, level=settings.confidence)
    return Decomposition(
        parts.decided.value,
        parts.scored.value,
        parts.margin.value,
        float(floats(parts.decided.sample.counts.n).max()),
        _rule(subject, direction),
        source.sign_source,
        source.rate_source,
        _parts=parts,
        _strata=strata,
        _reliability=counts.reliability,
        _hard=counts.hard,
        _thresholds=counts.thresholds if counts.scored and _rule(subject, direction) == _GIVEN else None,
    )


def why_entry(subject: Counted, direction: str, settings: Settings, out: Measured) -> dict[str, Any]:
    """One entry of the document: the parts with intervals and verdicts, strata, and the reliability of scores."""
    result = decomposition(subject, direction, settings, out)
    held = result.to_dict(settings.confidence, settings.resamples, settings.seed, pairs=False)
    made: dict[str, Any] = {
        "attribute": subject.attribute,
        "direction": direction,
        "rule": held["rule"],
        "sign_source": held["sign_source"],
        "scored": result.reliability is not None,
        "unknown": result.unknown,
        "parts": {
            name: {"verdict": None, **part} for name, part in held["parts"].items() if name in (*PARTS, "inside")
        },
    }
    if held["reliability"] is not None:
        made["reliability"] = held["reliability"]
        made.update(_pairs(result))
    if held["strata"] is not None:
        assert subject.plan.strata is not None
        made["strata_column"] = subject.plan.strata.title
        made["strata"] = held["strata"]
    # Cautions of the value itself stand with its entry.
    own = (*result.score_cautions, *result.strata_cautions)
    held_scores = subject.counts.why[direction]
    if held_scores.scored and held_scores.thresholds is None and result.rule == _GIVEN:
        own = (*not_followed_classes(agreement_z(held_scores.whole[2])), *own)
    made["cautions"] = [{"kind": Caution.kind_of(words), "text": str(words)} for words in own]
    return {name: plain(value) for name, value in made.items()}


def _pairs(result: Decomposition) -> dict[str, Any]:
    """The parts of the pairs that change most."""
    names = WhyPair.__required_keys__
    columns = result.pairs.columns
    rows = Table({name: values for name, values in columns.items() if name in names}).plain_rows()
    rows.sort(key=lambda row: -abs(row["amplification"] or 0.0))
    return {"pairs": rows[:_MOST_PAIRS], "pairs_in_all": len(rows)}
