"""``biasamp count`` and ``biasamp merge``."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import click

from biasamp.counts.storage import load_counts
from biasamp.report.terminal import show_counts

from .cmd_associate import label_options, read_identities, read_threshold
from .command_files import Command, Input, Output
from .output import console, json_option, write_json
from .reading_options import reading_options
from .role_options import ENGINE, ROLES, audit_roles, shared_options


@click.command(name="count", cls=Command)
@click.argument("data", type=Input(records=True))
@shared_options(*ROLES)
@label_options
@click.option(
    "--pairable", is_flag=True, help="With --identities and --record: keep what pairs two runs on the same records."
)
@shared_options(*ENGINE)
@click.option(
    "--labels", type=Input(), help="Saved counts whose label space this is counted in, so that the two add up."
)
@shared_options("suppress")
@click.option("--save", type=Output(".parquet"), required=True, help="The file that the counts are written to.")
@json_option
@reading_options
def command(
    data: str,
    labels: str | None,
    save: str,
    json_path: str | None,
    identities: tuple[str, ...],
    threshold: str | None,
    pairable: bool,
    **options: Any,
) -> None:
    """Count DATA where it is, so that only counts need to travel.

    With --identities, labels are counted with identities; --label, --score and --threshold belong to it.
    Saved counts are added up by biasamp merge and measured by biasamp audit or biasamp associate.

    \b
    Examples:
      biasamp count site_a.parquet --attributes gender --tasks hired --task-predictions said --record id \\
          --save a.parquet
      biasamp count part-7.csv --attributes gender --tasks hired --task-predictions said --labels a.parquet \\
          --save b.parquet
      biasamp count all.parquet --suppress 10 --save shared.parquet
      biasamp count labels.parquet -i man=Man,Male -i woman=Woman,Female --record image --label label --save c.parquet
    """
    import biasamp

    if identities:
        # The columns of an audit; ids tell records apart here too.
        roles = {name: options.pop(name) for name in ROLES if name != "record"}
        strange = [name for name, value in roles.items() if value not in (None, (), False, "error", "invented")]
        if strange or labels is not None:
            named = (strange or ["labels"])[0].replace("as_", "").replace("_", "-")
            raise click.UsageError(f"--{named} has no meaning beside --identities")
        arguments = {"identities": read_identities(identities), "threshold": read_threshold(threshold)}
        arguments["pairable"] = pairable
    else:
        if pairable:
            raise click.UsageError("--pairable belongs to --identities")
        for name in ("label", "score", "threshold"):
            if (threshold if name == "threshold" else options.pop(name)) is not None:
                raise click.UsageError(f"--{name} belongs to --identities")
        arguments = {**audit_roles("" if options["suppress"] is None else data, options), "labels": labels}
    _show(biasamp.count(data, **arguments, **options), save, json_path)


@click.command(name="merge", cls=Command)
@click.argument("counts", nargs=-1, required=True, type=Input())
@click.option("--save", type=Output(".parquet"), required=True, help="The file that the sum is written to.")
@json_option
def merge(counts: tuple[str, ...], save: str, json_path: str | None) -> None:
    """Add up saved COUNTS of different records: of days, files or sites.

    Counts of different label spaces do not add up, and neither do counts of the same records.

    \b
    Examples:
      biasamp merge monday.parquet tuesday.parquet --save week.parquet
      biasamp merge site_a.parquet site_b.parquet site_c.parquet --save all.parquet --json -
    """
    loaded = [load_counts(path) for path in counts]
    kinds = {type(held).__name__: path for held, path in zip(loaded, counts, strict=True)}
    if len(kinds) > 1:
        one, two = list(kinds.values())[:2]
        raise click.UsageError(f"{one} and {two} hold counts of different kinds, of an audit and of associations")
    _show(reduce(add, loaded), save, json_path)


def _show(counts: Any, save: str, json_path: str | None) -> None:
    """Save what was counted, and say it as a table or as data."""
    counts.save(save)
    if write_json(counts.to_dict(), json_path):
        return

    show_counts(counts, save, console())
