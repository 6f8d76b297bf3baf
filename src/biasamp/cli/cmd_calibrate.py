"""``biasamp calibrate`` and ``biasamp sweep``."""

from __future__ import annotations

from pathlib import Path

import click

from biasamp.report.sweep_page import write_sweep
from biasamp.report.terminal import show_calibration, show_sweep
from biasamp.results.table import Table

from .command_files import Command, Input
from .output import console, csv_option, csv_taken, html_option, json_option, write_json
from .reading_options import reading_options
from .role_options import number_option
from .score_columns import (
    groups_and_outcomes,
    listed_names,
    missing_option,
    named_numbers,
    numbers,
    records_of,
    train_labels,
)


@click.command(name="calibrate", cls=Command)
@click.argument("data", type=Input(records=True))
@click.option("--scores", required=True, help="Columns of scores on a validation set, comma separated.")
@click.option("--truth", help="Columns of 0/1 truth in the same order; their rates are what is wanted.")
@click.option("--rate", help="The wanted rates instead: one for all scores, or one per score, comma separated.")
@click.option(
    "--train", type=Input(records=True), help="Take the wanted rates from --truth of this file instead of DATA."
)
@missing_option
@csv_option("one row per column of scores")
@json_option
@reading_options
def command(
    data: str,
    scores: str,
    truth: str | None,
    rate: str | None,
    train: str | None,
    missing: str,
    csv_path: str | None,
    json_path: str | None,
) -> None:
    """Find the thresholds at which scores in DATA are positive as often as they should be.

    \b
    Examples:
      biasamp calibrate validation.csv --scores cooking_score --truth cooking --train train.csv
      biasamp calibrate validation.csv --scores fork_p,knife_p --rate 0.2,0.1 --json thresholds.json
    """
    import biasamp

    if (truth is None) == (rate is None):
        raise click.UsageError("give either --truth, whose rates are wanted, or --rate")
    names = listed_names(scores, "--scores")
    truths = [] if truth is None else listed_names(truth, "--truth")
    source = records_of(data, names if train is not None else [*names, *truths], missing)
    lent = source if train is None else records_of(train, truths, missing, "train ")
    if rate is not None:
        try:
            wanted = [float(part) for part in rate.split(",")]
        except ValueError:
            raise click.UsageError(f"--rate is {rate!r}; numbers between 0 and 1 are needed") from None
    else:
        wanted = [float(held.mean()) for held in numbers(lent, truths, "truth")]
        if len(wanted) != len(names):
            raise click.UsageError(
                f"--truth names {len(wanted)} columns for {len(names)} scores: they pair by position"
            )
    result = biasamp.calibrate(named_numbers(source, names, "scores"), rate=wanted[0] if len(wanted) == 1 else wanted)
    taken = csv_taken(Table.from_rows(result.to_dict()["labels"]), csv_path)
    if not (write_json(result.to_dict(), json_path) or taken):
        show_calibration(result, console())


@click.command(name="sweep", cls=Command)
@click.argument("data", type=Input(records=True))
@click.option("--scores", required=True, help="Columns of scores, comma separated.")
@click.option("--attributes", required=True, help="The protected attribute: one column.")
@click.option("--tasks", required=True, help="Columns of the truth, in the order of the scores.")
@click.option("--train", type=Input(records=True), help="A file of training records; their labels decide the signs.")
@click.option("--weights", help="A column of weights.")
@click.option("--span", nargs=2, type=float, default=None, help="The range of thresholds of the integral: LOW HIGH.")
@click.option("--threshold", type=float, help="The threshold that the model decides at, which is marked.")
@number_option("--points", 11, "How many thresholds the table shows.")
@missing_option
@html_option
@csv_option("one row per distinct threshold")
@json_option
@reading_options
def sweep(
    data: str,
    scores: str,
    attributes: str,
    tasks: str,
    train: str | None,
    weights: str | None,
    span: tuple[float, float] | None,
    threshold: float | None,
    points: int,
    missing: str,
    html_path: str | None,
    csv_path: str | None,
    json_path: str | None,
) -> None:
    """Measure A->T amplification, parity and rates at every distinct threshold of scores in DATA.

    \b
    Examples:
      biasamp sweep test.csv --scores risk --attributes race --tasks reoffended
      biasamp sweep test.csv --scores risk --attributes race --tasks reoffended --json curve.json
      biasamp sweep test.csv --scores risk --attributes race --tasks reoffended --html curve.html
    """
    import biasamp

    if points < 2:
        raise click.UsageError(f"--points is {points}; at least 2 are needed")
    names = listed_names(scores, "--scores")
    groups, tasked = listed_names(attributes, "--attributes"), listed_names(tasks, "--tasks")
    weight = [] if weights is None else [weights]
    source = records_of(data, [*names, *groups, *tasked, *weight], missing)
    given, truth = groups_and_outcomes(source, groups, tasked, "")
    result = biasamp.sweep(
        named_numbers(source, names, "scores"),
        given,
        truth,
        train=None if train is None else train_labels(train, groups, tasked, missing),
        weights=None if weights is None else numbers(source, weight, "weights")[0],
        span=span,
        threshold=threshold,
    )
    if html_path is not None:
        write_sweep(result, html_path, source=Path(data).name, attribute=", ".join(groups), outcome=", ".join(tasked))
    taken = csv_taken(result.curve, csv_path)
    if not (write_json(result.to_dict(groups=True), json_path) or taken):
        show_sweep(result, console(), points)
