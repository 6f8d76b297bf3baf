"""Audits for publication: no figure of withheld groups, nor one that gives them away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp

ROLES: dict[str, Any] = {"attributes": "race", "tasks": "t", "task_predictions": "p", "resamples": 50}


def records(sizes: dict[str, int]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    race = np.repeat(list(sizes), list(sizes.values()))
    t = (rng.random(len(race)) < 0.4).astype(int)
    return {
        "race": race,
        "t": t,
        "p": np.where(rng.random(len(race)) < 0.25, 1 - t, t),
        "s": rng.choice(["f", "m"], len(race)),
    }


def test_a_small_group_goes_with_another_and_nothing_is_said_of_either(tmp_path: Path) -> None:
    data = records({"tiny": 20, "small": 300, "large": 900, "huge": 2000})
    audit = biasamp.audit(data, **ROLES, suppress=10)
    assert audit.document["data"]["withheld_groups"] == ["race=small", "race=tiny"]
    audit.save(tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    held = json.loads(text)
    del held["provenance"], held["checksum"]
    held["data"].pop("withheld_groups")
    assert "tiny" not in json.dumps(held)
    assert "small" not in json.dumps(
        [held["rates"], held["findings"], held["metrics"], held["data"]["groups"]]
    ).replace('"small": ', "")
    assert held["resamples"] == {}
    assert {row["metric"] for row in held["metrics"]}.isdisjoint({"dpa", "leakage"})
    assert biasamp.Audit.load(tmp_path / "a.json").document == audit.document
    assert biasamp.verify(audit, data)
    for page in (audit.to_markdown(), audit.to_ai_act()):
        assert "race=tiny" not in page.split("How this was made")[0].split("Test logs")[0]
    assert "groups withheld, with counts below 10" in audit.to_markdown()


def test_figures_are_those_of_the_groups_that_are_shown() -> None:
    data = records({"tiny": 20, "small": 300, "large": 900, "huge": 2000})
    shown = biasamp.audit(data, **ROLES, metrics=["directional", "parity"], suppress=10)
    ignored = biasamp.audit(data, **ROLES, metrics=["directional", "parity"], ignore_groups=["tiny", "small"])
    assert [row["value"] for row in shown.document["metrics"]] == [row["value"] for row in ignored.document["metrics"]]


def test_nothing_goes_where_nothing_is_small() -> None:
    data = records({"large": 900, "huge": 2000})
    audit = biasamp.audit(data, **ROLES, metrics=["directional"], suppress=10)
    whole = biasamp.audit(data, **ROLES, metrics=["directional"])
    assert audit.document["data"]["withheld_groups"] == []
    assert audit.document["metrics"] == whole.document["metrics"]


@pytest.mark.parametrize(
    ("sizes", "options", "words"),
    [
        ({"tiny": 20, "large": 900}, {}, "leaves 0 groups of 'race' to show"),
        ({"large": 900, "huge": 900}, {"weights": np.full(1800, 0.5)}, "counts of records"),
        ({"large": 900, "huge": 900}, {"suppress": 1}, "suppress is 1"),
        ({"large": 900, "huge": 900}, {"attributes": ["race", "s"], "intersections": True}, "crossings of attributes"),
    ],
)
def test_what_cannot_be_published_is_refused(sizes: dict[str, int], options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        biasamp.audit(records(sizes), **{**ROLES, "suppress": 10, **options})


def test_combinations_of_labels_are_not_published() -> None:
    rng, n = np.random.default_rng(0), 20_000
    data: dict[str, Any] = {"g": rng.choice(["a", "b"], n)}
    for task in range(6):
        truth = (rng.random(n) < 0.06).astype(int)
        data |= {f"t{task}": truth, f"p{task}": np.where(rng.random(n) < 0.1, 1 - truth, truth)}
    data["h"] = np.where(rng.random(n) < 0.1, np.where(data["g"] == "a", "b", "a"), data["g"])
    audit = biasamp.audit(
        data,
        attributes="g",
        tasks=[f"t{task}" for task in range(6)],
        task_predictions=[f"p{task}" for task in range(6)],
        attribute_predictions="h",
        metrics=["directional", "multi", "mals"],
        suppress=10,
    )
    assert {row["metric"] for row in audit.document["metrics"]} == {"directional"}
    assert {row["metric"] for row in audit.document["not_run"] if "not published" in row["reason"]} == {"multi", "mals"}
