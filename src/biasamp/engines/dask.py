"""A Dask cluster: one task for a few parts, and merges by trees on the workers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from .engine import (
    Engine,
    Failed,
    Gather,
    Kernel,
    Merge,
    Progress,
    Spread,
    done,
    fold,
    fold_parts,
    lazy_of,
    one_by_one,
    raised,
    refuse_nothing,
    total_rows,
)
from .memory_budget import budget, cores, parse_memory

T = TypeVar("T")

# Results that one task merges.
_FAN_IN = 8
# Tasks for each thread of the cluster: a task makes counts of its own, which must travel and be merged, and counts the
# parts that it has in one go. A few more than threads, so that none waits long for the last.
_TASKS_PER_THREAD = 3


class DaskEngine(Engine):
    """Counts on a Dask cluster: that of the client, else the current one, else a new one of processes on this machine.

    A new cluster has ``workers`` processes and ends with the engine. ``memory`` is the budget of one process.
    """

    name = "dask"

    def __init__(
        self,
        client: Any = None,
        *,
        workers: int | None = None,
        memory: int | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.memory, _, self.batch_rows = budget(memory, 1)
        self.progress = progress
        self._own: list[Any] = []
        self.client = client or self._client(workers, parse_memory(memory))

    def _client(self, workers: int | None, memory: int | None) -> Any:
        from distributed import Client, LocalCluster, default_client

        try:
            return default_client()
        except ValueError:
            pass
        cluster = LocalCluster(
            n_workers=workers or cores(),
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit="auto" if memory is None else memory,
        )
        client = Client(cluster)
        self._own = [client, cluster]
        return client

    def close(self) -> None:
        """End the cluster, if it was started here."""
        for item in self._own:
            item.close()
        self._own = []

    def map(self, kernel: Kernel[T], parts: Sequence[Any]) -> Iterator[tuple[int, T]]:
        """The result of each part with its number, as they are done."""
        from distributed import as_completed

        futures = [self._submit(kernel, part) for part in parts]
        number = {future.key: i for i, future in enumerate(futures)}
        rows = 0
        try:
            for future in as_completed(futures):
                place = number[future.key]
                yield place, raised(future.result())
                # A result that is here needs no room there.
                future.release()
                rows = self._advance(rows, parts, [parts[place]])
        except BaseException:
            self.client.cancel(futures, force=True)
            raise

    def reduce(self, kernel: Kernel[T], parts: Sequence[Any], merge: Merge[T]) -> T:
        """The results of all parts merged on the workers; one result comes here."""
        refuse_nothing(parts)
        if any(lazy_of(part) is not None for part in parts):
            # Partitions of a dataframe are brought to their task whole: more than one might not fit.
            groups = [[part] for part in parts]
            return self._tree([self._submit(kernel, part) for part in parts], merge, groups)
        threads = sum(int(worker["nthreads"]) for worker in self._workers().values())
        tasks = min(len(parts), max(1, threads) * _TASKS_PER_THREAD)
        edges = [len(parts) * i // tasks for i in range(tasks + 1)]
        # Neighbours together: a record that goes on in the next part is whole within the task.
        groups = [list(parts[start:stop]) for start, stop in pairwise(edges)]
        level = [self.client.submit(_fold_parts, kernel, merge, group, pure=False) for group in groups]
        return self._tree(level, merge, groups)

    def _tree(self, level: list[Any], merge: Merge[T], groups: Sequence[Sequence[Any]]) -> T:
        """The results of tasks, each of a group of parts, merged by further tasks."""
        from distributed import as_completed

        leaves = level
        every = list(level)
        while len(level) > 1:
            level = [
                self.client.submit(_fold, merge, level[i : i + _FAN_IN], pure=False)
                for i in range(0, len(level), _FAN_IN)
            ]
            every.extend(level)
        try:
            if self.progress is not None and groups:
                rows = 0
                parts = [part for group in groups for part in group]
                place = {future.key: i for i, future in enumerate(leaves)}
                for future in as_completed([*leaves, level[0]]):
                    if future.status == "error" or future.key == level[0].key:
                        break
                    if future.key in place:
                        rows = self._advance(rows, parts, groups[place[future.key]])
            out: T = raised(level[0].result())
            return out
        except BaseException:
            self.client.cancel(every, force=True)
            raise

    def regroup(self, spread: Spread, parts: Sequence[Any], kernel: Gather[T], merge: Merge[T]) -> T:
        """Rows are brought together by Dask's own shuffle."""
        import dask.dataframe as dd
        from dask import delayed

        refuse_nothing(parts)
        rows, first = delayed(_spread_frame, pure=False), delayed(_spread_meta, pure=False)
        held = list(zip(_light(parts), map(lazy_of, parts), strict=True))
        empty = (self.client.compute(first(spread, part, lazy)).result() for part, lazy in held)
        meta = next((frame for frame in empty if frame is not None), None)
        if meta is None:
            raise ValueError("data has no rows: at least one record is needed")
        frames = [rows(spread, part, lazy, meta) for part, lazy in held]
        frame = dd.from_delayed(frames, meta=meta, verify_meta=False, prefix="biasamp-rows")
        shuffled = frame.shuffle(on="key", npartitions=max(len(parts), len(self._workers())))
        count = delayed(_count_frame, pure=False)
        level = self.client.compute([count(kernel, piece) for piece in shuffled.to_delayed()])
        return self._tree(list(level), merge, [])

    def _workers(self) -> Any:
        return self.client.scheduler_info(n_workers=-1)["workers"]

    def _submit(self, kernel: Kernel[T], part: Any) -> Any:
        """One part's task; rows that live on the cluster are handed to it there."""
        lazy = lazy_of(part)
        if lazy is None:
            return self.client.submit(_count, kernel, part, pure=False)
        from dask import delayed

        (light,) = _light([part])
        return self.client.compute(delayed(_count, pure=False)(kernel, light, lazy))

    def _advance(self, rows: int, parts: Sequence[Any], more: Sequence[Any]) -> int:
        rows += sum(part.rows or 0 for part in more)
        if self.progress is not None:
            self.progress(rows, total_rows(parts))
        return rows


