"""Gaps and slopes of every metric at zeros and at counts that floats do not hold, and what each record says."""

from __future__ import annotations

import math
from math import inf, log, nan
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from associations import association
from biasamp.association.association_metric import AssociationMetric, Counts
from biasamp.association.gaps import association_gap, slope
from biasamp.association.metrics import METRICS, metric_form, metric_names, register, usual_metric

LOGARITHMS = ["pmi", "pmi2", "llr"]


def shares(metric: str, n: Any, x: Any, y: Any, xy: Any, literal: bool) -> Any:
    """A(x, y) of shares, from the paper's definitions and, where ``literal``, its print."""
    pmi = lambda: mp.log(xy / (x * y))
    spread = lambda: mp.sqrt(x * (1 - x) * y * (1 - y))
    if literal and metric == "tau_b":
        # Equation 23 of a two-by-two table, its four cells a, b, c, d.
        a, b, c, d = n * xy, n * (x - xy), n * (y - xy), n * (1 - x - y + xy)
        pairs = sum(sign * cell * (cell - 1) / 2 for sign, cell in ((1, a), (1, d), (-1, b), (-1, c)))
        return 2 * pairs / mp.sqrt(n**4 * x * (1 - x) * y * (1 - y))
    sign = -1 if literal else 1
    return {
        "dp": lambda: xy / x,
        "pmi": pmi,
        "npmi_y": lambda: sign * pmi() / -mp.log(y),
        "npmi_xy": lambda: sign * pmi() / -mp.log(xy),
        "pmi2": lambda: mp.log(xy**2 / (x * y)),
        "sdc": lambda: (1 if literal else 2) * xy / (x + y),
        "ji": lambda: xy / (x + y - xy),
        "llr": lambda: mp.log(xy / y),
        "tau_b": lambda: (xy - x * y) / spread(),
        "t_test": lambda: (xy - x * y) / mp.sqrt(x * y),
    }[metric]()


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_slopes_are_derivatives_by_each_share(metric: str, literal: bool) -> None:
    points = [(0.3, 0.2, 0.09), (0.71, 0.55, 0.45), (0.06, 0.4, 0.05)]
    found = slope(metric, 17, *np.array(points).T, paper_literal=literal)
    with mp.workdps(50):
        step = mp.mpf(10) ** -16
        for at, point in enumerate(points):
            for place, name in enumerate(("x", "y", "xy")):
                up, down = list(map(mp.mpf, point)), list(map(mp.mpf, point))
                up[place] += step
                down[place] -= step
                wanted = (shares(metric, 17, *up, literal) - shares(metric, 17, *down, literal)) / (2 * step)
                assert float(getattr(found, name)[at]) == pytest.approx(float(wanted), rel=1e-11, abs=1e-13), name


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_values_are_those_of_shares(metric: str, literal: bool) -> None:
    for n, x, y, xy in ((7, 3, 4, 2), (1000, 30, 900, 29), (50, 25, 25, 1), (10**6, 10**5, 10**4, 10**3)):
        wanted = shares(metric, n, mp.mpf(x) / n, mp.mpf(y) / n, mp.mpf(xy) / n, literal)
        assert float(association(metric, n, x, y, xy, paper_literal=literal)) == pytest.approx(
            float(wanted), rel=1e-13, abs=1e-15
        )


