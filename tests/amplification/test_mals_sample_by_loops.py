"""What bags of records move in MALS, bag by bag, and what few or many of them leave of its errors."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from biasamp.amplification import mals as metric
from biasamp.amplification import mals_sample as module
from biasamp.amplification.mals_sample import (
    MalsErrors,
    MalsSample,
    all_errors,
    influence_of_bags,
    mals_errors,
    mals_intervals,
    mals_p,
    rates_of,
    ratio_influence,
    tasks_of,
    unseen_variance,
)
from biasamp.counts.bagging import FEWEST_BAGS, bag_of, bag_weights
from biasamp.counts.bags import BagJoint
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.data.arguments import read_evaluation
from biasamp.data.keys import row_keys

N = 160
RNG = np.random.default_rng(11)
A = RNG.choice(["x", "y", "z"], N, p=[0.5, 0.3, 0.2])
A_HAT = np.where(RNG.random(N) < 0.2, RNG.choice(["x", "y", "z"], N), A)
T = (RNG.random((N, 3)) < 0.35).astype(int)
T_HAT = np.where(RNG.random((N, 3)) < 0.2, 1 - T, T)
WEIGHTS = np.round(RNG.random(N) + 0.2, 3)


def sides(a: Any, t: Any) -> Any:
    read, _, _ = read_evaluation(a, t, np.asarray(t).copy(), None, None)
    return read.given, read.truth


TRUTH, PREDICTED = sides(A, T), sides(A_HAT, T_HAT)


def joint(pair: Any, weights: Any = None) -> JointCounts:
    return JointCounts.from_labels(*pair, weights)


def bagged(pair: Any, weights: Any = None, bags: int = 512) -> BagJoint:
    return BagJoint.from_labels(*pair, row_keys(0, N), bags, weights)


def rate(counts: JointCounts, a: int, t: int) -> tuple[float, float]:
    held, size = floats(counts.joint)[a, t], floats(counts.right)[0, t]
    return (held / size if size else 0.0), size


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("bags", [512, 2])
def test_errors_of_bags(weights: Any, train: bool, bags: int) -> None:
    """Influences are summed in each bag before they are squared; of too few bags each rate has its binomial error."""
    labels, predictions = joint(TRUTH, weights), joint(PREDICTED, weights)
    truth, predicted = bagged(TRUTH, weights, bags), bagged(PREDICTED, weights, bags)
    made = mals_errors(labels, predictions, None if train else truth, predicted)
    for a in range(3):
        for t in range(3):
            (p, n), (q, m) = rate(predictions, a, t), rate(labels, a, t)
            moved = {}
            for name, held, r, size in (("p", predicted, p, n), ("t", truth, q, m)):
                for place, number in enumerate(held.numbers.tolist()):
                    both = floats(held.counts.joint)[place, a, t]
                    of = floats(held.counts.right)[place, 0, t]
                    moved[name, number] = (both - r * of) / (size + 2)
            numbers = {number for _, number in moved}
            added = [((1 - r) ** 2 + r**2) / (size + 2) ** 2 for r, size in ((p, n), (q, m))]
            if bags < FEWEST_BAGS:
                spread = [r * (1 - r) * size / (size + 2) ** 2 for r, size in ((p, n), (q, m))]
                shared = 0.0
            else:
                spread = [sum(moved.get((name, k), 0.0) ** 2 for k in numbers) for name in "pt"]
                shared = sum(moved.get(("p", k), 0.0) * moved.get(("t", k), 0.0) for k in numbers)
            expected = spread[0] + added[0], spread[1] + added[1], shared
            if train:
                expected = expected[0], 0.0, 0.0
            found = made.predicted[a, t], made.truth[a, t], made.shared[a, t]
            assert found == pytest.approx(expected)
            assert made.variance[a, t] == pytest.approx(max(expected[0] + expected[1] - 2 * expected[2], 0.0))


def test_a_variance_is_not_below_nothing() -> None:
    one = np.ones((1, 1))
    assert MalsErrors(one, one, 1.1 * one).variance.tolist() == [[0.0]]
    assert MalsErrors(one, 2 * one, 0.25 * one).variance.tolist() == [[2.5]]


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("sampled", [False, True])
def test_what_was_not_seen(weights: Any, sampled: bool) -> None:
    """A record with the label and one without, in each rate, at the effective number of its records."""
    labels, predictions = joint(TRUTH, weights), joint(PREDICTED, weights)
    factor = np.array([[0.5, 0.0, -1.0], [0.25, 1.0, 0.0], [0.0, 0.125, 0.5]])
    w = np.ones(N) if weights is None else weights
    kish = w.sum() / (w**2).sum()
    total = 0.0
    for a in range(3):
        for t in range(3):
            for counts in (predictions, labels) if sampled else (predictions,):
                r, size = rate(counts, a, t)
                total += factor[a, t] ** 2 * ((1 - r) ** 2 + r**2) / (size * kish + 2) ** 2
    assert unseen_variance(labels, predictions, sampled, factor) == pytest.approx(total)


def expected_influence(pair: Any, weights: Any, factor: np.ndarray) -> np.ndarray:
    """Of every record, what it moves in the sum of factor times rate."""
    w = np.ones(N) if weights is None else weights
    a, t = (side.rows().astype(float) for side in pair)
    size = (w[:, None] * t).sum(axis=0)
    rates = (w[:, None] * a).T @ t / size
    out = np.zeros(N)
    for i in range(N):
        for g in range(3):
            for k in range(3):
                out[i] += factor[g, k] * w[i] * t[i, k] * (a[i, g] - rates[g, k]) / size[k]
    return out


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("train", [False, True])
def test_influence_of_bags(weights: Any, train: bool) -> None:
    labels, predictions = joint(TRUTH, weights), joint(PREDICTED, weights)
    factor = np.array([[0.5, 0.0, -1.0], [0.25, 1.0, 0.0], [0.0, 0.125, 0.5]])
    sample = MalsSample(PREDICTED, None if train else TRUTH, weights)
    numbers, bags, found = influence_of_bags(labels, predictions, sample, factor)
    assert bags == 4096
    held = sample.bags[0]
    assert numbers.tolist() == held.numbers.tolist()
    each = expected_influence(PREDICTED, weights, factor)
    each = each if train else each - expected_influence(TRUTH, weights, factor)
    bag = np.searchsorted(numbers, bag_of(row_keys(0, N), 4096))
    np.testing.assert_allclose(found, np.bincount(bag, each, minlength=len(numbers)), atol=1e-12)
    assert ratio_influence(held, predictions, factor).sum() == pytest.approx(0.0, abs=1e-12)
    nobody = replace(predictions, right=np.zeros((1, 3), dtype=np.int64), joint=np.zeros((3, 3), dtype=np.int64))
    assert not ratio_influence(held, nobody, factor).any()


def test_tasks_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many tasks to count all at once: some after others, in fewer bags; the errors are nearly the same."""
    labels, predictions = joint(TRUTH), joint(PREDICTED)
    plain = MalsSample(PREDICTED, TRUTH, clustered=True, units=row_keys(0, N))
    (only,) = plain.blocks()
    assert only[0] == slice(None)
    assert only[1:] == plain.bags
    whole = all_errors(labels, predictions, plain)
    moved = influence_of_bags(labels, predictions, plain, np.ones((3, 3)))
    monkeypatch.setattr(module, "bags_for", lambda pairs: 2)
    for cells, widths in ((1024 * 3 * 2, [2, 1]), (1024 * 3 * 2 - 1, [1, 1, 1]), (1, [1, 1, 1]), (1 << 22, [3])):
        monkeypatch.setattr(module, "MOST_CELLS", cells)
        sample = MalsSample(PREDICTED, TRUTH, clustered=True, units=row_keys(0, N))
        blocks = list(sample.blocks())
        assert [len(range(3)[tasks]) for tasks, _, _ in blocks] == widths
        assert {held.bags for _, predicted, truth in blocks for held in (predicted, truth)} == {1024}  # type: ignore[union-attr]
        found = all_errors(labels, predictions, sample)
        for name in ("predicted", "truth", "shared"):
            assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=0.7)
            assert getattr(found, name).shape == (3, 3)
        for tasks, predicted, truth in blocks:
            direct = mals_errors(tasks_of(labels, tasks), tasks_of(predictions, tasks), truth, predicted)
            np.testing.assert_array_equal(found.predicted[:, tasks], direct.predicted)
        numbers, bags, one = influence_of_bags(labels, predictions, sample, np.ones((3, 3)))
        assert bags == 1024
        assert (one**2).sum() == pytest.approx((moved[2] ** 2).sum(), rel=0.5)
        fixed = MalsSample(PREDICTED, None, clustered=True, units=row_keys(0, N))
        assert [truth for _, _, truth in fixed.blocks()] == [None] * len(widths)
        assert len(numbers) == len(one)


