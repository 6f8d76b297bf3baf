"""Results as one flat mapping of names to numbers, which every experiment tracker takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .metric_registry import METRICS

# What trackers accept in a name: letters, digits and these. Anything else becomes an underscore.
_REFUSED = re.compile(r"[^\w.\- ]", re.ASCII)


def flat_entries(entries: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Metrics as ``attribute/metric_A-to-T`` with ``_low`` and ``_high``; what is undefined is left out.

    Bounds are ``_bound_low`` and ``_bound_high``.

    The bounds are no deeper level of the name: stores that make a folder of each level could not hold both.
    """
    out: dict[str, float] = {}
    for entry in entries:
        low, high = entry.get("interval", (None, None))
        figures = {"": entry.get("value"), "low": low, "high": high}
        beside = METRICS[entry["metric"]].beside if entry["metric"] in METRICS else ()
        figures.update({name: entry.get(name) for name in beside})
        figures["bound_low"], figures["bound_high"] = entry.get("bounds", (None, None))
        figures["unknown"] = entry.get("unknown")
        put(out, (entry.get("attribute"), named(entry["metric"], entry.get("direction"))), figures)
    return out


def flat_differences(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Differences between models, under the name of the model that is held against the first."""
    out: dict[str, float] = {}
    for row in rows:
        figures = {"difference": row["difference"], "difference_low": row["low"], "difference_high": row["high"]}
        put(out, (row["models"][1], row["attribute"], named(row["metric"], row["direction"])), figures)
    return out


def named(metric: str, direction: str | None) -> str:
    """A metric with its direction, in characters that trackers accept."""
    return metric if direction is None else f"{metric}_{direction.replace('->', '-to-')}"


def put(out: dict[str, float], path: tuple[str | None, ...], figures: Mapping[str, Any]) -> None:
    """Add the figures of one metric under a name that no other has."""
    parts = [_REFUSED.sub("_", part).strip() for part in path if part is not None]
    # A part of dots alone would be a step in a path, where stores keep names as files.
    base = "/".join(part if part.strip(".") else "_" for part in parts)
    numbers = {
        f"_{suffix}" if suffix else "": float(value)
        for suffix, value in figures.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    name, place = base, 2
    # Names that differ in refused characters alone would overwrite each other.
    while any(f"{name}{suffix}" in out for suffix in numbers):
        name, place = f"{base}.{place}", place + 1
    out.update({f"{name}{suffix}": value for suffix, value in numbers.items()})
