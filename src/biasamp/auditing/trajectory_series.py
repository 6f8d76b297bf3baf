"""Figures along steps, from audits or from counts of associations, with what is known of their covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.label_bags import BAGS
from biasamp.resampling.significance import normal_quantile
from biasamp.resampling.trend import Steps
from biasamp.results.metric_registry import METRICS

from .audit_result import Audit
from .document_types import Entry
from .measuring import name_of
from .record_covariance import correlation_by_records, drawn_values, figure_error, halves_of, unseen, why_unpaired

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# How many of the most frequent labels are followed where none are named.
MOST_LABELS = 20
# The figure of association counts that is followed: the share of an identity's records that have a label, or of all records that have the identity.
SHARE = "share"
EVERYTHING = "all records"


@dataclass(frozen=True, eq=False)
class Series:
    """One figure along the steps that have it.

    Attributes
    ----------
    attribute, metric, direction, label : str
        What it is; of association counts the attribute is the identity or all records, and only they have a label.
    places : ndarray of int
        Which steps have it.
    steps : Steps
    low, high : ndarray
        The interval of each value.
    """

    attribute: str
    metric: str
    direction: str
    label: str
    places: Index
    steps: Steps
    low: Floats
    high: Floats

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        if self.label:
            return f"{self.metric} of {self.label} among {self.attribute}"
        return " ".join(filter(None, (self.attribute, self.metric, self.direction)))


def audit_series(
    audits: Sequence[Audit], names: Sequence[str], at: Floats, metrics: Sequence[str] | None
) -> tuple[list[Series], list[str]]:
    """Every figure that at least two audits have with an interval, and what to know of all of them."""
    unpaired = {(i, j): why_unpaired(audits[i], audits[j]) for i in range(len(audits)) for j in range(i)}
    reasons = {reason: pair for pair, reason in unpaired.items() if reason is not None}
    notes = [
        f"{names[j]} and {names[i]} are not paired: {reason}. Steps of other records count as independent."
        for reason, (i, j) in reasons.items()
    ]
    found: dict[tuple[str, str, str], dict[int, Any]] = {}
    for place, audit in enumerate(audits):
        for entry in audit.document["metrics"]:
            if entry["metric"] in METRICS and (metrics is None or entry["metric"] in metrics):
                key: tuple[str, str, str] = (entry["attribute"], entry["metric"], entry["direction"] or "")
                found.setdefault(key, {})[place] = entry
    out = []
    for named, entries in found.items():
        title = " ".join(filter(None, named))
        errors = {i: figure_error(entry, audits[i]) for i, entry in entries.items() if entry["value"] is not None}
        places = np.array([i for i, error in errors.items() if error is not None], dtype=np.int64)
        if len(places) < 2:
            notes.append(f"{title} is left out: fewer than two steps have it with an interval.")
            continue
        lacking = [names[i] for i in range(len(audits)) if i not in places]
        if lacking:
            notes.append(f"{title} has no value with an interval at {', '.join(lacking)}.")
        values = np.array([entries[i]["value"] for i in places], dtype=np.float64)
        error = np.array([errors[i] for i in places], dtype=np.float64)
        joined = {(i, j) for (i, j), reason in unpaired.items() if reason is None}
        covariance = np.outer(error, error) * _correlation([audits[i] for i in places], places, joined, name_of(*named))
        # Intervals know of errors that were not seen; differences of the same records also of those between models.
        shared = {i for pair in joined for i in pair}
        covariance[np.diag_indices_from(covariance)] += [
            unseen(audits[i], name_of(*named)) / 2.0 if i in shared else 0.0 for i in places.tolist()
        ]
        paired = all((i, j) in joined for i in places for j in places if j < i)
        ends = np.array([_ends(entries[i], audits[i], errors[i]) for i in places.tolist()])
        steps = Steps(at[places], values, covariance, paired)
        out.append(Series(*named, "", places, steps, ends[:, 0], ends[:, 1]))
    return out, notes


def _ends(entry: Entry, audit: Audit, error: float | None) -> tuple[float, float]:
    """The interval of a value; of clusters, for which attackers have none, that of halves of the records."""
    low, high = entry["interval"]
    if low is None or high is None:
        reach = normal_quantile(audit.document["data"]["confidence"]) * (error or 0.0)
        low, high = (entry["value"] or 0.0) - reach, (entry["value"] or 0.0) + reach
    return low, high


def _correlation(audits: Sequence[Audit], places: Index, joined: set[tuple[int, int]], name: str) -> Floats:
    """How values of audits of the same records go together, from their resamples."""
    drawn = [drawn_values(audit, name) for audit in audits]
    halves = [halves_of(audit, name) for audit in audits]
    out = np.eye(len(audits))
    for i in range(len(audits)):
        for j in range(i):
            if (int(places[i]), int(places[j])) in joined:
                out[i, j] = out[j, i] = correlation_by_records(drawn, halves, i, j) or 0.0
    return out


def share_series(
    counts: Sequence[AssociationCounts],
    names: Sequence[str],
    at: Floats,
    labels: Sequence[str] | None,
    level: float,
) -> tuple[list[Series], list[str]]:
    """The share of each identity's records that have a label, for each label, along the steps; of an identity also its share of all records."""
    first = counts[0]
    for name, held in zip(names, counts, strict=True):
        if held.identities != first.identities:
            raise ValueError(
                f"{name} has the identities {', '.join(held.identities)}, but {names[0]} has "
                f"{', '.join(first.identities)}: count all steps with the same ones"
            )
    followed, notes = _followed(counts, labels)
    sharing = _sharing(counts)
    notes.append(_SHARING[sharing])
    out = []
    for label in followed:
        for k, identity in enumerate(first.identities):
            # All records of an identity have it: what can move is how many of all records do.
            itself = _is_identity(counts, label, k)
            among = EVERYTHING if itself else identity
            made = _share(counts, label, k, sharing, of_all=itself)
            places = np.flatnonzero(~np.isnan(made[0]))
            if len(places) < 2:
                notes.append(f"{SHARE} of {label} among {among} is left out: fewer than two steps have such records.")
                continue
            values, covariance = made[0][places], made[1][np.ix_(places, places)]
            reach = normal_quantile(level) * np.sqrt(np.diag(covariance))
            steps = Steps(at[places], values, covariance, sharing == "paired")
            low, high = np.maximum(values - reach, 0.0), np.minimum(values + reach, 1.0)
            out.append(Series(among, SHARE, "", label, places, steps, low, high))
    if labels is None and not any(held.steps.values.any() for held in out):
        notes.append(
            f"No record of an identity has another label: labels={first.identities[0]!r} follows the share of all records that have the identity."
        )
    return out, notes


