"""The compiled loops that count records under each of their identities and pairs of them; imported only when numba is there.

The table of labels and pairs is larger than any cache, so rows are not counted there as they come. They are kept, in
stretches of neighbouring labels and equally many identities, and counted one label after another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

# Entries of a block, and numbers of identities that have stretches of their own: the last is for all larger ones.
BLOCK, SIZES = 256, 8
# Rows that are checked, counted and read again while they are in the processor's first cache.
AT_ONCE = 2048
# Stretches of labels, at most.
_MOST_STRETCHES = 128
_CELL_BITS = 32
# Unsigned places in arrays need no check for a negative one.
_NONE, _ONE = np.uint64(0), np.uint64(1)
_BLOCK_BITS, _IN_BLOCK, _SIZES = np.uint64(8), np.uint64(BLOCK - 1), np.uint64(SIZES)
# The place of a single bit: 58 bits above it, the product with this number has another value for each of them.
_BIT_OF, _BIT_SHIFT = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)
_BIT = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    _BIT[((1 << _bit) * int(_BIT_OF) & (1 << 64) - 1) >> 58] = _bit


class Kept(NamedTuple):
    """Rows of records with many identities that are to be counted; K identities.

    A row has the number of its record in ``records``, whose identities are in ``sets``, and the place of its label
    in its stretch in ``labels``. Rows stand in blocks: ``heads`` has the first block of each stretch, ``ends`` where its
    next row goes, ``links`` the block after each, -1 for none. ``ordered``, ``places``, ``counted`` and ``held`` are
    room to work in. ``pairs`` (K, K) has the column of each pair, and ``overlap`` (K, K) counts the records that have it.
    ``state`` is indexed by BLOCKS to ROWS.
    """

    pairs: Any
    overlap: Any
    sets: Any
    records: Any
    labels: Any
    heads: Any
    ends: Any
    links: Any
    ordered: Any
    places: Any
    counted: Any
    held: Any
    state: Any


# Blocks in use, records that are kept, bits of the place of a label in its stretch, and labels that have a stretch.
BLOCKS, RECORDS, BITS, ROWS = range(4)


def no_rows(pairs: Any, rows: int) -> Kept:
    """Room for the pairs of so many identities, and for so many rows and some more, whatever blocks are begun."""
    many = len(pairs)
    blocks = -(-(rows + AT_ONCE) // BLOCK) + 2 * (_MOST_STRETCHES * SIZES + 1) if many else 0
    # What is not used takes no memory.
    kept = Kept(
        pairs=(pairs - many).astype(np.uint16),
        overlap=np.zeros((many, many), dtype=np.int64),
        sets=np.empty(blocks * BLOCK, dtype=np.uint64),
        records=np.empty(blocks * BLOCK, dtype=np.uint32),
        labels=np.empty(blocks * BLOCK, dtype=np.uint16),
        heads=np.zeros(0, dtype=np.int64),
        ends=np.zeros(0, dtype=np.int64),
        links=np.zeros(blocks, dtype=np.int64),
        ordered=np.empty(blocks * BLOCK, dtype=np.uint64),
        places=np.zeros(0, dtype=np.int64),
        counted=np.zeros(many * (many - 1) // 2, dtype=np.int32),
        held=np.zeros(64, dtype=np.int64),
        state=np.zeros(4, dtype=np.int64),
    )
    return for_labels(kept, 0)


def for_labels(kept: Kept, labels: int) -> Kept:
    """The same, where nothing is kept, for so many labels."""
    bits = max(0, (max(labels, 1) - 1).bit_length() - (_MOST_STRETCHES - 1).bit_length())
    stretches = SIZES * -(-labels >> bits)
    kept = kept._replace(
        heads=np.zeros(stretches, dtype=np.int64),
        ends=np.zeros(stretches, dtype=np.int64),
        places=np.zeros(1 << bits, dtype=np.int64),
    )
    kept.state[[BITS, ROWS]] = bits, labels
    open_blocks(kept)
    return kept


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def open_blocks(kept: Any) -> None:
    """Give each stretch an empty block."""
    for stretch in range(len(kept.heads)):
        kept.heads[stretch], kept.ends[stretch], kept.links[stretch] = stretch, stretch * BLOCK, -1
    kept.state[BLOCKS], kept.state[RECORDS] = len(kept.heads), 0


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def has_room(rows: Any, heads: Any, links: Any, state: Any) -> bool:
    """Whether so many rows more may be kept: each of them might fill a block."""
    return state[BLOCKS] + min(rows, len(heads)) + rows // BLOCK + 1 < len(links)


# This one is inlined: handing over so many arrays would cost more than the work.
@numba.njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator, unused-ignore]
def keep_pairs(mask: Any, own: Any, start: Any, stop: Any, all_labels: Any, waiting: Any, used: Any, kept: Any) -> Any:
    """Keep a record that has the identities ``mask`` and the labels ``own[start:stop]``.

    Labels beyond those that are kept go to the cells ``waiting``, of which there are ``used``: how many there are then, or
    -1 where there is no room, and nothing was done.
    """
    pairs, overlap, sets, records, labels, heads, ends, links, _, _, _, held, state = kept
    many, left, rows, out = _NONE, np.uint64(mask), np.uint64(state[ROWS]), used
    while left:
        left &= left - _ONE
        many += _ONE
    beyond, own_rows = rows < all_labels, np.int64(stop - start)
    cells = np.int64(many * (many + _ONE)) // 2 * own_rows
    if (beyond and used + cells > len(waiting)) or not has_room(own_rows, heads, links, state):
        out = -1
    elif many:
        size, shift, record = min(many, _SIZES) - _ONE, np.uint64(state[BITS]), state[RECORDS]
        within = (_ONE << shift) - _ONE
        sets[record] = np.uint64(mask)
        state[RECORDS] += 1
        if beyond:
            identities_of(mask, held)
        for j in range(start, stop):
            code = np.uint64(own[j])
            if beyond and code >= rows:
                for a in range(many):
                    waiting[out] = (held[a] << _CELL_BITS) | np.int64(code)
                    out += 1
                    for b in range(a + _ONE, many):
                        column = len(overlap) + np.int64(pairs[held[a], held[b]])
                        waiting[out] = (column << _CELL_BITS) | np.int64(code)
                        out += 1
            else:
                stretch = (code >> shift) * _SIZES + size
                at = np.uint64(ends[stretch])
                records[at] = np.uint32(record)
                labels[at] = np.uint16(code & within)
                at += _ONE
                if at & _IN_BLOCK == _NONE:
                    fresh = state[BLOCKS]
                    links[(at - _ONE) >> _BLOCK_BITS] = fresh
                    links[fresh] = -1
                    state[BLOCKS] += 1
                    at = np.uint64(fresh * BLOCK)
                ends[stretch] = np.int64(at)
    return out


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def identities_of(mask: Any, held: Any) -> None:
    """Write the numbers of the bits of a mask."""
    many, left = _NONE, np.uint64(mask)
    while left:
        lowest = left & (~left + _ONE)
        held[many] = _BIT[(lowest * _BIT_OF) >> _BIT_SHIFT]
        many += _ONE
        left ^= lowest


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def count_sets(sets: Any, start: Any, stop: Any, single: Any, counted: Any, pairs: Any, held: Any) -> None:
    """Count identities, and pairs of them, of some records."""
    for k in range(np.uint64(start), np.uint64(stop)):
        many, left = _NONE, sets[k]
        while left:
            lowest = left & (~left + _ONE)
            bit = np.uint64(_BIT[(lowest * _BIT_OF) >> _BIT_SHIFT])
            single[bit] += 1
            for b in range(many):
                counted[np.uint64(pairs[np.uint64(held[b]), bit])] += 1
            held[many] = bit
            many += _ONE
            left ^= lowest


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def settle_pairs(kept: Any, single: Any, shared: Any) -> None:
    """Count the rows that were kept, and keep none of them.

    ``single`` (L, K) counts records with label and identity, ``shared`` (L, pairs) those with label and two identities.
    """
    pairs, _, sets, records, labels, heads, ends, links, ordered, places, counted, held, _ = kept
    wide, most = np.uint64(len(places)), np.uint64(len(shared))
    for first in range(0, len(heads), SIZES):
        base = np.uint64(first // SIZES) * wide
        places[:] = 0
        # By label, and those of a label by how many identities they have: the number of steps is that of the row before.
        for turn in range(2):
            for stretch in range(first, first + SIZES):
                block = heads[stretch]
                while block >= 0:
                    stop = ends[stretch] if links[block] < 0 else (block + 1) * BLOCK
                    for i in range(np.uint64(block * BLOCK), np.uint64(stop)):
                        label = np.uint64(labels[i])
                        place = places[label]
                        if turn:
                            ordered[np.uint64(place)] = sets[np.uint64(records[i])]
                        places[label] = place + 1
                    block = links[block]
            if not turn:
                begin = 0
                for i in range(wide):
                    size = places[i]
                    places[i] = begin
                    begin += size
        begin = 0
        for i in range(min(wide, most - base)):
            if begin < places[i]:
                count_sets(ordered, begin, places[i], single[base + i], counted, pairs, held)
                row = shared[base + i]
                for column in range(len(counted)):
                    row[column] += counted[column]
                    counted[column] = 0
            begin = places[i]
    open_blocks(kept)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def settle_overlap(kept: Any) -> None:
    """Count the identities of the records that are kept."""
    many = len(kept.overlap)
    own = np.zeros(many, dtype=np.int32)
    count_sets(kept.sets, 0, kept.state[RECORDS], own, kept.counted, kept.pairs, kept.held)
    for a in range(many):
        kept.overlap[a, a] += own[a]
        for b in range(a + 1, many):
            kept.overlap[a, b] += kept.counted[kept.pairs[a, b]]
    kept.counted[:] = 0


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
