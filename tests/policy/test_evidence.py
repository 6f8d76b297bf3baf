"""What has to be there before anything is judged, in audits that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

import biasamp
from biasamp.policy import Policy
from biasamp.policy.evidence import evidence_checks
from biasamp.policy.more_records import in_words, records_for
from biasamp.policy.verdict import Check
from hand_audits import entry, group, hand_audit, pair, rate

LIMIT = {"metric": "directional", "max": 0.1}
T_TO_A = {**LIMIT, "direction": "T->A"}
A_TO_T = {**LIMIT, "direction": "A->T"}
LINES: dict[tuple[str | int, ...], int] = {
    ("evidence",): 1,
    **{("evidence", key): place for place, key in enumerate(("min_records", "groups", "min_group", "confidence"), 2)},
}


def checks(audit: biasamp.Audit, *limits: Any, **policy: Any) -> list[Check]:
    limits = limits or (LIMIT,) if "companions" not in policy else limits
    return list(evidence_checks(Policy(limits=limits, lines=LINES, **{"min_group": 1, **policy}), audit))


def told(found: list[Check], rule: str) -> list[tuple[str, str, str | None]]:
    return [(check.outcome, check.reason, check.attribute) for check in found if check.rule == rule]


PASS, UNDECIDED = "pass", "not enough evidence"


# Records, levels and resamples.


@pytest.mark.parametrize(("needed", "outcome"), [(200, PASS), (201, UNDECIDED), (1, PASS)])
def test_records_in_all(needed: int, outcome: str) -> None:
    (check,) = [check for check in checks(hand_audit(entry()), min_records=needed) if check.rule == "min_records"]
    assert (check.outcome, check.reason) == (outcome, f"200 records; at least {needed} are needed")
    assert (check.records_needed, check.line) == (None if outcome == PASS else needed, 2)
    many = hand_audit(entry(), data={"records": 12_000})
    assert told(checks(many, min_records=11_000), "min_records")[0][1] == "12,000 records; at least 11,000 are needed"


def test_what_is_not_asked_for_is_not_said() -> None:
    assert [check.rule for check in checks(hand_audit(entry()))] == ["min_group"]


@pytest.mark.parametrize(
    ("level", "asked", "found"),
    [
        (0.95, None, []),
        (0.99, None, []),
        (0.9, None, [(UNDECIDED, "intervals have the level 0.9; at least 0.95 is needed", None)]),
        (0.95, 0.95, [(PASS, "intervals have the level 0.95; at least 0.95 is needed", None)]),
        (0.95, 0.99, [(UNDECIDED, "intervals have the level 0.95; at least 0.99 is needed", None)]),
        (0.9, 0.8, [(PASS, "intervals have the level 0.9; at least 0.8 is needed", None)]),
    ],
)
def test_the_level_of_intervals(level: float, asked: float | None, found: Any) -> None:
    audit = hand_audit(entry(), data={"confidence": level, "resamples": 1000})
    assert told(checks(audit, confidence=asked), "confidence") == found


@pytest.mark.parametrize(
    ("level", "resamples", "least"),
    [(0.95, 40, None), (0.95, 39, 40), (0.9, 20, None), (0.9, 19, 20), (0.99, 199, 200)],
)
def test_resamples_that_have_a_tail(level: float, resamples: int, least: int | None) -> None:
    """Two of a tail of 2.5% are 80 resamples, one is 40."""
    audit = hand_audit(entry(), data={"confidence": level, "resamples": resamples})
    reason = f"{resamples} resamples have no tail at the level {level:g}: take {least} or more"
    expected = [] if least is None else [(UNDECIDED, reason, None)]
    assert told(checks(audit, confidence=0.6), "resamples") == expected


# Findings that are mistakes.


@pytest.mark.parametrize(
    ("row", "data", "said"),
    [
        ({"code": "copied", "attribute": "g"}, {}, True),
        ({"code": "repeated"}, {}, True),
        ({"code": "swapped"}, {}, True),
        ({"code": "one-value", "attribute": None}, {}, True),
        ({"code": "one-value"}, {}, True),
        ({"code": "one-value", "attribute": "g"}, {}, False),
        ({"code": "one-value"}, {"train": True}, False),
        ({"code": "one-value"}, {"base": True}, False),
        ({"code": "repeated"}, {"train": True}, True),
        ({"code": "threshold"}, {}, False),
    ],
)
def test_columns_that_are_a_mistake(row: dict[str, Any], data: dict[str, Any], said: bool) -> None:
    audit = hand_audit(entry(), data=data, findings=[{"kind": "caution", "text": "look", **row}])
    expected = [(UNDECIDED, "look", row.get("attribute"))] if said else []
    assert told(checks(audit), "columns") == expected


@pytest.mark.parametrize(
    ("limits", "companions", "said"),
    [
        ((), {"tpr_difference": True}, True),
        ((), {"tpr_difference": True, "fpr_difference": True}, True),
        ((), {"tpr_difference": True, "fpr_difference": 0.1}, False),
        ((LIMIT,), {"tpr_difference": True}, False),
        ((LIMIT,), {}, False),
    ],
)
def test_a_policy_that_only_measures(limits: Any, companions: Any, said: bool) -> None:
    reason = "the policy has no limit: that something is measured is no reason to pass"
    found = checks(hand_audit(entry()), *limits, companions=companions)
    assert told(found, "limit") == ([(UNDECIDED, reason, None)] if said else [])


SAME = "every prediction of the {} is the same, which says nothing of a model: see what is in the column"
TASK, ATTRIBUTE = SAME.format("task"), SAME.format("attribute")


def predicted(*rates: float | None, direction: str = "A->T", **more: Any) -> dict[str, Any]:
    """An entry whose outcomes are predicted at rates, group by group."""
    names = [("g=w", "t=1"), ("g=m", "t=1"), ("g=w", "t=0"), ("g=m", "t=0")]
    rows = [pair(*name, predicted_rate=one) for name, one in zip(names, rates, strict=False)]
    return entry(pairs=rows, direction=direction, **more)


@pytest.mark.parametrize(
    ("rates", "same"),
    [
        ((1.0, 1.0, 0.0, 0.0), True),
        ((0.0, 0.0, 1.0, 1.0), True),
        ((0.0, 0.0), True),
        ((1.0, 1.0, 0.0, 0.1), False),
        ((1.0, 0.0, 0.0, 1.0), False),  # of each group the same
        ((0.5, 0.5, 0.5, 0.5), False),  # the same rate, and not the same prediction
        ((1.0, 1.0 - 4e-13, 0.0, 4e-13), True),
        ((1.0, 1.0 - 6e-13, 0.0, 6e-13), False),
        ((1.0, None, 0.0, 0.0), True),
        ((None, None), False),  # nothing is known
        ((), False),
    ],
)
@pytest.mark.parametrize(("direction", "words"), [("A->T", TASK), ("T->A", ATTRIBUTE)])
def test_predictions_that_are_all_the_same(rates: Any, same: bool, direction: str, words: str) -> None:
    audit = hand_audit(predicted(*rates, direction=direction))
    other = hand_audit(predicted(*rates, direction=direction, metric="multi"))
    expected = [(UNDECIDED, words, None)] if same else []
    assert told(checks(audit), "predictions") == expected
    assert told(checks(audit, {**LIMIT, "direction": direction}), "predictions") == expected
    assert told(checks(other), "predictions") == []
    # A limit of the other direction is about other predictions.
    elsewhere = "T->A" if direction == "A->T" else "A->T"
    assert told(checks(audit, {**LIMIT, "direction": elsewhere}), "predictions") == []
    assert told(checks(audit, T_TO_A, A_TO_T), "predictions") == expected
    assert told(checks(audit, T_TO_A, {"metric": "multi", "max": 0.1}), "predictions") == expected
    # Companions are about the predictions of tasks.
    beside = told(checks(audit, T_TO_A, companions={"tpr_difference": 0.1}), "predictions")
    assert beside == (expected if direction == "A->T" or same else [])


def test_scores_that_are_the_same_have_the_same_mean() -> None:
    audit = hand_audit(predicted(0.4, 0.4, 0.6, 0.6), data={"soft_tasks": True})
    assert told(checks(audit), "predictions") == [(UNDECIDED, TASK, None)]
    audit = hand_audit(predicted(0.4, 0.4, 0.6, 0.61), data={"soft_tasks": True})
    assert told(checks(audit), "predictions") == []
    audit = hand_audit(predicted(0.4, 0.4, 0.6, 0.6, direction="T->A"), data={"soft_tasks": True})
    assert told(checks(audit), "predictions") == []


@pytest.mark.parametrize(
    ("values", "same"),
    [
        ((1.0, 1.0), True),
        ((1.0, 1.0 - 4e-13), True),
        ((1.0, 1.0 - 6e-13), False),
        ((1.0, 0.9), False),
        ((None, None), False),
    ],
)
def test_rates_of_groups_show_the_same(values: Any, same: bool) -> None:
    rates = [
        {"attribute": "g", "group": name, "outcome": "t=1", "selection_rate": rate(one, one, one, 100.0)}
        for name, one in zip(("g=w", "g=m"), values, strict=True)
    ]
    audit = hand_audit(entry("tpr_difference"), rates=rates)
    limit = {"metric": "tpr_difference", "max": 0.1}
    assert told(checks(audit, limit), "predictions") == ([(UNDECIDED, TASK, None)] if same else [])


@pytest.mark.parametrize(
    ("row", "limits", "companions", "said"),
    [
        ({"code": "opposite", "direction": "A->T"}, (LIMIT,), {}, True),
        ({"code": "unrelated", "direction": "T->A", "attribute": "g"}, (LIMIT,), {}, True),
        ({"code": "weak", "direction": "A->T"}, (LIMIT,), {}, False),
        ({"code": "opposite", "direction": "A->T"}, (A_TO_T,), {}, True),
        ({"code": "opposite", "direction": "A->T"}, (T_TO_A,), {}, False),
        ({"code": "opposite", "direction": "A->T"}, (T_TO_A,), {"tpr_difference": 0.1}, True),
        ({"code": "opposite", "direction": "T->A"}, (A_TO_T,), {"tpr_difference": 0.1}, False),
        ({"code": "opposite"}, (A_TO_T,), {}, True),
        ({"code": "opposite", "direction": "T->A"}, (), {"tpr_difference": 0.1}, False),
        ({"code": "opposite", "direction": "A->T"}, (), {"tpr_difference": 0.1}, True),
    ],
)
def test_predictions_that_go_against_the_truth(row: Any, limits: Any, companions: Any, said: bool) -> None:
    audit = hand_audit(entry(), findings=[{"kind": "caution", "text": "look", **row}])
    expected = [(UNDECIDED, "look", row.get("attribute"))] if said else []
    assert told(checks(audit, *limits, companions=companions), "predictions") == expected


# Attributes that go together with tasks.


@pytest.mark.parametrize(
    ("entries", "data", "reason"),
    [
        ([entry()], {}, None),
        ([entry(pairs=[pair("g=w", "t=1", known=False), pair("g=m", "t=1")])], {}, None),
        ([entry(pairs=[pair("g=w", "t=1", known=False), pair("g=m", "t=1", known=False)])], {}, "no task"),
        ([entry(pairs=[])], {}, "no task"),
        ([entry("multi")], {}, "not measured"),
        ([entry(attribute="h")], {}, "not measured"),
        ([entry()], {"train": True}, "no task"),  # directions of other records say nothing of these
        ([entry(contradicted=[1, 0])], {"train": True}, "no task"),
        ([entry(contradicted=[0, 1])], {"train": True}, None),
        ([entry(pairs=[]), entry(direction="T->A")], {}, None),
    ],
)
def test_attributes_that_are_said_to_go_together_with_tasks(entries: Any, data: Any, reason: str | None) -> None:
    words = {
        "no task": (
            "g goes together with no task beyond chance, and the policy says that it does: are its groups those of these rows? "
            "If they are, these records are too few to show it"
        ),
        "not measured": (
            "the policy says that g goes together with tasks, and directional amplification, which would show it, was not measured"
        ),
    }
    found = told(checks(hand_audit(*entries, data=data), associated=["g"]), "associated")
    assert found == ([] if reason is None else [(UNDECIDED, words[reason], "g")])


def test_each_attribute_that_is_said_to_is_looked_at() -> None:
    audit = hand_audit(entry(), data={"attributes": ["g", "h"], "groups": [group("w"), group("m")]})
    found = told(checks(audit, associated=["x", "g", "h"]), "associated")
    reason = "the policy says that 'x' goes together with tasks, and the audit has no such attribute; it has g, h"
    assert found[0] == (UNDECIDED, reason, None)
    assert [attribute for _, _, attribute in found] == [None, "h"]


# Groups.


def of_groups(*rows: dict[str, Any], data: Any = None, **policy: Any) -> list[tuple[str, str, str | None]]:
    return told(checks(hand_audit(entry(), data={"groups": list(rows), **(data or {})}), **policy), "min_group")


@pytest.mark.parametrize(
    ("least", "outcome", "reason"),
    [
        (30, PASS, "the smallest of 2 groups has 30 records"),
        (31, UNDECIDED, f"fewer than 31 records: g=m (30){in_words(records_for(31, 30, 200))}"),
        (171, UNDECIDED, f"fewer than 171 records: g=m (30), g=w (170){in_words(records_for(171, 30, 200))}"),
        (0, PASS, "the smallest of 2 groups has 30 records"),
    ],
)
def test_the_smallest_group(least: int, outcome: str, reason: str) -> None:
    rows = [group("w", 170), group("m", 30)]
    assert of_groups(*rows, min_group=least) == [(outcome, reason, "g")]
    (check,) = checks(hand_audit(entry(), data={"groups": rows}), min_group=least)
    assert check.records_needed == (None if outcome == PASS else records_for(least, 30, 200))
    assert check.line == 4


def test_a_group_without_a_record_is_never_evidence() -> None:
    rows = [group("w", 100), group("m", 100), group("x", 0)]
    for least in (0, 1):
        assert of_groups(*rows, min_group=least) == [(UNDECIDED, "fewer than 1 records: g=x (0)", "g")]
    assert of_groups(*rows, ignore_groups=["x"]) == [(PASS, "the smallest of 2 groups has 100 records", "g")]
    small = of_groups(group("w", 100), group("m", 100), group("x", 1), min_group=2)
    assert small == [(UNDECIDED, f"fewer than 2 records: g=x (1){in_words(records_for(2, 1, 200))}", "g")]


ALONE = "one group alone: there is nothing to compare it with"


def test_one_group_alone() -> None:
    assert of_groups(group("w", 200)) == [(UNDECIDED, ALONE, "g")]
    assert of_groups(group("w", 200), group("m", 0)) == [(UNDECIDED, ALONE, "g")]
    left = of_groups(group("w", 100), group("m", 100), ignore_groups=["m"])
    assert left == [(UNDECIDED, f"{ALONE} but those that the policy ignores", "g")]
    assert of_groups(group("w", 199), group("m", 1)) == [(PASS, "the smallest of 2 groups has 1 records", "g")]


def yes_no(records: int, name: str = "woman", **more: Any) -> dict[str, Any]:
    return {**group("x", records), "group": name, "variable": name, "category": None, **more}


@pytest.mark.parametrize(
    ("records", "least", "outcome", "reason"),
    [
        (100, 30, PASS, "the smallest of 1 groups has 100 records"),
        (170, 30, PASS, "the smallest of 1 groups has 170 records"),
        (171, 30, UNDECIDED, "fewer than 30 records without woman"),
        (29, 30, UNDECIDED, f"fewer than 30 records: woman (29){in_words(records_for(30, 29, 200))}"),
        (0, 30, UNDECIDED, ALONE),
        (1, 1, PASS, "the smallest of 1 groups has 1 records"),
    ],
)
def test_a_yes_no_label_is_compared_with_everybody_without_it(
    records: int, least: int, outcome: str, reason: str
) -> None:
    assert of_groups(yes_no(records), min_group=least) == [(outcome, reason, "g")]


def test_several_yes_no_labels_are_groups() -> None:
    rows = [yes_no(150, "woman"), yes_no(195, "tall")]
    assert of_groups(*rows, min_group=30) == [(PASS, "the smallest of 2 groups has 150 records", "g")]
    bare = {name: held for name, held in group("w", 100).items() if name != "category"}
    assert of_groups(bare) == [(UNDECIDED, ALONE, "g")]


def test_each_attribute_has_groups_of_its_own() -> None:
    rows = [group("w", 170), group("m", 30), group("a", 10, "h"), group("b", 190, "h")]
    found = of_groups(*rows, data={"attributes": ["g", "h"]}, min_group=30)
    assert [(outcome, attribute) for outcome, _, attribute in found] == [(PASS, "g"), (UNDECIDED, "h")]


def test_groups_that_the_policy_names() -> None:
    rows = [group("w", 170), group("m", 30), group("x", 0)]
    found = checks(hand_audit(entry(), data={"groups": rows}), groups=["g=w", "g=x", "g=y"], ignore_groups=["x"])
    assert told(found, "groups") == [
        (UNDECIDED, f"no record is of the group 'g={name}', which the policy names", None) for name in "xy"
    ]


def test_groups_that_only_the_audit_ignores() -> None:
    rows = [group("w", 90), group("m", 90), group("x", 10), group("y", 10)]
    audit = hand_audit(entry(), data={"groups": rows, "ignored_groups": ["g=x", "g=y"]})
    for ignored, names in (((), "g=x, g=y"), (("x",), "g=y"), (("x", "g=y"), None)):
        reason = f"the audit ignores {names}, and the policy does not: audit without ignore_groups"
        found = told(checks(audit, ignore_groups=ignored), "ignore_groups")
        assert found == ([] if names is None else [(UNDECIDED, reason, None)])
