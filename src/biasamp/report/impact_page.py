"""Tables of rates and ratios as one HTML file without any script, and in notebooks."""

from __future__ import annotations

import html
from pathlib import Path

from biasamp import __version__
from biasamp.amplification.impact_result import Impact
from biasamp.data import printable
from biasamp.data.saving import save_text

from .impact_view import impact_title, impact_views
from .page import asset, style_policy


def _text(words: str, limit: int = 1000) -> str:
    return html.escape(printable(words, limit))


def impact_table(result: Impact) -> str:
    """The tables as HTML, with the notes under them."""
    parts = []
    for view in impact_views(result):
        head = "".join(
            f'<th scope="col"{"" if i == 0 else _RIGHT}>{_text(h)}</th>' for i, h in enumerate(view.headings)
        )
        rows = "".join(
            "<tr>"
            + f'<th scope="row"><bdi>{_text(row[0], 200)}</bdi></th>'
            + "".join(f"<td{_RIGHT}>{_text(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in view.rows
        )
        parts.append(
            f"<section><h2>{_text(view.title, 200)}</h2>"
            f'<div class="scroll" role="region" tabindex="0" aria-label="{_text(view.title, 200)}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div><p>{_text(view.unknown)}</p></section>"
        )
    notes = "".join(f"<li>{_text(note)}</li>" for note in result.notes)
    return f"{''.join(parts)}<ul>{notes}</ul>"


_RIGHT = ' class="number"'


def write_impact(result: Impact, path: str | Path) -> None:
    """Write the tables as a single HTML file that runs nothing and asks nobody for anything."""
    title = _text(impact_title(result), 200)
    save_text(
        path,
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(style_policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>{title}</title>\n<style>{asset('page.css')}</style>\n</head>\n<body>\n"
        f'<main class="report"><header><h1>{title}</h1></header>\n{impact_table(result)}\n'
        f"<footer><p>biasamp {__version__}</p></footer></main>\n</body>\n</html>\n",
    )
