"""2021 paper, Tables 1 and 3, and DPA paper, Table 4: what is amplified when people are masked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .chart import Chart
from .coco import ANNOTATIONS, SIDE, Coco, OwnImages, read_coco, read_own
from .experiment import Experiment, Setting
from .masking_rows import Figures, measured_rows, printed_rows, trend_rows
from .masking_run import A_TO_T, ATTRIBUTION, DPA, MALS, MULTI, T_TO_A, Job, Run, kept_runs, run_jobs
from .masking_sweep import Cell, cells, sweep_charts, sweep_jobs, sweep_rows
from .masks import CONDITIONS, IN_WORDS, SEGMENT
from .networks import Training
from .outcome import OWN, REAL, STAND_IN, Outcome, Trial
from .papers import DIRECTIONAL
from .pictures import Splits
from .rows import Row, placed
from .scenes import CONTEXT, OBJECTS, SceneDesign, draw

SETS = ("unbalanced", "balanced")
_NAMES = tuple(f"object {k + 1}" for k in range(OBJECTS))
# Of scenes drawn about half are left when every set of objects must go with men and women alike.
_POOL = 2


@dataclass(frozen=True)
class Scale:
    """How much is run.

    Attributes
    ----------
    train, validation, test : int
        Scenes of each part.
    training : Training
    coco_epochs : int
        Of COCO's images, which take longer to learn (12 in the DPA paper).
    seeds : int
        Runs of every condition, each with pictures drawn again.
    trials, attributed : int
        Of leakage and DPA; test images for attributions.
    cells : tuple of Cell
        The sweep's.
    workers : int, optional
        Processes; by default one a core.
    """

    train: int = 4000
    validation: int = 2500
    test: int = 5000
    training: Training = field(default_factory=Training)
    coco_epochs: int = 12
    seeds: int = 5
    trials: int = 20
    attributed: int = 300
    cells: tuple[Cell, ...] = field(default_factory=cells)
    workers: int | None = None


QUICK = Scale(200, 150, 200, Training(1), 1, 2, 2, 20, cells()[:1])


def scene_splits(design: SceneDesign, scale: Scale, seed: int, balanced: bool) -> Splits:
    """Scenes to train on, to calibrate on and to test on, all drawn with one seed."""
    sizes = (scale.train, scale.validation, scale.test)
    train, validation, test = (
        draw(design, size * (_POOL if balanced else 1), [seed, place, balanced], balanced=balanced)
        for place, size in enumerate(sizes)
    )
    return Splits(train, validation, test, _NAMES)


def seeds(setting: Setting, count: int) -> list[int]:
    """Seeds far from each other, one a run; all conditions of a run share it, so that they can be paired."""
    return [int(state) for state in np.random.SeedSequence([setting.seed, 2021]).generate_state(count)]


def _main_jobs(source: Any, setting: Setting, scale: Scale) -> list[Job]:
    return [
        Job(
            (name, condition, run),
            partial(source, seed=seed, balanced=name == "balanced"),
            condition,
            seed,
            scale.training,
            scale.trials,
            scale.attributed,
        )
        for run, seed in enumerate(seeds(setting, scale.seeds))
        for name in SETS
        for condition in CONDITIONS
    ]


def reproduce(setting: Setting, scale: Scale) -> Outcome:
    """Run it on images of one's own, on COCO where its files are, else on scenes, at any scale."""
    if "images" in setting.own:
        return _on_own(setting, scale)
    if setting.has(ANNOTATIONS):
        return _on_coco(setting, scale)
    return _on_scenes(setting, scale)


