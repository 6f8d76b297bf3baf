"""Association over 8.5 million (record, label) rows and 20,000 labels: against decoding, DuckDB and polars, which are given
the same distinct rows and do what is needed.

Then the statistics on generated label sets: false discoveries, coverage, and what each metric surfaces.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import biasamp
from benchmarks.speed_rows import heading, least, least_processes, speed_row
from benchmarks.timing import cpu_seconds, keep_row
from biasamp.association.gaps import association_gap
from biasamp.association.label_counting import count_source
from biasamp.association.metrics import METRICS
from biasamp.counts.association_counts import AssociationCounts
from biasamp.data.label_source import label_source

ROWS, RECORDS, LABELS = 8_500_000, 1_000_000, 20_000
MEGABYTE = 1 << 20
# What a megabyte of a long table may cost beside one of a short table: writing is linear in what is written.
MOST_A_MEGABYTE = 1.1


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


_DECODE_ONCE = """
import sys
import pyarrow.parquet as pq
with pq.ParquetFile(sys.argv[1]) as file:
    for _ in file.iter_batches(batch_size=1 << 17, columns=["record", "label"], use_threads=False):
        pass
"""


def ours(path: Path, identities: list[str], kernel: str = "auto") -> AssociationCounts:
    source = label_source(path, record="record", label="label")
    return count_source(source, identities, kernel=kernel)[0]


# What rivals do is what is needed and no more: rows are distinct, and labels stay what they are. They count in the
# processes that run once too, so that they are text.
DUCKDB = """
import duckdb
def duckdb_counts(path, first, second):
    duckdb.sql("set enable_progress_bar = false")
    return duckdb.sql(
        f"with people as (select record, bool_or(label = {first!r}) as x1, bool_or(label = {second!r}) as x2 "
        f"from read_parquet('{path}') where label in ({first!r}, {second!r}) group by record) "
        "select label, count(*), count_if(x1), count_if(x2), count_if(x1 and x2) "
        f"from read_parquet('{path}') left join people using (record) group by label"
    ).fetchall()
"""
POLARS = """
import polars as pl
def polars_counts(path, first, second):
    rows = pl.scan_parquet(path).select("record", "label")
    label = pl.col("label")
    people = rows.filter(label.is_in([first, second])).group_by("record").agg(
        x1=(label == first).any(), x2=(label == second).any()
    )
    both = (pl.col("x1") & pl.col("x2")).sum()
    sums = rows.join(people, on="record", how="left").group_by("label")
    return sums.agg(pl.len(), x1=pl.col("x1").sum(), x2=pl.col("x2").sum(), both=both).collect()
"""
OURS = """
import biasamp
def ours(path, first, second):
    return biasamp.associate(path, [str(first), str(second)], record="record", label="label")
