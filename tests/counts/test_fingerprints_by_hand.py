"""Fingerprints as whole numbers of Python, and the least keys of few and of many."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp.counts.fingerprints import Fingerprint, least_keys
from biasamp.counts.known_records import KnownRecords
from biasamp.data.keys import mix, row_keys

ALL = (1 << 64) - 1


@pytest.mark.parametrize("many", [0, 1, 255, 256, 257, 1024, 1025, 4096, 4097, 20_000])
@pytest.mark.parametrize("times", [1, 3])
def test_least_keys_are_the_smallest(many: int, times: int) -> None:
    keys = np.tile(row_keys(0, many), times)
    found = least_keys(keys)
    expected = sorted(set(keys.tolist()))[:256]
    # Keys are distinct but where records are repeated: then the smallest 1,024 are looked at.
    assert found == tuple(expected)
    assert all(isinstance(key, int) for key in found)


def test_least_keys_that_are_not_spread() -> None:
    """Where nearly all are large, no key is passed over."""
    keys = np.arange(ALL - 9000, ALL - 1000, dtype=np.uint64)
    assert least_keys(np.concatenate([keys, np.array([5], dtype=np.uint64)])) == (5, *keys[:255].tolist())
    # As many small ones as are looked at.
    small = np.arange(1024, dtype=np.uint64)
    assert least_keys(np.concatenate([keys, small])) == tuple(range(256))


def test_fingerprints() -> None:
    keys = row_keys(0, 100)
    whole = Fingerprint.of(keys)
    assert whole.records == 100
    assert whole.total == sum(keys.tolist()) % 2**64
    assert whole.mixed == sum(mix(keys ^ np.uint64(0xD6E8FEB86659FD93)).tolist()) % 2**64
    one, two = Fingerprint.of(keys[:30]), Fingerprint.of(keys[30:])
    assert one + two == whole
    assert whole - two == one
    assert Fingerprint(3, ALL, ALL) + Fingerprint(4, 1, 2) == Fingerprint(7, 0, 1)
    assert Fingerprint(3, 0, 1) - Fingerprint(1, 1, 3) == Fingerprint(2, ALL, ALL - 1)
    assert str(Fingerprint(12, 255, 1)) == "12-00000000000000ff-0000000000000001"
    assert Fingerprint.parse(str(whole)) == whole
    for text in ("", "1-2", "1-2-3-4", "x-0-0", "1-x-0", "1-0-x"):
        with pytest.raises(ValueError, match=f"not a fingerprint of records: {text!r}"):
            Fingerprint.parse(text)


def test_known_records() -> None:
    one, two = KnownRecords.of(row_keys(0, 1000)), KnownRecords.of(row_keys(1000, 500))
    assert one + two == KnownRecords.of(row_keys(0, 1500))
    assert not one.shares(two)
    assert one.shares(KnownRecords.of(row_keys(0, 1000)))
    again = KnownRecords.of(np.concatenate([row_keys(0, 1000), row_keys(5, 1)]))
    assert again.once(row_keys(5, 1)) == one
    held = one.to_dict()
    assert held["keys"] == str(one.keys)
    assert held["sampled"][0] == f"{one.sampled[0]:016x}"
    assert KnownRecords.from_dict(held) == one
