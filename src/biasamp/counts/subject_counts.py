"""The counts of one protected attribute with the tasks, and how they are saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Label, Variable

from .bags import BagCounts, BagJoint
from .contingency import ContingencyTable, add_by_bag, shuffle_bags
from .fixed import floats
from .joint import JointCounts, Moments, add_moments
from .storage import Arrays, from_arrays, get_count, put_count, to_arrays
from .why_counts import WhyCounts

Index = NDArray[np.int64]
Cells = ContingencyTable | None

# Distinct combinations of labels that are kept; beyond, what needs them is left out.
MOST_COMBINATIONS = 1 << 17
TOO_LARGE = "weights are too large to be summed exactly: multiply them all by one constant; only their ratios matter"


@dataclass(frozen=True, eq=False, repr=False)
class SubjectCounts:
    """The counts of one protected attribute with the tasks.

    Attributes
    ----------
    attribute : str
    A, T : tuple of Variable
        The label space of either side.
    sizes : mapping
        Of ``"A"`` and ``"T"``, how many records have each label.
    pairs : mapping of direction to BagCounts
        For the directions whose predictions were given.
    cells : mapping of direction to ContingencyTable or None
        Combinations of given, truth and predicted labels; None where they are too many.
    mals : pair of BagJoint or None
        Of the predictions and of the truth, where both sides are predicted.
    train : JointCounts or None
        Of the train labels.
    train_cells : ContingencyTable or None
    by_bag : mapping of direction to ContingencyTable or None
        The same combinations with the bag of each record, where they are known.
    moments : tuple of counts or None
        Sums of squares for the errors of MALS.
    why : mapping of direction to WhyCounts
        Where there are scores or strata: what the parts of a change follow from.
    """

    attribute: str
    A: tuple[Variable, ...]
    T: tuple[Variable, ...]
    sizes: Mapping[str, Index]
    pairs: Mapping[str, BagCounts]
    cells: Mapping[str, Cells]
    mals: tuple[BagJoint, BagJoint] | None = None
    train: JointCounts | None = None
    train_cells: Cells = None
    by_bag: Mapping[str, Cells] = field(default_factory=dict)
    moments: Moments | None = None
    why: Mapping[str, WhyCounts] = field(default_factory=dict)

    def shuffled(self, seed: int) -> SubjectCounts:
        """The same counts with the bags in another order."""
        return replace(
            self,
            pairs={way: bags.shuffled(seed) for way, bags in self.pairs.items()},
            mals=None if self.mals is None else (self.mals[0].shuffled(seed), self.mals[1].shuffled(seed)),
            by_bag={way: shuffle_bags(table, seed) for way, table in self.by_bag.items()},
            why={way: held.shuffled(seed) for way, held in self.why.items()},
        )

    def laid_out(self) -> SubjectCounts:
        """The same counts, laid out in memory as formulas expect them."""
        return replace(
            self,
            pairs={way: bags.laid_out() for way, bags in self.pairs.items()},
            mals=None if self.mals is None else (self.mals[0].laid_out(), self.mals[1].laid_out()),
        )

    def __repr__(self) -> str:
        return f"<counts of {self.attribute!r}: {len(labels_in(self.A))} groups x {len(labels_in(self.T))} tasks>"

    def __add__(self, other: SubjectCounts) -> SubjectCounts:
        if not isinstance(other, SubjectCounts):
            return NotImplemented
        pairs = {way: self.pairs[way] + other.pairs[way] for way in self.pairs}
        # Either addend is far below what 64 bits hold, so that a sum beyond it is negative.
        if any(floats(bags.counts.squared).min() < 0 for bags in pairs.values()):
            raise ValueError(TOO_LARGE)
        cells = {way: add_cells(self.cells[way], other.cells[way]) for way in self.cells}
        # Where combinations are too many they are so by bag: whatever the batches, both are there or neither is.
        by_bag = {
            way: None if cells.get(way) is None else add_by_bag(self.by_bag[way], other.by_bag.get(way))
            for way in self.by_bag
        }
        return SubjectCounts(
            self.attribute,
            self.A,
            self.T,
            {side: self.sizes[side] + other.sizes[side] for side in self.sizes},
            pairs,
            cells,
            None
            if self.mals is None or other.mals is None
            else (self.mals[0] + other.mals[0], self.mals[1] + other.mals[1]),
            # The train labels are counted once, whatever the evaluated records are cut into.
            self.train,
            self.train_cells,
            by_bag,
            add_moments(self.moments, other.moments),
            {way: held + other.why[way] for way, held in self.why.items()},
        )


def add_cells(left: Cells, right: Cells) -> Cells:
    """The sum of two tables of combinations, or None where it would be too large."""
    if left is None or right is None:
        return None
    both = left + right
    return both if len(both.cells) <= MOST_COMBINATIONS else None


def labels_in(variables: Sequence[Variable]) -> list[Label]:
    """The labels of some variables."""
    return [label for variable in variables for label in variable.labels]


def _variables(variables: Sequence[Variable]) -> list[list[Any]]:
    return [[v.name, v.kind, list(v.categories)] for v in variables]


def _unvariables(held: Sequence[Sequence[Any]]) -> tuple[Variable, ...]:
    return tuple(Variable(name, kind, tuple(categories)) for name, kind, categories in held)


def subject_arrays(subject: SubjectCounts) -> tuple[dict[str, Any], Arrays]:
    """A header and named arrays that hold everything of a subject; bags without records have rows of zeros."""
    arrays: Arrays = {f"sizes/{side}": sizes for side, sizes in subject.sizes.items()}
    header: dict[str, Any] = {
        "attribute": subject.attribute,
        "A": _variables(subject.A),
        "T": _variables(subject.T),
        "parts": {},
        "bags": {way: [bags.bags, bags.soft] for way, bags in subject.pairs.items()},
        "cells": sorted(subject.cells),
        "by bag": sorted(subject.by_bag),
        "moments": len(subject.moments or ()),
    }
    parts: dict[str, Any] = {f"cells/{way}": cells for way, cells in subject.cells.items()}
    parts |= {f"by bag/{way}": table for way, table in subject.by_bag.items()}
    parts |= {"train": subject.train, "train cells": subject.train_cells}
    held: dict[str, BagCounts | BagJoint] = {f"pairs/{way}": bags for way, bags in subject.pairs.items()}
    held |= dict(zip(("mals/predicted", "mals/truth"), subject.mals or (), strict=False))
    parts |= {name: bags.in_rows(np.arange(bags.bags)) for name, bags in held.items()}
    for way, bags in subject.pairs.items():
        put_count(arrays, f"agreeing/{way}", bags.agreeing)
    for i, moment in enumerate(subject.moments or ()):
        put_count(arrays, f"moments/{i}", moment)
    for name, part in parts.items():
        if part is not None:
            header["parts"][name], mine = to_arrays(part)
            arrays.update({f"{name}//{key}": array for key, array in mine.items()})
    if subject.why:
        header["why"] = {}
    for way, why in subject.why.items():
        header["why"][way], mine = why.to_arrays()
        arrays.update({f"why/{way}/{key}": array for key, array in mine.items()})
    return header, arrays


def subject_of(header: Mapping[str, Any], arrays: Arrays) -> SubjectCounts:
    """The subject that :func:`subject_arrays` took apart."""
    parts: dict[str, Any] = {
        name: from_arrays(held, {k.split("//", 1)[1]: v for k, v in arrays.items() if k.startswith(f"{name}//")})
        for name, held in header["parts"].items()
    }
    return SubjectCounts(
        header["attribute"],
        _unvariables(header["A"]),
        _unvariables(header["T"]),
        {side: arrays[f"sizes/{side}"] for side in ("A", "T")},
        {
            way: BagCounts.of_rows(bags, parts[f"pairs/{way}"], get_count(arrays, f"agreeing/{way}"), bool(soft))
            for way, (bags, soft) in header["bags"].items()
        },
        {way: parts.get(f"cells/{way}") for way in header["cells"]},
        (BagJoint.of_rows(parts["mals/predicted"]), BagJoint.of_rows(parts["mals/truth"]))
        if "mals/truth" in parts
        else None,
        parts.get("train"),
        parts.get("train cells"),
        {way: parts.get(f"by bag/{way}") for way in header.get("by bag", ())},
        tuple(get_count(arrays, f"moments/{i}") for i in range(header.get("moments", 0))) or None,
        {
            way: WhyCounts.from_arrays(held, _under(arrays, f"why/{way}/"))
            for way, held in header.get("why", {}).items()
        },
    )


def _under(arrays: Arrays, lead: str) -> Arrays:
    """The arrays whose names begin alike, by the rest of their names."""
    return {name[len(lead) :]: array for name, array in arrays.items() if name.startswith(lead)}
