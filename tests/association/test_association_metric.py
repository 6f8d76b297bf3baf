"""The record of a metric, and the arithmetic that formulas share."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf, isnan, log

import numpy as np
import pytest

from biasamp.association.association_metric import (
    AssociationMetric,
    Counts,
    Slope,
    divide,
    log_ratio,
    subtract,
    times,
)
from biasamp.association.metrics import METRICS

SHARE = AssociationMetric(
    name="share",
    symbol="S",
    title="Share",
    formula="P(y|x)",
    low=0.0,
    high=1.0,
    independent="P(y)",
    zero_null=True,
    words="A share.",
    paper="None",
    value=lambda c: c.xy / c.x,
    slope=lambda n, x, y, xy: Slope(-xy / x**2, 0.0 * y, 1.0 / x),
)


def counts(*held: float) -> Counts:
    return Counts(*(np.array([part], dtype=float) for part in held))


def test_parts_that_are_missing_are_named_together() -> None:
    with pytest.raises(TypeError, match=r"'share' has no title, no words, no slope$"):
        replace(SHARE, title="", words="", slope=None)


def test_a_range_has_a_width() -> None:
    for low, high in ((1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0)):
        with pytest.raises(ValueError, match="low must be below high"):
            replace(SHARE, low=low, high=high)
    assert replace(SHARE, low=-0.5).bound == 1.5
    assert replace(SHARE, high=inf).bound == inf


def test_what_is_not_said_is_usual() -> None:
    assert (SHARE.cautions, SHARE.ratio, SHARE.leans, SHARE.page_formula) == ((), False, 1, False)
    assert SHARE.closed_gap is SHARE.as_printed is None


def test_a_gap_is_a_difference_or_its_closed_form() -> None:
    one, two = counts(20, 8, 5, 4), counts(20, 10, 5, 1)
    assert SHARE.gap(one, two).tolist() == [0.4]
    closed = replace(SHARE, closed_gap=lambda first, second: first.xy - 10 * second.xy)
    assert closed.gap(one, two).tolist() == [-6.0]


def test_a_metric_times_a_constant() -> None:
    half = times(SHARE, 0.5, "half")
    turned = times(replace(SHARE, leans=-1), -2.0, "turned")
    assert (half.formula, half.leans, times(SHARE, -1.0, "t").leans) == ("half", 1, -1)
    assert turned.leans == 1
    one, two = counts(20, 8, 5, 4), counts(20, 10, 5, 1)
    assert half.value(one).tolist() == [0.25]
    assert turned.value(one).tolist() == [-1.0]
    assert turned.gap(one, two) == pytest.approx([-0.8])
    assert [part.item() for part in turned.slope(20.0, np.array([0.5]), np.array([0.25]), np.array([0.2]))] == (
        pytest.approx([1.6, 0.0, -4.0])
    )
    # No -0.0.
    assert np.signbit(times(SHARE, -1.0, "t").value(counts(20, 8, 5, 0))).tolist() == [False]
    assert np.signbit(times(SHARE, -1.0, "t").gap(one, one)).tolist() == [False]


def test_a_form_is_the_printed_one_where_there_is_one() -> None:
    printed = times(SHARE, 0.5, "half")
    both = replace(SHARE, as_printed=printed)
    assert both.form(True) is printed
    assert both.form(False) is both
    assert SHARE.form(True) is SHARE


def test_facts_are_all_but_the_formulas_on_counts() -> None:
    facts = METRICS["npmi_y"].facts()
    assert set(facts) == {
        "name", "symbol", "title", "formula", "low", "high", "independent", "zero_null", "words", "paper", "cautions",
        "ratio", "leans", "page_formula", "as_printed",
    }  # fmt: skip
    assert (facts["low"], facts["high"], facts["leans"], facts["cautions"]) == (
        "-inf",
        1.0,
        1,
        ["undefined where every record has the label"],
    )
    assert facts["as_printed"] == "ln(P(x,y) / (P(x) P(y))) / ln P(y), the sign flipped"
    printed = METRICS["npmi_y"].facts(True)
    assert (printed["formula"], printed["leans"], printed["as_printed"]) == (
        facts["as_printed"],
        -1,
        facts["as_printed"],
    )
    assert METRICS["dp"].facts(True)["as_printed"] is None
    assert METRICS["llr"].facts()["cautions"][1] == "it is no likelihood-ratio statistic"
    json.dumps([metric.facts(form) for metric in METRICS.values() for form in (False, True)], allow_nan=False)


def test_infinities_of_one_sign_have_no_difference() -> None:
    found = subtract(np.array([inf, -inf, inf, 1.0]), np.array([inf, -inf, -inf, 0.25]))
    assert np.isnan(found).tolist() == [True, True, False, False]
    assert found[2:].tolist() == [inf, 0.75]


def test_a_share_of_nothing() -> None:
    found = divide([1, -1, 0, 3], np.array([0.0, 0.0, 0.0, 4.0]))
    assert found[:2].tolist() == [inf, -inf]
    assert isnan(found[2])
    assert found[3] == 0.75


def test_logarithms_of_ratios_keep_their_digits() -> None:
    assert float(log_ratio(1 + 2.0**-52, 1.0)) == pytest.approx(2.0**-52, rel=1e-15)
    # What is a - b where a and b are rounded.
    assert float(log_ratio(1.0, 1.0, 1e-20)) == 1e-20
    assert float(log_ratio(8.0, 8.0, -8e-30)) == -1e-30
    for ratio in (1e-300, 1e-9, 0.1, 0.49, 0.51, 0.99, 1.0, 1.4999, 1.5, 1.6, 2.5, 1e9):
        assert float(log_ratio(ratio, 1.0)) == pytest.approx(log(ratio), rel=1e-15, abs=1e-16)
        assert float(log_ratio(4.0 * ratio, 4.0)) == float(log_ratio(ratio, 1.0))
    assert log_ratio([0.0, 3.0], [2.0, 0.0]).tolist() == [-inf, inf]
    assert np.isnan(log_ratio(0.0, 0.0))
