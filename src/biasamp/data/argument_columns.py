"""One argument as columns: lists, arrays, mappings, sparse matrices, tensors and frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .binning import BINNED, QUANTILES, read_binned
from .columns import Column, Columns, Declared, IndexMatrix, NumberMatrix, check_lengths, compact, is_missing
from .label_rules import EXACT
from .same_columns import same_index
from .spelling import in_utf8

_ACCEPTED = (
    "a list, a numpy array, a pandas, polars or pyarrow column or table, a scipy.sparse matrix or a torch tensor"
)


@in_utf8
def read_columns(data: Any, role: str) -> Columns:
    """The columns of one argument; ``role`` is its name, for messages."""
    try:
        return _columns(data, role)
    except RecursionError:
        raise ValueError(f"{role} has values within values, too deep to be read; {_ACCEPTED} is needed") from None


def _columns(data: Any, role: str) -> Columns:
    if isinstance(data, Columns):
        return data
    if isinstance(data, Declared):
        held = _columns(data.data, role)
        if data.kind in (BINNED, QUANTILES):
            return read_binned(held, data, role)
        return replace(held, declared=data.kind, categories=data.categories)
    if data is None:
        raise TypeError(f"{role} is None; {_ACCEPTED} is needed")
    if isinstance(data, (str, bytes)):
        raise TypeError(f"{role} is the text {data!r}; {_ACCEPTED} is needed (audit() takes column names)")
    kind = type(data).__module__.split(".")[0]
    if kind == "torch":
        return _numpy(tensor_array(data), role)
    if kind == "scipy":
        return _scipy(data, role)
    if isinstance(data, np.ndarray):
        return _numpy(data, role)
    if isinstance(data, Mapping):
        return _mapping(data, role)
    if isinstance(data, (list, tuple, range)):
        return _sequence(list(data), role)
    from .frames import frame_columns

    columns = frame_columns(data, role)
    if columns is not None:
        return columns
    if hasattr(data, "__array__"):
        return _numpy(np.asarray(data), role)
    raise TypeError(f"{role} is a {type(data).__name__}; {_ACCEPTED} is needed")


def tensor_array(data: Any) -> NDArray[Any]:
    """A torch tensor as an array: detached, moved to this machine's memory, dense, floats widened."""
    tensor = data.detach().cpu()
    if getattr(tensor, "layout", None) is not None and str(tensor.layout) != "torch.strided":
        tensor = tensor.to_dense()
    if tensor.is_floating_point():
        tensor = tensor.double()
    return np.asarray(tensor.numpy())


def _scipy(data: Any, role: str) -> Columns:
    rows = data.tocsr()
    if rows.ndim != 2:
        raise ValueError(f"{role} is a sparse array of {rows.ndim} dimensions; one row per record is needed")
    if rows is data:
        rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    names = tuple(str(i) for i in range(rows.shape[1]))
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"{role} holds {rows.dtype}; a sparse matrix of 0/1 is needed")
    if not (rows.data == 1).all():
        return Columns([NumberMatrix(names, *split_missing(rows.toarray()))], single=False)
    rows.sort_indices()
    return Columns([IndexMatrix(names, rows.indptr.astype(np.int64), rows.indices.astype(np.int64))], single=False)


def _mapping(data: Mapping[Any, Any], role: str) -> Columns:
    if not data:
        raise ValueError(f"{role} is an empty mapping: at least one column is needed")
    same_index({f"{role}[{name!r}]": values for name, values in data.items()})
    columns: list[Column] = []
    for name, values in data.items():
        read = read_columns(values, f"{role}[{name!r}]")
        if not read.single:
            raise ValueError(_no_column(f"{role}[{name!r}]"))
        (item,) = read.apart()
        columns.append(item.held_as(str(name), item.values))
    check_lengths({column.name: column for column in columns}, role)
    return Columns(columns, single=False)


def refuse_tables(data: Any, role: str) -> None:
    """Refuse what has several values for a record where one column is needed: a matrix, a frame, rows of numbers."""
    rows = isinstance(data, (list, tuple)) and len(data) > 0 and all(isinstance(one, (list, tuple)) for one in data)
    if getattr(data, "ndim", 1) != 1 or (rows and not _holds_lists(list(data))):
        raise ValueError(_no_column(role))


def _no_column(role: str) -> str:
    return f"{role} is a table, not one column: give each of its columns a name"


def _sequence(data: list[Any], role: str) -> Columns:
    if not data:
        raise ValueError(f"{role} is empty: at least one record is needed")
    first = next((value for value in data if not is_missing(value)), None)
    if isinstance(first, np.ndarray) and first.ndim == 1 and first.dtype.kind != "O":
        # As libraries hand out columns of lists.
        data = [value.tolist() if isinstance(value, np.ndarray) else value for value in data]
        first = first.tolist()
    # Lists of labels, not rows of a matrix.
    if isinstance(first, (set, frozenset)) or (isinstance(first, (list, tuple)) and _holds_lists(data)):
        return Columns([object_column(data, "", role)], single=True)
    if type(first).__module__.split(".")[0] == "torch":
        return _numpy(np.stack([tensor_array(value) for value in data]), role)
    if isinstance(first, (list, tuple, np.ndarray)):
        try:
            matrix = np.asarray(data)
        except ValueError:
            raise ValueError(
                f"{role} has lists within lists of different lengths or depths: {_ACCEPTED} is needed"
            ) from None
        return _numpy(matrix, role)
    try:
        array = np.asarray(data)
    except (ValueError, OverflowError):
        array = np.empty(len(data), dtype=object)
        array[:] = data
    # numpy turns a list that mixes text and numbers into text: spell its members one by one instead.
    # It also makes floats of integers that fit no one type, and of None: spell those too.
    if array.dtype.kind in "OSU" or (array.dtype.kind == "f" and any(_no_float(value) for value in data)):
        return Columns([object_column(data, "", role)], single=True)
    return _numpy(array, role)


