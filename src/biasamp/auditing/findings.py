"""Findings in plain words, each with the figure it rests on; what they and cautions look at, and what orders them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biasamp.data import printable
from biasamp.results.interval import UNCLEAR_SIGNS
from biasamp.results.metric_registry import audited_metrics, direction_symbol, is_signed

from .document_types import AuditDocument, Entry, Invented, Pair, SweepEntry
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
    "swapped": 9.9,
    "one-value": 9.85,
    "perfect": 9.8,
    "no-truth": 9.7,
    "no-sign": 9.6,
    "balanced": 9.5,
    "sensitive-prediction": 9.0,
    "disagreement": 8.5,
    "not-fairness": 8.0,
    "not-ground-truth": 7.5,
    "threshold": 7.0,
    "no-interval": 6.5,
    "small-groups": 6.5,
    "missing": 6.2,
    "over-zero": 6.0,
    "unclear-signs": 5.5,
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
# Changes that cancel to within this are two sides of one change.
_MIRROR = 1e-12


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


def place(entry: Entry | SweepEntry | Invented, between: str = ", ") -> str:
    """The attribute and direction that a sentence begins with."""
    return between.join(filter(None, (printable(entry["attribute"], 40), direction_symbol(entry["direction"]))))


def _finding(code: str, text: str, weight: float, entry: Entry, **more: Any) -> Finding:
    """A finding on one entry."""
    return Finding("finding", code, text, weight, figure(entry, **more), **subject_of(entry))


def _amplification(context: Context) -> Iterator[Finding]:
    for entry in context.entries("directional"):
        where, shown, verdict = place(entry), value_with_interval(entry), side(entry)
        crossed = _crossed(entry)
        if verdict and crossed is not None:
            verdict = 0
            words = (
                f"{where}: amplification is {shown} with signs from the same records, which they cannot tell for many "
                f"pairs; with signs from the other half of them it is {crossed}. This concludes nothing."
            )
        elif verdict is None:
            words = f"{where}: amplification is {shown}. There is no interval, so this concludes nothing."
        elif verdict > 0:
            what, other = ("task", "groups") if entry["direction"] == "A->T" else ("attribute", "tasks")
            words = (
                f"{where}: the model amplifies the bias of its data, {shown}: predictions of the {what} lean further "
                f"towards the {other} that the data tie it to."
            )
        elif verdict < 0:
            words = f"{where}: the model weakens the associations of its data, {shown}."
        elif any(entry["interval"]):
            words = f"{where}: amplification is {shown}. The interval covers 0, so this concludes nothing."
        else:
            words = (
                f"{where}: amplification is 0 in every resample: no pair has a direction, or no prediction is wrong."
            )
        weight = (DECIDED_AGGREGATE if verdict else AGGREGATE) + abs(entry["value"] or 0.0)
        yield _finding("amplification", words, weight, entry)


def _crossed(entry: Entry) -> str | None:
    """The cross-fitted value where signs are in doubt and its interval does not say the same as the value's."""
    low, high = entry.get("crossfit_interval") or (None, None)
    doubtful = UNCLEAR_SIGNS in entry.get("caution_kinds", ())
    if not doubtful or side_of_zero(low, high) in (None, side(entry)):
        return None
    return f"{number(entry['crossfit'])} [{number(low)}, {number(high)}]"


def _decided(entry: Entry) -> list[tuple[float, Pair]]:
    """Pairs of clear sign that change beyond their interval, each with its change, the largest first."""
    pairs = [pair for pair in entry["pairs"] if pair["clear"] and side_of_zero(pair["low"], pair["high"])]
    return sorted(((pair["amplification"] or 0.0, pair) for pair in pairs), key=lambda item: -abs(item[0]))


def _pairs(context: Context) -> Iterator[Finding]:
    for entry in context.entries("directional"):
        decided = _decided(entry)
        if not decided:
            continue
        named = _distinct([pair for _, pair in decided])[:_PAIRS_SHOWN]
        shown = "; ".join(
            f"{printable(pair['given'], 30)} → {printable(pair['outcome'], 30)} "
            f"{number(pair['truth_rate'], False)} becomes {number(pair['predicted_rate'], False)} "
            f"({number(pair['amplification'])} [{number(pair['low'])}, {number(pair['high'])}])"
            for pair in named
        )
        up = sum(change > 0 for change, _ in decided)
        words = (
            f"{place(entry)}: of {_listed(entry)}, {up} are amplified and {len(decided) - up} weakened beyond their "
            f"interval. Largest: {shown}."
        )
        yield _finding("pairs", words, PAIRS + abs(decided[0][0]), entry, pairs=named)


def _listed(entry: Entry) -> str:
    """How many pairs are looked at, and of how many: a document lists those that change most."""
    listed, known = len(entry["pairs"]), entry.get("pairs_in_all", len(entry["pairs"]))
    return f"{listed:,} pairs" if listed == known else f"the {listed:,} listed pairs of {known:,}"


