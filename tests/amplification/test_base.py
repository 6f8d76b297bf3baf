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


def asked(**options: Any) -> Any:
    return directional(GENDER, JOB, MODEL, **options)


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("equal", "base is 'equal'; the only base with a name is 'uniform'"),
        ("uniform", "base='uniform' has no direction of its own"),
        ({"conditional": [[0.9, 0.1], [0.7, 0.3]]}, "no 'given' marginal"),
        ({"conditional": [[0.9, 0.1], [0.7, -0.1]], "given": [1, 3]}, r"values outside \[0, 1\]"),
        ({"conditional": [[0.9, 0.1], [0.7, 1.1]], "given": [1, 3]}, r"values outside \[0, 1\]"),
        (
            {"conditional": [[0.9, 0.1], [0.7, 0.3]], "given": [1, 2, 3]},
            r"base\['given'\] must hold one share for each of the 2",
        ),
        ({"conditional": [[0.9, 0.1], [0.7, 0.3]], "given": [1, -1]}, r"base\['given'\] must hold one share"),
        ({"conditional": [[0.9, 0.1], [0.7, 0.3]], "given": [0, 0]}, r"base\['given'\] must hold one share"),
        (
            {"conditional": [[0.9, 0.1], [0.7, 0.3]], "given": {"m": 1}},
            r"base\['given'\] has no entry for the label 'w'; it has m",
        ),
        ([[9, 1], [21, -9]], "not negative, and not all 0"),
        ([[0, 0], [0, 0]], "not negative, and not all 0"),
        (
            [[9, 1, 2], [21, 9, 3]],
            r"base has shape \(2, 3\); a row for each of the 2 given labels .* \(m, w by doctor, nurse\)",
        ),
        ([[9, 1], [21, float("nan")]], "base holds missing values"),
        ([["many", "few"], ["few", "many"]], "base is neither a table of numbers nor a pair of labels"),
        ({("m", "nurse"): 1}, r"base has \('m', 'nurse'\); a mapping"),
        ({"m": [9, 1], "w": [21, 9]}, r"base row has \[9, 1\]; a mapping"),
        ({"m": {"nurse": 1, "doctor": 9}}, "base has no entry for the label 'w'; it has m"),
        (
            {"m": {"nurse": 1, "doctor": 9}, "w": {"nurse": 9}},
            "base row has no entry for the label 'doctor'; it has nurse",
        ),
        (
            {"m": {"Nurse": 1, "nurse": 1, "doctor": 9}, "w": {"nurse": 9, "doctor": 21}},
            "'Nurse', which looks like another spelling",
        ),
    ],
)
def test_bases_that_are_none(base: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        asked(base=base)


def test_directions_that_are_none() -> None:
    for wrong in ([[1, 2], [0, 1]], [[0.5, -1], [1, 0]]):
        with pytest.raises(ValueError, match="direction holds other values than -1, 0 and 1"):
            asked(direction=wrong)
    with pytest.raises(ValueError, match="both train and direction"):
        asked(direction=[[1, -1], [-1, 1]], train=ELSEWHERE)


def test_a_table_of_signs_is_certain() -> None:
    """Signs of a table have no sampling error; a 0 is no sign."""
    made = asked(direction=[[1, 0], [0, -1]])
    rows = {(row["given"], row["outcome"]): row for row in made.pairs.rows()}
    assert {pair: row["sign"] for pair, row in rows.items()} == {
        ("m", "doctor"): 1,
        ("m", "nurse"): 0,
        ("w", "doctor"): 0,
        ("w", "nurse"): -1,
    }
    assert {pair: row["sign_p"] for pair, row in rows.items()} == {
        pair: float(row["sign"] == 0) for pair, row in rows.items()
    }
    assert made.sign_source == "the table given as direction"
    assert made.base_source is None
    named = asked(direction={"w": {"nurse": -1, "doctor": 0}, "m": {"nurse": 0, "doctor": 1}})
    assert named.value == made.value
    assert asked(direction=ELSEWHERE).sign_source == "the labels given as direction"


def test_tables_of_shares_are_certain_and_those_of_counts_are_not() -> None:
    shares, counts = asked(base=JOINT / 40), asked(base=JOINT)
    assert set(shares.pairs["sign_p"]) == {0.0}
    assert all(0 < p < 1 for p in counts.pairs["sign_p"])
    # Counts of half records are no counts.
    halves = asked(base=JOINT / 2)
    assert set(halves.pairs["sign_p"]) == {0.0}
    assert halves.value == pytest.approx(VALUE)


@pytest.mark.parametrize("hair", [1e-12, 1e-6])
def test_shares_that_rounding_moves_apart(hair: float) -> None:
    """Rates as far from the rate of all as a table's rounding are no association."""
    base = {"conditional": [[0.5 + hair, 0.5 - hair], [0.5, 0.5]], "given": [0.5, 0.5]}
    assert asked(base=base).pairs["sign"].tolist() == ([0, 0, 0, 0] if hair < 1e-9 else [1, -1, -1, 1])


def test_sources_are_named() -> None:
    conditional = {"conditional": [[0.9, 0.1], [0.7, 0.3]], "given": [1, 3]}
    for base, source in (
        (JOINT, "joint table"),
        (ELSEWHERE, "other labels"),
        (conditional, "conditionals"),
        ({**conditional, "source": "a survey"}, "a survey"),
        ({"joint": JOINT}, "joint table"),
    ):
        made = asked(base=base)
        assert (made.base_source, made.sign_source) == (source, f"the base ({source})")
        turned = asked(base=base, train=ELSEWHERE)
        assert (turned.base_source, turned.sign_source) == (source, "the train labels")


def test_all_totals_decide_before_sums_do() -> None:
    """Totals that are given are gone by, those of the given alone in the rates."""
    base = {"joint": JOINT, "given": [20, 60], "outcome": [30, 10], "n": 80}
    rows = {(row["given"], row["outcome"]): row for row in asked(base=base).pairs.rows()}
    assert rows["m", "nurse"]["truth_rate"] == pytest.approx(1 / 20)
    assert rows["w", "doctor"]["truth_rate"] == pytest.approx(21 / 60)
    # 9 of 20 men are doctors and 30 of 80 of all.
    assert rows["m", "doctor"]["sign"] == 1
    overall = {"conditional": [[0.9, 0.1], [0.7, 0.3]], "given": [1, 3], "outcome": [0.6, 0.4]}
    assert asked(base=overall).pairs["sign"].tolist() == [1, -1, 1, -1]


def test_frames_go_by_names_or_by_place() -> None:
    """Rows and columns that are numbered go by place, unless the groups themselves are numbers."""
    plain = pd.DataFrame(JOINT)
    assert asked(base=plain).value == pytest.approx(VALUE)
    with pytest.raises(ValueError, match="no entry for the label"):
        asked(base=pd.DataFrame(JOINT, index=["m", "x"], columns=["doctor", "nurse"]))
    with pytest.raises(ValueError, match="no entry for the label"):
        asked(base=pd.DataFrame(JOINT, columns=["doctor", "nurse"]))
    coded = np.where(GENDER == "w", "0", "1")
    frame = pd.DataFrame(JOINT[::-1, ::-1], index=["0", "1"], columns=["nurse", "doctor"])
    assert directional(coded, JOB, MODEL, base=frame).value == pytest.approx(VALUE)


def test_one_list_of_labels_is_a_table() -> None:
    """A list of two is a table; a tuple of two a pair of labels."""
    made = asked(base=JOINT.tolist())
    assert made.base_source == "joint table"
    with pytest.raises((TypeError, ValueError)):
        asked(base=tuple(JOINT.tolist()))


def test_many_labels_are_not_all_named() -> None:
    group = np.array([f"g{i}" for i in range(8)] * 4)
    truth = ["x", "y", "y", "x", "x"] * 6 + ["x", "y"]
    with pytest.raises(ValueError, match=r"\(g0, g1, g2, g3, g4, g5, … by x, y\)"):
        directional(group, truth, truth[1:] + truth[:1], base=[[1, 2]])


@pytest.mark.parametrize("side", ["given", "truth"])
def test_some_labels_of_a_base(side: str) -> None:
    """A group, or an outcome, that train labels lack has no sign; with all of them there is none to measure."""
    from biasamp.amplification.base import Base, pairs_without_sign
    from biasamp.data import Label

    labels = (Label("g", "m"), Label("g", "w")), (Label("t", "x"), Label("t", "y"), Label("t", "z"))
    yes, no = np.array([True, False]), np.array([True, True, False])
    signed = (yes, np.ones(3, dtype=bool)) if side == "given" else (np.ones(2, dtype=bool), no)
    rows = pairs_without_sign(labels, signed, "the train labels")
    lacking = "g=w" if side == "given" else "t=z"
    pairs = [("g=w", f"t={t}") for t in "xyz"] if side == "given" else [("g=m", "t=z"), ("g=w", "t=z")]
    assert [(row["given"], row["outcome"]) for row in rows] == pairs
    assert {row["lacking"] for row in rows} == {lacking}
    assert rows[0]["reason"] == f"the train labels have no record of '{lacking}', so the pair has no sign"
    assert pairs_without_sign(labels, (np.ones(2, dtype=bool), np.ones(3, dtype=bool)), "x") == ()
    with pytest.raises(ValueError, match="no pair has a sign: the train labels have no record of 'g=m'"):
        pairs_without_sign(labels, (np.zeros(2, dtype=bool), no), "the train labels")
    table = np.arange(6.0).reshape(2, 3)
    held = Base(np.sign(table).astype(np.int8), "a", None, table, table + 1, "b", table + 2)
    some = held.only(*signed)
    for name, part in (("sign_p", table), ("rates", table + 1), ("records", table + 2)):
        assert getattr(some, name).tolist() == part[signed[0]][:, signed[1]].tolist()
    assert some.signs is not None
    assert some.signs.tolist() == np.sign(table)[signed[0]][:, signed[1]].tolist()
    assert held.only(np.ones(2, dtype=bool), np.ones(3, dtype=bool)) is held
    assert (held.told, Base().told, Base(held.signs, own_signs=True).told) == (True, False, False)
    assert [part.tolist() for part in Base().signed(2, 3)] == [[True] * 2, [True] * 3]
