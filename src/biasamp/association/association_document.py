"""What a document says of associations, in plain values: of the result as a whole, and of each label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from biasamp.results.interval import plain

from .contrasts import Contrast

if TYPE_CHECKING:
    from .association_result import Association


def heading(result: Association) -> dict[str, Any]:
    """What a document says of the result as a whole, in plain values."""
    return {
        "version": result.version,
        "n": int(result.n),
        "identities": [
            {"identity": x, "labels": list(group), "count": int(c)}
            for x, group, c in zip(result.identities, result.members, result.identity_count, strict=True)
        ],
        "overlap": result.overlap.tolist(),
        "metrics": list(result.metrics),
        "settings": {key: plain(value) for key, value in result.settings.items()},
        "data": dict(result.reading),
        "notes": list(result.notes),
    }


def label_rows(result: Association, metrics: Sequence[str], *, errors: bool = False) -> list[dict[str, Any]]:
    """What a document says of each label, with the figures of some metrics, and their standard errors if asked."""
    values = {metric: result.values.values(metric).tolist() for metric in metrics}
    gaps = [_gap_rows(result, contrast, metrics, errors) for contrast in result.contrasts]
    columns = (result.labels, result.names, result.count.tolist(), result.is_identity.tolist(), result.joint.tolist())
    return [
        {
            "label": label,
            "name": name,
            "count": count,
            "identity": own,
            "identities": [
                {"identity": x, "joint": joint[k], **{metric: plain(held[i][k]) for metric, held in values.items()}}
                for k, x in enumerate(result.identities)
            ],
            "gaps": [rows[i] for rows in gaps],
        }
        for i, (label, name, count, own, joint) in enumerate(zip(*columns, strict=True))
    ]


def _gap_rows(result: Association, contrast: Contrast, metrics: Sequence[str], errors: bool) -> list[dict[str, Any]]:
    """What a document says of a gap, label by label."""
    of = result.values
    shared = of.both(contrast)
    both = [None] * len(result.labels) if shared is None else shared.tolist()
    tests = (of.p_values(contrast).tolist(), of.q_values(contrast).tolist())
    x1, x2 = (None if k is None else result.identities[k] for k in contrast)
    parts = ("low", "high", "rank", "independence", *(["error"] if errors else []))
    rows: list[dict[str, Any]] = [
        {"x1": x1, "x2": x2, "p": plain(p), "q": plain(q), "both": together, "ranked": not reason}
        | {"why_not": reason or None, **{part: {} for part in parts}}
        for p, q, together, reason in zip(*tests, both, result.why_not(contrast), strict=True)
    ]
    for metric in metrics:
        low, high, error = of.interval(metric, contrast)
        ranks, null = result.ranks(metric, contrast), of.independence(metric, contrast)
        columns = (of.gaps(metric, contrast), low, high, ranks, null, *([error] if errors else []))
        for row, gap, *numbers in zip(rows, *(column.tolist() for column in columns), strict=True):
            row[metric] = plain(gap)
            for part, number in zip(parts, numbers, strict=True):
                row[part][metric] = plain(number)
    return rows
