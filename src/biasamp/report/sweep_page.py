"""A sweep as one HTML file, with a slider that shows every figure at the chosen threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasamp import __version__
from biasamp.amplification.calibrate import Sweep
from biasamp.data.saving import save_text
from biasamp.resampling.significance import normal_quantile
from biasamp.results.interval import figure_with_interval, plain

from .page import page

# Thresholds that curves are drawn at, beside the marked ones.
POINTS = 300


def sweep_document(
    sweep: Sweep, *, source: str, level: float = 0.95, attribute: str = "given", outcome: str | None = None
) -> dict[str, Any]:
    """What the page of a sweep shows."""
    bounds = sweep.confidence_interval(level)
    names = ("threshold", "amplification", "low", "high", "rate")
    return {
        "kind": "sweep",
        "source": source,
        "version": __version__,
        "confidence": level,
        "quantile": normal_quantile(level),
        "sweep": {
            "attribute": attribute,
            "outcome": outcome,
            "integral": plain(sweep.integral),
            "interval": [plain(bounds.low), plain(bounds.high)],
            "base_rate": plain(sweep.base_rate),
            "sign_source": sweep.sign_source,
            "n": sweep.n,
            "thresholds": len(sweep.curve),
            "marks": {mark: {name: row[name] for name in names} for mark, row in sweep.marks.items()},
            "steps": sweep.steps(POINTS, level),
            "agnostic": sweep.agnostic.plain_rows(),
        },
    }


def write_sweep(sweep: Sweep, path: str | Path, *, source: str, level: float = 0.95, **named: Any) -> None:
    """Write the page of a sweep as a single self-contained HTML file."""
    document = sweep_document(sweep, source=source, level=level, **named)
    words = [
        f"{mark}: threshold {row['threshold']:.4f}, amplification "
        f"{figure_with_interval(row['amplification'], row['low'], row['high'])}"
        for mark, row in sweep.marks.items()
    ]
    save_text(path, page(f"biasamp sweep: {source}", document, words=words))
