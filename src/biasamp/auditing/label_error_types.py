"""The types of what an audit says of wrong labels of an attribute."""

# Annotations are evaluated here, so that the types know which of their fields are required.

from typing import Literal, TypedDict

from .measurement_types import Direction, Figure


class LabelErrorEntry(TypedDict):
    """What errors of an attribute's labels do to one directional value.

    ``corrected`` is the value of the true labels if errors are as stated and independent of task and prediction, ``interval`` its bounds,
    ``worst`` the range if as many errors fall where they hurt most; all null where no errors are stated. ``tips`` is the rate of
    independent errors at which the conclusion changes and ``tips_if_dependent`` that of errors where they hurt most; null
    where none up to ``tried`` does, or where nothing is ``concluded`` (0). ``matrix`` has the chance that a true group (column) is recorded as
    each group (row).
    """

    attribute: str
    direction: Direction
    groups: list[str]
    value: Figure
    corrected: Figure
    interval: list[Figure]
    unclear: int
    worst: list[Figure]
    concluded: Literal[-1, 0, 1]
    tips: Figure
    tips_if_dependent: Figure
    tried: Figure
    matrix: list[list[float]]
