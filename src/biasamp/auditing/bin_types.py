"""The types of what an audit says of other bins."""

# Annotations are evaluated here, so that the types know which of their fields are required.

from typing import Literal, TypedDict

from .measurement_types import Direction, Figure


class OtherBins(TypedDict):
    """One directional value with other bins: ``how`` they differ, their ``edges``, and the ``value``."""

    how: str
    edges: list[float]
    value: Figure


class BinEntry(TypedDict):
    """How one directional value moves with the bins of a column that was cut.

    ``column`` is the one that was cut at ``edges``, as an attribute or as the task. ``least`` and ``largest`` are over the
    value and ``others``.
    """

    column: str
    role: Literal["attribute", "task"]
    attribute: str
    direction: Direction
    edges: list[float]
    value: Figure
    least: Figure
    largest: Figure
    others: list[OtherBins]
