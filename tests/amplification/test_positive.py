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


def test_five_values_are_named_and_the_rest_counted() -> None:
    """In a message about a value that a task does not have, and one about a task that is none."""
    for many, more in ((5, ""), (6, " and 1 more"), (8, " and 3 more")):
        task = Variable("x", "categorical", tuple(f"v{i}" for i in range(many)))
        with pytest.raises(
            ValueError, match=rf"which the task 'x' does not have: it has 'v0', 'v1', 'v2', 'v3', 'v4'{more}$"
        ):
            choose_outcomes([task], "other")
        tasks = [Variable(f"t{i}", "categorical", ("0", "1")) for i in range(many)]
        with pytest.raises(
            ValueError, match=rf"names 'strange', which is no task; the tasks are 't0', 't1', 't2', 't3', 't4'{more}$"
        ):
            choose_outcomes(tasks, {"strange": "1", "odd": "1"})


def test_which_columns_have_rates() -> None:
    """The positive value of two, every value of more, yes/no columns, and both of two where a third is predicted."""
    tasks = [
        Variable("a", "categorical", ("0", "1")),
        Variable("b", "categorical", ("x", "y", "z")),
        Variable("c", "binary"),
        Variable("d", "categorical", ("hot", "cold")),
    ]
    made = choose_outcomes(tasks)
    assert (made.columns.tolist(), made.positive, made.unknown) == ([1, 2, 3, 4, 5, 6, 7], {"a": "1"}, ("d",))
    named = choose_outcomes(tasks, {"d": "cold", "b": "y", "c": 1})
    assert (named.columns.tolist(), named.unknown) == ([1, 3, 5, 7], ())
    assert named.positive == {"a": "1", "b": "y", "d": "cold"}
    several = choose_outcomes(tasks, ["0", "z", "yes", "hot"])
    assert several.columns.tolist() == [0, 4, 5, 6]
    assert choose_outcomes(tasks, ["b=x", "d=cold"]).columns.tolist() == [1, 2, 5, 7]
    assert choose_outcomes(tasks, "cold").columns.tolist() == [1, 2, 3, 4, 5, 7]
    apart = choose_outcomes(tasks, None, {"a", "d"})
    assert (apart.columns.tolist(), apart.unknown) == ([0, 1, 2, 3, 4, 5, 6, 7], ())
    with pytest.raises(ValueError, match="positive has 2 values for 4 tasks"):
        choose_outcomes(tasks, ["1", "x"])
    with pytest.raises(ValueError, match="positive is '0' for 'c', a yes/no column: value 1 is what counts"):
        choose_outcomes(tasks, {"c": "0"})
    with pytest.raises(TypeError, match="positive: "):
        choose_outcomes(tasks, {"a": ["1"]})
    assert choose_outcomes([Variable("e", "categorical", ("Cold", "hot"))], "cold").columns.tolist() == [0]
