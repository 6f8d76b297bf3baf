"""How to read another file format: one entry of the table, and everything that reads files reads it.

ORC stands for any format here. The short entry is enough for files that fit into memory; the long one reads a large
file stripe by stripe.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import biasamp
from biasamp.cli import group
from biasamp.data.file_format import Format, Layout, Piece, Text, opened
from biasamp.data.formats import FORMATS

orc = pytest.importorskip("pyarrow.orc")


SHORT = Format(
    "orc",
    "ORC (.orc)",
    (".orc",),
    schema=lambda path: orc.ORCFile(opened(path)).schema,
    read=lambda path, columns: orc.ORCFile(opened(path)).read(columns=columns),
)


def split(path: Path, columns: list[str], _: Text) -> Layout:
    file = orc.ORCFile(opened(path))
    types = {name: file.schema.field(name).type for name in columns}
    return Layout(types, [file.read_stripe(i, columns[:1]).num_rows for i in range(file.nstripes)], "stripe")


def batches(piece: Piece, rows: int) -> Iterator[Any]:
    file = orc.ORCFile(opened(piece.path))
    for stripe in piece.groups or range(file.nstripes):
        yield file.read_stripe(stripe, list(piece.types)).select(list(piece.types))


LONG = Format("orc", "ORC (.orc)", (".orc",), SHORT.schema, SHORT.read, split, batches, magic=b"ORC")


@pytest.fixture(params=[SHORT, LONG], ids=["short", "long"])
def files(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(FORMATS, "orc", request.param)
    for name, table in TABLES.items():
        orc.write_table(table, tmp_path / f"{name}.orc", stripe_size=1 << 10, batch_size=64)
    return tmp_path


TABLES = {
    "audit": pa.table({"g": ["w", "m"] * 400, "t": [1, 0, 0, 0] * 200, "p": [1, 1, 0, 0] * 200}),
    "labels": pa.table({"image": [i // 2 for i in range(800)], "label": ["man", "bike", "woman", "hat"] * 200}),
}
ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": ["directional"]}


def test_audits_and_counts(files: Path) -> None:
    expected = biasamp.audit(TABLES["audit"], **ROLES).to_dict()["metrics"]
    assert biasamp.audit(files / "audit.orc", **ROLES).to_dict()["metrics"] == expected
    counts = biasamp.count(files / "audit.orc", attributes="g", tasks="t", task_predictions="p")
    counted = biasamp.audit(counts, metrics=["directional"]).to_dict()["metrics"]
    assert [entry["value"] for entry in counted] == [entry["value"] for entry in expected]


def test_associations(files: Path) -> None:
    result = biasamp.associate(files / "labels.orc", ["man", "woman"], record="image", label="label")
    assert (result.n, list(result.labels)) == (400, ["bike", "hat", "man", "woman"])
    assert result.joint.tolist() == [[200, 0], [0, 200], [200, 0], [0, 200]]


def test_the_command_line(files: Path) -> None:
    roles = ["--attributes", "g", "--tasks", "t", "--task-predictions", "p"]
    done = CliRunner().invoke(group, ["audit", str(files / "audit.orc"), *roles, "--metrics", "directional"])
    assert done.exit_code == 0, done.output


def test_what_is_wrong_is_said_as_of_any_file(files: Path) -> None:
    with pytest.raises(ValueError, match=r"audit\.orc has no column 'tt'; did you mean 't'"):
        biasamp.audit(files / "audit.orc", **{**ROLES, "tasks": "tt"})
    (files / "broken.orc").write_bytes(b"no table")
    with pytest.raises(ValueError, match=r"broken\.orc cannot be read as orc"):
        biasamp.audit(files / "broken.orc", **ROLES)
    (files / "x.doc").write_bytes(b"no table")
    with pytest.raises(ValueError, match=r"JSON lines \(\.jsonl\) and ORC \(\.orc\), also gzipped are"):
        biasamp.audit(files / "x.doc", **ROLES)
