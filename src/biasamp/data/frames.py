"""Dataframes and Arrow data of any library as columns, through narwhals and Arrow; types that Arrow columns share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .argument_columns import object_column, read_columns, refuse_tables, split_missing, tensor_array
from .arrow_numbers import float_of, null_mask, numpy_of
from .columns import Column, Columns, NumberMatrix, check_columns, check_lengths, compact, refuse_missing_items
from .label import canonical, printable
from .moments import is_moment, moment_column
from .nested_columns import refuse_fields
from .same_columns import same_index

_ACCEPTED = "a path, a dataframe in memory or a mapping of column names to arrays"
_FLOAT_DIGITS = 15
# What narwhals and Arrow raise for values that have no Arrow type in common.
_NO_ARROW_TYPE = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, OverflowError)


def frame_columns(data: Any, role: str) -> Columns | None:
    """The columns of a frame or series, or None when it is neither."""
    native = _native(data, role)
    if native is None:
        return None
    if is_lazy(data):
        native = native.collect()
    if isinstance(native, (pa.Array, pa.ChunkedArray)):
        return Columns([_series(native, "", role)], single=True)
    if hasattr(native, "columns"):
        return _gather([_series(values, name, role) for name, values in _pairs(native)], role)
    return Columns([_series(native, "" if native.name is None else str(native.name), role)], single=True)


def named_columns(data: Any, wanted: Sequence[str], role: str) -> dict[str, Column]:
    """Some columns of a frame or of a mapping of arrays, by name."""
    held = _by_name(data, wanted, role)
    if isinstance(data, Mapping):
        items = [item for item in read_columns(held, role).items if isinstance(item, Column)]
        # A column of a matrix is spread over it: copied once, it is quick to read again and again.
        return {item.name: item.held_as(item.name, np.ascontiguousarray(item.values)) for item in items}
    return {name: _series(values, name, role) for name, values in held.items()}


def arrow_table(data: Any, wanted: Sequence[str] | None, role: str, accepted: str = _ACCEPTED) -> Any:
    """Some columns of a frame or of a mapping of arrays, or all of them, as an Arrow table."""
    held = _by_name(data, wanted, role, accepted)
    arrays = {name: _arrow_array(values, f"{role}[{name!r}]") for name, values in held.items()}
    check_lengths(arrays, role)
    return pa.table(arrays)


def _native(data: Any, role: str) -> Any:
    """A narwhals frame or series, an Arrow table or an Arrow array; None for what is none of these."""
    if isinstance(data, (pa.Array, pa.ChunkedArray, pa.Table)):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    import narwhals as nw

    try:
        native = nw.from_native(data, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{role} has columns of the same name, rename them: {error}") from None
    except TypeError:
        native = data
    if isinstance(native, (nw.DataFrame, nw.Series)):
        return native
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pa.table(data)
        except (TypeError, pa.ArrowInvalid):
            return pa.chunked_array(data)
    if is_lazy(data):
        return native
    if isinstance(native, nw.LazyFrame):
        raise TypeError(f"{role} is a lazy frame; collect() it first, or give the path of the files")
    return None


def arrow_series(data: Any) -> Any:
    """A series of any library, or an Arrow array, as an Arrow array; None for what is neither."""
    if isinstance(data, Mapping):
        return None
    native = _native(data, "data")
    if native is None or hasattr(native, "columns") or is_lazy(data):
        return None
    return _arrow_array(native, "data")


def is_lazy(data: Any) -> bool:
    """Whether data is a lazy frame of polars, of which columns are collected once they are needed."""
    return type(data).__name__ == "LazyFrame" and type(data).__module__.partition(".")[0] == "polars"


def column_names(data: Any) -> list[str] | None:
    """The names of the columns of a mapping, a frame or a lazy frame; None for what is none of these."""
    if isinstance(data, Mapping):
        return [str(name) for name in data]
    native = _native(data, "data")
    if is_lazy(data):
        return list(native.collect_schema().names())
    return [name for name, _ in _pairs(native)] if hasattr(native, "columns") else None


def _by_name(data: Any, wanted: Sequence[str] | None, role: str, accepted: str = _ACCEPTED) -> dict[str, Any]:
    """Some or all columns as the data holds them; an unknown one is an error that offers the nearest names."""
    native: Any = data if isinstance(data, Mapping) else _native(data, role)
    if is_lazy(data):
        names = native.collect_schema().names()
        wanted = names if wanted is None else wanted
        check_columns(wanted, names, role)
        native = native.select(list(dict.fromkeys(wanted))).collect()
    if not isinstance(data, Mapping) and not hasattr(native, "columns"):
        kind = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
        raise TypeError(f"{role} is a {kind}; {accepted} is needed")
    pairs = _pairs(native)
    names, held = [name for name, _ in pairs], dict(pairs)
    wanted = names if wanted is None else wanted
    check_columns(wanted, names, role)
    found = {name: held[name] for name in wanted}
    if isinstance(data, Mapping):
        same_index({f"{role}[{name!r}]": values for name, values in found.items()})
    return found


def _pairs(native: Any) -> list[tuple[str, Any]]:
    """The names and the values of the columns of a mapping, an Arrow table or a narwhals frame."""
    if isinstance(native, Mapping):
        return [(str(name), values) for name, values in native.items()]
    if isinstance(native, pa.Table):
        return list(zip(native.column_names, native.columns, strict=True))
    # Not by name: numbers and tuples, which pandas allows as names, would be read as rows and slices.
    return [(str(column.name), column) for column in native.iter_columns()]


def _arrow_array(values: Any, role: str) -> Any:
    """A series, an array or a list as Arrow values; Python objects of mixed types are spelled out."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    refuse_tables(values, role)
    if isinstance(values, (Mapping, Set)):  # whose keys would be the values, in no order of records
        raise TypeError(f"{role} is a {type(values).__name__}; a column of values is needed")
    try:
        if hasattr(values, "to_arrow"):
            return values.to_arrow()
        if hasattr(values, "detach"):
            values = tensor_array(values)
        return pa.array(list(values) if isinstance(values, range) else values, from_pandas=True)
    except _NO_ARROW_TYPE:
        if not hasattr(values, "__iter__"):
            raise TypeError(f"{role} is a {type(values).__name__}; a column of values is needed") from None
        column = object_column(values.to_list() if hasattr(values, "to_list") else list(values), role, role)
    if column.kind not in ("text", "list"):
        return pa.array(column.values, mask=column.missing)
    codes = pa.array(column.values, mask=column.values < 0)
    text = pa.array(column.categories, pa.string()).take(codes)
    if column.indptr is None:
        return text
    mask = None if column.missing is None else pa.array(column.missing)
    return pa.LargeListArray.from_arrays(pa.array(column.indptr), text, mask=mask)


