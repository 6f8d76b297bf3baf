"""Pages in HTML and tables in Markdown, in which text from strangers stays text.

There is one template, ``page.html``. What goes into it is put together by :func:`fill`, which escapes whatever is not
:class:`Html` already.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from .basis import BACK, FAILS, FOLLOWS, FOLLOWS_NOT, HOLDS, NO_REASON, NOT_BACK, OUT_OF_REACH, SAME, SEEN
from .internals import printable

_WIDTH = 4000
# Verdicts that have a colour on a page.
_COLOURS = dict.fromkeys((SAME, HOLDS, SEEN, FOLLOWS, BACK), "yes") | dict.fromkeys(
    (OUT_OF_REACH, FAILS, FOLLOWS_NOT, NO_REASON, NOT_BACK), "no"
)


class Html(str):
    """A piece of a page: markup that is put into another as it is."""

    __slots__ = ()


def fill(pattern: str, **parts: str) -> Html:
    """A piece of a page: a pattern with parts in place of its ``$names``, escaped unless they are pieces themselves.

    >>> fill("<p>$words</p>", words="a < b")
    '<p>a &lt; b</p>'
    >>> fill("<b>$inner</b>", inner=fill("<i>$words</i>", words="&"))
    '<b><i>&amp;</i></b>'
    """
    return Html(Template(pattern).substitute({name: _escaped(part) for name, part in parts.items()}))


def _escaped(part: str) -> str:
    return part if isinstance(part, Html) else html.escape(printable(part, _WIDTH))


def joined(pieces: Iterable[Html], between: str = "") -> Html:
    """Pieces one after the other."""
    return Html(between.join(pieces))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """A table; on a narrow screen each cell that has something says which column it is of."""

    def cell(inner: str, name: str) -> Html:
        kind = "nil" if inner in ("", "–", "0") else _COLOURS.get(inner, "") if name == "verdict" else ""
        marked = fill(' class="$kind"', kind=kind) if kind else Html()
        return fill('<td$marked data-head="$name">$inner</td>', marked=marked, name=name, inner=inner)

    body = (
        fill("<tr>$cells</tr>", cells=joined(cell(inner, name) for inner, name in zip(row, head, strict=True)))
        for row in rows
    )
    return fill(
        "<table><thead><tr>$head</tr></thead><tbody>$body</tbody></table>",
        head=joined(fill('<th scope="col">$name</th>', name=name) for name in head),
        body=joined(body),
    )


def listing(items: Iterable[Html]) -> Html:
    """A list of pieces."""
    return fill("<ul>$items</ul>", items=joined(fill("<li>$item</li>", item=item) for item in items))


@cache
def _template() -> tuple[str, str]:
    """The template, and the digest by which a browser knows its style, the only one that it is to apply."""
    text = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    style = text.partition("<style>")[2].partition("</style>")[0]
    return text, base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def document(title: str, pieces: Iterable[Html]) -> Html:
    """One HTML file that needs nothing else: no script, nothing fetched, and the browser is told so."""
    template, digest = _template()
    return fill(template, digest=digest, title=title, body=joined(pieces, "\n"))


def anchor(name: str) -> str:
    """A name as it can stand in an address: letters, digits and hyphens.

    >>> anchor("dpa-compas"), anchor("../x y")
    ('dpa-compas', '---x-y')
    """
    return re.sub(r"[^A-Za-z0-9-]", "-", name)


def markdown_text(words: str) -> str:
    """Words as Markdown that can only be read: no markup, no new row."""
    plain = printable(words, _WIDTH).replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace("|", "\\|").replace("\n", " ")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table whose cells are Markdown already."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
