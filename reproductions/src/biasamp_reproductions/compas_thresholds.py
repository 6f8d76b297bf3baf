"""2021 paper, Fig. 6: COMPAS, amplification and the FPR difference at every threshold of the decile score."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import biasamp

from .chart import Chart
from .compas_data import FILE, read_compas
from .experiment import Experiment, Progress, Setting, columns_of, silent
from .outcome import OWN, REAL, STAND_IN, Outcome, Trial
from .papers import DIRECTIONAL
from .rows import Row, interval_of, measured, placed

THRESHOLDS = range(11)
# "All realistic values of the threshold": neither nearly everybody nor nearly nobody is called high risk.
_TWO_SIDED = 1.959964
REALISTIC = (3, 4, 5, 6, 7)
NEAR_0 = "close to 0 for almost all"
# Scores of one's own with more values are cut at twentieths.
_MOST_VALUES = 40


def stand_in(seed: int, people: int = 5000, *, apart: bool = True) -> dict[str, np.ndarray]:
    """Two groups of unequal rates, or equal ones, with a decile score that is calibrated in each: made up, not COMPAS."""
    rng = np.random.default_rng([seed, 6])
    race = (rng.random(people) < 0.6).astype(np.int64)
    risk = rng.beta(2.0, np.where(race == 1, 1.8, 3.0) if apart else np.full(people, 2.4))
    deciles = np.searchsorted(np.quantile(risk, np.arange(1, 10) / 10), risk) + 1
    return {
        "race": race,
        "two_year_recid": (rng.random(people) < risk).astype(np.int64),
        "decile_score": deciles,
    }


def fpr_interval(group: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """A 95% interval of the distance between two groups' false positive rates: two shares of separate people.

    The distance has no sign, so an interval that would pass 0 ends there.
    """
    rates, variance = [], 0.0
    for value in (0, 1):
        negatives = predicted[(group == value) & (truth == 0)]
        rates.append(float(negatives.mean()))
        variance += rates[-1] * (1 - rates[-1]) / len(negatives)
    middle, reach = abs(rates[0] - rates[1]), _TWO_SIDED * variance**0.5
    return max(middle - reach, 0.0), middle + reach


@dataclass(frozen=True, eq=False)
class Curves:
    """Amplification and the FPR difference at every threshold."""

    thresholds: list[float]
    amplified: list[Any]
    gap: list[float]
    gap_intervals: list[tuple[float, float] | None]

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """Of A→T."""
        return [interval_of(result) for result in self.amplified]

    @property
    def clear(self) -> int:
        """At how many thresholds the interval of A→T lies off 0."""
        return sum(low > 0 or high < 0 for low, high in self.intervals)

    def at(self, wanted: Sequence[float]) -> list[tuple[float, float]]:
        """The sizes of A→T and of the FPR difference at some thresholds."""
        pairs = zip(self.thresholds, self.amplified, self.gap, strict=True)
        return [(abs(result.value), gap) for threshold, result, gap in pairs if threshold in wanted]


def curves(people: dict[str, np.ndarray], thresholds: Sequence[float], progress: Progress = silent) -> Curves:
    """Both figures with high risk above each threshold; groups may be any, those of two have an interval of the FPR difference."""
    race, truth, score = people["race"], people["two_year_recid"], people["decile_score"]
    out = Curves([], [], [], [])
    for step, threshold in enumerate(thresholds):
        high_risk = (score > threshold).astype(np.int64)
        labels = race, biasamp.binary(truth), biasamp.binary(high_risk)
        with warnings.catch_warnings():
            # Where everybody or nobody is high risk is seen on the page.
            warnings.simplefilter("ignore", UserWarning)
            out.amplified.append(biasamp.directional(*labels))
            out.gap.append(float(biasamp.parity(*labels).table["fpr_difference"][0]))
        out.thresholds.append(float(threshold))
        two = np.unique(race)
        coded = (race == two[-1]).astype(np.int64)
        out.gap_intervals.append(fpr_interval(coded, truth, high_risk) if len(two) == 2 else None)
        progress(step + 1, len(thresholds))
    return out


def _rows(found: Curves) -> Iterator[Row]:
    each = zip(found.thresholds, found.amplified, found.intervals, found.gap, found.gap_intervals, strict=True)
    for threshold, result, interval, gap, gap_interval in each:
        yield measured(f"high risk above {threshold:g}: A→T", result.value, interval=interval)
        yield measured(f"high risk above {threshold:g}: FPR difference", gap, interval=gap_interval)


def _chart(found: Curves, what: str, x: str) -> Chart:
    told = f"A→T's interval lies off 0 at {found.clear} of {len(found.thresholds)} thresholds"
    lines = {
        "A→T": [(at, result.value) for at, result in zip(found.thresholds, found.amplified, strict=True)],
        "FPR difference": list(zip(found.thresholds, found.gap, strict=True)),
    }
    intervals = {"A→T": found.intervals}
    known = [interval for interval in found.gap_intervals if interval is not None]
    if len(known) == len(found.gap):
        intervals["FPR difference"] = known
    return Chart(f"Fig. 6{what}: {told}", x, "value", lines, intervals)


def own_scores(path: str, score: str, group: str, truth: str) -> dict[str, np.ndarray]:
    """Scores, groups and outcomes of a CSV or Parquet file of one's own; outcomes are 0 and 1."""
    columns = columns_of(Path(path), (score, group, truth))
    missing = [name for name in columns if any(value is None for value in columns[name])]
    if missing:
        raise ValueError(f"column {missing[0]!r} of {Path(path).name} has missing values: leave those rows out")
    outcome = np.array(columns[truth])
    if not set(outcome.tolist()) <= {0, 1}:
        raise ValueError(f"column {truth!r} must hold 0 and 1, found {sorted(map(str, set(outcome.tolist())))[:5]}")
    scores = np.array(columns[score])
    if scores.dtype.kind not in "iuf":
        raise ValueError(f"column {score!r} must hold numbers, found {columns[score][0]!r}")
    return {
        "race": np.array(columns[group]).astype(str),
        "two_year_recid": outcome.astype(np.int64),
        "decile_score": scores,
    }


