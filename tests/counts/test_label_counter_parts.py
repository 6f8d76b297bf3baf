"""Counters of long tables: masks, limits, thresholds and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from biasamp.counts.label_bags import BAG_LABELS, BAG_SHIFT, BAGS
from biasamp.counts.label_counter import Counter, Pairing, _as_long, _masks, joined, label_codes
from biasamp.counts.long_columns import LabelCodes
from biasamp.counts.long_table import LongCounter

MEMBERS = [["a", "aa"], ["b", "a"]]
ROWS: list[tuple[str | None, float | None]] = [
    ("a", 0.5),
    ("b", 0.4),
    ("a", 0.49),
    ("c", None),
    (None, 0.1),
    ("b", None),
    ("a", 0.6),
    ("d", 0.0),
]


def test_what_each_label_adds() -> None:
    codes = label_codes(MEMBERS, Pairing(), "numpy")
    assert codes.labels == ["a", "aa", "b"]
    assert _masks(MEMBERS, codes.places, False).tolist() == [3, 1, 2]
    codes = label_codes(MEMBERS, Pairing(True, True), "numpy")
    assert codes.labels == ["a", "aa", "b", *BAG_LABELS]
    masks = _masks(MEMBERS, codes.places, True).tolist()
    assert masks == [3, 1, 2, *(bag << BAG_SHIFT for bag in range(BAGS))]
    assert BAG_SHIFT == 55
    assert max(masks) < 1 << 63


def test_so_many_identities() -> None:
    def counter(many: int, bags: bool = False) -> Counter:
        return Counter([[str(k)] for k in range(many)], None, "numpy", Pairing(bags, bags))

    for many, bags in ((1, False), (63, False), (1, True), (55, True)):
        assert len(counter(many, bags).members) == many
    for many in (0, 64):
        with pytest.raises(ValueError, match=f"identities names {many}; 1 to 63 identities are counted$"):
            counter(many)
    for many in (0, 56):
        with pytest.raises(
            ValueError, match=f"identities names {many}; 1 to 55 identities are counted where runs are to be paired"
        ):
            counter(many, True)


def test_arrays_one_after_another() -> None:
    one = np.array([1, 2])
    assert joined([one], np.int64) is one
    assert joined([one, one + 2], np.int64).tolist() == [1, 2, 3, 4]
    empty = joined([], np.uint64)
    assert (empty.dtype, len(empty)) == (np.uint64, 0)
    table = np.array([[1, 2], [3, 4]], dtype=np.uint16)
    assert _as_long(table, 1).tolist() == [[1, 2]]
    assert _as_long(table, 2) is not None
    longer = _as_long(table, 3)
    assert longer.tolist() == [[1, 2], [3, 4], [0, 0]]
    assert longer.dtype == np.uint16


def kept(threshold: Any, rows: list[tuple[str | None, float | None]], parts: list[int]) -> tuple[list[str | None], int]:
    codes = LabelCodes()
    from biasamp.counts.label_counter import _Threshold

    held = _Threshold(threshold, codes)
    out: list[str | None] = []
    for start, stop in zip([0, *parts], [*parts, len(rows)], strict=True):
        label = pa.array([label for label, _ in rows[start:stop]], pa.string())
        score = pa.array([score for _, score in rows[start:stop]], pa.float64())
        out += [None if code < 0 else codes.labels[code] for code in held.apply(codes.encode(label), score).tolist()]
    return out, held.below


@pytest.mark.parametrize("parts", [[], [1, 3, 5]])
def test_rows_that_score_high_enough(parts: list[int]) -> None:
    """At the threshold they do; without a score they do not; rows without a label are not counted as below."""
    assert kept(0.5, ROWS, parts) == (["a", None, None, None, None, None, "a", None], 5)
    assert kept({"a": 0.5, "b": 0.3}, ROWS, parts) == (["a", "b", None, "c", None, None, "a", "d"], 2)
    assert kept({"z": 1.0}, ROWS, parts) == ([label for label, _ in ROWS], 0)
    assert kept(None, ROWS, parts) == ([label for label, _ in ROWS], 0)
    assert kept(0.0, [("a", 0.0), (None, None)], []) == (["a", None], 0)


def test_scores_are_numbers() -> None:
    counter = LongCounter([["a"]], threshold=0.5, kernel="numpy")
    with pytest.raises(TypeError, match="the score column holds string values; numbers are needed"):
        counter.add(pa.array([1]), pa.array(["a"]), pa.array(["0.5"]))
    assert not LongCounter([["a"]], kernel="numpy").threshold.given
    assert counter.threshold.given
