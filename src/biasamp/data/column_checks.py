"""What is refused of a column by itself: two spellings of one value, text of missing values, lists in text, ids, dates.

Only distinct values are looked at, so that a check costs the same however many records there are, and parts of the
data are checked as the whole is. Values that the caller declared (``categorical(..., categories=[...])``) are taken as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal

from .columns import Columns
from .label import Variable
from .labelset import LabelSet
from .spelling import code_of_missing, is_numeral, quoted, says_missing, shown, spelled_twice, told_apart
from .ways_out import way_out

RoleOf = Literal["groups", "outcomes", "other", "predictions"]
# Fewer groups than this may have a record each; beyond, half as many groups as records are no groups.
_FEW_GROUPS = 20
# Values of what is predicted may be many and rare: beyond so many, half as many as records are no classes.
_MANY_VALUES = 1000
# Beyond so many values, two that differ in case are more likely words than mistakes; and lists are looked for in so many.
_LOOKED_AT = 1000
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
# Days and times of day as tools and people write them; a year or a month alone is a group.
_DATE = re.compile(
    r"\d{4}([-/.])0?[1-9]\d?\1(?:0?[1-9]|[12]\d|3[01])([T ].*)?|[0-3]?\d([-/.])[0-3]?\d\3\d{4}([T ].*)?|\d{1,2}/\d{1,2}/\d{2}"
    r"|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    rf"|\d{{1,2}}[ -]{_MONTH},?[ -]\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}}"
    r"|(?:[01]?\d|2[0-3]):[0-5]\d(:\d{2}(\.\d+)?)?( ?[ap]m)?",
    re.IGNORECASE,
)
# So many records a value are a group; two days may be two groups, before and after.
_SHARED = 20
_FEW_DATES = 2
# Long numbers, mail addresses and UUIDs are ids, however often each comes.
_IDENTIFIER = re.compile(r"-?\d{9,}|[^@\s]+@[^@\s]+\.\w+|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE)
_BRACKETS = re.compile(
    r"""\s*(\[.*[,'"].*\]|\[\s*[-\d.e]+(\s+[-\d.e]+)+\s*\]|\{.*[,'"].*\}|\(\s*['"].*['"]\s*,?\s*\))\s*""", re.DOTALL
)
# A range of numbers, as tools that cut them write it.
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf)"
_NUMERIC = re.compile(_NUMBER, re.IGNORECASE)
_INTERVAL = re.compile(rf"\s*[\[(]\s*{_NUMBER}\s*,\s*{_NUMBER}\s*[\])]\s*", re.IGNORECASE)
# What stands between labels only; and what stands in plain text too.
_SEPARATORS, _IN_TEXT = "|;\n\t", ",/+& "


def title_of(role: str, variable: Variable) -> str:
    """What a variable is called in messages."""
    return f"{role} column {quoted(variable.name, 60)}" if variable.name else role


def check_columns_alone(
    labels: LabelSet,
    columns: Columns,
    role: str,
    side: RoleOf,
    *,
    records: int | None = None,
    like: LabelSet | None = None,
) -> None:
    """Refuse what is likely a mistake in the columns of one argument.

    Parameters
    ----------
    labels : LabelSet
        What the columns were read as.
    columns : Columns
        The columns, which know what the caller declared.
    role : str
        The name of the argument, for messages.
    side : {"groups", "outcomes", "other", "predictions"}
        Groups must not have a value for every record, nor outcomes, within wider bounds. Labels of other records (train,
        base) may. Predictions take the spellings of the truth, which are compared with it elsewhere.
    records : int, optional
        How many records there are, where these stand for more.
    like : LabelSet, optional
        The truth that these predict: values that it has were looked at there, or declared.
    """
    known = () if like is None else {c for variable in like.variables for c in variable.categories}
    for variable in labels.variables:
        if variable.kind == "binary" or columns.categories is not None:
            continue
        _refuse_text_of_missing(variable, role, known)
        _refuse_header(variable, role, known, side)
        if variable.kind == "multilabel":
            refuse_spelled_twice(variable, role, known)
            continue
        if side != "predictions":
            _refuse_codes_of_missing(variable, role)
        if side in ("groups", "outcomes"):
            refuse_identifiers(variable, records or len(labels), role, group=side == "groups")
        if columns.declared is None:
            _refuse_listed(variable, role, group=side == "groups")
        refuse_spelled_twice(variable, role, known)


def _refuse_text_of_missing(variable: Variable, role: str, known: Collection[str]) -> None:
    """Refuse text that stands for a missing value; in lists of labels, blank ones alone, for ``null`` may be a word."""
    lists = variable.kind == "multilabel"
    signs = {"+", "-"} if "+" in variable.categories else set()
    strange = (text for text in variable.categories if says_missing(text) and text not in {*known, *signs})
    found = next((text for text in strange if not (lists and text.strip())), None)
    if found is not None:
        what = "an empty label" if lists else f"the text {quoted(found)}, which looks like a missing value"
        raise ValueError(
            f"{title_of(role, variable)} holds {what}. "
            + (
                "Leave it out of the lists: a record without labels has an empty list"
                if lists
                else f"{way_out('gap')}; where it is a value indeed, {way_out('categories')}"
            )
        )


def _refuse_header(variable: Variable, role: str, known: Collection[str], side: RoleOf) -> None:
    """Refuse the name of the column as one of its values: files that were put together with the line of names of each.

    A column of words may have a value of its name (``smoker``); one of numbers does not, nor what the truth never has. A column
    whose name is a number has it by its place in a table.
    """
    name, predictions = variable.name, side == "predictions"
    others = [value for value in variable.categories if value != name]
    if not name or is_numeral(name) or len(others) == len(variable.categories) or name in known:
        return
    if predictions or (others and all(map(is_numeral, others))):
        raise ValueError(
            f"{title_of(role, variable)} holds its own name as a value (it has {shown(variable.categories)}): a line of "
            f"names stands among the records, as where files are put together. Leave it out; where it is a value indeed, {way_out('categories')}"
        )


def _refuse_codes_of_missing(variable: Variable, role: str) -> None:
    """Refuse a number that stands for a missing value, which would be a group or a class."""
    code = code_of_missing(variable.categories)
    if code is not None:
        raise ValueError(
            f"{title_of(role, variable)} holds {quoted(code)}, which looks like a code for a missing value (it has "
            f"{shown(variable.categories)}). {way_out('gap')}; where it is a value indeed, "
            f"{way_out('categories')}"
        )


def refuse_spelled_twice(variable: Variable, role: str, known: Collection[str] = ()) -> None:
    """Refuse two spellings of one value, which would be two groups or two classes.

    Predictions are held against the values ``known`` of their truth elsewhere: here they are what the model invents.
    """
    if len(variable.categories) > _LOOKED_AT:
        return
    twice = spelled_twice(value for value in variable.categories if value not in known)
    if twice is not None:
        one, other = told_apart(*twice)
        lists = variable.kind == "multilabel"
        indeed = "labels indeed, give one another name" if lists else f"values indeed, {way_out('categories')}"
        raise ValueError(
            f"{title_of(role, variable)} holds {one} and {other}, which look like two spellings of one "
            f"{'label' if lists else 'value'} (it has {shown(variable.categories)}). Spell them alike; where they are two {indeed}"
        )


def are_identifiers(many: int, records: int, *, group: bool) -> bool:
    """Whether so many values in so many records are ids or measurements rather than groups or classes.

    Groups that differ from record to record are none. What is predicted may have rare values: it is refused where
    nine of ten records have a value of their own, or half of them do and there are more than a thousand.
    """
    share = 0.5 if group or many > _MANY_VALUES else 0.9
    return many > _FEW_GROUPS and many > share * records


def refuse_identifiers(variable: Variable, records: int, role: str, *, group: bool) -> None:
    """Refuse a variable that has a value of its own for nearly every record, and dates as groups."""
    many = len(variable.categories)
    if variable.kind != "categorical" or many <= _FEW_DATES:
        return
    title = title_of(role, variable)
    # What many records share is a group, such as a census tract or a month.
    shared = records >= _SHARED * many
    named = (
        group
        and many > _FEW_GROUPS
        and not shared
        and all(_IDENTIFIER.fullmatch(category) for category in variable.categories)
    )
    if named or are_identifiers(many, records, group=group):
        what = "groups" if group else "something that is predicted"
        numbers = all(_NUMERIC.fullmatch(category) for category in variable.categories)
        how = f" ({way_out('bins')})" if numbers else ""
        raise ValueError(
            f"{title} holds {many:,} different values in {records:,} records, such as {shown(variable.categories[:3])}: it "
            f"looks like an identifier or a measurement, not like {what}. Name another column, or group its values "
            f"first{how}; where these are its values indeed, {way_out('categories')}"
        )
    few = many <= _FEW_GROUPS and shared
    if group and not few and all(_DATE.fullmatch(category) for category in variable.categories):
        raise ValueError(
            f"{title} holds {many:,} dates or times, such as {shown(variable.categories[:3])}: they are no groups. Name "
            f"another column, or group them first, by year or by season; where they are its groups indeed, {way_out('categories')}"
        )


def _refuse_listed(variable: Variable, role: str, *, group: bool) -> None:
    """Refuse text that looks like lists of labels, which would be read as one label.

    What is predicted may well be lists; groups are named by people (``he/they``), and two words are a name (``sales manager``).
    """
    categories = variable.categories[:_LOOKED_AT]
    looks = (text for text in categories if text[:1] in "[{( " and _BRACKETS.fullmatch(text))
    found = next((text for text in looks if not _INTERVAL.fullmatch(text)), None)
    marks = (*_SEPARATORS, *_IN_TEXT)
    separator = next(
        (mark for mark in marks if found is None and _recombined(categories, mark, many=group or mark == " ")), None
    )
    if separator is not None:
        found = next(text for text in categories if separator in text.strip(separator))
    if found is not None:
        how = "json.loads or ast.literal_eval" if separator is None else f"str.split({separator!r})"
        raise ValueError(
            f"{title_of(role, variable)} holds text that looks like a list of labels, such as {quoted(found, 60)}, and "
            f"would be read as one label. Split it into lists first ({how}); where it is one value indeed, "
            f"{way_out('categorical')}"
        )


def _recombined(categories: Sequence[str], separator: str, *, many: bool) -> bool:
    """Whether text is made of parts that come in several combinations: there are no more parts than texts.

    Commas stand in plain text too (``Washington, DC``): there, every part of a text must also come in another one,
    so that a place or a name with a comma is none, and one of the parts by itself. Blanks, slashes and the like stand
    there more often: of these every part must come by itself, and with ``many`` such texts are as many as single parts.
    """
    held = [[part.strip() for part in text.split(separator)] for text in categories]
    if separator in _SEPARATORS:  # a list may end with one, and a label that is empty is none
        held = [[part for part in text if part] for text in held]
    split = [text for text in held if len(text) > 1]
    parts = {part for text in split for part in text}
    alone = {part for text in held if len(text) == 1 for part in text}
    few = bool(split) and "" not in parts and len(parts | alone) <= len(categories)
    if not few:
        return False
    if separator in _SEPARATORS:
        return not _crossed(held)
    if separator != ",":
        return parts <= alone and (not many or (len(split) > 1 and len(split) >= len(alone)))
    times = Counter(part for text in split for part in set(text))
    times.update(alone)
    return bool(parts & alone) and all(times[part] > 1 for part in parts)


def _crossed(texts: Sequence[Sequence[str]]) -> bool:
    """Whether texts are crossings of two or more variables: as many parts in each, and each part in one place."""
    widths = {len(text) for text in texts}
    places = {(part, place) for text in texts for place, part in enumerate(text)}
    return len(widths) == 1 and widths != {1} and len({part for part, _ in places}) == len(places)
