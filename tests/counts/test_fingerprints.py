"""Fingerprints tell sets of records apart, and add up."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp.counts.fingerprints import Fingerprint, least_keys
from biasamp.data.keys import row_keys


def test_a_fingerprint_tells_records_apart_and_adds_up_in_any_order() -> None:
    keys = row_keys(0, 1000)
    shuffled = np.random.default_rng(0).permutation(keys)
    assert Fingerprint.of(shuffled[:300]) + Fingerprint.of(shuffled[300:]) == Fingerprint.of(keys)
    assert Fingerprint.of(keys[:-1]) != Fingerprint.of(keys)
    twice = np.concatenate([keys[:-1], keys[:1]])
    assert Fingerprint.of(twice) != Fingerprint.of(keys)
    # What an exclusive or would miss: two records that are both there twice.
    pairs = [np.concatenate([keys[2:], keys[i : i + 1], keys[i : i + 1]]) for i in (0, 1)]
    assert Fingerprint.of(pairs[0]) != Fingerprint.of(pairs[1])
    assert Fingerprint.parse(str(Fingerprint.of(keys))) == Fingerprint.of(keys)
    with pytest.raises(ValueError, match="not a fingerprint"):
        Fingerprint.parse("1-2")


def test_the_least_keys_are_those_of_a_sort_and_add_up() -> None:
    keys = row_keys(0, 5000)
    expected = tuple(sorted(keys.tolist())[:256])
    assert least_keys(keys) == expected
    assert least_keys(np.repeat(keys, 2)) == expected
    parts = least_keys(keys[:1234]) + least_keys(keys[1234:])
    assert least_keys(np.array(parts, dtype=np.uint64)) == expected
    assert least_keys(keys[:3]) == tuple(sorted(keys[:3].tolist()))
