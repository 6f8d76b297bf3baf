"""``biasamp sweep``."""

from __future__ import annotations

import json
from typing import Any

import click

from .cmd_calibrate import listed, number_columns
from .output import check_target, console, json_option, write_json


@click.command(name="sweep")
@click.argument("data", type=click.Path())
@click.option("--scores", required=True, help="Columns of scores, comma separated.")
@click.option("--attributes", required=True, help="The protected attribute: one column.")
@click.option("--tasks", required=True, help="Columns of the truth, in the order of the scores.")
@click.option("--train", type=click.Path(), help="A file of training records; their labels decide the signs.")
@click.option("--weights", help="A column of weights.")
@click.option("--span", nargs=2, type=float, default=None, help="The range of thresholds of the integral: LOW HIGH.")
@click.option("--points", type=int, default=11, show_default=True, help="How many thresholds the table shows.")
@json_option
def command(
    data: str,
    scores: str,
    attributes: str,
    tasks: str,
    train: str | None,
    weights: str | None,
    span: tuple[float, float] | None,
    points: int,
    json_path: str | None,
) -> None:
    """Measure A->T amplification, parity and rates at every distinct threshold of scores in DATA.

    \b
    Examples:
      biasamp sweep test.csv --scores risk --attributes race --tasks reoffended
      biasamp sweep test.csv --scores risk --attributes race --tasks reoffended --json curve.json
    """
    import numpy as np

    import biasamp
    from biasamp.auditing.label_reader import read_labels
    from biasamp.auditing.plan import Spec
    from biasamp.auditing.source import read_source

    check_target(json_path)
    if points < 2:
        raise click.UsageError(f"--points is {points}; at least 2 are needed")
    names = listed(scores, "--scores")
    groups, tasked = listed(attributes, "--attributes"), listed(tasks, "--tasks")

    def labels(path: str, role: str) -> tuple[Any, Any]:
        source = read_source(path, [*groups, *tasked])
        given = read_labels(source, Spec.of(groups, "attributes"), f"{role}attributes", "error")
        return given, read_labels(source, Spec.of(tasked, "tasks"), f"{role}tasks", "error")

    given, truth = labels(data, "")
    columns = list(number_columns(data, names, "scores").values())
    result = biasamp.sweep(
        columns[0] if len(columns) == 1 else np.column_stack(columns),
        given,
        truth,
        train=None if train is None else labels(train, "train "),
        weights=None if weights is None else number_columns(data, [weights], "weights")[weights],
        span=span,
    )
    if not write_json(json.dumps(result.to_dict(), ensure_ascii=False, indent=1), json_path):
        from biasamp.report.terminal import show_sweep

        show_sweep(result, console(), points)
