"""2021 paper, Fig. 6: COMPAS, amplification and the FPR difference at every threshold of the decile score."""

from __future__ import annotations

import numpy as np

import biasamp

from .chart import Chart
from .compas_data import FILE, read_compas
from .experiment import Experiment, Setting
from .outcome import REAL, STAND_IN, Outcome
from .rows import interval_of, measured

THRESHOLDS = range(11)
# "All realistic values of the threshold": neither nearly everybody nor nearly nobody is called high risk.
_TWO_SIDED = 1.959964
REALISTIC = (3, 4, 5, 6, 7)


def stand_in(seed: int, people: int = 5000) -> dict[str, np.ndarray]:
    """Two groups of unequal rates with a decile score that is calibrated in each: made up, not COMPAS."""
    rng = np.random.default_rng([seed, 6])
    race = (rng.random(people) < 0.6).astype(np.int64)
    risk = rng.beta(2.0, np.where(race == 1, 1.8, 3.0))
    deciles = np.searchsorted(np.quantile(risk, np.arange(1, 10) / 10), risk) + 1
    return {
        "race": race,
        "two_year_recid": (rng.random(people) < risk).astype(np.int64),
        "decile_score": deciles,
    }


def _times(amplified: list[tuple[float, float]], gap: list[tuple[float, float]]) -> str:
    """How many times the FPR difference is the amplification, from least to most, at realistic thresholds."""
    times = [g / abs(a) for (at, a), (_, g) in zip(amplified, gap, strict=True) if at in REALISTIC]
    return f"{min(times):.1f} to {max(times):.1f}"


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


def run(setting: Setting) -> Outcome:
    """Run it."""
    real = setting.has([FILE])
    people = read_compas(setting) if real else stand_in(setting.seed)
    race, recid, score = people["race"], people["two_year_recid"], people["decile_score"]
    amplified, gap, rows, gap_intervals = [], [], [], []
    for threshold in THRESHOLDS:
        high_risk = (score > threshold).astype(np.int64)
        result = biasamp.directional(race, biasamp.binary(recid), biasamp.binary(high_risk))
        table = biasamp.parity(race, biasamp.binary(recid), biasamp.binary(high_risk)).table
        amplified.append((float(threshold), result.value))
        gap.append((float(threshold), float(table["fpr_difference"][0])))
        low, high = fpr_interval(race, recid, high_risk)
        gap_intervals.append((low, high))
        rows.append(
            measured(
                f"high risk above {threshold}: A→T, and FPR difference",
                f"{result.value:+.4f}, {gap[-1][1]:.4f}",
                interval=interval_of(result),
                note=f"interval of A→T; of the FPR difference {low:.4f} to {high:.4f}",
            )
        )
        setting.progress(threshold + 1, len(THRESHOLDS))
    peak = max(gap, key=lambda point: point[1])
    largest = max(value for _, value in amplified)
    realistic = min(value for at, value in gap if at in REALISTIC)
    # The paper's words have no edge and the figure no digits, so these carry no verdict.
    clear = sum(row.interval is not None and (row.interval[0] > 0 or row.interval[1] < 0) for row in rows)
    words = [
        measured(
            "Fig. 6: A→T over all thresholds",
            f"{min(value for _, value in amplified):+.4f} to {largest:+.4f}",
            published="close to 0 for almost all",
            note=f"at {clear} of {len(rows)} thresholds the interval lies off 0; how close is close is not said",
        ),
        measured(
            "Fig. 6: FPR difference at realistic thresholds",
            f"at least {realistic:.4f} from > {REALISTIC[0]} to > {REALISTIC[-1]}; peak {peak[1]:.4f} at > {peak[0]:.0f}",
            published="large for all",
            note=f"{_times(amplified, gap)} times the size of A→T there",
        ),
    ]
    chart = Chart(
        "Fig. 6: COMPAS" if real else "Fig. 6 on a stand-in",
        "high risk above this decile",
        "value",
        {"A→T": amplified, "FPR difference": gap},
        {"A→T": [row.interval for row in rows if row.interval is not None], "FPR difference": gap_intervals},
    )
    source = (
        f"{FILE}, {len(race):,} people, two_year_recid"
        if real
        else f"made-up people with a score calibrated in each group; {FILE} is not in BIASAMP_DATA"
    )
    return Outcome(REAL if real else STAND_IN, source, (*words, *rows), (chart,))


EXPERIMENT = Experiment(
    "compas-thresholds",
    "COMPAS: little amplification, large FPR differences",
    "Wang & Russakovsky (2021), Fig. 6",
    run,
    files=(FILE,),
    without="runs on made-up people with a calibrated score",
)
