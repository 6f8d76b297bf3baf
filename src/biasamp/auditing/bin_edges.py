"""Where the columns of a plan are cut into bins: at edges that are named, at quantiles, and where else they might be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biasamp.data import canonical
from biasamp.data.binning import BINNED, MOST_BINS, QUANTILES, numbers_to_cut, quantile_edges

from .plan import Plan, Spec
from .source import Source

# Edges are moved past so large a share of the records.
MOVED = 0.05
# Of a long tail, equal widths leave so much out at either end.
_TAIL = 0.01


def with_edges(plan: Plan, source: Source) -> Plan:
    """The plan with the edges of columns that are cut at the quantiles of these records, which are all."""

    def found(truth: Spec) -> Spec:
        if truth.declared != QUANTILES:
            return truth
        assert truth.categories is not None
        values = numbers_to_cut(source.column(truth.names[0]), truth.title)
        return cut_at(truth, quantile_edges(values, int(truth.categories[0]), truth.title))

    return replace_truths(plan, {name: found(one) for name, one in plan.groups.items()}, found(plan.task))


def cut_at(spec: Spec, edges: Sequence[float]) -> Spec:
    """The same column, cut at these edges."""
    return replace(spec, declared=BINNED, categories=tuple(canonical(edge) for edge in edges))


def replace_truths(plan: Plan, groups: Mapping[str, Spec], task: Spec) -> Plan:
    """The plan with other specs of the truth; predictions of what is cut into bins are cut alike."""

    def alike(truth: Spec, said: Spec | None) -> Spec | None:
        return (
            said if said is None or truth.edges is None else replace(said, declared=BINNED, categories=truth.categories)
        )

    predicted = tuple(alike(*pair) for pair in zip(groups.values(), plan.group_predictions, strict=True))
    return replace(
        plan, groups=groups, task=task, group_predictions=predicted, task_prediction=alike(task, plan.task_prediction)
    )


def other_edges(values: NDArray[np.float64], edges: Sequence[float]) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Edges that somebody else might have chosen for these numbers, each with how it differs; none is the one given.

    All edges moved past 5% of the records either way, bins of as many records each, bins of one width, each edge left out, and the
    bin with most records cut at its middle.

    >>> ages = np.arange(20.0, 70.0)
    >>> dict(other_edges(ages, (30.0, 50.0)))["edges higher, past 5% of the records"]
    (32.0, 52.0)
    """
    there = np.sort(values[np.isfinite(values)])
    given = tuple(float(edge) for edge in edges)
    cuts = np.array(given)
    below = np.searchsorted(there, cuts, side="left") / len(there)

    def at(shares: NDArray[np.float64]) -> tuple[float, ...]:
        # A share of exactly one value more or less must not hang on a rounding.
        places = np.floor(np.clip(shares, 0.0, 1.0) * len(there) + 1e-9).astype(np.int64)
        return tuple(there[np.minimum(places, len(there) - 1)].tolist())

    many = len(given) + 1
    low, high = at(np.array([_TAIL, 1.0 - _TAIL]))
    sizes = np.diff(np.concatenate([[0.0], below, [1.0]]))
    widest = int(np.argmax(sizes))
    middle = float(np.concatenate([[0.0], below])[widest] + sizes[widest] / 2)
    tried = [
        (f"edges lower, past {MOVED:.0%} of the records", at(below - MOVED)),
        (f"edges higher, past {MOVED:.0%} of the records", at(below + MOVED)),
        ("bins of as many records each", at(np.arange(1, many) / many)),
        ("bins of one width", tuple(np.linspace(low, high, many + 1)[1:-1].tolist())),
        *((f"without the edge {canonical(edge)}", tuple(e for e in given if e != edge)) for edge in given if many > 2),
        ("the largest bin cut in two", (*given, *at(np.array([middle])))),
    ]
    seen = {given}
    for how, found in tried:
        # An edge at or below the least number makes a bin that nobody is in.
        kept = tuple(sorted({edge for edge in found if there[0] < edge <= there[-1]}))
        if kept and kept not in seen and len(kept) < MOST_BINS:
            seen.add(kept)
            yield how, kept
