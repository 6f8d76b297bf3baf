"""Every column of what thresholds do to groups, against loops over records, with weights, ties and empty groups."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import inf, nextafter, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import biasamp
from biasamp.amplification import threshold_curves as module
from biasamp.amplification.threshold_curves import AGNOSTIC, Curves
from biasamp.data import Label

GIVEN = tuple(Label("g", name) for name in ("a", "b", "nobody", "c"))


def case(seed: int, labels: int = 2, weights: str = "real", exclusive: bool = True, n: int = 60) -> Curves:
    """Four groups, of which one has no record; the scores of tenths have ties."""
    rng = np.random.default_rng(seed)
    if exclusive:
        group = rng.choice([0, 1, 3], n, p=[0.5, 0.3, 0.2])
        member = np.array([group == g for g in range(4)])
    else:
        member = rng.random((4, n)) < 0.4
        member[2] = False
    truth = rng.random((labels, n)) < 0.25 + 0.4 * member[0]
    scores = np.round(np.clip(0.3 * truth.T + 0.7 * rng.random((n, labels)), 0, 1), 1)
    signs = np.array([[1, -1, 0], [-1, 1, 1], [1, 1, 1], [-1, 0, -1]], dtype=np.int8)[:, :labels]
    made = {"none": None, "real": np.round(rng.random(n) + 0.2, 3), "whole": rng.integers(0, 4, n).astype(float)}
    outcome = tuple(Label(f"t{k}", None) for k in range(labels))
    return Curves(scores, member, truth, signs, made[weights], GIVEN, outcome, exclusive)


def weights_of(curves: Curves) -> Any:
    return np.ones(len(curves.scores)) if curves.weights is None else curves.weights


def wilson(rate: float, n: float, level: float) -> tuple[float, float]:
    z = norm.ppf(0.5 + level / 2)
    middle, reach = rate + z * z / 2 / n, z * sqrt(rate * (1 - rate) / n + z * z / 4 / n / n)
    return (middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)


@pytest.mark.parametrize("weights", ["none", "real", "whole"])
@pytest.mark.parametrize("asked", [None, (0.3, 0.55, 2.0)])
def test_rates(weights: str, asked: Any) -> None:
    curves, level = case(1, weights=weights), 0.9 if asked else 0.95
    made = curves.rates(None if asked is None else np.array(asked), **({"level": level} if asked else {}))
    w = weights_of(curves)
    rows = list(made.rows())
    expected = []
    for label in range(2):
        own = sorted(set(curves.scores[:, label].tolist()))
        for g in range(4):
            expected += [(at, label, g) for at in (asked or [*own, nextafter(own[-1], inf)])]
    assert len(rows) == len(expected)
    for row, (at, label, g) in zip(rows, expected, strict=True):
        assert (row["threshold"], row["outcome"], row["given"]) == (at, f"t{label}", str(GIVEN[g]))
        mine = curves.member[g]
        assert row["n"] == pytest.approx(w[mine].sum())
        for name, side in (("rate", mine), ("tpr", mine & curves.truth[label]), ("fpr", mine & ~curves.truth[label])):
            found = [row[name], row[f"{name}_low"], row[f"{name}_high"]]
            if not w[side].sum():
                assert found == [None] * 3
                continue
            rate = w[side & (curves.scores[:, label] >= at)].sum() / w[side].sum()
            effective = w[side].sum() ** 2 / (w[side] ** 2).sum()
            assert found == pytest.approx([rate, *wilson(rate, effective, level)], abs=1e-9)


@pytest.mark.parametrize("weights", ["none", "real", "whole"])
@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 6, 7, 40])
def test_steps_of_the_largest_groups(weights: str, most: int) -> None:
    """So many lines in all: the largest groups first, and of what is left as many outcomes as have room for each."""
    curves = case(2, labels=3, weights=weights)
    w, at = weights_of(curves), np.array([0.2, 0.5, 0.8])
    size = [w[mine].sum() for mine in curves.member]
    shown = sorted(g for g in sorted(range(4), key=lambda g: -size[g])[:most] if size[g])
    labels = min(3, max(1, most // len(shown)))
    rows = curves.group_steps(at, most)
    assert [(row["outcome"], row["given"]) for row in rows] == [
        (f"t{label}", str(GIVEN[g])) for label in range(labels) for g in shown
    ]
    for row, (label, g) in zip(rows, [(label, g) for label in range(labels) for g in shown], strict=True):
        one, mine = curves.truth[label], curves.member[g]
        sides = {"positive": mine & one, "negative": mine & ~one}
        for name, side in sides.items():
            assert row[name] == pytest.approx(w[side].sum())
        square = [w[side].sum() ** 2 / (w[side] ** 2).sum() for side in (*sides.values(), mine)]
        assert row["effective"] == pytest.approx(square)
        for name, side in zip(("true", "false"), sides.values(), strict=True):
            expected = [w[side & (curves.scores[:, label] >= threshold)].sum() for threshold in at]
            assert row[name] == pytest.approx(expected)
            assert all(isinstance(value, int) == float(value).is_integer() for value in row[name])


def test_steps_of_nobody() -> None:
    curves = case(2)
    nobody = replace(curves, member=np.zeros_like(curves.member))
    assert nobody.group_steps(np.array([0.5]), 4) == []
    one = replace(curves, truth=np.ones_like(curves.truth))
    row = one.group_steps(np.array([0.5]), 1)[0]
    assert (row["negative"], row["effective"][1], row["false"]) == (0.0, 0.0, [0])


def test_whole_numbers_are_written_without_a_point() -> None:
    assert module._whole(np.array([1.0, 2.0])) == [1, 2]
    made = module._whole(np.array([1.0, 2.5]))
    assert made == [1, 2.5]
    assert [type(value) for value in made] == [int, float]


def test_distinct_scores() -> None:
    curves = replace(case(3), scores=np.array([[0.5, 0.1], [0.2, 0.5], [0.5, 0.9]]))
    assert curves.distinct(0).tolist() == [0.2, 0.5, nextafter(0.5, inf)]
    assert curves.distinct().tolist() == [0.1, 0.2, 0.5, 0.9, nextafter(0.9, inf)]


def test_which_bands_are_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """One label of groups that exclude each other always; else by scores, groups and thresholds."""
    several, alone, shared = case(1), case(1, labels=1), case(1, labels=1, exclusive=False)
    monkeypatch.setattr(module, "_CHEAP", 60 * 2 * 4 * 10)
    assert several.band_is_cheap(10)
    assert not several.band_is_cheap(11)
    assert shared.band_is_cheap(20)
    assert not shared.band_is_cheap(21)
    assert alone.band_is_cheap(1000)


def slow_band(curves: Curves, at: float) -> tuple[float, float]:
    """The mean over pairs and its error, from what every record moves in it."""
    w = weights_of(curves)
    there = [g for g in range(4) if w[curves.member[g]].sum() > 0]
    labels = curves.scores.shape[1]
    pairs, square, value = len(there) * labels, 0.0, 0.0
    size = {g: w[curves.member[g]].sum() for g in there}
    moved = (curves.scores >= at).astype(float) - curves.truth.T
    mean = {(g, k): (w * curves.member[g] * moved[:, k]).sum() / size[g] for g in there for k in range(labels)}
    value = sum(curves.signs[g, k] * mean[g, k] for g, k in mean) / pairs
    if labels == 1 and curves.exclusive:
        for g in there:
            mine = curves.member[g]
            n = size[g] ** 2 / (w[mine] ** 2).sum()
            wrong = (w[mine] ** 2 * np.abs(moved[mine, 0])).sum() / (w[mine] ** 2).sum()
            # A record more that is wrongly positive, and one that is wrongly not.
            spread = (n * wrong + 2) / (n + 2) - (n * mean[g, 0] / (n + 2)) ** 2
            square += float(curves.signs[g, 0]) ** 2 * spread / (n + 2)
        return value, sqrt(square) / pairs
    for i in range(len(w)):
        pull = sum(curves.signs[g, k] * (moved[i, k] - mean[g, k]) / size[g] for g, k in mean if curves.member[g, i])
        square += (w[i] * pull) ** 2
    for g, k in mean:
        n = size[g] ** 2 / (w[curves.member[g]] ** 2).sum()
        square += float(curves.signs[g, k]) ** 2 * 2.0 / (n + 2) ** 2
    return value, sqrt(square) / pairs


@pytest.mark.parametrize("weights", ["none", "real", "whole"])
@pytest.mark.parametrize(("labels", "exclusive"), [(1, True), (1, False), (2, True), (3, False)])
def test_bands(weights: str, labels: int, exclusive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 7)
    curves = case(4, labels, weights, exclusive)
    for level in (0.95, 0.8):
        made = curves.band(np.array([0.0, 0.3, 0.7, 1.1]), **({} if level == 0.95 else {"level": level}))
        for row, at in zip(made.rows(), (0.0, 0.3, 0.7, 1.1), strict=True):
            value, error = slow_band(curves, at)
            reach = norm.ppf(0.5 + level / 2) * error
            found = [row["threshold"], row["amplification"], row["low"], row["high"]]
            assert found == pytest.approx([at, value, value - reach, value + reach], abs=1e-12)


def test_one_label_of_groups_that_share_records() -> None:
    """From counts alone, errors of groups are added up as if they went together."""
    curves = case(4, 1, "real", False)
    alone = replace(curves, exclusive=True)
    at = np.array([0.3])
    value, together = curves._by_group(at)
    same, apart = alone._by_group(at)
    assert value == same
    each = []
    for g in (0, 1, 3):
        one = replace(alone, member=alone.member[[g]], signs=alone.signs[[g]], given=GIVEN[:1])
        each.append(one._by_group(at)[1][0] / 3)
    assert together[0] == pytest.approx(sum(each))
    assert apart[0] == pytest.approx(sqrt(sum(error**2 for error in each)))


def test_where_the_band_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """At every score of one label; of several at so many spread evenly, the first and the last among them."""
    alone, several = case(5, labels=1), case(5)
    assert alone.band()["threshold"].tolist() == alone.distinct().tolist()
    assert several.band()["threshold"].tolist() == several.distinct().tolist()
    monkeypatch.setattr(module, "_POINTS", len(several.distinct()))
    assert several.band()["threshold"].tolist() == several.distinct().tolist()
    monkeypatch.setattr(module, "_POINTS", 4)
    known = several.distinct()
    assert alone.band()["threshold"].tolist() == alone.distinct().tolist()
    last = len(known) - 1
    assert several.band()["threshold"].tolist() == [known[round(last * step / 3)] for step in range(4)]


def slow_figures(curves: Curves, label: int, at: float) -> dict[str, float | None]:
    """The figures of one label at one threshold."""
    w = weights_of(curves)
    said, truth = curves.scores[:, label] >= at, curves.truth[label]
    there = [g for g in range(4) if w[curves.member[g]].sum() > 0]

    def mean(values: Any, among: Any) -> float | None:
        return float(w[among & values].sum() / w[among].sum()) if w[among].sum() > 0 else None

    def apart(values: Any, side: Any) -> float | None:
        rates = [rate for g in range(4) if (rate := mean(values, curves.member[g] & side)) is not None]
        return max(rates) - min(rates) if len(rates) > 1 else None

    every = np.ones(len(w), dtype=bool)
    change = [mean(said, curves.member[g]) - mean(truth, curves.member[g]) for g in there]  # type: ignore[operator]
    out: dict[str, float | None] = {
        "directional": sum(curves.signs[g, label] * delta for g, delta in zip(there, change, strict=True)) / len(there),
        "multi": sum(map(abs, change)) / len(there),
        "mals": None,
        "selection_rate_difference": apart(said, every),
        "tpr_difference": apart(said, truth),
        "fpr_difference": apart(said, ~truth),
        "accuracy_difference": apart(said == truth, every),
    }
    if w[said].sum() > 0 and curves.exclusive:
        shares = [(mean(curves.member[g], truth), mean(curves.member[g], said)) for g in range(4)]
        out["mals"] = sum(new - old for old, new in shares if old > 1 / 4)  # type: ignore[operator]
    return out


@pytest.mark.parametrize("weights", ["none", "real", "whole"])
@pytest.mark.parametrize("labels", [1, 3])
@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("span", [(0.0, 1.0), (0.25, 0.6), (0.1, 0.7), (-1.0, 3.0), (0.4, 0.4)])
def test_means_over_thresholds(
    weights: str, labels: int, exclusive: bool, span: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_STEPS_AT_ONCE", 3)
    curves = case(6, labels, weights, exclusive)
    low, high = span
    expected: dict[tuple[str, str], tuple[float | None, float]] = {}
    for label in range(labels):
        own = sorted(set(curves.scores[:, label].tolist()))
        edges = [low, *(score for score in own if low < score < high), high]
        steps = [(b, (b - a) / (high - low)) for a, b in pairwise(edges)] if high > low else [(low, 1.0)]
        sums: dict[str, list[float]] = {name: [0.0, 0.0] for name in AGNOSTIC}
        for at, width in steps:
            for name, value in slow_figures(curves, label, at).items():
                if value is not None:
                    sums[name][0] += width * value
                    sums[name][1] += width
        for name, (total, share) in sums.items():
            expected[name, f"t{label}"] = (total / share if share else None), share
    found = {(row["metric"], row["outcome"]): (row["value"], row["share"]) for row in curves.agnostic(span).rows()}
    for name in AGNOSTIC[:3] if labels > 1 else ():
        own_rows = [
            expected[name, f"t{label}"] for label in range(labels) if expected[name, f"t{label}"][0] is not None
        ]
        if own_rows:
            expected[name, ""] = tuple(np.mean(own_rows, axis=0))
    assert found.keys() == expected.keys()
    assert next(iter(found))[1] == ("" if labels > 1 else "t0")
    for key, (value, share) in expected.items():
        assert (found[key][0] is None) == (value is None), key
        if value is not None:
            assert found[key] == pytest.approx((value, share), abs=1e-12), key
        else:
            assert found[key][1] == 0.0


def test_an_even_share_is_no_larger_one() -> None:
    """A group with just 1 in |A| of a task is not counted by MALS, whatever rounding leaves of weights."""
    member = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    truth, scores = np.ones((1, 3), dtype=bool), np.array([[0.9], [0.8], [0.7]])
    weights = np.array([0.1, 0.1, 0.1])
    curves = Curves(
        scores, member, truth, np.ones((3, 1), dtype=np.int8), weights, GIVEN[:3], (Label("t", None),), True
    )
    made = curves.figures(curves.hits(0, np.array([0.8, 0.9])), 0)
    assert made["mals"].tolist() == [0.0, 0.0]
    more = replace(curves, weights=np.array([0.1001, 0.1, 0.1]))
    found = more.figures(more.hits(0, np.array([0.85])), 0)["mals"]
    assert found == pytest.approx([1 - 0.1001 / 0.3001])


@pytest.mark.parametrize("seed", range(3))
def test_sweeps_hand_their_curves_on(seed: int) -> None:
    """The band of a sweep is at its scores, its rates too."""
    rng = np.random.default_rng(seed)
    group, truth, scores = rng.integers(0, 2, 50), rng.integers(0, 2, 50), np.round(rng.random(50), 1)
    swept = biasamp.sweep(scores, group, truth)
    assert swept.band()["amplification"] == pytest.approx(swept.curve["amplification"])
    assert swept.band()["threshold"].tolist() == swept.curve["threshold"].tolist()
