"""``biasamp associate``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .output import (
    check_figures,
    check_target,
    console,
    figures_option,
    html_option,
    json_option,
    write_figures,
    write_json,
)


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


@click.command(name="associate")
@click.argument("data", type=click.Path())
@click.option(
    "--identities",
    "-i",
    "identities",
    multiple=True,
    help="Identity labels, comma separated, or NAME=LABEL,LABEL,... to unite labels under one name; may be repeated.",
)
@click.option("--label", help="The column of labels.")
@click.option("--record", help="The column that says which record a row belongs to.")
@click.option("--score", help="The column of scores.")
@click.option("--threshold", help="Least score: a number, or a CSV file of label and threshold.")
@click.option(
    "--metrics", default="all", show_default=True, help="all, or names that biasamp metrics lists, comma separated."
)
@click.option(
    "--zero",
    type=click.Choice(["limit", "drop", "smooth"]),
    default="limit",
    show_default=True,
    help="Where a label never meets an identity: take the limit, leave it out, or add to every count.",
)
@click.option("--min-count", type=int, default=1, show_default=True, help="Rank labels of at least so many records.")
@click.option(
    "--min-expected",
    type=float,
    default=5,
    show_default=True,
    help="Rank labels expected so often with each identity under independence.",
)
@click.option("--paper-literal", is_flag=True, help="The metrics as the paper prints them.")
@click.option(
    "--correction",
    type=click.Choice(["bh", "by"]),
    default="bh",
    show_default=True,
    help="q-values: Benjamini-Hochberg, or Benjamini-Yekutieli for any dependence.",
)
@click.option("--open-images", is_flag=True, help="DATA holds Open Images label files.")
@click.option("--classes", type=click.Path(), help="Open Images: the class-description file.")
@click.option(
    "--sources",
    type=click.Choice(["all", "machine", "human"]),
    default="all",
    show_default=True,
    help="Open Images: whose labels to read.",
)
@click.option("--miap", type=click.Path(), help="Open Images: a file of MIAP person boxes.")
@click.option("--top", type=int, default=10, show_default=True, help="How many labels a table shows; 0 for none.")
@click.option("--sort", "sort_by", default=None, help="The metric that tables are ranked by.  [default: npmi_xy]")
@click.option(
    "--csv", "csv_path", metavar="FILE", help="Write one row per label as CSV to FILE; - for standard output."
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "local", "dask", "spark"]),
    default="auto",
    show_default=True,
    help="Count on this machine, or on a Dask or Spark cluster.",
)
@click.option("--memory", help="Memory budget of a process, such as 512MB.  [default: a quarter of the machine's]")
@click.option("--threads", type=int, help="Threads, or processes of a Dask cluster.  [default: all processors]")
@html_option
@figures_option
@json_option
def command(
    data: str,
    identities: tuple[str, ...],
    threshold: str | None,
    metrics: str,
    open_images: bool,
    classes: str | None,
    sources: str,
    miap: str | None,
    top: int,
    sort_by: str | None,
    csv_path: str | None,
    html_path: str | None,
    figures_folder: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Rank the labels of DATA by how they lean to identities, without ground truth.

    DATA is a file or folder (Parquet, CSV, Arrow, Feather or JSON lines): a long table of record and label, a table
    with a column of lists, or a wide table of 0/1 columns; or counts that biasamp count saved.

    \b
    Examples:
      biasamp associate labels.parquet --record image --label label -i man=Man,Male -i woman=Woman,Female
      biasamp associate labels.csv --record id --label tag --score p --threshold 0.5 -i Man -i Woman --csv out.csv
      biasamp associate oidv6/ --open-images --classes class-descriptions.csv -i Man -i Woman --top 20
    """
    import biasamp
    from biasamp.association.metrics import usual_metric
    from biasamp.counts.storage import is_counts

    if csv_path == "-" and json_path == "-":
        raise click.UsageError("--csv - and --json - cannot share standard output")
    if top < 0:
        raise click.BadParameter("--top is a number of 0 or more")
    for target in (csv_path, json_path, html_path):
        check_target(target, data)
    check_figures(figures_folder)
    source: Any = data
    limit = read_threshold(threshold)
    if open_images:
        if isinstance(limit, dict):
            raise click.UsageError("--open-images takes one --threshold for all machine labels")
        source = biasamp.read_open_images(data, classes=classes, sources=sources, threshold=limit, miap=miap)
        limit = None
    elif classes or miap or sources != "all":
        raise click.UsageError("--classes, --sources and --miap belong to --open-images")
    names = metrics if metrics == "all" else [name.strip() for name in metrics.split(",")]
    arguments = {"threshold": limit, "metrics": names, **options}
    if not identities and not is_counts(data):
        raise click.UsageError("Missing option '--identities' / '-i'.")
    result = biasamp.associate(source, read_identities(identities) or None, **arguments)
    shown = sort_by or usual_metric(result.metrics)
    if shown not in result.metrics:
        raise click.BadParameter(f"--sort {shown!r}: this run computes {', '.join(result.metrics)}")
    if html_path is not None:
        from biasamp.report.explorer_document import write_explorer

        write_explorer({Path(data).name: result}, html_path)
    if figures_folder is not None:
        from biasamp.report.figures import association_figures

        write_figures(association_figures(result), figures_folder)
    taken = False
    if json_path is not None:
        import json

        text = json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False)
        taken = write_json(text, json_path)
    if csv_path is not None:
        taken = _write_csv(result, csv_path) or taken
    if not taken:
        from biasamp.report.association_tables import show_association

        show_association(result, console(), metric=shown, top=top)


def _write_csv(result: Any, path: str) -> bool:
    from biasamp.report.spreadsheet import write_csv

    columns = list(result.table.columns)
    if path == "-":
        write_csv(result.table.rows(), columns, sys.stdout)
        return True
    with open(path, "w", encoding="utf-8", newline="") as file:
        write_csv(result.table.rows(), columns, file)
    return False
