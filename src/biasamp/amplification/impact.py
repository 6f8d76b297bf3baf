"""``biasamp.impact``: selection or scoring rates of groups, and their ratios to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp import __version__
from biasamp.data import Variable, printable
from biasamp.data.people import GroupColumn, read_counts, read_decisions, read_groups, read_scores
from biasamp.data.plain_arguments import level_of, number, one_of, whole_number
from biasamp.data.same_columns import is_same, same_index
from biasamp.resampling.significance import normal_quantile
from biasamp.results import Table
from biasamp.results.interval import plain
from biasamp.results.renderers import render
from biasamp.results.table import written

from .group_rates import share, wilson
from .positive import choose_outcomes
from .ratio_to_highest import ratios_to_highest
from .suppression import PublishedRow, rows_to_withhold

Integers = NDArray[np.int64]

LAYOUTS = ("ll144",)
# The columns of ``ll144``, by the names that they go by.
_SEX = ("sex", "gender")
_RACE = ("race", "race/ethnicity", "ethnicity", "race_ethnicity", "race_eth")
# Between the attributes and between the groups of a crossing.
_CROSS, _JOIN = " x ", " & "


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
        >>> import numpy as np
        >>> people = {"race": ["a"] * 40 + ["b"] * 50 + ["c"] * 60}
        >>> made = impact([1] * 3 + [0] * 37 + [1, 0] * 55, people).published(10)
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


def impact(
    decisions: Any = None,
    groups: Any = None,
    *,
    scores: Any = None,
    small: float = 0.02,
    layout: str | None = None,
    positive: Any = None,
    unknown: Any = None,
    counts: Any = None,
    level: float = 0.95,
    suppress: int | None = None,
) -> Impact:
    r"""Selection or scoring rates of groups and of their crossing, and the ratio of each rate to the highest.

    .. math::
        \text{rate}_g = \frac{C(g, \text{selected})}{C(g)}, \qquad \text{ratio}_g = \frac{\text{rate}_g}{\max_h \text{rate}_h}

    The scoring rate of a group is the share of it that scores above the median of all people.

    Parameters
    ----------
    decisions : array-like, optional
        Who was selected: two values. Leave it out where there are scores.
    groups : array-like, frame or mapping
        The group of each person; several attributes as a frame or a mapping of names to columns, which are then crossed too. A
        missing value is a group that is not known: it is counted, and in no rate.
    scores : array-like, optional
        A score for each person, instead of decisions.
    small : float
        Groups with a smaller share of the people whose group is known are shown, and in no ratio; 0 keeps all.
    layout : {"ll144"}, optional
        ``"ll144"``: the tables that the rules of New York City's Local Law 144 ask for: sex, race/ethnicity, and both. The groups
        are then columns called ``sex`` and ``race``. That law has no threshold; neither have these tables.
    positive : optional
        The decision that means selected; without it that is 1, True or yes.
    unknown : list, optional
        Values that say that a group is not known; without it those that read so, such as ``"Unknown"``. Missing values always do.
    counts : array-like of int, optional
        How many people each row stands for, where rows are those of a table of counts.
    level : float
        The level of the intervals.
    suppress : int, optional
        Withhold counts below this number, and what would give them away: see :meth:`Impact.published`.

    Returns
    -------
    Impact

    See Also
    --------
    parity : differences of error rates between groups, which need the truth.

    References
    ----------
    New York City Department of Consumer and Worker Protection. Rules of the City of New York, title 6, chapter 5, subchapter T,
    sections 5-300 and 5-301.

    Examples
    --------
    The worked example of these rules, 667 selected of 1,390 and 555 of 1,181:

    >>> import biasamp
    >>> result = biasamp.impact([1, 0, 1, 0], {"sex": ["m", "m", "f", "f"]}, counts=[667, 723, 555, 626])
    >>> [(row["group"], row["rate"].__round__(3), row["ratio"].__round__(3)) for row in result.rates.rows()]
    [('f', 0.47, 0.979), ('m', 0.48, 1.0)]
    """
    number(small, "small", least=0.0, most=1.0)
    level_of(level, "level")
    if layout is not None:
        one_of(layout, "layout", LAYOUTS)
    if suppress is not None:
        whole_number(suppress, "suppress", least=2)
    if groups is None:
        raise TypeError("groups is None: give the group of each person")
    if (decisions is None) == (scores is None):
        what = "neither decisions nor scores are" if decisions is None else "both decisions and scores are"
        raise TypeError(f"{what} given: rates are of one of them")
    same_index({"decisions": decisions, "groups": groups, "scores": scores, "counts": counts})
    if decisions is not None and is_same(groups, decisions):
        raise ValueError("groups and decisions are the same column: give decisions who was selected")
    columns = read_groups(groups, unknown)
    rows = len(columns[0])
    people = read_counts(counts, rows)
    median: float | None = None
    ties: int | None = None
    if scores is not None:
        selected, outcome, median, ties = _above_median(read_scores(scores, rows), people)
    else:
        selected, outcome = _selected(decisions, rows, positive)
    columns = _laid_out(columns, layout)
    tables = [_table((column,), selected, people) for column in columns]
    if len(columns) > 1:
        tables.append(_table(columns, selected, people))
    if not any(table.applicants.sum() for table in tables):
        raise ValueError("groups are not known of anybody: there is no rate")
    made = Impact(
        tuple(tables),
        int(people.sum()),
        int(people[selected].sum()),
        outcome,
        median,
        ties,
        float(small),
        float(level),
        layout,
        unknown_values=tuple(dict.fromkeys(text for column in columns for text in column.unknown)),
    )
    return made if suppress is None else made.published(suppress)


def _selected(decisions: Any, rows: int, positive: Any) -> tuple[NDArray[np.bool_], str]:
    """Who was selected, and what that is called."""
    codes, values, name = read_decisions(decisions)
    if len(codes) != rows:
        raise ValueError(
            f"lengths differ: decisions has {len(codes):,}, groups has {rows:,} rows; both must describe the same people in order"
        )
    if len(values) > 2 and positive is None:
        shown = ", ".join(repr(printable(value, 30)) for value in values[:5])
        raise ValueError(
            f"decisions has {len(values):,} values ({shown} …): say with positive= which one means selected"
        )
    variable = Variable(name, "categorical", values)
    chosen = choose_outcomes([variable], positive)
    if len(chosen.columns) != 1:
        raise ValueError(
            f"neither {values[0]!r} nor {values[-1]!r} of decisions plainly means selected: say which one with positive="
            if len(values) == 2
            else f"decisions has one value, {printable(values[0], 40)!r}: say with positive= whether it means selected"
        )
    place = int(chosen.columns[0])
    return codes == place, str(variable.labels[place]) if name else f"selected={values[place]}"


def _above_median(scores: NDArray[np.float64], people: Integers) -> tuple[NDArray[np.bool_], str, float, int]:
    """Who scores above the median of all people, that median, and how many have just that score."""
    order = np.argsort(scores, kind="stable")
    upto = np.cumsum(people[order])
    total = int(upto[-1])
    # The middle person, or the mean of the two in the middle.
    middle = [
        scores[order[int(np.searchsorted(upto, place, side="right"))]] for place in ((total - 1) // 2, total // 2)
    ]
    median = float(middle[0]) if middle[0] == middle[1] else float(0.5 * middle[0] + 0.5 * middle[1])
    return scores > median, "score above the median", median, int(people[scores == median].sum())


def _laid_out(columns: tuple[GroupColumn, ...], layout: str | None) -> tuple[GroupColumn, ...]:
    """The columns of groups in the order and under the names of the layout."""
    if layout is None:
        return tuple(replace(column, name=column.name or "group") for column in columns)
    found = []
    for title, names in (("sex", _SEX), ("race", _RACE)):
        mine = [column for column in columns if column.name.strip().casefold() in names]
        if len(mine) != 1:
            there = ", ".join(repr(printable(column.name, 40)) for column in columns)
            raise ValueError(f"layout 'll144' needs one column of groups called {title!r}; the columns are {there}")
        found.append(mine[0])
    strange = [column.name for column in columns if column not in found]
    if strange:
        raise ValueError(
            f"layout 'll144' has tables of sex and race; leave {printable(strange[0], 40)!r} out of groups"
        )
    return tuple(found)


def _table(columns: Sequence[GroupColumn], selected: NDArray[np.bool_], people: Integers) -> GroupTable:
    """The people of each group, or of each crossing of groups that somebody is of."""
    known = np.logical_and.reduce([column.codes >= 0 for column in columns])
    place = np.zeros(len(people), dtype=np.int64)
    for column in columns:
        place = place * max(len(column.categories), 1) + column.codes
    found, row = np.unique(place[known], return_inverse=True)
    many = [max(len(column.categories), 1) for column in columns]
    members = tuple(
        tuple(column.categories[i] for column, i in zip(columns, codes, strict=True))
        for codes in zip(*(axis.tolist() for axis in np.unravel_index(found, many)), strict=True)
    )

    def counted(keep: NDArray[np.bool_]) -> Integers:
        return np.rint(np.bincount(row, weights=(people * keep)[known], minlength=len(found))).astype(np.int64)

    applicants = counted(np.ones(len(people), dtype=bool))
    there = applicants > 0
    unknown = people * ~known
    return GroupTable(
        _CROSS.join(column.name for column in columns),
        tuple(column.name for column in columns),
        tuple(member for member, keep in zip(members, there, strict=True) if keep),
        applicants[there],
        counted(selected)[there],
        int(unknown.sum()),
        int(unknown[selected].sum()),
        np.zeros(int(there.sum()), dtype=bool),
    )


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
