"""Groups that are ignored are in no comparison; the others' pairs stay as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.auditing.group_choice import IGNORED
from biasamp.policy import Policy


def records(n: int = 1200) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    race = rng.choice(["a", "b", "c", "other"], n, p=[0.4, 0.3, 0.2, 0.1])
    sex = rng.choice(["w", "m"], n)
    lean = np.array([{"a": 0.2, "b": 0.4, "c": 0.5, "other": 0.8}[one] for one in race])
    data: dict[str, Any] = {"race": race, "sex": sex}
    for task in ("t0", "t1", "t2"):
        truth = (rng.random(n) < lean).astype(int)
        data[task] = truth
        data[f"{task}_p"] = np.where(rng.random(n) < 0.2 + 0.1 * (race == "a"), rng.integers(0, 2, n), truth)
    data["race_p"] = np.where(rng.random(n) < 0.2, rng.choice(["a", "b", "c", "other"], n), race)
    return data


TASKS: dict[str, Any] = {"tasks": ["t0", "t1", "t2"], "task_predictions": ["t0_p", "t1_p", "t2_p"]}
ASKED: dict[str, Any] = {"attributes": "race", "attribute_predictions": "race_p", "resamples": 50, **TASKS}
ONE: dict[str, Any] = {**ASKED, "tasks": "t0", "task_predictions": "t0_p"}


def entries(audit: biasamp.Audit) -> dict[tuple[str, str | None], Any]:
    return {(e["metric"], e["direction"]): e for e in audit.document["metrics"]}


@pytest.mark.parametrize("asked", [ASKED, ONE], ids=["label sets", "variables"])
@pytest.mark.parametrize("engine", ["auto", "local"])
def test_aggregates_are_over_the_pairs_of_other_groups(asked: dict[str, Any], engine: str) -> None:
    metrics = ["directional", "mals"] + (["multi"] if asked is ONE else [])
    everyone = entries(biasamp.audit(records(), metrics=metrics, **asked))
    made = biasamp.audit(records(), metrics=metrics, ignore_groups=["other"], engine=engine, **asked)
    for (metric, direction), entry in entries(made).items():
        whole = everyone[metric, direction]
        kept = [p for p in whole["pairs"] if "race=other" not in (p["given"], p["outcome"])]
        assert [(p["given"], p["outcome"], p["delta"]) for p in entry["pairs"]] == [
            (p["given"], p["outcome"], p["delta"]) for p in kept
        ]
        total = sum(pair["amplification"] for pair in kept)
        tasks = len({p["outcome"] for p in kept}) if metric == "mals" else len(kept)
        assert entry["value"] == pytest.approx(total / tasks)
        assert entry["interval"][0] < entry["value"] < entry["interval"][1]
        gone = [row for row in made.document["excluded"] if (row["metric"], row["direction"]) == (metric, direction)]
        assert {row["reason"] for row in gone} == {IGNORED}
        assert len(gone) == len(whole["pairs"]) - len(kept)


def test_sets_of_labels_leave_out_the_ignored_group() -> None:
    made = biasamp.audit(records(), metrics=["multi"], ignore_groups="other", **ASKED)
    whole = entries(biasamp.audit(records(), metrics=["multi"], **ASKED))
    forward, backward = entries(made)["multi", "A->T"], entries(made)["multi", "T->A"]
    kept = [pair for pair in whole["multi", "A->T"]["pairs"] if pair["given"] != "race=other"]
    assert forward["value"] == pytest.approx(np.mean([abs(pair["delta"]) for pair in kept]))
    assert {pair["outcome"] for pair in backward["pairs"]} == {"race=a", "race=b", "race=c"}


def test_rates_of_an_ignored_group_are_shown_and_decide_nothing() -> None:
    data = records()
    data["t0_p"] = np.where(data["race"] == "other", 1 - data["t0"], data["t0_p"])
    made = biasamp.audit(data, metrics=["parity"], ignore_groups={"race": ["other"]}, reference="a", **ONE)
    assert made.document["data"]["ignored_groups"] == ["race=other"]
    rows = {row["group"]: row for row in made.document["rates"]}
    assert rows["race=other"]["ignored"]
    assert rows["race=other"]["true_positive_rate"]["value"] == 0.0
    assert rows["race=other"]["true_positive_rate"]["ratio"] is None
    assert rows["race=b"]["true_positive_rate"]["ratio"] > 0
    others = {name: np.asarray(values)[data["race"] != "other"] for name, values in data.items()}
    alone = biasamp.audit(others, metrics=["parity"], **ONE)
    for mine, theirs in zip(made.document["metrics"], alone.document["metrics"], strict=True):
        assert mine["value"] == theirs["value"]
        assert mine["interval"] == pytest.approx(theirs["interval"])
    drawn = made.resamples["values"]["mean_per_class_accuracy/A->T/race"]
    assert np.mean(drawn) == pytest.approx(alone.document["metrics"][-1]["value"], abs=0.02)


def test_crossings_that_hold_an_ignored_group_are_ignored() -> None:
    asked = {**TASKS, "attributes": ["race", "sex"], "intersections": True, "metrics": ["directional", "parity"]}
    made = biasamp.audit(records(), ignore_groups=["race=other"], resamples=50, **asked)
    assert made.document["data"]["ignored_groups"] == [
        "race x sex=other & m",
        "race x sex=other & w",
        "race=other",
    ]


def test_counts_are_measured_with_the_same_choice() -> None:
    counted = biasamp.count(records(), **{k: v for k, v in ONE.items() if k != "resamples"})
    options: dict[str, Any] = {"ignore_groups": ["other"], "positive": 0, "reference": "a", "resamples": 50}
    here = biasamp.audit(records(), **{**ONE, **options})
    there = biasamp.audit(counted, **options)
    assert here.document["rates"] == there.document["rates"]
    assert here.document["metrics"] == there.document["metrics"]


@pytest.mark.slow
def test_so_many_pairs_that_records_are_read_again() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, (90, 6000)).astype(np.uint8)
    said = np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth)
    names = [f"t{i}" for i in range(6000)]
    data = {"g": np.repeat(["a", "b", "c"], 30), **dict(zip(names, truth.T, strict=True))}
    data |= {f"{name}_p": column for name, column in zip(names, said.T, strict=True)}
    asked: dict[str, Any] = {"attributes": "g", "tasks": names, "task_predictions": [f"{n}_p" for n in names]}
    made = biasamp.audit(data, metrics=["directional"], ignore_groups=["c"], resamples=20, **asked)
    (entry,) = made.document["metrics"]
    deltas = [pair["amplification"] for pair in made.results[0].pairs.rows()]
    assert len(deltas) == 12_000
    assert entry["value"] == pytest.approx(np.mean(deltas))
    assert entry["interval"][0] < entry["value"] < entry["interval"][1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ignore_groups": ["a", "b", "c", "other"]}, "ignore_groups leaves no group of 'race'"),
        (
            {"ignore_groups": {"age": ["a"]}},
            "ignore_groups names 'age', which is no attribute; the attributes are 'race'",
        ),
        ({"ignore_groups": ["Other"]}, "ignore_groups names 'Other', which is no group; did you mean 'other'"),
        ({"ignore_groups": ["d"]}, "ignore_groups names 'd', which is no group; the groups are 'a', 'b', 'c', 'other'"),
        ({"reference": "d"}, "reference is 'd', which is no group; the groups are 'a', 'b', 'c', 'other'"),
        ({"reference": {"race": "d"}}, "reference of 'race' is 'd', which is no group"),
        ({"reference": {"age": "d"}}, "reference names 'age', which is no attribute"),
    ],
)
def test_messages(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        biasamp.audit(records(100), metrics=["parity"], **ONE, **options)


@pytest.mark.parametrize("name", ["Other", "othr", "race=Other", "other "])
def test_a_policy_may_ignore_a_group_that_is_gone_but_not_mistype_one(name: str) -> None:
    policy = Policy(limits=[{"metric": "fpr_difference", "max": 0.9}], ignore_groups=["unknown"], data=ONE, min_group=0)
    made = policy.audit(records(), metrics=["parity"])
    assert "No record is of 'unknown'" in " ".join(finding.text for finding in made.findings)
    assert "ignored_groups" not in made.document["data"]
    assert "ignore_groups names what the audit does not have: unknown." in policy.check(made).notes
    wrong = replace(policy, ignore_groups=[name])
    for call in (lambda: wrong.audit(records(), metrics=["parity"]), lambda: wrong.check(made)):
        with pytest.raises(ValueError, match=r"no group.*did you mean 'other'"):
            call()
