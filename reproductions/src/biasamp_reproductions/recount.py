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
_BASES = {
    "real": "Real files",
    "own": "The paper's own numbers",
    "defined": "The paper's definitions",
    "arithmetic": "The paper's arithmetic",
    "stand_in": "Stand-in",
}
_IN_WORDS = {"Stand-in": ("seen", "not seen"), "The paper's arithmetic": ("follows", "does not follow")}
_AGREE = ("same digits", "holds", "seen", "follows")
# From the nearest to the farthest.
_DIFFER = (
    *("by another run", "within ±", "moved", "left open", "out of reach"),
    *("does not follow", "does not hold", "not seen", "no reason"),
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
        yes, no = _IN_WORDS.get(row["basis"], ("holds", "does not hold"))
        return yes if agrees else no
    same = abs(float(row["ours"]) - figure) <= _half(published) + 1e-9
    if same is not agrees:
        raise ValueError(f"{row['what']}: {row['ours']} and {published} are said to agree: {agrees}")
    if row["basis"] == "The paper's arithmetic":
        return "follows" if agrees else "does not follow"
    if agrees:
        return "same digits"
    ways = [] if reason is None else [reason["figure"]]
    if ways and (reason["settles"] or abs(ways[0] - figure) <= _half(published) + 1e-9):
        return "by another run"
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
        if key not in held or verdict_of(row) in ("does not hold", "not seen", "does not follow", "not as planted"):
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


def _became(rows: Sequence[Mapping[str, Any]]) -> tuple[str, Mapping[str, Any] | None]:
    """What became of a printed figure or claim in its rows of one basis, and the row that decides it."""
    if not rows:
        return "not tried", None
    words = any(_number(row["published"]) is None for row in rows)
    order = [*_DIFFER, *_AGREE] if words else [*_AGREE, *_DIFFER]
    judged = sorted((row for row in rows if verdict_of(row) in order), key=lambda row: order.index(verdict_of(row)))
    if not judged:
        return "no verdict", rows[0]
    return "reached" if verdict_of(judged[0]) in _AGREE else "not reached", judged[0]


def _way(row: Mapping[str, Any]) -> str:
    """The run that gives the published figure where ours does not."""
    reason, figure = row["reason"], _number(row["published"])
    if row["agrees"] is not False or reason is None:
        return ""
    if reason["settles"]:
        return f"{reason['change']}: {reason['settles']}"
    given = figure is not None and abs(reason["figure"] - figure) <= _half(row["published"]) + 1e-9
    return f"{reason['change']}: the printed figure" if given else ""


def _named(row: Mapping[str, Any]) -> str:
    if row["name"] or row["claim"]:
        return str(row["name"] or row["claim"])
    item, what = row["item"], row["what"]
    head, _, rest = what.partition(", ")
    if rest and head.startswith(item) and ":" not in head:
        return str(rest)
    return str(what.removeprefix(f"{item}: "))


def readings_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """For each paper with items: every printed figure and claim, and what became of it."""
    by_paper: dict[str, dict[tuple[str, str], list[Mapping[str, Any]]]] = {}
    for item in document["experiments"]:
        for row in item["outcome"]["rows"] if item["outcome"] else ():
            if row["published"] is not None and row["item"]:
                mine = by_paper.setdefault(row["paper"] or item["paper"], {})
                mine.setdefault((row["item"], _named(row)), []).append(row)
    out = []
    for key, paper in PAPERS.items():
        if not paper.items:
            continue
        rows = by_paper.get(key, {})
        places = [*paper.items, *(item for item, _ in rows if item not in paper.items)]
        printed: list[dict[str, Any]] = []
        said: dict[str, Any]
        for item in dict.fromkeys(places):
            for (place, name), found in rows.items():
                if place != item:
                    continue
                claim = _number(found[0]["published"]) is None
                became = {
                    kind: _became([row for row in found if row["basis"] == basis]) for kind, basis in _BASES.items()
                }
                tried = {kind: row for kind, (_, row) in became.items() if row is not None}
                said = {"published": found[0]["published"], "figures": int(not claim)}
                said |= {kind: standing for kind, (standing, _) in became.items()}
                said["verdicts"] = {kind: verdict_of(row) for kind, row in tried.items()}
                said["ours"] = {kind: row["ours"] for kind, row in tried.items()}
                said["ways"] = {kind: _way(row) for kind, row in tried.items() if _way(row)}
                said["origin"] = (tried["real"]["origin"] or "") if "real" in tried else ""
                printed.append({"item": item, "name": name, **said})
            here = [name for place, name in rows if place == item]
            gone = {
                name: many
                for (place, name), many in paper.more.items()
                if place == item and not [other for other in here if other[: len(name)] == name]
            }
            for name, many in gone.items() if here or gone else [("all of it", 0)]:
                said = {"published": None, "figures": many, **dict.fromkeys(_BASES, "not tried")}
                said |= {"verdicts": {}, "ours": {}, "ways": {}, "origin": ""}
                printed.append({"item": item, "name": name, **said})
        out.append({"paper": paper.name, "printed": printed})
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
