"""Findings on amplification: the aggregate, its pairs, Multi, attackers and MALS, each with the figure it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from biasamp.results.interval import NO_WIDTH

from .document_types import Entry, Pair
from .evidence import (
    AS_GOOD_AS_0,
    FALSE_DISCOVERIES,
    changed_pairs,
    known_directions,
    measured_from,
    place_of,
    unknown_directions,
    wrong_groups,
)
from .findings import (
    AGGREGATE,
    DECIDED_AGGREGATE,
    DECIDED_OTHER,
    MIXED_DIRECTIONS,
    OPPOSITE_PAIRS,
    OTHER_METRIC,
    PAIRS,
    Context,
    Finding,
    Rule,
    finding,
    number,
    place,
    side,
    side_of_zero,
    value_with_interval,
)
from .mirrors import each_once

_PAIRS_SHOWN = 3
# An aggregate is said to hide its pairs when the largest is so many times larger.
_HIDES = 5.0


def _amplification(context: Context) -> Iterator[Finding]:
    for entry in context.entries("directional"):
        where, shown, verdict = place(entry), value_with_interval(entry), context.verdict(entry)
        if verdict is None:
            words = f"{where}: amplification is {shown}. There is no interval, so this concludes nothing."
        elif verdict > 0:
            what, other = ("task", "groups") if entry["direction"] == "A->T" else ("attribute", "tasks")
            words = (
                f"{where}: the model amplifies the bias of {measured_from(entry)}, {shown}: predictions of the {what} lean further "
                f"towards the {other} that {'the base ties' if entry.get('base_source') else 'the data tie'} it to."
            )
        elif verdict < 0:
            words = f"{where}: the model weakens the associations of {measured_from(entry)}, {shown}."
        elif place_of(entry) in context.kept:
            mean = "" if len(each_once(entry["pairs"])) == 1 else f", on average over {_listed(entry)}"
            words = f"{where}: the model keeps the bias of {measured_from(entry)} to within {AS_GOOD_AS_0:g}{mean}: amplification is {shown}."
        elif not any(entry["interval"]):
            words = (
                f"{where}: amplification is 0 in every resample: no pair has a direction, or no prediction is wrong."
            )
        else:
            words = f"{where}: amplification is {shown}. {_undecided(context, entry)}, so this concludes nothing."
        weight = (DECIDED_AGGREGATE if verdict else AGGREGATE) + abs(entry["value"] or 0.0)
        yield finding("amplification", words, weight, entry, verdict=verdict, kept=place_of(entry) in context.kept)


def _undecided(context: Context, entry: Entry) -> str:
    """Why a figure with an interval gets no verdict."""
    if not side(entry):
        return "The interval covers 0"
    low, high = entry.get("bounds") or (None, None)
    if entry.get("unknown") and side_of_zero(low, high) == 0:
        unknown, many = unknown_directions(entry)
        return (
            f"The signs come from {entry.get('sign_source', 'the evaluated labels')}, which do not tell the direction of "
            f"{unknown:,} of {many:,} pairs; with the better and the worse sign of each, "
            f"amplification may lie anywhere from {number(low)} to {number(high)}"
        )
    return f"Its own interval does not cover 0, but with all {len(context.verdicts)} figures counted that may be chance"


def _pairs(context: Context) -> Iterator[Finding]:
    for entry in context.entries("directional"):
        changed = changed_pairs(entry)
        if not changed:
            continue
        known = _oriented(entry)
        oriented = {id(pair): change for change, pair in known}
        named = changed[:_PAIRS_SHOWN]
        shown = "; ".join(_pair_words(context, pair, oriented.get(id(pair))) for pair in named)
        up = sum(change > 0 for change, _ in known)
        ways = [f"{up} {'is' if up == 1 else 'are'} amplified", f"{len(known) - up} weakened"]
        if len(changed) > len(known):
            ways.append(f"{len(changed) - len(known)} changed without a known direction")
        words = (
            f"{place(entry)}: of {_listed(entry)}, {', '.join(ways[:-1])} and {ways[-1]} beyond chance (of such pairs, at "
            f"most {FALSE_DISCOVERIES:.0%} are expected to be chance). Largest: {shown}."
        )
        figures = [{**pair, "known": id(pair) in oriented} for pair in named]
        yield finding("pairs", words, PAIRS + abs(named[0]["delta"] or 0.0), entry, pairs=figures)


def _pair_words(context: Context, pair: Pair, change: float | None) -> str:
    """The rates of a pair, with its amplification where its direction is known."""
    turned = "" if change is None else f" ({number(change)})"
    return (
        f"{context.name(pair['given'])} → {context.name(pair['outcome'])} {number(pair['truth_rate'], False)} becomes "
        f"{number(pair['predicted_rate'], False)}{turned}"
    )


def _oriented(entry: Entry) -> list[tuple[float, Pair]]:
    """Pairs that change for certain and whose direction is known, each with its amplification."""
    known = {id(pair) for pair in known_directions(entry)}
    return [(pair["amplification"] or 0.0, pair) for pair in changed_pairs(entry) if id(pair) in known]


def _listed(entry: Entry) -> str:
    """How many pairs are looked at, and of how many: a document lists those that change most."""
    listed, once = len(entry["pairs"]), len(each_once(entry["pairs"]))
    known = entry.get("pairs_in_all", listed)
    if listed == known:
        return f"{once:,} pair{'s' if once != 1 else ''}"
    return f"the {once:,} listed pairs of {known:,}{' (with mirror images)' if once < listed else ''}"


def _hidden(context: Context) -> Iterator[Finding]:
    """An aggregate near 0 can hide large opposite pairs."""
    for entry in context.entries("directional"):
        changes = [change for change, _ in _oriented(entry)]
        up, down = max(changes, default=0.0), min(changes, default=0.0)
        if up > 0 > down and min(up, -down) > _HIDES * abs(entry["value"] or 0.0):
            words = (
                f"{place(entry)}: the aggregate {number(entry['value'])} hides pairs of known direction that move in opposite "
                f"ways, from {number(down)} to {number(up)}: read the pairs."
            )
            yield finding("opposite-pairs", words, OPPOSITE_PAIRS, entry, low=down, high=up)


def _multi(context: Context) -> Iterator[Finding]:
    for entry in context.entries("multi"):
        value, floor, verdict = entry["value"] or 0.0, entry.get("floor"), context.verdict(entry)
        if floor is None:
            continue
        if verdict is None:
            meaning = "Without an interval this concludes nothing"
        else:
            meaning = "The change is more than noise" if verdict else _multi_undecided(context, entry, floor)
        sets = ""
        if "label_sets" in entry:
            support = f"median support {entry.get('label_set_support') or 0.0:,.0f} records"
            sets = f" of {entry['label_sets']:,} label sets ({support})"
        words = (
            f"{place(entry)}: rates{sets} change by {value_with_interval(entry)} on average (Multi); a model without "
            f"amplification that errs as often would show {number(floor, False)}. {meaning}."
        )
        yield finding("multi", words, OTHER_METRIC + value, entry, floor=floor, verdict=verdict)


def _multi_undecided(context: Context, entry: Entry, floor: float) -> str:
    """Why the average change is not decided, with what is said of the same changes before it."""
    counted = ""
    if (entry["interval"][0] or 0.0) > floor:
        counted = f"own interval lies above that, but with all {len(context.verdicts)} figures counted "
    other = context.entry("directional", entry["attribute"], entry["direction"])
    changed = [] if other is None else changed_pairs(other)
    said = ""
    if other is not None and changed:
        labels = " of single labels" if "label_sets" in entry else ""
        change = "changes" if len(changed) == 1 else "change"
        said = f"{len(changed)} of {_listed(other)}{labels} {change} beyond chance, as said of the pairs"
    elif other is not None and context.verdict(other):
        said = "Along the directions of the data the change is decided, as said above"
    if said:
        average = f"of the average, its {counted}it" if counted else "the average over all of them"
        return f"{said}; {average} cannot be told from noise"
    return f"{f'Its {counted}the' if counted else 'The'} change cannot be told from noise"


# What attackers measure: the title, and what is easier or harder.
_ATTACKS = {
    "dpa": ("DPA", "the model's answers are {} to guess from what is given than {}", ("easier", "harder")),
    "leakage": (
        "leakage amplification",
        "the model's answers give the attribute away {} than {}",
        ("more", "less"),
    ),
}


def _predictability(context: Context) -> Iterator[Finding]:
    for metric, (title, meaning, (more, less)) in _ATTACKS.items():
        for entry in context.entries(metric):
            verdict = context.verdict(entry)
            truth = "the truth" if entry.get("equalize") is None else "the truth made as inaccurate as the model"
            shown = value_with_interval(entry)
            if verdict is None:
                fixed = NO_WIDTH in entry.get("caution_kinds", ())
                shown += f" ({'no interval: no resample moves it' if fixed else 'no interval'})"
                words = "this concludes nothing"
            elif not verdict:
                reason = _undecided(context, entry)
                words = f"{reason[:1].lower()}{reason[1:]}, so this concludes nothing"
            else:
                words = meaning.format(more if verdict > 0 else less, truth)
            text = (
                f"{place(entry)}: {title} is {shown}: {words}. Compared with guessing without input, attackers score "
                f"{number(entry['model_gain'])} on the model's answers and {number(entry['dataset_gain'])} on {truth}."
            )
            weight = (DECIDED_OTHER if verdict else OTHER_METRIC) + abs(entry["value"] or 0.0)
            gains = {name: entry.get(name) for name in ("gain", "dataset_gain", "model_gain")}
            yield finding(metric, text, weight, entry, verdict=verdict, **gains)


def _mals(context: Context) -> Iterator[Finding]:
    for entry in context.entries("mals"):
        data = context.document["data"]
        sizes = None if data["train"] else context.subjects[0].independent_tasks
        wrong = wrong_groups(entry, sizes, data["confidence"])
        words = f"{place(entry)}: MALS, which mixes both directions, is {value_with_interval(entry)}."
        if wrong:
            words += (
                f" For {len(wrong)} of {_listed(entry)} it follows the larger group instead of the associated one, such "
                f"as ({context.name(wrong[0]['given'])}, {context.name(wrong[0]['outcome'])}): prefer the directional "
                "values."
            )
        yield finding("mals", words, MIXED_DIRECTIONS, entry, wrong_group=len(wrong))


AMPLIFICATION: tuple[Rule, ...] = (_amplification, _pairs, _hidden, _multi, _predictability, _mals)
