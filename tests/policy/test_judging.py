"""Pass, fail and not enough evidence, each against a figure counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import biasamp
from amplified import audited, columns
from biasamp.policy import Limit, Policy, PolicyError
from biasamp.policy.verdict import Verdict

ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": ["directional", "parity"]}


def only(**limit: Any) -> Policy:
    return Policy(limits=[limit], min_group=0)


def outcomes(verdict: Verdict) -> list[str]:
    return [check.outcome for check in verdict.checks if check.metric]


def test_the_value_decides_where_it_is_asked_to(amplifying: biasamp.Audit) -> None:
    """A->T: two pairs of w move by .15, two of m by 0: .075 by hand."""
    assert only(metric="directional", max=0.0751, on="value").check(amplifying).outcome == "pass"
    verdict = only(metric="directional", max=0.0749, on="value").check(amplifying)
    assert verdict.outcome == "fail"
    assert verdict.failures[0].value == pytest.approx(0.075, abs=1e-12)


def test_the_bound_decides_by_default(amplifying: biasamp.Audit) -> None:
    """All directions are clear here, so that the bounds are the value and its error on either side."""
    entry = next(e for e in amplifying.document["metrics"] if e["metric"] == "directional")
    assert entry["unknown"] == 0
    low, high = entry["bounds"]
    assert low < 0.075 < high
    for limit, expected in ((high, "pass"), (low - 1e-6, "fail"), (0.075, "not enough evidence")):
        assert only(metric="directional", max=limit).check(amplifying).outcome == expected
    for limit, expected in ((low, "pass"), (high + 1e-6, "fail"), (0.075, "not enough evidence")):
        assert only(metric="directional", min=limit, max=0.9).check(amplifying).outcome == expected


def test_what_a_check_is_about(amplifying: biasamp.Audit) -> None:
    verdict = only(metric="directional", direction="A->T", max=0.5).check(amplifying)
    assert [check.about for check in verdict.checks if check.metric] == ["g directional A→T"]
    check = next(check for check in verdict.checks if check.metric)
    assert (
        replace(check, figure="over_floor", against="baseline").about
        == "g directional A→T (over_floor) against the baseline"
    )


def test_exit_codes_and_truth(amplifying: biasamp.Audit) -> None:
    codes = {}
    for limit in (0.5, 0.01, 0.075):
        verdict = only(metric="directional", max=limit).check(amplifying)
        codes[verdict.outcome] = (verdict.exit_code, bool(verdict))
    assert codes == {"pass": (0, True), "fail": (1, False), "not enough evidence": (3, False)}


def test_a_failure_outweighs_lacking_evidence(amplifying: biasamp.Audit) -> None:
    policy = Policy(limits=[Limit(metric="directional", max=0.01), Limit(metric="directional", max=0.075)], min_group=0)
    assert policy.check(amplifying).outcome == "fail"


def test_one_pair(amplifying: biasamp.Audit) -> None:
    """P(t=1|w): .7 to .85."""
    verdict = only(metric="directional", given="g=w", outcome="t=1", max=0.1499, on="value").check(amplifying)
    (check,) = verdict.failures
    assert check.value == pytest.approx(0.15, abs=1e-12)
    assert only(metric="directional", given="g=m", max=0.05).check(amplifying).outcome == "pass"


def test_all_pairs(amplifying: biasamp.Audit) -> None:
    verdict = only(metric="directional", pairs=True, max=0.1, on="value").check(amplifying)
    assert [(c.given, c.outcome_label) for c in verdict.failures] == [("g=w", "t=1")]
    assert [(c.given, c.outcome_label) for c in verdict.checks if c.outcome == "pass" and c.metric] == [("g=m", "t=1")]
    assert any("2 facts are held to one limit, the two values of an outcome as one" in note for note in verdict.notes)
    assert "2 pairs" in only(metric="directional", pairs=True, max=0.5).check(amplifying).checks[-1].reason


def test_a_parity_difference_of_one_outcome(amplifying: biasamp.Audit) -> None:
    """Half of the women's negatives are predicted positive, none of the men's: FPR of t=1 differs by .5."""
    verdict = only(metric="fpr_difference", outcome="t=1", max=0.49, on="value").check(amplifying)
    assert verdict.failures[0].value == pytest.approx(0.5)
    assert only(metric="tpr_difference", outcome="t=1", max=0.01, on="value").check(amplifying).outcome == "pass"
    verdict = only(metric="fpr_difference", outcome="t=0", max=0.01, on="value").check(amplifying)
    assert verdict.outcome == "not enough evidence"
    assert "rates are those of t=1" in verdict.undecided[0].reason


def test_multi_over_its_floor(amplifying: biasamp.Audit) -> None:
    entry = next(e for e in amplifying.document["metrics"] if e["metric"] == "multi")
    verdict = only(metric="multi", figure="over_floor", max=0.5).check(amplifying)
    (check,) = [c for c in verdict.checks if c.metric]
    assert check.value == pytest.approx(entry["value"] - entry["floor"])
    assert check.low == pytest.approx(entry["interval"][0] - entry["floor"])


def test_the_cross_fitted_figure(amplifying: biasamp.Audit) -> None:
    entry = next(e for e in amplifying.document["metrics"] if e["metric"] == "directional")
    (check,) = [c for c in only(metric="directional", figure="crossfit", max=0.5).check(amplifying).checks if c.metric]
    assert (check.value, [check.low, check.high]) == (entry["crossfit"], entry["crossfit_interval"])


def test_companions_are_required_beside_amplification() -> None:
    data = columns()
    lacking = audited(data, metrics=["directional"])
    policy = Policy(limits=[{"metric": "directional", "max": 0.1}], companions={"tpr_difference": True}, min_group=0)
    assert policy.check(audited(data)).outcome == "pass"
    verdict = policy.check(lacking)
    assert verdict.outcome == "not enough evidence"
    assert "requires tpr_difference with amplification" in verdict.undecided[0].reason


def test_a_companion_with_a_limit(amplifying: biasamp.Audit) -> None:
    """Zero amplification would not save it: FPR differs by .5."""
    assert Policy(companions={"fpr_difference": 0.1}).check(amplifying).outcome == "fail"
    assert Policy(companions={"mean_per_class_accuracy": 0.99}).check(amplifying).outcome == "fail"
    assert Policy(companions={"mean_per_class_accuracy": 0.5}).check(amplifying).outcome == "pass"


# Nothing passes by silence.


def test_a_metric_that_was_not_run() -> None:
    verdict = only(metric="directional", direction="T->A", max=0.1).check(audited(columns()))
    assert verdict.outcome == "not enough evidence"
    assert "attribute_predictions" in verdict.undecided[0].reason


@pytest.mark.parametrize(
    "limit",
    [
        {"metric": "dpa", "max": 0.1},
        {"metric": "directional", "attribute": "race", "max": 0.1},
        {"metric": "directional", "given": "g=x", "max": 0.1},
        {"metric": "directional", "given": "g=w", "outcome": "t=7", "max": 0.1},
        {"metric": "fpr_difference", "outcome": "t=7", "max": 0.1},
    ],
)
def test_what_is_named_and_not_there(clean: biasamp.Audit, limit: dict[str, Any]) -> None:
    assert only(**limit).check(clean).outcome == "not enough evidence"


def test_a_group_that_vanished() -> None:
    data = columns()
    kept = data["g"] == "w"
    one_group = audited({name: values[kept] for name, values in data.items()}, metrics=["directional", "multi"])
    policy = Policy(limits=[{"metric": "directional", "max": 0.1}], min_group=0)
    assert policy.check(audited(data)).outcome == "pass"
    verdict = policy.check(one_group)
    assert verdict.outcome == "not enough evidence"
    assert "one group alone" in verdict.undecided[0].reason


def test_a_group_that_only_train_has() -> None:
    data = columns()
    train = {"g": np.array(["w", "m", "x"] * 50), "t": np.array([1, 0, 1] * 50)}
    policy = Policy(limits=[{"metric": "directional", "max": 0.1}], min_group=0)
    audit = audited(data, train=train)
    verdict = policy.check(audit)
    assert verdict.outcome == "not enough evidence"
    assert any("no record is of g=x" in check.reason for check in verdict.undecided)
    for more in ({}, {"pairs": True}):
        limit = {"metric": "directional", "max": 0.5, **more}
        assert Policy(limits=[limit], min_group=0, ignore_groups=["g=x"]).check(audit).outcome == "pass"
        assert Policy(limits=[limit], min_group=0).check(audit).outcome == "not enough evidence"


def test_small_groups_and_named_groups() -> None:
    data = columns()
    data["g"] = data["g"].astype("<U5")
    data["g"][:7] = "other"
    audit = audited(data)
    limits = [{"metric": "directional", "max": 0.5}]
    assert Policy(limits=limits).check(audit).outcome == "not enough evidence"
    assert Policy(limits=limits, min_group=7).check(audit).outcome == "pass"
    ignoring = Policy(limits=limits, ignore_groups=["g=other"], data=ROLES)
    verdict = ignoring.check(audit)
    assert verdict.outcome == "not enough evidence"
    assert "the policy ignores g=other, and the audit does not" in verdict.undecided[0].reason
    assert ignoring.check(ignoring.audit(data)).outcome == "pass"
    assert Policy(limits=limits, ignore_groups=["other"], data=ROLES).check(ignoring.audit(data)).outcome == "pass"
    assert Policy(limits=limits, min_group=7, groups=["g=gone"]).check(audit).outcome == "not enough evidence"
    assert Policy(limits=limits, min_group=7, min_records=401).check(audit).outcome == "not enough evidence"
    assert Policy(limits=limits, min_group=7, confidence=0.99).check(audit).outcome == "not enough evidence"


def test_a_pair_whose_direction_the_data_cannot_tell() -> None:
    """A change of .1 is as well an amplification as its opposite: neither limit of .05 can be judged."""
    rng = np.random.default_rng(3)
    group, truth = np.repeat(["w", "m"], 100), np.tile([0, 1], 100)
    said = np.where((group == "w") & (truth == 0) & (rng.random(200) < 0.3), 1, truth)
    audit = audited({"g": group, "t": truth, "p": said})
    for limit in ({"max": 0.05}, {"min": -0.05}):
        verdict = only(metric="directional", given="g=w", outcome="t=1", **limit).check(audit)
        assert verdict.outcome == "not enough evidence"


def test_pairs_on_few_records(amplifying: biasamp.Audit) -> None:
    policy = only(metric="directional", pairs=True, max=0.5, min_support=201)
    assert policy.check(amplifying).outcome == "not enough evidence"


def test_a_perfect_model_passes_every_kind_of_limit_that_its_records_can_tell(clean: biasamp.Audit) -> None:
    """200 records of a group without an error leave 1.8% open: 1 - .025 ** (1 / 200)."""
    limits = [
        {"metric": "directional", "max": 0.02},
        {"metric": "directional", "pairs": True, "max": 0.02},
        {"metric": "multi", "max": 0.03},
        {"metric": "accuracy_difference", "max": 0.05},
    ]
    assert Policy(limits=limits).check(clean).outcome == "pass"
    for limit in ({"metric": "directional", "max": 0.001}, {"metric": "multi", "max": 0.001}):
        assert Policy(limits=[limit]).check(clean).outcome == "not enough evidence"


# Against a baseline.


def released(margin: float = 0.01, **more: Any) -> Policy:
    return Policy(limits=[{"metric": "directional", "against": "baseline", "max": margin}], min_group=0, **more)


def test_a_model_is_no_evidence_against_itself(amplifying: biasamp.Audit, tmp_path: Any) -> None:
    amplifying.save(tmp_path / "old.json.gz")
    verdict = released(0.5, baseline=tmp_path / "old.json.gz").check(amplifying)
    assert verdict.outcome == "not enough evidence"
    (check,) = [c for c in verdict.checks if c.against]
    assert "the same predictions of the same records" in check.reason
    renamed = {**columns(said=0.5), "again": columns(said=0.5)["p"]}
    other_name = audited(renamed, task_predictions="again")
    assert released(0.5).check(amplifying, other_name).outcome == "not enough evidence"
    with pytest.raises(PolicyError, match="is both what is judged and its baseline"):
        released(0.5).check(amplifying, amplifying)
    with pytest.raises(PolicyError, match=r"old.json.gz' is both"):
        released(0.5, baseline=tmp_path / "old.json.gz").check(str(tmp_path / "old.json.gz"))


def test_no_difference_seen_is_no_certainty(amplifying: biasamp.Audit) -> None:
    """Of two pairs of groups one has no record in which the models differ: 200 records leave 1 - .025 ** (1 / 200) open."""
    swapped = columns(said=0.5)
    women = np.flatnonzero((swapped["g"] == "w") & (swapped["t"] == 0))
    swapped["p"][women] = 1 - swapped["p"][women]  # as many errors, of the other women
    verdict = released(0.5).check(audited(swapped), amplifying)
    (check,) = [c for c in verdict.checks if c.against]
    assert check.value == pytest.approx(0.0, abs=1e-12)
    assert check.outcome == "pass"
    open_share = 1 - 0.025 ** (1 / 200)
    assert check.low <= -open_share
    assert check.high >= open_share


def test_worse_than_the_released_model(clean: biasamp.Audit, amplifying: biasamp.Audit) -> None:
    assert released(0.02).check(amplifying, clean).outcome == "fail"
    assert released(0.2).check(amplifying, clean).outcome == "pass"
    assert released(0.0).check(clean, amplifying).outcome == "pass"


@pytest.mark.parametrize("change", ["size", "groups", "truth"])
def test_a_baseline_of_other_data_is_an_error(clean: biasamp.Audit, change: str) -> None:
    """Also where it has as many records, whose rows would pair by number."""
    data = columns(600 if change == "size" else 400)
    if change == "groups":
        data["g"] = np.where(np.arange(400) == 0, "m", data["g"])
    if change == "truth":
        data["t"] = np.where(np.arange(400) == 0, 1 - data["t"], data["t"])
        data["p"] = data["t"].copy()
    other = audited(data)
    with pytest.raises(PolicyError, match="is of other data than") as caught:
        released(0.2).check(other, clean)
    assert "paired = false" in str(caught.value)
    assert released(0.2, paired=False).check(other, clean).outcome == "pass"


def test_a_baseline_without_resamples_cannot_be_paired(clean: biasamp.Audit, tmp_path: Any) -> None:
    clean.to_json(tmp_path / "bare.json")
    verdict = released(0.2).check(audited(columns(said=0.1)), tmp_path / "bare.json")
    assert verdict.outcome == "not enough evidence"
    assert "not paired" in verdict.undecided[0].reason


def test_a_baseline_that_no_limit_uses_is_an_error(clean: biasamp.Audit, tmp_path: Any) -> None:
    clean.named("old model.csv").save(tmp_path / "old.json")
    policy = only(metric="directional", max=0.5)
    with pytest.raises(PolicyError, match=r"old model.csv.* is used by no limit"):
        policy.check(clean, tmp_path / "old.json")


def test_what_the_baseline_has_and_the_audit_lacks(clean: biasamp.Audit) -> None:
    without = audited(columns(), metrics=["multi", "parity"])
    assert released().check(without, clean).outcome == "not enough evidence"
    data = columns()
    data["g"] = np.where(np.arange(400) % 9 == 0, "x", data["g"])
    verdict = released(0.5, paired=False).check(clean, audited(data))
    assert any("gone: g=x" in check.reason for check in verdict.undecided)


def test_an_outcome_that_the_baseline_had() -> None:
    """Three outcomes, of which the new data lack one: the mean is over other pairs."""
    data = columns()
    more = {**data, "t": np.where(np.arange(400) % 11 == 0, 2, data["t"])}
    more["p"] = more["t"].copy()
    verdict = released(0.5, paired=False).check(audited(data), audited(more))
    assert verdict.outcome == "not enough evidence"
    assert any("outcomes that are gone" in check.reason and "t=2" in check.reason for check in verdict.undecided)


def test_a_baseline_is_needed(clean: biasamp.Audit, tmp_path: Any) -> None:
    with pytest.raises(PolicyError, match="against the baseline, but there is none"):
        released().check(clean)
    with pytest.raises(PolicyError, match="no file"):
        released(baseline=tmp_path / "nothing.json").check(clean)


def test_not_an_audit() -> None:
    with pytest.raises(TypeError, match="audit is a dict"):
        released().check({})  # type: ignore[arg-type]


def test_policy_audits_as_it_says() -> None:
    policy = Policy(
        limits=[{"metric": "directional", "max": 0.1}],
        data={"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": ["directional"], "resamples": 50},
        confidence=0.9,
    )
    audit = policy.audit(columns())
    assert audit.document["data"]["confidence"] == 0.9
    assert {e["metric"] for e in audit.document["metrics"]} == {"directional"}
    with pytest.raises(PolicyError, match=r"data.tasks"):
        Policy(limits=policy.limits, data={"attributes": "g"}).audit(columns())
    yes = Policy(limits=policy.limits, data={**policy.data, "binary": ["tasks"]}).audit(columns())
    assert {pair["outcome"] for pair in yes.document["metrics"][0]["pairs"]} == {"t"}


@pytest.mark.parametrize("metric", ["fpr_difference", "tpr_difference", "accuracy_difference"])
def test_ignored_groups_leave_differences_of_a_ready_audit(metric: str) -> None:
    """What the table of groups gives is what an audit without the group would have given."""
    rng = np.random.default_rng(5)
    group, truth = rng.choice(["w", "m", "x"], 900), rng.integers(0, 2, 900)
    said = np.where(rng.random(900) < np.where(group == "x", 0.6, np.where(group == "w", 0.2, 0.1)), 1 - truth, truth)
    data = {"g": group, "t": truth, "p": said}
    without = next(e for e in audited(data, ignore_groups=["x"]).document["metrics"] if e["metric"] == metric)
    policy = Policy(limits=[{"metric": metric, "max": 0.5}], ignore_groups=["g=x"])
    (check,) = [check for check in policy.check(audited(data)).checks if check.metric]
    assert (check.value, check.low, check.high) == pytest.approx((without["value"], *without["interval"]), abs=1e-9)
    assert check.value != pytest.approx(
        next(e for e in audited(data).document["metrics"] if e["metric"] == metric)["value"]
    )
