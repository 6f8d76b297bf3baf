"""Arguments of the public functions: whatever a caller may hold becomes columns, and then labels in one label space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .column_checks import RoleOf, check_columns_alone
from .columns import Column, Columns, Declared, IndexMatrix, NumberMatrix, check_lengths, compact, is_missing
from .keys import Keys, record_keys
from .label import Block, Dense, Variable, printable
from .label_rules import EXACT, label_set, refuse_rounded
from .labelset import LEAST_TOTAL, MOST_SQUARES, Evaluation, LabelSet
from .plain_arguments import one_of
from .spelling import in_utf8
from .vocabulary import UNSEEN, one_space, true_labels

_HINT = 'Fill them in, leave those records out, or use audit(..., missing="drop").'
_PLACES_SHOWN = 5
_ACCEPTED = (
    "a list, a numpy array, a pandas, polars or pyarrow column or table, a scipy.sparse matrix or a torch tensor"
)


def read(data: Any, role: str, side: RoleOf = "other", *, soft: bool = False, like: LabelSet | None = None) -> LabelSet:
    """One argument as labels; labels that have been read already stay as they are.

    ``side`` is that of :func:`biasamp.data.column_checks.check_columns_alone`; what is read ``like`` a truth predicts it.
    """
    if isinstance(data, LabelSet):
        labels = data
    else:
        columns = read_columns(data, role)
        labels = label_set(columns, role, soft=soft, like=like)
        check_columns_alone(labels, columns, role, side if like is None else "predictions", like=like)
    refuse_missing({role: labels}, _HINT)
    if not labels.width and like is None:  # a model that never predicts a label still has the labels of the truth
        raise ValueError(f"{role} holds no label at all")
    return labels


def read_clusters(cluster: Any, count: int) -> Keys | None:
    """A key for each record's cluster: ids of any kind, none missing, not all the same."""
    if cluster is None:
        return None
    try:
        ids = tensor_array(cluster) if hasattr(cluster, "detach") else np.asarray(cluster)
    except ValueError:
        raise TypeError(
            f"cluster is a {type(cluster).__name__} whose rows differ in length: one id per record"
        ) from None
    if ids.ndim != 1:
        raise ValueError(f"cluster has shape {ids.shape}, but there are {count:,} records: one cluster per record")
    if ids.dtype.kind == "f" and len(ids):
        refuse_rounded(ids, "cluster")
    if ids.ndim != 1 or len(ids) != count:
        raise ValueError(f"cluster has shape {ids.shape}, but there are {count:,} records: one cluster per record")
    missing = [i for i, value in enumerate(ids.tolist()) if is_missing(value)] if ids.dtype.kind in "Of" else []
    if missing:
        raise ValueError(f"cluster is missing for {len(missing):,} records, such as record {missing[0]}: name them all")
    keys = record_keys(ids)
    if len(keys) and (keys == keys[0]).all():  # nothing says how another cluster would differ
        raise ValueError(
            "cluster has one distinct value: with fewer than two clusters there is no interval. Leave cluster out, "
            "or name the column that tells the clusters apart"
        )
    return keys


def read_train(train: Any, roles: tuple[str, str], argument: str = "train") -> tuple[LabelSet, LabelSet]:
    """A pair of train labels, such as ``(given, truth)``."""
    if not isinstance(train, (tuple, list)) or len(train) != 2:
        raise TypeError(
            f"{argument} must be a pair ({roles[0]}, {roles[1]}) of labels, found {type(train).__name__}"
            + (f" of {len(train)} items" if isinstance(train, (tuple, list)) else "")
        )
    same_index({f"{argument} {role}": side for role, side in zip(roles, train, strict=True)})
    left = read(train[0], f"{argument} {roles[0]}")
    right = read(train[1], f"{argument} {roles[1]}")
    same_length({f"{argument} {roles[0]}": left, f"{argument} {roles[1]}": right})
    return left, right


