"""One audit, whatever way its records come: the same document, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
from golden.one_document import METRICS, ROLES, N, batches, canonical, documents, first_difference, records, written

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def same_documents(made: dict[str, bytes]) -> None:
    (first, expected), *others = made.items()
    for name, document in others:
        assert document == expected, (
            f"{name} differs from {first}: {first_difference(json.loads(expected), json.loads(document))}"
        )


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [False, True])
@pytest.mark.parametrize("roles", ROLES)
def test_ids_make_every_way_the_same(roles: str, cluster: bool, tmp_path: Path) -> None:
    """Mapping, pandas, polars, Parquet, CSV, folder; threads and batches; parts that were added and saved."""
    made = documents(tmp_path, ("memory", "local", "parts"), roles=roles, cluster=cluster, resamples=100)
    assert len(made) == 19
    same_documents(made)


# What follows from the bags of records, and so from what tells them apart.
OF_BAGS = {
    "bounds",
    "clear_interval",
    "fingerprint",
    "interval",
    "crossfit",
    "crossfit_interval",
    "low",
    "high",
    "p",
    "q",
    "text",
    # What is said follows from intervals.
    "verdict",
}


def differing(one: Any, two: Any, key: str = "") -> Iterator[str]:
    """The keys under which two documents differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        assert one.keys() == two.keys()
        for name in one:
            yield from differing(one[name], two[name], name)
    elif isinstance(one, list) and isinstance(two, list) and key not in OF_BAGS:
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            yield from differing(a, b, key)
    elif one != two:
        yield key


