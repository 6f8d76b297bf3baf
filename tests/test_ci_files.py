"""The ready-made files for CI in docs/ci, run as far as that goes without their hosts."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install pyyaml")

FILES = Path(__file__).parents[1] / "docs" / "ci"
POLICY = """[data]
attributes = "gender"
tasks = "hired"
task_predictions = "said"
metrics = ["directional"]

[[limit]]
metric = "directional"
direction = "A->T"
{limit}
"""


def text_of(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data, a policy that is kept, and ``biasamp`` as a command."""
    rng = np.random.default_rng(0)
    gender = rng.choice(["w", "m"], 4000)
    hired = (rng.random(4000) < np.where(gender == "w", 0.3, 0.6)).astype(int)
    said = np.where(rng.random(4000) < 0.02, 1 - hired, hired)
    rows = zip(gender, hired, said, strict=True)
    (tmp_path / "test.csv").write_text("gender,hired,said\n" + "".join(f"{g},{t},{p}\n" for g, t, p in rows))
    (tmp_path / "policy.toml").write_text(POLICY.format(limit="max = 0.1"))
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "biasamp"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m biasamp "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(words: str | list[str]) -> subprocess.CompletedProcess[str]:
    shell = ["bash", "-euc", words] if isinstance(words, str) else words
    return subprocess.run(shell, capture_output=True, text=True, timeout=300)


def steps(name: str) -> list[str]:
    """The commands of a file that run ``biasamp``."""
    held = text_of(FILES / name)
    if name.startswith("github"):
        lines = [step["run"] for step in held["jobs"]["check"]["steps"] if "run" in step]
    else:
        lines = held["bias"]["script"]
    return [line for line in lines if line.startswith("biasamp ")]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("name", ["github-bias.yml", "gitlab-bias.yml"])
def test_the_commands_of_hosted_ci(project: Path, name: str) -> None:
    (line,) = steps(name)
    done = ran(line)
    assert done.returncode == 0, done.stderr
    made = {path.name for path in project.iterdir()}
    assert {"verdict.xml", "audit.json.gz"} <= made
    if name.startswith("github"):
        assert {"verdict.sarif", "summary.md"} <= made
    (project / "policy.toml").write_text(POLICY.format(limit="max = -0.5"))
    assert ran(line).returncode == 1


def test_what_is_uploaded_is_what_is_written() -> None:
    github = text_of(FILES / "github-bias.yml")["jobs"]["check"]["steps"]
    (line,) = steps("github-bias.yml")
    uploaded = [step["with"] for step in github if "with" in step and "upload" in step["uses"]]
    assert all(name in line for name in [*uploaded[0]["path"].split(), uploaded[1]["sarif_file"]])
    gitlab = text_of(FILES / "gitlab-bias.yml")["bias"]
    (line,) = gitlab["script"]
    assert all(name in line for name in [*gitlab["artifacts"]["paths"], gitlab["artifacts"]["reports"]["junit"]])


def test_pre_commit_runs_the_hook(project: Path) -> None:
    tool = shutil.which("pre-commit")
    if tool is None:
        pytest.skip("pre-commit is not on PATH")
    shutil.copy(FILES / "pre-commit-config.yaml", project / ".pre-commit-config.yaml")
    assert ran(["biasamp", "check", "test.csv", "--policy", "policy.toml", "--save", "audit.json.gz"]).returncode == 0
    for words in (["git", "init", "-q"], ["git", "add", "audit.json.gz", "policy.toml", ".pre-commit-config.yaml"]):
        assert ran(words).returncode == 0
    done = ran([tool, "run", "--all-files"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
    (project / "policy.toml").write_text(POLICY.format(limit="max = -0.5"))
    assert ran(["git", "add", "policy.toml"]).returncode == 0
    failed = ran([tool, "run", "--all-files"])
    assert failed.returncode == 1
    assert "Failed" in failed.stdout


def test_dvc_runs_the_stages(project: Path) -> None:
    tool = shutil.which("dvc")
    if tool is None:
        pytest.skip("dvc is not on PATH")
    shutil.copy(FILES / "dvc.yaml", project / "dvc.yaml")
    assert ran(["git", "init", "-q"]).returncode == 0
    assert ran([tool, "init", "-q"]).returncode == 0
    done = ran([tool, "repro"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / "verdict.md").is_file()
    assert "audit.json" in ran([tool, "metrics", "show"]).stdout
    (project / "policy.toml").write_text(POLICY.format(limit="max = -0.5"))
    assert ran([tool, "repro"]).returncode != 0
