"""How often the interval of a difference between two models holds the truth, and how often its verdict is false."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

import biasamp

from .cells import Coverage
from .population import NONE, Case
from .sentences import MOST_FALSE

RESAMPLES = 300
_RATES = {
    "tpr_difference": "true_positive_rate",
    "fpr_difference": "false_positive_rate",
    "accuracy_difference": "accuracy",
}


@dataclass(frozen=True)
class Two:
    """Two models; ``anew`` is the share of records that the second decides by chance numbers of its own."""

    first: Case
    second: Case
    anew: float = 0.2
    same_records: bool = True

    @property
    def name(self) -> str:
        return self.first.name


def truths(case: Case) -> dict[str, float]:
    """Every figure of an audit that models are compared by."""
    side, rates = case.side, case.labels.rates
    each = 0.5 * (case.labels.hit + 1 - case.labels.false)
    out = {"directional": side.directional, "mean_per_class_accuracy": float(each.mean(axis=0).min())}
    out |= {name: float(np.ptp(rates[rate], axis=0).max()) for name, rate in _RATES.items()}
    if case.variable:
        out |= {"multi": float(np.abs(side.delta).mean()), "dpa": side.dpa}
    return out


@dataclass
class Tally:
    """Of every metric, how its intervals cover, and how many verdicts were false."""

    coverage: dict[str, Coverage] = field(default_factory=dict)
    false: Counter[str] = field(default_factory=Counter)
    samples: int = 0


def study(two: Two, samples: int, seed: int = 0) -> Tally:
    """Compare samples of two models."""
    out = Tally()
    true = {name: truths(two.second)[name] - value for name, value in truths(two.first).items()}
    for stream in np.random.SeedSequence(seed).spawn(samples):
        rng = np.random.default_rng(stream)
        drawn = two.first.records(rng)
        other = drawn if two.same_records else two.second.records(rng)
        renewed = two.second.chances(other.person, rng)
        other = replace(other, chance=np.where(rng.random(renewed.shape) < two.anew, renewed, other.chance))
        audits = {}
        weights = int(rng.integers(1 << 31))
        for name, case, records in (("one", two.first, drawn), ("two", two.second, other)):
            data, options = case.columns(records, case.predictions(records, rng), np.random.default_rng(weights))
            options["metrics"] = ["directional", "parity", *(["multi", "dpa"] if case.variable else [])]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                audits[name] = biasamp.audit(data, resamples=RESAMPLES, **options)
        out.samples += 1
        compared = biasamp.compare(audits).document
        apart = two.second.side.delta - two.first.side.delta
        held = [
            bool(pair["low"] - NONE <= apart[two.first.side.place(pair)] <= pair["high"] + NONE)
            for pair in compared["pairs"]
            if not pair.get("mirror") and pair["low"] is not None and pair["high"] is not None
        ]
        out.coverage.setdefault("pairs", Coverage()).add(held, False)
        named = [pair for pair in compared["pairs"] if pair["q"] is not None and pair["q"] < MOST_FALSE]
        out.false["pairs"] += any(abs(apart[two.first.side.place(pair)]) <= NONE for pair in named)
        for row in compared["differences"]:
            metric, truth = row["metric"], true[row["metric"]]
            low, high = row["low"], row["high"]
            if low is None or high is None or np.isnan(truth):
                continue
            known = out.coverage.setdefault(metric, Coverage())
            # What the comparison says of itself counts, not what the audits say of their own figures.
            known.add([bool(low - NONE <= truth <= high + NONE)], bool(row.get("cautions")))
            out.false[metric] += (low > 0 and truth <= NONE) or (high < 0 and truth >= -NONE)
    return out


def cases() -> Iterator[Two]:
    """Pairs of models, equal and unequal."""
    for n in (60, 500, 5000):
        one = Case(f"equal models, n {n}", n, lean=0.15)
        yield Two(one, one)
    one = Case("equal models, hardly ever apart, n 500", 500, lean=0.15)
    for anew in (0.005, 0.02):
        yield Two(replace(one, name=f"equal models, {anew:.1%} decided anew, n 500"), one, anew)
    one = Case("few errors, n 400", 400, lean=0.15, errors=0.01)
    yield Two(one, one, 0.5)
    one = Case("the second moves .04, n 500", 500, lean=0.15)
    yield Two(one, replace(one, moved=0.04))
    one = Case("weak, the second moves .04, n 500", 500, lean=0.02)
    yield Two(one, replace(one, moved=0.04))
    one = Case("the second moves .04, other records, n 500", 500, lean=0.15)
    yield Two(one, replace(one, moved=0.04), same_records=False)
    for n in (500, 5000):
        one = Case(f"20 tasks, equal, n {n}", n, 20, kept=False)
        yield Two(one, one)
        one = Case(f"20 tasks, the second follows the group, n {n}", n, 20, kept=False)
        yield Two(one, replace(one, tied=0.08))
    for n in (500, 1000):
        one = Case(f"20 tasks, the second follows the group in one, n {n}", n, 20, kept=False)
        yield Two(one, replace(one, tied=0.08, one_task=True))
    one = Case("20 tasks, both follow the group, n 1000", 1000, 20, kept=False, tied=0.08)
    yield Two(one, one)
    one = Case("80 tasks, equal, n 1000", 1000, 80, kept=False)
    yield Two(one, one)
    one = Case("2% group, the second moves .04, n 2000", 2000, lean=0.15, groups=(0.98, 0.02))
    yield Two(one, replace(one, moved=0.04))
    one = Case("clusters of 5, the second moves .04, n 1000", 1000, lean=0.15, cluster=5)
    yield Two(one, replace(one, moved=0.04))
    one = Case("weights, the second moves .04, n 500", 500, lean=0.15, weighted=True)
    yield Two(one, replace(one, moved=0.04))
