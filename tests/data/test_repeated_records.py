"""Records that are there twice are cautioned of and open no gate; rows that only look alike are no such records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp

ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": "directional", "resamples": 20}


def people(n: int = 300, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    t = rng.integers(0, 2, n)
    return {"g": rng.choice(["w", "m"], n), "t": t, "p": np.where(rng.random(n) < 0.1, 1 - t, t)}


def tiled(data: dict[str, Any], times: int) -> dict[str, Any]:
    return {name: np.tile(values, times) for name, values in data.items()}


def said(audit: biasamp.Audit) -> str:
    return " ".join(finding.text for finding in audit.findings if finding.code == "repeated")


@pytest.mark.parametrize("times", [2, 3, 7])
def test_a_table_below_itself(times: int) -> None:
    audit = biasamp.audit(tiled(people(), times), **ROLES)
    assert f"The same 300 rows are there {times} times, in the same order" in said(audit)
    verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.9}]).check(audit)
    assert verdict.outcome == "not enough evidence"


@pytest.mark.parametrize("times", [2, 5])
def test_every_row_several_times_in_succession(times: int) -> None:
    joined = {name: np.repeat(values, times) for name, values in people().items()}
    audit = biasamp.audit(joined, **ROLES)
    assert f"Every row is there {times} times, one right after the other" in said(audit)
    verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.9}]).check(audit)
    assert verdict.outcome == "not enough evidence"
    assert not said(biasamp.audit({**joined, "id": np.arange(300 * times)}, **ROLES, record="id"))
    # One more row is no join; a table of a few counts, written out, has few runs, however even they are.
    assert not said(biasamp.audit({name: values[1:] for name, values in joined.items()}, **ROLES))
    written = {name: np.repeat(values[:40], 10) for name, values in people().items()}
    assert not said(biasamp.audit(written, **ROLES))


def test_several_models_below_each_other() -> None:
    data = tiled(people(), 2)
    data["p"] = np.where(np.arange(600) % 7, data["p"], 1)
    audit = biasamp.audit(data, **ROLES)
    assert "The same 300 rows of attributes and tasks are there 2 times" in said(audit)
    verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.9}]).check(audit)
    assert verdict.outcome == "not enough evidence"
    assert not said(biasamp.audit({**data, "home": np.arange(600) % 300}, **ROLES, cluster="home"))


def test_a_file_below_itself(tmp_path: Path) -> None:
    pd.DataFrame(tiled(people(), 2)).to_csv(tmp_path / "data.csv", index=False)
    assert "The same 300 rows are there 2 times" in said(biasamp.audit(tmp_path / "data.csv", **ROLES))


def test_lists_below_themselves() -> None:
    rng = np.random.default_rng(1)
    labels = [["a"] * bool(x) + ["b"] * bool(y) for x, y in rng.integers(0, 2, (300, 2))]
    predicted = [["a"] * bool(x) + ["b"] * bool(y) for x, y in rng.integers(0, 2, (300, 2))]
    data = {"g": people()["g"].tolist(), "t": labels, "p": predicted}
    twice = biasamp.audit({name: values * 2 for name, values in data.items()}, **ROLES)
    assert "The same 300 rows are there 2 times" in said(twice)
    assert not said(biasamp.audit(data, **ROLES))


def test_with_ids_or_clusters_the_rows_may_be_alike() -> None:
    data = tiled(people(), 2)
    assert not said(biasamp.audit({**data, "id": np.arange(600)}, **ROLES, record="id"))
    assert not said(biasamp.audit({**data, "home": np.arange(600) % 300}, **ROLES, cluster="home"))


def test_weights_that_differ_tell_records_apart() -> None:
    data = tiled(people(), 2)
    assert not said(biasamp.audit({**data, "w": np.arange(600) % 7 + 1.0}, **ROLES, weights="w"))


DESIGNS: dict[str, dict[str, Any]] = {
    "alternating": {"g": ["w", "m"] * 200, "t": [0, 1, 1, 1] * 100, "p": [0, 1] * 200},
    "a short block": {"g": ["w", "m", "m", "w", "m"] * 80, "t": [0, 1, 1, 1, 0] * 80, "p": [0, 1, 0, 1, 0] * 80},
    "sorted blocks": {
        "g": (["w"] * 100 + ["m"] * 100) * 2,
        "t": (["0"] * 50 + ["1"] * 50) * 4,
        "p": (["0"] * 60 + ["1"] * 40) * 4,
    },
    "few rows": {name: np.tile(values, 2) for name, values in people(30).items()},
    "one row less": {name: np.tile(values, 2)[:-1] for name, values in people().items()},
}


@pytest.mark.parametrize("name", DESIGNS)
def test_rows_that_were_made_by_hand_are_read(name: str) -> None:
    assert not said(biasamp.audit(DESIGNS[name], **ROLES))