def _light(parts: Sequence[Any]) -> list[Any]:
    """Parts without the rows that Dask brings to the task itself."""
    return [part if lazy_of(part) is None else part.with_rows(None) for part in parts]


def _count(kernel: Kernel[T], part: Any, rows: Any = None) -> T | Failed:
    part = part if rows is None else part.with_rows(rows)
    try:
        out = kernel(part)
    except Exception as error:
        return Failed(error)
    done(part)
    return out


def _fold_parts(kernel: Kernel[T], merge: Merge[T], parts: Sequence[Any]) -> T | Failed:
    try:
        return fold_parts(kernel, one_by_one(parts), merge)[0]
    except Exception as error:
        return Failed(error)


def _fold(merge: Merge[T], results: Iterable[T | Failed]) -> T | Failed:
    try:
        # A result stays on its worker until the tree is done: what is merged into must be our own.
        own = (copy.deepcopy(raised(result)) if not i else raised(result) for i, result in enumerate(results))
        return fold(merge, own)[0]
    except Exception as error:
        return Failed(error)


def _spread_frame(spread: Spread, part: Any, rows: Any, meta: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    part = part if rows is None else part.with_rows(rows)
    batches = list(spread(part))
    return pa.Table.from_batches(batches).to_pandas(types_mapper=pd.ArrowDtype) if batches else meta


def _spread_meta(spread: Spread, part: Any, rows: Any) -> Any:
    """An empty frame of the columns that spreading gives; None for a part without rows."""
    import pandas as pd

    part = part if rows is None else part.with_rows(rows)
    batch = next(iter(spread(part)), None)
    return None if batch is None else batch.slice(0, 0).to_pandas(types_mapper=pd.ArrowDtype)


def _count_frame(kernel: Gather[T], frame: Any) -> T:
    import pyarrow as pa

    return kernel(pa.Table.from_pandas(frame, preserve_index=False).to_batches())
