"""Types of Arrow columns: what several have in common, and how values come into it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pyarrow as pa

from .label import printable


def is_text(kind: Any) -> bool:
    """Whether a type is text of either width."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_list(kind: Any) -> bool:
    """Whether a type is lists of any kind."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_number(kind: Any) -> bool:
    """Whether a type is whole or floating numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_mixed(kinds: Iterable[Any]) -> bool:
    """Whether types are neither one nor all numbers; a column without any value goes with all."""
    known = {kind for kind in kinds if not pa.types.is_null(kind)}
    return len(known) > 1 and not all(is_number(kind) for kind in known)


def shared_schema(columns: Iterable[str], types: Sequence[Any], source: str) -> Any:
    """For each column, a type that the values of all files can take.

    Parameters
    ----------
    types : sequence of mapping of str to DataType
        The types of the columns in each file.
    source : str
        What the files are called together, for the message on types that have nothing in common.
    """
    return pa.schema([(column, _shared_type(column, [kinds[column] for kinds in types], source)) for column in columns])


def _shared_type(column: str, kinds: Iterable[Any], source: str) -> Any:
    known = {kind for kind in kinds if not pa.types.is_null(kind)}
    if len(known) < 2:
        return next(iter(known), pa.null())
    target = _common(known)
    try:
        for kind in known:
            _cast(pa.nulls(0, kind), target)
    except pa.ArrowException:
        shown = " and ".join(sorted(printable(str(kind), 60) for kind in known))
        raise ValueError(
            f"the files of {source!r} do not fit together: column {printable(column, 60)!r} holds {shown}, "
            "which have no type in common"
        ) from None
    return target


def in_types(data: Any, target: Any, coded: Collection[str] = ()) -> Any:
    """A table or a record batch in the columns and types of a schema; codes of the columns ``coded`` stay codes."""
    if data.schema.equals(target):
        return data
    arrays = [
        array
        if (field.name in coded and pa.types.is_dictionary(array.type)) or array.type == field.type
        else _cast(array, field.type)
        for array, field in zip(data.columns, target, strict=True)
    ]
    return type(data).from_arrays(arrays, names=target.names)


def _common(kinds: set[Any]) -> Any:
    """A type that values of several types can take without losing which category they are."""
    inner = {kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds}
    inner = {kind for kind in inner if not pa.types.is_null(kind)}
    if len(inner) < 2:
        return next(iter(inner), pa.null())
    if all(is_list(kind) for kind in inner):
        return pa.large_list(_common({kind.value_type for kind in inner}))
    if all(pa.types.is_integer(kind) or pa.types.is_boolean(kind) for kind in inner):
        return pa.int64()
    if all(is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind) for kind in inner):
        return pa.float64()
    return pa.large_string()


def _cast(values: Any, target: Any) -> Any:
    """Cast a column; true and false become 1 and 0 wherever they meet something else."""
    if pa.types.is_boolean(values.type) and not pa.types.is_boolean(target):
        values = values.cast(pa.int8())
    return values.cast(target)