_SHARING = {
    "paired": "All steps were counted by the ids of the same records: slopes and changes are paired.",
    "partly": "Steps share some of their records: changes know which, by the bags of their ids.",
    "independent": "Steps are of different records, as far as is known: they count as independent.",
    "unknown": "Some steps share records but were not counted by bag, so that they count as independent: where the same "
    "records are measured again this makes intervals too wide. count(..., record=, pairable=True) pairs them.",
}


def _sharing(counts: Sequence[AssociationCounts]) -> str:
    """What is known of the records that steps share."""
    known = [held.known for held in counts]
    shares = [
        one.shares(two) for i, one in enumerate(known) for two in known[:i] if one is not None and two is not None
    ]
    if not any(shares):
        return "independent"
    if any(held.bags is None for held in counts):
        return "unknown"
    same = all(np.array_equal(held.bags.sizes[:, 0], counts[0].bags.sizes[:, 0]) for held in counts)  # type: ignore[union-attr]
    return "paired" if same and all(shares) else "partly"


def _followed(counts: Sequence[AssociationCounts], labels: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The labels that are followed: those named, or the most frequent ones that are no part of an identity."""
    total: dict[str, int] = {}
    shown: dict[str, str] = {}
    for held in counts:
        inside = {member for group in held.members for member in group}
        for label, name, count in zip(held.labels, held.names, held.count.tolist(), strict=True):
            shown[name] = label
            if label not in inside:
                total[label] = total.get(label, 0) + count
    if labels is not None:
        named = set(shown) | set(counts[0].identities)
        strange = [label for label in labels if label not in total and label not in named]
        if strange:
            near = ", ".join(sorted(total, key=lambda label: -total[label])[:5])
            raise ValueError(f"labels has {strange[0]!r}, which no step has; frequent ones are {near}")
        return [label if label in total else shown.get(label, label) for label in labels], []
    ranked = sorted(total, key=lambda label: (-total[label], label))
    if len(ranked) <= MOST_LABELS:
        return ranked, []
    words = f"The {MOST_LABELS} most frequent of {len(ranked):,} labels are followed; labels= names others."
    return ranked[:MOST_LABELS], [words]


def _is_identity(counts: Sequence[AssociationCounts], label: str, k: int) -> bool:
    """Whether a label is the identity ``k`` itself: its one member, or its name where no label has that name."""
    first = counts[0]
    return first.members[k] == (label,) or (
        first.identities[k] == label and not any(label in held.labels for held in counts)
    )


def _share(
    counts: Sequence[AssociationCounts], label: str, k: int, sharing: str, *, of_all: bool
) -> tuple[Floats, Floats]:
    """The share of one label in one identity at every step, and the covariance of the shares; or ``of_all`` records, that of the identity.

    Half a record with the label and half a record without it add to the variance, so that a share of 0 has a width.
    """
    values, own, sums = np.full(len(counts), np.nan), np.zeros(len(counts)), np.zeros((len(counts), BAGS))
    sizes = np.array([float(held.n if of_all else held.identity_count[k]) for held in counts])
    for step, (held, size) in enumerate(zip(counts, sizes.tolist(), strict=True)):
        if not size:
            continue
        place = held.labels.index(label) if label in held.labels else None
        joint = 0.0 if place is None else float(held.identity_joint[place, k])
        share = (float(held.identity_count[k]) if of_all else joint) / size
        values[step] = share
        own[step] = share * (1.0 - share) / size
        if sharing in ("paired", "partly"):
            assert held.bags is not None
            sums[step] = -share * held.bags.sizes[:, 0 if of_all else 1 + k] / size
            if of_all:
                sums[step] += held.bags.sizes[:, 1 + k] / size
            elif place is not None:
                at, bag, part = held.bags.cells
                mine = (at == place) & (part == 1 + k)
                sums[step] += np.bincount(bag[mine], held.bags.values[mine], minlength=BAGS) / size
    by_bag = sharing in ("paired", "partly")
    covariance = sums @ sums.T * BAGS / (BAGS - 1) if by_bag else np.diag(own)
    covariance[np.diag_indices_from(covariance)] += 0.5 / np.maximum(sizes, 1.0) ** 2
    return values, covariance
