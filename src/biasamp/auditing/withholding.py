"""Audits for publication: groups with small counts are withheld, and what would give them away."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from biasamp.amplification.suppression import PublishedRow, rows_to_withhold
from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.subject_counts import SubjectCounts, labels_in
from biasamp.data import Label, printable
from biasamp.results.metric_registry import METRICS, requestable_names

# Cells of one group that are looked at; each costs two linear programs a withheld group.
_MOST_CELLS = 400
# Parts of a document that are made of all records.
_OF_ALL = ("sweep", "why", "invented", "label_errors")


def withheld_groups(counts: AuditCounts, limit: int) -> dict[str, frozenset[Label]]:
    """The groups of each attribute that are not published.

    A group goes where one of its counts (its records, and for every task those of each combination of truth and prediction) is from 1 to
    ``limit - 1``, and further ones until nobody can compute those from totals to within less than ``limit``.
    """
    groups = list(counts.plan["groups"])
    rows, places = [], []
    for subject in counts.subjects:
        if subject.attribute not in groups:
            raise ValueError(
                "suppress: crossings of attributes are not published; leave intersections out, or see impact()"
            )
        if len(subject.A) != 1 or subject.A[0].kind != "categorical":
            raise ValueError(
                f"suppress: {printable(subject.attribute, 60)!r} is spread over yes/no columns, whose groups overlap; give one column of groups"
            )
        if int(subject.sizes["A"].sum()) != counts.records:
            raise ValueError("suppress: labels of groups are missing; leave those records out first")
        cells = _cells(subject)
        for number, label in enumerate(labels_in(subject.A)):
            size, name = int(subject.sizes["A"][number]), label.category or ""
            rows.append(
                PublishedRow((subject.attribute,), (name,), size, 0, tuple(int(cell) for cell in cells[number]))
            )
            places.append((subject.attribute, label))
    first = [row for row, (name, _) in zip(rows, places, strict=True) if name == places[0][0]]
    total = np.sum([row.counts for row in first], axis=0)
    everybody = PublishedRow((), (), counts.records, 0, tuple(int(cell) for cell in total))
    empty = [PublishedRow((name,), None, 0, 0, (0,) * len(total)) for name in groups]
    gone = rows_to_withhold([everybody, *empty, *rows], limit)
    if gone[0]:
        raise ValueError(
            f"suppress is {limit}: the number of records would give small counts away; nothing can be published"
        )
    hidden: dict[str, set[Label]] = {subject.attribute: set() for subject in counts.subjects}
    for (attribute, label), away in zip(places, gone[1 + len(empty) :], strict=True):
        if away:
            hidden[attribute].add(label)
    for subject in counts.subjects:
        left = len(labels_in(subject.A)) - len(hidden[subject.attribute])
        if left < 2:
            raise ValueError(
                f"suppress is {limit}: it leaves {left} group{'s' if left != 1 else ''} of {printable(subject.attribute, 60)!r} to show, and two are needed. "
                "Join groups, leave the attribute out, or audit more records"
            )
    return {name: frozenset(labels) for name, labels in hidden.items()}


def of_all_records() -> frozenset[str]:
    """Metrics whose value is made of all groups together, so that it says something of those that are withheld."""
    return frozenset(name for name in requestable_names() if METRICS[name].family == "predictability")


def _cells(subject: SubjectCounts) -> Any:
    """Of every group the records of each combination of truth and prediction, for every task; of shape (groups, cells)."""
    parts = []
    for direction, bags in subject.pairs.items():
        whole = bags.whole
        if isinstance(whole.joint_predicted, Fixed) or isinstance(whole.given, Fixed):
            raise ValueError("suppress is for counts of records: weights and probabilities have none")
        true, said, both = (floats(table) for table in (whole.joint_truth, whole.joint_predicted, whole.joint_both))
        if direction == "A->T":
            given = np.broadcast_to(floats(whole.given), true.shape)
            parts += [both, true - both, said - both, given - true - said + both]
        else:
            parts += [both.T, (true - both).T]
    cells = np.concatenate(parts, axis=1)
    if cells.shape[1] > _MOST_CELLS:
        raise ValueError(f"suppress: {cells.shape[1]:,} counts a group are too many to be checked; audit fewer tasks")
    return np.rint(cells).astype(np.int64)


def redacted(document: Mapping[str, Any], hidden: Mapping[str, frozenset[Label]], limit: int) -> dict[str, Any]:
    """A document without anything of the groups that are withheld, nor of what all records make."""
    gone = {(name, str(label)) for name, labels in hidden.items() for label in labels}
    words = {
        text for labels in hidden.values() for label in labels for text in (str(label), label.category or "") if text
    }
    names = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in words]
    out = {name: value for name, value in document.items() if name not in _OF_ALL}
    data = document["data"]
    out["data"] = {
        **{name: value for name, value in data.items() if name not in ("ignored_groups", "ignored_unknown")},
        "groups": [row for row in data["groups"] if (row["attribute"], row["group"]) not in gone],
        "withheld_groups": sorted(text for _, text in gone),
        "withheld_below": limit,
    }
    if "rates" in document:
        out["rates"] = [row for row in document["rates"] if (row["attribute"], row["group"]) not in gone]
    labels = {text for _, text in gone}
    # A largest difference may stand beside the one with small groups too.
    out["metrics"] = [
        {
            name: [row for row in value if row.get("given") not in labels] if name in ("groups", "pairs") else value
            for name, value in entry.items()
            if name != "every_group"
        }
        for entry in document["metrics"]
    ]
    out["excluded"] = [row for row in document["excluded"] if not {row["given"], row["outcome"]} & labels]
    out["findings"] = [row for row in document["findings"] if not any(named.search(row["text"]) for named in names)]
    return out
