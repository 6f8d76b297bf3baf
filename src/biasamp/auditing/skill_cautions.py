"""Cautions where predictions, or train labels, go against the truth: columns that were swapped, turned round or moved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification.group_rates import Floats
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.data import printable
from biasamp.resampling.unseen_errors import exclusive_sets

from .findings import Context, Finding, Rule, caution, place
from .subject import Counted

# Predictions are called opposite to the truth at this correlation, if it is so many standard errors below 0.
_OPPOSITE, _SURE = -0.1, 4.5
# They are called unrelated where they are not above chance by so many standard errors, as one of a hundred columns is that
# has nothing to do with it; fewer records tell nothing.
_BETTER, _LEAST = 2.33, 100
# Nor is a correlation below this a model's, however sure it is: where every row is joined to many, one of many pairs is right.
_HARDLY = 0.05
# One of several columns is held to less, and where so many records have the label, and have not, in truth and in prediction.
_BETTER_COLUMN, _LEAST_EITHER = 1.64, 30
# A value is predicted far worse than another where its correlation is for certain below this part of the other's.
_FAR_BELOW = 0.25
# Columns that a sentence names of many.
_SHOWN = 3


def skill(bags: BagCounts, records: float) -> tuple[float, float] | None:
    """The correlation of predictions with the truth, pooled over labels, and how many standard errors that is from 0.

    ``records`` is how many there are that are independent of each other. None where truth or predictions do not vary.
    """
    found = skills(bags, records, np.zeros(len(bags.whole.outcome_labels), dtype=np.int64))
    return None if np.isnan(found[0][0]) else (float(found[0][0]), float(found[1][0]))


def skills(bags: BagCounts, records: float, of: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """As :func:`skill`, pooled over the labels that have the same number in ``of``; nan where there is none.

    Where predictions have nothing to do with the truth, the sum over labels of their covariances has the variance
    ``sum_jk Cov(t_j, t_k) Cov(p_j, p_k) / n``; values of one variable exclude each other, others are taken as independent.
    """
    counts = bags.whole
    truth, predicted, both = _shares(bags)

    def pooled(held: Floats) -> Floats:
        return np.asarray(np.bincount(of, held), dtype=np.float64)

    together, spread = both - truth * predicted, truth * (1.0 - truth) * predicted * (1.0 - predicted)
    variance = spread.copy()
    for places in exclusive_sets(counts):
        one, other = (np.outer(held[places], held[places]) for held in (truth, predicted))
        np.fill_diagonal(one, 0.0)
        alike = of[places][:, None] == of[places][None, :]
        variance[places] += (one * other * alike).sum(axis=1)
    varies = (pooled(spread) > 0) & (records >= 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.where(varies, pooled(together) / pooled(np.sqrt(spread)), np.nan)
        z = pooled(together) / np.sqrt(pooled(variance) / (records - 1.0))
    if bags.soft:
        # Probabilities vary less than decisions do: their own products with the truth say how much.
        z = _by_bags(bags, truth, predicted, of)
    return correlation, np.where(varies, z, np.nan)


def _shares(bags: BagCounts) -> tuple[Floats, Floats, Floats]:
    """Of all records, those that have a label in truth, in prediction, and in both."""
    counts = bags.whole
    n = np.broadcast_to(floats(counts.n), floats(counts.joint_truth).shape).max(axis=0)
    truth, predicted = (floats(held).max(axis=0) for held in (counts.truth, counts.predicted))
    return np.nan_to_num(truth / n), np.nan_to_num(predicted / n), np.nan_to_num(floats(bags.agreeing) / n)


def _by_bags(bags: BagCounts, truth: Floats, predicted: Floats, of: NDArray[np.int64]) -> Floats:
    """How many standard errors the covariance with the truth is from 0: by how much bags of records differ.

    Groups that overlap count a record several times, in the covariance and in its error alike.
    """
    held = bags.counts
    both, true, said = (floats(part).sum(axis=1) for part in (held.joint_both, held.joint_truth, held.joint_predicted))
    size = np.broadcast_to(floats(held.given), floats(held.joint_truth).shape).sum(axis=1)
    label = both - truth * said - predicted * true + size * truth * predicted
    each = np.stack([label[:, of == which].sum(axis=1) for which in range(int(of.max()) + 1)], axis=1)
    error = np.sqrt((each**2).sum(axis=0))
    return np.divide(each.sum(axis=0), error, out=np.zeros(len(error)), where=error > 0)


def agreement_z(bags: BagCounts) -> float:
    """How many standard errors predictions agree with the truth above chance, over all labels; either may be scores."""
    truth, predicted, _ = _shares(bags)
    return float(_by_bags(bags, truth, predicted, np.zeros(len(truth), dtype=np.int64))[0])


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
        elif (z < _BETTER or (correlation < _HARDLY and not bags.soft)) and records >= _LEAST:
            how, asked = "no better than", ""
            if z >= _BETTER:
                how, asked = "hardly better than", ", or were tables joined by a key that many rows share"
            yield caution(
                "unrelated",
                f"{what} agree with the truth {how} chance would make them{shown}: are their rows those of the truth{asked}?",
                where,
                **where,
            )
        else:
            yield from _values_against(context, bags, records, where)
            if attribute is None:
                yield from _columns_against(bags, records)


def _values_against(context: Context, bags: BagCounts, records: float, where: dict[str, str]) -> Iterator[Finding]:
    """Of several values of one column, those that are predicted no better than by chance where others are predicted well.

    Codes in another order move at least two values, each as frequent as before and right no more often than by accident.
    """
    labels = bags.whole.outcome_labels
    if len(labels) < 3 or len({label.variable for label in labels}) > 1 or records < 2 * _LEAST:
        return
    correlation, z = skills(bags, records, np.arange(len(labels)))
    truth, predicted, _ = _shares(bags)
    told = np.minimum.reduce([truth, 1.0 - truth, predicted, 1.0 - predicted]) * records >= _LEAST_EITHER
    best = np.nanmax(correlation) if told.any() and not np.isnan(correlation).all() else 0.0
    wrong = told & (z < _BETTER_COLUMN) & (correlation + 2.0 / np.sqrt(records) < _FAR_BELOW * best)
    if wrong.sum() < 2:
        return
    opposite = bool((wrong & (correlation < _OPPOSITE) & (z < -_SURE)).sum() > 1)
    mine = [str(labels[place]) for place in np.flatnonzero(wrong)]
    shown = [context.name(label) for label in mine[:_SHOWN]]
    shown += [f"{len(mine) - _SHOWN} more"] if len(mine) > _SHOWN else []
    listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    how = "agree with the truth no better than chance would make them, though those of other values do"
    if opposite:
        how = "are opposite to the truth, though those of other values are not"
    yield caution(
        "opposite" if opposite else "unrelated",
        f"Predictions of {listed} {how}: are values coded alike in both columns?",
        where,
        values=mine,
        **where,
    )


def _columns_against(bags: BagCounts, records: float) -> Iterator[Finding]:
    """Of several columns, those that go against their own truth, though all together do not: columns in another order."""
    labels = bags.whole.outcome_labels
    names = list(dict.fromkeys(label.variable for label in labels))
    if len(names) < 2 or records < 2 * _LEAST:
        return
    of = np.array([names.index(label.variable) for label in labels])
    correlation, z = skills(bags, records, of)
    truth, predicted, _ = _shares(bags)
    rare = np.minimum.reduce([truth, 1.0 - truth, predicted, 1.0 - predicted]) * records
    told = np.bincount(of, rare >= _LEAST_EITHER, minlength=len(names)) > 0
    opposite = told & (correlation < _OPPOSITE) & (z < -_SURE)
    unrelated = told & ~opposite & (z < _BETTER_COLUMN)
    for code, found, asked in (
        (
            "opposite",
            opposite,
            "are opposite to their truth: were values turned round, or are the columns in another order?",
        ),
        (
            "unrelated",
            unrelated,
            "agree with their truth no better than chance would make them: are the columns in the order of the truth?",
        ),
    ):
        mine = [names[place] for place in np.flatnonzero(found)]
        if mine:
            shown = [printable(name, 40) for name in mine[:_SHOWN]]
            shown += [f"{len(mine) - _SHOWN} more"] if len(mine) > _SHOWN else []
            listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
            where = {"direction": "A->T"}
            yield caution(code, f"Predictions of {listed} {asked}", where, columns=mine, **where)


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
