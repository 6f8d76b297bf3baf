"""Logs of evaluation harnesses as data of a command: read once, and put in the place of the log as a plain table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from biasamp.data.saving import saving

FILTER = "log_filter"


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options; the command does not see them, but tables that are read by them."""
    words = "Of an lm-evaluation-harness log: the filter whose answers are read."
    return click.option("--log-filter", FILTER, help=words)(command)


@contextmanager
def as_table(path: str, filter: str | None) -> Iterator[str]:
    """The path of a Parquet file with the table of a log, for as long as the block lasts."""
    import pyarrow.parquet as pq

    from biasamp.text.eval_log import read_eval_log

    table = read_eval_log(path, filter=filter).table
    with tempfile.TemporaryDirectory(prefix="biasamp-") as folder:
        target = Path(folder) / f"{Path(path).name}.parquet"
        with saving(target) as out:
            pq.write_table(table, out)
        yield str(target)
