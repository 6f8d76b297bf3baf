"""``biasamp try``."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from biasamp.data.saving import save_text
from biasamp.report.try_page import try_page

from .command_files import Command, Output

# Seconds of one wait; there is another one after it.
_LONG = 3600.0


@click.command(name="try", cls=Command)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser.")
@click.option(
    "--html", "html_path", type=Output(".html", ".htm"), metavar="FILE", help="Write the page to FILE and open nothing."
)
def command(browser: bool, html_path: str | None) -> None:
    """Audit a CSV or Parquet file in the browser: drop it on a page, choose columns, read what was found.

    Nothing leaves the computer: the page is one file that is not allowed to open any connection, and nothing is served.
    It shows the first screen of a report, with intervals in closed form; biasamp audit measures everything.

    \b
    Examples:
      biasamp try
      biasamp try --html try.html
    """
    if html_path is not None:
        save_text(html_path, try_page())
        click.echo(f"Written: {html_path}", file=sys.stdout)
        return
    with TemporaryDirectory(prefix="biasamp-") as folder:
        page = Path(folder) / "try.html"
        save_text(page, try_page())
        click.echo(f"{page}\nCtrl+C removes the file; --html FILE keeps it.", file=sys.stdout)
        if browser:
            import webbrowser

            if not webbrowser.open(page.as_uri()):
                raise click.UsageError("no browser could be started: write the page with --html FILE, and open it")
        # The browser reads the file when it likes, and again when the page is reloaded.
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(_LONG)
