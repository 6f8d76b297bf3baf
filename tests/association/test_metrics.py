"""The records of the metrics against 60-digit arithmetic, scipy, their own ranges and the documentation."""

from __future__ import annotations

import math
from math import inf, nan
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from associations import association
from biasamp.amplification.signs import product_difference
from biasamp.association.gaps import association_gap
from biasamp.association.metrics import METRICS, metric_names

TOLERANCE = 1e-12


def reference(metric, n, x, y, xy, literal=False):
    """The table of the definitions, in 60 digits, written without regard to the code under test."""
    with mp.workdps(60):
        px, py, pxy = mp.mpf(x) / n, mp.mpf(y) / n, mp.mpf(xy) / n
        pmi = lambda: mp.log(pxy / (px * py))
        spread = lambda: mp.sqrt((px - px**2) * (py - py**2))
        if literal and metric == "npmi_y":
            return pmi() / mp.log(py)
        if literal and metric == "npmi_xy":
            return pmi() / mp.log(pxy)
        if literal and metric == "sdc":
            return pxy / (px + py)
        if literal and metric == "tau_b":  # equation 23
            first = mp.mpf(n) ** 2 * (1 - 2 * px - 2 * py + 2 * pxy + 2 * px * py)
            return (first + n * (2 * px + 2 * py - 4 * pxy - 1)) / (mp.mpf(n) ** 2 * spread())
        formulas = {
            "dp": lambda: pxy / px,
            "pmi": pmi,
            "npmi_y": lambda: pmi() / -mp.log(py),
            "npmi_xy": lambda: pmi() / -mp.log(pxy),
            "pmi2": lambda: mp.log(pxy**2 / (px * py)),
            "sdc": lambda: 2 * pxy / (px + py),
            "ji": lambda: pxy / (px + py - pxy),
            "llr": lambda: mp.log(pxy / py),
            "tau_b": lambda: (pxy - px * py) / spread(),
            "t_test": lambda: (pxy - px * py) / mp.sqrt(px * py),
        }
        assert metric in formulas, f"{metric}: write its formula here, from its definition"
        return formulas[metric]()


def close(found, wanted, size=1):
    error = abs(mp.mpf(float(found)) - wanted)
    return error <= TOLERANCE * max(size, abs(wanted))


@st.composite
def pairs_of_tables(draw):
    """n, C(x1), C(x2), C(y), C(x1,y), C(x2,y) of inner tables: nothing is 0, nothing is n."""
    n = draw(st.sampled_from([4, 10, 97, 10_000, 10**7, 3 * 10**9, 10**12]))
    y = draw(st.integers(1, n - 1))
    out = [n]
    sizes, joints = [], []
    for _ in range(2):
        x = draw(st.integers(1, n - 1))
        low, high = max(1, x + y - n), min(x, y)
        independent = min(max(low, round(x * y / n)), high)
        joints.append(draw(st.one_of(st.integers(low, high), st.just(independent))))
        sizes.append(x)
    return (*out, *sizes, y, *joints)


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
@given(table=pairs_of_tables())
def test_values_and_gaps_agree_with_high_precision(metric, literal, table):
    n, x1, x2, y, a, b = table
    first, second = reference(metric, n, x1, y, a, literal), reference(metric, n, x2, y, b, literal)
    assert close(association(metric, n, x1, y, a, paper_literal=literal), first)
    assert close(association(metric, n, x2, y, b, paper_literal=literal), second)
    gap = association_gap(metric, n, x1, x2, y, a, b, paper_literal=literal)
    # The difference of two values loses the digits that they share; a closed form does not.
    size = 1 if METRICS[metric].form(literal).closed_gap else max(1, abs(first), abs(second))
    with mp.workdps(60):
        assert close(gap, first - second, size)


def _edge(**values):
    return values


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # n, C(x), C(y), C(x,y): the label never meets the identity
        ((100, 40, 10, 0), _edge(dp=0, pmi=-inf, npmi_y=-inf, npmi_xy=-1, pmi2=-inf, sdc=0, ji=0, llr=-inf,
                                tau_b=-400 / math.sqrt(40 * 60 * 10 * 90), t_test=-0.2)),
        # no record has the identity
        ((100, 0, 10, 0), _edge(dp=nan, pmi=nan, npmi_y=nan, npmi_xy=nan, pmi2=nan, sdc=0, ji=0, llr=-inf,
                               tau_b=nan, t_test=nan)),
        # no record has the label
        ((100, 40, 0, 0), _edge(dp=0, pmi=nan, npmi_y=nan, npmi_xy=nan, pmi2=nan, sdc=0, ji=0, llr=nan,
                               tau_b=nan, t_test=nan)),
        # everybody has the label
        ((100, 40, 100, 40), _edge(dp=1, pmi=0, npmi_y=nan, npmi_xy=0, pmi2=math.log(0.4), sdc=80 / 140,
                                  ji=0.4, llr=math.log(0.4), tau_b=nan, t_test=0)),
        # everybody has both
        ((100, 100, 100, 100), _edge(dp=1, pmi=0, npmi_y=nan, npmi_xy=nan, pmi2=0, sdc=1, ji=1, llr=0,
                                    tau_b=nan, t_test=0)),
        # identity and label are the same records
        ((100, 40, 40, 40), _edge(dp=1, pmi=math.log(2.5), npmi_y=1, npmi_xy=1, pmi2=0, sdc=1, ji=1, llr=0,
                                 tau_b=1, t_test=0.6)),
    ],
)  # fmt: skip
def test_every_edge_has_its_limit_or_is_undefined(counts, expected):
    for metric, value in expected.items():
        assert association(metric, *counts) == pytest.approx(value, abs=1e-15, nan_ok=True), metric


def test_tau_b_is_kendalls_of_the_records():
    rng = np.random.default_rng(5)
    for _ in range(20):
        x, y = rng.random(60) < 0.4, rng.random(60) < 0.3
        expected = kendalltau(x, y).statistic
        found = association("tau_b", 60, x.sum(), y.sum(), (x & y).sum())
        assert float(found) == pytest.approx(expected, abs=1e-12)


def test_products_beyond_64_bits_keep_their_difference():
    n, x, y = 3 * 10**9, 10**9, 7 * 10**8 + 1
    xy = x * y // n
    assert int(product_difference(float(n), float(xy), float(x), float(y))) == n * xy - x * y


def test_unknown_metrics_are_named():
    with pytest.raises(ValueError, match=r"'pmi3'.*npmi_xy"):
        metric_names(["pmi", "pmi3"])
    assert metric_names("all") == tuple(METRICS)


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_values_stay_in_the_range_of_the_record(metric):
    n, x, y = 1000, *np.random.default_rng(8).integers(1, 1000, (2, 4000))
    low, high = np.maximum(0, x + y - n), np.minimum(x, y)
    for xy in (low, high, (low + high) // 2):
        value = association(metric.name, n, x, y, xy)
        defined = value[~np.isnan(value)]
        assert defined.min() >= metric.low - TOLERANCE
        assert defined.max() <= metric.high + TOLERANCE


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_every_metric_stands_in_the_docs(metric):
    """The table of docs/metrics.md has each record's name, formula, range, value under independence and printed form."""
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    printed = "" if metric.as_printed is None else metric.as_printed.formula
    formula = metric.formula.replace("|", "\\|")
    row = f"| `{metric.name}` | `{formula}` | {metric.low:g} to {metric.high:g} | `{metric.independent}` | {printed} |"
    assert row in page, f"docs/metrics.md misses the row: {row}"
