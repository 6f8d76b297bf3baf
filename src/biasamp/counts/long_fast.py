"""The compiled loop of :class:`~biasamp.counts.long_kernels.NumbaTally`; imported only when numba is there."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_HELD, _MASK, _RUNS, _KNOWN, _DUPLICATES, _FIRST, _USED = range(7)
_CELL_BITS = 32
_ODD = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def slot_of(mask: Any, slots: Any, columns: Any) -> Any:
    """Where the number of a pattern stands in the hash table, or would stand."""
    top = len(slots) - 1
    at = np.int64((np.uint64(mask) * _ODD) >> np.uint64(32)) & top
    while slots[at] >= 0 and columns[slots[at]] != mask:
        at = (at + 1) & top
    return at


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def place_patterns(slots: Any, columns: Any, known: int) -> None:
    """Enter the known patterns into an empty hash table."""
    for column in range(known):
        slots[slot_of(columns[column], slots, columns)] = column


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_runs(
    at: int,
    starts: Any,
    codes: Any,
    masks: Any,
    slots: Any,
    columns: Any,
    seen: Any,
    buffer: Any,
    first: Any,
    table: Any,
    waiting: Any,
    records: Any,
    state: Any,
) -> int:
    """Count rows from ``at`` on; the row where it stopped for want of room, else the number of rows."""
    held, mask, runs = state[_HELD], state[_MASK], state[_RUNS]
    duplicates = state[_DUPLICATES]
    known, used = state[_KNOWN], state[_USED]
    stopped = len(codes)
    for i in range(at, len(codes)):
        if starts[i]:
            if runs > 0:
                if state[_FIRST] < 0:
                    for j in range(held):
                        first[j] = buffer[j]
                    state[_FIRST] = held
                else:
                    slot = slot_of(mask, slots, columns)
                    column = slots[slot]
                    if column < 0:
                        if known == len(columns):
                            stopped = i
                            break
                        column = known
                        slots[slot] = column
                        columns[column] = mask
                        known += 1
                    if column < len(table):
                        for j in range(held):
                            table[column, buffer[j]] += 1
                    elif used + held > len(waiting):
                        stopped = i
                        break
                    else:
                        for j in range(held):
                            waiting[used + j] = (column << _CELL_BITS) | buffer[j]
                        used += held
                    records[column] += 1
            runs += 1
            held = 0
            mask = 0
        code = codes[i]
        if code >= 0:
            if seen[code] == runs:
                duplicates += 1
            else:
                seen[code] = runs
                buffer[held] = code
                held += 1
                # The labels that make up identities have the first codes.
                if code < len(masks):
                    mask |= masks[code]
    state[_HELD], state[_MASK], state[_RUNS] = held, mask, runs
    state[_DUPLICATES] = duplicates
    state[_KNOWN], state[_USED] = known, used
    return stopped


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def look_up(values: Any, table: Any, codes: Any) -> bool:
    """Write ``table[value]`` for each value; False when a value is outside the table or has no entry."""
    top = len(table)
    for i in range(len(values)):
        value = values[i]
        if value < 0 or value >= top:
            return False
        code = table[value]
        if code < 0:
            return False
        codes[i] = code
    return True


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def mark_starts(values: Any, starts: Any) -> bool:
    """Mark the rows whose value differs from the row before, the first row aside; whether values never fall."""
    ordered = True
    for i in range(1, len(values)):
        starts[i] = values[i] != values[i - 1]
        ordered &= values[i] >= values[i - 1]
    return ordered
