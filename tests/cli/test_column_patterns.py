"""Patterns stand for columns of the file, in its order, paired by what their stars stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import biasamp
from biasamp.cli import group
from biasamp.cli.column_patterns import expand_patterns
from biasamp.cli.role_options import split_names

COLUMNS = ["g", "obj_b", "obj_a", "id", "pred_a", "obj_id", "pred_b", "obj_c, d", "pred_c, d", "s_a", "x*"]


def data(folder: Path, columns: list[str]) -> str:
    pq.write_table(pa.table({name: [i % 2, 0, 1] for i, name in enumerate(columns)}), folder / "x.parquet")
    return str(folder / "x.parquet")


def expanded(path: str, **params: Any) -> dict[str, Any]:
    given: dict[str, Any] = dict(params)
    expand_patterns(given, path, {name: f"--{name.replace('_', '-')}" for name in given})
    if "models" in given:
        return given
    return {name: split_names(value, name) for name, value in given.items()}


def test_names_come_in_the_order_of_the_file_and_of_their_partners(tmp_path: Path) -> None:
    path = data(tmp_path, COLUMNS)
    found = expanded(path, attributes="g", tasks="obj_*", task_predictions="pred_*", record="obj_id")
    assert found == {
        "attributes": "g",
        "tasks": ["obj_b", "obj_a", "obj_c, d"],
        "task_predictions": ["pred_b", "pred_a", "pred_c, d"],
        "record": "obj_id",
    }


def test_without_a_partner_a_pattern_is_a_list(tmp_path: Path) -> None:
    path = data(tmp_path, COLUMNS)
    assert expanded(path, tasks="g, pred_*")["tasks"] == ["g", "pred_a", "pred_b", "pred_c, d"]
    assert expanded(path, tasks="s_*")["tasks"] == "s_a"
    assert expanded(path, tasks="*_a", task_predictions="obj_b,g,id") == {
        "tasks": ["obj_a", "pred_a", "s_a"],
        "task_predictions": ["obj_b", "g", "id"],
    }


def test_a_column_whose_name_has_a_star_is_meant(tmp_path: Path) -> None:
    path = data(tmp_path, [*COLUMNS, "xy"])
    assert expanded(path, tasks="x*") == {"tasks": "x*"}


def test_the_pattern_that_says_more_of_a_name_has_it(tmp_path: Path) -> None:
    path = data(tmp_path, ["g", "obj_a", "obj_a_pred", "obj_b", "obj_b_pred"])
    assert expanded(path, tasks="obj_*", task_predictions="obj_*_pred") == {
        "tasks": ["obj_a", "obj_b"],
        "task_predictions": ["obj_a_pred", "obj_b_pred"],
    }


def test_several_patterns_go_one_with_one(tmp_path: Path) -> None:
    path = data(tmp_path, ["a_1", "a_2", "b_1", "p_1", "p_2", "q_1"])
    assert expanded(path, tasks="a_*,b_*", task_predictions="p_*,q_*")["task_predictions"] == ["p_1", "p_2", "q_1"]
    with pytest.raises(click.UsageError, match="--task-predictions has 1 patterns and --tasks 2"):
        expanded(path, tasks="a_*,b_*", task_predictions="p_*")


def test_models_have_patterns_of_their_own(tmp_path: Path) -> None:
    path = data(tmp_path, ["a_1", "a_2", "new_2", "new_1", "old_1", "old_2"])
    found = expanded(path, tasks="a_*", models=("old=old_*", "new=new_*"))
    assert found == {"tasks": '"a_1","a_2"', "models": ('old="old_1","old_2"', 'new="new_1","new_2"')}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tasks": "no_*"}, r"--tasks 'no_\*' matches no column of x\.parquet; left are 'g', 'obj_b'"),
        (
            {"tasks": "obj_*", "task_predictions": "pred_*"},
            r"no partner: 'obj_id' of --tasks 'obj_\*'$",
        ),
        (
            {"tasks": "s_*", "task_predictions": "pred_*"},
            r"no partner: 'pred_b', 'pred_c, d' of --task-predictions 'pred_\*'$",
        ),
    ],
)
def test_what_has_no_partner_is_named(tmp_path: Path, params: dict[str, str], message: str) -> None:
    with pytest.raises(click.UsageError, match=message):
        expanded(data(tmp_path, COLUMNS), **params)


def test_commands_take_patterns(tmp_path: Path) -> None:
    rows = 80
    held = {
        "g": ["w", "m"] * (rows // 2),
        "obj_cat": [1, 0, 0, 0] * (rows // 4),
        "obj_dog": [0, 0, 1, 0, 1] * (rows // 5),
        "pred_dog": [0, 1, 1, 0] * (rows // 4),
        "pred_cat": [1, 1, 0, 0, 0] * (rows // 5),
        "s_dog": [i / rows for i in range(rows)],
        "s_cat": [1 - i / rows for i in range(rows)],
    }
    pq.write_table(pa.table(held), tmp_path / "x.parquet")
    audit = biasamp.audit(
        tmp_path / "x.parquet",
        attributes="g",
        tasks=["obj_cat", "obj_dog"],
        task_predictions=["pred_cat", "pred_dog"],
        metrics=["directional"],
    )
    line = [
        "audit",
        str(tmp_path / "x.parquet"),
        "--attributes",
        "g",
        "--tasks",
        "obj_*",
        "--task-predictions",
        "pred_*",
    ]
    saved = str(tmp_path / "audit.json")
    done = CliRunner().invoke(group, [*line, "--metrics", "directional", "--save", saved])
    assert done.exit_code == 0, done.output
    assert biasamp.Audit.load(saved).document["metrics"] == audit.document["metrics"]
    line = ["calibrate", str(tmp_path / "x.parquet"), "--scores", "s_*", "--truth", "obj_*", "--csv", "-"]
    done = CliRunner().invoke(group, line)
    assert done.exit_code == 0, done.output
    assert [row.split(",")[0] for row in done.stdout.splitlines()[1:]] == ["s_dog", "s_cat"]
