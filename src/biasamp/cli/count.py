"""``biasamp count``."""

from __future__ import annotations

from typing import Any

import click

from .output import check_target, console, json_option, write_json
from .roles import audit_roles, engine_options, role_options


@click.command(name="count")
@click.argument("data", type=click.Path())
@role_options
@engine_options
@click.option(
    "--labels", type=click.Path(), help="Saved counts whose label space this is counted in, so that the two add up."
)
@click.option("--save", type=click.Path(dir_okay=False), required=True, help="The file that the counts are written to.")
@json_option
def command(data: str, labels: str | None, save: str, json_path: str | None, **options: Any) -> None:
    """Count DATA where it is, so that only counts need to travel.

    Saved counts are added up by biasamp merge and measured by biasamp audit.

    \b
    Examples:
      biasamp count site_a.parquet --attributes gender --tasks hired --task-predictions said --record id \\
          --save a.parquet
      biasamp count part-7.csv --attributes gender --tasks hired --task-predictions said --labels a.parquet \\
          --save b.parquet
    """
    import biasamp
    from biasamp.counts.audit_counts import AuditCounts

    for target in (save, json_path):
        check_target(target)
    roles = audit_roles("", options)
    known = None if labels is None else AuditCounts.load(labels)
    counts = biasamp.count(data, labels=known, **roles, **options)
    counts.save(save)
    show_counts(counts, save, json_path)


def show_counts(counts: Any, save: str, json_path: str | None) -> None:
    """Say what was counted, as a table or as data."""
    import json

    if write_json(json.dumps(counts.to_dict(), indent=1, ensure_ascii=False), json_path):
        return
    from biasamp.report.terminal import show_counts as show

    show(counts, save, console())
