"""Groups that a policy ignores: which they are, and what an audit that counts them still shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from biasamp.policy.figure import Figure
from biasamp.policy.ignored import (
    AUDIT_WITHOUT,
    _size,
    few_named,
    groups_large_enough,
    ignored_labels,
    not_ignored,
    without_groups,
)
from biasamp.policy.more_records import in_words, records_for
from hand_audits import DATA, entry, group, hand_audit, rate

Z = float(norm.ppf(0.975))


def wilson(value: float, n: float, size: float | None = None) -> dict[str, Any]:
    """A rate with Wilson's interval of n records, as a table of groups has it."""
    middle, half = (value + Z**2 / 2 / n), Z * np.sqrt(value * (1 - value) / n + Z**2 / 4 / n**2)
    low, high = ((middle + side * half) / (1 + Z**2 / n) for side in (-1, 1))
    return rate(value, float(low), float(high), n if size is None else size)


CROSSED = [
    group("w"),
    group("m"),
    group("young", attribute="a"),
    group("w & young", attribute="g x a", kind="crossing"),
    group("m & young", attribute="g x a", kind="crossing"),
    {**group("tall"), "group": "tall", "category": None},
]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ((), set()),
        (("w",), {"g=w", "g x a=w & young", "w"}),
        (("g=w",), {"g=w", "g x a=w & young"}),
        (("young",), {"a=young", "g x a=w & young", "g x a=m & young", "young"}),
        (("w & young",), {"g x a=w & young", "w & young"}),  # a crossing alone, and none of its values
        (("g x a=w & young",), {"g x a=w & young"}),
        (("tall",), {"tall"}),
        (("gone",), {"gone"}),
        (("w & youn",), {"w & youn"}),
    ],
)
def test_which_groups_some_names_mean(names: Any, found: set[str]) -> None:
    data: Any = {**DATA, "groups": CROSSED}
    assert ignored_labels(names, data) == found


def test_no_name_means_a_label_without_a_value() -> None:
    data: Any = {**DATA, "groups": [{**CROSSED[-1]}, {**CROSSED[3], "category": None}]}
    assert ignored_labels(["w"], data) == {"w"}


@pytest.mark.parametrize(
    ("many", "words"),
    [
        (1, "g=5 (10)"),
        (5, "g=5 (10), g=4 (20), g=3 (30), g=2 (40), g=1 (50)"),
        (6, "g=6 (0), g=5 (10), g=4 (20), g=3 (30), g=2 (40) and 1 more"),
        (7, "g=7 (-10), g=6 (0), g=5 (10), g=4 (20), g=3 (30) and 2 more"),
    ],
)
def test_of_many_groups_the_smallest_are_named(many: int, words: str) -> None:
    groups = {f"g={k}": 60.0 - 10 * k for k in range(1, many + 1)}
    assert few_named(groups if many > 1 else {"g=5": 10}) == words
    assert few_named({"g=w": 12_345.4}) == "g=w (12,345)"


def test_what_counts_in_an_audit_although_the_policy_ignores_it() -> None:
    rows = [group("w"), group("m"), group("x", 0), group("y", 1), group("w", attribute="h")]
    audit = hand_audit(data={"groups": rows, "ignored_groups": ["g=m"]})
    ignored = frozenset({"g=w", "g=m", "g=x", "g=y", "h=w", "gone"})
    assert not_ignored(audit, ignored, "g") == ["g=w", "g=y"]
    assert not_ignored(audit, ignored, "h") == ["h=w"]
    assert not_ignored(audit, frozenset(), "g") == []
    assert not_ignored(hand_audit(data={"groups": rows}), frozenset({"g=m"}), "g") == ["g=m"]


# Rates by group and outcome; x has the extreme ones.
VALUES = {("w", 1): 0.5, ("m", 1): 0.4, ("x", 1): 0.9, ("w", 2): 0.3, ("m", 2): 0.35, ("x", 2): 0.3}


def rates(*, sizes: Any = None, name: str = "true_positive_rate", **more: Any) -> list[dict[str, Any]]:
    out = []
    for (one, k), value in VALUES.items():
        n = (sizes or {}).get((one, k), 100.0)
        row = {"attribute": "g", "group": f"g={one}", "outcome": f"t={k}", "ignored": False, name: wilson(value, n)}
        out.append({**row, **more})
    return out


GROUPS = [group(name) for name in "wmx"]
HELD = Figure("g", "A->T", 0.5, 0.4, 0.6, records=300)
OUTCOMES = [{"outcome": "t=1"}, {"outcome": "t=2"}]


def without(
    *names: str, one: Any = None, data: Any = None, figure: Figure = HELD, min_group: int = 1, table: Any = None
) -> Figure:
    one = entry("tpr_difference", 0.5, outcomes=OUTCOMES) if one is None else one
    document = {} if table is ... else {"rates": rates() if table is None else table}
    audit = hand_audit(one, data={"groups": GROUPS, **(data or {})}, **document)
    return without_groups(figure, one, audit, frozenset(names), min_group)


