"""Bounds of amplification where directions are not all known, against a slow reference of the definition."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from benchmarks.decisions.gates import bound_shares, model
from scipy import stats

import biasamp
from biasamp.amplification.bounds import clustered_sign_p, tied_signs, worse_signs_of_all
from biasamp.counts.bagging import bag_of_record
from biasamp.counts.bags import BagCounts
from biasamp.counts.pair import PairCounts
from evaluations import make

LIMIT = 0.02


def sample(seed: int, n: int = 300, tasks: int = 3, lean: tuple[float, ...] = (0.3, 0.02, 0.0)) -> Any:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    rates = 0.3 + np.resize(lean, tasks) * group[:, None]
    truth = (rng.random((n, tasks)) < rates).astype(int)
    return group, truth, np.where(rng.random(truth.shape) < 0.08, 1 - truth, truth)


def reference(group: np.ndarray, truth: np.ndarray, said: np.ndarray) -> tuple[float, float, int]:
    """Two groups and yes/no tasks, record by record; a task's two signs are one."""
    tasks, n = truth.shape[1], len(group)
    ups, downs, unknown = [], [], 0
    for k in range(tasks):
        table = [[((group == g) & (truth[:, k] == v)).sum() for v in (0, 1)] for g in (0, 1)]
        clear = stats.fisher_exact(table).pvalue < 0.01 / tasks
        sign = np.sign(truth[group == 0, k].mean() - truth[group == 1, k].mean())
        signs = np.array([sign, -sign]) if sign else np.array([1.0, -1.0])
        change = [(said[group == g, k] - truth[group == g, k]).mean() for g in (0, 1)]
        turned = signs if signs @ change >= 0 else -signs
        unknown += 0 if clear else 2
        ups.append(signs if clear else turned)
        downs.append(signs if clear else -turned)
    out = []
    for signs, side in ((np.array(downs), -1.0), (np.array(ups), 1.0)):
        value, influence, excess = 0.0, np.zeros(n), 0.0
        for k in range(tasks):
            for g in (0, 1):
                d = (said[:, k] - truth[:, k])[group == g]
                m = len(d)
                value += signs[k, g] * d.mean()
                influence[group == g] += signs[k, g] * (d - d.mean()) / m
                adjusted = (((d**2).sum() + 2) / (m + 2) - (d.sum() / (m + 2)) ** 2) / (m + 2)
                excess += adjusted - d.var() / m
        pairs = 2 * tasks
        square = (influence**2).sum()
        error = np.sqrt(square * n / (n - 1) * (1 + 2 * excess / square)) / pairs
        out.append(value / pairs + side * 1.70 * error)
    return out[0], out[1], unknown


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_yes_no_tasks_by_hand(seed: int) -> None:
    group, truth, said = sample(seed)
    result = biasamp.directional(group, truth, said)
    low, high, unknown = reference(group, truth, said)
    made = result.bounds()
    # Bags hold a record or two each.
    assert (made.low, made.high) == pytest.approx((low, high), abs=0.1 * (high - low) / 2)
    assert result.unknown == unknown
    assert made.low <= result.value <= made.high


def test_a_tie_counts_with_its_worse_sign() -> None:
    group = np.repeat([0, 1], 100)
    truth = np.tile([0, 1], 100)
    said = truth.copy()
    said[group == 0] = 1
    result = biasamp.directional(group, truth, said)
    assert result.value == 0.0
    # The first group's rate of 1 rises by .5; of both pairs with it, and of the other group's two, the mean is .25.
    assert result.unknown == 4
    made = result.bounds()
    assert made.high > 0.25
    assert made.low == pytest.approx(-made.high)


def test_signs_that_follow_from_one_another_are_one() -> None:
    group, truth, said = sample(0)
    yes_no = PairCounts.from_labels(make(group, truth, said))
    assert tied_signs(yes_no).tolist() == [[0, 1, 2]] * 2
    two_values = PairCounts.from_labels(make(group, truth[:, 0], said[:, 0]))
    assert tied_signs(two_values).tolist() == [[0, 0]] * 2
    backward = PairCounts.from_labels(make(truth, group, group))
    assert tied_signs(backward).tolist() == [[0, 0], [1, 1], [2, 2]]
    three = PairCounts.from_labels(make(np.arange(300) % 3, truth, said))
    assert len(np.unique(tied_signs(three))) == 9


