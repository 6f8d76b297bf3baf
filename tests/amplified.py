"""Small data sets with figures that can be counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

import biasamp


def columns(n: int = 400, said: float = 0.0) -> dict[str, Any]:
    """Two groups, rates .7 and .3; a share ``said`` of the women without the task get it predicted."""
    group = np.repeat(["w", "m"], n // 2)
    truth = np.r_[np.arange(n // 2) % 10 < 7, np.arange(n // 2) % 10 < 3].astype(int)
    predicted = truth.copy()
    without = np.flatnonzero((group == "w") & (truth == 0))
    predicted[without[: round(said * len(without))]] = 1
    return {"g": group, "t": truth, "p": predicted}


def audited(data: dict[str, Any], **options: Any) -> biasamp.Audit:
    """An audit of the cheap metrics."""
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
    return biasamp.audit(data, **{**roles, "metrics": ["directional", "multi", "parity"], "resamples": 200, **options})
