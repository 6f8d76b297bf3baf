"""How many records would decide: against the normal distribution, and against a search in small steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from biasamp.policy.figure import Figure, UnknownSigns
from biasamp.policy.limits import Limit
from biasamp.policy.more_records import _least, chance, in_words, more_records, records_for
from biasamp.results.interval import rounded_up

ERRORS = float(norm.ppf(0.975))
MOST = Limit(metric="directional", max=0.1)
LEAST = Limit(metric="mean_per_class_accuracy", min=0.6)
BOTH = Limit(metric="directional", min=-0.1, max=0.1)


def normal(value: float, error: float, **more: Any) -> Figure:
    half = ERRORS * error
    return replace(Figure("g", None, value, value - half, value + half, records=1000, errors=ERRORS), **more)


def share(p: float) -> float:
    """A chance as 2,000 even steps of it show it."""
    return float(np.floor(2000 * p + 0.5) / 2000)


def by_hand(limit: Limit, value: float, error: float, reach: float, still: float = 0.0) -> float:
    """The chance that an estimate with an error, and with ends as far as ``reach`` from it, lies on one side of a limit."""
    low, high = limit.min, limit.max
    within_low = -np.inf if low is None else (low + reach + still - value) / error
    within_high = np.inf if high is None else (high - reach - still - value) / error
    within = max(share(norm.cdf(within_high)) - share(norm.cdf(within_low)), 0.0)
    above = 0.0 if high is None else 1.0 - share(norm.cdf((high + reach + still - value) / error))
    below = 0.0 if low is None else share(norm.cdf((low - reach - still - value) / error))
    return float(within + above + below)


@pytest.mark.parametrize("factor", [1.0, 2.0, 5.0])
@pytest.mark.parametrize(
    ("limit", "value", "error"),
    [
        (MOST, 0.05, 0.02),
        (MOST, 0.14, 0.02),
        (MOST, 0.1, 0.02),
        (LEAST, 0.7, 0.06),
        (LEAST, 0.5, 0.05),
        (BOTH, 0.0, 0.04),
        (BOTH, 0.16, 0.03),
        (BOTH, -0.17, 0.03),
        (BOTH, 0.03, 0.04),
    ],
)
def test_the_chance_that_so_many_records_decide(limit: Limit, value: float, error: float, factor: float) -> None:
    """Estimates and ends shrink with the root of the number of records."""
    root = np.sqrt(factor)
    expected = by_hand(limit, value, error / root, ERRORS * error / root)
    assert chance(limit, normal(value, error), factor) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_ends_on_both_sides_have_their_own_reach(factor: float) -> None:
    """From 0.04 below to 0.02 above: the error is their mean, over as many errors as ends are away."""
    figure = Figure("g", None, 0.06, 0.02, 0.08, records=10, errors=1.7)
    error, root = 0.03 / 1.7, np.sqrt(factor)
    found = share(norm.cdf((0.1 - 0.02 / root - 0.06) / (error / root)))
    found += 1.0 - share(norm.cdf((0.1 + 0.04 / root - 0.06) / (error / root)))
    assert chance(MOST, figure, factor) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_what_stands_for_errors_not_seen_shrinks_with_the_number_itself(factor: float) -> None:
    """A third of the variance: it is no part of how estimates vary, and of the ends it becomes a third over the factor."""
    error, unseen = 0.03, 1.0 / 3.0
    reach = ERRORS * error * np.sqrt((1.0 - unseen) / factor + unseen / factor**2)
    expected = by_hand(MOST, 0.04, error * np.sqrt((1.0 - unseen) / factor), reach)
    assert chance(MOST, normal(0.04, error, unseen=unseen), factor) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("figure", "below", "above"),
    [
        (Figure("g", None, -0.95, -1.0, -0.8, errors=ERRORS), 0.15, 0.15),  # cut at -1
        (Figure("g", None, -0.95, -0.99, -0.8, errors=ERRORS), 0.04, 0.15),
        (Figure("g", None, 0.95, 0.8, 1.0, errors=ERRORS), 0.15, 0.15),  # cut at 1
        (Figure("g", None, 0.95, 0.8, 0.99, errors=ERRORS), 0.15, 0.04),
    ],
)
@pytest.mark.parametrize("limit", [Limit(metric="directional", min=-0.9, max=0.9)])
def test_an_end_that_is_cut_says_nothing_of_the_error(figure: Figure, below: float, above: float, limit: Limit) -> None:
    error = (below + above) / 2.0 / ERRORS
    assert figure.value is not None
    fails_high = 1.0 - share(norm.cdf((0.9 + below - figure.value) / error))
    fails_low = share(norm.cdf((-0.9 - above - figure.value) / error))
    within = share(norm.cdf((0.9 - above - figure.value) / error)) - share(
        norm.cdf((-0.9 + below - figure.value) / error)
    )
    assert chance(limit, figure, 1.0) == pytest.approx(fails_high + fails_low + max(within, 0.0), abs=1e-9)


def unknown(
    statistic: float, changes: tuple[float, ...], sizes: tuple[float, ...], needed: float = 3.0
) -> UnknownSigns:
    return UnknownSigns(np.array(changes), np.array(sizes), np.full(len(changes), statistic), needed)


def test_directions_that_are_never_told_stay_open() -> None:
    """0.05, of which 0.01 and -0.02 have no direction: 0.06 is sure, and the ends lie 0.03 and an error further."""
    error = 0.01
    figure = Figure("g", None, 0.05, 0.03 - ERRORS * error, 0.09 + ERRORS * error, errors=ERRORS)
    figure = replace(figure, unknown=unknown(0.0, (0.01, -0.02), (0.01, 0.02), needed=90.0))
    for factor in (1.0, 4.0, 16.0):
        now = error / np.sqrt(factor)
        expected = by_hand(MOST, 0.06, now, ERRORS * now, still=0.03)
        assert chance(MOST, figure, factor) == pytest.approx(expected, abs=1e-9)
    assert chance(MOST, figure, 1.0) < 0.5 < chance(MOST, figure, 16.0)


def test_directions_that_are_told_count_as_they_are_signed() -> None:
    """With 10,000 times the records they are told for certain: the value is 0.05, and nothing is open."""
    figure = Figure("g", None, 0.05, 0.03 - 0.5, 0.09 + 0.5, errors=ERRORS)
    figure = replace(figure, unknown=unknown(2.0, (0.01, -0.02), (0.01, 0.02)))
    error = 0.5 / ERRORS / 100.0
    for most in (0.051, 0.055, 0.06):
        expected = by_hand(Limit(metric="directional", max=most), 0.05, error, 0.005)
        assert chance(Limit(metric="directional", max=most), figure, 1e4) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("statistic", "factor"), [(1.0, 9.0), (1.5, 4.0), (2.0, 4.0), (2.0, 1.0)])
def test_a_direction_is_told_with_the_chance_of_its_statistic(statistic: float, factor: float) -> None:
    """Nothing else varies: it decides as often as a normal number about the statistic, times the root, reaches what is needed."""
    held = unknown(statistic, (0.04,), (0.04,))
    figure = Figure("g", None, 0.08, 0.0, 0.08, errors=ERRORS, unknown=held)
    limit = Limit(metric="directional", max=0.07)
    told = norm.sf(3.0 - statistic * np.sqrt(factor))
    assert chance(limit, figure, factor) == pytest.approx(told, abs=0.035)
    # At the worse sign it is within a wider limit, whether told or not.
    assert chance(MOST, figure, factor) == 1.0


def test_what_is_open_now_is_that_of_as_many_records() -> None:
    """A direction at 2.5 of 3 is told by twice the records, and not yet: 0.04 of the reach are its own, and 0.5 the error's."""
    figure = Figure(
        "g", None, 0.08, 0.04 - 0.04 - 0.5, 0.04 + 0.04 + 0.5, errors=ERRORS, unknown=unknown(2.5, (0.04,), (0.04,))
    )
    expected = by_hand(Limit(metric="directional", max=0.084), 0.08, 0.005 / ERRORS, 0.005)
    assert chance(Limit(metric="directional", max=0.084), figure, 1e4) == pytest.approx(expected, abs=1e-9)


