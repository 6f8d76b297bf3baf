"""The rule that turns columns into labels: what counts as a label, and what is refused.

One column is one variable: every observed value is a label. Several columns are a set of yes/no labels:
value 1 counts, and text columns among them give a label for every category. The rule looks at types, not
at the values present, so that a part of the data reads like the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Columns, IndexMatrix, NumberMatrix, compact, within_0_1
from .label import Apart, Block, Codes, Dense, Index, Mask, Sparse, Variable, canonical, category_order, printable
from .labelset import LabelSet
from .row_numbers import row_numbers
from .spelling import another_spelling, shown
from .ways_out import way_out

# A probability row may miss 1 by the rounding of half-precision floats.
_ROW_SUM_TOLERANCE = 5e-3
# Integers within so small a range are coded by a table instead of by sorting.
_TABLE_RANGE = 1 << 16
# Floats hold every integer up to this one.
EXACT = 1 << 53
# Records whose numbers are read at once, at least, and bytes of them.
_LOOKED_AT, _BYTES_LOOKED_AT = 1 << 10, 1 << 16


def label_set(columns: Columns, role: str, *, soft: bool = False, like: LabelSet | None = None) -> LabelSet:
    """Read the columns of an argument as labels; ``role`` is its name, for messages.

    ``soft`` says whether probabilities are accepted (predictions), or only 0/1 (truth and groups). ``like`` is the
    truth that these columns predict; it decides how a single float column is read.
    """
    if len(columns) == 0:
        raise ValueError(f"{role} is empty: at least one record is needed")
    if columns.declared == "continuous":
        raise ValueError(
            f"{role} is declared continuous, and has no labels: audit() takes one continuous column as tasks, and mean_amplification() arrays"
        )
    if columns.declared == "categorical":
        return _distinct(tuple(_declared(columns, role, soft)), role)
    predicts = like.variables[0] if like is not None and len(like.variables) == 1 else Variable("", "")
    alone = columns.single and columns.declared is None and predicts.kind != "binary"
    if alone or (predicts.kind == "categorical" and columns.width == 1):
        (column,) = columns.apart()
        zero_one = predicts.kind == "categorical" and set(predicts.categories) <= {"0", "1"}
        return LabelSet((_variable(column, role, soft, zero_one),))
    quick = _chances_at_once(columns.items) if soft else None
    if quick is not None:
        return _distinct((quick,), role)
    return _distinct(tuple(_merge([_yes_no(item, role, soft, columns.declared) for item in columns.items])), role)


def _chances_at_once(items: Sequence[Column | NumberMatrix | IndexMatrix]) -> Apart | None:
    """Several columns of probabilities, checked but not copied; None where they are anything else.

    Millions of probabilities are read from memory as seldom as can be: whatever is wrong with them is said by the
    checks of single columns.
    """
    columns = [item for item in items if isinstance(item, Column) and item.kind == "float" and item.missing is None]
    if len(columns) < 2 or len(columns) < len(items) or any(one.values.dtype != np.float64 for one in columns):
        return None
    if not all(column.within_0_1 for column in columns) or not any(_any_fraction(column.values) for column in columns):
        return None
    parts = tuple(np.ascontiguousarray(column.values) for column in columns)
    return Apart(tuple(Variable(column.name, "binary") for column in columns), parts)


def _distinct(blocks: tuple[Block, ...], role: str) -> LabelSet:
    """The blocks as one label set, whose labels must differ."""
    labels = LabelSet(blocks)
    if len(set(labels.labels)) < labels.width:
        twice = next(label for label, times in Counter(labels.labels).items() if times > 1)
        raise ValueError(f"{role} has more than one column named {printable(str(twice), 40)!r}: rename them")
    return labels


def _variable(column: Column, role: str, soft: bool, zero_one: bool) -> Codes | Dense | Sparse:
    """A column as one variable: every observed value is a label."""
    if column.kind == "list":
        return _lists(column)
    fraction = _fraction(column)
    if fraction is not None:
        if zero_one:
            return _chance_of_one(column, role, soft)
        hint = (
            "If these are P(1), the truth must be a 0/1 variable (recode yes and no as 1 and 0) and scores lie from 0 to 1 "
            f"(divide percentages by 100); {way_out('class probabilities')}."
            if soft
            else "If these are scores or probabilities, they belong with the predictions; if each value is a "
            f"category, {way_out('categorical')}; if they are a measurement, {way_out('bins')}; if they are a continuous task of an audit, such as a share, {way_out('continuous')}."
        )
        raise ValueError(f"{role} holds fractions such as {fraction:g}, and one column is read as a variable. {hint}")
    if column.kind == "float":
        there = column.values if column.missing is None else column.values[~column.missing]
        refuse_rounded(there, f"{role} column {column.name!r}" if column.name else role)
    codes, categories = column_codes(column)
    return Codes((Variable(column.name, "categorical", categories),), codes)


def _chance_of_one(column: Column, role: str, soft: bool) -> Dense:
    """A float prediction of a 0/1 variable: P(1), and so P(0)."""
    missing = None if column.missing is None else column.missing[:, None]
    chance = _probabilities(column.values[:, None], missing, [column.name], role, soft)[:, 0]
    there = None if missing is None else np.repeat(~missing, 2, axis=1)
    values = np.stack([1.0 - chance, chance]).T
    if there is not None:
        values[~there] = 0.0
    return Dense((Variable(column.name, "categorical", ("0", "1")),), values, there)


def _lists(column: Column) -> Sparse:
    assert column.indptr is not None
    there = None if column.missing is None else ~column.missing
    return Sparse((Variable(column.name, "multilabel", column.categories),), column.indptr, column.values, there)


def _yes_no(item: Column | NumberMatrix | IndexMatrix, role: str, soft: bool, declared: str | None) -> Block:
    """Columns of a set: value 1 is the label; text columns give one for every category."""
    if isinstance(item, IndexMatrix):
        return Sparse(tuple(Variable(name, "binary") for name in item.names), item.indptr, item.indices)
    if isinstance(item, NumberMatrix):
        return _number_block(item.names, item.values, item.missing, role, soft)
    if item.kind == "list":
        return _lists(item)
    if item.kind == "text" and declared != "binary":
        codes, categories = column_codes(item)
        return Codes((Variable(item.name, "categorical", categories),), codes)
    values, missing = item.values, item.missing
    if item.kind == "text":
        if not set(item.categories) <= {"0", "1"}:
            shown = ", ".join(repr(printable(c, 30)) for c in item.categories[:3])
            raise ValueError(
                f"{role} column {item.name!r} was declared binary but holds text such as {shown}; "
                f"0 and 1 are needed: compare it with the value that counts, or {way_out('categorical')}"
            )
        ones = np.array([category == "1" for category in item.categories] + [False])
        values, missing = ones[item.values], item.values < 0
    return _number_block((item.name,), values[:, None], None if missing is None else missing[:, None], role, soft)


@lru_cache(maxsize=8)
def _yes_no_variables(names: tuple[str, ...]) -> tuple[Variable, ...]:
    """A yes/no variable of every name; truth and prediction mostly have the same."""
    return tuple(Variable(name, "binary") for name in names)


def _number_block(names: tuple[str, ...], values: NDArray[Any], missing: Mask | None, role: str, soft: bool) -> Dense:
    variables = _yes_no_variables(names)
    if values.dtype == np.bool_:
        hard: NDArray[np.uint8] = values.view(np.uint8) if values.flags.c_contiguous else values.astype(np.uint8)
    elif values.dtype.kind in "iu":
        checked = values if missing is None else np.where(missing, 0, values)
        if checked.dtype.itemsize == 1:
            # Of a byte that has a sign, negative numbers are those above 127.
            hard = checked.view(np.uint8)
            seen = int(np.bitwise_or.reduce(hard, axis=None))
        else:
            hard, seen = np.empty(checked.shape, dtype=np.uint8), 0
            # Some records at a time, which are looked at and copied while they are in cache.
            step = max(_LOOKED_AT, _BYTES_LOOKED_AT // max(len(names), 1))
            for start in range(0, len(checked), step):
                part = checked[start : start + step]
                seen |= int(np.bitwise_or.reduce(part, axis=None))
                hard[start : start + step] = part
        if seen not in (0, 1):
            raise ValueError(_not_zero_one(checked, names, role))
    else:
        chances = _probabilities(values, missing, names, role, soft)
        if soft and _any_fraction(chances):
            return Dense(variables, chances, None if missing is None or not missing.any() else ~missing)
        hard = chances.astype(np.uint8)
    if missing is None or not missing.any():
        return Dense(variables, np.ascontiguousarray(hard))
    return Dense(variables, np.where(missing, 0, hard).astype(np.uint8), ~missing)


def _any_fraction(chances: NDArray[np.float64]) -> bool:
    """Whether any probability is neither 0 nor 1; where one is, it is mostly among the first."""
    starts = range(0, len(chances), _LOOKED_AT)
    parts = (chances[start : start + _LOOKED_AT] for start in starts)
    return any(bool((part != np.rint(part)).any()) for part in parts)


def _probabilities(
    values: NDArray[Any], missing: Mask | None, names: Any, role: str, soft: bool
) -> NDArray[np.float64]:
    chances = np.ascontiguousarray(values, dtype=np.float64)
    if missing is not None and missing.any():
        chances = np.where(missing, 0.0, chances)
    if not within_0_1(chances):
        raise ValueError(_not_zero_one(chances, names, role))
    if not soft:
        fraction = chances != np.rint(chances)
        if fraction.any():
            row, column = np.argwhere(fraction)[0]
            raise ValueError(
                f"{role}{column_title(names[column])} holds fractions such as {chances[row, column]:g} ({row_numbers([row])}), but "
                f"{role} takes 0/1 only. Probabilities belong with the predictions: are "
                "truth and predictions swapped?"
            )
    return chances


def _not_zero_one(values: NDArray[Any], names: Any, role: str) -> str:
    row, column = np.argwhere(~((values >= 0) & (values <= 1)))[0]
    return (
        f"{role}{column_title(names[column])} holds {values[row, column].item()!r} ({row_numbers([row])}); a yes/no column takes "
        f"0/1, or probabilities in [0, 1] for predictions. If every value is a category of its own, {way_out('wrap')}"
    )


def column_title(name: str) -> str:
    """What follows the name of an argument where the column has a name of its own."""
    return f" column '{printable(str(name), 60)}'" if str(name) else ""


def _merge(blocks: list[Block]) -> list[Block]:
    """Neighbouring yes/no matrices become one block, so that a kernel meets one matrix."""
    merged: list[Block] = []
    for dense, group in groupby(blocks, key=lambda block: isinstance(block, Dense)):
        held = list(group)
        if not dense or len(held) == 1:
            merged.extend(held)
            continue
        matrices = [block for block in held if isinstance(block, Dense)]
        there = None
        if any(block.there is not None for block in matrices):
            there = np.hstack([np.ones(b.values.shape, dtype=bool) if b.there is None else b.there for b in matrices])
        variables = tuple(variable for block in matrices for variable in block.variables)
        merged.append(Dense(variables, _side_by_side([block.values for block in matrices]), there))
    return merged


def _side_by_side(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Matrices of the same records as one: yes/no labels as columns that lie together, probabilities by record."""
    kind = np.result_type(*parts)
    if kind != np.float64:
        # To turn them takes longer than to count them.
        return np.concatenate([part.T for part in parts]).T
    # Probabilities take eight times the room: some records at a time, which stay in cache.
    out = np.empty((len(parts[0]), sum(part.shape[1] for part in parts)))
    for start in range(0, len(out), _LOOKED_AT):
        np.concatenate(
            [part[start : start + _LOOKED_AT] for part in parts], axis=1, out=out[start : start + _LOOKED_AT]
        )
    return out