# n, C(x1), C(x2), C(y), C(x1,y), C(x2,y): the gap by each metric.
EDGES: list[tuple[tuple[int, ...], dict[str, float]]] = [
    # The label meets the first identity alone.
    ((100, 40, 50, 10, 8, 0), {"dp": 0.2, "pmi": inf, "npmi_y": inf, "npmi_xy": log(2) / -log(0.08) + 1, "pmi2": inf,
                               "sdc": 16 / 50, "ji": 8 / 42, "llr": inf}),
    # It meets the second alone.
    ((100, 40, 50, 10, 0, 8), {"dp": -0.16, "pmi": -inf, "npmi_y": -inf, "npmi_xy": -1 - log(1.6) / -log(0.08),
                               "pmi2": -inf, "sdc": -16 / 60, "ji": -8 / 52, "llr": -inf}),
    # It meets neither.
    ((100, 40, 50, 10, 0, 0), {"dp": 0, "pmi": nan, "npmi_y": nan, "npmi_xy": 0, "pmi2": nan, "sdc": 0, "ji": 0, "llr": nan}),
    # No record has the first identity.
    ((100, 0, 50, 10, 0, 5), {"dp": nan, "pmi": nan, "npmi_y": nan, "npmi_xy": nan, "pmi2": nan, "sdc": -10 / 60,
                              "ji": -5 / 55, "llr": -inf, "tau_b": nan, "t_test": nan}),
    # No record has the second.
    ((100, 50, 0, 10, 5, 0), {"dp": nan, "pmi": nan, "npmi_y": nan, "npmi_xy": nan, "pmi2": nan, "sdc": 10 / 60,
                              "ji": 5 / 55, "llr": inf, "tau_b": nan, "t_test": nan}),
    # No record has the label.
    ((100, 40, 50, 0, 0, 0), {"dp": 0, "pmi": nan, "npmi_y": nan, "npmi_xy": nan, "pmi2": nan, "sdc": 0, "ji": 0,
                              "llr": nan, "tau_b": nan, "t_test": nan}),
    # Every record has it.
    ((100, 40, 50, 100, 40, 50), {"dp": 0, "pmi": 0, "npmi_y": nan, "npmi_xy": 0, "pmi2": log(0.8), "sdc": 80 / 140 - 100 / 150,
                                  "ji": -0.1, "llr": log(0.8), "tau_b": nan, "t_test": 0}),
    # Every record has the first identity: no rank correlation.
    ((100, 100, 50, 10, 10, 8), {"dp": 0.1 - 0.16, "pmi": -log(1.6), "llr": log(10 / 8), "tau_b": nan, "t_test": -0.03 / math.sqrt(0.05)}),
    # A label of one record.
    ((100, 40, 50, 1, 1, 0), {"dp": 1 / 40, "pmi": inf, "npmi_y": inf, "llr": inf, "sdc": 2 / 41, "ji": 1 / 40}),
    # Of all but one.
    ((4, 2, 2, 3, 2, 1), {"dp": 0.5, "pmi": log(2), "npmi_y": log(2) / -log(0.75), "npmi_xy": log(4 / 3) / log(2) - log(2 / 3) / log(4)}),
]  # fmt: skip


@pytest.mark.parametrize(("counts", "wanted"), EDGES)
def test_gaps_at_every_edge(counts: tuple[int, ...], wanted: dict[str, float]) -> None:
    for metric, value in wanted.items():
        found = association_gap(metric, *counts)
        assert float(found) == pytest.approx(value, rel=1e-13, abs=1e-15, nan_ok=True), metric
        # As printed, nPMI has the other sign and SDC no factor 2; nothing is -0.0.
        factor = {"npmi_y": -1, "npmi_xy": -1, "sdc": 0.5}.get(metric, 1)
        if metric != "tau_b":
            printed = float(association_gap(metric, *counts, paper_literal=True))
            assert printed == pytest.approx(factor * value, rel=1e-13, abs=1e-15, nan_ok=True), metric
            assert printed != 0 or math.copysign(1, printed) == 1, metric


def test_printed_values_at_their_limits() -> None:
    for metric, value in (("npmi_y", inf), ("npmi_xy", 1), ("sdc", 0), ("dp", 0)):
        assert float(association(metric, 100, 40, 10, 0, paper_literal=True)) == value
    assert np.isnan(
        association("tau_b", 100, [0, 100, 40, 40], [10, 10, 0, 100], [0, 10, 0, 40], paper_literal=True)
    ).all()
    assert math.copysign(1, float(association("npmi_xy", 100, 50, 50, 25, paper_literal=True))) == 1


