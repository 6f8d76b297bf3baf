"""Cautions on scores and the thresholds that decide them: rates off the truth's, and probabilities counted as fractions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biasamp.amplification.parity import DIFFERENCES
from biasamp.data import printable
from biasamp.results.metric_registry import DIRECTIONS, METRICS

from .findings import Context, Finding, caution, figure, number, place
from .score_types import LabelThreshold, SweepEntry
from .subject import Margins

# A predicted rate is called off where it differs from the base rate for certain, with all labels counted, and by more
# than this share of it. Before they were counted it took three standard errors, which one label still needs.
_OFF, _RATE_SHARE = 0.0027, 0.05


def thresholds(context: Context) -> Iterator[Finding]:
    """Predicted rates off the base rates: the threshold, not the model, may make the amplification."""
    for subject in context.attributes:
        for direction in DIRECTIONS:
            swept = context.sweep(subject.attribute, direction)
            if swept is not None:
                yield from _scored(context, swept, subject.margins(direction))
            elif direction == "T->A" or subject is context.subjects[0]:  # tasks are the same for every attribute
                margins = subject.margins(direction)
                if margins is not None:
                    yield from _decided(context, margins, direction, subject.attribute)


@dataclass(frozen=True)
class _Decisions:
    """How often each outcome was decided, with p-values that this is how often it occurs; their value, and their name."""

    rates: list[float]
    p: list[float]
    amplification: float | None
    words: str


def _decisions(context: Context, swept: SweepEntry, margins: Margins | None) -> _Decisions:
    """The decisions that were made on scores; where none were, those that the usual threshold would make."""
    usual = swept["usual"]
    at_usual = _Decisions(
        [rate or 0.0 for rate in usual["rates"]],
        usual.get("rate_p") or [1.0] * len(usual["rates"]),
        usual["amplification"],
        f"at the usual threshold {usual['threshold']}",
    )
    made = context.why(swept["attribute"], swept["direction"])
    if margins is None or made is None or not made["scored"]:
        return at_usual
    named = {str(label): place for place, label in enumerate(margins.labels)}
    places = [named[row["label"]] for row in swept["labels"] if row["label"] in named]
    rates = [float(margins.predicted[place] / margins.n) for place in places]
    if len(places) < len(at_usual.rates) or np.allclose(rates, at_usual.rates, rtol=0.0, atol=1e-9):
        return at_usual
    used = swept.get("marks", {}).get("used")
    at = None if used is None else used["threshold"]
    words = f"decided at {number(at, False)}" if isinstance(at, float) else "as decided"
    return _Decisions(rates, [float(margins.p[place]) for place in places], made["parts"]["value"]["value"], words)


def _scored(context: Context, swept: SweepEntry, margins: Margins | None) -> Iterator[Finding]:
    """With scores, the threshold that would mend the rates can be named, and what amplification becomes then."""
    made = _decisions(context, swept, margins)
    off = []
    for rate, p, row in zip(made.rates, made.p, swept["labels"], strict=True):
        base = row["base_rate"] or 0.0
        if p * len(made.p) <= _OFF and abs(rate - base) > _RATE_SHARE * base:
            off.append((abs(rate - base), rate, row))
    if not off:
        return
    _, rate, row = max(off, key=lambda item: item[0])
    yield caution(
        "threshold",
        f"{place(swept)}: {made.words}, "
        f"{_off_words(len(off), len(swept['labels']), 'outcome', context.name(row['label']))}: {number(rate, False)} against "
        f"{number(row['base_rate'], False)}. {_mended(swept, row, rate, made.amplification)}",
        {**swept, "label": row["label"]},
        outcome=row["label"],
        threshold=row["threshold"],
        predicted_rate=rate,
        base_rate=row["base_rate"],
        usual=made.amplification,
        calibrated=swept["calibrated"]["amplification"],
    )


def _mended(swept: SweepEntry, row: LabelThreshold, rate: float, amplification: float | None) -> str:
    """Which threshold brings an outcome's rate nearest to how often it occurs, and what amplification becomes then."""
    if row["rate"] is not None and abs(row["rate"] - rate) < 1e-9:
        return "No threshold on these scores comes nearer, as many of them are tied."
    threshold = row["threshold"] if isinstance(row["threshold"], str) else number(row["threshold"], False)
    grid = swept.get("grid")
    how = "makes them agree"
    if grid is not None:
        how = f"comes nearest, of {grid:,} fixed ones"
    elif number(row["rate"], False) != number(row["base_rate"], False):
        how = f"comes nearest, with {number(row['rate'], False)}"
    return (
        f"In these records the threshold {threshold} {how}; with every outcome calibrated, amplification goes from "
        f"{number(amplification)} to {number(swept['calibrated']['amplification'])}. Calibrate on a validation set before "
        "judging the model."
    )


