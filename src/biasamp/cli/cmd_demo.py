"""``biasamp demo``."""

from __future__ import annotations

from pathlib import Path

import click

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.findings import side_of_zero
from biasamp.results.metric_registry import direction_symbol

from .output import console, html_option, json_option, write_json


def concluded(audit: Audit) -> str:
    """What the demo's intervals conclude and what they do not, from the intervals themselves."""
    level = audit.document["data"]["confidence"]
    told = []
    for entry in audit.document["metrics"]:
        low, high = entry["interval"]
        side = side_of_zero(low, high)
        if entry["metric"] != "directional" or side is None:
            continue
        where = direction_symbol(entry["direction"])
        if side:
            told.append(
                f"{where} lies {'above' if side > 0 else 'below'} 0, so chance in who applied does not explain it"
            )
        else:
            told.append(f"{where} covers 0, so it concludes nothing, not even that there is no amplification")
    return (
        f"What the {level * 100:g}% intervals conclude: directional amplification {'; '.join(told)}. They say how figures "
        "would vary over other applicants, for these predictions as they are. They do not cover training the model anew, "
        "another threshold, or errors in the records; and they do not conclude that admissions were fair or unfair, nor "
        "why: department and gender go together in these data."
    )


@click.command(name="demo")
@click.option(
    "--folder", type=click.Path(file_okay=False), default="demo", show_default=True, help="Where files are written."
)
@html_option
@json_option
def command(folder: str, html_path: str | None, json_path: str | None) -> None:
    """Audit embedded real data: graduate admissions at Berkeley, 1973. Nothing is downloaded.

    \b
    Examples:
      biasamp demo
      biasamp demo --folder /tmp/demo --json -
    """
    import biasamp
    from biasamp.datasets import berkeley
    from biasamp.report.terminal import show_audit

    result = biasamp.audit(
        berkeley.with_predictions(),
        attributes="gender",
        tasks="admitted",
        attribute_predictions="gender_pred",
        task_predictions="admitted_pred",
    )
    result = result.named("Berkeley admissions, 1973")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    result.to_json(target / "audit.json")
    result.save(target / "audit.saved.json.gz")
    result.to_html(target / "report.html" if html_path is None else html_path)
    if write_json(result.to_json(), json_path):
        return
    screen = console()
    screen.print(
        "4,526 applicants to the six largest departments; a logistic regression predicts admission from department and "
        "gender (A→T), and gender from department and admission (T→A), each applicant by a model that has not seen them.\n"
    )
    show_audit(result, screen)
    screen.print(f"\n{concluded(result)}")
    screen.print(
        f"\nWritten: {html_path or target / 'report.html'} (open it in a browser), {target / 'audit.json'} (the figures "
        f"above), {target / 'audit.saved.json.gz'} (to compare later)"
    )
