"""Scores, thresholds and strata at the door: what is decided, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import biasamp
from biasamp.data.arguments import read
from biasamp.data.scores import decide, read_chances, read_scored, read_strata, read_threshold

GROUP = ["a", "b", "a", "b"]
TRUTH = [1, 0, 0, 1]
SCORES = [0.5, 0.49, 0.2, 0.9]


def decided(scores: Any, truth: Any, threshold: Any = 0.5, given: Any = None, **options: Any) -> list[list[int]]:
    true = read(truth, "truth")
    held = None if given is None else read(given, "given")
    return decide(read_chances(scores, true), threshold, held, **options)[0].rows().tolist()


def test_a_score_at_the_threshold_is_positive() -> None:
    assert decided(SCORES, TRUTH) == [[0, 1], [1, 0], [1, 0], [0, 1]]
    assert decided([[0.5, 0.3], [0.2, 0.9]], [[1, 0], [0, 1]], [0.5, 0.95]) == [[1, 0], [0, 0]]


def test_the_first_of_tied_classes_is_decided() -> None:
    scores = biasamp.categorical([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [0.0, 0.5, 0.5]], categories=["x", "y", "z"])
    assert decided(scores, ["x", "y", "z"], highest=True) == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_two_classes_by_the_highest_or_by_a_threshold() -> None:
    pair = biasamp.categorical([[0.5, 0.5], [0.3, 0.7]], categories=[0, 1])
    assert read_scored(["a", "b"], [0, 1], pair).decided.predicted.rows().tolist() == [[1, 0], [0, 1]]
    assert read_scored(["a", "b"], [0, 1], [0.5, 0.7]).decided.predicted.rows().tolist() == [[0, 1], [0, 1]]
    with pytest.raises(ValueError, match=r"the highest decides.*predicted="):
        read_scored(["a", "b"], [0, 1], pair, threshold=0.7)


def test_thresholds_by_task_and_by_group() -> None:
    given = read(GROUP, "given")
    table, rule = read_threshold({"b": 0.6, "a": 0.2}, ["hired"], given)
    assert table.tolist() == [[0.2], [0.6]]
    assert rule == "a threshold for each group"
    assert decided([0.2, 0.5, 0.1, 0.6], TRUTH, {"a": 0.2, "b": 0.6}, GROUP) == [[0, 1], [1, 0], [1, 0], [0, 1]]
    table, _ = read_threshold({"a": {"x": 0.1, "y": 0.2}, "b": [0.3, 0.4]}, ["x", "y"], given)
    assert table.tolist() == [[0.1, 0.2], [0.3, 0.4]]
    assert read_threshold({"y": 0.2, "x": 0.1}, ["x", "y"], given)[0].tolist() == [[0.1, 0.2]]


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        ("high", "threshold is 'high'; a number"),
        (True, "threshold is True"),
        (float("nan"), "holds nan; a threshold is a finite number"),
        (50, "holds 50, but scores lie from 0 to 1"),
        (-0.1, "holds -0.1, but scores lie from 0 to 1"),
        ({"a": 0.5, "b": 1.5}, r"threshold\['b'\] holds 1.5, but scores lie from 0 to 1"),
        ([0.5, 0.5], r"has shape \(2,\).*one for each of the 1 tasks"),
        ({"c": 0.5}, r"entries for 'c'; it takes one for each group \('a', 'b'\)"),
        ({"a": 0.5, "b": 0.5, "c": 0.5}, "names 'c', which are no groups"),
    ],
)
def test_wrong_thresholds_are_refused(threshold: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        read_scored(GROUP, TRUTH, SCORES, threshold=threshold)


def test_a_threshold_by_group_needs_one_group_a_record() -> None:
    both = {"a": [1, 1, 0, 1], "b": [0, 1, 1, 1]}
    with pytest.raises(ValueError, match="may have several groups or none"):
        read_scored(both, TRUTH, SCORES, threshold={"a": 0.5, "b": 0.6})


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5, 1.4, 0.2, 0.9], r"holds 1.4 \(row 2, "),
        ([0.5, float("nan"), 0.2, 0.9], "1 record with missing scores"),
        (["high", "low", "low", "high"], "holds labels such as 'high', not scores"),
        ([0.5, 0.4, 0.2], "3"),
        ([[1.4, 0.2, 0.1, 0.1]] * 4, "must pair up|holds 1.4"),
    ],
)
def test_wrong_scores_are_refused(scores: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        read_scored(GROUP, TRUTH, scores)


def test_scores_of_a_truth_in_words_are_class_probabilities() -> None:
    with pytest.raises(ValueError, match=r"scores holds fractions.*categorical\(P"):
        read_scored(GROUP, ["yes", "no", "no", "yes"], SCORES)


def test_decisions_are_hard_and_of_one_rule() -> None:
    with pytest.raises(ValueError, match="predicted holds probabilities"):
        read_scored(GROUP, TRUTH, SCORES, predicted=SCORES)
    with pytest.raises(ValueError, match="give one of them"):
        read_scored(GROUP, TRUTH, SCORES, predicted=TRUTH, threshold=0.4)
    assert read_scored(GROUP, TRUTH, SCORES, predicted=TRUTH).rule == "the decisions given as predicted"


def test_strata_are_categories_and_columns_are_crossed() -> None:
    one = read_strata(["x", "y", "x", "y"], 4)
    assert (one.names, one.codes.tolist()) == (("x", "y"), [0, 1, 0, 1])
    two = read_strata({"region": ["n", "s", "n", "n"], "year": [2, 10, 2, 10]}, 4)
    assert two.names == ("n x 2", "n x 10", "s x 10")
    assert two.codes.tolist() == [0, 2, 0, 1]
    assert two.name == "region x year"


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        (["x", "y"], "strata has 2 records, but there are 4"),
        (["x", None, "y", "y"], "strata has 1 record with missing strata"),
        ([["x"], ["x", "y"], [], ["y"]], "one category per record"),
        ([0.1, 0.2, 0.3, 0.4], "strata holds fractions"),
    ],
)
def test_wrong_strata_are_refused(strata: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        read_scored(GROUP, TRUTH, SCORES, strata=strata)


def test_an_identifier_is_no_stratum() -> None:
    many = 100
    with pytest.raises(ValueError, match=r"strata.*looks like an identifier"):
        read_scored(GROUP * 25, TRUTH * 25, SCORES * 25, strata=[f"r{i}" for i in range(many)])


def test_strata_of_train_and_base_are_those_of_the_records() -> None:
    labels = (GROUP, TRUTH, ["x", "y", "x", "z"])
    with pytest.raises(ValueError, match="base has strata but the evaluated records have none"):
        read_scored(GROUP, TRUTH, SCORES, base=labels)
    with pytest.raises(ValueError, match="train has none of the strata"):
        read_scored(GROUP, TRUTH, SCORES, train=(GROUP, TRUTH, ["k", "l", "k", "l"]), strata=["x", "y", "x", "y"])
    held = read_scored(GROUP, TRUTH, SCORES, base=labels, strata=["x", "y", "x", "y"])
    assert held.strata is not None
    assert held.base_labels is not None
    assert held.strata.names == ("x", "y", "z")
    assert held.base_labels[2].codes.tolist() == [0, 1, 0, 2]
    with pytest.raises(ValueError, match="base has no strata"):
        biasamp.decompose(GROUP, TRUTH, SCORES, base=(GROUP, TRUTH), strata=["x", "y", "x", "y"])


def test_pandas_objects_of_different_rows_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="different indexes"):
        read_scored(pd.Series(GROUP), pd.Series(TRUTH), pd.Series(SCORES, index=[3, 2, 1, 0]))
