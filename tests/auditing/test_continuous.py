"""Audits of continuous tasks: what is measured, what is said, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp

ROLES: dict[str, Any] = {"attributes": "sex", "tasks": "pay", "task_predictions": "said", "resamples": 100}


def records(n: int = 600) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    sex = rng.choice(["w", "m"], n)
    pay = np.where(sex == "m", 52_000.0, 48_000.0) + rng.normal(0, 8_000, n)
    said = pay + np.where(sex == "m", 900, -700) + rng.normal(0, 3_000, n)
    return {
        "sex": sex,
        "race": rng.choice(["x", "y"], n),
        "pay": pay.round(2),
        "said": said.round(2),
        "sex_said": np.where(rng.random(n) < 0.2, "m", sex),
        "id": np.arange(n),
    }


def test_a_salary_is_audited_instead_of_refused(tmp_path: Path) -> None:
    data = records()
    audit = biasamp.audit(data, **ROLES, attribute_predictions="sex_said")
    entries = {entry["direction"]: entry for entry in audit.document["metrics"]}
    made = biasamp.mean_amplification(data["sex"], data["pay"], predicted=data["said"])
    assert entries["A->T"]["value"] == made.value
    assert entries["A->T"]["standardised"] == pytest.approx(made.standardised)
    assert entries["A->T"]["interval"] == list(made.confidence_interval(resamples=100))
    other = biasamp.mean_amplification(data["sex"], data["pay"], predicted_groups=data["sex_said"])
    assert entries["T->A"]["value"] == other.value
    assert {row["metric"] for row in audit.not_run} == {"multi", "dpa", "leakage", "mals", "parity"}
    assert "widens differences of pay between groups by sex A→T" in audit.answer.found
    assert "%" not in audit.answer.next
    text = audit.to_markdown()
    assert "true mean" in text
    audit.to_html(tmp_path / "page.html")
    audit.save(tmp_path / "audit.json")
    again = biasamp.Audit.load(tmp_path / "audit.json")
    assert again.document == audit.document
    assert biasamp.verify(again, data)
    row, _ = biasamp.compare({"one": audit, "two": again}).document["differences"]
    assert row["difference"] == 0.0


def test_whole_numbers_are_declared(tmp_path: Path) -> None:
    data = {**records(), "pay": (records()["pay"] // 1).astype(int), "said": (records()["said"] // 1).astype(int)}
    roles = {**ROLES, "tasks": biasamp.continuous("pay")}
    audit = biasamp.audit(data, **roles, record="id")
    assert audit.document["metrics"][0]["metric"] == "mean_difference"
    pd.DataFrame(data).to_csv(tmp_path / "a.csv", index=False)
    same = biasamp.audit(tmp_path / "a.csv", **roles, record="id")
    assert {**same.document, "provenance": 0} == {**audit.document, "provenance": 0}


def test_crossings_train_and_missing_numbers() -> None:
    data = records()
    crossed = biasamp.audit(data, **{**ROLES, "attributes": ["sex", "race"]}, intersections=True)
    assert crossed.document["data"]["kinds"]["sex x race"] == "crossing"
    assert len(crossed.document["metrics"]) == 3
    train = {**records(300), "pay": -records(300)["pay"]}
    assert biasamp.audit(data, **ROLES, train=train).document["metrics"][0]["value"] < 0
    holes = {**data, "pay": np.where(np.arange(600) % 50 == 0, np.nan, data["pay"])}
    with pytest.raises(ValueError, match="12 records without a finite number"):
        biasamp.audit(holes, **ROLES)
    kept = np.arange(600) % 50 != 0
    dropped = biasamp.audit(holes, **ROLES, missing="drop").document["metrics"][0]
    expected = biasamp.mean_amplification(data["sex"][kept], data["pay"][kept], predicted=data["said"][kept])
    assert dropped["value"] == pytest.approx(expected.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base": {"sex": ["w"], "pay": [1.5]}}, "base: base rates are of labels"),
        ({"strata": "race"}, "strata of a continuous task"),
        ({"reference": "w"}, "reference: of a continuous task"),
        ({"task_predictions": "race"}, "not numbers"),
        ({"missing": "negative"}, "use 'drop'"),
        ({"engine": "local", "tasks": biasamp.continuous("pay")}, "measured in memory"),
    ],
)
def test_what_is_of_labels_alone_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        biasamp.audit(records(), **{**ROLES, **options})


def test_probabilities_as_truth_are_still_refused() -> None:
    data = {**records(), "pay": np.linspace(0, 1, 600)}
    with pytest.raises(ValueError, match="fractions such as"):
        biasamp.audit(data, **ROLES)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from biasamp.cli import group

    frame = pd.DataFrame(records())
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ["audit", str(tmp_path / "a.csv"), "--attributes", "sex", "--tasks", "pay", "--task-predictions", "said"]
    for more in ([], ["--continuous"], ["--full"]):
        group.main([*words, *more, "--resamples", "50"], prog_name="biasamp", standalone_mode=False)
        assert "widens differences of pay" in capsys.readouterr().out
