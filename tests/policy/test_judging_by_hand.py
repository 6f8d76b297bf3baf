"""What a verdict has of each rule, check by check and field by field, of audits that are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from biasamp.policy import Check, Policy, PolicyError, Verdict
from hand_audits import entry, group, hand_audit, pair, rate

PASS, FAIL, UNDECIDED = "pass", "fail", "not enough evidence"
LIMIT = {"metric": "directional", "max": 0.1}
LINES: dict[tuple[str | int, ...], int] = {
    ("evidence", "ignore_groups"): 2,
    ("companions", "tpr_difference"): 4,
    ("limit", 0): 6,
    ("limit", 1): 9,
}


def judged(*entries: Any, limits: Any = (LIMIT,), audit: Any = None, data: Any = None, **policy: Any) -> Verdict:
    more = {name: policy.pop(name) for name in ("rates", "excluded", "not_run", "findings") if name in policy}
    held = hand_audit(*entries, data=data, **more) if audit is None else audit
    return Policy(limits=limits, lines=LINES, source="p.toml", **{"min_group": 1, **policy}).check(held)


def checks(*entries: Any, **more: Any) -> list[Check]:
    """Those of limits and companions."""
    return [check for check in judged(*entries, **more).checks if check.metric]


def test_a_check_has_what_it_was_held_to_and_what_was_found() -> None:
    (check,) = checks(entry(), limits=[{**LIMIT, "direction": "A->T", "attribute": "g"}])
    assert check == Check(
        rule="g directional A->T",
        outcome=PASS,
        reason="+0.0500 [+0.0300, +0.0700] lies within ≤ 0.1",
        limit="≤ 0.1",
        metric="directional",
        figure="value",
        on="bound",
        attribute="g",
        direction="A->T",
        value=0.05,
        low=0.05 - 0.02,
        high=0.05 + 0.02,
        line=6,
        finding="lies within ≤ 0.1",
    )


def test_a_check_of_one_pair_and_of_one_outcome() -> None:
    (check,) = checks(entry(), limits=[{**LIMIT, "given": "g=w", "outcome": "t=1", "on": "value"}])
    assert (check.given, check.outcome_label, check.of_pairs, check.on) == ("g=w", "t=1", True, "value")
    rows = [{"outcome": "t=1", "tpr_difference": 0.1, "low": 0.05, "high": 0.2}]
    limit = {"metric": "tpr_difference", "outcome": "t=1", "max": 0.5}
    (check,) = checks(entry("tpr_difference", outcomes=rows), limits=[limit])
    assert (check.given, check.outcome_label, check.of_pairs, check.value) == (None, "t=1", False, 0.1)
    (check,) = checks(entry(), limits=[{**LIMIT, "given": "g=x", "outcome": "t=1"}])
    assert (check.given, check.outcome_label, check.value, check.outcome) == ("g=x", "t=1", None, UNDECIDED)


@pytest.mark.parametrize(("on", "bounded"), [("bound", True), ("value", False)])
def test_bounds_are_called_so_where_they_are_judged(on: str, bounded: bool) -> None:
    unknown = [pair("g=w", "t=1", known=False, sign_p=0.5), pair("g=m", "t=1")]
    (check,) = checks(entry(pairs=unknown, unknown=1), limits=[{**LIMIT, "on": on}])
    assert check.bounded is bounded


def test_records_needed_stand_in_the_check() -> None:
    (check,) = checks(entry(value=0.09))
    assert (check.outcome, check.line) == (UNDECIDED, 6)
    assert check.records_needed is not None
    assert f"about {check.records_needed:,} records" in check.reason
    assert check.reason == f"+0.0900 [+0.0700, +0.1100] {check.finding}"


def test_each_attribute_and_direction_is_held_to_a_limit() -> None:
    held = [entry(attribute=a, direction=d) for a in "gh" for d in ("A->T", "T->A")]
    data = {
        "attributes": ["g", "h"],
        "groups": [group("w"), group("m"), group("a", attribute="h"), group("b", attribute="h")],
    }

    def of(**limit: Any) -> list[tuple[str | None, str | None]]:
        return [(c.attribute, c.direction) for c in checks(*held, data=data, limits=[{**LIMIT, **limit}])]

    assert of() == [("g", "A->T"), ("g", "T->A"), ("h", "A->T"), ("h", "T->A")]
    assert of(direction="T->A") == [("g", "T->A"), ("h", "T->A")]
    assert of(attribute="h") == [("h", "A->T"), ("h", "T->A")]
    assert of(attribute="h", direction="A->T") == [("h", "A->T")]


def test_limits_stand_in_their_order_at_their_lines() -> None:
    found = checks(entry(), entry("multi"), limits=[LIMIT, {"metric": "multi", "max": 0.2}])
    assert [(check.metric, check.line) for check in found] == [("directional", 6), ("multi", 9)]


@pytest.mark.parametrize(
    ("rows", "limit", "why"),
    [
        ([], {}, "the audit did not measure it"),
        ([{"metric": "directional", "attribute": "g", "direction": "A->T"}], {}, "not run, too few"),
        ([{"metric": "directional", "attribute": "g", "direction": "A->T"}], {"direction": "A->T"}, "not run, too few"),
        (
            [{"metric": "directional", "attribute": "g", "direction": "A->T"}],
            {"direction": "T->A"},
            "the audit did not measure it",
        ),
        (
            [{"metric": "directional", "attribute": "h", "direction": "A->T"}],
            {},
            "the audit did not measure it",
        ),
        ([{"metric": "multi", "attribute": "g", "direction": "A->T"}], {}, "the audit did not measure it"),
    ],
)
def test_a_metric_that_is_not_there(rows: Any, limit: Any, why: str) -> None:
    rows = [{**row, "reason": "too few"} for row in rows]
    (check,) = checks(entry("dpa"), limits=[{**LIMIT, **limit}], not_run=rows)
    assert (check.outcome, check.reason, check.finding) == (UNDECIDED, why, why)
    assert (check.attribute, check.direction, check.value) == ("g", limit.get("direction"), None)


def test_a_metric_that_is_asked_for_under_another_name() -> None:
    rows = [{"metric": "parity", "attribute": "g", "direction": "A->T", "reason": "no predictions"}]
    (check,) = checks(entry(), limits=[{"metric": "tpr_difference", "max": 0.1}], not_run=rows)
    assert check.reason == "not run, no predictions"


def test_an_attribute_that_is_not_there() -> None:
    (check,) = checks(entry(), limits=[{**LIMIT, "attribute": "race"}], data={"attributes": ["g", "h"]})
    assert (check.outcome, check.attribute, check.line) == (UNDECIDED, "race", 6)
    assert check.reason == "the audit has no attribute 'race'; it has g, h"


IGNORED = "every pair that the limit is about is of a group that the policy ignores"


@pytest.mark.parametrize(
    ("limit", "ignored", "reason"),
    [
        ({"given": "g=x"}, (), "the audit has no 'g=x' of directional: the label is gone, or spelled in another way"),
        (
            {"given": "g=x", "outcome": "t=7"},
            (),
            "the audit has no 'g=x → t=7' of directional: the label is gone, or spelled in another way",
        ),
        ({"outcome": "t=7"}, (), "the audit has no 't=7' of directional: the label is gone, or spelled in another way"),
        ({"given": "g=m"}, ("g=m",), IGNORED),
        ({"given": "t=1", "outcome": "g=m"}, ("g=m",), IGNORED),
        ({"pairs": True}, ("g=m", "g=w"), IGNORED),
    ],
)
def test_pairs_that_are_not_there(limit: Any, ignored: Any, reason: str) -> None:
    groups = [group("w"), group("m"), group("y"), group("z")]
    found = checks(entry(), limits=[{**LIMIT, **limit}], data={"groups": groups}, ignore_groups=ignored)
    assert [(check.outcome, check.reason) for check in found] == [(UNDECIDED, reason)]


@pytest.mark.parametrize(
    ("outcome", "positive", "reason"),
    [
        ("t=0", {"t": "1"}, "rates are those of t=1; the other value of two says the same"),
        ("t=0", {"t": "1", "u": "0"}, "rates are those of t=1, u=0; the other value of two says the same"),
        (
            "t=7",
            {"t": "1"},
            "the audit has no 't=7' of tpr_difference: the label is gone, or spelled in another way",
        ),
        (
            "t=0",
            {"u": "1"},
            "the audit has no 't=0' of tpr_difference: the label is gone, or spelled in another way",
        ),
        ("t=0", ..., "the audit has no 't=0' of tpr_difference: the label is gone, or spelled in another way"),
    ],
)
def test_the_other_value_of_two(outcome: str, positive: Any, reason: str) -> None:
    rows = [{"outcome": "t=1", "tpr_difference": 0.1, "low": 0.05, "high": 0.2}]
    limit = {"metric": "tpr_difference", "outcome": outcome, "max": 0.5}
    (check,) = checks(entry("tpr_difference", outcomes=rows), limits=[limit], data={"positive": positive})
    assert (check.outcome, check.reason) == (UNDECIDED, reason)


def test_no_value_says_so_of_a_pair() -> None:
    """A limit on pairs is not about rates of the positive value."""
    (check,) = checks(
        entry(pairs=[pair("g=w", "t=1")]), limits=[{**LIMIT, "outcome": "t=0"}], data={"positive": {"t": "1"}}
    )
    assert check.reason == "the audit has no 't=0' of directional: the label is gone, or spelled in another way"


# Many pairs.


def many(*values: float) -> dict[str, Any]:
    return entry(pairs=[pair(f"g={k}", "t=1", value) for k, value in enumerate(values)])


def test_of_many_pairs_those_that_pass_are_one_line() -> None:
    found = checks(many(0.0, 0.05, 0.5, 0.09), limits=[{**LIMIT, "pairs": True}])
    assert [(check.outcome, check.given) for check in found] == [(FAIL, "g=2"), (UNDECIDED, "g=3"), (PASS, None)]
    last = found[-1]
    assert last.reason == "the other 2 of 4 pairs lie within the limit"
    assert (last.finding, last.outcome_label, last.value, last.low, last.high, last.bounded) == (
        "",
        None,
        None,
        None,
        None,
        False,
    )
    assert (last.attribute, last.direction, last.rule, last.of_pairs) == (
        "g",
        "A->T",
        "directional every label → every outcome",
        True,
    )


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ((0.0,), [(PASS, "g=0", "+0.0000 [-0.0200, +0.0200] lies within ≤ 0.1")]),
        ((0.0, 0.01), [(PASS, None, "2 of 2 pairs lie within the limit")]),
        ((0.0, 0.5), [(FAIL, "g=1", "+0.5000 [+0.4800, +0.5200] lies beyond ≤ 0.1"),
                      (PASS, "g=0", "+0.0000 [-0.0200, +0.0200] lies within ≤ 0.1")]),
        ((0.0, 0.0, 0.0), [(PASS, None, "3 of 3 pairs lie within the limit")]),
    ],
)  # fmt: skip
def test_few_pairs(values: Any, found: Any) -> None:
    made = checks(many(*values), limits=[{**LIMIT, "pairs": True}])
    assert [(check.outcome, check.given, check.reason) for check in made] == found


def test_pairs_are_told_attribute_by_attribute_and_direction_by_direction() -> None:
    held = [
        entry(attribute=a, direction=d, pairs=[pair(f"{a}={k}", "t=1") for k in "wm"])
        for a in "gh"
        for d in ("A->T", "T->A")
    ]
    data = {"attributes": ["g", "h"]}
    found = checks(*held, data=data, limits=[{**LIMIT, "pairs": True}])
    assert [(check.attribute, check.direction, check.reason) for check in found] == [
        (a, d, "2 of 2 pairs lie within the limit") for a in "gh" for d in ("A->T", "T->A")
    ]


def test_which_of_many_pairs_fail_is_corrected_and_said() -> None:
    """A pair 2.5 errors beyond its limit fails alone, and not among twelve."""
    error = 0.02 / 1.96
    beyond = 0.1 + 2.5 * error
    note = (
        "directional every label → every outcome: {} facts are held to one limit, the two values of an outcome as one. All "
        "have to pass; which of them fail is corrected for their number (Holm)."
    )
    alone = judged(many(beyond), limits=[{**LIMIT, "pairs": True}])
    assert alone.outcome == FAIL
    assert alone.notes == ()
    several = judged(many(beyond, *[0.0] * 11), limits=[{**LIMIT, "pairs": True}])
    assert several.outcome == UNDECIDED
    assert several.notes == (note.format(12),)
    assert judged(many(0.0, 0.0), limits=[{**LIMIT, "pairs": True}]).notes == (note.format(2),)
    assert judged(entry()).notes == ()


def test_the_level_of_the_correction_is_that_of_the_audit() -> None:
    beyond = 0.1 + 2.1 * 0.02 / 1.645
    for level, outcome in ((0.95, FAIL), (0.9, FAIL), (0.99, FAIL)):
        made = judged(
            many(beyond, 0.5),
            limits=[{**LIMIT, "pairs": True}],
            data={"confidence": level, "resamples": 1000},
            confidence=0.6,
        )
        assert made.outcome == outcome


# Companions.


def test_companions_that_must_be_measured() -> None:
    held = [entry("tpr_difference", 0.25, interval=[0.1, 0.5])]
    (check, other) = checks(entry(), *held, companions={"tpr_difference": True})
    assert check == Check(
        rule="companion tpr_difference",
        outcome=PASS,
        reason="measured: 0.2500",
        metric="tpr_difference",
        attribute="g",
        direction="A->T",
        value=0.25,
        low=0.1,
        high=0.5,
        line=4,
    )
    assert other.metric == "directional"


@pytest.mark.parametrize("held", [(), (entry("tpr_difference", None),), (entry("tpr_difference", attribute="h"),)])
def test_companions_that_were_not_measured(held: Any) -> None:
    rows = [{"metric": "parity", "attribute": "g", "direction": "A->T", "reason": "no predictions"}]
    for not_run, why in (([], "the audit did not measure it"), (rows, "not run, no predictions")):
        check, _ = checks(entry(), *held, companions={"tpr_difference": True}, not_run=not_run)
        assert (check.outcome, check.attribute, check.direction, check.line) == (UNDECIDED, "g", "A->T", 4)
        assert check.reason == f"the policy requires tpr_difference with amplification: {why}"


def test_companions_with_a_limit() -> None:
    held = entry("tpr_difference", 0.25)
    for largest, outcome in ((0.3, PASS), (0.2, FAIL), (0.25, UNDECIDED)):
        check, _ = checks(entry(), held, companions={"tpr_difference": largest})
        assert (check.rule, check.outcome, check.line, check.limit) == (
            "companion tpr_difference",
            outcome,
            4,
            f"≤ {largest:g}",
        )


# Notes.


def test_names_that_are_no_group() -> None:
    note = "ignore_groups names what the audit does not have: zebra, g=quokka."
    assert judged(entry(), ignore_groups=["m", "zebra", "g=quokka"]).notes[0] == note
    assert judged(entry(), data={"groups": [group("w"), group("m"), group("x")]}, ignore_groups=["x"]).notes == (
        "Groups that are in no comparison, as the policy says: g=x (100).",
    )
    for name in ("g=W", "W"):
        with pytest.raises(PolicyError) as caught:
            judged(entry(), ignore_groups=[name])
        assert caught.value.problem == f"{name!r} is no group of data.csv; did you mean 'w'?"
        assert (caught.value.key, caught.value.line, caught.value.source) == ("ignore_groups", 2, "p.toml")


OPEN = "{} {}: no limit has a max for it, so that no {} is too large for this policy. If amplification was to be limited, give max."
FLOOR = {"metric": "directional", "min": -0.1}
SAID = OPEN.format("directional", "≥ -0.1", "directional")


@pytest.mark.parametrize(
    ("limits", "companions", "notes"),
    [
        ([FLOOR], {}, [SAID]),
        ([LIMIT], {}, []),
        ([FLOOR, LIMIT], {}, []),
        ([FLOOR, {**LIMIT, "attribute": "g"}], {}, [SAID]),
        ([FLOOR, {**LIMIT, "direction": "A->T"}], {}, [SAID]),
        ([{**FLOOR, "attribute": "g"}, {**LIMIT, "attribute": "g"}], {}, []),
        ([{**FLOOR, "attribute": "g"}, LIMIT], {}, []),
        ([{**FLOOR, "direction": "A->T"}, LIMIT], {}, []),
        (
            [{**FLOOR, "direction": "A->T"}, {**LIMIT, "direction": "T->A"}],
            {},
            [OPEN.format("directional A->T", "≥ -0.1", "directional")],
        ),
        ([FLOOR, {"metric": "multi", "max": 0.1}], {}, [SAID]),
        ([{"metric": "mean_per_class_accuracy", "min": 0.5}], {}, []),
        ([LIMIT], {"tpr_difference": 0.1, "mean_per_class_accuracy": 0.5, "fpr_difference": True}, []),
    ],
)
def test_limits_that_keep_nothing_from_rising(limits: Any, companions: Any, notes: list[str]) -> None:
    assert list(judged(entry(), limits=limits, companions=companions).notes) == notes


def test_what_is_judged_and_by_what() -> None:
    made = judged(entry())
    assert (made.policy, made.data) == ("p.toml", "data.csv")


# Several runs and a baseline.


def test_runs_are_judged_by_their_mean() -> None:
    from amplified import audited, columns

    runs = [audited(columns(said=said), metrics=["directional"], seed=0) for said in (0.1, 0.2)]
    made = Policy(limits=[{**LIMIT, "max": 0.9}], min_group=0).check(runs)
    assert (
        "Figures are means over 2 runs: limits are held by the training procedure, with seeds and records in the intervals."
        in made.notes
    )
    (check,) = [check for check in made.checks if check.metric]
    assert check.value == pytest.approx(0.0225)
    one = Policy(limits=[LIMIT], min_group=0).check(runs[:1])
    assert not any("means over" in note for note in one.notes)
    assert one.data == "data"


def test_a_baseline_that_has_nothing_in_common() -> None:
    from amplified import audited, columns

    now, old = audited(columns(), metrics=["directional"]), audited(columns(said=0.2), metrics=["parity"])
    made = Policy(limits=[{**LIMIT, "against": "baseline"}], min_group=0).check(now, old)
    rows = [(check.rule, check.outcome, check.reason) for check in made.checks if check.rule == "the baseline"]
    assert rows == [("the baseline", UNDECIDED, "it has no metric in common with this audit")]
    assert made.outcome == UNDECIDED


def test_notes_of_a_comparison_stand_in_the_verdict_once() -> None:
    from amplified import audited, columns
    from biasamp.policy.baseline import compared

    now, old = (
        audited(columns(said=said), metrics=["directional", "multi"], seed=seed) for said, seed in ((0.1, 0), (0.0, 1))
    )
    limits = [{**LIMIT, "against": "baseline"}] * 2
    made = Policy(limits=limits, min_group=0, paired=False).check(now, old)
    comparison = compared([now], [old])
    assert comparison is not None
    said = [note["text"] for note in comparison.document["noted"] if note["kind"] != "not-compared"]
    assert said
    assert [note for note in made.notes if note in said] == list(dict.fromkeys(said))
    assert len(made.notes) == len(set(made.notes))
    assert not any(
        note["text"] in made.notes for note in comparison.document["noted"] if note["kind"] == "not-compared"
    )


def test_a_model_against_itself_says_that_before_anything_else() -> None:
    from amplified import audited, columns

    now, old = (audited({**columns(said=0.1), "q": columns(said=0.1)["p"]}, metrics=["directional"], task_predictions=name, seed=seed)
                for name, seed in (("p", 0), ("q", 1)))  # fmt: skip
    made = Policy(limits=[{**LIMIT, "against": "baseline"}], min_group=0).check(now, old)
    (check,) = [check for check in made.checks if check.against]
    assert (check.outcome, check.records_needed) == (UNDECIDED, None)
    assert check.reason.startswith("the baseline has the same predictions of the same records")


def test_a_rate_of_few_records_needs_more() -> None:
    rows = [{"outcome": "t=1", "tpr_difference": 0.1, "low": 0.05, "high": 0.2}]
    rates = [
        {
            "attribute": "g",
            "group": f"g={name}",
            "outcome": "t=1",
            "ignored": False,
            **{part: rate(0.5, 0.4, 0.6, size) for part in ("true_positive_rate", "selection_rate")},
        }
        for name, size in (("w", 50.0), ("m", 20.0))
    ]
    limit = {"metric": "tpr_difference", "max": 0.5}
    (check,) = checks(entry("tpr_difference", 0.1, outcomes=rows), rates=rates, limits=[limit], min_group=30)
    assert check.outcome == UNDECIDED
    assert check.reason.startswith(
        "+0.1000 [+0.0800, +0.1200] fewer than 30 records that the rate is taken over: g=m (20)"
    )
    assert check.records_needed is not None
    # A group of no record is never evidence, however few are asked for.
    rates[1]["true_positive_rate"] = rate(None, None, None, 0.0)
    (check,) = checks(entry("tpr_difference", 0.1, outcomes=rows), rates=rates, limits=[limit], min_group=0)
    assert (check.outcome, "g=m (0)" in check.reason) == (UNDECIDED, True)
    rates[1]["true_positive_rate"] = rate(0.5, 0.4, 0.6, 1.0)
    (check,) = checks(entry("tpr_difference", 0.1, outcomes=rows), rates=rates, limits=[limit], min_group=0)
    assert check.outcome == PASS
