"""Laws that every amplification metric obeys, whatever the records."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasamp
import reference
from biasamp import directional, mals, multi
from random_cases import Case, random_case

cases = st.integers(10_000, 20_000).map(random_case).filter(lambda case: not case.refused)


def quietly(call: Any) -> Any:
    """The result, or None where the records define no pair at all; warnings of excluded pairs are not the point."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return call()
        except ValueError as error:
            if any(
                words in str(error) for words in ("is defined", "no itemset", "no pair has a sign", "one value only")
            ):
                return None
            raise


def rows(result: Any) -> dict[tuple[str, str], tuple[Any, ...]]:
    names = ("sign", "sign_p", "truth_rate", "predicted_rate", "delta", "amplification", "low", "high", "support")
    return {(row["given"], row["outcome"]): tuple(row[name] for name in names) for row in result.pairs.rows()}


def same(one: Any, other: Any, tolerance: float = 1e-12, bounds: bool = True) -> None:
    """Both undefined, or the same value and the same pairs in any order."""
    assert (one is None) == (other is None)
    if one is None:
        return
    assert one.value == pytest.approx(other.value, abs=tolerance)
    mine, theirs = rows(one), rows(other)
    if not bounds:
        mine, theirs = ({key: row[:6] + row[8:] for key, row in rows.items()} for rows in (mine, theirs))
    assert mine.keys() == theirs.keys()
    for key, numbers in mine.items():
        for a, b in zip(numbers, theirs[key], strict=True):
            assert (a is None) == (b is None)
            assert a is None or a == pytest.approx(b, abs=tolerance)
    assert {(r["given"], r["outcome"]) for r in one.excluded} == {(r["given"], r["outcome"]) for r in other.excluded}


def take(data: Any, order: Any) -> Any:
    if isinstance(data, np.ndarray):
        return data[order]
    if hasattr(data, "kind"):  # declared with categorical(...)
        return biasamp.categorical(take(data.data, order), categories=data.categories)
    return [data[i] for i in order]


def measure(metric: Any, case: Case, order: Any = None, weights: Any = None, **options: Any) -> Any:
    order = np.arange(len(case.given.records)) if order is None else order
    weights = case.weights if weights is None else weights
    return quietly(
        lambda: metric(
            take(case.given.data, order),
            take(case.truth.data, order),
            take(case.predicted.data, order),
            weights=None if weights is None else [weights[i] for i in order],
            train=case.train_data,
            **options,
        )
    )


def by_group(A: Any, T: Any, T_pred: Any, **options: Any) -> Any:
    """MALS with rightly predicted groups, in the order of arguments of the others."""
    return mals(A, T, A, T_pred, **options)


METRICS: list[Any] = [directional, multi, by_group]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("metric", METRICS)
@given(cases, st.randoms(use_true_random=False))
def test_permuting_records_changes_nothing(metric: Any, case: Case, random: Any) -> None:
    order = list(range(len(case.given.records)))
    random.shuffle(order)
    same(measure(metric, case), measure(metric, case, order))


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("metric", METRICS)
@given(cases)
def test_weights_of_2_are_records_twice(metric: Any, case: Case) -> None:
    case.weights = None
    n = len(case.given.records)
    order = np.repeat(np.arange(n), 2)
    weighted, doubled = measure(metric, case, weights=[2] * n), measure(metric, case, order)
    assert (weighted is None) == (doubled is None)
    if weighted is not None:
        assert weighted.value == pytest.approx(doubled.value, abs=1e-12)
        assert weighted.n == doubled.n
        assert weighted.pairs["support"].tolist() == doubled.pairs["support"].tolist()
        assert weighted.pairs["sign"].tolist() == doubled.pairs["sign"].tolist()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("metric", [directional, by_group])