def test_moments_and_bags_are_known_or_not() -> None:
    assert MalsSample(PREDICTED, TRUTH).known_moments is not None
    assert MalsSample(PREDICTED).known_moments is not None
    predicted, truth = bagged(PREDICTED), bagged(TRUTH)
    assert MalsSample(predicted, truth).known_moments is None
    assert MalsSample(PREDICTED, truth).known_moments is None
    moments = MalsSample(PREDICTED, TRUTH).known_moments
    assert MalsSample(predicted, truth, moments=moments).known_moments is moments
    assert MalsSample(predicted, truth).bags == (predicted, truth)
    assert MalsSample(PREDICTED).bags[1] is None
    for bags, enough in ((FEWEST_BAGS, True), (FEWEST_BAGS // 2, False)):
        assert MalsSample(bagged(PREDICTED, bags=bags)).has_bags == enough
    assert MalsSample(PREDICTED).has_bags
    assert not MalsSample(PREDICTED).clustered


def test_errors_by_record_or_by_bag() -> None:
    """Independent records have the errors of their own moments, clusters those of bags, whatever moments there are."""
    labels, predictions = joint(TRUTH), joint(PREDICTED)
    alone = all_errors(labels, predictions, MalsSample(PREDICTED, TRUTH))
    one_by_one = mals_errors(labels, predictions, bagged(TRUTH, bags=1 << 20), bagged(PREDICTED, bags=1 << 20))
    assert alone.variance == pytest.approx(one_by_one.variance)
    assert alone.predicted == pytest.approx(one_by_one.predicted)
    assert alone.shared == pytest.approx(one_by_one.shared)
    clusters = row_keys(0, N // 8).repeat(8)
    sample = MalsSample(PREDICTED, TRUTH, None, clusters, True)
    np.testing.assert_array_equal(
        all_errors(labels, predictions, sample).variance,
        mals_errors(labels, predictions, sample.bags[1], sample.bags[0]).variance,
    )
    assert (all_errors(labels, predictions, sample).variance != alone.variance).all()


def test_intervals_and_p_values_of_pairs() -> None:
    errors = MalsErrors(np.array([[0.04, 0.09]]), np.array([[0.0, 0.16]]), np.array([[0.0, 0.0]]))
    delta = np.array([[0.1, -0.9]])
    low, high = mals_intervals(delta, errors, 0.9)
    z = norm.ppf(0.95)
    assert low.tolist() == [[pytest.approx(0.1 - z * 0.2), -1.0]]
    assert high.tolist() == [[pytest.approx(0.1 + z * 0.2), pytest.approx(-0.9 + z * 0.5)]]
    assert mals_intervals(-delta, errors, 0.9)[1].tolist() == [[pytest.approx(-0.1 + z * 0.2), 1.0]]
    assert mals_p(delta, errors).tolist() == [[pytest.approx(2 * norm.sf(0.5)), pytest.approx(2 * norm.sf(1.8))]]
    assert mals_intervals(delta, errors)[0][0, 0] == mals_intervals(delta, errors, 0.95)[0][0, 0]


def test_rates_of_tasks_that_nobody_has() -> None:
    counts = joint(TRUTH)
    nobody = replace(counts, right=np.array([[0, 5, 0]]), joint=np.array([[0, 2, 0], [0, 3, 0], [0, 0, 0]]))
    rates, size = rates_of(nobody)
    assert rates.tolist() == [[0.0, 0.4, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 0.0]]
    assert size.tolist() == [[0.0, 5.0, 0.0]]
    assert tasks_of(counts, slice(None)) is counts
    few = tasks_of(counts, slice(1, 3))
    assert few.right_labels == counts.right_labels[1:]
    assert few.joint.shape == (3, 2)


def value_of(w: np.ndarray) -> float:
    """MALS of weighted records."""
    total = 0.0
    for k in range(3):
        for name in "xyz":
            share = (w * T[:, k] * (name == A)).sum() / (w * T[:, k]).sum()
            if 3 * (w * T[:, k] * (name == A)).sum() > (w * T[:, k]).sum():
                total += (w * T_HAT[:, k] * (name == A_HAT)).sum() / (w * T_HAT[:, k]).sum() - share
    return total / 3


def made(**more: Any) -> Any:
    sample = MalsSample(PREDICTED, TRUTH, **more)
    return metric.Mals(joint(TRUTH), joint(PREDICTED), sample)


def test_resamples_are_of_bags(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of records that weigh what their bag was drawn; of too many pairs, what influences make of it."""
    held = made()
    assert held.value == pytest.approx(value_of(np.ones(N)))
    assert not held.first_order
    bags = held.sample.bags[0]
    drawn = np.asarray(bag_weights(bags.numbers, bags.bags, 6, 3), dtype=float)
    place = np.searchsorted(bags.numbers, bag_of(row_keys(0, N), bags.bags))
    assert held.replicates(6, 3) == pytest.approx([value_of(row[place]) for row in drawn])
    moved = held.influence()
    assert moved.sum() == pytest.approx(0.0, abs=1e-12)
    monkeypatch.setattr(metric, "FEWEST_BAGS", 1 << 30)
    assert held.first_order
    assert held.replicates(6, 3) == pytest.approx(held.value + drawn @ moved - moved.sum(), abs=1e-6)


def test_the_range_is_that_of_groups_that_exclude_each_other() -> None:
    assert made().range == (-1.0, 1.0)
    shared = sides(RNG.integers(0, 2, (N, 3)), T)
    assert metric.Mals(joint(TRUTH), joint(shared), MalsSample(shared, TRUTH)).range is None
    assert metric.Mals(joint(shared), joint(PREDICTED), MalsSample(PREDICTED, shared)).range is None


def test_the_interval_counts_even_tasks() -> None:
    """A task that is shared out evenly counts no group; a record more, and it would count one."""
    held = made()
    maker = held.interval("value")
    assert maker is not None
    assert held.interval("crossfit") is None
    factor = held.values.sign / 3
    assert held.factor.tolist() == factor.tolist()
    assert maker.unseen == pytest.approx(unseen_variance(held.labels, held.predictions, True, factor))
    assert held.between_models() == pytest.approx(unseen_variance(held.labels, held.predictions, False, factor))
    even = replace(held.labels, joint=np.array([[8, 20, 9], [8, 10, 2], [8, 1, 1]]), right=np.array([[24, 31, 12]]))
    other = metric.Mals(even, held.predictions, held.sample)
    wide = other.values.sign / 3
    assert not wide[:, 0].any()
    wide[:, 0] = 1 / 3 / 3
    found = other.interval("value")
    assert found is not None
    assert found.unseen == pytest.approx(unseen_variance(even, held.predictions, True, wide))
    fixed = metric.Mals(even, held.predictions, MalsSample(PREDICTED))
    alone = fixed.interval("value")
    assert alone is not None
    assert alone.unseen == pytest.approx(unseen_variance(even, held.predictions, False, fixed.factor))


def test_too_few_bags_have_no_interval() -> None:
    few = bagged(PREDICTED, bags=2), bagged(TRUTH, bags=2)
    held = metric.Mals(joint(TRUTH), joint(PREDICTED), MalsSample(*few))
    assert held.interval("value") is None
    assert "no resamples of them are kept" in held.cautions()[-1]
    assert not any("no resamples" in words for words in made().cautions())


def test_groups_that_are_not_kept() -> None:
    """They stay among the |A|, but their pairs do not count."""
    kept = np.array([True, True, False])
    held = metric.Mals(joint(TRUTH), joint(PREDICTED), MalsSample(PREDICTED, TRUTH), kept=kept)
    whole = made()
    assert held.values.defined.tolist() == [[True] * 3, [True] * 3, [False] * 3]
    expected = np.where(whole.values.sign > 0, whole.values.delta, 0.0)[:2].sum() / 3
    assert held.value == pytest.approx(expected)
    assert held.factor[2].tolist() == [0.0] * 3
    result = metric.from_counts(joint(TRUTH), joint(PREDICTED), "x", MalsSample(PREDICTED, TRUTH), kept=kept)
    assert (result.value, result.excluded, result.n) == (pytest.approx(expected), (), float(N))


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ((29, 60, 60, 60, 60), "1 of 5 tasks are predicted for fewer than 30 records"),
        ((30, 60, 60, 60, 60), None),
        ((29, 60, 60, 60, 60, 60), None),
        ((29, 29, 60), "2 of 3"),
    ],
)
def test_tasks_that_are_seldom_predicted(sizes: tuple[int, ...], told: str | None) -> None:
    """A fifth of them is enough to say so."""
    size = np.array([sizes], dtype=np.int64)
    both = np.stack([size[0] - 3, np.full(len(sizes), 3)])
    labels = sides(np.repeat(["x", "y"], 50), (RNG.random((100, len(sizes))) < 0.5).astype(int))
    counts = replace(joint(labels), n=np.array([[500]]), right=size, joint=both)
    found = metric._doubts(counts, counts, metric.mals_pairs(counts, counts), False)
    assert len(found) == (told is not None)
    assert told is None or told in found[0]


def test_spread_of_half_the_pairs() -> None:
    """Two standard errors from an even share, of three groups, at the records of the task."""
    n = 90
    error = sqrt((1 / 3) * (2 / 3) / n)
    near, far = int(n * (1 / 3 + 1.99 * error)), int(np.ceil(n * (1 / 3 + 2.01 * error)))
    for count, told in ((near, True), (far, False)):
        shares = np.array([[count], [0], [n - count]])
        counts = replace(
            joint(TRUTH),
            n=np.array([[500]]),
            right=np.array([[n]]),
            joint=shares,
            right_labels=joint(TRUTH).right_labels[:1],
        )
        found = metric._doubts(counts, counts, metric.mals_pairs(counts, counts), True)
        assert any("so near 1/3" in words for words in found) == told
        assert metric._doubts(counts, counts, metric.mals_pairs(counts, counts), False) == ()


def test_columns_in_the_place_of_others() -> None:
    import biasamp

    with pytest.raises(ValueError, match="are the same column"):
        biasamp.mals(A, T, A_HAT, T)
    with pytest.raises(ValueError, match="are the same column"):
        biasamp.mals(A, A, A_HAT, T_HAT)
