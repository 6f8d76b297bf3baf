"""The cautions of an audit that concern a figure which a limit judges."""

from __future__ import annotations

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Entry, FindingFields

from .limits import Limit

# Advice on reading an audit, which holds of every figure alike and of no verdict in particular.
_GENERAL = frozenset(
    {
        *("incomparable", "not-fairness", "over-zero", "perceived", "sensitive-prediction", "not-ground-truth"),
        *("disagreement", "unclear-signs"),
    }
)
_CROSSFIT = (
    "the cross-fitted value pulls to 0 where directions are weak, so that it may pass a model that is over the limit; "
    "without figure the limit counts pairs of unknown direction at their worse sign"
)
_VALUE = "the value alone is judged, without regard to how sure it is"


def cautions_of(limit: Limit, attribute: str, direction: str | None, audit: Audit) -> tuple[str, ...]:
    """What the audit warns of that concerns one figure, and what is to know of the limit itself."""
    own = [_CROSSFIT] if limit.figure == "crossfit" else []
    own += [_VALUE] if limit.on == "value" else []
    about = (limit.metric, attribute, direction)
    entries = [e for e in audit.document["metrics"] if (e["metric"], e["attribute"], e["direction"]) == about]
    own += [words for entry in entries for words in _of_entry(entry)]
    found = [row["text"] for row in audit.document["findings"] if _concerns(row, about)]
    return tuple(dict.fromkeys([*own, *found]))


def _of_entry(entry: Entry) -> list[str]:
    return list(entry.get("cautions", ()))


def _concerns(row: FindingFields, about: tuple[str, str, str | None]) -> bool:
    if row["kind"] != "caution" or row["code"] in _GENERAL:
        return False
    named = (row.get("metric"), row.get("attribute"), row.get("direction"))
    return all(one is None or one == other for one, other in zip(named, about, strict=True))
