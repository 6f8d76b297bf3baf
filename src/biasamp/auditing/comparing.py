"""``biasamp.compare``: two models side by side, from their audits alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from biasamp import __version__
from biasamp.resampling.model_difference import Difference, compare_errors, compare_values
from biasamp.resampling.pair_intervals import normal_quantile
from biasamp.results.interval import plain

from .audit_result import SCHEMA, Audit
from .comparison import Comparison
from .measuring import name_of

# What a larger and a smaller figure of the other model mean.
_WORDS = {
    "directional": ("amplifies more", "amplifies less"),
    "mals": ("amplifies more", "amplifies less"),
    "multi": ("changes rates more", "changes rates less"),
    "dpa": ("follows what is given more closely", "follows what is given less closely"),
    "leakage": ("gives the attribute away more", "gives the attribute away less"),
    "fpr_difference": ("has a larger gap in false positive rates", "has a smaller gap in false positive rates"),
    "tpr_difference": ("has a larger gap in true positive rates", "has a smaller gap in true positive rates"),
    "accuracy_difference": ("has a larger gap in accuracy", "has a smaller gap in accuracy"),
    "mean_per_class_accuracy": ("is more accurate", "is less accurate"),
}


def compare(audits: Mapping[str, Any], *, level: float = 0.95) -> Comparison:
    """Is one model's figure different from another's, beyond what sampling explains?

    Parameters
    ----------
    audits : mapping
        A name and an audit, or the path of a saved one, for each model. Others are held against the first.
    level : float
        The confidence level of the differences.

    Returns
    -------
    Comparison
        Differences are paired where both audits are of the same records (the same ids, or rows where there are
        none) and the same seed: what the models share then drops out. Otherwise they are unpaired and say why.

    Examples
    --------
    >>> import biasamp
    >>> data = {"g": ["w", "m"] * 50, "t": [1, 0] * 50, "old": [1, 0] * 40 + [0, 1] * 10, "new": [1, 0] * 50}
    >>> audits = {
    ...     name: biasamp.audit(data, attributes="g", tasks="t", task_predictions=name, metrics=["directional"])
    ...     for name in ("old", "new")
    ... }
    >>> row = next(biasamp.compare(audits).table.rows())
    >>> row["paired"], row["verdict"]
    (True, 'new amplifies more than old')
    """
    if not isinstance(audits, Mapping) or len(audits) < 2:
        raise ValueError("audits must be a mapping of at least two names to audits, such as {'old': a, 'new': b}")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
    held = {str(name): _audit(value, str(name)) for name, value in audits.items()}
    (first, one), *others = held.items()
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for name, other in others:
        unpaired = _unpaired(one, other)
        if unpaired is not None:
            notes.append(f"{first} and {name} are compared unpaired: {unpaired}.")
        if one.document["data"]["attributes"] != other.document["data"]["attributes"] or (
            one.document["data"]["tasks"] != other.document["data"]["tasks"]
        ):
            notes.append(
                f"{first} and {name} were audited for other attributes or tasks: values may not be comparable."
            )
        rows += _differences((first, one), (name, other), unpaired, level, notes)
    if not rows:
        raise ValueError("the audits have no metric in common: nothing can be compared")
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "models": list(held),
        "level": level,
        "differences": rows,
        "notes": list(dict.fromkeys(notes)),
    }
    return Comparison(document)


def _audit(value: Any, name: str) -> Audit:
    if isinstance(value, Audit):
        return value
    if isinstance(value, (str, os.PathLike)):
        return Audit.load(os.fspath(value))
    raise TypeError(f"{name} is a {type(value).__name__}; an audit or the path of a saved one is needed")


def _unpaired(one: Audit, other: Audit) -> str | None:
    """Why the resamples of two audits are not of the same records, or None where they are."""
    mine, theirs = one.resamples, other.resamples
    if not mine or not theirs:
        return "an audit was written without its resamples (use save)"
    if mine["records"] != theirs["records"]:
        return "the records differ"
    if mine["seed"] != theirs["seed"]:
        return "the seeds differ"
    if mine["resamples"] != theirs["resamples"]:
        return "the numbers of resamples differ"
    return None


def _differences(
    first: tuple[str, Audit], other: tuple[str, Audit], unpaired: str | None, level: float, notes: list[str]
) -> list[dict[str, Any]]:
    names = (first[0], other[0])
    theirs = {_key(entry): entry for entry in other[1].document["metrics"]}
    rows, lacking = [], []
    for entry in first[1].document["metrics"]:
        match = theirs.pop(_key(entry), None)
        if match is None or entry["value"] is None or match["value"] is None:
            lacking.append(" ".join(filter(None, _key(entry))))
            continue
        found = _difference(entry, match, first[1], other[1], names, unpaired, level)
        if found is None:
            lacking.append(" ".join(filter(None, _key(entry))))
            continue
        rows.append(
            {
                "attribute": entry["attribute"],
                "metric": entry["metric"],
                "direction": entry["direction"],
                "models": list(names),
                "first": entry["value"],
                "second": match["value"],
                "difference": plain(found.value),
                "low": plain(found.low),
                "high": plain(found.high),
                "paired": found.paired,
                "method": found.method,
                "verdict": found.verdict,
            }
        )
    lacking += [" ".join(filter(None, key)) for key in theirs]
    if lacking:
        notes.append(f"not compared, since one of {names[0]} and {names[1]} lacks it: {', '.join(lacking)}.")
    return rows


def _key(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["attribute"], entry["metric"], entry["direction"] or ""


def _difference(
    entry: dict[str, Any],
    match: dict[str, Any],
    one: Audit,
    other: Audit,
    names: tuple[str, str],
    unpaired: str | None,
    level: float,
) -> Difference | None:
    more, less = _WORDS[entry["metric"]]
    name = name_of(entry["attribute"], entry["metric"], entry["direction"])
    values = [audit.resamples.get("values", {}).get(name) for audit in (one, other)]
    if values[0] is not None and values[1] is not None:
        drawn = [np.array([np.nan if v is None else v for v in part], dtype=np.float64) for part in values]
        return compare_values(
            entry["value"], match["value"], *drawn, unpaired=unpaired, level=level, names=names, more=more, less=less
        )
    errors = [_error(row, audit) for row, audit in ((entry, one), (match, other))]
    if errors[0] is None or errors[1] is None:
        return None
    return compare_errors(
        entry["value"], match["value"], errors[0], errors[1], level=level, names=names, more=more, less=less
    )


def _error(entry: dict[str, Any], audit: Audit) -> float | None:
    """A standard error from an interval, where that is all an audit says."""
    low, high = entry["interval"]
    if low is None or high is None:
        return None
    return float((high - low) / (2.0 * normal_quantile(audit.document["data"]["confidence"])))
