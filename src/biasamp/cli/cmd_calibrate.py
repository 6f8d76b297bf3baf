"""``biasamp calibrate``."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from .output import check_target, console, json_option, write_json
from .role_options import split_names


@click.command(name="calibrate")
@click.argument("data", type=click.Path())
@click.option("--scores", required=True, help="Columns of scores on a validation set, comma separated.")
@click.option("--truth", help="Columns of 0/1 truth in the same order; their rates are what is wanted.")
@click.option("--rate", help="The wanted rates instead: one for all scores, or one a score, comma separated.")
@click.option("--train", type=click.Path(), help="Take the wanted rates from --truth of this file instead of DATA.")
@json_option
def command(
    data: str, scores: str, truth: str | None, rate: str | None, train: str | None, json_path: str | None
) -> None:
    """Find the thresholds at which scores in DATA are positive as often as they should be.

    \b
    Examples:
      biasamp calibrate validation.csv --scores cooking_score --truth cooking --train train.csv
      biasamp calibrate validation.csv --scores fork_p,knife_p --rate 0.2,0.1 --json thresholds.json
    """
    import biasamp

    check_target(json_path)
    if (truth is None) == (rate is None):
        raise click.UsageError("give either --truth, whose rates are wanted, or --rate")
    names = listed(scores, "--scores")
    wanted: Any
    if rate is not None:
        try:
            wanted = [float(part) for part in rate.split(",")]
        except ValueError:
            raise click.UsageError(f"--rate is {rate!r}; numbers between 0 and 1 are needed") from None
        wanted = wanted[0] if len(wanted) == 1 else wanted
    else:
        labels = number_columns(train or data, listed(truth or "", "--truth"), "truth")
        if len(labels) != len(names):
            raise click.UsageError(
                f"--truth names {len(labels)} columns for {len(names)} scores: they pair by position"
            )
        wanted = [float(values.mean()) for values in labels.values()]
    import numpy as np

    values = number_columns(data, names, "scores")
    frame = np.column_stack(list(values.values()))
    result = biasamp.calibrate(frame, rate=wanted)
    result = type(result)(result.thresholds, result.rates, result.wanted, tuple(names))
    if not write_json(json.dumps(result.to_dict(), ensure_ascii=False, indent=1), json_path):
        from biasamp.report.terminal import show_calibration

        show_calibration(result, console())


def listed(text: str, option: str) -> list[str]:
    """Column names, comma separated, always as a list."""
    names = split_names(text, option)
    return [names] if isinstance(names, str) else list(names)


def number_columns(data: str, names: list[str], role: str) -> dict[str, Any]:
    """Columns of numbers of a file."""
    from biasamp.auditing.source import read_source

    source = read_source(os.fspath(data), names)
    return {name: source.numbers(name, role) for name in names}