def _series(series: Any, name: str, role: str) -> Column:
    """A narwhals series or an Arrow array as a column; messages call one without a name by its role."""
    if not name:
        return replace(_series(series, role, role), name=name)
    try:
        return arrow_column(name, series.to_arrow() if hasattr(series, "to_arrow") else series)
    except _NO_ARROW_TYPE:
        if not hasattr(series, "to_list"):
            raise
        # Python objects of mixed types have no Arrow type: spell them one by one.
        return object_column(series.to_list(), name, role)


def _gather(columns: list[Column], role: str) -> Columns:
    if not columns:
        raise ValueError(f"{role} has no columns: at least one label is needed")
    if len(columns) > 1 and all(column.kind in ("bool", "int", "float") for column in columns):
        some = any(column.missing is not None for column in columns)
        missing = np.column_stack([column.gone for column in columns]) if some else None
        names = tuple(column.name for column in columns)
        values = np.column_stack([column.values for column in columns])
        return Columns([NumberMatrix(names, values, missing)], single=False)
    return Columns(columns, single=False)


def arrow_column(name: str, data: Any) -> Column:
    """An Arrow array as a column."""
    if isinstance(data, pa.ChunkedArray):
        data = data.combine_chunks()
        if isinstance(data, pa.ChunkedArray):
            data = pa.concat_arrays(data.chunks) if data.num_chunks else pa.array([], type=data.type)
    if isinstance(data, pa.ExtensionArray):
        data = data.storage
    kind = data.type
    missing = null_mask(data) if data.null_count else None
    if pa.types.is_null(kind):
        return Column(name, "float", np.zeros(len(data)), np.ones(len(data), dtype=bool))
    if pa.types.is_boolean(kind):
        return Column(name, "bool", _filled(data, False).astype(bool), missing)
    if pa.types.is_integer(kind):
        return Column(name, "int", _filled(data, 0), missing)
    if pa.types.is_floating(kind):
        wide = data.cast(pa.float32()) if pa.types.is_float16(kind) else data
        return Column(name, "float", *split_missing(_filled(wide, 0.0), missing))
    if pa.types.is_decimal(kind):
        # Floats hold so many digits; more of them are kept one by one.
        exact = kind.precision <= _FLOAT_DIGITS
        return Column(name, "float", float_of(data), missing) if exact else object_column(data.to_pylist(), name, name)
    if pa.types.is_dictionary(kind) and pa.types.is_floating(kind.value_type):
        # A way to store numbers, as probabilities that many records share; categories are text or whole numbers.
        return arrow_column(name, data.dictionary_decode())
    if pa.types.is_dictionary(kind):
        return _dictionary(name, data)
    if _is_view(kind):
        # One by one: the cast of Arrow 26 loses the items behind a list that is missing.
        return _lists(name, pa.array(data.to_pylist(), pa.large_list(kind.value_type)), missing)
    if is_list(kind):
        return _lists(name, data, missing)
    if is_text(kind) or kind == pa.string_view():
        return _dictionary(name, pc.dictionary_encode(data.cast(pa.large_string())))
    if is_moment(kind):
        return moment_column(name, data)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return Column.text(name, data.to_pylist(), null_mask(data))
    refuse_fields(name, kind)
    raise TypeError(f"column {name!r} holds {kind} values; numbers, text, true/false or lists of labels are read")


