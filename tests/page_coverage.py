"""How much of the pages' TypeScript runs while the tests open them in a browser; what runs in workers is not seen.

``python tests/page_coverage.py`` builds the pages with source maps into a copy of the package, runs the tests of the report
against it, and prints the share of lines that ran, file by file. It ends with 1 below the goal. Needs Node and Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from browser import ROOT, RUNS

GOAL = 0.85
_DIGITS = {sign: place for place, sign in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}


def numbers(text: str) -> Iterator[int]:
    """The numbers of a piece of a source map.

    >>> list(numbers("AAgBC"))
    [0, 0, 16, 1]
    """
    value = shift = 0
    for sign in text:
        digit = _DIGITS[sign]
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            yield -(value >> 1) if value & 1 else value >> 1
            value = shift = 0


def places(script: str, source_map: dict[str, Any]) -> Iterator[tuple[int, str, int]]:
    """Where in a script, in characters, a line of a source begins or goes on."""
    begins = [0, *accumulate(len(line) for line in script.splitlines(keepends=True))]
    source = line = 0
    for row, pieces in enumerate(source_map["mappings"].split(";")):
        column = 0
        for piece in filter(None, pieces.split(",")):
            step = list(numbers(piece))
            column += step[0]
            if len(step) > 1:
                source, line = source + step[1], line + step[2]
                yield begins[row] + column, source_map["sources"][source], line + 1


def ran(functions: Sequence[dict[str, Any]], length: int) -> bytearray:
    """Which characters of a script ran: inner ranges are said after those around them."""
    out = bytearray(length)
    for function in functions:
        for span in function["ranges"]:
            start, end = span["startOffset"], min(span["endOffset"], length)
            out[start:end] = (b"\1" if span["count"] else b"\0") * (end - start)
    return out


def lines_run(
    script: str, source_map: dict[str, Any], runs: Sequence[Sequence[dict[str, Any]]]
) -> dict[str, dict[int, bool]]:
    """By source, its lines that have code, and whether they ran in any page."""
    once = bytearray(len(script))
    for functions in runs:
        # Scripts of other pages have another length.
        if max(span["endOffset"] for function in functions for span in function["ranges"]) == len(script):
            for place, seen in enumerate(ran(functions, len(script))):
                once[place] |= seen
    out: dict[str, dict[int, bool]] = defaultdict(dict)
    for place, source, line in places(script, source_map):
        if "node_modules" not in source and source.endswith(".ts"):
            name = source.partition("/src/")[2] or source
            out[name][line] = out[name].get(line, False) or bool(once[min(place, len(script) - 1)])
    return out


def measure(tests: Sequence[str], jobs: int) -> dict[str, dict[int, bool]]:
    """Build, run the tests, and put together what ran."""
    with tempfile.TemporaryDirectory(prefix="biasamp-page-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        static = folder / "src" / "biasamp" / "report" / "static"
        build = ["npx", "vite", "build", "--minify", "false", "--sourcemap", "hidden", "--outDir", str(static)]
        for more in (["--emptyOutDir"], ["--config", "vite.try.config.ts"]):
            subprocess.run([*build, *more], cwd=ROOT / "web", check=True, stdout=subprocess.DEVNULL)
        (folder / "runs").mkdir()
        paths = [str(folder / "src"), str(ROOT / "tests"), str(ROOT / "reproductions" / "src")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), RUNS: str(folder / "runs")}
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "-n", str(jobs)]
        # One test holds the page against its source, which this one is not.
        done = subprocess.run(
            [*command, "--ignore", "tests/report/pages/test_bundle.py", *tests], cwd=ROOT, env=environment
        )
        if done.returncode not in (0, 1):
            raise SystemExit("the tests could not be run")
        runs = [
            functions
            for file in (folder / "runs").iterdir()
            for functions in json.loads(file.read_text(encoding="utf-8"))
            if functions
        ]
        out: dict[str, dict[int, bool]] = defaultdict(dict)
        for built in ("page.js", "try.js"):
            script = (static / built).read_text(encoding="utf-8")
            source_map = json.loads((static / f"{built}.map").read_text(encoding="utf-8"))
            for source, lines in lines_run(script, source_map, runs).items():
                for line, seen in lines.items():
                    out[source][line] = out[source].get(line, False) or seen
        return out


def main() -> int:
    """Measure, and print what each file has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tests", nargs="*", default=["tests/report"])
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    found = measure(given.tests, given.jobs)
    total = covered = 0
    for source in sorted(found):
        lines = found[source]
        total, covered = total + len(lines), covered + sum(lines.values())
        missed = [line for line, seen in sorted(lines.items()) if not seen]
        print(f"{source:<36}{len(lines):>6}{sum(lines.values()) / len(lines):>8.1%}  {' '.join(map(str, missed[:25]))}")
    share = covered / total if total else 0.0
    print(f"{'all':<36}{total:>6}{share:>8.1%}")
    return int(share < GOAL)


if __name__ == "__main__":
    sys.exit(main())
