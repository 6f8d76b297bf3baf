"""``--bins``: columns of numbers that are cut, on every command that reads roles, and in policies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROLES = ["--attributes", "age,sex", "--tasks", "t", "--task-predictions", "p"]
QUICK = ["--metrics", "directional", "--resamples", "20"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    age, t = rng.integers(18, 70, 900), rng.integers(0, 2, 900)
    p = np.where(rng.random(900) < 0.1, 1 - t, t)
    path = tmp_path / "a.csv"
    path.write_text(
        "age,sex,t,p\n"
        + "".join(f"{a},{'fm'[i % 2]},{x},{y}\n" for i, (a, x, y) in enumerate(zip(age, t, p, strict=True)))
    )
    return path


def test_an_audit_cuts_and_says_how_values_move(run: Any, table: Path, tmp_path: Path) -> None:
    ran = run("audit", table, *ROLES, *QUICK, "--bins", "age=30,50", "--full")
    assert ran.code == 0, ran.err
    assert "30 to under 50" in ran.out
    assert "other plausible bins" in " ".join(ran.out.split())
    held = run("audit", table, *ROLES, *QUICK, "--bins", "age=quantiles:3", "--json", tmp_path / "a.json")
    assert held.code == 0, held.err
    document = json.loads((tmp_path / "a.json").read_text())
    assert len(document["bins"][0]["edges"]) == 2
    assert "--bins age=quantiles:3" in document["provenance"]["command"] or "bins=3" in json.dumps(
        document["provenance"]
    )


def test_counts_and_policies_cut_alike(run: Any, table: Path, tmp_path: Path) -> None:
    assert run("count", table, *ROLES, "--bins", "age=30,50", "--save", tmp_path / "c.parquet").code == 0
    assert run("audit", tmp_path / "c.parquet", *QUICK).code == 0
    policy = tmp_path / "policy.toml"
    text = '[data]\nattributes = ["age", "sex"]\ntasks = "t"\ntask_predictions = "p"\nmetrics = ["directional"]\n{}\n'
    text += '[[limit]]\nmetric = "directional"\nattribute = "age"\ndirection = "A->T"\nmax = 0.9\n'
    policy.write_text(text.format("bins = { age = [30, 50] }"))
    ran = run("check", table, "--policy", policy)
    assert ran.code == 0, ran.err + ran.out
    policy.write_text(text.format(""))
    assert run("check", table, "--policy", policy, "--bins", "age=30,50").code == 0
    for bad, words in (("bins = { agee = [3] }", "'agee' is no column"), ('bins = { age = "x" }', "edges by column")):
        policy.write_text(text.format(bad))
        ran = run("check", table, "--policy", policy)
        assert ran.code == 2
        assert words in ran.err


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        ("age", "say COLUMN=25,45"),
        ("age=a,b", "edges are numbers"),
        ("age=50,30", "edges must ascend"),
        ("agee=3", "'agee', which is no column of --attributes or --tasks"),
        ("sex=3", "bins are of numbers"),
        ("age=quantiles:1", "bins is 1"),
    ],
)
def test_mistakes_are_answered_in_options(run: Any, table: Path, bins: str, words: str) -> None:
    ran = run("audit", table, *ROLES, *QUICK, "--bins", bins)
    assert ran.code == 2
    assert words in " ".join(ran.err.split())


def test_quantiles_need_all_records_and_the_way_out_is_an_option(run: Any, table: Path, tmp_path: Path) -> None:
    ran = run("count", table, *ROLES, "--bins", "age=quantiles:3", "--save", tmp_path / "c.parquet")
    assert ran.code == 2
    assert "--bins COLUMN=25,45" in " ".join(ran.err.split())
