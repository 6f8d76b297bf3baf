"""Run all benchmarks, or those named: ``python -m benchmarks counts``; options go to the one named before them."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

_NOT_BENCHMARKS = {"__init__", "__main__", "__pycache__", "every_threshold", "timing", "speed_rows"}


def main() -> None:
    here = [path for path in Path(__file__).parent.iterdir() if path.suffix == ".py" or path.is_dir()]
    known = sorted(path.stem for path in here if path.stem not in _NOT_BENCHMARKS)
    given = sys.argv[1:]
    at = next((i for i, word in enumerate(given) if word.startswith("--")), len(given))
    chosen, options = given[:at] or known, given[at:]
    if options and len(chosen) != 1:
        sys.exit(f"{options[0]} is an option of one benchmark: name it first")
    for name in chosen:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(known)}")
        print(f"\n== {name}")
        main_of = import_module(f"benchmarks.{name}").main
        main_of(options) if options else main_of()


main()
