"""Counting what an audit needs of a Parquet file, against decoding the same columns: CPU, highest memory, doubling.

``python -m benchmarks audit_counts --rows 1000000`` for smaller files.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from .scale import MEGABYTE, measure

ROWS, GROUP = 4_000_000, 500_000
REPEATS = 3

_DECODE = """
import pyarrow.parquet as pq
with pq.ParquetFile(path) as file:
    for _ in file.iter_batches(batch_size=1 << 17, use_threads=False):
        pass
"""
_COUNT = """
import biasamp
tasks = [f"t{i}" for i in range(int(identities[0]))]
one = len(tasks) == 1
counts = biasamp.count(
    path,
    attributes="gender",
    tasks=tasks[0] if one else tasks,
    task_predictions=[f"p{i}" for i in range(len(tasks))][0 if one else slice(None)],
    record="id",
    threads=threads,
)
seen = {"records": counts.records}
"""


def write(path: Path, rows: int, tasks: int) -> None:
    """Records with a gender, tasks that lean to it, and predictions with errors."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = pa.array(["man", "woman"])
    writer = None
    for start in range(0, rows, GROUP):
        many = min(GROUP, rows - start)
        gender = rng.integers(0, 2, many)
        truth = (rng.random((many, tasks), dtype=np.float32) < 0.2 + 0.2 * gender[:, None]).astype(np.int8)
        said = np.where(rng.random((many, tasks), dtype=np.float32) < 0.1, 1 - truth, truth).astype(np.int8)
        columns = {
            "id": np.arange(start, start + many),
            "gender": pa.DictionaryArray.from_arrays(gender, names).cast(pa.string()),
            **{f"t{i}": truth[:, i] for i in range(tasks)},
            **{f"p{i}": said[:, i] for i in range(tasks)},
        }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks audit_counts")
    parser.add_argument("--rows", type=int, default=ROWS)
    most = parser.parse_args(arguments or []).rows
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        for tasks in (1, 20):
            warm = folder / f"warm-{tasks}.parquet"
            write(warm, 2000, tasks)
            before = 0.0
            for rows in (most // 4, most // 2, most):
                path = folder / f"{tasks}-{rows}.parquet"
                write(path, rows, tasks)
                pairs = [
                    [measure(code, path, [str(tasks)], warm, 1) for code in (_DECODE, _COUNT)] for _ in range(REPEATS)
                ]
                decode, count = (min(pair[i]["cpu"] for pair in pairs) for i in (0, 1))
                peak = max(pair[1]["peak"] for pair in pairs) / MEGABYTE
                twice = f", {count / before:.2f} times the half" if before else ""
                before = count
                print(
                    f"{rows:>10,} records, {tasks:>2} tasks: decoding {decode:.2f} s, counting {count:.2f} s CPU "
                    f"({count / decode:.1f}x, {1e6 * count / rows:.2f} us a record{twice}), peak {peak:.0f} MB"
                )
                path.unlink()


if __name__ == "__main__":
    main()
