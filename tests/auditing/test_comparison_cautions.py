"""What a comparison warns of: audits that differ in more than their models, and what each audit warns of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp


def _columns(n: int = 200, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = np.where(np.arange(n) < 12, "x", np.array(["m", "f"])[rng.integers(0, 2, n)])
    truth = (rng.random(n) < np.where(group == "f", 0.6, 0.3)).astype(int)
    said = np.where(rng.random(n) < 0.1, 1 - truth, truth)
    return {
        "id": np.arange(n),
        "g": group,
        "t": truth,
        "said": said,
        "score": np.clip(0.1 + 0.8 * said, 0, 1),
        "w": 1.0 + rng.random(n),
    }


def _audit(columns: dict[str, Any], said: str = "said", **more: Any) -> biasamp.Audit:
    roles = {"attributes": "g", "tasks": "t", "task_predictions": said, "record": "id", **more}
    return biasamp.audit(columns, **roles, metrics=["directional"], resamples=50)


def _codes(**audits: Any) -> dict[str, dict[str, Any]]:
    return {row["code"]: row for row in biasamp.compare(audits).document["cautions"]}


def test_what_all_are_warned_of_is_said_once() -> None:
    columns = _columns()
    found = _codes(old=_audit(columns), new=_audit(columns))
    assert found["small-groups"]["models"] == ["old", "new"]
    assert found["small-groups"]["text"].startswith("All models: ")
    assert "over-zero" not in found
    assert not {"other-data", "other-truth", "other-settings", "soft-and-hard"} & set(found)


def test_other_records_come_first() -> None:
    result = biasamp.compare({"old": _audit(_columns()), "new": _audit(_columns(300, 1))})
    first = result.document["cautions"][0]
    assert first["code"] == "other-data"
    assert "200 and 300" in first["text"]
    assert result.cautions[0] == first["text"]
    assert first["text"] in result.to_markdown().replace("\\", "")


def test_another_truth_of_the_same_records_is_seen() -> None:
    columns = _columns()
    changed = {**columns, "t": np.where(np.arange(200) < 20, 1 - columns["t"], columns["t"])}
    assert "other-truth" in _codes(old=_audit(columns), new=_audit(changed))


def test_other_columns_are_not_called_another_truth() -> None:
    columns = _columns()
    other = np.where(np.arange(len(columns["said"])) % 9 == 0, 1 - columns["said"], columns["said"])
    renamed = {**columns, "hired": columns["t"], "said": other}
    result = biasamp.compare({"old": _audit(columns), "new": _audit(renamed, tasks="hired")})
    first = result.document["cautions"][0]
    assert first["code"] == "other-columns"
    assert "t (2 labels) given g against hired (2 labels) given g" in first["text"]
    assert "were audited for other attributes or tasks" in result.answer.next
    assert "other-truth" not in {row["code"] for row in result.document["cautions"]}


def test_runs_of_one_model_of_other_columns_are_named_by_their_model() -> None:
    columns = _columns()
    strange = _audit({**columns, "hired": columns["t"]}, tasks="hired")
    others = [_audit({**columns, "said": np.roll(columns["said"], by)}) for by in (1, 2)]
    found = biasamp.compare({"old": others, "new": [_audit(columns), strange]}).document["cautions"]
    (row,) = [row for row in found if row["code"] == "other-columns"]
    assert row["models"] == ["new"]
    assert "Runs of new were audited for other attributes or tasks, t (2 labels) given g against hired" in row["text"]


def test_the_same_records_in_clusters_are_not_called_other_records() -> None:
    columns = {**_columns(), "unit": np.arange(200) // 4}
    found = _codes(old=_audit(columns), new=_audit(columns, cluster="unit"))
    assert "200 records each, with the same truth, but other ids, or other clusters" in found["other-data"]["text"]
    assert "different records" not in found["other-data"]["text"]


def test_scores_against_decisions() -> None:
    columns = _columns()
    found = _codes(old=_audit(columns, "score"), new=_audit(columns))
    assert found["soft-and-hard"]["models"] == ["old", "new"]
    assert "Predictions of old are probabilities" in found["soft-and-hard"]["text"]


@pytest.mark.parametrize("more", [{"weights": "w"}, {"train": _columns(400, 7)}])
def test_what_one_audit_was_given_and_the_other_not(more: dict[str, Any]) -> None:
    columns = _columns()
    found = _codes(old=_audit(columns), new=_audit(columns, **more))
    assert "new had" in found["other-settings"]["text"]
    assert "other-truth" not in found


def test_runs_that_are_warned_of_are_counted() -> None:
    columns = _columns()
    hasty = {**columns, "said": np.where(columns["g"] == "x", columns["said"], 1)}
    result = biasamp.compare({"old": [_audit(columns), _audit(hasty)], "new": [_audit(columns), _audit(columns)]})
    assert any("(1 of 2 runs)" in row["text"] for row in result.document["cautions"])


def test_multi_at_zero_is_no_certainty() -> None:
    # Errors that cancel within each group leave every rate as it is.
    group = np.repeat([0, 1], 200)
    truth = np.tile([0, 1], 200)
    wrong = truth.copy()
    for one in (0, 1):
        for value in (0, 1):
            wrong[np.flatnonzero((group == one) & (truth == value))[:20]] = 1 - value
    columns = {"id": range(400), "g": group, "t": truth, "right": truth.copy(), "wrong": wrong}
    audits = {
        name: biasamp.audit(columns, attributes="g", tasks="t", task_predictions=name, record="id", metrics=["multi"])
        for name in ("right", "wrong")
    }
    (row,) = biasamp.compare(audits).document["differences"]
    ends = [entry["interval"] for audit in audits.values() for entry in audit.document["metrics"]]
    assert row["difference"] == 0.0
    assert row["verdict"] == "the data cannot tell them apart"
    assert row["high"] >= max(high for _, high in ends)


def test_equal_means_are_not_to_be_decided_by_more() -> None:
    columns = _columns()
    other = {**columns, "said": np.where(np.arange(200) % 10 == 0, 1 - columns["t"], columns["t"])}
    runs = [_audit(columns), _audit(other)]
    (row,) = biasamp.compare({"old": runs, "new": runs[::-1]}).document["differences"]
    assert row["difference"] == pytest.approx(0.0, abs=1e-12)
    assert row["runs"]["more_seeds"] == [None, None]
    assert "no number of seeds or records tells apart" in row["runs"]["words"]


def test_copies_of_a_run_are_refused_or_warned_of() -> None:
    columns = _columns()
    one, again, other = _audit(columns), _audit(columns), _audit({**columns, "said": columns["t"].copy()})
    with pytest.raises(ValueError, match=r"audits\['old'\] holds the same audit as run 0 and run 1"):
        biasamp.compare({"old": [one, one], "new": other})
    found = _codes(old=[one, again, other], new=[other])
    assert found["same-runs"]["models"] == ["old"]
    assert found["same-runs"]["text"].startswith("1 of 3 runs of old")


def test_one_run_of_each_says_how_many_records_would_decide() -> None:
    columns = _columns()
    result = biasamp.compare({"old": _audit(columns), "new": _audit({**columns, "said": columns["t"].copy()})})
    (row,) = result.document["differences"]
    assert row["verdict"] == "the data cannot tell them apart"
    reach = row["difference"] - row["low"] if row["difference"] > 0 else row["high"] - row["difference"]
    # An interval that just decides where the estimate is would do so in half of the samples; these are four of five.
    beyond = 0.8416 * (row["high"] - row["low"]) / (2 * 1.96)
    assert row["more_records"] == pytest.approx(200 * ((reach + beyond) / row["difference"]) ** 2, rel=0.1)
    assert "would decide differences of these sizes with a chance of 80%" in result.to_markdown()


def test_a_model_against_itself_is_said_to_be() -> None:
    columns = _columns()
    one, again, other = _audit(columns), _audit(columns), _audit({**columns, "said": columns["t"].copy()})
    found = _codes(old=one, new=again)["same-models"]
    assert found["models"] == ["old", "new"]
    assert found["text"].startswith("old and new have the same predictions for the same records")
    assert biasamp.compare({"old": one, "new": again}).answer.next.startswith("Mend this first: old and new have")
    assert "same-models" not in _codes(old=one, new=other)
    assert "same-models" in _codes(old=[one, other], new=[_audit({**columns, "said": columns["t"].copy()}), again])
