"""What auditors hand in, held against what is known: ``python -m benchmarks.auditors.ratios`` and its neighbours."""

from __future__ import annotations


def main() -> None:
    """Run all of them."""
    from . import ratios, suppression

    for part in (ratios, suppression):
        print(f"\n-- {part.__name__}")
        part.main()
