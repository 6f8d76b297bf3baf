"""``biasamp.compare``: two models side by side, from their audits alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from biasamp import __version__
from biasamp.data.plain_arguments import level_of
from biasamp.resampling.model_difference import Difference, compare_errors, compare_extremes, compare_values
from biasamp.resampling.significance import normal_quantile
from biasamp.results.flat import flat_differences
from biasamp.results.interval import plain
from biasamp.results.metric_registry import METRICS, range_of
from biasamp.results.renderers import render
from biasamp.results.table import Table, written

from .as_audit import as_audit
from .audit_result import Audit
from .document_types import SCHEMA, ComparisonDocument, Entry, ModelDifference, Note
from .measuring import name_of

_COLUMNS = (
    *("attribute", "metric", "direction", "model", "other", "value", "other_value"),
    *("difference", "low", "high", "paired", "verdict"),
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Differences between models, metric by metric.

    Attributes
    ----------
    document : dict
        ``models``, ``differences`` (each with the metric, both values, the difference with its interval, whether
        it is paired, and a verdict in words) and ``notes``, in plain values that JSON can hold.
    """

    document: ComparisonDocument

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
        rows: list[dict[str, Any]] = [
            {
                **row,
                "direction": row["direction"] or "",
                "model": row["models"][0],
                "other": row["models"][1],
                "value": row["first"],
                "other_value": row["second"],
            }
            for row in self.document["differences"]
        ]
        return Table.from_rows([{name: row[name] for name in _COLUMNS} for row in rows])

    def __str__(self) -> str:
        return "\n".join(
            f"{row['attribute']} {row['metric']} {row['direction'] or ''}: {row['verdict']}"
            for row in self.document["differences"]
        )

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The comparison in plain Python values, or with ``flat`` its differences by name, as trackers take them."""
        return flat_differences(self.document["differences"]) if flat else cast("dict[str, Any]", self.document)

    def to_json(self, path: str | Path | None = None) -> str:
        """The comparison as JSON text, which is also written to ``path`` where one is given."""
        return written(json.dumps(self.document, allow_nan=False, ensure_ascii=False, indent=1), path)

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a dataframe."""
        return self.table.to_frame(backend)

    def _repr_html_(self) -> str:
        return str(render("comparison table", self))


