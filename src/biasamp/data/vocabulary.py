"""Whether two columns speak of the same values: predictions and their truth, train labels and the evaluated ones.

Values in another spelling, or of another column, would give a figure that looks sure and means nothing. So a predicted
value that the truth never has is refused where it is likely to be a mistake; where it is not, it is an invented label,
which has no truth to be amplified and is measured apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .label import Mask, Variable, category_order, printable
from .labelset import LabelSet, align, join

UNSEEN = ("invented", "error")
_YES_NO = ("0", "1")
_SHOWN = 5
# Words by which tools write true and false.
_WORDS = {**dict.fromkeys(("true", "yes", "y", "t"), "1"), **dict.fromkeys(("false", "no", "n", "f"), "0")}
_BLANKS = re.compile(r"[\s_\-.'\"`’]+")
# Fewer groups than this may have a record each; beyond, half as many groups as records are no groups.
_FEW_GROUPS = 20
# Values of what is predicted may be many and rare: only so many are suspected.
_MANY_VALUES = 1000
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{4}")
_BRACKETS = re.compile(r"""\s*(\[.*[,'"].*\]|\{.*[,'"].*\}|\(\s*['"].*['"]\s*,?\s*\))\s*""", re.DOTALL)
_SEPARATORS = "|;"
# Categories that are looked through for lists.
_LOOKED_AT = 1000


def folded(category: str) -> str:
    """A spelling that different ways to write one value share: case, accents, blanks, ``1.0``, ``yes`` and ``true``.

    >>> [folded(text) for text in ("Hired ", "hired", "Café", "cafe", "1.0", "True", "not_hired", "not hired")]
    ['hired', 'hired', 'cafe', 'cafe', '1', '1', 'nothired', 'nothired']
    """
    plain = unicodedata.normalize("NFKD", category).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    try:
        number = float(plain)
        return str(int(number)) if number.is_integer() else repr(number)
    except (ValueError, OverflowError):
        short = _BLANKS.sub("", plain)
        return _WORDS.get(short, short) or plain


def respelled(strange: Iterable[str], known: Iterable[str]) -> tuple[str, str] | None:
    """The first of some strange values that is another spelling of a known one, with that one."""
    spelled: dict[str, str] = {}
    for category in known:
        spelled.setdefault(folded(category), category)
    return next(((value, spelled[key]) for value in strange if (key := folded(value)) in spelled), None)


def side_by_side(first: str, values: Iterable[str], second: str, others: Iterable[str]) -> str:
    """The values of two columns, for a message."""
    return f"{first} has {shown(values)}; {second} has {shown(others)}"


def shown(values: Iterable[str]) -> str:
    """A few values, quoted."""
    held = sorted(values, key=category_order)
    more = f" and {len(held) - _SHOWN:,} more" if len(held) > _SHOWN else ""
    return ", ".join(repr(printable(value, 30)) for value in held[:_SHOWN]) + more


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
    strange = [value for value in said if value not in set(known)]
    apart = side_by_side(truth, known, predicted, said)
    if not lists and len(known) == 1:
        raise ValueError(
            f"{truth} has one value only, {shown(known)}, and nothing says which others there are ({apart}). Name them "
            "all: biasamp.categorical(..., categories=[...]), or --categories on the command line"
        )
    if not strange:
        return
    begin = f"{predicted} has {'values' if len(strange) > 1 else 'a value'} that {truth} never has: {shown(strange)}"
    twice = None if lists else respelled(strange, known)
    if twice is not None:
        raise ValueError(
            f"{begin}. {twice[0]!r} looks like another spelling of {twice[1]!r} ({apart}). Spell the values of both "
            "alike before they are compared"
        )
    declare = "name all values with biasamp.categorical(..., categories=[...]), or --categories on the command line"
    if not lists and len(known) == 2:
        raise ValueError(
            f"{begin}. A truth of two values is predicted by these alone ({apart}).{_hint(strange)} Are these the "
            f"columns that were meant? Spell the values alike; where the truth can take more values, {declare}"
        )
    if counted and 2 * sum(said[value] for value in strange) > sum(said.values()):
        what = "labels" if lists else "records"
        raise ValueError(
            f"{begin}. They are more than half of all predicted {what} ({apart}).{_hint(strange)} Are these the columns "
            "that were meant, and are their values spelled alike?"
        )
    if unseen == "error":
        raise ValueError(
            f"{begin}, and unseen='error' takes none ({apart}). Correct them, {declare}, or measure them apart with "
            "unseen='invented'"
        )


def _hint(strange: Sequence[str]) -> str:
    """What values look like that are no categories."""
    numbers = []
    for value in strange:
        try:
            numbers.append(float(value))
        except ValueError:
            return ""
    if all(0.0 <= number <= 1.0 for number in numbers):
        return " They look like probabilities that were read as text: convert the column to numbers."
    return ""


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
    twice = None if lists else (respelled(added, known) or respelled(lacking, other))
    if twice is not None:
        raise ValueError(
            f"{second} and {first} spell their values differently: {twice[0]!r} looks like {twice[1]!r} ({apart}). Spell "
            "them alike"
        )
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


def title_of(role: str, variable: Variable) -> str:
    """What a variable is called in messages."""
    return f"{role} column {printable(variable.name, 60)!r}" if variable.name else role


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


def refuse_identifiers(variable: Variable, records: int, role: str, *, group: bool) -> None:
    """Refuse a variable that has a value of its own for nearly every record, and dates as groups."""
    many = len(variable.categories)
    if variable.kind != "categorical" or many <= _FEW_GROUPS:
        return
    title = title_of(role, variable)
    if 2 * many > records and (group or many > _MANY_VALUES):
        raise ValueError(
            f"{title} holds {many:,} different values in {records:,} records, such as {shown(variable.categories[:3])}: it "
            "looks like an identifier or a measurement, not like groups. Name another column, or group its values first"
        )
    if group and all(_DATE.fullmatch(category) for category in variable.categories):
        raise ValueError(
            f"{title} holds {many:,} dates, such as {shown(variable.categories[:3])}: dates are no groups. Name another "
            "column, or group them first, by year or by season"
        )


def refuse_listed(variable: Variable, role: str) -> None:
    """Refuse text that looks like lists of labels, which would be read as one label."""
    categories = variable.categories[:_LOOKED_AT]
    found = next((text for text in categories if text[:1] in "[{( " and _BRACKETS.fullmatch(text)), None)
    separator = next((mark for mark in _SEPARATORS if found is None and _recombined(categories, mark)), None)
    if separator is not None:
        found = next(text for text in categories if separator in text)
    if found is not None:
        how = "json.loads or ast.literal_eval" if separator is None else f"str.split({separator!r})"
        raise ValueError(
            f"{title_of(role, variable)} holds text that looks like a list of labels, such as {printable(found, 60)!r}, and "
            f"would be read as one label. Split it into lists first ({how}); where it is one value indeed, say so with "
            "biasamp.categorical(...), or --categorical on the command line"
        )


def _recombined(categories: Sequence[str], separator: str) -> bool:
    """Whether text is made of parts that come in several combinations: there are no more parts than texts."""
    split = [[part.strip() for part in text.split(separator)] for text in categories if separator in text]
    parts = {part for text in split for part in text}
    alone = {text for text in categories if separator not in text}
    return bool(split) and "" not in parts and len(parts | alone) <= len(categories)
