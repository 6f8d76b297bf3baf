"""The fixtures, in a pytest of their own."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

TEST = """
from amplified import columns

def test_{0}(biasamp_check):
    verdict = biasamp_check(columns(said={1}))
    assert verdict.passed

def test_given_policy(biasamp_check, biasamp_policy):
    audit = biasamp_policy.audit(columns())
    assert biasamp_check(audit, biasamp_policy).passed
"""
POLICY = """
[data]
attributes = "g"
tasks = "t"
task_predictions = "p"
metrics = ["directional"]
resamples = 50
[[limit]]
metric = "directional"
max = 0.05
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).parent.parent
    path = os.pathsep.join([str(here), str(here.parent / "src"), os.environ.get("PYTHONPATH", "")])
    # Where the package is installed its entry point brings the plugin; naming it again does no harm by the same name.
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "biasamp.integrations.pytest_plugin",
        "-p",
        "no:cacheprovider",
    ]
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\nbiasamp_policy = gate.toml\n")
    (tmp_path / "gate.toml").write_text(POLICY)
    (tmp_path / "test_good.py").write_text(TEST.format("good", 0.0))
    (tmp_path / "test_bad.py").write_text(TEST.format("bad", 0.9))
    return tmp_path


def test_a_gate_in_tests(folder: Path) -> None:
    done = run(folder)
    assert done.returncode == 1, done.stdout
    assert "1 failed, 3 passed" in done.stdout
    assert "gate.toml: fail" in done.stdout
    assert "lies beyond ≤ 0.05" in done.stdout


def test_the_option_takes_the_place_of_the_configuration(folder: Path) -> None:
    (folder / "other.toml").write_text(POLICY.replace("0.05", "0.9"))
    assert run(folder, "--biasamp-policy", "other.toml").returncode == 0
    (folder / "unsure.toml").write_text(POLICY + "\n[evidence]\nmin_records = 100000\n")
    done = run(folder, "--biasamp-policy", "unsure.toml", "test_good.py")
    assert done.returncode == 1
    assert "not enough evidence" in done.stdout


def test_an_installed_package_brings_the_plugin() -> None:
    """The other tests name the plugin; those who install the package do not have to."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (place,) = project["entry-points"]["pytest11"].values()
    plugin = importlib.import_module(place)
    assert {"biasamp_check", "biasamp_policy"} <= set(vars(plugin))


def test_the_plugin_imports_nothing_before_it_is_used() -> None:
    code = (
        "import sys; import biasamp.integrations.pytest_plugin; print(sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "sklearn", "pyarrow"} & set(eval(done.stdout))
