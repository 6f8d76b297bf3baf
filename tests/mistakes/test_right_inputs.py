"""Everyday inputs that are right, and look like a mistake at first sight: none is refused."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp.cli import main

G, T, P = ["M", "F"] * 30, [0, 1, 1] * 20, [0, 1, 0, 1] * 15
GROUPS: dict[str, list[Any]] = {
    "codes of gender": ["M", "F", "MtF", "FtM"],
    "two words": ["North", "East", "North East"],
    "pronouns": ["he", "she", "they", "he/they", "she/they"],
    "hand-made crossings": ["F|Black", "F|White", "M|Black", "M|White"],
    "ranges": ["[0,18]", "(18,25]", "(25,65]"],
    "months": ["2024-01-01", "2024-02-01", "2024-03-01"],
    "ages with colons": ["18:25", "26:35", "36:45"],
    "shifts": ["06:00", "14:00", "22:00"],
    "versions": ["2024.1.0", "2024.2.0", "2024.3.0"],
    "job titles": ["sales", "manager", "sales manager"],
}
OUTCOMES: dict[str, tuple[list[Any], list[Any]]] = {
    "grades": (["A", "A-", "B", "B-"], ["A", "A-", "B", "B"]),
    "letters": (["s", "t", "u"], ["s", "t", "y"]),
    "sentiment": ([-1, 0, 1], [0, 0, 1]),
    "diagnoses": (["250.1", "250.2", "3"], ["250.1", "250.10", "250.2", "3"]),
    "digits": (list(range(10)), [*range(9), 8]),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups(name: str) -> None:
    values = GROUPS[name] * (60 // len(GROUPS[name]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert biasamp.directional(values, T, P).n == 60
        data = {"g": values, "t": T, "p": P}
        assert biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics="directional").document


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes(name: str) -> None:
    truth, said = (values * (60 // len(values)) for values in OUTCOMES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert biasamp.directional(G, truth, said).n == 60


def test_lists_of_labels_as_arrays() -> None:
    """As libraries hand out columns of lists: ragged, and all of one length."""
    for short in ([], ["b"]):
        truth, said = ([["a", *short] if x else ["b"] for x in side] for side in (T, P))
        arrays = [[np.array(one) for one in side] for side in (truth, said)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert biasamp.directional(G, *arrays).value == biasamp.directional(G, truth, said).value
            roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": "directional"}
            held = biasamp.audit({"g": G, "t": arrays[0], "p": arrays[1]}, **roles)
        assert held.document["metrics"][0]["value"] == biasamp.directional(G, truth, said).value


def test_rows_of_a_matrix_as_arrays() -> None:
    rows = [np.array([x, 1 - x]) for x in T]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (
            biasamp.directional(G, rows, rows[::-1]).value
            == biasamp.directional(G, np.array(rows), np.array(rows[::-1])).value
        )


def test_other_groups_in_train() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert biasamp.directional(["F", "M"] * 30, T, P, train=(["F", "M", "N"] * 20, T)).n == 60


def test_the_same_index_in_another_type() -> None:
    index = pd.RangeIndex(60)
    found = biasamp.directional(pd.Series(G), pd.Series(T, index=index.astype("Int64")), P)
    assert found.value == biasamp.directional(G, T, P).value
    with pytest.raises(ValueError, match=r"'0' \(int\) in given and '0' \(str\) in truth"):
        biasamp.directional(pd.Series(G), pd.Series(T, index=index.astype(str)), P)


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_declared_values_of_text_files_are_what_is_written(engine: str, tmp_path: Path) -> None:
    """Countries, names and versions that look like missing values or like numbers."""
    region, version, said = ["NA", "EU", "Null"] * 20, ["1.1", "1.10"] * 30, ["1.1", "1.10", "1.10"] * 20
    data = {"region": region, "version": version, "said": said, "t": T, "p": P}
    pd.DataFrame(data).to_csv(tmp_path / "data.csv", index=False)
    regions, versions = (biasamp.categorical(name, sorted(set(data[name]))) for name in ("region", "version"))
    for roles in (
        {"attributes": regions, "tasks": "t", "task_predictions": "p"},
        {"attributes": regions, "tasks": versions, "task_predictions": "said"},
    ):
        options = {**roles, "metrics": "directional", "resamples": 50}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = biasamp.audit(tmp_path / "data.csv", **options, engine=engine)
            held = biasamp.audit(data, **options)
        assert read.document["metrics"][0]["pairs"] == held.document["metrics"][0]["pairs"]
        assert [row["group"] for row in read.document["data"]["groups"]] == ["region=EU", "region=NA", "region=Null"]


def test_on_the_command_line_values_are_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.DataFrame({"region": ["NA", "EU"] * 30, "t": T, "p": P}).to_csv(tmp_path / "data.csv", index=False)
    roles = ["--attributes", "region", "--tasks", "t", "--task-predictions", "p", "--metrics", "directional"]

    def run(*more: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["biasamp", "audit", str(tmp_path / "data.csv"), *roles, "--json", "-", *more])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capsys.readouterr()

    code, _, said = run()
    assert code == 2
    assert "missing labels in region" in said
    code, out, _ = run("--categories", "attributes=EU,NA")
    assert code == 0
    groups = json.loads(out)["data"]["groups"]
    assert [(row["group"], row["records"]) for row in groups] == [("region=EU", 30), ("region=NA", 30)]
