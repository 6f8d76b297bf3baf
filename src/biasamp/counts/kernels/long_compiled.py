"""The compiled loops of :class:`~biasamp.counts.kernels.long_tally.NumbaTally`; imported only when numba is there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from biasamp.data.keys import GOLDEN, MIX_1, MIX_2

from .long_pairs import AT_ONCE, LABELS, cells_of_mask, has_room, keep_rows, set_apart, settle_record

# Places in the state: labels of the open run, its mask, runs begun, patterns known, duplicates, length of the first run
# (-1 before there is one), cells that wait, the record of the open run where records are whole numbers, and whether a run
# is open.
HELD, MASK, RUNS, KNOWN, DUPLICATES, FIRST, USED, LAST, OPEN = range(9)
_CELL_BITS = 32
_ODD = np.uint64(0x9E3779B97F4A7C15)
# Unsigned places in arrays need no check for a negative one.
_NONE, _ONE, _HALF, _LOWER = np.uint64(0), np.uint64(1), np.uint64(32), np.uint64((1 << 32) - 1)
_COUNTED = np.uint32(1)
# In ``seen``: the highest bit of the lower half says that the label belongs to an identity, where rows are whole numbers.
_NAMED, _NAMED_HERE = np.uint64(31), np.uint32(31)


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
    """The arrays that a tally works on; L labels, P patterns, K identities.

    ``slots`` is the hash table of the patterns ``columns`` (P,); ``seen`` (L,) has for each label, in its upper half the
    last run that named it, in its lower half how many runs did; ``buffer`` (L,) holds the labels of the open run and
    ``first`` (L,) those of the first; ``table`` (P, L) counts records with pattern and label, ``waiting`` cells of
    patterns that have no row there, ``records`` (P,) records with the pattern. ``state`` is indexed by HELD to OPEN.

    Where identities are many, records are not counted by pattern but by pair of identities, in ``kept``.
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
    kept: Any


