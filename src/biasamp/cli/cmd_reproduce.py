"""``biasamp reproduce``: finds the distribution that holds the experiments, and runs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points

import click

from .command_files import Command, Input, OutputFolder, Params, Use
from .output import json_option

# A distribution names here what runs experiments: it takes the command's arguments and gives its exit code.
GROUP = "biasamp.reproductions"
# The variable that names the folder of real files.
DATA_FOLDER = "BIASAMP_DATA"


# What files of one's own need beside them.
_NEEDS = {
    "images": ("annotations",),
    "captions": ("words", "models", "objects", "group"),
    "scores": ("score", "group", "truth"),
    "labels": ("identities",),
}


def _complete(given: Mapping[str, object]) -> None:
    """Refuse files of one's own without what says how to read them, and the other way round."""
    for file, needed in _NEEDS.items():
        lacking = [name for name in needed if name not in given]
        if file in given and lacking:
            raise click.UsageError(f"--{file} needs --{lacking[0].replace('_', '-')}.")
    if given and not any(file in given for file in _NEEDS):
        raise click.UsageError(
            f"--{next(iter(given)).replace('_', '-')} needs one of {', '.join(f'--{name}' for name in _NEEDS)}."
        )


def _sizes(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, float]:
    """Sizes by name."""
    out: dict[str, float] = {}
    for text in given:
        size, equals, number = text.partition("=")
        if not equals or not number.strip().isdigit() or int(number) < 1:
            raise click.BadParameter(f"{text!r}: SIZE=NUMBER is needed, a whole number from 1", context, parameter)
        out[size.strip()] = int(number)
    return out


def _pages(params: Params) -> list[str]:
    """Without a name, experiments are listed and nothing is written."""
    return [] if params["name"] is None else ["*.html", "*.md", "part-*.json"]


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
@click.option("--quick", is_flag=True, help="Small sizes: to see that it runs, not for figures.")
@click.option(
    "--scale",
    multiple=True,
    metavar="SIZE=NUMBER",
    callback=_sizes,
    help="A size of the experiment, such as seeds=3 or train=500; may be given several times.",
)
@click.option("--seeds", type=click.IntRange(min=1), help="How many runs with other seeds.")
@click.option("--resume", is_flag=True, help="Keep what is finished in the folder, and take what is kept there.")
@click.option("--images", type=Input(), metavar="FOLDER", help="masking: a folder of your own images.")
@click.option("--annotations", type=Input(), metavar="FILE", help="masking: their instances in COCO's format.")
@click.option(
    "--caption-annotations",
    type=Input(),
    metavar="FILE",
    help="masking: their captions in COCO's format, for the gender.",
)
@click.option(
    "--attribute", metavar="KEY", help="masking: or the key of the gender in each image's entry of --annotations."
)
@click.option(
    "--network", metavar="MODULE:FUNCTION", help="masking: makes a torch module, given the number of outputs."
)
@click.option("--side", type=click.IntRange(min=16), help="masking: pixels of a side that images are brought to.")
@click.option("--captions", type=Input(), metavar="FILE", help="captions: a CSV or Parquet table of your own captions.")
@click.option(
    "--words", type=Input(), metavar="FILE", help="captions: word lists in JSON, groups and objects with other words."
)
@click.option("--models", metavar="COLUMNS", help="captions: the columns that hold captions, with commas between them.")
@click.option(
    "--objects", metavar="COLUMN", help="captions: the column of true objects, a list or words with bars between."
)
@click.option(
    "--scores", type=Input(), metavar="FILE", help="compas-thresholds: a CSV or Parquet table with a score of your own."
)
@click.option("--score", metavar="COLUMN", help="compas-thresholds: the column of the score.")
@click.option("--truth", metavar="COLUMN", help="compas-thresholds: the column of the outcome, 0 or 1.")
@click.option("--group", metavar="COLUMN", help="captions, compas-thresholds: the column of the group.")
@click.option(
    "--labels", type=Input(), metavar="PATH", help="aies-rankings: a table, or a folder of label files of Open Images."
)
@click.option("--identities", metavar="A,B", help="aies-rankings: the two identities.")
@click.option("--record", metavar="COLUMN", help="aies-rankings: of a table, the column that names the record.")
@click.option("--label", metavar="COLUMN", help="aies-rankings: of a table, the column that names the label.")
@json_option
def command(
    name: str | None,
    seed: int,
    folder: str,
    model: str | None,
    json_path: str | None,
    quick: bool,
    scale: dict[str, float],
    seeds: int | None,
    resume: bool,
    **own: str | int | None,
) -> None:
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
      biasamp reproduce masking --quick
      biasamp reproduce masking --scale train=1000 --seeds 3 --resume
      biasamp reproduce compas-thresholds --scores mine.csv --score risk --group sex --truth paid
      BIASAMP_DATA=~/data biasamp reproduce all --json figures.json
    """
    given = {key: value for key, value in own.items() if value is not None}
    _complete(given)
    code = _installed()(
        name,
        seed=seed,
        folder=folder,
        model=model,
        json_path=json_path,
        quick=quick,
        scale=scale,
        seeds=seeds,
        resume=resume,
        own=given,
    )
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
