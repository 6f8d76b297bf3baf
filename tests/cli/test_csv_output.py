"""Every command that has a table writes it as CSV: the rows of the result, safe in a spreadsheet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import biasamp
from biasamp.cli import group

N = 60


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = ["g,t,p,s,q"] + [
        f"{'=w' if i % 2 else 'm'},{i // 2 % 2},{i // 3 % 2},{i % 10 / 10},{i // 5 % 2}" for i in range(N)
    ]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(rows) + "\n")
    (tmp_path / "policy.toml").write_text(
        '[data]\nattributes = "g"\ntasks = "t"\ntask_predictions = "p"\n[[limit]]\nmetric = "directional"\nmax = 0.1\n'
    )
    return path


ROLES = ["--attributes", "g", "--tasks", "t"]
PREDICTED = [*ROLES, "--task-predictions", "p", "--resamples", "20"]
LINES = {
    "audit": ["audit", "{data}", *PREDICTED],
    "audit groups": ["audit", "{data}", *PREDICTED, "--csv-table", "groups"],
    "check": ["check", "{data}", "--policy", "{policy}"],
    "sweep": ["sweep", "{data}", *ROLES, "--scores", "s"],
    "calibrate": ["calibrate", "{data}", "--scores", "s", "--rate", "0.3"],
    "compare": ["compare", "{data}", *ROLES, "--model", "a=p", "--model", "b=q", "--resamples", "20"],
    "choose-thresholds": ["choose-thresholds", "{data}", *ROLES, "--scores", "s", "--limit", "0.5"],
}


def _run(line: list[str], data: Path) -> str:
    named = {"{data}": str(data), "{policy}": str(data.parent / "policy.toml")}
    result = CliRunner().invoke(group, [named.get(word, word) for word in line])
    assert result.exit_code in (0, 1, 3), result.output
    return result.stdout


@pytest.mark.parametrize("name", LINES)
def test_a_table_is_written_as_csv(name: str, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    shown = _run([*LINES[name], "--csv", str(path)], data)
    assert shown.strip(), "a file leaves the terminal as it was"
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert rows
    alone = _run([*LINES[name], "--csv", "-"], data)
    assert list(csv.DictReader(alone.splitlines())) == rows
    assert "=w" not in [cell for row in rows for cell in row.values()], "text that is a formula"


def test_rows_are_those_of_the_result(data: Path) -> None:
    rows = list(csv.DictReader(_run([*LINES["audit"], "--csv", "-"], data).splitlines()))
    document = json.loads(_run([*LINES["audit"], "--json", "-"], data))
    pairs = biasamp.Audit.from_document(document).pairs
    assert len(rows) == len(pairs)
    assert [float(row["amplification"]) for row in rows] == pytest.approx(pairs["amplification"].tolist(), abs=0)
    checks = list(csv.DictReader(_run([*LINES["check"], "--csv", "-"], data).splitlines()))
    verdict = json.loads(_run([*LINES["check"], "--json", "-"], data))
    assert sorted(row["reason"].lstrip("'") for row in checks) == sorted(row["reason"] for row in verdict["checks"])
