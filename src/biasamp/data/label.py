"""What a label is called, and how the labels of many records are stored: as codes, as a matrix, or as lists of indices.

A label is a variable and a category, which has one canonical spelling. A block covers one or more variables: ``Codes``
holds one category per record, ``Dense`` a matrix of 0/1 or of probabilities, ``Apart`` columns of probabilities,
``Sparse`` the labels that each record has.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

# uint8 for 0/1, float64 for probabilities.
Matrix = NDArray[Any]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]


class Label(NamedTuple):
    """One binary label: a category of a variable, or a yes/no variable itself (``category=None``)."""

    variable: str
    category: str | None = None

    def __str__(self) -> str:
        if self.category is None:
            return self.variable
        return f"{self.variable}={self.category}" if self.variable else self.category


class Variable(NamedTuple):
    """One column as it was read.

    ``kind`` is ``"binary"`` (only value 1 is a label), ``"categorical"`` (every value is a label, one per
    record) or ``"multilabel"`` (a list of labels per record).
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels this variable gives."""
        if self.kind == "binary":
            return (Label(self.name),)
        return tuple(Label(self.name, category) for category in self.categories)

    @property
    def width(self) -> int:
        """How many labels this variable gives."""
        return 1 if self.kind == "binary" else len(self.categories)

    def only(self, keep: Mask) -> Variable:
        """The variable with some of its categories; one that is yes or no stays as it is."""
        return self._replace(
            categories=tuple(c for c, kept in zip(self.categories, keep.tolist(), strict=False) if kept)
        )


def canonical(value: Any) -> str:
    """Spell a category so that ``1``, ``1.0``, ``True`` and ``"1"`` are one category.

    >>> [canonical(value) for value in (1, 1.0, True, "1", 0.5, "woman")]
    ['1', '1', '1', '1', '0.5', 'woman']
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (int, np.integer, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, Iterable) and not hasattr(value, "isoformat"):
        raise TypeError(f"a category must be a single value, found {type(value).__name__}")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def category_order(category: str) -> tuple[int, float, str]:
    """Sort key: numbers by value and before words, words by their characters."""
    try:
        number = float(category)
    except ValueError:
        return (1, 0.0, category)
    return (0, number, category) if math.isfinite(number) else (1, 0.0, category)


# Characters that would break a line, move the cursor or reorder text around them.
_LINE_BREAKERS = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str, limit: int = 80) -> str:
    """Text from outside as one harmless line: control and direction marks escaped, long text cut.

    >>> printable("a\\nb")
    'a\\\\nb'
    """
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "".join(
        repr(character)[1:-1] if unicodedata.category(character) in _LINE_BREAKERS else character for character in text
    )


@lru_cache(maxsize=8)
def labels_of(variables: tuple[Variable, ...]) -> tuple[Label, ...]:
    """The labels that variables give, one after another."""
    out: list[Label] = []
    for variable in variables:
        # Itemsets are yes/no labels by the ten thousand.
        if variable.kind == "binary":
            out.append(Label(variable.name))
        else:
            out.extend(variable.labels)
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Labelled:
    """What all blocks share: the variables that they cover, and which values are missing."""

    variables: tuple[Variable, ...]

    soft = False
    # Whether columns are there without anything being turned from rows.
    by_column = False

    @cached_property
    def width(self) -> int:
        """How many labels."""
        return sum([1 if variable.kind == "binary" else len(variable.categories) for variable in self.variables])

    @property
    def missing(self) -> int:
        """How many values are missing; lists count as one."""
        there = self._there()
        return 0 if there is None else int(there.size - np.count_nonzero(there))

    def complete(self) -> Mask:
        """Which records have no missing value."""
        there = self._there()
        if there is None:
            return np.ones(len(self), dtype=bool)
        return there if there.ndim == 1 else np.all(there, axis=1)

    def present(self, start: int, stop: int) -> Mask | None:
        """Which values are there (broadcasts over labels); None when all are."""
        there = self._there(start, stop)
        if there is None or there.all():
            return None
        return there if there.ndim == 2 else np.broadcast_to(there[:, None], (len(there), self.width))

    def rows(self, start: int, stop: int) -> Matrix:
        """Records start to stop as a matrix."""
        out = np.zeros((min(stop, len(self)) - start, self.width), dtype=np.uint8)
        out[self.nonzero(start, stop)] = 1
        return out

    def columns(self, start: int, stop: int) -> list[NDArray[Any]]:
        """Records start to stop of each label, which lie together in memory."""
        return list(by_label(self.rows(start, stop)).T)

    def owned(self) -> Self:
        """The same labels in arrays of their own, which nobody else can change in place."""
        arrays: dict[str, Any] = {
            name: held.copy() for name, held in vars(self).items() if isinstance(held, np.ndarray)
        }
        return replace(self, **arrays)

    def __len__(self) -> int:
        raise NotImplementedError

    def _there(self, start: int = 0, stop: int | None = None) -> Mask | None:
        """Which records, or which values of records, are there; None when all are."""
        there: Mask | None = getattr(self, "there", None)
        return None if there is None else there[start:stop]

    def nonzero(self, start: int, stop: int) -> tuple[Index, Index]:
        """Row and label of every label that a record has, sorted."""
        raise NotImplementedError

    def totals(self) -> NDArray[Any]:
        """How many records have each label; probabilities count as fractions."""
        return np.bincount(self.nonzero(0, len(self))[1], minlength=self.width)

    def _kept(self, keep: Mask) -> tuple[Variable, ...]:
        """The variables with the labels that are kept; those that keep none are gone."""
        ends = np.cumsum([variable.width for variable in self.variables])
        parts = zip(self.variables, np.split(keep, ends[:-1]), strict=True)
        return tuple(variable.only(mine) for variable, mine in parts if mine.any())


