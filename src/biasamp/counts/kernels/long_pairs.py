"""The compiled loops that count records under each of their identities and pairs of them; imported only when numba is there.

The table of labels and pairs is larger than any cache, so rows are not counted there as they come. They are kept, in
stretches of neighbouring labels and equally many identities, and counted one stretch after another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

# Entries of a block, and numbers of identities that have stretches of their own: the last is for all larger ones.
BLOCK, SIZES = 256, 6
# Rows that are checked, counted and read again while they are in the processor's first cache.
AT_ONCE = 2048
# Stretches of labels, at most: the part of the table that one has should fit the processor's second cache.
_MOST_STRETCHES = 256
_CELL_BITS = 32
# In a kept row: bits of the label's place, and of the number of each identity.
_LABEL_BITS, _IDENTITY_BITS = np.uint64(16), np.uint64(6)
_LABEL, _IDENTITY, _LAST_BIT = np.uint64((1 << 16) - 1), np.uint64((1 << 6) - 1), np.uint64(63)
# Unsigned places in arrays need no check for a negative one.
_NONE, _ONE = np.uint64(0), np.uint64(1)
_LOG_BLOCK = BLOCK.bit_length() - 1
_BLOCK_BITS, _IN_BLOCK, _SIZES = np.uint64(_LOG_BLOCK), np.uint64(BLOCK - 1), np.uint64(SIZES)
# The place of a single bit: 58 bits above it, the product with this number has another value for each of them.
_BIT_OF, _BIT_SHIFT = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)
_BIT = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    _BIT[((1 << _bit) * int(_BIT_OF) & (1 << 64) - 1) >> 58] = _bit


class Kept(NamedTuple):
    """Rows of records with many identities that are to be counted; K identities.

    A row of ``rows`` has the place of its label in its stretch in its lowest bits, and above them the identities of its record,
    a few bits each. Where they are too many it has there the place in ``columns`` of how many they are and which, and behind
    these of the columns of all pairs of them. Rows stand in blocks: ``heads`` has the first block of each stretch, ``ends``
    where its next row goes, ``links`` the block after each, -1 for none. ``pairs`` (K, K) has the column of each pair, and
    ``overlap`` (K, K) counts the records that have it. ``state`` is indexed by BLOCKS to LABELS.
    """

    pairs: Any
    overlap: Any
    columns: Any
    rows: Any
    heads: Any
    ends: Any
    links: Any
    state: Any


# Blocks in use, rows or records that are kept, columns in use, bits of the place of a label in its stretch, and labels that
# have a stretch.
BLOCKS, USED_ROWS, COLUMNS, BITS, LABELS = range(5)


def no_rows(pairs: Any, rows: int) -> Kept:
    """Room for the pairs of so many identities, and for so many rows and some more, whatever blocks are begun."""
    many = len(pairs)
    blocks = -(-(rows + AT_ONCE) // BLOCK) + 2 * (_MOST_STRETCHES * SIZES + 1) if many else 0
    # What is not used takes no memory.
    kept = Kept(
        pairs=(pairs - many).astype(np.uint16),
        overlap=np.zeros((many, many), dtype=np.int64),
        columns=np.empty(blocks * BLOCK + (AT_ONCE + 1) * _columns_of(many), dtype=np.uint16),
        rows=np.empty(blocks * BLOCK, dtype=np.uint64),
        heads=np.zeros(0, dtype=np.int64),
        ends=np.zeros(0, dtype=np.int64),
        links=np.zeros(blocks, dtype=np.int64),
        state=np.zeros(5, dtype=np.int64),
    )
    return for_labels(kept, 0)


def for_labels(kept: Kept, labels: int) -> Kept:
    """The same, where nothing is kept, for so many labels."""
    bits = max(0, (max(labels, 1) - 1).bit_length() - (_MOST_STRETCHES - 1).bit_length())
    stretches = SIZES * -(-labels >> bits)
    kept = kept._replace(heads=np.zeros(stretches, dtype=np.int64), ends=np.zeros(stretches, dtype=np.int64))
    kept.state[[BITS, LABELS]] = bits, labels
    open_blocks(kept)
    return kept


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def open_blocks(kept: Any) -> None:
    """Give each stretch an empty block."""
    for stretch in range(len(kept.heads)):
        kept.heads[stretch], kept.ends[stretch], kept.links[stretch] = stretch, stretch * BLOCK, -1
    kept.state[BLOCKS], kept.state[USED_ROWS], kept.state[COLUMNS] = len(kept.heads), 0, 0


# Functions that are called for every record are handed arrays one by one, call no others and have no branch at their end: what
# takes arrays out of a tuple, or hands them on, counts each as in use and as free again, which costs more than the work.


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _columns_of(many: Any) -> Any:
    """Columns of a record of so many identities: their number, they themselves, and their pairs."""
    return 1 + (many * (many + 1) >> 1)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def has_room(rows: Any, records: Any, many: Any, columns: Any, ends: Any, links: Any, state: Any) -> bool:
    """Whether so many rows of so many records more may be kept: each row might fill a block, each record have all identities."""
    blocks = state[BLOCKS] + min(rows, len(ends)) + (rows >> _LOG_BLOCK) + 1
    return (blocks < len(links)) & (state[COLUMNS] + records * _columns_of(many) <= len(columns))


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def settle_record(mask: Any, pairs: Any, overlap: Any, columns: Any, state: Any) -> Any:
    """Count the identities of a record, for which there is room: how many they are, and what its rows have above the label."""
    begin = np.uint64(state[COLUMNS])
    many, left, packed = _NONE, np.uint64(mask), _NONE
    while left:
        lowest = left & (~left + _ONE)
        bit = np.uint64(_BIT[(lowest * _BIT_OF) >> _BIT_SHIFT])
        packed |= bit << ((_IDENTITY_BITS * many + _LABEL_BITS) & _LAST_BIT)
        many += _ONE
        columns[begin + many] = np.uint16(bit)
        left ^= lowest
    at = begin + many + _ONE
    for a in range(begin + _ONE, begin + _ONE + many):
        one = np.uint64(columns[a])
        overlap[one, one] += 1
        for b in range(a + _ONE, begin + _ONE + many):
            two = np.uint64(columns[b])
            overlap[one, two] += 1
            columns[at] = pairs[one, two]
            at += _ONE
    columns[begin] = np.uint16(many)
    large = many >= _SIZES
    state[COLUMNS] = np.int64(at if large else begin)
    return many, (begin << _LABEL_BITS if large else packed)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def keep_rows(
    many: Any, packed: Any, own: Any, start: Any, stop: Any, rows: Any, ends: Any, links: Any, state: Any
) -> None:
    """Keep the labels ``own[start:stop]`` of a record that has so many identities; ``packed`` says which."""
    size, shift = min(many, _SIZES) - _ONE, np.uint64(state[BITS])
    within = (_ONE << shift) - _ONE
    for j in range(np.uint64(start), np.uint64(stop)):
        label = np.uint64(own[j])
        stretch = (label >> shift) * _SIZES + size
        at = np.uint64(ends[stretch])
        rows[at] = packed | (label & within)
        at += _ONE
        if at & _IN_BLOCK == _NONE:
            fresh = state[BLOCKS]
            links[(at - _ONE) >> _BLOCK_BITS] = fresh
            links[fresh] = -1
            state[BLOCKS] += 1
            at = np.uint64(fresh * BLOCK)
        ends[stretch] = np.int64(at)
    state[USED_ROWS] += 1


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def cells_of_mask(mask: Any) -> Any:
    """How many identities and pairs of them there are."""
    many, left = 0, np.uint64(mask)
    while left:
        left &= left - _ONE
        many += 1
    return many * (many + 1) >> 1


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def set_apart(mask: Any, own: Any, held: Any, waiting: Any, used: Any, pairs: Any, state: Any) -> Any:
    """Bring the labels that have a stretch to the front of the first ``held`` of ``own``: how many they are.

    What others have with a record's identities goes to the cells ``waiting``, of which there are ``used[0]``, and for which there
    is room.
    """
    labels, front = np.uint64(state[LABELS]), 0
    for j in range(held):
        label = np.uint64(own[j])
        if label < labels:
            own[front] = own[j]
            front += 1
            continue
        for a in range(len(pairs)):
            if (mask >> a) & 1:
                waiting[used[0]] = (a << _CELL_BITS) | np.int64(label)
                used[0] += 1
                for b in range(a + 1, len(pairs)):
                    if (mask >> b) & 1:
                        # Pairs have the numbers after those of identities.
                        column = len(pairs) + np.int64(pairs[a, b])
                        waiting[used[0]] = (column << _CELL_BITS) | np.int64(label)
                        used[0] += 1
    return front


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def count_block(
    at: Any, stop: Any, size: Any, base: Any, pairs: Any, columns: Any, rows: Any, single: Any, shared: Any
) -> None:
    """Count some rows of records that have ``size`` identities, or, where that is the last of the sizes, at least so many."""
    for i in range(np.uint64(at), np.uint64(stop)):
        label = base + (rows[i] & _LABEL)
        packed = rows[i] >> _LABEL_BITS
        if size == _SIZES:
            many = np.uint64(columns[packed])
            for a in range(packed + _ONE, packed + _ONE + many):
                single[label, np.uint64(columns[a])] += 1
            for a in range(packed + _ONE + many, packed + _ONE + (many * (many + _ONE) >> _ONE)):
                shared[label, np.uint64(columns[a])] += 1
        else:
            # The same number of steps as in the row before.
            for a in range(size):
                one = (packed >> (_IDENTITY_BITS * a)) & _IDENTITY
                single[label, one] += 1
                for b in range(a):
                    two = (packed >> (_IDENTITY_BITS * b)) & _IDENTITY
                    shared[label, np.uint64(pairs[two, one])] += 1


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def settle_pairs(kept: Any, single: Any, shared: Any) -> None:
    """Count the rows that were kept, and keep none of them.

    ``single`` (L, K) counts records with label and identity, ``shared`` (L, pairs) those with label and two identities.
    """
    pairs, _, columns, rows, heads, ends, links, state = kept
    shift = np.uint64(state[BITS])
    for stretch in range(len(heads)):
        base, size = np.uint64(stretch // SIZES) << shift, np.uint64(stretch % SIZES + 1)
        block = heads[stretch]
        while block >= 0:
            stop = ends[stretch] if links[block] < 0 else (block + 1) * BLOCK
            count_block(block * BLOCK, stop, size, base, pairs, columns, rows, single, shared)
            block = links[block]
    open_blocks(kept)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def filled(table: Any, rows: Any) -> Any:
    """How many of some rows of a table have something in each of its columns."""
    out = np.zeros(table.shape[1], dtype=np.int32)
    for i in range(len(rows)):
        own = table[rows[i]]
        for column in range(len(out)):
            out[column] += own[column] != 0
    return out


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def cells_of(table: Any, rows: Any, names: Any, place: Any, high: Any, keys: Any, values: Any) -> None:
    """Write the cells of :func:`filled` one column after another; ``place`` has where each of them begins."""
    columns = np.uint64(len(place))
    there = np.empty(len(place) + 1, dtype=np.uint16)
    for i in range(len(rows)):
        own = table[rows[i]]
        many = _NONE
        # Which columns have something cannot be foreseen, so there is no branch in this loop.
        for column in range(columns):
            there[many] = np.uint16(column)
            many += np.uint64(own[column] != 0)
        for k in range(many):
            full = np.uint64(there[k])
            at = np.uint64(place[full])
            keys[at], values[at] = high[full] | names[i], own[full]
            place[full] = np.int64(at + _ONE)
