"""Cautions where predictions, or train labels, go against the truth: columns that were swapped, turned round or moved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from biasamp.amplification.group_rates import Floats
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.resampling.unseen_errors import exclusive_sets

from .findings import Context, Finding, Rule, caution, place
from .subject import Counted

# Predictions are called opposite to the truth at this correlation, if it is so many standard errors below 0.
_OPPOSITE, _SURE = -0.1, 4.5
# They are called unrelated where they are not above chance by so many standard errors, as one of a hundred columns is that
# has nothing to do with it; fewer records tell nothing.
_BETTER, _LEAST = 2.33, 100


def skill(bags: BagCounts, records: float) -> tuple[float, float] | None:
    """The correlation of predictions with the truth, pooled over labels, and how many standard errors that is from 0.

    ``records`` is how many there are that are independent of each other. None where truth or predictions do not vary.
    Where predictions have nothing to do with the truth, the sum over labels of their covariances has the variance
    ``sum_jk Cov(t_j, t_k) Cov(p_j, p_k) / n``; values of one variable exclude each other, others are taken as independent.
    """
    counts = bags.whole
    n = np.broadcast_to(floats(counts.n), floats(counts.joint_truth).shape).max(axis=0)
    truth, predicted, both = (
        np.nan_to_num(held / n)
        for held in (*(floats(x).max(axis=0) for x in (counts.truth, counts.predicted)), floats(bags.agreeing))
    )
    together = both - truth * predicted
    spread = truth * (1.0 - truth) * predicted * (1.0 - predicted)
    if not spread.sum() > 0 or records < 2:
        return None
    correlation = float(together.sum() / np.sqrt(spread).sum())
    if bags.soft:
        # Probabilities vary less than decisions do: their own products with the truth say how much.
        return correlation, _by_bags(bags, truth, predicted)
    variance = float(spread.sum())
    for places in exclusive_sets(counts):
        one, other = (np.outer(held[places], held[places]) for held in (truth, predicted))
        np.fill_diagonal(one, 0.0)
        variance += float((one * other).sum())
    return correlation, float(together.sum() / np.sqrt(variance / (records - 1.0)))


def _by_bags(bags: BagCounts, truth: Floats, predicted: Floats) -> float:
    """How many standard errors the covariance with the truth, over all labels, is from 0: by how much bags of records differ.

    Groups that overlap count a record several times, in the covariance and in its error alike.
    """
    held = bags.counts
    both, true, said = (floats(part).sum(axis=1) for part in (held.joint_both, held.joint_truth, held.joint_predicted))
    size = np.broadcast_to(floats(held.given), floats(held.joint_truth).shape).sum(axis=1)
    each = (both - truth * said - predicted * true + size * truth * predicted).sum(axis=1)
    error = float(np.sqrt((each**2).sum()))
    return float(each.sum()) / error if error > 0 else 0.0


def never_wrong(bags: BagCounts) -> bool:
    """Whether every record is predicted to have the labels that it has, and no other."""
    truth, predicted = (floats(held).max(axis=0) for held in (bags.whole.truth, bags.whole.predicted))
    return bool(truth.any() and (truth == predicted).all() and (truth == floats(bags.agreeing)).all())


def against_the_truth(context: Context) -> Iterator[Finding]:
    """Predictions that are opposite to the truth, or have nothing to do with it."""
    sides: list[tuple[str, Counted, str | None]] = [("A->T", context.subjects[0], None)]
    sides += [("T->A", subject, subject.attribute) for subject in context.attributes]
    for direction, subject, attribute in sides:
        bags = subject.pairs(direction)
        if bags is None:
            continue
        records = float(len(bags.numbers) if subject.clustered else subject.records)
        found = skill(bags, records)
        if found is None:
            continue
        correlation, z = found
        # Of probabilities it would be that of labels drawn from them.
        shown = "" if bags.soft else f" (correlation {correlation:+.2f})"
        what = "Task predictions" if attribute is None else f"Predictions of {attribute}"
        where = {"direction": direction} if attribute is None else {"direction": direction, "attribute": attribute}
        if correlation < _OPPOSITE and z < -_SURE:
            yield caution(
                "opposite",
                f"{what} are opposite to the truth{shown}: were values swapped, turned round, or "
                "taken from the probabilities of the other class?",
                where,
                **where,
            )
        elif z < _BETTER and records >= _LEAST:
            yield caution(
                "unrelated",
                f"{what} agree with the truth no better than chance would make them{shown}: are their rows those of "
                "the truth?",
                where,
                **where,
            )


def contradicting_train(context: Context) -> Iterator[Finding]:
    """Train labels that lean the other way than the evaluated records."""
    for entry in context.entries("directional"):
        opposite, both = entry.get("contradicted", (0, 0))
        if opposite:
            yield caution(
                "contradicting",
                f"{place(entry)}: of {both:,} pairs whose direction is clear both in these records and in those that lend the "
                f"signs, {opposite:,} lean opposite ways. Amplification is measured along the lent signs; are values coded "
                "alike in both?",
                {"attribute": entry["attribute"], "direction": entry["direction"], "metric": "directional"},
                direction=entry["direction"],
                count=opposite,
            )


SKILL: tuple[Rule, ...] = (against_the_truth, contradicting_train)
