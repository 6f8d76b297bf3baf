"""Partial derivatives against finite differences of the definitions in high precision."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from biasamp.association.gaps import orientation, slope
from biasamp.association.metrics import METRICS


def gap(metric, n, x1, x2, y, x1y, x2y, literal):
    def value(x, xy):
        pmi = mp.log(xy / (x * y))
        spread = mp.sqrt(x * (1 - x) * y * (1 - y))
        sign = -1 if literal else 1
        if literal and metric == "tau_b":
            return (1 - 2 * x - 2 * y + 2 * xy + 2 * x * y + (2 * x + 2 * y - 4 * xy - 1) / n) / spread
        return {
            "dp": xy / x,
            "pmi": pmi,
            "npmi_y": sign * pmi / -mp.log(y),
            "npmi_xy": sign * pmi / -mp.log(xy),
            "pmi2": mp.log(xy**2 / (x * y)),
            "sdc": (1 if literal else 2) * xy / (x + y),
            "ji": xy / (x + y - xy),
            "llr": mp.log(xy / y),
            "tau_b": (xy - x * y) / spread,
            "t_test": (xy - x * y) / mp.sqrt(x * y),
        }[metric]

    return value(x1, x1y) - value(x2, x2y)


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_orientation_agrees_with_finite_differences(metric, literal):
    rng = np.random.default_rng(1)
    for _ in range(10):
        x1, x2, y = rng.uniform(0.05, 0.6, 3)
        x1y, x2y = min(x1, y) * rng.uniform(0.1, 0.9), min(x2, y) * rng.uniform(0.1, 0.9)
        point = [mp.mpf(v) for v in (x1, x2, y, x1y, x2y)]
        found = orientation(metric, 500, x1, x2, y, x1y, x2y, paper_literal=literal)
        with mp.workdps(50):
            for place, analytic in zip((2, 3, 4), found, strict=True):
                step = mp.mpf(10) ** -15
                up, down = list(point), list(point)
                up[place] += step
                down[place] -= step
                numeric = (gap(metric, 500, *up, literal) - gap(metric, 500, *down, literal)) / (2 * step)
                assert float(analytic) == pytest.approx(float(numeric), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_slope_by_p_x_agrees_with_finite_differences(metric):
    x, y, xy, step = mp.mpf("0.3"), mp.mpf("0.2"), mp.mpf("0.09"), mp.mpf(10) ** -15
    with mp.workdps(50):
        one = lambda x_: gap(metric, 500, x_, mp.mpf("0.5"), y, xy, mp.mpf("0.1"), False)
        numeric = (one(x + step) - one(x - step)) / (2 * step)
    assert float(slope(metric, 500, 0.3, 0.2, 0.09).x) == pytest.approx(float(numeric), rel=1e-10, abs=1e-12)


def test_published_orientations_that_are_right():
    """Table 4 of the paper, the entries without errata."""
    x1, x2, y, x1y, x2y = 0.3, 0.2, 0.1, 0.05, 0.02
    at = (500, x1, x2, y, x1y, x2y)
    assert orientation("dp", *at) == pytest.approx((0, 1 / x1, -1 / x2))
    assert orientation("pmi", *at) == pytest.approx((0, 1 / x1y, -1 / x2y))
    assert orientation("pmi2", *at) == pytest.approx((0, 2 / x1y, -2 / x2y))
    assert orientation("llr", *at) == pytest.approx((0, 1 / x1y, -1 / x2y))
    printed = orientation("sdc", *at, paper_literal=True)
    by_y = x2y / (x2 + y) ** 2 - x1y / (x1 + y) ** 2
    assert printed == pytest.approx((by_y, 1 / (x1 + y), -1 / (x2 + y)))
