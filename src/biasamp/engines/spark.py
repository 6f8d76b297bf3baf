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

from .engine import Engine, Failed, Gather, Kernel, Merge, Spread, done, fold, lazy_of, raised, refuse_nothing
from .memory_budget import budget

T = TypeVar("T")

# Results that one task merges.
_FAN_IN = 8
# Parts to a task: executors take another task when they are done, and few tasks are lost when one dies.
_TASKS_PER_CORE = 8

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
        schema = self._schema(spread, parts)
        rows = _map(self._frame(parts), partial(_spread, spread, _lazy(parts)), schema)
        results = _map(rows.repartition("key"), partial(_gather, kernel))
        return self._merged(results, int(self.session.conf.get("spark.sql.shuffle.partitions")), merge)

    def _schema(self, spread: Spread, parts: Sequence[Any]) -> Any:
        """The columns that spreading gives, from one batch that an executor spreads."""
        described = _map(self._frame(parts), partial(_describe, spread, _lazy(parts))).limit(1).collect()
        if not described:
            raise ValueError("data has no rows: at least one record is needed")
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(_opened(described[0]["result"]))

    def _results(self, kernel: Kernel[T], parts: Sequence[Any], merge: Merge[T] | None) -> Any:
        return _map(self._frame(parts), partial(_count, kernel, _lazy(parts), merge))

    def _frame(self, parts: Sequence[Any]) -> Any:
        """The rows of a Spark dataframe themselves, or a row for each part that is to be read."""
        lazy = _lazy(parts)
        if lazy is not None:
            return parts[0].lazy
        rows = [(number, bytearray(pickle.dumps(part))) for number, part in enumerate(parts)]
        frame = self.session.createDataFrame(rows, "number long, part binary")
        return frame.repartition(self._tasks(parts))

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
        return most if _lazy(parts) is not None else min(len(parts), most)

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


def _lazy(parts: Sequence[Any]) -> Any:
    """The one part that stands for a Spark dataframe, without the frame; None for parts that are read."""
    if any(lazy_of(part) is not None for part in parts):
        (part,) = parts
        return part.with_rows(None)
    return None


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


def _parts(batches: Iterable[Any], lazy: Any) -> Iterator[tuple[int, Any]]:
    """The parts of a task: those its rows name, or its rows themselves."""
    if lazy is not None:
        number = _partition()
        yield number, lazy.with_rows(batches, number)
        return
    for batch in batches:
        for number, part in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            yield number, pickle.loads(part)


# What runs in a task: from its Arrow batches to batches of results.


def _count(kernel: Kernel[Any], lazy: Any, merge: Merge[Any] | None, batches: Iterator[Any]) -> Iterator[Any]:
    """Count the parts of a task, each by itself or all together."""
    if merge is None:
        for number, part in _parts(batches, lazy):
            yield _guarded(number, partial(_one, kernel, part))
        return
    yield from _whole(lambda: fold(merge, (_one(kernel, part) for _, part in _parts(batches, lazy))))


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


def _spread(spread: Spread, lazy: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Turn the parts of a task into rows that have a key."""
    for _, part in _parts(batches, lazy):
        yield from spread(part)


def _describe(spread: Spread, lazy: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """The columns that the rows have, where there are rows."""
    for batch in islice(_spread(spread, lazy, batches), 1):
        yield _closed(0, batch.schema)


def _gather(kernel: Gather[Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Count the rows of the keys that come to a task."""
    yield from _whole(lambda: [kernel(batches)])
