"""``biasamp demo``."""

from __future__ import annotations

from pathlib import Path

import click

from .output import console, html_option, json_option, write_json


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
    from biasamp import berkeley
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
    screen.print(
        f"\nWritten: {html_path or target / 'report.html'} (open it in a browser), {target / 'audit.json'} (the figures "
        f"above), {target / 'audit.saved.json.gz'} (to compare later)"
    )