def read_evaluation(
    given: Any,
    truth: Any,
    predicted: Any,
    train: Any,
    weights: Any,
    *,
    unseen: str = "invented",
    apart: bool = True,
    called: str = "predicted",
) -> tuple[Evaluation, tuple[LabelSet, LabelSet] | None, LabelSet | None]:
    """The evaluated labels, where there are any the train labels in the same label space, and invented labels.

    The label space is that of the truth and of the train labels. Labels that only predictions have are apart: they are
    None where there are none. With ``apart=False`` the space is that of all of them, whatever their values. ``called`` is
    what messages name the predictions.
    """
    one_of(unseen, "unseen", UNSEEN)
    same_index({"given": given, "truth": truth, called: predicted, "weights": weights})
    g = read(given, "given", "groups")
    t = read(truth, "truth", "outcomes")
    p = read(predicted, called, soft=True, like=t)
    count = same_length({"given": g, "truth": t, called: p})
    w = weights_of(weights, count)
    train_g, train_t = (None, None) if train is None else read_train(train, ("given", "truth"))
    g, _, train_g = one_space(g, None, train_g, ["given", "", "train given"])
    names = ["truth", called, "train truth"]
    t, placed, train_t = one_space(t, p, train_t, names, unseen=unseen, checked=apart)
    assert placed is not None
    p, invented = placed, None
    real = labels_with_truth(t, train_t)
    if apart and not real.all():
        said = ~real & (p.totals() > 0)
        invented = p.only(said) if said.any() else None
        t, p = t.only(real), p.only(real)
        train_t = None if train_t is None else train_t.only(real)
    refuse_same({"given": given, "truth": truth, called: predicted})
    known = None if train_g is None or train_t is None else (train_g, train_t)
    return Evaluation(g, t, p, w), known, invented


def labels_with_truth(truth: LabelSet, train: LabelSet | None) -> NDArray[np.bool_]:
    """Which labels of a space records have in truth, here or in the train labels; yes/no labels are always there."""
    if all(variable.kind == "binary" for variable in truth.variables):
        return np.ones(truth.width, dtype=bool)
    return true_labels(truth.variables, truth.totals(), *([] if train is None else [train.totals()]))


def same_index(sides: Mapping[str, Any]) -> None:
    """Refuse pandas objects whose rows are labelled differently: read by position, records would be mixed up."""
    first: tuple[str, Any] | None = None
    for name, data in sides.items():
        held = data.data if isinstance(data, Declared) else data
        if type(held).__module__.split(".")[0] != "pandas" or not hasattr(held, "index"):
            continue
        if first is None:
            first = name, held.index
        elif held.index is not first[1] and not held.index.equals(first[1]):
            if len(held.index) != len(first[1]):
                continue  # what differs in length is refused with its lengths
            at = next(i for i, (a, b) in enumerate(zip(first[1], held.index, strict=True)) if a != b)
            raise ValueError(
                f"{first[0]} and {name} are pandas objects with different indexes: at position {at} the index is "
                f"{printable(str(first[1][at]), 40)!r} in {first[0]} and {printable(str(held.index[at]), 40)!r} in {name}. "
                "Bring them into one order (reindex), or, where their rows agree by position, say so with "
                ".reset_index(drop=True) or .to_numpy()"
            )


def refuse_same(sides: Mapping[str, Any]) -> None:
    """Refuse the column of the groups in another role. A truth that is its own prediction is perfect, and legal.

    ``sides`` are the groups, the truth and the predictions, by their names in messages.
    """
    (group, given), *others = sides.items()
    for name, other in others:
        if _is_same(given, other):
            raise ValueError(
                f"{group} and {name} are the same column: it goes with itself, whatever a model does. Give {name} another one"
            )


def _is_same(one: Any, other: Any) -> bool:
    """Whether two arguments are one object, views of the same values, or series of one name and the same values."""
    one, other = (side.data if isinstance(side, Declared) else side for side in (one, other))
    if one is None or other is None or isinstance(one, (tuple, range, str, LabelSet)):
        return False  # constants may be one object by accident
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        keys = ("data", "shape", "strides", "typestr")
        held = [[array.__array_interface__[key] for key in keys] for array in (one, other)]
        return one.size > 0 and held[0] == held[1]
    name = getattr(one, "name", None)
    named = isinstance(name, str) and bool(name) and name == getattr(other, "name", None)
    return named and type(one) is type(other) and hasattr(one, "equals") and bool(one.equals(other))


def same_length(sets: Mapping[str, Any]) -> int:
    """Check that all arguments describe the same records; return how many."""
    sizes = {name: len(value) for name, value in sets.items() if value is not None}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} has {size:,}" for name, size in sizes.items())
        raise ValueError(f"lengths differ: {shown} records; every argument must describe the same records in order")
    widths = {len(value.variables) for value in sets.values() if isinstance(value, LabelSet)}
    if set(sizes.values()) == {1} and len(sizes) > 2 and len(widths) == 1 and max(widths) > 1:
        raise ValueError(
            f"{', '.join(sizes)} have one record of {max(widths):,} columns each: they look transposed. Records are rows: "
            "give arrays of one dimension, or .T"
        )
    return next(iter(sizes.values()))


