"""Write what version 0.1 gave: ``expected`` and ``saved``. Only version 0.1 may write them.

    PYTHONPATH=/path/of/version-0.1/src BIASAMP_DATA=... python tests/golden/make.py [--saved] [CASE...]

``--paths`` writes nothing: it audits the cases of records through counts, holds them against the goldens, and prints how
much of what may move is used up.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import biasamp
from golden import comparing
from golden.cases import AUDITS, CASES, UNLIKE_COUNTS, people, write_saved

EXPECTED = Path(__file__).parent / "expected"


def expected(name: str) -> Any:
    """What version 0.1 gave for a case."""
    return json.loads(gzip.decompress((EXPECTED / f"{name}.json.gz").read_bytes()))


def write(name: str, document: Any) -> None:
    raw = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    (EXPECTED / f"{name}.json.gz").write_bytes(gzip.compress(raw, 9, mtime=0))


def paths() -> None:
    """How far version 0.1's own two paths lie apart."""
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
    parser.add_argument("--saved", action="store_true", help="write the files of saved too")
    parser.add_argument("--paths", action="store_true", help="compare version 0.1's two paths, and write nothing")
    given = parser.parse_args()
    if given.paths:
        paths()
        return
    if biasamp.__version__ != "0.1.0":
        sys.exit(
            f"this is version {biasamp.__version__} at {biasamp.__file__}; only version 0.1 writes what is expected"
        )
    print(f"by {biasamp.__file__}")
    EXPECTED.mkdir(exist_ok=True)
    people()
    if given.saved:
        write_saved()
    for name in given.cases or CASES:
        if CASES[name].needs_data and "BIASAMP_DATA" not in os.environ:
            print(f"{name}: left out, BIASAMP_DATA is not set")
            continue
        start = time.process_time()
        try:
            write(name, CASES[name].document())
        except Exception:
            traceback.print_exc()
            continue
        size = (EXPECTED / f"{name}.json.gz").stat().st_size
        print(f"{name}: {size:,} bytes, {time.process_time() - start:.1f} s")


if __name__ == "__main__":
    main()
