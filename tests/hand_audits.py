"""Audits whose documents are written by hand, for what is read from them."""

from __future__ import annotations

from typing import Any

import biasamp


def group(name: str, records: float = 100, attribute: str = "g", **more: Any) -> dict[str, Any]:
    """A row of groups."""
    row = {"attribute": attribute, "group": f"{attribute}={name}", "records": records, "small": False}
    return {**row, "kind": "attribute", "variable": attribute, "category": name, **more}


def pair(
    given: str, outcome: str, amplification: float | None = 0.0, reach: float = 0.02, **more: Any
) -> dict[str, Any]:
    """A pair with a known positive direction and an interval as far on either side."""
    low, high = (None, None) if amplification is None else (amplification - reach, amplification + reach)
    row = {"given": given, "outcome": outcome, "sign": 1, "sign_p": 1e-9, "truth_rate": 0.5, "predicted_rate": 0.5}
    row |= {"delta": amplification, "amplification": amplification, "low": low, "high": high, "support": 100.0}
    return {**row, "clear": True, "known": True, **more}


def entry(metric: str = "directional", value: float | None = 0.05, attribute: str = "g", **more: Any) -> dict[str, Any]:
    """An entry with an interval of 0.02 on either side, over two groups and two values."""
    interval = [None, None] if value is None else [value - 0.02, value + 0.02]
    row = {
        "metric": metric,
        "attribute": attribute,
        "direction": "A->T",
        "value": value,
        "interval": interval,
        "n": 200,
    }
    if metric in ("directional", "multi") and "pairs" not in more:
        row["pairs"] = [pair(f"g={a}", f"t={t}", value) for a in "wm" for t in "01"]
    if metric == "directional":
        row |= {"bounds": interval, "unknown": 0}
    made = {name: held for name, held in (row | more).items() if held is not ...}
    return {"pairs_in_all": len(made["pairs"]), **made} if "pairs" in made else made


def rate(value: float | None, low: float | None, high: float | None, size: float) -> dict[str, Any]:
    """A rate of a group."""
    return {"value": value, "low": low, "high": high, "size": size}


DATA: dict[str, Any] = {
    "records": 200,
    "attributes": ["g"],
    "tasks": {"title": "t", "labels": 2},
    "groups": [group("w"), group("m")],
    "task_labels": [{"label": f"t={t}", "variable": "t", "category": t} for t in "01"],
    "confidence": 0.95,
    "resamples": 200,
    "min_group": 1,
    "missing": "error",
    "missing_values": 0,
    "roles": {"attributes": ["g"], "tasks": ["t"], "task_predictions": ["p"]},
    "kinds": {"g": "attribute"},
    "train": False,
    "base": False,
    "weighted": False,
}


def hand_audit(*metrics: dict[str, Any], data: Any = None, source: str = "data.csv", **document: Any) -> biasamp.Audit:
    """An audit that says what it is told to say; ``...`` leaves a field of its data out."""
    held = {name: value for name, value in {**DATA, **(data or {})}.items() if value is not ...}
    whole = {
        "schema": 1,
        "seed": 0,
        "data": held,
        "metrics": list(metrics),
        "findings": [],
        "excluded": [],
        "not_run": [],
    }
    return biasamp.Audit({**whole, **document}, source)  # type: ignore[arg-type]
