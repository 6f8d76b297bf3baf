"""``biasamp impact``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

TABLE = "sex,race,selected,people\nm,a,1,667\nm,a,0,723\nf,a,1,550\nf,b,1,5\nf,a,0,620\nf,b,0,6\n,b,1,3\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "hires.csv"
    path.write_text(TABLE)
    return path


def test_the_tables_of_local_law_144(run: Any, table: Path) -> None:
    ran = run(
        "impact",
        table,
        "--decision",
        "selected",
        "--sex",
        "sex",
        "--race",
        "race",
        "--layout",
        "ll144",
        "--counts",
        "people",
    )
    assert ran.code == 0
    assert "0.979 [0.899, 1.000]" in ran.out
    assert "Intersectional: sex and race/ethnicity" in ran.out
    assert "3 people whose group is not known, 3 of them selected" in ran.out


def test_files_hold_what_python_gives(run: Any, table: Path, tmp_path: Path) -> None:
    names = {"--json": "a.json", "--csv": "a.csv", "--markdown": "a.md", "--html": "a.html"}
    options = [part for flag, name in names.items() for part in (flag, tmp_path / name)]
    ran = run("impact", table, "--decision", "selected", "--groups", "sex,race", "--counts", "people", *options)
    assert ran.code == 0, ran.err
    document = json.loads((tmp_path / "a.json").read_text())
    assert [t["attribute"] for t in document["tables"]] == ["sex", "race", "sex x race"]
    held = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert {row["group"] for row in held if row["attribute"] == "sex"} == {"f", "m", "(not known)"}
    assert (tmp_path / "a.md").read_text().startswith("## Selection rates")
    assert "<table>" in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--decision", "selected"], "--groups, or --sex and --race"),
        (["--groups", "sex"], "one of --decision and --scores"),
        (["--groups", "sex", "--decision", "sex"], "both name the column 'sex'"),
        (["--groups", "sx", "--decision", "selected"], "did you mean 'sex'"),
        (["--groups", "sex", "--decision", "people"], "--positive"),
    ],
)
def test_mistakes_are_answered_in_options(run: Any, table: Path, options: list[str], words: str) -> None:
    ran = run("impact", table, *options)
    assert ran.code == 2
    assert words in ran.err