def newcombe(p: float, q: float, n: float, level: float) -> tuple[float, float]:
    """Newcombe's interval of a difference of two rates that rest on n records each."""
    z = norm.ppf(0.5 + level / 2)

    def ends(value: float) -> Any:
        half = z * np.sqrt(value * (1 - value) / n + z**2 / 4 / n**2)
        return ((value + z**2 / 2 / n) + np.array([-half, half])) / (1 + z**2 / n)

    (low, high), (least, most) = ends(p), ends(q)
    return (
        p - q - float(np.hypot(p - low, most - q)),
        p - q + float(np.hypot(high - p, q - least)),
    )


def test_nothing_is_left_out_where_nothing_is_ignored() -> None:
    assert without() is HELD
    assert without("g=gone") is HELD
    assert without("g=x", data={"ignored_groups": ["g=x"]}) is HELD


def test_a_difference_is_taken_anew_without_the_group() -> None:
    """Of w and m the rates are 0.5 and 0.4, and 0.3 and 0.35: 0.1 is the largest of two differences."""
    made = without("g=x")
    assert made.value == pytest.approx(0.1)
    level = 1 - 0.05 / 2
    low, high = newcombe(0.5, 0.4, 100.0, level)
    # Either difference may be the largest: the largest of the lower ends, and of the upper ones.
    other = newcombe(0.35, 0.3, 100.0, level)
    assert made.low == pytest.approx(max(low, -other[1], other[0], 0.0), abs=0.012)
    assert made.high == pytest.approx(max(high, other[1]), abs=0.012)
    assert (made.doubt, made.attribute, made.direction, made.records) == (None, "g", "A->T", 300)


@pytest.mark.parametrize(("outcome", "value", "pair"), [("t=1", 0.1, (0.5, 0.4)), ("t=2", 0.05, (0.35, 0.3))])
def test_one_outcome_is_taken_anew(outcome: str, value: float, pair: tuple[float, float]) -> None:
    made = without("g=x", figure=replace(HELD, outcome_label=outcome))
    assert made.value == pytest.approx(value)
    low, high = newcombe(*pair, 100.0, 0.95)
    assert (made.low, made.high) == (pytest.approx(max(low, 0.0), abs=0.012), pytest.approx(high, abs=0.012))


AGAIN = AUDIT_WITHOUT.format("g=x")


@pytest.mark.parametrize(
    "change",
    [
        {"figure": replace(HELD, outcome_label="t=7")},
        {"table": ...},
        {"table": []},
        {"table": rates()[1:]},  # a group and outcome is not listed
        {"one": entry("tpr_difference", 0.5, outcomes=OUTCOMES[:1])},
        {"one": entry("tpr_difference", 0.5, outcomes=[*OUTCOMES, {"outcome": "t=3"}])},
        {"one": entry("tpr_difference", 0.5)},
        {"one": entry("directional", 0.5)},
        {"one": entry("mean_per_class_accuracy", 0.5, groups=[{"group": "g=w"}])},
        {"table": rates(attribute="h")},
    ],
)
def test_what_cannot_be_taken_anew_needs_another_audit(change: dict[str, Any]) -> None:
    made = without("g=x", **change)
    assert made.doubt == AGAIN == "the policy ignores g=x, and the audit does not: audit with ignore_groups"
    assert (made.value, made.low, made.high) == (0.5, 0.4, 0.6)


def test_without_two_groups_there_is_no_difference() -> None:
    made = without("g=x", "g=m")
    assert made.doubt == AUDIT_WITHOUT.format("g=m, g=x")


def test_attackers_are_of_all_records() -> None:
    assert without("g=x", one=entry("dpa", 0.5)) is HELD


@pytest.mark.parametrize(("made_for", "min_group", "anew"), [(30, 30, False), (31, 30, True), (20, 30, False)])
def test_groups_that_count_for_the_policy_count_again(made_for: int, min_group: int, anew: bool) -> None:
    """An audit leaves groups out of differences that are smaller than it was told; the policy may count them."""
    found = without(data={"min_group": made_for}, min_group=min_group)
    assert found.value == pytest.approx(0.5)
    if not anew:
        assert found is HELD
        return
    low, _ = newcombe(0.9, 0.4, 100.0, 1 - 0.05 / 6)
    assert found.low == pytest.approx(low, abs=0.03)
    none = without(data={"min_group": made_for}, min_group=min_group, table=[])
    assert none.doubt == (
        "groups of fewer than 31 records decide no difference of the audit, and those of 30 count for the policy: audit with "
        "its min_group"
    )
    assert without(data={"min_group": made_for}, min_group=30, one=entry("multi")) is HELD


