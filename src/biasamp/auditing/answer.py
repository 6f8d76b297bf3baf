"""The answer of an audit in a few sentences, the same wherever it is shown: what was found, for whom, how sure, what next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from biasamp.data import printable
from biasamp.results.interval import rounded_up
from biasamp.results.metric_registry import audited_metrics, direction_symbol, short_name

from .caution_topics import MISTAKES
from .continuous_answer import found_of_means, is_of_means
from .document_types import AuditDocument, Entry
from .evidence import (
    AS_GOOD_AS_0,
    Place,
    changed_pairs,
    counts_fractions,
    kept,
    place_of,
    unknown_directions,
    verdicts,
)
from .findings import number, side_of_zero, value_with_interval
from .label_names import LONGEST, label_names
from .rate_findings import gap_title
from .score_types import SweepEntry, WhyEntry

# Figures named one by one; of more, their number is said.
_NAMED = 3
# Another threshold is worth moving to where it takes this share of a value away.
_WORTHWHILE = 0.1
# What of a value comes from scores is named from here on: it would be shown as 0.
_AT_LEAST = 0.0005
# More records than so many times these are not asked for: the value is as good as 0.
_MOST_TIMES = 50.0


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
    return Answer(made.found(), made.sure(), made.next(), tuple(groups), made.worst_off())


def concluded_of(document: AuditDocument) -> dict[Place, int | None]:
    """What is concluded of every figure: +1, -1, or 0 where nothing is; as the findings say, where they speak of it."""
    out: dict[Place, int | None] = dict(verdicts(document))
    for row in document["findings"]:
        if row["kind"] == "finding" and "verdict" in row["figure"]:
            out[place_of(row["figure"])] = row["figure"]["verdict"]
    return out


class _Answering:
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
        return self.names.get(label) or printable(label, LONGEST)

    def verdict(self, entry: Entry) -> int:
        return self.concluded.get(place_of(entry)) or 0

    def as_good_as_0(self, entry: Entry) -> bool:
        return place_of(entry) in self.kept and not self.verdict(entry)

    @property
    def undecided(self) -> list[Entry]:
        return [entry for entry in self.entries if not self.verdict(entry) and not self.as_good_as_0(entry)]

    def where(self, entry: Entry | WhyEntry) -> str:
        arrow = f" {direction_symbol(entry['direction'])}" if self.arrows else ""
        return printable(entry["attribute"], LONGEST) + arrow

    def why(self, entry: Entry) -> WhyEntry | None:
        held = (row for row in self.document.get("why", ()) if row["scored"])
        place = entry["attribute"], entry["direction"]
        return next((row for row in held if (row["attribute"], row["direction"]) == place), None)

    def sweep(self, entry: Entry) -> SweepEntry | None:
        place = entry["attribute"], entry["direction"]
        rows = self.document.get("sweep", ())
        return next((row for row in rows if (row["attribute"], row["direction"]) == place), None)

    # --- found ------------------------------------------------------------------------------------------------------

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
        rest = f"; whether it does by {_joined(undecided)} is not decided" if undecided else ""
        return f"The model {_joined(said)}{rest}."

    def _apart(self) -> str:
        """That groups differ, where that is decided: of which attributes, and in what."""
        attributes = dict.fromkeys(printable(entry["attribute"], LONGEST) for entry in self.gaps.values())
        rates = [gap_title(self.document, metric) for metric in self.gaps]
        return f"Groups of {_joined(list(attributes))} differ in {_joined(rates)}"

    def _listed(self, entries: list[Entry]) -> str:
        return _joined([f"{self.where(entry)} ({self._parts(entry)})" for entry in entries])

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
        return self.name(worst), _percent(most), self.name(best), _percent(least)

    def _most_changed(self) -> str:
        pairs = [pair for entry in self.entries for pair in changed_pairs(entry)]
        if not pairs:
            return "No pair of a group and an outcome changes beyond chance." if self.entries else ""
        pair = max(pairs, key=lambda pair: abs(pair["delta"] or 0.0))
        return (
            f"Most changed is {self.name(pair['outcome'])} among {self.name(pair['given'])}: true of "
            f"{_percent(pair['truth_rate'])}, predicted for {_percent(pair['predicted_rate'])}."
        )

    # --- how sure ---------------------------------------------------------------------------------------------------

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
            f"Beyond chance at {level} ({counted}): {_joined(decided, 4)}"
            if decided
            else f"Nothing is beyond chance at {level} ({counted})"
        )
        said += f"; within {AS_GOOD_AS_0:g} of 0: {_joined(as_it_was)}" if as_it_was else ""
        return said + (f"; not decided: {_joined(undecided)}." if undecided else ".") + self._few() + self._missing()

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

    # --- next -------------------------------------------------------------------------------------------------------

    def next(self) -> str:
        steps = list(dict.fromkeys(self._steps()))[:2]
        if not steps:
            steps = ["These figures ask for nothing; repeat the audit when the data or the model change."]
        return " ".join([*steps, *self._ask_for_scores()])

    def _ask_for_scores(self) -> Iterator[str]:
        """How to learn whether the scores or the threshold change the bias, where that is decided and no scores were given."""
        changed = [entry for entry in self.entries if self.verdict(entry)]
        if changed and not any(map(self.why, changed)) and not counts_fractions(self.document):
            roles = dict.fromkeys("task_scores" if e["direction"] == "A->T" else "attribute_scores" for e in changed)
            yield f"Give the model's scores too ({_joined(list(roles))}): they tell whether scores or threshold do it."

    def _steps(self) -> Iterator[str]:
        for row in self.document["findings"]:
            if row["code"] in MISTAKES:
                yield f"Check the columns first: {_first_sentence(row['text'])}"
                break
        up = [entry for entry in self.entries if self.verdict(entry) > 0]
        for entry in up[:1]:
            yield self._mend(entry)
        for why in self.document.get("why", ()):
            rows = why.get("strata", [])
            turned = sum(row["reversed"] > 0 for row in rows)
            if turned:
                yield (
                    f"Read the strata of {printable(why['strata_column'], LONGEST)}: in {turned:,} of {len(rows):,} a direction is "
                    "not that of the whole (Simpson's paradox)."
                )
                break
        for row in self.document["findings"]:
            if row["code"] == "numbers" and any(entry["attribute"] == row.get("attribute") for entry in self.undecided):
                yield f"Cut {printable(str(row['attribute']), LONGEST)} into a few bins, so that its groups have records enough to compare."
                break
        for entry in list(self.gaps.values())[:1]:
            between = " and ".join(self.name(group) for group in entry["between"] or ())
            yield f"Look at the errors of {between}: amplification says nothing of them."
        for entry in [entry for entry in self.undecided if entry["value"] is not None][:1]:
            yield self._collect(entry)

    def _mend(self, entry: Entry) -> str:
        """What takes an amplification away: another threshold, or other scores."""
        why, where = self.why(entry), self.where(entry)
        if why is None:
            pair = next(iter(changed_pairs(entry)), None)
            if pair is None:
                return f"Look at the pairs of {where} that change."
            return (
                f"Look at {self.name(pair['given'])}, for whom {self.name(pair['outcome'])} is true of "
                f"{_percent(pair['truth_rate'])} and predicted for {_percent(pair['predicted_rate'])}."
            )
        score, deciding = (why["parts"][of]["value"] or 0.0 for of in ("score", "threshold"))
        if deciding >= score:
            moved = self._move(entry, where, score)
            if moved:
                return moved
        pairs = [pair for pair in why.get("pairs", ()) if not pair.get("mirror")]
        worst = max(pairs, key=lambda pair: pair["score"] or 0.0, default=None)
        if worst is None:
            return f"Look at the scores by {where}, which amplify by {number(score)}."
        return (
            f"Look at the scores, from which most amplification by {where} comes: for {self.name(worst['given'])}, {self.name(worst['outcome'])} has a mean score "
            f"of {number(worst['score_rate'], False)} and is true of {_percent(worst['truth_rate'])}."
        )

    def _move(self, entry: Entry, where: str, score: float) -> str:
        """The threshold to move to, where one takes enough of the value away."""
        swept, value = self.sweep(entry), abs(entry["value"] or 0.0)
        marks = {} if swept is None else swept.get("marks", {})
        least = (1.0 - _WORTHWHILE) * value
        used = f" at {number(float(marks['used']['threshold'] or 0), False)}" if "used" in marks else ""
        said, verb = [], "Move the threshold"
        base = None if swept is None or swept["base_rate"] is None else _percent(swept["base_rate"])
        for mark, words in (("base_rate", f"nearest to the base rate of {base}"), ("zero", "where it is nearest to 0")):
            held = marks.get(mark)
            if held is None or held["amplification"] is None or abs(held["amplification"]) > least:
                continue
            at = number(float(held["threshold"] or 0), False)
            verb = "Calibrate" if mark == "base_rate" else verb
            said.append(
                f"{number(held['amplification'])} at {at}, {words} ({_percent(held['rate'])} predicted positive)"
            )
        if not said:
            return ""
        it = "the threshold" if verb == "Calibrate" else "it"
        comes = f"mostly from {it}" if score >= _AT_LEAST else f"from {it}, not from the scores"
        return (
            f"{verb}: amplification by {where} comes {comes}. It is "
            f"{number(entry['value'])}{used} and would be {' and '.join(said)}."
        )

    def _collect(self, entry: Entry) -> str:
        where, value = self.where(entry), entry["value"] or 0.0
        low, high = entry["interval"]
        apart = set(self.data.get("ignored_groups", ()))
        groups = [
            row for row in self.data["groups"] if row["attribute"] == entry["attribute"] and row["group"] not in apart
        ]
        small = min(groups, key=lambda row: row["records"], default=None)
        unknown, many = unknown_directions(entry) if entry.get("unknown") and entry.get("pairs") else (0, 0)
        if unknown and small is not None:
            return (
                f"Collect more for {where}, above all of {self.name(small['group'])} ({small['records']:,} records), or give the "
                f"training labels, which decide the {unknown:,} of {many:,} directions that are unknown."
            )
        if low is None or high is None:
            return f"Give {where} more records: there is no interval."
        times = ((value - low if value > 0 else high - value) / value) ** 2 if value else _MOST_TIMES + 1.0
        if 1.0 < times <= _MOST_TIMES:
            return (
                f"Collect more for {where}: with about {times:.1f} times the records {number(value)} would be decided."
            )
        if times <= 1.0:
            return (
                f"Take {number(value)} by {where} for a hint: its own interval does not cover 0, but with all "
                f"{len(self.concluded):,} figures counted that may be chance. Records that were not looked at yet would tell."
            )
        left = f"Leave {where} as it is: {number(value)} is small for what these records can tell"
        if abs(value) >= AS_GOOD_AS_0:
            return f"{left}."
        ends = [end for end in entry.get("bounds") or (low, high) if end is not None]
        reach = max(abs(end - value) for end in ends) / (AS_GOOD_AS_0 - abs(value))
        records = rounded_up(self.data["records"] * max(reach, 1.0) ** 2)
        return f"{left}; about {records:,} records in all would show it to be within {AS_GOOD_AS_0:g} of 0."


def _short(value: float | None) -> str:
    """A figure to three digits; what is rounded to 0 has no sign of its own."""
    return "undefined" if value is None else f"{round(value, 3) + 0.0:+.3f}"


def _bounds(entry: Entry) -> str:
    low, high = entry["interval"]
    return number(entry["value"]) if low is None or high is None else f"[{number(low)}, {number(high)}]"


def _percent(value: float | None) -> str:
    return "an unknown share" if value is None else f"{100 * value:.1f}%"


def _first_sentence(text: str) -> str:
    return f"{text.split('. ')[0].rstrip('.')}."


def _joined(words: list[str], most: int = _NAMED) -> str:
    """Some things one by one, and how many more there are."""
    shown = words[:most]
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
