"""``biasamp why``: the parts on a terminal and as JSON, those of the audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasamp
from biasamp.datasets import berkeley

ROLES = ["--attributes", "gender", "--tasks", "admitted"]
PARTS = ["--scores", "admitted_score", "--strata", "department"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "applicants.csv"
    pd.DataFrame(berkeley.with_predictions()).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_the_parts_are_those_of_the_audit(run: Any, table: Path) -> None:
    ran = run("why", table, *ROLES, *PARTS, "--json", "-")
    assert ran.code == 0
    found = json.loads(ran.out)
    roles: dict[str, Any] = {"attributes": "gender", "tasks": "admitted", "task_scores": "admitted_score"}
    held = biasamp.audit(table, **roles, strata="department", metrics="directional")
    assert found["why"] == json.loads(json.dumps(held.document["why"]))
    assert found["findings"][0]["code"] == "why"


def test_the_terminal_shows_parts_strata_and_reliability(run: Any, table: Path) -> None:
    ran = run("why", table, *ROLES, *PARTS)
    assert ran.code == 0
    for words in (
        "of it the scores",
        "of it deciding on them",
        "Inside department",
        "Reliability of scores",
        "Simpson",
    ):
        assert words in ran.out
    # The headline's parts are five lines.
    lines = ran.out.splitlines()
    first = next(i for i, line in enumerate(lines) if "amplification, by a score" in line)
    assert "by the signs there" in lines[first + 4]


def test_scores_go_by_the_name_of_the_argument_too(run: Any, table: Path) -> None:
    by_name = run("why", table, *ROLES, "--task-scores", "admitted_score", "--json", "-")
    assert json.loads(by_name.out)["why"] == json.loads(run("why", table, *ROLES, *PARTS[:2], "--json", "-").out)["why"]


def test_saved_counts_have_their_parts(run: Any, table: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.parquet"
    scores = ["--task-scores", "admitted_score", "--strata", "department"]
    assert run("count", table, *ROLES, *scores, "--save", counts).code == 0
    ran = run("why", counts, "--json", "-")
    assert ran.code == 0
    assert json.loads(ran.out)["why"][0]["parts"]["value"]["value"] == pytest.approx(0.1503, abs=5e-5)


def test_a_value_without_scores_and_strata_has_no_parts(run: Any, table: Path, tmp_path: Path) -> None:
    ran = run("why", table, *ROLES, "--task-predictions", "admitted_pred")
    assert ran.code == 2
    assert "--scores, --attribute-scores or --strata" in ran.err
    counts = tmp_path / "plain.parquet"
    run("count", table, *ROLES, "--task-predictions", "admitted_pred", "--save", counts)
    ran = run("why", counts)
    assert ran.code == 1
    assert "neither scores nor strata" in ran.err


def test_the_table_lists_parts_pairs_and_strata(run: Any, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "parts.csv"
    assert run("why", table, *ROLES, *PARTS, "--csv", path).code == 0
    held = pd.read_csv(path)
    assert held["row"].value_counts().to_dict() == {"part": 4, "pair": 4, "stratum": 6}
    parts = held[held["row"] == "part"].set_index("part")["value"]
    assert parts["value"] == pytest.approx(parts["score"] + parts["threshold"], abs=1e-12)
    pairs = held[held["row"] == "pair"]
    assert pairs["value"].mean() == pytest.approx(parts["value"], abs=1e-12)
    assert (pairs["value"] - pairs["score"] - pairs["threshold"]).abs().max() < 1e-12
    strata = held[held["row"] == "stratum"].set_index("stratum")
    assert strata["n"].sum() == len(pd.read_csv(table))
    assert run("why", table, *ROLES, *PARTS, "--csv", "-").out.encode() == path.read_bytes()


def test_cautions_speak_of_the_threshold_that_decided(run: Any, tmp_path: Path) -> None:
    scores = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9] * 50
    rows = pd.DataFrame({"g": ["f", "m"] * 200, "t": [0, 0, 0, 1, 0, 1, 1, 1] * 50, "p": scores})
    path = tmp_path / "scores.csv"
    roles = ["--attributes", "g", "--tasks", "t", "--scores", "p"]
    rows.assign(said=(rows["p"] >= 0.8) * 1).to_csv(path, index=False)
    words = " ".join(run("why", path, *roles, "--task-predictions", "said").out.split())
    assert "decided at 0.800" in words
    assert "0.250 against 0.500" in words
    assert "usual threshold" not in words
    # The same from counts.
    counts = tmp_path / "counts.parquet"
    named = ["--attributes", "g", "--tasks", "t", "--task-scores", "p", "--task-predictions", "said"]
    assert run("count", path, *named, "--save", counts).code == 0
    assert "decided at 0.800" in " ".join(run("why", counts).out.split())
    # No threshold makes these decisions.
    rows.assign(said=[0, 0, 0, 1, 0, 0, 1, 0] * 50).to_csv(path, index=False)
    words = " ".join(run("why", path, *roles, "--task-predictions", "said").out.split())
    assert "as decided" in words
    assert "usual threshold" not in words
    rows.assign(p=rows["p"] / 2).to_csv(path, index=False)
    assert "at the usual threshold 0.5" in " ".join(run("why", path, *roles).out.split())
