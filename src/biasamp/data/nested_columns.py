"""Fields of nested columns by dotted names: ``doc.gender`` is the field ``gender`` of the column ``doc``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .label import printable

Place = tuple[int, ...]
_SHOWN = 4


def flat_fields(fields: Iterable[Any]) -> list[tuple[str, Place, Any]]:
    """The name, the place and the type of every column, with the fields of nested ones in their stead.

    A column whose own name has a dot comes by that name alone: a field that would be called the same is left out.

    >>> schema = pa.schema([("id", pa.int64()), ("doc", pa.struct([("gender", pa.string()), ("age", pa.int64())]))])
    >>> [name for name, _, _ in flat_fields(schema)]
    ['id', 'doc.gender', 'doc.age']
    """
    listed = list(fields)
    own = {field.name for field in listed}
    found = [leaf for place, field in enumerate(listed) for leaf in _leaves(field.name, (place,), field.type)]
    return [(name, place, kind) for name, place, kind in found if len(place) == 1 or name not in own]


def _leaves(name: str, place: Place, kind: Any) -> list[tuple[str, Place, Any]]:
    if not pa.types.is_struct(kind) or not kind.num_fields:
        return [(name, place, kind)]
    fields = [kind.field(i) for i in range(kind.num_fields)]
    return [leaf for i, one in enumerate(fields) for leaf in _leaves(f"{name}.{one.name}", (*place, i), one.type)]


def flat_schema(schema: Any) -> Any:
    """A schema with the fields of nested columns in their stead."""
    if not any(pa.types.is_struct(kind) for kind in schema.types):
        return schema
    return pa.schema([(name, kind) for name, _, kind in flat_fields(schema)])


def roots(schema: Any, columns: Sequence[str]) -> dict[str, Place]:
    """Where columns are in a schema; ``KeyError`` for one that is missing, or there more than once.

    One that has fields itself is a ``TypeError``.
    """
    places: dict[str, list[Place]] = {}
    for name, place, _ in flat_fields(schema):
        places.setdefault(name, []).append(place)
    for name in columns:
        if len(places.get(name, ())) != 1:
            if name not in places and schema.names.count(name) == 1:
                refuse_fields(name, schema.field(name).type)
            raise KeyError(name)
    return {name: places[name][0] for name in columns}


def refuse_fields(name: str, kind: Any) -> None:
    """Raise for a column that has fields, naming some of them."""
    if pa.types.is_struct(kind) and kind.num_fields:
        some = [f"{name}.{kind.field(i).name}" for i in range(min(kind.num_fields, _SHOWN))]
        fields = ", ".join(repr(printable(field, 60)) for field in some)
        raise TypeError(f"column {printable(name, 60)!r} holds fields: name one of them, such as {fields}")


def field_type(kind: Any, place: Place) -> Any:
    """The type of a field of a nested column; ``place`` is the way to it within the column."""
    for step in place:
        kind = kind.field(step).type
    return kind


def flattened(data: Any, schema: Any, columns: Mapping[str, Place]) -> Any:
    """A table or a batch of columns, out of one that has the columns of ``schema`` that they are fields of.

    Where a nested column is missing so are its fields.
    """
    arrays = []
    for place in columns.values():
        root = schema.field(place[0]).name
        array, kind = data.column(root), schema.field(place[0]).type
        for step in place[1:]:
            # By name: a reader may leave fields out that nobody asked for.
            name = kind.field(step).name
            array, kind = pc.struct_field(array, [array.type.get_field_index(name)]), kind.field(step).type
        arrays.append(array)
    return type(data).from_arrays(arrays, names=list(columns))


def nested_types(schema: Any, columns: Mapping[str, Place], types: Mapping[str, Any]) -> dict[str, Any]:
    """For each column of a file that fields are wanted of, a type with those fields alone, in their ``types``."""
    tree: dict[str, Any] = {}
    for name, place in columns.items():
        spot, kind, step = tree, schema, place[0]
        for deeper in place[1:]:
            field = kind.field(step)
            spot, kind, step = spot.setdefault(field.name, {}), field.type, deeper
        found = types[name]
        plain = pa.types.is_dictionary(found) and len(place) > 1
        spot[kind.field(step).name] = found.value_type if plain else found
    return {name: _struct(below) for name, below in tree.items()}


def _struct(below: Any) -> Any:
    return pa.struct([(name, _struct(one)) for name, one in below.items()]) if isinstance(below, dict) else below
