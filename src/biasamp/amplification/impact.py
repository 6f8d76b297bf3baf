"""``biasamp.impact``: selection or scoring rates of groups, and their ratios to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Variable, printable
from biasamp.data.people import GroupColumn, read_counts, read_decisions, read_groups, read_scores
from biasamp.data.plain_arguments import level_of, number, one_of, whole_number
from biasamp.data.same_columns import is_same, same_index

from .impact_result import GroupTable, Impact, Integers
from .positive import choose_outcomes

LAYOUTS = ("ll144",)
# The columns of ``ll144``, by the names that they go by.
_SEX = ("sex", "gender")
_RACE = ("race", "race/ethnicity", "ethnicity", "race_ethnicity", "race_eth")
# Between the attributes of a crossing.
_CROSS = " x "


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
    if len(values) == 1 and positive is None:
        raise ValueError(
            f"decisions has one value, {printable(values[0], 40)!r}: say with positive= that it means selected, or name both values "
            "with biasamp.categorical(..., categories=[...])"
        )
    variable = Variable(name, "categorical", values)
    chosen = choose_outcomes([variable], positive)
    if len(chosen.columns) != 1:
        raise ValueError(
            f"neither {values[0]!r} nor {values[-1]!r} of decisions plainly means selected: say which one with positive="
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
