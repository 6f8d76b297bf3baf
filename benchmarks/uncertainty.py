"""Intervals: resampling counts against resampling records; every threshold against a loop over some."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import biasamp
from benchmarks.counts import simulated
from benchmarks.timing import cpu_seconds, row
from biasamp.counts.bags import BagCounts
from biasamp.data import Evaluation, align, label_set, read_columns

RECORDS, RESAMPLES = 100_000, 1000
# The rivals take minutes for all resamples: so many are timed, and the time is scaled up.
TIMED = 10


def evaluation_of(groups: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> Evaluation:
    read = [label_set(read_columns(x, "x"), "x") for x in (groups, truth, predicted)]
    return Evaluation(read[0], *align(read[1:], ["truth", "predicted"]))


def resample_records(groups: np.ndarray, truth: np.ndarray, predicted: np.ndarray, resamples: int) -> np.ndarray:
    """The tables of both groups for each resample of the records, as numpy does it at its best: by whole rows."""
    rng = np.random.default_rng(0)
    out = np.empty((resamples, 2, 2, truth.shape[1]))
    for b in range(resamples):
        rows = rng.integers(0, len(groups), len(groups))
        g, t, p = groups[rows], truth[rows], predicted[rows]
        for k in range(2):
            out[b, k, 0], out[b, k, 1] = t[g == k].sum(axis=0), p[g == k].sum(axis=0)
    return out


def masked(scores: np.ndarray, groups: np.ndarray, truth: np.ndarray, thresholds: int = 100) -> list[float]:
    """Amplification at some thresholds, by masks."""
    out = []
    for threshold in np.linspace(0, 1, thresholds):
        said = scores >= threshold
        value = 0.0
        for k in range(2):
            mine = groups == k
            value += (1 if k else -1) * (said[mine].mean() - truth[mine].mean())
        out.append(value / 2)
    return out


def fairlearn_bootstrap(groups: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> float | None:
    """Fairlearn's bootstrap of one task's selection rates by group, as near as it comes to the question."""
    try:
        from fairlearn.metrics import MetricFrame, selection_rate
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cpu_seconds(
            lambda: MetricFrame(
                metrics=selection_rate,
                y_true=truth[:, 0],
                y_pred=predicted[:, 0],
                sensitive_features=groups,
                n_boot=TIMED,
                ci_quantiles=[0.025, 0.975],
                random_state=0,
            ),
            1,
        ) * (RESAMPLES / TIMED)


def main() -> None:
    groups, truth, predicted = simulated(RECORDS)
    evaluation = evaluation_of(groups, truth, predicted)
    slow = cpu_seconds(lambda: resample_records(groups, truth, predicted, TIMED), 1) * (RESAMPLES / TIMED)
    BagCounts.from_labels(evaluation)

    def resampled(accelerate: bool | None = None) -> None:
        """Count bags, and the tables of every resample."""
        for _ in BagCounts.from_labels(evaluation, accelerate=accelerate).resampled(RESAMPLES, 0):
            pass

    row(
        f"tables of B={RESAMPLES} resamples, n={RECORDS:,}, 2x80",
        cpu_seconds(resampled, 2),
        "numpy resampling records",
        slow,
        "(wanted: 40x)",
    )
    row("the same without numba", cpu_seconds(lambda: resampled(False), 1), "numpy resampling records", slow)

    def interval(*labels: Any, train: Any) -> None:
        biasamp.directional(*labels, train=train).confidence_interval(resamples=RESAMPLES)

    whole = cpu_seconds(lambda: interval(groups, truth, predicted, train=(groups, truth)))
    row("A->T, its interval from raw arrays", whole, "numpy resampling records", slow, "(wanted: 100x)")
    theirs = fairlearn_bootstrap(groups, truth, predicted)
    if theirs is not None:
        first, said = biasamp.binary(truth[:, 0]), biasamp.binary(predicted[:, 0])
        single = cpu_seconds(lambda: interval(groups, first, said, train=(groups, first)))
        row("one task's interval from raw arrays", single, "Fairlearn's MetricFrame bootstrap", theirs)

    rng = np.random.default_rng(0)
    scores, group = rng.random(1_000_000), rng.integers(0, 2, 1_000_000)
    label = (rng.random(1_000_000) < 0.3 + 0.1 * group).astype(int)
    loop = cpu_seconds(lambda: masked(scores, group, label), 3)
    row(
        "every threshold of 1,000,000 scores",
        cpu_seconds(lambda: biasamp.sweep(scores, group, label), 3),
        "100 masked evaluations",
        loop,
        "(wanted: 20x)",
    )


if __name__ == "__main__":
    main()
