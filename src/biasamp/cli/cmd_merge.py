"""``biasamp merge``."""

from __future__ import annotations

from functools import reduce

import click

from .cmd_count import show_counts
from .output import check_target, json_option


@click.command(name="merge")
@click.argument("counts", nargs=-1, required=True, type=click.Path())
@click.option("--save", type=click.Path(dir_okay=False), required=True, help="The file that the sum is written to.")
@json_option
def command(counts: tuple[str, ...], save: str, json_path: str | None) -> None:
    """Add up saved COUNTS of different records: of days, files or sites.

    Counts of different label spaces do not add up, and neither do counts of the same records.

    \b
    Examples:
      biasamp merge monday.parquet tuesday.parquet --save week.parquet
      biasamp merge site_a.parquet site_b.parquet site_c.parquet --save all.parquet --json -
    """
    from biasamp.counts.storage import load_counts

    for target in (save, json_path):
        check_target(target, *counts)
    loaded = [load_counts(path) for path in counts]
    kinds = {type(held).__name__: path for held, path in zip(loaded, counts, strict=True)}
    if len(kinds) > 1:
        one, two = list(kinds.values())[:2]
        raise click.UsageError(f"{one} and {two} hold counts of different kinds, of an audit and of associations")
    total = reduce(lambda one, two: one + two, loaded)
    total.save(save)
    show_counts(total, save, json_path)
