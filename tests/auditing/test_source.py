"""The same audit to the byte, whatever the records came as."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import biasamp
from biasamp.auditing.source import in_parts

N = 160
rng = np.random.default_rng(21)
GENDER = rng.choice(["woman", "man"], N)
RACE = rng.choice(["x", "y", "z"], N, p=[0.5, 0.3, 0.2])
TRUTH = (rng.random(N) < np.where(GENDER == "woman", 0.7, 0.3)).astype(np.int64)
SCORE = np.clip(TRUTH * 0.5 + rng.integers(0, 9, N) / 16, 0, 1)
GUESS = np.where(rng.random(N) < 0.2, GENDER[::-1], GENDER)
WEIGHT = rng.integers(1, 5, N) / 4
ID = np.array([f"r{i}" for i in range(N)])
DATA = {
    "gender": GENDER,
    "race": RACE,
    "hired": TRUTH,
    "score": SCORE,
    "gender_pred": GUESS,
    "w": WEIGHT,
    "id": ID,
    "unused": np.arange(N),
}
TABLE = pa.table({name: values.tolist() for name, values in DATA.items()})
PANDAS = pd.DataFrame({name: values.tolist() for name, values in DATA.items()})
ROLES: dict[str, Any] = {
    "attributes": ["gender", "race"],
    "tasks": "hired",
    "attribute_predictions": {"gender": "gender_pred"},
    "task_predictions": "score",
    "weights": "w",
    "record": "id",
    "resamples": 50,
}


@pytest.fixture(scope="module")
def expected() -> str:
    return biasamp.audit(DATA, **ROLES).to_json()


class Stream:
    """Nothing but an Arrow stream."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


MEMORY: dict[str, Callable[[], Any]] = {
    "lists": lambda: {name: values.tolist() for name, values in DATA.items()},
    "lists and arrays": lambda: {**DATA, "gender": GENDER.tolist(), "hired": TRUTH.astype(bool)},
    "object arrays": lambda: {name: values.astype(object) for name, values in DATA.items()},
    "pandas": lambda: PANDAS,
    "pandas objects": lambda: PANDAS.astype(object),
    "pandas nullable": lambda: PANDAS.convert_dtypes(),
    "pandas arrow": lambda: PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    "pandas categories": lambda: PANDAS.astype(dict.fromkeys(["gender", "race", "gender_pred", "hired"], "category")),
    "pandas with an index": lambda: PANDAS.set_index(np.arange(N)[::-1]),
    "pandas with other columns": lambda: PANDAS.assign(z=[object()] * N),
    "polars": lambda: pl.DataFrame(PANDAS),
    "polars categories": lambda: pl.DataFrame(PANDAS).with_columns(pl.col("gender", "race").cast(pl.Categorical)),
    "polars enum": lambda: pl.DataFrame(PANDAS).with_columns(pl.col("race").cast(pl.Enum(["q", "z", "y", "x"]))),
    "polars small types": lambda: pl.DataFrame(PANDAS).with_columns(
        pl.col("hired").cast(pl.Boolean), pl.col("score", "w").cast(pl.Float32)
    ),
    "pyarrow": lambda: TABLE,
    "pyarrow batch": lambda: TABLE.to_batches()[0],
    "pyarrow in chunks": lambda: pa.concat_tables([TABLE.slice(0, 7), TABLE.slice(7, 0), TABLE.slice(7)]),
    "pyarrow dictionaries": lambda: TABLE.set_column(0, "gender", TABLE["gender"].dictionary_encode()),
    "an Arrow stream": lambda: Stream(TABLE),
    "columns in another order": lambda: dict(reversed(list(DATA.items()))),
}


@pytest.mark.parametrize("form", MEMORY)
def test_data_in_memory(form: str, expected: str) -> None:
    assert biasamp.audit(MEMORY[form](), **ROLES).to_json() == expected


def _stream(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)


def _file(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)


