"""One figure as a limit judges it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from biasamp.policy.figure import Figure, UnknownSigns, is_number, statistic


def test_a_direction_is_told_where_its_statistic_reaches_what_is_needed() -> None:
    """Statistics grow with the root of the records: of 1, 2 and 3 with four times the records 2, 4 and 6."""
    sizes = np.array([0.01, 0.02, 0.04])
    unknown = UnknownSigns(sizes, sizes, np.array([1.0, 2.0, 3.0]), 4.0)
    assert unknown.still(1.0) == pytest.approx(0.07)
    assert unknown.still(4.0) == pytest.approx(0.01)  # that of 4 is told
    assert unknown.still(3.99) == pytest.approx(0.03)
    assert unknown.still(16.0) == 0.0


def test_the_first_doubt_stays() -> None:
    figure = Figure("g", None)
    assert figure.doubted(None, 3) is figure
    first = figure.doubted("one", 3)
    assert (first.doubt, first.needed) == ("one", 3)
    assert first.doubted("two", 4) is first
    assert figure.without_pass(None, 3) is figure
    held = figure.without_pass("one", 3)
    assert (held.withheld, held.needed, held.doubt) == ("one", 3, None)
    assert held.without_pass("two", 4) is held


def test_what_a_figure_is_that_nothing_more_is_known_of() -> None:
    figure = Figure("g", None)
    assert (figure.bounded, figure.lent, figure.of_base, figure.fails) == (False, False, False, True)
    assert (figure.runs, figure.errors, figure.unseen) == (1, 1.96, 0.0)
    assert replace(figure, value=0.5).value == 0.5


@pytest.mark.parametrize("value", [0, 0.0, -1.5, 3, np.float64(2.0)])
def test_numbers(value: object) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [None, True, False, float("nan"), float("inf"), -float("inf"), "0.1", "-inf", []])
def test_what_is_no_number(value: object) -> None:
    assert not is_number(value)


@pytest.mark.parametrize("p", [1.0, 0.3, 0.05, 1e-9])
def test_the_statistic_of_a_p_value(p: float) -> None:
    assert statistic(p) == pytest.approx(norm.isf(p / 2.0), abs=1e-12)