@dataclass(frozen=True, eq=False)
class Codes(_Labelled):
    """One category of one variable per record; code -1 is a missing value, or no label at all with ``sparse``."""

    codes: Index
    sparse: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    def _there(self, start: int = 0, stop: int | None = None) -> Mask | None:
        return None if self.sparse else self.codes[start:stop] >= 0

    def complete(self) -> Mask:
        """Which records have a category."""
        return self.codes >= 0

    by_column = True

    def columns(self, start: int, stop: int) -> list[NDArray[Any]]:
        """Records start to stop of each label, which lie together in memory."""
        return [(self.codes[start:stop] == place).view(np.uint8) for place in range(self.width)]

    def nonzero(self, start: int, stop: int) -> tuple[Index, Index]:
        """Row and label of every label that a record has, sorted."""
        codes = self.codes[start:stop]
        if len(codes) and codes.min() >= 0:
            return np.arange(len(codes)), codes
        row = np.flatnonzero(codes >= 0)
        return row, codes[row]

    def take(self, records: Mask | Index) -> Codes:
        """The block of some of the records."""
        return replace(self, codes=self.codes[records])

    def moved(self, variables: tuple[Variable, ...], target: Index) -> Codes:
        """The block in another label space: own label i becomes label ``target[i]`` of it."""
        if np.array_equal(target, np.arange(len(target))):
            return replace(self, variables=variables)
        codes = np.append(target, -1)[self.codes]
        return replace(self, variables=variables, codes=codes)

    def only(self, keep: Mask) -> Codes | Sparse:
        """The block with some of its labels: a record that has another one has none of these, and misses none."""
        target = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1)
        codes, variables = target[self.codes], self._kept(keep)
        missing = self.codes < 0
        if self.sparse or not missing.any():
            return Codes(variables, codes, self.sparse or bool((codes < 0).any()))
        held = codes >= 0
        return Sparse(variables, np.concatenate([[0], np.cumsum(held)]), codes[held], ~missing)


# Records that are turned from columns to rows at once: neighbours in both fit into cache.
_TURNED = 512


def by_record(values: Matrix) -> Matrix:
    """A matrix whose rows lie together in memory: the same, or a copy where its columns do."""
    if values.flags.c_contiguous:
        return values
    out = np.empty(values.shape, dtype=values.dtype)
    for start in range(0, len(values), _TURNED):
        out[start : start + _TURNED] = values[start : start + _TURNED]
    return out


def by_label(values: Matrix) -> Matrix:
    """A matrix whose columns lie together in memory: the same, or a copy where its rows do."""
    if values.flags.f_contiguous:
        return values
    out = np.empty(values.shape, dtype=values.dtype, order="F")
    for start in range(0, len(values), _TURNED):
        out[start : start + _TURNED] = values[start : start + _TURNED]
    return out


@dataclass(frozen=True, eq=False)
class Dense(_Labelled):
    """A matrix with one column per label: 0/1 (uint8) or probabilities (float64).

    Either the labels of a record lie together in memory, or the records of a label, as columns of a file do.
    """

    values: Matrix
    there: Mask | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def soft(self) -> bool:  # type: ignore[override]
        """Whether the values are probabilities."""
        return self.values.dtype.kind == "f"

    def rows(self, start: int, stop: int) -> Matrix:
        """Records start to stop, the labels of each together."""
        return by_record(self.values[start:stop])

    @property
    def by_column(self) -> bool:  # type: ignore[override]
        """Whether the records of a label lie together."""
        return self.values.flags.f_contiguous

    def columns(self, start: int, stop: int) -> list[NDArray[Any]]:
        """Records start to stop of each label, which lie together in memory."""
        if self.by_column:
            return list(self.values.T[:, start:stop])
        return list(by_label(self.values[start:stop]).T)

    def nonzero(self, start: int, stop: int) -> tuple[Index, Index]:
        """Row and label of every label that a record has, sorted."""
        flat = np.flatnonzero(self.values[start:stop])
        row = flat // max(self.width, 1)
        return row, flat - row * self.width

    def take(self, records: Mask | Index) -> Dense:
        """The block of some of the records."""
        return replace(self, values=self.values[records], there=None if self.there is None else self.there[records])

    def totals(self) -> NDArray[Any]:
        """How many records have each label; probabilities count as fractions."""
        return np.asarray(self.values.sum(axis=0, dtype=np.float64))

    def only(self, keep: Mask) -> Dense:
        """The block with some of its labels."""
        there = None if self.there is None else self.there[:, keep]
        return Dense(self._kept(keep), np.ascontiguousarray(self.values[:, keep]), there)

    def moved(self, variables: tuple[Variable, ...], target: Index) -> Dense:
        """The block in another label space: own label i becomes label ``target[i]`` of it."""
        width = len(labels_of(variables))
        if np.array_equal(target, np.arange(width)):
            return replace(self, variables=variables)
        values = np.zeros((len(self), width), dtype=self.values.dtype)
        values[:, target] = self.values
        there = self.there
        if there is not None:
            # A category this block does not know is as missing as the rest of its variable.
            there = np.repeat(np.all(there, axis=1, keepdims=True), width, axis=1)
            there[:, target] = self.there
        return Dense(variables, values, there)


