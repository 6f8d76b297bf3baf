"""A Spark cluster: kernels run in ``mapInArrow`` on the executors, results travel as bytes."""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from .engine import (
    Engine,
    Failed,
    Gather,
    Kernel,
    Merge,
    Spread,
    done,
    fold,
    fold_parts,
    lazy_of,
    one_by_one,
    raised,
    refuse_nothing,
)
from .memory_budget import budget

T = TypeVar("T")

# Results that one task merges.
_FAN_IN = 8
# Tasks for each core: a task starts or wakes a Python process and makes counts of its own, and counts the parts that it has in
# one go. A few more than cores, so that none waits long for the last, and few parts are lost when one dies.
_TASKS_PER_CORE = 3
# Descriptions of parts up to so many bytes travel with the task's code; what holds rows itself goes to its task alone.
_MOST_DESCRIBED = 4 << 20

# Rows and bytes of batches that are put together.
_BATCH_ROWS, _BATCH_BYTES = 1 << 16, 16 << 20

_RESULT = "number long, result binary"


class SparkEngine(Engine):
    """Counts on a Spark cluster.

    Files are read by the executors themselves: their paths must mean the same there as here.

    The session is by default that of the data, else the active one, else a new one on this machine. ``memory`` is the
    budget of one Python worker.
    """

    name = "spark"

    def __init__(self, session: Any = None, data: Any = None, *, memory: int | str | None = None) -> None:
        self.memory, _, self.batch_rows = budget(memory, 1)
        self._own: Any = None
        self.session = session or getattr(data, "sparkSession", None) or self._session()

    def _session(self) -> Any:
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        if active is not None:
            return active
        # Workers on this machine need the packages of this interpreter.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        self._own = SparkSession.builder.appName("biasamp").config("spark.ui.enabled", "false").getOrCreate()
        return self._own

    def close(self) -> None:
        """End the session, if it was started here."""
        if self._own is not None:
            self._own.stop()
            self._own = None

    def map(self, kernel: Kernel[T], parts: Sequence[Any]) -> Iterator[tuple[int, T]]:
        """The result of each part with its number; all of them come here, so they had better be small."""
        if not parts:
            return
        for row in self._results(kernel, parts, None).collect():
            yield row["number"], _opened(row["result"])

    def reduce(self, kernel: Kernel[T], parts: Sequence[Any], merge: Merge[T]) -> T:
        """The results of all parts merged by trees on the executors."""
        refuse_nothing(parts)
        return self._merged(self._results(kernel, parts, merge), self._tasks(parts), merge)

    def regroup(self, spread: Spread, parts: Sequence[Any], kernel: Gather[T], merge: Merge[T]) -> T:
        """Rows are brought together by Spark's own shuffle."""
        refuse_nothing(parts)
        tasks = int(self.session.conf.get("spark.sql.shuffle.partitions"))
        column = getattr(parts[0], "key_column", None)
        held = _described(parts)
        if isinstance(held, _OfFrame) and column is not None:
            # Rows of a dataframe are brought together by their own column, and go to Python once, when they are counted.
            frame = parts[0].lazy.repartition(column)
            return self._merged(_map(frame, partial(_spread_and_gather, spread, kernel, held)), tasks, merge)
        schema = self._schema(spread, parts)
        rows = _map(self._frame(parts), partial(_spread, spread, held), schema)
        return self._merged(_map(rows.repartition("key"), partial(_gather, kernel)), tasks, merge)

    def _schema(self, spread: Spread, parts: Sequence[Any]) -> Any:
        """The columns that spreading gives, from one batch that an executor spreads."""
        described = _map(self._frame(parts), partial(_describe, spread, _described(parts))).limit(1).collect()
        if not described:
            raise ValueError("data has no rows: at least one record is needed")
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(_opened(described[0]["result"]))

    def _results(self, kernel: Kernel[T], parts: Sequence[Any], merge: Merge[T] | None) -> Any:
        return _map(self._frame(parts), partial(_count, kernel, _described(parts), merge))

    def _frame(self, parts: Sequence[Any]) -> Any:
        """The rows of a Spark dataframe themselves, or a row for each part that is to be read."""
        if lazy_of(parts[0]) is not None:
            return parts[0].lazy
        tasks = self._tasks(parts)
        if _described(parts) is not None:
            # Neighbours come to one task, in their order.
            return self.session.range(0, len(parts), 1, tasks)
        rows = [(number, bytearray(pickle.dumps(part))) for number, part in enumerate(parts)]
        return self.session.createDataFrame(rows, "number long, part binary").repartition(tasks)

    def _tasks(self, parts: Sequence[Any]) -> int:
        """How many tasks count parts: as many as there are, unless there are very many."""
        cores = int(self.session.conf.get("spark.default.parallelism", "0") or 0)
        if not cores:
            try:
                cores = self.session.sparkContext.defaultParallelism
            except AttributeError:
                # A session on another machine has no context here.
                cores = 32
        most = max(1, cores) * _TASKS_PER_CORE
        # How many partitions a dataframe has is not known here.
        return most if lazy_of(parts[0]) is not None else min(len(parts), most)

    def _merged(self, results: Any, tasks: int, merge: Merge[T]) -> T:
        while tasks > _FAN_IN:
            tasks = -(-tasks // _FAN_IN)
            results = _map(results.repartition(tasks), partial(_fold, merge))
        found: list[T] = [_opened(row["result"]) for row in results.collect()]
        if not found:
            raise ValueError("data has no rows: at least one record is needed")
        return fold(merge, found)[0]


def _map(frame: Any, function: Callable[[Iterator[Any]], Iterator[Any]], schema: Any = _RESULT) -> Any:
    with warnings.catch_warnings():
        # PySpark warns of new versions of pandas, which Arrow batches have nothing to do with.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(function, schema)


class _OfFrame:
    """The part that stands for a Spark dataframe, without the frame: a task gives it its rows."""

    def __init__(self, part: Any) -> None:
        self.part = part.with_rows(None)


def _described(parts: Sequence[Any]) -> _OfFrame | list[Any] | None:
    """The parts as they travel with a task's code; None where they hold rows themselves, which only one task needs."""
    if any(lazy_of(part) is not None for part in parts):
        (part,) = parts
        return _OfFrame(part)
    size = 0
    for part in parts:
        size += len(pickle.dumps(part))
        if size > _MOST_DESCRIBED:
            return None
    return list(parts)


# Errors travel as results: a task that raises would be tried again, to no avail, and lose its message.


def _closed(number: int, result: Any) -> Any:
    import pyarrow as pa

    data = pickle.dumps(result)
    return pa.RecordBatch.from_arrays(
        [pa.array([number], pa.int64()), pa.array([data], pa.binary())], names=["number", "result"]
    )


def _opened(data: Any) -> Any:
    return raised(pickle.loads(bytes(data)))


def _guarded(number: int, work: Callable[[], Any]) -> Any:
    try:
        return _closed(number, work())
    except Exception as error:
        try:
            return _closed(number, Failed(error))
        except Exception:
            return _closed(number, Failed(RuntimeError(f"{type(error).__name__}: {error}")))


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _parts(batches: Iterable[Any], described: _OfFrame | list[Any] | None) -> Iterator[tuple[int, Any]]:
    """The parts of a task: those its rows name, or its rows themselves."""
    if isinstance(described, _OfFrame):
        number = _partition()
        yield number, described.part.with_rows(_larger(batches), number)
        return
    for batch in batches:
        if described is not None:
            yield from ((number, described[number]) for number in batch.column(0).to_pylist())
            continue
        for number, part in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            yield number, pickle.loads(part)


def _larger(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches put together: Spark's have ten thousand rows unless it is told otherwise, and each costs something to begin with."""
    import pyarrow as pa

    held: list[Any] = []
    rows = size = 0
    for batch in batches:
        if held and (rows + batch.num_rows > _BATCH_ROWS or size + batch.nbytes > _BATCH_BYTES):
            yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]
            held, rows, size = [], 0, 0
        if batch.num_rows:
            held.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
    if held:
        yield pa.Table.from_batches(held).combine_chunks().to_batches()[0]


# What runs in a task: from its Arrow batches to batches of results.


def _count(kernel: Kernel[Any], described: Any, merge: Merge[Any] | None, batches: Iterator[Any]) -> Iterator[Any]:
    """Count the parts of a task, each by itself or all together."""
    if merge is None:
        for number, part in _parts(batches, described):
            yield _guarded(number, partial(_one, kernel, part))
        return
    yield from _whole(lambda: fold_parts(kernel, one_by_one(part for _, part in _parts(batches, described)), merge))


def _one(kernel: Kernel[T], part: Any) -> T:
    out = kernel(part)
    done(part)
    return out


def _whole(work: Callable[[], list[Any]]) -> Iterator[Any]:
    """The one result of a task, or none where it had nothing to do."""
    number = _partition()
    try:
        found = work()
    except Exception as error:
        yield _guarded(number, partial(raised, Failed(error)))
        return
    for result in found:
        yield _closed(number, result)


def _fold(merge: Merge[Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Merge the results that come to a task."""
    results = (_opened(data) for batch in batches for data in batch.column(1).to_pylist())
    yield from _whole(lambda: fold(merge, results))


def _spread(spread: Spread, described: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Turn the parts of a task into rows that have a key."""
    for _, part in _parts(batches, described):
        yield from spread(part)


def _describe(spread: Spread, described: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """The columns that the rows have, where there are rows."""
    for batch in islice(_spread(spread, described, batches), 1):
        yield _closed(0, batch.schema)


def _gather(kernel: Gather[Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Count the rows of the keys that come to a task."""
    yield from _whole(lambda: [kernel(batches)])


def _spread_and_gather(spread: Spread, kernel: Gather[Any], described: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Count the rows of a dataframe that come to a task, all of some keys."""
    yield from _whole(lambda: [kernel(_spread(spread, described, batches))])
