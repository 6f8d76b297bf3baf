"""``biasamp audit``, and ``biasamp demo``, which audits embedded data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from biasamp.auditing.audit_result import TABLES
from biasamp.auditing.findings import side_of_zero
from biasamp.data import printable
from biasamp.datasets import berkeley
from biasamp.report.first_screen import LINES, show_first_screen
from biasamp.report.terminal import show_audit, show_label_errors
from biasamp.results.metric_registry import direction_symbol

from .command_files import Command, Input, Output, OutputFolder, Params
from .log_options import log_options
from .output import (
    console,
    csv_option,
    csv_taken,
    figures_option,
    full_option,
    html_option,
    json_option,
    with_status,
    write_figures,
    write_json,
)
from .reading_options import reading_options
from .role_options import ENGINE, MEASURES, ROLES, audit_roles, number_option, shared_options, split_names, split_values


@click.command(name="audit", cls=Command)
@click.argument("data", type=Input(records=True, logs=True))
@shared_options(*ROLES)
@shared_options("metrics", *ENGINE, *MEASURES, "min_group", "intervals", "provenance", "suppress", "as_continuous")
@number_option("--pairs", 10, "How many pairs a table of --full shows; 0 for none.")
@full_option
@click.option(
    "--save", type=Output(".json", ".json.gz"), help="Save the audit with its resamples, to compare and report later."
)
@log_options
@html_option
@csv_option("one of the tables")
@click.option(
    "--csv-table", type=click.Choice(TABLES), default="pairs", show_default=True, help="Which table --csv writes."
)
@figures_option
@json_option
@reading_options
def command(
    data: str,
    metrics: str,
    pairs: int,
    full: bool,
    save: str | None,
    html_path: str | None,
    csv_path: str | None,
    csv_table: str,
    figures_folder: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Audit DATA, a Parquet, CSV, Excel, Arrow or JSON-lines file (gzipped too) or a folder of them, or saved counts.

    DATA may be - for standard input.

    \b
    Examples:
      biasamp audit test.parquet --attributes gender --tasks cooking --task-predictions cooking_pred
      biasamp audit test.csv --attributes gender,race --intersections --tasks hired --task-predictions said
      biasamp audit test.csv --attributes gender --attribute-predictions gender_pred --tasks fork,knife \\
          --task-predictions fork_p,knife_p --train train.csv --html report.html
      biasamp audit test.csv --attributes race --tasks ruling --task-predictions said --positive granted \\
          --reference Caucasian --ignore-groups Unknown
      biasamp audit counts.parquet --json -
      biasamp audit test.csv --attributes gender --tasks hired --task-predictions said --csv pairs.csv
    """
    import biasamp

    as_continuous = options.pop("as_continuous")
    arguments = {
        **split_values(options),
        "metrics": metrics if metrics == "auto" else split_names(metrics, "--metrics"),
        **audit_roles(data, options),
        **options,
    }
    if as_continuous and arguments.get("tasks") is not None:
        arguments["tasks"] = biasamp.continuous(arguments["tasks"])
    result = with_status(data, lambda: biasamp.audit(data, **arguments), arguments["engine"])
    if figures_folder is not None:  # first: it makes the folder, which other results may go to
        write_figures(result.plot(), figures_folder)
    if save is not None:
        result.save(save)
    if html_path is not None:
        result.to_html(html_path)
    taken = csv_taken(getattr(result, csv_table), csv_path)
    if write_json(result.to_json(), json_path) or taken:
        return
    asked = click.get_current_context().get_parameter_source("pairs")
    if full or asked not in (None, click.core.ParameterSource.DEFAULT):
        show_audit(result, console(), pairs)
    else:
        screen = console()
        show_first_screen(result, screen)
        show_label_errors(result, screen)
    if "withheld_below" in result.document["data"]:
        hidden = [printable(name, 60) for name in result.document["data"]["withheld_groups"]]
        words = f"\nWithheld, and in no figure: {', '.join(hidden) or 'no group'} (counts below {result.document['data']['withheld_below']})."
        console().print(Text(words))


def _demo_files(params: Params) -> list[str]:
    return ["audit.json", "audit.saved.json.gz", *(["report.html"] if params["html_path"] is None else [])]


@click.command(name="demo", cls=Command)
@click.option(
    "--folder", type=OutputFolder(_demo_files), default="demo", show_default=True, help="Where files are written."
)
@full_option
@html_option
@json_option
def demo(folder: str, full: bool, html_path: str | None, json_path: str | None) -> None:
    """Audit embedded real data: graduate admissions at Berkeley, 1973. Nothing is downloaded.

    \b
    Examples:
      biasamp demo
      biasamp demo --folder /tmp/demo --json -
    """
    import biasamp

    result = biasamp.audit(
        berkeley.with_predictions(),
        **berkeley.ROLES,
        **berkeley.PARTS,
    )
    result = result.named(berkeley.TITLE)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    result.to_json(target / "audit.json")
    result.save(target / "audit.saved.json.gz")
    result.to_html(target / "report.html" if html_path is None else html_path)
    if write_json(result.to_json(), json_path):
        return
    screen = console()
    intro = Text(
        "4,526 applicants to the six largest departments; a logistic regression predicts admission from department and "
        "gender (A→T), and gender from department and admission (T→A), each applicant by a model that has not seen them.\n"
    )
    written = Text(
        f"\nWritten: {html_path or target / 'report.html'} (open it in a browser), {target / 'audit.json'} (all figures), "
        f"{target / 'audit.saved.json.gz'} (to compare later)"
    )
    screen.print(intro)
    if full:
        show_audit(result, screen)
        screen.print(f"\n{_concluded(result)}")
    else:
        show_first_screen(result, screen, LINES - sum(len(screen.render_lines(text)) for text in (intro, written)))
    screen.print(written)


def _concluded(audit: Any) -> str:
    """What the demo's intervals conclude and what they do not, from the intervals themselves."""
    level = audit.document["data"]["confidence"]
    words = []
    for entry in audit.document["metrics"]:
        low, high = entry["interval"]
        side = side_of_zero(low, high)
        if entry["metric"] != "directional" or side is None:
            continue
        where = direction_symbol(entry["direction"])
        if side:
            words.append(
                f"{where} lies {'above' if side > 0 else 'below'} 0, so chance in who applied does not explain it"
            )
        else:
            words.append(f"{where} covers 0, so it concludes nothing, not even that there is no amplification")
    return (
        f"What the {level * 100:g}% intervals conclude: directional amplification {'; '.join(words)}. They say how figures "
        "would vary over other applicants, for these predictions as they are. They do not cover training the model anew, "
        "another threshold, or errors in the records; and they do not conclude that admissions were fair or unfair, nor "
        "why: department and gender go together in these data."
    )
