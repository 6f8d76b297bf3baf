"""The table of the documentation tells of the experiments that there are, and is made from a run."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from biasamp_reproductions import Setting, experiments
from biasamp_reproductions.command import document_of
from biasamp_reproductions.experiment import Experiment
from biasamp_reproductions.outcome import PRINTED, Outcome
from biasamp_reproductions.rows import Reason, Tried, measured, printed
from biasamp_reproductions.running import circumstances, run_all

SCRIPT = Path(__file__).parents[2] / "docs" / "make_reproductions_table.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reproductions_table", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_stale_or_missing_row(script: ModuleType) -> None:
    page = script.PAGE.read_text(encoding="utf-8")
    assert script.names(page) == list(experiments())
    for experiment in experiments().values():
        assert f"| {experiment.name} | {experiment.place} |" in page


def test_table_of_a_run(script: ModuleType) -> None:
    rows = (
        printed("a", "0.1", 0.1),
        printed("b", "0.1", 0.5, reason=Reason("r", 0.1)),
        printed("c", "0.1", 0.5, tried=Tried(0.4, 0.6, 3, "depths")),
    )
    chosen = [
        Experiment("one", "t", "Table 1", lambda setting: Outcome(PRINTED, "x", rows)),
        Experiment("two", "t", "Fig. 2", lambda setting: Outcome(PRINTED, "x", (measured("a", 1.0),))),
        Experiment("three", "t", "Fig. 3", lambda setting: Outcome(PRINTED, "x", ()), files=("gone.csv",)),
        Experiment("four", "t", "Fig. 4", lambda setting: Outcome(PRINTED, "x", (1 / 0,))),
    ]
    done = run_all(chosen, Setting())
    document = document_of(done, circumstances(done, 5))
    page = script.replaced(f"before\n{script.BEGIN}old\n{script.END}after\n", document)
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "old" not in page
    assert "seed 5" in page
    assert (
        "| one | Table 1 | the paper's own numbers | – | 1 same digits, 1 by another run, 1 out of reach | – | – | – |"
        in page
    )
    assert "| two | Fig. 2 | the paper's own numbers; no printed figure is tested | – | – | – | – | – |" in page
    assert "| three | Fig. 3 | not run |" in page
    assert "| four | Fig. 4 | failed |" in page
    assert script.names(page) == ["one", "two", "three", "four"]


def test_runs_one_by_one_are_joined(script: ModuleType) -> None:
    def run(name: str, agreed: int, **versions: str) -> dict[str, Any]:
        item = {"name": name, "place": "p", "seconds": 2.0, "failed": None, "outcome": {"agreed": agreed}}
        about = {"date": "2026-01-01", "seed": 0, "cores": 2, "seconds": 9.0, "versions": {"numpy": "2", **versions}}
        return {**about, "experiments": [item]}

    both = script.joined([run("b", 1), run("a", 2), run("b", 3, torch="2")], ["a", "b", "c"])
    assert [(item["name"], item["outcome"]["agreed"]) for item in both["experiments"]] == [("a", 2), ("b", 3)]
    assert both["seconds"] == 4
    assert both["versions"] == {"numpy": "2", "torch": "2"}
    with pytest.raises(ValueError, match="differ in their seed"):
        script.joined([run("a", 1), {**run("b", 1), "seed": 1}], ["a", "b"])


def test_a_page_without_a_place_for_it(script: ModuleType) -> None:
    with pytest.raises(ValueError, match="no lines"):
        script.replaced("nothing\n", {})
