"""Ways in which a gate might pass without evidence; none of them does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from amplified import audited, columns
from biasamp.auditing.evidence import unknown_directions
from biasamp.policy import Policy, PolicyError, Verdict
from biasamp.results.checksums import checksums

DIRECTIONAL = {"metric": "directional", "max": 0.05}
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


def held(limit: dict[str, Any] | None = None, **more: Any) -> Policy:
    return Policy(limits=[limit or DIRECTIONAL], **more)


def edited(audit: biasamp.Audit, change: Callable[[dict[str, Any]], None]) -> biasamp.Audit:
    """A saved audit with some of its document changed, as another version or a hand may have written it."""
    document = edited_document(audit, change)
    return biasamp.Audit.from_document({**document, "checksum": checksums(document, "metrics")})


def edited_document(audit: Any, change: Callable[[dict[str, Any]], None]) -> Any:
    document = copy.deepcopy(audit.to_dict())
    change(document)
    return document


def of_directional(**fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        entry = next(e for e in document["metrics"] if e["metric"] == "directional")
        entry.update(fields)
        for name in [name for name, value in fields.items() if value is ...]:
            del entry[name]

    return change


def of_data(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["data"].update(fields)


def weak(n: int = 400, **model: Any) -> dict[str, Any]:
    """Groups alike in truth; the model gives the task to a share ``moved`` of the women without it."""
    rng = np.random.default_rng(1)
    group, truth = np.repeat(["w", "m"], n // 2), rng.integers(0, 2, n)
    said = np.where((group == "w") & (truth == 0) & (rng.random(n) < model.get("moved", 0.0)), 1, truth)
    return {"g": group, "t": truth, "p": said}


def take(data: dict[str, Any], keep: Any) -> dict[str, Any]:
    return {name: values[keep] for name, values in data.items()}


def three_groups(small: int = 60) -> dict[str, Any]:
    data = columns()
    data["g"] = np.array(["x"] * small + data["g"][small:].tolist())
    return data


@pytest.fixture(scope="module")
def good() -> biasamp.Audit:
    """What passes, so that each case shows what takes the pass away."""
    audit = audited(columns(4000))
    assert held().check(audit).outcome == "pass"
    return audit


# Each gives a verdict, which must not be a pass.
WAYS: dict[str, Callable[[biasamp.Audit], Verdict]] = {
    "no error seen in few records": lambda good: held({**DIRECTIONAL, "max": 0.01}, min_group=0).check(
        audited(columns(60))
    ),
    "two records": lambda good: held({**DIRECTIONAL, "max": 0.5}, min_group=0).check(
        audited({"g": ["w", "m"], "t": [1, 0], "p": [1, 0]}, metrics=["directional"])
    ),
    "ten records": lambda good: held(min_group=0).check(audited(take(columns(), slice(195, 205)))),
    "multi without an error": lambda good: held({"metric": "multi", "max": 0.001}).check(audited(columns())),
    "errors that cancel within groups": lambda good: held({"metric": "multi", "max": 0.01}).check(
        audited({**weak(), "p": np.roll(weak()["t"], 1)})
    ),
    "a pair without an error": lambda good: held({**DIRECTIONAL, "pairs": True, "max": 0.001}).check(
        audited(columns())
    ),
    "mean per-class accuracy of all right": lambda good: Policy(companions={"mean_per_class_accuracy": 0.999}).check(
        audited(columns())
    ),
    "a parity difference of 0": lambda good: Policy(companions={"tpr_difference": 0.001}).check(audited(columns())),
    "directions unknown": lambda good: held({**DIRECTIONAL, "max": 0.02}).check(audited(weak(moved=0.3))),
    "directions unknown, one pair": lambda good: held(
        {**DIRECTIONAL, "given": "g=w", "outcome": "t=1", "max": 0.05}
    ).check(audited(weak(moved=0.3))),
    "directions unknown, all pairs": lambda good: held({**DIRECTIONAL, "pairs": True}).check(audited(weak(moved=0.3))),
    "an interval without width": lambda good: held({"metric": "dpa", "max": 0.1}).check(
        edited(audited(columns(), metrics=["dpa"]), lambda d: d["metrics"][0].update(value=0.0, interval=[0.0, 0.0]))
    ),
    "an audit of 0.1 with unknown directions": lambda good: held().check(
        edited(audited(weak()), of_directional(bounds=..., unknown=..., interval=[-0.001, 0.001]))
    ),
    "an audit of 0.1 without an error": lambda good: held({**DIRECTIONAL, "max": 0.01}).check(
        edited(audited(columns()), of_directional(bounds=..., unknown=..., value=0.0, interval=[0.0, 0.0]))
    ),
    "bounds that are null": lambda good: held().check(edited(good, of_directional(bounds=[None, None]))),
    "bounds that are not numbers": lambda good: held().check(
        replace(good, document=edited_document(good, of_directional(bounds=["-inf", float("nan")])))
    ),
    "a value that is null": lambda good: held().check(edited(good, of_directional(value=None))),
    "no interval": lambda good: held({"metric": "multi", "max": 0.5}).check(
        edited(good, lambda d: d["metrics"][1].update(interval=[None, None]))
    ),
    "a lower level": lambda good: held().check(audited(columns(4000), confidence=0.6)),
    "hardly any resamples": lambda good: held().check(audited(columns(4000), resamples=2)),
    "other attributes": lambda good: held(data={**ROLES, "attributes": "race"}).check(good),
    "one attribute of two": lambda good: held(data={**ROLES, "attributes": ["g", "race"]}).check(good),
    "other tasks": lambda good: held(data={**ROLES, "tasks": "hired"}).check(good),
    "one task of two": lambda good: held(data={**ROLES, "tasks": ["t", "u"]}).check(good),
    "without the weights": lambda good: held(data={**ROLES, "weights": "w"}).check(good),
    "without the train labels": lambda good: held(data={**ROLES, "train": "train.csv"}).check(good),
    "without the crossing": lambda good: held(data={**ROLES, "intersections": True}).check(good),
    "missing labels read as absent": lambda good: held(data=ROLES).check(
        edited(good, of_data(missing="negative", missing_values=900))
    ),
    "most labels missing": lambda good: held().check(
        audited(
            {**columns(4000), "t": np.where(np.arange(4000) % 100, None, columns(4000)["t"].astype(object))},
            missing="drop",
            metrics=["directional"],
        )
    ),
    "a group that is gone": lambda good: held(groups=["g=w", "g=m", "g=x"]).check(good),
    "one group alone": lambda good: held(min_group=0).check(audited(take(columns(), slice(0, 200)))),
    "all groups but one ignored": lambda good: held(ignore_groups=["g=m"]).check(good),
    "all groups ignored": lambda good: held(ignore_groups=["g=m", "g=w"]).check(good),
    "every pair ignored": lambda good: held({**DIRECTIONAL, "pairs": True}, ignore_groups=["g=m", "g=w"]).check(good),
    "a named pair ignored": lambda good: held({**DIRECTIONAL, "given": "g=x"}, ignore_groups=["g=x"]).check(
        audited(three_groups())
    ),
    "an audit that ignores what the policy does not": lambda good: held().check(
        audited(three_groups(), ignore_groups=["x"])
    ),
    "an audit that counts what the policy ignores": lambda good: held(ignore_groups=["g=x"]).check(
        audited(three_groups())
    ),
    "a rate that rests on few records": lambda good: Policy(companions={"tpr_difference": 0.9}).check(
        audited(take(columns(4000), np.r_[0:2000, 2003:2400:10, 2004:2400:10]))
    ),
    "a small group": lambda good: held().check(audited(three_groups(10))),
    "a metric that was not run": lambda good: held({"metric": "leakage", "max": 0.5}).check(good),
    "a direction that was not run": lambda good: held({**DIRECTIONAL, "direction": "T->A"}).check(good),
    "a label in another spelling": lambda good: held({**DIRECTIONAL, "given": "g=W"}).check(good),
    "an outcome in another spelling": lambda good: held({**DIRECTIONAL, "outcome": "t=yes"}).check(good),
    "measured, without a limit": lambda good: Policy(companions={"tpr_difference": True}).check(good),
    "a companion that was not measured": lambda good: held(companions={"tpr_difference": True}).check(
        audited(columns(4000), metrics=["directional"])
    ),
    "pairs that are not listed": lambda good: held({**DIRECTIONAL, "pairs": True}).check(
        edited(good, of_directional(pairs_in_all=5000))
    ),
    "too few records in all": lambda good: held(min_records=5000).check(good),
    "the same model against itself, few records": lambda good: held(
        {**DIRECTIONAL, "against": "baseline", "max": 0.01}, min_group=0
    ).check(audited(columns(60)), audited(columns(60))),
    "no metric in common with the baseline": lambda good: held({**DIRECTIONAL, "against": "baseline"}).check(
        good, audited(columns(4000), metrics=["parity"])
    ),
    "a baseline with another seed": lambda good: held({**DIRECTIONAL, "against": "baseline"}).check(
        good, audited(columns(4000), seed=3)
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_pass_by_accident(way: str, good: biasamp.Audit) -> None:
    verdict = WAYS[way](good)
    assert verdict.outcome == "not enough evidence", str(verdict)
    assert verdict.exit_code == 3
    assert all(check.reason for check in verdict.undecided)


# Each is an error, exit code 2.
MISTAKES: dict[str, Callable[[biasamp.Audit], Any]] = {
    "no limit at all": lambda good: Policy(),
    "a limit that everything passes": lambda good: held({**DIRECTIONAL, "max": 1.0}),
    "a baseline that no limit uses": lambda good: held().check(good, good),
    "no baseline where one is needed": lambda good: held({**DIRECTIONAL, "against": "baseline"}).check(good),
    "a baseline of other records": lambda good: held({**DIRECTIONAL, "against": "baseline"}).check(
        good, audited(columns(3800))
    ),
    "a baseline of other labels of as many records": lambda good: held({**DIRECTIONAL, "against": "baseline"}).check(
        good, audited(take(columns(4000), np.arange(4000)[::-1] // 2 + np.arange(4000) % 2 * 1000))
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_the_gate_itself(mistake: str, good: biasamp.Audit) -> None:
    with pytest.raises(PolicyError):
        MISTAKES[mistake](good)


def test_what_is_judged_as_written_says_so(good: biasamp.Audit) -> None:
    """A policy of 0.1 on the cross-fitted value, and one on the value alone."""
    audit = audited(columns(4000, said=0.05))
    for more, words in (({"figure": "crossfit"}, "pulls to 0"), ({"on": "value"}, "the value alone is judged")):
        verdict = held({**DIRECTIONAL, **more}).check(audit)
        assert verdict.outcome == "pass"
        (check,) = [check for check in verdict.checks if check.metric]
        assert any(words in caution for caution in check.cautions)
        assert words in str(verdict)


def test_cautions_are_those_that_concern_the_limit() -> None:
    """The threshold is off for the task; what annotators perceive concerns no verdict."""
    data = columns(4000, said=0.9)
    data["gender"] = data.pop("g")
    audit = biasamp.audit(data, attributes="gender", tasks="t", task_predictions="p", metrics=["directional", "parity"])
    codes = {finding.code for finding in audit.findings if finding.kind == "caution"}
    assert {"threshold", "perceived"} <= codes
    verdict = Policy(limits=[{"metric": "directional", "max": 0.5}]).check(audit)
    (check,) = [check for check in verdict.checks if check.metric]
    assert any("predicted at another rate" in caution for caution in check.cautions)
    assert not any("perceived" in caution for caution in check.cautions)
    assert verdict.to_dict()["checks"][-1]["cautions"] == list(check.cautions)


# How many records would decide.


def needed(audit: biasamp.Audit, **limit: Any) -> Any:
    verdict = Policy(limits=[{"metric": "directional", **limit}], min_group=0).check(audit)
    (check,) = [check for check in verdict.undecided if check.metric]
    return check


def test_the_number_of_records_that_would_decide(amplifying: biasamp.Audit) -> None:
    """Bounds are 1.70 standard errors away: an estimate 1.70 + .84 of them from the limit is decided in 80% of samples.

    The distance is half the reach of the bounds, so that (2 (1.70 + .8416) / 1.70)**2 = 8.94 times the records would do, and
    somewhat fewer, since what stands for errors that were not seen shrinks faster: 2 of either kind in 200 records with 30 errors.
    """
    entry = next(e for e in amplifying.document["metrics"] if e["metric"] == "directional")
    value, (low, high) = entry["value"], entry["bounds"]
    check = needed(amplifying, max=value + (high - value) / 2)
    assert 0.75 * 8.94 * 400 < check.records_needed < 8.94 * 400 * 1.05
    said = f"about {check.records_needed:,} records in all would decide with a chance of 80%, if the rates stay as they are"
    assert said in check.reason
    other = needed(amplifying, max=value - (value - low) / 3).records_needed
    assert other == pytest.approx(check.records_needed * 9 / 4, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("said", "limit"), [(0.1, 0.02), (0.1, 0.011), (0.3, 0.06)])
def test_so_many_records_decide_in_four_of_five_samples(said: float, limit: float) -> None:
    """Of women without the task a share ``said`` gets it: the value is .3 said / 2 in the population and in the first sample."""
    check = needed(audited(columns(400, said=said), metrics=["directional"]), max=limit)
    assert check.records_needed is not None
    rng = np.random.default_rng(3)
    policy, found = Policy(limits=[{"metric": "directional", "max": limit}]), []
    for _ in range(200):
        group = rng.choice(["w", "m"], check.records_needed)
        truth = (rng.random(check.records_needed) < np.where(group == "w", 0.7, 0.3)).astype(int)
        wrong = (group == "w") & (truth == 0) & (rng.random(check.records_needed) < said)
        audit = audited({"g": group, "t": truth, "p": np.where(wrong, 1, truth)}, metrics=["directional"], resamples=50)
        found.append(policy.check(audit).outcome != "not enough evidence")
    assert 0.72 <= np.mean(found) <= 0.88


def test_no_number_decides_at_the_limit(amplifying: biasamp.Audit) -> None:
    check = needed(amplifying, max=0.075)
    assert check.records_needed is None
    assert "no number of records is in sight" in check.reason


def test_directions_that_no_number_tells() -> None:
    """The groups are exactly alike in truth, and the model tells them apart."""
    group, truth = np.repeat(["w", "m"], 200), np.tile([0, 1], 200)
    said = np.where((group == "w") & (np.arange(400) % 10 == 0), 1, truth)
    check = needed(audited({"g": group, "t": truth, "p": said}), max=0.04)
    assert check.records_needed is None
    assert "train labels would" in check.reason


def test_a_small_group_says_how_many_records_would_do() -> None:
    verdict = held().check(audited(three_groups(10)))
    (check,) = [check for check in verdict.undecided if check.rule == "min_group"]
    # 10 of 400 are in the group; of 1,400 at least 30 are in 80% of samples (binomial: 83%, of 1,300 in 70%).
    assert check.records_needed == 1400


def test_a_rate_of_few_records_says_how_many_would_do() -> None:
    """Of c 40 records have the outcome and 10 do not: three times the records would have 30."""
    data = columns(2000)
    more = {"g": ["c"] * 50, "t": [1] * 40 + [0] * 10, "p": [1] * 40 + [0] * 10}
    audit = audited({name: [*data[name], *values] for name, values in more.items()}, metrics=["parity"])
    verdict = held({"metric": "fpr_difference", "max": 0.9}).check(audit)
    (check,) = [check for check in verdict.undecided if check.metric == "fpr_difference"]
    assert "fewer than 30 records that the rate is taken over: g=c (10)" in check.reason
    # Of 7,200 records 35.1 are expected, and at least 30 are there in 83% of samples (binomial).
    assert check.records_needed == 7200
    assert "about 7,200 records in all would have as many with a chance of 80%" in check.reason


@pytest.mark.parametrize("metric", ["directional", "multi", "dpa", "leakage"])
def test_a_model_that_is_never_wrong_is_decided(metric: str) -> None:
    """No error seen is no certainty, but thousands of records without one are evidence."""
    rng = np.random.default_rng(4)
    group = rng.choice(["a", "b"], 2000)
    truth = (rng.random(2000) < np.where(group == "a", 0.65, 0.35)).astype(int)
    policy = Policy(limits=[{"metric": metric, "max": 0.02}])
    outcomes = {}
    for n in (100, 2000):
        data = {"g": group[:n], "t": truth[:n], "p": truth[:n].copy()}
        audit = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics=[metric], resamples=200)
        outcomes[n] = policy.check(audit)
    assert outcomes[2000].outcome == "pass"
    assert any("equal the truth in every record" in line for line in outcomes[2000].caution_lines)
    if metric != "multi":  # of which no interval reaches below 0
        assert outcomes[100].outcome == "not enough evidence"
        assert 100 < max(check.records_needed or 0 for check in outcomes[100].undecided) <= 5000


# In every form.


def test_an_audit_in_every_form(tmp_path: Path) -> None:
    data = columns(4000)
    counts = biasamp.count(data, **ROLES)
    counts.save(tmp_path / "now.counts")
    audit = audited(data, metrics=["directional"])
    audit.save(tmp_path / "now.json.gz")
    policy = held(data={"metrics": ["directional"], "resamples": 200})
    forms = (audit, counts, tmp_path / "now.counts", tmp_path / "now.json.gz", str(tmp_path / "now.json.gz"))
    verdicts = [policy.check(form) for form in forms]
    assert {verdict.outcome for verdict in verdicts} == {"pass"}
    assert len({json.dumps(v.to_dict()["checks"]) for v in verdicts}) == 1
    against = held({**DIRECTIONAL, "against": "baseline"}, data=policy.data)
    other = audited(columns(4000, said=0.02), metrics=["directional"])
    assert {against.check(other, form).outcome for form in forms} == {"pass"}
    runs = [[other, form] for form in forms]
    assert {policy.check(both).outcome for both in runs} == {"pass"}


def test_records_are_not_an_audit() -> None:
    with pytest.raises(TypeError, match=r"policy.check\(policy.audit\(data\)\)"):
        held().check(columns())


def test_ways_are_many() -> None:
    assert len(WAYS) + len(MISTAKES) >= 40


def test_a_bound_is_called_a_bound_and_counts_directions_as_the_audit_does() -> None:
    audit = audited(weak(moved=0.1))
    (entry,) = (row for row in audit.document["metrics"] if row["metric"] == "directional")
    verdict = held({"metric": "directional", "direction": "A->T", "max": 0.02}).check(audit)
    (check,) = (check for check in verdict.checks if check.metric == "directional")
    assert check.bounded
    assert [check.low, check.high] == entry["bounds"]
    assert f"{entry['value']:+.4f}, bounds [{check.low:+.4f}, {check.high:+.4f}]" in check.reason
    unknown, many = unknown_directions(entry)
    assert unknown
    said = f"with {unknown} unknown of {many} directions at the worse sign"
    assert said.replace("1 unknown of 1 directions", "the unknown direction") in check.reason
    # That signs bias the interval is no caution on bounds, which count either sign; it is one where the value is judged.
    assert not any("signs from the same records" in words for words in check.cautions)
    (other,) = held({"metric": "directional", "direction": "A->T", "max": 0.02, "on": "value"}).check(audit).checks[-1:]
    assert not other.bounded
    assert any("signs from the same records" in words for words in other.cautions)


def test_a_caution_comes_first_and_what_it_concerns_after_it() -> None:
    verdict = held().check(audited(weak(moved=0.1)))
    assert verdict.cautions
    for line, (text, names) in zip(verdict.caution_lines, verdict.cautions.items(), strict=True):
        assert line.startswith(text.removesuffix("."))
        assert line.endswith(f"{names[-1]}).")


def test_what_is_said_of_pairs_is_not_taken_for_the_aggregate() -> None:
    policy = Policy(limits=[DIRECTIONAL, {**DIRECTIONAL, "pairs": True, "max": 0.9}])
    names = [check.about for check in policy.check(audited(columns())).checks if check.metric]
    assert len(names) == len(set(names))
    assert any(name.endswith("each pair") or " → " in name for name in names)
