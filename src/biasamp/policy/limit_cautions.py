"""The cautions of an audit that concern a figure which a limit judges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Entry, FindingFields
from biasamp.data import printable
from biasamp.results.interval import UNCLEAR_SIGNS

from .limits import Limit

# Advice on reading an audit, which holds of every figure alike and of no verdict in particular.
_GENERAL = frozenset(
    {
        *("incomparable", "not-fairness", "over-zero", "perceived", "sensitive-prediction", "not-ground-truth"),
        *("disagreement", "unclear-signs"),
        "left-out",  # said of the figure itself
    }
)
_CROSSFIT = (
    "the cross-fitted value pulls to 0 where directions are weak, so that it may pass a model that is over the limit; "
    "without figure the limit counts pairs of unknown direction at their worse sign"
)
# Labels that a caution names of many.
_SHOWN = 3
_OF_ALL = "attackers are of all records: groups that are ignored count in it"
_VALUE = "the value alone is judged, without regard to how sure it is"


def cautions_of(
    limit: Limit, attribute: str, direction: str | None, audit: Audit, ignored: bool = False
) -> tuple[str, ...]:
    """What the audit warns of that concerns one figure, and what is to know of the limit itself."""
    own = [_CROSSFIT] if limit.figure == "crossfit" else []
    own += [_VALUE] if limit.on == "value" else []
    own += [_OF_ALL] if ignored and limit.facts.family == "predictability" else []
    about = (limit.metric, attribute, direction)
    entries = [e for e in audit.document["metrics"] if (e["metric"], e["attribute"], e["direction"]) == about]
    own += [words for entry in entries for words in _of_figure(limit, entry)]
    own += _invented(attribute, direction, audit)
    found = [row["text"] for row in audit.document["findings"] if _concerns(row, about)]
    return tuple(dict.fromkeys([*own, *found]))


def _of_figure(limit: Limit, entry: Entry) -> Iterator[str]:
    """The cautions of a figure; that signs bias its interval is none where its bounds are judged, which count either sign."""
    words = entry.get("cautions", [])
    bounded = limit.on == "bound" and limit.figure == "value" and "bounds" in entry
    for said, kind in zip(words, entry.get("caution_kinds", [""] * len(words)), strict=True):
        if not (bounded and kind == UNCLEAR_SIGNS):
            yield said


def _invented(attribute: str, direction: str | None, audit: Audit) -> list[str]:
    """Labels that only predictions have are no pair of a value, so that no limit on pairs sees them."""
    document = cast("dict[str, Any]", audit.document)  # audits of 0.1 do not list them
    rows = [row for row in document.get("invented", ()) if row["attribute"] == attribute]
    labels = [row["label"] for row in rows if direction in (None, row["direction"])]
    if not labels:
        return []
    shown = ", ".join(printable(label, 40) for label in labels[:_SHOWN])
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return [f"the model gives labels that the truth never has, which are in no pair: {shown}{more}"]


def _concerns(row: FindingFields, about: tuple[str, str, str | None]) -> bool:
    if row["kind"] != "caution" or row["code"] in _GENERAL:
        return False
    named = (row.get("metric"), row.get("attribute"), row.get("direction"))
    # A figure without a direction rests on the predictions of both, or of either.
    return all(one is None or other is None or one == other for one, other in zip(named, about, strict=True))
