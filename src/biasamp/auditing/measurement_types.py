"""What audits and comparisons share in their documents: figures, directions and which metric was measured."""

# Annotations are evaluated here, so that the types know which of their fields are required.

from typing import Literal, TypedDict

SCHEMA: Literal[1] = 1

Direction = Literal["A->T", "T->A"]
# A figure is null where it is undefined; a threshold may also lie beyond every score.
Figure = float | None
Threshold = float | Literal["inf", "-inf"] | None


class Measurement(TypedDict):
    """Which metric of which attribute in which direction."""

    attribute: str
    metric: str
    direction: Direction | None
