"""``biasamp explore``."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from biasamp.auditing.audit_result import read_json
from biasamp.data.saving import save_text
from biasamp.report.page import leading_page, page
from biasamp.report.server import LOOPBACK, Served, documents, listening, serve

from .command_files import Command, Input
from .output import html_option


def _named(given: str) -> tuple[str, str]:
    """NAME=FILE as name and file; the name of a file alone is its own."""
    name, equals, path = given.partition("=")
    if not equals or Path(given).is_file():
        return Path(given).name.removesuffix(".gz").removesuffix(".json"), given
    return name, path


def _result_file(given: str) -> dict[str, str]:
    return {given: _named(given)[1]}


def _results(paths: tuple[str, ...]) -> dict[str, Any]:
    """Saved results by name: NAME=FILE, or the file's own name."""
    out: dict[str, Any] = {}
    for given in paths:
        name, path = _named(given)
        if name in out:
            raise click.UsageError(f"two results are called {name!r}; name them with NAME=FILE")
        out[name] = read_json(Path(path), "result")
    return out


@click.command(name="explore", cls=Command)
@click.argument("results", nargs=-1, required=True, type=Input(_result_file), metavar="RESULT...")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to listen on.  [default: any free]")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="Another name this machine goes by, with --host.  [repeatable]"
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in a browser.")
@html_option
def command(
    results: tuple[str, ...],
    port: int,
    host: str,
    allow_host: tuple[str, ...],
    browser: bool,
    html_path: str | None,
) -> None:
    """Look through saved results in a browser: associations side by side, or one audit.

    RESULT is a JSON file of biasamp associate or audit, or NAME=FILE to name it. The server listens on this machine
    only, behind a random token; --html writes the page to a file and serves nothing.

    \b
    Examples:
      biasamp explore labels.json
      biasamp explore old=old.json new=new.json --port 8000
      biasamp explore old=old.json new=new.json --html explorer.html
    """
    document, title = documents(_results(results))
    if html_path is not None:
        save_text(html_path, page(f"biasamp: {title}", document))
        click.echo(f"Written: {html_path}", file=sys.stdout)
        return
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise click.UsageError(
            "serving needs the extra 'serve': pip install 'biasamp[serve]'; or write a file with --html FILE"
        ) from None
    if host not in LOOPBACK:
        click.echo(f"Others can reach {host}: whoever has the address below can read these results.", file=sys.stderr)
    served = Served(
        document, title, hosts=tuple(dict.fromkeys((*LOOPBACK, host.lower(), *(name.lower() for name in allow_host))))
    )
    sock = listening(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{sock.getsockname()[1]}/{served.token}/"
    click.echo(f"{address}\nCtrl+C stops the server.", file=sys.stdout)
    with TemporaryDirectory(prefix="biasamp-") as folder:
        if browser:
            import webbrowser

            # Whoever lists processes sees how a browser was started: it is given a file that only its user can read.
            way = Path(folder) / "explore.html"
            save_text(way, leading_page(address))
            webbrowser.open(way.as_uri())
        serve(served, sock)