def test_train_labels_make_all_signs_known() -> None:
    group, truth, said = sample(1)
    result = biasamp.directional(group, truth, said, train=(group.copy(), truth.copy()))
    made = result.bounds()
    assert result.unknown == 0
    assert (made.low + made.high) / 2 == pytest.approx(result.value)
    wide = result.bounds(0.99)
    assert (wide.high - wide.low) / (made.high - made.low) == pytest.approx(stats.norm.ppf(0.99) / stats.norm.ppf(0.95))


def test_clusters_that_repeat_records_make_signs_unclear() -> None:
    group, truth, said = sample(2, n=100, tasks=1, lean=(0.2,))
    once = biasamp.directional(group, truth, said)
    people = np.repeat(np.arange(100), 8)
    repeated = biasamp.directional(group[people], truth[people], said[people], cluster=people)
    assert biasamp.directional(group[people], truth[people], said[people]).unknown == 0
    assert repeated.unknown == once.unknown > 0
    made, alone = repeated.bounds(), once.bounds()
    assert made.high >= 0.95 * alone.high


def test_more_pairs_than_bags_hold_have_the_same_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    group, truth, said = sample(3)
    whole = biasamp.directional(group, truth, said).bounds()
    monkeypatch.setattr("biasamp.resampling.sample.bags_for", lambda pairs: 2)
    result = biasamp.directional(group, truth, said)
    made = result.bounds()
    assert result.unknown > 0
    assert (made.low, made.high) == pytest.approx((whole.low, whole.high), rel=1e-6)


def test_bounds_are_in_the_document_the_flat_names_and_the_audit() -> None:
    group, truth, said = sample(4)
    result = biasamp.directional(group, truth, said)
    document = result.to_dict()
    assert document["bounds"] == [result.bounds().low, result.bounds().high]
    assert document["unknown"] == result.unknown
    assert document["clear_interval"] == [result.clear_interval.low, result.clear_interval.high]
    flat = result.to_dict(flat=True)
    assert [flat["directional_bound_low"], flat["directional_bound_high"]] == document["bounds"]
    data = {"g": group, **{f"t{k}": truth[:, k] for k in range(3)}, **{f"p{k}": said[:, k] for k in range(3)}}
    roles = {"tasks": ["t0", "t1", "t2"], "task_predictions": ["p0", "p1", "p2"]}
    audit = biasamp.audit(data, attributes="g", **roles)
    entry = next(e for e in audit.document["metrics"] if e["metric"] == "directional")
    assert entry["bounds"] == document["bounds"]
    assert entry["unknown"] == document["unknown"]
    assert biasamp.multi(group, truth, said).bounds() is None
    with pytest.raises(ValueError, match=r"strictly between 0\.5 and 1"):
        result.bounds(0.3)


