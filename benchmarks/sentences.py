"""How often each kind of sentence of an audit is false, on populations whose truth is known.

``python -m benchmarks.sentences 300`` draws 300 samples of every case, audits each and prints, for every code, in how many
percent of the audits a sentence of that code was false, and in how many any verdict was. A share of 5% measured on 300
samples is sure to about 1.3 points; the bounds are 5% (6.5% with that) for each code and 10% for any verdict.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import biasamp

from .known_truth import NONE, Case, Side, leakage_of

RESAMPLES = 200
# Associations of so many standard errors are told by any test.
_PLAIN = 6.0
# Bounds, with what so few samples leave open.
MOST_FALSE, MOST_FALSE_VERDICTS = 0.065, 0.10
VERDICTS = ("amplification", "multi", "dpa", "leakage", "parity", "pairs", "opposite-pairs")


@dataclass(frozen=True)
class Known:
    """A case with its sample and its audit."""

    case: Case
    data: dict[str, np.ndarray]
    document: dict[str, Any]
    sides: dict[str, Side]
    leakage: float

    def entry(self, metric: str, attribute: str, direction: str | None) -> dict[str, Any]:
        wanted = metric, attribute, direction
        return next(e for e in self.document["metrics"] if (e["metric"], e["attribute"], e["direction"]) == wanted)

    def plain(self, direction: str) -> np.ndarray:
        """The pairs whose association any test would tell."""
        side = self.sides[direction]
        total = side.share @ side.truth
        error = np.sqrt(total * (1 - total) * (1 / side.share[:, None] - 1) / (self.case.n / self.case.cluster))
        return np.abs(side.lean) > _PLAIN * error


def _wrong_way(verdict: Any, truth: float) -> bool:
    return bool(verdict) and not np.isnan(truth) and verdict * truth <= 0


def amplification(found: Any, known: Known) -> bool:
    return _wrong_way(found.figure["verdict"], known.sides[found.direction].directional)


def pairs(found: Any, known: Known) -> bool:
    side = known.sides[found.direction]
    named = [(side.place(pair), pair) for pair in found.figure["pairs"]]
    return any(_wrong_way(np.sign(pair["delta"]), side.delta[place]) for place, pair in named) or any(
        pair["known"] and _wrong_way(np.sign(pair["amplification"]), (np.sign(side.lean) * side.delta)[place])
        for place, pair in named
    )


def opposite_pairs(found: Any, known: Known) -> bool:
    turned = np.sign(known.sides[found.direction].lean) * known.sides[found.direction].delta
    return not turned.max() > 0 > turned.min()


def multi(found: Any, known: Known) -> bool:
    return bool(found.figure["verdict"]) and not known.sides[found.direction].delta.any()


def dpa(found: Any, known: Known) -> bool:
    return _wrong_way(found.figure["verdict"], known.sides[found.direction].dpa)


def leakage(found: Any, known: Known) -> bool:
    return _wrong_way(found.figure["verdict"], known.leakage)


def mals(found: Any, known: Known) -> bool:
    """It must not name a pair that follows the larger group where the population has no such pair."""
    side = known.sides["A->T"]
    share = side.share[:, None] * side.truth / (side.share @ side.truth)
    half, all_ = 1 / len(side.share), side.share[:, None]
    wrong = (np.minimum(half, all_) < share - NONE) & (share + NONE < np.maximum(half, all_))
    return found.figure["wrong_group"] > int(wrong.sum())


def parity(found: Any, known: Known) -> bool:
    side = known.sides["A->T"]
    accuracy = side.truth * side.hit + (1 - side.truth) * (1 - side.false)
    rates = {"tpr_difference": side.hit, "fpr_difference": side.false, "accuracy_difference": accuracy}
    for name in found.figure["decided"]:
        entry = known.entry(name, found.attribute, "A->T")
        high, low = (side.given.index(group) for group in entry["between"])
        outcome = side.outcome.index(entry["outcome"])
        if rates[name][high, outcome] - rates[name][low, outcome] < NONE:
            return True
    return False


def not_fairness(found: Any, known: Known) -> bool:
    return not known.sides["A->T"].lean[:, known.sides["A->T"].outcome.index(found.label)].any()


def balanced(found: Any, known: Known) -> bool:
    return bool(known.plain(found.direction).any())


def unclear_signs(found: Any, known: Known) -> bool:
    return bool(known.plain(found.direction).all())


def over_zero(found: Any, known: Known) -> bool:
    low, high = known.entry("directional", found.attribute, found.direction)["interval"]
    return not low <= 0 <= high


def no_interval(found: Any, known: Known) -> bool:
    return known.entry("directional", found.attribute, found.direction)["interval"][0] is not None


def threshold(found: Any, known: Known) -> bool:
    side = known.sides[found.direction]
    apart = side.share @ side.delta
    if known.case.soft and found.direction == "A->T":  # decisions at .5 of scores that go by the group
        return False
    return bool(abs(apart[side.outcome.index(found.label)]) < NONE)


def disagreement(found: Any, known: Known) -> bool:
    return any(
        known.sides[f["direction"]].directional * known.sides[f["direction"]].dpa >= 0 for f in found.figure["pairs"]
    )


def fractions(found: Any, known: Known) -> bool:
    """The value of the decisions, computed anew."""
    tasks = range(known.case.tasks)
    truth, said = (np.stack([known.data[f"{c}{k}"] for k in tasks], axis=1) for c in "ts")
    hard = (said >= 0.5).astype(int)
    if known.case.tasks == 1:
        truth, hard = truth[:, 0], hard[:, 0]
    weights = known.data.get("w")
    return not known.case.soft or not np.isclose(
        found.figure["decided"], biasamp.directional(known.data["g"], truth, hard, weights=weights).value
    )


def small_groups(found: Any, known: Known) -> bool:
    least = known.document["data"]["min_group"]
    return any((known.data["g"] == name.removeprefix("g=")).sum() >= least for name in found.figure["groups"])


def excluded(found: Any, known: Known) -> bool:
    """Something is undefined only where a group lacks records with or without an outcome, true or predicted."""
    held = [known.data[c] for c in known.data if c[0] in "ts"]
    groups = [known.data["g"] == g for g in np.unique(known.data["g"])]
    return len(groups) == len(known.case.groups) and all(0 < c[g].sum() < g.sum() for c in held for g in groups)


def one_value(found: Any, known: Known) -> bool:
    return all(len(np.unique(known.data[c])) > 1 for c in known.data if c[0] in "gt")


def perfect(found: Any, known: Known) -> bool:
    return any((known.data[f"t{k}"] != known.data[f"s{k}"]).any() for k in range(known.case.tasks))


def unless(condition: Callable[[Known], bool]) -> Callable[[Any, Known], bool]:
    return lambda found, known: not condition(known)


# When a sentence of each code is false. Neutral names of columns and whole data call for none of the last ones.
FALSE: dict[str, Callable[[Any, Known], bool]] = {
    "amplification": amplification,
    "pairs": pairs,
    "opposite-pairs": opposite_pairs,
    "multi": multi,
    "dpa": dpa,
    "leakage": leakage,
    "mals": mals,
    "parity": parity,
    "not-fairness": not_fairness,
    "balanced": balanced,
    "unclear-signs": unclear_signs,
    "over-zero": over_zero,
    "no-interval": no_interval,
    "threshold": threshold,
    "disagreement": disagreement,
    "fractions": fractions,
    "small-groups": small_groups,
    "excluded": excluded,
    "one-value": one_value,
    "perfect": perfect,
    "sensitive-prediction": unless(lambda known: known.case.both),
    "incomparable": unless(lambda known: known.case.both),
    **{
        code: unless(lambda known: False)
        for code in (
            "base-choice",
            "perceived",
            "not-ground-truth",
            "missing",
            "unknown-overlap",
            "disjoint",
            "swapped",
            "positive",
            "ignored-groups",
        )
    },
}


@dataclass
class Tally:
    """How many audits had a sentence of each code, and a false one."""

    audits: int = 0
    given: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    verdicts: int = 0
    decided: Counter[int] = field(default_factory=Counter)

    def add(self, found: Sequence[Any], false: set[str]) -> None:
        given = {finding.code for finding in found}
        self.decided.update(
            f.figure["verdict"] for f in found if f.code == "amplification" and f.figure["verdict"] is not None
        )
        self.audits += 1
        self.given.update(given)
        self.false.update(false)
        self.verdicts += bool(false & set(VERDICTS))

    def above(self) -> list[str]:
        """The codes that are false more often than they may be."""
        out = [code for code, many in self.false.items() if many > MOST_FALSE * self.audits]
        return out + (["any verdict"] if self.verdicts > MOST_FALSE_VERDICTS * self.audits else [])


def study(case: Case, samples: int, seed: int = 0) -> Tally:
    """Audit samples of a case and count the false sentences."""
    tally, side, leaks = Tally(), case.side, leakage_of(case)
    sides = {"A->T": side, **({"T->A": case.turned} if case.both else {})}
    if case.soft:  # scores that are right on average in every group
        sides["A->T"] = replace(side, hit=side.truth, false=side.truth)
        leaks = float("nan")
    for stream in np.random.SeedSequence(seed).spawn(samples):
        data, options = case.draw(np.random.default_rng(stream))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = biasamp.audit(data, attributes="g", resamples=RESAMPLES, **options)
        known = Known(case, data, result.document, sides, leaks)
        false = {found.code for found in result.findings if FALSE[found.code](found, known)}
        tally.add(result.findings, false)
    return tally


# What is cheap enough for many tasks, and for scores, of which attackers draw labels.
FEW = ("directional", "multi", "parity")
CASES = (
    *(Case(f"rates kept, n {n}", n) for n in (60, 500, 5000)),
    *(Case(f"weak, rates kept, n {n}", n, lean=0.02) for n in (60, 500, 5000)),
    *(Case(f"strong, rates kept, n {n}", n, lean=0.15) for n in (60, 500, 5000)),
    *(Case(f"noise of truth, n {n}", n, kept=False) for n in (60, 500, 5000)),
    *(Case(f"strong, noise of truth, n {n}", n, lean=0.15, kept=False) for n in (60, 500)),
    *(Case(f"balanced, follows the group, n {n}", n, tied=0.08) for n in (60, 500, 5000)),
    Case("2% group", 1000, groups=(0.98, 0.02)),
    Case("2% group, strong", 1000, lean=0.15, groups=(0.98, 0.02)),
    Case("five groups", 1000, groups=(0.3, 0.3, 0.2, 0.15, 0.05)),
    Case("clusters of 5", 1000, cluster=5),
    Case("clusters of 5, follows the group", 1000, cluster=5, tied=0.08),
    Case("clusters of 5, strong", 1000, lean=0.15, cluster=5),
    Case("weights", 500, weighted=True),
    Case("weights, strong", 500, lean=0.15, weighted=True),
    Case("scores", 500, soft=True, metrics=FEW),
    Case("scores, strong", 500, lean=0.15, soft=True, metrics=FEW),
    Case("both directions", 500, both=True),
    Case("both directions, strong, unequal", 1000, lean=0.15, groups=(0.7, 0.3), both=True),
    Case("amplifies", 500, lean=0.15, moved=0.05),
    Case("reduces", 500, lean=0.15, moved=-0.05),
    Case("20 tasks", 500, 20),
    Case("20 tasks, weak", 500, 20, lean=0.02),
    Case("20 tasks, strong", 500, 20, lean=0.15),
    Case("20 tasks, noise of truth", 500, 20, kept=False),
    Case("20 tasks, follows the group", 500, 20, tied=0.05),
    Case("20 tasks, clusters of 5", 1000, 20, cluster=5),
    Case("20 tasks, weights", 500, 20, weighted=True),
    Case("20 tasks, scores", 500, 20, soft=True, metrics=FEW),
    Case("20 tasks, n 60", 60, 20),
    Case("20 tasks, 2% group", 1000, 20, groups=(0.98, 0.02)),
    Case("80 tasks", 500, 80, metrics=FEW),
    Case("80 tasks, weak", 1000, 80, lean=0.02, metrics=FEW),
    Case("80 tasks, n 5000", 5000, 80, metrics=("directional", "parity")),
)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the share of audits with a false sentence, by case and code; of cases whose name has a given word, or all."""
    samples = int(next((word for word in arguments if word.isdigit()), "20"))
    wanted = [word for word in arguments if not word.isdigit()]
    bad = 0
    for case in CASES:
        if wanted and not any(word in case.name for word in wanted):
            continue
        tally = study(case, samples)
        shown = ", ".join(
            f"{code} {100 * many / samples:.1f} (given {100 * tally.given[code] / samples:.0f})"
            for code, many in tally.false.most_common()
        )
        above = tally.above()
        bad += bool(above)
        mark = f"  ABOVE: {', '.join(above)}" if above else ""
        print(
            f"{case.name:<36} any verdict {100 * tally.verdicts / samples:4.1f}%; {shown or 'none false'}{mark}",
            flush=True,
        )
    print(f"{bad} cases above their bound")


if __name__ == "__main__":
    main(sys.argv[1:])
