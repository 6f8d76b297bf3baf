"""What the package says of the files of ``try_tables``, which the audit in the browser has to say too.

``python tests/try_files.py FOLDER`` writes ``cases.json`` there: every file with its bytes, the chosen columns, and what was read,
the labels or the refusal. ``--sample`` writes the small sample that the tests of the page have by themselves.
"""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from biasamp.auditing.continuous import is_continuous
from biasamp.auditing.label_reader import Reader
from biasamp.auditing.plan import make_plan
from biasamp.auditing.source import read_source
from biasamp.data import column_codes
from biasamp.data.files import file_schema, open_files
from biasamp.data.ways_out import PAGE, speaking_to
from try_odd_tables import fuzzed
from try_pools import Made
from try_tables import files

SAMPLE = Path(__file__).parent.parent / "web" / "tests" / "try" / "sample.json"
_KINDS = {"bool": "boolean", "int": "integer", "float": "float", "text": "text", "list": "list"}
# What a reader of a file may raise, and what an audit does.
_REFUSED = (ValueError, TypeError, OverflowError, OSError)


def columns_read(path: Path) -> Any:
    """Every column by itself: its type, how many values are missing, and how often each of the others comes."""
    try:
        open_files(path, notes=False)
        names = list(file_schema(path).names)
    except UnicodeDecodeError:  # names that are no text are refused where a column is read
        return _column(path, "x")
    except _REFUSED as error:
        return {"refused": str(error)}
    return {name: _column(path, name) for name in dict.fromkeys(names)}


def _column(path: Path, name: str) -> dict[str, Any]:
    try:
        column = read_source(str(path), [name]).column(name)
    except _REFUSED as error:
        return {"refused": str(error)}
    if column.kind == "list":
        return {"type": "list"}
    codes, categories = column_codes(column)
    often = np.bincount(codes + 1, minlength=len(categories) + 1).tolist()
    return {"type": _KINDS[column.kind], "missing": often[0], "values": dict(zip(categories, often[1:], strict=True))}


def labels_read(path: Path, roles: dict[str, Any]) -> dict[str, Any]:
    """The labels of an audit, or why there is none."""
    try:
        plan = make_plan(attribute_predictions=None, **roles)
        source = read_source(str(path), plan.columns)
        if is_continuous(plan, source):
            return {"beyond": "continuous"}
        subjects = Reader(plan).subjects(source)
        biasamp.audit(str(path), **roles, metrics=["directional"], resamples=2)
    except _REFUSED as error:
        return {"refused": str(error)}
    first = subjects[0]
    assert first.T_pred is not None
    if first.T_pred.soft or any(v.kind == "multilabel" for s in subjects for v in (*s.A.variables, *s.T.variables)):
        return {"beyond": "probabilities or lists"}
    sides = {"attributes": [s.A for s in subjects], "tasks": [first.T], "predictions": [first.T_pred]}
    rows = {name: np.hstack([one.rows() for one in held]) for name, held in sides.items()}
    joint = Counter("".join(map(str, row)) for row in np.hstack(list(rows.values())).tolist())
    return {
        "records": source.rows,
        "labels": {
            name: [[v.name, v.kind, list(v.categories)] for one in held for v in one.variables]
            for name, held in sides.items()
        },
        # How many records have each combination of labels, as zeros and ones over all of them.
        "joint": dict(sorted(joint.items())),
    }


def said(made: Made, folder: Path) -> dict[str, Any]:
    """What the package says of a file."""
    path = folder / made.name
    path.write_bytes(made.content)
    with warnings.catch_warnings(record=True) as caught, speaking_to(PAGE):
        warnings.simplefilter("always")
        entry = {"columns": columns_read(path), "audit": labels_read(path, made.roles)}
    notes = {str(one.message) for one in caught if "is read as it seems" in str(one.message)}
    return {
        "name": made.name,
        "bytes": base64.b64encode(made.content).decode(),
        "roles": made.roles,
        **entry,
        "notes": sorted(notes),
    }


def judged(folder: Path, made: Iterable[Made]) -> list[dict[str, Any]]:
    """What the package says of some files."""
    return [said(one, folder) for one in made]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where cases.json goes")
    parser.add_argument("--sample", action="store_true", help="write the sample of the page's own tests")
    parser.add_argument("--seed", type=int, help="files of odd values alone, from this seed")
    parser.add_argument("--count", type=int, default=1000, help="how many of them")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        made = files() if given.seed is None else fuzzed(given.seed, given.count)
        cases = judged(Path(work), made)
    if given.sample:
        # Small files of every family.
        small = [case for case in cases if len(case["bytes"]) < 1500]
        step = max(1, len(small) // 120)
        SAMPLE.parent.mkdir(parents=True, exist_ok=True)
        SAMPLE.write_text("[\n" + ",\n".join(json.dumps(case) for case in small[::step]) + "\n]\n")
    if given.folder:
        Path(given.folder).mkdir(parents=True, exist_ok=True)
        Path(given.folder, "cases.json").write_text(json.dumps(cases))
    refused = Counter(
        "refused" if "refused" in case["audit"] else "beyond" if "beyond" in case["audit"] else "measured"
        for case in cases
    )
    print(f"{len(cases)} files: {dict(refused)}")


if __name__ == "__main__":
    main()