def test_q_values_of_an_audit_are_over_all_its_pairs() -> None:
    group, truth, said = sample(5, n=400)
    other = np.random.default_rng(5).integers(0, 3, 400)
    names = {f"t{k}": truth[:, k] for k in range(3)} | {f"p{k}": said[:, k] for k in range(3)}
    audit = biasamp.audit(
        {"g": group, "h": other, **names},
        attributes=["g", "h"],
        tasks=["t0", "t1", "t2"],
        task_predictions=["p0", "p1", "p2"],
        metrics="directional",
    )
    pairs = [pair for entry in audit.document["metrics"] for pair in entry["pairs"]]
    assert len(pairs) == 15
    expected = stats.false_discovery_control([pair["p"] for pair in pairs])
    assert [pair["q"] for pair in pairs] == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "tasks", "lean"), [(200, 1, 0.15), (500, 20, 0.01), (500, 20, 0.15), (1000, 80, 0.05)]
)
@pytest.mark.parametrize("groups", [(0.5, 0.5), (0.02, 0.98)])
@pytest.mark.parametrize("errors", [0.0, 0.1])
def test_a_model_at_the_limit_seldom_passes(
    size: int, tasks: int, lean: float, groups: tuple[float, float], errors: float
) -> None:
    """At 5% of 200 samples, 6.5% are 13; a study of 200 has more in one of seven runs, so seeds are fixed."""
    case = model(size, tasks, lean, LIMIT, groups=groups, errors=errors)
    passed, _, over = bound_shares(case, LIMIT, 200)
    assert passed <= 0.065
    assert over <= 0.075


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [20, 80])
@pytest.mark.parametrize("lean", [0.0, 0.15])
def test_a_model_without_amplification_passes(tasks: int, lean: float) -> None:
    passed, _, _ = bound_shares(model(1000, tasks, lean, 0.0), LIMIT, 50)
    assert passed >= 0.96


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bootstrap", "bca", "closed_form"])
@pytest.mark.parametrize("size", [100, 200, 400])
@pytest.mark.parametrize("form", ["labels", "values", "multi"])
def test_rare_one_way_errors_are_covered(form: str, size: int, method: str) -> None:
    held = 0
    for stream in np.random.SeedSequence(1).spawn(150):
        rng = np.random.default_rng(stream)
        group = rng.integers(0, 2, size)
        truth = (rng.random(size) < np.where(group, 0.6, 0.3)).astype(int)
        said = truth.copy()
        said[(group == 1) & (truth == 0) & (rng.random(size) < 0.01 / 0.4)] = 1
        said[(group == 0) & (truth == 1) & (rng.random(size) < 0.01 / 0.3)] = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if form == "multi":
                result = biasamp.multi(group, truth, said)
            elif form == "labels":
                result = biasamp.directional(group, truth[:, None], said[:, None])
            else:
                result = biasamp.directional(group, truth, said)
            interval = result.quiet_interval(method=method, resamples=200)
        assert interval.low < interval.high
        held += interval.low <= 0.01 <= interval.high
    assert held >= 0.92 * 150


def test_signs_of_clusters_have_the_test_of_sums_over_clusters() -> None:
    """Each bag's sum of (g - P(g)) (o - P(o)) less its mean, record by record, and Student's tail."""
    group, truth, said = sample(5, n=400, tasks=2, lean=(0.15, 0.05))
    evaluation = make(group, truth, said)
    bags = BagCounts.from_labels(evaluation, 64)
    found = clustered_sign_p(bags, np.zeros((2, 2)))
    bag = bag_of_record(evaluation, 64)
    for g in range(2):
        for k in range(2):
            here, there = (group == g).astype(float), truth[:, k].astype(float)
            each = (here - here.mean()) * (there - there.mean())
            sums = [(each - each.mean())[bag == number].sum() for number in np.unique(bag)]
            z = abs(each.sum()) / np.sqrt(np.square(sums).sum())
            assert found[g, k] == pytest.approx(2 * stats.t.sf(z, len(sums) - 1), rel=1e-9)
    assert (clustered_sign_p(bags, np.ones((2, 2))) == 1.0).all()


@pytest.mark.parametrize(("p", "known"), [(0.0099, True), (0.0101, False)])
def test_one_direction_alone_is_known_at_the_whole_level(p: float, known: bool) -> None:
    """Two groups and a yes/no task have one direction: its level of 1% is shared with no other."""
    factor, delta = np.array([[[1, -1], [-1, 1]]]), np.array([[[0.1, -0.1], [-0.1, 0.1]]])
    held = worse_signs_of_all(True, [np.array([0, 1])], factor.astype(np.int8), delta, np.full((1, 2, 2), p))
    assert held.unknown.any() == (not known)
    # Of two tasks each has half of it.
    two = worse_signs_of_all(
        True,
        [np.array([0, 1]), np.array([2, 3])],
        np.tile(factor, 2).astype(np.int8),
        np.tile(delta, 2),
        np.full((1, 2, 4), 0.0051),
    )
    assert two.unknown.all()
