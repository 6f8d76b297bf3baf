"""An independent slow reference: every amplification metric record by record, in exact fractions.

Written from the definitions alone and sharing nothing with the package. A record's labels are a mapping from
a label to the share of it that the record has: 1 for a hard label, a probability for a soft one; a label that
is not in the mapping is not had. Label spaces are given outright.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

Labels = Mapping[Any, Fraction]
Itemset = frozenset[Any]


@dataclass
class Pair:
    sign: int
    truth_rate: Fraction
    predicted_rate: Fraction
    delta: Fraction
    amplification: Fraction
    wrong_group: bool = False


@dataclass
class Answer:
    value: Fraction | None
    pairs: dict[tuple[Any, Any], Pair]
    excluded: set[tuple[Any, Any]]
    variance: Fraction | None = None


def share(record: Labels, item: Any) -> Fraction:
    """How much of a label, or of a set of labels (the product), a record has."""
    if isinstance(item, frozenset):
        product = Fraction(1)
        for label in item:
            product *= Fraction(record.get(label, 0))
        return product
    return Fraction(record.get(item, 0))


def total(weights: Sequence[Fraction], *columns: Sequence[Fraction]) -> Fraction:
    """The weighted count of records that have everything in ``columns``."""
    out = Fraction(0)
    for i, weight in enumerate(weights):
        product = Fraction(weight)
        for column in columns:
            product *= column[i]
        out += product
    return out


def sign_of(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def held(records: Sequence[Labels]) -> dict[Any, Fraction]:
    """How much of each label records have."""
    out: dict[Any, Fraction] = {}
    for record in records:
        for label, amount in record.items():
            out[label] = out.get(label, Fraction(0)) + amount
    return {label: amount for label, amount in out.items() if amount}


def refuses(
    kind: str,
    truth: Sequence[Labels],
    predicted: Sequence[Labels] | None = None,
    train: Sequence[Labels] | None = None,
) -> bool:
    """Whether predictions or train labels are in another vocabulary than the truth; ``kind`` is that of the truth.

    No two labels are spellings of one value here.
    """
    if kind in ("set", "numbers"):
        return False
    here, one_each = held(truth), kind == "variable"
    there = {} if train is None else held(train)
    if train is not None and set(here) != set(there):
        lacking = {label: amount for label, amount in here.items() if label not in there}
        added = set(there) - set(here)
        if one_each and lacking and added and max(len(here), len(there)) == 2:
            return True
        if 2 * sum(lacking.values()) > sum(here.values()) or (lacking and len(lacking) == len(here)):
            return True
    if predicted is None:
        return False
    known = {*here, *there}
    if one_each and len(known) == 1:
        return True
    said = held(predicted)
    strange = sum((amount for label, amount in said.items() if label not in known), Fraction(0))
    return bool(strange) and ((one_each and len(known) == 2) or 2 * strange > sum(said.values()))


def directional(
    given: Sequence[Labels],
    truth: Sequence[Labels],
    predicted: Sequence[Labels],
    given_labels: Sequence[Any],
    outcome_labels: Sequence[Any],
    weights: Sequence[Fraction] | None = None,
    train: tuple[Sequence[Labels], Sequence[Labels]] | None = None,
    ties: str = "zero",
    signed: bool = True,
) -> Answer:
    weights = [Fraction(1)] * len(given) if weights is None else weights
    answer = Answer(None, {}, set())
    source = (given, truth, weights) if train is None else (*train, [Fraction(1)] * len(train[0]))
    for g in given_labels:
        has_g = [share(record, g) for record in given]
        size = total(weights, has_g)
        for o in outcome_labels:
            if size == 0:
                answer.excluded.add((g, o))
                continue
            n = total(source[2])
            left = [share(record, g) for record in source[0]]
            right = [share(record, o) for record in source[1]]
            if signed and train is not None and not (total(source[2], left) and total(source[2], right)):
                answer.excluded.add((g, o))
                continue
            dependence = total(source[2], left, right) / n - total(source[2], left) / n * total(source[2], right) / n
            y = sign_of(dependence)
            before = total(weights, has_g, [share(record, o) for record in truth]) / size
            after = total(weights, has_g, [share(record, o) for record in predicted]) / size
            factor = -1 if y == 0 and ties == "negative" else y
            answer.pairs[g, o] = Pair(y, before, after, after - before, factor * (after - before))
    if answer.pairs:
        answer.value = sum((p.amplification for p in answer.pairs.values()), Fraction(0)) / len(answer.pairs)
    return answer


def mals(
    A_pred: Sequence[Labels],
    T_pred: Sequence[Labels],
    A: Sequence[Labels],
    T: Sequence[Labels],
    groups: Sequence[Any],
    tasks: Sequence[Any],
    weights: Sequence[Fraction] | None = None,
    train: tuple[Sequence[Labels], Sequence[Labels]] | None = None,
) -> Answer:
    weights = [Fraction(1)] * len(A_pred) if weights is None else weights
    source = (A, T, weights) if train is None else (*train, [Fraction(1)] * len(train[0]))
    answer = Answer(None, {}, set())
    n = total(source[2])
    defined = set()
    there = groups if train is None else [a for a in groups if total(source[2], [share(r, a) for r in source[0]])]
    for t in tasks:
        has_t = [share(record, t) for record in source[1]]
        has_t_hat = [share(record, t) for record in T_pred]
        for a in groups:
            if a not in there:
                answer.excluded.add((a, t))
                continue
            if total(source[2], has_t) == 0 or total(weights, has_t_hat) == 0:
                answer.excluded.add((a, t))
                continue
            defined.add(t)
            has_a = [share(record, a) for record in source[0]]
            before = total(source[2], has_a, has_t) / total(source[2], has_t)
            has_a_hat = [share(record, a) for record in A_pred]
            after = total(weights, has_a_hat, has_t_hat) / total(weights, has_t_hat)
            fair, marginal = Fraction(1, len(there)), total(source[2], has_a) / n
            y = int(before > fair)
            wrong = min(fair, marginal) < before < max(fair, marginal)
            answer.pairs[a, t] = Pair(y, before, after, after - before, y * (after - before), wrong)
    if defined:
        answer.value = sum((p.amplification for p in answer.pairs.values()), Fraction(0)) / len(defined)
    return answer


def label_set(record: Labels) -> Itemset:
    return frozenset(label for label, amount in record.items() if amount == 1)


def itemsets(
    source: Sequence[Labels],
    evaluated: Sequence[Labels],
    labels: Sequence[Any],
    how: str,
    min_size: int,
    max_size: int | None,
    min_support: int,
) -> list[Any]:
    """The itemsets of one side; its plain labels where no record has more than one."""
    if all(len(label_set(record)) <= 1 for record in [*source, *evaluated]):
        return list(labels)
    carried = [label_set(record) for record in source]
    if how == "records":
        support = {items: carried.count(items) for items in set(carried) if items}
    else:
        support = {}
        for items in carried:
            for size in range(1, len(items) + 1):
                for chosen in combinations(sorted(items, key=str), size):
                    support[frozenset(chosen)] = support.get(frozenset(chosen), 0) + 1
    held = [label_set(record) for record in evaluated]
    return [
        items
        for items, count in support.items()
        if len(items) >= min_size
        and (max_size is None or len(items) <= max_size)
        and count >= min_support
        and sum(items <= others for others in held) >= min_support
    ]


def multi(
    given: Sequence[Labels],
    truth: Sequence[Labels],
    predicted: Sequence[Labels],
    given_labels: Sequence[Any],
    outcome_labels: Sequence[Any],
    weights: Sequence[Fraction] | None = None,
    train: tuple[Sequence[Labels], Sequence[Labels]] | None = None,
    how: str = "records",
    min_size: int = 1,
    max_size: int | None = None,
    min_support: int = 1,
) -> Answer:
    source = (given, truth) if train is None else train
    choice = (how, min_size, max_size, min_support)
    left = itemsets(source[0], given, given_labels, *choice)
    right = itemsets(source[1], truth, outcome_labels, *choice)
    answer = directional(given, truth, predicted, left, right, weights, train, signed=False)
    if not answer.pairs:
        return answer
    deltas = [pair.delta for pair in answer.pairs.values()]
    answer.value = sum(map(abs, deltas), Fraction(0)) / len(deltas)
    mean = sum(deltas, Fraction(0)) / len(deltas)
    answer.variance = sum(((delta - mean) ** 2 for delta in deltas), Fraction(0)) / len(deltas)
    return answer
