"""The compiled loop of :class:`~biasamp.counts.long_kernels.NumbaTally`; imported only when numba is there."""

from __future__ import annotations

from typing import Any

import numba

_HELD, _MASK, _RUNS, _KNOWN, _DUPLICATES, _FIRST = range(6)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_runs(
    at: int,
    starts: Any,
    codes: Any,
    masks: Any,
    place: Any,
    columns: Any,
    seen: Any,
    buffer: Any,
    first: Any,
    table: Any,
    records: Any,
    state: Any,
) -> int:
    """Count rows from ``at`` on; the row where it stopped for want of a column, else the number of rows."""
    held, mask, runs = state[_HELD], state[_MASK], state[_RUNS]
    duplicates = state[_DUPLICATES]
    known = state[_KNOWN]
    for i in range(at, len(codes)):
        if starts[i]:
            if runs > 0:
                if state[_FIRST] < 0:
                    for j in range(held):
                        first[j] = buffer[j]
                    state[_FIRST] = held
                else:
                    column = place[mask]
                    if column < 0:
                        if known == len(columns):
                            state[_HELD], state[_MASK], state[_RUNS] = held, mask, runs
                            state[_DUPLICATES] = duplicates
                            state[_KNOWN] = known
                            return i
                        column = known
                        place[mask] = column
                        columns[column] = mask
                        known += 1
                    for j in range(held):
                        table[column, buffer[j]] += 1
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
    state[_KNOWN] = known
    return len(codes)


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
