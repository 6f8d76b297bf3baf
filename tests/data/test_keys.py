"""Keys: the same for the same id whatever its type or batch, different for different ids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasamp.data.keys import record_keys, row_keys, text_keys


@given(st.lists(st.text(max_size=30), min_size=1, max_size=30), st.integers(0, 29))
def test_text_keys_do_not_depend_on_neighbours(ids: list[str], cut: int) -> None:
    whole = record_keys(np.array(ids, dtype=object))
    parts = [record_keys(np.array(part, dtype=object)) for part in (ids[:cut], ids[cut:]) if part]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert len(set(whole.tolist())) == len(set(ids))


def test_widths_of_integers() -> None:
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64):
        np.testing.assert_array_equal(record_keys(np.arange(100, dtype=dtype)), record_keys(np.arange(100)))


def test_no_collisions_among_hundreds_of_thousands_of_rows_or_ids() -> None:
    assert len(np.unique(row_keys(0, 300_000))) == 300_000
    assert len(np.unique(record_keys(np.arange(300_000)))) == 300_000
    names = np.array([f"image_{i:07d}.jpg" for i in range(50_000)])
    assert len(np.unique(record_keys(names))) == 50_000


def test_rows_of_different_sources_differ() -> None:
    sources = [row_keys(0, 1000, name) for name in ("", "a.parquet", "b.parquet")]
    assert len(np.unique(np.concatenate(sources))) == 3000


def test_empty_strings_and_offsets_that_start_late() -> None:
    characters = np.frombuffer(b"xxabcab", dtype=np.uint8)
    keys = text_keys(characters, np.array([2, 2, 4, 5, 7]))
    assert keys[1] == keys[3]  # "ab" twice, in different places
    assert len({int(k) for k in keys}) == 3


def test_every_bit_of_a_key_is_even() -> None:
    """Each of the 64 bits is set in half of the keys, within five standard errors."""
    keys = row_keys(0, 100_000)
    shares = [(keys >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(64)]
    assert np.abs(np.array(shares) - 0.5).max() < 5 * 0.5 / np.sqrt(100_000)


@pytest.mark.parametrize("sizes", [[6], [0], [1, 2, 7], [0, 3, 40]])
def test_keys_of_many_strings_are_those_of_each_alone(sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    texts = [bytes(rng.integers(0, 256, rng.choice(sizes)).astype(np.uint8)) for _ in range(3000)]
    offsets = np.cumsum([5, *map(len, texts)])
    together = text_keys(np.frombuffer(b"12345" + b"".join(texts), dtype=np.uint8), offsets)
    alone = [text_keys(np.frombuffer(text, dtype=np.uint8), np.array([0, len(text)]))[0] for text in texts]
    np.testing.assert_array_equal(together, np.array(alone, dtype=np.uint64))