def test_small_groups_decide_no_difference_that_is_taken_anew() -> None:
    sizes = {("x", 1): 29.0, ("x", 2): 29.0}
    found = without(data={"min_group": 50}, min_group=30, table=rates(sizes=sizes))
    assert found.value == pytest.approx(0.1)
    found = without(data={"min_group": 50}, min_group=29, table=rates(sizes=sizes))
    assert found.value == pytest.approx(0.5)


def test_rates_that_are_undefined_are_compared_with_none() -> None:
    table = rates()
    table[2]["true_positive_rate"] = rate(None, None, None, 0.0)
    found = without(data={"min_group": 50}, min_group=1, table=table)
    assert found.value == pytest.approx(0.1)
    made = without("g=x", figure=replace(HELD, outcome_label="t=1"), table=[
        {**row, "true_positive_rate": rate(None, None, None, 0.0)} if row["outcome"] == "t=1" and row["group"] != "g=x" else row
        for row in rates()
    ])  # fmt: skip
    assert made.doubt == AGAIN


@pytest.mark.parametrize("value", [0.0, 0.03, 0.4, 0.5, 0.7, 0.99, 1.0])
@pytest.mark.parametrize("n", [12.0, 340.5])
def test_the_size_that_an_interval_goes_by(value: float, n: float) -> None:
    row: Any = {"true_positive_rate": wilson(value, n, size=999.0)}
    assert _size(row, "true_positive_rate", 0.95) == (value, pytest.approx(n, rel=1e-6), 999.0)
    for name in ("value", "low", "high"):
        lost: Any = {"true_positive_rate": {**row["true_positive_rate"], name: None}}
        made = _size(lost, "true_positive_rate", 0.95)
        assert np.isnan(made[0])
        assert made[1:] == (0.0, 0.0)


# Rates of few records.


def large(table: Any, min_group: int = 30, one: Any = None, figure: Figure = HELD, **more: Any) -> Figure:
    one = entry("tpr_difference", 0.5, outcomes=OUTCOMES) if one is None else one
    audit = hand_audit(one, data={"groups": GROUPS}, **({} if table is ... else {"rates": table}))
    ignored = frozenset(more.pop("ignored", ()))
    return groups_large_enough(figure, one, audit, ignored, min_group, **more)


SMALL = rates(sizes={("x", 1): 20.0, ("x", 2): 10.0, ("m", 2): 29.0})


def words(shown: str, least: float) -> tuple[str, int | None]:
    needed = records_for(30, least, 300)
    return f"fewer than 30 records that the rate is taken over: {shown}{in_words(needed)}", needed


def test_rates_of_few_records_withhold_a_pass() -> None:
    made = large(SMALL)
    assert (made.withheld, made.needed) == words("g=x (10), g=m (29)", 10.0)
    assert made.doubt is None
    made = large(SMALL, outcome="t=1")
    assert (made.withheld, made.needed) == words("g=x (20)", 20.0)
    made = large(SMALL, ignored=["g=x"])
    assert (made.withheld, made.needed) == words("g=m (29)", 29.0)
    made = large(SMALL, figure=replace(HELD, records=None))
    assert (made.withheld, made.needed) == (
        "fewer than 30 records that the rate is taken over: g=x (10), g=m (29)",
        None,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"table": rates(sizes=dict.fromkeys(VALUES, 30.0))},
        {"table": SMALL, "min_group": 10},
        {"table": rates(sizes=dict.fromkeys(VALUES, 5.0), ignored=True)},
        {"table": rates(sizes=dict.fromkeys(VALUES, 5.0), attribute="h")},
        {"table": ...},
        {"table": SMALL, "one": entry("multi")},
        {"table": SMALL, "ignored": ["g=x", "g=m"]},
    ],
)
def test_rates_of_enough_records_withhold_nothing(change: dict[str, Any]) -> None:
    assert large(**change) is HELD


def test_a_rate_over_nothing_is_one_of_no_records() -> None:
    table = rates()
    table[0]["true_positive_rate"] = rate(None, None, None, 0.0) | {"size": None}
    made = large(table)
    assert made.withheld == "fewer than 30 records that the rate is taken over: g=w (0)"
    assert made.needed is None


@pytest.mark.parametrize(
    ("metric", "name"), [("fpr_difference", "false_positive_rate"), ("accuracy_difference", "accuracy")]
)
def test_each_difference_has_its_rate(metric: str, name: str) -> None:
    one = entry(metric, 0.5, outcomes=OUTCOMES)
    assert large(rates(sizes={("x", 1): 20.0}, name=name), one=one).withheld == words("g=x (20)", 20.0)[0]
    assert without("g=x", one=one, table=rates(name=name)).value == pytest.approx(0.1)