def compare(audits: Mapping[str, Any], *, level: float = 0.95) -> Comparison:
    """Is one model's figure different from another's, beyond what sampling explains?

    Parameters
    ----------
    audits : mapping
        A name and an audit for each model: what :func:`biasamp.audit` gave, the path of a saved one, or counts or the
        path of saved counts, which are measured with the defaults. Others are held against the first.
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
    level_of(level, "level")
    held = {str(name): as_audit(value, str(name)) for name, value in audits.items()}
    first, *others = held.items()
    rows: list[ModelDifference] = []
    notes: list[Note] = []
    for other in others:
        both, (one, two) = f"{first[0]} and {other[0]}", (first[1], other[1])
        unpaired = why_unpaired(one, two)
        if unpaired is not None:
            notes.append({"kind": "unpaired", "text": f"{both} are compared unpaired: {unpaired}."})
        if any(one.document["data"][part] != two.document["data"][part] for part in ("attributes", "tasks")):
            words = f"{both} were audited for other attributes or tasks: values may not be comparable."
            notes.append({"kind": "other-columns", "text": words})
        rows += _differences(first, other, unpaired, level, notes)
    if not rows:
        raise ValueError("the audits have no metric in common: nothing can be compared")
    distinct = list({note["text"]: note for note in notes}.values())
    document: ComparisonDocument = {
        "schema": SCHEMA,
        "version": __version__,
        "models": list(held),
        "level": level,
        "differences": rows,
        "notes": [note["text"] for note in distinct],
        "noted": distinct,
    }
    return Comparison(document)


def why_unpaired(one: Audit, other: Audit) -> str | None:
    """Why the resamples of two audits are not of the same records, or None where they are."""
    mine, theirs = one.resamples, other.resamples
    if not mine or not theirs:
        return "an audit was written without its resamples (use save)"
    for name, words in (("records", "records"), ("seed", "seeds"), ("resamples", "numbers of resamples")):
        if mine[name] != theirs[name]:
            return f"the {words} differ"
    return None


def _differences(
    first: tuple[str, Audit], other: tuple[str, Audit], unpaired: str | None, level: float, notes: list[Note]
) -> list[ModelDifference]:
    names, audits = (first[0], other[0]), (first[1], other[1])
    theirs = {_key(entry): entry for entry in other[1].document["metrics"]}
    rows: list[ModelDifference] = []
    lacking: dict[str, list[str]] = {}

    def lacks(which: int, key: tuple[str, str, str]) -> None:
        reason = _why_not_run(audits[which], key)
        words = " ".join(filter(None, key)) + (f" ({reason})" if reason else "")
        lacking.setdefault(f"{names[which]} lacks it", []).append(words)

    for entry in first[1].document["metrics"]:
        match = theirs.pop(_key(entry), None)
        if match is None:
            lacks(1, _key(entry))
            continue
        found = _difference((entry, match), audits, unpaired, level=level, names=names)
        if found is None:
            why = f"one of {names[0]} and {names[1]} has no value or no interval there"
            lacking.setdefault(why, []).append(" ".join(filter(None, _key(entry))))
            continue
        rows.append(
            {
                "attribute": entry["attribute"],
                "metric": entry["metric"],
                "direction": entry["direction"],
                "models": list(names),
                "first": cast("float", entry["value"]),
                "second": cast("float", match["value"]),
                "difference": plain(found.value),
                "low": plain(found.low),
                "high": plain(found.high),
                "paired": found.paired,
                "method": found.method,
                "verdict": found.verdict,
            }
        )
    for key in theirs:
        lacks(0, key)
    for why, listed in lacking.items():
        notes.append({"kind": "not-compared", "text": f"not compared, since {why}: {', '.join(listed)}."})
    return rows


def _why_not_run(audit: Audit, key: tuple[str, str, str]) -> str:
    """Why an audit has no such figure, where it says so."""
    for row in audit.not_run:
        if (row["attribute"], row["metric"], row["direction"] or "") == key:
            return row["reason"]
    return ""


def _key(entry: Entry) -> tuple[str, str, str]:
    return entry["attribute"], entry["metric"], entry["direction"] or ""


def _difference(
    entries: tuple[Entry, Entry], audits: tuple[Audit, Audit], unpaired: str | None, **options: Any
) -> Difference | None:
    """The difference of a figure: of its resamples where both audits have them, else of its intervals."""
    attribute, metric, direction = _key(entries[0])
    first, second = (entry["value"] for entry in entries)
    if first is None or second is None or metric not in METRICS:
        return None
    options.update(more=METRICS[metric].more, less=METRICS[metric].less)
    values = [audit.resamples.get("values", {}).get(name_of(attribute, metric, direction)) for audit in audits]
    if values[0] is not None and values[1] is not None:
        drawn = [np.array([np.nan if v is None else v for v in part], dtype=np.float64) for part in values]
        if METRICS[metric].by_outcome and _selected_apart(entries):
            return _within(_of_extremes(entries, audits, drawn, unpaired, **options), metric)
        unseen = [audit.resamples.get("unseen", {}).get(name_of(attribute, metric, direction)) for audit in audits]
        options.update(unseen=max(value or 0.0 for value in unseen), fewest=_fewest(audits[1], attribute))
        return _within(compare_values(first, second, *drawn, unpaired=unpaired, **options), metric)
    one, two = map(standard_error, entries, audits)
    if one is None or two is None:
        return None
    return _within(compare_errors(first, second, one, two, **options), metric)


def _within(made: Difference, metric: str) -> Difference:
    """The difference with its interval cut where no two values of the metric are further apart."""
    least, most = range_of(metric)
    apart = most - least
    if not (made.low < -apart or made.high > apart):
        return made
    low, high = max(made.low, -apart), min(made.high, apart)
    return replace(made, low=low, high=high, method=f"{made.method}, cut at {apart:g} either way")


def _fewest(audit: Audit, attribute: str) -> int:
    """The records of the smallest group of an attribute."""
    sizes = (group["records"] for group in audit.document["data"]["groups"] if group["attribute"] == attribute)
    return min((size for size in sizes if size), default=0)


def _selected_apart(entries: tuple[Entry, Entry]) -> bool:
    """Whether the largest difference, or the lowest accuracy, is of another outcome or of other groups in each model."""
    one, two = ((entry.get("outcome"), entry.get("between")) for entry in entries)
    return one != two and all(end is not None for entry in entries for end in entry["interval"])


def _of_extremes(
    entries: tuple[Entry, Entry],
    audits: tuple[Audit, Audit],
    drawn: list[NDArray[np.float64]],
    unpaired: str | None,
    *,
    level: float,
    **options: Any,
) -> Difference:
    """The difference of two maxima from their intervals, which know that they were selected."""
    first, second = (cast("float", entry["value"]) for entry in entries)
    ends = []
    for entry, audit, value in zip(entries, audits, (first, second), strict=True):
        scale = normal_quantile(level) / normal_quantile(audit.document["data"]["confidence"])
        low, high = (value + scale * (cast("float", end) - value) for end in entry["interval"])
        ends.append((low, high))
    correlation = 0.0
    if unpaired is None and len(drawn[0]) == len(drawn[1]):
        there = ~np.isnan(drawn[0]) & ~np.isnan(drawn[1])
        one, two = drawn[0][there], drawn[1][there]
        if len(one) > 1 and one.std() > 0 and two.std() > 0:
            correlation = float(np.corrcoef(one, two)[0, 1])
    # What samples show on average of differences that are not there.
    options["biases"] = tuple(entry.get("expected") or 0.0 for entry in entries)
    return compare_extremes(first, second, ends[0], ends[1], correlation, unpaired=unpaired, level=level, **options)


def standard_error(entry: Entry, audit: Audit) -> float | None:
    """A standard error from an interval, where that is all an audit says."""
    low, high = entry["interval"]
    if low is None or high is None:
        return None
    least, most = range_of(entry["metric"])
    value = entry["value"]
    reach = (high - low) / 2.0
    if value is not None and (low <= least or high >= most):  # cut: the other side has its whole width
        reach = max(value - low, high - value)
    return float(reach / normal_quantile(audit.document["data"]["confidence"]))
