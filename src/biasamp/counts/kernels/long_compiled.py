"""The compiled loop of :class:`~biasamp.counts.kernels.long_tally.NumbaTally`; imported only when numba is there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

# Places in the state: labels of the open run, its mask, runs begun, patterns known, duplicates, length of the first run
# (-1 before there is one), cells that wait, and the record of the open run where records are whole numbers.
HELD, MASK, RUNS, KNOWN, DUPLICATES, FIRST, USED, LAST = range(8)
_CELL_BITS = 32
_ODD = np.uint64(0x9E3779B97F4A7C15)
# Unsigned places in arrays need no check for a negative one.
_NONE, _ONE, _HALF, _LOWER = np.uint64(0), np.uint64(1), np.uint64(32), np.uint64((1 << 32) - 1)


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


class Room(NamedTuple):
    """The arrays that a tally works on; L labels, P patterns.

    ``slots`` is the hash table of the patterns ``columns`` (P,); ``seen`` (L,) has for each label, in its upper half the
    last run that named it, in its lower half how many runs did; ``buffer`` (L,) holds the labels of the open run and
    ``first`` (L,) those of the first; ``table`` (P, L) counts records with pattern and label, ``waiting`` cells of
    patterns that have no row there, ``records`` (P,) records with the pattern. ``state`` is indexed by HELD to LAST.
    """

    slots: Any
    columns: Any
    seen: Any
    buffer: Any
    first: Any
    table: Any
    waiting: Any
    records: Any
    state: Any


# The two loops below repeat each other: a function of one row, even an inlined one, made them five times slower.
# This one is inlined: handing over so many arrays would cost more than the work.
@numba.njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator, unused-ignore]
def close_run(
    held: Any, mask: Any, slots: Any, columns: Any, buffer: Any, first: Any, table: Any, waiting: Any, records: Any,
    state: Any,
) -> bool:  # fmt: skip
    """Count a run that has ended; False where there is no room."""
    if state[FIRST] < 0:
        for j in range(held):
            first[j] = buffer[j]
        state[FIRST] = held
        return True
    slot = slot_of(mask, slots, columns)
    column = slots[slot]
    if column < 0:
        column = state[KNOWN]
        if column == len(columns):
            return False
        slots[slot] = column
        columns[column] = mask
        state[KNOWN] += 1
    # What labels have with no identity is what all have, less the rest.
    if column >= len(table):
        used = state[USED]
        if used + np.int64(held) > len(waiting):
            return False
        for j in range(held):
            waiting[used + np.int64(j)] = (column << _CELL_BITS) | buffer[j]
        state[USED] += np.int64(held)
    elif column > 0:
        for j in range(held):
            table[column, buffer[j]] += 1
    records[column] += 1
    return True


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_runs(at: int, starts: Any, codes: Any, masks: Any, room: Any) -> int:
    """Count rows from ``at`` on; the row where it stopped because there was no room, else the number of rows."""
    slots, columns, seen, buffer, first, table, waiting, records, state = room
    held, mask, duplicates = np.uint64(state[HELD]), state[MASK], state[DUPLICATES]
    runs, inside, empty = np.uint64(state[RUNS]), state[FIRST] >= 0, 0
    stopped = len(codes)
    for i in range(at, len(codes)):
        if starts[i]:
            # Most runs name no identity: they are settled here.
            if mask == 0 and inside:
                empty += 1
            elif runs > 0:
                if not close_run(held, mask, slots, columns, buffer, first, table, waiting, records, state):
                    stopped = i
                    break
                inside = True
            runs += _ONE
            held, mask = _NONE, 0
        if codes[i] >= 0:
            code = np.uint32(codes[i])
            before = seen[code]
            if before >> _HALF == runs:
                duplicates += 1
            else:
                seen[code] = (runs << _HALF) | ((before & _LOWER) + _ONE)
                buffer[held] = code
                held += _ONE
                # The labels that make up identities have the first codes.
                if code < len(masks):
                    mask |= masks[code]
    state[HELD], state[MASK], state[RUNS], state[DUPLICATES] = held, mask, runs, duplicates
    records[0] += empty
    return stopped


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_integer_rows(at: int, ids: Any, labels: Any, lookup: Any, masks: Any, room: Any) -> int:
    """As :func:`add_runs`, where records and labels are whole numbers: finding runs and codes on the way.

    Stops as well at a label that ``lookup`` has no code for, and where an id is smaller than the one before it.
    """
    slots, columns, seen, buffer, first, table, waiting, records, state = room
    held, mask, duplicates = np.uint64(state[HELD]), state[MASK], state[DUPLICATES]
    runs, inside, empty = np.uint64(state[RUNS]), state[FIRST] >= 0, 0
    last = state[LAST]
    stopped: Any = len(ids)
    top = np.uint64(len(lookup))
    if runs == 0 and at < len(ids):
        runs, last = _ONE, np.int64(ids[at])
    for i in range(np.uint64(at), np.uint64(len(ids))):
        # A negative label becomes a very large one.
        label = np.uint64(labels[i])
        if label >= top or lookup[label] < 0:
            stopped = np.int64(i)
            break
        code = np.uint32(lookup[label])
        record = ids[i]
        if record != last:
            if record < last:
                stopped = np.int64(i)
                break
            if mask == 0 and inside:
                empty += 1
            else:
                if not close_run(held, mask, slots, columns, buffer, first, table, waiting, records, state):
                    stopped = np.int64(i)
                    break
                inside = True
            last = record
            runs += _ONE
            held, mask = _NONE, 0
        before = seen[code]
        if before >> _HALF == runs:
            duplicates += 1
        else:
            seen[code] = (runs << _HALF) | ((before & _LOWER) + _ONE)
            buffer[held] = code
            held += _ONE
            if code < len(masks):
                mask |= masks[code]
    state[HELD], state[MASK], state[RUNS], state[DUPLICATES] = held, mask, runs, duplicates
    state[LAST] = last
    records[0] += empty
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


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def hash_texts(characters: Any, ends: Any, radix_inverse: Any, golden: Any, out: Any) -> None:
    """What :func:`~biasamp.data.keys.text_keys` hashes, before its bits are mixed, in one loop over the text."""
    for i in range(len(out)):
        total, power = _NONE, radix_inverse
        for j in range(ends[i], ends[i + 1]):
            total += (np.uint64(characters[j]) + _ONE) * power
            power *= radix_inverse
        out[i] = total ^ (np.uint64(ends[i + 1] - ends[i]) * golden)
