"""All that an audit needs of its records, as counts that add up: over batches, files, sites and machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Label, Variable, printable

from .bag_joints import shuffled_joint
from .bags import BagCounts
from .contingency import ContingencyTable
from .fixed import Count, floats
from .joint import JointCounts
from .mismatch import differing, plan_columns, plans_apart, same_joint
from .pair import PairCounts
from .poisson import Fingerprint, least_keys
from .storage import SCHEMA, Arrays, from_arrays, get_count, put_count, read_arrays, to_arrays, write_arrays

Index = NDArray[np.int64]
Cells = ContingencyTable | None

# Distinct combinations of labels that are kept; beyond, what needs them is left out.
MOST_COMBINATIONS = 1 << 17
TOO_LARGE = "weights are too large to be summed exactly: multiply them all by one constant; only their ratios matter"
_KIND = "audit"
_SHOWN = 5


@dataclass(frozen=True)
class CountedSource:
    """What was counted: its name, its records, and what tells them from others.

    Records that have ids are the same where their ids are; those without are where they say the same, too.
    """

    name: str
    records: int
    keys: Fingerprint
    content: int


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
    mals : pair of JointCounts or None
        Of the predictions and of the truth, bag by bag, where both sides are predicted.
    train : JointCounts or None
        Of the train labels.
    train_cells : ContingencyTable or None
    """

    attribute: str
    A: tuple[Variable, ...]
    T: tuple[Variable, ...]
    sizes: Mapping[str, Index]
    pairs: Mapping[str, BagCounts]
    cells: Mapping[str, Cells]
    mals: tuple[JointCounts, JointCounts] | None = None
    train: JointCounts | None = None
    train_cells: Cells = None

    def shuffled(self, seed: int) -> SubjectCounts:
        """The same counts with the bags in another order."""
        mals = None if self.mals is None else tuple(shuffled_joint(joint, seed) for joint in self.mals)
        return replace(
            self,
            pairs={way: bags.shuffled(seed) for way, bags in self.pairs.items()},
            mals=mals,  # type: ignore[arg-type]
        )

    def __repr__(self) -> str:
        return f"<counts of {self.attribute!r}: {len(_labels(self.A))} groups x {len(_labels(self.T))} tasks>"

    def __add__(self, other: SubjectCounts) -> SubjectCounts:
        if not isinstance(other, SubjectCounts):
            return NotImplemented
        pairs = {way: self.pairs[way] + other.pairs[way] for way in self.pairs}
        # Either addend is far below what 64 bits hold, so that a sum beyond it is negative.
        if any(floats(bags.counts.squared).min() < 0 for bags in pairs.values()):
            raise ValueError(TOO_LARGE)
        return SubjectCounts(
            self.attribute,
            self.A,
            self.T,
            {side: self.sizes[side] + other.sizes[side] for side in self.sizes},
            pairs,
            {way: add_cells(self.cells[way], other.cells[way]) for way in self.cells},
            None
            if self.mals is None or other.mals is None
            else (self.mals[0] + other.mals[0], self.mals[1] + other.mals[1]),
            # The train labels are counted once, whatever the evaluated records are cut into.
            self.train,
            self.train_cells,
        )


