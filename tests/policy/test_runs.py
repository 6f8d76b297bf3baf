"""Limits that a training procedure has to hold, not one lucky seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.policy import Policy


def run(seed: int, lean: float, records: int = 3000) -> biasamp.Audit:
    fixed, rng = np.random.default_rng(1), np.random.default_rng([seed, 4])
    group = fixed.integers(0, 2, records)
    truth = (fixed.random(records) < 0.2 + 0.4 * group).astype(int)
    said = np.where((group == 1) & (truth == 0) & (rng.random(records) < lean), 1, truth)
    data = {"id": np.arange(records), "g": np.array(["m", "w"])[group], "t": truth, "p": said}
    return biasamp.audit(
        data,
        attributes="g",
        tasks="t",
        task_predictions="p",
        record="id",
        metrics=["directional", "parity"],
        resamples=100,
    )


POLICY = Policy(limits=[{"metric": "directional", "direction": "A->T", "max": 0.05}])


def verdict(*leans: float, policy: Policy = POLICY, **more: Any) -> Any:
    return policy.check([run(seed, lean) for seed, lean in enumerate(leans)], **more)


def test_seeds_that_agree_pass_and_fail() -> None:
    assert verdict(0.05, 0.06, 0.055, 0.05).outcome == "pass"
    assert verdict(0.6, 0.62, 0.58, 0.61).outcome == "fail"


def test_a_lucky_seed_does_not_pass() -> None:
    lucky = run(0, 0.02)
    assert POLICY.check(lucky).outcome == "pass"
    found = verdict(0.02, 0.4, 0.3)
    assert found.outcome == "not enough evidence"
    (check,) = [check for check in found.checks if check.metric == "directional"]
    assert "more seeds or records would tell" in check.reason
    assert any("means over 3 runs" in note for note in found.notes)


def test_against_a_baseline_of_runs() -> None:
    policy = Policy(limits=[{"metric": "directional", "max": 0.02, "against": "baseline"}])
    before = [run(10 + i, 0.3) for i in range(3)]
    assert verdict(0.05, 0.06, 0.055, policy=policy, baseline=before).outcome == "pass"
    assert verdict(0.6, 0.62, 0.61, policy=policy, baseline=before).outcome == "fail"


def test_the_command_takes_several_runs(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from biasamp.cli import group

    (tmp_path / "policy.toml").write_text('[[limit]]\nmetric = "directional"\nmax = 0.05\n', encoding="utf-8")
    paths = []
    for seed, lean in enumerate((0.05, 0.06, 0.055)):
        paths.append(str(tmp_path / f"seed_{seed}.json.gz"))
        run(seed, lean).save(paths[-1])
    ran = CliRunner().invoke(group, ["check", *paths, "--policy", str(tmp_path / "policy.toml")])
    assert ran.exit_code == 0, ran.output
    assert "means over 3 runs" in " ".join(ran.output.split())
    ran = CliRunner().invoke(group, ["check", *paths, "--policy", str(tmp_path / "policy.toml"), "--save", "x.json"])
    assert ran.exit_code == 2


def test_a_run_of_other_tasks_opens_no_gate() -> None:
    """The same groups, and each run within the limit by itself: a mean over two tasks is of no training procedure."""
    rng = np.random.default_rng(5)
    group, truth = np.array(["m", "w"])[rng.integers(0, 2, 3000)], rng.integers(0, 2, 3000)
    said = np.where(rng.random(3000) < 0.1, 1 - truth, truth)
    data = {"id": np.arange(3000), "g": group, "other": truth, "p": said}
    roles = {"attributes": "g", "tasks": "other", "task_predictions": "p", "record": "id"}
    strange = biasamp.audit(data, **roles, metrics=["directional", "parity"], resamples=100)
    assert POLICY.check([run(0, 0.05), run(1, 0.05)]).outcome == "pass"
    found = POLICY.check([run(0, 0.05), strange])
    assert found.outcome == "not enough evidence"
    (check,) = [check for check in found.checks if check.rule == "runs"]
    assert "made with tasks = t, and run 2" in check.reason
    assert "with other: audit all runs alike" in check.reason


def test_wrong_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="audit is an empty list"):
        POLICY.check([])
    with pytest.raises(TypeError, match=r"audit\[1\] is a float"):
        POLICY.check([run(0, 0.1), 0.5])
