"""Long tables of labels in several orders, their counts by hand, and their files, for tests of counting them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from biasamp.data.label_source import LabelPart, LabelSource
from biasamp.data.parts import split

RECORDS, ROWS = 4_000, 30_000
IDENTITIES = {"a": ["y0", "y3"], "b": ["y1"], "c": ["y2"]}
COLUMNS = {"record": "id", "label": "tag"}


def rows(order: str, text: bool) -> pa.Table:
    """Distinct rows of (record, label, score), in the order of their records, of other ids, or in none."""
    rng = np.random.default_rng(7)
    cells = np.unique(rng.integers(0, RECORDS, ROWS) * 200 + np.minimum(rng.geometric(0.05, ROWS) - 1, 199))
    record, label = np.divmod(cells, 200)
    if order == "grouped":
        place = rng.permutation(RECORDS)[record]
        by = np.argsort(place, kind="stable")
        record, label = record[by], label[by]
    if order == "unsorted":
        by = rng.permutation(len(record))
        record, label = record[by], label[by]
    score = rng.random(len(record))
    ids = pa.array([f"r{x:05d}" for x in record.tolist()]) if text else pa.array(record)
    return pa.table({"id": ids, "tag": pa.array([f"y{y}" for y in label.tolist()]), "p": score})


def slow_counts(table: pa.Table) -> dict[str, Any]:
    """n, C(y), C(x,y) and C(a,b,y), from one Python set a record."""
    sets: dict[Any, set[str]] = {}
    for record, label in zip(table["id"].to_pylist(), table["tag"].to_pylist(), strict=True):
        sets.setdefault(record, set()).add(label)
    labels = sorted({label for held in sets.values() for label in held})
    place = {label: i for i, label in enumerate(labels)}
    count = np.zeros(len(labels), int)
    joint, both = np.zeros((len(labels), 3), int), np.zeros(len(labels), int)
    for held in sets.values():
        own = [any(label in held for label in group) for group in IDENTITIES.values()]
        for label in held:
            count[place[label]] += 1
            joint[place[label]] += own
            both[place[label]] += own[0] and own[1]
    return {"n": len(sets), "labels": labels, "count": count, "joint": joint, "both": both}


def check(result: Any, expected: dict[str, Any]) -> None:
    assert result.n == expected["n"]
    assert list(result.labels) == expected["labels"]
    assert (result.count == expected["count"]).all()
    assert (result.joint == expected["joint"]).all()
    assert (result.values.counts.both(0, 1) == expected["both"]).all()


def folder_of(table: pa.Table, folder: Path, files: int = 3, group: int = 1777) -> Path:
    """Files whose edges, and whose row groups' edges, fall inside records; one file has no rows."""
    folder.mkdir(exist_ok=True)
    for number, start in enumerate(range(0, len(table), -(-len(table) // files))):
        piece = table.slice(start, -(-len(table) // files))
        pq.write_table(piece, folder / f"{number}.parquet", row_group_size=group)
    pq.write_table(table.slice(0, 0), folder / "0b.parquet")
    return folder


def cut(source: LabelSource, folder: Path, part_rows: int) -> LabelSource:
    """The same files in smaller parts."""
    assert source.parts is not None
    plan = source.parts[0].plan
    parts = [LabelPart(p, plan) for p in split(sorted(folder.glob("*.parquet")), plan.columns, part_rows=part_rows)]
    return replace(source, parts=parts)
