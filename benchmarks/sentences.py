"""How often each kind of sentence of an audit is false, on populations whose truth is known.

``python -m benchmarks.sentences 300`` draws 300 samples of every case, audits each and prints, for every code, in how many
percent of the audits a sentence of that code was false, and in how many any verdict was. A share of 5% measured on 300
samples is sure to about 1.3 points; the bounds are 5% (6.5% with that) for each code and 10% for any verdict.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import biasamp

RESAMPLES = 200
# Zero but for rounding.
_NONE = 1e-9
# Associations of so many standard errors are told by any test.
_PLAIN = 6.0
# Bounds, with what so few samples leave open.
MOST_FALSE, MOST_FALSE_VERDICTS = 0.065, 0.10
VERDICTS = ("amplification", "multi", "dpa", "leakage", "parity", "pairs", "opposite-pairs")
_DRAWN = 200_000


@dataclass(frozen=True)
class Side:
    """One direction of a population: shares of what is given, rates of every outcome in it, TPR and FPR in it."""

    share: np.ndarray
    truth: np.ndarray
    hit: np.ndarray
    false: np.ndarray
    given: list[str]
    outcome: list[str]

    @property
    def predicted(self) -> np.ndarray:
        return self.truth * self.hit + (1 - self.truth) * self.false

    @property
    def delta(self) -> np.ndarray:
        return _clean(self.predicted - self.truth)

    @property
    def lean(self) -> np.ndarray:
        return _clean(self.truth - self.share @ self.truth)

    @property
    def directional(self) -> float:
        return float((np.sign(self.lean) * self.delta).mean())

    @property
    def dpa(self) -> float:
        """The sign of the model's score less that of the truth with the model's confusion."""
        total = self.share @ self.truth
        hit = self.share @ (self.truth * self.hit) / total
        false = self.share @ ((1 - self.truth) * self.false) / (1 - total)
        equalized = self.truth * hit + (1 - self.truth) * false
        model, data = (float((self.share @ np.maximum(p, 1 - p)).mean()) for p in (self.predicted, equalized))
        return float(_clean(np.array(model - data)))

    def place(self, pair: dict[str, Any]) -> tuple[int, int]:
        return self.given.index(pair["given"]), self.outcome.index(pair["outcome"])


def _clean(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) < _NONE, 0.0, values)


@dataclass(frozen=True)
class Case:
    """A population, and how it is sampled.

    ``lean`` is how far tasks lean to a group, ``moved`` how much further the model goes, ``kept`` whether its other
    errors keep every group's rates (else they depend on the truth alone), ``tied`` how far it follows the group where
    the data do not.
    """

    name: str
    n: int
    tasks: int = 1
    lean: float = 0.0
    moved: float = 0.0
    tied: float = 0.0
    kept: bool = True
    rate: float = 0.3
    errors: float = 0.1
    groups: tuple[float, ...] = (0.5, 0.5)
    cluster: int = 1
    weighted: bool = False
    soft: bool = False
    both: bool = False
    metrics: tuple[str, ...] = ("directional", "multi", "dpa", "leakage", "parity")

    @property
    def side(self) -> Side:
        """A→T of the population."""
        groups, tasks = len(self.groups), self.tasks
        side = np.where(np.arange(groups) % 2, 1.0, -1.0)[:, None] * np.where(np.arange(tasks) % 2, 1.0, -1.0)
        truth = self.rate + self.lean * side
        push = (self.moved + self.tied) * side
        if self.kept:
            missed, gained = self.errors * truth, self.errors * truth
        else:
            missed, gained = 2 * self.errors * truth, self.errors * (1 - truth)
        missed, gained = missed + np.maximum(-push, 0.0), gained + np.maximum(push, 0.0)
        made = Side(
            np.array(self.groups),
            truth,
            1 - missed / truth,
            gained / (1 - truth),
            [f"g={chr(97 + i)}" for i in range(groups)],
            [f"t{k}" for k in range(tasks)],
        )
        return _as_variable(made) if tasks == 1 else made

    @property
    def turned(self) -> Side:
        """T→A of a population with one task: a group is predicted again as it is distributed among those with the task."""
        side = self.side
        joint = side.share[:, None] * side.truth
        share = joint.sum(axis=0)
        truth = (joint / share).T
        hit = 1 - self.errors + self.errors * truth
        return Side(share, truth, hit, self.errors * truth, side.outcome, side.given)

    def draw(self, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """A sample as columns, and the arguments of its audit."""
        made = self.side
        place = slice(1, None, 2) if self.tasks == 1 else slice(None)
        truth_rate, hit, false = (part[:, place] for part in (made.truth, made.hit, made.false))
        people = max(self.n // self.cluster, 2)
        g = np.repeat(rng.choice(len(self.groups), people, p=self.groups), self.cluster)
        shape = (len(g), self.tasks)

        def chances() -> np.ndarray:
            own, shared = rng.random(shape), np.repeat(rng.random((people, shape[1])), self.cluster, axis=0)
            return np.where(rng.random(shape) < 0.7, shared, own) if self.cluster > 1 else own

        truth = (chances() < truth_rate[g]).astype(int)
        said: np.ndarray = (chances() < np.where(truth == 1, hit[g], false[g])).astype(int)
        if self.soft:  # a score of the group alone, right on average
            said = rng.beta(4 * truth_rate[g], 4 * (1 - truth_rate[g]))
        data: dict[str, np.ndarray] = {"g": np.array([chr(97 + i) for i in g])}
        data |= {f"t{k}": truth[:, k] for k in range(self.tasks)} | {f"s{k}": said[:, k] for k in range(self.tasks)}
        names, predictions = [f"t{k}" for k in range(self.tasks)], [f"s{k}" for k in range(self.tasks)]
        options: dict[str, Any] = {"tasks": names, "task_predictions": predictions, "metrics": list(self.metrics)}
        if self.tasks == 1:
            options |= {"tasks": names[0], "task_predictions": predictions[0]}
        if self.both:
            again = np.array([rng.choice(len(self.groups), p=self.turned.truth[t]) for t in truth[:, 0]])
            data["guess"] = np.where(rng.random(len(g)) < self.errors, np.array(list("abcdefgh"))[again], data["g"])
            options |= {"attribute_predictions": "guess", "metrics": [*self.metrics, "mals"]}
        if self.cluster > 1:
            data["person"], options["cluster"] = np.repeat(np.arange(people), self.cluster), "person"
        if self.weighted:
            data["w"], options["weights"] = rng.exponential(1.0, len(g)), "w"
        return data, options


def _as_variable(side: Side) -> Side:
    """One task as a variable of two values."""

    def both(one: np.ndarray, zero: np.ndarray) -> np.ndarray:
        return np.concatenate([zero, one], axis=1)

    truth = both(side.truth, 1 - side.truth)
    hit, false = both(side.hit, 1 - side.false), both(side.false, 1 - side.hit)
    return replace(side, truth=truth, hit=hit, false=false, outcome=["t0=0", "t0=1"])


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


def leakage_of(case: Case) -> float:
    """The sign of what the best attacker gets from predictions less what it gets from truth with their confusion."""
    side = case.side
    place = slice(1, None, 2) if case.tasks == 1 else slice(None)
    truth, hit, false = side.truth[:, place], side.hit[:, place], side.false[:, place]
    total = side.share @ truth
    equal_hit, equal_false = side.share @ (truth * hit) / total, side.share @ ((1 - truth) * false) / (1 - total)
    model, data = truth * hit + (1 - truth) * false, truth * equal_hit + (1 - truth) * equal_false
    if np.allclose(model, data, atol=_NONE):
        return 0.0
    rng = np.random.default_rng(0)
    g, drawn = rng.choice(len(side.share), _DRAWN, p=side.share), rng.random((_DRAWN, truth.shape[1]))
    right = []
    for rates in (model, data):
        labels = drawn < rates[g]
        chance = np.log(side.share) + labels @ np.log(rates).T + ~labels @ np.log(1 - rates).T
        right.append(chance.argmax(axis=1) == g)
    apart = right[0].astype(float) - right[1]
    # Nearly a tie: no sentence is called false.
    return float(apart.mean()) if abs(apart.mean()) > 3 * apart.std() / np.sqrt(_DRAWN) else float("nan")


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
    wrong = (np.minimum(half, all_) < share - _NONE) & (share + _NONE < np.maximum(half, all_))
    return found.figure["wrong_group"] > int(wrong.sum())


def parity(found: Any, known: Known) -> bool:
    side = known.sides["A->T"]
    accuracy = side.truth * side.hit + (1 - side.truth) * (1 - side.false)
    rates = {"tpr_difference": side.hit, "fpr_difference": side.false, "accuracy_difference": accuracy}
    for name in found.figure["decided"]:
        entry = known.entry(name, found.attribute, "A->T")
        high, low = (side.given.index(group) for group in entry["between"])
        outcome = side.outcome.index(entry["outcome"])
        if rates[name][high, outcome] - rates[name][low, outcome] < _NONE:
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
    return bool(abs(apart[side.outcome.index(found.label)]) < _NONE)


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
        for code in ("base-choice", "perceived", "not-ground-truth", "missing", "disjoint", "swapped")
    },
}


@dataclass
class Tally:
    """How many audits had a sentence of each code, and a false one."""

    audits: int = 0
    given: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    verdicts: int = 0

    def add(self, given: set[str], false: set[str]) -> None:
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
        tally.add({found.code for found in result.findings}, false)
    return tally


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
    Case("scores, n 500", 500, soft=True),
    Case("scores, strong", 500, lean=0.15, soft=True),
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
    Case("20 tasks, scores", 500, 20, soft=True),
    Case("20 tasks, n 60", 60, 20),
    Case("20 tasks, 2% group", 1000, 20, groups=(0.98, 0.02)),
    Case("80 tasks", 500, 80, metrics=("directional", "multi", "parity")),
    Case("80 tasks, weak", 1000, 80, lean=0.02, metrics=("directional", "multi", "parity")),
    Case("80 tasks, n 5000", 5000, 80, metrics=("directional", "parity")),
)


def main(arguments: list[str] | None = None) -> None:
    """Print the share of audits with a false sentence, by case and code."""
    given = sys.argv[1:] if arguments is None else arguments
    samples = int(next((word for word in given if word.isdigit()), "100"))
    wanted = [word for word in given if not word.isdigit()]
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
    main()
