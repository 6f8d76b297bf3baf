"""Correlations from another source than the evaluated labels, against values worked out by hand.

Eight people: four women (2 nurses, 2 doctors), four men (1 nurse, 3 doctors). The model says nurse of 3 women and
of no man. So P(nurse_hat | w) = 3/4 and P(nurse_hat | m) = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp import binary, directional

GENDER = np.array(list("wwwwmmmm"))
JOB = np.array(["nurse", "nurse", "doctor", "doctor", "nurse", "doctor", "doctor", "doctor"])
MODEL = np.array(["nurse", "nurse", "nurse", "doctor", "doctor", "doctor", "doctor", "doctor"])
# Elsewhere: 10 men (1 nurse), 30 women (9 nurses). Labels are in order: m, w; doctor, nurse.
JOINT = np.array([[9, 1], [21, 9]])
ELSEWHERE = (
    ["m"] * 10 + ["w"] * 30,
    ["doctor"] * 9 + ["nurse"] + ["doctor"] * 21 + ["nurse"] * 9,
)
# P(nurse | w) = .3 and P(nurse | m) = .1; P(nurse) = .25, so w leans to nurse and m to doctor, whose rates change by
# P_hat - base: (w, nurse) .75 - .3 = .45, (m, nurse) 0 - .1, each mirrored by doctor with the opposite sign.
EXPECTED = {
    ("w", "nurse"): (1, 0.45),
    ("w", "doctor"): (-1, -0.45),
    ("m", "nurse"): (-1, -0.1),
    ("m", "doctor"): (1, 0.1),
}
VALUE = (0.45 + 0.45 + 0.1 + 0.1) / 4

BASES: dict[str, Any] = {
    "labels": ELSEWHERE,
    "joint counts": JOINT,
    "joint shares": JOINT / 40,
    "joint, nested": {"m": {"nurse": 1, "doctor": 9}, "w": {"doctor": 21, "nurse": 9}},
    "joint, frame": pd.DataFrame(JOINT[::-1, ::-1], index=["w", "m"], columns=["nurse", "doctor"]),
    "joint, declared": {"joint": JOINT, "source": "a census"},
    "joint with totals": {"joint": JOINT, "given": [10, 30], "outcome": [30, 10], "n": 40},
    "conditional": {"conditional": [[0.9, 0.1], [0.7, 0.3]], "given": [0.25, 0.75]},
    "conditional counts of the given": {"conditional": [[0.9, 0.1], [0.7, 0.3]], "given": {"w": 30, "m": 10}},
}


@pytest.mark.parametrize("name", BASES)
def test_every_form_of_a_base(name: str) -> None:
    result = directional(GENDER, JOB, MODEL, base=BASES[name])
    found = {(row["given"], row["outcome"]): (row["sign"], pytest.approx(row["delta"])) for row in result.pairs.rows()}
    assert found == EXPECTED
    assert result.value == pytest.approx(VALUE)
    assert result.base_source is not None
    assert result.crossfit is None


def test_the_source_is_named() -> None:
    assert directional(GENDER, JOB, MODEL, base=BASES["joint, declared"]).base_source == "a census"
    assert directional(GENDER, JOB, MODEL).base_source is None
    assert "train" in directional(GENDER, JOB, MODEL, train=ELSEWHERE).sign_source


def test_truth_is_not_needed_with_a_base() -> None:
    for name in ("labels", "joint counts", "conditional"):
        assert directional(GENDER, None, MODEL, base=BASES[name]).value == pytest.approx(VALUE)


def test_train_labels_decide_the_sign_before_the_base_does() -> None:
    opposite = (["m"] * 4 + ["w"] * 4, ["nurse"] * 4 + ["doctor"] * 4)
    result = directional(GENDER, JOB, MODEL, train=opposite, base=JOINT)
    assert result.value == pytest.approx(-VALUE)
    assert directional(GENDER, JOB, MODEL, direction=opposite, base=JOINT).value == pytest.approx(-VALUE)


def test_uniform() -> None:
    """Half and half, leaning by 1e-7 to the sign: w to nurse, m to doctor."""
    epsilon = 1e-7
    expected = (0.75 - 0.5 - epsilon + 0.5 - epsilon) / 2
    for direction in ([[1, -1], [-1, 1]], ELSEWHERE):
        result = directional(GENDER, JOB, MODEL, base="uniform", direction=direction)
        assert result.value == pytest.approx(expected, abs=1e-12)
        assert result.base_source == "uniform"
    assert directional(GENDER, JOB, MODEL, base="uniform", train=ELSEWHERE).value == pytest.approx(expected, abs=1e-12)
    three = np.where(np.arange(8) == 7, "other", MODEL)
    signs = {"w": {"nurse": 1, "doctor": -1, "other": -1}, "m": {"nurse": -1, "doctor": 1, "other": 1}}
    rates = directional(GENDER, three, three.copy(), base="uniform", direction=signs).pairs["truth_rate"]
    assert sorted(rates) == pytest.approx([1 / 3 - epsilon] * 3 + [1 / 3 + epsilon] * 3, abs=1e-12)


def test_uniform_over_yes_no_labels_is_refused() -> None:
    """1 over the number of labels means nothing where labels do not exclude each other."""
    with pytest.raises(ValueError, match="exclude each other"):
        directional(GENDER, binary(JOB == "nurse"), binary(MODEL == "nurse"), base="uniform", direction=[[1], [-1]])


def test_yes_no_outcomes_need_the_totals_of_the_given() -> None:
    nurse, model = binary(JOB == "nurse"), binary(MODEL == "nurse")
    base = {"joint": JOINT[:, 1:], "given": [10, 30]}
    result = directional(GENDER, nurse, model, base=base)
    assert result.pairs["delta"].tolist() == pytest.approx([-0.1, 0.45])
    assert result.value == pytest.approx((0.1 + 0.45) / 2)


def test_a_table_over_labels_that_leave_records_out_needs_all_totals() -> None:
    """The row of women alone does not say how common nurses are among all, and so not which way women lean."""
    woman = binary(GENDER == "w")
    for base in (JOINT[1:], {"conditional": [[0.7, 0.3]], "given": [0.75]}):
        with pytest.raises(ValueError, match=r"sign of P\(g, o\) - P\(g\) P\(o\) is not known: add 'outcome'"):
            directional(woman, JOB, MODEL, base=base)
    for base in (
        {"joint": JOINT[1:], "outcome": [30, 10], "n": 40},
        {"conditional": [[0.7, 0.3]], "given": [0.75], "outcome": [0.75, 0.25]},
    ):
        result = directional(woman, JOB, MODEL, base=base)
        assert result.pairs["sign"].tolist() == [-1, 1]
        assert result.value == pytest.approx(0.45)


def test_a_base_of_counts_is_decided_on_whole_numbers() -> None:
    """One record in ten billion away from independence is an association, and at it there is none."""
    even = np.array([[10**10, 10**10], [10**10, 10**10]])
    assert directional(GENDER, JOB, MODEL, base=even).pairs["sign"].tolist() == [0, 0, 0, 0]
    even[0, 0] += 1
    assert directional(GENDER, JOB, MODEL, base=even).pairs["sign"].tolist() == [1, -1, -1, 1]


def test_a_group_the_base_does_not_know_is_excluded() -> None:
    with pytest.warns(UserWarning, match="2 pairs are left out of the mean: the base .* no record of 'm'"):
        result = directional(GENDER, JOB, MODEL, base=(["w", "w"], ["nurse", "doctor"]))
    assert {row["given"] for row in result.excluded} == {"m"}


def test_own_labels_as_base_change_nothing() -> None:
    plain = directional(GENDER, JOB, MODEL)
    assert directional(GENDER, JOB, MODEL, base=(GENDER, JOB)).value == pytest.approx(plain.value)
    assert directional(GENDER, JOB, MODEL, direction=(GENDER, JOB)).value == pytest.approx(plain.value)


@pytest.mark.parametrize(
    ("given", "truth", "words"),
    [
        (["a", "b", "c"] * 20, ["x", "y", "x"] * 20, r"given labels .* do not have: \['c'\]"),
        (["a", "b"] * 20, ["x", "y", "z", "x"] * 10, r"truth labels .* do not have: \['z'\]"),
    ],
)
def test_labels_that_a_base_alone_has_are_named(given: list[str], truth: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=f"base has {words}"):
        biasamp.directional(["a", "b"] * 20, ["x", "y", "y", "x"] * 10, ["x", "y", "x", "x"] * 10, base=(given, truth))
