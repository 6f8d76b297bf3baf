"""The parts of directional values on a terminal, and what they are inside strata."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from biasamp.amplification.why_parts import UNKNOWN, UNTOLD
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.mirrors import negative_labels
from biasamp.auditing.score_types import WhyEntry
from biasamp.auditing.why_findings import at_base_rate
from biasamp.data import printable
from biasamp.results.interval import figure, interval
from biasamp.results.metric_registry import direction_symbol

from .terminal_parts import name, plain_table

_STRATA_SHOWN = 20
_NO_VERDICT = (
    "no verdict: the records do not tell the direction of all pairs; with the worse of those signs the value may be on "
    "either side of 0"
)
_UNCLEAR = (
    "? the stratum does not tell the direction of all its pairs. Its interval holds the signs fixed; q allows for the other "
    "ones, and can be 1 where the interval is far from 0"
)

_NO_MEAN = (
    "inside strata each group counts by its own shares of them, which differ: that value is no mean of the strata's own"
)


def inside_is_no_mean(entry: WhyEntry) -> bool:
    """Whether the value inside strata, to the digits that are shown, is not the mean of strata by their shares."""
    rows = [(row["share"], row["value"]) for row in entry.get("strata", ()) if row["value"] is not None]
    value = entry["parts"]["inside"]["value"] if "inside" in entry["parts"] else None
    if value is None or not rows:
        return False
    mean = sum(share * held for share, held in rows) / sum(share for share, _ in rows)
    return figure(mean) != figure(value)


def why_rows(audit: Audit, entry: WhyEntry) -> Iterator[tuple[str, str, str, str]]:
    """Value, interval, what it is of, and what it may be called: at most five lines."""
    parts = entry["parts"]
    titles = {
        "value": f"amplification, by {entry['rule']}",
        "score": "of it the scores",
        "threshold": "of it deciding on them",
    }
    for of, title in titles.items():
        if of in parts:
            part = parts[of]
            yield (
                figure(part["value"]),
                interval(part["interval"][0], part["interval"][1]),
                title,
                _said(part["verdict"]),
            )
    swept = next(
        (
            row
            for row in audit.document.get("sweep", ())
            if (row["attribute"], row["direction"]) == (entry["attribute"], entry["direction"])
        ),
        None,
    )
    if swept is not None and swept["calibrated"]["amplification"] is not None:
        yield figure(swept["calibrated"]["amplification"]), "", at_base_rate(swept).rstrip(","), ""
    if "inside" in parts:
        column, many = printable(entry["strata_column"], 40), len(entry["strata"])
        part = parts["inside"]
        title = f"inside the {many:,} strata of {column}, by the signs there"
        yield figure(part["value"]), interval(part["interval"][0], part["interval"][1]), title, _said(part["verdict"])


def _said(verdict: str | None) -> str:
    return "cannot be told from 0" if verdict == UNTOLD else verdict or ""


def show_why(audit: Audit, console: Console) -> None:
    """Print the parts of every directional value that has any."""
    for entry in audit.document.get("why", ()):
        title = f"Why, {printable(entry['attribute'], 60)} {direction_symbol(entry['direction'])}"
        table = plain_table(("value", "interval", "", "verdict"), ("value", "interval"), title=title)
        for row in why_rows(audit, entry):
            table.add_row(*row)
        captions = [_NO_VERDICT] if any(part["verdict"] == UNKNOWN for part in entry["parts"].values()) else []
        captions += [_NO_MEAN] if inside_is_no_mean(entry) else []
        if captions:
            table.caption = Text("; ".join(captions), style="dim")
        console.print(table)


def show_strata(audit: Audit, console: Console) -> None:
    """Print strata and the reliability of scores, where there are any."""
    # Of two values of a task, the other says the same.
    negative = negative_labels(audit.document["data"])
    for entry in audit.document.get("why", ()):
        where = f"{printable(entry['attribute'], 40)} {direction_symbol(entry['direction'])}"
        if "strata" in entry:
            figures = ("records", "smallest group", "value", "interval", "q", "by the sign of the whole")
            title = f"Inside {printable(entry['strata_column'], 40)}, {where}"
            table = plain_table(("stratum", *figures), figures, title=title)
            rows = sorted(entry["strata"], key=lambda row: -row["n"])
            for row in rows[:_STRATA_SHOWN]:
                q = "" if row["q"] is None else f"{row['q']:.2g}"
                bounds = interval(row["low"], row["high"])
                sizes = f"{row['n']:,g}", f"{row['smallest_group']:,g}"
                value = figure(row["value"]) + (" ?" if row["unclear"] else "")
                table.add_row(name(row["stratum"]), *sizes, value, bounds, q, figure(row["by_sign_of_whole"]))
            if any(row["unclear"] for row in rows[:_STRATA_SHOWN]):
                table.caption = Text(_UNCLEAR, style="dim")
            console.print(table)
            if len(rows) > _STRATA_SHOWN:
                console.print(Text(f"{_STRATA_SHOWN} of {len(rows):,} strata; --json has all.", style="dim"))
        if "reliability" in entry:
            figures = ("records", "mean score", "rate", "error", "by chance", "q")
            table = plain_table(("group", "outcome", *figures), figures, title=f"Reliability of scores, {where}")
            said = [row for row in entry["reliability"] if row["outcome"] not in negative]
            worst = sorted(said, key=lambda row: -(row["error"] or 0.0))
            for held in worst[:_STRATA_SHOWN]:
                shown = [
                    figure(value, False) for value in (held["score"], held["rate"], held["error"], held["expected"])
                ]
                q = "" if held["q"] is None else f"{held['q']:.2g}"
                table.add_row(name(held["given"]), name(held["outcome"]), f"{held['n']:,g}", *shown, q)
            console.print(table)
