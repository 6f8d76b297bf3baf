"""2021 paper, Fig. 4 and Sec. 5.2: which comparisons of models and of data can be concluded, given how seeds vary?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

import biasamp

from .celeba import ATTRIBUTES, PARTITION, SIDE, read_celeba
from .chart import Chart
from .experiment import Experiment, Setting
from .masking_rows import Estimate, estimate
from .masking_run import A_TO_T, run_jobs
from .networks import ARCHITECTURES, PLAIN
from .outcome import REAL, STAND_IN, Outcome, Trial
from .papers import DIRECTIONAL
from .rows import Reason, Row, claimed, interval_of, measured, placed
from .seed_variance_run import (
    CELEBA_TASKS,
    FIXED,
    FPR,
    METRICS,
    MIDDLE,
    PRECISION,
    QUICK,
    RATIOS,
    SCENE_TASKS,
    SEEDS_ALONE,
    SPLITS_ALONE,
    Scale,
    celeba_splits,
    jobs,
    kept_parts,
    run_job,
    scene_splits,
    split_jobs,
)


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
            note="words that state no threshold"
            if not told
            else f"words that state no threshold; paired: {', '.join(told)}",
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
    kept = kept_parts(setting.keep, sizes)
    todo = jobs(sources, setting, scale) + (split_jobs(setting, scale) if kind == STAND_IN else [])
    runs_of = dict(run_jobs(todo, training, workers=scale.workers, work=run_job, kept=kept))
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
