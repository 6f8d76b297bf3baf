"""What an audit hands back: JSON by the committed schema, tables, files that are read again."""

from __future__ import annotations

import copy
import gzip
import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import biasamp

SCHEMA = json.loads(files("biasamp.report").joinpath("audit.schema.json").read_text(encoding="utf-8"))
N = 90
rng = np.random.default_rng(8)
DATA: dict[str, Any] = {
    "gender": np.where(np.arange(N) % 3 == 0, "woman", "man"),
    "race": rng.choice(["x", "y", "z"], N),
    "t": rng.integers(0, 2, N),
    "p": rng.random(N),
    "u": rng.integers(0, 2, N),
    "q": rng.integers(0, 2, N),
    "guess": rng.choice(["woman", "man"], N),
    "tags": [["a"], [], ["a", "b"]] * 30,
    "said": [["a", "c"], ["b"], []] * 30,
    "w": rng.random(N),
    "c": np.arange(N) // 3,
    "gap": [None if i % 7 == 0 else i % 2 for i in range(N)],
    "same": ["k"] * N,
    "zero": [0] * N,
    "copy": None,
    "place": np.arange(N) % 3,
    "new": np.where(np.arange(N) % 5 == 0, 7, np.arange(N) % 3),
}
DATA["copy"] = list(DATA["t"])
CASES: dict[str, dict[str, Any]] = {
    "plain": {"attributes": "gender", "tasks": "t", "task_predictions": "q"},
    "soft": {"attributes": "gender", "tasks": "t", "task_predictions": "p"},
    "both": {"attributes": "gender", "tasks": "t", "task_predictions": "q", "attribute_predictions": "guess"},
    "crossed": {"attributes": ["gender", "race"], "tasks": "t", "task_predictions": "q", "intersections": True},
    "several": {"attributes": "gender", "tasks": ["t", "u"], "task_predictions": ["p", "q"]},
    "lists": {"attributes": "race", "tasks": "tags", "task_predictions": "said"},
    "weighted": {"attributes": "gender", "tasks": "t", "task_predictions": "q", "weights": "w"},
    "clusters": {"attributes": "gender", "tasks": "t", "task_predictions": "q", "cluster": "c"},
    "dropped": {"attributes": "gender", "tasks": "gap", "task_predictions": "q", "missing": "drop"},
    "negative": {"attributes": "gender", "tasks": "gap", "task_predictions": "q", "missing": "negative"},
    "invented": {"attributes": "gender", "tasks": "place", "task_predictions": "new"},
    "one group": {"attributes": "same", "tasks": "t", "task_predictions": "q"},
    "one outcome": {"attributes": "gender", "tasks": "zero", "task_predictions": "q"},
    "perfect": {"attributes": "gender", "tasks": "t", "task_predictions": "copy"},
    "train": {"attributes": "gender", "tasks": "t", "task_predictions": "q", "train": {"gender": ["woman", "man", "man"], "t": [1, 0, 1]}},
    "base": {"attributes": "gender", "tasks": "t", "task_predictions": "q", "base": {"woman": {"0": 1, "1": 3}, "man": {"0": 2, "1": 2}}},
    "one record": {"attributes": "gender", "tasks": "t", "task_predictions": "q"},
    "two records": {"attributes": "gender", "tasks": "t", "task_predictions": "q"},
}  # fmt: skip
FEW = {"one record": 1, "two records": 2}


def audited(case: str, **options: Any) -> Any:
    data = {name: values[: FEW.get(case, N)] for name, values in DATA.items()}
    return biasamp.audit(data, **{"resamples": 30, **CASES[case], **options})


def numbers(value: Any) -> Any:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, float):
        yield value


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("case", CASES)
def test_json_follows_the_schema_without_nan_or_infinity(case: str, tmp_path: Path) -> None:
    audit = audited(case)

    def refuse(name: str) -> None:
        raise AssertionError(f"JSON holds {name}")

    text = audit.to_json(tmp_path / "audit.json")
    document = json.loads(text, parse_constant=refuse)
    jsonschema.validate(document, SCHEMA)
    assert all(map(math.isfinite, numbers(document)))
    assert set(document.pop("checksum")) > set(document) - {"metrics"}
    assert document == audit.to_dict()  # plain values and nothing else: they survive the way through text
    assert (tmp_path / "audit.json").read_text(encoding="utf-8") == text + "\n"


@pytest.mark.parametrize(
    "change", ["a metric of no known name", "a value that is text", "no findings", "another schema"]
)
def test_the_schema_can_fail(change: str) -> None:
    document = copy.deepcopy(audited("plain").to_dict())
    if change == "no findings":
        del document["findings"]
    elif change == "another schema":
        document["schema"] = 2
    elif change == "a value that is text":
        document["metrics"][0]["value"] = "nan"
    else:
        document["metrics"][0]["metric"] = "fairness"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