def _declared(columns: Columns, role: str, soft: bool) -> list[Block]:
    """Columns the caller wrapped in ``categorical``."""
    if columns.categories is not None and not columns.single and columns.width == len(columns.categories):
        return [_class_matrix(columns, role, soft)]
    blocks: list[Block] = []
    for column in columns.apart():
        if column.kind == "list":
            raise TypeError(f"{role} column {column.name!r} holds lists: it is a multi-label set, not categorical")
        codes, categories = column_codes(column)
        if columns.categories is not None:
            strange = [category for category in categories if category not in columns.categories]
            if strange:
                raise ValueError(
                    f"{role} holds {shown(strange)}, which categories=[...] does not name"
                    + another_spelling(strange, columns.categories)
                )
            places = [columns.categories.index(category) for category in categories]
            codes, categories = np.array([*places, -1], dtype=np.int64)[codes], columns.categories
        blocks.append(Codes((Variable(column.name, "categorical", categories),), codes))
    return blocks


def _class_matrix(columns: Columns, role: str, soft: bool) -> Dense:
    """Class probabilities, one column per category: P(category) sums to 1 over each row."""
    assert columns.categories is not None
    parts = columns.apart()
    values = np.column_stack([part.values for part in parts])
    missing = np.column_stack([part.gone for part in parts]).any(axis=1, keepdims=True).repeat(len(parts), axis=1)
    chances: NDArray[Any] = _probabilities(values, missing, columns.categories, role, soft)
    off = np.abs(chances.sum(axis=1) - 1.0)
    off[missing[:, 0]] = 0.0
    if (off > _ROW_SUM_TOLERANCE).any():
        row = int(off.argmax())
        raise ValueError(
            f"{role}: class probabilities must sum to 1 for every record, but one sums to "
            f"{chances[row].sum():g} ({row_numbers([row])}). A set of yes/no labels takes the plain matrix, without categorical(...)"
        )
    if (chances == np.rint(chances)).all():
        chances = chances.astype(np.uint8)
    order = sorted(range(len(parts)), key=lambda i: category_order(columns.categories[i]))  # type: ignore[index]
    names = tuple(columns.categories[i] for i in order)
    return Dense((Variable("", "categorical", names),), chances[:, order], ~missing if missing.any() else None)


