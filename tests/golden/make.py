"""Write what is expected anew, where every difference belongs to a ruling of ``rulings.py``, and list them in ``RULINGS.md``.

    PYTHONPATH=src BIASAMP_DATA=... python tests/golden/make.py [CASE...]

A case with a difference that no ruling explains is left as it is, and the difference is printed. The files of ``saved`` were
written by version 0.1 and stay. ``--paths`` writes nothing: it audits the cases of records through counts, holds them against
the goldens, and prints how much of what may move is used up.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import biasamp
from golden import comparing, rulings
from golden.cases import AUDITS, CASES, UNLIKE_COUNTS, people

EXPECTED = Path(__file__).parent / "expected"
RULINGS = Path(__file__).parent / "RULINGS.md"


def expected(name: str) -> Any:
    """What is expected of a case."""
    return json.loads(gzip.decompress((EXPECTED / f"{name}.json.gz").read_bytes()))


def write(name: str, document: Any) -> None:
    raw = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    (EXPECTED / f"{name}.json.gz").write_bytes(gzip.compress(raw, 9, mtime=0))


def paths() -> None:
    """How far counts and records of the same data lie apart."""
    for name, (data, arguments, moves) in AUDITS.items():
        roles = {k: v for k, v in arguments.items() if k in _ROLES}
        rest = {k: v for k, v in arguments.items() if k not in _ROLES}
        held = data()
        if roles.get("record") is None:
            roles.pop("record", None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                made = biasamp.audit(biasamp.count(held, **roles), **rest).to_dict()
            except (TypeError, ValueError) as error:
                print(f"{name}: cannot be counted: {error}")
                continue
        apart = _measured(expected(name), UNLIKE_COUNTS.get(name, ()))
        made = _plain(comparing.shortened(_measured(made, UNLIKE_COUNTS.get(name, ())), moves))
        for share in (0.03, 0.06, 0.10, comparing.SHARE):
            with _share(share):
                found = list(comparing.differences(apart, made, moves))
            print(f"{name}: {len(found)} figures differ by more than {share:.0%}")
        for line in found:
            print(f"    {line}")


def _measured(document: Any, unlike: Any) -> Any:
    """An audit without the metrics that counts do not measure as records do."""
    kept = [entry for entry in document["metrics"] if entry["metric"] not in unlike]
    words = [] if unlike else document["findings"]
    return {**document, "metrics": kept, "findings": words, "not_run": [], "excluded": []}


@contextlib.contextmanager
def _share(share: float) -> Any:
    before = comparing.SHARE
    comparing.SHARE = share
    yield
    comparing.SHARE = before


_ROLES = [
    "attributes",
    "tasks",
    "attribute_predictions",
    "task_predictions",
    "train",
    "weights",
    "record",
    "cluster",
    "missing",
    "intersections",
]


def _plain(document: Any) -> Any:
    return json.loads(json.dumps(document))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--paths", action="store_true", help="compare the two paths, and write nothing")
    given = parser.parse_args()
    if given.paths:
        paths()
        return
    if "BIASAMP_DATA" not in os.environ:
        sys.exit("BIASAMP_DATA is not set: cases of real data are among them")
    print(f"by {biasamp.__file__}")
    people()
    changed = {name: renewed(name) for name in given.cases or CASES}
    write_rulings({name: counted for name, counted in changed.items() if counted})


def renewed(name: str) -> dict[str, int]:
    """Write a case anew where rulings explain all that differs; how many differences each of them explains."""
    old, new = expected(name), CASES[name].document()
    found = list(comparing.differences(old, new, CASES[name].moves))
    counted, rest = rulings.explained(name, (rulings.place_of(line.split(": ")[0], old, new) for line in found))
    if rest:
        print(f"{name}: left as it is; no ruling explains\n    " + "\n    ".join(sorted(set(rest))))
        return {}
    if found:
        write(name, new)
        print(f"{name}: {len(found)} differences")
    return counted


def listed(page: str) -> dict[str, dict[str, int]]:
    """How many differences of which case each ruling explains, as the page has it."""
    sections = re.findall(r"^## (.+)\n\n(.+)$", page, re.M)
    return {
        title: {name: int(many) for name, many in re.findall(r"(\w+) \((\d+)\)", cases)} for title, cases in sections
    }


def write_rulings(changed: dict[str, dict[str, int]]) -> None:
    """The page of rulings and the goldens that each changed."""
    before = listed(RULINGS.read_text(encoding="utf-8"))
    lines = [
        "# Goldens that changed, and by which ruling",
        "",
        "What version 0.1 gave is what is expected, but for the figures below: how many of a case follow from which ruling.",
        "`python tests/golden/make.py` writes a golden anew only where every difference belongs to a ruling of `rulings.py`.",
    ]
    for title in dict.fromkeys(ruling.name for ruling in rulings.RULINGS):
        # What was listed before stays: a golden changes by one ruling after another.
        counts = Counter(before.get(title, {}))
        counts.update({name: counted[title] for name, counted in changed.items() if title in counted})
        cases = [f"{name} ({many})" for name, many in counts.items()]
        if cases:
            lines += ["", f"## {title}", "", ", ".join(cases)]
    RULINGS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
