r"""Gaps among records of the same stratum: what a label leans to once another label is held fixed.

Strata are labels themselves ('outdoors'), of which a record has one at most, and the records that have none of them.
They are counted as identities are: ``C(x, s, y)`` is what two identities share, so that conditional gaps follow from
the same counts, which add up.

For DP the gap is the risk difference of Mantel and Haenszel, with Sato's variance; for other metrics the mean of the
gaps within strata with the same weights :math:`n_1 n_2 / (n_1 + n_2)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.shared_counts import SharedCounts
from biasamp.data import printable
from biasamp.resampling.significance import normal_quantile, q_values
from biasamp.results import Table, text

from .association_metric import Array
from .values import Moments, gap_intervals

# What the stratum of records that have none of the labels is called.
REST = "none of them"
_SHOWN = 5
_HALF = 0.5


def some_identities(counts: AssociationCounts, places: Sequence[int]) -> AssociationCounts:
    """The counts of some of the identities."""
    keep = np.array(places, dtype=np.int64)
    first, second = np.divmod(counts.shared.pair, len(counts.identities))
    new = np.full(len(counts.identities), -1, dtype=np.int64)
    new[keep] = np.arange(len(keep))
    a, b = new[first], new[second]
    there = (a >= 0) & (b >= 0)
    pair = np.minimum(a, b)[there] * len(keep) + np.maximum(a, b)[there]
    return replace(
        counts,
        identities=tuple(counts.identities[i] for i in places),
        members=tuple(counts.members[i] for i in places),
        overlap=counts.overlap[np.ix_(keep, keep)],
        identity_joint=counts.identity_joint[:, keep],
        shared=SharedCounts.of_cells(len(keep), pair, counts.shared.label[there], counts.shared.values[there]),
        bags=None,
    )


def with_crossings(counts: AssociationCounts, between: str = " & ") -> AssociationCounts:
    """The counts of identities that are two of these at once, such as 'woman & young'.

    Every two identities that some record has together make one. How far crossings overlap is known only where they
    exclude each other: of any two, some identity of one and some of the other never meet. Else they are refused.
    """
    pairs = [(a, b) for a, b in combinations(range(len(counts.identities)), 2) if counts.overlap[a, b]]
    if len(pairs) < 2:
        raise ValueError(
            "crossings=True crosses identities that records have together, and of "
            f"{', '.join(repr(printable(name, 30)) for name in counts.identities[:_SHOWN])} "
            f"{'a single pair is' if pairs else 'no pair is'} found together: name identities of two kinds, such as man, "
            "woman, young and old"
        )
    for one, two in combinations(pairs, 2):
        held = sorted({*one, *two})
        if not any(counts.overlap[a, b] == 0 for a, b in combinations(held, 2)):
            names = ", ".join(repr(printable(counts.identities[i], 30)) for i in held)
            raise ValueError(
                f"crossings=True: records may have all of {names} at once, and counts do not say how many do. Name identities "
                "of two kinds, of each of which a record has one at most"
            )
    size = np.array([counts.overlap[a, b] for a, b in pairs], dtype=np.int64)
    return replace(
        counts,
        identities=tuple(f"{counts.identities[a]}{between}{counts.identities[b]}" for a, b in pairs),
        members=tuple((*counts.members[a], *counts.members[b]) for a, b in pairs),
        overlap=np.diag(size),
        identity_joint=np.column_stack([counts.both(a, b) for a, b in pairs]),
        shared=SharedCounts.none(len(pairs)),
        bags=None,
    )


@dataclass(frozen=True, eq=False)
class Stratum:
    """The counts of one stratum: C(s), C(s, y), C(x, s), C(x, s, y)."""

    name: str
    n: int
    count: NDArray[np.int64]
    size: NDArray[np.int64]
    joint: NDArray[np.int64]

    @property
    def moments(self) -> Moments:
        """As the delta method needs them; identities exclude each other here."""
        joint = self.joint

        def both(first: int, second: int) -> Any:
            return joint[:, first] if first == second else np.zeros(len(joint))

        return Moments(self.n, self.count, np.diag(self.size), joint, both)


def strata_of(counts: AssociationCounts, identities: Sequence[int], strata: Sequence[int]) -> tuple[Stratum, ...]:
    """The counts of identities in every stratum, the records without any of them last.

    A record must not have two identities that are compared, nor two strata.
    """
    for what, places in (("strata", strata), ("identities", identities)):
        for a, b in combinations(places, 2):
            if counts.overlap[a, b]:
                raise ValueError(
                    f"{what} {printable(counts.identities[a], 40)!r} and {printable(counts.identities[b], 40)!r} meet in "
                    f"{int(counts.overlap[a, b]):,} record{'s' if counts.overlap[a, b] > 1 else ''}: with strata, name labels of which a record has one at most"
                )
    out = []
    for s in strata:
        joint = np.column_stack([counts.both(x, s) for x in identities])
        size = counts.overlap[list(identities), s]
        out.append(Stratum(counts.identities[s], int(counts.overlap[s, s]), counts.identity_joint[:, s], size, joint))
    rest = Stratum(
        REST,
        counts.n - sum(held.n for held in out),
        counts.count - sum(held.count for held in out),
        counts.identity_count[list(identities)] - sum(held.size for held in out),
        counts.identity_joint[:, list(identities)] - sum(held.joint for held in out),
    )
    return (*out, rest) if rest.n else tuple(out)


def mantel_haenszel(a: Array, n1: Array, b: Array, n2: Array) -> tuple[Array, Array]:
    r"""The risk difference of Mantel and Haenszel over strata (first axis), and the square root of Sato's variance.

    .. math::
        \hat\delta = \frac{\sum_s (a_s n_{2s} - b_s n_{1s}) / n_s}{\sum_s n_{1s} n_{2s} / n_s}, \quad
        \operatorname{Var} = \frac{\hat\delta \sum_s P_s + \sum_s Q_s}{(\sum_s n_{1s} n_{2s} / n_s)^2}

    with :math:`P_s = [n_1^2 b - n_2^2 a + n_1 n_2 (n_2 - n_1) / 2] / n^2` and
    :math:`Q_s = [a (n_2 - b) + b (n_1 - a)] / 2n` of each stratum. It holds for few large and for many small strata.

    References
    ----------
    Sato, T. (1989). On the variance estimator for the Mantel-Haenszel risk difference. Biometrics 45, 1323-1324.
    """
    # A stratum without one of the groups adds 0 to every sum, one without records too.
    total = np.maximum(n1 + n2, 1.0)
    weight = (n1 * n2 / total).sum(axis=0)
    moved = ((a * n2 - b * n1) / total).sum(axis=0)
    p = (n1**2 * b - n2**2 * a + n1 * n2 * (n2 - n1) / 2.0) / total**2
    q = (a * (n2 - b) + b * (n1 - a)) / (2.0 * total)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = moved / weight
        variance = (gap * p.sum(axis=0) + q.sum(axis=0)) / weight**2
    return gap, np.sqrt(np.maximum(variance, 0.0))


def mantel_haenszel_p(a: Array, n1: Array, b: Array, n2: Array) -> Array:
    """Two-sided p-values that a label is as frequent with both identities in every stratum (Mantel and Haenszel 1959)."""
    from scipy.special import erfc

    total, held = n1 + n2, a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(total > 0, n1 * held / total, 0.0)
        spread = np.where(total > 1, n1 * n2 * held * (total - held) / (total**2 * (total - 1.0)), 0.0)
        z = np.abs((a - mean).sum(axis=0)) / np.sqrt(spread.sum(axis=0))
    # Where nothing can vary nothing did: 0 / 0.
    return np.asarray(erfc(np.nan_to_num(z) / np.sqrt(2.0)))


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalGaps:
    """Gaps of every label among records of the same stratum.

    Attributes
    ----------
    labels, names, identities : tuple of str
    metrics : tuple of str
    strata : tuple of Stratum
    tested : ndarray of bool
        The labels that are neither identity nor stratum.
    settings : mapping
        How the result was asked for.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    identities: tuple[str, ...]
    metrics: tuple[str, ...]
    strata: tuple[Stratum, ...]
    tested: NDArray[np.bool_]
    settings: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<conditional gaps of {len(self.labels):,} labels in {len(self.strata):,} strata>"

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The identities that are compared."""
        return list(combinations(range(len(self.identities)), 2))

    def _cells(self, pair: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
        """Co-occurrences and sizes of two identities, of shape (strata, labels) and (strata, 1)."""
        first, second = pair
        a, b = (np.stack([s.joint[:, k] for s in self.strata]).astype(np.float64) for k in (first, second))
        n1, n2 = (np.array([[s.size[k]] for s in self.strata], dtype=np.float64) for k in (first, second))
        return a, n1, b, n2

    def gaps(self, metric: str, pair: tuple[int, int], level: float = 0.95) -> tuple[Array, Array, Array, Array]:
        """Gap, lower and upper limit of every label, and how many strata are in it."""
        a, n1, b, n2 = self._cells(pair)
        z = normal_quantile(level)
        if metric == "dp":
            gap, error = mantel_haenszel(a, n1, b, n2)
            # A label never seen with an identity has a rate somewhere below one record: half a record stands for it.
            empty = (a.sum(axis=0) == 0) | (b.sum(axis=0) == 0)
            filled = [
                held + _HALF * (held.sum(axis=0) == 0) * size / max(float(size.sum()), 1.0)
                for held, size in ((a, n1), (b, n2))
            ]
            error = np.where(empty, mantel_haenszel(filled[0], n1, filled[1], n2)[1], error)
            used = np.broadcast_to(((n1 > 0) & (n2 > 0)).sum(axis=0), gap.shape)
            return gap, np.maximum(gap - z * error, -1.0), np.minimum(gap + z * error, 1.0), used
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = n1 * n2 / (n1 + n2)
        each, error = self.inside(metric, pair)
        there = np.isfinite(each) & (weight > 0)
        weight = np.where(there, weight, 0.0)
        total = weight.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = (weight * np.where(there, each, 0.0)).sum(axis=0) / total
            reach = z * np.sqrt((weight**2 * np.where(there, error, 0.0) ** 2).sum(axis=0)) / total
        return gap, gap - reach, gap + reach, there.sum(axis=0)

    def inside(self, metric: str, pair: tuple[int, int]) -> tuple[Array, Array]:
        """Gap and standard error of every label in every stratum; not finite where it is undefined."""
        literal = bool(self.settings["paper_literal"])
        gaps, errors = [], []
        for stratum in self.strata:
            moments = stratum.moments
            if min(stratum.size[list(pair)]) == 0:
                gaps.append(np.full(len(self.labels), np.nan))
                errors.append(np.full(len(self.labels), np.nan))
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                gap = moments.gaps(metric, pair, paper_literal=literal)
                errors.append(gap_intervals(moments, metric, pair, paper_literal=literal, gaps=gap).error)
            gaps.append(gap)
        return np.stack(gaps), np.stack(errors)

    @cached_property
    def _tests(self) -> tuple[Array, Array]:
        p = np.stack([np.where(self.tested, mantel_haenszel_p(*self._cells(pair)), np.nan) for pair in self.pairs])
        return p, q_values(p, self.settings["correction"])

    @cached_property
    def table(self) -> Table:
        """One row for each label and pair of identities: its conditional gap by every metric, and one test for all."""
        rows = np.flatnonzero(self.tested)
        parts = []
        for place, pair in enumerate(self.pairs):
            columns: dict[str, Any] = {
                "label": text([self.labels[i] for i in rows]),
                "name": text([self.names[i] for i in rows]),
                "x1": text([self.identities[pair[0]]] * len(rows)),
                "x2": text([self.identities[pair[1]]] * len(rows)),
            }
            for metric in self.metrics:
                gap, low, high, used = self.gaps(metric, pair)
                columns |= {metric: gap[rows], f"{metric}_low": low[rows], f"{metric}_high": high[rows]}
                columns[f"{metric}_strata"] = used[rows]
            columns |= {"p": self._tests[0][place][rows], "q": self._tests[1][place][rows]}
            parts.append(columns)
        return Table({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})

    @cached_property
    def within(self) -> Table:
        """One row for each label, pair of identities and stratum: counts and gaps inside it."""
        rows = np.flatnonzero(self.tested)
        parts = []
        for pair in self.pairs:
            a, n1, b, n2 = self._cells(pair)
            gaps = {metric: self.inside(metric, pair)[0] for metric in self.metrics}
            for s, stratum in enumerate(self.strata):
                parts.append(
                    {
                        "label": text([self.labels[i] for i in rows]),
                        "stratum": text([stratum.name] * len(rows)),
                        "x1": text([self.identities[pair[0]]] * len(rows)),
                        "x2": text([self.identities[pair[1]]] * len(rows)),
                        "joint_1": a[s, rows],
                        "size_1": np.full(len(rows), n1[s, 0]),
                        "joint_2": b[s, rows],
                        "size_2": np.full(len(rows), n2[s, 0]),
                        **{metric: held[s, rows] for metric, held in gaps.items()},
                    }
                )
        return Table({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})

    @cached_property
    def undefined(self) -> tuple[dict[str, Any], ...]:
        """The strata that compare nothing, with the reason: of two identities, or of a label and a metric."""
        out: list[dict[str, Any]] = []
        for pair in self.pairs:
            names = self.identities[pair[0]], self.identities[pair[1]]
            for stratum in self.strata:
                lacking = [self.identities[k] for k in pair if stratum.size[k] == 0]
                if lacking:
                    why = f"no record of {lacking[0]!r} in it"
                    out.append({"x1": names[0], "x2": names[1], "stratum": stratum.name, "label": None, "why": why})
            for metric in (metric for metric in self.metrics if metric != "dp"):
                each, _ = self.inside(metric, pair)
                known = np.array([min(s.size[list(pair)]) > 0 for s in self.strata])[:, None] & self.tested
                for s, label in np.argwhere(known & ~np.isfinite(each)).tolist():
                    why = f"{metric} has no finite gap: the label never meets an identity, or all records have it"
                    entry = {
                        "x1": names[0],
                        "x2": names[1],
                        "stratum": self.strata[s].name,
                        "label": self.labels[label],
                    }
                    out.append({**entry, "why": why})
        return tuple(out)

    def to_dict(self) -> dict[str, Any]:
        """The gaps in plain Python values that JSON can hold."""
        strata = [
            {
                "stratum": stratum.name,
                "records": stratum.n,
                "identities": dict(zip(self.identities, stratum.size.tolist(), strict=True)),
            }
            for stratum in self.strata
        ]
        gaps = self.table.plain_rows()
        return {"strata": strata, "gaps": gaps, "undefined": list(self.undefined)}