def column_codes(column: Column) -> tuple[Index, tuple[str, ...]]:
    """A code for each record (-1 where the value is missing) and the categories that the codes stand for."""
    if column.kind == "text":
        return compact(column.values, column.categories)
    return number_codes(column.values, column.missing)


def number_codes(values: NDArray[Any], missing: Mask | None) -> tuple[Index, tuple[str, ...]]:
    """Codes and categories of a numeric column, the categories by value."""
    if missing is not None and missing.any():
        codes = np.full(len(values), -1, dtype=np.int64)
        codes[~missing], categories = number_codes(values[~missing], None)
        return codes, categories
    if not len(values):
        return np.zeros(0, dtype=np.int64), ()
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    if values.dtype.itemsize == 1:
        return _byte_codes(values)
    low, high = values.min(), values.max()
    if abs(float(high)) < EXACT and abs(float(low)) < EXACT and float(high) - float(low) < _TABLE_RANGE:
        whole = values.astype(np.int64, copy=False)
        if values.dtype.kind in "iu" or (whole == values).all():
            shifted = whole - int(low) if low else whole
            observed = np.flatnonzero(np.bincount(shifted))
            if len(observed) == int(high) - int(low) + 1:
                return shifted, tuple(str(v + int(low)) for v in observed.tolist())
            table = np.zeros(int(high) - int(low) + 1, dtype=np.int64)
            table[observed] = np.arange(len(observed))
            return table[shifted], tuple(str(v + int(low)) for v in observed.tolist())
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), tuple(canonical(value) for value in distinct)


