"""What the sentences of an answer rest on: a document's figures with what is concluded of them."""

from __future__ import annotations

from functools import cached_property

from biasamp.data import printable
from biasamp.results.metric_registry import audited_metrics, direction_symbol

from .document_types import AuditDocument, Entry
from .evidence import Place, kept, place_of, verdicts
from .label_names import LONGEST, label_names
from .score_types import SweepEntry, WhyEntry

# Figures named one by one; of more, their number is said.
_NAMED = 3


def concluded_of(document: AuditDocument) -> dict[Place, int | None]:
    """What is concluded of every figure: +1, -1, or 0 where nothing is; as the findings say, where they speak of it."""
    out: dict[Place, int | None] = dict(verdicts(document))
    for row in document["findings"]:
        if row["kind"] == "finding" and "verdict" in row["figure"]:
            out[place_of(row["figure"])] = row["figure"]["verdict"]
    return out


class Concluded:
    """An audit's document, with what is concluded of its directional values and of its differences of rates."""

    def __init__(self, document: AuditDocument) -> None:
        self.document = document
        self.data = document["data"]
        self.concluded = concluded_of(document)
        self.kept = kept(document)
        self.names = label_names(self.data)
        kinds = self.data.get("kinds", {})
        measured = [entry for entry in document["metrics"] if entry["metric"] == "directional"]
        own = [entry for entry in measured if kinds.get(entry["attribute"]) != "crossing"]
        self.entries = sorted(own or measured, key=lambda entry: -abs(entry["value"] or 0.0))
        self.arrows = len({entry["direction"] for entry in measured}) > 1

    def name(self, label: str) -> str:
        """A label as it is spoken of."""
        return self.names.get(label) or printable(label, LONGEST)

    def verdict(self, entry: Entry) -> int:
        """What is concluded of a figure; 0 where nothing is."""
        return self.concluded.get(place_of(entry)) or 0

    def as_good_as_0(self, entry: Entry) -> bool:
        """Whether a value is shown to be as good as 0."""
        return place_of(entry) in self.kept and not self.verdict(entry)

    @property
    def undecided(self) -> list[Entry]:
        """The directional values of which nothing is concluded."""
        return [entry for entry in self.entries if not self.verdict(entry) and not self.as_good_as_0(entry)]

    def where(self, entry: Entry | WhyEntry) -> str:
        """The attribute, with the direction where there are two."""
        arrow = f" {direction_symbol(entry['direction'])}" if self.arrows else ""
        return printable(entry["attribute"], LONGEST) + arrow

    def why(self, entry: Entry) -> WhyEntry | None:
        """The parts of a value, where scores were given."""
        held = (row for row in self.document.get("why", ()) if row["scored"])
        place = entry["attribute"], entry["direction"]
        return next((row for row in held if (row["attribute"], row["direction"]) == place), None)

    def sweep(self, entry: Entry) -> SweepEntry | None:
        """A value at other thresholds, where scores were given."""
        place = entry["attribute"], entry["direction"]
        rows = self.document.get("sweep", ())
        return next((row for row in rows if (row["attribute"], row["direction"]) == place), None)

    @cached_property
    def gaps(self) -> dict[str, Entry]:
        """The largest decided difference of each rate, of attributes before crossings."""
        kinds, out = self.data.get("kinds", {}), {}
        for metric in (metric.name for metric in audited_metrics() if metric.gap):
            held = [
                entry
                for entry in self.document["metrics"]
                if entry["metric"] == metric and self.verdict(entry) and entry.get("between")
            ]
            own = [entry for entry in held if kinds.get(entry["attribute"]) != "crossing"]
            best = max(own or held, key=lambda entry: entry["value"] or 0.0, default=None)
            if best is not None:
                out[metric] = best
        return out


def percent_of(value: float | None) -> str:
    """A share in percent."""
    return "an unknown share" if value is None else f"{100 * value:.1f}%"


def joined(words: list[str], most: int = _NAMED) -> str:
    """Some things one by one, and how many more there are."""
    shown = words[:most]
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
