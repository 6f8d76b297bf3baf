"""The rows of the masking experiment: trends, published figures beside ours, and figures without a rival."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

import biasamp

from .basis import ARITHMETIC
from .masking_published import TABLE_1, TABLE_3, TABLE_3_COLUMNS, TABLE_4
from .masking_run import A_TO_T, MALS, T_TO_A, Run
from .masks import BOX, CONDITIONS, NOISY, ORIGINAL, PARTIAL, SEGMENT
from .papers import DPA as DPA_PAPER
from .papers import OBJECTS_ONE_BY_ONE
from .rows import Row, Tried, claimed, interval_of, measured, printed

Estimate = tuple[float, tuple[float, float] | None]
UNBALANCED, BALANCED = "unbalanced", "balanced"
# From what shows most of the person to what shows least (DPA Table 4).
STEPS = (ORIGINAL, PARTIAL, SEGMENT, BOX)


def estimate(values: Sequence[float]) -> Estimate:
    """The mean over runs and its interval, which one run has none of; NaN where a run lacks the figure."""
    if len(values) < 2 or not np.isfinite(values).all():
        return float(np.mean(values)), None
    runs = biasamp.over_runs(values)
    return float(runs.value), interval_of(runs)


def plus_minus(found: Estimate, scale: float = 1.0, places: int = 4) -> str:
    """An estimate in few characters.

    >>> plus_minus((0.0123, (0.0103, 0.0143)))
    '0.0123 ± 0.0020'
    """
    value, interval = found
    text = f"{value * scale:.{places}f}"
    return text if interval is None else f"{text} ± {(interval[1] - interval[0]) / 2 * scale:.{places}f}"


@dataclass(frozen=True)
class Figures:
    """All runs: figures by set, condition and run."""

    runs: dict[tuple[Any, ...], Run]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Figures:
        """From a list of runs with keys (set, condition, number)."""
        return cls({run.key: run for run in runs})

    @property
    def count(self) -> int:
        """How many runs every condition has."""
        return 1 + max(key[2] for key in self.runs)

    @property
    def metrics(self) -> list[str]:
        """The names of all figures."""
        return list(next(iter(self.runs.values())).figures)

    @property
    def objects(self) -> list[str]:
        """The names of all objects."""
        return list(next(iter(self.runs.values())).by_object[A_TO_T])

    def values(self, name: str, condition: str, metric: str) -> list[float]:
        """A figure of every run."""
        return [self.runs[name, condition, number].figures[metric] for number in range(self.count)]

    def over(self, name: str, condition: str, metric: str) -> Estimate:
        """A figure's mean over runs."""
        return estimate(self.values(name, condition, metric))

    def change(self, name: str, before: str, after: str, metric: str) -> Estimate:
        """How a figure differs between two conditions: the mean over runs, which share their pictures."""
        pairs = zip(self.values(name, before, metric), self.values(name, after, metric), strict=True)
        return estimate([b - a for a, b in pairs])

    def object_over(self, name: str, condition: str, direction: str, thing: str) -> Estimate:
        """One object's amplification; NaN where it is undefined in a run."""
        found = [self.runs[name, condition, k].by_object[direction].get(thing, np.nan) for k in range(self.count)]
        return estimate(found)


def _above(found: Estimate) -> bool:
    return found[1] is not None and found[1][0] > 0


def _below(found: Estimate) -> bool:
    return found[1] is not None and found[1][1] < 0


