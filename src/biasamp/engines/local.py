"""The threads of this machine: parts from a queue, one running total a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from .engine import (
    Engine,
    Gather,
    Kernel,
    Merge,
    Progress,
    Spread,
    done,
    fold,
    fold_parts,
    listen,
    one_by_one,
    refuse_nothing,
    total_rows,
)
from .memory_budget import budget

T = TypeVar("T")


# Seconds that a thread is given to notice that it is not needed any more.
_PATIENCE = 10.0


class Stopped(Exception):
    """Another thread has failed, or nobody waits for the result any more."""


class LocalEngine(Engine):
    """Counts with the threads of this process; kernels release the interpreter where they work.

    Parameters
    ----------
    threads : int, optional
        By default as many as there are processors, and no more than the memory budget allows.
    memory : int or str, optional
        Budget in bytes, or as text such as ``"512MB"``.
    progress : callable, optional
        Called with the rows done and the rows in all, or None where they are not known.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> parts = [SimpleNamespace(name=str(i), rows=10 * i) for i in range(4)]
    >>> LocalEngine(threads=2).reduce(lambda part: part.rows, parts, lambda a, b: a + b)
    60
    """

    name = "local"

    def __init__(
        self, *, threads: int | None = None, memory: int | str | None = None, progress: Progress | None = None
    ) -> None:
        self.memory, self.threads, self.batch_rows = budget(memory, threads)
        self.progress = progress

    def map(self, kernel: Kernel[T], parts: Sequence[Any]) -> Iterator[tuple[int, T]]:
        """The result of each part with its number, as they are done."""
        # A thread waits with its next part until results are taken, so that they do not pile up.
        results: queue.Queue[tuple[int, T] | None] = queue.Queue(maxsize=self.threads)
        run = _Run(self, parts)

        def work() -> None:
            try:
                for number, part in run.take():
                    _put(results, (number, run.count(kernel, part)), run.stop)
            finally:
                _put(results, None, run.stop)

        workers = run.start(work)
        try:
            left = len(workers)
            while left:
                try:
                    item = results.get(timeout=0.1)
                except queue.Empty:
                    if run.stop.is_set():
                        break
                    continue
                if item is None:
                    left -= 1
                else:
                    yield item
        finally:
            run.stop.set()
            run.end(workers)

    def reduce(self, kernel: Kernel[T], parts: Sequence[Any], merge: Merge[T]) -> T:
        """The results of all parts merged: each thread adds to a total of its own."""
        refuse_nothing(parts)
        run = _Run(self, parts)
        totals: list[T] = []

        def work() -> None:
            totals.extend(run.fold(kernel, merge))

        run.end(run.start(work))
        return fold(merge, totals)[0]

    def regroup(self, spread: Spread, parts: Sequence[Any], kernel: Gather[T], merge: Merge[T]) -> T:
        """Rows are kept in memory by their key, or in files of a temporary directory where they are too many."""
        from .spill import Spill

        # A half for what is kept, a half for sorting.
        with Spill(parts, self.memory // (2 * self.threads), self.memory // 2) as spill:

            def scatter(part: Any) -> None:
                for batch in spread(part):
                    spill.write(batch)

            self.reduce(scatter, parts, lambda a, b: None)
            quiet = LocalEngine(threads=self.threads)
            return quiet.reduce(_OfBuckets(kernel), spill.buckets(), merge)


class _OfBuckets:
    """A kernel of the rows of some keys as a kernel of buckets."""

    def __init__(self, kernel: Gather[Any]) -> None:
        self.kernel = kernel
        if hasattr(kernel, "together"):
            self.together = lambda buckets: kernel.together(bucket.batches() for bucket in buckets)

    def __call__(self, bucket: Any) -> Any:
        return self.kernel(bucket.batches())


def _put(results: queue.Queue[Any], item: Any, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            results.put(item, timeout=0.1)
            return
        except queue.Full:
            continue


class _Run:
    """One run over the parts: who takes which, how far it is, and the first error."""

    def __init__(self, engine: LocalEngine, parts: Sequence[Any]) -> None:
        self.stop = threading.Event()
        self._engine = engine
        self._waiting = iter(enumerate(parts))
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._rows = 0
        self._many = len(parts)
        self._total = total_rows(parts)

    def take(self) -> Iterator[tuple[int, Any]]:
        """Parts that no record has taken yet."""
        while not self.stop.is_set():
            with self._lock:
                item = next(self._waiting, None)
            if item is None:
                return
            yield item

    def fold(self, kernel: Kernel[T], merge: Merge[T]) -> list[T]:
        """The results of the parts that this thread takes, merged."""
        listen(self._advance)
        try:
            return fold_parts(kernel, one_by_one(part for _, part in self.take()), merge)
        finally:
            listen(None)

    def count(self, kernel: Kernel[T], part: Any) -> T:
        """One part's result."""
        listen(self._advance)
        try:
            out = kernel(part)
        finally:
            listen(None)
        done(part)
        return out

    def _advance(self, rows: int) -> None:
        if self.stop.is_set():
            raise Stopped
        if self._engine.progress is not None:
            with self._lock:
                self._rows += rows
                self._engine.progress(self._rows, self._total)

    def start(self, work: Callable[[], None]) -> list[threading.Thread]:
        """Begin with as many threads as are of use."""

        def guarded() -> None:
            try:
                work()
            except Stopped:
                pass
            except BaseException as error:
                with self._lock:
                    self._error = self._error or error
                self.stop.set()

        workers = [
            threading.Thread(target=guarded, name=f"biasamp-{i}", daemon=True)
            for i in range(max(1, min(self._engine.threads, self._many)))
        ]
        for worker in workers:
            worker.start()
        return workers

    def end(self, workers: Sequence[threading.Thread]) -> None:
        """Wait for the threads, and raise what went wrong in one."""
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(0.1)
        except BaseException:
            self.stop.set()
            # What they write to is taken away next.
            for worker in workers:
                worker.join(_PATIENCE)
            raise
        if self._error is not None:
            raise self._error
