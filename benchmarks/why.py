"""What the parts of a change cost beside the value alone, how often their intervals hold the truth, and how often a
calibrated score gets a verdict.

``python -m benchmarks why --speed`` measures the cost alone, ``--coverage`` runs the study alone. Scores take nine values, so that every figure of the population is a sum. ``python -m benchmarks why --samples 1000``
runs the study; a share of 95% in 1,000 samples is sure to 1.4 points.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from benchmarks.timing import goal_row, least_of
from biasamp.amplification.why_parts import AMPLIFIES, REDUCES

SAMPLES = 300
# Scores of a task whose cost is measured.
RECORDS = 1_000_000
STRATA = 3
# Runs of either side of a ratio of costs: of fewer, what else a machine does is in one side and not in the other.
REPEATS = 12
POINTS = np.arange(1, 10) / 10.0
# How far the score is off where it is not calibrated: the truth is this much further apart between groups.
OFF = 0.06


@dataclass(frozen=True)
class Case:
    """Two groups in three strata; scores lean towards a group by ``lean`` in every stratum and task.

    Parameters
    ----------
    n : int
        Records of a sample.
    tasks : int
    lean : float
        How much more likely high scores are in the second group.
    calibrated : bool
        Whether the score is the chance that the truth is 1.
    train : bool
        Whether signs come from 20,000 train records.
    clusters : int
        Records of one cluster, which are alike.
    """

    n: int
    tasks: int = 1
    lean: float = 1.0
    calibrated: bool = True
    train: bool = False
    clusters: int = 1

    def population(self) -> Population:
        """Chances of groups and strata, of scores in them, and of the truth at a score."""
        mix = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
        high = np.linspace(-0.6, 0.6, STRATA)
        scores = np.empty((2, STRATA, self.tasks, len(POINTS)))
        for g in range(2):
            for s in range(STRATA):
                for k in range(self.tasks):
                    towards = high[s] + self.lean * (g - 0.5) * (1 if k % 2 == 0 else -1)
                    each = np.exp(towards * (POINTS - 0.5) * 4 - 8 * (POINTS - 0.5) ** 2)
                    scores[g, s, k] = each / each.sum()
        turn = np.where(np.arange(self.tasks) % 2, -1.0, 1.0)
        off = np.zeros((2, self.tasks)) if self.calibrated else OFF * np.array([[-1.0], [1.0]]) * turn
        truth = np.clip(POINTS[None, None, :] + off[:, :, None], 0.0, 1.0)
        return Population(mix, scores, truth)


@dataclass(frozen=True)
class Population:
    """``mix[g, s]`` is P(s | g), ``scores[g, s, k, j]`` P(score j of task k | g, s), ``truth[g, k, j]`` P(1 | score j)."""

    mix: np.ndarray
    scores: np.ndarray
    truth: np.ndarray

    def rates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Truth, scores and decisions, of shape (groups, strata, tasks)."""
        truth = np.einsum("gskj,gkj->gsk", self.scores, self.truth)
        return truth, self.scores @ POINTS, self.scores @ (POINTS >= 0.5)

    def figures(self) -> dict[str, float]:
        """The value, its parts, and the value by the signs inside; groups are equally frequent."""
        rates = self.rates()
        truth, score, held = (np.einsum("gs,gsk->gk", self.mix, side) for side in rates)
        sign = np.sign(truth - truth.mean(axis=0))
        share = self.mix / self.mix.sum(axis=0)
        middle = np.einsum("gs,gsk->sk", share, rates[0])
        inside = np.sign(rates[0] - middle)
        moved = np.einsum("gs,gsk->gk", self.mix, inside * (rates[2] - rates[0]))
        return {
            "value": float((sign * (held - truth)).mean()),
            "score": float((sign * (score - truth)).mean()),
            "threshold": float((sign * (held - score)).mean()),
            "inside": float(moved.mean()),
        }

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
        """Group, truth, scores and stratum of some records."""
        group = rng.integers(2, size=n)
        stratum = (rng.random(n)[:, None] > np.cumsum(self.mix[group], axis=1)).sum(axis=1)
        cumulated = np.cumsum(self.scores[group, stratum], axis=-1)
        place = (rng.random((n, self.truth.shape[1]))[..., None] > cumulated[..., :-1]).sum(axis=-1)
        chance = np.take_along_axis(self.truth[group], place[..., None], axis=-1)[..., 0]
        truth = (rng.random(chance.shape) < chance).astype(int)
        return group, truth, POINTS[place], np.array(["x", "y", "z"])[stratum]


