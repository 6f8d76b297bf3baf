"""Which value of a task rates are of."""

from __future__ import annotations

from typing import Any

import pytest

import biasamp
from biasamp.amplification.positive import choose_outcomes
from biasamp.data import Variable

GROUP = ["a"] * 40 + ["b"] * 40
# Of 20 positives 15 and 10 are found, of 20 negatives 5 and 10 are not.
TRUTH = ([1] * 20 + [0] * 20) * 2
SAID = [1] * 15 + [0] * 5 + [1] * 5 + [0] * 15 + [1] * 10 + [0] * 10 + [1] * 10 + [0] * 10


def spelled(values: list[int], no: Any, yes: Any) -> list[Any]:
    return [yes if value else no for value in values]


def rates(no: Any, yes: Any, **options: Any) -> list[dict[str, Any]]:
    return list(biasamp.parity(GROUP, spelled(TRUTH, no, yes), spelled(SAID, no, yes), **options).groups.rows())


@pytest.mark.parametrize(
    ("no", "yes"), [(0, 1), (False, True), ("no", "yes"), ("No", "Yes"), (-1, 1), ("false", "true"), ("n", "y")]
)
def test_the_plainly_positive_value(no: Any, yes: Any) -> None:
    found = rates(no, yes)
    assert [(row["true_positive_rate"], row["false_positive_rate"], row["precision"]) for row in found] == [
        (0.75, 0.25, 0.75),
        (0.5, 0.5, 0.5),
    ]


@pytest.mark.parametrize(("no", "yes"), [("denied", "granted"), (1, 2), ("maybe", "yes")])
def test_where_neither_is_plain_both_have_rates(no: Any, yes: Any) -> None:
    with pytest.warns(UserWarning, match="positive="):
        found = rates(no, yes)
    assert len(found) == 4
    named = rates(no, yes, positive=yes)
    assert [row["true_positive_rate"] for row in named] == [0.75, 0.5]
    turned = rates(no, yes, positive=no)
    assert [row["true_positive_rate"] for row in turned] == [0.75, 0.5]
    assert {row["outcome"] for row in turned} == {str(no)}


def test_figures_of_a_two_valued_task_are_of_one_value() -> None:
    data = {"g": GROUP, "t": TRUTH, "p": spelled(SAID, 0, 1)}
    data["p"] = [1 if g == "b" and t == 0 else p for g, t, p in zip(GROUP, TRUTH, SAID, strict=True)]
    made = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics=["parity"], min_group=0)
    values = {entry["metric"]: entry["value"] for entry in made.document["metrics"]}
    assert (values["fpr_difference"], values["tpr_difference"]) == (0.75, 0.25)
    assert made.document["data"]["positive"] == {"t": "1"}


def test_several_tasks() -> None:
    tasks = [Variable("x", "categorical", ("hot", "cold")), Variable("y", "categorical", ("no", "yes"))]
    assert choose_outcomes(tasks).columns.tolist() == [0, 1, 3]
    for positive in (["cold", "yes"], {"x": "cold"}, ["x=cold"], "cold"):
        assert choose_outcomes(tasks, positive).columns.tolist() == [1, 3]
    three = Variable("z", "categorical", ("a", "b", "c"))
    assert choose_outcomes([three]).columns.tolist() == [0, 1, 2]
    assert choose_outcomes([three], "b").columns.tolist() == [1]


@pytest.mark.parametrize(
    ("positive", "words"),
    [
        ("warm", "positive is 'warm', which the task 'x' does not have: it has 'hot', 'cold'"),
        ({"w": 1}, "positive names 'w', which is no task; the tasks are 'x'"),
        (["hot", "cold", "x"], "positive has 3 values for 1 tasks"),
    ],
)
def test_messages(positive: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        choose_outcomes([Variable("x", "categorical", ("hot", "cold"))], positive)


def test_a_yes_no_column_has_no_other_value() -> None:
    assert choose_outcomes([Variable("x", "binary")], 1).columns.tolist() == [0]
    with pytest.raises(ValueError, match="'x', a yes/no column: value 1 is what counts"):
        choose_outcomes([Variable("x", "binary")], 0)