@dataclass(frozen=True, eq=False, repr=False)
class AuditCounts:
    """What :func:`biasamp.count` gives, and :func:`biasamp.audit` takes: counts only, no record.

    ``a + b`` adds the counts of different records in the same label space, and refuses records that it has already.

    Attributes
    ----------
    plan : mapping
        Which columns play which role, and how they were read.
    subjects : tuple of SubjectCounts
        One a protected attribute.
    sources : tuple of CountedSource
        What was counted.
    units, keys : Fingerprint
        Of what is resampled as one, records or clusters, and of the records themselves.
    content, truths : int
        Digests of all values and of the true labels alone, which add up too.
    missing_values : int
    sampled : tuple of int
        A few keys of records that have ids, by which overlapping counts are told.
    """

    plan: Mapping[str, Any]
    subjects: tuple[SubjectCounts, ...]
    units: Fingerprint
    keys: Fingerprint
    content: int
    truths: int
    missing_values: int
    sampled: tuple[int, ...] = ()
    sources: tuple[CountedSource, ...] = ()

    @property
    def records(self) -> int:
        """How many records were counted."""
        return self.units.records

    @property
    def fingerprint(self) -> str:
        """A short digest of what was counted: the same for the same records, whatever counted them."""
        return f"{self.content:016x}"

    @property
    def resampled_as(self) -> str:
        """What tells whether two audits' resamples are of the same records in the same bags, and so are paired."""
        bags = max((b.bags for subject in self.subjects for b in subject.pairs.values()), default=0)
        keyed = self.plan.get("record") is not None or self.plan.get("cluster") is not None
        return f"{self.units} in {bags} bags" + ("" if keyed else f" of {self.truths:016x}")

    def of_source(self, name: str) -> AuditCounts:
        """The counts as those of a source.

        Rows without ids are keyed by their number, which starts anew in every source: rows of the same number would
        share a bag, and where sources are sorted alike their errors would go together. So each source has its bags
        in an order of its own, decided by its true labels; two models on the same records have the same.
        """
        subjects = self.subjects
        if self.plan.get("record") is None and self.plan.get("cluster") is None:
            subjects = tuple(subject.shuffled(self.truths) for subject in subjects)
        return replace(self, subjects=subjects, sources=(CountedSource(name, self.records, self.keys, self.content),))

    def __repr__(self) -> str:
        names = ", ".join(printable(source.name, 40) for source in self.sources[:_SHOWN])
        more = f" and {len(self.sources) - _SHOWN} more" if len(self.sources) > _SHOWN else ""
        held = "; ".join(
            f"{printable(s.attribute, 40)}: {len(_labels(s.A))} groups x {len(_labels(s.T))} tasks"
            for s in self.subjects
        )
        return f"<AuditCounts of {self.records:,} records from {names or 'no source'}{more}: {held}>"

    def __add__(self, other: AuditCounts) -> AuditCounts:
        if not isinstance(other, AuditCounts):
            return NotImplemented
        self._refuse_strangers(other)
        return self.joined(other, (*self.sources, *other.sources))

    def __radd__(self, other: Any) -> AuditCounts:
        # ``sum`` begins with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def joined(self, other: AuditCounts, sources: Sequence[CountedSource] = ()) -> AuditCounts:
        """The sum with other counts in the same label space."""
        if not set(self.sampled).isdisjoint(other.sampled):
            raise ValueError(
                f"record column {self.plan.get('record')!r} has repeated ids: a record has one row, and is counted once. "
                "Rows that belong together without being the same record go into cluster=; ids of several sources must "
                "differ, so put the source's name before them where they start again at each"
            )
        return replace(
            self,
            subjects=tuple(a + b for a, b in zip(self.subjects, other.subjects, strict=True)),
            units=self.units + other.units,
            keys=self.keys + other.keys,
            content=(self.content + other.content) % (1 << 64),
            truths=(self.truths + other.truths) % (1 << 64),
            missing_values=self.missing_values + other.missing_values,
            sampled=least_keys(np.array(self.sampled + other.sampled, dtype=np.uint64)),
            sources=tuple(sources),
        )

    def _refuse_strangers(self, other: AuditCounts) -> None:
        """Raise for counts that do not add up with these, saying how they differ."""
        # How columns were declared shows in the labels they gave, which are compared below.
        mine, theirs = plan_columns(self.plan), plan_columns(other.plan)
        if mine != theirs:
            raise ValueError(f"counts made in different ways do not add up: {plans_apart(mine, theirs)[:500]}")
        for first, second in zip(self.subjects, other.subjects, strict=True):
            for role, one, two in (("attribute", first.A, second.A), ("tasks", first.T, second.T)):
                if one != two:
                    raise ValueError(differing(role, one, two))
            if (first.train is None) != (second.train is None) or (
                first.train is not None and not same_joint(first.train, second.train)
            ):
                raise ValueError(
                    "the counts were made with different train labels, which decide the signs: count all with the same"
                )
        named = self.plan.get("record") is not None
        known = {(source.keys, 0 if named else source.content): source for source in self.sources}
        for source in other.sources:
            twice = known.get((source.keys, 0 if named else source.content))
            if twice is not None:
                raise ValueError(
                    f"'{printable(source.name, 60)}' and '{printable(twice.name, 60)}' hold the same {source.records:,} "
                    "records: counted twice they would weigh twice. Leave one of them out"
                )

    def to_dict(self) -> dict[str, Any]:
        """What was counted, in plain values."""
        return {
            "schema": SCHEMA,
            "kind": _KIND,
            "records": self.records,
            "fingerprint": self.fingerprint,
            "missing_values": self.missing_values,
            "plan": _hashable(self.plan),
            "sources": [{"name": s.name, "records": s.records, "keys": str(s.keys)} for s in self.sources],
            "attributes": [
                {
                    "attribute": subject.attribute,
                    "groups": [
                        {"label": str(label), "records": count}
                        for label, count in zip(_labels(subject.A), subject.sizes["A"].tolist(), strict=True)
                    ],
                    "tasks": len(_labels(subject.T)),
                    "directions": {
                        way: {
                            "pairs": len(_labels(subject.A)) * len(_labels(subject.T)),
                            "bags": bags.bags,
                            "combinations": None if subject.cells[way] is None else len(subject.cells[way].cells),  # type: ignore[union-attr]
                        }
                        for way, bags in subject.pairs.items()
                    },
                }
                for subject in self.subjects
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write the counts to a Parquet file, with a schema version, label names, sources and a checksum."""
        subjects, arrays = [], {}
        for i, subject in enumerate(self.subjects):
            header, mine = _subject_arrays(subject)
            subjects.append(header)
            arrays.update({f"{i}/{name}": array for name, array in mine.items()})
        write_arrays(
            path,
            {
                "kind": _KIND,
                "plan": self.plan,
                "subjects": subjects,
                "units": str(self.units),
                "keys": str(self.keys),
                "content": self.fingerprint,
                "truths": f"{self.truths:016x}",
                "missing_values": self.missing_values,
                "sampled": [f"{key:016x}" for key in self.sampled],
                "sources": [[s.name, s.records, str(s.keys), f"{s.content:016x}"] for s in self.sources],
            },
            arrays,
        )

    @classmethod
    def load(cls, path: str | Path) -> AuditCounts:
        """Read counts that :meth:`save` wrote; a damaged or foreign file is refused."""
        header, arrays = read_arrays(path)
        if header.get("kind") != _KIND:
            raise ValueError(
                f"{Path(path).name} holds counts of the kind {header.get('kind')!r}, not those of an audit"
            )
        try:
            subjects = tuple(
                _subject(held, {k.split("/", 1)[1]: v for k, v in arrays.items() if k.startswith(f"{i}/")})
                for i, held in enumerate(header["subjects"])
            )
            return cls(
                _hashable(header["plan"]),
                subjects,
                Fingerprint.parse(header["units"]),
                Fingerprint.parse(header["keys"]),
                int(header["content"], 16),
                int(header["truths"], 16),
                int(header["missing_values"]),
                tuple(int(key, 16) for key in header["sampled"]),
                tuple(
                    CountedSource(name, n, Fingerprint.parse(keys), int(content, 16))
                    for name, n, keys, content in header["sources"]
                ),
            )
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(
                f"{Path(path).name} is damaged: it does not hold what counts consist of ({error})"
            ) from None


def add_cells(left: Cells, right: Cells) -> Cells:
    """The sum of two tables of combinations, or None where it would be too large."""
    if left is None or right is None:
        return None
    both = left + right
    return both if len(both.cells) <= MOST_COMBINATIONS else None


def _hashable(plan: Any) -> Any:
    """A plan as it was before it was written: JSON knows no tuples."""
    return json.loads(json.dumps(plan))


def _labels(variables: Sequence[Variable]) -> list[Label]:
    return [label for variable in variables for label in variable.labels]


def _variables(variables: Sequence[Variable]) -> list[list[Any]]:
    return [[v.name, v.kind, list(v.categories)] for v in variables]


def _unvariables(held: Sequence[Sequence[Any]]) -> tuple[Variable, ...]:
    return tuple(Variable(name, kind, tuple(categories)) for name, kind, categories in held)


def _subject_arrays(subject: SubjectCounts) -> tuple[dict[str, Any], Arrays]:
    arrays: Arrays = {f"sizes/{side}": sizes for side, sizes in subject.sizes.items()}
    header: dict[str, Any] = {
        "attribute": subject.attribute,
        "A": _variables(subject.A),
        "T": _variables(subject.T),
        "parts": {},
        "bags": {way: [bags.bags, bags.soft] for way, bags in subject.pairs.items()},
        "cells": sorted(subject.cells),
    }
    parts: dict[str, PairCounts | JointCounts | ContingencyTable] = {}
    for way, bags in subject.pairs.items():
        parts[f"pairs/{way}"] = bags.counts
        put_count(arrays, f"agreeing/{way}", bags.agreeing)
    for way, cells in subject.cells.items():
        if cells is not None:
            parts[f"cells/{way}"] = cells
    if subject.mals is not None:
        parts["mals/predicted"], parts["mals/truth"] = subject.mals
    if subject.train is not None:
        parts["train"] = subject.train
    if subject.train_cells is not None:
        parts["train cells"] = subject.train_cells
    for name, part in parts.items():
        header["parts"][name], mine = to_arrays(part)
        arrays.update({f"{name}//{key}": array for key, array in mine.items()})
    return header, arrays


def _subject(header: Mapping[str, Any], arrays: Arrays) -> SubjectCounts:
    parts: dict[str, Any] = {
        name: from_arrays(held, {k.split("//", 1)[1]: v for k, v in arrays.items() if k.startswith(f"{name}//")})
        for name, held in header["parts"].items()
    }
    agreeing: dict[str, Count] = {way: get_count(arrays, f"agreeing/{way}") for way in header["bags"]}
    return SubjectCounts(
        header["attribute"],
        _unvariables(header["A"]),
        _unvariables(header["T"]),
        {side: arrays[f"sizes/{side}"] for side in ("A", "T")},
        {
            way: BagCounts(bags, parts[f"pairs/{way}"], agreeing[way], bool(soft))
            for way, (bags, soft) in header["bags"].items()
        },
        {way: parts.get(f"cells/{way}") for way in header["cells"]},
        (parts["mals/predicted"], parts["mals/truth"]) if "mals/truth" in parts else None,
        parts.get("train"),
        parts.get("train cells"),
    )
