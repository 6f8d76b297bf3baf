"""Made-up images with captions by six made-up models: a stand-in of which every error rate is planted.

The models bear the names of those of the paper and nothing else of them. What they get wrong is chosen here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .internals import SYNONYMS, plural
from .rows import Row, recovered

Floats = NDArray[np.float64]

IMAGES = 2_400
MEN = 0.6
# An object's rate with women and with men.
OBJECTS = {
    "handbag": (0.30, 0.10),
    "umbrella": (0.25, 0.12),
    "teddy_bear": (0.16, 0.07),
    "hair_drier": (0.12, 0.04),
    "tie": (0.05, 0.25),
    "skateboard": (0.08, 0.22),
    "baseball_bat": (0.06, 0.18),
    "motorcycle": (0.08, 0.16),
    "dog": (0.15, 0.14),
    "bench": (0.14, 0.15),
    "cup": (0.20, 0.19),
    "knife": (0.10, 0.11),
}
# How far an amplification may lie from the planted one, in standard errors.
STANDARD_ERRORS = 4.0
_WOMEN_WORDS, _MEN_WORDS = ("woman", "girl", "lady"), ("man", "boy", "guy")


@dataclass(frozen=True)
class Planted:
    """How a made-up model errs.

    Attributes
    ----------
    wrong : float
        How often it takes a person for the other gender whatever the objects.
    drawn : float
        How much oftener where more of the image's objects go with the other gender than with the person's own.
    named : float
        How often it names an object that is there.
    invented : float
        How often it names an object that is not there, of those that go with the person's gender.
    unsaid : float
        How often it names no gender.
    """

    wrong: float
    drawn: float
    named: float = 0.7
    invented: float = 0.02
    unsaid: float = 0.04


PLANTED: Mapping[str, Planted] = {
    "baseline_ft": Planted(0.03, 0.60),
    "balanced": Planted(0.03, 0.45),
    "upweight": Planted(0.05, 0.65),
    "confusion": Planted(0.03, 0.30),
    "confident": Planted(0.02, 0.45),
    # Errs less on gender, and invents more of what goes with the gender: the trade that the paper's captions suggest.
    "equalizer": Planted(0.01, 0.05, invented=0.15, unsaid=0.08),
}


@dataclass(frozen=True, eq=False)
class MadeCaptions:
    """Images, captions, and the chances that these were drawn with.

    Attributes
    ----------
    man : ndarray of bool, shape (images,)
    there : ndarray of bool, shape (images, objects)
    captions : mapping of str to list of str
    says_man, names : mapping of str to ndarray
        By model, the chance that a caption that names a gender says man, and that it names each object.
    """

    man: NDArray[np.bool_]
    there: NDArray[np.bool_]
    captions: dict[str, list[str]]
    says_man: dict[str, Floats]
    names: dict[str, Floats]

    @property
    def gender(self) -> list[str]:
        """The true genders."""
        return np.where(self.man, "man", "woman").tolist()

    @property
    def objects(self) -> list[list[str]]:
        """The true objects."""
        names = list(OBJECTS)
        return [[names[t] for t in np.flatnonzero(row)] for row in self.there]


def made_captions(seed: int, images: int = IMAGES) -> MadeCaptions:
    """Draw images, and a caption of each by every model."""
    draws = iter(np.random.SeedSequence([seed, 33]).spawn(1 + len(PLANTED)))
    rng = np.random.default_rng(next(draws))
    rates = np.array(list(OBJECTS.values()))
    man = rng.random(images) < MEN
    there = rng.random((images, len(OBJECTS))) < rates[:, man.astype(int)].T
    tied = np.max(rates, 1) > 1.5 * np.min(rates, 1)
    of_men = tied & (rates[:, 1] > rates[:, 0])
    of_own = np.where(man[:, None], of_men, tied & ~of_men)
    misleading = (there & tied & ~of_own).sum(1) > (there & of_own).sum(1)
    captions, says_man, names = {}, {}, {}
    for (model, plan), sequence in zip(PLANTED.items(), draws, strict=True):
        rng = np.random.default_rng(sequence)
        wrong = plan.wrong + plan.drawn * misleading
        says_man[model] = np.where(man, 1 - wrong, wrong)
        names[model] = np.where(there, plan.named, np.where(of_own, plan.invented, 0.0))
        said = rng.random(images) < says_man[model]
        unsaid = rng.random(images) < plan.unsaid
        named = rng.random(names[model].shape) < names[model]
        captions[model] = [_caption(rng, None if unsaid[i] else bool(said[i]), named[i]) for i in range(images)]
    return MadeCaptions(man, there, captions, says_man, names)


def _caption(rng: np.random.Generator, man: bool | None, named: NDArray[np.bool_]) -> str:
    """A sentence: one gender's words or none's, and objects by name, synonym or plural."""
    if man is None:
        who, whose = "person", "the"
    else:
        who, whose = str(rng.choice(_MEN_WORDS if man else _WOMEN_WORDS)), "his" if man else "her"
    parts = []
    for name, held in zip(OBJECTS, named, strict=True):
        if held:
            words = (name.replace("_", " "), *SYNONYMS.get(name, ()))
            word = words[rng.integers(len(words))]
            parts.append(f"two {plural(word)}" if rng.random() < 0.3 else f"{whose} {word}")
    return f"A {who} with {' and '.join(parts)}." if parts else f"A {who} standing outside."


def planted_t_to_a(man: NDArray[np.bool_], there: NDArray[np.bool_], says_man: Floats) -> tuple[float, float]:
    """T→A that genders drawn with these chances have on average, and its standard deviation over draws.

    With two genders it is the mean over objects of y (P(said man | object) - P(man | object)), where y is 1 for objects
    that go with men and -1 for the others, and the first probability is a mean of chances.
    """
    weight = _directions(man, there)[1] * there / there.sum(0) / there.shape[1]
    by_image = weight.sum(1)
    value = float(by_image @ (says_man - man))
    return value, float(np.sqrt(by_image**2 @ (says_man * (1 - says_man))))


def planted_a_to_t(man: NDArray[np.bool_], there: NDArray[np.bool_], names: Floats) -> tuple[float, float]:
    """A→T that objects drawn with these chances have on average, and its standard deviation over draws.

    It is the mean over genders and objects of y (P(named | gender) - P(object | gender)).
    """
    y = _directions(man, there)
    weight = y[man.astype(int)] / np.where(man, man.sum(), (~man).sum())[:, None] / y.size
    value = float((weight * (names - there)).sum())
    return value, float(np.sqrt((weight**2 * names * (1 - names)).sum()))


def _directions(man: NDArray[np.bool_], there: NDArray[np.bool_]) -> Floats:
    """1 where a gender (women first) and an object are together more often than apart from each other, else -1."""
    sign = np.where((man[:, None] & there).mean(0) > man.mean() * there.mean(0), 1.0, -1.0)
    return np.array([-sign, sign])


def planted_rows(made: MadeCaptions, common: NDArray[np.bool_], rows: Sequence[Row]) -> Iterator[Row]:
    """Whether what is planted comes back through words, audits and comparisons."""
    held: dict[str, Any] = {row.what: row for row in rows}
    man, there = made.man[common], made.there[common]
    for model in PLANTED:
        for name, (known, spread) in (
            ("A→T", planted_a_to_t(man, there, made.names[model][common])),
            ("T→A", planted_t_to_a(man, there, made.says_man[model][common])),
        ):
            found = float(held[f"{model}: {name}"].ours)
            reach = STANDARD_ERRORS * spread
            yield recovered(
                f"{model}: {name} against what was planted",
                f"{known:+.4f}",
                found,
                abs(found - known) <= reach,
                note=f"within {reach:.4f}, {STANDARD_ERRORS:.0f} standard errors",
            )
    for name, side in (("T→A", -1), ("A→T", 1)):
        row = held[f"equalizer less baseline_ft: {name}"]
        yield recovered(
            f"equalizer less baseline_ft: {name}, on whose side of 0 it was planted",
            "below 0" if side < 0 else "above 0",
            row.ours,
            min(side * bound for bound in row.interval) > 0,
            interval=row.interval,
            note="made so here: it shows that the difference is found, not that the paper's models differ so",
        )
