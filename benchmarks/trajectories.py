"""Figures along steps: slopes of a model trained on its own output, and how often steps that do not change are called otherwise.

``BIASAMP_DATA=... python -m benchmarks trajectories --samples 1000``. Simulated steps have a value that varies by records, by errors that are known, and
by itself, which is not known; none has a trend.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from biasamp.auditing.trajectory import Trajectory
from biasamp.resampling.trend import Steps

CONDITIONS = ("synthetic", "preservation", "accumulation")


def generations(folder: Path) -> Trajectory:
    """The share of articles that lean right, generation after generation, in three ways of training."""
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / "llm_generations_leaning.parquet").to_pylist()
    steps = {}
    for generation in sorted({row["generation"] for row in rows}):
        mine = sorted((row for row in rows if row["generation"] == generation), key=_id)
        said = {
            "id": [_id(row) for row in mine],
            "says": [[row["condition"], row["leaning"]] for row in mine],
        }
        steps[str(generation)] = biasamp.count(said, identities=CONDITIONS, label="says", record="id", pairable=True)
    return biasamp.trajectory(steps, labels="right")


def _id(row: dict[str, Any]) -> str:
    """An article is another record in each way of training."""
    return f"{row['condition']}{row['article']}"


def false_alarms(
    steps: int, wander: float, paired: bool, samples: int, seed: int = 0, heavy: bool = False
) -> tuple[float, float]:
    """How often steps without a trend have a slope with p < .05, and how often one of them leaves its limits.

    With ``heavy`` tails, what steps vary by besides is Student's t of 3 degrees of freedom, with the same standard deviation.
    """
    rng = np.random.default_rng([seed, steps, int(10 * wander), int(paired)])
    covariance = np.diag(rng.uniform(0.5, 2.0, size=steps)) + (4.0 if paired else 0.0)
    if heavy:
        drawn = rng.multivariate_normal(np.zeros(steps), covariance, size=samples)
        drawn += wander * rng.standard_t(3, size=drawn.shape) / np.sqrt(3.0)
    else:
        drawn = rng.multivariate_normal(np.zeros(steps), covariance + wander**2 * np.eye(steps), size=samples)
    made = [Steps(np.arange(float(steps)), values, covariance, paired) for values in drawn]
    left = [held.control().left.any() for held in made]
    return float(np.mean([held.slope().p < 0.05 for held in made])), float(np.mean(left))


def newest(earlier: int, wander: float, records: float, jump: float, samples: int, seed: int = 0) -> float:
    """How often the newest step is outside of what earlier ones let expect, as ``check --against-trend`` has it.

    It has ``records`` times as many of them as those before, and is ``jump`` of its standard deviations away.
    """
    rng = np.random.default_rng([seed, earlier, int(10 * wander), int(10 * records)])
    own = np.append(np.ones(earlier), 1.0 / records)
    deviation = np.sqrt(own + wander**2)
    drawn = rng.normal(size=(samples, earlier + 1)) * deviation
    drawn[:, -1] += jump * deviation[-1]
    made = [Steps(np.arange(earlier + 1.0), values, np.diag(own), False).newest() for values in drawn]
    return float(np.mean([not low <= values[-1] <= high for values, (low, high) in zip(drawn, made, strict=True)]))


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks trajectories")
    parser.add_argument("--samples", type=int, default=200)
    samples = parser.parse_args(options).samples
    folder = os.environ.get("BIASAMP_DATA")
    if folder is None:
        print("BIASAMP_DATA names no folder with the generations")
    else:
        found = generations(Path(folder))
        for row in found.trends.rows():
            ends = f"[{row['low']:+.4f}, {row['high']:+.4f}]"
            how = "paired" if row["paired"] else "weighted"
            print(f"{row['attribute']}: {row['slope']:+.4f} {ends} per generation, {how}: {row['verdict']}")
    for paired in (False, True):
        for steps in (3, 4, 5, 6, 8, 12, 24):
            for wander, heavy in ((0.0, False), (0.5, False), (1.0, False), (3.0, False), (1.0, True), (3.0, True)):
                slopes, left = false_alarms(steps, wander, paired, samples, heavy=heavy)
                same = "same records" if paired else "other records"
                limits = (
                    f"{left:.1%} leave their limits" if steps > 4 else f"{left:.1%} are further than records explain"
                )
                print(
                    f"{steps} steps of {same} that vary by {wander:g} besides{' with heavy tails' * heavy}: {slopes:.1%} have a trend, {limits}",
                    flush=True,
                )
    for earlier in (4, 6, 8, 12, 24):
        for wander in (0.0, 1.0, 3.0):
            for records in (0.2, 1.0, 5.0):
                chance, *seen = (newest(earlier, wander, records, jump, samples) for jump in (0.0, 4.0, 6.0, 10.0))
                shares = ", ".join(f"{share:.0%}" for share in seen)
                print(
                    f"a newest step after {earlier} that vary by {wander:g} besides, with {records:g} times as many records: {chance:.1%} are outside by "
                    f"chance, and of jumps by 4, 6 and 10 standard deviations {shares}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
