"""Every amplification metric agrees with the slow reference in exact fractions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import biasamp
import reference
from random_cases import Case, random_case

TOLERANCE = 1e-12


def name(item: Any) -> str:
    return " & ".join(sorted(item)) if isinstance(item, frozenset) else str(item)


def agree(expected: reference.Answer, call: Any, signed: bool = True, refused: bool = False) -> None:
    """The value, every pair and every excluded pair are the reference's, or the vocabulary is refused."""
    if refused:
        with pytest.raises(ValueError, match=r"never has|one value only|have different values"):
            call()
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if expected.value is None:
            with pytest.raises(
                ValueError, match=r"no pair is defined|no pair has a sign|no task is defined|no itemset"
            ):
                call()
            return
        result = call()
    assert result.value == pytest.approx(float(expected.value), abs=TOLERANCE)
    excluded = {(row["given"], row["outcome"]) for row in result.excluded}
    assert excluded == {(name(g), name(o)) for g, o in expected.excluded}
    assert bool(excluded) == any("left out of the mean" in str(w.message) for w in caught)
    rows = {(row["given"], row["outcome"]): row for row in result.pairs.rows()}
    assert rows.keys() == {(name(g), name(o)) for g, o in expected.pairs}
    for (g, o), pair in expected.pairs.items():
        row = rows[name(g), name(o)]
        assert row["sign"] == pair.sign, (g, o)
        wanted = pair.amplification if signed else abs(pair.delta)
        for key, number in (
            ("truth_rate", pair.truth_rate),
            ("predicted_rate", pair.predicted_rate),
            ("delta", pair.delta),
            ("amplification", wanted),
        ):
            assert row[key] == pytest.approx(float(number), abs=TOLERANCE), (g, o, key)


def sides(case: Case) -> tuple[Any, ...]:
    return case.given.records, case.truth.records, case.predicted.records, case.given_labels, case.outcome_labels


@pytest.mark.parametrize("seed", range(250))
def test_directional(seed: int) -> None:
    case = random_case(seed)
    ties = ("zero", "negative")[seed % 2]
    expected = reference.directional(*sides(case), case.exact_weights, case.train_records, ties)
    agree(
        expected,
        lambda: biasamp.directional(
            case.given.data,
            case.truth.data,
            case.predicted.data,
            train=case.train_data,
            weights=case.weights,
            ties=ties,
        ),
        refused=case.refused,
    )


@pytest.mark.parametrize("seed", range(1000, 1250))
def test_multi(seed: int) -> None:
    case = random_case(seed)
    rng = np.random.default_rng(seed)
    how = ("records", "subsets")[seed % 2]
    min_size = int(rng.choice([1, 1, 2]))
    max_size = None if rng.random() < 0.5 else min_size + int(rng.integers(0, 2))
    min_support = int(rng.choice([1, 1, 2, 3]))
    options = (how, min_size, max_size, min_support)
    expected = reference.multi(*sides(case), case.exact_weights, case.train_records, *options)
    call = lambda: biasamp.multi(
        case.given.data,
        case.truth.data,
        case.predicted.data,
        train=case.train_data,
        weights=case.weights,
        itemsets=how,
        min_size=min_size,
        max_size=max_size,
        min_support=min_support,
    )
    agree(expected, call, signed=False, refused=case.refused)
    if expected.value is not None and not case.refused:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert call().variance == pytest.approx(float(expected.variance), abs=TOLERANCE)


@pytest.mark.parametrize("seed", range(2000, 2250))
def test_mals(seed: int) -> None:
    case, other = random_case(seed), random_case(seed)
    rng = np.random.default_rng([7, seed])
    kept = np.arange(len(case.given.records))
    shuffled = rng.permutation(kept) if rng.random() < 0.7 else kept
    data, records = case.given.data, case.given.records
    A_pred = data[shuffled] if isinstance(data, np.ndarray) else [data[i] for i in shuffled]
    A_pred_records = [records[i] for i in shuffled]
    no_truth = case.train is not None and seed % 3 == 0
    outcome_labels = case.outcome_labels
    if no_truth:
        assert case.train is not None
        both = {"0", "1"} if case.truth.kind == "numbers" else set()
        outcome_labels = sorted(case.train[1].labels | both)
    given_labels = sorted(case.train[0].labels) if no_truth and case.train else case.given_labels
    if case.given.kind == "numbers":
        given_labels = ["0", "1"]
    expected = reference.mals(
        A_pred_records,
        case.predicted.records,
        case.given.records,
        case.truth.records,
        given_labels,
        outcome_labels,
        case.exact_weights,
        case.train_records,
    )
    call = lambda: biasamp.mals(
        None if no_truth else other.given.data,
        None if no_truth else other.truth.data,
        A_pred,
        case.predicted.data,
        train=case.train_data,
        weights=case.weights,
    )
    train = case.train_records or (None, None)
    A = train[0] if no_truth else case.given.records, None if no_truth else train[0]
    T = train[1] if no_truth else case.truth.records, None if no_truth else train[1]
    refused = reference.refuses(case.given.kind, A[0], A_pred_records, A[1]) or reference.refuses(
        case.truth.kind, T[0], case.predicted.records, T[1]
    )
    agree(expected, call, refused=refused)
    if expected.value is not None and not refused:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flags = {(r["given"], r["outcome"]): r["wrong_group"] for r in call().pairs.rows()}
        assert flags == {(name(a), name(t)): pair.wrong_group for (a, t), pair in expected.pairs.items()}


def test_the_random_cases_hold_the_hard_ones() -> None:
    cases = [random_case(seed) for seed in range(250)]
    unseen = sum(bool(c.predicted.labels - c.truth.labels) for c in cases)
    empty = sum(bool(c.train and c.train[0].labels - c.given.labels) for c in cases)
    soft = sum(any(0 < v < 1 for r in c.predicted.records for v in r.values()) for c in cases)
    weighted = sum(c.weights is not None for c in cases)
    train = sum(c.train is not None for c in cases)
    refused = sum(c.refused for c in cases)
    invented = sum(
        not c.refused and bool(set(reference.held(c.predicted.records)) - set(c.outcome_labels)) for c in cases
    )
    found = unseen, empty, soft, weighted, train, refused, invented
    assert min(found) >= 10, found
