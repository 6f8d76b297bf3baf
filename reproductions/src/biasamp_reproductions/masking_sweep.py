"""How robust the trend of the masking experiment is: scenes that are easier and harder to read, every cell told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from .chart import Chart
from .masking_rows import Estimate, estimate
from .masking_run import A_TO_T, GENDER, PRECISION, T_TO_A, Job, Run
from .masks import ORIGINAL, SEGMENT
from .networks import Training
from .pictures import Splits
from .rows import Row, measured
from .scenes import SceneDesign

# Around the main run's scenes.
FAINT, RATIO, CUE, NOISE = (0.1, 0.5), (1.8, 4.0), (0.5, 1.5), (0.06, 0.15)
_CONDITIONS = (ORIGINAL, SEGMENT)


@dataclass(frozen=True)
class Cell:
    """Scenes of one kind."""

    design: SceneDesign

    @property
    def name(self) -> str:
        """Its parameters in words."""
        d = self.design
        return f"faint {d.faint:g}, ratio {d.ratio:g}, cue {d.cue:g}, noise {d.noise:g}"


def cells() -> tuple[Cell, ...]:
    """Every combination of a low and a high value of four parameters."""
    grid = product(FAINT, RATIO, CUE, NOISE)
    return tuple(Cell(replace(SceneDesign(), faint=f, ratio=r, cue=c, noise=n)) for f, r, c, n in grid)


def sweep_jobs(
    swept: Sequence[Cell],
    seeds: Sequence[int],
    source: Callable[[SceneDesign, int], Callable[[], Splits]],
    training: Training,
) -> list[Job]:
    """The networks to train; ``source`` says where the scenes of a design and a seed come from."""
    return [
        Job((place, condition, number), source(cell.design, seed), condition, seed, training, trials=0, attributed=0)
        for place, cell in enumerate(swept)
        for number, seed in enumerate(seeds)
        for condition in _CONDITIONS
    ]


def _change(runs: dict[tuple[Any, ...], Run], place: int, metric: str) -> Estimate:
    """How the full mask changes a figure in one cell: the mean over runs, paired."""
    count = 1 + max(key[2] for key in runs)
    before, after = ([runs[place, condition, k].figures[metric] for k in range(count)] for condition in _CONDITIONS)
    return estimate([b - a for a, b in zip(before, after, strict=True)])


def _mean(runs: dict[tuple[Any, ...], Run], place: int, condition: str, metric: str) -> float:
    return float(np.mean([run.figures[metric] for key, run in runs.items() if key[:2] == (place, condition)]))


def sweep_rows(swept: Sequence[Cell], found: Sequence[Run]) -> Iterator[Row]:
    """Every cell: how the full mask changes A→T and T→A, and how well objects and gender can be read."""
    if not found:
        return
    runs = {run.key: run for run in found}
    changes = {metric: [_change(runs, place, metric) for place in range(len(swept))] for metric in (A_TO_T, T_TO_A)}
    for metric, word, other, sign in ((A_TO_T, "falls", "rises", -1), (T_TO_A, "rises", "falls", 1)):
        meant = [value for value, _ in changes[metric]]
        sure = [
            interval for _, interval in changes[metric] if interval is not None and min(sign * b for b in interval) > 0
        ]
        against = [
            interval for _, interval in changes[metric] if interval is not None and max(sign * b for b in interval) < 0
        ]
        for how, many in (
            (word, sum(sign * value > 0 for value in meant)),
            (f"surely {word}", len(sure)),
            (f"surely {other}", len(against)),
        ):
            yield measured(
                f"sweep: kinds of scenes, of {len(swept)}, in which {metric} {how} under the full mask",
                float(many),
                note="surely: the 95% interval over runs lies on one side of 0",
            )
    for place, cell in enumerate(swept):
        read = _mean(runs, place, SEGMENT, PRECISION)
        gender = [_mean(runs, place, condition, GENDER) for condition in _CONDITIONS]
        for metric, found_change in ((metric, changes[metric][place]) for metric in (A_TO_T, T_TO_A)):
            yield measured(
                f"sweep, {cell.name}: {metric}, full mask less original",
                found_change[0],
                interval=found_change[1],
                note=f"objects' mean average precision {read:.3f}, gender accuracy {gender[0]:.3f} and {gender[1]:.3f}",
            )
    if len(swept) > 2:
        yield from _readable(swept, runs, changes)


def _readable(
    swept: Sequence[Cell], runs: dict[tuple[Any, ...], Run], changes: dict[str, list[Estimate]]
) -> Iterator[Row]:
    """Whether T→A rises more where objects can be read, and A→T falls more where they cannot."""
    from scipy.stats import spearmanr

    read = [_mean(runs, place, SEGMENT, PRECISION) for place in range(len(swept))]
    for metric, values in changes.items():
        rank = spearmanr(read, [value for value, _ in values])
        yield measured(
            f"sweep: rank correlation over kinds of scenes of the objects' average precision with the change in {metric}",
            float(rank.statistic),
            note=("p < 0.001" if rank.pvalue < 0.001 else f"p = {rank.pvalue:.3f}")
            + "; is it how well objects can be read that decides?",
        )


def sweep_charts(swept: Sequence[Cell], found: Sequence[Run]) -> tuple[Chart, ...]:
    """The changes in every cell, by how well objects can be read in it."""
    if not found:
        return ()
    runs = {run.key: run for run in found}
    read = [_mean(runs, place, SEGMENT, PRECISION) for place in range(len(swept))]
    order = sorted(range(len(swept)), key=lambda place: read[place])
    changes = {metric: [_change(runs, place, metric) for place in order] for metric in (A_TO_T, T_TO_A)}
    return (
        Chart(
            f"Change by the full mask in {len(swept)} kinds of scenes",
            f"{PRECISION} under the full mask",
            "full mask less original",
            {metric: [(read[p], v) for p, (v, _) in zip(order, line, strict=True)] for metric, line in changes.items()},
            {
                metric: [interval for _, interval in line if interval is not None]
                for metric, line in changes.items()
                if all(interval is not None for _, interval in line)
            },
            joined=False,
        ),
    )
