from __future__ import annotations

import numpy as np
import pytest

import biasamp
from biasamp import movement
from biasamp.association.gaps import association_gap


@pytest.fixture(scope="module")
def result():
    drawn = biasamp.open_images_shape(5_000, 300, seed=1)
    return biasamp.associate(drawn.to_arrow(), ["man", "woman"])


def test_the_rank_of_a_made_up_label_is_where_it_would_stand(result):
    moved = movement(result, counts=[200], steps=[0.5, 1.0, 2.0], shares=(0.5, 0.2))
    ranked = result.why_not() == ""
    for row in moved.rows():
        gap = association_gap(
            row["metric"], result.n, *result.identity_count, row["count"], 0.5 * row["count"], 0.2 * row["count"]
        )
        assert row["gap"] == pytest.approx(float(gap))
        others = result.values.gaps(row["metric"], (0, 1))[ranked]
        assert row["rank"] == 1 + (others > gap).sum()
        assert row["of"] == ranked.sum() + 1


def test_gaps_with_no_derivative_by_p_y_stay_where_they_are(result):
    moved = movement(result, counts=[50], shares=(0.4, 0.2))
    for metric in ("pmi", "pmi2", "llr"):
        gaps = [row["gap"] for row in moved.rows() if row["metric"] == metric]
        assert np.ptp(gaps) < 1e-12
    gaps = [row["gap"] for row in moved.rows() if row["metric"] == "tau_b"]
    assert np.ptp(gaps) > 1e-3


def test_toward_the_other_identity_turns_the_gap(result):
    one = movement(result, counts=[100], steps=[1.0], shares=(0.5, 0.2))
    other = movement(result, counts=[100], steps=[1.0], shares=(0.2, 0.5), toward="woman")
    assert other["gap"] == pytest.approx(-one["gap"])
    for row in other.rows():
        leaning = -result.values.gaps(row["metric"], (0, 1))[result.why_not() == ""]
        assert row["rank"] == 1 + (leaning > row["gap"]).sum()


def test_counts_that_do_not_fit_are_left_out(result):
    assert len(movement(result, counts=[10**9])) == 0
    with pytest.raises(ValueError, match="shares"):
        movement(result, shares=(0.0, 0.5))


def test_change_between_two_results():
    def sets(rates):
        return [[x, *(y for y, rate in rates[x].items() if i < rate)] for x in ("m", "w") for i in range(1000)]

    old = biasamp.associate(sets({"m": {"bike": 300, "hat": 50}, "w": {"bike": 100, "hat": 52}}), ["m", "w"])
    new = biasamp.associate(sets({"m": {"bike": 200, "hat": 50, "new": 90}, "w": {"bike": 200, "hat": 50}}), ["m", "w"])
    table = biasamp.association_change(old, new, "dp")
    rows = {row["label"]: row for row in table.rows()}
    assert table["label"][0] == "bike"
    assert rows["bike"]["change"] == pytest.approx(-0.2)
    error = np.sqrt((0.3 * 0.7 + 0.1 * 0.9 + 2 * 0.2 * 0.8) / 1000)
    assert rows["bike"]["low"] == pytest.approx(-0.2 - 1.959964 * error, rel=1e-6)
    assert rows["bike"]["q"] < 1e-6 < 0.5 < rows["hat"]["q"]
    assert rows["new"]["gap_old"] is None
    assert rows["new"]["p"] is None
    turned = {row["label"]: row for row in biasamp.association_change(old, new, "dp", toward="w").rows()}
    assert turned["bike"]["change"] == pytest.approx(0.2)


def test_results_of_different_kinds_are_not_compared():
    sets = [["m", "y"], ["w"], ["m"], ["w", "y"]] * 10
    old = biasamp.associate(sets, ["m", "w"])
    with pytest.raises(ValueError, match="same identities"):
        biasamp.association_change(old, biasamp.associate(sets, ["w", "m"]))
    with pytest.raises(ValueError, match="paper_literal"):
        biasamp.association_change(old, biasamp.associate(sets, ["m", "w"], paper_literal=True))


def test_a_change_refuses_what_it_cannot_compare(result):
    with pytest.raises(ValueError, match="level is 95; it must lie strictly between 0 and 1"):
        biasamp.association_change(result, result, level=95)
    with pytest.raises(TypeError, match=r"new is a list; what biasamp.associate gives"):
        biasamp.association_change(result, [["man"]])
