"""Which figures of an audit a limit is about: its aggregates, its outcomes or its pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from biasamp.amplification.bounds import CLEAR_OF_ALL, ERRORS_MORE, standard_errors
from biasamp.amplification.parity import DIFFERENCES
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Entry, Excluded, Pair
from biasamp.auditing.evidence import unknown_directions
from biasamp.auditing.mirrors import each_once, variables_of
from biasamp.resampling.significance import normal_quantile
from biasamp.results.interval import FEWEST_CLUSTERS, TOO_FEW_CLUSTERS
from biasamp.results.metric_registry import METRICS

from .figure import Figure, UnknownSigns, is_number, statistic
from .ignored import few_named, groups_large_enough, without_groups
from .limits import Limit
from .more_records import in_words, records_for

# A pair's direction is clear, for a limit on that pair alone, when its test of independence has no larger p-value.
CLEAR_PAIR = 0.05
_TOO_FEW = f"it rests on fewer than {FEWEST_CLUSTERS} clusters, whose differences are too poorly known to judge a limit by: audit more clusters"
AUDIT_AGAIN = "audited by a version that did not bound unknown directions; audit again"


@dataclass(frozen=True, eq=False)
class Held:
    """An audit as a policy reads it, of one or several ``runs``; ``ignored`` are the groups that the policy leaves out."""

    audit: Audit
    ignored: frozenset[str]
    min_group: int
    min_records: int
    runs: int = 1

    @property
    def records(self) -> int:
        """The number of records."""
        return self.audit.document["data"]["records"]

    @cached_property
    def left_out_groups(self) -> dict[str, float]:
        """The groups of the audit that the policy leaves out, with their records."""
        rows = self.audit.document["data"]["groups"]
        return {row["group"]: row["records"] for row in rows if row["group"] in self.ignored}

    @cached_property
    def variables(self) -> dict[str, str]:
        """The variable of each label, as far as the document says."""
        return variables_of(self.audit.document["data"])

    def signs_known(self, entry: Entry) -> bool:
        """Whether directions come from elsewhere, so that these records have nothing to tell."""
        return signs_known(self.audit, entry["attribute"])

    def left_out(self, entry: Entry) -> Iterator[Excluded]:
        """What the audit left out of an entry, but for ignored groups."""
        for row in self.audit.document["excluded"]:
            names = {row.get("given"), row.get("outcome")}
            if key(row) == key(entry) and "given" in row and not row.get("ignored") and not names & self.ignored:
                yield row


def signs_known(audit: Audit, attribute: str) -> bool:
    """Whether directions come from elsewhere, so that the evaluated records have nothing to tell."""
    data = audit.document["data"]
    kind = data.get("kinds", {}).get(attribute, "attribute")
    return data["train"] or (data["base"] and kind == "attribute")


def key(entry: Entry | Excluded) -> tuple[str, str, str]:
    """What tells one metric of an audit from another."""
    return entry["attribute"], entry["metric"], entry["direction"] or ""


def figures_of(limit: Limit, entry: Entry, held: Held) -> list[Figure]:
    """What a limit holds of one entry."""
    if limit.of_pairs:
        return list(_pairs(limit, entry, held))
    if limit.outcome is not None and limit.facts.by_outcome:
        return list(_of_outcome(limit, entry, held))
    return [_aggregate(limit, entry, held)]


def _about(entry: Entry, held: Held) -> Figure:
    # How many records would decide is not known where seeds vary, too.
    data = held.audit.document["data"]
    figure = Figure(entry["attribute"], entry["direction"], records=held.records if held.runs == 1 else None)
    level = 1.0 - (1.0 - data["confidence"]) / _compared(entry, held)
    metric = METRICS.get(entry["metric"])
    # Changes of rates, given a label, are measured from the base.
    based = bool(data["base"] and metric is not None and metric.paired and metric.directions)
    return replace(figure, runs=held.runs, errors=normal_quantile(level), of_base=based)


def unseen_part(pairs: Sequence[Pair], held: Held, more: float) -> float:
    """What part of the variance stands for ``more`` errors of either kind than were seen.

    One more of either kind is in the interval of a pair of n records, where it is about 2 / n**2 of the variance.
    """
    z = normal_quantile(held.audit.document["data"]["confidence"])
    whole = unseen = 0.0
    for pair in pairs:
        if is_number(pair["low"]) and is_number(pair["high"]) and pair["support"] > 0:
            one = 2.0 / pair["support"] ** 2
            whole += max(((pair["high"] - pair["low"]) / 2.0 / z) ** 2 - one, 0.0) + more * one
            unseen += more * one
    return unseen / whole if whole > 0.0 else 0.0


def _compared(entry: Entry, held: Held) -> int:
    """How many differences of a rate a figure is the largest of, at a level that counts all of them."""
    if entry["metric"] not in DIFFERENCES:
        return 1
    groups = [row for row in held.audit.document["data"]["groups"] if row["attribute"] == entry["attribute"]]
    many = sum(row["group"] not in held.ignored and row["records"] > 0 for row in groups)
    return max(len(entry.get("outcomes", ())), 1) * max(many * (many - 1) // 2, 1)


def _aggregate(limit: Limit, entry: Entry, held: Held) -> Figure:
    low, high = entry["interval"]
    figure = replace(_about(entry, held), value=entry["value"], low=low, high=high)
    if limit.figure == "crossfit":
        low, high = entry.get("crossfit_interval", (None, None))
        figure = replace(figure, value=entry.get("crossfit"), low=low, high=high)
        if figure.value is None:
            figure = figure.doubted(
                "there is no cross-fitted value: directions come from other labels, leave figure out"
            )
    elif limit.facts.pairs_oriented:
        figure = _bounded(figure, entry, held).doubted(contradicted(entry, held))
    figure = _with_width(figure, limit, entry)
    if limit.figure == "over_floor":
        floor = entry.get("floor")
        if floor is None:
            figure = figure.doubted("there is no noise floor")
        else:
            value, low, high = (x - floor if is_number(x) else None for x in (figure.value, figure.low, figure.high))
            figure = replace(figure, value=value, low=low, high=high)
    figure = without_groups(figure, entry, held.audit, held.ignored, held.min_group)
    figure = groups_large_enough(figure, entry, held.audit, held.ignored, held.min_group)
    figure = _with_records(figure, entry, held).doubted(_groups_gone(entry, held)).doubted(_values_gone(entry, held))
    too_few = limit.on != "value" and TOO_FEW_CLUSTERS in entry.get("caution_kinds", ())
    return figure.doubted(_TOO_FEW) if too_few else figure


def _bounded(figure: Figure, entry: Entry, held: Held) -> Figure:
    """A directional value with its bounds: pairs of unknown direction count with either sign."""
    bounds, unknown = entry.get("bounds"), entry.get("unknown", 0)
    if bounds is not None:
        low, high = bounds
        directions = unknown_directions(entry) if unknown else None
        errors = standard_errors(held.audit.document["data"]["confidence"])
        figure = replace(figure, low=low, high=high, bounded=bool(unknown), directions=directions, errors=errors)
        figure = replace(figure, unseen=unseen_part(entry["pairs"], held, ERRORS_MORE))
        if unknown and held.signs_known(entry):
            return replace(figure, lent=True)
        return replace(figure, unknown=unknown_signs(entry, held.variables)) if unknown else figure
    pairs = entry.get("pairs", [])
    clear = len(pairs) == entry.get("pairs_in_all") and all(pair.get("clear") for pair in pairs)
    return figure if clear or held.signs_known(entry) else figure.doubted(AUDIT_AGAIN)


def contradicted(entry: Entry, held: Held) -> str | None:
    """Train labels that lean the other way in most pairs are more likely coded otherwise than a world turned round."""
    opposite, both = entry.get("contradicted", (0, 0))
    if not held.audit.document["data"]["train"] or 2 * opposite <= both:
        return None
    return (
        f"of {both:,} pairs whose direction is clear in the train labels and in these records, {opposite:,} lean opposite ways: "
        "code both alike, or leave the train labels out"
    )


def unknown_signs(entry: Entry, variables: Mapping[str, str], before: Entry | None = None) -> UnknownSigns | None:
    """The pairs of unknown direction, those with the largest p-values, where all pairs are listed.

    Directions that follow from one another (two groups, two values) are one: they have the same p-value. With an entry
    of a model ``before``, changes are those from it to this one; None where it has other pairs.
    """
    pairs, many = entry.get("pairs", []), entry.get("unknown", 0)
    if len(pairs) != entry.get("pairs_in_all") or not 0 < many <= len(pairs):
        return None
    task = "given" if entry["direction"] == "T->A" else "outcome"
    p = np.array([1.0 if pair["sign_p"] is None else pair["sign_p"] for pair in pairs], dtype=np.float64)
    labels: list[str] = [pair[task] for pair in pairs]  # type: ignore[literal-required]
    ties = [(chance, variables.get(label, label)) for chance, label in zip(p.tolist(), labels, strict=True)]
    earlier = {} if before is None else {(pair["given"], pair["outcome"]): pair["delta"] for pair in before["pairs"]}
    if before is not None and any((pair["given"], pair["outcome"]) not in earlier for pair in pairs):
        return None
    free = len(set(ties))
    changes: dict[tuple[float, str], float] = {}
    unsigned: dict[tuple[float, str], float] = {}
    unclear = [place for place, pair in enumerate(pairs) if not pair.get("known", True)]
    for place in unclear or np.argsort(p, kind="stable")[len(pairs) - many :].tolist():
        pair, tie = pairs[place], ties[place]
        moved_by = (pair["delta"] or 0.0) - (earlier.get((pair["given"], pair["outcome"])) or 0.0)
        changes[tie] = changes.get(tie, 0.0) + pair["sign"] * moved_by / len(pairs)
        # A pair without any sign adds nothing to the value, but its change may be of either sign.
        unsigned[tie] = unsigned.get(tie, 0.0) + (0.0 if pair["sign"] else abs(moved_by) / len(pairs))
    moved = np.array(list(changes.values()), dtype=np.float64)
    sizes = np.abs(moved) + np.array(list(unsigned.values()), dtype=np.float64)
    sure = np.array([statistic(chance) for chance, _ in changes], dtype=np.float64)
    return UnknownSigns(moved, sizes, sure, statistic(CLEAR_OF_ALL / free))


def _with_width(figure: Figure, limit: Limit, entry: Entry) -> Figure:
    """No error seen is no certainty: an interval without width is as wide as those of its pairs are on average.

    The error of a mean is no larger than the mean of errors. A figure without pairs has nothing to go by.
    """
    value, low, high = figure.value, figure.low, figure.high
    if limit.on == "value" or not (is_number(value) and is_number(low) and is_number(high)) or low < high:
        return figure
    pairs = entry.get("pairs", [])
    reach = [(pair["high"] - pair["low"]) / 2.0 for pair in pairs if is_number(pair["low"]) and is_number(pair["high"])]
    if not limit.facts.paired or not limit.facts.directions or not reach or len(reach) != entry.get("pairs_in_all"):
        return figure.doubted("its interval has no width: that nothing varies in these records is no certainty")
    wide = sum(reach) / len(reach)
    if not wide:
        return figure.doubted("no pair has a direction, so that nothing is measured")
    floor = max(limit.facts.low, value - wide)
    return replace(figure, low=floor, high=value + wide)


def _with_records(figure: Figure, entry: Entry, held: Held) -> Figure:
    """Doubts where missing labels leave an entry with fewer records than there are."""
    data = held.audit.document["data"]
    if data["weighted"] or data["missing"] == "error":
        return figure
    if entry["n"] < held.min_records:
        needed = figure.records and records_for(held.min_records, entry["n"], figure.records)
        words = f"it rests on {entry['n']:,.0f} records that have the labels; {held.min_records:,} are needed{in_words(needed)}"
        return figure.doubted(words, needed)
    if entry["direction"] != "A->T":
        return figure
    supports: dict[str, float] = {}
    for pair in entry.get("pairs", ()):
        supports[pair["given"]] = max(supports.get(pair["given"], 0.0), pair["support"])
    small = {group: n for group, n in supports.items() if n < held.min_group and group not in held.ignored}
    if not small:
        return figure
    shown, least = few_named(small), min(small.values())
    needed = figure.records and records_for(held.min_group, least, figure.records)
    words = f"fewer than {held.min_group:,} records that have the labels: {shown}{in_words(needed)}"
    return figure.doubted(words, needed)


def _groups_gone(entry: Entry, held: Held) -> str | None:
    """Groups of which no pair is left: the value is about other groups than it seems."""
    if "pairs" not in entry:
        return None
    side = "outcome" if entry["direction"] == "T->A" else "given"
    groups = {row["group"] for row in held.audit.document["data"]["groups"] if row["attribute"] == entry["attribute"]}
    there = {cast("str", pair[side]) for pair in entry["pairs"]}  # type: ignore[literal-required]
    gone = {cast("str", row[side]): row for row in held.left_out(entry)}  # type: ignore[literal-required]
    lost = sorted(name for name in gone if name not in there and name in groups)
    if not lost:
        return None
    empty = all(gone[name].get("given_count", gone[name].get("support")) == 0 for name in lost)
    if empty:
        return f"no record is of {', '.join(lost)}: the value is over the other groups only"
    return f"{', '.join(lost)} left out of the value: {gone[lost[0]]['reason']}"


def _values_gone(entry: Entry, held: Held) -> str | None:
    """All values but one of a variable that train labels lack: none has a direction then, however narrow the bounds."""
    if "pairs" not in entry:
        return None
    there = {pair["outcome"] for pair in entry["pairs"]}
    left = Counter(held.variables.get(label, label) for label in there)
    for row in held.left_out(entry):
        # A value that is in no pair is spelled with its variable, which is not listed with it.
        label = row["outcome"] if "lacking" in row and row["outcome"] not in there else ""
        variable = next((name for name in left if label.startswith(f"{name}=")), None)
        if variable is not None and left[variable] == 1:
            return f"{label} left out of the value, and one value of {variable} alone is left: {row['reason']}"
    return None


def _of_outcome(limit: Limit, entry: Entry, held: Held) -> Iterator[Figure]:
    """A parity difference of one outcome; in audits of 0.1 only the worst outcome has an interval."""
    for row in entry.get("outcomes", ()):
        if row["outcome"] == limit.outcome:
            worst = entry["interval"] if row["outcome"] == entry.get("outcome") else (None, None)
            value, low, high = (
                cast("float | None", row.get(name, other))
                for name, other in ((limit.metric, None), ("low", worst[0]), ("high", worst[1]))
            )
            figure = replace(_about(entry, held), value=value, low=low, high=high, outcome_label=limit.outcome)
            figure = without_groups(figure, entry, held.audit, held.ignored, held.min_group)
            yield groups_large_enough(figure, entry, held.audit, held.ignored, held.min_group, limit.outcome)


def _pairs(limit: Limit, entry: Entry, held: Held) -> Iterator[Figure]:
    named = [pair for pair in entry.get("pairs", ()) if _names(limit, pair["given"], pair["outcome"])]
    kept = [pair for pair in named if not {pair["given"], pair["outcome"]} & held.ignored]
    for pair in kept if limit.outcome else each_once(kept):
        yield _of_pair(limit, entry, pair, held)
    for row in held.left_out(entry):
        if "outcome" in row and _names(limit, row["given"], row["outcome"]):
            figure = replace(_about(entry, held), given=row["given"], outcome_label=row["outcome"])
            yield figure.doubted(f"the pair is undefined: {row['reason']}")
    unlisted = entry.get("pairs_in_all", 0) - len(entry.get("pairs", ()))
    one_pair = limit.given is not None and limit.outcome is not None
    if unlisted > 0 and not (one_pair and named):
        figure = replace(_about(entry, held), given=limit.given, outcome_label=limit.outcome)
        yield figure.doubted(f"{unlisted:,} pairs are not in the audit's document, which lists those that change most")


def _names(limit: Limit, given: str, outcome: str) -> bool:
    return limit.given in (None, given) and limit.outcome in (None, outcome)


def _of_pair(limit: Limit, entry: Entry, pair: Pair, held: Held) -> Figure:
    low, high = pair["low"], pair["high"]
    figure = replace(_about(entry, held), value=pair["amplification"], given=pair["given"])
    figure = replace(figure, outcome_label=pair["outcome"], low=low, high=high, unseen=unseen_part([pair], held, 1.0))
    if pair["support"] < limit.min_support:
        wanted = figure.records and records_for(limit.min_support, pair["support"], figure.records)
        words = (
            f"the pair rests on {pair['support']:,.0f} records; {limit.min_support:,.0f} are needed{in_words(wanted)}"
        )
        return figure.doubted(words, wanted)
    if not limit.facts.pairs_oriented:
        return figure
    if held.signs_known(entry) and pair.get("known", True):
        return figure.doubted(contradicted(entry, held))
    p = 1.0 if held.signs_known(entry) else pair["sign_p"]
    figure = replace(figure, sign_p=1.0 if p is None else p)
    if (p is not None and p <= CLEAR_PAIR) or not (is_number(low) and is_number(high)):
        return figure
    # The data cannot tell which way the pair leans, so neither which way amplification would be.
    change, size = np.array([pair["amplification"] or 0.0]), np.array([abs(pair["delta"] or 0.0)])
    needed = UnknownSigns(change, size, np.array([statistic(1.0 if p is None else p)]), statistic(CLEAR_PAIR))
    figure = replace(figure, low=min(low, -high), high=max(high, -low), bounded=True, directions=(1, 1))
    return replace(figure, lent=True) if held.signs_known(entry) else replace(figure, unknown=needed)
