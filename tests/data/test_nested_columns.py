"""Fields of nested columns by dotted names, in every format that has them, whole and in parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import biasamp
from biasamp.data.files import open_files
from biasamp.data.formats import BLOCK
from biasamp.data.parts import read_table, split
from table_files import write

ROWS: list[dict[str, Any]] = [
    {
        "id": i,
        "doc": {"gender": "wm"[i % 2], "deep": {"t": i % 3 == 0, "x": i / 2}, "words": ["cat", "dog"][: i % 3]},
        "doc.age": i % 7,
        "said": {"t": i % 4 == 0},
    }
    for i in range(60)
]
ROWS[5]["doc"] = None
ROWS[6]["doc"] = {"gender": None, "deep": None, "words": None}
NAMES = ["doc.gender", "id", "doc.deep.t", "doc.words", "doc.age", "said.t"]


def value(row: dict[str, Any], name: str) -> Any:
    held: Any = row
    for step in [name] if name == "doc.age" else name.split("."):
        held = None if held is None else held[step]
    return held


EXPECTED = [{name: value(row, name) for name in NAMES} for row in ROWS]
KINDS = ["x.parquet", "x.feather", "x.arrow", "x.jsonl", "x.parquet.gz", "x.jsonl.gz"]


@pytest.mark.parametrize("name", KINDS)
def test_whole_and_in_parts(tmp_path: Path, name: str) -> None:
    files = open_files(write(pa.Table.from_pylist(ROWS), tmp_path / name))
    assert files.column_names() == [
        *("id", "doc.gender", "doc.deep.t", "doc.deep.x", "doc.words", "doc.age", "said.t"),
    ]
    assert read_table(files, NAMES).to_pylist() == EXPECTED
    parts = split(files, NAMES)
    batches = [b for part in parts for b in part.batches(rows=7)]
    assert pa.Table.from_batches(batches, pa.schema(parts[0].fields)).to_pylist() == EXPECTED
    coded = [b for part in parts for b in part.batches(["doc.gender", "id"], categories=["doc.gender"])]
    assert [row for b in coded for row in b.to_pylist()] == [
        {"doc.gender": row["doc.gender"], "id": row["id"]} for row in EXPECTED
    ]


@pytest.mark.parametrize("name", ["x.parquet", "x.jsonl"])
def test_a_column_of_the_name_wins_over_a_field(tmp_path: Path, name: str) -> None:
    rows = [{"a": {"b": i, "c": 0}, "a.b": -i} for i in range(5)]
    files = open_files(write(pa.Table.from_pylist(rows), tmp_path / name))
    assert files.column_names() == ["a.c", "a.b"]
    assert read_table(files, ["a.b", "a.c"]).to_pylist() == [{"a.b": -i, "a.c": 0} for i in range(5)]


def test_messages_offer_dotted_names(tmp_path: Path) -> None:
    files = open_files(write(pa.Table.from_pylist(ROWS), tmp_path / "x.parquet"))
    with pytest.raises(ValueError, match=r"x\.parquet has no column 'doc\.gendre'; did you mean 'doc\.gender'"):
        read_table(files, ["doc.gendre"])
    with pytest.raises(ValueError, match=r"x\.parquet has no column 'gender'; did you mean 'doc\.gender'"):
        read_table(files, ["gender"])
    with pytest.raises(
        TypeError, match=r"column 'doc' holds fields: name one of them, such as 'doc\.gender', 'doc\.deep'"
    ):
        biasamp.audit(tmp_path / "x.parquet", attributes="doc", tasks="doc.age", task_predictions="id")
    for others in (["id"], ["doc.gender"]):
        with pytest.raises(TypeError, match=r"column 'doc' holds fields: name one of them"):
            biasamp.audit(
                tmp_path / "x.parquet", attributes="doc", tasks=others, task_predictions=["said.t"], engine="local"
            )
    twice = pa.table({"a": [{"b.c": 1, "b": {"c": 2}}]})
    with pytest.raises(ValueError, match=r"y\.parquet has 2 columns named 'a\.b\.c'"):
        read_table(open_files(write(twice, tmp_path / "y.parquet")), ["a.b.c"])


def test_lines_of_a_later_block_may_have_more_fields(tmp_path: Path) -> None:
    filler = "x" * (BLOCK // 4)
    rows = [{"doc": {"a": 1}, "filler": filler}] * 5 + [{"doc": {"b": "late", "a": 0.5}}]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    parts = split(open_files(tmp_path / "x.jsonl"), ["doc.b", "doc.a"])
    found = [row for part in parts for b in part.batches() for row in b.to_pylist()]
    assert found == [{"doc.b": None, "doc.a": 1.0}] * 5 + [{"doc.b": "late", "doc.a": 0.5}]


@pytest.mark.parametrize("name", ["x.parquet", "x.jsonl"])
def test_audits_and_associations(tmp_path: Path, name: str) -> None:
    rows = [row for row in ROWS if row["doc"] and row["doc"]["gender"]]
    path = write(pa.Table.from_pylist(rows), tmp_path / name)
    plain = pa.table(
        {
            "g": [row["doc"]["gender"] for row in rows],
            "t": [row["doc"]["deep"]["t"] for row in rows],
            "p": [row["said"]["t"] for row in rows],
            "words": [row["doc"]["words"] for row in rows],
        }
    )
    settings: dict[str, Any] = {"metrics": ["directional"], "resamples": 20}
    roles = {"attributes": "doc.gender", "tasks": "doc.deep.t", "task_predictions": "said.t"}
    expected = biasamp.audit(plain, attributes="g", tasks="t", task_predictions="p", **settings).to_dict()["metrics"]
    for engine in ("auto", "local"):
        found = biasamp.audit(path, **roles, **settings, engine=engine).to_dict()["metrics"]
        assert [entry["value"] for entry in found] == [entry["value"] for entry in expected]
    found = biasamp.associate(path, ["cat", "dog"], label="doc.words")
    assert found.joint.tolist() == biasamp.associate(plain, ["cat", "dog"], label="words").joint.tolist()
