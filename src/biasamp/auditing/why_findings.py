"""What the parts of a value say, in words: how much is the score, how much the threshold, and what holds inside strata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from biasamp.amplification.why_parts import AMPLIFIES, REDUCES, UNKNOWN
from biasamp.data import printable
from biasamp.results.metric_registry import direction_symbol

from .findings import AGGREGATE, Context, Finding, caution, number
from .score_types import SweepEntry, WhyEntry, WhyPart

# Right after the value that they are parts of.
_PARTS = AGGREGATE - 5.0
# A share of records that is not told apart from another.
_SAME_RATE = 0.001
_CODES = {
    "reversed-signs": "reversed-signs",
    "small-strata": "small-strata",
    "stratum-close-to-group": "stratum-close-to-group",
    "uncalibrated": "uncalibrated",
    "other-scores": "other-scores",
    "other-rule": "other-rule",
}
_SAID = {AMPLIFIES: "", REDUCES: "", UNKNOWN: " (no verdict, as signs are not clear)"}


def _where(entry: WhyEntry) -> str:
    return f"{printable(entry['attribute'], 40)}, {direction_symbol(entry['direction'])}"


def part_words(part: WhyPart) -> str:
    """A part with its interval, and that it cannot be told from 0 where that is so."""
    low, high = part["interval"]
    bounds = "" if low is None or high is None else f" [{number(low)}, {number(high)}]"
    return number(part["value"]) + bounds + _SAID.get(part["verdict"] or "", " (cannot be told from 0)")


def at_base_rate(swept: SweepEntry) -> str:
    """Where decisions are as frequent as the truth, or nearly, and of how many thresholds that is, where not of all."""
    grid = swept.get("grid")
    rate, base = swept["calibrated"]["rate"], swept["base_rate"]
    if grid is not None:
        return f"at the threshold that keeps the base rate, the nearest of {grid:,} fixed ones,"
    if rate is None or base is None or abs(rate - base) < _SAME_RATE:
        return "at the threshold that keeps the base rate"
    # Tied scores leave gaps: no threshold keeps the rate.
    return f"at the threshold that comes nearest to the base rate ({number(rate, False)} against {number(base, False)})"


def why_lines(context: Context, entry: WhyEntry) -> list[str]:
    """What an entry says, a sentence each."""
    parts = entry["parts"]
    lines = []
    if entry["scored"]:
        lines.append(
            f"{part_words(parts['value'])}, by {entry['rule']}, is {part_words(parts['score'])} of the scores and "
            f"{part_words(parts['threshold'])} of deciding on them"
        )
        swept = context.sweep(entry["attribute"], entry["direction"])
        if swept is not None and swept["calibrated"]["amplification"] is not None:
            lines.append(f"{at_base_rate(swept)} it would be {number(swept['calibrated']['amplification'])}")
    if "strata" in entry:
        lines.append(_inside(entry))
    return lines


def _inside(entry: WhyEntry) -> str:
    rows: list[Any] = [row for row in entry["strata"] if row["value"] is not None]
    up = sum(row["value"] > 0 for row in rows)
    sure = sum(row["q"] is not None and row["q"] < 0.05 for row in rows)
    unclear = sum(row["unclear"] > 0 for row in rows)
    told = "" if not unclear else f", and the records of {unclear:,} do not tell the direction of all pairs"
    column = printable(entry["strata_column"], 40)
    return (
        f"inside the {len(rows):,} strata of {column}, by the signs there and each group's own shares, it is {part_words(entry['parts']['inside'])}: above 0 "
        f"in {_of_all(up, len(rows))}, beyond chance in {_of_all(sure, len(rows))}{told}"
    )


def _of_all(some: int, many: int) -> str:
    """How many of many there are, in words.

    >>> [_of_all(some, 6) for some in (0, 2, 6)]
    ['none of them', '2 of them', 'all of them']
    """
    return "none of them" if not some else "all of them" if some == many else f"{some:,} of them"


def why(context: Context) -> Iterator[Finding]:
    """The parts of each directional value."""
    for entry in context.document.get("why", ()):
        lines = why_lines(context, entry)
        if lines:
            value = entry["parts"]["value"]
            text = f"{_where(entry)}: {'; '.join(lines)}."
            about = {"metric": "directional", "attribute": entry["attribute"], "direction": entry["direction"]}
            shown = {"value": value["value"], "interval": value["interval"]}
            parts = {name: part["value"] for name, part in entry["parts"].items()}
            yield Finding("finding", "why", text, _PARTS, {**about, **shown, "parts": parts}, **about)


def why_cautions(context: Context) -> Iterator[Finding]:
    """Where signs differ inside strata, where strata say little, and where scores do not come true."""
    for entry in context.document.get("why", ()):
        for held in entry["cautions"]:
            if held["kind"] in _CODES:
                about = {"metric": "directional", "attribute": entry["attribute"], "direction": entry["direction"]}
                text = held["text"] + ("" if held["text"].endswith("?") else ".")
                yield caution(_CODES[held["kind"]], f"{_where(entry)}: {text}", about, **about)
