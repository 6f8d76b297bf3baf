"""A model that is worse than earlier windows let expect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp


def _audit(seed: int, lean: float) -> Any:
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=600)
    truth = (rng.random(600) < 0.3 + 0.3 * group).astype(int)
    said = np.where((group == 1) & (rng.random(600) < lean), 1, truth)
    data = {"g": np.array(["m", "f"])[group], "t": truth, "p": said, "id": np.arange(600) + 1000 * seed}
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id"}
    return biasamp.audit(data, **roles, metrics=["directional"], resamples=100)


POLICY = biasamp.Policy(limits=[{"metric": "directional", "max": 0.9}])


def _trend(verdict: Any) -> Any:
    return [check for check in verdict.checks if check.against == "trend" or check.rule == "trend"]


def test_a_jump_fails_and_what_earlier_audits_show_passes() -> None:
    earlier = [_audit(seed, 0.05) for seed in range(1, 5)]
    (check,) = _trend(POLICY.check(_audit(9, 0.5), earlier=earlier))
    assert check.outcome == "fail"
    assert check.value > float(check.limit.split()[-1])
    (check,) = _trend(POLICY.check(_audit(9, 0.05), earlier=earlier))
    assert check.outcome == "pass"
    # Less amplification than before is no failure.
    (check,) = _trend(POLICY.check(_audit(9, 0.0), earlier=[_audit(seed, 0.5) for seed in range(1, 5)]))
    assert check.outcome == "pass"
    assert not _trend(POLICY.check(_audit(9, 0.5)))


def test_two_audits_are_too_few() -> None:
    (check,) = _trend(POLICY.check(_audit(9, 0.0), earlier=[_audit(1, 0.0), _audit(2, 0.0)]))
    assert check.outcome == "not enough evidence"
    assert "4 or more are needed" in check.reason
    with pytest.raises(TypeError, match="earlier is"):
        POLICY.check(_audit(9, 0.0), earlier="audit.json")


def test_the_command_line_takes_earlier_windows(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from biasamp.cli import group

    (tmp_path / "policy.toml").write_text('[[limit]]\nmetric = "directional"\nmax = 0.9\n')
    options = []
    for seed in range(1, 5):
        _audit(seed, 0.05).save(tmp_path / f"{seed}.json.gz")
        options += ["--against-trend", str(tmp_path / f"{seed}.json.gz")]
    _audit(9, 0.5).save(tmp_path / "now.json.gz")
    line = ["check", str(tmp_path / "now.json.gz"), "--policy", str(tmp_path / "policy.toml")]
    runner = CliRunner()
    assert runner.invoke(group, line).exit_code == 0
    ran = runner.invoke(group, [*line, *options])
    assert ran.exit_code == 1
    assert "earlier audits put it" in " ".join(ran.output.split())
