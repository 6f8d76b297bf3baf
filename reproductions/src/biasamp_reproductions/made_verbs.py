"""Made-up images with a gender and a verb: a stand-in for imSitu, of which every share is planted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERBS = 60
IMAGES = {"train": 24_000, "val": 6_000, "test": 12_000}
# Some verbs are common, most are rare; and the share of men goes from the first of these to the second.
_COMMONEST, _MEN = 6.0, (0.08, 0.92)
RATIOS = (1, 2, 3)


@dataclass(frozen=True, eq=False)
class PlantedVerbs:
    """What images are drawn from: how often each verb is there, and its share of men."""

    rate: NDArray[np.float64]
    men: NDArray[np.float64]

    def accuracy(self, alpha: int | None) -> float:
        """How often the best guess of the gender is right, where the rarer gender is whole and the other cut to alpha.

        >>> PlantedVerbs(np.array([0.5, 0.5]), np.array([0.9, 0.5])).accuracy(None)
        0.7
        """
        fewer = self.rate * np.minimum(self.men, 1 - self.men)
        more = self.rate - fewer
        kept = more if alpha is None else np.minimum(more, alpha * fewer)
        return float(kept.sum() / (kept + fewer).sum())


def restricted(verb: NDArray[Any], man: NDArray[np.bool_], alpha: int, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which images stay, where each verb has at most alpha times as many images of one gender as of the other.

    Of the commoner gender those that come first in ``order`` stay, so what stays at an alpha stays at any above it.

    >>> verb, man = np.array(["run"] * 4), np.array([True, False, True, True])
    >>> restricted(verb, man, 2, np.array([3, 2, 1, 0])).tolist()
    [False, True, True, True]
    """
    kept = np.zeros(len(verb), dtype=bool)
    for name in np.unique(verb):
        here = order[verb[order] == name]
        genders = here[man[here]], here[~man[here]]
        most = alpha * min(map(len, genders))
        for images in genders:
            kept[images[:most]] = True
    return kept


def made_verbs(seed: int) -> tuple[dict[str, Mapping[str, Sequence[Any]]], PlantedVerbs]:
    """Splits in the columns of the imSitu files, and what they were drawn from."""
    draws = iter(np.random.SeedSequence([seed, 60]).spawn(1 + len(IMAGES)))
    rng = np.random.default_rng(next(draws))
    rate = rng.permutation(np.geomspace(1.0, _COMMONEST, VERBS))
    planted = PlantedVerbs(rate / rate.sum(), np.linspace(*_MEN, VERBS))
    names = np.array([f"verb {i + 1:02d}" for i in range(VERBS)])
    splits: dict[str, Mapping[str, Sequence[Any]]] = {}
    for split, images in IMAGES.items():
        rng = np.random.default_rng(next(draws))
        place = rng.choice(VERBS, images, p=planted.rate)
        man = rng.random(images) < planted.men[place]
        order = rng.permutation(images)
        splits[split] = {
            "verb": names[place].tolist(),
            "gender": np.where(man, "man", "woman").tolist(),
            **{f"in_ratio_{alpha}": restricted(place, man, alpha, order).tolist() for alpha in RATIOS},
        }
    return splits, planted
