"""What each record moves in a directional value, and what is asked of it: ties, bases, halves and clear signs."""

from __future__ import annotations

import warnings
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import biasamp
from biasamp import binary, directional
from biasamp.amplification.bounds import ERRORS_MORE

N = 300


def records(seed: int = 1, lean: float = 0.3, n: int = N) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    truth = (rng.random((n, 2)) < 0.4 + lean * np.stack([group == "a", group == "b"], axis=1)).astype(int)
    said = np.where(rng.random((n, 2)) < 0.15, (group == "a")[:, None].astype(int), truth)
    return group, truth, said


def moved(group: Any, change: Any, signs: dict[tuple[str, str], float], pairs: int) -> tuple[float, float]:
    """The mean of sign times change over pairs, and the sum of squares of what records move in it."""
    value, influence = 0.0, np.zeros(len(group))
    for (g, o), sign in signs.items():
        mine, held = group == g, change[:, int(o)]
        mean = held[mine].mean()
        value += sign * mean / pairs
        influence[mine] += sign * (held[mine] - mean) / mine.sum() / pairs
    return value, float((influence**2).sum())


def signs_of(result: Any) -> dict[tuple[str, str], float]:
    return {(row["given"], row["outcome"]): row["sign"] for row in result.pairs.rows()}


@pytest.mark.parametrize("ties", ["zero", "negative"])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_interval_is_of_what_records_move(ties: str, level: float) -> None:
    group, truth, said = records()
    # One pair without any association.
    result = directional(
        group, truth, said, train=(["a", "b", "c"] * 40, np.tile([[1, 1], [0, 1], [0, 1]], (40, 1))), ties=ties
    )
    signs = {pair: (sign or (-1 if ties == "negative" else 0)) for pair, sign in signs_of(result).items()}
    assert {sign for pair, sign in signs_of(result).items() if pair[1] == "1"} == {0}
    value, square = moved(group, said - truth, signs, 6)
    assert result.value == pytest.approx(value)
    held = result._estimate
    factor = np.array([[signs[g, o] for o in "01"] for g in "abc"], dtype=np.int8)
    assert held.factor.tolist() == factor.tolist()  # type: ignore[attr-defined]
    unseen = held.unseen_variance(factor)  # type: ignore[attr-defined]
    found = result.quiet_interval(level, method="closed_form")
    assert found.standard_error == pytest.approx(sqrt(square + unseen), rel=0.03)
    reach = norm.ppf(0.5 + level / 2) * sqrt(square + unseen)
    assert (found.low, found.high) == pytest.approx((value - reach, value + reach), abs=0.0015)
    bounds = result.bounds(level)
    assert bounds is not None
    error = sqrt(square + ERRORS_MORE * unseen)
    away = 1.70 / norm.ppf(0.95) * norm.ppf(level) * error
    if held.unknown:
        assert bounds.high > value + away / 2
    else:
        assert (bounds.low, bounds.high) == pytest.approx((value - away, value + away), abs=0.0015)
    assert held.added_variance(factor) == unseen  # type: ignore[attr-defined]
    assert held.added_variance(factor, more=3.0) == pytest.approx(3 * unseen)  # type: ignore[attr-defined]


def test_the_value_of_clear_signs() -> None:
    """Signs with a p-value of 5% or less; the interval is of their pairs alone."""
    group, truth, said = records(2, 0.16)
    result = directional(group, truth, said)
    rows = list(result.pairs.rows())
    clear = [row for row in rows if row["sign_p"] <= 0.05]
    assert 0 < len(clear) < len(rows)
    assert [row["clear"] for row in rows] == [row["sign_p"] <= 0.05 for row in rows]
    assert result.clear_value == pytest.approx(np.mean([row["amplification"] for row in clear]))
    signs = {(row["given"], row["outcome"]): row["sign"] for row in clear}
    value, square = moved(group, said - truth, signs, len(clear))
    held = result._estimate
    mask = np.array([[(g, o) in signs for o in "01"] for g in "abc"])
    unseen = held.added_variance(held.factor, mask)  # type: ignore[attr-defined]
    made = result.quiet_interval(method="closed_form", of="clear_value")
    assert made.standard_error == pytest.approx(sqrt(square + unseen), rel=0.03)
    assert result.clear_interval is not None
    assert result.clear_interval.low < value < result.clear_interval.high


def test_no_clear_sign_has_no_value() -> None:
    rng = np.random.default_rng(0)
    group, truth = ["a", "b"] * 50, np.repeat([1, 0], 50)
    said = np.where(rng.random(100) < 0.2, 1 - truth, truth)
    result = directional(group, truth, said)
    assert (result.clear_value, result.clear_interval) == (None, None)


