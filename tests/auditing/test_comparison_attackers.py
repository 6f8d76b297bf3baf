"""DPA and leakage of two models: paired by halves of the records, from objects, files and counts alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp

TASKS = 3


def _columns(n: int = 600, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    truth = rng.random((n, TASKS)) < 0.3 + 0.3 * group[:, None]
    old = np.where(rng.random((n, TASKS)) < 0.15, ~truth, truth)
    new = np.where(rng.random((n, TASKS)) < 0.01, ~old, old)
    # The second task follows the group in the new model.
    new[:, 1] = np.where(rng.random(n) < 0.8, group, new[:, 1])
    columns: dict[str, Any] = {"id": np.arange(n), "team": np.arange(n) // 3, "g": group}
    for name, held in (("t", truth), ("old", old), ("new", new)):
        columns |= {f"{name}{k}": held[:, k].astype(int) for k in range(TASKS)}
    return columns


def _roles(model: str, **more: Any) -> dict[str, Any]:
    columns = [f"{model}{k}" for k in range(TASKS)]
    return {
        "attributes": "g",
        "tasks": [f"t{k}" for k in range(TASKS)],
        "task_predictions": columns,
        "record": "id",
        **more,
    }


def _audit(columns: dict[str, Any], model: str, **more: Any) -> biasamp.Audit:
    return biasamp.audit(columns, **_roles(model, **more), metrics=["dpa", "leakage"], resamples=50)


def _row(result: biasamp.Comparison, metric: str) -> Any:
    return next(row for row in result.document["differences"] if row["metric"] == metric)


@pytest.mark.slow
def test_objects_files_and_counts_give_one_paired_difference(tmp_path: Path) -> None:
    columns = _columns()
    audits = {model: _audit(columns, model) for model in ("old", "new")}
    direct = biasamp.compare(audits)
    for metric in ("dpa", "leakage"):
        row = _row(direct, metric)
        assert row["paired"]
        assert "halves of the records" in row["method"]
        alone = [next(e for e in audit.document["metrics"] if e["metric"] == metric) for audit in audits.values()]
        assert row["difference"] == pytest.approx(alone[1]["value"] - alone[0]["value"])
    for model, audit in audits.items():
        audit.save(tmp_path / f"{model}.json.gz")
    saved = biasamp.compare({model: tmp_path / f"{model}.json.gz" for model in audits})
    assert _row(saved, "dpa")["low"] == pytest.approx(_row(direct, "dpa")["low"], abs=1e-6)
    whole = biasamp.compare({model: biasamp.audit(columns, **_roles(model)) for model in audits})
    counts = {model: biasamp.count(columns, **_roles(model)) for model in audits}
    for model, held in counts.items():
        held.save(tmp_path / f"{model}.parquet")
    for given in (counts, {model: tmp_path / f"{model}.parquet" for model in counts}):
        found = biasamp.compare(given)
        assert found.document["differences"] == whole.document["differences"]
        assert found.document["pairs"] == whole.document["pairs"]


def test_the_task_that_changed_is_named() -> None:
    columns = _columns()
    result = biasamp.compare({model: _audit(columns, model) for model in ("old", "new")})
    rows = list(result.pairs.rows())
    assert [(row["metric"], row["given"], row["outcome"]) for row in rows] == [
        ("dpa", "g", f"t{k}") for k in range(TASKS)
    ]
    assert all(row["paired"] for row in rows)
    assert [row["outcome"] for row in result.changed] == ["t1"]
    assert "of DPA how much more of it a task has" in result.to_markdown()


def test_the_same_model_is_the_same() -> None:
    columns = _columns()
    for row in biasamp.compare({"a": _audit(columns, "old"), "b": _audit(columns, "old")}).document["differences"]:
        assert row["difference"] == 0.0
        assert row["verdict"] == "they are the same on every resample"
        assert row["low"] < 0.0 < row["high"]


def test_clusters_are_halved_whole() -> None:
    columns = _columns()
    audits = {model: _audit(columns, model, cluster="team") for model in ("old", "new")}
    assert all(entry["interval"] == [None, None] for entry in audits["old"].document["metrics"])
    result = biasamp.compare(audits)
    assert _row(result, "dpa")["paired"]
    assert _row(result, "dpa")["low"] > 0.0


def test_other_seeds_and_records_are_not_paired() -> None:
    columns = _columns()
    elsewhere = {**_columns(seed=5), "id": np.arange(600) + 1000}
    for other in (_audit(columns, "new", seed=1), _audit(elsewhere, "new")):
        row = _row(biasamp.compare({"old": _audit(columns, "old"), "new": other}), "dpa")
        assert not row["paired"]
        assert "unpaired" in row["method"]


@pytest.mark.slow
def test_several_runs_are_paired_by_records_too() -> None:
    columns = _columns()
    rng = np.random.default_rng(3)
    runs: dict[str, list[biasamp.Audit]] = {"old": [], "new": []}
    for _ in range(3):
        moved = {
            name: np.where(rng.random(600) < 0.03, 1 - held, held) if name[:3] in runs else held
            for name, held in columns.items()
        }
        for model, held in runs.items():
            held.append(_audit(moved, model))
    result = biasamp.compare(runs)
    row = _row(result, "dpa")
    assert row["paired"]
    assert row["runs"]["by_records"] > 0.0
    assert [pair["outcome"] for pair in result.changed] == ["t1"]


@pytest.mark.slow
def test_differences_are_held_as_often_as_they_should_be() -> None:
    from benchmarks.models import Errors, attackers

    words = attackers(Errors(500, 2, 0.9), 20)
    shares = [float(part.split("%")[0]) for part in words.split("held in ")[1:]]
    assert len(shares) == 2
    # Of 20 samples fewer than 16 are held with a chance of 3 in 1,000 where 95% are.
    assert min(shares) >= 80.0
