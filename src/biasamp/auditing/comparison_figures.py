"""The difference of one figure between two audits: from their resamples, their halves, or their intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from biasamp.resampling.model_difference import Difference, compare_errors, compare_extremes, compare_values
from biasamp.resampling.significance import normal_quantile
from biasamp.results.metric_registry import METRICS, range_of

from .audit_result import Audit
from .document_types import Entry
from .measuring import name_of
from .record_covariance import drawn_values, figure_error, halves_of, record_covariance, standard_error, unseen


def difference_of_figures(
    entries: tuple[Entry, Entry], audits: tuple[Audit, Audit], unpaired: str | None, **options: Any
) -> Difference | None:
    """The difference of a figure: of its resamples where both audits have them, else of its halves or intervals.

    ``unpaired`` says why the audits are not of the same records; None is returned where an audit says nothing of the figure's error.
    """
    attribute, metric = entries[0]["attribute"], entries[0]["metric"]
    first, second = (entry["value"] for entry in entries)
    if first is None or second is None or metric not in METRICS:
        return None
    name = name_of(attribute, metric, entries[0]["direction"])
    options.update(more=METRICS[metric].more, less=METRICS[metric].less)
    drawn = [drawn_values(audit, name) for audit in audits]
    fewest = _fewest(audits[1], attribute)
    if len(drawn[0]) and len(drawn[1]):
        if METRICS[metric].by_outcome and _selected_apart(entries):
            return within_range(_of_extremes(entries, audits, drawn, unpaired, **options), metric)
        errors = [standard_error(entry, audit) for entry, audit in zip(entries, audits, strict=True)]
        options.update(
            unseen=max(unseen(audit, name) for audit in audits),
            fewest=fewest,
            apart=None if None in errors else float(np.linalg.norm(cast("list[float]", errors))),
        )
        return within_range(compare_values(first, second, *drawn, unpaired=unpaired, **options), metric)
    one, two = (figure_error(entry, audit) for entry, audit in zip(entries, audits, strict=True))
    if one is None or two is None:
        return None
    held = [halves_of(audit, name) for audit in audits]
    covariance, known = record_covariance(audits, (one, two), name, (0, 1))
    if not known or held[0] is None or held[1] is None:
        return within_range(compare_errors(first, second, one, two, unpaired=unpaired, **options), metric)
    variance = max(float(covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]), 0.0)
    error = 0.0 if held[0].same(held[1]) else float(np.sqrt(variance))
    options.update(paired_error=error, halves=held[0].halves, fewest=fewest)
    return within_range(compare_errors(first, second, one, two, **options), metric)


def within_range(made: Difference, metric: str) -> Difference:
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
