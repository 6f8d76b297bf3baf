"""How the labels of many records are stored: as codes, as a matrix, or as lists of indices.

A block covers one or more variables. ``Codes`` holds one category per record, ``Dense`` a matrix of 0/1
or of probabilities, ``Sparse`` the labels that each record has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .label import Label, Variable

# uint8 for 0/1, float64 for probabilities.
Matrix = NDArray[Any]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]


def labels_of(variables: tuple[Variable, ...]) -> tuple[Label, ...]:
    """The labels that variables give, one after another."""
    return tuple(label for variable in variables for label in variable.labels)


@dataclass(frozen=True, eq=False)
class _Labelled:
    """What all blocks share: the variables that they cover."""

    variables: tuple[Variable, ...]

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels, in the order of the columns."""
        return labels_of(self.variables)

    @property
    def width(self) -> int:
        """How many labels."""
        return sum(variable.width for variable in self.variables)


@dataclass(frozen=True, eq=False)
class Codes(_Labelled):
    """One category of one variable per record; code -1 is a missing value, or no label at all with ``sparse``."""

    codes: Index
    sparse: bool = False

    soft = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> int:
        """How many values are missing."""
        return 0 if self.sparse else int((self.codes < 0).sum())

    def rows(self, start: int, stop: int) -> Matrix:
        """Records start to stop as a 0/1 matrix."""
        codes = self.codes[start:stop]
        out = np.zeros((len(codes), self.width), dtype=np.uint8)
        row = np.flatnonzero(codes >= 0)
        out[row, codes[row]] = 1
        return out

    def complete(self) -> Mask:
        """Which records have a category."""
        return self.codes >= 0

    def present(self, start: int, stop: int) -> Mask | None:
        """Which values are there (broadcasts over labels); None when all are."""
        if self.sparse:
            return None
        there = self.codes[start:stop] >= 0
        return None if there.all() else np.broadcast_to(there[:, None], (len(there), self.width))

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
        if not len(target):
            return replace(self, variables=variables)
        return replace(self, variables=variables, codes=np.where(self.codes >= 0, target[self.codes], -1))

    def without_missing(self) -> Codes:
        """Missing values read as holding no label."""
        return replace(self, sparse=True)


@dataclass(frozen=True, eq=False)
class Dense(_Labelled):
    """A matrix with one column per label: 0/1 (uint8) or probabilities (float64)."""

    values: Matrix
    there: Mask | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def soft(self) -> bool:
        """Whether the values are probabilities."""
        return self.values.dtype.kind == "f"

    @property
    def missing(self) -> int:
        """How many values are missing."""
        return 0 if self.there is None else int((~self.there).sum())

    def rows(self, start: int, stop: int) -> Matrix:
        """Records start to stop."""
        return self.values[start:stop]

    def complete(self) -> Mask:
        """Which records have no missing value."""
        return np.ones(len(self), dtype=bool) if self.there is None else np.all(self.there, axis=1)

    def present(self, start: int, stop: int) -> Mask | None:
        """Which values are there; None when all are."""
        return None if self.there is None else self.there[start:stop]

    def nonzero(self, start: int, stop: int) -> tuple[Index, Index]:
        """Row and label of every label that a record has, sorted."""
        flat = np.flatnonzero(self.values[start:stop])
        row = flat // max(self.width, 1)
        return row, flat - row * self.width

    def take(self, records: Mask | Index) -> Dense:
        """The block of some of the records."""
        return replace(self, values=self.values[records], there=None if self.there is None else self.there[records])

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

    def without_missing(self) -> Dense:
        """Missing values read as holding no label."""
        return replace(self, there=None)


@dataclass(frozen=True, eq=False)
class Sparse(_Labelled):
    """The labels each record has: those of record i are ``indices[indptr[i]:indptr[i + 1]]``, ascending."""

    indptr: Index
    indices: Index
    there: Mask | None = None

    soft = False

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def missing(self) -> int:
        """How many records have no list at all."""
        return 0 if self.there is None else int((~self.there).sum())

    def rows(self, start: int, stop: int) -> Matrix:
        """Records start to stop as a 0/1 matrix."""
        row, column = self.nonzero(start, stop)
        out = np.zeros((min(stop, len(self)) - start, self.width), dtype=np.uint8)
        out[row, column] = 1
        return out

    def complete(self) -> Mask:
        """Which records have a list at all."""
        return np.ones(len(self), dtype=bool) if self.there is None else self.there

    def present(self, start: int, stop: int) -> Mask | None:
        """Which values are there (broadcasts over labels); None when all are."""
        if self.there is None:
            return None
        there = self.there[start:stop]
        return np.broadcast_to(there[:, None], (len(there), self.width))

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

    def moved(self, variables: tuple[Variable, ...], target: Index) -> Sparse:
        """The block in another label space: own label i becomes label ``target[i]`` of it."""
        if np.array_equal(target, np.arange(len(target))):
            return replace(self, variables=variables)
        indices = target[self.indices]
        row = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        return replace(self, variables=variables, indices=indices[np.lexsort((indices, row))])

    def without_missing(self) -> Sparse:
        """Missing lists read as empty lists."""
        return replace(self, there=None)


Block = Codes | Dense | Sparse
