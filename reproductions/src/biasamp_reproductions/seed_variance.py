"""2021 paper, Fig. 4 and Sec. 5.2: which comparisons of models and of data can be concluded, given how seeds vary?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import biasamp

from .celeba import ATTRIBUTES, PARTITION, SIDE, read_celeba
from .chart import Chart
from .experiment import Experiment, Setting
from .internals import with_majority
from .keeping import Kept
from .masking_rows import Estimate, estimate
from .masking_run import A_TO_T, run_jobs
from .networks import ARCHITECTURES, PLAIN, Training, scores, trained
from .outcome import REAL, STAND_IN, Outcome, Trial
from .papers import DIRECTIONAL
from .pictures import Pictures, Splits
from .rows import Reason, Row, claimed, interval_of, measured, placed
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


def _jobs(
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


@dataclass(frozen=True)
class Found:
    """Figures of all runs by task, architecture, ratio and run."""

    runs: dict[tuple[Any, ...], dict[str, float]]

    def values(self, task: str, name: str, ratio: float, metric: str) -> list[float]:
        """A figure of every run."""
        count = 1 + max(key[3] for key in self.runs)
        return [self.runs[task, name, ratio, number][metric] for number in range(count)]

    def over(self, task: str, name: str, ratio: float, metric: str) -> Estimate:
        """The mean over runs, with its interval."""
        return estimate(self.values(task, name, ratio, metric))

    def compared(self, task: str, one: tuple[str, float], other: tuple[str, float], metric: str) -> Comparison:
        """Two cells: the other less the one."""
        before, after = self.values(task, *one, metric), self.values(task, *other, metric)
        apart = [_interval(values) for values in (before, after)]
        overlap = apart[0] is None or apart[1] is None or (apart[0][1] >= apart[1][0] and apart[1][1] >= apart[0][0])
        return Comparison(estimate([b - a for a, b in zip(before, after, strict=True)]), overlap)


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    return estimate(values)[1]


@dataclass(frozen=True)
class Comparison:
    """A difference paired by run, and whether the two intervals overlap, which is how the paper judges."""

    difference: Estimate
    overlap: bool

    @property
    def concluded(self) -> bool:
        """Whether the paired difference lies on one side of 0."""
        interval = self.difference[1]
        return interval is not None and (interval[0] > 0 or interval[1] < 0)


def _rows(found: Found, tasks: Sequence[str]) -> Iterator[Row]:
    for task in tasks:
        yield from _across(found, task, "architecture", [(name, MIDDLE) for name in ARCHITECTURES], METRICS)
        yield from _across(found, task, "ratio", [(PLAIN, ratio) for ratio in RATIOS], (*METRICS, FIXED))
        ends, fixed = (
            found.compared(task, (PLAIN, RATIOS[0]), (PLAIN, RATIOS[-1]), metric) for metric in (A_TO_T, FIXED)
        )
        words = "differences across ratios are significant"
        yield claimed(
            f"{task}: A→T at ratio {RATIOS[-1]:g} less ratio {RATIOS[0]:g}",
            words,
            ends.difference[0],
            ends.concluded,
            interval=ends.difference[1],
            reason=Reason(f"all tested at ratio {MIDDLE:g}", fixed.difference[0], "significant")
            if fixed.concluded
            else None,
            test=SIGNIFICANT,
            note=f"paired by run; the two intervals {'overlap' if ends.overlap else 'do not overlap'}",
            claim=words,
            name=ACROSS_RATIOS,
        )
        yield claimed(
            f"{task}: {FIXED}, trained at ratio {RATIOS[-1]:g} less ratio {RATIOS[0]:g}",
            words,
            fixed.difference[0],
            fixed.concluded,
            interval=fixed.difference[1],
            test=SIGNIFICANT,
            note=f"paired by run; the two intervals {'overlap' if fixed.overlap else 'do not overlap'}",
            claim=words,
            name=ACROSS_RATIOS,
        )


# What Fig. 4 says of ratios, whatever the networks are tested on.
ACROSS_RATIOS = f"{A_TO_T} across ratios"
SIGNIFICANT = "the interval of the paired difference lies on one side of 0"
_PUBLISHED = {
    ("architecture", PRECISION): "a consistent ranking",
    ("architecture", FPR): "intervals overlap: nothing can be concluded",
    ("architecture", A_TO_T): "intervals overlap: nothing can be concluded",
    ("ratio", A_TO_T): "differences are significant",
    ("ratio", FIXED): "differences are significant",
}


def _across(
    found: Found, task: str, what: str, cells: Sequence[tuple[str, float]], metrics: Sequence[str]
) -> Iterator[Row]:
    """Each cell's figures, then which pairs of cells can be told apart."""
    place = 0 if what == "architecture" else 1
    for metric in metrics:
        for cell in cells:
            value, interval = found.over(task, *cell, metric)
            yield measured(f"{task}: {metric}, {what} {_name(cell[place])}", value, interval=interval)
        pairs = {(a, b): found.compared(task, a, b, metric) for a, b in combinations(cells, 2)}
        told = [f"{_name(a[place])} and {_name(b[place])}" for (a, b), pair in pairs.items() if pair.concluded]
        apart = sum(not pair.overlap for pair in pairs.values())
        yield measured(
            f"{task}: {metric}, comparisons between {what}s that can be concluded paired by run, of {len(pairs)}",
            float(len(told)),
            published=_PUBLISHED.get((what, metric)),
            name=ACROSS_RATIOS if (what, metric) == ("ratio", FIXED) else f"{metric} across {what}s",
            note="words without an edge" if not told else f"words without an edge; paired: {', '.join(told)}",
        )
        yield measured(
            f"{task}: {metric}, comparisons between {what}s whose intervals do not overlap, of {len(pairs)}",
            float(apart),
        )


