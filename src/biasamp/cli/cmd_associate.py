"""``biasamp associate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from biasamp.association.contrasts import CONTRASTS
from biasamp.association.metrics import usual_metric
from biasamp.counts.storage import is_counts
from biasamp.data.label_source import label_source
from biasamp.report.association_tables import show_association, show_association_change
from biasamp.report.conditional_terminal import show_conditional
from biasamp.report.explorer_document import write_explorer
from biasamp.report.figures import association_figures
from biasamp.results.checksums import json_text, with_checksum

from .command_files import Command, Input
from .output import (
    console,
    csv_option,
    csv_streamed,
    figures_option,
    html_option,
    json_option,
    write_figures,
    write_json,
)
from .reading_options import reading_options
from .role_options import ENGINE, choice_option, number_option, shared_options


def label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say which labels are counted with which identities."""
    words = "Identity labels, comma separated, or NAME=LABEL,LABEL,... to unite labels under one name; may be repeated."
    command = click.option(
        "--threshold", type=Input(_threshold_file), help="Least score: a number, or a CSV file of label and threshold."
    )(command)
    command = click.option("--score", help="The column of scores.")(command)
    command = click.option("--label", help="The column of labels.")(command)
    return click.option("--identities", "-i", multiple=True, help=words)(command)


def read_identities(values: tuple[str, ...]) -> Any:
    """``--identities Man,Woman`` or ``--identities man=Man,Male,Boy``; labels with a comma are quoted as in CSV."""
    import csv

    groups: dict[str, list[str]] = {}
    for value in values:
        name, equals, labels = value.partition("=")
        united = bool(equals and name)
        listed = next(csv.reader([labels if united else value], skipinitialspace=True))
        for group, members in ((name.strip(), listed),) if united else ((label, [label]) for label in listed):
            if group in groups:
                raise click.BadParameter(f"the identity {group!r} is named twice")
            groups[group] = members
    return groups


def _threshold_file(value: str) -> dict[str, str]:
    try:
        float(value)
    except ValueError:
        return {"": value}
    return {}


def read_threshold(value: str | None) -> Any:
    """A number, or a CSV file of label and threshold."""
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    import csv

    if not Path(value).is_file():
        raise click.BadParameter(f"{value!r} is neither a number nor a CSV file of label and threshold")
    out: dict[str, float] = {}
    with open(value, encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.reader(file), start=1):
            try:
                label, limit = row
                out[label] = float(limit)
            except ValueError:
                if number == 1 and len(row) == 2:
                    continue
                raise click.BadParameter(f"line {number} of {value!r} is not a label and a number") from None
    return out


