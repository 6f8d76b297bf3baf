"""The answer of an audit in a few sentences, the same wherever it is shown: what was found, for whom, how sure, what next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from biasamp.data import printable
from biasamp.results.metric_registry import short_name

from .answer_facts import Concluded, joined, percent_of
from .continuous_answer import found_of_means, is_of_means
from .document_types import AuditDocument, Entry, Pair
from .evidence import (
    AS_GOOD_AS_0,
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

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> data = {"group": group, "hired": hired, "model": model}
    >>> audit = biasamp.audit(data, attributes="group", tasks="hired", task_predictions="model", metrics=["directional"])
    >>> print(audit.answer.found)
    The model amplifies the bias of its data by group (+0.250).
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
            return self._not_measured() + self._invented()
        by_side = {side: [e for e in self.entries if self.verdict(e) == side] for side in (1, -1)}
        said = []
        if by_side[1]:
            said.append(f"amplifies the bias of {self.owner} by {self._listed(by_side[1])}")
        if by_side[-1]:
            said.append(
                f"weakens {'it' if said else f'the associations of {self.owner}'} by {self._listed(by_side[-1])}"
            )
        as_it_was = [entry for entry in self.entries if self.as_good_as_0(entry)]
        if as_it_was:
            what = "it" if by_side[1] else "them" if said else f"the bias of {self.owner}"
            said.append(f"keeps {what} to within {AS_GOOD_AS_0:g} on average by {self._listed(as_it_was)}")
        if not said:
            average = " on average" if self._changed else ""
            open_ = (
                f"the model amplifies the bias of {self.owner}{average} is not decided: {self._listed(self.undecided)}"
            )
            open_ = f"{self._apart()}; whether {open_}" if self.gaps else f"Whether {open_}"
            return f"{open_}{self._of_pairs()}.{self._base()}{self._invented()}"
        undecided = [self.where(entry) for entry in self.undecided]
        rest = f"; whether it does by {joined(undecided)} is not decided" if undecided else ""
        return f"The model {joined(said)}{rest}.{self._base()}{self._invented()}"

    def _not_measured(self) -> str:
        """What is decided where directional amplification was not measured."""
        said = [f"{short_name(e['metric'])} by {self.where(e)} ({_short(e['value'])})" for e in self.others()]
        measured = "Directional amplification was not measured"
        if self.gaps:
            return f"{self._apart()}{f', and beyond chance is {joined(said)}' if said else ''}. {measured}."
        return f"{measured}{f'; beyond chance is {joined(said)}' if said else ''}."

    def _invented(self) -> str:
        """Labels that only the model has, where groups get them at different rates."""
        rows = self.inventions
        if not rows:
            return ""
        high, low = (self.name(group) for group in rows[0]["between"] or ())
        more = f", and so on for {len(rows) - 1:,} more" if len(rows) > 1 else ""
        return f" It gives {printable(rows[0]['label'], LONGEST)}, which the truth never has, to {high} more often than to {low}{more}."

    def _base(self) -> str:
        """What amplification is measured from, where that is not the labels of the records."""
        named = dict.fromkeys(source for entry in self.entries if (source := entry.get("base_source")))
        return (
            f" It is measured from the base ({joined([printable(name, LONGEST) for name in named])})." if named else ""
        )

    @cached_property
    def _changed(self) -> list[Pair]:
        """The pairs that change for certain in directional values of which nothing is concluded."""
        pairs = [pair for entry in self.undecided for pair in self.changed[place_of(entry)]]
        return sorted(pairs, key=lambda pair: -abs(pair["delta"] or 0.0))

    def _of_pairs(self) -> str:
        """What is sure of single pairs where the average is not."""
        if not self._changed:
            return ""
        first, many = self._changed[0], len(self._changed)
        return (
            f"; {many:,} pair{'s' if many > 1 else ''} of a group and an outcome change{'' if many > 1 else 's'} beyond chance, "
            f"{'most of all ' if many > 1 else ''}{self.name(first['outcome'])} among {self.name(first['given'])} "
            f"({percent_of(first['truth_rate'])} becomes {percent_of(first['predicted_rate'])})"
        )

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
            what = f"{self._outcome(wrong)} is predicted" if len(wrong.get("outcomes", ())) > 1 else "predicted"
            return f"{group}: {what} wrongly for {most} ({other}: {least})."
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
        # Of attributes before crossings.
        for entries in (self.entries, self.measured):
            pairs = [(pair, entry) for entry in entries for pair in self.changed[place_of(entry)]]
            if pairs:
                pair, entry = max(pairs, key=lambda held: abs(held[0]["delta"] or 0.0))
                return f"Most changed is {self.name(pair['outcome'])} among {self.name(pair['given'])}: {self.rates_of(entry, pair)}."
        return "No pair of a group and an outcome changes beyond chance." if self.entries else ""

    def sure(self) -> str:
        level = f"{self.data['confidence'] * 100:g}%"
        decided = [f"{self.where(e)} {_bounds(e)}" for e in self.entries if self.verdict(e)]
        for metric, entry in self.gaps.items():
            where = printable(entry["attribute"], LONGEST)
            decided.append(f"{short_name(metric)} by {where} {value_with_interval(entry)}")
        decided += [self._other(entry) for entry in self.others()]
        as_it_was = [f"{self.where(e)} {value_with_interval(e)}" for e in self.entries if self.as_good_as_0(e)]
        undecided = [self._undecided(entry) for entry in self.undecided]
        judged = len(self.concluded)
        counted = f"corrected for {judged} figures" if judged > 1 else "one figure"
        said = (
            f"Beyond chance at {level} ({counted}): {joined(decided, 4)}"
            if decided
            else f"{self._nothing()} is beyond chance at {level} ({counted})"
        )
        said += f"; within {AS_GOOD_AS_0:g} of 0: {joined(as_it_was)}" if as_it_was else ""
        return said + (f"; not decided: {joined(undecided)}." if undecided else ".") + self._few() + self._missing()

    def _nothing(self) -> str:
        """What is not beyond chance where no figure is: single pairs, and labels that only the model has, may be."""
        if self.inventions:
            return "Of labels that the truth has, no average and no difference"
        return "No average and no difference" if any(self.changed.values()) else "Nothing"

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
        left_out = f"left out of what {'it concerns' if gone == 1 else 'they concern'}"
        return f" {values} {'read as not having the label' if done == 'negative' else left_out}."

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
