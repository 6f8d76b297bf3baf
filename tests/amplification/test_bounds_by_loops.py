"""Signs of bounds pair by pair: which are free of each other, which are known, and which way the others turn."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import biasamp
from biasamp.amplification.bounds import (
    LentSigns,
    bounds_p,
    clustered_sign_p,
    standard_errors,
    tied_signs,
    worse_signs,
)
from biasamp.counts.bags import BagCounts
from biasamp.data.arguments import read_clusters, read_evaluation


def counted(kind: str, seed: int = 1, n: int = 120) -> Any:
    """Two or three groups, with two values, three values or yes/no labels."""
    rng = np.random.default_rng(seed)
    groups, outcome = kind.split("/")
    given: Any = (
        rng.choice(["a", "b", "c"][: int(groups[0])], n) if groups[1:] != "labels" else rng.integers(0, 2, (n, 2))
    )
    truth: Any = {
        "two": rng.choice(["x", "y"], n),
        "three": rng.choice(["x", "y", "z"], n),
        "labels": rng.integers(0, 2, (n, 3)),
    }[outcome]
    read, _, _ = read_evaluation(given, truth, np.asarray(truth).copy(), None, None)
    return BagCounts.from_labels(read).whole


# Which pairs have the same free sign, by (group, outcome) in order.
TIED = {
    "2/two": [[0, 0], [0, 0]],
    "2/three": [[0, 1, 2], [0, 1, 2]],
    "2/labels": [[0, 1, 2], [0, 1, 2]],
    "3/two": [[0, 0], [1, 1], [2, 2]],
    "3/three": [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
    "2labels/two": [[0, 0], [1, 1]],
}


@pytest.mark.parametrize("kind", TIED)
def test_signs_that_follow_from_one_another(kind: str) -> None:
    found = tied_signs(counted(kind)).tolist()
    numbers: dict[int, int] = {}
    assert [[numbers.setdefault(value, len(numbers)) for value in row] for row in found] == TIED[kind]


@pytest.mark.parametrize("kind", TIED)
@pytest.mark.parametrize("seed", range(6))
def test_the_worse_way(kind: str, seed: int) -> None:
    """A free sign is known where all that follow it are beyond 1% over their number; else all of them turn the worse way."""
    counts, rng = counted(kind), np.random.default_rng(seed)
    tied = np.array(TIED[kind])
    shape = tied.shape
    factor = rng.choice([-1, 0, 1], shape).astype(np.int8)
    delta = np.round(rng.normal(size=shape), 2)
    if seed % 3 == 2:
        delta[-1] = np.nan
    sign_p = rng.choice([1e-6, 0.0009, 0.002, 0.004, 0.012, 0.5], shape)
    defined = ~np.isnan(delta)
    free = len(set(tied[defined].tolist()))
    made = worse_signs(counts, factor, delta, sign_p)
    for number in set(tied.ravel().tolist()):
        mine = tied == number
        p = [sign_p[place] for place in zip(*np.nonzero(mine & defined), strict=True)]
        known = max(p, default=0.0) < 0.01 / max(free, 1)
        assert made.unknown[mine].tolist() == [not known and bool(there) for there in defined[mine]]
        if known:
            assert made.up[mine].tolist() == made.down[mine].tolist() == factor[mine].tolist()
            continue
        up = made.up[mine]
        assert (np.abs(up) == 1).all()
        assert (made.down[mine] == -up).all()
        # Signs that are there turn together.
        told = factor[mine] != 0
        assert len(set((up * factor[mine])[told].tolist())) <= 1
        assert np.nansum(up * delta[mine]) >= -1e-12


@pytest.mark.parametrize("seed", range(30))
def test_signs_that_other_records_lend(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = counted(("3/labels", "2/labels")[seed % 2] if seed % 2 else "3/three", n=200)
    shape = counts.joint_truth.shape
    free = len(np.unique(tied_signs(counts)))
    values = [1e-7, 0.005 / free, 0.02 / free, 0.04, 0.05, 0.06, 0.5]
    signs, here = rng.choice([-1, 0, 1], shape), rng.choice([-1, 1], shape)
    p, here_p = rng.choice(values, shape), rng.choice(values, shape)
    records = float(rng.choice([199.0, 200.0, 500.0]))
    defined = np.ones(shape, dtype=bool)
    made = LentSigns.compare(counts, (signs, p, records), (here, here_p), defined)
    contradicted = both = 0
    for place in np.ndindex(*shape):
        clear = 0.01 / free
        untold = signs[place] == 0
        untold |= records < 200 and p[place] >= clear
        untold |= here_p[place] < clear and here[place] != signs[place] and p[place] >= 0.05
        assert made.told[place] == (not untold)
        if p[place] < clear and here_p[place] < clear:
            both += 1
            contradicted += here[place] != signs[place]
    assert (made.contradicted, made.both) == (contradicted, both)


def test_signs_of_clusters_by_the_sum_of_each() -> None:
    """What the records of each bag add to the association, against what is expected of it; Student's t over bags."""
    rng = np.random.default_rng(3)
    n = 160
    given, truth = rng.choice(["a", "b", "c"], n), rng.integers(0, 2, (n, 2))
    read, _, _ = read_evaluation(given, truth, truth.copy(), None, None)
    read = replace(read, clusters=read_clusters(np.arange(n) // 4, n, {}))
    bags = BagCounts.from_labels(read)
    made = clustered_sign_p(bags, np.zeros((3, 2)))
    whole, each = bags.whole, bags.counts
    for g in range(3):
        for o in range(2):
            left, right = whole.given[g, 0] / n, whole.truth[0, o] / n
            apart = whole.joint_truth[g, o] / n - left * right
            square = 0.0
            for b in range(len(bags.numbers)):
                size, joint = each.n[b, 0, 0], each.joint_truth[b, g, o]
                lean = joint - left * each.truth[b, 0, o] - right * each.given[b, g, 0] + (left * right - apart) * size
                square += lean**2
            z = abs(apart * n) / sqrt(square)
            assert made[g, o] == pytest.approx(2 * student.sf(z, len(bags.numbers) - 1))
    assert clustered_sign_p(bags, np.full((3, 2), 0.9999)).min() >= 0.9999


def test_bounds_of_values() -> None:
    """1.70 standard errors at 95%, and as many more at other levels; p-values go by those of 97.5%."""
    assert standard_errors(0.95) == pytest.approx(1.70)
    assert standard_errors(0.99) == pytest.approx(1.70 * norm.ppf(0.99) / norm.ppf(0.95))
    scale = 1.70 / norm.ppf(0.95)
    up, down = np.array([0.5, 0.1, 0.2, -0.3]), np.array([0.3, -0.2, 0.2, -0.4])
    error = np.array([0.1, 0.1, 0.0, 0.2])
    made = bounds_p((up, error), (down, error))
    expected = []
    for high, low, e in zip(up, down, error, strict=True):
        tails = [norm.sf(low / (scale * e)), norm.sf(-high / (scale * e))] if e else [0.5, 0.5]
        expected.append(min(1.0, 2 * min(tails)))
    assert made.tolist() == pytest.approx(expected)


def test_train_labels_that_the_records_contradict() -> None:
    """A direction that few train labels hardly tell gives way where these records clearly say the opposite."""
    rng = np.random.default_rng(5)
    group = rng.choice(["a", "b"], 600)
    truth = (rng.random(600) < np.where(group == "a", 0.7, 0.3)).astype(int)
    said = np.where(rng.random(600) < 0.1, 1 - truth, truth)
    clear = biasamp.directional(group, truth, said, train=(group[::-1], truth[::-1]))
    assert (clear.unknown, clear._estimate.contradicted) == (0, (0, 4))  # type: ignore[attr-defined]
    turned = biasamp.directional(group, truth, said, train=(group[::-1], 1 - truth[::-1]))
    assert (turned.unknown, turned._estimate.contradicted) == (0, (4, 4))  # type: ignore[attr-defined]
    few = biasamp.directional(group, truth, said, train=(["a", "b"] * 10, [0, 1] * 6 + [1, 0] * 4))
    assert few.unknown == 4
    assert biasamp.directional(group, truth, said)._estimate.contradicted is None  # type: ignore[attr-defined]
