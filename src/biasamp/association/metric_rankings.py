"""Rankings of one result under different metrics, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biasamp.results.table import Table, text

from .ranking import competition_ranks, kept_order

if TYPE_CHECKING:
    from .association_result import Association


def top_counts(result: Association, k: int = 100, *, toward: str | None = None, against: str | None = None) -> Table:
    """How common the k top labels of each metric are: the paper's Tables 1, 5, 6 and 7.

    One row a metric and count (``C(y)`` and ``C(x,y)`` of each identity): minimum, maximum, mean and
    standard deviation over the top labels.
    """
    rows: dict[str, list[Any]] = {name: [] for name in ("metric", "count", "labels", "min", "max", "mean", "std")}
    for metric in result.metrics:
        top = result.top(metric, k, toward=toward, against=against)
        columns = {"C(y)": top["count"]}
        columns.update({f"C({name},y)": top[f"count[{name}]"] for name in result.identities})
        for name, values in columns.items():
            filled = len(values) > 0
            rows["metric"].append(metric)
            rows["count"].append(name)
            rows["labels"].append(len(values))
            rows["min"].append(float(values.min()) if filled else np.nan)
            rows["max"].append(float(values.max()) if filled else np.nan)
            rows["mean"].append(float(values.mean()) if filled else np.nan)
            rows["std"].append(float(values.std()) if filled else np.nan)
    return Table({n: text(v) if n in ("metric", "count") else np.array(v) for n, v in rows.items()})


def agreement(result: Association, k: int = 100, *, toward: str | None = None, against: str | None = None) -> Table:
    """How far two metrics rank alike (Section 4.1 of the paper), one row a pair of metrics.

    ``shared`` is how many labels their tops of k have in common, ``order_shared`` the share of pairs of those
    labels that both metrics put in the same order, ``order`` the same over all ranked labels.
    """
    contrast, sign = result._toward(toward, against)
    tops = {m: list(result.top(m, k, toward=toward, against=against)["label"]) for m in result.metrics}
    place = {label: i for i, label in enumerate(result.labels)}
    leans = {m: sign * result.values.lean(m, contrast) for m in result.metrics}
    ranked = result._ranked(contrast)
    rows: dict[str, list[Any]] = {name: [] for name in ("metric_a", "metric_b", "shared", "order_shared", "order")}
    for i, a in enumerate(result.metrics):
        for b in result.metrics[i + 1 :]:
            in_both = set(tops[a]) & set(tops[b])
            shared = np.array(sorted(place[label] for label in in_both), dtype=np.int64)
            rows["metric_a"].append(a)
            rows["metric_b"].append(b)
            rows["shared"].append(len(shared))
            rows["order_shared"].append(kept_order(leans[a][shared], leans[b][shared]))
            rows["order"].append(kept_order(leans[a][ranked], leans[b][ranked]))
    return Table({n: text(v) if n.startswith("metric") else np.array(v) for n, v in rows.items()})


def rank_changes(
    result: Association, metric_a: str, metric_b: str, *, toward: str | None = None, against: str | None = None
) -> Table:
    """Rank of every ranked label under two metrics, and how far it moves from the first to the second."""
    contrast, sign = result._toward(toward, against)
    ranked = result._ranked(contrast)
    ranks = [
        competition_ranks(sign * result.values.lean(result._metric(m), contrast), ranked) for m in (metric_a, metric_b)
    ]
    there = np.flatnonzero(ranked)
    return Table(
        {
            "label": text([result.labels[i] for i in there]),
            "name": text([result.names[i] for i in there]),
            "count": result.count[there],
            "rank_a": ranks[0][there],
            "rank_b": ranks[1][there],
            "change": ranks[1][there] - ranks[0][there],
        }
    )
