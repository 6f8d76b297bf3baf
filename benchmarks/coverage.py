"""How often nominal 95% intervals hold the population's value, on populations where it is known.

``python -m benchmarks.coverage 2000`` runs the study with 2000 samples a case; its table is ``docs/coverage.md``.
A share of 95% measured on 1000 samples is sure to about 1.4 points.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import biasamp
from biasamp.resampling.model_difference import compare_values

LEVEL = 0.95
RESAMPLES = 500


@dataclass(frozen=True)
class Population:
    """Groups, the rate of every task in each, and how the model errs in each: TPR and FPR by group and task."""

    groups: np.ndarray
    truth: np.ndarray
    hit: np.ndarray
    false: np.ndarray
    size: int

    @property
    def predicted(self) -> np.ndarray:
        return self.truth * self.hit + (1 - self.truth) * self.false

    @property
    def delta(self) -> np.ndarray:
        return self.predicted - self.truth

    @property
    def signs(self) -> np.ndarray:
        lean = self.truth - self.groups @ self.truth
        return np.where(np.abs(lean) < 1e-12, 0.0, np.sign(lean))

    def value(self, signs: np.ndarray | None = None) -> float:
        return float(((self.signs if signs is None else signs) * self.delta).mean())

    def draw(self, rng: np.random.Generator, size: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        g = rng.choice(len(self.groups), size or self.size, p=self.groups)
        truth = (rng.random((len(g), self.truth.shape[1])) < self.truth[g]).astype(np.uint8)
        chance = np.where(truth == 1, self.hit[g], self.false[g])
        return g, truth, (rng.random(truth.shape) < chance).astype(np.uint8)


def population(
    size: int,
    tasks: int = 10,
    rate: float = 0.3,
    lean: float = 0.15,
    moved: float = 0.03,
    groups: tuple[float, ...] = (0.5, 0.5),
    errors: float = 0.1,
) -> Population:
    """Tasks that lean one way or the other by ``lean``, and a model that moves them ``moved`` further.

    The model errs both ways; ``errors`` is the share of positives that it misses besides.
    """
    shares = np.array(groups)
    side = np.where(np.arange(len(groups)) % 2, 1.0, -1.0)[:, None] * np.where(np.arange(tasks) % 2, 1.0, -1.0)
    truth = rate + lean * side
    missed = errors * truth + np.maximum(-moved * side, 0.0)
    gained = errors * truth + np.maximum(moved * side, 0.0)
    return Population(shares, truth, 1 - missed / truth, gained / (1 - truth), size)


@dataclass
class Tally:
    held: int = 0
    width: float = 0.0
    warned: int = 0
    runs: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, low: float, high: float, truth: float, warned: bool) -> None:
        self.held += bool(low <= truth <= high)
        self.width += high - low
        self.warned += warned
        self.runs += 1


Sample = Callable[[np.random.Generator], tuple[object, float, str]]


def study(sample: Sample, methods: tuple[str, ...], repetitions: int, seed: int) -> dict[str, Tally]:
    """Draw samples; each gives a result, the true value and which figure of the result the interval is for."""
    tallies = {method: Tally() for method in methods}
    for stream in np.random.SeedSequence(seed).spawn(repetitions):
        rng = np.random.default_rng(stream)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result, truth, of = sample(rng)
        for method, tally in tallies.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                made = result.confidence_interval(  # type: ignore[attr-defined]
                    LEVEL, method, RESAMPLES, int(rng.integers(1 << 31)), of=of
                )
            tally.add(made.low, made.high, truth, bool(caught))
    return tallies


def plugin(pop: Population) -> Sample:
    return lambda rng: (biasamp.directional(*pop.draw(rng)), pop.value(), "value")


def crossfit(pop: Population) -> Sample:
    return lambda rng: (biasamp.directional(*pop.draw(rng)), pop.value(), "crossfit")


def with_train(pop: Population) -> Sample:
    def sample(rng: np.random.Generator) -> tuple[object, float, str]:
        g, truth, _ = pop.draw(rng)
        lean = np.stack([truth[g == k].mean(axis=0) for k in range(len(pop.groups))]) - truth.mean(axis=0)
        result = biasamp.directional(*pop.draw(rng), train=(g, truth))
        return result, pop.value(np.where(np.abs(lean) < 1e-12, 0.0, np.sign(lean))), "value"

    return sample


def clustered(pop: Population, each: int) -> Sample:
    """Every cluster is one person: the same group, and errors that are mostly shared."""

    def sample(rng: np.random.Generator) -> tuple[object, float, str]:
        people = pop.size // each
        g = np.repeat(rng.choice(len(pop.groups), people, p=pop.groups), each)
        shape = (len(g), pop.truth.shape[1])

        def mostly_shared() -> np.ndarray:
            own, shared = rng.random(shape), np.repeat(rng.random((people, shape[1])), each, axis=0)
            return np.where(rng.random(shape) < 0.7, shared, own)

        truth = (mostly_shared() < pop.truth[g]).astype(np.uint8)
        chance = np.where(truth == 1, pop.hit[g], pop.false[g])
        predicted = (mostly_shared() < chance).astype(np.uint8)
        return (
            biasamp.directional(g, truth, predicted, cluster=np.repeat(np.arange(people), each)),
            pop.value(),
            "value",
        )

    return sample


def soft(pop: Population) -> Sample:
    """The model gives its chance, blurred without bias."""

    def sample(rng: np.random.Generator) -> tuple[object, float, str]:
        g, truth, _ = pop.draw(rng)
        chance = np.where(truth == 1, pop.hit[g], pop.false[g])
        blur = np.minimum(chance, 1 - chance) * (rng.random(chance.shape) * 2 - 1)
        return biasamp.directional(g, truth, chance + blur), pop.value(), "value"

    return sample


def weighted(pop: Population) -> Sample:
    return lambda rng: (
        biasamp.directional(*pop.draw(rng), weights=rng.gamma(2.0, size=pop.size)),
        pop.value(),
        "value",
    )


def backward(pop: Population) -> Sample:
    """T->A with one task label: the group is predicted, by a model that moves it with the task."""

    def sample(rng: np.random.Generator) -> tuple[object, float, str]:
        t = rng.integers(0, 2, pop.size)
        g = (rng.random(pop.size) < np.where(t == 1, 0.6, 0.4)).astype(int)
        wrong = np.where(t == 1, np.where(g == 0, 0.20, 0.10), 0.15)
        predicted = np.where(rng.random(pop.size) < wrong, 1 - g, g)
        moved = np.array([(0.6 - 0.4) * 0.15, 0.4 * 0.20 - 0.6 * 0.10])
        return biasamp.directional(t, g, predicted), float((moved * np.array([-1, 1])).mean()), "value"

    return sample


def size_of_changes(pop: Population) -> Sample:
    def sample(rng: np.random.Generator) -> tuple[object, float, str]:
        g, truth, predicted = pop.draw(rng)
        names = [f"t{i}" for i in range(truth.shape[1])]
        columns = [biasamp.categorical(x) for x in (truth, predicted)] if len(names) == 1 else [truth, predicted]
        # Itemsets of a single label keep the population's value in closed form.
        return biasamp.multi(g, *columns, itemsets="subsets", max_size=1), float(np.abs(pop.delta).mean()), "value"

    return sample


def mals(pop: Population) -> Sample:
    """Groups are predicted too, with symmetric errors."""
    wrong = 0.1

    def sample(rng: np.random.Generator) -> tuple[object, float, str]:
        g, truth, predicted = pop.draw(rng)
        seen = np.where(rng.random(len(g)) < wrong, 1 - g, g)
        return biasamp.mals(g, truth, seen, predicted), value, "value"

    joint, joint_hat = pop.groups[:, None] * pop.truth, pop.groups[:, None] * pop.predicted
    mixed = (1 - wrong) * joint_hat + wrong * joint_hat[::-1]
    share, share_hat = joint / joint.sum(axis=0), mixed / mixed.sum(axis=0)
    value = float(((share > 0.5) * (share_hat - share)).sum() / pop.truth.shape[1])
    return sample


def pairs_study(pop: Population, repetitions: int, seed: int) -> Tally:
    """Intervals of single pairs."""
    tally = Tally()
    for stream in np.random.SeedSequence(seed).spawn(repetitions):
        sample = pop.draw(np.random.default_rng(stream))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Every direction is positive, so that the intervals are those of delta.
            ones = np.ones((len(np.unique(sample[0])), pop.truth.shape[1]))
            table = biasamp.directional(*sample, direction=ones).pairs
        for row in table.rows():
            tally.add(row["low"], row["high"], float(pop.delta[int(row["given"]), int(row["outcome"])]), False)
    return tally


def compare_study(pop: Population, paired: bool, repetitions: int, seed: int) -> Tally:
    """Two models, the second a noisier copy of the first that moves tasks further in half of the cases."""
    tally = Tally()
    further = population(pop.size, pop.truth.shape[1], lean=0.15, moved=0.06)
    for stream in np.random.SeedSequence(seed).spawn(repetitions):
        rng = np.random.default_rng(stream)
        g, truth, first = pop.draw(rng)
        again = rng.random(truth.shape) < np.where(truth == 1, further.hit[g], further.false[g])
        second = np.where(rng.random(truth.shape) < 0.5, first, again).astype(np.uint8)
        other = pop.draw(rng)[:2] if not paired else None
        one = biasamp.directional(g, truth, first)
        if other is None:
            two = biasamp.directional(g, truth, second)
        else:
            g2, t2 = other
            mixed = (pop.hit + further.hit) / 2, (pop.false + further.false) / 2
            chance = np.where(t2 == 1, mixed[0][g2], mixed[1][g2])
            two = biasamp.directional(g2, t2, (rng.random(t2.shape) < chance).astype(np.uint8))
        draw = int(rng.integers(1 << 31))
        values = [result.interval_maker().values(RESAMPLES, draw) for result in (one, two)]
        made = compare_values(one.value, two.value, *values, unpaired=None if paired else "other records")
        tally.add(made.low, made.high, (further.value() - pop.value()) / 2, False)
    return tally


def line(name: str, method: str, tally: Tally) -> str:
    share, warned = tally.held / tally.runs, tally.warned / tally.runs
    return f"| {name} | {method} | {100 * share:.1f}% | {tally.width / tally.runs:.4f} | {100 * warned:.0f}% |"


ALL = ("bootstrap", "bca", "closed_form")


def cases() -> dict[str, Sample]:
    """The populations of the study."""
    none = {"lean": 0.0, "moved": 0.0}
    return {
        "strong association, n=2000": plugin(population(2000)),
        "weak association (5 points), n=4000": plugin(population(4000, lean=0.05)),
        "separate train labels, weak association, n=1000": with_train(population(1000, lean=0.02)),
        "separate train labels, independence, n=1000": with_train(population(1000, tasks=20, **none)),
        "cross-fitted, independence, 20 tasks, n=1000": crossfit(population(1000, tasks=20, **none)),
        "cross-fitted, independence, a model of chance, n=1000": crossfit(population(1000, 20, errors=0.7, **none)),
        "cross-fitted, strong association, n=2000": crossfit(population(2000)),
        "sparse labels (2%), 40 tasks, n=2000": plugin(population(2000, 40, 0.02, 0.015, 0.004)),
        "sparse labels (0.5%), 10 tasks, train labels, n=2000": with_train(population(2000, 10, 0.005, 0.003, 0.001)),
        "unequal groups (5%, 95%), n=2000": plugin(population(2000, groups=(0.05, 0.95))),
        "four groups (50%, 30%, 15%, 5%), n=2000": plugin(population(2000, groups=(0.5, 0.3, 0.15, 0.05))),
        "clusters of 8, n=2400": clustered(population(2400), 8),
        "soft predictions, n=1000": soft(population(1000)),
        "real weights, n=2000": weighted(population(2000)),
        "T->A, one attribute and one task, n=1000": backward(population(1000)),
        "MALS, n=2000": mals(population(2000, groups=(0.4, 0.6))),
        "Multi, changes of 3 points, n=2000": size_of_changes(population(2000)),
        "Multi, no change, n=2000": size_of_changes(population(2000, moved=0.0)),
        "plug-in signs, independence, 20 tasks, n=1000": plugin(population(1000, tasks=20, **none)),
        "plug-in signs, 1 point of association, n=1000": plugin(population(1000, lean=0.01)),
        "cross-fitted, 1 point of association, n=1000": crossfit(population(1000, lean=0.01)),
        "a group of about 12, n=240": plugin(population(240, groups=(0.05, 0.95))),
        "three clusters of 400": clustered(population(1200), 400),
    }


def main(repetitions: int = 300, only: str = "") -> None:
    print("| case | method | covers | mean width | warned |\n|---|---|---|---|---|")
    for seed, (name, sample) in enumerate(cases().items()):
        if only in name:
            for method, tally in study(sample, ALL, repetitions, seed).items():
                print(line(name, method, tally), flush=True)
    if "pair" not in only and only:
        return
    single = {
        "pairs: rate 30%, n=1000": population(1000),
        "pairs: sparse (1%), n=1000": population(1000, 10, 0.01, 0.005, 0.001),
        "pairs: a group of about 12": population(240, groups=(0.05, 0.95)),
        "pairs: a group of about 5": population(100, groups=(0.05, 0.95)),
    }
    for seed, (name, pop) in enumerate(single.items()):
        print(line(name, "Bonett-Price", pairs_study(pop, repetitions, 100 + seed)), flush=True)
    for paired in (True, False):
        tally = compare_study(population(1500), paired, repetitions, 200)
        print(line("difference of two models, n=1500", "paired" if paired else "unpaired", tally), flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]), *sys.argv[2:3])
