"""Findings in plain words, each with the figure it rests on; what they and cautions look at, and what orders them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from biasamp.data import printable
from biasamp.results.interval import NO_WIDTH
from biasamp.results.metric_registry import METRICS, audited_metrics, direction_symbol, is_signed

from .document_types import AuditDocument, Entry, Excluded, Invented, Pair, SweepEntry, WhyEntry
from .evidence import (
    FALSE_DISCOVERIES,
    Place,
    changed_pairs,
    counts_fractions,
    known_directions,
    place_of,
    unknown_directions,
    verdicts,
    wrong_groups,
)
from .label_names import LONGEST, label_names
from .mirrors import each_once
from .subject import Counted

# What a finding weighs; the size of its effect, at most 1, is added. The answer to what was asked comes first, and an
# interval on one side of 0 before one that decides nothing.
AGGREGATE, DECIDED_AGGREGATE = 100.0, 110.0
# Then the pairs behind it; that they contradict the aggregate is said before they are listed.
PAIRS, OPPOSITE_PAIRS = 80.0, 85.0
# Then other views of the same data: sizes of changes and attackers, which may decide; MALS, which mixes directions;
# error rates, which are not about amplification.
# What the model says that the truth never does comes before other views of what both say.
INVENTED = 70.0
OTHER_METRIC, DECIDED_OTHER, MIXED_DIRECTIONS, ERROR_RATES = 60.0, 65.0, 55.0, 50.0
# Cautions come after all findings. What each adds orders them: first what suggests that the columns are wrong and all
# figures with them, then what changes how the figures are read, last what holds of most audits.
CAUTION = 40.0
URGENCY = {
    "opposite": 9.98,
    "unrelated": 9.97,
    "contradicting": 9.96,
    "unchecked": 9.95,
    "copied": 9.92,
    "swapped": 9.9,
    "one-value": 9.85,
    "constant": 9.83,
    "perfect": 9.8,
    "positive": 9.7,
    "no-truth": 9.65,
    "no-sign": 9.6,
    "unknown-overlap": 9.55,
    "balanced": 9.5,
    "reversed-signs": 9.2,
    "sensitive-prediction": 9.0,
    "disagreement": 8.5,
    "not-fairness": 8.0,
    "not-ground-truth": 7.5,
    "fractions": 7.2,
    "threshold": 7.0,
    "uncalibrated": 6.8,
    "stratum-close-to-group": 6.7,
    "small-strata": 6.6,
    "no-interval": 6.5,
    "small-groups": 6.5,
    "missing": 6.2,
    "ignored-groups": 6.1,
    "over-zero": 6.0,
    "unclear-signs": 5.5,
    "rare-sets": 5.2,
    "base-choice": 5.0,
    "excluded": 4.0,
    "perceived": 3.0,
    "incomparable": 2.0,
}
# Groups are said to differ where the q-value over all labels of the audit is below this.
CLEAR_DIFFERENCE = 0.05
_PAIRS_SHOWN = 3
# An aggregate is said to hide its pairs when the largest is so many times larger.
_HIDES = 5.0


@dataclass(frozen=True)
class Finding:
    """One finding or caution, in words, with the figure it rests on.

    ``kind`` is ``"finding"`` or ``"caution"``; ``code`` names what it says; ``weight`` orders the list; ``metric``,
    ``attribute``, ``direction`` and ``label`` are what it is about, where it is about one of them.
    """

    kind: str
    code: str
    text: str
    weight: float
    figure: Mapping[str, Any] = field(default_factory=dict)
    metric: str | None = None
    attribute: str | None = None
    direction: str | None = None
    label: str | None = None

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The finding in plain Python values."""
        return {**vars(self), "figure": dict(self.figure)}


def caution(code: str, text: str, about: Mapping[str, Any] | None = None, **shown: Any) -> Finding:
    """One caution; ``about`` names the metric, attribute, direction and label, and ``shown`` is its figure."""
    return Finding("caution", code, text, CAUTION + URGENCY[code], shown, **subject_of(about or {}))


def subject_of(about: Mapping[str, Any]) -> dict[str, Any]:
    """What a finding is about, of a mapping that may hold more."""
    return {name: about.get(name) for name in ("metric", "attribute", "direction", "label")}


