"""The answer of an audit in a few sentences, the same wherever it is shown: what was found, for whom, how sure, what next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from biasamp.data import printable
from biasamp.results.metric_registry import short_name

from .answer_facts import Concluded, joined, percent_of
from .continuous_answer import found_of_means, is_of_means
from .document_types import AuditDocument, Entry
from .evidence import (
    AS_GOOD_AS_0,
    changed_pairs,
    counts_fractions,
    place_of,
    unknown_directions,
)
from .findings import number, side_of_zero, value_with_interval
from .label_names import LONGEST
from .next_steps import NextSteps
from .rate_findings import gap_title


@dataclass(frozen=True)
class Answer:
    """What was found, who is worst off, how sure that is, and what to do next: a sentence or two each.

    ``groups`` are those that the sentences hold against each other. ``worst_off`` is empty where nothing tells it.
    """

    found: str
    sure: str
    next: str
    groups: tuple[str, ...] = ()
    worst_off: str = ""

    @property
    def titled(self) -> dict[str, str]:
        """The sentences by their titles."""
        said = {"Found": self.found, "Worst off": self.worst_off, "How sure": self.sure, "Next": self.next}
        return {title: words for title, words in said.items() if words}


def answer_of(document: AuditDocument) -> Answer:
    """The answer of an audit's document."""
    if is_of_means(document):
        return Answer(*found_of_means(document))
    made = _Answering(document)
    gaps = [entry for metric, entry in made.gaps.items() if metric != "accuracy_difference"]
    groups = dict.fromkeys(group for entry in gaps for group in entry["between"] or ())
    return Answer(made.found(), made.sure(), NextSteps(document).said(), tuple(groups), made.worst_off())