def _name(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _charts(found: Found, tasks: Sequence[str]) -> tuple[Chart, ...]:
    out = []
    for title, cells, place, metrics in (
        ("architecture", [(name, MIDDLE) for name in ARCHITECTURES], 0, METRICS),
        ("ratio of majority to minority", [(PLAIN, ratio) for ratio in RATIOS], 1, (A_TO_T, FIXED)),
    ):
        for metric in metrics:
            lines = {task: [found.over(task, *cell, metric) for cell in cells] for task in tasks}
            out.append(
                Chart(
                    f"Fig. 4: {metric} by {title}",
                    title,
                    metric,
                    {task: [(float(x), value) for x, (value, _) in enumerate(line)] for task, line in lines.items()},
                    {
                        task: [interval for _, interval in line if interval is not None]
                        for task, line in lines.items()
                        if all(interval is not None for _, interval in line)
                    },
                    [_name(cell[place]) for cell in cells],
                    joined=place == 1,
                )
            )
    return tuple(out)


def reproduce(setting: Setting, scale: Scale) -> Outcome:
    """Run it on CelebA where its files are, else on scenes, at any scale."""
    runs = f"mean and 95% interval over {scale.seeds} runs, each with its own images and seed"

    def training(done: int, total: int) -> None:
        setting.progress(done, total, "networks")

    if setting.has((ATTRIBUTES, PARTITION)) and setting.folder is not None:

        def reading(done: int, total: int) -> None:
            setting.progress(done, total, "reading images")

        faces = read_celeba(setting.folder, tuple(CELEBA_TASKS), setting.seed, reading)
        sources: dict[str, Any] = {
            task: lambda ratio, seed, k=k, of_men=of_men: partial(celeba_splits, faces, k, of_men, ratio, seed)
            for k, (task, of_men) in enumerate(CELEBA_TASKS.items())
        }
        scale = replace(scale, epochs=scale.celeba_epochs)
        kind, left = REAL, ("pre-trained ResNet18, AlexNet and VGG16 on whole images, as in the paper",)
        source = (
            f"CelebA, {len(faces.train):,} train and {len(faces.test):,} test faces of {SIDE} x {SIDE} pixels; three small "
            f"networks from scratch; {runs}"
        )
    else:
        sources = {
            task: lambda ratio, seed, k=k: partial(scene_splits, k, ratio, scale, seed)
            for task, k in SCENE_TASKS.items()
        }
        kind, left = (
            STAND_IN,
            (f"CelebA itself: needs {ATTRIBUTES}, {PARTITION} and the images in the folder that BIASAMP_DATA names",),
        )
        source = (
            f"made-up scenes, one object a task; three small networks from scratch; {runs}. The paper's figure has no "
            "numbers to hold ours against, and is of CelebA and pre-trained networks"
        )
    sizes = f"{kind} {scale.train} {scale.validation} {scale.test}"
    kept = _kept(setting.keep, sizes)
    jobs = _jobs(sources, setting, scale) + (_split_jobs(setting, scale) if kind == STAND_IN else [])
    runs_of = dict(run_jobs(jobs, training, workers=scale.workers, work=run_job, kept=kept))
    tasks = list(sources)
    found = Found({key: figures for key, figures in runs_of.items() if key[0] in tasks})
    rows = list(placed(_rows(found, tasks), "Fig. 4"))
    if kind == STAND_IN:
        rows += placed(_split_rows(runs_of, scale.seeds), "Fig. 4")
    return Outcome(kind, source, tuple(rows), _charts(found, tasks), left, *_told(rows, kind))


def _told(rows: Sequence[Row], kind: str) -> tuple[tuple[str, ...], tuple[str, ...], Trial | None]:
    """Sentences, choices, and what the stand-in could have shown instead."""
    ends = [row for row in rows if row.claim]
    sure = sum(row.agrees is True for row in ends)
    says = [f"A→T differs surely between the largest and the smallest ratio in {sure} of {len(ends)} comparisons."]
    spreads = {
        what: [float(row.ours) for row in rows if row.what.startswith(f"sd of A→T over {what}")]
        for what in (SEEDS_ALONE, SPLITS_ALONE)
    }
    if all(spreads.values()):
        told = ", and ".join(
            f"{' and '.join(f'{value:.4f}' for value in values)} over {what}" for what, values in spreads.items()
        )
        says.append(f"On one pool of scenes the sd of A→T, of two tasks, is {told}.")
    if kind == REAL:
        says.append("Seeds alone and train-test splits alone were not told apart here; that is done on made-up scenes.")
    says.append(
        "The paper's figure has no digits, and was "
        + ("tried on other networks." if kind == REAL else "not tried on CelebA.")
    )
    choices = (
        f"What networks are tested on: images of the ratio they were trained on, and images of ratio {MIDDLE:g}; the paper does not tell which.",
        "Every run draws its images and its seed anew; seeds alone and train-test splits alone are told apart in rows of their own.",
    )
    if kind == REAL:
        return tuple(says), choices, None
    failed = [row.what for row in ends if row.agrees is False]
    fails = (
        f"It is not seen in {len(failed)} of {len(ends)} comparisons: {'; '.join(failed)}."
        if failed
        else (f"None of the {len(ends)} comparisons was found in which it is not seen.")
    )
    return tuple(says), choices, Trial("Ratios could make no difference to A→T.", fails)


SEEDS_ALONE, SPLITS_ALONE = "seeds alone, one split", "train-test splits alone, one seed"


def pooled_splits(task: int, scale: Scale, pool: int, split: int) -> Splits:
    """One pool of scenes of the middle ratio, split at random into train, validation and test (2021 Sec. 5.2)."""
    sizes = [scale.train, scale.validation, scale.test]
    scenes = _scenes(task, MIDDLE, sum(sizes), np.random.default_rng([pool, task, 77]))
    order = np.random.default_rng([split, task, 78]).permutation(len(scenes))
    cuts = (np.cumsum(sizes[:2]) / sum(sizes) * len(order)).astype(int)
    train, validation, test = (scenes.take(np.sort(rows)) for rows in np.split(order, cuts))
    return Splits(train, validation, test, (f"object {task + 1}",))


def _split_jobs(setting: Setting, scale: Scale) -> list[Job]:
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


def _split_rows(found: Mapping[tuple[Any, ...], dict[str, float]], count: int) -> Iterator[Row]:
    """How far seeds, and how far splits, move A→T on the same pool of scenes."""
    for task in SCENE_TASKS:
        for what, varies in ((SEEDS_ALONE, "training seed"), (SPLITS_ALONE, "train-test split")):
            values = [found[what, task, MIDDLE, number][A_TO_T] for number in range(count)]
            note = f"{count} networks on one pool of scenes"
            if count < 2:
                yield measured(f"sd of A→T over {what}: {task}", float("nan"), note=note)
                continue
            runs = biasamp.over_runs(values, varies=varies)
            low, high = interval_of(runs)
            told = f"{note}; their mean is {runs.value:.4f} (95% {low:.4f} to {high:.4f} over {varies}s)"
            yield measured(f"sd of A→T over {what}: {task}", float(np.sqrt(runs.seed_variance)), note=told)


def _kept(folder: Path | None, what: str) -> Kept | None:
    if folder is None:
        return None
    return Kept(
        folder,
        lambda job: f"seed-variance {what} {job.key} {job.seed} {job.training}",
        lambda part: [list(part[0]), part[1]],
        lambda part: (tuple(part[0]), dict(part[1])),
    )


def run(setting: Setting) -> Outcome:
    """Run it."""
    return reproduce(setting, setting.sized(Scale(), QUICK))


EXPERIMENT = Experiment(
    "seed-variance",
    "How far seeds move AP, FPR difference and A→T, and which comparisons of networks and of data can be concluded",
    "Wang & Russakovsky (2021), Fig. 4, Sec. 5.2",
    run,
    files=(ATTRIBUTES, PARTITION),
    without="runs on made-up scenes",
    extras={"torch": "experiments"},
    sizes=("train", "validation", "test", "epochs", "celeba_epochs", "seeds"),
    paper=DIRECTIONAL,
)
