"""The networks of the seed variance experiment: what each is trained on, and what is measured of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import biasamp

from .experiment import Setting
from .internals import with_majority
from .keeping import Kept
from .masking_run import A_TO_T
from .networks import ARCHITECTURES, PLAIN, Training, scores, trained
from .pictures import Pictures, Splits
from .scenes import OF_MEN, SceneDesign, labels, paint

PRECISION, FPR = "average precision", "FPR difference"
METRICS = (PRECISION, FPR, A_TO_T)
RATIOS = (1.5, 2.0, 3.0, 5.0)
# The architectures are compared at one ratio, the ratios with one architecture.
MIDDLE = 3.0
# A→T where every network is tested on pictures of the middle ratio, whatever it was trained on.
FIXED = f"{A_TO_T}, all tested at ratio {MIDDLE:g}"
# Half of the objects are hard to see, so that there is something for gender to decide.
DESIGN = SceneDesign(faint=0.5)
# Scenes: one task that goes with men, one that goes with women, as big nose and young do in CelebA.
SCENE_TASKS = {"object 5, with men": 4, "object 1, with women": 0}
CELEBA_TASKS = {"Big_Nose": True, "Young": False}


@dataclass(frozen=True)
class Scale:
    """How much is run.

    Attributes
    ----------
    train, validation, test : int
        Scenes of each part.
    epochs, celeba_epochs : int
        Of scenes, and of CelebA (10 in the paper).
    seeds : int
        Runs of every cell, each with images drawn again.
    workers : int, optional
        Processes; by default one a core.
    """

    train: int = 3000
    validation: int = 2000
    test: int = 4000
    epochs: int = 6
    celeba_epochs: int = 10
    seeds: int = 5
    workers: int | None = None


QUICK = Scale(300, 200, 400, 1, 1, 2)


@dataclass(frozen=True)
class Job:
    """A network to train for one task: ``splits`` gives images of that task alone, called where the work is done."""

    key: tuple[Any, ...]
    splits: Callable[[], Splits]
    seed: int
    training: Training = field(default_factory=Training)


def run_job(job: Job) -> tuple[tuple[Any, ...], dict[str, float]]:
    """Train, calibrate on validation, measure on test."""
    splits = job.splits()
    model = trained(splits.train.images, splits.train.objects, job.seed, job.training)
    with warnings.catch_warnings():
        # Ties of scores, and false positives that a small set has none of, are the page's matter.
        warnings.simplefilter("ignore", UserWarning)
        calibration = biasamp.calibrate(scores(model, splits.validation.images), rate=splits.train.objects.mean())
        found = _measured(splits.train, splits.test, scores(model, splits.test.images), calibration)
        if splits.fixed is not None:
            beside = _measured(splits.train, splits.fixed, scores(model, splits.fixed.images), calibration)
            found[FIXED] = beside[A_TO_T]
    return job.key, found


def _measured(train: Pictures, test: Pictures, raw: Any, calibration: Any) -> dict[str, float]:
    """The three figures of scores, thresholded as calibrated."""
    from sklearn.metrics import average_precision_score

    def labels_of(pictures: Pictures) -> tuple[Any, Any]:
        people = np.where(pictures.man, "man", "woman")
        return people, biasamp.binary(pictures.objects[:, 0].astype(np.int64))

    man, task = labels_of(test)
    said = biasamp.binary(calibration.apply(raw)[:, 0])
    return {
        PRECISION: float(average_precision_score(test.objects[:, 0], raw[:, 0])),
        FPR: float(biasamp.parity(man, task, said).table["fpr_difference"][0]),
        A_TO_T: biasamp.directional(man, task, said, train=labels_of(train)).value,
    }


def _scenes(task: int, ratio: float, size: int, rng: np.random.Generator) -> Pictures:
    """Scenes with one task's labels, in which majority groups are ``ratio`` times as many as minority groups."""
    # A pool from which the majority, up to five sixths of what is kept, can be taken.
    man, objects = labels(replace(DESIGN, men=0.5), 3 * size, rng)
    objects[:, task] = rng.random(len(man)) < 0.5
    rows = with_majority(objects[:, task], man, ratio=ratio, of_men=bool(OF_MEN[task]), most=size, seed=rng)
    return replace(paint(DESIGN, man[rows], objects[rows], rng), objects=objects[rows][:, [task]])


