"""Where a command's output goes: tables to a terminal, data to a pipe or a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from biasamp.auditing.source import in_parts
from biasamp.report.figures import write_figures as write

json_option = click.option(
    "--json",
    "json_path",
    metavar="FILE",
    help="Write the result as JSON to FILE; - writes it to standard output, and nothing else.",
)

html_option = click.option(
    "--html", "html_path", type=click.Path(dir_okay=False), metavar="FILE", help="Write the result as one HTML file."
)

figures_option = click.option(
    "--figures",
    "figures_folder",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Write figures as PNG files to DIR (extra 'plot').",
)


def write_figures(figures: Any, folder: str) -> None:
    """Write figures, and say where on standard error."""
    for path in write(figures, folder):
        click.echo(f"written: {path}", err=True)


def console(stderr: bool = False) -> Any:
    """A terminal that shows text as it is."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 140
    return Console(file=stream, markup=False, highlight=False, emoji=False, width=width, soft_wrap=False)


def check_targets(paths: Sequence[str | None], *inputs: str, figures: str | None = None) -> None:
    """Refuse what cannot be written, or is an input, before the work starts: files, and the folder of figures."""
    from importlib.util import find_spec

    for path in paths:
        if path is not None and path != "-":
            _check_target(path, inputs)
    if figures is not None and find_spec("matplotlib") is None:
        raise click.UsageError("--figures needs the extra 'plot': pip install 'biasamp[plot]'")


def _check_target(path: str, inputs: Sequence[str]) -> None:
    target = Path(path)
    for held in map(Path, inputs):
        if target.exists() and held.exists() and target.samefile(held):
            raise click.UsageError(f"{path!r} is what is read: name another file, so that it is not overwritten")
        if held.is_dir() and held.resolve() in target.resolve().parents:
            raise click.UsageError(
                f"{path!r} is in the folder that is read, and would be taken for data next time: name a file elsewhere"
            )
    if target.is_dir():
        raise click.UsageError(f"{path!r} is a folder; name a file in it to write to")
    if not target.parent.is_dir():
        raise click.UsageError(f"the folder of {path!r} does not exist; make it first")


def with_status(data: str, work: Callable[[], Any], engine: str = "auto") -> Any:
    """The result of some work, during which a terminal says what is audited; counting in parts shows a bar instead."""
    if not sys.stderr.isatty() or in_parts(data, engine):
        return work()
    with console(stderr=True).status(f"auditing {Path(data).name}"):
        return work()


def write_json(content: str | dict[str, Any], path: str | None, indent: int | None = 1) -> bool:
    """Write JSON, as text or as what it says, where it was asked for; True when it took standard output."""
    if path is None:
        return False
    text = (
        content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)
    )
    if path == "-":
        click.echo(text)
        return True
    Path(path).write_text(text + "\n", encoding="utf-8")
    return False
