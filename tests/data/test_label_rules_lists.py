"""Lists of labels a record: empty lists, labels only one side has, lists of numbers."""

from __future__ import annotations

import pytest

from biasamp import directional, mals, multi


@pytest.mark.parametrize("nothing", [[[], [], []], [set(), set(), set()], [(), (), ()]])
def test_a_model_that_never_predicts_a_label(nothing: object) -> None:
    truth = [["cat"], ["cat", "dog"], []]
    result = directional(["a", "a", "b"], truth, nothing)
    deltas = {(row["given"], row["outcome"]): row["delta"] for row in result.pairs.rows()}
    assert deltas == {("a", "cat"): -1.0, ("a", "dog"): -0.5, ("b", "cat"): 0.0, ("b", "dog"): 0.0}
    # Itemsets that records carry: {cat} and {cat, dog}.
    assert multi(["a", "a", "b"], truth, nothing).value == pytest.approx((1 + 0.5 + 0 + 0) / 4)


def test_truth_without_any_label_is_refused() -> None:
    with pytest.raises(ValueError, match="truth holds no label at all"):
        directional(["a", "b"], [[], []], [["cat"], []])


def test_labels_that_only_the_model_predicts_are_apart() -> None:
    result = directional(["a", "b"], [["cat"], []], [["cat", "dog"], []])
    assert {row["outcome"] for row in result.pairs.rows()} == {"cat"}
    assert [(row["label"], row["group"], row["rate"]) for row in result.invented] == [
        ("dog", "a", 1.0),
        ("dog", "b", 0.0),
    ]


def test_a_label_named_twice_counts_once() -> None:
    twice = directional(["a", "b"], [["cat", "cat"], ["dog"]], [["cat"], ["dog", "dog"]])
    assert twice.value == 0
    assert twice.pairs["truth_rate"].tolist() == [1.0, 0.0, 0.0, 1.0]


def test_mals_of_lists() -> None:
    A, T = [["w"], ["m"], ["w", "m"]], [["cook"], [], ["cook", "eat"]]
    assert mals(A, T, A, T.copy()).value == 0
