"""``biasamp audit``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from biasamp.labels import binary, categorical

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


def split_names(text: str | None, option: str) -> Any:
    """Column names, comma separated; one name is one variable. A name with a comma is quoted as in CSV."""
    if text is None:
        return None
    import csv

    try:
        names = next(csv.reader([text], skipinitialspace=True))
    except csv.Error as error:
        raise click.BadParameter(f"{option} {text!r} cannot be read: {error}. Quote names as in CSV") from None
    if '"' not in text:
        names = [name.strip() for name in names]
    if not names or not all(names):
        raise click.BadParameter(f"{option} {text!r} holds an empty column name")
    return names[0] if len(names) == 1 else names


def split_predictions(text: str | None, truth: Any, option: str) -> Any:
    """Column names by position, or ``truth=prediction`` pairs where a truth column stands before the sign."""
    names = split_names(text, option)
    if names is None:
        return None
    listed, known = ([x] if isinstance(x, str) else x for x in (names, truth))
    pairs = [_split(name, known) for name in listed]
    if not any(pairs):
        return names
    if not all(pairs):
        odd = listed[pairs.index(None)]
        raise click.BadParameter(
            f"{option} has {odd!r} beside truth=prediction pairs; the columns of truth are {', '.join(known)}"
        )
    return dict(pair for pair in pairs if pair)


def _split(name: str, truths: list[str]) -> tuple[str, str] | None:
    """The pair that a name spells, if a truth column stands before an equals sign."""
    for truth in sorted(truths, key=len, reverse=True):
        if name.startswith(f"{truth}="):
            return truth, name[len(truth) + 1 :]
    return None


def _declared(names: Any, role: str, as_binary: tuple[str, ...], as_categorical: tuple[str, ...]) -> Any:
    if role in as_binary and role in as_categorical:
        raise click.UsageError(f"{role} cannot be both binary and categorical")
    declare = binary if role in as_binary else categorical if role in as_categorical else None
    if declare is None:
        return names
    # Attributes are measured one by one, tasks together.
    return [declare(name) for name in names] if role == "attributes" and not isinstance(names, str) else declare(names)


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
@click.option(
    "--missing",
    type=click.Choice(["error", "drop", "negative"]),
    default="error",
    show_default=True,
    help="Missing labels: stop, leave the record out of the pairs concerned, or read as not having the label.",
)
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
@click.option("--seed", type=int, default=0, show_default=True, help="What the resamples are drawn from.")
@click.option("--pairs", type=int, default=10, show_default=True, help="How many pairs a table shows; 0 for none.")
@click.option("--save", type=click.Path(), help="Save the audit with its resamples, to compare and report later.")
@html_option
@figures_option
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
    figures_folder: str | None,
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
    groups, labels = split_names(attributes, "--attributes"), split_names(tasks, "--tasks")
    arguments = {
        "attributes": _declared(groups, "attributes", as_binary, as_categorical),
        "tasks": _declared(labels, "tasks", as_binary, as_categorical),
        "attribute_predictions": split_predictions(attribute_predictions, groups, "--attribute-predictions"),
        "task_predictions": split_predictions(task_predictions, labels, "--task-predictions"),
        "metrics": metrics if metrics == "auto" else split_names(metrics, "--metrics"),
        **options,
    }
    for target in (save, json_path, html_path):
        check_target(target)
    check_figures(figures_folder)
    if sys.stderr.isatty():
        with progress.status(f"auditing {Path(data).name}"):
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