def _filled(data: Any, value: Any) -> Any:
    return numpy_of(data, value)


def _dictionary(name: str, data: Any) -> Column:
    """Text or categories: codes into the values that are observed."""
    codes = numpy_of(data.indices.cast(pa.int64()), -1)
    values = data.dictionary.to_pylist()
    spelled = ["" if value is None else canonical(value) for value in values]
    if None in values:
        codes = np.where(codes == values.index(None), -1, codes)
    codes, categories = compact(codes, spelled)
    return Column(name, "text", codes, None, categories)


def _lists(name: str, data: Any, missing: Any) -> Column:
    """Lists of labels; a label named twice in one list counts once."""
    if pa.types.is_fixed_size_list(data.type):
        data = data.cast(pa.large_list(data.type.value_type))
    held = data.type.value_type
    if pa.types.is_nested(held):
        what = "lists" if is_list(held) or _is_view(held) else "maps" if pa.types.is_map(held) else "fields"
        raise TypeError(f"column {name!r} holds lists of {what}; a list of labels per record is read")
    inner = arrow_column(name, data.flatten())
    if data.flatten().null_count:
        gone = null_mask(data.flatten())
        refuse_missing_items(name, gone, numpy_of(pc.list_value_length(data), 0))
    if inner.kind != "text":
        return Column.lists(name, data.to_pylist(), null_mask(data))
    return inner.in_lists(numpy_of(pc.list_value_length(data), 0), missing)


def is_text(kind: Any) -> bool:
    """Whether a type is text of either width."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_list(kind: Any) -> bool:
    """Whether a type is lists of any kind."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_view(kind: Any) -> bool:
    """Whether a type is lists that may share their items."""
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))


def is_number(kind: Any) -> bool:
    """Whether a type is whole or floating numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _known(kinds: Iterable[Any]) -> set[Any]:
    """Types without that of a column without any value, which goes with all."""
    return {kind for kind in kinds if not pa.types.is_null(kind)}


def is_mixed(kinds: Iterable[Any]) -> bool:
    """Whether types are neither one nor all numbers."""
    known = _known(kinds)
    return len(known) > 1 and not all(is_number(kind) for kind in known)


def shared_schema(columns: Iterable[str], types: Sequence[Any], source: str) -> Any:
    """For each column, a type that the values of all files can take; ``types`` are mappings, one per file.

    ``source`` is what the files are called together, for the message on types that have nothing in common.
    """
    return pa.schema([(column, _shared_type(column, [kinds[column] for kinds in types], source)) for column in columns])


def _shared_type(column: str, kinds: Iterable[Any], source: str) -> Any:
    known = _known(kinds)
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
    arrays = []
    for array, field in zip(data.columns, target, strict=True):
        alike = array.type == field.type or (field.name in coded and pa.types.is_dictionary(array.type))
        arrays.append(array if alike else _cast(array, field.type))
    return type(data).from_arrays(arrays, names=target.names)


def _common(kinds: set[Any]) -> Any:
    """A type that values of several types can take without losing which category they are."""
    inner = _known(kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds)
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
