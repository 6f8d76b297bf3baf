"""``biasamp choose-thresholds``."""

from __future__ import annotations

from typing import Any

import click

from biasamp.report.thresholds_terminal import show_thresholds

from .command_files import Command, Input
from .output import console, csv_option, csv_taken, figures_option, json_option, write_figures, write_json
from .reading_options import reading_options
from .role_options import choice_option
from .score_columns import (
    groups_and_outcomes,
    listed_names,
    missing_option,
    named_numbers,
    numbers,
    records_of,
    train_labels,
)


@click.command(name="choose-thresholds", cls=Command)
@click.argument("data", type=Input(records=True))
@click.option("--scores", required=True, help="Columns of scores on a validation set, comma separated.")
@click.option("--attributes", required=True, help="The protected attribute: one column.")
@click.option("--tasks", required=True, help="Columns of the truth, in the order of the scores.")
@click.option(
    "--limit", required=True, help="The most that A->T amplification may be; one per task with --limit-on task."
)
@choice_option("--limit-on", ["mean", "task"], "Whether the mean over tasks is held to the limit, or each task.")
@click.option("--by-group", is_flag=True, help="Thresholds for each group; unlawful in many decisions about people.")
@click.option("--cost", nargs=2, type=float, default=(1.0, 1.0), help="Of a false positive and of a false negative.")
@click.option(
    "--held-out", type=Input(records=True), help="Other records with the same columns, which tell how thresholds do."
)
@click.option(
    "--threshold", help="The threshold in use, or one per task, comma separated; 0.5 where scores lie in 0 to 1."
)
@click.option("--train", type=Input(records=True), help="A file of training records; their labels decide the signs.")
@click.option("--weights", help="A column of weights.")
@missing_option
@json_option
@csv_option("the thresholds")
@figures_option
@reading_options
def command(
    data: str,
    scores: str,
    attributes: str,
    tasks: str,
    limit: str,
    limit_on: str,
    by_group: bool,
    cost: tuple[float, float],
    held_out: str | None,
    threshold: str | None,
    train: str | None,
    weights: str | None,
    missing: str,
    json_path: str | None,
    csv_path: str | None,
    figures_folder: str | None,
) -> None:
    """Find the most accurate thresholds of scores in DATA whose A->T amplification stays below a limit.

    \b
    Examples:
      biasamp choose-thresholds valid.csv --scores risk --attributes race --tasks reoffended --limit 0.01 --held-out test.csv
      biasamp choose-thresholds valid.csv --scores fork_p,knife_p --attributes gender --tasks fork,knife --limit 0.02 --cost 1 5
    """
    import biasamp

    names = listed_names(scores, "--scores")
    groups, tasked = listed_names(attributes, "--attributes"), listed_names(tasks, "--tasks")
    limits = _numbers(limit, "--limit")
    used = [] if threshold is None else _numbers(threshold, "--threshold")

    weight = [] if weights is None else [weights]

    def records(path: str, role: str) -> tuple[Any, ...]:
        source = records_of(path, [*names, *groups, *tasked, *weight], missing, role)
        held = named_numbers(source, names, f"{role}scores")
        return (held, *groups_and_outcomes(source, groups, tasked, role), *numbers(source, weight, f"{role}weights"))

    validation = records(data, "")
    result = biasamp.choose_thresholds(
        *validation[:3],
        limit=limits[0] if len(limits) == 1 else limits,
        limit_on=limit_on,
        by_group=by_group,
        cost=cost,
        held_out=None if held_out is None else records(held_out, "held-out "),
        train=None if train is None else train_labels(train, groups, tasked, missing),
        weights=None if weights is None else validation[3],
        threshold=None if not used else used[0] if len(used) == 1 else used,
    )
    if figures_folder is not None:
        write_figures({"thresholds": result.plot()}, figures_folder)
    taken = write_json(result.to_dict(), json_path)
    if not (csv_taken(result.table, csv_path) or taken):
        show_thresholds(result, console())


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"{option} is {text!r}; a number is needed, or one per task, comma separated") from None
