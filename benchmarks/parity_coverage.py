"""How often the intervals of rates of groups hold the truth: of single rates, of differences and ratios to a reference
group, of the largest difference over outcomes and groups, and of how two models differ in it.

``python -m benchmarks parity_coverage --samples 400`` runs the study; a share of 95% in 400 samples is sure to 2 points.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import biasamp

SAMPLES = 300
RATE = 0.4  # how often an outcome is true
DIFFERENCES = {"tpr_difference": "tpr", "fpr_difference": "fpr", "accuracy_difference": "accuracy"}


@dataclass(frozen=True)
class Case:
    """Groups of which the first errs differently in the first outcome, by ``shift``; ``kind`` says what records are."""

    n: int
    groups: int = 2
    outcomes: int = 1
    tpr: float = 0.7
    fpr: float = 0.2
    shift: float = 0.0
    small: float | None = None
    kind: str = "plain"
    min_group: int = 0

    @property
    def shares(self) -> np.ndarray:
        if self.small is None:
            return np.full(self.groups, 1.0 / self.groups)
        return np.array([*[(1.0 - self.small) / (self.groups - 1)] * (self.groups - 1), self.small])

    def truth(self) -> dict[str, np.ndarray]:
        """Every rate by group and outcome."""
        tpr, fpr = (np.full((self.groups, self.outcomes), rate) for rate in (self.tpr, self.fpr))
        tpr[0, 0] += self.shift
        fpr[0, 0] += self.shift
        return {"tpr": tpr, "fpr": fpr, "accuracy": RATE * tpr + (1 - RATE) * (1 - fpr)}

    def draw(self, rng: np.random.Generator) -> dict[str, Any]:
        """Records: clusters of four are one person seen four times, who mostly errs alike."""
        size = self.n // 4 if self.kind == "clusters" else self.n
        group = rng.choice(self.groups, size, p=self.shares)
        truth = (rng.random((size, self.outcomes)) < RATE).astype(int)
        rates = self.truth()
        chance = np.where(truth == 1, rates["tpr"][group], rates["fpr"][group])
        said: np.ndarray = (rng.random(truth.shape) < chance).astype(int)
        columns: dict[str, Any] = {}
        if self.kind == "soft":
            said = rng.beta(4 * chance, 4 * (1 - chance))
        elif self.kind == "clusters":
            columns["who"] = np.repeat(np.arange(size), 4)
            group, truth, chance, said = (np.repeat(x, 4, axis=0) for x in (group, truth, chance, said))
            said = np.where(rng.random(said.shape) < 0.7, said, rng.random(said.shape) < chance).astype(int)
        elif self.kind == "weights":
            columns["w"] = rng.gamma(2.0, size=size)
        columns["g"] = np.array([f"g{i}" for i in range(self.groups)])[group]
        for k in range(self.outcomes):
            columns[f"t{k}"], columns[f"p{k}"] = truth[:, k], said[:, k]
        return columns

    def audit(self, rng: np.random.Generator) -> biasamp.Audit:
        data = self.draw(rng)
        names = [f"t{k}" for k in range(self.outcomes)]
        said = [f"p{k}" for k in range(self.outcomes)]
        several = self.outcomes > 1
        return biasamp.audit(
            data,
            attributes="g",
            tasks=names if several else biasamp.binary(names[0]),
            task_predictions=said if several else said[0],
            weights="w" if self.kind == "weights" else None,
            cluster="who" if self.kind == "clusters" else None,
            metrics=["parity"],
            reference="g0",
            min_group=self.min_group,
            resamples=200,
        )


def covered(case: Case, samples: int, seed: int = 0) -> dict[str, float]:
    """Of each kind of figure, the share of intervals that hold its truth."""
    rng = np.random.default_rng(seed)
    truth = case.truth()
    # Groups that are too small to decide are out of the truth, too.
    least = case.min_group / (case.n * RATE)
    kept = case.shares > least
    largest = {name: float(np.ptp(truth[rate][kept], axis=0).max()) for name, rate in DIFFERENCES.items()}
    mean = float((0.5 * (truth["tpr"] + 1 - truth["fpr"])).mean(axis=0).min())
    hits: Counter[str] = Counter()
    tried: Counter[str] = Counter()

    def note(name: str, low: float | None, high: float | None, value: float) -> None:
        if low is not None and high is not None:
            tried[name] += 1
            hits[name] += low - 1e-9 <= value <= high + 1e-9

    for _ in range(samples):
        document = case.audit(rng).document
        for entry in document["metrics"]:
            note(entry["metric"], *entry["interval"], largest.get(entry["metric"], mean))
        for row in document["rates"]:
            g, k = int(row["group"].removeprefix("g=g")), int(row["outcome"].removeprefix("t"))
            for name, rate in (("true_positive_rate", "tpr"), ("false_positive_rate", "fpr")):
                held: Any = row[name]  # type: ignore[literal-required]
                mine, theirs = truth[rate][g, k], truth[rate][0, k]
                note("one rate", held["low"], held["high"], mine)
                if not row["reference"]:
                    note("difference", held["difference_low"], held["difference_high"], mine - theirs)
                    note("ratio", held["ratio_low"], held["ratio_high"], mine / theirs)
    return {name: hits[name] / tried[name] for name in tried}


def compared(case: Case, shift: float, samples: int, seed: int = 0) -> tuple[float, float]:
    """Of two models on the same records, the second off by ``shift``: how often the interval of the difference of their
    largest TPR differences holds the truth, and how often its verdict is false."""
    rng = np.random.default_rng(seed)
    other = Case(**{**vars(case), "shift": shift})
    hold = wrong = 0
    for _ in range(samples):
        data = case.draw(rng)
        again = np.where(rng.random((case.n, case.outcomes)) < 0.8, 0, 1)
        group = np.array([int(one[1:]) for one in data["g"]])
        for k in range(case.outcomes):
            truth = data[f"t{k}"]
            chance = np.where(truth == 1, other.truth()["tpr"][group, k], other.truth()["fpr"][group, k])
            # Four of five records are decided as before, as far as the rates allow.
            new = (rng.random(case.n) < chance).astype(int)
            same = (again[:, k] == 0) & (not (shift and k == 0))
            data[f"q{k}"] = np.where(same, data[f"p{k}"], new)
        audits = {}
        for name in ("p", "q"):
            audits[name] = biasamp.audit(
                data,
                attributes="g",
                tasks=biasamp.binary([f"t{k}" for k in range(case.outcomes)]),
                task_predictions=[f"{name}{k}" for k in range(case.outcomes)],
                metrics=["parity"],
                min_group=case.min_group,
                resamples=200,
            )
        row = next(r for r in biasamp.compare(audits).table.rows() if r["metric"] == "tpr_difference")
        true = shift - case.shift
        hold += row["low"] <= true <= row["high"]
        wrong += (row["low"] > 0 and true <= 0) or (row["high"] < 0 and true >= 0)
    return hold / samples, wrong / samples


CASES = (
    *(Case(n, groups, outcomes) for n in (60, 500, 5000) for groups, outcomes in ((2, 1), (2, 20), (8, 1), (8, 20))),
    *(Case(n, 3, outcomes, shift=0.2) for n in (60, 500, 5000) for outcomes in (1, 20)),
    Case(1000, 2, 80),
    *(Case(n, 3, 20, small=0.02, min_group=30) for n in (500, 5000)),
    Case(5000, 3, 20, small=0.02, shift=0.1),
    *(Case(n, 2, 5, tpr=0.97, fpr=0.02) for n in (200, 2000)),
    *(
        Case(n, 3, k, kind=kind, shift=s)
        for kind in ("weights", "soft", "clusters")
        for n in (300, 2000)
        for k, s in ((1, 0.2), (20, 0.0))
    ),
)


def main(options: Sequence[str] = ()) -> None:
    samples = int(options[1]) if options[:1] == ["--samples"] else SAMPLES
    warnings.simplefilter("ignore")
    for case in CASES:
        shown = {name: f"{share:.3f}" for name, share in covered(case, samples).items()}
        words = {k: v for k, v in vars(case).items() if v != Case.__dataclass_fields__[k].default}
        print(f"{words}: {shown}", flush=True)
    for outcomes in (1, 20):
        for shifts in ((0.0, 0.0), (0.0, 0.2), (0.2, 0.2)):
            hold, wrong = compared(Case(1000, 3, outcomes, shift=shifts[0]), shifts[1], samples // 3)
            print(
                f"two models, {outcomes} outcomes, true differences {shifts}: held {hold:.3f}, false verdicts {wrong:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
