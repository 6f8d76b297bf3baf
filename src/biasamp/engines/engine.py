"""What every engine offers, and what its workers log while they count."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

Kernel = Callable[[Any], T]
Merge = Callable[[T, T], T]
# From a part to Arrow record batches that have a key, and from all batches of some keys to a result.
Spread = Callable[[Any], Iterator[Any]]
Gather = Callable[[Iterable[Any]], T]
# Called with how many rows are done, of how many where that is known.
Progress = Callable[[int, int | None], None]


logger = logging.getLogger("biasamp.engines")

_here = threading.local()


class Engine(ABC):
    """Runs a kernel over the parts of a data set; a context that ends what it has started.

    Results do not depend on the engine as long as ``merge`` gives the same in any order, which is what sums of whole
    numbers do.
    """

    name: str
    batch_rows: int
    """How many rows a kernel should take at a time, so that the memory budget holds."""
    memory: int
    """Bytes that one process may use for what grows with the data."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what the engine has started."""
        return

    @abstractmethod
    def map(self, kernel: Kernel[T], parts: Sequence[Any]) -> Iterator[tuple[int, T]]:
        """The result of each part with the part's place in the sequence, in any order."""

    @abstractmethod
    def reduce(self, kernel: Kernel[T], parts: Sequence[Any], merge: Merge[T]) -> T:
        """The results of all parts merged. ``merge(a, b)`` may change and return ``a``."""

    @abstractmethod
    def regroup(self, spread: Spread, parts: Sequence[Any], kernel: Gather[T], merge: Merge[T]) -> T:
        """Bring rows of one key together and count them, whatever part they come from.

        Parameters
        ----------
        spread : callable
            From a part to Arrow record batches, all of one schema, with a column ``key`` of 64-bit integers.
        kernel : callable
            From the batches of some keys, with all rows of each of them, to a result; also of no batches at all.
        merge : callable
            As in :meth:`reduce`.
        """


def refuse_nothing(parts: Sequence[Any]) -> None:
    """Raise where there is nothing to merge."""
    if not parts:
        raise ValueError("there are no parts to count")


def total_rows(parts: Sequence[Any]) -> int | None:
    """The rows of all parts, where they are known."""
    sizes: list[int | None] = [part.rows for part in parts]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def lazy_of(part: Any) -> Any:
    """What a part stands for on its cluster; None for a part that says itself how it is read."""
    return getattr(part, "lazy", None)


def fold(merge: Merge[T], results: Iterable[T]) -> list[T]:
    """The results merged into one, or none where there are none."""
    total: list[T] = []
    for result in results:
        total = [merge(total[0], result)] if total else [result]
    return total


def fold_parts(kernel: Kernel[T], parts: Iterable[Any], merge: Merge[T]) -> list[T]:
    """The results of some parts merged into one, or none where there are none.

    A kernel that has a method ``together`` counts the parts in one go, so that what it costs to make a result is paid once.
    """
    together: Callable[[Iterable[Any]], list[T]] | None = getattr(kernel, "together", None)
    return fold(merge, map(kernel, parts)) if together is None else together(parts)


def one_by_one(parts: Iterable[Any]) -> Iterator[Any]:
    """The parts, each said to be done when the next is asked for."""
    for part in parts:
        yield part
        done(part)


class Failed:
    """An error on its way to the driver: a task that raises would be tried again, or fill the worker's log."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def raised(result: Any) -> Any:
    """A result, unless it is an error."""
    if isinstance(result, Failed):
        raise result.error
    return result


def counted(part: Any, rows: int) -> None:
    """Say that a batch of a part has been counted. Kernels call this after each batch."""
    logger.info("%s: a batch of %d rows counted", part.name, rows)
    listener = getattr(_here, "listener", None)
    if listener is not None:
        listener(rows)


def done(part: Any) -> None:
    """Say that a part is done."""
    logger.info("%s: done", part.name)


def listen(listener: Callable[[int], None] | None) -> None:
    """Tell a function the rows of each batch that this thread counts from now on."""
    _here.listener = listener