# Functions that are called for every run are handed arrays one by one, call no others and have one loop: otherwise each array
# is counted as in use and as free again every time, which costs more than the work.


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def count_labels(held: Any, column: Any, buffer: Any, table: Any) -> None:
    """Count the labels of a run under its pattern."""
    for j in range(held):
        table[column, buffer[j]] += _COUNTED


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def let_wait(held: Any, column: Any, buffer: Any, waiting: Any, used: Any) -> None:
    """Keep the labels of a run as cells of its pattern, which has no row of the table."""
    for j in range(held):
        waiting[used + np.int64(j)] = (column << _CELL_BITS) | buffer[j]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_runs(at: int, starts: Any, codes: Any, masks: Any, room: Any) -> int:
    """Count rows from ``at`` on; the row where it stopped because there was no room, else the number of rows."""
    slots, columns, seen, buffer, first, table, waiting, records, state, kept = room
    pairs, overlap, kept_columns, kept_rows, _, ends, links, kept_state = kept
    held, mask, duplicates = np.uint64(state[HELD]), state[MASK], state[DUPLICATES]
    runs, inside, empty, opened = np.uint64(state[RUNS]), state[FIRST] >= 0, 0, state[OPEN] > 0
    beyond = len(pairs) > 0 and kept_state[LABELS] < len(seen)
    stopped = len(codes)
    for i in range(at, len(codes)):
        if starts[i]:
            # Most runs name no identity: they are settled here.
            if mask == 0 and inside:
                empty += opened
            elif opened and not inside:
                for j in range(held):
                    first[j] = buffer[j]
                state[FIRST], inside = held, True
            elif opened and len(pairs):
                waits = state[USED] + cells_of_mask(mask) * np.int64(held)
                if (beyond and waits > len(waiting)) or not has_room(
                    np.int64(held), 1, len(pairs), kept_columns, ends, links, kept_state
                ):
                    stopped = i
                    break
                rows = np.int64(held)
                if beyond:
                    rows = set_apart(mask, buffer, rows, waiting, state[USED:], pairs, kept_state)
                many, packed = settle_record(mask, pairs, overlap, kept_columns, kept_state)
                keep_rows(many, packed, buffer, 0, rows, kept_rows, ends, links, kept_state)
                records[0] += 1
            elif opened:
                slot = slot_of(mask, slots, columns)
                new = slots[slot] < 0
                column = state[KNOWN] if new else slots[slot]
                waits = np.int64(held) if column >= len(table) else 0
                if column == len(columns) or state[USED] + waits > len(waiting):
                    stopped = i
                    break
                if new:
                    slots[slot] = column
                    columns[column] = mask
                    state[KNOWN] += 1
                # What labels have with no identity is what all have, less the rest.
                if waits:
                    let_wait(held, column, buffer, waiting, state[USED])
                    state[USED] += waits
                elif 0 < column < len(table):
                    count_labels(held, column, buffer, table)
                records[column] += 1
            runs += _ONE
            opened = True
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
    state[OPEN] = opened
    records[0] += empty
    return stopped


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def usable_rows(at: int, stop: int, ids: Any, labels: Any, top: int, last: Any) -> int:
    """Up to which row before ``stop`` labels lie below ``top`` and ids never fall."""
    falls, largest = 0, labels[at]
    for i in range(np.uint64(at) + _ONE, np.uint64(stop)):
        falls += ids[i] < ids[i - _ONE]
    for i in range(np.uint64(at), np.uint64(stop)):
        largest = max(largest, labels[i])
    if not falls and largest < top and ids[at] >= last:
        return stop
    for j in range(at, stop):
        if labels[j] >= top or ids[j] < last:
            return j
        last = ids[j]
    return stop


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def extend_run(at: Any, stop: Any, labels: Any, masks: Any, seen: Any, buffer: Any, state: Any) -> None:
    """Add labels to the open run, each once."""
    held, mask, runs = state[HELD], state[MASK], np.uint64(state[RUNS])
    for i in range(at, stop):
        label = np.uint64(labels[i])
        before = seen[label]
        if before >> _HALF == runs:
            state[DUPLICATES] += 1
        else:
            seen[label] = (runs << _HALF) | ((before & _LOWER) + _ONE)
            buffer[held] = np.int64(label)
            held += 1
            if (before >> _NAMED) & _ONE:
                mask |= masks[label]
    state[HELD], state[MASK] = held, mask


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def look_through(at: Any, stop: Any, ids: Any, labels: Any, seen: Any, named: Any, ends: Any, state: Any) -> Any:
    """Count the labels of whole runs; list the rows that name an identity, and where each run ends: how many rows those are.

    There is no branch in this loop, since where records begin cannot be foreseen.
    """
    many, distinct_rows, last, run = _NONE, _NONE, ids[at], _NONE
    own = np.uint32(state[RUNS] + 1)
    # The lower half of each number of ``seen``, which counts, and after it the upper one.
    halves = seen.view(np.uint32)
    for i in range(np.uint64(at), np.uint64(stop)):
        record = ids[i]
        changed = record != last
        run += np.uint64(changed)
        own = np.uint32(own + np.uint32(changed))
        last = record
        ends[run] = np.int32(i + _ONE)
        place = np.uint64(labels[i]) << _ONE
        new = np.uint32(halves[place | _ONE] != own)
        halves[place | _ONE] = own
        before = halves[place]
        halves[place] = np.uint32(before + new)
        distinct_rows += np.uint64(new)
        named[many] = np.int32(i)
        many += np.uint64(before >> _NAMED_HERE)
    again = stop - at - np.int64(distinct_rows)
    state[RUNS] = np.int64(own)
    state[DUPLICATES] += again
    return np.int64(many), again > 0


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def distinct(start: Any, stop: Any, labels: Any, seen: Any, buffer: Any, run: Any) -> Any:
    """Write the labels of a run that names some twice, each once: how many they are. ``run`` is a number of no other run."""
    many, own = 0, np.uint64(run)
    for j in range(start, stop):
        before = seen[labels[j]]
        if before >> _HALF != own:
            seen[labels[j]] = (own << _HALF) | (before & _LOWER)
            buffer[many] = labels[j]
            many += 1
    return many


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_integer_rows(at: int, ids: Any, labels: Any, masks: Any, named: Any, ends: Any, room: Any) -> int:
    """As :func:`add_runs`, where records and labels are whole numbers and every label is its own code.

    Labels are unsigned: one below 0 is a very large one. ``masks`` (L,) has the identities of every label. Stops at a label
    that there is no room for, and where an id is smaller than the one before it. There must be a row of the table for every
    pattern, or of those that are kept for every label. ``named`` and ``ends`` are room to work in.
    """
    while at < len(ids):
        stop = min(at + AT_ONCE, len(ids))
        kept, rows = room.kept, room.state[HELD] + stop - at
        if len(kept.pairs) and not has_room(
            rows, stop - at + 1, len(kept.pairs), kept.columns, kept.ends, kept.links, kept.state
        ):
            return at
        reached = _add_some(at, stop, ids, labels, masks, named, ends, room)
        if reached < stop:
            return reached
        at = reached
    return at


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _add_some(at: int, most: int, ids: Any, labels: Any, masks: Any, named: Any, ends: Any, room: Any) -> int:
    """The rows from ``at`` to ``most`` of :func:`add_integer_rows`."""
    slots, columns, seen, buffer, first, table, _, records, state, kept = room
    pairs, overlap, kept_columns, kept_rows, _, kept_ends, links, kept_state = kept
    if not state[OPEN]:
        state[OPEN], state[LAST] = 1, ids[at]
        state[RUNS] += 1
    stop = usable_rows(at, most, ids, labels, len(seen), state[LAST])
    i = at
    while i < stop and ids[i] == state[LAST]:
        i += 1
    extend_run(at, i, labels, masks, seen, buffer, state)
    if i == stop:
        return stop
    if state[FIRST] < 0:
        state[FIRST] = state[HELD]
        first[: state[HELD]] = buffer[: state[HELD]]
    elif len(pairs):
        # Every label has its row: nothing has to wait.
        if state[MASK]:
            own, packed = settle_record(state[MASK], pairs, overlap, kept_columns, kept_state)
            keep_rows(own, packed, buffer, 0, state[HELD], kept_rows, kept_ends, links, kept_state)
        records[0] += 1
    else:
        # Every pattern has its row.
        slot = slot_of(state[MASK], slots, columns)
        if slots[slot] < 0:
            slots[slot] = state[KNOWN]
            columns[state[KNOWN]] = state[MASK]
            state[KNOWN] += 1
        if slots[slot] > 0:
            count_labels(state[HELD], slots[slot], buffer, table)
        records[slots[slot]] += 1
    t = stop - 1
    while t > i and ids[t - 1] == ids[stop - 1]:
        t -= 1
    if i < t:
        begun = state[RUNS]
        many, again = look_through(i, t, ids, labels, seen, named, ends, state)
        k, whole, run = 0, state[RUNS] - begun, 0
        while k < many:
            while ends[run] <= named[k]:
                run += 1
            begin, end = np.int64(ends[run - 1]) if run else i, np.int64(ends[run])
            mask = 0
            while k < many and named[k] < end:
                mask |= masks[labels[named[k]]]
                k += 1
            if again:
                state[RUNS] += 1
                count = distinct(begin, end, labels, seen, buffer, state[RUNS])
            whole -= 1
            if len(pairs):
                own, packed = settle_record(mask, pairs, overlap, kept_columns, kept_state)
                if again:
                    keep_rows(own, packed, buffer, 0, count, kept_rows, kept_ends, links, kept_state)
                else:
                    keep_rows(own, packed, labels, begin, end, kept_rows, kept_ends, links, kept_state)
                records[0] += 1
                continue
            slot = slot_of(mask, slots, columns)
            column = slots[slot]
            if column < 0:
                column = state[KNOWN]
                slots[slot] = column
                columns[column] = mask
                state[KNOWN] += 1
            if again:
                for j in range(count):
                    table[column, buffer[j]] += _COUNTED
            else:
                for j in range(np.uint64(begin), np.uint64(end)):
                    table[np.uint64(column), labels[j]] += _COUNTED
            records[column] += 1
        records[0] += whole
    state[HELD], state[MASK], state[LAST] = 0, 0, ids[t]
    state[RUNS] += 1
    extend_run(t, stop, labels, masks, seen, buffer, state)
    return stop


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def bring_together(keys: Any, codes: Any, slots: Any, heads: Any, run: Any, place: Any, starts: Any, out: Any) -> int:
    """Write the codes of rows such that those of one key stand together, and where each key begins: how many keys there are.

    Parameters
    ----------
    slots : a hash table of at least one and a half times as many places as rows, a power of two, that holds -1
    heads, run, place : room for the keys, the number of each row's key, and where the rows of each key go
    """
    top, many = len(slots) - 1, 0
    for i in range(len(keys)):
        at = np.int64((keys[i] * _ODD) >> _HALF) & top
        while slots[at] >= 0 and heads[slots[at]] != keys[i]:
            at = (at + 1) & top
        if slots[at] < 0:
            slots[at] = many
            heads[many] = keys[i]
            place[many] = 0
            many += 1
        run[i] = slots[at]
        place[slots[at]] += 1
    begin = 0
    for key in range(many):
        size = place[key]
        place[key] = begin
        starts[begin] = True
        begin += size
    for i in range(len(keys)):
        out[place[run[i]]] = codes[i]
        place[run[i]] += 1
    return many


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


@numba.njit(nogil=True, inline="always")  # type: ignore[untyped-decorator, unused-ignore]
def _mixed(value: Any) -> Any:
    """What :func:`~biasamp.data.keys.mix` makes of one number."""
    z = value + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def hash_texts(characters: Any, ends: Any, powers: Any, out: Any) -> None:
    """What :func:`~biasamp.data.keys.text_keys` gives, mixed once more, in one loop over the text.

    ``powers`` has the first powers of the radix's inverse, from the first on.
    """
    known = np.uint64(len(powers))
    for i in range(np.uint64(len(out))):
        start = np.uint64(ends[i])
        size = np.uint64(ends[i + _ONE]) - start
        total = _NONE
        for j in range(min(size, known)):
            total += (np.uint64(characters[start + j]) + _ONE) * powers[j]
        power = powers[known - _ONE]
        for j in range(known, size):
            power *= powers[0]
            total += (np.uint64(characters[start + j]) + _ONE) * power
        out[i] = _mixed(_mixed(total ^ (size * GOLDEN)))
