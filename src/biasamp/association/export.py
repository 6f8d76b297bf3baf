"""An association result as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasamp.results.interval import plain

if TYPE_CHECKING:
    from .association_result import Association
    from .values import Contrast


def association_dict(result: Association) -> dict[str, Any]:
    """The result in plain Python values that JSON can hold: null for undefined, "inf" and "-inf" for limits."""
    labels = [
        {
            "label": label,
            "name": name,
            "count": int(count),
            "identity": bool(own),
            "identities": [{"identity": x, "joint": int(result.joint[i, k])} for k, x in enumerate(result.identities)],
            "gaps": [],
        }
        for i, (label, name, count, own) in enumerate(
            zip(result.labels, result.names, result.count, result.is_identity, strict=True)
        )
    ]
    for metric in result.metrics:
        values = result.values.values(metric).tolist()
        for row, of_label in zip(labels, values, strict=True):
            for entry, value in zip(row["identities"], of_label, strict=True):  # type: ignore[call-overload]
                entry[metric] = plain(value)
    for contrast in result.contrasts:
        for row, gap in zip(labels, _gap_dicts(result, contrast), strict=True):
            row["gaps"].append(gap)  # type: ignore[attr-defined]
    return {
        "schema": 1,
        "kind": "association",
        "version": result.version,
        "n": result.n,
        "identities": [
            {"identity": x, "labels": list(group), "count": int(c)}
            for x, group, c in zip(result.identities, result.members, result.identity_count, strict=True)
        ],
        "overlap": result.overlap.tolist(),
        "metrics": list(result.metrics),
        "settings": {key: plain(value) for key, value in result.settings.items()},
        "data": dict(result.reading),
        "notes": list(result.notes),
        "labels": labels,
        "excluded": list(result.excluded),
    }


def _gap_dicts(result: Association, contrast: Contrast) -> list[dict[str, Any]]:
    first, second = contrast
    p, q = result.values.p_values(contrast).tolist(), result.values.q_values(contrast).tolist()
    why = result.why_not(contrast).tolist()
    shared = result.values.both(contrast)
    both = [None] * len(why) if shared is None else shared.tolist()
    rows: list[dict[str, Any]] = [
        {
            "x1": result.identities[first],
            "x2": None if second is None else result.identities[second],
            "p": plain(p_),
            "q": plain(q_),
            "both": both_,
            "ranked": reason == "",
            "why_not": reason or None,
            "low": {},
            "high": {},
            "rank": {},
            "independence": {},
        }
        for p_, q_, both_, reason in zip(p, q, both, why, strict=True)
    ]
    for metric in result.metrics:
        low, high, _ = result.values.interval(metric, contrast)
        parts = {
            "low": low,
            "high": high,
            "rank": result.ranks(metric, contrast),
            "independence": result.values.independence(metric, contrast),
        }
        for row, gap in zip(rows, result.values.gaps(metric, contrast).tolist(), strict=True):
            row[metric] = plain(gap)
        for part, numbers in parts.items():
            for row, number in zip(rows, numbers.tolist(), strict=True):
                row[part][metric] = plain(number)
    return rows
