"""What other thresholds do to groups: gaps of their rates and changes of their pairs, before and after.

A limit holds for a mean, in which pairs of opposite sign cancel. So the mean can fall while a gap between groups, or a pair, gets worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.pair import PairCounts
from biasamp.data import LabelSet, printable
from biasamp.data.labelset import Evaluation
from biasamp.results.interval import figure
from biasamp.results.table import Table, text

from .group_rates import rate_parts, share
from .result import Amplification

Floats = NDArray[np.float64]

# The rates whose gaps are shown, by what these are called.
GAPS = {
    "TPR gap": "true_positive_rate",
    "FPR gap": "false_positive_rate",
    "selection gap": "selection_rate",
}
AMPLIFICATION, LARGEST_PAIR = "amplification", "largest pair"
# Figures of a group rest on at least so many records, where two groups have them.
FEWEST = 30
# A rise of less is not warned of.
WORTHWHILE = 0.01


def effects_table(before: Sequence[dict[str, Any]] | None, after: Sequence[dict[str, Any]]) -> Table:
    """One row for each task and figure, before and after; NaN before where no threshold is known to be in use."""
    rows = []
    for place, now in enumerate(after):
        was = {"value": np.nan, "highest": "", "lowest": ""} if before is None else before[place]
        rows.append(
            {
                "task": now["task"],
                "figure": now["figure"],
                **{
                    f"{when}{end}": held[name]
                    for when, held in (("before", was), ("after", now))
                    for end, name in (("", "value"), ("_highest", "highest"), ("_lowest", "lowest"))
                },
            }
        )
    made = Table.from_rows(rows)
    names = [name for name in made.columns if name not in ("before", "after")]
    return Table({**made.columns, **{name: text(made[name]) for name in names}})


def figures_of(
    found: Amplification, given: LabelSet, truth: LabelSet, predicted: LabelSet, weights: NDArray[Any] | None
) -> list[dict[str, Any]]:
    """Amplification, gaps and the largest pair of each task, with the groups that they are of.

    The largest pair is that with the largest change, up or down, of how often the task is predicted in a group.
    """
    counts = PairCounts.from_labels(Evaluation(given, truth, predicted, weights))
    groups, tasks = ([str(label) for label in labels.labels] for labels in (given, truth))
    pairs = list(found.pairs.rows())
    out: list[dict[str, Any]] = []
    parts = {name: rate_parts(counts, rate) for name, rate in GAPS.items()}
    for k, task in enumerate(tasks):
        mine = [pair for pair in pairs if pair["outcome"] == task]
        mean = float(np.mean([pair["amplification"] for pair in mine])) if mine else float("nan")
        out.append(_row(task, AMPLIFICATION, mean))
        for name, (hits, size) in parts.items():
            out.append(_gap(task, name, share(hits[:, k], size[:, k]), size[:, k], groups))
        most = max(mine, key=lambda pair: abs(pair["delta"]), default=None)
        out.append(
            _row(task, LARGEST_PAIR) if most is None else _row(task, LARGEST_PAIR, most["delta"], str(most["given"]))
        )
    return out


def _row(task: str, name: str, value: float = float("nan"), highest: str = "", lowest: str = "") -> dict[str, Any]:
    return {"task": task, "figure": name, "value": float(value), "highest": highest, "lowest": lowest}


def _gap(task: str, name: str, rates: Floats, size: Floats, groups: Sequence[str]) -> dict[str, Any]:
    """The largest difference between groups that have records enough, or between all where fewer than two do."""
    there = np.flatnonzero(size >= FEWEST)
    if len(there) < 2:
        there = np.flatnonzero(size > 0)
    if len(there) < 2:
        return _row(task, name)
    high, low = there[np.argmax(rates[there])], there[np.argmin(rates[there])]
    if high == low:  # all rates are equal
        return _row(task, name, 0.0)
    return _row(task, name, rates[high] - rates[low], groups[high], groups[low])


def rise_of(row: Mapping[str, Any]) -> float:
    """By how much a figure is larger afterwards, up or down; NaN where it is not known before or after."""
    before, after = (np.nan if row[when] is None else abs(row[when]) for when in ("before", "after"))
    return float(after - before)


def cautions_of(effects: Table, held_out: Table | None) -> Iterator[str]:
    """What gets worse by the thresholds on the records that they were chosen on, the largest rise of each figure."""
    rows = list(effects.rows())
    others = [] if held_out is None else list(held_out.rows())
    for name in (*GAPS, LARGEST_PAIR):
        rises = {
            place: rise
            for place, row in enumerate(rows)
            if row["figure"] == name and (rise := rise_of(row)) > WORTHWHILE
        }
        if not rises:
            continue
        place = max(rises, key=lambda place: rises[place])
        row = rows[place]
        tasks = sum(other["figure"] == name for other in rows)
        what = f"The {name}" + (f" of {printable(row['task'], 40)}" if tasks > 1 else "")
        said = (
            f"{what} gets worse by these thresholds: from {effect_words(row, 'before')} to {effect_words(row, 'after')}"
        )
        mean = next(r for r in rows if r["figure"] == AMPLIFICATION and r["task"] == row["task"])
        if mean["before"] is not None and mean["after"] < mean["before"]:
            said += f", though its mean amplification falls from {figure(mean['before'])} to {figure(mean['after'])}"
        if others:
            said += f"; on held-out data from {effect_words(others[place], 'before')} to {effect_words(others[place], 'after')}"
        many = f" So it does in {len(rises) - 1} of {tasks - 1} other tasks." if len(rises) > 1 else ""
        yield f"{said}.{many}"


def effect_words(row: dict[str, Any], when: str) -> str:
    """A figure with the groups that it is of."""
    high, low = (printable(str(row[f"{when}_{end}"]), 40) for end in ("highest", "lowest"))
    who = f" ({high} over {low})" if low else f" ({high})" if high else ""
    return f"{figure(row[when], row['figure'] in (AMPLIFICATION, LARGEST_PAIR))}{who}"


def cautions_of_signs(found: Amplification, limits: Mapping[str, float]) -> Iterator[str]:
    """Pairs above the limit of their task that others cancel in the mean, and pairs whose direction is not known."""
    pairs = list(found.pairs.rows())
    known = [pair for pair in pairs if pair["known"]]
    over = [(pair["amplification"] - limits[str(pair["outcome"])], pair) for pair in known]
    above = [pair for more, pair in over if more > 0.0]
    beyond, most = max(over, key=lambda row: row[0], default=(0.0, None))
    if most is not None and beyond > WORTHWHILE and any(pair["amplification"] < 0.0 for pair in pairs):
        where = printable(str(most["given"]), 40)
        where += f" in {printable(str(most['outcome']), 40)}" if len(limits) > 1 else ""
        yield (
            f"{len(above):,} of {len(known):,} pairs of known direction {'is' if len(above) == 1 else 'are'} amplified by more than the limit, most of "
            f"all {where} by {figure(most['amplification'])} (limit {limits[str(most['outcome'])]:g}): the limit holds for a mean, in which "
            "pairs of opposite sign cancel."
        )
    unknown = len(pairs) - len(known)
    if unknown:
        yield (
            f"Which way the bias goes is not known for {unknown:,} of {len(pairs):,} pairs: the limit is kept with the directions that these "
            "records show, and need not be with the right ones. Training labels would tell them."
        )