"""
_ONCE = "\nimport sys\nfrom ast import literal_eval\n{}(sys.argv[1], *map(literal_eval, sys.argv[2:]))\n"


def rival(code: str, name: str) -> Callable[..., object]:
    """A function from the text of its module."""
    held: dict[str, Callable[..., object]] = {}
    exec(code, held)
    return held[name]


def once(code: str, name: str, path: Path, identities: list[object]) -> tuple[str, ...]:
    """The code and the arguments of a process that runs a function once."""
    return (code + _ONCE.format(name), str(path), *map(repr, identities))


def duckdb_many(path: Path, identities: list[str], triples: bool) -> object:
    """C(x, y) of many identities, or C(x1, x2, y) of every two of them."""
    import duckdb

    named = f"(select record, label from read_parquet('{path}') where label in ({', '.join(identities)}))"
    rows = f"read_parquet('{path}') y"
    if triples:
        return duckdb.sql(
            f"select a.label, b.label, y.label, count(*) from {named} a join {named} b on a.record = b.record and a.label < b.label "
            f"join {rows} on y.record = a.record group by all"
        ).fetchnumpy()
    return duckdb.sql(
        f"select a.label, y.label, count(*) from {named} a join {rows} on y.record = a.record group by all"
    ).fetchnumpy()


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


def once_and_warm(path: Path, identities: list[str]) -> None:
    """A process that runs once, and calls in one that goes on."""
    whole: list[object] = [int(x) for x in identities]
    codes = {"biasamp": once(OURS, "ours", path, whole), "decoding": (_DECODE_ONCE, str(path))}
    for name, code in (("duckdb", DUCKDB), ("polars", POLARS)):
        if find_spec(name) is not None:
            codes[name] = once(code, f"{name}_counts", path, whole)
    found = least_processes(codes)
    mine, limit = found.pop("biasamp"), found.pop("decoding")
    speed_row("associate, 8.5M whole-number rows, a process that runs once", mine, found, {"decoding": limit}, 1.3)
    works: dict[str, Callable[[], object]] = {
        "biasamp": lambda: biasamp.associate(path, identities, record="record", label="label"),
        "decoding": lambda: decode(path),
    }
    if find_spec("polars") is not None:
        works["polars"] = lambda: rival(POLARS, "polars_counts")(path, *whole)
    import_compiled(path, identities)
    found = least(works, 7)
    print(f"| (polars, warm: {found.get('polars', float('nan')):.2f} s) | | | | | | |")
    speed_row("the same, warm", found["biasamp"], {}, {"decoding": found["decoding"]}, 1.5)


def import_compiled(path: Path, identities: list[str]) -> None:
    """Load what a process that goes on has loaded."""
    if find_spec("numba") is not None:
        ours(path, identities, "numba")


def many_identities(path: Path) -> None:
    import pyarrow.parquet as pq

    label = pq.read_table(path, columns=["label"])["label"].to_numpy()
    fifty = [str(x) for x in np.argsort(-np.bincount(label, minlength=LABELS))[:50]]
    ours(path, fifty)
    works: dict[str, Callable[[], object]] = {"biasamp": lambda: ours(path, fifty), "decoding": lambda: decode(path)}
    if find_spec("duckdb") is not None:
        works["duckdb, pairs"] = lambda: duckdb_many(path, fifty, False)
        works["duckdb, triples"] = lambda: duckdb_many(path, fifty, True)
    # New memory costs now little, now much, which three turns may miss.
    found = least(works, 7)
    mine, limit = found.pop("biasamp"), found.pop("decoding")
    job = "50 identities, 8.5M rows, warm: pairs and triples"
    speed_row(job, mine, found, {"decoding": limit}, 1.0)
    speed_row(job, mine, {}, {"decoding": limit}, 4.0)


def any_order(path: Path, identities: list[str]) -> None:
    works: dict[str, Callable[[], object]] = {
        "biasamp": lambda: ours(path, identities),
        "decoding": lambda: decode(path),
    }
    for name, code in (("duckdb", DUCKDB), ("polars", POLARS)):
        if find_spec(name) is not None:
            works[name] = partial(rival(code, f"{name}_counts"), path, *identities)
    found = least(works)
    mine, limit = found.pop("biasamp"), found.pop("decoding")
    speed_row("8.5M rows of text, shuffled", mine, found, {"decoding": limit}, 1.0)
    print(f"| (peak memory of it: {peak_memory(path, identities):.0f} MB) | | | | | | |")


def without_numba(path: Path, identities: list[str]) -> None:
    if find_spec("numba") is None:
        print("| numba is not installed: what it saves is left out | | | | | | |")
        return
    found = least({kernel: lambda k=kernel: ours(path, identities, k) for kernel in ("numpy", "numba")})  # type: ignore[misc]
    speed_row("8.5M whole-number rows without numba, warm", found["numpy"], {"with it": found["numba"]}, {}, 3.0)


def to_csv(path: Path) -> None:
    """What a table of many identities costs: seconds a megabyte should not grow, nor memory with what is written."""
    print("| identities | gaps | CSV | CPU | a megabyte | memory it adds |")
    print("|---:|---:|---:|---:|---:|---:|")
    each: dict[int, tuple[float, float]] = {}
    for many in (4, 8, 16):
        code = (
            "import json, sys, time, biasamp\n"
            "def held(name):\n"
            "    line = next(line for line in open('/proc/self/status') if line.startswith(name))\n"
            "    return int(line.split()[1]) * 1024\n"
            "from biasamp.cli.output import csv_streamed\n"
            "result = biasamp.associate(sys.argv[1], sys.argv[3:], record='record', label='label')\n"
            # The highest memory is counted anew from here on.
            "open('/proc/self/clear_refs', 'w').write('5')\n"
            "before, began = held('VmRSS'), time.process_time()\n"
            "csv_streamed(result.table_blocks(), sys.argv[2])\n"
            "spent = time.process_time() - began\n"
            "print(json.dumps([len(result.contrasts), spent, held('VmHWM') - before]))\n"
        )
        out = path.parent / "out.csv"
        command = [sys.executable, "-W", "ignore", "-c", code, str(path), str(out), *map(str, range(many))]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        gaps, seconds, peak = json.loads(done.stdout)
        size = out.stat().st_size / MEGABYTE
        print(f"| {many} | {gaps} | {size:.0f} MB | {seconds:.1f} s | {1000 * seconds / size:.0f} ms | {peak / MEGABYTE:.0f} MB |",
              flush=True)  # fmt: skip
        each[many] = seconds / size, peak / MEGABYTE
        out.unlink()
    few, many = min(each), max(each)
    job = f"{many} identities to CSV, a megabyte; it adds {each[many][1]:.0f} MB of memory, with {few} {each[few][1]:.0f} MB"
    ratio = each[many][0] / each[few][0]
    keep_row(
        job, each[many][0], {}, {f"{few} identities": each[few][0]}, ratio, "at most 1.1", ratio <= MOST_A_MEGABYTE
    )


def growth(folder: Path) -> None:
    """How CPU time grows with rows, labels and identities: the exponent of the last doubling."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def table(rows: int, labels: int) -> Path:
        rng = np.random.default_rng(1)
        record = np.sort(rng.integers(0, rows // 8, rows))
        label = np.minimum(rng.zipf(1.3, rows), labels) - 1
        out = folder / "growth.parquet"
        pq.write_table(pa.table({"record": record, "label": label.astype(np.int32)}), out)
        return out

    def seconds(rows: int, labels: int, identities: int) -> float:
        path = table(rows, labels)
        names = [str(x) for x in range(identities)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours(path, names)
            return cpu_seconds(lambda: ours(path, names))

    usual = {"rows": 4_000_000, "labels": 20_000, "identities": 8}
    print("| what grows | sizes | CPU | exponent of the last doubling |")
    print("|---|---|---|---:|")
    for what, sizes in (
        ("rows", (2_000_000, 4_000_000, 8_000_000)),
        ("labels", (10_000, 20_000, 40_000)),
        ("identities", (14, 28, 56)),
    ):
        times = [seconds(**{**usual, what: size}) for size in sizes]
        exponent = float(np.log2(times[-1] / times[-2]))
        job = f"associate, {sizes[-1]:,} {what}: exponent of the last doubling"
        keep_row(job, times[-1], {}, {f"at {sizes[-2]:,}": times[-2]}, exponent, "at most 1", exponent <= 1.0)
        print(f"| {what} | {', '.join(f'{size:,}' for size in sizes)} | {', '.join(f'{t:.2f} s' for t in times)} | {exponent:.2f} |",
              flush=True)  # fmt: skip


def speed() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tables = write_tables(Path(folder))
        for name in ("text", "numbers"):
            path, identities = tables[name]
            counts = ours(path, identities)
            print(f"{name}: {int(counts.count.sum()):,} rows, {counts.n:,} records, {len(counts.labels):,} labels")
            if find_spec("duckdb") is not None:
                asked = identities if name == "text" else [int(x) for x in identities]
                assert same_counts(counts, rival(DUCKDB, "duckdb_counts")(path, *asked))  # type: ignore[arg-type]
        numbers, identities = tables["numbers"]
        heading()
        once_and_warm(numbers, identities)
        many_identities(numbers)
        any_order(*tables["shuffled"])
        without_numba(numbers, identities)
        to_csv(numbers)
        growth(Path(folder))


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


def main(arguments: list[str] | None = None) -> None:
    speed()
    if "--speed" not in (arguments or []):
        statistics()
        surfaces()