@dataclass(frozen=True, eq=False)
class Context:
    """The audit's document and what it was made from."""

    document: AuditDocument
    subjects: Sequence[Counted]
    sources: Sequence[str] = ()  # the names of what was counted

    def entries(self, metric: str, direction: str | None = None) -> Iterator[Entry]:
        """The entries of a metric, in a direction where one is named."""
        for entry in self.document["metrics"]:
            if entry["metric"] == metric and direction in (None, entry["direction"]):
                yield entry

    def entry(self, metric: str, attribute: str, direction: str | None) -> Entry | None:
        """One entry, if it is there."""
        here = (entry for entry in self.entries(metric, direction) if entry["attribute"] == attribute)
        return next(here, None)

    def sweep(self, attribute: str, direction: str) -> SweepEntry | None:
        """The thresholds of one attribute and direction, where predictions are scores."""
        place = attribute, direction
        rows = self.document.get("sweep", ())
        return next((row for row in rows if (row["attribute"], row["direction"]) == place), None)

    def why(self, attribute: str, direction: str) -> WhyEntry | None:
        """The parts of one attribute and direction, where there are scores or strata."""
        rows = self.document.get("why", ())
        return next((row for row in rows if (row["attribute"], row["direction"]) == (attribute, direction)), None)

    @cached_property
    def verdicts(self) -> dict[Place, int]:
        """Which figures are decided, all of them counted; see :func:`evidence.verdicts`."""
        return verdicts(self.document)

    def verdict(self, entry: Entry) -> int | None:
        """+1 or -1 where a figure is decided with all others counted, 0 where it is not, None without an interval."""
        return self.verdicts.get(place_of(entry))

    @cached_property
    def names(self) -> dict[str, str]:
        """What groups and tasks are called; see :func:`label_names`."""
        return label_names(self.document["data"])

    def name(self, label: str) -> str:
        """What a label is called in a sentence."""
        return self.names.get(label) or printable(label, LONGEST)

    @property
    def attributes(self) -> list[Counted]:
        """The attributes themselves, without their crossing."""
        kinds = self.document["data"]["kinds"]
        return [subject for subject in self.subjects if kinds[subject.attribute] == "attribute"]


# What gives findings or cautions of an audit.
Rule = Callable[[Context], Iterator[Finding]]


def number(value: float | None, signed: bool = True) -> str:
    """A figure to three digits after the point, or more where they would all be 0."""
    if value is None:
        return "undefined"
    digits = 3 if value == 0 or abs(value) >= 0.0005 else 5
    return f"{value:{'+' if signed else ''}.{digits}f}"


def value_with_interval(entry: Entry) -> str:
    """The value of an entry with its interval in brackets, where it has one."""
    signed = is_signed(entry["metric"])
    low, high = entry["interval"]
    bounds = "" if low is None or high is None else f" [{number(low, signed)}, {number(high, signed)}]"
    return number(entry["value"], signed) + bounds


def side_of_zero(low: float | None, high: float | None) -> int | None:
    """+1 or -1 where an interval lies on one side of 0, 0 where it covers 0, None without an interval."""
    if low is None or high is None:
        return None
    return 1 if low > 0 else -1 if high < 0 else 0


def side(entry: Entry) -> int | None:
    """On which side of 0 the interval of an entry lies; see :func:`side_of_zero`."""
    low, high = entry["interval"]
    return side_of_zero(low, high)


def figure(entry: Entry, **more: Any) -> dict[str, Any]:
    """The figure a finding rests on."""
    names = ("attribute", "metric", "direction", "value", "interval")
    return {**{name: entry[name] for name in names}, **more}  # type: ignore[literal-required]


def place(entry: Entry | SweepEntry | Excluded | Invented, between: str = ", ") -> str:
    """The attribute and direction that a sentence begins with."""
    return between.join(filter(None, (printable(entry["attribute"], 40), direction_symbol(entry["direction"]))))


def _finding(code: str, text: str, weight: float, entry: Entry, **more: Any) -> Finding:
    """A finding on one entry."""
    return Finding("finding", code, text, weight, figure(entry, **more), **subject_of(entry))


