"""Tables of rates and ratios as text, whatever they are shown on; as Markdown and as CSV."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from biasamp.amplification.impact_result import GroupTable, Impact
from biasamp.data import printable
from biasamp.results.interval import rounded

from .markdown_text import escaped
from .spreadsheet import write_csv

WITHHELD = "withheld"
_LL144 = {"attribute": {0: "Sex", 1: "Race/ethnicity"}, "crossing": "Intersectional: sex and race/ethnicity"}
_CSV = (
    *("attribute", "group", "applicants", "share", "selected", "rate", "rate_low", "rate_high"),
    *("ratio", "ratio_low", "ratio_high", "small", "withheld"),
)
# The row of people whose group is not known, in files.
_UNKNOWN = "(not known)"


@dataclass(frozen=True)
class ImpactView:
    """One table in words: its title, headings, rows of cells, and the line about people whose group is not known."""

    title: str
    headings: list[str]
    rows: list[list[str]]
    unknown: str


def impact_title(result: Impact) -> str:
    """What the tables are of."""
    what = "Scoring rates" if result.median is not None else "Selection rates"
    people = "" if result.total_withheld else f" of {result.n:,} people"
    return f"{what} and impact ratios{people}: {printable(result.outcome, 60)}"


def impact_views(result: Impact) -> Iterator[ImpactView]:
    """Every table of a result."""
    scored = result.median is not None
    headings = {
        None: ["group", "people", "share", "above the median" if scored else "selected", "rate", "ratio"],
        "ll144": [
            "category",
            "# of applicants",
            *(["# scored above the median", "scoring rate"] if scored else ["# selected", "selection rate"]),
            "impact ratio",
        ],
    }[result.layout]
    for place, table in enumerate(result.tables):
        rows = [_cells(row, result.layout) for row in result.rows(table)]
        yield ImpactView(_title(table, place, result.layout), headings, rows, _unknown(table, scored))


def _title(table: GroupTable, place: int, layout: str | None) -> str:
    if layout is None:
        return table.attribute
    return _LL144["crossing"] if table.kind == "crossing" else _LL144["attribute"][place]  # type: ignore[index,return-value]


def _cells(row: dict[str, Any], layout: str | None) -> list[str]:
    if row["withheld"]:
        return [row["group"], *[WITHHELD] * (5 if layout is None else 4)]
    share = ["—" if row["share"] is None else _percent(row["share"])] if layout is None else []
    ratio = "too few" if row["small"] else _with_interval(row, "ratio", 3)
    return [
        row["group"],
        f"{row['applicants']:,}",
        *share,
        f"{row['selected']:,}",
        _with_interval(row, "rate", 3),
        ratio,
    ]


def _percent(value: float) -> str:
    return f"{rounded(100 * value, 1):.1f}%"


def _with_interval(row: dict[str, Any], name: str, digits: int) -> str:
    if row[name] is None:
        return "—"
    value, low, high = (f"{rounded(row[part], digits):.{digits}f}" for part in (name, f"{name}_low", f"{name}_high"))
    return f"{value} [{low}, {high}]"


def _unknown(table: GroupTable, scored: bool) -> str:
    what = "group is" if table.kind == "attribute" else "groups are"
    if table.unknown_withheld:
        return f"Not in the table: people whose {what} not known; how many is withheld."
    people, done = "person" if table.unknown == 1 else "people", "above the median" if scored else "selected"
    return f"Not in the table: {table.unknown:,} {people} whose {what} not known, {table.unknown_selected:,} of them {done}."


def impact_section(result: Impact, *, level: int = 2) -> str:
    """The tables in Markdown."""
    lines = [f"{'#' * level} {escaped(impact_title(result))}", ""]
    for view in impact_views(result):
        lines += [f"{'#' * min(level + 1, 6)} {escaped(view.title, 120)}", ""]
        table = [view.headings, ["---"] + ["---:"] * (len(view.headings) - 1)]
        table += [[escaped(cell, 120) for cell in row] for row in view.rows]
        lines += [f"| {' | '.join(row)} |" for row in table]
        lines += ["", escaped(view.unknown), ""]
    lines += [f"- {escaped(note, 1000)}" for note in result.notes]
    return "\n".join(lines) + "\n"


def impact_csv(result: Impact) -> str:
    """All groups and, at the end of each table, the people whose group is not known, as one table of CSV."""
    rows = []
    for table in result.tables:
        rows += result.rows(table)
        gone = table.unknown_withheld
        unknown = {"applicants": None if gone else table.unknown, "selected": None if gone else table.unknown_selected}
        rows.append(
            {
                **dict.fromkeys(_CSV),
                "attribute": table.attribute,
                "group": _UNKNOWN,
                **unknown,
                "small": False,
                "withheld": gone,
            }
        )
    stream = io.StringIO(newline="")
    write_csv(rows, _CSV, stream)
    return stream.getvalue()
