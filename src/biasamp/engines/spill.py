"""Rows in files of a temporary directory, those of one key in one file."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from biasamp.data.arrow_numbers import numpy_of

# Bytes that sorting and counting one row takes: its key, its label, their order and sorted copies of them.
_ROW_BYTES = 80
# Where rows were not counted: bytes of text that make up a row, on the low side.
_TEXT_ROW = 16
# Each file has a writer whose batches shrink as files become more.
_MOST_BUCKETS = 256


class Spill:
    """Takes batches, and gives back those of each bucket of keys.

    Parameters
    ----------
    parts : sequence
        What the rows come from, which says how many buckets are needed.
    memory : int
        Bytes that the rows of one bucket may take when they are sorted.
    """

    def __init__(self, parts: Sequence[Any], memory: int) -> None:
        rows = sum(_rows(part) for part in parts)
        self._many = int(min(max(-(-rows * _ROW_BYTES // memory), 1), _MOST_BUCKETS))
        self._lock = threading.Lock()
        self._writers: list[Any] = [None] * self._many
        self.rows = 0

    def __enter__(self) -> Spill:
        self._folder = Path(tempfile.mkdtemp(prefix="biasamp-"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def write(self, batch: Any) -> None:
        """Put the rows of a batch where their keys belong."""
        if not batch.num_rows:
            return
        keys = numpy_of(batch.column(batch.schema.get_field_index("key")))
        # The high bits: the low ones may decide other things.
        bucket = ((keys.view(np.uint64) >> np.uint64(32)) * np.uint64(self._many) >> np.uint64(32)).astype(np.int64)
        order = np.argsort(bucket, kind="stable")
        edges = np.searchsorted(bucket[order], np.arange(self._many + 1))
        batch = batch.take(order)
        with self._lock:
            for number in np.flatnonzero(np.diff(edges)).tolist():
                rows = batch.slice(int(edges[number]), int(edges[number + 1] - edges[number]))
                self._writer(number, batch.schema).write_batch(rows)
            self.rows += batch.num_rows

    def _writer(self, number: int, schema: Any) -> Any:
        import pyarrow as pa

        if self._writers[number] is None:
            options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
            self._writers[number] = pa.ipc.new_stream(str(self._path(number)), schema, options=options)
        return self._writers[number]

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.arrows"

    def _close(self) -> None:
        for writer in self._writers:
            if writer is not None:
                writer.close()
        self._writers = [None] * self._many

    def buckets(self) -> list[Bucket]:
        """The buckets; nothing can be written any more."""
        self._close()
        return [Bucket(f"bucket {number}", None, self._path(number)) for number in range(self._many)]


class Bucket(NamedTuple):
    """The rows of some keys."""

    name: str
    rows: None
    path: Path

    def batches(self) -> Iterator[Any]:
        """The rows, as they came."""
        import pyarrow as pa

        if self.path.exists():
            with pa.OSFile(str(self.path)) as source, pa.ipc.open_stream(source) as reader:
                yield from reader


def _rows(part: Any) -> int:
    if part.rows is not None:
        return int(part.rows)
    path = getattr(part, "path", None)
    return 0 if path is None else path.stat().st_size // _TEXT_ROW
