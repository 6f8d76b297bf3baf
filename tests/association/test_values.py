"""Delta-method errors against record-level influence values and against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp.association.gaps import association_gap
from biasamp.association.metrics import METRICS
from biasamp.association.values import Moments, contrast_weights, gap_intervals


def moments_of(x, y):
    joint = np.einsum("ik,im,il->lkm", x, x, y)
    return Moments(len(x), y.sum(axis=0), x.T @ x, joint)


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_errors_agree_with_the_jackknife(metric, literal):
    """Leave one record out at a time: an error that uses neither derivatives nor covariances."""
    rng = np.random.default_rng(1)
    x = (rng.random((400, 2)) < [0.5, 0.4]).astype(float)
    y = (rng.random((400, 1)) < 0.2 + 0.2 * x[:, :1]).astype(float)
    _, _, error = gap_intervals(moments_of(x, y), metric, (0, 1), paper_literal=literal)
    left = []
    for i in range(len(x)):
        rest = np.delete(np.arange(len(x)), i)
        x_, y_ = x[rest], y[rest, 0]
        left.append(
            association_gap(
                metric, len(rest), *x_.sum(axis=0), y_.sum(), *(x_ * y_[:, None]).sum(axis=0), paper_literal=literal
            )
        )
    left = np.array(left)
    jackknife = np.sqrt((len(x) - 1) * ((left - left.mean()) ** 2).mean())
    assert error[0] == pytest.approx(jackknife, rel=0.03)


def test_one_against_the_rest_uses_all_covariances():
    rng = np.random.default_rng(2)
    x = (rng.random((3000, 3)) < [0.5, 0.4, 0.3]).astype(float)
    y = (rng.random((3000, 1)) < 0.3).astype(float)
    _, _, error = gap_intervals(moments_of(x, y), "dp", (0, None))
    share = x / x.sum(axis=0)
    rate = (share * y).sum(axis=0)
    influence = (share * (y - rate)) @ contrast_weights((0, None), 3)
    assert error[0] == pytest.approx(np.sqrt((influence**2).sum()), rel=1e-6)


@pytest.mark.parametrize("both", [0.0, 0.3])
def test_coverage_where_ten_are_expected(both):
    """Many labels of one design at once: 3000 labels whose expected count with each identity is 10 to 60."""
    rng = np.random.default_rng(5)
    n, labels = 4000, 3000
    alone = 0.3 if both == 0 else 0.2
    pattern = rng.choice(4, n, p=[1 - 2 * alone - both, alone, alone, both])
    sizes = np.bincount(pattern, minlength=4)
    rate = np.exp(rng.uniform(np.log(10.0), np.log(60.0), labels)) / (alone + both) / n
    tilt = np.exp(rng.normal(0, 0.3, labels))
    rates = np.column_stack([rate, rate * tilt, rate / tilt, rate])
    held = rng.binomial(sizes, rates)
    x1, x2 = sizes[1] + sizes[3], sizes[2] + sizes[3]
    shared = held[:, 3]
    joint = np.stack([np.stack([held[:, 1] + shared, shared], 1), np.stack([shared, held[:, 2] + shared], 1)], 1)
    moments = Moments(n, held.sum(axis=1), [[x1, sizes[3]], [sizes[3], x2]], joint)
    mean = rates * sizes
    for metric in METRICS:
        truth = association_gap(metric, n, x1, x2, mean.sum(axis=1), mean[:, 1] + mean[:, 3], mean[:, 2] + mean[:, 3])
        low, high, _ = gap_intervals(moments, metric, (0, 1))
        assert 0.925 < ((low <= truth) & (truth <= high)).mean() < 0.97, metric


def test_zero_co_occurrence_has_an_open_interval():
    moments = Moments(1000, [30], [[300, 0], [0, 300]], [[[0, 0], [0, 12]]])
    low, high, error = gap_intervals(moments, "pmi", (0, 1))
    assert low[0] == -np.inf
    assert high[0] < 0
    assert np.isnan(error[0])
    low, high, _ = gap_intervals(moments, "npmi_xy", (0, 1))
    assert -2 <= low[0] <= association_gap("npmi_xy", 1000, 300, 300, 30, 0, 12) <= high[0]
