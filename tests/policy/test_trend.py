"""A model that is worse than earlier windows let expect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import biasamp
from biasamp.auditing.trajectory_series import Series
from biasamp.policy.limits import Limit
from biasamp.policy.trend import _about, _check
from biasamp.resampling.trend import Steps


def _audit(seed: int, lean: float, task: str = "t") -> Any:
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=600)
    truth = (rng.random(600) < 0.3 + 0.3 * group).astype(int)
    said = np.where((group == 1) & (rng.random(600) < lean), 1, truth)
    data = {"g": np.array(["m", "f"])[group], task: truth, "p": said, "id": np.arange(600) + 1000 * seed}
    roles = {"attributes": "g", "tasks": task, "task_predictions": "p", "record": "id"}
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


def _series(metric: str, values: list[float], places: list[int] | None = None, direction: str = "") -> Series:
    """A figure along windows whose records move nothing, so that how windows vary is all that is known."""
    at = np.array(places if places is not None else range(len(values)))
    steps = Steps(at.astype(float), np.array(values), np.zeros((len(values), len(values))), False)
    return Series("g", metric, direction, "", at, steps, steps.values - 1, steps.values + 1)


# A prediction interval of 95% from these four, by scipy, is 0.1 to 0.3.
EARLIER = (0.2 + 0.1 * np.array([-3, -1, 1, 3]) / (stats.t.ppf(0.975, 3) * np.sqrt(20 / 3 * 1.25))).tolist()


@pytest.mark.parametrize(
    ("metric", "value", "outcome"),
    [
        ("directional", 0.301, "fail"),
        ("directional", 0.3, "pass"),  # on the limit
        ("directional", 0.09, "pass"),  # less amplification
        ("mean_per_class_accuracy", 0.099, "fail"),
        ("mean_per_class_accuracy", 0.1, "pass"),
        ("mean_per_class_accuracy", 0.31, "pass"),
    ],
)
def test_worse_than_earlier_windows_let_expect(metric: str, value: float, outcome: str) -> None:
    """More is worse for amplification, less for accuracy."""
    check = _check(_series(metric, [*EARLIER, value]), 4, 0.95)
    assert (check.outcome, check.value, check.low, check.high) == (outcome, value, value - 1, value + 1)
    assert (check.metric, check.attribute, check.direction) == (metric, "g", None)
    assert "4 earlier audits" in check.reason
    assert "+0.1000 to +0.3000" in check.reason
    few = _check(_series(metric, [*EARLIER[1:], value], [1, 2, 3, 4]), 4, 0.95)
    assert (few.outcome, few.reason) == ("not enough evidence", "3 earlier audits have it: too few")
    gone = _check(_series(metric, EARLIER), 4, 0.95)
    assert (gone.outcome, gone.reason) == ("not enough evidence", "this audit does not have it")


def test_only_figures_with_a_limit_are_held_to_their_trend() -> None:
    limits = [Limit(metric="directional", direction="A->T", attribute="g", max=0.5)]
    held = _series("directional", [0.0, 1.0], direction="A->T")
    assert _about(limits, held)
    assert not _about(limits, replace(held, attribute="h"))
    assert not _about(limits, replace(held, direction="T->A"))
    assert not _about(limits, replace(held, metric="multi"))
    assert _about([*limits, Limit(metric="directional", max=0.5)], replace(held, attribute="h", direction="T->A"))


def test_earlier_windows_of_other_tasks_show_nothing() -> None:
    earlier = [_audit(seed, 0.05) for seed in range(1, 5)]
    assert _trend(POLICY.check(_audit(9, 0.05), earlier=earlier))[0].outcome == "pass"
    found = _trend(POLICY.check(_audit(9, 0.05), earlier=[*earlier, _audit(5, 0.05, task="u")]))
    assert [check.outcome for check in found] == ["not enough evidence", "pass"]
    assert "the earlier audit 5 is of other tasks (u) than this one (t)" in found[0].reason


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
