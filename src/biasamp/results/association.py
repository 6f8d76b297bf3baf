"""What ``associate`` hands back: every label's associations, gaps, tests and ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .amplification import plain
from .ranking import competition_ranks, kept_order
from .table import Table, text

Array = NDArray[np.float64]
Contrast = tuple[int, int | None]
_REST = "rest"


class Values(Protocol):
    """What a result can compute when it is asked."""

    def values(self, metric: str) -> Array: ...  # noqa: D102
    def gaps(self, metric: str, contrast: Contrast) -> Array: ...  # noqa: D102
    def lean(self, metric: str, contrast: Contrast) -> Array: ...  # noqa: D102
    def interval(self, metric: str, contrast: Contrast, level: float = 0.95) -> tuple[Array, Array, Array]: ...  # noqa: D102
    def independence(self, metric: str, contrast: Contrast) -> Array: ...  # noqa: D102
    def p_values(self, contrast: Contrast) -> Array: ...  # noqa: D102
    def q_values(self, contrast: Contrast) -> Array: ...  # noqa: D102


@dataclass(frozen=True, eq=False, repr=False)
class Association:
    """Associations of every label with every identity.

    Attributes
    ----------
    labels, names : tuple of str
        The key of each label, and what to show for it.
    identities : tuple of str
    members : tuple of tuple of str
        The labels that make up each identity.
    metrics : tuple of str
    n : int
        Records in all.
    count : ndarray of shape (labels,)
        C(y).
    identity_count : ndarray of shape (identities,)
        C(x).
    overlap : ndarray of shape (identities, identities)
        C(x1, x2).
    joint : ndarray of shape (labels, identities)
        C(x, y).
    expected : ndarray of shape (labels, identities)
        C(x) C(y) / n, the co-occurrence under independence.
    is_identity : ndarray of bool
        Labels that are part of an identity; they are marked, not ranked.
    contrasts : tuple
        The gaps: pairs of identities, then, with three or more, each identity against the rest
        (``(k, None)``).
    settings, reading : dict
        How the result was asked for, and what was met while reading the data.
    notes : tuple of str
        What was left out or counted once, in words.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    identities: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    metrics: tuple[str, ...]
    n: int
    count: NDArray[np.int64]
    identity_count: NDArray[np.int64]
    overlap: NDArray[np.int64]
    joint: NDArray[np.int64]
    expected: Array
    is_identity: NDArray[np.bool_]
    contrasts: tuple[Contrast, ...]
    settings: Mapping[str, Any]
    reading: Mapping[str, Any]
    notes: tuple[str, ...]
    version: str
    values: Values
    _kept: dict[Any, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Association({len(self.labels)} labels, {self.n} records, identities {', '.join(self.identities)}; "
            f"{len(self.excluded)} labels not ranked)"
        )

    # --- which labels are ranked -------------------------------------------------------------------------

    def why_not(self, contrast: Contrast | None = None) -> NDArray[Any]:
        """Why each label is not ranked in a gap (by default the first); the empty text where it is."""
        contrast = self._contrast(contrast)
        if ("why", contrast) in self._kept:
            kept: NDArray[Any] = self._kept["why", contrast]
            return kept
        why = np.full(len(self.labels), "", dtype=object)
        first, second = contrast
        used = range(len(self.identities)) if second is None else (first, second)
        empty = np.column_stack([self.joint[:, k] == 0 for k in used])
        smooth = self.settings["zero"] == "smooth"
        if self.settings["zero"] == "drop":
            why[empty.any(axis=1)] = "never occurs with one of the identities (zero='drop')"
        if not smooth:
            # Two infinities of one sign have no difference.
            alone = empty.all(axis=1) if second is not None else empty[:, first] & (empty.sum(axis=1) > 1)
            why[alone] = "never occurs with the identities that are compared"
        why[self.count == self.n] = "every record has it"
        rare = (self.expected < self.settings["min_expected"]).any(axis=1)
        why[rare] = "too rare to rank: expected co-occurrence below min_expected"
        why[self.count < self.settings["min_count"]] = "too rare to rank: count below min_count"
        why[self.is_identity] = "is part of an identity"
        self._kept["why", contrast] = why
        return why

    def ranks(self, metric: str, contrast: Contrast | None = None, *, include_identities: bool = False) -> Array:
        """Rank of each label by its gap, 1 for the label that leans most to x1; NaN where it is not ranked.

        Labels with equal gaps share the better rank.
        """
        metric, contrast = self._metric(metric), self._contrast(contrast)
        key = ("ranks", metric, contrast, include_identities)
        if key not in self._kept:
            lean = self.values.lean(metric, contrast)
            self._kept[key] = competition_ranks(lean, self._ranked(contrast, include_identities))
        out: Array = self._kept[key]
        return out

    def _ranked(self, contrast: Contrast, include_identities: bool = False) -> NDArray[np.bool_]:
        why = self.why_not(contrast)
        ranked: NDArray[np.bool_] = why == ""
        if include_identities:
            ranked = ranked | self.is_identity
        return ranked

    @property
    def excluded(self) -> tuple[dict[str, Any], ...]:
        """The labels that are not ranked in some gap, with the reason and their counts."""
        if "excluded" not in self._kept:
            out = []
            for contrast in self.contrasts or ((0, None),):
                why = self.why_not(contrast) if self.contrasts else np.array([], dtype=object)
                for i in np.flatnonzero(why != "").tolist():
                    row: dict[str, Any] = {
                        "label": self.labels[i],
                        "name": self.names[i],
                        "why": why[i],
                        "count": int(self.count[i]),
                        "joint": {x: int(c) for x, c in zip(self.identities, self.joint[i], strict=True)},
                    }
                    if len(self.contrasts) > 1:
                        row["gap"] = self._gap_name(contrast)
                    out.append(row)
            self._kept["excluded"] = tuple(out)
        found: tuple[dict[str, Any], ...] = self._kept["excluded"]
        return found

    # --- tables ------------------------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        """One row a label: counts, probabilities, and for every metric values, gaps, limits and ranks.

        With one gap its columns are called ``dp_gap``, ``dp_low``, ``dp_high``, ``dp_null``, ``dp_rank``, ``p``
        and ``q``; with several, ``dp_gap[man,woman]`` and so on. ``dp_null`` is the gap under independence, where
        that is not 0.
        """
        if "table" in self._kept:
            kept: Table = self._kept["table"]
            return kept
        columns: dict[str, NDArray[Any]] = {
            "label": text(self.labels),
            "name": text(self.names),
            "count": self.count,
            "probability": self.count / self.n,
            "identity": self.is_identity,
        }
        for k, name in enumerate(self.identities):
            columns[f"count[{name}]"] = self.joint[:, k]
        for k, name in enumerate(self.identities):
            columns[f"probability[{name}]"] = self.joint[:, k] / self.n
            columns[f"expected[{name}]"] = self.expected[:, k]
        for metric in self.metrics:
            values = self.values.values(metric)
            for k, name in enumerate(self.identities):
                columns[f"{metric}[{name}]"] = values[:, k]
        for contrast in self.contrasts:
            end = "" if len(self.contrasts) == 1 else f"[{self._gap_name(contrast)}]"
            why = self.why_not(contrast)
            columns[f"ranked{end}"] = why == ""
            columns[f"why_not{end}"] = why
            if contrast[1] is not None:
                columns[f"p{end}"] = self.values.p_values(contrast)
                columns[f"q{end}"] = self.values.q_values(contrast)
            for metric in self.metrics:
                low, high, _ = self.values.interval(metric, contrast)
                columns[f"{metric}_gap{end}"] = self.values.gaps(metric, contrast)
                columns[f"{metric}_low{end}"] = low
                columns[f"{metric}_high{end}"] = high
                if self._has_null(metric):
                    columns[f"{metric}_null{end}"] = self.values.independence(metric, contrast)
                columns[f"{metric}_rank{end}"] = self.ranks(metric, contrast)
        self._kept["table"] = Table(columns)
        out: Table = self._kept["table"]
        return out

    def top(
        self,
        metric: str = "npmi_xy",
        k: int = 10,
        *,
        toward: str | None = None,
        against: str | None = None,
        include_identities: bool = False,
    ) -> Table:
        """The labels that lean most to an identity.

        Parameters
        ----------
        metric : str
        k : int
            How many labels.
        toward : str, optional
            The identity; by default the first.
        against : str, optional
            The identity it is compared with. With two identities it is the other one; with more, the default
            is the mean of all others.
        include_identities : bool
            Whether labels that are part of an identity are listed too.

        Returns
        -------
        Table
            rank, label, name, count, the count with each identity, gap, low, high, null (the gap under
            independence), p, q. A positive gap leans to ``toward`` (as printed, nPMI gaps lean the other way).
            Ties go by count, then by label.
        """
        metric = self._metric(metric)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
            raise ValueError(f"k is {k!r}; a whole number of 0 or more is needed")
        contrast, sign = self._toward(toward, against)
        lean = sign * self.values.lean(metric, contrast)
        ranked = self._ranked(contrast, include_identities) & ~np.isnan(lean)
        ranks = competition_ranks(lean, ranked)
        place = np.flatnonzero(ranked)
        order = place[np.lexsort((place, -self.count[place], ranks[place]))][:k]
        low, high, _ = self.values.interval(metric, contrast)
        if sign < 0:
            low, high = 0.0 - high, 0.0 - low
        columns: dict[str, NDArray[Any]] = {
            "rank": ranks[order].astype(np.int64),
            "label": text([self.labels[i] for i in order]),
            "name": text([self.names[i] for i in order]),
            "count": self.count[order],
        }
        for j, name in enumerate(self.identities):
            columns[f"count[{name}]"] = self.joint[order, j]
        columns["gap"] = (sign * self.values.gaps(metric, contrast))[order] + 0.0
        columns["low"], columns["high"] = low[order], high[order]
        columns["null"] = (sign * self.values.independence(metric, contrast))[order] + 0.0
        columns["p"] = self.values.p_values(contrast)[order]
        columns["q"] = self.values.q_values(contrast)[order]
        return Table(columns)

    def top_counts(self, k: int = 100, *, toward: str | None = None, against: str | None = None) -> Table:
        """How common the k top labels of each metric are: the paper's Tables 1, 5, 6 and 7.

        One row a metric and count (``C(y)`` and ``C(x,y)`` of each identity): minimum, maximum, mean and
        standard deviation over the top labels.
        """
        rows: dict[str, list[Any]] = {name: [] for name in ("metric", "count", "labels", "min", "max", "mean", "std")}
        for metric in self.metrics:
            top = self.top(metric, k, toward=toward, against=against)
            columns = {"C(y)": top["count"]}
            columns.update({f"C({name},y)": top[f"count[{name}]"] for name in self.identities})
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

    def agreement(self, k: int = 100, *, toward: str | None = None, against: str | None = None) -> Table:
        """How far two metrics rank alike (Section 4.1 of the paper), one row a pair of metrics.

        ``shared`` is how many labels their tops of k have in common, ``order_shared`` the share of pairs of those
        labels that both metrics put in the same order, ``order`` the same over all ranked labels.
        """
        contrast, sign = self._toward(toward, against)
        tops = {m: list(self.top(m, k, toward=toward, against=against)["label"]) for m in self.metrics}
        place = {label: i for i, label in enumerate(self.labels)}
        leans = {m: sign * self.values.lean(m, contrast) for m in self.metrics}
        ranked = self._ranked(contrast)
        rows: dict[str, list[Any]] = {name: [] for name in ("metric_a", "metric_b", "shared", "order_shared", "order")}
        for i, a in enumerate(self.metrics):
            for b in self.metrics[i + 1 :]:
                in_both = set(tops[a]) & set(tops[b])
                shared = np.array(sorted(place[label] for label in in_both), dtype=np.int64)
                rows["metric_a"].append(a)
                rows["metric_b"].append(b)
                rows["shared"].append(len(shared))
                rows["order_shared"].append(kept_order(leans[a][shared], leans[b][shared]))
                rows["order"].append(kept_order(leans[a][ranked], leans[b][ranked]))
        return Table({n: text(v) if n.startswith("metric") else np.array(v) for n, v in rows.items()})

    def rank_changes(
        self, metric_a: str, metric_b: str, *, toward: str | None = None, against: str | None = None
    ) -> Table:
        """Rank of every ranked label under two metrics, and how far it moves from the first to the second."""
        contrast, sign = self._toward(toward, against)
        ranked = self._ranked(contrast)
        ranks = [
            competition_ranks(sign * self.values.lean(self._metric(m), contrast), ranked) for m in (metric_a, metric_b)
        ]
        there = np.flatnonzero(ranked)
        return Table(
            {
                "label": text([self.labels[i] for i in there]),
                "name": text([self.names[i] for i in there]),
                "count": self.count[there],
                "rank_a": ranks[0][there],
                "rank_b": ranks[1][there],
                "change": ranks[1][there] - ranks[0][there],
            }
        )

    # --- handing on --------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold: null for undefined, "inf" and "-inf" for limits."""
        labels = [
            {
                "label": label,
                "name": name,
                "count": int(count),
                "identity": bool(own),
                "identities": [{"identity": x, "joint": int(self.joint[i, k])} for k, x in enumerate(self.identities)],
                "gaps": [],
            }
            for i, (label, name, count, own) in enumerate(
                zip(self.labels, self.names, self.count, self.is_identity, strict=True)
            )
        ]
        for metric in self.metrics:
            values = self.values.values(metric).tolist()
            for row, of_label in zip(labels, values, strict=True):
                for entry, value in zip(row["identities"], of_label, strict=True):  # type: ignore[call-overload]
                    entry[metric] = plain(value)
        for contrast in self.contrasts:
            for row, gap in zip(labels, self._gap_dicts(contrast), strict=True):
                row["gaps"].append(gap)  # type: ignore[attr-defined]
        return {
            "schema": 1,
            "kind": "association",
            "version": self.version,
            "n": self.n,
            "identities": [
                {"identity": x, "labels": list(group), "count": int(c)}
                for x, group, c in zip(self.identities, self.members, self.identity_count, strict=True)
            ],
            "overlap": self.overlap.tolist(),
            "metrics": list(self.metrics),
            "settings": {key: plain(value) for key, value in self.settings.items()},
            "data": dict(self.reading),
            "notes": list(self.notes),
            "labels": labels,
            "excluded": list(self.excluded),
        }

    def _gap_dicts(self, contrast: Contrast) -> list[dict[str, Any]]:
        first, second = contrast
        p, q = self.values.p_values(contrast).tolist(), self.values.q_values(contrast).tolist()
        why = self.why_not(contrast).tolist()
        rows: list[dict[str, Any]] = [
            {
                "x1": self.identities[first],
                "x2": None if second is None else self.identities[second],
                "p": plain(p_),
                "q": plain(q_),
                "ranked": reason == "",
                "why_not": reason or None,
                "low": {},
                "high": {},
                "rank": {},
                "independence": {},
            }
            for p_, q_, reason in zip(p, q, why, strict=True)
        ]
        for metric in self.metrics:
            low, high, _ = self.values.interval(metric, contrast)
            parts = {
                "low": low,
                "high": high,
                "rank": self.ranks(metric, contrast),
                "independence": self.values.independence(metric, contrast),
            }
            for row, gap in zip(rows, self.values.gaps(metric, contrast).tolist(), strict=True):
                row[metric] = plain(gap)
            for part, numbers in parts.items():
                for row, number in zip(rows, numbers.tolist(), strict=True):
                    row[part][metric] = plain(number)
        return rows

    def _repr_html_(self) -> str:
        from html import escape

        if not self.contrasts:
            return f"<p>{escape(repr(self))}</p>"
        blocks = []
        metric = "npmi_xy" if "npmi_xy" in self.metrics else self.metrics[0]
        for identity in self.identities:
            rows = "".join(
                f"<tr><td>{escape(row['name'][:80])}</td><td>{row['count']}</td><td>{_shown(row['gap'])}</td>"
                f"<td>{_shown(row['low'])}</td><td>{_shown(row['high'])}</td><td>{_shown(row['q'])}</td></tr>"
                for row in self.top(metric, 10, toward=identity).rows()
            )
            blocks.append(
                f"<p><b>{escape(metric)}</b> toward {escape(identity)}</p><table><tr><th>label</th><th>count</th>"
                f"<th>gap</th><th>low</th><th>high</th><th>q</th></tr>{rows}</table>"
            )
        return f"<p>{escape(repr(self))}</p>" + "".join(blocks)

    # --- names of metrics and gaps -----------------------------------------------------------------------

    def _metric(self, metric: str) -> str:
        if metric not in self.metrics:
            raise ValueError(f"metric is {metric!r}; this result holds {', '.join(self.metrics)}")
        return metric

    def _has_null(self, metric: str) -> bool:
        printed = self.settings["paper_literal"] and metric == "tau_b"
        return metric in ("pmi2", "sdc", "ji", "llr") or printed

    def _contrast(self, contrast: Contrast | None) -> Contrast:
        if not self.contrasts:
            raise ValueError("one identity has no gap: name two or more identities")
        if contrast is None:
            return self.contrasts[0]
        if contrast not in self.contrasts:
            raise ValueError(f"contrast is {contrast!r}; this result holds {list(self.contrasts)}")
        return contrast

    def _gap_name(self, contrast: Contrast) -> str:
        first, second = contrast
        return f"{self.identities[first]},{_REST if second is None else self.identities[second]}"

    def _toward(self, toward: str | None, against: str | None) -> tuple[Contrast, float]:
        """The gap that measures how a label leans to an identity, and its sign."""
        self._contrast(None)
        first = 0 if toward is None else self._identity("toward", toward)
        if against is None:
            if len(self.identities) > 2:
                return (first, None), 1.0
            second = 1 - first
        else:
            second = self._identity("against", against)
            if second == first:
                raise ValueError(f"toward and against are both {against!r}; two identities are compared")
        return ((first, second), 1.0) if first < second else ((second, first), -1.0)

    def _identity(self, role: str, name: str) -> int:
        if name not in self.identities:
            raise ValueError(f"{role} is {name!r}; the identities are {', '.join(map(repr, self.identities))}")
        return self.identities.index(name)


def _shown(value: float | None) -> str:
    return "" if value is None else format(value, "+.4g")