@click.command(name="associate", cls=Command)
@click.argument("data", type=Input(records=True))
@label_options
@click.option("--record", help="The column that says which record a row belongs to.")
@click.option(
    "--metrics", default="all", show_default=True, help="all, or names that biasamp metrics lists, comma separated."
)
@choice_option(
    "--zero",
    ["limit", "drop", "smooth"],
    "Where a label never meets an identity: take the limit, leave it out, or add to every count.",
)
@number_option("--min-count", 1, "Rank labels of at least so many records.")
@number_option("--min-expected", 5.0, "Rank labels expected so often with each identity under independence.")
@click.option("--paper-literal", is_flag=True, help="The metrics as the paper prints them.")
@choice_option("--correction", ["bh", "by"], "q-values: Benjamini-Hochberg, or Benjamini-Yekutieli for any dependence.")
@click.option(
    "--strata", multiple=True, help="Labels to hold fixed, written as --identities; gaps within them are shown too."
)
@click.option(
    "--crossings", is_flag=True, help="Compare what records have of two identities at once, such as young woman."
)
@choice_option(
    "--contrasts",
    list(CONTRASTS),
    "Which gaps to write: of every two identities, each against a reference, each against the rest; auto: pairs of up to "
    "four identities, of more the other two.",
)
@click.option("--reference", metavar="NAME", help="The identity that others are held against.  [default: the first]")
@click.option("--open-images", is_flag=True, help="DATA holds Open Images label files.")
@click.option("--classes", type=Input(), help="Open Images: the class-description file.")
@choice_option("--sources", ["all", "machine", "human"], "Open Images: whose labels to read.")
@click.option("--miap", type=Input(), help="Open Images: a file of MIAP person boxes.")
@click.option(
    "--against",
    type=Input(records=True),
    metavar="OLD",
    help="Another run's labels, or counts of them: what changed from OLD to DATA, paired where records have ids.",
)
@number_option("--top", 10, "How many labels a table shows; 0 for none.")
@click.option("--sort", "sort_by", default=None, help="The metric that tables are ranked by.  [default: npmi_xy]")
@csv_option("one row per label")
@shared_options(*ENGINE)
@html_option
@figures_option
@json_option
@reading_options
def command(
    data: str,
    identities: tuple[str, ...],
    threshold: str | None,
    metrics: str,
    open_images: bool,
    classes: str | None,
    sources: str,
    miap: str | None,
    against: str | None,
    strata: tuple[str, ...],
    top: int,
    sort_by: str | None,
    csv_path: str | None,
    html_path: str | None,
    figures_folder: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Rank the labels of DATA by how they lean to identities, without ground truth.

    DATA is a file or folder (Parquet, CSV, Excel, Arrow or JSON lines): a long table of record and label, a table
    with a column of lists, or a wide table of 0/1 columns; or counts that biasamp count saved.

    \b
    Examples:
      biasamp associate labels.parquet --record image --label label -i man=Man,Male -i woman=Woman,Female
      biasamp associate labels.csv --record id --label tag --score p --threshold 0.5 -i Man -i Woman --csv out.csv
      biasamp associate oidv6/ --open-images --classes class-descriptions.csv -i Man -i Woman --top 20
      biasamp associate labels.parquet --record image --label label -i Man -i Woman --strata Outdoors,Indoors
      biasamp associate new.parquet --against old.parquet --record image --label label -i Man -i Woman
    """
    import biasamp

    if top < 0:
        raise click.BadParameter("--top is a number of 0 or more")
    limit = read_threshold(threshold)

    def source(path: str) -> Any:
        if not open_images:
            return path
        return biasamp.read_open_images(path, classes=classes, sources=sources, threshold=limit, miap=miap)

    if open_images and isinstance(limit, dict):
        raise click.UsageError("--open-images takes one --threshold for all machine labels")
    if not open_images and (classes or miap or sources != "all"):
        raise click.UsageError("--classes, --sources and --miap belong to --open-images")
    names = metrics if metrics == "all" else [name.strip() for name in metrics.split(",")]
    layers = read_identities(strata) or None
    arguments = {"threshold": None if open_images else limit, "metrics": names, "strata": layers, **options}

    def associated(path: str) -> Any:
        counts = is_counts(path)
        if not identities and not counts:
            raise click.UsageError("Missing option '--identities' / '-i'.")
        data = source(path)
        columns = {name: options[name] for name in ("label", "record", "score")}
        pairable = against is not None and not counts and label_source(data, **columns).has_records
        return biasamp.associate(data, read_identities(identities) or None, pairable=pairable, **arguments)

    result = associated(data)
    old = None if against is None else associated(against)
    shown = sort_by or usual_metric(result.metrics)
    if shown not in result.metrics:
        raise click.BadParameter(f"--sort {shown!r}: this run computes {', '.join(result.metrics)}")
    change = None if old is None else biasamp.association_change(old, result, shown, correction=options["correction"])
    runs = _run_names(against, data)
    if figures_folder is not None:  # first: it makes the folder, which other results may go to
        write_figures(association_figures(result), figures_folder)
    if html_path is not None:
        write_explorer({runs[1]: result} if old is None else {runs[0]: old, runs[1]: result}, html_path)
    taken = False
    if json_path is not None:
        more = {} if change is None else {"change": {"against": runs[0], "metric": shown, **change.to_dict()}}
        taken = write_json(json_text(with_checksum({**result.to_dict(), **more})), json_path)
    if csv_path is not None:  # the table of all labels is made where it is asked for
        taken = csv_streamed(result.table_blocks(), csv_path) or taken
    if not taken:
        show_association(result, console(), metric=shown, top=top)
        if result.conditional is not None:
            show_conditional(result.conditional, console(), metric=shown, top=top)
        if change is not None:
            show_association_change(change, console(), metric=shown, top=top, names=runs, toward=result.identities[0])


def _run_names(old: str | None, new: str) -> tuple[str, str]:
    """What two runs are called: their files' names, or paths where those are the same."""
    names = ("" if old is None else Path(old).name, Path(new).name)
    return names if names[0] != names[1] else (str(old), new)
