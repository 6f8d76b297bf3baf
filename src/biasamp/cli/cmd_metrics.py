"""``biasamp metrics``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from biasamp.association.metrics import METRICS as ASSOCIATION_METRICS
from biasamp.report.association_tables import show_association_metric, show_association_metrics
from biasamp.report.terminal import show_metrics
from biasamp.results.interval import plain
from biasamp.results.metric_registry import METRICS

from .command_files import Command
from .output import console, json_option, write_json


def _names() -> Any:
    """The metrics that are registered when the command runs."""
    return click.Choice([*METRICS, *ASSOCIATION_METRICS])


def _known(context: click.Context, argument: click.Parameter, name: str | None) -> Any:
    return None if name is None else _names().convert(name, argument, context)


def _completed(context: click.Context, argument: click.Parameter, incomplete: str) -> Any:
    return _names().shell_complete(context, argument, incomplete)


@click.command(name="metrics", cls=Command)
@click.argument("name", required=False, callback=_known, shell_complete=_completed, metavar="[NAME]")
@json_option
def command(name: str | None, json_path: str | None) -> None:
    """Show what each metric measures, its properties, and which to use; NAME shows one in full.

    \b
    Examples:
      biasamp metrics
      biasamp metrics dpa
      biasamp metrics npmi_xy
    """
    audited = [metric for metric in METRICS.values() if name in (None, metric.name)]
    associations = [metric for metric in ASSOCIATION_METRICS.values() if name in (None, metric.name)]
    document = {
        "schema": 1,
        "metrics": [{key: plain(value) for key, value in asdict(metric).items()} for metric in audited],
        "association_metrics": [metric.facts() for metric in associations],
    }
    if write_json(document, json_path):
        return

    if name in ASSOCIATION_METRICS:
        show_association_metric(ASSOCIATION_METRICS[name], console())
        return
    show_metrics(console(), name)
    if name is None:
        show_association_metrics(associations, console())