def study(case: Case, samples: int, seed: int = 0) -> dict[str, float]:
    """Shares of samples: intervals that hold each figure, verdicts on the score's part, and cautions of signs."""
    population = case.population()
    true = population.figures()
    rng = np.random.default_rng(seed)
    held = dict.fromkeys(true, 0)
    called = cautioned = cautioned_inside = 0
    for _ in range(samples):
        group, truth, scores, stratum = population.sample(case.n // case.clusters, rng)
        cluster = None
        if case.clusters > 1:
            group, truth, scores, stratum = (
                np.repeat(x, case.clusters, axis=0) for x in (group, truth, scores, stratum)
            )
            cluster = np.repeat(np.arange(case.n // case.clusters), case.clusters)
        train = None
        if case.train:
            known = population.sample(20_000, rng)
            train = known[0], known[1], known[3]
        found = biasamp.decompose(group, truth, scores, strata=stratum, train=train, cluster=cluster)
        for of, figure in true.items():
            low, high = found.quiet_interval(of=of)
            held[of] += low - 1e-12 <= figure <= high + 1e-12
        called += found.verdicts["score"] in (AMPLIFIES, REDUCES)
        cautioned += any("cannot tell the direction" in words for words in found.quiet_interval().cautions)
        inside = found.quiet_interval(of="inside").cautions
        cautioned_inside += any("cannot tell the direction" in words for words in inside)
    shares = {of: count / samples for of, count in held.items()}
    return shares | {
        "score called": called / samples,
        "caution": cautioned / samples,
        "caution inside": cautioned_inside / samples,
    }


def base_figures(population: Population, other: Population) -> dict[str, float]:
    """The value against the population of a base, and of it the rates inside strata and the mix; groups are equally frequent."""
    truth, held = other.rates()[0], population.rates()[2]
    before = np.einsum("gs,gsk->gk", other.mix, truth)
    sign = np.sign(before - before.mean(axis=0))
    value = float((sign * (np.einsum("gs,gsk->gk", population.mix, held) - before)).mean())
    within = float((sign * np.einsum("gs,gsk->gk", other.mix, held - truth)).mean())
    return {"value": value, "within": within, "mix": value - within}


def study_base(case: Case, samples: int, seed: int = 0, size: int = 2000) -> dict[str, float]:
    """Shares of samples whose intervals hold the parts of Kitagawa against a base of ``size`` records with another mix of strata."""
    population = case.population()
    other = Population(population.mix[::-1].copy(), population.scores, population.truth)
    true = base_figures(population, other)
    rng = np.random.default_rng(seed)
    held = dict.fromkeys(true, 0)
    cautioned = 0
    for _ in range(samples):
        base = other.sample(size, rng)
        group, truth, scores, stratum = population.sample(case.n, rng)
        train = None
        if case.train:
            known = other.sample(20_000, rng)
            train = known[0], known[1], known[3]
        found = biasamp.decompose(group, truth, scores, strata=stratum, train=train, base=(base[0], base[1], base[3]))
        cautioned += any("cannot tell the direction" in words for words in found.quiet_interval(of="within").cautions)
        for of, figure in true.items():
            low, high = found.quiet_interval(of=of)
            held[of] += low - 1e-12 <= figure <= high + 1e-12
    return {of: count / samples for of, count in held.items()} | {"caution": cautioned / samples}


CASES = (
    Case(500, lean=1.5),
    Case(2000, tasks=4, lean=2.0),
    Case(2000, tasks=4, lean=2.0, calibrated=False),
    Case(2000, lean=2.0, clusters=4),
    Case(500, tasks=4, lean=1.0, train=True),
    Case(500, tasks=4, lean=1.0, calibrated=False, train=True),
    Case(500, tasks=4, lean=0.3),
    Case(500, tasks=20, lean=0.1),
    Case(1000, tasks=10, lean=0.0),
)
# Against a base of so many records.
BASE_CASES = (
    (Case(300, lean=1.0), 2000),
    (Case(1000, tasks=4, lean=1.0), 2000),
    (Case(1000, tasks=4, lean=0.2), 2000),
    (Case(2000, lean=1.5), 300),
    (Case(2000, tasks=4, lean=1.0, train=True), 300),
    (Case(500, tasks=4, lean=1.5, train=True), 500),
)


def jobs(tasks: int, n: int = RECORDS, strata: int = 50) -> list[Callable[[], object]]:
    """An audit with directional alone, with scores and strata, and their decomposition as arrays."""
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {"group": rng.integers(0, 2, n), "stratum": rng.integers(0, strata, n)}
    for k in range(tasks):
        score = np.clip(0.4 + 0.2 * rng.standard_normal(n), 0.0, 1.0)
        data |= {f"t{k}": (rng.random(n) < score).astype(np.uint8), f"p{k}": (score >= 0.5).astype(np.uint8)}
        data[f"s{k}"] = score
    roles = {"attributes": "group", "metrics": "directional"}
    roles |= {role: [f"{kind}{k}" for k in range(tasks)] for role, kind in (("tasks", "t"), ("task_predictions", "p"))}
    scores = [f"s{k}" for k in range(tasks)]
    truth, chance = (np.column_stack([data[f"{kind}{k}"] for k in range(tasks)]).squeeze() for kind in "ts")
    return [
        lambda: biasamp.audit(data, **roles),
        lambda: biasamp.audit(data, **roles, task_scores=scores, strata="stratum"),
        lambda: biasamp.decompose(data["group"], truth, chance, strata=data["stratum"]).strata,
    ]


# A process that has no numba, and has run each job once.
_PLAIN = """
import json, sys
sys.modules["numba"] = None
from benchmarks.timing import least_of
from benchmarks.why import jobs
works = jobs(int(sys.argv[1]))[1:]
least_of(works, 1)
print(json.dumps(least_of(works, int(sys.argv[2]))))
"""


def without_numba(tasks: int, repeats: int = 3) -> list[float]:
    """CPU time of the last two of :func:`jobs` where numba is not installed."""
    command = [sys.executable, "-W", "ignore", "-c", _PLAIN, str(tasks), str(repeats)]
    folder = str(Path(__file__).parents[1])
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def speed(tasks: int) -> None:
    """CPU time of the jobs, with numba and without."""
    alone, parts, split = least_of(jobs(tasks), REPEATS)
    of = f"{RECORDS:,} scores x {tasks} task{'' if tasks == 1 else 's'} x 50 strata"
    goal_row(f"why, {of}", parts, "directional alone", alone, 2)
    goal_row(f"decompose(...).strata, {of}", split, "directional alone", alone, 2)
    for name, ours, plain in zip(("why", "decompose"), (parts, split), without_numba(tasks), strict=True):
        goal_row(f"   {name} without numba, {of}", plain, "with it", ours, 3)


def main(options: Sequence[str] = ()) -> None:
    """Measure the cost, and run the study."""
    if "--coverage" not in options:
        for tasks in (1, 20):
            speed(tasks)
    if "--speed" in options:
        return
    samples = int(options[options.index("--samples") + 1]) if "--samples" in options else SAMPLES
    for case in CASES:
        print(case, flush=True)
        true = case.population().figures()
        print("   truth: " + ", ".join(f"{name} {figure:+.4f}" for name, figure in true.items()))
        print(
            "   share: " + ", ".join(f"{name} {share:.3f}" for name, share in study(case, samples).items()), flush=True
        )
    print("against a base")
    for case, size in BASE_CASES:
        print(case, f"base of {size:,} records", flush=True)
        shares = study_base(case, samples, size=size)
        print("   share: " + ", ".join(f"{name} {share:.3f}" for name, share in shares.items()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
