"""How often each kind of sentence of an audit is false, on populations whose truth is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import biasamp
from biasamp.auditing.evidence import AS_GOOD_AS_0

from .audited import Audited
from .cells import beyond
from .population import NONE, Case, leakage_of

MOST_FALSE, MOST_FALSE_VERDICTS = 0.05, 0.10
VERDICTS = ("amplification", "multi", "dpa", "leakage", "parity", "pairs", "opposite-pairs")


def _wrong_way(verdict: Any, truth: float) -> bool:
    return bool(verdict) and not np.isnan(truth) and verdict * truth <= 0


def amplification(found: Any, known: Audited) -> bool:
    truth = known.sides[found.direction].directional
    if found.figure["kept"] and not found.figure["verdict"] and abs(truth) > AS_GOOD_AS_0:
        return True
    return _wrong_way(found.figure["verdict"], truth)


def pairs(found: Any, known: Audited) -> bool:
    side = known.sides[found.direction]
    named = [(side.place(pair), pair) for pair in found.figure["pairs"]]
    return any(_wrong_way(np.sign(pair["delta"]), side.delta[place]) for place, pair in named) or any(
        pair["known"] and _wrong_way(np.sign(pair["amplification"]), (np.sign(side.lean) * side.delta)[place])
        for place, pair in named
    )


def opposite_pairs(found: Any, known: Audited) -> bool:
    turned = np.sign(known.sides[found.direction].lean) * known.sides[found.direction].delta
    return not turned.max() > 0 > turned.min()


def multi(found: Any, known: Audited) -> bool:
    return bool(found.figure["verdict"]) and not known.sides[found.direction].delta.any()


def dpa(found: Any, known: Audited) -> bool:
    return _wrong_way(found.figure["verdict"], known.sides[found.direction].dpa)


def leakage(found: Any, known: Audited) -> bool:
    return _wrong_way(found.figure["verdict"], known.leakage)


def mals(found: Any, known: Audited) -> bool:
    """It must not name a pair that follows the larger group where the population has no such pair."""
    side = known.sides["A->T"]
    share = side.share[:, None] * side.truth / (side.share @ side.truth)
    half, all_ = 1 / len(side.share), side.share[:, None]
    wrong = (np.minimum(half, all_) < share - NONE) & (share + NONE < np.maximum(half, all_))
    return found.figure["wrong_group"] > int(wrong.sum())


def parity(found: Any, known: Audited) -> bool:
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


def not_fairness(found: Any, known: Audited) -> bool:
    return not known.sides["A->T"].lean[:, known.sides["A->T"].outcome.index(found.label)].any()


def balanced(found: Any, known: Audited) -> bool:
    return bool(known.plain(found.direction).any())


def unclear_signs(found: Any, known: Audited) -> bool:
    return bool(known.plain(found.direction).all())


def over_zero(found: Any, known: Audited) -> bool:
    low, high = known.entry("directional", found.attribute, found.direction)["interval"]
    return not low <= 0 <= high


def no_interval(found: Any, known: Audited) -> bool:
    return known.entry("directional", found.attribute, found.direction)["interval"][0] is not None


def threshold(found: Any, known: Audited) -> bool:
    side = known.sides[found.direction]
    apart = side.share @ side.delta
    if known.case.soft and found.direction == "A->T":  # decisions at .5 of scores that go by the group
        return False
    return bool(abs(apart[side.outcome.index(found.label)]) < NONE)


def disagreement(found: Any, known: Audited) -> bool:
    return any(
        known.sides[f["direction"]].directional * known.sides[f["direction"]].dpa >= 0 for f in found.figure["pairs"]
    )


def fractions(found: Any, known: Audited) -> bool:
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


def small_groups(found: Any, known: Audited) -> bool:
    least = known.document["data"]["min_group"]
    return any((known.data["g"] == name.removeprefix("g=")).sum() >= least for name in found.figure["groups"])


def left_out(found: Any, known: Audited) -> bool:
    """A group is left out where too few of its records truly have, or truly lack, some outcome."""
    least, held = known.document["data"]["min_group"], [known.data[f"t{k}"] for k in range(known.case.tasks)]
    sizes = [(known.data["g"] == name.removeprefix("g="), held) for name in found.figure["groups"]]
    return any(min((t[here] == value).sum() for t in truths for value in (0, 1)) >= least for here, truths in sizes)


def excluded(found: Any, known: Audited) -> bool:
    """Something is undefined only where a group lacks records with or without an outcome, true or predicted."""
    held = [known.data[c] for c in known.data if c[0] in "ts"]
    groups = [known.data["g"] == g for g in np.unique(known.data["g"])]
    return len(groups) == len(known.case.groups) and all(0 < c[g].sum() < g.sum() for c in held for g in groups)


def one_value(found: Any, known: Audited) -> bool:
    return all(len(np.unique(known.data[c])) > 1 for c in known.data if c[0] in "gt")


def perfect(found: Any, known: Audited) -> bool:
    return any((known.data[f"t{k}"] != known.data[f"s{k}"]).any() for k in range(known.case.tasks))


def opposite(found: Any, known: Audited) -> bool:
    side = known.sides[found.direction]
    return bool((side.hit >= side.false).all())


def unrelated(found: Any, known: Audited) -> bool:
    """False of predictions that follow the truth well in every group; between, it depends on the sample."""
    side = known.sides[found.direction]
    return bool((side.hit - side.false).min() > 0.5)


def constant(found: Any, known: Audited) -> bool:
    return all(len(np.unique(known.data[c])) > 1 for c in known.data if c[0] == "s" or c == "guess")


def rare_sets(found: Any, known: Audited) -> bool:
    truth = np.stack([known.data[f"t{k}"] for k in range(known.case.tasks)], axis=1).astype(bool)
    sets = np.unique(truth[truth.any(axis=1)], axis=0)
    support = [int((truth | ~held).all(axis=1).sum()) for held in sets]
    return known.case.tasks == 1 or bool(np.median(support) >= known.document["data"]["min_group"])


def unless(condition: Callable[[Audited], bool]) -> Callable[[Any, Audited], bool]:
    return lambda found, known: not condition(known)


# When a sentence of each code is false. Neutral names of columns and whole data call for none of the last ones.
FALSE: dict[str, Callable[[Any, Audited], bool]] = {
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
    "left-out": left_out,
    "excluded": excluded,
    "one-value": one_value,
    "perfect": perfect,
    "constant": constant,
    "opposite": opposite,
    "unrelated": unrelated,
    "contradicting": unless(lambda known: known.case.trained),
    "rare-sets": rare_sets,
    "no-sign": unless(lambda known: known.case.trained),
    "sensitive-prediction": unless(lambda known: known.case.both),
    "incomparable": unless(lambda known: known.case.both),
    **{
        code: unless(lambda known: False)
        for code in (
            "base-choice",
            "bins",
            "numbers",
            "never-predicted",
            "perceived",
            "not-ground-truth",
            "missing",
            "no-truth",
            "swapped",
            "positive",
            "copied",
            "repeated",
            "unknown-overlap",
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
        out = [code for code, many in self.false.items() if beyond(many, self.audits, MOST_FALSE)]
        return out + (["any verdict"] if beyond(self.verdicts, self.audits, MOST_FALSE_VERDICTS) else [])


def add(tally: Tally, audited: Audited) -> None:
    """Count the false sentences of one audit."""
    found = audited.audit.findings
    tally.add(found, {one.code for one in found if FALSE[one.code](one, audited)})


def study(case: Case, samples: int, seed: int = 0) -> Tally:
    """Audit samples of a case and count the false sentences."""
    tally, leaks = Tally(), leakage_of(case)
    for stream in np.random.SeedSequence(seed).spawn(samples):
        add(tally, Audited.of(case, np.random.default_rng(stream), leaks))
    return tally