def test_halves_lend_each_other_their_signs() -> None:
    """The mean of both: the change of one half by the signs of the other."""
    group, truth, said = records(3, 0.1, 80)
    result = directional(group, truth, said)
    bags = result._estimate.sample.bags  # type: ignore[attr-defined]
    assert bags.halves is not None
    total = 0.0
    for mine, other in (bags.halves, bags.halves[::-1]):
        one, two = mine.whole, other.whole
        lean = two.joint_truth * int(two.n.max()) - two.given * two.truth
        total += (np.sign(lean) * (one.joint_predicted - one.joint_truth) / one.given).mean()
    assert result.crossfit is not None
    weights = np.array([half.whole.given.sum() for half in bags.halves], dtype=float)
    assert result.crossfit == pytest.approx(total / 2, abs=0.15 * abs(weights[0] - weights[1]) / weights.sum() + 0.05)
    crossed = directional(group, truth, said, signs="crossfit")
    assert crossed.value == result.crossfit
    assert crossed.interval_maker("value") is not None
    for lent in ({"train": (group[::-1], truth[::-1])}, {"direction": [[1, 0], [0, 1], [-1, 1]]}):
        known = directional(group, truth, said, **lent)
        assert known.crossfit is None
        assert known.interval_maker("crossfit") is None
        with pytest.raises(ValueError, match="signs='crossfit' is for signs from the evaluated labels"):
            directional(group, truth, said, signs="crossfit", **lent)


def test_too_few_records_for_halves() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            directional(["a", "b"][:n], binary([1, 0][:n]), binary([0, 0][:n]))._estimate.lends_signs  # type: ignore[attr-defined]
            for n in (1, 2)
        ]
    assert found[0] is False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="signs='crossfit' needs records in both halves"):
            directional(["a"], binary([1]), binary([0]), signs="crossfit")


def test_what_is_refused() -> None:
    group, truth, said = records()
    with pytest.raises(ValueError, match="truth is None: give the true labels, or a base"):
        directional(group, None, said)
    for name, wrong in (("signs", "both"), ("ties", "positive"), ("unseen", "ignored")):
        with pytest.raises((TypeError, ValueError), match=name):
            directional(group, truth, said, **{name: wrong})


def test_a_base_takes_the_place_of_truth() -> None:
    """Without truth, whatever the shape of the predictions."""
    group, truth, said = records(4)
    base = (group, truth)
    for predicted, outcome in (
        (said, truth),
        (np.array(["x", "y"])[said[:, 0]], np.array(["x", "y"])[truth[:, 0]]),
        (np.clip(0.8 * said + 0.1, 0, 1), truth),
    ):
        made = directional(group, None, predicted, base=(group, outcome))
        same = directional(group, outcome, predicted, base=(group, outcome))
        assert made.value == pytest.approx(same.value)
        assert made.pairs["truth_rate"].tolist() == pytest.approx(same.pairs["truth_rate"].tolist())
    exact = directional(
        group,
        truth,
        said,
        base={
            "conditional": [[truth[group == g, k].mean() for k in range(2)] for g in "abc"],
            "given": [np.mean(group == g) for g in "abc"],
            "outcome": truth.mean(axis=0).tolist(),
        },
    )
    plain = directional(group, truth, said, base=base)
    assert exact.value == pytest.approx(plain.value)
    for one, other in zip(exact.pairs.rows(), plain.pairs.rows(), strict=True):
        n, rate = (group == one["given"]).sum(), one["predicted_rate"]
        turned = (one["low"], one["high"]) if one["sign"] > 0 else (-one["high"], -one["low"])
        ends = [end + one["truth_rate"] for end in turned]
        z = norm.ppf(0.975)
        assert ends == pytest.approx(
            [
                (rate + z * z / 2 / n + side * z * sqrt(rate * (1 - rate) / n + z * z / 4 / n / n)) / (1 + z * z / n)
                for side in (-1, 1)
            ],
            abs=0.002,
        )
        assert other["high"] - other["low"] > one["high"] - one["low"]
        assert other["p"] > one["p"]
    assert directional(group, truth, said, base=base).base_source == "other labels"


def test_groups_that_nobody_has() -> None:
    """Their pairs are undefined: no part of the mean, and listed."""
    group, truth, said = records(6)
    declared = biasamp.categorical(group, categories=["a", "b", "c", "d"])
    with pytest.warns(UserWarning, match="left out"):
        made = directional(declared, truth, said)
    plain = directional(group, truth, said)
    assert made.value == plain.value
    assert {(row["given"], row["outcome"]) for row in made.excluded} == {("d", "0"), ("d", "1")}
    assert (made.n, plain.n) == (N, N)
    assert made.crossfit == pytest.approx(plain.crossfit)
    assert made.unknown == plain.unknown
