"""Counts of an audit: the same whatever cut, counted, saved or added them, and the audit they give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import biasamp
from auditing_counts import same_counts
from biasamp.data.parts import split

N = 3000
SPLIT = dict(split.__kwdefaults__ or {})


def made(n: int = N, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    gender = rng.choice(["man", "woman", "other"], n, p=[0.5, 0.4, 0.1])
    race = rng.choice(["x", "y"], n)
    truth = (rng.random(n) < np.where(gender == "man", 0.3, 0.55)).astype(int)
    said = np.where(rng.random(n) < 0.2, 1 - truth, truth)
    tasks = (rng.random((n, 3)) < 0.3 + 0.2 * (gender == "man")[:, None]).astype(int)
    guessed = np.where(rng.random((n, 3)) < 0.15, 1 - tasks, tasks)
    return pd.DataFrame(
        {
            "id": rng.permutation(n) + 10_000 * seed,
            "gender": gender,
            "race": race,
            "gender_pred": np.where(rng.random(n) < 0.2, rng.choice(["man", "woman"], n), gender),
            "race_pred": np.where(rng.random(n) < 0.2, "x", race),
            "hired": truth,
            "said": said,
            "score": np.clip(0.7 * said + 0.3 * rng.random(n), 0, 1),
            "w": rng.random(n) + 0.1,
            "times": rng.integers(1, 4, n),
            "person": rng.integers(0, n // 4, n),
            **{f"t{i}": tasks[:, i] for i in range(3)},
            **{f"p{i}": guessed[:, i] for i in range(3)},
        }
    )


DATA = made()
SIMPLE = {"attributes": "gender", "tasks": "hired", "task_predictions": "said"}
SETS = {"attributes": "gender", "tasks": ["t0", "t1", "t2"], "task_predictions": ["p0", "p1", "p2"]}
BOTH = {**SETS, "attribute_predictions": "gender_pred"}
CASES: dict[str, dict[str, Any]] = {
    "simple": {**SIMPLE, "attribute_predictions": "gender_pred"},
    "sets": BOTH,
    "crossed": {
        **SIMPLE,
        "attributes": ["gender", "race"],
        "attribute_predictions": ["gender_pred", "race_pred"],
        "intersections": True,
    },
    "scores": {**SIMPLE, "task_predictions": "score"},
    "real weights": {**SIMPLE, "weights": "w"},
    "whole weights": {**BOTH, "weights": "times"},
    "clusters": {**BOTH, "cluster": "person", "record": "id"},
    "train": {**BOTH, "train": made(800, 7)},
}


@pytest.mark.parametrize("case", CASES)
def test_an_audit_of_counts_is_that_of_records_but_for_what_needs_them(case: str) -> None:
    """Counts hold no combinations of weighted records, and no scores; all else is the same, intervals included."""
    options = {"resamples": 50, "metrics": ["directional", "multi", "mals", "parity"]}
    records = biasamp.audit(DATA, **CASES[case], **options).document
    counts = biasamp.audit(biasamp.count(DATA, **CASES[case], threads=2), **options).document
    lost = {"whole weights": {("multi", "A->T"), ("multi", "T->A")}, "scores": {("sweep", "A->T")}}.get(case, set())
    reasons = {(row["metric"], row["direction"]): row["reason"] for row in counts["not_run"]}
    known = {(row["metric"], row["direction"]) for row in records["not_run"]}
    assert set(reasons) - known == lost
    for metric, direction in lost:
        assert {"multi": "weights", "sweep": "scores themselves"}[metric] in reasons[metric, direction]
    kept = [entry for entry in records["metrics"] if (entry["metric"], entry["direction"]) not in lost]
    for entry in (*kept, *counts["metrics"]):
        entry.pop("decided", None)  # what decisions would give needs the scores
    assert counts["metrics"] == kept
    assert counts["data"] == records["data"]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("case", ["simple", "sets", "whole weights"])
def test_leakage_and_dpa_follow_from_combinations(case: str) -> None:
    options = {"resamples": 50, "metrics": ["dpa", "leakage"]}
    records = biasamp.audit(DATA, **CASES[case], **options).document["metrics"]
    assert biasamp.audit(biasamp.count(DATA, **CASES[case]), **options).document["metrics"] == records
    assert {entry["metric"] for entry in records} == {"dpa", "leakage"}


def test_combinations_that_are_not_counted_are_named_with_a_reason() -> None:
    audit = biasamp.audit(biasamp.count(DATA, **CASES["scores"]), resamples=50)
    reasons = {row["metric"]: row["reason"] for row in audit.document["not_run"] if row["direction"] != "T->A"}
    assert "probabilities" in reasons["dpa"]
    assert "probabilities" in reasons["leakage"]
    assert "scores themselves" in reasons["sweep"]


def write(folder: Path, kind: str, pieces: int) -> Path:
    folder.mkdir()
    for i, part in enumerate(np.array_split(np.arange(N), pieces)):
        table = pa.Table.from_pandas(DATA.iloc[part], preserve_index=False)
        path = folder / f"part-{i}.{kind}"
        if kind == "parquet":
            pq.write_table(table, path, row_group_size=211)
        elif kind == "csv":
            csv.write_csv(table, path)
        else:
            feather.write_feather(table, path, chunksize=100)
    return folder


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("kind", ["parquet", "csv", "feather"])
@pytest.mark.parametrize("case", CASES)
def test_files_threads_and_chunks_change_no_bit(case: str, kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    options = CASES[case]
    expected = biasamp.count(DATA, **options, threads=1)
    folder = write(tmp_path / "data", kind, 3)
    for threads, rows, part_rows in ((1, 1 << 17, 1 << 20), (2, 97, 300)):
        monkeypatch.setattr("biasamp.engines.memory_budget._MOST_ROWS", rows)
        monkeypatch.setattr(split, "__kwdefaults__", {**SPLIT, "part_rows": part_rows})
        same_counts(biasamp.count(folder, **options, threads=threads), expected)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("case", CASES)
def test_saved_counts_come_back_and_give_the_same_audit(case: str, tmp_path: Path) -> None:
    counts = biasamp.count(DATA, **CASES[case])
    counts.save(tmp_path / "counts.parquet")
    again = biasamp.AuditCounts.load(tmp_path / "counts.parquet")
    same_counts(again, counts)
    options = {"resamples": 50, "metrics": ["directional", "parity"]}
    assert biasamp.audit(again, **options).to_json() == biasamp.audit(counts, **options).to_json()
    assert biasamp.audit(tmp_path / "counts.parquet", **options).to_json() == biasamp.audit(counts, **options).to_json()


def test_saved_attributes_keep_their_order_beside_their_predictions(tmp_path: Path) -> None:
    roles = {**SIMPLE, "attributes": ["race", "gender"], "attribute_predictions": ["race_pred", "gender_pred"]}
    counts = biasamp.count(DATA, **roles)
    counts.save(tmp_path / "counts.parquet")
    options = {"resamples": 50, "metrics": ["directional"]}
    audit = biasamp.audit(tmp_path / "counts.parquet", **options)
    assert audit.document["data"]["roles"]["attributes"] == ["race", "gender"]
    assert audit.document["data"]["roles"]["attribute_predictions"] == ["race_pred", "gender_pred"]
    assert audit.to_json() == biasamp.audit(counts, **options).to_json()


@pytest.mark.parametrize("case", ["simple", "sets", "crossed", "real weights", "clusters"])
def test_counts_of_sites_add_up_to_the_counts_of_all(case: str) -> None:
    options = {**CASES[case], "record": "id"}
    whole = biasamp.count(DATA, **options)
    parts = [biasamp.count(DATA.iloc[i], **options) for i in np.array_split(np.arange(N), 4)]
    total = sum([parts[2], parts[0], parts[3], parts[1]])
    same_counts(total, whole)
    assert [source.records for source in total.sources] == [750] * 4
    settings = {"resamples": 50, "metrics": ["directional", "multi"]}
    one, two = (biasamp.audit(counts, **settings).named("all").to_dict() for counts in (total, whole))
    assert one == two


def test_train_labels_are_counted_once() -> None:
    options = {**CASES["train"], "record": "id"}
    whole = biasamp.count(DATA, **options)
    total = biasamp.count(DATA.iloc[:1000], **options) + biasamp.count(DATA.iloc[1000:], **options)
    settings = {"resamples": 50, "metrics": ["directional", "multi", "mals"]}
    one, two = (biasamp.audit(counts, **settings).named("all").to_dict() for counts in (total, whole))
    assert one == two
    other = biasamp.count(made(50, 3), **{**options, "train": made(800, 8)})
    with pytest.raises(ValueError, match="different train labels"):
        whole + other


class TestRefused:
    def test_the_same_records_twice(self) -> None:
        one = biasamp.count(DATA, **SIMPLE, record="id")
        changed = biasamp.count(DATA.assign(said=0), **SIMPLE, record="id", labels=one)
        for other in (one, changed):
            with pytest.raises(ValueError, match="hold the same 3,000 records"):
                one + other

    def test_rows_without_ids_are_the_same_where_they_say_the_same(self) -> None:
        one = biasamp.count(DATA, **SIMPLE)
        with pytest.raises(ValueError, match="hold the same 3,000 records"):
            one + biasamp.count(DATA.copy(), **SIMPLE)
        assert (one + biasamp.count(made(N, 5), **SIMPLE)).records == 2 * N

    def test_another_label_space(self) -> None:
        one = biasamp.count(DATA, **SIMPLE, record="id")
        without = made(500, 1).query("gender != 'other'")
        two = biasamp.count(without, **SIMPLE, record="id")
        with pytest.raises(
            ValueError, match=r"attribute labels.*only the first have gender=other; only the second have none"
        ):
            one + two
        assert (one + biasamp.count(without, **SIMPLE, record="id", labels=one)).records == N + len(without)
        with pytest.raises(ValueError, match="labels= does not know 'gender=other'"):
            biasamp.count(DATA, **SIMPLE, record="id", labels=two)

    def test_other_roles(self) -> None:
        one = biasamp.count(DATA, **SIMPLE)
        two = biasamp.count(DATA, **{**SIMPLE, "task_predictions": "p0"})
        with pytest.raises(
            ValueError, match=r"in different ways.*: task_predictions is said in the first, p0 in the second"
        ):
            one + two

    def test_a_truncated_file_is_named_and_nothing_is_half_counted(self, tmp_path: Path) -> None:
        folder = write(tmp_path / "data", "parquet", 3)
        broken = folder / "part-1.parquet"
        whole = broken.read_bytes()
        broken.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ValueError, match=r"part-1\.parquet cannot be read as parquet"):
            biasamp.count(folder, **SIMPLE)
        # The end is there, but pages are not what they say.
        middle = len(whole) // 3
        broken.write_bytes(whole[:middle] + bytes(len(whole) // 3) + whole[middle + len(whole) // 3 :])
        with pytest.raises(ValueError, match=r"part-1\.parquet"):
            biasamp.count(folder, **SIMPLE)

    def test_missing_labels_are_told_with_their_rows(self, tmp_path: Path) -> None:
        data = DATA.assign(gender=DATA["gender"].where(DATA.index != 2500))
        with pytest.raises(
            ValueError, match=r"attributes has 1 record with missing labels in gender \(row 2501, counted"
        ):
            biasamp.count(data, **SIMPLE)

    def test_bad_values_are_told_with_their_part(self, tmp_path: Path) -> None:
        data = DATA.assign(t1=DATA["t1"].where(DATA.index != 2500, 7))
        pq.write_table(pa.Table.from_pandas(data), tmp_path / "data.parquet", row_group_size=1000)
        with pytest.raises(ValueError, match=r"tasks column 't1' holds 7 .*in data\.parquet"):
            biasamp.count(tmp_path / "data.parquet", **SETS)

    def test_repeated_ids(self) -> None:
        for use in (biasamp.count, biasamp.audit):
            with pytest.raises(ValueError, match=r"record column 'person' has 2,\d+ repeated ids"):
                use(DATA, **SIMPLE, record="person")

    def test_weights_in_an_array(self) -> None:
        with pytest.raises(TypeError, match="weights must name a column"):
            biasamp.count(DATA, **SIMPLE, weights=np.ones(N))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="weights must name a column with engine='local'"):
            biasamp.audit(DATA, **SIMPLE, weights=np.ones(N), engine="local")

    def test_counts_know_their_columns(self) -> None:
        counts = biasamp.count(DATA, **SIMPLE)
        for given in (
            {"attributes": "gender", "tasks": "hired"},
            {"weights": "w"},
            {"missing": "drop"},
            {"record": "id"},
        ):
            with pytest.raises(ValueError, match=f"counts, which say how they were made: leave {', '.join(given)} out"):
                biasamp.audit(counts, **given)
        with pytest.raises(TypeError, match="tasks is None"):
            biasamp.audit(DATA, attributes="gender")

    def test_a_damaged_file_of_counts(self, tmp_path: Path) -> None:
        path = tmp_path / "counts.parquet"
        biasamp.count(DATA, **SIMPLE).save(path)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(bytes(data))
        with pytest.raises((ValueError, OSError)):
            biasamp.AuditCounts.load(path)


def test_two_models_are_compared_in_pairs_where_bags_agree() -> None:
    options = {"metrics": ["directional"], "resamples": 300, "engine": "local"}
    audits = {
        name: biasamp.audit(DATA, attributes="gender", tasks="hired", task_predictions=name, record="id", **options)
        for name in ("said", "score")
    }
    (row,) = (r for r in biasamp.compare(audits).table.rows() if r["metric"] == "directional")
    assert row["paired"]
    in_memory = biasamp.audit(
        DATA, attributes="gender", tasks="hired", task_predictions="score", record="id", **{**options, "engine": "auto"}
    )
    (mixed,) = biasamp.compare({"said": audits["said"], "score": in_memory}).table.rows()
    assert mixed == row


class TestOddData:
    def test_a_batch_without_any_known_label(self, tmp_path: Path) -> None:
        folder = tmp_path / "data"
        folder.mkdir()
        for i, part in enumerate((DATA.iloc[:500], DATA.iloc[500:900].assign(hired=None), DATA.iloc[900:])):
            table = pa.Table.from_pandas(part[["gender", "hired", "said", "w"]], preserve_index=False)
            pq.write_table(table, folder / f"{i}.parquet")
        for more in ({}, {"weights": "w"}):
            options = {**SIMPLE, **more, "missing": "drop", "metrics": ["directional", "parity"], "resamples": 50}
            mine, theirs = (
                biasamp.audit(folder, **options, engine=engine).document["metrics"] for engine in ("local", "auto")
            )
            assert [m["value"] for m in mine] == [m["value"] for m in theirs]

    def test_integers_beyond_what_floats_hold(self) -> None:
        data = {"g": np.array([2**53, 2**53 + 1] * 50), "t": [0, 1] * 50, "p": [1, 0] * 50}
        counts = biasamp.count(data, attributes="g", tasks="t", task_predictions="p")
        assert [label.category for label in counts.subjects[0].pairs["A->T"].counts.given_labels] == [
            str(2**53),
            str(2**53 + 1),
        ]

    def test_a_fraction_is_shown_as_it_is(self) -> None:
        data = {"g": [0.125, 0.125] * 50, "t": [0, 1] * 50, "p": [1, 0] * 50}
        with pytest.raises(ValueError, match=r"fractions such as 0\.125"):
            biasamp.count(data, attributes="g", tasks="t", task_predictions="p")

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (np.zeros(N), "weights are all 0"),
            (np.full(N, 1e15), "too large to be summed exactly"),
            (np.full(N, 1e9), "too large to be summed exactly"),
            (np.full(N, 1e-12), "too small to be summed exactly"),
            (np.full(N, -1.0), "not negative"),
            (np.full(N, np.nan), "missing values"),
        ],
    )
    def test_weights_that_cannot_be_summed(
        self, weights: np.ndarray, message: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("biasamp.engines.memory_budget._MOST_ROWS", 100)
        with pytest.raises(ValueError, match=message):
            biasamp.count(DATA.assign(w=weights), **SIMPLE, weights="w")

    def test_no_records(self, tmp_path: Path) -> None:
        pq.write_table(pa.Table.from_pandas(DATA.iloc[:0]), tmp_path / "none.parquet")
        with pytest.raises(ValueError, match=r"none\.parquet has no records"):
            biasamp.count(tmp_path / "none.parquet", **SIMPLE)

    def test_scores_that_are_whole_at_first(self, tmp_path: Path) -> None:
        data = DATA.assign(score=np.where(DATA.index < 2000, np.rint(DATA["score"]), DATA["score"]))
        pq.write_table(pa.Table.from_pandas(data), tmp_path / "data.parquet", row_group_size=500)
        options = {**CASES["scores"], "metrics": ["directional", "parity"], "resamples": 50}
        mine, theirs = (
            biasamp.audit(tmp_path / "data.parquet", **options, engine=engine).document["metrics"]
            for engine in ("local", "auto")
        )
        assert [m["value"] for m in mine] == [m["value"] for m in theirs]

    def test_counts_print_in_one_line(self) -> None:
        counts = biasamp.count(DATA, **SIMPLE)
        assert repr(counts) == "<AuditCounts of 3,000 records from data: gender: 3 groups x 2 tasks>"
        assert "\n" not in repr(counts.subjects)


def test_sites_sorted_alike_have_errors_of_their_own() -> None:
    """Rows without ids are numbered anew at every site: rows of one number must not be resampled together."""
    data = made(8000, 4)
    mixed = np.array_split(np.random.default_rng(0).permutation(8000), 10)
    ordered = [data.iloc[rows].sort_values(["hired", "gender", "said"]) for rows in mixed]
    options = {"metrics": ["directional"], "resamples": 1000}
    known = biasamp.audit(sum(biasamp.count(site, **SIMPLE, record="id") for site in ordered), **options)
    by_row = biasamp.audit(sum(biasamp.count(site, **SIMPLE) for site in ordered), **options)
    widths = [np.diff(audit.document["metrics"][0]["interval"])[0] for audit in (by_row, known)]
    assert widths[0] == pytest.approx(widths[1], rel=0.15)


def test_damaged_files_of_counts_are_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    biasamp.count(DATA, **SIMPLE).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(4, len(whole), 60):
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(broken))
        said = ""
        try:
            again = biasamp.AuditCounts.load(path)
        except ValueError as error:
            said = str(error)
        if said:
            assert said.startswith("counts.parquet")
        else:  # a bit that says nothing, such as a page's statistics
            same_counts(again, biasamp.count(DATA, **SIMPLE))


def test_clusters_that_go_on_at_another_site() -> None:
    options = {**SIMPLE, "cluster": "person", "record": "id"}
    whole = biasamp.count(DATA, **options)
    first = DATA["id"] % 2 == 0
    parts = [biasamp.count(DATA[mask], **options) for mask in (first, ~first)]
    same_counts(sum(parts), whole)
    again = DATA.assign(id=DATA["id"] + N)  # the same persons, other records
    assert (whole + biasamp.count(again, **options)).records == 2 * N


def test_a_label_space_may_be_said_or_found() -> None:
    said = biasamp.categorical("gender", categories=["man", "other", "woman"])
    one = biasamp.count(DATA, **{**SIMPLE, "attributes": said}, record="id")
    two = biasamp.count(made(N, 2), **SIMPLE, record="id")
    assert (one + two).records == 2 * N


def test_a_site_may_lack_an_identity(tmp_path: Path) -> None:
    sites = [["man", "bike"]] * 30 + [["man"]] * 20, [["woman", "bike"]] * 10 + [["woman", "man"]] * 15
    with pytest.warns(UserWarning, match="no record has the label 'woman'"):
        one = biasamp.count(sites[0], identities=["man", "woman"])
    total = one + biasamp.count(sites[1], identities=["man", "woman"])
    total.save(tmp_path / "counts.parquet")
    mine = biasamp.associate(tmp_path / "counts.parquet").to_dict()
    theirs = biasamp.associate(sites[0] + sites[1], ["man", "woman"]).to_dict()
    assert mine["labels"] == theirs["labels"]
    with pytest.raises(TypeError, match="tasks has no meaning with identities"):
        biasamp.count(sites[0], identities=["man"], tasks="x")


def test_ids_that_start_again_are_noticed(tmp_path: Path) -> None:
    one = biasamp.count(DATA.assign(id=np.arange(N)), **SIMPLE, record="id")
    for other in (made(N - 1, 5).assign(id=np.arange(N - 1)), made(N, 6).assign(id=np.arange(N) + N // 2)):
        with pytest.raises(ValueError, match=r"'id' has repeated ids.*put the source's name before them"):
            one + biasamp.count(other, **SIMPLE, record="id")
    folder = tmp_path / "copies"
    folder.mkdir()
    for name in "ab":
        pq.write_table(pa.Table.from_pandas(DATA), folder / f"{name}.parquet")
    with pytest.raises(ValueError, match="'id' has repeated ids"):
        biasamp.count(folder, **SIMPLE, record="id")
    assert biasamp.count(folder, **SIMPLE).records == 2 * N


@pytest.mark.slow
def test_noise_in_many_signs_is_no_finding() -> None:
    """Thousands of rare labels and errors without regard to group: signs from the same records mislead."""
    rng = np.random.default_rng(1)
    lists = [[f"l{i}" for i in rng.integers(0, 3000, 5)] for _ in range(2000)]
    said = [[x if rng.random() < 0.85 else f"l{rng.integers(0, 3000)}" for x in row] for row in lists]
    data = {"g": rng.choice(["a", "b"], 2000).tolist(), "t": lists, "p": said}
    for engine in ("auto", "local"):
        audit = biasamp.audit(
            data, attributes="g", tasks="t", task_predictions="p", metrics=["directional"], resamples=200, engine=engine
        )
        entry = audit.document["metrics"][0]
        assert entry["interval"][1] < 0 < entry["crossfit_interval"][1]
        (text,) = (finding.text for finding in audit.findings if finding.code == "amplification")
        assert "this concludes nothing" in text


def test_multi_of_counts_with_missing_labels_is_not_run_rather_than_of_fewer_records() -> None:
    """A record that lacks one label is in the pairs of its others, but in no combination, which counts keep."""
    data = {"id": range(6), "g": list("mwmwmw"), "t": [1, None, 1, 0, 1, 0], "u": [0, 0, 1, 1, 0, 1]}
    data |= {"p": [1, 0, 1, 0, 1, 1], "q": [1, 0, 1, 1, 0, 0]}
    roles = {"attributes": "g", "tasks": ["t", "u"], "task_predictions": ["p", "q"], "record": "id", "missing": "drop"}
    counted = biasamp.audit(biasamp.count(data, **roles), metrics=["directional", "multi"])
    assert {entry["metric"] for entry in counted.document["metrics"]} == {"directional"}
    reasons = [row["reason"] for row in counted.document["not_run"] if row["direction"] == "A->T"]
    assert reasons == ["Multi of sets of labels needs the records where labels are missing: audit them in memory"]
    assert any(row["metric"] == "multi" for row in biasamp.audit(data, **roles, metrics=["multi"]).document["metrics"])
