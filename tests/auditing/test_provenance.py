"""Where labels come from, and how an audit was made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from amplified import audited, columns
from biasamp.auditing.label_provenance import read_label_provenance


def made(**options: Any) -> biasamp.Audit:
    return audited(columns(said=0.3), metrics=["directional"], resamples=50, **options)


def test_the_call_the_versions_and_the_time_are_in_the_document_and_nothing_else_moves() -> None:
    one, other = made(), made(seed=0, confidence=0.95)
    how = one.document["provenance"]
    assert how["call"].startswith("biasamp.audit(data, attributes='g', tasks='t', task_predictions='p'")
    assert how["libraries"]["numpy"] == np.__version__
    assert how["time"].endswith("+00:00")
    assert {**one.document, "provenance": 0} == {**other.document, "provenance": 0}
    text = one.to_markdown()
    for words in (one.document["data"]["fingerprint"], how["time"].replace("+", "\\+"), "seed: 0", "numpy"):
        assert words in text


def test_the_command_line_is_what_made_an_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from biasamp.cli import group

    (tmp_path / "a b.csv").write_text("g,t,p\n" + "w,1,1\nm,0,0\nw,0,1\nm,1,0\n" * 10)
    monkeypatch.chdir(tmp_path)
    words = ["audit", "a b.csv", "--attributes", "g", "--tasks", "t", "--task-predictions", "p", "--json", "x.json"]
    group.main(words, prog_name="biasamp", standalone_mode=False)
    how = json.loads((tmp_path / "x.json").read_text())["provenance"]
    assert how["command"] == "biasamp audit 'a b.csv' --attributes g --tasks t --task-predictions p --json x.json"
    assert "call" not in how


def test_a_fixed_time_makes_the_same_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert made().document["provenance"]["time"] == "1970-01-02T00:00:00+00:00"
    assert made().to_json() == made().to_json()


def test_the_caution_states_where_labels_come_from() -> None:
    data = {"gender": ["woman", "man"] * 50, "t": [1, 0] * 50, "p": [1, 0] * 40 + [0, 1] * 10}
    roles = {"attributes": "gender", "tasks": "t", "task_predictions": "p", "metrics": ["directional"], "resamples": 50}

    def said(**options: Any) -> str:
        (caution,) = [f.text for f in biasamp.audit(data, **roles, **options).findings if f.code == "perceived"]
        return caution

    assert "State where they come from" in said()
    stated = said(provenance={"gender": "perceived by <b>annotators</b>"})
    assert stated.startswith("Where labels of gender come from, as stated: perceived by <b>annotators</b>.")


def test_a_toml_file_says_the_same(tmp_path: Path) -> None:
    held = {
        "gender": "perceived by annotators",
        "race": {"source": "self-reported", "error": {"a": 0.1, "b": {"a": 0.2}}},
    }
    (tmp_path / "labels.toml").write_text(
        '[labels]\ngender = "perceived by annotators"\n[labels.race]\nsource = "self-reported"\nerror = {a = 0.1, b = {a = 0.2}}\n'
    )
    assert read_label_provenance(tmp_path / "labels.toml") == read_label_provenance(held)
    assert read_label_provenance(read_label_provenance(held).plain) == read_label_provenance(held)


@pytest.mark.parametrize(
    ("provenance", "words"),
    [
        ({"gg": "x"}, "provenance names 'gg', which is no attribute or column"),
        ({"g": 3}, "a sentence is needed"),
        ({"g": {"sauce": "x"}}, "it may have source and error"),
        ({"g": {"error": "much"}}, "a chance is needed"),
        ({"t": {"error": 0.1}}, "which is no attribute"),
        (["g"], "a mapping from attributes"),
        ("missing.toml", "no file 'missing.toml'"),
    ],
)
def test_what_is_stated_wrongly_is_refused(provenance: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=words):
        made(provenance=provenance)
