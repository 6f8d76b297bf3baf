"""Whether two audits are of the same predictions: copies of one run, or a model that is held against itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from .audit_result import Audit
from .evidence import place_of
from .record_covariance import why_unpaired

# Figures that differ by less differ by rounding.
_ROUNDING = 1e-12
_RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "precision")


def same_predictions(one: Audit, two: Audit) -> bool:
    """Whether two audits are of the same predictions of the same records, whatever their column is called.

    The fingerprint of the records tells, where columns have the same names. Else every figure that both have must agree:
    values, rates of pairs and of groups. Where both drew the same resamples of the same records their intervals must agree, too:
    other errors, though as many of them, fall into other resamples.
    """
    prints = [cast("dict[str, Any]", audit.document["data"]).get("fingerprint") for audit in (one, two)]
    if prints[0] is not None and prints[0] == prints[1]:
        return True
    if one.document["data"]["records"] != two.document["data"]["records"]:
        return False
    if not _agree(dict(_figures(one)), dict(_figures(two))):
        return False
    levels = {audit.document["data"]["confidence"] for audit in (one, two)}
    if len(levels) > 1 or why_unpaired(one, two) is not None:
        return True
    held = [{place_of(entry): entry["interval"] for entry in audit.document["metrics"]} for audit in (one, two)]
    return _agree(*held)


def copies(audits: Sequence[Audit]) -> list[tuple[int, int]]:
    """Each audit that has the predictions of one before it, by their places: the earlier, then the later."""
    return [
        (before, place)
        for place, audit in enumerate(audits)
        for before in [next((i for i in range(place) if same_predictions(audits[i], audit)), None)]
        if before is not None
    ]


def _figures(audit: Audit) -> Iterator[tuple[Any, Any]]:
    """Every figure of an audit that moves with its predictions, by what it is of."""
    for entry in audit.document["metrics"]:
        about = place_of(entry)
        yield about, entry["value"]
        for pair in entry.get("pairs", ()):
            yield (about, pair["given"], pair["outcome"]), (pair["truth_rate"], pair["predicted_rate"])
    for row in audit.document.get("rates", ()):
        held = cast("dict[str, Any]", row)
        about = (row["attribute"], row["group"], row["outcome"])
        yield about, [held[rate][part] for rate in _RATES for part in ("value", "size")]


def _agree(one: Mapping[Any, Any], two: Mapping[Any, Any]) -> bool:
    """Whether there is something that both have, and all of that is equal."""
    common = one.keys() & two.keys()
    return bool(common) and all(_equal(one[place], two[place]) for place in common)


def _equal(one: Any, two: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(_equal(*both) for both in zip(one, two, strict=True))
    if all(isinstance(value, (int, float)) for value in (one, two)):
        return bool(abs(one - two) <= _ROUNDING)
    return bool(one == two)
