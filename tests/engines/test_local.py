"""The threads of this machine: every part once, the first error at once, within the memory budget."""

from __future__ import annotations

import logging
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from biasamp.engines import counted, engine_for, parse_memory
from biasamp.engines.local import LocalEngine
from biasamp.engines.memory_budget import budget

PARTS = [SimpleNamespace(name=f"part {i}", rows=i) for i in range(50)]


def count(part: Any) -> int:
    for _ in range(3):
        counted(part, part.rows)
    return part.rows


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_every_part_is_counted_once(threads: int) -> None:
    engine = LocalEngine(threads=threads)
    assert engine.reduce(count, PARTS, lambda a, b: a + b) == sum(range(50))
    assert sorted(engine.map(count, PARTS)) == [(i, i) for i in range(50)]
    assert list(engine.map(count, [])) == []


def test_threads_work_at_the_same_time() -> None:
    meet = threading.Barrier(2, timeout=10)
    LocalEngine(threads=2).reduce(lambda part: meet.wait() * 0, PARTS[:2], lambda a, b: a + b)


def test_the_first_error_ends_the_rest() -> None:
    seen = []

    def kernel(part: Any) -> None:
        seen.append(part.name)
        if part.rows == 3:
            raise ValueError("part 3 is damaged")
        time.sleep(0.01)

    for call in (
        lambda engine: engine.reduce(kernel, PARTS, lambda a, b: None),
        lambda engine: list(engine.map(kernel, PARTS)),
    ):
        seen.clear()
        with pytest.raises(ValueError, match="part 3 is damaged"):
            call(LocalEngine(threads=2))
        assert len(seen) < 10


def test_results_that_nobody_takes_end_the_run() -> None:
    before = threading.active_count()
    results = LocalEngine(threads=2).map(count, PARTS)
    next(results)
    results.close()
    assert threading.active_count() == before


def test_progress_and_log(caplog: pytest.LogCaptureFixture) -> None:
    told: list[tuple[int, int | None]] = []
    with caplog.at_level(logging.INFO, "biasamp.engines"):
        LocalEngine(threads=1, progress=lambda a, b: told.append((a, b))).reduce(count, PARTS[:3], max)
    assert told[-1] == (9, 3)
    assert caplog.messages.count("part 2: a batch of 2 rows counted") == 3
    assert caplog.messages.count("part 2: done") == 1


@pytest.mark.parametrize(
    ("text", "size"), [("512MB", 512 * 10**6), ("1 GiB", 1 << 30), (7, 7), (np.int64(9), 9), ("2e", 0)]
)
def test_memory_is_read_from_text(text: Any, size: int) -> None:
    if size:
        assert parse_memory(text) == size
    else:
        with pytest.raises(ValueError, match="memory is '2e'"):
            parse_memory(text)


def test_a_small_budget_means_fewer_threads_and_smaller_batches() -> None:
    wide, narrow = budget("4GB", 8), budget("100MB", 8)
    assert wide.threads == 8
    assert narrow.threads == 1
    assert narrow.batch_rows < wide.batch_rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "abacus"}, "engine is 'abacus'; 'auto', 'local', 'dask', 'spark'"),
        ({"engine": "local", "threads": 0}, "threads is 0"),
        ({"engine": "local", "memory": "none"}, "memory is 'none'"),
        ({"engine": 3}, "engine is a int"),
        ({"engine": "local", "memory": 0}, "above 0"),
        ({"engine": "local", "memory": 1.5}, "memory is a float"),
    ],
)
def test_what_is_not_accepted_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        engine_for(**options)


def test_engines_that_are_not_installed_name_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasamp.engines.choose.find_spec", lambda name: None)
    for kind in ("dask", "spark"):
        with pytest.raises(ImportError, match=rf'pip install "biasamp\[{kind}\]"'):
            engine_for(kind)
