"""Association over 8.5 million (record, label) rows and 20,000 labels: against decoding, DuckDB, polars and pandas.

Then the statistics on generated label sets: false discoveries, coverage, and what each metric surfaces.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import biasamp
from benchmarks.timing import cpu_seconds
from biasamp.association.gaps import association_gap
from biasamp.association.label_counting import count_source
from biasamp.association.metrics import METRICS
from biasamp.counts.association_counts import AssociationCounts
from biasamp.data.label_source import label_source

ROWS, RECORDS, LABELS = 8_500_000, 1_000_000, 20_000
MEGABYTE = 1 << 20


def write_tables(folder: Path) -> dict[str, tuple[Path, list[str]]]:
    """The same rows with text ids, as model output comes, and with whole numbers; and in shuffled order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    weight = 1.0 / (np.arange(LABELS) + 11.0)
    record = np.sort(rng.integers(0, RECORDS, ROWS + ROWS // 50))
    label = rng.choice(LABELS, len(record), p=weight / weight.sum())
    distinct = np.unique(record * LABELS + label)[:ROWS]
    record, label = distinct // LABELS, rng.permutation(LABELS)[distinct % LABELS]
    common = np.argsort(-np.bincount(label, minlength=LABELS))[[3, 5]]
    ids = np.sort(np.array([f"{x:016x}" for x in rng.integers(0, 2**63, RECORDS)]))
    names = pa.array([f"/m/{i:06x}" for i in range(LABELS)])
    text = pa.table(
        {
            "record": pa.array(ids).take(pa.array(record)),
            "label": pa.DictionaryArray.from_arrays(pa.array(label.astype(np.int32)), names).cast(pa.string()),
        }
    )
    numbers = pa.table({"record": record, "label": label.astype(np.int32)})
    paths = {name: folder / f"{name}.parquet" for name in ("text", "numbers", "shuffled")}
    pq.write_table(text, paths["text"])
    pq.write_table(numbers, paths["numbers"])
    pq.write_table(text.take(pa.array(rng.permutation(len(record)))), paths["shuffled"])
    by_name = [f"/m/{i:06x}" for i in common]
    return {
        "text": (paths["text"], by_name),
        "numbers": (paths["numbers"], [str(i) for i in common]),
        "shuffled": (paths["shuffled"], by_name),
    }


def decode(path: Path) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for _ in file.iter_batches(batch_size=1 << 17, columns=["record", "label"], use_threads=False):
            pass


def ours(path: Path, identities: list[str], kernel: str = "auto") -> AssociationCounts:
    source = label_source(path, record="record", label="label")
    return count_source(source, identities, kernel=kernel)[0]


def duckdb_counts(path: Path, identities: list[str]) -> list[tuple[object, ...]]:
    import duckdb

    first, second = identities
    duckdb.sql("set enable_progress_bar = false")
    return duckdb.sql(
        f"""
        with rows as (select distinct record, label::varchar as label from read_parquet('{path}')),
        people as (
            select record, bool_or(label = '{first}') as x1, bool_or(label = '{second}') as x2
            from rows where label in ('{first}', '{second}') group by record
        )
        select label, count(*), count_if(x1), count_if(x2), count_if(x1 and x2)
        from rows left join people using (record) group by label
        """
    ).fetchall()


def polars_counts(path: Path, identities: list[str]) -> object:
    import polars as pl

    rows = pl.scan_parquet(path).select("record", pl.col("label").cast(pl.String)).unique()
    people = (
        rows.filter(pl.col("label").is_in(identities))
        .group_by("record")
        .agg(x1=(pl.col("label") == identities[0]).any(), x2=(pl.col("label") == identities[1]).any())
    )
    return (
        rows.join(people, on="record", how="left")
        .group_by("label")
        .agg(
            pl.len(),
            x1=pl.col("x1").sum(),
            x2=pl.col("x2").sum(),
            both=(pl.col("x1") & pl.col("x2")).sum(),
        )
        .collect()
    )


def pandas_counts(path: Path, identities: list[str]) -> object:
    import pandas as pd

    rows = pd.read_parquet(path, columns=["record", "label"]).drop_duplicates()
    rows["label"] = rows["label"].astype(str)
    sets = [set(rows.loc[rows["label"] == x, "record"]) for x in identities]
    rows["x1"], rows["x2"] = (rows["record"].isin(held) for held in sets)
    rows["both"] = rows["x1"] & rows["x2"]
    return rows.groupby("label")[["x1", "x2", "both"]].agg(["sum", "size"])


def peak_memory(path: Path, identities: list[str]) -> float:
    """Highest memory of a process of its own that does nothing but ``associate``; NaN where it cannot be read."""
    if not Path("/proc/self/status").exists():
        return float("nan")
    # The operating system's own high-water mark: what getrusage reports would include this process.
    code = (
        "import biasamp, sys\n"
        "biasamp.associate(sys.argv[1], sys.argv[2:], record='record', label='label')\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(path), *identities], capture_output=True, text=True, check=True, env=os.environ
    )
    return int(out.stdout.split()[-1]) * 1024 / MEGABYTE


def same_counts(counts: AssociationCounts, rows: list[tuple[object, ...]]) -> bool:
    mine = {
        label: (int(count), int(joint[0, 0]), int(joint[1, 1]), int(joint[0, 1]))
        for label, count, joint in zip(counts.labels, counts.count, counts.joint, strict=True)
    }
    return mine == {str(label): tuple(int(number) for number in numbers) for label, *numbers in rows}


def speed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tables = write_tables(Path(folder))
        for name in ("text", "numbers"):
            path, identities = tables[name]
            counts = ours(path, identities)
            print(f"{name}: {int(counts.count.sum()):,} rows, {counts.n:,} records, {len(counts.labels):,} labels")
            limit = cpu_seconds(lambda p=path: decode(p), 5)
            print(f"  pyarrow decoding the two columns         {limit:7.3f} s of CPU")
            for kernel, wanted in (("numba", 2), ("numpy", 4)):
                if kernel == "numba" and find_spec("numba") is None:
                    print("  numba is not installed: its kernel is left out")
                    continue
                seconds = cpu_seconds(lambda p=path, i=identities, k=kernel: ours(p, i, k), 5)
                print(
                    f"  biasamp, {kernel}                           {seconds:7.3f} s  {seconds / limit:5.2f}x (at most {wanted}x)"
                )
            whole = cpu_seconds(
                lambda p=path, i=identities: biasamp.associate(p, i, record="record", label="label").table
            )
            print(f"  biasamp.associate, all metrics and tests {whole:7.3f} s  {whole / limit:5.2f}x")
            rivals: dict[str, Callable[[Path, list[str]], object]] = {
                "duckdb": duckdb_counts,
                "polars": polars_counts,
                "pandas": pandas_counts,
            }
            for rival, work in rivals.items():
                if find_spec(rival) is None:
                    print(f"  {rival} is not installed: left out")
                    continue
                if rival == "duckdb":
                    assert same_counts(counts, duckdb_counts(path, identities))
                seconds = cpu_seconds(lambda w=work, p=path, i=identities: w(p, i), 1)
                print(f"  {rival:<40} {seconds:7.3f} s  {seconds / limit:5.2f}x")
            print(f"  peak memory of associate                 {peak_memory(path, identities):7.0f} MB (below 600)")
        path, identities = tables["shuffled"]
        seconds = cpu_seconds(lambda: ours(path, identities), 1)
        print(f"shuffled rows: {seconds:.2f} s of CPU, peak memory {peak_memory(path, identities):.0f} MB")


def statistics(draws: int = 20) -> None:
    for both, rates in ((0.0, (0.2, 0.15)), (0.3, (0.6, 0.5))):
        shares, cover = [], {metric: [0, 0] for metric in METRICS}
        for seed in range(draws):
            drawn = biasamp.open_images_shape(50_000, 20_000, identity_rates=rates, both=both, seed=[both > 0, seed])
            result = biasamp.associate(drawn.to_arrow(), ["man", "woman"])
            place = {name: i for i, name in enumerate(drawn.label_names)}
            index = np.array([place.get(label, -1) for label in result.labels])
            found = (result.table["q"] < 0.05) & (index >= 0)
            shares.append((found & ~drawn.skewed[index]).sum() / max(found.sum(), 1))
            _cover(drawn, result, index, cover)
        error = np.std(shares) / np.sqrt(draws)
        print(f"{both:.0%} of records with both identities, {draws} draws of 20,000 labels:")
        print(f"  false discovery rate of q < .05: {np.mean(shares):.4f} +- {error:.4f} (at most .05)")
        print("  coverage: " + ", ".join(f"{m} {100 * hit / total:.1f}%" for m, (hit, total) in cover.items()))


def _cover(drawn: object, result: object, index: np.ndarray, cover: dict[str, list[int]]) -> None:
    """Count the intervals that hold the gap of the rates that records were drawn with."""
    identity, rate = drawn.identity, drawn.rate  # type: ignore[attr-defined]
    n, counts = result.n, identity.sum(axis=0)  # type: ignore[attr-defined]
    pattern = identity[:, 0] + 2 * identity[:, 1]
    mean = rate * np.bincount(pattern, minlength=4)
    enough = (index >= 0) & (result.expected >= 10).all(axis=1)  # type: ignore[attr-defined]
    of = mean[index[enough]]
    for metric in METRICS:
        truth = association_gap(metric, n, *counts, of.sum(axis=1), of[:, 1] + of[:, 3], of[:, 2] + of[:, 3])
        low, high, _ = result.values.interval(metric, (0, 1))  # type: ignore[attr-defined]
        cover[metric][0] += int(((low[enough] <= truth) & (truth <= high[enough])).sum())
        cover[metric][1] += int(enough.sum())


def surfaces() -> None:
    result = biasamp.associate(biasamp.open_images_shape(seed=0).to_arrow(), ["man", "woman"])
    for metric in ("pmi", "tau_b", "npmi_xy"):
        count = result.top(metric, 100)["count"]
        low, middle, high = np.quantile(count, [0.1, 0.5, 0.9])
        print(
            f"top 100 by {metric:<8} C(y) from {count.min():,} to {count.max():,}; 10%, 50%, 90%: {low:,.0f}, {middle:,.0f}, {high:,.0f}"
        )


def main() -> None:
    speed()
    statistics()
    surfaces()
