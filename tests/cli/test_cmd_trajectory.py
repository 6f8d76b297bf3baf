"""``biasamp trajectory`` gives what the function gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import biasamp


def test_the_command_gives_what_the_function_gives(run: Any, tmp_path: Path) -> None:
    paths = {}
    for step, many in (("4", 10), ("8", 20), ("16", 30)):
        data = {"id": list(range(100)), "says": [["model", "right" if i < many else "left"] for i in range(100)]}
        counts = biasamp.count(data, identities=["model"], label="says", record="id", pairable=True)
        counts.save(tmp_path / f"{step}.parquet")
        paths[step] = tmp_path / f"{step}.parquet"
    steps = [f"{name}={path}" for name, path in paths.items()]
    ran = run("trajectory", *steps, "--labels", "right", "--json", "-", "--figures", tmp_path / "figures")
    assert ran.code == 0
    assert json.loads(ran.out) == biasamp.trajectory(paths, labels="right").document
    assert [step["at"] for step in json.loads(ran.out)["steps"]] == [4.0, 8.0, 16.0]
    assert (tmp_path / "figures" / "trajectory.png").stat().st_size > 1000
    assert "share of right among model: changes by" in " ".join(run("trajectory", *steps).out.split())
    written = run("trajectory", *steps, "--labels", "right", "--csv", tmp_path / "t.csv", "--html", tmp_path / "t.html")
    assert written.code == 0, written.err
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 1 + 3
    assert "Content-Security-Policy" in (tmp_path / "t.html").read_text()
    assert run("trajectory", steps[0]).code == 2
    assert "not of the form NAME=FILE" in run("trajectory", steps[0], str(paths["8"])).err
