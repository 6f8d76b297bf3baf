"""``biasamp reproduce``: finds the distribution that holds the experiments, and runs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points

import click

from .command_files import Command, Input, OutputFolder, Params, Use
from .output import json_option

# A distribution names here what runs experiments: it takes the command's arguments and gives its exit code.
GROUP = "biasamp.reproductions"
# The variable that names the folder of real files.
DATA_FOLDER = "BIASAMP_DATA"


def _pages(params: Params) -> list[str]:
    """Without a name, experiments are listed and nothing is written."""
    return [] if params["name"] is None else ["*.html", "*.md"]


class _Folder(OutputFolder):
    """Where pages are written, apart from the real files that experiments read."""

    def uses(self, option: str, value: str, params: Params) -> Iterator[Use]:
        """The folder of pages, and that of real files."""
        written = list(super().uses(option, value, params))
        yield from written
        if written and os.environ.get(DATA_FOLDER):
            yield Use(DATA_FOLDER, os.environ[DATA_FOLDER])


@click.command(name="reproduce", cls=Command)
@click.argument("name", required=False, metavar="[NAME|all]")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Makes draws and attackers reproducible."
)
@click.option(
    "--folder",
    type=_Folder(_pages),
    default="reproductions",
    show_default=True,
    help="Where pages are written.",
)
@click.option(
    "--model",
    type=Input(),
    metavar="NAME_OR_PATH",
    help="fill-in-the-blank: a masked language model of the Hugging Face Hub, or the folder of one, in place of the stand-in.",
)
@json_option
def command(name: str | None, seed: int, folder: str, model: str | None, json_path: str | None) -> None:
    """Run tables and figures of the papers again: published figures beside ours.

    Without NAME, list the experiments, what each needs and whether it can run here. Real files are looked for in the
    folder that the variable BIASAMP_DATA names. With all, experiments that cannot run here are named with what they
    need, one that fails does not stop the others, and a summary, index.html, is written.

    Exit code 1: a figure differs and no run is shown that tells why; 3: nothing that was asked for can run here;
    4: an experiment ended with an error.

    \b
    Examples:
      biasamp reproduce
      biasamp reproduce worked-examples
      biasamp reproduce fill-in-the-blank --model bert-base-uncased
      BIASAMP_DATA=~/data biasamp reproduce all --json figures.json
    """
    code = _installed()(name, seed=seed, folder=folder, model=model, json_path=json_path)
    if code:
        raise click.exceptions.Exit(code)


def _installed() -> Callable[..., int]:
    """What runs the experiments, of the distribution that brings them."""
    for found in entry_points(group=GROUP):
        run: Callable[..., int] = found.load()
        return run
    raise click.UsageError(
        "the experiments are a distribution of their own, biasamp-reproductions, which is not installed here. "
        "In a checkout of the project: pip install ./reproductions"
    )
