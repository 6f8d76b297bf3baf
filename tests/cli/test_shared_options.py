"""Commands that read records take the same options, and speak of options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp.cli import group
from biasamp.cli.option_words import in_options
from biasamp.policy import Policy

READING = {
    *("attributes", "tasks", "train", "base", "weights", "record", "cluster", "missing", "unseen", "intersections"),
    *("as_binary", "as_categorical", "categories", "resamples", "seed", "confidence", "positive", "reference"),
    *("ignore_groups", "engine", "threads", "memory"),
}


def parameters(command: str) -> dict[str, Any]:
    found = group.get_command(None, command)  # type: ignore[arg-type]
    assert found is not None
    return {param.name or "": param for param in found.params}


@pytest.mark.parametrize("command", ["check", "compare", "why"])
def test_what_audit_reads_other_commands_read(command: str) -> None:
    audit, other = parameters("audit"), parameters(command)
    assert set(audit) >= READING
    assert READING - set(other) == set()
    for name in READING:
        assert other[name].opts == audit[name].opts


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    n = 600
    race = rng.choice(["a", "b", "other"], n, p=[0.5, 0.45, 0.05])
    ruling = np.where(rng.random(n) < np.where(race == "a", 0.6, 0.3), "granted", "denied")
    said = np.where(rng.random(n) < 0.9, ruling, "denied")
    path = tmp_path / "rulings.csv"
    pd.DataFrame({"race": race, "sex": rng.choice(["f", "m"], n), "ruling": ruling, "said": said}).to_csv(
        path, index=False
    )
    return path


COLUMNS = ["--attributes", "race,sex", "--tasks", "ruling", "--task-predictions", "said", "--resamples", "50"]


def run(*arguments: str) -> Any:
    try:
        return group.main(list(arguments), prog_name="biasamp", standalone_mode=False)
    except SystemExit as stop:
        return stop.code


def test_check_takes_the_positive_value_and_groups_to_ignore(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy, verdict = table.with_name("policy.toml"), table.with_name("verdict.json")
    chosen = ["--positive", "granted", "--ignore-groups", "other", "--intersections", "--metrics", "directional,parity"]
    run("check", str(table), "--init", "--policy", str(policy), *COLUMNS, *chosen)
    text = policy.read_text()
    assert 'positive = ["granted"]' in text
    assert 'ignore_groups = ["race=other"]' in text
    assert "intersections = true" in text
    groups = text[text.index("groups = [") : text.index("]", text.index("groups = ["))]
    assert "race=a" in groups
    assert "other" not in groups
    # Sex and ruling are independent; of a two-valued outcome each group is one fact.
    assert "2 of 2 directions unknown" in text
    assert "of 4 directions" not in text
    assert run("check", str(table), "--policy", str(policy), "--json", str(verdict)) in (0, 1, 3)
    held = json.loads(verdict.read_text())
    assert held["data"] == "rulings.csv"
    # Options take the place of what the policy says.
    with pytest.raises(ValueError, match="no group; did you mean 'other'"):
        run("check", str(table), "--policy", str(policy), "--ignore-groups", "Other")
    with pytest.raises(ValueError, match="positive"):
        run("check", str(table), "--policy", str(policy), "--positive", "allowed")


def test_a_verdict_names_the_file_of_an_audit_of_records_in_memory(table: Path) -> None:
    audit = biasamp.audit(
        pd.read_csv(table), attributes="sex", tasks="ruling", task_predictions="said", metrics=["directional"]
    )
    saved = table.with_name("model-7.json.gz")
    audit.save(saved)
    assert audit.source == "data"
    verdict = Policy(limits=[{"metric": "directional", "max": 0.1}]).check(saved)
    assert verdict.data == "model-7.json.gz"
    assert biasamp.Audit.load(saved).document == audit.document


def test_compare_reads_one_file_as_audit_does(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = ["--model", "old=said", "--model", "new=other"]
    frame = pd.read_csv(table)
    frame["other"] = np.where(np.arange(len(frame)) % 9 == 0, "granted", frame["ruling"])
    frame.to_csv(table, index=False)
    shared = ["--attributes", "race,sex", "--tasks", "ruling", "--resamples", "50", "--metrics", "parity"]
    run(
        "compare", str(table), *shared, *models, "--positive", "granted", "--ignore-groups", "race=other", "--json", "-"
    )
    rows = json.loads(capsys.readouterr().out)["differences"]
    assert {row["attribute"] for row in rows} == {"race", "sex"}
    with pytest.raises(Exception, match="--positive: this goes with one DATA file"):
        run("compare", f"old={table}", f"new={table}", "--positive", "granted")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "neither task_predictions nor attribute_predictions is given",
            "neither --task-predictions nor --attribute-predictions is given",
        ),
        ("intersections=True crosses several", "--intersections crosses several"),
        ("Name a column of ids with record=", "Name a column of ids with --record"),
        ("a column 'task_predictions' is missing", "a column 'task_predictions' is missing"),
        ('there is no column "min_group"', 'there is no column "min_group"'),
        ("space that has them, categorical(column, categories=[...])", "space that has them, --categories ROLE=VALUES"),
        ("engine='dask' needs dask", "--engine dask needs dask"),
        ("label_record=1 is none", "label_record=1 is none"),
        ("Without ground truth, use associate()", "Without ground truth, use biasamp associate"),
    ],
)
def test_arguments_are_options_in_messages(said: str, shown: str) -> None:
    assert in_options(said) == shown
