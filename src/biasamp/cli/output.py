"""Where a command's output goes: tables to a terminal, data to a pipe or a file."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from biasamp.auditing.source import in_parts
from biasamp.data.saving import save_text, saving
from biasamp.report.figures import write_figures as write
from biasamp.report.spreadsheet import csv_blocks, write_csv
from biasamp.results.table import Table

from .command_files import STDOUT, Output, OutputFolder
from .standard_streams import is_utf8

# Characters of a line where nothing says how many there is room for.
_WIDTH = 140

json_option = click.option(
    "--json",
    "json_path",
    type=Output(".json", stdout=True),
    metavar="FILE",
    help="Write the result as JSON to FILE; - writes it to standard output, and nothing else.",
)

html_option = click.option(
    "--html", "html_path", type=Output(".html", ".htm"), metavar="FILE", help="Write the result as one HTML file."
)


def csv_option(rows: str, flag: str = "--csv", argument: str = "csv_path") -> Callable[[Any], Any]:
    """The option that writes a command's table, whose ``rows`` are said in its help."""
    return click.option(
        flag,
        argument,
        type=Output(".csv", stdout=True),
        metavar="FILE",
        help=f"Write {rows} as CSV to FILE; - for standard output.",
    )


full_option = click.option("--full", is_flag=True, help="Show everything, not only the first screen.")

figures_option = click.option(
    "--figures",
    "figures_folder",
    type=OutputFolder(["*.png"], extra=("plot", "matplotlib")),
    metavar="DIR",
    help="Write figures as PNG files to DIR (extra 'plot').",
)


def write_figures(figures: Any, folder: str) -> None:
    """Write figures, and say where on standard error."""
    for path in write(figures, folder):
        click.echo(f"written: {path}", file=sys.stderr)


def console(stderr: bool = False) -> Any:
    """A terminal that shows text as it is, with signs that its encoding has."""
    from .plain_console import PlainConsole

    stream = sys.stderr if stderr else sys.stdout
    # A terminal knows its width, and COLUMNS says what a log or a page has room for.
    columns, others = os.environ.get("COLUMNS", ""), {**os.environ}
    width = int(columns) if re.fullmatch("[1-9][0-9]{0,3}", columns) else None if stream.isatty() else _WIDTH
    # The library would take a number of any size, and digits of any script, for a size.
    for name in ("COLUMNS", "LINES"):
        others.pop(name, None)
    return PlainConsole(
        file=stream, markup=False, highlight=False, emoji=False, width=width, soft_wrap=False, _environ=others
    )


def with_status(data: str, work: Callable[[], Any], engine: str = "auto") -> Any:
    """The result of some work, during which a terminal says what is audited; counting in parts shows a bar instead."""
    if not sys.stderr.isatty() or in_parts(data, engine):
        return work()
    screen = console(stderr=True)
    spinner = "dots" if screen.has_all_signs else "line"
    with screen.status(f"auditing {Path(data).name}", spinner=spinner):
        return work()


def write_json(content: str | dict[str, Any], path: str | None, indent: int | None = 1) -> bool:
    """Write JSON, as text or as what it says, where it was asked for; True when it took standard output."""
    if path is None:
        return False
    text = (
        content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)
    )
    if path == STDOUT and not is_utf8(sys.stdout.encoding):
        # Escapes are JSON in every encoding, and lose nothing.
        text = re.sub(r"[^\x00-\x7f]", lambda sign: json.dumps(sign[0])[1:-1], text)
    return write_data(text, path)


def csv_taken(held: Table | Iterable[dict[str, Any]], path: str | None, columns: Iterable[str] = ()) -> bool:
    """Write a table, or rows with these columns, as CSV where it was asked for; True when it took standard output."""
    if path is None:
        return False
    text = io.StringIO(newline="")
    rows, names = (held.rows(), held.columns) if isinstance(held, Table) else (held, columns)
    write_csv(rows, names, text)
    return write_data(text.getvalue(), path)


def csv_streamed(blocks: Iterable[Table], path: str) -> bool:
    """Write a table that comes block by block as CSV; True when it took standard output."""
    texts = (text.encode("utf-8", "backslashreplace") for text in csv_blocks(blocks))
    if path != STDOUT:
        with saving(path) as file:
            file.writelines(texts)
        return False
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    for text in texts:
        if stream is None:
            sys.stdout.write(text.decode())
        else:
            stream.write(text)
    sys.stdout.flush()
    return True


def write_data(text: str, path: str) -> bool:
    """Write data to a file or to standard output, the same bytes (UTF-8) with a line break at the end; True for standard output."""
    text = text if text.endswith("\n") else text + "\n"
    if path != STDOUT:
        save_text(path, text)
        return False
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # text kept in memory, as when a caller collects what is printed
        sys.stdout.write(text)
    else:
        stream.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()
    return True
