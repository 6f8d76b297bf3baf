"""Ranks of labels, and rankings of one result under different metrics side by side."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasamp.results.table import Table, text

from .association_metric import Array

if TYPE_CHECKING:
    from .association_result import Association

# Blocks this small are compared pair by pair.
_BLOCK = 64


def competition_ranks(values: Array, ranked: NDArray[np.bool_]) -> Array:
    """1 for the largest value; equal values share the better rank; NaN for what is not ranked.

    >>> import numpy as np
    >>> competition_ranks(np.array([1.0, 3.0, 3.0, 2.0]), np.array([True, True, True, False])).tolist()
    [3.0, 1.0, 1.0, nan]
    """
    out = np.full(len(values), np.nan)
    there = ranked & ~np.isnan(values)
    kept = values[there]
    out[there] = len(kept) - np.searchsorted(np.sort(kept), kept, side="right") + 1
    return out


def kept_order(a: Array, b: Array) -> float:
    """Share of pairs that two rankings put in the same order, ties by both included; NaN below two items.

    >>> import numpy as np
    >>> kept_order(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    0.6666666666666666
    """
    there = ~(np.isnan(a) | np.isnan(b))
    a, b = a[there], b[there]
    n = len(a)
    if n < 2:
        return float("nan")
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    total = n * (n - 1) // 2
    ordered = np.sort(b)
    tied_a, tied_b = _run_pairs(a[1:] == a[:-1]), _run_pairs(ordered[1:] == ordered[:-1])
    tied_both = _run_pairs((a[1:] == a[:-1]) & (b[1:] == b[:-1]))
    # Sorted by a and then b, the inversions of b are the pairs that a and b order in opposite ways.
    opposite = _inversions(b)
    kept = total - opposite - (tied_a - tied_both) - (tied_b - tied_both)
    return kept / total


def _run_pairs(same: NDArray[np.bool_]) -> int:
    """Pairs within runs of equal neighbours."""
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], ~same, [True]])))
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(values: Array) -> int:
    """Pairs i < j with values[i] > values[j]."""
    n = len(values)
    if n <= _BLOCK:
        return int(np.triu(values[:, None] > values[None, :], 1).sum())
    half = n // 2
    left, right = values[:half], values[half:]
    across = half * len(right) - int(np.searchsorted(np.sort(left), right, side="right").sum())
    return _inversions(left) + _inversions(right) + across


def top_counts(result: Association, k: int = 100, *, toward: str | None = None, against: str | None = None) -> Table:
    """How common the k top labels of each metric are: the paper's Tables 1, 5, 6 and 7.

    One row per metric and count (``C(y)`` and ``C(x,y)`` of each identity): minimum, maximum, mean and
    standard deviation over the top labels.
    """
    rows: list[tuple[Any, ...]] = []
    for metric in result.metrics:
        top = result.top(metric, k, toward=toward, against=against)
        columns = {"C(y)": top["count"], **{f"C({name},y)": top[f"count[{name}]"] for name in result.identities}}
        for name, values in columns.items():
            figures = (values.min, values.max, values.mean, values.std)
            rows.append((metric, name, len(values), *(float(of()) if len(values) else np.nan for of in figures)))
    return _table(("metric", "count", "labels", "min", "max", "mean", "std"), rows)


def agreement(result: Association, k: int = 100, *, toward: str | None = None, against: str | None = None) -> Table:
    """How far two metrics rank alike (Section 4.1 of the paper), one row per pair of metrics.

    ``shared`` is how many labels their tops of k have in common, ``order_shared`` the share of pairs of those
    labels that both metrics put in the same order, ``order`` the same over all ranked labels.
    """
    contrast, sign = result.gap_toward(toward, against)
    tops = {m: set(result.top(m, k, toward=toward, against=against)["label"]) for m in result.metrics}
    place = {label: i for i, label in enumerate(result.labels)}
    leans = {m: sign * result.values.lean(m, contrast) for m in result.metrics}
    ranked = result.ranked(contrast)
    rows: list[tuple[Any, ...]] = []
    for a, b in combinations(result.metrics, 2):
        shared = np.array(sorted(place[label] for label in tops[a] & tops[b]), dtype=np.int64)
        orders = [kept_order(leans[a][there], leans[b][there]) for there in (shared, ranked)]
        rows.append((a, b, len(shared), *orders))
    return _table(("metric_a", "metric_b", "shared", "order_shared", "order"), rows)


def _table(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Table:
    """Rows as a table whose first two columns are text."""
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    made = [text(column) if i < 2 else np.array(column) for i, column in enumerate(columns)]
    return Table(dict(zip(names, made, strict=True)))


def rank_changes(
    result: Association, metric_a: str, metric_b: str, *, toward: str | None = None, against: str | None = None
) -> Table:
    """Rank of every ranked label under two metrics, and how far it moves from the first to the second."""
    contrast, sign = result.gap_toward(toward, against)
    ranked = result.ranked(contrast)
    metrics = result.checked(metric_a, "metric_a"), result.checked(metric_b, "metric_b")
    leans = [sign * result.values.lean(metric, contrast) for metric in metrics]
    ranks = [competition_ranks(lean, ranked) for lean in leans]
    columns = {"label": text(result.labels), "name": text(result.names), "count": result.count}
    columns |= {"rank_a": ranks[0], "rank_b": ranks[1], "change": ranks[1] - ranks[0]}
    return Table(columns).take(ranked)
