"""``biasamp compare`` with several runs of each model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    fixed = np.random.default_rng(0)
    group = fixed.integers(0, 2, 300)
    truth = (fixed.random(300) < 0.3 + 0.3 * group).astype(int)
    for name, lean in (("old", 0.05), ("new", 0.5)):
        for seed in (1, 2, 10):
            rng = np.random.default_rng([seed, len(name), int(10 * lean)])
            said = np.where((group == 1) & (rng.random(300) < lean), 1, truth)
            data = {"id": np.arange(300), "g": group, "t": truth, "p": said}
            roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id"}
            biasamp.audit(data, **roles, metrics=["directional"], resamples=50).save(out / f"{name}_{seed}.json.gz")
    return out


def test_patterns_are_runs_and_their_seeds(run: Any, folder: Path) -> None:
    ran = run("compare", f"old={folder}/old_*.json.gz", f"new={folder}/new_*.json.gz", "--json", "-")
    assert ran.code == 0, ran.err
    expected = biasamp.compare(
        {name: {seed: folder / f"{name}_{seed}.json.gz" for seed in ("1", "10", "2")} for name in ("old", "new")}
    )
    found = json.loads(ran.out)
    assert found == expected.document
    assert found["differences"][0]["runs"]["same_seeds"]


def test_a_name_given_again_is_another_run(run: Any, folder: Path, tmp_path: Path) -> None:
    words = [f"{name}={folder}/{name}_{seed}.json.gz" for name in ("old", "new") for seed in (1, 2)]
    ran = run("compare", *words, "--markdown", tmp_path / "changes.md")
    assert ran.code == 0, ran.err
    assert "Seeds and records" in ran.out
    assert "pairs changed (q < 0.05 over all of them" in ran.out
    assert "### Pairs that changed" in (tmp_path / "changes.md").read_text(encoding="utf-8")
    twice = run("compare", words[0], words[0], words[2])
    assert twice.code == 2
    assert "the same file twice" in twice.err


def test_a_pattern_without_files_is_refused(run: Any, folder: Path) -> None:
    ran = run("compare", f"old={folder}/none_*.json.gz", f"new={folder}/new_*.json.gz")
    assert ran.code == 2
    assert "no file is of this pattern" in ran.err


def test_one_model_is_refused_in_the_words_of_the_command(run: Any, folder: Path) -> None:
    for sources in ((f"old={folder}/old_1.json.gz",), (f"old={folder}/old_*.json.gz",)):
        ran = run("compare", *sources)
        assert ran.code == 2
        assert "name at least two, as NAME=AUDIT" in ran.err


def test_tables_and_a_page_are_written(run: Any, folder: Path, tmp_path: Path) -> None:
    models = (f"old={folder}/old_1.json.gz", f"new={folder}/new_1.json.gz")
    files = {name: tmp_path / f"{name}" for name in ("d.csv", "p.csv", "c.html")}
    ran = run("compare", *models, "--csv", files["d.csv"], "--pairs-csv", files["p.csv"], "--html", files["c.html"])
    assert ran.code == 0, ran.err
    held = biasamp.compare({"old": folder / "old_1.json.gz", "new": folder / "new_1.json.gz"})
    assert len(files["d.csv"].read_text().splitlines()) == 1 + len(held.table)
    assert len(files["p.csv"].read_text().splitlines()) == 1 + len(held.pairs)
    page = files["c.html"].read_text()
    assert "biasamp compare: new against old" in page
    assert run("compare", *models, "--csv", "-").out.startswith("attribute,metric,direction,model,other")
