"""A first look at data that is counted in parts: which labels there are, and where some are missing.

Parts must be counted in one label space, and a part alone does not know the categories of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import iadd
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biasamp.data import Column, label_set, printable
from biasamp.data.frames import arrow_column
from biasamp.data.label_rules import number_codes
from biasamp.engines import Engine, counted

from .label_reader import crossing
from .plan import Plan, Spec, columns_of
from .source import Source

# A column of more categories is an identifier or a measurement.
_MOST_CATEGORIES = 1_000_000
_PLACES = 5


@dataclass
class ColumnFacts:
    """What was met in one column."""

    kind: str = ""
    categories: set[str] = field(default_factory=set)
    fraction: float | None = None
    missing: int = 0
    places: tuple[int, ...] = ()

    def see(self, column: Column, start: int | None) -> None:
        """Take note of some values."""
        gone = missing_values(column)
        if gone is not None and gone.any():
            self.missing += int(gone.sum())
            if start is not None:
                self.places = (*self.places, *(np.flatnonzero(gone)[:_PLACES] + start).tolist())
        if gone is not None and gone.all() and not column.categories:
            return
        self.kind = column.kind
        if column.kind in ("text", "list"):
            self.categories.update(column.categories)
            return
        there = column.values if gone is None else column.values[~gone]
        broken = there[there != np.rint(there)] if column.kind == "float" else there[:0]
        if len(broken):
            self.fraction = float(broken[0])
        else:
            self.categories.update(number_codes(there, None)[1])

    def __iadd__(self, other: ColumnFacts) -> ColumnFacts:
        self.kind = self.kind or other.kind
        self.categories |= other.categories
        self.fraction = other.fraction if self.fraction is None else self.fraction
        self.missing += other.missing
        self.places = tuple(sorted((*self.places, *other.places)))[:_PLACES]
        return self

    def example(self, name: str, rows: int) -> Column:
        """A column that has every category."""
        place = np.arange(rows)
        categories = tuple(sorted(self.categories))
        if self.kind == "list":
            indptr = np.array([0] + [len(categories)] * rows, dtype=np.int64)
            return Column(name, "list", np.arange(len(categories)), None, categories, indptr)
        if self.kind == "text":
            return Column(name, "text", place % len(categories), None, categories)
        if self.kind == "int":
            whole = np.array(sorted(int(category) for category in self.categories))
            return Column(name, "int", whole[place % len(whole)])
        numbers = [float(category) for category in self.categories]
        numbers += [] if self.fraction is None else [self.fraction]
        if not numbers:
            return Column(name, "float", np.zeros(rows), np.ones(rows, dtype=bool))
        values = np.array(sorted(numbers))[place % len(numbers)]
        return Column(name, self.kind, values.astype(bool) if self.kind == "bool" else values)


@dataclass
class Survey:
    """What was met in all columns, and which crossings of attributes there are."""

    columns: dict[str, ColumnFacts]
    crossings: set[str] = field(default_factory=set)
    rows: int = 0

    def __iadd__(self, other: Survey) -> Survey:
        for name, facts in other.columns.items():
            self.columns[name] += facts
            if len(self.columns[name].categories) > _MOST_CATEGORIES:
                raise ValueError(
                    f"column '{printable(name, 60)}' holds more than {_MOST_CATEGORIES:,} different values: it looks like "
                    "an identifier or a measurement, not like groups. Name another column, or group its values first"
                )
        self.crossings |= other.crossings
        self.rows += other.rows
        return self

    def example(self, *matrices: Spec | None) -> Source:
        """A few made-up records that have every label: reading them tells the label space of all.

        Those of ``matrices`` that hold class probabilities add up to 1, as the real ones do.
        """
        rows = max([1, *(len(facts.categories) + 1 for facts in self.columns.values())])
        made = {name: facts.example(name, rows) for name, facts in self.columns.items()}
        for spec in matrices:
            if spec is not None and spec.holds_classes:
                soft = any(self.columns[name].fraction is not None for name in spec.names)
                for place, name in enumerate(spec.names):
                    chance = 1.0 / len(spec.names) if soft else float(place == 0)
                    made[name] = Column(name, "float", np.full(rows, chance))
        return Source("data", made, rows)


@dataclass(frozen=True)
class SurveyKernel:
    """Looks at one part."""

    columns: tuple[str, ...]
    crossed: tuple[tuple[Spec, ...], ...]
    batch_rows: int

    def __call__(self, part: Any) -> Survey:
        """What the part holds."""
        out = Survey({name: ColumnFacts() for name in self.columns})
        for start, source in read_batches(part, self.columns, self.batch_rows, self.columns):
            for name, column in source.columns.items():
                out.columns[name].see(column, start)
            for specs in self.crossed:
                sets = [label_set(one.columns(source), "attributes") for one in specs]
                out.crossings.update(crossing(sets, [one.title for one in specs]).variables[0].categories)
            out.rows += source.rows
            counted(part, source.rows)
        return out


def missing_values(column: Column) -> NDArray[np.bool_] | None:
    """Which values of a column are missing; None where none can be."""
    return column.values < 0 if column.kind == "text" else column.missing


def read_batches(
    part: Any, columns: Sequence[str], rows: int, labels: Sequence[str]
) -> Iterator[tuple[int | None, Source]]:
    """The batches of a part, with the number of their first row where rows are numbered.

    Columns of ``labels`` have few distinct values, and are read as codes where a file holds such.
    """
    start = part.start
    for batch in part.batches(columns, rows=rows, categories=[name for name in labels if name in columns]):
        if batch.num_rows:
            held = {name: arrow_column(name, batch.column(i)) for i, name in enumerate(columns)}
            yield start, Source(part.name, held, batch.num_rows, start or 0)
        start = None if start is None else start + batch.num_rows


def survey(plan: Plan, parts: Sequence[Any], engine: Engine) -> Survey:
    """Look at the columns whose categories decide the label space.

    Numbers among several yes/no columns need no look: they are one label each, whatever they hold.
    """
    types = dict(parts[0].fields)
    looked = [name for one, _ in plan.labels for name in one.names if _open(one, types[name])]
    crossed: tuple[tuple[Spec, ...], ...] = ()
    if plan.intersections:
        predicted = tuple(one for one in plan.group_predictions if one is not None)
        crossed = (tuple(plan.groups.values()), *([predicted] if len(predicted) == len(plan.groups) else []))
        looked += columns_of(*(one for specs in crossed for one in specs))
    found = Survey({})
    if looked:
        found = engine.reduce(SurveyKernel(tuple(dict.fromkeys(looked)), crossed, engine.batch_rows), parts, iadd)
    for name in columns_of(*(one for one, _ in plan.labels)):
        if name not in found.columns:
            kind = (
                "bool" if pa.types.is_boolean(types[name]) else "int" if pa.types.is_integer(types[name]) else "float"
            )
            found.columns[name] = ColumnFacts(kind, {"0"})
    return found


def _open(one: Spec, kind: Any) -> bool:
    """Whether a column's labels depend on its values."""
    if kind is None:  # Python objects, which only their values tell
        return True
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        return True
    if one.declared == "binary" or one.edges is not None:
        return False
    return len(one.names) == 1 or (one.declared == "categorical" and one.categories is None)