def _decided(context: Context, margins: Margins, direction: str, attribute: str) -> Iterator[Finding]:
    """With hard predictions only the rates can be compared."""
    truth, held, n = margins.truth, margins.predicted, margins.n
    off = (margins.p * len(truth) <= _OFF) & (np.abs(held - truth) > _RATE_SHARE * truth)
    if not off.any():
        return
    # Of two values one says all, the positive one; tasks are counted, not their values.
    positive = context.document["data"].get("positive", {})
    told = np.array([positive.get(label.variable, label.category) == label.category for label in margins.labels])
    apart = np.where(off, np.abs(held - truth), -1.0)
    worst = int(np.argmax(np.where(told & off if (told & off).any() else off, apart, -1.0)))
    label = str(margins.labels[worst])
    if direction == "A->T":
        what, facts = "task", [each.variable for each in margins.labels]
    else:
        what, facts = "group", [str(each) for each in margins.labels]
        facts = facts[:1] * 2 if margins.exclusive and len(facts) == 2 else facts
    many = len({fact for fact, is_off in zip(facts, off, strict=True) if is_off})
    yield caution(
        "threshold",
        f"{_off_words(many, len(set(facts)), what, context.name(label), first=True)}: "
        f"{number(held[worst] / n, False)} predicted against "
        f"{number(truth[worst] / n, False)}. Amplification is sensitive to the threshold: give scores instead of "
        "decisions to see which threshold makes rates agree, and calibrate it before judging the model.",
        {"attribute": attribute if direction == "T->A" else None, "direction": direction, "label": label},
        outcome=label,
        predicted_rate=float(held[worst] / n),
        base_rate=float(truth[worst] / n),
    )


def _off_words(off: int, many: int, what: str, worst: str, first: bool = False) -> str:
    """How many tasks, groups or outcomes are predicted at another rate than they occur, and which one most of all."""
    if many == 1:
        return f"{worst} is predicted at another rate than it occurs"
    are = f"{off} of {many} {what}s {'is' if off == 1 else 'are'} predicted at another rate than {'it occurs' if off == 1 else 'they occur'}"
    return f"{are}, {'most of all ' if off > 1 else ''}{worst}"


def fractions(context: Context) -> Iterator[Finding]:
    """Probabilities count as fractions, and decisions would give another value."""
    for entry in context.entries("directional"):
        if "decided" not in entry:
            continue
        decided = entry["decided"]
        if decided is None:
            other = "What decisions would give is not known: that needs the scores of single records"
        else:
            other = f"Decisions (at 0.5, or for the likeliest class) would give {number(decided)}"
        rates = f" {_mean_scores(context, entry['attribute'])}" if entry["direction"] == "A->T" else ""
        yield caution(
            "fractions",
            f"{place(entry)}: the predictions are probabilities, and were counted as fractions: amplification is "
            f"{number(entry['value'])}. {other}. Quote the one that is used.{rates}".rstrip(),
            entry,
            **figure(entry, decided=decided),
        )
    directed = {entry["attribute"] for entry in context.entries("directional") if entry["direction"] == "A->T"}
    for attribute in context.document["data"]["attributes"]:
        words = "" if attribute in directed else _mean_scores(context, attribute)
        if words:
            begin = f"{printable(attribute, 60)}: the predictions are probabilities, and were counted as fractions. "
            yield caution("fractions", begin + words, {"attribute": attribute})


def _mean_scores(context: Context, attribute: str) -> str:
    """What rates of groups are where predictions are probabilities, and what differences decisions would show."""
    rows = [entry for name in DIFFERENCES for entry in context.entries(name) if entry["attribute"] == attribute]
    rows = [entry for entry in rows if "decided" in entry]
    if not rows:
        return ""
    known = [entry for entry in rows if entry["decided"] is not None]
    begin = "So are the rates of groups: they are mean scores, and those of decisions are others"
    if not known:
        return f"{begin}, which are not known: that needs the scores of single records."
    listed = ", ".join(
        f"{METRICS[entry['metric']].short} {number(entry['decided'], False)} in place of {number(entry['value'], False)}"
        for entry in known
    )
    return f"{begin}: at 0.5, or for the likeliest class, they would give {listed}."
