"""What findings and cautions are, what they look at, and what orders them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from biasamp.data import printable
from biasamp.results.metric_registry import direction_symbol, is_signed

from .bin_types import BinEntry
from .document_types import AuditDocument, Entry, Excluded, Invented
from .evidence import Place, kept, place_of, verdicts
from .label_names import LONGEST, label_names
from .score_types import SweepEntry, WhyEntry
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
    "repeated": 9.91,
    "swapped": 9.9,
    "other-scores": 9.87,
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
    "numbers": 8.3,
    "bins": 8.2,
    "not-fairness": 8.0,
    "not-ground-truth": 7.5,
    "fractions": 7.2,
    "never-predicted": 7.1,
    "threshold": 7.0,
    "other-rule": 6.9,
    "uncalibrated": 6.8,
    "stratum-close-to-group": 6.7,
    "small-strata": 6.6,
    "no-interval": 6.5,
    "small-groups": 6.5,
    "left-out": 6.3,
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
    def kept(self) -> set[Place]:
        """Which directional values are as good as 0; see :func:`evidence.kept`."""
        return kept(self.document)

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


def place(entry: Entry | SweepEntry | Excluded | Invented | BinEntry, between: str = ", ") -> str:
    """The attribute and direction that a sentence begins with."""
    return between.join(filter(None, (printable(entry["attribute"], 40), direction_symbol(entry["direction"]))))


def finding(code: str, text: str, weight: float, entry: Entry, **more: Any) -> Finding:
    """A finding on one entry."""
    return Finding("finding", code, text, weight, figure(entry, **more), **subject_of(entry))
