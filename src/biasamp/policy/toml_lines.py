"""On which line of a TOML file each key stands, which the standard parser does not tell."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

_BARE = r"[A-Za-z0-9_-]+"
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'"
_PART = re.compile(rf"\s*({_QUOTED}|{_BARE})\s*")
_KEY = re.compile(rf"\s*((?:{_QUOTED}|{_BARE})(?:\s*\.\s*(?:{_QUOTED}|{_BARE}))*)\s*=")
_HEADER = re.compile(r"\s*(\[\[?)\s*(.*?)\s*\]\]?\s*(?:#.*)?$")
# Strings and comments, within which a bracket is no bracket; an opened triple quote ends on a later line.
_TOKEN = re.compile(rf"\"\"\"|'''|{_QUOTED}|#.*|[\[\]{{}}]")


def key_lines(text: str) -> dict[Path, int]:
    """The line of every table and key of a file that parses, by its path.

    Keys inside an inline table are not listed: theirs is the line of the key that holds it.

    >>> key_lines('a = 1\\n[[limit]]\\nmax = 2\\n[[limit]]\\nmax = 3\\n')
    {('a',): 1, ('limit', 0): 2, ('limit', 0, 'max'): 3, ('limit', 1): 4, ('limit', 1, 'max'): 5}
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    depth, quote = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not depth and not quote:
            header = _HEADER.match(line)
            key = None if header else _KEY.match(line)
            if header:
                table = _resolved(_parts(header.group(2)), counts)
                if header.group(1) == "[[":
                    place = counts.get(table, 0)
                    counts[table] = place + 1
                    table = (*table, place)
                lines.setdefault(table, number)
                continue
            if key:
                path = (*table, *_parts(key.group(1)))
                lines.setdefault(path, number)
                line = line[key.end() :]
        depth, quote = _open(line, depth, quote)
    return lines


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of a path, or of the nearest that holds it."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _parts(dotted: str) -> Path:
    return tuple(part[1:-1] if part[0] in "\"'" else part for part in _PART.findall(dotted))


def _resolved(path: Path, counts: dict[Path, int]) -> Path:
    """A header under an array of tables belongs to the array's last table."""
    out: Path = ()
    for place, part in enumerate(path):
        out = (*out, part)
        if place < len(path) - 1 and out in counts:
            out = (*out, counts[out] - 1)
    return out


def _open(line: str, depth: int, quote: str) -> tuple[int, str]:
    """How many brackets, and which triple quote, are still open at the end of a line."""
    position = 0
    while position < len(line):
        if quote:
            end = line.find(quote, position)
            if end < 0:
                return depth, quote
            position, quote = end + 3, ""
            continue
        token = _TOKEN.search(line, position)
        if token is None:
            break
        position = token.end()
        found = token.group()
        if found in ('"""', "'''"):
            quote = found
        elif found in ("[", "{"):
            depth += 1
        elif found in ("]", "}"):
            depth -= 1
    return depth, quote