def _on_scenes(setting: Setting, scale: Scale) -> Outcome:
    jobs = _main_jobs(partial(scene_splits, SceneDesign(), scale), setting, scale)
    sweep = sweep_jobs(
        scale.cells,
        seeds(setting, scale.seeds),
        lambda design, seed: partial(scene_splits, design, scale, seed, False),
        scale.training,
    )
    total = len(jobs) + len(sweep)

    def training(done: int, _: int) -> None:
        setting.progress(done, total, "networks on masked scenes")

    def sweeping(done: int, _: int) -> None:
        setting.progress(len(jobs) + done, total, "networks of the sweep")

    sizes = f"{scale.train} {scale.validation} {scale.test}"
    kept, kept_sweep = (kept_runs(setting.keep, f"{name} {sizes} {scale.cells}") for name in ("scenes", "sweep"))
    runs = run_jobs(jobs, training, workers=scale.workers, kept=kept)
    swept = run_jobs(sweep, sweeping, workers=scale.workers, kept=kept_sweep) if sweep else []
    source = (
        f"made-up scenes of {OBJECTS} labelled objects, {CONTEXT} more that no label names, and a person; a small network from "
        f"scratch; mean and 95% interval over {scale.seeds} runs, each with its own scenes and seed. Published figures are of "
        "COCO and a pre-trained VGG16: trends can be held together, figures cannot. Maskings: "
        + "; ".join(f"{name}: {words}" for name, words in IN_WORDS.items())
    )
    left = ("COCO itself: needs " + ", ".join(ANNOTATIONS) + " and the images in the folder that BIASAMP_DATA names",)
    changes = tuple(sweep_rows(scale.cells, swept))
    rows = (*_rows(runs, "made-up scenes"), *placed(changes, "Table 1"))
    figures = Figures.of(runs)
    charts = (*_charts(figures), *sweep_charts(scale.cells, swept))
    return Outcome(STAND_IN, source, rows, charts, left, _says(figures, "made-up scenes"), CHOICES, _trial(rows))


CHOICES = (
    "The scenes were chosen so that the papers' trend can show: of some ten designs tried, those whose objects were hard to read gave T→A "
    "near 0 or below under masking. The sweep shows 16 other kinds.",
    "The network is small and trained from scratch; the papers' VGG16 is pre-trained on ImageNet.",
    "Which 12 objects the DPA paper keeps of COCO is not told: those that most images of the rarer gender have are taken.",
)


NOT_TRIED = "These are trends: none of the printed figures of COCO was tried on COCO with the papers' networks."


def _says(figures: Figures, what: str, last: str = NOT_TRIED) -> tuple[str, ...]:
    told = []
    for metric in (A_TO_T, T_TO_A):
        value, interval = figures.change("unbalanced", CONDITIONS[0], SEGMENT, metric)
        reach = "" if interval is None else f" (95% {interval[0]:+.4f} to {interval[1]:+.4f} over {figures.count} runs)"
        told.append(f"On {what} covering the people changes {metric} by {value:+.4f}{reach}.")
    return (*told, last)


def _trial(rows: tuple[Row, ...]) -> Trial:
    """Kinds of scenes of the sweep, and claims on the scenes shown, that come out otherwise than the papers say."""
    swept = [row for row in rows if row.what.startswith("sweep, ") and row.interval is not None]
    told = []
    for metric, words, side in (
        (T_TO_A, "T→A surely falls", -1),
        (A_TO_T, "A→T surely rises", 1),
    ):
        mine = [row for row in swept if f": {metric}," in row.what]
        other = [row for row in mine if row.interval is not None and min(side * end for end in row.interval) > 0]
        which = "; ".join(row.what.removeprefix("sweep, ").partition(":")[0] for row in other)
        told.append(
            f"{words} under the full mask in {len(other)} of {len(mine)} kinds of scenes of the sweep: {which}."
            if other
            else f"No kind of scene, of {len(mine)} in the sweep, was found in which {words} under the full mask."
        )
    unseen = [row.what for row in rows if row.agrees is False and row.in_words]
    if unseen:
        told.append(f"On the scenes shown {len(unseen)} claims of the papers are not seen: {'; '.join(unseen)}.")
    return Trial(
        "Scenes whose objects cannot be read would let T→A fall when the person is covered; of Table 4's maskings each could change nothing.",
        " ".join(told),
    )


def network_of(named: Any) -> Any:
    """What makes a network, given the number of its outputs: a function, or ``"module:function"`` to import it from.

    >>> network_of("biasamp_reproductions.networks:network").__name__
    'network'
    """
    if named is None or callable(named):
        return named
    module, _, name = str(named).partition(":")
    if not name:
        raise ValueError(f"the network is {named!r}; module:function is needed, a function of the number of outputs")
    found = getattr(import_module(module), name, None)
    if not callable(found):
        raise ValueError(f"the module {module} has no function {name!r}")
    return found


