"""Columns as they come from an array or a file, and the caller's word on what they are (``binary``, ``categorical``)."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .label import Index, Mask, canonical, category_order, printable
from .row_numbers import row_numbers

# So many categories are looked for one by one.
_FEW = 4
# Kinds of columns by those of numpy's numbers.
_NUMBER_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float"}
# Numbers of a column that are looked at while they are in cache.
_CHECKED = 1 << 14
# The bits of 1.0.
_ONE_BITS = 0x3FF0000000000000


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers, or text as codes into ``categories``, or lists of such codes.

    ``kind`` is ``"bool"``, ``"int"``, ``"float"``, ``"text"`` or ``"list"``. Missing text has code -1;
    missing numbers and lists are marked in ``missing``.
    """

    name: str
    kind: str
    values: NDArray[Any]
    missing: Mask | None = None
    categories: tuple[str, ...] = ()
    indptr: Index | None = None

    def __len__(self) -> int:
        return len(self.values) if self.indptr is None else len(self.indptr) - 1

    @property
    def gone(self) -> Mask:
        """Which values are marked as missing."""
        return np.zeros(len(self), dtype=bool) if self.missing is None else self.missing

    @cached_property
    def within_0_1(self) -> bool:
        """Whether all numbers lie in [0, 1]: looked at once, as millions are read from memory as seldom as can be."""
        return within_0_1(self.values)

    def held_as(self, name: str, values: NDArray[Any]) -> Column:
        """The same values under another name or in another place; what was found out about them stays known."""
        made = replace(self, name=name, values=values)
        if "within_0_1" in self.__dict__:
            made.__dict__["within_0_1"] = self.within_0_1
        return made

    def take(self, records: Mask) -> Column:
        """The values of some records."""
        missing = None if self.missing is None else self.missing[records]
        missing = missing if missing is not None and missing.any() else None
        if self.indptr is None:
            return replace(self, values=self.values[records], missing=missing)
        sizes = np.diff(self.indptr)
        indptr = np.concatenate([[0], np.cumsum(sizes[records])]).astype(np.int64)
        return replace(self, values=self.values[np.repeat(records, sizes)], missing=missing, indptr=indptr)

    @classmethod
    def numbers(cls, name: str, values: NDArray[Any], missing: Mask | None) -> Column:
        """A column of whole numbers, floats or true/false."""
        return cls(name, _NUMBER_KINDS[values.dtype.kind], values, missing)

    @classmethod
    def scores(cls, name: str, values: NDArray[Any]) -> Column | None:
        """A column of floats that all lie in [0, 1], and so are all there; None of others."""
        if values.dtype != np.float64 or not _plain_scores(values):
            return None
        made = cls.numbers(name, values, None)
        made.__dict__["within_0_1"] = True
        return made

    @classmethod
    def text(cls, name: str, values: Sequence[Any], missing: Mask) -> Column:
        """A text column from any Python values."""
        spelled = [None if gone else canonical(value) for value, gone in zip(values, missing, strict=True)]
        categories = sorted({value for value in spelled if value is not None}, key=category_order)
        place = {category: i for i, category in enumerate(categories)}
        codes = np.fromiter((-1 if v is None else place[v] for v in spelled), np.int64, count=len(spelled))
        return cls(name, "text", codes, None, tuple(categories))

    @classmethod
    def lists(cls, name: str, values: Sequence[Any], missing: Mask) -> Column:
        """A column of lists of labels from any Python values."""
        held = [() if gone else tuple(value) for value, gone in zip(values, missing, strict=True)]
        items = [item for record in held for item in record]
        gone = np.array([is_missing(item) for item in items], dtype=bool)
        sizes = [len(record) for record in held]
        refuse_missing_items(name, gone, sizes)
        refuse_rows(name, items, sizes)
        inner = cls.text(name, items, gone)
        return inner.in_lists(sizes, missing if missing.any() else None)

    def in_lists(self, sizes: Sequence[int] | NDArray[Any], missing: Mask | None) -> Column:
        """A text column as one of lists of these sizes; a label named twice in a list counts once."""
        row = np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.int64))
        held, width = self.values >= 0, max(len(self.categories), 1)
        places = np.unique(row[held] * width + self.values[held])
        counts = np.bincount(places // width, minlength=len(sizes))
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return replace(self, kind="list", values=places % width, missing=missing, indptr=indptr)


@dataclass(frozen=True, eq=False)
class NumberMatrix:
    """Several numeric columns stored together; NaN is a missing value."""

    names: tuple[str, ...]
    values: NDArray[Any]
    missing: Mask | None = None

    def __len__(self) -> int:
        return len(self.values)

    def columns(self) -> list[Column]:
        """The columns one by one."""
        gone = [None] * len(self.names) if self.missing is None else self.missing.T
        return [Column.numbers(*column) for column in zip(self.names, self.values.T, gone, strict=True)]


@dataclass(frozen=True, eq=False)
class IndexMatrix:
    """Many yes/no columns of which each record has few: the indices of the ones, record by record."""

    names: tuple[str, ...]
    indptr: Index
    indices: Index

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def columns(self) -> list[Column]:
        """The columns one by one."""
        values = np.zeros((len(self), len(self.names)), dtype=np.uint8)
        values[np.repeat(np.arange(len(self)), np.diff(self.indptr)), self.indices] = 1
        return NumberMatrix(self.names, values).columns()


@dataclass(frozen=True, eq=False)
class Columns:
    """What one argument held: its columns, whether it was a single one, and what the caller declared."""

    items: Sequence[Column | NumberMatrix | IndexMatrix]
    single: bool
    declared: str | None = None
    categories: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.items[0])

    @property
    def width(self) -> int:
        """How many columns."""
        return sum(1 if isinstance(item, Column) else len(item.names) for item in self.items)

    def apart(self) -> list[Column]:
        """The columns one by one."""
        return [column for item in self.items for column in ([item] if isinstance(item, Column) else item.columns())]