def weights_of(weights: Any, count: int) -> NDArray[Any] | None:
    """Check weights; whole numbers become integers, so that counting stays exact."""
    if weights is None:
        return None
    try:
        values = tensor_array(weights) if hasattr(weights, "detach") else np.asarray(weights)
        if values.dtype.kind not in "biu":
            values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"weights must be numbers, one per record: {_first_text(weights)}") from None
    if values.ndim != 1 or len(values) != count:
        raise ValueError(f"weights has shape {values.shape}, but there are {count:,} records: one weight per record")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"weights must be finite and not negative: record {at} has {values[at]}")
    if not values.any():
        raise ValueError("weights are all 0: nothing would be counted")
    with np.errstate(over="ignore"):
        total, squares = float(values.sum(dtype=np.float64)), float((values.astype(np.float64) ** 2).sum())
    if not (total >= LEAST_TOTAL and squares <= MOST_SQUARES):
        raise ValueError(
            f"weights add up to {total:g}, and their squares to {squares:g}: too {'small' if total < 1 else 'large'} "
            "to be summed exactly. Multiply them all by one constant; only their ratios matter"
        )
    if values.dtype.kind == "f" and (values == np.rint(values)).all() and values.max() < 2**31:
        values = values.astype(np.int64)
    return values if values.dtype.kind == "f" else values.astype(np.int64)


def _first_text(values: Any) -> str:
    """What in some values is no number."""
    held = list(values) if isinstance(values, Iterable) else [values]
    for place, value in enumerate(held):
        try:
            float(value)
        except (TypeError, ValueError):
            return f"record {place} has {printable(str(value), 40)!r}"
    return f"found {type(values).__name__}"


def refuse_missing(sets: Mapping[str, LabelSet | None], hint: str = "") -> None:
    """Raise when a label is missing, saying how many and where."""
    for name, labels in sets.items():
        if labels is None or not labels.missing:
            continue
        records = np.flatnonzero(~labels.complete())
        named = [v.name for block in labels.blocks if block.missing for v in _incomplete(block) if v.name]
        where = ", ".join(str(r) for r in records[:_PLACES_SHOWN]) + (", …" if len(records) > _PLACES_SHOWN else "")
        what = f" in {', '.join(printable(c, 40) for c in named[:_PLACES_SHOWN])}" if named else ""
        raise ValueError(
            f"{name} has {len(records):,} record{'s' if len(records) != 1 else ''} with missing labels{what} "
            f"(record {where}). {hint or 'Fill them in or leave those records out.'}"
        )


def _incomplete(block: Block) -> tuple[Variable, ...]:
    """The variables of a block that have missing values."""
    if isinstance(block, Dense) and block.there is not None and len(block.variables) == block.width:
        return tuple(block.variables[i] for i in np.flatnonzero(~block.there.all(axis=0)))
    return block.variables


@in_utf8
def read_columns(data: Any, role: str) -> Columns:
    """The columns of one argument; ``role`` is its name, for messages."""
    if isinstance(data, Columns):
        return data
    if isinstance(data, Declared):
        return replace(read_columns(data.data, role), declared=data.kind, categories=data.categories)
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
        item = read_columns(values, f"{role}[{name!r}]").items[0]
        if not isinstance(item, Column):
            raise ValueError(f"{role}[{name!r}] is a table, not one column: give each of its columns a name")
        columns.append(replace(item, name=str(name)))
    check_lengths({column.name: column for column in columns}, role)
    return Columns(columns, single=False)


def _sequence(data: list[Any], role: str) -> Columns:
    if not data:
        raise ValueError(f"{role} is empty: at least one record is needed")
    first = next((value for value in data if not is_missing(value)), None)
    # Lists of labels, not rows of a matrix.
    if isinstance(first, (set, frozenset)) or (isinstance(first, (list, tuple)) and _holds_lists(data)):
        return Columns([object_column(data, "", role)], single=True)
    if type(first).__module__.split(".")[0] == "torch":
        return _numpy(np.stack([tensor_array(value) for value in data]), role)
    if isinstance(first, (list, tuple, np.ndarray)):
        return _numpy(np.asarray(data), role)
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
    if array.dtype.kind == "f":
        missing = np.isnan(array) if masked is None else masked | np.isnan(array)
    return array, missing if missing is not None and missing.any() else None


def _column(array: NDArray[Any], masked: Any, name: str, role: str) -> Column:
    if array.dtype.kind in "biuf":
        return Column.numbers(name, *split_missing(array, masked))
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
        return Column.lists(name, values, missing)
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