def scene_splits(task: int, ratio: float, scale: Scale, seed: int) -> Splits:
    """Scenes of one task and ratio, drawn anew, and more of the middle ratio."""
    sizes = ((ratio, scale.train), (ratio, scale.validation), (ratio, scale.test), (MIDDLE, scale.test))
    train, validation, test, fixed = (
        _scenes(task, wanted, size, np.random.default_rng([seed, task, place]))
        for place, (wanted, size) in enumerate(sizes)
    )
    return Splits(train, validation, test, (f"object {task + 1}",), fixed)


def celeba_splits(faces: Splits, task: int, of_men: bool, ratio: float, seed: int) -> Splits:
    """Faces of one task and ratio, chosen anew from all that were read, and test faces of the middle ratio."""

    def chosen(part: Pictures, wanted: float, place: int) -> Pictures:
        rng = np.random.default_rng([seed, task, place])
        rows = with_majority(part.objects[:, task], part.man, ratio=wanted, of_men=of_men, seed=rng)
        return replace(part.take(rows), objects=part.objects[rows][:, [task]])

    return Splits(
        chosen(faces.train, ratio, 0),
        chosen(faces.validation, ratio, 1),
        chosen(faces.test, ratio, 2),
        (faces.names[task],),
        chosen(faces.test, MIDDLE, 3),
    )


def jobs(
    sources: Mapping[str, Callable[[float, int], Callable[[], Splits]]], setting: Setting, scale: Scale
) -> list[Job]:
    """Every architecture at the middle ratio, and every ratio with the plain architecture."""
    seeds = [int(state) for state in np.random.SeedSequence([setting.seed, 52]).generate_state(scale.seeds)]
    cells = dict.fromkeys([(name, MIDDLE) for name in ARCHITECTURES] + [(PLAIN, ratio) for ratio in RATIOS])
    return [
        Job((task, name, ratio, number), source(ratio, seed), seed, Training(scale.epochs, architecture=name))
        for number, seed in enumerate(seeds)
        for task, source in sources.items()
        for name, ratio in cells
    ]


SEEDS_ALONE, SPLITS_ALONE = "seeds alone, one split", "train-test splits alone, one seed"


def pooled_splits(task: int, scale: Scale, pool: int, split: int) -> Splits:
    """One pool of scenes of the middle ratio, split at random into train, validation and test (2021 Sec. 5.2)."""
    sizes = [scale.train, scale.validation, scale.test]
    scenes = _scenes(task, MIDDLE, sum(sizes), np.random.default_rng([pool, task, 77]))
    order = np.random.default_rng([split, task, 78]).permutation(len(scenes))
    cuts = (np.cumsum(sizes[:2]) / sum(sizes) * len(order)).astype(int)
    train, validation, test = (scenes.take(np.sort(rows)) for rows in np.split(order, cuts))
    return Splits(train, validation, test, (f"object {task + 1}",))


def split_jobs(setting: Setting, scale: Scale) -> list[Job]:
    """The same pool of scenes with other seeds of the network, and with other splits of it."""
    seeds = [int(state) for state in np.random.SeedSequence([setting.seed, 53]).generate_state(scale.seeds)]
    training = Training(scale.epochs, architecture=PLAIN)
    out = []
    for name, task in SCENE_TASKS.items():
        for number, seed in enumerate(seeds):
            for what, split, own in ((SEEDS_ALONE, seeds[0], seed), (SPLITS_ALONE, seed, seeds[0])):
                source = partial(pooled_splits, task, scale, setting.seed, split)
                out.append(Job((what, name, MIDDLE, number), source, own, training))
    return out


def kept_parts(folder: Path | None, what: str) -> Kept | None:
    """Where networks of a setting, which ``what`` tells, are kept."""
    if folder is None:
        return None
    return Kept(
        folder,
        lambda job: f"seed-variance {what} {job.key} {job.seed} {job.training}",
        lambda part: [list(part[0]), part[1]],
        lambda part: (tuple(part[0]), dict(part[1])),
    )