@dataclass(frozen=True)
class Declared:
    """Data, or the name of columns, with the caller's word on what it is."""

    data: Any
    kind: str
    categories: tuple[str, ...] | None = None


def binary(data: Any) -> Declared:
    """Read data as yes/no labels: only value 1 counts.

    A single column is otherwise read as a variable, whose value 0 is a label as much as its value 1.

    Parameters
    ----------
    data : array-like, str or list of str
        The values themselves, or the names of columns where columns are named.

    See Also
    --------
    categorical : read every value as a label.

    Examples
    --------
    >>> import biasamp
    >>> painting = biasamp.binary([1, 1, 0, 0])
    >>> result = biasamp.directional(["w", "w", "m", "m"], painting, biasamp.binary([1, 1, 1, 0]))
    >>> len(result.pairs)
    2
    """
    return Declared(data, "binary")


def categorical(data: Any, categories: Sequence[Any] | None = None) -> Declared:
    """Read data as a variable whose every value is a label.

    Parameters
    ----------
    data : array-like, str or list of str
        The values, or the names of columns; with ``categories`` also a matrix of class probabilities.
    categories : sequence, optional
        For a matrix, what its columns stand for. For one column, all the values it may hold: they count
        even where they are not observed.

    See Also
    --------
    binary : only value 1 is a label.

    Examples
    --------
    >>> import biasamp
    >>> P = [[0.9, 0.1], [0.2, 0.8]]
    >>> biasamp.categorical(P, categories=["cat", "dog"]).categories
    ('cat', 'dog')
    """
    if categories is None:
        return Declared(data, "categorical")
    from .plain_arguments import categories_of

    spelled = tuple(categories_of(categories, "categories"))
    if len(set(spelled)) != len(spelled):
        raise ValueError(f"categories names one category twice: {list(spelled)}")
    return Declared(data, "categorical", spelled)


def continuous(data: Any) -> Declared:
    """Read a column of tasks as numbers that are no labels, such as salaries, scores or ages.

    Parameters
    ----------
    data : str
        The name of the column.

    See Also
    --------
    biasamp.mean_amplification : what is measured of it.

    Examples
    --------
    >>> import biasamp
    >>> data = {"sex": ["w", "m"] * 20, "pay": [30, 50] * 20, "said": [29, 52] * 20}
    >>> made = biasamp.audit(data, attributes="sex", tasks=biasamp.continuous("pay"), task_predictions="said")
    >>> made.document["metrics"][0]["value"]
    1.5
    """
    return Declared(data, "continuous")


def is_missing(value: Any) -> bool:
    """Whether one Python value stands for a missing one: None, NaN, NaT or a library's NA."""
    if value is None:
        return True
    if isinstance(value, (str, bytes, list, tuple, set, frozenset, dict)) or getattr(value, "ndim", 0) > 0:
        return False  # text, a list of labels, or a row of an array or a tensor
    try:
        return bool(value != value)
    except (
        TypeError,
        ValueError,
        ArithmeticError,
    ):  # pandas.NA refuses to be true or false, a signalling NaN to be compared
        return True


