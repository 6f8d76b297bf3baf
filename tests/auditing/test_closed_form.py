"""Audits whose intervals are in closed form: nothing is drawn, and the document is that of the same intervals by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import biasamp
from biasamp.cli import group

RNG = np.random.default_rng(3)
N = 400
GROUP = np.where(RNG.random(N) < 0.4, "w", "m")
TRUTH = (RNG.random(N) < np.where(GROUP == "w", 0.3, 0.7)).astype(int)
SAID = np.where(RNG.random(N) < 0.15, 1 - TRUTH, TRUTH)
GUESS = np.where(RNG.random(N) < 0.1, np.where(GROUP == "w", "m", "w"), GROUP)
DATA = {"g": GROUP, "t": TRUTH, "p": SAID, "said g": GUESS}
ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


def _audit(**options: Any) -> biasamp.Audit:
    return biasamp.audit(DATA, **{**ROLES, **options})


def _entry(audit: biasamp.Audit, metric: str) -> dict[str, Any]:
    return next(dict(entry) for entry in audit.document["metrics"] if entry["metric"] == metric)


def test_interval_is_that_of_the_function() -> None:
    made = _entry(_audit(metrics=["directional"], intervals="closed_form", confidence=0.9), "directional")
    alone = biasamp.directional(GROUP, TRUTH, SAID)
    for figure, name in (("value", "interval"), ("crossfit", "crossfit_interval"), ("clear_value", "clear_interval")):
        low, high = alone.confidence_interval(0.9, "closed_form", of=figure)
        assert made[name] == [low, high]
    assert made["interval_method"].startswith("closed form")


def test_nothing_is_drawn() -> None:
    first, second = (
        _audit(intervals="closed_form", metrics=["directional", "multi", "parity"], seed=s, resamples=r)
        for s, r in ((0, 10), (5, 90))
    )
    one, other = (json.loads(audit.to_json()) for audit in (first, second))
    for document in (one, other):
        document.pop("seed")
        document.pop("provenance")
        document.pop("checksum", None)
        document["data"].pop("resamples")
    assert one == other


def test_only_intervals_of_aggregates_differ() -> None:
    usual, closed = (
        _audit(metrics=["directional", "parity"]),
        _audit(metrics=["directional", "parity"], intervals="closed_form"),
    )
    assert "intervals" not in usual.document["data"]
    assert closed.document["data"]["intervals"] == "closed_form"
    differ = {"interval", "interval_method", "crossfit_interval", "clear_interval"}
    for one, other in zip(usual.document["metrics"], closed.document["metrics"], strict=True):
        assert {k: v for k, v in one.items() if k not in differ} == {k: v for k, v in other.items() if k not in differ}
    assert usual.document["rates"] == closed.document["rates"]
    low, high = _entry(usual, "directional")["interval"]
    assert _entry(closed, "directional")["interval"] == pytest.approx([low, high], abs=0.2 * (high - low))


def test_other_metrics() -> None:
    made = _audit(attribute_predictions="said g", intervals="closed_form")
    for metric in ("multi", "mals"):
        assert _entry(made, metric)["interval_method"].startswith("closed form")
    for metric in ("dpa", "leakage"):
        entry = _entry(made, metric)
        assert entry["interval"] == [None, None]
        assert any("closed form" in words for words in entry["cautions"])


def test_refused() -> None:
    with pytest.raises(ValueError, match="intervals is 'student'; use one of 'bootstrap', 'closed_form'"):
        _audit(intervals="student")
    salary = {"g": GROUP, "t": RNG.normal(50.5, 9, N), "p": RNG.normal(50.5, 9, N)}
    with pytest.raises(ValueError, match="the task is continuous"):
        biasamp.audit(salary, **ROLES, intervals="closed_form")


def test_is_verified_and_commanded(tmp_path: Path) -> None:
    made = _audit(metrics=["directional"], intervals="closed_form")
    assert biasamp.verify(made, DATA)
    table = tmp_path / "data.csv"
    table.write_text(
        "g,t,p\n" + "".join(f"{g},{t},{p}\n" for g, t, p in zip(GROUP, TRUTH, SAID, strict=True)), encoding="utf-8"
    )
    command = ["audit", str(table), "--attributes", "g", "--tasks", "t", "--task-predictions", "p"]
    done = CliRunner().invoke(
        group, [*command, "--metrics", "directional", "--intervals", "closed_form", "--json", "-"]
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["metrics"][0]["interval"] == _entry(made, "directional")["interval"]
