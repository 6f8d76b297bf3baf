"""``biasamp why``: how much is the score, how much the threshold, and what changes inside strata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from biasamp.counts.storage import is_counts
from biasamp.report.audit_page import write_html
from biasamp.report.terminal import show_cautions
from biasamp.report.why_terminal import show_strata, show_why

from .command_files import Command, Input
from .output import console, csv_option, csv_taken, html_option, json_option, with_status, write_json
from .reading_options import reading_options
from .role_options import COLUMNS, ENGINE, MEASURES, audit_roles, shared_options, split_values

# Findings that are about the parts.
_CODES = (
    "why",
    "reversed-signs",
    "small-strata",
    "stratum-close-to-group",
    "other-scores",
    "other-rule",
    "uncalibrated",
    "unclear-signs",
    "threshold",
    "missing",
)
# The columns of the CSV file. A row is a part of the whole, a pair or a stratum; it says nothing where a column is not of it.
_COLUMNS = (
    *("attribute", "direction", "row", "part", "given", "outcome", "stratum", "n", "sign", "truth_rate", "score_rate"),
    *("predicted_rate", "value", "low", "high", "verdict", "score", "score_low", "score_high"),
    *("threshold", "threshold_low", "threshold_high", "by_sign_of_whole", "p", "q", "pairs", "unclear", "reversed"),
)


def _rows(entries: list[Any]) -> Iterator[dict[str, Any]]:
    """One row for each part of the whole, each listed pair and each stratum."""
    for entry in entries:
        where = dict.fromkeys(_COLUMNS) | {name: entry[name] for name in ("attribute", "direction")}
        for name, part in entry["parts"].items():
            low, high = part["interval"]
            shown = {"value": part["value"], "low": low, "high": high, "verdict": part["verdict"]}
            yield {**where, "row": "part", "part": name, **shown}
        for kind, listed in (("pair", entry.get("pairs", ())), ("stratum", entry.get("strata", ()))):
            for held in listed:
                row = {"value": held.get("amplification"), "n": held.get("support"), **held}
                yield {**where, "row": kind, **{name: row[name] for name in _COLUMNS if name in row}}


@click.command(name="why", cls=Command)
@click.argument("data", type=Input(records=True))
@shared_options(*COLUMNS)
@click.option(
    "--scores", "--task-scores", "task_scores", help="Probabilities of tasks, in the same order, or truth=score pairs."
)
@shared_options(
    "attribute_scores",
    "strata",
    "missing",
    "unseen",
    "intersections",
    "as_binary",
    "as_categorical",
    "categories",
    "bins",
)
@shared_options(*ENGINE, *MEASURES, "min_group")
@html_option
@json_option
@csv_option("one row per part, pair and stratum")
@reading_options
def command(data: str, html_path: str | None, json_path: str | None, csv_path: str | None, **options: Any) -> None:
    """Split the amplification in DATA into the part of the scores and the part of the threshold, and look inside strata.

    Decisions are --task-predictions, or what the scores give at 0.5.

    \b
    Examples:
      biasamp why test.csv --attributes gender --tasks admitted --scores chance --strata department
      biasamp why test.parquet --attributes race --tasks reoffended --scores risk --task-predictions jailed --json -
      biasamp why test.csv --attributes race --tasks reoffended --scores risk --html why.html --csv parts.csv
    """
    import biasamp

    arguments = {**split_values(options), **audit_roles(data, options), **options}
    if not is_counts(data) and not any(arguments.get(name) for name in ("task_scores", "attribute_scores", "strata")):
        raise click.UsageError("name --scores, --attribute-scores or --strata: a value has no parts without them")
    result = with_status(data, lambda: biasamp.audit(data, metrics="directional", **arguments), arguments["engine"])
    if not result.document.get("why"):
        reasons = "; ".join(dict.fromkeys(row["reason"] for row in result.not_run if row["metric"] == "why"))
        raise click.ClickException(
            f"no part could be computed: {reasons or 'the counts have neither scores nor strata'}"
        )
    if html_path is not None:
        write_html(result, html_path, view="why")
    document = result.document
    shown = [row for row in document["findings"] if row["code"] in _CODES]
    curves = {"sweep": document["sweep"]} if "sweep" in document else {}
    taken = write_json({"schema": 1, "why": document["why"], **curves, "findings": shown}, json_path)
    if csv_taken(_rows(document["why"]), csv_path, _COLUMNS) or taken:
        return
    screen = console()
    show_why(result, screen)
    show_strata(result, screen)
    show_cautions(result, screen, _CODES)
