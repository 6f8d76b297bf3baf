"""What ``associate`` hands back: every label's associations, gaps, tests and ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.storage import read_arrays
from biasamp.data.plain_arguments import names_of, one_of, path_of, shown, whole_number, yes_or_no
from biasamp.results.checksums import json_text, with_checksum
from biasamp.results.renderers import render
from biasamp.results.table import Table, text, written

from . import association_document, rankings
from .association_metric import Array
from .conditional import REST, ConditionalGaps
from .contrasts import Contrast
from .metrics import metric_form
from .values import AssociationValues, kept

# Labels whose figures are computed together where a table is written block by block.
_BLOCK = 1024


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
    count, identity_count : ndarray of shape (labels,), and of shape (identities,)
        C(y), and C(x).
    overlap : ndarray of shape (identities, identities)
        C(x1, x2).
    joint, expected : ndarray of shape (labels, identities)
        C(x, y), and C(x) C(y) / n, the co-occurrence under independence.
    is_identity : ndarray of bool
        Labels that are part of an identity; they are marked, not ranked.
    contrasts : tuple
        The gaps of tables and documents: pairs of identities, then, with three or more, each identity against the rest
        (``(k, None)``). Other pairs are computed where they are asked for.
    settings, reading : dict
        How the result was asked for, and what was met while reading the data.
    notes : tuple of str
        What was left out or counted once, in words.
    conditional : ConditionalGaps or None
        With strata, the gaps among records of the same stratum.

    Examples
    --------
    >>> import biasamp
    >>> images = [["woman", "kitchen"], ["woman", "kitchen", "cup"], ["man", "car"], ["man", "cup"]] * 50
    >>> result = biasamp.associate(images, ["woman", "man"])
    >>> result.top("npmi_xy", 1, toward="woman")["label"].tolist()
    ['kitchen']
    >>> result.labels
    ('car', 'cup', 'kitchen', 'man', 'woman')
    >>> dict(zip(result.labels, result.count.tolist(), strict=True))["cup"]
    100
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
    values: AssociationValues
    conditional: ConditionalGaps | None = None
    # With strata, the counts of identities and strata together.
    counted: AssociationCounts | None = None
    # What was computed once, by the method and its arguments.
    _kept: dict[Any, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        # With three identities and more a label may be ranked in one gap and not in another.
        unranked = len({row["label"] for row in self.excluded})
        return (
            f"Association({len(self.labels)} labels, {self.n} records, identities {', '.join(self.identities)}; "
            f"{unranked} labels not ranked{' in some gap' if len(self.contrasts) > 1 else ''})"
        )

    # --- which labels are ranked -------------------------------------------------------------------------

    def why_not(self, contrast: Contrast | None = None) -> NDArray[Any]:
        """Why each label is not ranked in a gap (by default the first); the empty text where it is."""
        return self._why_not(self._contrast(contrast))

    @kept
    def _why_not(self, contrast: Contrast) -> NDArray[Any]:
        first, second = contrast
        why = np.full(len(self.labels), "", dtype=object)
        used = range(len(self.identities)) if second is None else (first, second)
        empty = np.column_stack([self.joint[:, k] == 0 for k in used])
        if self.settings["zero"] == "drop":
            why[empty.any(axis=1)] = "never occurs with one of the identities (zero='drop')"
        if self.settings["zero"] != "smooth":
            # Two infinities of one sign have no difference.
            alone = empty.all(axis=1) if second is not None else empty[:, first] & (empty.sum(axis=1) > 1)
            why[alone] = "never occurs with the identities that are compared"
        why[self.count == self.n] = "every record has it"
        rare = (self.expected < self.settings["min_expected"]).any(axis=1)
        why[rare] = "too rare to rank: expected co-occurrence below min_expected"
        why[self.count < self.settings["min_count"]] = "too rare to rank: count below min_count"
        why[self.is_identity] = "is part of an identity"
        return why

    def ranks(self, metric: str, contrast: Contrast | None = None, *, include_identities: bool = False) -> Array:
        """Rank of each label by its gap, 1 for the label that leans most to x1; NaN where it is not ranked.

        Labels with equal gaps share the better rank.
        """
        asked = self.checked(metric), self._contrast(contrast), yes_or_no(include_identities, "include_identities")
        return self._ranks(*asked)

    @kept
    def _ranks(self, metric: str, contrast: Contrast, include_identities: bool) -> Array:
        lean = self.values.lean(metric, contrast)
        return rankings.competition_ranks(lean, self.ranked(contrast, include_identities))

    def ranked(self, contrast: Contrast, include_identities: bool = False) -> NDArray[np.bool_]:
        """Which labels are ranked in a gap."""
        there = self.why_not(contrast) == ""
        return np.asarray(there | self.is_identity if include_identities else there)

    @cached_property
    def excluded(self) -> tuple[dict[str, Any], ...]:
        """The labels that are not ranked in some gap, with the reason and their counts."""
        return tuple(
            {
                "label": self.labels[i],
                "name": self.names[i],
                "why": why,
                "count": int(self.count[i]),
                "joint": dict(zip(self.identities, self.joint[i].tolist(), strict=True)),
                **({"gap": self._gap_name(contrast)} if len(self.contrasts) > 1 else {}),
            }
            for contrast in self.contrasts
            for i, why in enumerate(self.why_not(contrast))
            if why
        )

    # --- tables ------------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> Table:
        """One row per label: counts, probabilities, and for every metric values, gaps, limits and ranks.

        With one gap its columns are called ``dp_gap``, ``dp_low``, ``dp_high``, ``dp_null``, ``dp_rank``, ``p``
        and ``q``; with several, ``dp_gap[man,woman]`` and so on. ``dp_null`` is the gap under independence, where
        that is not 0.
        """
        return self._table(self.values, np.arange(len(self.labels)), self.ranks)

    def table_blocks(self, labels: int = _BLOCK) -> Iterator[Table]:
        """The rows of :attr:`table`, so many labels at a time: what they take in memory is forgotten after each block.

        Only the ranks of all labels are held, four bytes each.
        """
        ranks: dict[tuple[str, Contrast], NDArray[np.int32]] = {}
        for contrast in self.contrasts:
            ranked = self.ranked(contrast)
            for metric in self.metrics:
                lean = self.values.lean(metric, contrast, self.values.gaps_once(metric, contrast))
                found = rankings.competition_ranks(lean, ranked)
                ranks[metric, contrast] = np.nan_to_num(found).astype(np.int32)
        for start in range(0, len(self.labels), labels):
            where = np.arange(start, min(start + labels, len(self.labels)))

            def rank(metric: str, contrast: Contrast, where: NDArray[np.int64] = where) -> Array:
                own = ranks[metric, contrast][where].astype(np.float64)
                return np.where(own > 0, own, np.nan)

            yield self._table(self.values.of_labels(where), where, rank)

    def _table(
        self, values: AssociationValues, where: NDArray[np.int64], ranks: Callable[[str, Contrast], Array]
    ) -> Table:
        """The table of the labels ``where``, of which ``values`` are the numbers; tests are those of all labels."""
        columns: dict[str, NDArray[Any]] = {
            **{name: column[where] for name, column in self._named.items()},
            "probability": self.count[where] / self.n,
            "identity": self.is_identity[where],
        }
        columns.update({name: column[where] for name, column in self._joint_columns().items()})
        for k, name in enumerate(self.identities):
            columns[f"probability[{name}]"] = self.joint[where, k] / self.n
            columns[f"expected[{name}]"] = self.expected[where, k]
        for metric in self.metrics:
            for name, column in zip(self.identities, values.values(metric).T, strict=True):
                columns[f"{metric}[{name}]"] = column
        for contrast in self.contrasts:
            end = "" if len(self.contrasts) == 1 else f"[{self._gap_name(contrast)}]"
            why = self.why_not(contrast)[where]
            columns[f"ranked{end}"] = why == ""
            columns[f"why_not{end}"] = why
            if contrast[1] is not None:
                columns[f"p{end}"] = self.values.p_values(contrast)[where]
                columns[f"q{end}"] = self.values.q_values(contrast)[where]
            for metric in self.metrics:
                columns[f"{metric}_gap{end}"] = values.gaps(metric, contrast)
                columns[f"{metric}_low{end}"], columns[f"{metric}_high{end}"], _ = values.interval(metric, contrast)
                if not metric_form(metric, self.settings["paper_literal"]).zero_null:
                    columns[f"{metric}_null{end}"] = values.independence(metric, contrast)
                columns[f"{metric}_rank{end}"] = ranks(metric, contrast)
        return Table(columns)

    @cached_property
    def _named(self) -> dict[str, NDArray[Any]]:
        return {"label": text(self.labels), "name": text(self.names), "count": self.count}

    def _joint_columns(self) -> dict[str, NDArray[Any]]:
        return {f"count[{name}]": self.joint[:, k] for k, name in enumerate(self.identities)}

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
        metric = self.checked(metric)
        yes_or_no(include_identities, "include_identities")
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
            raise ValueError(f"k is {shown(k)}; a whole number of 0 or more is needed")
        contrast, sign = self.gap_toward(toward, against)
        lean = sign * self.values.lean(metric, contrast)
        ranked = self.ranked(contrast, include_identities) & ~np.isnan(lean)
        ranks = rankings.competition_ranks(lean, ranked)
        place = np.flatnonzero(ranked)
        order = place[np.lexsort((place, -self.count[place], ranks[place]))][:k]
        low, high, _ = self.values.interval(metric, contrast)
        if sign < 0:
            low, high = 0.0 - high, 0.0 - low
        columns: dict[str, NDArray[Any]] = {
            "rank": np.nan_to_num(ranks).astype(np.int64),
            **self._named,
            **self._joint_columns(),
            "gap": sign * self.values.gaps(metric, contrast) + 0.0,
            "low": low,
            "high": high,
            "null": sign * self.values.independence(metric, contrast) + 0.0,
            "p": self.values.p_values(contrast),
            "q": self.values.q_values(contrast),
        }
        return Table(columns).take(order)

    # What metrics put on top and how far they agree; these functions take the result first.
    top_counts = rankings.top_counts
    agreement = rankings.agreement
    rank_changes = rankings.rank_changes
    heading = association_document.heading
    label_rows = association_document.label_rows

    def to_dict(self) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold: null for undefined, "inf" and "-inf" for limits."""
        about = {"schema": 1, "kind": "association", **self.heading()}
        held = {} if self.conditional is None else {"conditional": self.conditional.to_dict()}
        return {**about, "labels": self.label_rows(self.metrics), "excluded": list(self.excluded), **held}

    def save(self, path: str | Path) -> None:
        """Write the result to a Parquet file with a checksum: its counts, and how it was asked for.

        :meth:`load` gives the result back, to the bit. The file is one of counts too, which :func:`biasamp.associate`,
        :func:`biasamp.association_change` and ``biasamp merge`` take. It holds no code and is read as none.
        """
        strata = None if self.conditional is None else [layer.name for layer in self.conditional.strata]
        about = {
            "metrics": list(self.metrics),
            "settings": dict(self.settings),
            "reading": dict(self.reading),
            "notes": list(self.notes),
            **({} if strata is None else {"strata": [name for name in strata if name != REST]}),
        }
        (self.counted or self.values.counts).save(path, about)

    @classmethod
    def load(cls, path: str | Path) -> Association:
        """The result that :meth:`save` wrote; a damaged or foreign file is refused.

        >>> import tempfile
        >>> from biasamp import associate
        >>> images = [["man", "bike"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman"]] * 90
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     associate(images, ["man", "woman"], metrics="dp").save(f"{folder}/run.parquet")
        ...     Association.load(f"{folder}/run.parquet").top("dp", 1)["label"].tolist()
        ['bike']
        """
        from .associate import associate

        counts, about = AssociationCounts.load(path), read_arrays(path)[0].get("result")
        if about is None:
            raise ValueError(f"{Path(path).name} holds counts alone: measure them with biasamp.associate")
        try:
            held = dict(about["settings"])
            zero, alpha = held.pop("zero"), held.pop("alpha")
            result = associate(
                counts,
                zero=("smooth", alpha) if zero == "smooth" else zero,
                metrics=about["metrics"],
                strata=about.get("strata"),
                **held,
            )
            notes = tuple(str(note) for note in about["notes"])
            return replace(result, reading=dict(about["reading"]), notes=notes)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{Path(path).name} is damaged: it does not say how the result was made ({error})"
            ) from None

    def to_json(self, path: str | Path | None = None) -> str:
        """The result as JSON text with checksums, which is also written to ``path`` where one is given.

        ``biasamp explore`` shows such files, and refuses one that was changed since.
        """
        return written(json_text(with_checksum(self.to_dict())), path)

    def to_html(self, path: str | Path) -> None:
        """Write the explorer of this result: one file that opens in any browser, with everything inside it."""
        render("association explorer", {Path(path_of(path)).stem: self}, path)

    def plot(self, kind: str = "ranks", *, metrics: Sequence[str] | None = None, k: int = 100) -> Any:
        """A matplotlib figure: ``"ranks"`` of two metrics, or ``"counts"`` of each metric's top k labels.

        Needs the extra ``plot``.
        """
        one_of(kind, "kind", ("ranks", "counts"))
        for metric in () if metrics is None else names_of(metrics, "metrics", "metrics"):
            self.checked(metric, "metrics")
        return render("association figure", self, kind, metrics=metrics, k=whole_number(k, "k", least=1))

    def _repr_html_(self) -> str:
        return str(render("association table", self))

    # --- names of metrics and gaps -----------------------------------------------------------------------

    def checked(self, metric: str, name: str = "metric") -> str:
        """The name of a metric, if this result holds it."""
        if not isinstance(metric, str) or metric not in self.metrics:
            raise ValueError(f"{name} is {shown(metric)}; this result holds {', '.join(self.metrics)}")
        return metric

    def _contrast(self, contrast: Contrast | None) -> Contrast:
        if not self.contrasts:
            raise ValueError("one identity has no gap: name two or more identities")
        if contrast is None:
            return self.contrasts[0]
        if not isinstance(contrast, (tuple, list)) or len(contrast) != 2:
            raise TypeError(f"contrast is {shown(contrast)}; one of {list(self.contrasts)} is needed")
        first, second = whole_number(contrast[0], "contrast"), contrast[1]
        if second is not None:
            whole_number(second, "contrast")
        many = len(self.identities)
        if not (0 <= first < many and (many > 2 if second is None else first < second < many)):
            raise ValueError(f"contrast is {contrast!r}; this result holds {list(self.contrasts)}")
        return first, second

    def _gap_name(self, contrast: Contrast) -> str:
        first, second = contrast
        return f"{self.identities[first]},{'rest' if second is None else self.identities[second]}"

    def gap_toward(self, toward: str | None, against: str | None) -> tuple[Contrast, float]:
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
        if not isinstance(name, str) or name not in self.identities:
            raise ValueError(f"{role} is {shown(name)}; the identities are {', '.join(map(repr, self.identities))}")
        return self.identities.index(name)
