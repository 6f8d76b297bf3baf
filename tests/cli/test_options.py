"""Options that are given twice, and those of the sweep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp


@pytest.mark.parametrize("repeated", [["--tasks", "a", "--tasks", "b"], ["--tasks=a", "--tasks=b"]])
def test_an_option_given_twice_is_refused(run: Any, repeated: list[str]) -> None:
    """The first value would be lost without a word."""
    ran = run("audit", "data.csv", "--attributes", "g", *repeated, "--task-predictions", "p")
    assert ran.code == 2
    assert "--tasks is given 2 times; several names are separated by commas" in ran.err


def test_options_for_several_values_may_be_repeated(run: Any) -> None:
    ran = run("compare", "none.csv", "--attributes", "g", "--tasks", "t", "--model", "a=p", "--model", "b=q")
    assert "times" not in ran.err


def test_the_sweep_takes_what_the_function_takes(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"g": rng.choice(["f", "m"], 80), "t": rng.integers(0, 2, 80), "s": rng.random(80)})
    data["w"] = rng.integers(1, 4, 80)
    train = pd.DataFrame({"g": ["f"] * 30 + ["m"] * 30, "t": [1] * 20 + [0] * 20 + [1] * 20})
    data.to_csv(tmp_path / "data.csv", index=False)
    train.to_csv(tmp_path / "train.csv", index=False)
    roles = ["--scores", "s", "--attributes", "g", "--tasks", "t", "--weights", "w"]
    ran = run(
        "sweep", tmp_path / "data.csv", *roles, "--train", tmp_path / "train.csv", "--span", 0.2, 0.7, "--json", "-"
    )
    assert ran.code == 0
    expected = biasamp.sweep(
        data["s"], data["g"], data["t"], train=(train["g"], train["t"]), weights=data["w"], span=(0.2, 0.7)
    )
    assert json.loads(ran.out)["integral"] == pytest.approx(expected.integral, abs=1e-12)
    assert json.loads(ran.out)["sign_source"] == "the train labels"
    assert json.loads(ran.out)["span"] == [0.2, 0.7]


def test_choosing_thresholds_takes_what_the_function_takes(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    parts = {}
    for name in ("valid", "test"):
        group = rng.integers(2, size=300)
        truth = (rng.random((300, 2)) < 0.3 + 0.3 * group[:, None]).astype(int)
        scores = np.round(truth + rng.normal(size=(300, 2)) + group[:, None], 3)
        given = np.array(["m", "f"])[group]
        parts[name] = scores, given, truth
        rows = zip(given, *truth.T, *scores.T, strict=True)
        (tmp_path / f"{name}.csv").write_text("g,s,t,p,q\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    roles = ("--scores", "p,q", "--attributes", "g", "--tasks", "s,t", "--limit", "-0.01,0.02", "--limit-on", "task")
    more = (
        "--cost",
        1,
        3,
        "--by-group",
        "--threshold",
        "0.4,0.6",
        "--held-out",
        tmp_path / "test.csv",
        "--train",
        tmp_path / "test.csv",
    )
    found = json.loads(run("choose-thresholds", tmp_path / "valid.csv", *roles, *more, "--json", "-").out)
    options = {"limit": [-0.01, 0.02], "limit_on": "task", "cost": (1, 3), "by_group": True, "threshold": [0.4, 0.6]}
    expected = biasamp.choose_thresholds(*parts["valid"], **options, held_out=parts["test"], train=parts["test"][1:])
    assert [row["threshold"] for row in found["thresholds"]] == expected.thresholds.ravel().tolist()
    assert expected.held_out is not None
    assert found["used"] == [0.4, 0.6]
    there, here = found["held_out"], expected.held_out.to_dict()
    # The command names groups and tasks by their columns; arrays have no names.
    for name in ("before", "after"):
        assert [row[name] for row in there["effects"]] == [row[name] for row in here["effects"]]
    assert {**there, "effects": None} == {**here, "effects": None}


@pytest.mark.parametrize("command", ["calibrate", "sweep", "choose-thresholds"])
def test_columns_of_scores_are_called_by_their_names(run: Any, tmp_path: Path, command: str) -> None:
    (tmp_path / "x.csv").write_text("low,high,t,u,g\n" + "0.5,0.1,1,0,w\n0.2,inf,0,1,m\n" * 4)
    more = {
        "calibrate": ["--rate", "0.5"],
        "sweep": ["--attributes", "g", "--tasks", "t,u"],
        "choose-thresholds": ["--attributes", "g", "--tasks", "t,u", "--limit", "0.1"],
    }[command]
    ran = run(command, tmp_path / "x.csv", "--scores", "low,high", *more)
    assert ran.code == 2
    assert (
        "such as inf in column 'high' (row 2, counted from 1 without the header): no threshold can place them"
        in ran.err
    )
    assert "names the column 'low' twice" in run(command, tmp_path / "x.csv", "--scores", "low,low", *more).err


def test_any_number_of_thresholds_may_be_asked_for(run: Any, tmp_path: Path) -> None:
    """As many are shown as there are; counting through all that are asked for took hours."""
    data = tmp_path / "scores.csv"
    data.write_text("g,t,s\n" + "".join(f"{'ab'[i % 2]},{i % 3 % 2},0.{i % 5}\n" for i in range(60)))
    line = ["sweep", str(data), "--scores", "s", "--attributes", "g", "--tasks", "t", "--points"]
    many, all_there = run(*line, 10**12), run(*line, 6)
    assert (many.code, many.out) == (0, all_there.out)
