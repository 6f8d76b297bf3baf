"""One HTML file that holds everything it needs: script, style and document, and asks nobody for anything."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from biasamp.data import printable

_LINE = 120


@cache
def asset(name: str) -> str:
    """A file of the built pages, such as ``page.js``."""
    return resources.files("biasamp.report").joinpath("static", name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """A script or style sheet as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def content_policy(*, served: bool = False) -> str:
    """What the page may do: run its own script and style, and nothing else.

    A served page may also fetch its document from where it came; its search runs in a worker made of its own
    script's text, hence ``blob:``. Framing is for a header to forbid: a meta element cannot.
    """
    rules = [
        "default-src 'none'",
        f"script-src {digest(asset('page.js'))}",
        f"style-src {digest(asset('page.css'))}",
        "worker-src blob:",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if served else rules)


def style_policy() -> str:
    """What a page without a script may do: wear its style."""
    return (
        f"default-src 'none'; style-src {digest(asset('page.css'))}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def packed(document: Any) -> bytes:
    """A document as gzipped JSON, the same bytes every time."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    # Half a surrogate pair, as broken input may have it, becomes JSON's own escape: UTF-8 cannot hold it.
    raw = text.encode("utf-8", "backslashreplace")
    return gzip.compress(raw, compresslevel=9, mtime=0)


def page(title: str, document: Any = None, *, data_from: str | None = None, words: Iterable[str] = ()) -> str:
    """The page as text, with a document inside it, gzipped, or with the place that a served page fetches it from.

    ``title`` is text, not markup; ``words`` are what a reader without scripts sees.
    """
    if (document is None) == (data_from is None):
        raise ValueError("a page needs a document, or a place to fetch it from, and not both")
    policy = content_policy(served=data_from is not None)
    held = f">\n{_base64(packed(document))}\n" if data_from is None else f' data-from="{html.escape(data_from)}">'
    holder = f'<script type="application/octet-stream" id="document"{held}</script>'
    items = "".join(f"<li>{html.escape(printable(line, 4000))}</li>" for line in words)
    shown = html.escape(printable(title, 200))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{shown}</title>\n"
        f"<style>{asset('page.css')}</style>\n</head>\n<body>\n"
        f'<div id="page"><p>Opening {shown} …</p></div>\n'
        f"<noscript><p>Figures and tables need JavaScript; in words:</p><ul>{items}</ul></noscript>\n"
        f"{holder}\n<script>{asset('page.js')}</script>\n</body>\n</html>\n"
    )


def leading_page(address: str) -> str:
    """A page that does nothing but lead to an address."""
    to = html.escape(address)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="refresh" content="0; url={to}">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>biasamp</title>\n</head>\n<body><p><a href="{to}">Open the results</a></p></body>\n</html>\n'
    )


def _base64(raw: bytes) -> str:
    text = base64.b64encode(raw).decode()
    return "\n".join(text[i : i + _LINE] for i in range(0, len(text), _LINE))