def _distinct(pairs: list[Pair]) -> list[Pair]:
    """Pairs without mirror images: what a group gains in one of two outcomes it loses in the other."""
    kept: list[Pair] = []
    for pair in pairs:
        same_group = [other for other in kept if other["given"] == pair["given"]]
        if not any(abs((other["delta"] or 0.0) + (pair["delta"] or 0.0)) < _MIRROR for other in same_group):
            kept.append(pair)
    return kept


def _hidden(context: Context) -> Iterator[Finding]:
    """An aggregate near 0 can hide large opposite pairs."""
    for entry in context.entries("directional"):
        changes = [change for change, _ in _decided(entry)]
        up, down = max(changes, default=0.0), min(changes, default=0.0)
        if up > 0 > down and min(up, -down) > _HIDES * abs(entry["value"] or 0.0):
            words = (
                f"{place(entry)}: the aggregate {number(entry['value'])} hides pairs that move in opposite ways, from "
                f"{number(down)} to {number(up)}: read the pairs."
            )
            yield _finding("opposite-pairs", words, OPPOSITE_PAIRS, entry, low=down, high=up)


def _multi(context: Context) -> Iterator[Finding]:
    for entry in context.entries("multi"):
        value, floor, low = entry["value"] or 0.0, entry.get("floor"), entry["interval"][0]
        if floor is None:
            continue
        above = (value if low is None else low) > floor
        words = (
            f"{place(entry)}: rates change by {value_with_interval(entry)} on average (Multi); a model without "
            f"amplification that errs as often would show {number(floor, False)}. "
            + ("The change is more than noise." if above else "This is no more than noise would give.")
        )
        yield _finding("multi", words, OTHER_METRIC + value, entry, floor=floor)


# What attackers measure: the title, and what a value above and below 0 means.
_ATTACKS = {
    "dpa": (
        "DPA",
        "the model's answers are easier to guess from what is given than the truth is",
        "the model's answers are harder to guess from what is given than the truth is",
    ),
    "leakage": (
        "leakage amplification",
        "the model's answers give the attribute away more than the truth does",
        "the model's answers give the attribute away less than the truth does",
    ),
}


def _predictability(context: Context) -> Iterator[Finding]:
    for metric, (title, above, below) in _ATTACKS.items():
        for entry in context.entries(metric):
            verdict = side(entry)
            if verdict is None:
                meaning = "without an interval this concludes nothing"
            elif entry["interval"] == [0, 0]:
                meaning = "no resample moves it"
            elif not verdict:
                meaning = "the interval covers 0, so this concludes nothing"
            else:
                meaning = above if verdict > 0 else below
            gain = entry["model_gain"]
            text = (
                f"{place(entry)}: {title} is {value_with_interval(entry)}: {meaning}. Attackers gain {number(gain)} over "
                "guessing without input."
            )
            weight = (DECIDED_OTHER if verdict else OTHER_METRIC) + abs(entry["value"] or 0.0)
            yield _finding(metric, text, weight, entry, gain=entry["gain"], model_gain=gain)


def _mals(context: Context) -> Iterator[Finding]:
    for entry in context.entries("mals"):
        wrong = [pair for pair in entry["pairs"] if pair.get("wrong_group")]
        words = f"{place(entry)}: MALS, which mixes both directions, is {value_with_interval(entry)}."
        if wrong:
            words += (
                f" For {len(wrong)} of {len(entry['pairs'])} pairs it follows the larger group instead of the associated "
                f"one, such as ({printable(wrong[0]['given'], 30)}, {printable(wrong[0]['outcome'], 30)}): prefer the "
                "directional values."
            )
        yield _finding("mals", words, MIXED_DIRECTIONS, entry, wrong_group=len(wrong))


def _parity(context: Context) -> Iterator[Finding]:
    # True positive rates come first: they say who is not given what is theirs.
    gaps = sorted((metric for metric in audited_metrics() if metric.gap), key=lambda m: m.name != "tpr_difference")
    for attribute in context.document["data"]["attributes"]:
        found = [(metric.gap, entry) for metric in gaps if (entry := context.entry(metric.name, attribute, "A->T"))]
        if not found:
            continue
        parts = [
            f"{gap} differ by up to {number(entry['value'], False)} ({printable(entry['outcome'] or '', 30)})"
            for gap, entry in found
        ]
        text = f"{printable(attribute, 40)}: between groups, {', '.join(parts)}."
        largest = max(entry["value"] or 0.0 for _, entry in found)
        yield _finding("parity", text, ERROR_RATES + largest, found[0][1])


FINDINGS: tuple[Rule, ...] = (_amplification, _pairs, _hidden, _multi, _predictability, _mals, _parity)