def test_tau_b_as_printed_keeps_its_digits_where_products_cancel() -> None:
    """Concordant and discordant pairs of 10^9 records that all but balance."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        n = int(rng.integers(10**9, 3 * 10**9))
        x = n // 2 + int(rng.integers(-3, 4))
        y = int(rng.integers(n // 10, n // 2))
        xy = y // 2 + int(rng.integers(-3, 4))
        with mp.workdps(60):
            wanted = shares("tau_b", n, mp.mpf(x) / n, mp.mpf(y) / n, mp.mpf(xy) / n, True)
        assert float(association("tau_b", n, x, y, xy, paper_literal=True)) == pytest.approx(float(wanted), rel=1e-9)


def test_equal_ratios_give_equal_gaps_where_products_pass_what_floats_hold() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(1, 10**6, (2, 500))
    factor = rng.integers(2, 10**4, 500)
    n, x1, x2 = 10**14, 33_333_333_333_331, 28_571_428_571_429
    for metric in LOGARITHMS:
        small = association_gap(metric, n, x1, x2, 2 * 10**10, a, b)
        large = association_gap(metric, n, x1, x2, 2 * 10**10, a * factor, b * factor)
        assert (small == large).all(), metric
        assert small == pytest.approx(np.log(a / b) * (2 if metric == "pmi2" else 1) - (metric != "llr") * log(x1 / x2))


@pytest.mark.parametrize("metric", LOGARITHMS)
def test_ratios_of_fractions_and_of_counts_beyond_64_bits(metric: str) -> None:
    n, x1, x2 = 2.0**70, 2.0**69, 2.0**68
    cases = [
        ([0.5, 3.0], [2.25, 9.0]),
        ([3.0, 8.0], [2.25, 12.0]),
        ([2.5, 8.0], [5.0, 12.0]),
        ([2.0**63, 6.0], [3.0, 4.0]),
        ([3.0, 6.0], [2.0**63, 4.0]),
        ([2.0**66, 2.0**65], [2.0**65, 2.0**66]),
        ([2.0**62, 2.0**61 * 3], [2.0**61, 2.0**62 * 3]),
    ]
    for a, b in cases:
        ratio = np.log(np.array(a) / b)
        wanted = {"pmi": ratio - log(2), "llr": ratio, "pmi2": 2 * ratio - log(2)}[metric]
        assert association_gap(metric, n, x1, x2, 2.0**67, a, b) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_one_record_is_enough(metric: str) -> None:
    for counts in ((2, 1, 1, 1), (5, 1, 1, 1), (5, 1, 3, 1), (5, 3, 1, 1)):
        n, x, y, xy = counts
        wanted = float(shares(metric, n, *(mp.mpf(held) / n for held in (x, y, xy)), False))
        assert float(association(metric, *counts)) == pytest.approx(wanted, rel=1e-13), counts
    for counts in ((9, 1, 2, 2, 1, 1), (9, 2, 1, 2, 1, 1), (9, 2, 2, 1, 1, 1)):
        n, *sizes, y, a, b = counts
        one, two = (float(association(metric, n, x, y, xy)) for x, xy in zip(sizes, (a, b), strict=True))
        assert float(association_gap(metric, *counts)) == pytest.approx(one - two, rel=1e-12, abs=1e-15), counts


def test_what_rounding_leaves_of_counts_that_are_0_is_no_count() -> None:
    """Fractional counts may miss each other by 1e-9 of all records: without the identity, or the label, nothing is known."""
    dust = 1e-9
    for metric in ("pmi", "npmi_y", "npmi_xy", "pmi2", "t_test", "tau_b"):
        for x, y in ((0, 10), (40, 0), (0, 0)):
            assert np.isnan(association(metric, 100, x, y, dust)), (metric, x, y)
    for metric in ("pmi", "npmi_y", "pmi2"):
        for x1, x2, y, a, b in ((0, 50, 10, dust, 5), (40, 0, 10, 8, dust), (40, 50, 0, dust, dust)):
            assert np.isnan(association_gap(metric, 100, x1, x2, y, a, b)), (metric, x1, x2, y)
    assert np.isnan(association("llr", 100, 40, 0, dust))
    assert np.isnan(association_gap("llr", 100, 40, 50, 0, dust, 2 * dust))
    # All records with the label, but for rounding.
    assert np.isnan(association("npmi_y", 100, 40, 100 + dust, 40))
    assert np.isnan(association("npmi_y", 100, 40, 100, 40 - dust))
    assert np.isnan(association_gap("npmi_y", 100, 40, 50, 100, 40 - dust, 50))
    assert np.isnan(association("npmi_xy", 100, 100, 100, 100 + dust))
    assert np.isnan(association("npmi_xy", 100, 100, 100 + dust, 100))


def test_npmi_of_one_record_that_lacks_the_other() -> None:
    for x, y in ((1, 5), (5, 1), (1, 1)):
        assert float(association("npmi_xy", 10, x, y, 0)) == -1


def test_what_moves_nothing_has_a_slope_of_0() -> None:
    """DP does not move with p(y), LLR not with p(x), where these are 0 too."""
    assert slope("dp", 10, 0.5, [0.0, 0.5], [0.0, 0.25]).y.tolist() == [0, 0]
    assert slope("llr", 10, [0.0, 0.5], 0.5, [0.0, 0.25]).x.tolist() == [0, 0]


def test_gaps_of_no_label_are_none() -> None:
    none = np.zeros(0)
    for metric in METRICS:
        assert association_gap(metric, 10, 5, 4, none, none, none).shape == (0,)


def test_what_the_records_say() -> None:
    assert [name for name, metric in METRICS.items() if metric.ratio] == LOGARITHMS
    assert [name for name, metric in METRICS.items() if not metric.zero_null] == ["pmi2", "sdc", "ji", "llr"]
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.page_formula
        assert metric.leans == 1
        assert "Aka et al. (2021)" in metric.paper
        assert ("its gap is not 0 under independence" in " ".join(metric.cautions)) is not metric.zero_null
    printed = {name: metric.as_printed for name, metric in METRICS.items() if metric.as_printed is not None}
    assert list(printed) == ["npmi_y", "npmi_xy", "sdc", "tau_b"]
    assert {name: held.leans for name, held in printed.items()} == {"npmi_y": -1, "npmi_xy": -1, "sdc": 1, "tau_b": 1}
    tau = printed["tau_b"]
    assert (tau.low, tau.high, tau.zero_null) == (-inf, inf, False)
    bounds = {name: metric.bound for name, metric in METRICS.items()}
    assert bounds == {
        "dp": 1, "pmi": inf, "npmi_y": inf, "npmi_xy": 2, "pmi2": inf, "sdc": 1, "ji": 1, "llr": inf, "tau_b": 2, "t_test": 2,
    }  # fmt: skip


def test_the_value_under_independence_is_what_the_record_says() -> None:
    n, x, y = 1000.0, 400.0, 50.0
    p, q = x / n, y / n
    said = {"0": 0, "P(y)": q, "ln(P(x) P(y))": log(p * q), "2 P(x) P(y) / (P(x) + P(y))": 2 * p * q / (p + q),
            "P(x) P(y) / (P(x) + P(y) - P(x) P(y))": p * q / (p + q - p * q), "ln P(x)": log(p)}  # fmt: skip
    for name, metric in METRICS.items():
        assert float(association(name, n, x, y, x * y / n)) == pytest.approx(said[metric.independent], abs=1e-15)


def test_metrics_are_asked_for_by_name() -> None:
    assert metric_names("dp") == ("dp",)
    assert metric_names(["llr", "dp", "llr"]) == ("llr", "dp")
    assert metric_names(("all",) if "all" in METRICS else "all") == tuple(METRICS)
    for wrong, said in ((["all"], "'all'"), ([], "nothing"), (["dp", "x", "y"], "'x', 'y'"), ("sdcc", "'sdcc'")):
        with pytest.raises(ValueError, match=f"metrics asks for {said};"):
            metric_names(wrong)
    with pytest.raises(ValueError, match="metric is 'dq'"):
        metric_form("dq")


def test_forms_are_as_defined_or_as_printed() -> None:
    for name, metric in METRICS.items():
        assert metric_form(name) is metric_form(name, False) is metric
        assert metric_form(name, True) is (metric.as_printed or metric)


def test_npmi_is_shown_where_it_is_there() -> None:
    assert usual_metric(("dp", "npmi_xy")) == "npmi_xy"
    assert usual_metric(("llr", "dp")) == "llr"


def test_a_metric_that_is_registered_is_found() -> None:
    held = METRICS["dp"]
    odds = AssociationMetric(
        name="odds", symbol="o", title="o", formula="o", low=0, high=1, independent="0", zero_null=True, words="o", paper="o",
        value=held.value, slope=held.slope,
    )  # fmt: skip
    register(odds)
    try:
        assert metric_form("odds") is odds
        with pytest.raises(ValueError, match="'odds' is registered already"):
            register(odds)
        assert float(odds.gap(Counts(10, 5, 4, 3), Counts(10, 4, 4, 1))) == pytest.approx(0.35)
    finally:
        del METRICS["odds"]
