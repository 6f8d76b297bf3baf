"""What stated errors of an attribute's labels do to its directional values, as entries of the audit's document."""

from __future__ import annotations

import warnings
from typing import Any

from biasamp.amplification.label_errors import error_matrix, from_bags

from .settings import Measured, Settings
from .subject import Counted, within

METRIC = "label_errors"
_SIDES = {"A->T": "given", "T->A": "truth"}
_SEVERAL = "the attribute is spread over several yes/no columns: errors are between the groups of one column"
_BASE = "values are against another base, which has errors of its own"


def measure_label_errors(subject: Counted, direction: str, settings: Settings, out: Measured) -> None:
    """Add the entry of one direction where something is stated of the attribute's labels."""
    if subject.attribute not in settings.labels.attributes or direction not in subject.counts.pairs:
        return
    error = settings.labels.errors.get(subject.attribute)
    try:
        out.label_errors.append(_entry(subject, direction, error, settings))
    except ValueError as problem:
        out.skip(subject.attribute, METRIC, direction, str(problem))


def _entry(subject: Counted, direction: str, error: Any, settings: Settings) -> dict[str, Any]:
    sides = [side.only(keep) for side, keep in zip(subject.sides(direction), subject.kept(direction), strict=True)]
    attribute = sides[0 if direction == "A->T" else 1]
    if not attribute.exclusive:
        raise ValueError(_SEVERAL)
    if subject.base is not None:
        raise ValueError(_BASE)
    source = subject.base_source(direction)
    signed = source.signed(*(side.width for side in sides))
    kept = subject.kept(direction)
    kept = within(kept[0], signed[0]), within(kept[1], signed[1])
    labels = attribute.only(signed[0 if direction == "A->T" else 1]).labels
    bags = subject.counts.pairs[direction].only(*kept)
    train = subject.train(direction)
    matrix = error_matrix(0.0 if error is None else error, labels, f"provenance[{subject.attribute!r}]: error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        made = from_bags(
            bags,
            matrix,
            _SIDES[direction],
            train=None if train is None else train.only(*signed),
            level=settings.confidence,
            resamples=settings.resamples,
            seed=settings.seed,
        )
    held = made.to_dict()
    if error is None:  # nothing is stated of errors: there is nothing to correct
        held |= {"corrected": None, "interval": [None, None], "worst": [None, None], "matrix": []}
    held.pop("level")
    return {"attribute": subject.attribute, "direction": direction, "groups": [str(label) for label in labels], **held}
