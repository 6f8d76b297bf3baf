"""A million captions to counts: against splitting them into words once with pyarrow, and memory as captions get more."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import biasamp
from benchmarks.timing import cpu_seconds

CAPTIONS = 1_000_000
MOST = 3.0
THINGS = ["dog", "cat", "hot dog", "surfboard", "tennis racket", "wine glass", "bench", "umbrella", "laptop", "bicycle"]


def captions(size: int, seed: int = 0) -> pa.Array:
    """Captions of ten words or so, with capitals and a full stop."""
    rng = np.random.default_rng(seed)
    who = np.array(["A man", "A woman", "Two people", "The boy", "A lady", "Three men"])
    does = np.array(["is riding on", "sits next to", "is holding", "walks past", "stands behind", "looks at"])
    where = np.array(["in a park", "on the street", "near the beach", "in a small kitchen", "at night"])
    parts = [rng.choice(words, size) for words in (who, does, np.array([f"a {thing}" for thing in THINGS]), where)]
    joined = pc.binary_join_element_wise(*(pa.array(part) for part in parts), " ")
    return pc.binary_join_element_wise(joined, pa.scalar("."), "")


def _peak(path: str) -> None:
    """In a process of its own: the memory that counting takes at its peak, in megabytes."""
    biasamp.count(biasamp.read_text(path, "lic", THINGS, text="caption"), threads=2)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def main() -> None:
    texts = captions(CAPTIONS)
    table = pa.table({"caption": texts})
    split = cpu_seconds(lambda: pc.utf8_split_whitespace(texts))
    print(f"splitting {CAPTIONS:,} captions into words once: {split:.2f} s of CPU")
    for title, labels in (("ten objects", THINGS), ("all words", "words")):
        read = biasamp.read_text(table, "lic", labels)
        own = cpu_seconds(lambda read=read: biasamp.count(read, threads=1))
        verdict = "" if own <= MOST * split else f"  MORE than {MOST:g}x"
        print(f"to counts, {title:<12} {own:>6.2f} s of CPU, {own / split:.1f}x{verdict}")
    with tempfile.TemporaryDirectory() as folder:
        for times in (1, 2, 4):
            path = Path(folder) / f"{times}.parquet"
            with pq.ParquetWriter(path, table.schema) as writer:
                for _ in range(times):
                    writer.write_table(table)
            code = f"from benchmarks.text import _peak; _peak({str(path)!r})"
            peak = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
            )
            print(f"{times * CAPTIONS:>10,} captions from a file: {peak.stdout.strip()} MB at the peak")
