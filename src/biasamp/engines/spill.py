"""Rows by key: in memory as far as there is room, else in files of a temporary directory, those of one key in one file."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.data.arrow_numbers import arrow_of, is_number, numpy_of

# Bytes that sorting and counting one row takes: its key, its label, their order and sorted copies of them.
_ROW_BYTES = 80
# Where rows were not counted: bytes of text that make up a row, on the low side.
_TEXT_ROW = 16
# Each file has a writer whose batches shrink as files become more.
_MOST_BUCKETS = 256
# Rows of a bucket whose keys and labels fit a processor's cache, and how many buckets are made for that.
_BUCKET_ROWS, _CACHED_BUCKETS = 1 << 17, 128


class Spill:
    """Takes batches, and gives back those of each bucket of keys: from memory as long as they fit, else from files.

    Parameters
    ----------
    parts : sequence
        What the rows come from, which says how many buckets are needed.
    memory : int
        Bytes that the rows of one bucket may take when they are sorted.
    kept : int
        Bytes that rows may take in memory before they go to files.
    """

    def __init__(self, parts: Sequence[Any], memory: int, kept: int = 0) -> None:
        rows = sum(_rows(part) for part in parts)
        # Rows of a bucket are best sorted where they fit the processor's cache.
        least = min(-(-rows // _BUCKET_ROWS), _CACHED_BUCKETS)
        self._many = int(min(max(-(-rows * _ROW_BYTES // memory), least, 1), _MOST_BUCKETS))
        self._kept, self._held = kept, 0
        self._batches: list[tuple[Any, list[int]]] = []
        self._lock = threading.Lock()
        self._writers: list[Any] = [None] * self._many
        self._folder: Path | None = None
        self._over = False
        self.rows = 0

    def __enter__(self) -> Spill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A thread may still be at a batch when a signal ends the work: it must not write to a folder that is gone.
        with self._lock:
            self._over = True
            self._close()
            self._batches = []
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def write(self, batch: Any) -> None:
        """Put the rows of a batch where their keys belong."""
        if not batch.num_rows:
            return
        keys = numpy_of(batch.column(batch.schema.get_field_index("key")))
        batch, edges = by_bucket(batch, keys.view(np.uint64), self._many)
        with self._lock:
            if self._over:
                return
            self._batches.append((batch, edges))
            self._held += batch.nbytes
            self.rows += batch.num_rows
            if self._held > self._kept:
                self._to_files()

    def _to_files(self) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="biasamp-"))
        for batch, edges in self._batches:
            for number in range(self._many):
                if edges[number + 1] > edges[number]:
                    rows = batch.slice(edges[number], edges[number + 1] - edges[number])
                    self._writer(number, batch.schema).write_batch(rows)
        self._batches, self._held = [], 0

    def _writer(self, number: int, schema: Any) -> Any:
        import pyarrow as pa

        if self._writers[number] is None:
            options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
            self._writers[number] = pa.ipc.new_stream(str(self._path(number)), schema, options=options)
        return self._writers[number]

    def _path(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder / f"{number}.arrows"

    def _close(self) -> None:
        for writer in self._writers:
            if writer is not None:
                writer.close()
        self._writers = [None] * self._many

    def buckets(self) -> list[Bucket]:
        """The buckets; nothing can be written any more."""
        self._close()
        paths = [None if self._folder is None else self._path(number) for number in range(self._many)]
        return [Bucket(f"bucket {number}", None, number, paths[number], self._batches) for number in range(self._many)]


class Bucket(NamedTuple):
    """The rows of some keys."""

    name: str
    rows: None
    number: int
    path: Path | None
    held: Sequence[tuple[Any, list[int]]]

    def batches(self) -> Iterator[Any]:
        """The rows, as they came: those in the file, and those in memory as one batch."""
        import pyarrow as pa

        if self.path is not None and self.path.exists():
            with pa.OSFile(str(self.path)) as source, pa.ipc.open_stream(source) as reader:
                yield from reader
        own = [
            batch.slice(edges[self.number], edges[self.number + 1] - edges[self.number])
            for batch, edges in self.held
            if edges[self.number + 1] > edges[self.number]
        ]
        if own:
            columns = [pa.concat_arrays([batch.column(i) for batch in own]) for i in range(own[0].num_columns)]
            yield pa.record_batch(columns, schema=own[0].schema)


def by_bucket(batch: Any, keys: NDArray[np.uint64], many: int) -> tuple[Any, list[int]]:
    """The rows of a batch with those of one bucket together, in their order, and where each bucket begins and ends."""
    import pyarrow as pa

    plain = [is_number(column.type) and not column.null_count for column in batch.columns]
    # There are no compiled loops over numbers of two bytes with a fraction.
    if "numba" in sys.modules and all(plain) and not any(pa.types.is_float16(kind) for kind in batch.schema.types):
        from biasamp.counts.kernels.compiled_buckets import places_by_bucket, put

        ends, places = np.empty(many + 1, dtype=np.int64), np.empty(len(keys), dtype=np.uint32)
        places_by_bucket(keys, many, ends, places)
        columns = []
        for column in batch.columns:
            values = numpy_of(column)
            out = np.empty_like(values)
            put(values, places, out)
            columns.append(arrow_of(out))
        return pa.record_batch(columns, schema=batch.schema), ends.tolist()
    # The high bits: the low ones may decide other things.
    bucket = (keys >> np.uint64(32)) * np.uint64(many) >> np.uint64(32)
    # Numbers of one byte are sorted in one pass.
    order = np.argsort(bucket.astype(np.uint8), kind="stable")
    edges = [0, *np.cumsum(np.bincount(bucket.astype(np.int64), minlength=many)).tolist()]
    # Of numbers, numpy takes rows several times sooner than Arrow.
    columns = [
        arrow_of(numpy_of(column)[order]) if number else column.take(pa.array(order))
        for column, number in zip(batch.columns, plain, strict=True)
    ]
    return pa.record_batch(columns, schema=batch.schema), edges


def _rows(part: Any) -> int:
    if part.rows is not None:
        return int(part.rows)
    path = getattr(part, "path", None)
    return 0 if path is None else path.stat().st_size // _TEXT_ROW
