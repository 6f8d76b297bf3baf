"""Labels that only the model has: they have no truth to be amplified, and are measured apart, group by group."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation, LabelSet
from biasamp.data.label import Mask
from biasamp.resampling.significance import fisher_exact, q_values
from biasamp.results import Table
from biasamp.results.interval import plain

from .group_rates import one_of_many
from .result import Amplification

# Differences between groups whose intervals are made; beyond, labels have rates and tests alone.
_MOST_DIFFERENCES = 100_000


def predicted_joint(counts: PairCounts, invented: Mask) -> JointCounts:
    """The joint counts of groups and of the invented labels among the predictions."""
    everyone = np.ones(len(counts.given_labels), dtype=bool)
    few = counts.only(everyone, invented)
    arrays = few.n, few.given, few.predicted, few.joint_predicted, few.squared
    return JointCounts(few.given_labels, few.outcome_labels, few.records, *arrays)


def invented_labels(
    joint: JointCounts, *, exclusive: bool, level: float = 0.95, clustered: bool = False
) -> list[dict[str, Any]]:
    """One entry for each invented label: its rate in every group, and how far groups are apart.

    The difference is that of the largest and the smallest rate. Its interval holds the largest of all differences:
    intervals of every two groups at a level that holds for all of them together, the largest lower and the largest
    upper bound, cut at 0. The test is Fisher's of each group against the others, its smallest p-value times
    the number of groups (two groups are one test). Where records come in clusters there is neither.

    Parameters
    ----------
    joint : JointCounts
        Of groups and of invented labels; with weights the effective number of records takes the place of their sum.
    exclusive : bool
        Whether a record is of one group at most.
    level : float
        The level of the intervals.
    clustered : bool
        Whether records come in clusters.
    """
    shape = joint.joint.shape
    held, size, n = (np.broadcast_to(floats(x), shape) for x in (joint.joint, joint.left, joint.n))
    total = np.broadcast_to(floats(joint.right), shape)
    scale = np.broadcast_to(joint.effective, shape) / np.maximum(n, np.finfo(float).tiny)
    hits, sizes, others, rest = (np.rint(scale * x) for x in (held, size, total - held, n - size))
    p_each = np.nan_to_num(fisher_exact(np.minimum(hits, sizes), sizes, np.minimum(others, rest), rest), nan=1.0)
    there = (sizes > 0).sum(axis=0)
    out = []
    for k, label in enumerate(joint.right_labels):
        groups = np.flatnonzero(size[:, k] > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.where(size[:, k] > 0, held[:, k] / size[:, k], np.nan)
        entry: dict[str, Any] = {
            "variable": label.variable,
            "label": str(label),
            "category": label.category,
            "count": plain(total[0, k]),
            "rate": plain(total[0, k] / n[0, k]),
            "groups": [
                {"group": str(joint.left_labels[g]), **_figures(count=held[g, k], records=size[g, k], rate=rates[g])}
                for g in groups.tolist()
            ],
        }
        low = high = p = difference = None
        between = None
        if len(groups) > 1:
            highest, lowest = int(np.nanargmax(rates)), int(np.nanargmin(rates))
            between = [str(joint.left_labels[g]) for g in (highest, lowest)]
            difference = plain(rates[highest] - rates[lowest])
            if not clustered:
                tests = 1 if exclusive and there[k] == 2 else int(there[k])
                p = min(1.0, tests * float(p_each[groups, k].min()))
                low, high = _largest(hits[groups, k], sizes[groups, k], level, len(joint.right_labels))
        entry.update(between=between, difference=difference, low=low, high=high, p=p)
        out.append(entry)
    return out


def _figures(**values: Any) -> dict[str, Any]:
    return {name: plain(value) for name, value in values.items()}


def _largest(hits: Any, sizes: Any, level: float, labels: int) -> tuple[float | None, float | None]:
    """The interval of the largest difference between groups."""
    pairs = list(combinations(range(len(hits)), 2)) if len(hits) ** 2 * labels <= 2 * _MOST_DIFFERENCES else []
    pairs = [(a, b) for a, b in pairs if sizes[a] > 0 and sizes[b] > 0]
    if not pairs:
        return None, None
    rates = hits / np.maximum(sizes, 1.0)
    bounds = [one_of_many(rates[a], sizes[a], rates[b], sizes[b], level, len(pairs)) for a, b in pairs]
    bounds += [(-high, -low) for low, high in bounds]
    return float(max(0.0, *(low for low, _ in bounds))), float(max(0.0, *(high for _, high in bounds)))


def with_q(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries with q-values over all of them."""
    p = np.array([np.nan if entry["p"] is None else entry["p"] for entry in entries])
    return [{**entry, "q": plain(q)} for entry, q in zip(entries, q_values(p), strict=True)]


def invented_table(entries: Sequence[Mapping[str, Any]]) -> Table:
    """One row for each invented label and group."""
    return Table.from_rows(list(_rows(entries)))


def _rows(entries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        about = {name: entry[name] for name in ("attribute", "direction", "variable", "label") if name in entry}
        apart = {name: entry[name] for name in ("difference", "low", "high", "p", "q")}
        for row in entry["groups"]:
            yield {**about, **row, **apart}


def invented_of(evaluation: Evaluation, invented: LabelSet | None) -> Table:
    """The labels that only predictions have, group by group; empty where there are none."""
    if invented is None:
        return Table({})
    joint = JointCounts.from_labels(evaluation.given, invented, evaluation.weights)
    clustered = evaluation.clusters is not None
    return invented_table(with_q(invented_labels(joint, exclusive=evaluation.given.exclusive, clustered=clustered)))


def with_apart(
    result: Amplification, unsigned: tuple[dict[str, Any], ...], evaluation: Evaluation, invented: LabelSet | None
) -> Amplification:
    """A result with what is no pair of it: pairs without a sign, and the labels that only predictions have."""
    if invented is not None:
        result = replace(result, invented=invented_of(evaluation, invented))
    return replace(result, excluded=(*result.excluded, *unsigned)) if unsigned else result


def warn_of(unsigned: Sequence[Mapping[str, Any]]) -> None:
    """Say how many pairs have no sign."""
    if unsigned:
        warnings.warn(
            f"{len(unsigned):,} pairs are left out of the mean: {unsigned[0]['reason']}; .excluded lists them",
            UserWarning,
            stacklevel=3,
        )