def test_ends_nearer_than_what_is_unknown_have_no_error() -> None:
    figure = Figure("g", None, 0.05, 0.04, 0.06, errors=ERRORS, unknown=unknown(0.0, (0.0,), (0.03,), needed=90.0))
    assert chance(Limit(metric="directional", max=0.0801), figure, 1.0) == 1.0
    assert chance(Limit(metric="directional", max=0.0799), figure, 1.0) == 0.0


CASES = [
    (MOST, normal(0.08, 0.02)),
    (MOST, normal(0.09, 0.05)),
    (MOST, normal(0.13, 0.04)),
    (LEAST, normal(0.65, 0.05)),
    (BOTH, normal(0.07, 0.1)),
    (MOST, normal(0.08, 0.02, unseen=0.4)),
    (MOST, normal(0.05, 0.5)),
]


@pytest.mark.parametrize(("limit", "figure"), CASES)
def test_the_least_factor_that_decides_in_four_of_five_samples(limit: Limit, figure: Figure) -> None:
    factor = _least(limit, figure)
    assert factor is not None
    assert factor > 1.02
    assert chance(limit, figure, factor) >= 0.8
    assert chance(limit, figure, factor / 1.0201) < 0.8


def test_factors_up_to_a_thousand_are_looked_at() -> None:
    """(2.8016 errors / distance)**2 times the records: 880 is given, and 1,400 is out of sight."""
    for wanted, found in ((880.0, True), (1400.0, False)):
        distance = (ERRORS + norm.ppf(0.8)) * 0.05 / np.sqrt(wanted)
        factor = _least(MOST, normal(0.1 - distance, 0.05))
        assert factor == pytest.approx(wanted, rel=0.02) if found else factor is None


