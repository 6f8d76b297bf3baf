"""Every shape of input gives the same counts."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import biasamp

SETS = [
    ["man", "bike", 'quo"te, comma'],
    ["man", "line\nbreak", "bike"],
    [],
    ["woman", "😀", "bike"],
    ["woman", "man", "NA", "=1+1"],
    ["x" * 10_000, "woman"],
] * 5
LABELS = sorted({label for held in SETS for label in held})
ROWS = [(f"{i:03d}", label) for i, held in enumerate(SETS) for label in held]


def expected(label, identity, sets=SETS):
    return sum(label in held and identity in held for held in sets)


def check(result, n=None):
    assert result.n == (len(SETS) if n is None else n)
    assert list(result.labels) == LABELS
    for i, label in enumerate(result.labels):
        assert result.joint[i].tolist() == [expected(label, "man"), expected(label, "woman")]
        assert result.count[i] == sum(label in held for held in SETS)


def long_table():
    return pa.table({"id": [r for r, _ in ROWS], "what": [y for _, y in ROWS], "other": list(range(len(ROWS)))})


IDENTITIES = ["man", "woman"]
SEEN = len([held for held in SETS if held])  # a long table does not know of records without a label


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "dict", "category", "large", "chunks"])
def test_long_frames(form):
    table = long_table()
    data = {
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "arrow": lambda: table,
        "dict": table.to_pydict,
        "category": lambda: table.to_pandas().astype({"id": "category", "what": "category"}),
        "large": lambda: table.cast(
            pa.schema([("id", pa.large_string()), ("what", pa.large_string()), ("other", pa.int64())])
        ),
        "chunks": lambda: pa.concat_tables([table.slice(0, 7), table.slice(7, 1), table.slice(8)]),
    }[form]()
    check(biasamp.associate(data, IDENTITIES, record="id", label="what"), SEEN)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".csv.gz", ".tsv", ".feather", ".arrow", ".jsonl", ".jsonl.gz"])
def test_long_files(tmp_path, suffix):
    table, path = long_table(), tmp_path / f"labels{suffix}"
    write(table, path)
    check(biasamp.associate(path, IDENTITIES, record="id", label="what"), SEEN)
    check(biasamp.associate(str(path), IDENTITIES, record="id", label="what"), SEEN)


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=5)
    elif path.suffix == ".feather":
        feather.write_feather(table, path)
    elif path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    elif ".jsonl" in path.suffixes:
        text = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "wt", encoding="utf-8") as file:
            file.write(text)
    else:
        table.to_pandas().to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


def test_a_folder_of_files_whose_edges_split_a_record(tmp_path):
    table = long_table()
    for number, (start, stop) in enumerate([(0, 4), (4, 5), (5, len(ROWS))]):
        pq.write_table(table.slice(start, stop - start), tmp_path / f"part-{number}.parquet")
    result = biasamp.associate(tmp_path, IDENTITIES, record="id", label="what")
    check(result, SEEN)
    assert result.reading["order"] == "sorted"


def test_lists_and_list_columns(tmp_path):
    check(biasamp.associate(SETS, IDENTITIES))
    check(biasamp.associate([set(held) for held in SETS], IDENTITIES))
    table = pa.table({"id": list(range(len(SETS))), "tags": SETS})
    check(biasamp.associate(table, IDENTITIES, label="tags"))
    check(biasamp.associate(table, IDENTITIES))
    check(biasamp.associate(table, IDENTITIES, label="tags", record="id"))
    check(biasamp.associate(pd.DataFrame({"tags": SETS}), IDENTITIES, label="tags"))
    pq.write_table(table, tmp_path / "lists.parquet")
    check(biasamp.associate(tmp_path / "lists.parquet", IDENTITIES, label="tags"))


@pytest.mark.parametrize("dtype", ["uint8", "bool", "float64", "int64"])
def test_wide_frames_and_matrices(tmp_path, dtype):
    matrix = np.array([[label in held for label in LABELS] for held in SETS]).astype(dtype)
    frame = pd.DataFrame(matrix, columns=LABELS)
    check(biasamp.associate(frame, IDENTITIES))
    check(biasamp.associate(frame.assign(id=range(len(SETS))), IDENTITIES, record="id"))
    check(biasamp.associate(matrix, IDENTITIES, label=LABELS))
    for make in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        check(biasamp.associate(make(matrix.astype("float64")), IDENTITIES, label=LABELS))
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "wide.parquet")
    check(biasamp.associate(tmp_path / "wide.parquet", IDENTITIES))


def test_wide_scores_with_a_threshold():
    scores = np.array([[0.9, 0.2, 0.6], [0.1, 0.8, 0.4], [0.5, 0.5, 0.5]])
    for data in (scores, sp.csr_matrix(scores)):
        result = biasamp.associate(data, ["m", "w"], label=["m", "w", "y"], threshold=0.5)
        assert result.joint.tolist() == [[2, 1], [1, 2], [2, 1]]
        result = biasamp.associate(data, ["m", "w"], label=["m", "w", "y"], threshold={"m": 0.5, "w": 0.5, "y": 0.6})
        assert result.joint[2].tolist() == [1, 0]
    with pytest.raises(ValueError, match="threshold="):
        biasamp.associate(scores, ["m", "w"], label=["m", "w", "y"])


def test_scores_without_a_threshold_are_said_and_label_keys_may_be_numbers():
    table = pa.table({"record": [7, 7, 8, 8], "label": [1, 30, 2, 30], "p": [0.9, 0.2, 0.8, 0.6]})
    result = biasamp.associate(table, [1, 2], record="record", label="label", score="p")
    assert any("without threshold" in note for note in result.notes)
    result = biasamp.associate(table, [1, 2], record="record", label="label", score="p", threshold={30: 0.5})
    assert result.joint[2].tolist() == [0, 1]
    assert not any("without threshold" in note for note in result.notes)


def test_integer_labels_and_records():
    table = pa.table({"record": [7, 7, 8, 8], "label": [1, 30, 2, 30]})
    result = biasamp.associate(table, [1, 2])
    assert list(result.labels) == ["1", "2", "30"]
    big = pa.table({"record": pa.array([7, 7, 8, 8], pa.uint64()), "label": [1, 2**40, 2, -5]})
    assert sorted(biasamp.associate(big, ["1", "2"]).labels) == ["-5", "1", "1099511627776", "2"]


def test_shuffled_and_grouped_rows_are_right_and_said(tmp_path):
    rng = np.random.default_rng(3)
    rows = [ROWS[i] for i in rng.permutation(len(ROWS))]
    table = pa.table({"record": [r for r, _ in rows], "label": [y for _, y in rows]})
    result = biasamp.associate(table, IDENTITIES)
    check(result, SEEN)
    assert result.reading["order"] == "unsorted"
    assert any("not sorted" in note and "sort the table" in note for note in result.notes)
    order = {f"{i:03d}": k for k, i in enumerate(rng.permutation(len(SETS)))}
    rows = sorted(ROWS, key=lambda row: order[row[0]])
    result = biasamp.associate(pa.table({"record": [r for r, _ in rows], "label": [y for _, y in rows]}), IDENTITIES)
    check(result, SEEN)
    assert result.reading["order"] == "grouped"


@pytest.mark.parametrize("sorted_rows", [True, False])
def test_duplicates_count_once_and_are_said(sorted_rows):
    rows = sorted(ROWS + ROWS[:3]) if sorted_rows else ROWS + ROWS[:3]
    table = pa.table({"record": [r for r, _ in rows], "label": [y for _, y in rows]})
    with pytest.warns(UserWarning, match="3 of .* counted once"):
        result = biasamp.associate(table, IDENTITIES)
    check(result, SEEN)
    assert result.reading["duplicates"] == 3
    assert any("counted once" in note for note in result.notes)


class TestBadInput:
    def test_unknown_identity_offers_the_nearest(self):
        with pytest.raises(ValueError, match=r"'Man'.*did you mean 'man'"):
            biasamp.associate(SETS, ["Man", "woman"])
        with pytest.raises(ValueError, match=r"'zebra'.*such as"):
            biasamp.associate(SETS, ["zebra", "woman"])

    def test_empty_files_and_tables(self, tmp_path):
        for name in ("none.csv", "none.parquet", "none.jsonl"):
            (tmp_path / name).write_bytes(b"")
            with pytest.raises(ValueError, match=f"{name}.*empty"):
                biasamp.associate(tmp_path / name, IDENTITIES, record="id", label="what")
        (tmp_path / "head.csv").write_text("id,what\n")
        with pytest.raises(ValueError, match="no rows"):
            biasamp.associate(tmp_path / "head.csv", IDENTITIES, record="id", label="what")
        with pytest.raises(ValueError, match="no rows"):
            biasamp.associate([], IDENTITIES)

    def test_wrong_columns(self, tmp_path):
        with pytest.raises(ValueError, match=r"'wat'.*'what'"):
            biasamp.associate(long_table(), IDENTITIES, record="id", label="wat")
        with pytest.raises(ValueError, match=r"'idd'.*'id'"):
            biasamp.associate(long_table().to_pandas(), IDENTITIES, record="idd", label="what")
        with pytest.raises(ValueError, match="record= is needed"):
            biasamp.associate(long_table(), IDENTITIES, label="what")
        with pytest.raises(ValueError, match="label= is needed"):
            biasamp.associate(long_table(), IDENTITIES)

    def test_missing_files_and_formats(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            biasamp.associate(tmp_path / "nowhere.csv", IDENTITIES)
        (tmp_path / "table.docx").write_bytes(b"x")
        with pytest.raises(ValueError, match="Parquet"):
            biasamp.associate(tmp_path / "table.docx", IDENTITIES)
        (tmp_path / "broken.parquet").write_bytes(b"not parquet at all")
        with pytest.raises(ValueError, match=r"broken\.parquet.*cannot be read"):
            biasamp.associate(tmp_path / "broken.parquet", IDENTITIES, record="id", label="what")

    def test_scores(self):
        table = pa.table({"record": [1, 2], "label": ["man", "woman"], "score": ["high", "low"]})
        with pytest.raises(ValueError, match="threshold= needs score="):
            biasamp.associate(table, IDENTITIES, threshold=0.5)
        with pytest.raises(TypeError, match="score column holds string"):
            biasamp.associate(table, IDENTITIES, record="record", label="label", score="score", threshold=0.5)
        with pytest.raises(TypeError, match="threshold holds 'high'"):
            biasamp.associate(table, IDENTITIES, score="score", threshold="high")

    def test_identities(self):
        for identities, message in [
            ("man", "is the text"),
            ([], "is empty"),
            (["man", "man"], "twice"),
            ({"x": []}, "at least one label"),
        ]:
            with pytest.raises((TypeError, ValueError), match=message):
                biasamp.associate(SETS, identities)

    def test_values_that_are_no_labels(self):
        with pytest.raises(ValueError, match="holds 2"):
            biasamp.associate(np.array([[0, 2], [1, 1]]), ["0", "1"])
        with pytest.raises(TypeError, match="item 0 is a str"):
            biasamp.associate(["man", "woman"], IDENTITIES)
        with pytest.raises(TypeError, match="data is a builtins int"):
            biasamp.associate(5, IDENTITIES)
        with pytest.raises(ValueError, match="missing values"):
            biasamp.associate(pd.DataFrame({"man": [1.0, np.nan], "woman": [0.0, 1.0]}), IDENTITIES)


def test_a_file_cut_short_is_named(tmp_path):
    whole = gzip.compress(("id,tag\n" + "".join(f"{i},man{i * i}\n" for i in range(5000))).encode())
    path = tmp_path / "labels.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"labels\.csv\.gz cannot be read as csv: Compressed file ended"):
        biasamp.associate(path, ["man1", "man4"], record="id", label="tag")
