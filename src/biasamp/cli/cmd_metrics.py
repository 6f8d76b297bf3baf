"""``biasamp metrics``."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from biasamp.results.interval import plain
from biasamp.results.metric_registry import METRICS

from .output import console, json_option, write_json


@click.command(name="metrics")
@click.argument("name", required=False, type=click.Choice(list(METRICS)), metavar="[NAME]")
@json_option
def command(name: str | None, json_path: str | None) -> None:
    """Show what each metric measures, its properties, and which to use; NAME shows one in full.

    \b
    Examples:
      biasamp metrics
      biasamp metrics dpa
    """
    chosen = [METRICS[name]] if name else list(METRICS.values())
    rows = [{key: plain(value) for key, value in asdict(metric).items()} for metric in chosen]
    if not write_json(json.dumps({"schema": 1, "metrics": rows}, ensure_ascii=False, indent=1), json_path):
        from biasamp.report.terminal import show_metrics

        show_metrics(console(), name)
