"""A memory budget, and what it allows."""

from __future__ import annotations

import os
from typing import NamedTuple

from biasamp.data.byte_sizes import parse_bytes
from biasamp.data.plain_arguments import whole_number

# Bytes that a thread takes to decode, code and count one row of a batch, and besides for its counts and its
# file's buffers. Measured with benchmarks/scale.py, and rounded up.
_ROW_BYTES = 160
_THREAD_BYTES = 32 << 20
# Larger batches do not fit a processor's cache, smaller ones cost more than they save.
_MOST_ROWS, _LEAST_ROWS = 1 << 17, 1 << 12
# What a process takes that has imported what counting needs and compiled its loops.
_BASE_BYTES = 280 << 20


class Budget(NamedTuple):
    """How counting keeps within a budget."""

    memory: int
    threads: int
    batch_rows: int


def parse_memory(memory: int | str | None) -> int | None:
    """Bytes of a budget given as a number or as text with a unit.

    >>> parse_memory("512MB"), parse_memory("1.5 GiB"), parse_memory(10**9)
    (512000000, 1610612736, 1000000000)
    """
    return None if memory is None else parse_bytes(memory, "memory")


def check_limits(memory: int | str | None, threads: int | None) -> None:
    """Refuse what is no limit, whether an engine will need it or not."""
    parse_memory(memory)
    if threads is not None:
        whole_number(threads, "threads", least=1)


def budget(memory: int | str | None, threads: int | None) -> Budget:
    """What a budget allows; without one, a quarter of the machine's memory.

    The budget is for the whole process; what it has anyway is taken off, as far as something is left.
    """
    check_limits(memory, threads)
    most, threads = parse_memory(memory), cores() if threads is None else threads
    if most is None:
        return Budget(_quarter(), int(threads), _MOST_ROWS)
    room = max(most - _BASE_BYTES, most // 4)
    threads = max(1, min(int(threads), room // (_THREAD_BYTES + _MOST_ROWS * _ROW_BYTES)))
    rows = (room // threads - _THREAD_BYTES) // _ROW_BYTES
    return Budget(room, threads, int(min(max(rows, _LEAST_ROWS), _MOST_ROWS)))


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quarter() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, ValueError, OSError):
        return 1 << 30
