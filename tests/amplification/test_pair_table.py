"""Rows of pairs: bounds that turn with the sign, pairs that are left out, and means of those that are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.amplification.pair_table import PairValues, excluded_pairs, mean_over_pairs, pair_table
from biasamp.resampling.significance import q_values

SIGN = np.array([[1, -1, 0], [0, 1, -1]], dtype=np.int8)
DELTA = np.array([[0.2, 0.3, -0.1], [0.05, np.nan, 0.1]])
DEFINED = np.array([[True, True, True], [True, False, True]])
LOW, HIGH = DELTA - 0.15, DELTA + 0.1
P = np.array([[0.01, 0.04, 0.5], [0.9, np.nan, 0.03]])
SIGN_P = np.array([[0.05, 0.051, 1.0], [0.049, 0.0, 0.2]])


def table(**more: Any) -> list[dict[str, Any]]:
    values = PairValues(SIGN, DELTA + 0.5, 2 * DELTA + 0.5, DELTA, SIGN * DELTA, DEFINED)
    asked = {"factor": SIGN, "sign_p": SIGN_P, "low": LOW, "high": HIGH, "support": np.array([[7.0], [9.0]]), "p": P}
    made = pair_table(["a", "b"], ["x", "y", "z"], values, **{**asked, **more})
    return list(made.rows())


@pytest.mark.parametrize("either", [False, True])
def test_rows(either: bool) -> None:
    rows = table(either_way=either, more=np.array([[1, 2, 3], [4, 5, 6]]), one=np.array([[True], [False]]))
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2)]
    q = q_values(np.array([P[place] for place in places]))
    assert len(rows) == 5
    for k, (row, (i, j)) in enumerate(zip(rows, places, strict=True)):
        assert (row["given"], row["outcome"], row["sign"]) == ("ab"[i], "xyz"[j], SIGN[i, j])
        names = ("sign_p", "truth_rate", "predicted_rate", "delta", "amplification", "support", "p", "q", "more", "one")
        expected = [
            SIGN_P[i, j],
            DELTA[i, j] + 0.5,
            2 * DELTA[i, j] + 0.5,
            DELTA[i, j],
            SIGN[i, j] * DELTA[i, j],
            (7.0, 9.0)[i],
            P[i, j],
            q[k],
            3 * i + j + 1,
            i == 0,
        ]
        assert [row[name] for name in names] == pytest.approx(expected)
        assert row["clear"] == (SIGN_P[i, j] <= 0.05)
        if SIGN[i, j] == 0:
            reach = max(abs(LOW[i, j]), abs(HIGH[i, j])) if either else 0.0
            ends = -reach, reach
        else:
            ends = tuple(sorted((SIGN[i, j] * LOW[i, j], SIGN[i, j] * HIGH[i, j])))
        assert (row["low"], row["high"]) == pytest.approx(ends)


def test_bounds_that_are_not_known() -> None:
    """Too little of a pair to say: a sign of 0 does not make it known."""
    rows = table(low=np.full((2, 3), np.nan), high=np.full((2, 3), np.nan))
    assert {(row["low"], row["high"]) for row in rows} == {(None, None)}
    assert table(factor=np.where(SIGN == 0, -1, SIGN))[2]["low"] == pytest.approx(-HIGH[0, 2])


def test_means() -> None:
    assert mean_over_pairs(DELTA, DEFINED) == pytest.approx((0.2 + 0.3 - 0.1 + 0.05 + 0.1) / 5)
    assert np.isnan(mean_over_pairs(DELTA, np.zeros((2, 3), dtype=bool)))
    several = mean_over_pairs(np.stack([DELTA, 2 * DELTA]), np.stack([DEFINED, DEFINED]))
    assert several.tolist() == pytest.approx([0.11, 0.22])


def test_pairs_that_are_left_out() -> None:
    values = PairValues(SIGN, DELTA, DELTA, DELTA, DELTA, DEFINED)
    long = "y" * 40
    with pytest.warns(
        UserWarning,
        match=r"1 of 6 pairs are undefined and left out of the mean, such as \(b, y+…?.*\): because; .excluded",
    ) as caught:
        made = excluded_pairs(
            ["a", "b"], ["x", long, "z"], values, "because", stacklevel=1, given_count=np.array([[3], [4]])
        )
    assert made == ({"given": "b", "outcome": long, "reason": "because", "given_count": 4},)
    assert long not in str(caught[0].message)
    every = PairValues(SIGN, DELTA, DELTA, DELTA, DELTA, np.ones((2, 3), dtype=bool))
    assert excluded_pairs(["a", "b"], ["x", "y", "z"], every, "because") == ()
