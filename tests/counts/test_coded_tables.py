"""Tables of codes and of columns against a loop over records, in one table and in several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts.fixed import floats
from biasamp.counts.kernels import coded, scored
from biasamp.counts.kernels.coded import by_label, pairs_given_columns, pairs_of_codes, pairs_of_columns, worth_coding


def by_hand(place: Any, places: int, truth: Any, predicted: Any) -> Any:
    """Truth, one, prediction and both, of yes/no rows."""
    columns = np.concatenate([truth, np.ones((len(truth), 1), dtype=int), predicted, truth * predicted], axis=1)
    out = np.zeros((places, columns.shape[1]), dtype=int)
    np.add.at(out, place, columns)
    return out


def yes_no(codes: Any, width: int) -> Any:
    return (codes[:, None] == np.arange(width)).astype(int)


@pytest.mark.parametrize("at_once", [1 << 18, 3 * 5 * 5, 3 * 5 * 5 - 1, 0])
@pytest.mark.parametrize("least", [(0, 0), (-1, 0), (0, -1), (-1, -1)])
def test_codes(at_once: int, least: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded, "_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    for width in (1, 4):
        place = rng.integers(0, 3, 60)
        truth, predicted = (rng.integers(lowest, width, 60) for lowest in least)
        expected = by_hand(place, 3, yes_no(truth, width), yes_no(predicted, width))
        assert pairs_of_codes(place, 3, truth, predicted, width).tolist() == expected.tolist()
        given = rng.integers(0, 2, (2, 60)).astype(np.uint8)
        table = pairs_given_columns(place, 3, given, truth, predicted, width)
        for j, mine in enumerate((*given, np.ones(60))):
            held = np.flatnonzero(mine)
            expected = by_hand(place[held], 3, yes_no(truth[held], width), yes_no(predicted[held], width))
            assert table[:, j].tolist() == expected.tolist()
    none = np.zeros(0, dtype=np.int64)
    assert not pairs_of_codes(none, 3, none, none, 2).any()
    assert pairs_of_codes(none, 3, none, none, 2).shape == (3, 7)


@pytest.mark.parametrize("at_once", [1 << 18, 16 * 3, 16 * 3 - 1])
@pytest.mark.parametrize("width", [1, 2, 3, 6])
def test_columns(at_once: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded, "_AT_ONCE", at_once)
    rng = np.random.default_rng(width)
    place, (truth, predicted) = rng.integers(0, 3, 50), rng.integers(0, 2, (2, 50, width))
    table = pairs_of_columns(place, 3, truth.T.astype(np.uint8), predicted.T.astype(np.uint8))
    assert table.tolist() == by_hand(place, 3, truth, predicted).tolist()


def test_two_columns_at_a_time_where_their_table_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = coded._counted
    monkeypatch.setattr(coded, "_counted", lambda codes, size: sizes.append(size) or real(codes, size))
    place, columns = np.zeros(4, dtype=np.int64), np.ones((3, 4), dtype=np.uint8)
    most = (1 << 18) // 16
    for places, expected in (
        (2, [32, 8, 2]),
        (most, [16 * most, 4 * most, most]),
        (most + 1, [4 * most + 4] * 3 + [most + 1]),
    ):
        sizes.clear()
        pairs_of_columns(place, places, columns, columns)
        assert sizes == expected
    # One table of codes, or one for each side.
    codes = np.array([0, 1, 0, 1])
    for places, expected in (((1 << 18) // 4, [1 << 18]), ((1 << 18) // 4 + 1, [(1 << 17) + 2] * 3)):
        sizes.clear()
        pairs_of_codes(place, places, codes, codes, 2)
        assert sizes == expected


def test_places_that_are_worth_a_table() -> None:
    assert worth_coding(1 << 16, 1)
    assert not worth_coding((1 << 16) + 1, 1)
    assert worth_coding(8 * 10_000, 10_000)
    assert not worth_coding(8 * 10_000 + 1, 10_000)


@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 1100])
def test_rows_are_turned_to_columns(n: int) -> None:
    rows = np.random.default_rng(n).integers(0, 2, (n, 3)).astype(np.uint8)
    assert by_label(rows).tolist() == rows.T.tolist()
    assert by_label(rows).flags.c_contiguous
    fortran = np.asfortranarray(rows)
    assert by_label(fortran).tolist() == rows.T.tolist()
    assert np.shares_memory(by_label(fortran), fortran) or not n


def test_scores_of_places() -> None:
    rng = np.random.default_rng(3)
    n, width = 70, 3
    place, truth = rng.integers(0, 4, n), rng.integers(0, 2, (n, width)).astype(np.uint8)
    for scores in (rng.integers(0, 65, (n, width)) / 64.0, rng.integers(0, 2, (n, width)) * 1.0):
        mine = np.eye(5)[place]
        counts, sums = scored.scored_pairs(place, 5, truth, scores)
        assert counts.tolist() == (mine.T @ np.column_stack([truth, np.ones(n)])).tolist()
        assert floats(sums).tolist() == (mine.T @ np.concatenate([scores, scores * truth], axis=1)).tolist()
        size, gained, lost, square = scored.scored_spread(place, 5, truth, scores)
        apart = scores - truth
        assert size.tolist() == np.repeat(mine.sum(axis=0)[:, None], width, axis=1).tolist()
        assert floats(gained).tolist() == (mine.T @ np.maximum(apart, 0)).tolist()
        assert floats(lost).tolist() == (mine.T @ np.maximum(-apart, 0)).tolist()
        assert floats(square).tolist() == (mine.T @ apart**2).tolist()


def test_records_whose_limbs_floats_hold() -> None:
    """Sums of numbers of 26 bits are below 2**53."""
    assert scored.fits((1 << 27) - 1)
    assert not scored.fits(1 << 27)