@given(st.integers(0, 10_000))
def test_a_weight_of_0_is_no_record(metric: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, T, P = (rng.integers(0, 2, (30, k)) for k in (2, 3, 3))
    weights = rng.integers(0, 2, 30) * rng.choice([1, 2.5], 30)
    weights[0] = 1
    kept = weights > 0
    whole = quietly(lambda: metric(A, T, P, weights=weights))
    same(whole, quietly(lambda: metric(A[kept], T[kept], P[kept], weights=weights[kept])))


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_permuting_and_renaming_columns_changes_nothing_but_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 40, 4
    A, T, P = rng.integers(0, 2, (n, 3)), rng.integers(0, 2, (n, k)), rng.random((n, k)).round(1)
    groups, tasks = rng.permutation(3), rng.permutation(k)
    for metric in (directional, multi, by_group):
        one = quietly(lambda m=metric: m(A, T, P))
        other = quietly(lambda m=metric: m(A[:, groups], T[:, tasks], P[:, tasks]))
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert sorted(one.pairs["delta"].round(9)) == pytest.approx(sorted(other.pairs["delta"].round(9)))


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_renaming_categories_changes_nothing_but_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, T, P = rng.integers(0, 3, 40), rng.integers(0, 4, 40), rng.integers(0, 4, 40)
    groups, tasks = np.array(["z", "10", "9"]), np.array(["d", "a", "été", "_"])
    for metric in (directional, multi, by_group):
        one = quietly(lambda m=metric: m(A, T, P))
        other = quietly(lambda m=metric: m(groups[A], tasks[T], tasks[P]))
        assert one.value == pytest.approx(other.value, abs=1e-12)
        mine = {(groups[int(g)], tasks[int(o)]): numbers for (g, o), numbers in rows(one).items()}
        assert mine == rows(other)


@given(cases)
def test_perfect_predictions_give_0(case: Case) -> None:
    perfect = Case(case.given, case.truth, deepcopy(case.truth), case.train, case.weights)
    for metric in (directional, multi):
        result = measure(metric, perfect)
        if result is not None:
            assert result.value == 0
            assert (result.pairs["delta"] == 0).all()
    perfect.train = None
    result = measure(by_group, perfect)
    if result is not None:
        assert result.value == 0
    every = all(
        set(reference.held(side.records)) == (side.labels | ({"0", "1"} if side.kind == "numbers" else set()))
        for side in (case.given, case.truth)
    )
    # What train labels lack is left out, what the evaluated ones lack is not.
    if result is not None and case.weights is None and every:
        data = case.given.data, case.truth.data
        # Train labels are held fixed where the same labels, evaluated, vary with the predictions.
        same(result, quietly(lambda: mals(None, None, *data, train=deepcopy(data))), bounds=False)


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_soft_predictions_at_0_and_1_are_hard(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, T, P = rng.integers(0, 3, 30), rng.integers(0, 2, (30, 3)), rng.integers(0, 2, (30, 3))
    for metric in (directional, multi, by_group):
        same(quietly(lambda m=metric: m(A, T, P)), quietly(lambda m=metric: m(A, T, P.astype(float))))
    t, p = rng.integers(0, 2, 30), rng.integers(0, 2, 30)
    t[:2] = p[:2] = 0, 1
    both = np.column_stack([1 - p, p]).astype(float)
    hard = directional(A, t, p)
    same(hard, directional(A, t, p.astype(float)))
    same(hard, directional(A, t, biasamp.categorical(both, categories=[0, 1])))
    same(hard, directional(A, t, biasamp.categorical(both[:, ::-1], categories=[1, 0])))


@given(st.integers(0, 10_000))
def test_a_half_is_between_no_and_yes(seed: int) -> None:
    """Soft predictions count as fractions: the metric with given signs is linear in them."""
    rng = np.random.default_rng(seed)
    A, T = rng.integers(0, 2, 30), rng.integers(0, 2, (30, 3))
    one, other = rng.integers(0, 2, (30, 3)), rng.integers(0, 2, (30, 3))
    middle = directional(A, T, (one + other) / 2).value
    assert middle == pytest.approx((directional(A, T, one).value + directional(A, T, other).value) / 2, abs=1e-12)


@given(st.integers(0, 10_000))
def test_mirrored_predictions_of_one_label(seed: int) -> None:
    """For a 0/1 variable the two columns carry the same information: label and variable agree in size."""
    rng = np.random.default_rng(seed)
    A, t, p = rng.integers(0, 3, 60), rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    t[:2] = 0, 1
    label = directional(A, biasamp.binary(t), biasamp.binary(p))
    assert directional(A, t, p).value == pytest.approx(label.value, abs=1e-12)


@given(cases)
def test_bounds_and_relations(case: Case) -> None:
    """No value leaves its range; the mean of |delta| bounds the mean of y * delta on the same pairs."""
    result = measure(directional, case)
    if result is None:
        return
    deltas = result.pairs["delta"]
    assert abs(result.value) <= np.abs(deltas).mean() + 1e-12 <= 1 + 1e-12
    assert ((result.pairs["low"] <= result.pairs["high"]) | np.isnan(result.pairs["low"])).all()
    size = measure(multi, case)
    if size is not None:
        assert 0 <= size.value <= 1
        assert 0 <= size.variance <= 1
        assert 0 <= size.floor <= 1


def test_crossfit_is_reported_beside_plugin() -> None:
    rng = np.random.default_rng(0)
    A, T, P = rng.integers(0, 2, 300), rng.integers(0, 2, (300, 4)), rng.integers(0, 2, (300, 4))
    plugin, crossfit = directional(A, T, P), directional(A, T, P, signs="crossfit")
    assert plugin.crossfit == crossfit.value == crossfit.crossfit
    assert plugin.value != crossfit.value
    assert directional(A, T, P, train=(A.copy(), T.copy())).crossfit is None


def test_clear_value_is_over_the_pairs_whose_sign_is_told() -> None:
    rng = np.random.default_rng(0)
    A = rng.integers(0, 2, 400)
    T = (rng.random((400, 4)) < np.where(A[:, None] == 1, [0.5, 0.5, 0.8, 0.1], [0.5, 0.5, 0.2, 0.4])).astype(int)
    result = directional(A, T, 1 - T)
    clear = result.pairs["sign_p"] <= 0.05
    assert 0 < clear.sum() < len(clear)
    np.testing.assert_array_equal(result.pairs["clear"], clear)
    assert result.clear_value == pytest.approx(result.pairs["amplification"][clear].mean())