def _own(setting: Setting) -> Outcome:
    asked = {name: setting.own[name] for name in ("scores", "score", "group", "truth")}
    people = own_scores(asked["scores"], asked["score"], asked["group"], asked["truth"])
    values = np.unique(people["decile_score"])
    thresholds = (
        values[:-1] if len(values) <= _MOST_VALUES else np.quantile(people["decile_score"], np.arange(1, 20) / 20)
    )
    found = curves(people, np.unique(thresholds).tolist(), setting.progress)
    source = f"{Path(asked['scores']).name}, {len(people['race']):,} rows; {asked['truth']} by {asked['group']}, {asked['score']} above a threshold"
    largest = max(found.amplified, key=lambda result: abs(result.value))
    says = (
        f"A→T is {largest.value:+.4f} where it is largest, and its interval lies off 0 at {found.clear} of {len(found.thresholds)} thresholds.",
        f"The FPR difference is {max(found.gap):.4f} where it is largest.",
        "The paper says nothing of these scores: no figure of its own is held against them.",
    )
    return Outcome(
        OWN, source, tuple(_rows(found)), (_chart(found, " on your own scores", f"{asked['score']} above"),), says=says
    )


def run(setting: Setting) -> Outcome:
    """Run it."""
    if "scores" in setting.own:
        return _own(setting)
    real = setting.has([FILE])
    people = read_compas(setting) if real else stand_in(setting.seed)
    found = curves(people, list(THRESHOLDS), setting.progress)
    values = [result.value for result in found.amplified]
    peak = int(np.argmax(found.gap))
    realistic = found.at(REALISTIC)
    times = [gap / size for size, gap in realistic if size]
    # The paper's words state no threshold and the figure no digits, so these carry no verdict.
    edge = "words that state no threshold"
    words = (
        measured("Fig. 6: largest A→T over all thresholds", max(values), published=NEAR_0, note=edge, name="A→T"),
        measured("Fig. 6: least A→T over all thresholds", min(values), published=NEAR_0, note=edge, name="A→T"),
        measured("Fig. 6: thresholds at which the interval of A→T lies off 0", float(found.clear)),
        measured(
            f"Fig. 6: least FPR difference from > {REALISTIC[0]} to > {REALISTIC[-1]}",
            min(gap for _, gap in realistic),
            published="large for all realistic values",
            name="FPR difference",
            note=f"{edge}; {min(times):.1f} to {max(times):.1f} times the size of A→T there",
        ),
        measured(f"Fig. 6: largest FPR difference, at > {found.thresholds[peak]:g}", found.gap[peak]),
    )
    who = "COMPAS" if real else "made-up people"
    says = (
        f"On {who} A→T goes from {min(values):+.4f} to {max(values):+.4f} over the thresholds, and its interval lies off 0 at "
        f"{found.clear} of {len(values)} of them: it is small, not absent.",
        f"The FPR difference is {min(times):.1f} to {max(times):.1f} times as large at thresholds {REALISTIC[0]} to {REALISTIC[-1]}.",
        "The paper prints no digits of this figure and words that state no threshold, so no row has a verdict.",
    )
    choices = (
        f"Realistic thresholds are taken to be {', '.join(map(str, REALISTIC))}; the paper does not tell which it means.",
        "The outcome is two_year_recid, as in the figure's caption; DPA's tables use is_recid of the same people.",
    )
    rows = tuple(placed((*words, *_rows(found)), "Fig. 6"))
    chart = _chart(found, "" if real else " on a stand-in", "high risk above this decile")
    if real:
        source = f"{FILE}, {len(people['race']):,} people, two_year_recid"
        return Outcome(REAL, source, rows, (chart,), says=says, choices=choices)
    alike = curves(stand_in(setting.seed, apart=False), REALISTIC)
    pairs = alike.at(REALISTIC)
    trial = Trial(
        "Groups of the same risk would have no FPR difference to speak of, whatever the threshold.",
        f"Drawn so, the FPR difference is {min(g for _, g in pairs):.4f} to {max(g for _, g in pairs):.4f} at the same thresholds, "
        f"and A→T at most {max(a for a, _ in pairs):.4f} in size: the paper's contrast does not show there.",
    )
    source = f"made-up people with a score calibrated in each group; {FILE} is not in BIASAMP_DATA"
    return Outcome(STAND_IN, source, rows, (chart,), says=says, choices=choices, trial=trial)


EXPERIMENT = Experiment(
    "compas-thresholds",
    "COMPAS: amplification beside the FPR difference at every threshold of the score",
    "Wang & Russakovsky (2021), Fig. 6",
    run,
    files=(FILE,),
    without="runs on made-up people with a calibrated score",
    options=("scores", "score", "group", "truth"),
    paper=DIRECTIONAL,
)
