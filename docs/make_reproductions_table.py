"""Write the tables of docs/reproductions.md from runs: ``python docs/make_reproductions_table.py figures.json``.

The run is ``biasamp reproduce all --json figures.json``; of several files, such as of experiments run one by one, each
experiment's last is taken. All rows are recounted from the document before anything is written
(``biasamp_reproductions.recount``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "reproductions.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
BASES = ("Real files", "The paper's own numbers", "The paper's definitions", "The paper's arithmetic", "Stand-in")
HEAD = ("experiment", "of", "ran on", *(basis.lower() for basis in BASES), "seconds")
# Rows of ours that nothing printed stands beside are not told of here.
_ALONE = "ours alone"


def told(counts: dict[str, int]) -> str:
    """Verdicts with their numbers."""
    return ", ".join(f"{many} {verdict}" for verdict, many in counts.items() if verdict != _ALONE) or "–"


def row(item: dict[str, Any]) -> tuple[str, ...]:
    """One experiment: a cell for each of ``HEAD``."""
    outcome = item["outcome"]
    if outcome is None:
        state = "failed" if item["failed"] else "not run"
        return item["name"], item["place"], state, *("" for _ in BASES), f"{item['seconds']:.0f}"
    cells = [told(outcome["totals"].get(basis, {})) for basis in BASES]
    tests = any(held["published"] is not None for held in outcome["rows"])
    ran_on = outcome["kind"].lower() + ("" if tests else "; no printed figure is tested")
    return item["name"], item["place"], ran_on, *cells, f"{item['seconds']:.0f}"


def joined(documents: Sequence[dict[str, Any]], order: Sequence[str]) -> dict[str, Any]:
    """Several runs as one, the experiments in this order."""
    found = {item["name"]: item for document in documents for item in document["experiments"]}
    for key in ("seed", "cores"):
        if len({document[key] for document in documents}) > 1:
            raise ValueError(f"the runs differ in their {key}")
    kept = [found[name] for name in order if name in found]
    return {
        "date": max(document["date"] for document in documents),
        "seed": documents[0]["seed"],
        "cores": documents[0]["cores"],
        "versions": {name: version for document in documents for name, version in document["versions"].items()},
        "seconds": sum(item["seconds"] for item in kept),
        "experiments": kept,
    }


def table(document: dict[str, Any]) -> str:
    """When, where and with what it ran, and a row for each experiment."""
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    lines = [
        f"Run on {document['date']} with {versions}; seed {document['seed']}, {document['cores']} cores, "
        f"{document['seconds'] / 60:.0f} minutes.",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|" + "---|" * len(HEAD),
    ]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row(item)) + " |" for item in document["experiments"]
    ]
    for reading in papers(document):
        lines += ["", f"**{reading.paper.name}**", "", *(f"- {words}" for words in reading.sentences())]
    return "\n".join(lines) + "\n"


def papers(document: dict[str, Any]) -> list[Any]:
    """What became of all that each paper prints, recounted from the rows."""
    from biasamp_reproductions.readings import Reading
    from biasamp_reproductions.recount import readings_of

    return [Reading.from_dict(held) for held in readings_of(document)]


def names(page: str) -> list[str]:
    """The experiments that a page's table tells of."""
    part = page.partition(BEGIN)[2].partition(END)[0]
    rows = [line for line in part.splitlines() if line.startswith("| ")]
    return [line.split(" | ")[0].removeprefix("| ") for line in rows[1:]]


def replaced(page: str, document: dict[str, Any]) -> str:
    """The page with a new table."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {BEGIN.strip()!r} and {END.strip()!r} to put the table between")
    return f"{before}{BEGIN}{table(document)}{END}{after}"


if __name__ == "__main__":
    from biasamp_reproductions import experiments
    from biasamp_reproductions.recount import recounted

    runs = [json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]]
    for run in runs:
        recounted(run)
    figures = joined(runs, list(experiments()))
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
    print(f"wrote the table of {PAGE.name}")
