"""``biasamp verify``: whether the figures of a saved audit are those of some data."""

from __future__ import annotations

from typing import Any

import click
from rich.text import Text

from .command_files import Command, Input
from .output import console, json_option, with_status, write_json
from .reading_options import reading_options
from .role_options import ENGINE, shared_options

DIFFERS = 1


@click.command(name="verify", cls=Command)
@click.argument("audit", type=Input())
@click.argument("data", type=Input(records=True))
@shared_options("train", "base", *ENGINE)
@json_option
@reading_options
def command(audit: str, data: str, json_path: str | None, **options: Any) -> None:
    """Compute AUDIT again from DATA: exit code 0 where its figures are those of these data, 1 where they are not.

    AUDIT is what `biasamp audit --save` or `--json` wrote; it says how it was made. Give --train and --base where it was made with them.

    \b
    Examples:
      biasamp verify audit.json.gz test.parquet
      biasamp verify audit.json test.csv --train train.csv --json -
    """
    import biasamp

    result = with_status(data, lambda: biasamp.verify(audit, data, **options), options["engine"])
    if not write_json(result.to_dict(), json_path):
        console().print(Text(result.summary))
    if not result.same:
        raise click.exceptions.Exit(DIFFERS)
