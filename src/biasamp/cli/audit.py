"""``biasamp audit``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from biasamp.labels import binary, categorical

from .output import console, html_option, json_option, write_json


def _names(text: str | None) -> Any:
    """Column names, comma separated; one name is one variable. A name with a comma is quoted as in CSV."""
    if text is None:
        return None
    import csv

    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]
    if not all(names):
        raise click.BadParameter(f"{text!r} holds an empty column name")
    return names[0] if len(names) == 1 else names


def _predictions(text: str | None) -> Any:
    """Column names by position, or ``truth=prediction`` pairs."""
    names = _names(text)
    if names is None:
        return None
    listed = [names] if isinstance(names, str) else names
    if all("=" in name for name in listed):
        return dict(name.split("=", 1) for name in listed)
    return names


def _declared(names: Any, role: str, as_binary: tuple[str, ...], as_categorical: tuple[str, ...]) -> Any:
    if role in as_binary and role in as_categorical:
        raise click.UsageError(f"{role} cannot be both binary and categorical")
    if role in as_binary:
        return binary(names)
    return categorical(names) if role in as_categorical else names


_ROLES = click.Choice(["attributes", "tasks"])


@click.command(name="audit")
@click.argument("data", type=click.Path())
@click.option(
    "--attributes", required=True, help="Protected attributes: column names, comma separated, measured one by one."
)
@click.option(
    "--tasks", required=True, help="Task columns, comma separated; one is a variable, several are yes/no labels."
)
@click.option("--attribute-predictions", help="Predicted attributes, in the same order, or truth=prediction pairs.")
@click.option("--task-predictions", help="Predicted tasks, in the same order, or truth=prediction pairs.")
@click.option("--train", type=click.Path(), help="Training records with the same truth columns; they decide the signs.")
@click.option("--base", type=click.Path(), help="Base rates: records, or a table with attribute, task and count.")
@click.option("--weights", help="A column of weights.")
@click.option("--record", help="A column of record ids, which key the resamples.")
@click.option("--cluster", help="A column of clusters that are resampled together.")
@click.option("--missing", type=click.Choice(["error", "drop", "negative"]), default="error", show_default=True)
@click.option("--intersections", is_flag=True, help="Measure the crossing of all attributes too.")
@click.option("--metrics", default="auto", show_default=True, help="auto, or metric names, comma separated.")
@click.option(
    "--binary", "as_binary", multiple=True, type=_ROLES, help="Read this role as yes/no: only value 1 counts."
)
@click.option(
    "--categorical", "as_categorical", multiple=True, type=_ROLES, help="Read every value of this role as a label."
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="The level of the intervals.")
@click.option("--resamples", type=int, default=1000, show_default=True, help="How many resamples intervals rest on.")
@click.option("--min-group", type=int, default=30, show_default=True, help="Flag groups with fewer records.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--pairs", type=int, default=10, show_default=True, help="How many pairs a table shows; 0 for none.")
@click.option("--save", type=click.Path(), help="Save the audit with its resamples, to compare and report later.")
@html_option
@json_option
def command(
    data: str,
    attributes: str,
    tasks: str,
    attribute_predictions: str | None,
    task_predictions: str | None,
    as_binary: tuple[str, ...],
    as_categorical: tuple[str, ...],
    metrics: str,
    pairs: int,
    save: str | None,
    html_path: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Audit DATA, a Parquet, CSV, Arrow or JSON-lines file (gzipped too) or a folder of them.

    \b
    Examples:
      biasamp audit test.parquet --attributes gender --tasks cooking --task-predictions cooking_pred
      biasamp audit test.csv --attributes gender,race --intersections --tasks hired --task-predictions said
      biasamp audit test.csv --attributes gender --attribute-predictions gender_pred --tasks fork,knife \\
          --task-predictions fork_p,knife_p --train train.csv --html report.html
    """
    import biasamp

    progress = console(stderr=True)
    arguments = {
        "attributes": _declared(_names(attributes), "attributes", as_binary, as_categorical),
        "tasks": _declared(_names(tasks), "tasks", as_binary, as_categorical),
        "attribute_predictions": _predictions(attribute_predictions),
        "task_predictions": _predictions(task_predictions),
        "metrics": metrics if metrics == "auto" else _names(metrics),
        **options,
    }
    if sys.stderr.isatty():
        with progress.status(f"auditing {Path(data).name}"):
            result = biasamp.audit(data, **arguments)
    else:
        result = biasamp.audit(data, **arguments)
    if save is not None:
        result.save(save)
    if html_path is not None:
        result.to_html(html_path)
    if not write_json(result.to_json(), json_path):
        from biasamp.report.terminal import show_audit

        show_audit(result, console(), pairs)
