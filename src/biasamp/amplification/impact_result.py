"""The tables that ``impact`` gives: counts, rates and ratios of groups, and the same tables for publication."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp import __version__
from biasamp.data import printable
from biasamp.data.plain_arguments import whole_number
from biasamp.resampling.significance import normal_quantile
from biasamp.results import Table
from biasamp.results.interval import plain
from biasamp.results.renderers import render
from biasamp.results.table import written

from .group_rates import share, wilson
from .ratio_to_highest import ratios_to_highest
from .suppression import PublishedRow, rows_to_withhold

Integers = NDArray[np.int64]

# Between the groups of a crossing.
_JOIN = " & "


@dataclass(frozen=True, eq=False)
class GroupTable:
    """How many people of each group there are and how many of them were selected, for one attribute or crossing.

    ``members`` are the groups of the single attributes that a row crosses. ``unknown`` and ``unknown_selected`` are the people
    whose group is not known. Rows that are ``withheld`` are not shown, nor is the unknown row with ``unknown_withheld``.
    """

    attribute: str
    crossed: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    applicants: Integers
    selected: Integers
    unknown: int
    unknown_selected: int
    withheld: NDArray[np.bool_]
    unknown_withheld: bool = False

    @property
    def groups(self) -> tuple[str, ...]:
        """What the groups are called."""
        return tuple(_JOIN.join(member) for member in self.members)

    @property
    def kind(self) -> str:
        """``"attribute"`` or ``"crossing"``."""
        return "attribute" if len(self.crossed) == 1 else "crossing"


@dataclass(frozen=True, eq=False, repr=False)
class Impact:
    """The result of :func:`impact`: tables of a fixed form, and no verdict.

    Attributes
    ----------
    tables : tuple of GroupTable
        The counts of every attribute and of their crossing.
    n, selected : int
        All people, and those of them who were selected (or scored above the median).
    outcome : str
        What rates are of, such as ``"selected=1"``.
    median, ties : float and int, or None
        With scores, the median of all of them and how many are equal to it; these are not above it.
    small : float
        Groups with a smaller share of the people are in no ratio.
    level : float
        The level of the intervals.
    layout : str or None
        The form of the tables.
    withheld_below : int or None
        The limit of counts that are published, where small ones were withheld.

    Examples
    --------
    >>> import biasamp
    >>> result = biasamp.impact([1] * 30 + [0] * 10 + [1] * 20 + [0] * 20, {"group": ["man"] * 40 + ["woman"] * 40})
    >>> [(row["group"], row["rate"], round(row["ratio"], 3)) for row in result.rates.rows()]
    [('man', 0.75, 1.0), ('woman', 0.5, 0.667)]
    """

    tables: tuple[GroupTable, ...]
    n: int
    selected: int
    outcome: str
    median: float | None = None
    ties: int | None = None
    small: float = 0.02
    level: float = 0.95
    layout: str | None = None
    withheld_below: int | None = None
    total_withheld: bool = False
    unknown_values: tuple[str, ...] = ()

    @cached_property
    def rates(self) -> Table:
        """One row per group: people, selected, rate with Wilson's interval, and the ratio to the highest rate with its interval.

        ``small`` groups have no ratio. What is withheld has no figure, and no figure is computed from it.
        """
        return Table.from_rows([row for table in self.tables for row in self.rows(table)])

    @property
    def unknown(self) -> Table:
        """One row per attribute: the people whose group is not known, who are in no rate of it."""
        return Table.from_rows(
            [
                {
                    "attribute": table.attribute,
                    "applicants": None if table.unknown_withheld else table.unknown,
                    "selected": None if table.unknown_withheld else table.unknown_selected,
                }
                for table in self.tables
            ]
        )

    def rows(self, table: GroupTable) -> list[dict[str, Any]]:
        """The rows of one table, as ``rates`` has them; counts are whole numbers, and what is not there is None."""
        applicants, selected = table.applicants.astype(np.float64), table.selected.astype(np.float64)
        hides = bool(table.withheld.any())
        # Shares are of the people whose group is known. Where some are withheld nothing is computed from those.
        known = applicants.sum()
        if hides:
            known = applicants[~table.withheld].sum() if self.total_withheld else float(self.n)
        rate = share(selected, applicants)
        low, high = wilson(rate, applicants, normal_quantile(self.level))
        small = applicants < self.small * known
        compared = ~small & ~table.withheld & (applicants > 0)
        ratio, ratio_low, ratio_high = (np.full(len(rate), np.nan) for _ in range(3))
        if compared.sum() > 1 or not hides:  # one row that is shown says nothing by its ratio to itself
            made = ratios_to_highest(selected[compared], applicants[compared], self.level)
            ratio[compared], ratio_low[compared], ratio_high[compared] = made.value, made.low, made.high
        rows = []
        for i, group in enumerate(table.groups):
            row: dict[str, Any] = {"attribute": table.attribute, "group": group}
            figures = {
                "applicants": int(table.applicants[i]),
                "share": None if hides else plain(applicants[i] / known if known else np.nan),
                "selected": int(table.selected[i]),
                **{
                    name: plain(float(values[i]))
                    for name, values in (
                        ("rate", rate),
                        ("rate_low", low),
                        ("rate_high", high),
                        ("ratio", ratio),
                        ("ratio_low", ratio_low),
                        ("ratio_high", ratio_high),
                    )
                },
            }
            if table.withheld[i]:
                figures = dict.fromkeys(figures)
            rows.append(
                {
                    **row,
                    **figures,
                    "small": bool(small[i]) and not table.withheld[i],
                    "withheld": bool(table.withheld[i]),
                }
            )
        return rows

    @property
    def notes(self) -> list[str]:
        """What to know of the figures, a sentence each."""
        what = "scored above the median" if self.median is not None else "selected"
        notes = [
            f"Rate: the share of a group that was {what}. Ratio: the rate over the highest rate of the table. Intervals: "
            f"{self.level * 100:g}%, of each figure by itself; of rates by Wilson, of ratios over every group that may truly have "
            "the highest rate."
        ]
        if self.median is not None:
            notes.append(
                f"The median score of all {self.n:,} people is {self.median:g}; {self.ties:,} have that very score, and are not above "
                "it. Intervals take the median as it is."
                if not self.total_withheld
                else f"The median score of all people is {self.median:g}; people with that very score are not above it. Intervals take "
                "the median as it is."
            )
        rows = list(self.rates.rows())
        if any(row["small"] for row in rows):
            notes.append(f"Groups with less than {self.small * 100:g}% of the people are shown, and are in no ratio.")
        if self.unknown_values:
            values = ", ".join(repr(printable(value, 40)) for value in self.unknown_values[:8])
            notes.append(f"Counted as not known: missing values and {values}.")
        if self.withheld_below is not None:
            some = any(row["withheld"] for row in rows) or any(table.unknown_withheld for table in self.tables)
            notes.append(
                f"Counts from 1 to {self.withheld_below - 1} are withheld, and with them as many others as keep them from being "
                "computed; ratios are to the highest rate that is shown."
                if some
                else f"No count from 1 to {self.withheld_below - 1} had to be withheld."
            )
        notes.append("These are tables, not a verdict: what they mean under any law is not said here.")
        return notes

    def published(self, limit: int = 10) -> Impact:
        """The same tables without small counts, and without what would give them away.

        A row goes whole, with its rate and ratio, where it has 1 to ``limit - 1`` people selected, or not selected, or in all.
        Further rows, the unknown ones and the total go until no withheld count can be computed from what is shown, to
        within less than ``limit``, by sums over groups, attributes and crossings (linear programming). Ratios are to the
        highest rate that is shown.

        Examples
        --------
        >>> import biasamp
        >>> people = {"race": ["a"] * 40 + ["b"] * 50 + ["c"] * 60}
        >>> made = biasamp.impact([1] * 3 + [0] * 37 + [1, 0] * 55, people).published(10)
        >>> [row["withheld"] for row in made.rates.rows()]
        [True, True, False]
        """
        whole_number(limit, "limit", least=2)
        return _withheld(self, limit)

    def to_dict(self) -> dict[str, Any]:
        """The tables in plain Python values that JSON can hold."""
        return {
            "schema": 1,
            "kind": "impact",
            "version": __version__,
            "n": None if self.total_withheld else self.n,
            "selected": None if self.total_withheld else self.selected,
            "outcome": self.outcome,
            "median": self.median,
            "ties": None if self.total_withheld else self.ties,
            "small": self.small,
            "level": self.level,
            "layout": self.layout,
            "withheld_below": self.withheld_below,
            "tables": [
                {
                    "attribute": table.attribute,
                    "kind": table.kind,
                    "unknown": {
                        "applicants": None if table.unknown_withheld else table.unknown,
                        "selected": None if table.unknown_withheld else table.unknown_selected,
                    },
                    "groups": [
                        {name: value for name, value in row.items() if name != "attribute"} for row in self.rows(table)
                    ],
                }
                for table in self.tables
            ],
            "notes": self.notes,
        }

    def to_markdown(self, path: str | Path | None = None, *, level: int = 2) -> str:
        """The tables in Markdown, which is also written to ``path`` where one is given; ``level`` is that of the headings."""
        whole_number(level, "level", least=1, most=6)
        return written(render("impact Markdown", self, level=level), path)

    def to_html(self, path: str | Path) -> None:
        """Write the tables as one HTML file that opens in any browser."""
        render("impact page", self, path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table of all groups, and of those not known, as CSV that is safe to open in a spreadsheet."""
        text: str = render("impact CSV", self)
        return written(text, path)

    def to_frame(self, backend: str | None = None) -> Any:
        """``rates`` as a dataframe of pandas, polars or pyarrow."""
        return self.rates.to_frame(backend)

    def __repr__(self) -> str:
        people = "people" if self.total_withheld else f"{self.n:,} people"
        return f"<Impact: {people}; {', '.join(printable(table.attribute, 40) for table in self.tables)}>"

    def _repr_html_(self) -> str:
        return str(render("impact table", self))


def _withheld(whole: Impact, limit: int) -> Impact:
    """Tables without small counts, nor what gives them away."""
    rows = [PublishedRow((), (), whole.n, whole.selected)]
    for table in whole.tables:
        rows += [
            PublishedRow(table.crossed, member, int(n), int(k))
            for member, n, k in zip(table.members, table.applicants, table.selected, strict=True)
        ]
        rows.append(PublishedRow(table.crossed, None, table.unknown, table.unknown_selected))
    gone = iter(rows_to_withhold(rows, limit))
    total = next(gone)
    tables = []
    for table in whole.tables:
        withheld = np.array([next(gone) for _ in table.members], dtype=bool)
        tables.append(replace(table, withheld=withheld, unknown_withheld=next(gone)))
    return replace(whole, tables=tuple(tables), withheld_below=limit, total_withheld=total)
