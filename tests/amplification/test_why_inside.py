"""Strata that are estimated at once have the figures of strata that are estimated one by one, to the bit."""

from __future__ import annotations

import warnings
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.why_inside import AtOnce, OneByOne


def records(seed: int) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    n, tasks, strata = (int(rng.choice(sizes)) for sizes in ([60, 300, 2000], [1, 2, 5, 20], [2, 5, 50]))
    strata = min(strata, n // 10)
    given: Any = rng.choice(["a", "b", "c", "d"][: int(rng.integers(2, 5))], n)
    if seed % 3 == 1:
        given = (rng.random((n, 3)) < 0.4).astype(np.uint8)
    scores = np.round(rng.random((n, tasks)), 2)
    truth = (rng.random((n, tasks)) < scores).astype(np.uint8)
    return (
        given,
        truth if tasks > 1 else truth[:, 0],
        scores if tasks > 1 else scores[:, 0],
        rng.integers(strata, size=n),
    )


def same(one: Any, two: Any) -> None:
    np.testing.assert_array_equal(np.asarray(one), np.asarray(two))


@pytest.mark.parametrize("seed", range(24))
def test_at_once_as_one_by_one(seed: int) -> None:
    given, truth, scores, strata = records(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        held = biasamp.decompose(given, truth, scores, strata=strata)._strata
    assert held is not None
    quick, slow = held.inside, OneByOne(held.each)
    assert isinstance(quick, AtOnce)
    for of in ("values", "worse", "worse_in_sum"):
        for field in fields(getattr(quick, of)):
            same(getattr(getattr(quick, of), field.name), getattr(getattr(slow, of), field.name))
    for of in ("factor", "sign_p", "told", "sizes", "weight", "records"):
        same(getattr(quick, of), getattr(slow, of))
    for of in ("value", "score", "threshold"):
        same(quick.part(of), slow.part(of))
    defined = held.whole.values.defined
    for signs in (quick.factor, quick.worse.up, quick.worse.down):
        same(quick.mean(signs), slow.mean(signs))
        same(quick.unseen(signs), slow.unseen(signs))
        for one, two in zip(quick.influences(signs), slow.influences(signs), strict=True):
            same(one, two)
        one, two = (inside.moved(signs, defined) for inside in (quick, slow))
        for part in ("moved", "size", "pairs"):
            same(getattr(one, part), getattr(two, part))
        same(one.replicates(8, 0), two.replicates(8, 0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_inside_are_the_extremes_over_all_signs_that_are_not_told(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 600
    stratum = rng.integers(4, size=n)
    # Groups are spread over strata in other ways, and decisions move both of them alike inside most.
    group = (rng.random(n) < np.array([0.8, 0.3, 0.5, 0.2])[stratum]).astype(int)
    scores = np.clip(np.array([0.65, 0.35, 0.5, 0.3])[stratum] + 0.1 * rng.standard_normal(n), 0.0, 1.0)
    # Of stratum 1 alone the records tell the direction.
    truth = (rng.random(n) < np.where(stratum == 1, 0.2 + 0.6 * group, 0.5)).astype(int)
    weights = rng.integers(1, 4, size=n) if weighted else None
    found = biasamp.decompose(group, truth, scores, strata=stratum, weights=weights)
    rows = list(found.strata_pairs.rows())
    # Of two groups and a 0/1 label one sign gives the other three of a stratum.
    each: dict[str, float] = {}
    fixed = 0.0
    for row in rows:
        moved = row["sign"] * row["share"] * row["delta"] / 4
        each[row["stratum"]] = each.get(row["stratum"], 0.0) + (0.0 if row["known"] else moved)
        fixed += moved if row["known"] else 0.0
    assert {row["known"] for row in rows} == {True, False}
    sums = [fixed + float(np.dot(turn, list(each.values()))) for turn in product((-1, 1), repeat=len(each))]
    held = found.bounds(of="inside")
    down, up = (made.value for made in found._strata.inside_worse()[::-1])
    assert (down, up) == (pytest.approx(min(sums), abs=1e-12), pytest.approx(max(sums), abs=1e-12))
    assert held.low < min(sums)
    assert held.high > max(sums)
    assert held.low < found.inside < held.high


@pytest.mark.parametrize("more", ["weights", "cluster", "train", "base"])
def test_other_strata_come_one_by_one(more: str) -> None:
    given, truth, scores, strata = records(3)
    n = len(strata)
    sources = {
        "weights": np.arange(n) % 3 + 1,
        "cluster": np.arange(n) // 2,
        "train": (given, truth, strata),
        "base": (given, truth, strata),
    }
    held = biasamp.decompose(given, truth, scores, strata=strata, **{more: sources[more]})._strata
    assert held is not None
    assert isinstance(held.inside, OneByOne)
