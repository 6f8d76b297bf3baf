"""Print the rows of docs/speed.md, or run the benchmarks that are named: ``python -m benchmarks counts``; options go to the one
named before them. ``python -m benchmarks all`` runs all, simulations of intervals and verdicts among them, which takes hours.
"""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from pathlib import Path

from benchmarks.timing import HEADING, KEPT

_NOT_BENCHMARKS = {"__init__", "__main__", "__pycache__", "every_threshold", "timing", "speed_rows"}
# What measures the rows of speed, and with which options.
_SPEED: dict[str, list[str]] = {
    "counting_speed": [],
    "many_labels": [],
    "association": ["--speed"],
    "clusters": [],
    "explorer": [],
}


def main() -> None:
    here = [path for path in Path(__file__).parent.iterdir() if path.suffix == ".py" or path.is_dir()]
    known = sorted(path.stem for path in here if path.stem not in _NOT_BENCHMARKS)
    given = sys.argv[1:]
    at = next((i for i, word in enumerate(given) if word.startswith("--")), len(given))
    chosen, options = given[:at], given[at:]
    if options and len(chosen) != 1:
        sys.exit(f"{options[0]} is an option of one benchmark: name it first")
    if not chosen:
        _speed()
        return
    for name in known if chosen == ["all"] else chosen:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(known)}, and all")
        _run(name, options)


def _run(name: str, options: list[str]) -> None:
    print(f"\n== {name}", flush=True)
    main_of = import_module(f"benchmarks.{name}").main
    main_of(options) if options else main_of()


def _speed() -> None:
    """All rows of speed, and last the table of them, whatever became of a benchmark."""
    broken = []
    for name, options in _SPEED.items():
        try:
            _run(name, options)
        except SystemExit as gone:
            # What a benchmark needs is not here: the others are measured all the same.
            print(f"not measured: {gone}")
        except Exception:
            traceback.print_exc()
            broken.append(name)
    print("\n== all rows")
    print("\n".join([*HEADING, *KEPT]))
    if broken:
        sys.exit(f"stopped before their end: {', '.join(broken)}")


main()
