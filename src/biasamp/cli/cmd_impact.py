"""``biasamp impact``: selection or scoring rates of groups, and their ratios to the highest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from biasamp.amplification.impact import LAYOUTS
from biasamp.auditing.source import read_source
from biasamp.data import Columns
from biasamp.data.binning import cut_columns
from biasamp.report.impact_terminal import show_impact
from biasamp.report.impact_view import impact_csv

from .command_files import Command, Input, Output
from .output import console, html_option, json_option, write_data, write_json
from .reading_options import reading_options
from .role_options import number_option, shared_options, split_bins, split_names
from .score_columns import listed_names


@click.command(name="impact", cls=Command)
@click.argument("data", type=Input(records=True))
@click.option("--decision", help="The column that says who was selected: two values.")
@click.option("--scores", help="A column of scores instead: rates are of scores above the median.")
@click.option("--groups", help="Columns of groups, comma separated; several are crossed too.")
@click.option("--sex", help="The column of sex, for --layout ll144.")
@click.option("--race", help="The column of race and ethnicity, for --layout ll144.")
@click.option(
    "--layout", type=click.Choice(LAYOUTS), help="The form of the tables: ll144, as New York City's Local Law 144 asks."
)
@click.option("--positive", help="The decision that means selected; default: 1, true or yes.")
@click.option("--unknown", help="Values of groups that are not known, comma separated; default: those that read so.")
@shared_options("bins")
@click.option("--counts", help="A column that says how many people each row stands for.")
@number_option("--small", 0.02, "Groups with a smaller share of the people are in no ratio.")
@number_option("--level", 0.95, "The level of the intervals.")
@click.option(
    "--suppress", type=int, metavar="N", help="Withhold counts below N, and what would give them away, for publication."
)
@click.option("--markdown", type=Output(".md", stdout=True), metavar="FILE", help="Write the tables as Markdown.")
@click.option(
    "--csv", "csv_path", type=Output(".csv", stdout=True), metavar="FILE", help="Write one row per group as CSV."
)
@html_option
@json_option
@reading_options
def command(
    data: str,
    decision: str | None,
    scores: str | None,
    groups: str | None,
    sex: str | None,
    race: str | None,
    unknown: str | None,
    bins: tuple[str, ...],
    counts: str | None,
    markdown: str | None,
    csv_path: str | None,
    html_path: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Tabulate the rates at which groups in DATA were selected, or scored above the median, and their ratios.

    People whose group is not known are counted beside. There is no verdict: tables only.

    \b
    Examples:
      biasamp impact hires.csv --decision selected --sex sex --race race --layout ll144
      biasamp impact hires.csv --scores score --groups sex,race,age_band --html rates.html
      biasamp impact hires.csv --decision selected --groups age --bins age=40
      biasamp impact table.csv --decision selected --groups sex --counts people --suppress 10 --markdown rates.md
    """
    import biasamp

    named = {} if groups is None else {name: name for name in listed_names(groups, "--groups")}
    named |= {title: column for title, column in (("sex", sex), ("race", race)) if column is not None}
    if not named:
        raise click.UsageError("name the columns of groups: --groups, or --sex and --race")
    if (decision is None) == (scores is None):
        raise click.UsageError("name one of --decision and --scores: rates are of one of them")
    roles = {**{column: f"groups ({title})" for title, column in named.items()}}
    for option, column in (("--decision", decision), ("--scores", scores), ("--counts", counts)):
        if column is not None and column in roles:
            raise click.UsageError(f"{option} and {roles[column]} both name the column {column!r}")
    wanted = [column for column in (*named.values(), decision, scores, counts) if column is not None]
    source = read_source(data, wanted)
    edges = split_bins(bins)
    strange = next((column for column in edges if column not in named.values()), None)
    if strange is not None:
        raise click.UsageError(f"--bins cuts {strange!r}, which is no column of groups")
    columns = {}
    for title, column in named.items():
        held: Any = Columns([replace(source.column(column), name=title)], True)
        if column in edges:
            held = replace(cut_columns(column, edges), data=held)
        columns[title] = held
    values = None if unknown is None else split_names(unknown, "--unknown")
    result = biasamp.impact(
        None if decision is None else Columns([source.column(decision)], True),
        columns,
        scores=None if scores is None else source.numbers(scores, "scores"),
        counts=None if counts is None else source.numbers(counts, "counts"),
        unknown=[values] if isinstance(values, str) else values,
        **options,
    )
    if html_path is not None:
        result.to_html(html_path)
    taken = write_json(result.to_dict(), json_path)
    if csv_path is not None:
        taken = write_data(impact_csv(result), csv_path) or taken
    if markdown is not None:
        taken = write_data(result.to_markdown(), markdown) or taken
    if not taken:
        show_impact(result, console())
