"""``movement`` of P(x1,y) alone (AIES Sec. 4.1), by hand."""

from __future__ import annotations

import numpy as np
import pytest

import biasamp


def _images(with_one: int, with_two: int, alone: int) -> list[list[str]]:
    """100 men and 100 women; the label y with so many of each, and with nobody."""
    men = [["man", "y"]] * with_one + [["man", "z"]] * (100 - with_one)
    women = [["woman", "y"]] * with_two + [["woman", "z"]] * (100 - with_two)
    return men + women + [["y"]] * alone + [["z"]] * (60 - alone)


def test_only_the_joint_count_moves() -> None:
    result = biasamp.associate(_images(10, 12, 18), ["man", "woman"], min_expected=0)
    # C(y) is 40, C(man,y) .25 of it, C(woman,y) .3 of it, which stays.
    found = biasamp.movement(result, counts=[40], shares=(0.25, 0.3), steps=[0.5, 1.0, 2.0], moving="joint")
    # Of 100 men and 100 women each: DP is a difference of shares, PMI the logarithm of their ratio.
    by_hand = {"dp": lambda joint: joint / 100 - 12 / 100, "pmi": lambda joint: np.log(joint / 12)}
    for metric, expected in by_hand.items():
        here = found["metric"] == metric
        assert found["count"][here].tolist() == [40.0] * 3
        assert found["joint_1"][here].tolist() == [5.0, 10.0, 20.0]
        assert found["joint_2"][here].tolist() == [12.0] * 3
        assert found["gap"][here] == pytest.approx(expected(found["joint_1"][here]))


def test_counts_that_cannot_be_are_left_out() -> None:
    result = biasamp.associate(_images(10, 12, 18), ["man", "woman"], min_expected=0)
    found = biasamp.movement(result, counts=[40], shares=(0.6, 0.3), steps=[1.0, 2.0], moving="joint")
    # More records with man and y than with y there cannot be.
    assert set(found["joint_1"].tolist()) == {24.0}
    with pytest.raises(ValueError, match="moving"):
        biasamp.movement(result, moving="sideways")
