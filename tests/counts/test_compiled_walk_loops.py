"""The walk through itemsets in numba: those that begin alike share what was found, and room that is made on the way."""

from __future__ import annotations

import numpy as np
import pytest

from extras import needs

needs("numba")

from biasamp.counts.kernels import compiled_walk  # noqa: E402


@pytest.mark.parametrize("records", [30, 1500])
def test_records_of_itemsets(records: int) -> None:
    """Also of more records than there is room for at first."""
    rng = np.random.default_rng(records)
    flags = rng.random((5, records)) < 0.7
    sets = [[0, 1], [0, 1, 2], [0, 1, 3], [0, 2], [0, 2, 4], [1], [1, 2, 3, 4], [2], [3, 4], [4], [4, 0]]
    items, sizes = np.full((len(sets), 4), -1), np.array(list(map(len, sets)))
    for place, held in enumerate(sets):
        items[place, : len(held)] = held
    postings = [np.flatnonzero(flag) for flag in flags]
    edges = np.concatenate([[0], np.cumsum(list(map(len, postings)))])
    held, found = compiled_walk.walk(items, sizes, np.concatenate(postings), edges, flags)
    expected = [np.flatnonzero(flags[one].all(axis=0)).tolist() for one in sets]
    assert held.tolist() == list(map(len, expected))
    assert found.tolist() == [record for one in expected for record in one]
    starts = np.concatenate([[0], np.cumsum(held)])[:-1]
    indptr, mine = compiled_walk.transposed(starts, held, found, records)
    of_record = [
        [place for place, one in enumerate(expected) if record in set(one)] for record in range(0, records, 29)
    ]
    assert [mine[indptr[record] : indptr[record + 1]].tolist() for record in range(0, records, 29)] == of_record
    assert len(indptr) == records + 1
    assert indptr[0] == 0
    assert indptr[-1] == len(mine) == held.sum()


def test_room_for_records() -> None:
    held = np.arange(4, dtype=np.int32)
    assert len(compiled_walk._room(held, 4)) == 4
    more = compiled_walk._room(held, 5)
    assert len(more) == 8
    assert more[:4].tolist() == [0, 1, 2, 3]
    assert len(compiled_walk._room(held, 20)) == 20