@pytest.mark.slow
@pytest.mark.parametrize("roles", ROLES)
def test_without_ids_rows_in_order_are_the_same_and_parts_have_bags_of_their_own(roles: str, tmp_path: Path) -> None:
    data = records()
    arguments = {name: columns for name, columns in ROLES[roles].items() if name != "record"}
    settings = {"metrics": METRICS, "resamples": 50}
    files = written(tmp_path, data)
    made = {"mapping": biasamp.audit(data, **arguments, **settings)}
    for name, path in files.items():
        made[name] = biasamp.audit(path, **arguments, **settings)
        with batches(997):
            made[f"{name}, counted"] = biasamp.audit(path, **arguments, **settings, engine="local", threads=2)
    expected = {name: canonical(audit) for name, audit in made.items()}
    same_documents(expected)
    thirds = [{name: values[i * N // 3 : (i + 1) * N // 3] for name, values in data.items()} for i in range(3)]
    first = biasamp.count(thirds[0], **arguments)
    total = (
        first
        + biasamp.count(thirds[1], **arguments, labels=first)
        + biasamp.count(thirds[2], **arguments, labels=first)
    )
    parts = json.loads(canonical(biasamp.audit(total, **settings)))
    (caution,) = [row for row in parts["findings"] if row["code"] == "unknown-overlap"]
    parts["findings"].remove(caution)
    found = set(differing(json.loads(expected["mapping"]), parts))
    assert {"fingerprint", "interval"} <= found <= OF_BAGS


def some(n: int = 1200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    gender, race = rng.choice(["man", "other", "woman"], n, p=[0.5, 0.1, 0.4]), rng.choice(["x", "y"], n)
    truth = (rng.random((n, 3)) < 0.3 + 0.2 * (gender == "man")[:, None]).astype(float)
    said = np.where(rng.random((n, 3)) < 0.15, 1 - truth, truth)
    return pd.DataFrame(
        {
            "id": rng.permutation(n) * 3,
            "gender": gender,
            "race": race,
            "gender_said": np.where(rng.random(n) < 0.2, "man", gender),
            "race_said": np.where(rng.random(n) < 0.2, "x", race),
            "w": rng.random(n) + 0.1,
            "times": rng.integers(1, 4, n),
            "person": rng.integers(0, n // 4, n),
            **{f"t{i}": truth[:, i] for i in range(3)},
            **{f"p{i}": said[:, i] for i in range(3)},
            **{f"s{i}": np.clip(0.7 * said[:, i] + 0.3 * rng.random(n), 0, 1) for i in range(3)},
        }
    )


def with_holes() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    data = some()
    for name in ("gender", "t0", "t1", "p2"):
        data[name] = data[name].where(rng.random(len(data)) > 0.05)
    return data


SETS: dict[str, Any] = {
    "attributes": "gender",
    "tasks": ["t0", "t1", "t2"],
    "task_predictions": ["p0", "p1", "p2"],
    "attribute_predictions": "gender_said",
}
SCORES = {**SETS, "task_predictions": ["s0", "s1", "s2"]}
ONE = {"attributes": "gender", "tasks": "t0", "task_predictions": "p0", "attribute_predictions": "gender_said"}
CROSSED = {
    **ONE,
    "attributes": ["gender", "race"],
    "attribute_predictions": ["gender_said", "race_said"],
    "intersections": True,
}
# Attackers are trained anew on sets of labels, which takes long; they are among the metrics where one variable is read.
TABLES = ["directional", "multi", "mals", "parity"]
EVERY = [*TABLES, "dpa", "leakage"]
CASES: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "one task": (some, ONE, EVERY),
    "sets": (some, SETS, TABLES),
    "crossed": (some, CROSSED, EVERY),
    "soft": (some, {**ONE, "task_predictions": "s0"}, EVERY),
    "soft sets": (some, SCORES, TABLES),
    "weights": (some, {**SETS, "weights": "w"}, TABLES),
    "whole weights": (some, {**SETS, "weights": "times"}, TABLES),
    "soft, weighted, in clusters": (some, {**SCORES, "weights": "w", "cluster": "person"}, TABLES),
    "sets in clusters": (some, {**SETS, "cluster": "person"}, TABLES),
    "missing": (with_holes, {**SETS, "missing": "drop"}, TABLES),
    "missing, soft and weighted": (with_holes, {**SCORES, "weights": "w", "missing": "drop"}, TABLES),
    "missing is negative": (with_holes, {**SETS, "missing": "negative"}, TABLES),
    "train": (some, {**SETS, "train": some(400, 5)}, TABLES),
}


# Attackers on probabilities are trained record by record.
@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("record", [None, "id"])
@pytest.mark.parametrize("case", [pytest.param(c, marks=[pytest.mark.slow] if c == "soft" else []) for c in CASES])
def test_records_counted_in_parts_give_the_audit_of_records_in_memory(
    case: str, record: str | None, tmp_path: Path
) -> None:
    make, roles, metrics = CASES[case]
    data = make()
    path = tmp_path / "data.parquet"
    pq.write_table(pa.Table.from_pandas(data, preserve_index=False), path, row_group_size=300)
    options = {**roles, "record": record, "metrics": metrics, "resamples": 50}
    made = {"memory": biasamp.audit(path, **options)}
    made["one thread"] = biasamp.audit(path, **options, engine="local", threads=1)
    with batches(97):
        made["small batches"] = biasamp.audit(path, **options, engine="local", threads=2)
    same_documents({name: canonical(audit) for name, audit in made.items()})
    if record is not None:
        mixed = data.sample(frac=1.0, random_state=1)
        same_documents({"in order": canonical(made["memory"]), "mixed": canonical(biasamp.audit(mixed, **options))})
    entries = {(entry["metric"], entry["direction"]): entry for entry in made["one thread"].document["metrics"]}
    ran = {metric for metric, _ in entries}
    assert ran >= set(metrics) - {"parity"}
    assert all(None not in entry["interval"] for (metric, _), entry in entries.items() if metric in TABLES)
    assert ("sweep" in made["one thread"].document) == ("soft" in case)


def long_lists(n: int = 900, labels: int = 6000) -> dict[str, Any]:
    """Three groups and thousands of list labels: more pairs than are counted by bag."""
    rng = np.random.default_rng(0)
    truth = [[f"l{i}" for i in rng.integers(0, labels, 25)] for _ in range(n)]
    said = [[x if rng.random() < 0.8 else f"l{rng.integers(0, 40)}" for x in row] for row in truth]
    group = rng.choice(["a", "b", "c"], n)
    return {
        "id": (rng.permutation(n) * 3).tolist(),
        "person": rng.integers(0, n // 3, n).tolist(),
        "g": group.tolist(),
        "g_said": np.where(rng.random(n) < 0.2, "a", group).tolist(),
        "t": truth,
        "p": said,
    }


@pytest.fixture(scope="module")
def many_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "data.parquet"
    pq.write_table(pa.table(long_lists()), path, row_group_size=200)
    return path


LISTS = {"attributes": "g", "tasks": "t", "task_predictions": "p", "attribute_predictions": "g_said"}
LISTED = {"metrics": ["directional", "parity"], "resamples": 50}


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"cluster": "person", "record": "id"}])
def test_more_pairs_than_bags_have_intervals_where_records_can_be_read_again(
    more: dict[str, Any], many_pairs: Path
) -> None:
    made = {"memory": biasamp.audit(many_pairs, **LISTS, **more, **LISTED)}
    made["two threads"] = biasamp.audit(many_pairs, **LISTS, **more, **LISTED, engine="local", threads=2)
    with batches(97):
        made["small batches"] = biasamp.audit(many_pairs, **LISTS, **more, **LISTED, engine="local", threads=1)
    same_documents({name: canonical(audit) for name, audit in made.items()})
    entries = [entry for entry in made["memory"].document["metrics"] if entry["metric"] == "directional"]
    assert [entry["direction"] for entry in entries] == ["A->T", "T->A"]
    for entry in entries:
        assert entry["pairs_in_all"] > 16_384
        low, high = entry["interval"]
        assert low < high
        assert "to first order" in entry["interval_method"]
        assert None not in entry["crossfit_interval"]


@pytest.mark.slow
def test_counts_of_more_pairs_than_bags_have_values_and_say_why_no_interval(many_pairs: Path, tmp_path: Path) -> None:
    data = biasamp.audit(many_pairs, **LISTS, record="id", **LISTED)
    counts = biasamp.count(many_pairs, **LISTS, record="id")
    counts.save(tmp_path / "counts.parquet")
    for held in (counts, tmp_path / "counts.parquet"):
        audit = biasamp.audit(held, **LISTED)
        for mine, theirs in zip(audit.document["metrics"], data.document["metrics"], strict=True):
            assert mine["value"] == theirs["value"]
            if mine["metric"] == "directional":
                assert mine["crossfit"] == theirs["crossfit"]
                assert [pair["low"] for pair in mine["pairs"]] == [pair["low"] for pair in theirs["pairs"]]
                assert mine["interval"] == [None, None]
                assert "no resamples of them are kept" in mine["cautions"][-1]
        said = {finding.code: finding.text for finding in audit.findings}
        assert "no resamples of them are kept" in said["no-interval"]
        assert "There is no interval, so this concludes nothing" in said["amplification"]


def test_records_that_do_not_fit_in_memory_are_told_and_the_rest_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.Table.from_pandas(some(), preserve_index=False), path)
    options = {**SCORES, "metrics": TABLES, "resamples": 50, "engine": "local", "threads": 1}
    whole = biasamp.audit(path, **options).document
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("biasamp.auditing.counting._BYTES", 1 << 40)
        tight = biasamp.audit(path, **options).document
    reasons = {(row["metric"], row["direction"]): row["reason"] for row in tight["not_run"]}
    assert "records in memory at once" in reasons["multi", "A->T"]
    assert "records in memory at once" in reasons["sweep", "A->T"]
    left = {(entry["metric"], entry["direction"]): entry["value"] for entry in tight["metrics"]}
    assert left == {key: whole_value for key, whole_value in values_of(whole).items() if key in left}
    assert set(values_of(whole)) - set(left) == {("multi", "A->T")}


def values_of(document: dict[str, Any]) -> dict[tuple[str, Any], Any]:
    return {(entry["metric"], entry["direction"]): entry["value"] for entry in document["metrics"]}


@pytest.mark.slow
def test_mals_of_more_pairs_than_bags_is_resampled_to_first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    data = long_lists()
    arguments = (data["g"], data["t"], data["g_said"], data["p"])
    result = biasamp.mals(*arguments)
    assert len(result.pairs) > 16_384
    interval = result.quiet_interval()
    assert "to first order" in interval.method
    monkeypatch.setattr("biasamp.amplification.mals_sample.bags_for", lambda pairs: 256)
    # The same records in bags of which each keeps all pairs.
    exact = biasamp.mals(*arguments).quiet_interval(method="closed_form")
    assert interval.standard_error == pytest.approx(exact.standard_error, rel=0.15)
