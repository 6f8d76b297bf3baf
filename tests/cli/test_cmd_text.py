"""``biasamp text``: the figures of the functions, from tables and from logs."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasamp


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    draw = random.Random(0)
    gender = [draw.choice(["woman", "man"]) for _ in range(200)]
    old = [f"a {g} with a {draw.choice(['cup', 'bat'])}" for g in gender]
    new = [f"A {g}'s {('cup', 'bat')[(g == 'man') ^ (draw.random() < 0.2)]}" for g in gender]
    path = tmp_path / "captions.csv"
    pd.DataFrame({"gender": gender, "old": old, "new": new, "item": range(200)}).to_csv(path, index=False)
    return path


def sample(prompt: int, gender: str, said: str, right: str) -> dict[str, Any]:
    return {
        "id": f"{prompt}-{gender}",
        "epoch": 1,
        "input": "?",
        "target": right,
        "output": {"choices": [{"message": {"role": "assistant", "content": said}}]},
        "scores": {"match": {"value": "C" if said == right else "I"}},
        "metadata": {"gender": gender, "prompt": prompt},
    }


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "hiring.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "eval": {"task": "hiring", "model": "m"}}))
        for prompt in range(40):
            for gender in ("woman", "man"):
                said = "no" if gender == "woman" and prompt % 3 else "yes"
                held = sample(prompt, gender, said, ("yes", "no")[prompt % 2])
                archive.writestr(f"samples/{prompt}-{gender}_epoch_1.json", json.dumps(held))
    return path


def test_attribute(run: Any, captions: Path) -> None:
    ran = run("text", captions, "--text", "old,new", "--attribute", "gender", "--seeds", "2", "--json", "-")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    data = pd.read_csv(captions)
    leak = biasamp.text_leakage({"old": list(data["old"]), "new": list(data["new"])}, list(data["gender"]), seeds=2)
    values = {row["model"]: row["value"] for row in found["leakage"]["figures"]}
    assert values == pytest.approx(leak.lic_m)
    assert found["leakage"]["mask"]["words"] == list(leak.mask.words)
    assert found["association"]["n"] == 200


def test_terminal_and_explorer(run: Any, captions: Path, tmp_path: Path) -> None:
    page = tmp_path / "words.html"
    ran = run("text", captions, "--text", "new", "--attribute", "gender", "--seeds", "2", "--html", page)
    assert ran.code == 0, ran.err
    for words in ("LIC_M", "words that give the attribute away", "LIC_D was not measured", "toward woman"):
        assert words in ran.out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_identities(run: Any, captions: Path) -> None:
    ran = run("text", captions, "--text", "new", "-i", "lic", "--labels", "cup,bat")
    assert ran.code == 0, ran.err
    assert "no other" in ran.out
    own = run("text", captions, "--text", "new", "-i", "w=woman", "-i", "m=man", "--labels", "mug=cup", "--json", "-")
    assert {row["identity"] for row in json.loads(own.out)["association"]["identities"]} == {"w", "m"}


def test_items_of_a_log(run: Any, log: Path) -> None:
    ran = run("text", log, "--attribute", "gender", "--item", "prompt", "--answer", "answer", "--json", "-")
    assert ran.code == 0, ran.err
    (row,) = json.loads(ran.out)["counterfactual"]["comparisons"]
    assert (row["group"], row["reference"], row["outcome"], row["items"]) == ("woman", "man", "yes", 40)
    assert row["difference"] == pytest.approx(-26 / 40)
    assert row["p"] == pytest.approx(2 / 2**26)
    scores = run("text", log, "--attribute", "gender", "--item", "prompt")
    assert "mean score" in scores.out or "conclude" in scores.out


def test_audit_takes_a_log(run: Any, log: Path) -> None:
    roles = ["--attributes", "gender", "--tasks", "target", "--task-predictions", "answer"]
    ran = run("audit", log, *roles, "--metrics", "directional", "--resamples", "50", "--json", "-")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["metrics"]
    same = biasamp.audit(
        biasamp.read_eval_log(log),
        attributes="gender",
        tasks="target",
        task_predictions="answer",
        metrics="directional",
        resamples=50,
    )
    assert [entry["value"] for entry in found] == pytest.approx([entry["value"] for entry in same.document["metrics"]])


@pytest.mark.parametrize(
    "options, words",
    [
        ([], "--attribute"),
        (["--item", "item", "-i", "lic"], "--item needs --attribute"),
        (["--attribute", "gender", "--topic", "x"], "--topic belongs to --item"),
        (["--attribute", "gender", "--text", "none"], "none"),
        (["--attribute", "item", "--text", "new"], "mask"),
        (["-i", "lic", "--text", "old,new"], "--text names 2 columns"),
        (["-i", "lic", "--text", "new", "--log-filter", "x"], "--log-filter"),
        (["--attribute", "gender"], "--text"),
    ],
)
def test_mistakes_are_messages(run: Any, captions: Path, options: list[str], words: str) -> None:
    ran = run("text", captions, *options)
    assert ran.code == 2
    assert words in ran.err
    assert "Traceback" not in ran.err


def test_a_hostile_log_is_a_message(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a":' * 5000 + "1" + "}" * 5000)
    for command in (["text", path, "--attribute", "gender"], ["audit", path, "--attributes", "a", "--tasks", "b"]):
        ran = run(*command)
        assert ran.code == 2
        assert "x.json" in ran.err