def test_a_chance_of_exactly_four_in_five_is_enough() -> None:
    """1,600 of 2,000 samples of 1.02 times the records lie within a limit between two of them."""
    error = 0.02 / np.sqrt(1.02)
    between = norm.ppf(np.array([1599.5, 1600.5]) / 2000).mean()
    limit = Limit(metric="directional", max=float(0.05 + error * (ERRORS + between)))
    figure = normal(0.05, 0.02)
    assert chance(limit, figure, 1.02) == 0.8
    assert _least(limit, figure) == 1.02
    assert _least(Limit(metric="directional", max=0.5), figure) == 1.02


SAID = "if the rates stay as they are"


@pytest.mark.parametrize(
    ("figure", "needed", "words"),
    [
        (
            normal(0.08, 0.02, lent=True),
            None,
            "more of the records that lend the signs (train labels, or a base) would tell them",
        ),
        (
            normal(0.08, 0.02, of_base=True),
            None,
            "more records here and in the base would tell; how many is not known, since rates of the base have an error of "
            "their own, which more records here do not make smaller",
        ),
        (normal(0.08, 0.02, records=None), None, "more records would tell"),
        (normal(0.08, 0.02, records=None, runs=2), None, "more seeds or records would tell"),
        (normal(0.08, 0.02, low=None), None, "more records would tell"),
        (normal(0.08, 0.02, high=None), None, "more records would tell"),
        # (2.8016 errors / distance)**2 = 7.85 times 1,000 records, within 2% of it, to two digits upwards
        (normal(0.08, 0.02), 8000, f"about 8,000 records in all would decide with a chance of 80%, {SAID}"),
        (normal(0.05, 0.001), 1100, f"about 1,100 records in all would decide with a chance of 80%, {SAID}"),
        (
            normal(0.1, 0.02),
            None,
            "the value is so near the limit that no number of records is in sight that would decide",
        ),
        (
            normal(0.1, 0.02, unknown=unknown(5.0, (0.001,), (0.001,))),
            None,
            "the value is so near the limit that no number of records is in sight that would decide",
        ),
        (
            normal(0.1, 0.02, unknown=unknown(0.0, (0.001,), (0.001,))),
            None,
            "no number of records is in sight that would tell all directions; train labels would",
        ),
        (  # told by 1,001 times the records, and not by 1,000
            normal(0.1, 0.02, unknown=unknown(3.0 / np.sqrt(1000.5), (0.001,), (0.001,))),
            None,
            "no number of records is in sight that would tell all directions; train labels would",
        ),
    ],
)
def test_the_number_in_words(figure: Figure, needed: int | None, words: str) -> None:
    assert more_records(MOST, figure) == (needed, words)


@pytest.mark.parametrize(("least", "held", "records"), [(30, 10, 400), (30, 29, 30), (100, 1, 5000), (30, 0.5, 100)])
def test_records_that_hold_as_many_in_four_of_five_samples(least: float, held: float, records: float) -> None:
    """Of N records, N s have it on average, give or take the root of N s (1 - s)."""
    s = held / records
    z = norm.ppf(0.8)
    exact = brentq(lambda n: n * s - z * np.sqrt(n * s * (1 - s)) - least, least / s, 100 * least / s)
    assert records_for(least, held, records) == rounded_up(exact)


def test_the_quantile_of_the_records_that_have_it() -> None:
    """Where few are asked for, how their number varies moves the answer most."""
    z = norm.ppf(0.8)
    for held in range(1, 60):
        s = held / 100
        exact = brentq(lambda n, s=s: n * s - z * np.sqrt(n * s * (1 - s)) - 1.0, 1.0 / s, 100.0 / s)
        assert records_for(1, held, 100) == rounded_up(exact)


def test_where_all_records_or_none_have_it() -> None:
    assert records_for(30, 50, 50) == 30
    assert records_for(30, 80, 50) == 30  # by weights that count more
    for none in (0.0, -1.0, float("nan")):
        assert records_for(30, none, 50) is None
    assert in_words(None) == ""
    assert (
        in_words(1400)
        == f"; about 1,400 records in all would have as many with a chance of 80%, {SAID.replace('rates', 'shares')}"
    )
