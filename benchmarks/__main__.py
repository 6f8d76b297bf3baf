"""Run all benchmarks, or those named: ``python -m benchmarks counts``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

_NOT_BENCHMARKS = {"__init__", "__main__", "timing"}


def main() -> None:
    known = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if p.stem not in _NOT_BENCHMARKS)
    chosen = sys.argv[1:] or known
    for name in chosen:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(known)}")
        print(f"\n== {name}")
        import_module(f"benchmarks.{name}").main()


main()
