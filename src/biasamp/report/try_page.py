"""The page of an audit in the browser: one HTML file that reads a table, counts it, and can reach nobody."""

from __future__ import annotations

import html

from .page import asset, digest

TITLE = "biasamp: audit in the browser"


def try_policy() -> str:
    """What the page may do: run its own script and style, and a worker made of its own script's text. No connection at all."""
    rules = (
        "default-src 'none'",
        f"script-src {digest(asset('try.js'))}",
        f"style-src {digest(asset('try.css'))}",
        "worker-src blob:",
        "img-src data:",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def try_page() -> str:
    """The page as text."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(try_policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{TITLE}</title>\n"
        f"<style>{asset('try.css')}</style>\n</head>\n<body>\n"
        '<div id="page"></div>\n'
        "<noscript><p>This page reads and counts a file by JavaScript, in your browser alone. Without it, "
        "the command <code>biasamp audit</code> measures the same and more.</p></noscript>\n"
        f"<script>{asset('try.js')}</script>\n</body>\n</html>\n"
    )
