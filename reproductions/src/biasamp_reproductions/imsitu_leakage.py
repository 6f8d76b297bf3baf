"""imSitu: how well verbs tell the gender, in the whole data and where verbs are restricted to balance (Wang 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biasamp

from .chart import Chart
from .experiment import Experiment, Setting
from .internals import best_score
from .made_verbs import VERBS, PlantedVerbs, made_verbs
from .outcome import REAL, STAND_IN, Outcome, Trial
from .papers import LEAKAGE
from .rows import Row, claimed, measured, recovered

SPLITS = ("train", "val", "test")
FILES = tuple(f"imsitu_gender_verbs_{split}.parquet" for split in SPLITS)
# Each verb has at most alpha times as many images of one gender as of the other; None: all images.
ALPHAS = (None, 3, 2, 1)
RESAMPLES = 400
# How far an accuracy on the stand-in's test images may lie from the planted one, in standard errors.
_STANDARD_ERRORS = 4.0


def read(setting: Setting) -> dict[str, Mapping[str, Sequence[Any]]]:
    """The columns of every split."""
    wanted = ("gender", "verb", "in_ratio_1", "in_ratio_2", "in_ratio_3")
    return {split: setting.columns(file, wanted) for split, file in zip(SPLITS, FILES, strict=True)}


def tables(read: Mapping[str, Mapping[str, Sequence[Any]]]) -> dict[tuple[str, int | None], NDArray[np.int64]]:
    """Counts of (verb, gender) of every split, whole and restricted."""
    verbs = {verb: i for i, verb in enumerate(sorted({v for columns in read.values() for v in columns["verb"]}))}
    out = {}
    for split, columns in read.items():
        place = np.array([verbs[verb] for verb in columns["verb"]])
        man = np.array(columns["gender"]) == "man"
        for alpha in ALPHAS:
            kept = np.ones(len(place), dtype=bool) if alpha is None else np.array(columns[f"in_ratio_{alpha}"])
            table = np.zeros((len(verbs), 2), dtype=np.int64)
            np.add.at(table, (place[kept], man[kept].astype(int)), 1)
            out[split, alpha] = table
    return out


def resampled(train: Any, test: Any, seed: int, quality: str) -> tuple[float, float]:
    """A 95% interval over other test images, for the attacker as it is: Poisson resamples of the test table.

    Resampling the train images too would break ties that restricting to alpha = 1 makes on purpose.
    """
    rng = np.random.default_rng([seed, 9])
    draws = [best_score(train, rng.poisson(test), quality) for _ in range(RESAMPLES)]
    low, high = np.quantile(np.array(draws), [0.025, 0.975])
    return float(low), float(high)


def _rows(counts: Mapping[tuple[str, int | None], NDArray[np.int64]], setting: Setting) -> Iterator[Row]:
    found: dict[tuple[str, int | None], float] = {}
    for step, alpha in enumerate(ALPHAS):
        name = "all images" if alpha is None else f"alpha = {alpha}"
        for way, of_test in (("train alone", None), ("train and test", alpha)):
            if alpha is None and way == "train and test":
                continue
            train, test = counts["train", alpha], counts["test", of_test]
            for quality in ("accuracy", "balanced_accuracy"):
                value = float(best_score(train, test, quality))
                if quality == "balanced_accuracy":
                    found[way, alpha] = value
                yield measured(
                    f"{name}{'' if alpha is None else f', restricting {way}'}: {quality.replace('_', ' ')} of the attacker",
                    value,
                    interval=resampled(train, test, setting.seed, quality),
                    note=f"learned on {train.sum():,} images, scored on {test.sum():,}",
                )
        verb, gender = (
            np.repeat(index, counts["train", alpha].ravel()) for index in np.indices(train.shape).reshape(2, -1)
        )
        inside = biasamp.leakage(
            gender, verb, verb.copy(), quality="balanced_accuracy", equalize=None, trials=50, seed=setting.seed
        )
        yield measured(
            f"{name}: dataset leakage by biasamp.leakage on random halves of train",
            inside.dataset,
            note="balanced accuracy; of verbs balanced to the image one half lacks what the other has, so below 1/2"
            if alpha == 1
            else "balanced accuracy; 1/2 is chance",
        )
        setting.progress(step + 1, len(ALPHAS))
    whole = found["train alone", None]
    falls = [whole, *(found["train and test", alpha] for alpha in ALPHAS[1:])]
    yield claimed(
        "leakage from all images to alpha = 3, 2, 1, restricting train and test: the step that falls least",
        "falls with alpha",
        max(after - before for before, after in pairwise(falls)),
        all(after < before for before, after in pairwise(falls)),
        test="each lower than the one before",
        note=f"{', '.join(f'{value:.4f}' for value in falls)}; at alpha = 1 it is chance by construction",
    )
    for alpha in ALPHAS[1:]:
        for way, note in (("train alone", "as the authors' scripts do"), ("train and test", "")):
            yield measured(
                f"alpha = {alpha}: fall of balanced accuracy, restricting {way}", whole - found[way, alpha], note=note
            )


def _recovered(
    rows: Sequence[Row], counts: Mapping[tuple[str, int | None], NDArray[np.int64]], planted: PlantedVerbs
) -> Iterator[Row]:
    """Whether what is planted in the stand-in comes back."""
    held = {row.what: float(row.ours) for row in rows if isinstance(row.ours, float)}
    names = ["all images", *(f"alpha = {alpha}, restricting train and test" for alpha in ALPHAS[1:])]
    for name, alpha in zip(names, ALPHAS, strict=True):
        known, found = planted.accuracy(alpha), held[f"{name}: accuracy of the attacker"]
        reach = _STANDARD_ERRORS * float(np.sqrt(known * (1 - known) / counts["test", alpha].sum()))
        yield recovered(
            f"{name}: accuracy of the attacker against what was planted",
            f"{known:.4f}",
            found,
            abs(found - known) <= reach,
            note=f"within {reach:.4f}, {_STANDARD_ERRORS:.0f} standard errors",
        )


def _chart(rows: Sequence[Row]) -> Chart:
    """Balanced accuracy by alpha, restricting train alone and test too; without a restriction the two are one."""
    held = {row.what: row for row in rows}
    ticks = ["all images" if alpha is None else f"alpha = {alpha}" for alpha in ALPHAS]
    found: dict[str, list[Row]] = {}
    for way in ("train alone", "train and test"):
        names = [
            f"{tick}{'' if alpha is None else f', restricting {way}'}"
            for tick, alpha in zip(ticks, ALPHAS, strict=True)
        ]
        found[f"restricting {way}"] = [held[f"{name}: balanced accuracy of the attacker"] for name in names]
    return Chart(
        "How well verbs tell the gender, with 95% intervals over test images",
        "train images",
        "balanced accuracy",
        {way: [(float(place), float(row.ours)) for place, row in enumerate(points)] for way, points in found.items()},
        {way: [row.interval or (0.0, 0.0) for row in points] for way, points in found.items()},
        ticks,
    )


def run(setting: Setting) -> Outcome:
    """Run it."""
    if setting.has(FILES):
        rows = tuple(_rows(tables(read(setting)), setting))
        return Outcome(REAL, ", ".join(FILES), rows, (_chart(rows),), says=_says(rows, "imSitu"))
    splits, planted = made_verbs(setting.seed)
    counts = tables(splits)
    rows = tuple(_rows(counts, setting))
    source = (
        f"{sum(len(columns['verb']) for columns in splits.values()):,} made-up images with {VERBS} verbs of known shares of "
        "men; shows that what is planted is measured, and nothing about imSitu"
    )
    left = (f"imSitu itself, which needs {', '.join(FILES)} in the folder that BIASAMP_DATA names",)
    alone = [float(row.ours) for row in rows if "train alone: balanced accuracy" in row.what]
    trial = Trial(
        "Restricting that leaves the test images as they are could leave leakage where it was, and does.",
        f"Restricting train images alone, balanced accuracy at alpha = 3, 2, 1 is {', '.join(f'{value:.4f}' for value in alone)}: "
        "it does not fall with alpha to chance as it does where the test images are restricted too.",
    )
    held = (*rows, *_recovered(rows, counts, planted))
    says = _says(rows, "made-up images")
    return Outcome(STAND_IN, source, held, (_chart(rows),), left, says, trial=trial)


def _says(rows: Sequence[Row], what: str) -> tuple[str, ...]:
    held = {row.what: row.ours for row in rows}
    both = [
        held[f"alpha = {alpha}, restricting train and test: balanced accuracy of the attacker"] for alpha in (3, 2, 1)
    ]
    alone = held["alpha = 3, restricting train alone: balanced accuracy of the attacker"]
    return (
        f"On {what} an attacker tells the gender from the verb with balanced accuracy {held['all images: balanced accuracy of the attacker']:.4f}, "
        f"and {', '.join(f'{value:.4f}' for value in both)} at alpha = 3, 2, 1.",
        f"Restricting the train images alone hides most of that: {alone:.4f} at alpha = 3.",
        "The paper prints accuracies of trained attackers on other splits: that it falls with alpha is all that is held against it.",
    )


EXPERIMENT = Experiment(
    "imsitu-leakage",
    "imSitu: dataset leakage at alpha = none, 3, 2, 1, restricting train alone or test too",
    "Wang et al. (2019), Balanced Datasets Are Not Enough",
    run,
    files=FILES,
    without="runs on made-up images and verbs",
    paper=LEAKAGE,
)
