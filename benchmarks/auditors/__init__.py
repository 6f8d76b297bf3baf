"""What auditors hand in, held against what is known: ``python -m benchmarks.auditors.ratios`` and its neighbours."""

from __future__ import annotations


def main() -> None:
    """Run all of them."""
    from . import label_errors, means, ratios, suppression, verifying

    for part in (ratios, suppression, label_errors, means, verifying):
        print(f"\n-- {part.__name__}")
        part.main()
