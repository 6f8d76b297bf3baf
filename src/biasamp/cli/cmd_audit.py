"""``biasamp audit``."""

from __future__ import annotations

from typing import Any

import click

from .output import (
    check_targets,
    console,
    figures_option,
    html_option,
    json_option,
    with_status,
    write_figures,
    write_json,
)
from .role_options import ENGINE, ROLES, audit_roles, number_option, shared_options, split_names


@click.command(name="audit")
@click.argument("data", type=click.Path())
@shared_options(*ROLES)
@click.option("--base", type=click.Path(), help="Base rates: records, or a table with attribute, task and count.")
@click.option("--metrics", default="auto", show_default=True, help="auto, or metric names, comma separated.")
@shared_options(*ENGINE, "resamples", "seed")
@number_option("--confidence", 0.95, "The level of the intervals.")
@number_option("--min-group", 30, "Flag groups with fewer records.")
@number_option("--pairs", 10, "How many pairs a table shows; 0 for none.")
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

    arguments = {
        "metrics": metrics if metrics == "auto" else split_names(metrics, "--metrics"),
        **audit_roles(data, options),
        **options,
    }
    check_targets((save, json_path, html_path), data, figures=figures_folder)
    result = with_status(data, lambda: biasamp.audit(data, **arguments), arguments["engine"])
    if save is not None:
        result.save(save)
    if html_path is not None:
        result.to_html(html_path)
    if figures_folder is not None:
        write_figures(result.plot(), figures_folder)
    if not write_json(result.to_json(), json_path):
        from biasamp.report.terminal import show_audit

        show_audit(result, console(), pairs)
