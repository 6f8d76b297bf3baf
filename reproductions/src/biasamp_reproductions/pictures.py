"""Pictures of people with what is in them: gender, objects, and where the person is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .masks import masked

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pictures:
    """Images and their labels.

    Attributes
    ----------
    images : ndarray of shape (pictures, 3, height, width)
        Floats from 0 to 1, or bytes.
    man : bool ndarray of shape (pictures,)
    objects : bool ndarray of shape (pictures, objects)
    person : bool ndarray of shape (pictures, height, width)
        Where people are.
    box : bool ndarray of shape (pictures, height, width), optional
        Annotators' boxes around people; without them the smallest box around ``person``.
    """

    images: NDArray[Any]
    man: Bools
    objects: Bools
    person: Bools
    box: Bools | None = None

    def take(self, rows: Any) -> Pictures:
        """Some of the pictures."""
        box = None if self.box is None else self.box[rows]
        return Pictures(self.images[rows], self.man[rows], self.objects[rows], self.person[rows], box)

    def seen(self, condition: str, seed: Any) -> NDArray[Any]:
        """The images with people covered as a condition says."""
        return masked(self.images, self.person, condition, seed, self.box)

    @property
    def targets(self) -> Bools:
        """What a network is to predict: every object, and at last whether the person is a man."""
        return np.concatenate([self.objects, self.man[:, None]], axis=1)

    def __len__(self) -> int:
        return len(self.man)


@dataclass(frozen=True, eq=False)
class Splits:
    """Pictures to train on, to calibrate on and to test on, with the objects' names.

    ``fixed``, where it is given, are pictures to test on that are of one kind whatever the others are.
    """

    train: Pictures
    validation: Pictures
    test: Pictures
    names: tuple[str, ...]
    fixed: Pictures | None = None
