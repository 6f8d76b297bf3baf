"""What the parity companions hand back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.results.flat import put
from biasamp.results.interval import plain
from biasamp.results.table import Table


@dataclass(frozen=True, eq=False)
class Parity:
    """Four companions of amplification, for every outcome label.

    Attributes
    ----------
    table : Table
        One row an outcome: fpr_difference, tpr_difference, accuracy_difference (the largest difference
        between two groups) and mean_per_class_accuracy (its mean over groups).
    groups : Table
        One row a group and outcome: the rates themselves, with the counts they rest on.
    excluded : tuple of dict
        Rates that are undefined, with the reason.
    n : float
        The total weight of the records.
    """

    table: Table
    groups: Table
    excluded: tuple[dict[str, Any], ...]
    n: float
    direction: str | None = None
    _draw: Callable[[int, int], Mapping[str, NDArray[np.float64]]] | None = field(default=None, repr=False)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold, or with ``flat`` figures by name, as trackers take them."""
        if flat:
            out: dict[str, Any] = {}
            for row in self.table.rows():
                for name, value in row.items():
                    put(out, (row["outcome"], name), {"": plain(value)})
            return out
        return {
            "metric": "parity",
            "direction": self.direction,
            "n": plain(self.n),
            "outcomes": [{k: plain(v) for k, v in row.items()} for row in self.table.rows()],
            "groups": [{k: plain(v) for k, v in row.items()} for row in self.groups.rows()],
            "excluded": [{k: plain(v) for k, v in row.items()} for row in self.excluded],
        }