def trend_rows(figures: Figures) -> Iterator[Row]:
    """What the papers conclude, each a difference between conditions over the same pictures."""
    for metric, words, holds in (
        (A_TO_T, "falls", _below),
        (T_TO_A, "rises", _above),
        (MALS, "rises, misleadingly", _above),
    ):
        for condition in (NOISY, SEGMENT):
            found = figures.change(UNBALANCED, ORIGINAL, condition, metric)
            yield claimed(
                f"Table 1, {metric}: {condition} mask less original",
                words,
                found[0],
                holds(found),
                test="the interval over runs lies on that side of 0",
                interval=found[1],
                note="paired by run",
                item="Table 1",
            )
    noisy, full = (figures.over(UNBALANCED, condition, T_TO_A)[1] for condition in (NOISY, SEGMENT))
    apart = figures.change(UNBALANCED, NOISY, SEGMENT, T_TO_A)
    if noisy is not None and full is not None:
        yield measured(
            f"Table 1, {T_TO_A}: full less noisy mask",
            apart[0],
            published="their intervals overlap: not robust",
            item="Table 1",
            interval=apart[1],
            note=f"paired by run; the two intervals {'overlap' if noisy[1] >= full[0] and full[1] >= noisy[0] else 'do not overlap'}",
        )
    for name, table in TABLE_4.items():
        for metric in table:
            if name == BALANCED and metric == T_TO_A:
                zero = max(abs(value) for step in STEPS for value in figures.values(name, step, metric))
                what = f"Table 4, {metric} of a balanced set: the largest of all runs and maskings"
                row = claimed(what, "0 in all", zero, zero == 0, test="exactly 0", item="Table 4")
                yield replace(row, paper=DPA_PAPER)
                continue
            steps = [figures.change(name, a, b, metric) for a, b in pairwise(STEPS)]
            whole = figures.change(name, ORIGINAL, BOX, metric)
            told = "; ".join(
                f"{a} to {b} {plus_minus(step)}" for (a, b), step in zip(pairwise(STEPS), steps, strict=True)
            )
            rises = (
                claimed(
                    f"Table 4, {metric}, {name}: bounding box less original",
                    "rises",
                    whole[0],
                    _above(whole),
                    test="the interval over runs lies above 0",
                    interval=whole[1],
                    note=f"paired by run; {told}",
                    item="Table 4",
                ),
                claimed(
                    f"Table 4, {metric}, {name}: steps from one masking to the next that rise, of {len(steps)}",
                    "all rise",
                    float(sum(map(_above, steps))),
                    all(map(_above, steps)),
                    test="the interval of every step lies above 0",
                    note=f"{sum(map(_below, steps))} surely fall",
                    item="Table 4",
                ),
            )
            yield from (replace(row, paper=DPA_PAPER) for row in rises)


def printed_rows(figures: Figures, what: str) -> Iterator[Row]:
    """Published figures; ours are of other pictures, so they stand beside each other without a verdict."""
    for metric, by_condition in TABLE_1.items():
        for condition, (published, spread) in by_condition.items():
            value, interval = figures.over(UNBALANCED, condition, metric)
            place = f"Table 1, {metric}, {condition}"
            note = f"published of COCO, ours of {what}"
            name = f"{metric}, {condition}"
            yield Row(place, published, value, None, interval, spread, note=note, item="Table 1", name=name)
    for name, table in TABLE_4.items():
        for metric, by_step in table.items():
            for condition, (published, spread) in by_step.items():
                value, interval = figures.over(name, condition, metric)
                place = f"Table 4, {metric}, {name}, {condition}"
                note = f"published of COCO, ours of {what}"
                row = Row(place, published, value, None, interval, spread, note=note, item="Table 4")
                yield replace(row, paper=DPA_PAPER)
    columns = np.array(list(TABLE_3.values())) / 100
    for column, (condition, direction) in enumerate(TABLE_3_COLUMNS):
        mean, published = float(columns[:, column].mean()), TABLE_1[direction][condition][0]
        place = f"Table 3, mean of its {len(TABLE_3)} objects, {direction}, {condition}"
        values = np.sort(columns[:, column])
        averages = [mean, float(np.median(values)), *(float(values[cut:-cut].mean()) for cut in (1, 3, 7))]
        tried = Tried.of(averages, "ways to average the 66 printed figures: mean, median, trimmed means")
        yield printed(
            place,
            published,
            mean,
            tried=tried,
            note="Table 1's figure against Table 3's",
            item="Table 1",
            basis=ARITHMETIC,
            name=f"{direction}, {condition}",
        )


def measured_rows(figures: Figures) -> Iterator[Row]:
    """Every figure under every condition, and by object."""
    for name in (UNBALANCED, BALANCED):
        for metric in figures.metrics:
            for condition in CONDITIONS:
                value, interval = figures.over(name, condition, metric)
                yield measured(f"{name}, {condition}: {metric}", value, interval=interval)
    for thing in figures.objects:
        row = TABLE_3.get(thing)
        for column, (condition, direction) in enumerate(TABLE_3_COLUMNS):
            value, interval = figures.object_over(UNBALANCED, condition, direction, thing)
            yield measured(
                f"Table 3, {thing}, {direction}, {condition}, in hundredths",
                value * 100,
                published=None if row is None else f"{row[column]:g}",
                name="" if row is None else f"{OBJECTS_ONE_BY_ONE}: {thing}, {direction}, {condition}",
                interval=None if interval is None else (interval[0] * 100, interval[1] * 100),
            )
