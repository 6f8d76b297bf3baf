"""Dataframes and Arrow data of any library as columns, through narwhals and Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import Column, Columns, NumberMatrix, compact, list_column, text_column
from .files import check_columns
from .label import canonical


def frame_columns(data: Any, role: str) -> Columns | None:
    """The columns of a frame or series, or None when it is neither."""
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return Columns([arrow_column("", data)], single=True)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _table(data, role)
    import narwhals as nw

    try:
        native = nw.from_native(data, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{role} has columns of the same name, which no label can be told by: {error}") from None
    except TypeError:
        native = data
    if isinstance(native, nw.LazyFrame):
        raise TypeError(f"{role} is a lazy frame; collect() it first, or give audit() the path of the files")
    if isinstance(native, nw.Series):
        name = "" if native.name is None else str(native.name)
        return Columns([_series(native, name, role)], single=True)
    if isinstance(native, nw.DataFrame):
        # Not by name: numbers and tuples, which pandas allows as names, would be read as rows and slices.
        return _gather([_series(column, str(column.name), role) for column in native.iter_columns()], role)
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return _table(pa.table(data), role)
        except (TypeError, pa.ArrowInvalid):
            return Columns([arrow_column("", pa.chunked_array(data))], single=True)
    return None


def named_columns(data: Any, wanted: Sequence[str], role: str) -> dict[str, Column]:
    """Some columns of a frame, by name; an unknown one is an error that offers the nearest names."""
    import narwhals as nw

    if hasattr(data, "__arrow_c_stream__") and not isinstance(data, (pa.Table, pa.RecordBatch)):
        try:
            native = nw.from_native(data, eager_only=True)
        except nw.exceptions.DuplicateError:
            pass  # said below
        except TypeError:
            data = pa.table(data)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        check_columns(wanted, data.schema.names, role)
        _once(wanted, data.schema.names, role)
        return {name: arrow_column(name, data.column(name)) for name in wanted}
    try:
        native = nw.from_native(data, eager_only=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{role} has columns of the same name, rename them: {error}") from None
    except TypeError:
        raise TypeError(
            f"{role} is a {type(data).__module__.split('.')[0]} {type(data).__name__}; a path, a dataframe in memory "
            "or a mapping of column names to arrays is needed"
        ) from None
    columns = {str(column.name): column for column in native.iter_columns()}
    check_columns(wanted, list(columns), role)
    return {name: _series(columns[name], name, role) for name in wanted}


def arrow_table(data: Any, wanted: Sequence[str], role: str) -> Any:
    """Some columns of a frame or of a mapping of arrays as an Arrow table."""
    if isinstance(data, Mapping):
        check_columns(wanted, [str(name) for name in data], role)
        held = {str(name): values for name, values in data.items()}
        arrays = {name: _arrow_array(held[name], f"{role}[{name!r}]") for name in wanted}
        sizes = {name: len(array) for name, array in arrays.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"the columns of {role} have different lengths: {sizes}")
        return pa.table(arrays)
    import narwhals as nw

    if hasattr(data, "__arrow_c_stream__") and not isinstance(data, (pa.Table, pa.RecordBatch)):
        try:
            nw.from_native(data, eager_only=True)
        except nw.exceptions.DuplicateError:
            pass  # said below
        except TypeError:
            data = pa.table(data)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        check_columns(wanted, data.schema.names, role)
        _once(wanted, data.schema.names, role)
        return pa.table({name: data.column(name) for name in wanted})
    named_columns(data, list(wanted)[:1], role)  # says what is wrong with the frame
    native = nw.from_native(data, eager_only=True)
    columns = {str(column.name): column for column in native.iter_columns()}
    check_columns(wanted, list(columns), role)
    return pa.table({name: _arrow_array(columns[name], name) for name in wanted})


def _arrow_array(values: Any, role: str) -> Any:
    """A series, an array or a list as Arrow values; Python objects of mixed types are spelled out."""
    try:
        if hasattr(values, "to_arrow"):
            return values.to_arrow()
        if hasattr(values, "detach"):
            values = values.detach().cpu().numpy()
        return pa.array(list(values) if isinstance(values, range) else values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError):
        from .arrays import _objects

        column = _objects(values.to_list() if hasattr(values, "to_list") else list(values), role, role)
        if column.kind != "text":
            raise TypeError(f"{role} holds lists of mixed types; make their items text") from None
        texts = [*column.categories, None]
        return pa.array([texts[code] for code in column.values.tolist()])


def _once(wanted: Sequence[str], there: Sequence[str], role: str) -> None:
    for name in wanted:
        if there.count(name) > 1:
            raise ValueError(f"{role} has {there.count(name)} columns named {name!r}: rename them")


def _series(series: Any, name: str, role: str) -> Column:
    """One narwhals series as a column."""
    try:
        return arrow_column(name, series.to_arrow())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError):
        # Python objects of mixed types have no Arrow type: spell them one by one.
        from .arrays import _objects

        return _objects(series.to_list(), name, role)


def _table(table: Any, role: str) -> Columns:
    return _gather([arrow_column(n, table.column(i)) for i, n in enumerate(table.schema.names)], role)


def _gather(columns: list[Column], role: str) -> Columns:
    if not columns:
        raise ValueError(f"{role} has no columns: at least one label is needed")
    numbers = {"bool": 0, "int": 1, "float": 2}
    if len(columns) > 1 and all(column.kind in numbers for column in columns):
        missing = None
        if any(column.missing is not None for column in columns):
            missing = np.column_stack([np.zeros(len(c), bool) if c.missing is None else c.missing for c in columns])
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
    missing = data.is_null().to_numpy(zero_copy_only=False) if data.null_count else None
    if pa.types.is_null(kind):
        return Column(name, "float", np.zeros(len(data)), np.ones(len(data), dtype=bool))
    if pa.types.is_boolean(kind):
        return Column(name, "bool", _filled(data, False).astype(bool), missing)
    if pa.types.is_integer(kind):
        return Column(name, "int", _filled(data, 0), missing)
    if pa.types.is_floating(kind):
        if pa.types.is_float16(kind):
            data = data.cast(pa.float32())
        values = _filled(data, 0.0)
        gone = np.isnan(values)
        if gone.any():
            missing = gone if missing is None else missing | gone
        return Column(name, "float", values, missing)
    if pa.types.is_decimal(kind):
        return arrow_column(name, data.cast(pa.float64()))
    if pa.types.is_dictionary(kind):
        return _dictionary(name, data)
    if _is_list(kind):
        return _lists(name, data, missing)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        return _dictionary(name, pc.dictionary_encode(data.cast(pa.large_string())))
    if pa.types.is_temporal(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        values = data.to_pylist()
        gone = np.fromiter((value is None for value in values), bool, count=len(values))
        return text_column(name, values, gone)
    raise TypeError(f"column {name!r} holds {kind} values; numbers, text, true/false or lists of labels are read")


def _filled(data: Any, value: Any) -> Any:
    return (data.fill_null(value) if data.null_count else data).to_numpy(zero_copy_only=False)


def _dictionary(name: str, data: Any) -> Column:
    """Text or categories: codes into the values that are observed."""
    codes = data.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    values = data.dictionary.to_pylist()
    spelled = ["" if value is None else canonical(value) for value in values]
    if None in values:
        codes = np.where(codes == values.index(None), -1, codes)
    codes, categories = compact(codes, spelled)
    return Column(name, "text", codes, None, categories)


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _lists(name: str, data: Any, missing: Any) -> Column:
    """Lists of labels; a label named twice in one list counts once, a null inside a list is no label."""
    if pa.types.is_fixed_size_list(data.type):
        data = data.cast(pa.large_list(data.type.value_type))
    inner = arrow_column(name, data.flatten())
    if inner.kind == "list":
        raise TypeError(f"column {name!r} holds lists of lists; a list of labels a record is read")
    if inner.kind != "text":
        gone = np.zeros(len(data), dtype=bool) if missing is None else missing
        return list_column(name, data.to_pylist(), gone)
    sizes = pc.list_value_length(data).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    row = np.repeat(np.arange(len(data)), sizes)
    held = inner.values >= 0
    width = max(len(inner.categories), 1)
    places = np.unique(row[held] * width + inner.values[held])
    counts = np.bincount(places // width, minlength=len(data))
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Column(name, "list", places % width, missing, inner.categories, indptr)