FILES: dict[str, Callable[[Path], None]] = {
    "x.parquet": lambda path: pq.write_table(TABLE, path, row_group_size=50),
    "x.csv": lambda path: csv.write_csv(TABLE, path),
    "X.CSV": lambda path: csv.write_csv(TABLE, path),
    "x.csv.gz": lambda path: PANDAS.to_csv(path, index=False),
    "x.tsv": lambda path: PANDAS.to_csv(path, index=False, sep="\t"),
    "x.feather": lambda path: feather.write_feather(TABLE, str(path)),
    "x.arrow": _stream,
    "x.ipc": _file,
    "x.jsonl": lambda path: PANDAS.to_json(path, orient="records", lines=True),
    "x.ndjson.gz": lambda path: PANDAS.to_json(path, orient="records", lines=True, compression="gzip"),
}


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path: Path, name: str, expected: str) -> None:
    FILES[name](tmp_path / name)
    for path in (tmp_path / name, str(tmp_path / name)):
        audited = biasamp.audit(path, **ROLES)
        assert audited.named("data").to_json() == expected
        assert audited.source == name


@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.jsonl"])
@pytest.mark.parametrize("record", ["id", None])
def test_a_folder_of_shards_is_the_whole_to_the_byte(tmp_path: Path, name: str, record: str | None) -> None:
    """Records without an id are keyed by their row in the whole, counted through the files in the order of names.

    So even the resamples are the same; a category that a shard lacks, and one it has alone, change nothing.
    """
    order = np.argsort(RACE, kind="stable")  # the first shard has one race alone
    table = TABLE.take(order)
    folder = tmp_path / "folder"
    folder.mkdir()
    kind = name.rsplit(".", 1)[1]
    for i, (start, stop) in enumerate([(0, 20), (20, 21), (21, N)]):
        part = table.slice(start, stop - start)
        path = folder / f"part-{i}.{kind}"
        if kind == "parquet":
            pq.write_table(part, path)
        elif kind == "csv":
            csv.write_csv(part, path)
        else:
            part.to_pandas().to_json(path, orient="records", lines=True)
    roles = {**ROLES, "record": record}
    assert biasamp.audit(folder, **roles).named("data").to_json() == biasamp.audit(table, **roles).to_json()


def test_the_order_of_records_with_ids_changes_no_figure(expected: str) -> None:
    """Ids key the resamples, so a shuffled file gives the same intervals, and has the same fingerprint."""
    shuffled = biasamp.audit(TABLE.take(rng.permutation(N)), **ROLES).to_dict()
    whole = json.loads(expected)
    assert shuffled["data"]["fingerprint"] == whole["data"]["fingerprint"]
    assert [m["interval"] for m in shuffled["metrics"]] == [
        pytest.approx(m["interval"], rel=1e-12) if m["interval"][0] is not None else m["interval"]
        for m in whole["metrics"]
    ]
    assert [m["value"] for m in shuffled["metrics"]] == [pytest.approx(m["value"], rel=1e-12) for m in whole["metrics"]]


def test_twice_is_the_same(expected: str) -> None:
    assert biasamp.audit(DATA, **ROLES).to_json() == expected
    assert biasamp.audit(DATA, **{**ROLES, "seed": 1}).to_json() != expected


def test_the_fingerprint_tells_data_apart(expected: str) -> None:
    other = biasamp.audit({**DATA, "hired": 1 - TRUTH}, **ROLES).document["data"]["fingerprint"]
    assert other != json.loads(expected)["data"]["fingerprint"]
    same = biasamp.audit({**DATA, "unused": np.zeros(N)}, **ROLES).document["data"]["fingerprint"]
    assert same == json.loads(expected)["data"]["fingerprint"]


