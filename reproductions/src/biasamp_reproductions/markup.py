"""Tables and whole files in Markdown and HTML, in which text from strangers stays text."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Sequence

from biasamp.labels import printable

_WIDTH = 4000
_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --rule: #ccc; --yes: #0b5d1e; --no: #8a1c00; --link: #0b4f9e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #16181c; --rule: #444; --yes: #7fd694; --no: #ff9d80; --link: #8ec1ff; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
a { color: var(--link); } code { font-size: .9em; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--rule); overflow-wrap: break-word; }
td.no { font-weight: 600; color: var(--no); } td.yes { color: var(--yes); }
.first { border-left: 4px solid #888; padding-left: .8rem; }
figure { margin: 1.5rem 0; max-width: 42rem; } figcaption { font-weight: 600; }
figure > svg { width: 100%; height: auto; }
.legend { list-style: none; padding: 0; margin: .3rem 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-size: .9rem; }
@media (max-width: 44rem) {
  thead { display: none; } tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  td { display: block; border: 0; padding: .1rem 0; } td.nil { display: none; } h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; }
  td::before { content: attr(data-head) ": "; font-weight: 400; color: var(--ink); opacity: .7; }
}
"""


def text(words: str) -> str:
    """Words as HTML that can only be read."""
    return html.escape(printable(words, _WIDTH))


def markdown_text(words: str) -> str:
    """Words as Markdown that can only be read: no markup, no new row."""
    plain = printable(words, _WIDTH).replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace("|", "\\|").replace("\n", " ")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table whose cells are Markdown already."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML already; on a narrow screen each cell that has something says which column it is of."""

    def cell(inner: str, name: str) -> str:
        verdict = name == "agrees" and inner in ("yes", "no")
        kind = f' class="{inner}"' if verdict else ' class="nil"' if inner in ("", "–", "0") else ""
        return f'<td{kind} data-head="{html.escape(name)}">{inner}</td>'

    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(cell(inner, name) for inner, name in zip(row, head, strict=True)) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def document(title: str, parts: Iterable[str]) -> str:
    """One HTML file that needs nothing else: no script, nothing fetched, and the browser is told so."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = html.escape(f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def anchor(name: str) -> str:
    """A name as it can stand in an address: letters, digits and hyphens.

    >>> anchor("dpa-compas"), anchor("../x y")
    ('dpa-compas', '---x-y')
    """
    return re.sub(r"[^A-Za-z0-9-]", "-", name)
