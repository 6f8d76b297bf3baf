"""On which line of a TOML file each key stands, which the standard parser does not tell."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]

_BARE = r"[A-Za-z0-9_-]+"
_QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'"
_PART = re.compile(rf"\s*({_QUOTED}|{_BARE})\s*")
_KEY = re.compile(rf"\s*((?:{_QUOTED}|{_BARE})(?:\s*\.\s*(?:{_QUOTED}|{_BARE}))*)\s*=")
_HEADER = re.compile(r"\s*(\[\[?)\s*(.*?)\s*\]\]?\s*(?:#.*)?$")
# Strings and comments, within which a bracket is no bracket, and a triple quote (the group) opens nothing.
_TRIPLE = re.compile(rf"(\"\"\".*?\"\"\"|'''.*?''')|{_QUOTED}|#[^\n]*", re.DOTALL)
_TOKEN = re.compile(rf"{_QUOTED}|#.*|[\[\]{{}}]")


def key_lines(text: str) -> dict[Path, int]:
    """The line of every table and key of a file that parses, by its path.

    Keys inside an inline table are not listed: theirs is the line of the key that holds it.

    >>> key_lines('a = 1\\n[[limit]]\\nmax = 2\\n[[limit]]\\nmax = 3\\n')
    {('a',): 1, ('limit', 0): 2, ('limit', 0, 'max'): 3, ('limit', 1): 4, ('limit', 1, 'max'): 5}
    """
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    depth = 0
    for number, line in enumerate(_TRIPLE.sub(_emptied, text).splitlines(), start=1):
        if not depth:
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
        tokens = _TOKEN.findall(line)
        depth += sum(map(tokens.count, "[{")) - sum(map(tokens.count, "]}"))
    return lines


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of a path, or of the nearest that holds it."""
    holding = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[part] for part in holding if part in lines), None)


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


def _emptied(found: re.Match[str]) -> str:
    """A string in triple quotes as the line breaks that it holds; anything else as it is."""
    return found[0] if found[1] is None else "\n" * (len(found[0].splitlines()) - 1)
