"""What comparing audits hands back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biasamp.results.flat import flat_differences
from biasamp.results.table import Table, text


@dataclass(frozen=True, eq=False)
class Comparison:
    """Differences between models, metric by metric.

    Attributes
    ----------
    document : dict
        ``models``, ``differences`` (each with the metric, both values, the difference with its interval, whether
        it is paired, and a verdict in words) and ``notes``, in plain values that JSON can hold.
    """

    document: dict[str, Any]

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, the one that others are held against first."""
        return tuple(self.document["models"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of all differences: pairing, and what was not compared."""
        return tuple(self.document["notes"])

    @property
    def table(self) -> Table:
        """One row a difference: attribute, metric, direction, models, values, difference, interval, verdict."""
        rows = self.document["differences"]

        def numbers(name: str) -> Any:
            return np.array([np.nan if row[name] is None else float(row[name]) for row in rows])

        return Table(
            {
                **{name: text([row[name] or "" for row in rows]) for name in ("attribute", "metric", "direction")},
                **{name: text([row["models"][i] for row in rows]) for i, name in enumerate(("model", "other"))},
                "value": numbers("first"),
                "other_value": numbers("second"),
                "difference": numbers("difference"),
                "low": numbers("low"),
                "high": numbers("high"),
                "paired": np.array([row["paired"] for row in rows], dtype=bool),
                "verdict": text([row["verdict"] for row in rows]),
            }
        )

    def __str__(self) -> str:
        return "\n".join(
            f"{row['attribute']} {row['metric']} {row['direction'] or ''}: {row['verdict']}"
            for row in self.document["differences"]
        )

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The comparison in plain Python values, or with ``flat`` its differences by name, as trackers take them."""
        return flat_differences(self.document["differences"]) if flat else self.document

    def to_json(self, path: str | Path | None = None) -> str:
        """The comparison as JSON text, which is also written to ``path`` where one is given."""
        written = json.dumps(self.document, allow_nan=False, ensure_ascii=False, indent=1)
        if path is not None:
            Path(path).write_text(written + "\n", encoding="utf-8")
        return written

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a dataframe."""
        return self.table.to_frame(backend)