def refuse_missing_items(name: str, gone: Mask, sizes: Sequence[int] | NDArray[Any]) -> None:
    """Refuse a missing label inside a list: it may be any label."""
    if gone.any():
        record = int(np.searchsorted(np.cumsum(sizes), int(np.flatnonzero(gone)[0]), side="right"))
        title = f"column '{printable(name, 60)}' has" if name else "there is"
        raise ValueError(
            f"{title} a list of labels with a missing one in it ({row_numbers([record])}; {int(gone.sum()):,} in all). Leave it out "
            "of the list where the record has no such label, or make the whole list missing (None)"
        )


def refuse_rows(name: str, items: Sequence[Any], sizes: Sequence[int] | NDArray[Any]) -> None:
    """Refuse lists that are rows of a matrix: probabilities, or as many zeros and ones for every record."""
    if not items or not all(isinstance(item, (int, float, np.integer, np.floating)) for item in items):
        return
    numbers = {float(item) for item in items}
    fraction = next((number for number in sorted(numbers) if number % 1), None)
    held = np.asarray(sizes)
    rows = bool(len(held)) and held.min() == held.max() > 1 and numbers <= {0.0, 1.0}
    if fraction is not None or rows:
        what = (
            f"fractions such as {fraction:g}"
            if fraction is not None
            else f"{held[0]:,} zeros and ones for every record"
        )
        title = f"column '{printable(name, 60)}'" if name else "a column"
        raise ValueError(
            f"{title} holds lists with {what}, which would be read as names of labels: they look like rows of "
            "a matrix. Give each of its columns a name, or lists of the labels that a record has"
        )


def within_0_1(values: NDArray[Any]) -> bool:
    """Whether all numbers lie in [0, 1], of records that are looked at while they are in cache; NaN does not.

    >>> [within_0_1(np.array(numbers)) for numbers in ([0.0, 1.0], [0.5, 1.5], [-0.0, 0.5], [0.5, np.nan], [])]
    [True, False, True, False, True]
    """
    if values.dtype == np.float64 and _plain_scores(values):
        return True
    step = max(1, _CHECKED * len(values) // max(values.size, 1))
    parts = (values[start : start + step] for start in range(0, len(values), step))
    return all(not part.size or bool(part.min() >= 0 and part.max() <= 1) for part in parts)


def _plain_scores(values: NDArray[np.float64]) -> bool:
    """Whether numbers lie in [0, 1], by one look; not so of some that do, such as -0.0, or of no numbers.

    Bits of floats from 0 on ascend like they do; those of negative numbers and of NaN are above those of 1.
    """
    return bool(values.size) and int(values.view(np.uint64).max()) <= _ONE_BITS


def compact(codes: Index, spelled: Sequence[str]) -> tuple[Index, tuple[str, ...]]:
    """Codes into categories that are observed, distinct and in order; -1 stays -1."""
    if len(spelled) <= _FEW:
        observed = np.array([(codes == code).any() for code in range(len(spelled))], dtype=np.int64)
    else:
        observed = np.zeros(len(spelled) + 1, dtype=bool)
        observed[codes] = True
        observed = observed[:-1]
    categories = sorted({spelled[i] for i in np.flatnonzero(observed).tolist()}, key=category_order)
    if categories == list(spelled):
        return codes, tuple(categories)
    place = {category: i for i, category in enumerate(categories)}
    target = np.array([place.get(text, -1) for text in spelled] + [-1], dtype=np.int64)
    return target[codes], tuple(categories)


def check_columns(wanted: Sequence[str], there: Sequence[str], source: str) -> None:
    """Raise for columns that do not exist, offering the nearest names, and for those that exist more than once."""
    times = Counter(there)
    for column in wanted:
        if times[column] == 1:
            continue
        if times[column] > 1:
            raise ValueError(
                f"{source} has {times[column]} columns named {printable(column, 60)!r}: rename them, so that it is clear which "
                "is meant"
            )
        near = difflib.get_close_matches(str(column), [str(name) for name in there], n=3, cutoff=0.5)
        names = ", ".join(f"'{printable(str(name), 40)}'" for name in near or there[:8])
        more = f" and {len(there) - 8} more" if len(there) > 8 else ""
        offer = f"did you mean {names}?" if near else f"it has {names}{more}"
        raise ValueError(f"{source} has no column '{printable(str(column), 60)}'; {offer}")


def check_lengths(columns: Mapping[str, Sized], source: str) -> None:
    """Raise for columns that do not all describe the same number of records."""
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the columns of {source} have different lengths: {sizes}")