class _Answering(Concluded):
    def found(self) -> str:
        if not self.entries:
            return "Directional amplification was not measured."
        by_side = {side: [e for e in self.entries if self.verdict(e) == side] for side in (1, -1)}
        said = []
        if by_side[1]:
            said.append(f"amplifies the bias of its data by {self._listed(by_side[1])}")
        if by_side[-1]:
            said.append(f"weakens {'it' if said else 'the associations of its data'} by {self._listed(by_side[-1])}")
        as_it_was = [entry for entry in self.entries if self.as_good_as_0(entry)]
        if as_it_was:
            what = "it" if by_side[1] else "them" if said else "the bias of its data"
            said.append(f"keeps {what} to within {AS_GOOD_AS_0:g} on average by {self._listed(as_it_was)}")
        if not said:
            open_ = f"the model amplifies the bias of its data is not decided: {self._listed(self.undecided)}."
            return f"{self._apart()}; whether {open_}" if self.gaps else f"Whether {open_}"
        undecided = [self.where(entry) for entry in self.undecided]
        rest = f"; whether it does by {joined(undecided)} is not decided" if undecided else ""
        return f"The model {joined(said)}{rest}."

    def _apart(self) -> str:
        """That groups differ, where that is decided: of which attributes, and in what."""
        attributes = dict.fromkeys(printable(entry["attribute"], LONGEST) for entry in self.gaps.values())
        rates = [gap_title(self.document, metric) for metric in self.gaps]
        return f"Groups of {joined(list(attributes))} differ in {joined(rates)}"

    def _listed(self, entries: list[Entry]) -> str:
        return joined([f"{self.where(entry)} ({self._parts(entry)})" for entry in entries])

    def _parts(self, entry: Entry) -> str:
        """A value, what of it the scores are and what deciding on them, and what it is inside strata."""
        why = self.why(entry)
        if why is None:
            return _short(entry["value"])
        score, deciding = (_short(why["parts"][of]["value"]) for of in ("score", "threshold"))
        said = f"{_short(entry['value'])}: scores {score}, threshold {deciding}"
        if "inside" not in why["parts"]:
            return said
        return f"{said}; inside strata of {printable(why['strata_column'], LONGEST)} {_short(why['parts']['inside']['value'])}"

    def worst_off(self) -> str:
        """Who bears the errors: whether an outcome is a burden or a benefit is for the reader to know."""
        if counts_fractions(self.document):
            gap = next(iter(self.gaps.values()), None)
            if gap is None:
                return self._most_changed()
            high, low = (self.name(group) for group in gap["between"] or ())
            what = gap_title(self.document, gap["metric"])
            return f"Groups differ most in {what}: {high} over {low} by {number(gap['value'], False)}."
        burden, benefit = self.gaps.get("fpr_difference"), self.gaps.get("tpr_difference")
        said = []
        if burden is not None:
            group, most, other, least = self._ends(burden, "false_positive_rate", False)
            said.append(
                f"{group}, if {self._outcome(burden)} is a burden: wrongly predicted for {most} of those without it "
                f"({other}: {least})."
            )
        if benefit is not None:
            group, most, other, least = self._ends(benefit, "true_positive_rate", True)
            it = "it" if burden is not None and burden.get("outcome") == benefit.get("outcome") else None
            said.append(
                f"{group}, if {it or self._outcome(benefit)} is a benefit: missed for {most} of those with it "
                f"({other}: {least})."
            )
        if said:
            return " ".join(said)
        wrong = self.gaps.get("accuracy_difference")
        if wrong is not None:
            group, most, other, least = self._ends(wrong, "accuracy", True)
            return f"{group}: predicted wrongly for {most} ({other}: {least})."
        if any(entry.get("between") for entry in self.document["metrics"]):
            return "No difference in error rates between groups is beyond chance."
        return self._most_changed()

    def _outcome(self, entry: Entry) -> str:
        return self.name(entry.get("outcome") or "the outcome")

    def _ends(self, entry: Entry, rate: str, turned: bool) -> tuple[str, str, str, str]:
        """The group with the most errors, its share, the one with the fewest, and its share."""
        held = {}
        for row in self.document.get("rates", ()):
            if row["attribute"] == entry["attribute"] and row["outcome"] == entry.get("outcome"):
                found: Any = row[rate]["value"]  # type: ignore[literal-required]
                held[row["group"]] = found
        shares = [
            (name, None if held.get(name) is None else 1.0 - held[name] if turned else held[name])
            for name in entry["between"] or ()
        ]
        shares.sort(key=lambda pair: -(pair[1] or 0.0))
        (worst, most), (best, least) = shares
        return self.name(worst), percent_of(most), self.name(best), percent_of(least)

    def _most_changed(self) -> str:
        pairs = [pair for entry in self.entries for pair in changed_pairs(entry)]
        if not pairs:
            return "No pair of a group and an outcome changes beyond chance." if self.entries else ""
        pair = max(pairs, key=lambda pair: abs(pair["delta"] or 0.0))
        return (
            f"Most changed is {self.name(pair['outcome'])} among {self.name(pair['given'])}: true of "
            f"{percent_of(pair['truth_rate'])}, predicted for {percent_of(pair['predicted_rate'])}."
        )

    def sure(self) -> str:
        level = f"{self.data['confidence'] * 100:g}%"
        decided = [f"{self.where(e)} {_bounds(e)}" for e in self.entries if self.verdict(e)]
        for metric, entry in self.gaps.items():
            where = printable(entry["attribute"], LONGEST)
            decided.append(f"{short_name(metric)} by {where} {value_with_interval(entry)}")
        decided += [self._other(entry) for entry in self._others()]
        as_it_was = [f"{self.where(e)} {value_with_interval(e)}" for e in self.entries if self.as_good_as_0(e)]
        undecided = [self._undecided(entry) for entry in self.undecided]
        judged = len(self.concluded)
        counted = f"corrected for {judged} figures" if judged > 1 else "one figure"
        said = (
            f"Beyond chance at {level} ({counted}): {joined(decided, 4)}"
            if decided
            else f"Nothing is beyond chance at {level} ({counted})"
        )
        said += f"; within {AS_GOOD_AS_0:g} of 0: {joined(as_it_was)}" if as_it_was else ""
        return said + (f"; not decided: {joined(undecided)}." if undecided else ".") + self._few() + self._missing()

    def _others(self) -> Iterator[Entry]:
        """Decided figures that are not named yet: differences of other attributes, and other metrics."""
        kinds, said = self.data.get("kinds", {}), {place_of(entry) for entry in (*self.entries, *self.gaps.values())}
        for entry in self.document["metrics"]:
            if place_of(entry) not in said and self.verdict(entry) and kinds.get(entry["attribute"]) != "crossing":
                yield entry

    def _other(self, entry: Entry) -> str:
        return f"{short_name(entry['metric'])} by {self.where(entry)} {value_with_interval(entry)}"

    def _few(self) -> str:
        """How many groups are too small to tell much."""
        kinds = self.data.get("kinds", {})
        groups = [row for row in self.data["groups"] if kinds.get(row["attribute"]) != "crossing"]
        small = sum(row["small"] for row in groups)
        if not small:
            return ""
        has = "has" if small == 1 else "have"
        return f" {small:,} of {len(groups):,} groups {has} fewer than {self.data['min_group']} records."

    def _missing(self) -> str:
        """What was done about missing labels."""
        gone, done = self.data["missing_values"], self.data["missing"]
        if not gone or done == "error":
            return ""
        values = "1 missing value was" if gone == 1 else f"{gone:,} missing values were"
        return f" {values} {'read as not having the label' if done == 'negative' else 'left out of what they concern'}."

    def _undecided(self, entry: Entry) -> str:
        words = f"{self.where(entry)} {value_with_interval(entry)}"
        unknown, many = unknown_directions(entry) if entry.get("unknown") and entry.get("pairs") else (0, 0)
        if unknown and side_of_zero(*(entry.get("bounds") or (None, None))) == 0:
            return f"{words}, the direction of {unknown:,} of {many:,} pairs being unknown"
        return words


def _short(value: float | None) -> str:
    """A figure to three digits; what is rounded to 0 has no sign of its own."""
    return "undefined" if value is None else f"{round(value, 3) + 0.0:+.3f}"


def _bounds(entry: Entry) -> str:
    low, high = entry["interval"]
    return number(entry["value"]) if low is None or high is None else f"[{number(low)}, {number(high)}]"
