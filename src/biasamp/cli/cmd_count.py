"""``biasamp count``."""

from __future__ import annotations

from typing import Any

import click

from .cmd_associate import read_identities, read_threshold
from .output import check_target, console, json_option, write_json
from .role_options import audit_roles, engine_options, role_options

_AUDIT_ONLY = (
    "attributes",
    "tasks",
    "attribute_predictions",
    "task_predictions",
    "train",
    "weights",
    "cluster",
    "missing",
    "intersections",
    "as_binary",
    "as_categorical",
)


@click.command(name="count")
@click.argument("data", type=click.Path())
@role_options
@click.option(
    "--identities",
    "-i",
    multiple=True,
    help="Count labels with these identities instead: labels, comma separated, or NAME=LABEL,LABEL,...",
)
@click.option("--label", help="With --identities: the column of labels.")
@click.option("--score", help="With --identities: the column of scores.")
@click.option("--threshold", help="With --identities: least score, a number or a CSV file of label and threshold.")
@engine_options
@click.option(
    "--labels", type=click.Path(), help="Saved counts whose label space this is counted in, so that the two add up."
)
@click.option("--save", type=click.Path(dir_okay=False), required=True, help="The file that the counts are written to.")
@json_option
def command(
    data: str,
    labels: str | None,
    save: str,
    json_path: str | None,
    identities: tuple[str, ...],
    threshold: str | None,
    **options: Any,
) -> None:
    """Count DATA where it is, so that only counts need to travel.

    Saved counts are added up by biasamp merge and measured by biasamp audit or biasamp associate.

    \b
    Examples:
      biasamp count site_a.parquet --attributes gender --tasks hired --task-predictions said --record id \\
          --save a.parquet
      biasamp count part-7.csv --attributes gender --tasks hired --task-predictions said --labels a.parquet \\
          --save b.parquet
      biasamp count labels.parquet -i man=Man,Male -i woman=Woman,Female --record image --label label --save c.parquet
    """
    import biasamp

    for target in (save, json_path):
        check_target(target, data)
    if identities:
        roles = {name: options.pop(name) for name in _AUDIT_ONLY}
        strange = [name for name, value in roles.items() if value not in (None, (), False, "error")]
        if strange or labels is not None:
            named = (strange or ["labels"])[0].replace("as_", "").replace("_", "-")
            raise click.UsageError(f"--{named} has no meaning beside --identities")
        arguments = {"identities": read_identities(identities), "threshold": read_threshold(threshold)}
    else:
        for name in ("label", "score", "threshold"):
            if (threshold if name == "threshold" else options.pop(name)) is not None:
                raise click.UsageError(f"--{name} belongs to --identities")
        arguments = {**audit_roles("", options), "labels": labels}
    counts = biasamp.count(data, **arguments, **options)
    counts.save(save)
    show_counts(counts, save, json_path)


def show_counts(counts: Any, save: str, json_path: str | None) -> None:
    """Say what was counted, as a table or as data."""
    import json

    if write_json(json.dumps(counts.to_dict(), indent=1, ensure_ascii=False), json_path):
        return
    from biasamp.report.terminal import show_counts as show

    show(counts, save, console())
