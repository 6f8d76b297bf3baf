"""Whether two columns speak of the same values: predictions and their truth, train labels and the evaluated ones.

Values in another spelling, or of another column, would give a figure that looks sure and means nothing. So a predicted
value that the truth never has is refused where it is likely to be a mistake; where it is not, it is an invented label,
which has no truth to be amplified and is measured apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .column_checks import title_of
from .label import Mask, Variable
from .labelset import LabelSet, align, join
from .spelling import is_numeral, quoted, respelled, says_unknown, shown, side_by_side, told_apart
from .ways_out import way_out

UNSEEN = ("invented", "error")
_YES_NO = ("0", "1")


def check_said(
    known: Sequence[str],
    said: Mapping[str, float],
    titles: tuple[str, str],
    *,
    lists: bool = False,
    unseen: str = "invented",
    counted: bool = True,
) -> None:
    """Refuse predicted values that are likely mistakes.

    Parameters
    ----------
    known : sequence of str
        The values of the truth: those observed, those of the train labels and those declared.
    said : mapping
        How often each value is predicted; any number where it was not ``counted``.
    titles : pair of str
        What the truth and the predictions are called.
    lists : bool
        Whether records hold lists of labels, of which a model may name new ones.
    unseen : {"invented", "error"}
        What to do about predicted values that are no likely mistake.
    """
    truth, predicted = titles
    if set(known) <= set(_YES_NO) and not lists:
        known = _YES_NO
    there = set(known)
    strange = [value for value in said if value not in there]
    apart = side_by_side(truth, known, predicted, said)
    if not lists and len(known) == 1:
        raise ValueError(
            f"{truth} has one value only, {shown(known)}, and nothing says which others there are ({apart}): "
            f"{way_out('categories')}"
        )
    if not strange:
        return
    begin = f"{predicted} has {'values' if len(strange) > 1 else 'a value'} that {truth} never has: {shown(strange)}"
    if not lists and _probabilities(said):
        raise ValueError(
            f"{begin}. They look like probabilities that were read as text ({apart}): convert the column to numbers"
        )
    twice = respelled(strange, known, said)
    if twice is not None:
        one, other = told_apart(*twice)
        raise ValueError(
            f"{begin}. {one} looks like another spelling of {other} ({apart}). Spell the values of both alike before they "
            "are compared"
        )
    if not lists and len(known) == 2:
        raise ValueError(
            f"{begin}. A truth of two values is predicted by these alone ({apart}). Are these the columns that were meant? "
            f"Spell the values alike; where the truth can take more values, {way_out('categories')}"
        )
    if not lists and all(map(is_numeral, strange)) and not any(map(is_numeral, known)):
        raise ValueError(
            f"{begin}. They are numbers where the truth has words ({apart}): spell the values of both alike"
        )
    if not lists and _numbered_otherwise(known, said):
        raise ValueError(f"{begin}, and it never has {shown(_unpredicted(known, said))}. {_SHIFTED.format(apart)}")
    if counted and 2 * sum(said[value] for value in strange) > sum(said.values()):
        what = "labels" if lists else "records"
        raise ValueError(
            f"{begin}. They are more than half of all predicted {what} ({apart}). Are these the columns that were meant, "
            "and are their values spelled alike?"
        )
    if unseen == "error":
        raise ValueError(
            f"{begin}, and {way_out('unseen')} ({apart}). Correct them, {way_out('categories')}, or {way_out('invented')}"
        )


def refuse_unknown_truth(known: Sequence[str], said: Sequence[str], titles: tuple[str, str]) -> None:
    """Refuse a truth that says of some records that it is not known, in a word or a code that is never predicted."""
    never = [value for value in known if value not in set(said)]
    found = next(filter(says_unknown, never), None)
    if found is not None and len(known) > 2:
        truth, predicted = titles
        raise ValueError(
            f"{truth} has {quoted(found)}, which {predicted} never has: it looks like a truth that is not known "
            f"({side_by_side(truth, known, predicted, said)}). {way_out('gap')} or leave those records out; where "
            f"it is a value that could be predicted, {way_out('categories')} for the predictions"
        )


def _probabilities(said: Iterable[str]) -> bool:
    """Whether all values are numbers from 0 to 1, and some are fractions."""
    try:
        numbers = [float(value) for value in said]
    except ValueError:
        return False
    return all(0.0 <= number <= 1.0 for number in numbers) and not all(number.is_integer() for number in numbers)


def _numbered_otherwise(known: Iterable[str], other: Iterable[str]) -> bool:
    """Whether values are whole numbers one after another, and those of the other side the same, one further up or down."""
    if not all(text.isdecimal() and text.isascii() for text in (*known, *other)):
        return False
    mine, theirs = sorted(set(map(int, known))), set(map(int, other))
    if len(mine) < 2 or mine[-1] - mine[0] != len(mine) - 1:
        return False
    up = theirs - set(mine) == {mine[-1] + 1} and mine[0] not in theirs
    down = theirs - set(mine) == {mine[0] - 1} and mine[-1] not in theirs
    return up or down


def _unpredicted(known: Iterable[str], said: Mapping[str, float]) -> list[str]:
    return [value for value in known if value not in said]


_SHIFTED = "Are the values numbered from 0 on one side and from 1 on the other ({})? Number both alike"


def check_other(
    known: Mapping[str, float],
    other: Sequence[str],
    titles: tuple[str, str],
    *,
    lists: bool = False,
    counted: bool = True,
) -> None:
    """Refuse train labels, or labels of another base, in another vocabulary than the evaluated labels.

    ``known`` says how many evaluated records have each value; ``other`` are the values on the other side, which may
    have more values and lack some.
    """
    lacking = [value for value in known if value not in set(other)]
    added = [value for value in other if value not in known]
    if (not lacking and not added) or ({*known, *other} <= set(_YES_NO) and not lists):
        return
    first, second = titles
    apart = side_by_side(first, known, second, other)
    twice = respelled(added, known, other) or respelled(lacking, other, known)
    if twice is not None:
        one, two_of = told_apart(*twice)
        raise ValueError(
            f"{second} and {first} spell their values differently: {one} looks like {two_of} ({apart}). Spell them alike"
        )
    if not lists and _numbered_otherwise(list(known), other):
        raise ValueError(f"{second} and {first} have different values. {_SHIFTED.format(apart)}")
    two = not lists and lacking and added and max(len(known), len(other)) == 2
    total = sum(known.values())
    most = counted and 2 * sum(known[value] for value in lacking) > total > 0
    if two or most or (lacking and len(lacking) == len(known)):
        why = "they are values of two different variables" if two else "most of the values have no counterpart"
        raise ValueError(
            f"{second} and {first} have different values, and {why} ({apart}). Are these the columns that were meant? "
            "Spell their values alike"
        )


def totals_by_category(labels: LabelSet) -> list[Mapping[str, float]]:
    """Of every variable that has categories, how many records have each; empty for yes/no variables."""
    out: list[Mapping[str, float]] = []
    for block in labels.blocks:
        if all(variable.kind == "binary" for variable in block.variables):
            out += [{}] * len(block.variables)
            continue
        sums, first = block.totals(), 0
        for variable in block.variables:
            mine = sums[first : first + variable.width]
            first += variable.width
            out.append({} if variable.kind == "binary" else dict(zip(variable.categories, mine.tolist(), strict=True)))
    return out


def one_space(
    truth: LabelSet,
    predicted: LabelSet | None,
    train: LabelSet | None,
    names: Sequence[str],
    *,
    unseen: str = "invented",
    declared: Sequence[Variable] = (),
    counted: bool = True,
    checked: bool = True,
) -> tuple[LabelSet, LabelSet | None, LabelSet | None]:
    """Truth, predictions and train labels of one side in one label space, after their values were compared.

    Parameters
    ----------
    truth, predicted, train : LabelSet
    names : sequence of three str
        What they are called in messages.
    unseen : {"invented", "error"}
        What to do about values that only predictions have.
    declared : sequence of Variable
        Variables whose values are known from elsewhere.
    counted : bool
        Whether the records are those of the data, and not some that were made up to have every label.
    checked : bool
        Whether values are compared at all.
    """
    sets = [(labels, name) for labels, name in zip((truth, predicted, train), names, strict=True) if labels is not None]
    placed = iter(align([labels for labels, _ in sets], [name for _, name in sets]))
    out = next(placed), None if predicted is None else next(placed), None if train is None else next(placed)
    if checked:
        _compare(truth, predicted, train, names, unseen, declared, counted)
    # What is predicted of a 0/1 variable may be either, whichever these records have.
    whole = tuple(
        variable._replace(categories=_YES_NO) if variable.kind == "categorical" and _is_yes_no(variable) else variable
        for variable in out[0].variables
    )
    if predicted is None or whole == out[0].variables:
        return out
    return (
        out[0].into(whole),
        None if out[1] is None else out[1].into(whole),
        None if out[2] is None else out[2].into(whole),
    )


def _is_yes_no(variable: Variable) -> bool:
    """Whether all categories are 0 and 1."""
    return bool(variable.categories) and set(variable.categories) <= set(_YES_NO)


def _compare(
    truth: LabelSet,
    predicted: LabelSet | None,
    train: LabelSet | None,
    names: Sequence[str],
    unseen: str,
    declared: Sequence[Variable],
    counted: bool,
) -> None:
    """Check every variable that has categories."""
    for place, variable in enumerate(truth.variables):
        if variable.kind == "binary":
            continue
        mine, lists = title_of(names[0], variable), variable.kind == "multilabel"
        others = [train.variables[place]] if train is not None else []
        if train is not None and variable.categories != others[0].categories:
            known = totals_by_category(truth)[place] if counted else dict.fromkeys(variable.categories, 1.0)
            title = title_of(names[2], others[0])
            check_other(known, others[0].categories, (mine, title), lists=lists, counted=counted)
        if predicted is None:
            continue
        said = predicted.variables[place]
        values = join([variable, *others, *declared[place : place + 1]]).categories
        if not lists:
            refuse_unknown_truth(variable.categories, said.categories, (mine, title_of(names[1], said)))
        if set(said.categories) <= set(values) and (len(values) > 1 or lists):
            continue
        often = totals_by_category(predicted)[place] if counted else dict.fromkeys(said.categories, 1.0)
        # A category that is declared for the predictions and never predicted is no mistake.
        often = {value: count for value, count in often.items() if count}
        check_said(values, often, (mine, title_of(names[1], said)), lists=lists, unseen=unseen, counted=counted)


def true_labels(variables: Sequence[Variable], *held: NDArray[Any]) -> Mask:
    """Which labels of a space have truth: in one of some counts of records, of shape (labels,).

    A yes/no column keeps its label whatever its records say, and a 0/1 variable both of its values.
    """
    there = np.logical_or.reduce([np.asarray(counts) > 0 for counts in held])
    always = [
        variable.kind == "binary" or (variable.kind == "categorical" and _is_yes_no(variable))
        for variable in variables
        for _ in range(variable.width)
    ]
    return np.asarray(there | np.array(always, dtype=bool))
