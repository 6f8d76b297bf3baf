"""Several runs of a training procedure as one audit: means over the runs, with intervals that know of seeds and of records.

A limit that holds for the procedure holds for the mean over seeds, not for one that came out well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from biasamp.resampling.runs_and_records import mean_of_runs
from biasamp.resampling.significance import normal_quantile
from biasamp.results.interval import plain
from biasamp.results.metric_registry import range_of

from .audit_result import Audit
from .document_types import AuditDocument, Entry
from .evidence import place_of
from .measuring import name_of
from .record_covariance import record_covariance, standard_error

_FEWEST = 2


def audit_of_runs(audits: Sequence[Audit]) -> Audit:
    """The audit whose figures are means over runs.

    Aggregates have intervals of the variance over runs plus that over records less their interaction, with Cochran's quantile. Pairs and outcomes, of which an audit
    holds no resamples, count records as moving all runs alike, which makes their intervals no narrower than they should be. What one
    run lacks is left out and listed; what any run warns of is warned of.
    """
    if len(audits) < _FEWEST:
        raise ValueError(f"{len(audits)} run does not show how runs vary: at least two are needed")
    first = audits[0]
    level = max(audit.document["data"]["confidence"] for audit in audits)
    if any(audit.document["data"]["confidence"] != level for audit in audits):
        raise ValueError("the runs were audited with different confidence levels; audit all with the same")
    held = [{place_of(entry): entry for entry in audit.document["metrics"]} for audit in audits]
    there = [place for place in held[0] if all(place in run for run in held)]
    metrics = [_entry([run[place] for run in held], audits, level) for place in there]
    document = {
        **first.document,
        "metrics": metrics,
        "data": _data(audits),
        "findings": _united(audits, "findings"),
        "excluded": _united(audits, "excluded"),
        "not_run": _united(audits, "not_run"),
    }
    resamples = {name: value for name, value in first.resamples.items() if name in ("records", "seed", "resamples")}
    names = list(dict.fromkeys(audit.source for audit in audits))
    others = f" and {len(names) - 2} more" if len(names) > 3 else ""
    source = f"{len(audits)} runs ({', '.join(names[: 2 if others else 3])}{others})"
    made = Audit(cast("AuditDocument", document), source, _resample=lambda: resamples)
    return replace(made, results=())


def _data(audits: Sequence[Audit]) -> dict[str, Any]:
    """What was audited, with as many records of each group as the run with the fewest."""
    first = audits[0].document["data"]
    sizes = [
        {(row["attribute"], row["group"]): row["records"] for row in audit.document["data"]["groups"]}
        for audit in audits
    ]
    groups = [
        {**row, "records": min(size.get((row["attribute"], row["group"]), 0) for size in sizes)}
        for row in first["groups"]
    ]
    return {**first, "groups": groups, "records": min(audit.document["data"]["records"] for audit in audits)}


def _united(audits: Sequence[Audit], name: str) -> list[Any]:
    """All rows of the runs, each once."""
    out: list[Any] = []
    for audit in audits:
        document = cast("Mapping[str, Any]", audit.document)
        out += [row for row in document[name] if row not in out]
    return out


def _entry(entries: Sequence[Entry], audits: Sequence[Audit], level: float) -> dict[str, Any]:
    """One figure over the runs."""
    out = cast("dict[str, Any]", {**entries[0]})
    rows = [cast("Mapping[str, Any]", entry) for entry in entries]
    out["n"] = min(row["n"] for row in rows)
    values = [row["value"] for row in rows]
    out["value"] = _mean(values)
    out["interval"], stretched = _interval(entries, audits, level)
    if all("bounds" in row for row in rows):
        lows, highs = ([row["bounds"][end] for row in rows] for end in (0, 1))
        low, high = _mean(lows), _mean(highs)
        known = low is not None and high is not None and stretched is not None
        out["bounds"] = [low - stretched, high + stretched] if known else [None, None]  # type: ignore[operator]
        out["unknown"] = max(row.get("unknown", 0) for row in rows)
    if all(row.get("crossfit") is not None for row in rows):
        made = _ends(rows, "crossfit", lambda row: row.get("crossfit_interval", (None, None)), level)
        out["crossfit"], out["crossfit_interval"] = made[0], list(made[1:])
    for name in ("floor", "clear_value"):
        if name in out:
            out[name] = _mean([row.get(name) for row in rows])
    if all("contradicted" in row for row in rows):
        out["contradicted"] = max((row["contradicted"] for row in rows), key=lambda pair: pair[0])
    if "pairs" in out:
        out["pairs"] = _pairs(rows, level)
        out["pairs_in_all"] = (
            out["pairs_in_all"]
            if len(out["pairs"]) == len(rows[0]["pairs"])
            else max(row["pairs_in_all"] for row in rows)
        )
    if "outcomes" in out:
        out["outcomes"] = _outcomes(rows, str(out["metric"]), level)
    return out


def _mean(values: Sequence[Any]) -> float | None:
    return None if any(value is None for value in values) else float(np.mean(values))


def interval_of_runs(entries: Sequence[Entry], audits: Sequence[Audit]) -> list[float | None]:
    """The interval of one figure, or of its mean over several runs, at the level of the first audit."""
    if len(entries) == 1:
        return list(entries[0]["interval"])
    return _interval(entries, audits, audits[0].document["data"]["confidence"])[0]


def _interval(
    entries: Sequence[Entry], audits: Sequence[Audit], level: float
) -> tuple[list[float | None], float | None]:
    """The interval of the mean, and by how much a one-sided bound of one run is too short for the procedure."""
    errors = [standard_error(entry, audit) for entry, audit in zip(entries, audits, strict=True)]
    if any(error is None for error in errors) or any(entry["value"] is None for entry in entries):
        return [None, None], None
    values = np.array([entry["value"] for entry in entries], dtype=np.float64)[:, None]
    name = name_of(entries[0]["attribute"], entries[0]["metric"], entries[0]["direction"])
    covariance, _ = record_covariance(audits, cast("list[float]", errors), name, [0] * len(entries))
    made = mean_of_runs(values, covariance[:, :, None])
    value, reach = float(made.value[0]), float(made.reach(level)[0])
    least, most = range_of(entries[0]["metric"])
    one_sided = 2.0 * level - 1.0
    stretched = None
    if one_sided > 0.0:
        own = normal_quantile(one_sided) * float(np.mean(cast("list[float]", errors)))
        stretched = max(float(made.reach(one_sided)[0]) - own, 0.0)
    return [max(value - reach, least), min(value + reach, most)], stretched


def _ends(rows: Sequence[Mapping[str, Any]], name: str, ends: Any, level: float) -> tuple[Any, Any, Any]:
    """The mean of a figure and its ends, with records that move all runs alike."""
    values, both = [row.get(name) for row in rows], [ends(row) for row in rows]
    if any(value is None for value in values) or any(end is None for pair in both for end in pair):
        return _mean(values), None, None
    held = np.array(values, dtype=np.float64)
    value, out = float(held.mean()), []
    for end in (0, 1):
        reach = float(np.mean([abs(pair[end] - one) for pair, one in zip(both, values, strict=True)]))
        records = (reach / normal_quantile(level)) ** 2
        made = mean_of_runs(held[:, None], np.full((len(held), len(held), 1), records))
        out.append(float(made.reach(level)[0]))
    return value, plain(value - out[0]), plain(value + out[1])


def _pairs(rows: Sequence[Mapping[str, Any]], level: float) -> list[dict[str, Any]]:
    """Every pair that all runs list."""
    held = [{(pair["given"], pair["outcome"]): pair for pair in row["pairs"]} for row in rows]
    out = []
    for place in held[0]:
        if not all(place in run for run in held):
            continue
        same = [run[place] for run in held]
        made = dict(same[0])
        value, low, high = _ends(same, "amplification", lambda pair: (pair["low"], pair["high"]), level)
        made.update(amplification=value, low=low, high=high)
        made.update(
            {name: _mean([pair.get(name) for pair in same]) for name in ("truth_rate", "predicted_rate", "delta")}
        )
        made["sign"] = same[0]["sign"] if len({pair["sign"] for pair in same}) == 1 else 0
        made["support"] = min(pair["support"] for pair in same)
        for name in ("sign_p", "p", "q"):
            known = [pair.get(name) for pair in same]
            made[name] = None if None in known else max(cast("list[float]", known))
        for name in ("clear", "known"):
            if name in made:
                made[name] = all(pair.get(name) for pair in same)
        out.append(made)
    return out


def _outcomes(rows: Sequence[Mapping[str, Any]], metric: str, level: float) -> list[dict[str, Any]]:
    """Every outcome of a parity figure that all runs have."""
    held = [{row["outcome"]: row for row in run["outcomes"]} for run in rows]
    out = []
    for outcome, first in held[0].items():
        if all(outcome in run for run in held):
            same = [run[outcome] for run in held]
            value, low, high = _ends(same, metric, lambda row: (row.get("low"), row.get("high")), level)
            out.append({**first, metric: value, "low": low, "high": high})
    return out