def _amplification(context: Context) -> Iterator[Finding]:
    for entry in context.entries("directional"):
        where, shown, verdict = place(entry), value_with_interval(entry), context.verdict(entry)
        if verdict is None:
            words = f"{where}: amplification is {shown}. There is no interval, so this concludes nothing."
        elif verdict > 0:
            what, other = ("task", "groups") if entry["direction"] == "A->T" else ("attribute", "tasks")
            words = (
                f"{where}: the model amplifies the bias of its data, {shown}: predictions of the {what} lean further "
                f"towards the {other} that the data tie it to."
            )
        elif verdict < 0:
            words = f"{where}: the model weakens the associations of its data, {shown}."
        elif not any(entry["interval"]):
            words = (
                f"{where}: amplification is 0 in every resample: no pair has a direction, or no prediction is wrong."
            )
        else:
            words = f"{where}: amplification is {shown}. {_undecided(context, entry)}, so this concludes nothing."
        weight = (DECIDED_AGGREGATE if verdict else AGGREGATE) + abs(entry["value"] or 0.0)
        yield _finding("amplification", words, weight, entry, verdict=verdict)


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
        yield _finding("pairs", words, PAIRS + abs(named[0]["delta"] or 0.0), entry, pairs=figures)


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
            yield _finding("opposite-pairs", words, OPPOSITE_PAIRS, entry, low=down, high=up)


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
        yield _finding("multi", words, OTHER_METRIC + value, entry, floor=floor, verdict=verdict)


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
                f"{place(entry)}: {title} is {shown}: {words}. Attackers score "
                f"{number(entry['model_gain'])} above guessing without input on the model's answers, and "
                f"{number(entry['dataset_gain'])} on that truth."
            )
            weight = (DECIDED_OTHER if verdict else OTHER_METRIC) + abs(entry["value"] or 0.0)
            gains = {name: entry.get(name) for name in ("gain", "dataset_gain", "model_gain")}
            yield _finding(metric, text, weight, entry, verdict=verdict, **gains)


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
        yield _finding("mals", words, MIXED_DIRECTIONS, entry, wrong_group=len(wrong))


def _parity(context: Context) -> Iterator[Finding]:
    # True positive rates come first: they say who is not given what is theirs.
    gaps = sorted((metric for metric in audited_metrics() if metric.gap), key=lambda m: m.name != "tpr_difference")
    for attribute in context.document["data"]["attributes"]:
        held = [(metric.name, context.entry(metric.name, attribute, "A->T")) for metric in gaps]
        found = [(gap_of(context, name), entry) for name, entry in held if entry is not None]
        if not found:
            continue
        text = f"{printable(attribute, 40)}: between groups, {'; '.join(gap_words(context, *one) for one in found)}."
        decided = [entry for _, entry in found if context.verdict(entry)]
        about = (decided or [entry for _, entry in found])[0]
        weight = ERROR_RATES + max((entry["value"] or 0.0 for entry in decided), default=0.0)
        yield _finding("parity", text, weight, about, decided=[entry["metric"] for entry in decided])


# What differences of rates are of where predictions count as fractions.
_MEAN_SCORES = {
    "tpr_difference": "mean scores of those who truly have the outcome",
    "fpr_difference": "mean scores of those who truly do not have it",
    "accuracy_difference": "mean scores of what is true",
}


def gap_of(context: Context, metric: str) -> str:
    """What a largest difference is of, in words."""
    return gap_title(context.document, metric)


def gap_title(document: AuditDocument, metric: str) -> str:
    """What a largest difference is of, in words."""
    gap = METRICS[metric].gap
    return _MEAN_SCORES.get(metric, gap) if counts_fractions(document) else gap


def gap_words(context: Context, gap: str, entry: Entry) -> str:
    """What a difference between groups is, in words: between which two, and where it is not decided that it may be chance."""
    shown = value_with_interval(entry)
    outcome = context.name(entry.get("outcome") or "")
    names, sizes = entry.get("between") or (), entry.get("sizes") or ()
    groups = [f"{context.name(name)} ({size:,.0f} records)" for name, size in zip(names, sizes, strict=False)]
    apart = f" between {' and '.join(groups)}" if groups else ""
    if context.verdict(entry):
        return f"{gap} differ by {shown}{apart} ({outcome})"
    because = "without an interval it concludes nothing"
    if context.verdict(entry) == 0:
        counted = f"with all {len(context.verdicts)} figures counted " if (entry["interval"][0] or 0.0) > 0 else ""
        because = f"{counted}chance may explain it"
    return f"the largest difference in {gap} seen is {shown}{apart} ({outcome}), and {because}"


FINDINGS: tuple[Rule, ...] = (_amplification, _pairs, _hidden, _multi, _predictability, _mals, _parity)
