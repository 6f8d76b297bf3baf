"""``biasamp audit``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .output import (
    check_figures,
    check_target,
    console,
    figures_option,
    html_option,
    json_option,
    write_figures,
    write_json,
)
from .role_options import audit_roles, engine_options, role_options, split_names


@click.command(name="audit")
@click.argument("data", type=click.Path())
@role_options
@click.option("--base", type=click.Path(), help="Base rates: records, or a table with attribute, task and count.")
@click.option("--metrics", default="auto", show_default=True, help="auto, or metric names, comma separated.")
@engine_options
@click.option("--confidence", type=float, default=0.95, show_default=True, help="The level of the intervals.")
@click.option("--resamples", type=int, default=1000, show_default=True, help="How many resamples intervals rest on.")
@click.option("--min-group", type=int, default=30, show_default=True, help="Flag groups with fewer records.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the resamples are drawn from.")
@click.option("--pairs", type=int, default=10, show_default=True, help="How many pairs a table shows; 0 for none.")
@click.option("--save", type=click.Path(), help="Save the audit with its resamples, to compare and report later.")
@html_option
@figures_option
@json_option
def command(
    data: str,
    metrics: str,
    pairs: int,
    save: str | None,
    html_path: str | None,
    figures_folder: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Audit DATA, a Parquet, CSV, Arrow or JSON-lines file (gzipped too) or a folder of them, or saved counts.

    \b
    Examples:
      biasamp audit test.parquet --attributes gender --tasks cooking --task-predictions cooking_pred
      biasamp audit test.csv --attributes gender,race --intersections --tasks hired --task-predictions said
      biasamp audit test.csv --attributes gender --attribute-predictions gender_pred --tasks fork,knife \\
          --task-predictions fork_p,knife_p --train train.csv --html report.html
      biasamp audit counts.parquet --json -
    """
    import biasamp
    from biasamp.auditing.source import in_parts

    arguments = {
        "metrics": metrics if metrics == "auto" else split_names(metrics, "--metrics"),
        **audit_roles(data, options),
        **options,
    }
    for target in (save, json_path, html_path):
        check_target(target, data)
    check_figures(figures_folder)
    if sys.stderr.isatty() and not in_parts(data, arguments["engine"]):
        with console(stderr=True).status(f"auditing {Path(data).name}"):
            result = biasamp.audit(data, **arguments)
    else:
        result = biasamp.audit(data, **arguments)
    if save is not None:
        result.save(save)
    if html_path is not None:
        result.to_html(html_path)
    if figures_folder is not None:
        write_figures(result.plot(), figures_folder)
    if not write_json(result.to_json(), json_path):
        from biasamp.report.terminal import show_audit

        show_audit(result, console(), pairs)