@dataclass(frozen=True, eq=False)
class Apart(_Labelled):
    """Probabilities of several yes/no labels, each in an array of its own: a matrix is made only of what is asked for."""

    parts: tuple[NDArray[np.float64], ...]

    soft = True

    def __len__(self) -> int:
        return len(self.parts[0])

    def rows(self, start: int, stop: int) -> Matrix:
        """Records start to stop, the labels of each together."""
        return by_record(np.stack([part[start:stop] for part in self.parts]).T)

    by_column = True

    def columns(self, start: int, stop: int) -> list[NDArray[Any]]:
        """Records start to stop of each label, which lie together in memory."""
        return [part[start:stop] for part in self.parts]

    def nonzero(self, start: int, stop: int) -> tuple[Index, Index]:
        """Row and label of every label that a record has, sorted."""
        return Dense(self.variables, self.rows(start, stop)).nonzero(0, stop - start)

    def owned(self) -> Apart:
        """The same probabilities in arrays of their own, which nobody else can change in place."""
        return replace(self, parts=tuple(part.copy() for part in self.parts))

    def take(self, records: Mask | Index) -> Apart:
        """The block of some of the records."""
        return replace(self, parts=tuple(part[records] for part in self.parts))

    def totals(self) -> NDArray[Any]:
        """How many records have each label; probabilities count as fractions."""
        return np.array([part.sum() for part in self.parts])

    def only(self, keep: Mask) -> Apart:
        """The block with some of its labels."""
        return Apart(
            self._kept(keep), tuple(part for part, kept in zip(self.parts, keep.tolist(), strict=True) if kept)
        )

    def moved(self, variables: tuple[Variable, ...], target: Index) -> Apart | Dense:
        """The block in another label space: own label i becomes label ``target[i]`` of it."""
        if np.array_equal(np.sort(target), np.arange(len(labels_of(variables)))):
            return Apart(variables, tuple(self.parts[place] for place in np.argsort(target).tolist()))
        return Dense(self.variables, self.rows(0, len(self))).moved(variables, target)


@dataclass(frozen=True, eq=False)
class Sparse(_Labelled):
    """The labels each record has: those of record i are ``indices[indptr[i]:indptr[i + 1]]``, ascending."""

    indptr: Index
    indices: Index
    there: Mask | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def nonzero(self, start: int, stop: int) -> tuple[Index, Index]:
        """Row and label of every label that a record has, sorted."""
        bounds = self.indptr[start : stop + 1]
        row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        return row, self.indices[bounds[0] : bounds[-1]]

    def take(self, records: Mask | Index) -> Sparse:
        """The block of some of the records."""
        index = np.flatnonzero(records) if records.dtype == np.bool_ else np.asarray(records)
        sizes = np.diff(self.indptr)[index]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], sizes)
        indices = self.indices[np.repeat(self.indptr[:-1][index], sizes) + within]
        return Sparse(self.variables, indptr, indices, None if self.there is None else self.there[index])

    def only(self, keep: Mask) -> Sparse:
        """The block with some of its labels."""
        kept = keep[self.indices]
        indptr = np.concatenate([[0], np.cumsum(kept)])[self.indptr]
        return Sparse(self._kept(keep), indptr, (np.cumsum(keep) - 1)[self.indices[kept]], self.there)

    def moved(self, variables: tuple[Variable, ...], target: Index) -> Sparse:
        """The block in another label space: own label i becomes label ``target[i]`` of it."""
        if np.array_equal(target, np.arange(len(target))):
            return replace(self, variables=variables)
        indices = target[self.indices]
        row = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        return replace(self, variables=variables, indices=indices[np.lexsort((indices, row))])


Block = Codes | Dense | Sparse | Apart
