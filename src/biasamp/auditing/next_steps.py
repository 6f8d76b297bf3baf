"""What to do next: the cheapest steps that an audit's figures suggest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from biasamp.data import printable
from biasamp.resampling.significance import normal_quantile
from biasamp.results.interval import rounded_up
from biasamp.results.metric_registry import audited_metrics, short_name

from .answer_facts import Concluded, joined, percent_of
from .caution_topics import MISTAKES
from .document_types import Entry, Pair
from .evidence import AS_GOOD_AS_0, counts_fractions, known_directions, place_of, unknown_directions
from .findings import number, value_with_interval
from .label_names import LONGEST

# Another threshold is worth moving to where it takes this share of a value away.
_WORTHWHILE = 0.1
# What of a value comes from scores is named from here on: it would be shown as 0.
_AT_LEAST = 0.0005
# The chance with which so many records decide, and how far an estimate moves to one side, and to either, in the other samples.
_CHANCE, _ONE_SIDED, _TWO_SIDED = "with a chance of 80%", 0.8416, 1.2816
# Metrics that see changes which directional values do not.
_SEEING = frozenset(metric.name for metric in audited_metrics() if metric.judged and not metric.gap)
# More records than so many times these are not asked for: the value is as good as 0.
_MOST_TIMES = 50.0


class NextSteps(Concluded):
    """The steps that follow from what is concluded."""

    def said(self) -> str:
        """Two steps at most, and how to learn more."""
        steps = [*list(dict.fromkeys(self._steps()))[:2], *self._ask_for_scores()]
        return " ".join(steps or ["These figures ask for nothing; repeat the audit when the data or the model change."])

    def _ask_for_scores(self) -> Iterator[str]:
        """How to learn whether the scores or the threshold change the bias, where that is decided and no scores were given."""
        changed = [entry for entry in self.entries if self.verdict(entry)]
        if changed and not any(map(self.why, changed)) and not counts_fractions(self.document):
            roles = dict.fromkeys("task_scores" if e["direction"] == "A->T" else "attribute_scores" for e in changed)
            yield f"Give the model's scores too ({joined(list(roles))}): they tell whether scores or threshold change the bias."

    def _steps(self) -> Iterator[str]:
        for row in self.document["findings"]:
            if row["code"] in MISTAKES:
                yield f"Check the columns first: {_first_sentence(row['text'])}"
                break
        up = [entry for entry in self.entries if self.verdict(entry) > 0]
        for entry in up[:1]:
            yield self._mend(entry)
        for invented in self.inventions[:1]:
            high, low = (self.name(group) for group in invented["between"] or ())
            yield (
                f"See why the model gives {printable(invented['label'], LONGEST)}, which the truth never has, to {high} more often than to {low}."
            )
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
        yield from self._hidden()
        for entry in list(self.gaps.values())[:1]:
            between = " and ".join(self.name(group) for group in entry["between"] or ())
            yield f"Look at the errors of {between}: amplification says nothing of them."
        for entry in [entry for entry in self.undecided if entry["value"] is not None][:1]:
            yield self._collect(entry)
        yield from self._seen_by_others()

    def _hidden(self) -> Iterator[str]:
        """The pair that changes most where the average is as good as 0, or is amplified most where it is weakened."""
        for entry in self.entries:
            pairs = self.changed[place_of(entry)]
            if self.verdict(entry) < 0:
                pairs = _amplified(entry, pairs)
            if pairs and (self.verdict(entry) < 0 or self.as_good_as_0(entry)):
                yield f"Look at {self._pair(entry, pairs[0])} The average by {self.where(entry)} hides it."
                return

    def _seen_by_others(self) -> Iterator[str]:
        """Figures that are decided where no directional value is measured, or where it does not say so."""
        up = {(entry["attribute"], entry["direction"]) for entry in self.measured if self.verdict(entry)}
        for entry in self.others():
            here = entry["attribute"], entry["direction"]
            if self.verdict(entry) > 0 and here not in up and entry["metric"] in _SEEING:
                name = short_name(entry["metric"])
                wanted = "Measure directional amplification too, which names the pairs"
                asked = f"Read what {name} compares" if self.measured else wanted
                yield f"{asked}: {name} by {self.where(entry)} ({value_with_interval(entry)}) is beyond chance."
                return

    def _pair(self, entry: Entry, pair: Pair) -> str:
        return f"{self.name(pair['outcome'])} among {self.name(pair['given'])}: {self.rates_of(entry, pair)}."

    def _mend(self, entry: Entry) -> str:
        """What takes an amplification away: another threshold, or other scores."""
        why, where = self.why(entry), self.where(entry)
        if why is None:
            up = _amplified(entry, self.changed[place_of(entry)])
            return f"Look at {self._pair(entry, up[0])}" if up else f"Look at the pairs of {where} that change."
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
            f"of {number(worst['score_rate'], False)} and is true of {percent_of(worst['truth_rate'])}."
        )

    def _move(self, entry: Entry, where: str, score: float) -> str:
        """The threshold to move to, where one takes enough of the value away."""
        swept, value = self.sweep(entry), abs(entry["value"] or 0.0)
        marks = {} if swept is None else swept.get("marks", {})
        least = (1.0 - _WORTHWHILE) * value
        used = f" at {number(float(marks['used']['threshold'] or 0), False)}" if "used" in marks else ""
        said, verb = [], "Move the threshold"
        base = None if swept is None or swept["base_rate"] is None else percent_of(swept["base_rate"])
        for mark, words in (("base_rate", f"nearest to the base rate of {base}"), ("zero", "where it is nearest to 0")):
            held = marks.get(mark)
            if held is None or held["amplification"] is None or abs(held["amplification"]) > least:
                continue
            at = number(float(held["threshold"] or 0), False)
            verb = "Calibrate" if mark == "base_rate" else verb
            said.append(
                f"{number(held['amplification'])} at {at}, {words} ({percent_of(held['rate'])} predicted positive)"
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
        lent = "train labels" if self.data["train"] else "records of the base" if self.of_base else ""
        if unknown and lent:
            # More of these records leave those directions as unknown as they are.
            return f"Give more {lent} for {where}: those given leave {unknown:,} of {many:,} directions unknown."
        if unknown and small is not None:
            return (
                f"Collect more for {where}, above all of {self.name(small['group'])} ({small['records']:,} record{'s' if small['records'] != 1 else ''}), or give the "
                f"training labels, which decide the {unknown:,} of {many:,} directions that are unknown."
            )
        if low is None or high is None:
            return f"Give {where} more records: there is no interval."
        if self.of_base:
            # More of these records leave the error of the base as it is.
            return f"Collect more for {where}, and records of the base: {number(value)} is not decided."
        reach = (value - low if value > 0 else high - value) / abs(value) if value else _MOST_TIMES
        quantile = normal_quantile(self.data["confidence"])
        # All figures are counted (Holm), and the estimate moves too: one that just decides would in half of the samples.
        needed = normal_quantile(1.0 - (1.0 - self.data["confidence"]) / max(len(self.concluded), 1))
        times = (reach * (needed + _ONE_SIDED) / quantile) ** 2
        if reach > 1.0 and times <= _MOST_TIMES:
            return f"Collect more for {where}: about {times:.1f} times the records would decide {number(value)} {_CHANCE}, if it stays as it is."
        if reach <= 1.0:
            return (
                f"Take {number(value)} by {where} for a hint: its own interval does not cover 0, but with all "
                f"{len(self.concluded):,} figures counted that may be chance. Records that were not looked at yet would tell."
            )
        left = f"Leave {where} as it is: {number(value)} is small for what these records can tell"
        # At a level of one half a one-sided bound is the value itself, which tells nothing of more records.
        if abs(value) >= AS_GOOD_AS_0 or self.data["confidence"] <= 0.5:
            return f"{left}."
        ends = [end for end in entry.get("bounds") or (low, high) if end is not None]
        wide = max(abs(end - value) for end in ends)
        level, many = self.data["confidence"], sum("bounds" in e for e in self.measured) or 1
        # The bounds count all such values, and the estimate may move to either side.
        counted = normal_quantile(1.0 - 2.0 * (1.0 - level) / many) + _TWO_SIDED
        reach = wide * counted / normal_quantile(2.0 * level - 1.0) / (AS_GOOD_AS_0 - abs(value))
        records = rounded_up(self.data["records"] * max(reach, 1.0) ** 2)
        return f"{left}; about {records:,} records in all would show it to be within {AS_GOOD_AS_0:g} of 0 {_CHANCE}, if it stays as it is."


def _amplified(entry: Entry, pairs: list[Pair]) -> list[Pair]:
    """Of some pairs those whose direction is known and amplified, the largest first."""
    known = {id(pair) for pair in known_directions(entry)}
    up = [pair for pair in pairs if id(pair) in known and (pair["amplification"] or 0.0) > 0]
    return sorted(up, key=lambda pair: -(pair["amplification"] or 0.0))


def _first_sentence(text: str) -> str:
    first = re.split(r"(?<=[.?]) ", text)[0].rstrip(".")
    return first if first.endswith("?") else f"{first}."
