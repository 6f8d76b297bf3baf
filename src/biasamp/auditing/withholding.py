"""Audits for publication: groups with small counts are withheld, and what would give them away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


# Of one direction the records of every group in each cell that is published: an array of shape (groups,) for each cell.
Cells = dict[Any, NDArray[np.int64]]


def withheld_groups(
    counts: AuditCounts, limit: int, cells_of: Callable[[SubjectCounts, str], Cells] | None = None
) -> dict[str, frozenset[Label]]:
    """The groups of each attribute that are not published.

    A group goes where one of its counts (its records, and for every task those of each combination of truth and prediction) is from 1 to
    ``limit - 1``, and further ones until nobody can compute those from totals to within less than ``limit``. Of what is
    published the counts are ``cells_of`` each attribute and direction.
    """
    for subject in counts.subjects:
        if subject.attribute not in counts.plan["groups"]:
            raise ValueError(
                "suppress: crossings of attributes are not published; leave intersections out, or see impact()"
            )
        if len(subject.A) != 1 or subject.A[0].kind != "categorical":
            raise ValueError(
                f"suppress: {printable(subject.attribute, 60)!r} is spread over yes/no columns, whose groups overlap; give one column of groups"
            )
        if int(subject.sizes["A"].sum()) != counts.records:
            raise ValueError("suppress: labels of groups are missing; leave those records out first")
    tables = list(_published_tables(counts, cells_of or _cells))
    hidden: set[tuple[str, Label]] = set()
    while True:
        before = len(hidden)
        for rows, places in tables:
            gone = rows_to_withhold(rows, limit, [i for i, place in enumerate(places) if place in hidden])
            if gone[0]:
                raise ValueError(
                    f"suppress is {limit}: the number of records would give small counts away; nothing can be published"
                )
            hidden |= {place for place, away in zip(places, gone, strict=True) if away and place is not None}
        if len(hidden) == before:
            break
    out = {}
    for subject in counts.subjects:
        mine = frozenset(label for name, label in hidden if name == subject.attribute)
        left = len(labels_in(subject.A)) - len(mine)
        if left < 2:
            raise ValueError(
                f"suppress is {limit}: it leaves {left} group{'s' if left != 1 else ''} of {printable(subject.attribute, 60)!r} to show, and two are needed. "
                "Join groups, leave the attribute out, or audit more records"
            )
        out[subject.attribute] = mine
    return out


def _published_tables(
    counts: AuditCounts, cells_of: Callable[[SubjectCounts, str], Cells]
) -> Iterator[tuple[list[PublishedRow], list[tuple[str, Label] | None]]]:
    """Tables whose sums are known: that of all attributes with the tasks, and of each attribute with its own predictions.

    The first row of a table is that of all records; with each row comes the group that it is of.
    """
    told = [subject for subject in counts.subjects if "A->T" in subject.pairs]
    for way, subjects in (("A->T", told), *(("T->A", [s]) for s in counts.subjects if "T->A" in s.pairs)):
        if not subjects:
            continue
        held = {subject.attribute: cells_of(subject, way) for subject in subjects}
        first = held[subjects[0].attribute]
        # What no record is, none of a withheld group is either: totals say so, and it is no small count.
        there = [cell for cell, records in first.items() if records.any()]
        if len(there) > _MOST_CELLS:
            raise ValueError(f"suppress: {len(there):,} counts a group are too many to be checked; name fewer tasks")
        total = tuple(int(first[cell].sum()) for cell in there)
        rows = [PublishedRow((), (), counts.records, 0, total)]
        places: list[tuple[str, Label] | None] = [None]
        for subject in subjects:
            cells = held[subject.attribute]
            rows.append(PublishedRow((subject.attribute,), None, 0, 0, (0,) * len(total)))
            places.append(None)
            for number, label in enumerate(labels_in(subject.A)):
                size, name = int(subject.sizes["A"][number]), label.category or ""
                mine = tuple(int(cells[cell][number]) for cell in there)
                rows.append(PublishedRow((subject.attribute,), (name,), size, 0, mine))
                places.append((subject.attribute, label))
        yield rows, places


def of_all_records() -> frozenset[str]:
    """Metrics whose value is made of all groups together, so that it says something of those that are withheld."""
    return frozenset(name for name in requestable_names() if METRICS[name].family == "predictability")


def _cells(subject: SubjectCounts, way: str) -> Cells:
    """Of every group the records of each combination of truth and prediction, for every task."""
    whole = subject.pairs[way].whole
    if isinstance(whole.joint_predicted, Fixed) or isinstance(whole.given, Fixed):
        raise ValueError("suppress is for counts of records: weights and probabilities have none")
    true, said, both = (floats(table) for table in (whole.joint_truth, whole.joint_predicted, whole.joint_both))
    if way == "A->T":
        given = np.broadcast_to(floats(whole.given), true.shape)
        parts = [both, true - both, said - both, given - true - said + both]
    else:
        parts = [both.T, (true - both).T]
    cells = np.rint(np.concatenate(parts, axis=1)).astype(np.int64)
    return dict(enumerate(cells.T))


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