def _on_own(setting: Setting, scale: Scale) -> Outcome:
    own = setting.own

    def reading(done: int, total: int) -> None:
        setting.progress(done, total, "reading images")

    def training(done: int, total: int) -> None:
        setting.progress(done, total, "networks on masked images")

    if "annotations" not in own:
        raise ValueError("images need annotations: name the file of instances in COCO's format")
    captions = own.get("caption_annotations")
    side = int(own.get("side") or SIDE)
    images: OwnImages = read_own(
        Path(own["images"]),
        Path(own["annotations"]),
        reading,
        captions=None if captions is None else Path(captions),
        attribute=own.get("attribute"),
        side=side,
    )
    make = network_of(own.get("network"))
    longer = replace(scale, training=replace(scale.training, epochs=scale.coco_epochs, make=make))
    runs = run_jobs(_main_jobs(images.splits, setting, longer), training, workers=scale.workers)
    figures = Figures.of(runs)
    who = "a small network from scratch" if make is None else f"the network {own['network']}"
    source = (
        f"{Path(own['images']).name}, {len(images.pictures):,} images of {side} x {side} pixels with {', '.join(images.names)}; {who}; mean and "
        f"95% interval over {scale.seeds} runs, each with its own split and seed"
    )
    rows = tuple(replace(row, published=None, agrees=None, spread="") for row in measured_rows(figures))
    last = "The papers say nothing of these images: no figure of theirs is held against them."
    return Outcome(OWN, source, rows, _charts(figures), says=_says(figures, "your own images", last))


def _on_coco(setting: Setting, scale: Scale) -> Outcome:
    assert setting.folder is not None

    def reading(done: int, total: int) -> None:
        setting.progress(done, total, "reading images")

    def training(done: int, total: int) -> None:
        setting.progress(done, total, "networks on masked images")

    coco: Coco = read_coco(setting.folder / "coco", reading)
    longer = replace(scale, training=replace(scale.training, epochs=scale.coco_epochs))
    runs = run_jobs(_main_jobs(coco.splits, setting, longer), training, workers=scale.workers)
    source = (
        f"COCO 2014, {len(coco.train):,} train and {len(coco.test):,} test images with one gender in their captions and one of "
        f"{', '.join(coco.names)}; {SIDE} x {SIDE} pixels and a small network from scratch, not VGG16 pre-trained on "
        f"ImageNet; mean and 95% interval over {scale.seeds} runs, each with its own choice of images and seed"
    )
    left = ("a pre-trained VGG16 on whole images, as in the papers", "the sweep, which is of scenes' parameters")
    figures = Figures.of(runs)
    last = (
        "The printed figures are of a pre-trained VGG16 on whole images, so they stand beside ours without a verdict."
    )
    says = _says(figures, "COCO, by a smaller network,", last)
    rows = tuple(_rows(runs, "COCO by a smaller network"))
    return Outcome(REAL, source, rows, _charts(figures), left, says, CHOICES[1:])


def _rows(runs: list[Run], what: str) -> Iterator[Row]:
    figures = Figures.of(runs)
    yield from trend_rows(figures)
    yield from printed_rows(figures, what)
    yield from placed(measured_rows(figures), "Table 3")


def _charts(figures: Figures) -> tuple[Chart, ...]:
    wanted = (
        ("T→A, A→T and MALS", (T_TO_A, A_TO_T, MALS), "amplification"),
        ("DPA and Multi, T→A", (f"{DPA} {T_TO_A}", f"{MULTI} {T_TO_A}"), "amplification"),
        ("Attribution", (ATTRIBUTION,), ATTRIBUTION),
    )
    out = []
    for name in SETS:
        for title, metrics, y in wanted:
            found = {metric: [figures.over(name, condition, metric) for condition in CONDITIONS] for metric in metrics}
            out.append(
                Chart(
                    f"{title}, {name}",
                    "what is masked",
                    y,
                    {
                        metric: [(float(x), value) for x, (value, _) in enumerate(line)]
                        for metric, line in found.items()
                    },
                    {
                        metric: [interval for _, interval in line if interval is not None]
                        for metric, line in found.items()
                        if all(interval is not None for _, interval in line)
                    },
                    CONDITIONS,
                )
            )
    return tuple(out)


def run(setting: Setting) -> Outcome:
    """Run it."""
    return reproduce(setting, setting.sized(Scale(), QUICK))


EXPERIMENT = Experiment(
    "masking",
    "Masking people: how A→T, T→A, MALS, Multi, DPA and attributions change, in unbalanced and balanced sets",
    "Wang & Russakovsky (2021), Tables 1, 3; Tokas et al., Table 4",
    run,
    files=ANNOTATIONS,
    without="runs on made-up scenes",
    extras={"torch": "experiments", "captum": "experiments"},
    options=("images", "annotations", "caption_annotations", "attribute", "network", "side"),
    sizes=("train", "validation", "test", "coco_epochs", "seeds", "trials", "attributed"),
    paper=DIRECTIONAL,
)
