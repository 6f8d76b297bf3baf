"""What the sentences of an answer rest on: a document's figures with what is concluded of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from biasamp.data import printable
from biasamp.results.metric_registry import audited_metrics, direction_symbol

from .document_types import AuditDocument, Entry, Invented, Pair
from .evidence import Place, changed_pairs, kept, measured_from, of_fractions, place_of, verdicts
from .findings import CLEAR_DIFFERENCE
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
        # A crossing is spoken of where it decides what its attributes do not.
        single = {place_of(entry) for entry in own}
        crossed = [e for e in measured if place_of(e) not in single and not self._said_by(own, e)]
        self.measured = measured
        self.entries = sorted([*own, *crossed] if own else measured, key=lambda entry: -abs(entry["value"] or 0.0))
        self.arrows = len({entry["direction"] for entry in measured}) > 1

    def _said_by(self, own: list[Entry], entry: Entry) -> bool:
        """Whether a figure of a crossing says no more than those of single attributes."""
        side, same = self.verdict(entry), (entry["metric"], entry["direction"])
        return not side or any((e["metric"], e["direction"]) == same and self.verdict(e) == side for e in own)

    @property
    def of_base(self) -> bool:
        """Whether amplification is measured from a base that was given."""
        return any(entry.get("base_source") for entry in self.entries)

    @property
    def owner(self) -> str:
        """Whose bias amplification is measured from."""
        return measured_from(self.entries[0])

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
        arrow = f" {direction_symbol(entry['direction'])}" if self.arrows and entry["direction"] is not None else ""
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

    def others(self) -> Iterator[Entry]:
        """Decided figures that are no directional values and no largest difference of a rate: other attributes, and other metrics."""
        kinds, said = self.data.get("kinds", {}), {place_of(entry) for entry in (*self.measured, *self.gaps.values())}
        left = [entry for entry in self.document["metrics"] if place_of(entry) not in said and self.verdict(entry)]
        own = [entry for entry in left if kinds.get(entry["attribute"]) != "crossing"]
        yield from own
        # The largest difference of a rate stands for those of crossings.
        crossed = [entry for entry in left if kinds.get(entry["attribute"]) == "crossing"]
        yield from (e for e in crossed if e["metric"] not in self.gaps and not self._said_by(own, e))

    @cached_property
    def changed(self) -> dict[Place, list[Pair]]:
        """The pairs of each directional value that change for certain, the largest first."""
        return {place_of(entry): changed_pairs(entry) for entry in self.measured}

    @cached_property
    def inventions(self) -> list[Invented]:
        """The labels that only the model has, and that groups get at different rates, the largest difference first."""
        rows = [row for row in self.document.get("invented", ()) if row["between"] and row["q"] is not None]
        clear = [row for row in rows if (row["q"] or 0.0) < CLEAR_DIFFERENCE]
        return sorted(clear, key=lambda row: -(row["difference"] or 0.0))

    def rates_of(self, entry: Entry, pair: Pair) -> str:
        """What a pair is in truth and in prediction."""
        truth, said = percent_of(pair["truth_rate"]), percent_of(pair["predicted_rate"])
        predicted = f"with a mean score of {said}" if of_fractions(self.document, entry) else f"predicted for {said}"
        return f"{'in the base' if self.of_base else 'true of'} {truth}, {predicted}"

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