def test_without_ids_a_record_is_known_by_its_row() -> None:
    roles = {**ROLES, "record": None}
    whole, turned = (
        biasamp.audit(TABLE.take(order), **roles).document["data"]["fingerprint"]
        for order in (np.arange(N), np.arange(N)[::-1])
    )
    assert whole != turned


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pd.DataFrame(np.ones((3, 2)), columns=["gender", "gender"]), "same name|columns named"),
        (pa.table([[1], [2]], names=["gender", "gender"]), "2 columns named 'gender'|no column"),
        ({"gender": [1, 2], "hired": [1]}, "no column|different lengths"),
        ({**DATA, "hired": TRUTH[:5]}, r"different lengths"),
        ({**DATA, "hired": np.ones((N, 2))}, r"data\['hired'\] is a table, not one column"),
        ({name: values[:0] for name, values in DATA.items()}, "no records|is empty"),
        (pl.DataFrame(PANDAS).lazy().drop("gender"), "data has no column 'gender'"),
        (3, "data is a builtins int; a path, a dataframe in memory or a mapping"),
        (None, "data is a builtins NoneType"),
    ],
)
def test_data_that_are_no_table(data: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        biasamp.audit(data, **ROLES)


@pytest.mark.parametrize("cluster", [None, "person"])
def test_the_order_changes_no_bit_of_errors_that_are_sums_of_fractions(cluster: str | None) -> None:
    """MALS pairs, clusters, weights and Multi: their errors add fractions record by record."""
    rng = np.random.default_rng(3)
    n = 1500
    women = rng.integers(0, 2, n)
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(n)], "person": rng.integers(0, 300, n), "w": rng.random(n)})
    frame["gender"], frame["said"] = np.where(women, "f", "m"), np.where(rng.random(n) < 0.1, "f", "m")
    for k in range(3):
        frame[f"t{k}"] = (rng.random(n) < 0.3 + 0.1 * women * k).astype(int)
        frame[f"p{k}"] = np.where(rng.random(n) < 0.1, 1 - frame[f"t{k}"], frame[f"t{k}"])

    def figures(data: pd.DataFrame) -> Any:
        made = biasamp.audit(
            data,
            attributes="gender",
            tasks=["t0", "t1", "t2"],
            attribute_predictions="said",
            task_predictions=["p0", "p1", "p2"],
            metrics=["directional", "multi", "mals", "parity"],
            record="id",
            cluster=cluster,
            weights="w",
            resamples=50,
        )
        return made.to_dict()["metrics"]

    assert figures(frame.sample(frac=1, random_state=1)) == figures(frame)


def test_missing_probabilities_of_one_column_are_missing() -> None:
    rng = np.random.default_rng(0)
    group, truth, score = rng.choice(["f", "m"], 200), rng.integers(0, 2, 200), rng.random(200)
    gone = score.copy()
    gone[[3, 7]] = np.nan
    asked: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "s", "metrics": ["directional"]}
    with pytest.raises(
        ValueError, match=r"task_predictions has 2 records with missing labels in s \(rows 4, 8, counted"
    ):
        biasamp.audit({"g": group, "t": truth, "s": gone}, **asked)
    dropped = biasamp.audit({"g": group, "t": truth, "s": gone}, missing="drop", **asked)
    keep = ~np.isnan(gone)
    without = biasamp.directional(group[keep], truth[keep], score[keep])
    assert next(dropped.metrics.rows())["value"] == pytest.approx(without.value, abs=1e-12)
    assert dropped.to_dict()["data"]["missing_values"] == 2


def test_thresholds_of_an_audit_take_their_signs_from_the_train_labels() -> None:
    rng = np.random.default_rng(0)
    group, truth, score = rng.choice(["f", "m"], 300), rng.integers(0, 2, 300), rng.random(300)
    train = {"g": ["f"] * 50 + ["m"] * 50, "t": [1] * 40 + [0] * 20 + [1] * 40}
    made = biasamp.audit(
        {"g": group, "t": truth, "s": score},
        attributes="g",
        tasks="t",
        task_predictions="s",
        train=train,
        metrics=["directional"],
    )
    (swept,) = made.to_dict()["sweep"]
    soft = biasamp.directional(group, truth, score, train=(train["g"], train["t"])).value
    assert swept["sign_source"] == "the train labels"
    assert swept["integral"] == pytest.approx(soft, abs=1e-12)


def test_files_are_counted_in_parts_by_their_rows_and_columns(tmp_path: Path) -> None:
    path, rows = tmp_path / "few_bytes.parquet", 3_000_000
    table = pa.table({name: np.zeros(rows, dtype=np.int8) for name in "abcd"})
    pq.write_table(table, path)
    assert path.stat().st_size < 100_000
    assert in_parts(path, "auto", list("abcd"))
    assert not in_parts(path, "auto", ["a"])
    assert in_parts(path, "auto", ["a"], memory=1_000_000)
    assert in_parts(path, "local", ["a"])
    assert not in_parts({"a": np.zeros(rows)}, "auto", ["a"])


def test_zipped_files_are_taken_for_larger_than_they_are(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,1\n" * 10))
    assert not in_parts(path, "auto")
    assert in_parts(path, "auto", memory=100)
