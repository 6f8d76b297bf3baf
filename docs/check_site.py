"""Follow every link of the built site, on disk: ``python docs/check_site.py FOLDER``.

A link to a file or a heading that is not there, and anything that a page would fetch from elsewhere, is an error. So is a
site that is larger than it should be.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGEST = 30_000_000  # bytes of the whole site
# The page that reads people's files: it is there, and its policy forbids every connection.
TRY = "try.html"
NO_CONNECTION = "connect-src &#x27;none&#x27;"
# Attributes that a browser fetches by itself, by tag; other links are for people to follow.
FETCHED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src")}
NOT_FETCHED = {"canonical", "next", "prev", "index", "search", "author", "license", "copyright"}


class Page(HTMLParser):
    """What a page links to, and the names of its places."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        for name in ("href", "src"):
            if name not in given:
                continue
            self.links.append(given[name])
            if (tag, name) in FETCHED and not set(given.get("rel", "").split()) & NOT_FETCHED:
                self.fetched.append(given[name])


def read(file: Path) -> Page:
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def faults(site: Path) -> list[str]:
    """What is wrong, one line each."""
    pages = {file.resolve(): read(file) for file in sorted(site.rglob("*.html")) if "_static" not in file.parts}
    found = []
    for file, page in pages.items():
        here = file.relative_to(site.resolve())
        for link in page.fetched:
            if urlsplit(link).scheme not in ("", "data") or link.startswith("//"):
                found.append(f"{here}: fetches {link}")
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{here}: there is no {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{here}: there is no place {link}")
    if not (site / TRY).is_file() or NO_CONNECTION not in (site / TRY).read_text(encoding="utf-8"):
        found.append(f"there is no {TRY} that forbids connections")
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    if size > LARGEST:
        found.append(f"the site has {size:,} bytes, more than {LARGEST:,}")
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if not (folder / "index.html").is_file():
        sys.exit(f"{folder} has no index.html: run make docs first")
    lines = faults(folder)
    print("\n".join(lines))
    sys.exit(f"{len(lines)} faults in {folder}" if lines else 0)
