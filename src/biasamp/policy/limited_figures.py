"""The figures of an audit that a limit is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Entry, Excluded

from .limits import Limit


class Figure(NamedTuple):
    """One figure with its interval; ``doubt`` says why it cannot be judged, where it cannot."""

    attribute: str
    direction: str | None
    value: float | None
    low: float | None
    high: float | None
    given: str | None = None
    outcome_label: str | None = None
    doubt: str | None = None


def _key(entry: Entry | Excluded) -> tuple[str, str, str]:
    """What tells one metric of an audit from another."""
    return entry["attribute"], entry["metric"], entry["direction"] or ""


def figures_of(limit: Limit, entry: Entry, audit: Audit, ignored: Sequence[str] = ()) -> Iterator[Figure]:
    """What a limit holds of one metric: its aggregate, its outcomes or its pairs.

    ``ignored`` are the groups that may be gone.
    """
    if limit.of_pairs:
        yield from _pairs(limit, entry, audit, ignored)
    elif limit.outcome is not None and limit.facts.by_outcome:
        yield from _outcome(limit, entry)
    else:
        yield _aggregate(limit, entry, audit, ignored)


def _aggregate(limit: Limit, entry: Entry, audit: Audit, ignored: Sequence[str]) -> Figure:
    value, (low, high) = entry["value"], entry["interval"]
    doubt = _emptied(entry, audit, ignored)
    if limit.figure == "crossfit":
        value = entry.get("crossfit")
        low, high = entry.get("crossfit_interval", (None, None))
        if value is None:
            doubt = "there is no cross-fitted value: with train labels the value itself is not biased by the signs"
    elif limit.figure == "over_floor":
        floor = entry.get("floor")
        if floor is None:
            doubt = "there is no noise floor"
        else:
            value, low, high = (None if x is None else x - floor for x in (value, low, high))
    return Figure(entry["attribute"], entry["direction"], value, low, high, doubt=doubt)


def _emptied(entry: Entry, audit: Audit, ignored: Sequence[str]) -> str | None:
    """Groups without a record have left the aggregate: it is about other pairs than it seems."""
    if entry["direction"] == "T->A" or "pairs" not in entry:
        return None
    gone = {
        row["given"]
        for row in audit.document["excluded"]
        if _key(row) == _key(entry) and "given" in row and row.get("given_count", row.get("support", 1)) == 0
    }
    gone -= set(ignored)
    return f"no record is of {', '.join(sorted(gone))}: the value is over the other groups only" if gone else None


def _outcome(limit: Limit, entry: Entry) -> Iterator[Figure]:
    """A parity difference of one outcome; only the worst outcome has an interval."""
    for row in entry["outcomes"]:
        if row["outcome"] == limit.outcome:
            low, high = entry["interval"] if row["outcome"] == entry["outcome"] else (None, None)
            value = cast("float | None", row[limit.metric])
            yield Figure(entry["attribute"], entry["direction"], value, low, high, outcome_label=limit.outcome)


def _pairs(limit: Limit, entry: Entry, audit: Audit, ignored: Sequence[str]) -> Iterator[Figure]:
    attribute, direction = entry["attribute"], entry["direction"]
    told = False
    for pair in entry["pairs"]:
        if limit.given in (None, pair["given"]) and limit.outcome in (None, pair["outcome"]):
            told = True
            low, high, doubt = pair["low"], pair["high"], None
            if pair["support"] < limit.min_support:
                doubt = f"the pair rests on {pair['support']:,.0f} records; {limit.min_support:,.0f} are needed"
            elif not pair["clear"] and limit.facts.pairs_oriented and low is not None and high is not None:
                # The data cannot tell which way the pair leans, so neither which way amplification would be.
                low, high = min(low, -high), max(high, -low)
            yield Figure(attribute, direction, pair["amplification"], low, high, pair["given"], pair["outcome"], doubt)
    for row in audit.document["excluded"]:
        if _key(row) != _key(entry) or "given" not in row or "outcome" not in row or row["given"] in ignored:
            continue
        if limit.given in (None, row["given"]) and limit.outcome in (None, row["outcome"]):
            doubt = f"the pair is undefined: {row['reason']}"
            yield Figure(attribute, direction, None, None, None, row["given"], row["outcome"], doubt)
    unlisted = entry.get("pairs_in_all", 0) - len(entry["pairs"])
    one_pair = limit.given is not None and limit.outcome is not None
    if unlisted > 0 and not (one_pair and told):
        doubt = f"{unlisted:,} pairs are not in the audit's document, which lists those that change most"
        yield Figure(attribute, direction, None, None, None, limit.given, limit.outcome, doubt)