def _byte_codes(values: NDArray[Any]) -> tuple[Index, tuple[str, ...]]:
    """As :func:`number_codes` for whole numbers of one byte, mostly 0 and 1."""
    unsigned = values.view(np.uint8)
    low, high = int(values.min()), int(values.max())
    if high - low <= 1:
        codes = unsigned.astype(np.int64) if low == 0 else (values != low).astype(np.int64)
        return codes, (str(low),) if low == high else (str(low), str(high))
    numbers = np.roll(np.arange(256, dtype=np.uint8), 128 if values.dtype == np.int8 else 0)
    seen = numbers[np.bincount(unsigned, minlength=256)[numbers] > 0]
    table = np.zeros(256, dtype=np.int64)
    table[seen] = np.arange(len(seen))
    return np.take(table, unsigned), tuple(str(number) for number in seen.view(values.dtype).tolist())


def _fraction(column: Column) -> float | None:
    """A value of a float column that is no whole number, where there is one."""
    if column.kind != "float":
        return None
    there = column.values if column.missing is None else column.values[~column.missing]
    fractions = there[there != np.rint(there)]
    return float(fractions[0]) if len(fractions) else None


def refuse_rounded(values: NDArray[Any], what: str) -> None:
    """Refuse whole numbers in floats that cannot tell them from their neighbours."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if largest >= EXACT and np.isfinite(largest):
        raise ValueError(
            f"{what} holds {largest:.0f} as a floating number, which does not tell it from its neighbours: ids of more "
            "than 2**53 were rounded before they came here, as pandas does to whole numbers with missing values. Read "
            "them as text or as whole numbers (dtype 'Int64')"
        )
