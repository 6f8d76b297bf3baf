"""``biasamp trajectory``."""

from __future__ import annotations

import click

from biasamp.report.trajectory_terminal import show_trajectory

from .command_files import Command, Input
from .output import (
    console,
    csv_option,
    csv_taken,
    figures_option,
    html_option,
    json_option,
    write_figures,
    write_json,
)
from .role_options import number_option
from .score_columns import listed_names


def _step_file(text: str) -> dict[str, str]:
    """The file of a step."""
    _, mark, path = text.partition("=")
    return {text: path} if mark else {"": text}


@click.command(name="trajectory", cls=Command)
@click.argument("steps", nargs=-1, required=True, type=Input(_step_file), metavar="NAME=FILE NAME=FILE...")
@click.option("--at", help="Where the steps are: a number for each, comma separated.")
@click.option("--metrics", help="Which metrics of audits, comma separated.")
@click.option("--labels", help="Which labels of association counts, comma separated.")
@number_option("--level", 0.95, "The confidence level of slopes, changes and control limits.")
@json_option
@html_option
@csv_option("every figure at every step")
@figures_option
def command(
    steps: tuple[str, ...],
    at: str | None,
    metrics: str | None,
    labels: str | None,
    level: float,
    json_path: str | None,
    html_path: str | None,
    csv_path: str | None,
    figures_folder: str | None,
) -> None:
    """Follow figures over windows of time, generations, checkpoints or bit widths.

    A FILE is a saved audit, or counts of an audit or of associations. Names that are numbers, months (2026-01) or dates say where
    steps are. Slopes and changes are paired where records are the same.

    \b
    Examples:
      biasamp trajectory 2026-01=january.json.gz 2026-02=february.json.gz 2026-03=march.json.gz
      biasamp trajectory fp32=a.json.gz int8=b.json.gz int4=c.json.gz --at 32,8,4 --metrics directional
    """
    import biasamp

    named: dict[str, str] = {}
    for step in steps:
        name, mark, path = step.partition("=")
        if not mark or not name or not path:
            raise click.UsageError(f"{step!r} is not of the form NAME=FILE")
        if name in named:
            raise click.UsageError(f"two steps are called {name!r}")
        named[name] = path
    if len(named) < 2:
        raise click.UsageError("one step has no trajectory: name at least two, as NAME=FILE")
    try:
        places = None if at is None else [float(part) for part in at.split(",")]
    except ValueError:
        raise click.UsageError(f"--at is {at!r}; a number for each step is needed, comma separated") from None
    result = biasamp.trajectory(
        named,
        at=places,
        metrics=None if metrics is None else listed_names(metrics, "--metrics"),
        labels=None if labels is None else listed_names(labels, "--labels"),
        level=level,
    )
    if figures_folder is not None:
        write_figures({"trajectory": result.plot()}, figures_folder)
    if html_path is not None:
        result.to_html(html_path)
    taken = write_json(result.to_json(), json_path)
    if not (csv_taken(result.table, csv_path) or taken):
        show_trajectory(result, console())
