"""Counts of audits held against each other, number by number."""

from __future__ import annotations

from typing import Any

import numpy as np

from biasamp.counts.storage import to_arrays


def numbers(counts: Any) -> dict[str, np.ndarray]:
    """Every number that counts hold."""
    out: dict[str, np.ndarray] = {}
    for subject in counts.subjects:
        by_bag: dict[str, Any] = {f"pairs {way}": bags for way, bags in subject.pairs.items()}
        if subject.mals is not None:
            by_bag["said"], by_bag["truth"] = subject.mals
        out |= {f"{subject.attribute} bags of {name}": bags.numbers for name, bags in by_bag.items()}
        parts: dict[str, Any] = {name: bags.counts for name, bags in by_bag.items()}
        for name, tables in (("cells", subject.cells), ("cells by bag", subject.by_bag)):
            parts |= {f"{name} {way}": table for way, table in tables.items() if table is not None}
        for name, part in parts.items():
            out |= {f"{subject.attribute} {name} {key}": array for key, array in to_arrays(part)[1].items()}
        out |= {f"{subject.attribute} {side}": sizes for side, sizes in subject.sizes.items()}
    return out


def same_counts(one: Any, two: Any) -> None:
    mine, theirs = numbers(one), numbers(two)
    assert mine.keys() == theirs.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    assert (one.units, one.content, one.missing_values) == (two.units, two.content, two.missing_values)
