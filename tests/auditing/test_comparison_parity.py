"""Two models' parity figures on the same records are compared in pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp

FIGURES = ("fpr_difference", "tpr_difference", "accuracy_difference", "mean_per_class_accuracy")


def models(n: int = 800) -> dict[str, np.ndarray]:
    """Two models that share most of their errors."""
    rng = np.random.default_rng(0)
    group, chance = rng.integers(0, 3, n), rng.random(n)
    truth = (rng.random((2, n)) < 0.3 + 0.1 * group).astype(int)
    wrong = {"old": chance < 0.2 + 0.05 * group, "new": chance < 0.18 + 0.05 * group}
    return {
        "g": group,
        "t0": truth[0],
        "t1": truth[1],
        **{f"{name}{k}": np.where(errs, 1 - truth[k], truth[k]) for name, errs in wrong.items() for k in (0, 1)},
    }


def audited(name: str, seed: int = 0, **options: Any) -> biasamp.Audit:
    return biasamp.audit(
        models(),
        attributes="g",
        tasks=["t0", "t1"],
        task_predictions=[f"{name}0", f"{name}1"],
        metrics=["parity"],
        resamples=200,
        seed=seed,
        **options,
    )


def test_paired_from_saved_audits(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("old", "new")}
    for name, path in paths.items():
        audited(name).save(path)
    paired = list(biasamp.compare(paths).table.rows())
    apart = list(biasamp.compare({"old": audited("old"), "new": audited("new", seed=1)}).table.rows())
    assert [row["metric"] for row in paired] == list(FIGURES)
    for one, other in zip(paired, apart, strict=True):
        assert one["paired"]
        assert not other["paired"]
        assert one["low"] <= one["difference"] <= one["high"]
        assert one["high"] - one["low"] < other["high"] - other["low"]


def test_the_same_model_does_not_differ_from_itself() -> None:
    for row in biasamp.compare({"one": audited("old"), "two": audited("old")}).table.rows():
        assert row["difference"] == 0.0
        # Records that were not seen may tell them apart.
        assert row["low"] == -row["high"] < 0.0
        assert row["verdict"] == "they are the same on every resample"


def test_resamples_spread_as_the_errors_of_independent_groups_do() -> None:
    """A difference of true positive rates of two groups has variance p1 q1 / n1 + p2 q2 / n2."""
    made = audited("old")
    (entry,) = [entry for entry in made.to_dict()["metrics"] if entry["metric"] == "tpr_difference"]
    data = models()
    task = entry["outcome"]
    variance = 0.0
    for group in (int(name.split("=")[-1]) for name in entry["between"]):
        mine = data[task.replace("t", "old")][(data["g"] == group) & (data[task] == 1)]
        variance += mine.mean() * (1 - mine.mean()) / len(mine)
    drawn = np.array(made.resamples["values"]["tpr_difference/A->T/g"], dtype=float)
    assert drawn.std(ddof=1) == pytest.approx(np.sqrt(variance), rel=0.15)
    assert drawn.mean() == pytest.approx(entry["value"], abs=4 * np.sqrt(variance / 200))


def test_missing_labels_leave_out_records_pair_by_pair() -> None:
    data: dict[str, Any] = {name: values.astype(float) for name, values in models().items()}
    data["old1"][:100] = np.nan
    asked: dict[str, Any] = {"attributes": "g", "tasks": ["t0", "t1"], "metrics": ["parity"], "resamples": 50}
    made = biasamp.audit(data, task_predictions=["old0", "old1"], missing="drop", **asked)
    for entry in made.to_dict()["metrics"]:
        drawn = np.array(made.resamples["values"][f"{entry['metric']}/A->T/g"], dtype=float)
        assert abs(drawn.mean() - entry["value"]) < drawn.std()
