"""All rows of a run counted again from its JSON alone: ``python -m biasamp_reproductions.recount figures.json``.

Nothing of what made the run is asked: the verdict of each row follows from its fields, the totals from the verdicts, and each paper's
reading from both. Where the document says otherwise, the difference is named and the exit code is 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .papers import PAPERS

Counts = dict[str, dict[str, int]]
Items = dict[str, dict[str, dict[str, int]]]
_PLACES = (
    "reached on real files",
    "tried on real files, not reached",
    "beside a figure of real files, without a verdict",
    "reached on the paper's own numbers, which is no real data",
    "not reached on the paper's own numbers",
    "the paper's figures follow from one another",
    "the paper's figures do not follow from one another",
    "not tried on real data: a stand-in only",
    "not tried at all",
)


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _half(text: str) -> float:
    places = len(text.partition(".")[2])
    return 0.5 * 10.0**-places if places or float(text) else 0.0


def verdict_of(row: Mapping[str, Any]) -> str:
    """The verdict that a row's own fields give."""
    published, agrees, reason, tried = row["published"], row["agrees"], row["reason"], row["tried"]
    if row["planted"] is not None:
        if published is not None:
            raise ValueError(f"{row['what']}: a planted value stands under published")
        return "as planted" if agrees else "not as planted"
    if agrees is None:
        return "ours alone" if published is None else "no verdict"
    figure = _number(published)
    if figure is None:
        return "holds" if agrees else "not seen" if row["basis"] == "Stand-in" else "does not hold"
    same = abs(float(row["ours"]) - figure) <= _half(published) + 1e-9
    if same is not agrees:
        raise ValueError(f"{row['what']}: {row['ours']} and {published} are said to agree: {agrees}")
    if agrees:
        return "same digits"
    ways = [] if reason is None else [reason["figure"]]
    if ways and (reason["settles"] or abs(ways[0] - figure) <= _half(published) + 1e-9):
        return "reached"
    spread = _number(row["spread"])
    if spread is not None and any(abs(value - figure) <= spread for value in (row["ours"], *ways)):
        return "within ±"
    if reason is not None:
        return "moved"
    if tried is None:
        return "no reason"
    half = _half(published)
    inside = tried["low"] - half <= figure <= tried["high"] + half and not tried["together"]
    return "left open" if inside else "out of reach"


def _once(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """A row for each claim: one that does not hold stands for all of its rows."""
    held: dict[Any, Mapping[str, Any]] = {}
    for place, row in enumerate(rows):
        key = (row["basis"], row["item"], row["claim"]) if row["claim"] else place
        if key not in held or verdict_of(row) in ("does not hold", "not seen"):
            held[key] = row
    yield from held.values()


def totals_of(rows: Sequence[Mapping[str, Any]]) -> Counts:
    """How many rows have each verdict, by what they were measured on."""
    out: Counts = {}
    for row in _once(rows):
        mine = out.setdefault(row["basis"], {})
        verdict = verdict_of(row)
        mine[verdict] = mine.get(verdict, 0) + 1
    return out


def _standing(row: Mapping[str, Any]) -> str | None:
    if row["published"] is None:
        return None
    basis, verdict = row["basis"], verdict_of(row)
    if basis == "Stand-in":
        return _PLACES[7]
    if verdict == "no verdict":
        return _PLACES[2] if basis == "Real files" else None
    agrees = verdict in ("same digits", "holds")
    place = {"Real files": 0, "The paper's own numbers": 3, "The paper's arithmetic": 5}.get(basis)
    return None if place is None else _PLACES[place if agrees else place + 1]


def readings_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """For each paper with items: how many figures and claims of each stand where."""
    by_paper: dict[str, list[Mapping[str, Any]]] = {}
    for item in document["experiments"]:
        for row in item["outcome"]["rows"] if item["outcome"] else ():
            by_paper.setdefault(row["paper"] or item["paper"], []).append(row)
    out = []
    for key, paper in PAPERS.items():
        if not paper.items:
            continue
        items: Items = {name: {} for name in paper.items}
        for row in _once(by_paper.get(key, [])):
            place = _standing(row)
            if place is not None and row["item"]:
                counts = items.setdefault(row["item"], {}).setdefault(place, {"figures": 0, "claims": 0})
                counts["claims" if _number(row["published"]) is None else "figures"] += 1
        for standings in items.values():
            if not standings:
                standings[_PLACES[8]] = {"figures": 0, "claims": 0}
        out.append({"paper": paper.name, "items": items})
    return out


def sentences_of(items: Items) -> list[str]:
    """What stands where, a line for each standing that something has."""
    out = []
    for place in _PLACES:
        told = []
        for name, counts in items.items():
            if place in counts:
                held = [f"{many} {what if many > 1 else what[:-1]}" for what, many in counts[place].items() if many]
                told.append(f"{name} ({', '.join(held)})" if held else name)
        if told or place == _PLACES[0]:
            out.append(f"{place[0].upper()}{place[1:]}: {'; '.join(told) or 'nothing'}.")
    return out


def recounted(document: Mapping[str, Any]) -> Counts:
    """The totals of a run counted again; a ``ValueError`` names the first place where the document says otherwise."""
    for item in document["experiments"]:
        if item["outcome"] is None:
            continue
        rows = item["outcome"]["rows"]
        for row in rows:
            if row["verdict"] != verdict_of(row):
                raise ValueError(
                    f"{item['name']}, {row['what']}: {row['verdict']!r} is written, {verdict_of(row)!r} follows"
                )
        if totals_of(rows) != item["outcome"]["totals"]:
            raise ValueError(f"{item['name']}: its totals do not follow from its rows")
    # Claims of different experiments are different claims.
    found: Counts = {}
    for item in document["experiments"]:
        for basis, counts in totals_of(item["outcome"]["rows"] if item["outcome"] else ()).items():
            mine = found.setdefault(basis, {})
            for verdict, many in counts.items():
                mine[verdict] = mine.get(verdict, 0) + many
    if found != document["totals"]:
        raise ValueError("the totals of the run do not follow from its rows")
    if readings_of(document) != document["papers"]:
        raise ValueError("what is said of the papers does not follow from the rows")
    return found


def main(paths: Sequence[str]) -> int:
    """Recount every file named; the exit code."""
    code = 0
    for path in paths:
        try:
            counts = recounted(json.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError) as error:
            print(f"{Path(path).name}: {error}", file=sys.stderr)
            code = 1
            continue
        for basis, mine in counts.items():
            print(f"{Path(path).name}: {basis}: {', '.join(f'{many} {verdict}' for verdict, many in mine.items())}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
