"""Association of a file larger than the memory allowed: 85 million (record, label) rows and 20,000 labels.

Each figure comes from a process of its own: highest memory, CPU against decoding the same columns, and what doubling
the rows does to both. ``python -m benchmarks scale --rows 10000000`` for a smaller file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

ROWS, LABELS, ROWS_PER_RECORD = 85_000_000, 20_000, 8.5
GROUP = 1_000_000
REPEATS = 4
MEGABYTE = 1 << 20
MOST_MEMORY, MOST_RATIO = 600, 1.6

_DECODE = """
import pyarrow.parquet as pq
with pq.ParquetFile(path) as file:
    for _ in file.iter_batches(batch_size=1 << 17, columns=["record", "label"], use_threads=False):
        pass
"""
_ASSOCIATE = """
import biasamp
options = {} if threads is None else {"threads": threads}
result = biasamp.associate(path, identities, record="record", label="label", **options)
seen = {"n": result.n, "rows": result.reading["rows"], "order": result.reading["order"], "labels": len(result.labels)}
"""
# The operating system's own high-water mark, and the CPU of all threads; imports and compiled code are there before.
_HARNESS = """
import json, sys, time
path, identities, threads, warm, code = json.loads(sys.stdin.read())
seen = {}
whole, path = path, warm
exec(code)
path = whole
wall, cpu = time.perf_counter(), time.process_time()
exec(code)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(json.dumps({"wall": wall, "cpu": cpu, "peak": int(peak) * 1024, **seen}))
"""


def write(path: Path, rows: int, text: bool, seed: int = 0) -> list[str]:
    """A sorted long table, a row group after another; the identities to ask for."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    weight = 1.0 / (np.arange(LABELS) + 11.0)
    edges = np.cumsum(weight / weight.sum())
    names = rng.permutation(LABELS)
    spelled = pa.array([f"/m/{i:06x}" for i in range(LABELS)])
    kinds = [("record", pa.string() if text else pa.int64()), ("label", pa.string() if text else pa.int32())]
    next_record = 0
    with pq.ParquetWriter(path, pa.schema(kinds)) as writer:
        for start in range(0, rows, GROUP):
            many = min(GROUP, rows - start)
            record = next_record + np.cumsum(rng.random(many) < 1 / ROWS_PER_RECORD)
            next_record = int(record[-1])
            label = names[np.searchsorted(edges, rng.random(many)).clip(0, LABELS - 1)].astype(np.int32)
            if not text:
                columns = [pa.array(record), pa.array(label)]
            else:
                ids = np.array([f"{x:016x}" for x in range(int(record[0]), next_record + 1)])
                columns = [pa.array(ids).take(pa.array(record - record[0])), spelled.take(pa.array(label))]
            writer.write_table(pa.table(columns, schema=pa.schema(kinds)), row_group_size=GROUP)
    common = names[[3, 5]]
    return [f"/m/{i:06x}" for i in common] if text else [str(i) for i in common]


def measure(code: str, path: Path, identities: list[str], warm: Path, threads: int | None = None) -> dict[str, float]:
    """What a fresh process takes, after a run over a small file."""
    given = json.dumps([str(path), identities, threads, str(warm), code])
    # Two draws of one label for a record are duplicates, which associate warns of.
    command = [sys.executable, "-W", "ignore", "-c", _HARNESS]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def whole_file(folder: Path, rows: int) -> None:
    for kind in ("text", "numbers"):
        path, warm = folder / f"{kind}.parquet", folder / f"{kind}-warm.parquet"
        identities = write(path, rows, kind == "text")
        write(warm, 200_000, kind == "text")
        # In turns: what else the machine does, it does to both.
        runs = [[measure(code, path, identities, warm) for code in (_DECODE, _ASSOCIATE)] for _ in range(REPEATS)]
        decode, found = (min(own, key=lambda run: run["cpu"]) for own in zip(*runs, strict=True))
        ratio = float(np.median([ours["cpu"] / theirs["cpu"] for theirs, ours in runs]))
        print(f"{kind}: {int(found['rows']):,} rows, {int(found['n']):,} records, {int(found['labels']):,} labels; "
              f"{path.stat().st_size / MEGABYTE:,.0f} MB on disk")  # fmt: skip
        print(f"  pyarrow decoding the two columns   {decode['cpu']:7.2f} s of CPU")
        wanted = (
            f"(at most {MOST_RATIO}x with numba, at {ROWS:,} rows)"
            if find_spec("numba")
            else "(numba is not installed)"
        )
        print(f"  biasamp.associate, the whole call  {found['cpu']:7.2f} s of CPU  {ratio:5.2f}x {wanted}, "
              f"{found['wall']:.1f} s on the clock")  # fmt: skip
        print(f"  peak memory                        {found['peak'] / MEGABYTE:7.0f} MB (below {MOST_MEMORY})")
        path.unlink()


def doubling(folder: Path, rows: int) -> None:
    print("rows doubled, text ids, one thread:")
    print("| rows | seconds of CPU | times the line before | peak memory |")
    print("|---:|---:|---:|---:|")
    before = None
    for many in (rows // 16, rows // 8, rows // 4, rows // 2):
        path, warm = folder / "double.parquet", folder / "text-warm.parquet"
        identities = write(path, many, True)
        found = min((measure(_ASSOCIATE, path, identities, warm, 1) for _ in range(2)), key=lambda run: run["cpu"])
        times = "" if before is None else f"{found['cpu'] / before:.2f}"
        print(f"| {many:,} | {found['cpu']:.2f} | {times} | {found['peak'] / MEGABYTE:.0f} MB |")
        before = found["cpu"]
        path.unlink()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks scale")
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args(arguments or []).rows
    with tempfile.TemporaryDirectory() as folder:
        # Some 12 bytes a row on disk, for one file at a time.
        if shutil.disk_usage(folder).free < 20 * rows:
            sys.exit(f"{20 * rows / 1e9:.1f} GB of disk are needed")
        whole_file(Path(folder), rows)
        doubling(Path(folder), rows)


if __name__ == "__main__":
    main(sys.argv[1:])