@pytest.mark.parametrize("name", ["audit.json", "audit.json.gz"])
@pytest.mark.parametrize("case", ["both", "crossed", "lists", "one record"])
def test_saved_audits_are_read_again(case: str, name: str, tmp_path: Path) -> None:
    audit = audited(case)
    audit.save(tmp_path / name)
    loaded = biasamp.Audit.load(tmp_path / name)
    assert loaded.to_json() == audit.to_json()
    assert (audit.source, loaded.source) == ("data", name)
    assert loaded.findings == audit.findings
    assert loaded.summary == audit.summary.replace(" records of data;", f" records of {name};")
    assert list(loaded.pairs.rows()) == list(audit.pairs.rows())
    loaded.save(tmp_path / f"again-{name}")
    assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_json_itself_can_be_loaded(tmp_path: Path) -> None:
    audit = audited("plain")
    audit.to_json(tmp_path / "x.json")
    assert biasamp.Audit.load(tmp_path / "x.json").to_dict() == audit.to_dict()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello", "x.json is no saved audit"),
        (b"", "x.json is no saved audit"),
        (b"[1]", "x.json is JSON, but no saved audit"),
        (b'{"a": 1}', "x.json is JSON, but no saved audit"),
        (b'{"schema": 9, "metrics": [], "findings": []}', "has schema 9; this version reads schema 1"),
        (
            b'{"schema": 1, "metrics": [], "findings": []}',
            "x.json is a saved audit with a field of another form: data is missing",
        ),
        (
            b'{"schema": 1, "metrics": 3, "findings": "x", "data": []}',
            "x.json is a saved audit with a field of another form: excluded is missing",
        ),
        (gzip.compress(b'{"a": 1}', mtime=0)[:12], "x.json is no saved audit"),
        (b"\xff\xfe\x00", "x.json is no saved audit"),
        (gzip.compress(bytes(range(256)), mtime=0)[:10] + b"\xff" * 40, "x.json is no saved audit"),
        (b"[" * 100_000, "x.json is no saved audit"),
    ],
)
def test_what_is_no_saved_audit(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        biasamp.Audit.load(tmp_path / "x.json")
    with pytest.raises(FileNotFoundError, match="no file"):
        biasamp.Audit.load(tmp_path / "y.json")


def test_tables_hold_the_figures_of_the_document() -> None:
    audit = audited("both")
    rows = list(audit.metrics.rows())
    entries = audit.document["metrics"]
    assert [(r["metric"], r["direction"] or None, r["value"], r["low"]) for r in rows] == [
        (e["metric"], e["direction"], e["value"], e["interval"][0]) for e in entries
    ]
    pairs = [pair for entry in entries for pair in entry.get("pairs", ())]
    assert [row["delta"] for row in audit.pairs.rows()] == [pair["delta"] for pair in pairs]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("which", ["metrics", "pairs", "excluded", "invented"])
def test_frames(backend: str, which: str) -> None:
    audit = audited("invented")
    frame = audit.to_frame(which, backend)
    assert type(frame).__module__.split(".")[0] == backend
    assert len(frame) == len(list(getattr(audit, which).rows()))
    with pytest.raises(ValueError, match="which is 'rows'"):
        audit.to_frame("rows")


def test_the_summary_says_what_was_looked_at_and_found() -> None:
    audit = audited("crossed")
    assert audit.summary.startswith("90 records of data; attributes: gender, race, gender x race; tasks: t.")
    assert audit.findings[0].text in str(audit)


def test_html_is_escaped() -> None:
    name = "<script>alert(1)</script>"
    audit = biasamp.audit(
        {name: DATA["gender"], "t": DATA["t"], "q": DATA["q"]},
        attributes=name,
        tasks="t",
        task_predictions="q",
        resamples=20,
    )
    assert "<script>alert" not in audit._repr_html_()
    assert "&lt;script&gt;" in audit._repr_html_()


def test_text_that_no_encoding_can_write(tmp_path: Path) -> None:
    """A lone surrogate, as a broken file name or JSON escape gives, must not stop the audit at its last step."""
    broken = "a\ud800b"
    audit = biasamp.audit(
        {"g": [broken, "x"] * 30, "t": [0, 1, 1] * 20, "p": [0, 1] * 30},
        attributes="g",
        tasks="t",
        task_predictions="p",
        resamples=20,
    )
    audit.to_json(tmp_path / "x.json")
    audit.save(tmp_path / "y.json.gz")
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["data"]["groups"]
    assert biasamp.Audit.load(tmp_path / "y.json.gz").to_json() == audit.to_json()