def _plain(value: Any) -> Any:
    """A decimal as a whole number or a float; anything else as it is."""
    if not isinstance(value, Decimal):
        return value
    if value.is_nan():
        return float("nan")
    return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)


def _no_float(value: Any) -> bool:
    """Whether a value would not survive being made a float."""
    return value is None or (isinstance(value, int) and abs(value) > EXACT)


def _holds_lists(data: list[Any]) -> bool:
    """Whether a list of lists is ragged, empty or holds text, and so lists labels."""
    inner = [value for value in data if isinstance(value, (list, tuple))]
    if len({len(value) for value in inner}) > 1 or len(inner) < len(data) or not any(inner):
        return True
    return any(isinstance(item, str) for value in inner for item in value)


def _numpy(array: NDArray[Any], role: str) -> Columns:
    if array.ndim not in (1, 2):
        raise ValueError(f"{role} has {array.ndim} dimensions; one (a variable) or two (a set of labels) are read")
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.asarray(array)
    if array.ndim == 1:
        return Columns([_column(array, masked, "", role)], single=True)
    if array.shape[1] == 0:
        raise ValueError(f"{role} has no columns: at least one label is needed")
    if array.dtype.kind in "biuf":
        names = tuple(str(i) for i in range(array.shape[1]))
        return Columns([NumberMatrix(names, *split_missing(array, masked))], single=False)
    gone = [None] * array.shape[1] if masked is None else list(masked.T)
    columns = [_column(array[:, i], gone[i], str(i), role) for i in range(array.shape[1])]
    return Columns(columns, single=False)


def split_missing(array: NDArray[Any], masked: Any = None) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Numbers and where they are missing."""
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    missing = masked
    # A minimum with a NaN in it is NaN: one look, and no array of flags where none is missing.
    with np.errstate(invalid="ignore"):
        gaps = array.dtype.kind == "f" and array.size > 0 and bool(np.isnan(array.min()))
    if gaps:
        missing = np.isnan(array) if masked is None else masked | np.isnan(array)
    return array, missing if missing is not None and missing.any() else None


def _column(array: NDArray[Any], masked: Any, name: str, role: str) -> Column:
    if array.dtype.kind in "biuf":
        scores = Column.scores(name, array) if masked is None else None
        return Column.numbers(name, *split_missing(array, masked)) if scores is None else scores
    if array.dtype.kind in "mM":
        missing = np.isnat(array) if masked is None else masked | np.isnat(array)
        return Column.text(name, array.astype(str).tolist(), missing)
    if array.dtype.kind not in "OSUT":
        raise TypeError(f"{role} holds {array.dtype} values; numbers, text or true/false are read")
    if array.dtype.kind == "U" and masked is None:
        distinct, codes = np.unique(array, return_inverse=True)
        coded, categories = compact(codes.astype(np.int64), [str(value) for value in distinct])
        return Column(name, "text", coded, None, categories)
    objects = array.tolist()
    if masked is not None:
        objects = [None if gone else value for value, gone in zip(objects, masked, strict=True)]
    return object_column(objects, name, role)


def object_column(values: list[Any], name: str, role: str) -> Column:
    """A column of Python objects: numbers if all are, lists if all are, else text."""
    if any(isinstance(value, Decimal) for value in values):
        values = [_plain(value) for value in values]
    missing = np.fromiter((is_missing(value) for value in values), bool, count=len(values))
    gone = missing if missing.any() else None
    there = [value for value, absent in zip(values, missing, strict=True) if not absent]
    filled = [0 if absent else value for value, absent in zip(values, missing, strict=True)]
    if there and all(isinstance(v, (list, tuple, set, frozenset, np.ndarray)) for v in there):
        return replace(Column.lists(name or role, values, missing), name=name)
    if there and all(isinstance(v, (bool, np.bool_)) for v in there):
        return Column(name, "bool", np.array(filled).astype(bool), gone)
    if there and all(isinstance(v, (int, float, np.integer, np.floating, np.bool_)) for v in there):
        whole = all(isinstance(v, (int, np.integer, np.bool_)) for v in there)
        numbers = np.array(filled)
        if numbers.dtype.kind in "iu" or (numbers.dtype.kind == "f" and not any(_no_float(value) for value in there)):
            return Column(name, "int" if whole else "float", numbers, gone)
    try:
        return Column.text(name, values, missing)
    except TypeError as error:
        raise TypeError(f"{role}: {error}") from None
