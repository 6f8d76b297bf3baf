"""Rates and ratios: published figures, Fairlearn's, coverage of intervals, and what cannot be computed from what is withheld."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats.contingency import relative_risk

import biasamp
from biasamp.amplification.ratio_to_highest import ratios_to_highest
from biasamp.amplification.suppression import PublishedRow, _lines
from printed_tables import random_people, ranges_of_withheld


def rows(result: Any) -> dict[str, dict[str, Any]]:
    return {row["group"]: row for row in result.rates.rows()}


def people(**groups: tuple[int, int]) -> tuple[list[int], dict[str, list[str]], list[int]]:
    """Decisions, groups and counts of a table of (selected, applicants)."""
    decided = [1, 0] * len(groups)
    named = [name for name in groups for _ in range(2)]
    return decided, {"race": named}, [n for k, of in groups.values() for n in (k, of - k)]


def test_the_worked_example_of_the_rules() -> None:
    """667 of 1,390 and 555 of 1,181: .979, and an interval as wide as that of the ratio of two binomials."""
    decided, groups, counts = people(m=(667, 1390), f=(555, 1181))
    made = rows(biasamp.impact(decided, groups, counts=counts))
    assert round(made["f"]["ratio"], 3) == 0.979
    assert made["f"]["rate"] == 555 / 1181
    assert made["m"]["ratio"] == 1.0
    # Four fifths of the error are for the ratio: the level is 96%; either group may be the highest.
    other = relative_risk(555, 1181, 667, 1390).confidence_interval(0.96)
    assert made["f"]["ratio_low"] == pytest.approx(other.low, abs=2e-3)
    assert made["f"]["ratio_high"] == 1.0
    assert made["m"]["ratio_low"] == pytest.approx(
        relative_risk(667, 1390, 555, 1181).confidence_interval(0.96).low, abs=2e-3
    )


def test_rows_and_tables_of_counts_are_the_same() -> None:
    decided, groups, counts = people(a=(12, 40), b=(5, 9), c=(0, 30))
    one = biasamp.impact(decided, groups, counts=counts)
    many = biasamp.impact(np.repeat(decided, counts), {"race": np.repeat(groups["race"], counts)})
    assert one.to_dict() == many.to_dict()


@pytest.mark.data
def test_rates_are_those_of_fairlearn_on_compas(data: Path) -> None:
    from fairlearn.metrics import MetricFrame, selection_rate

    frame = pd.read_csv(data / "compas_two_years.csv")
    high = (frame["decile_score"] >= 5).astype(int)
    for columns in (["race"], ["sex", "race"]):
        made = biasamp.impact(high, frame[columns])
        theirs = MetricFrame(metrics=selection_rate, y_true=high, y_pred=high, sensitive_features=frame[columns])
        title = " x ".join(columns)
        held = {row["group"]: row["rate"] for row in made.rates.rows() if row["attribute"] == title}
        expected = theirs.by_group.dropna()
        names = [name if isinstance(name, str) else " & ".join(name) for name in expected.index]
        assert held == pytest.approx(dict(zip(names, expected, strict=True)), abs=1e-12)


def test_small_groups_are_shown_and_in_no_ratio() -> None:
    """A group of 1.5% with the highest rate would make every ratio; 2% is the limit of the rules."""
    decided, groups, counts = people(a=(200, 500), b=(240, 485), few=(15, 15))
    made = rows(biasamp.impact(decided, groups, counts=counts))
    assert made["few"]["small"]
    assert made["few"]["ratio"] is None
    assert made["few"]["rate"] == 1.0
    assert made["b"]["ratio"] == 1.0
    kept = rows(biasamp.impact(decided, groups, counts=counts, small=0))
    assert kept["few"]["ratio"] == 1.0
    assert kept["b"]["ratio"] == pytest.approx(240 / 485)


def test_groups_that_are_not_known_are_counted_beside() -> None:
    sex = ["f", None, "m", "Unknown", "f", "Prefer not to say", "m", float("nan")]
    made = biasamp.impact([1, 1, 1, 0, 0, 0, 0, 1], {"sex": sex})
    assert list(made.unknown.rows()) == [{"attribute": "sex", "applicants": 4, "selected": 2}]
    assert {name: row["applicants"] for name, row in rows(made).items()} == {"f": 2, "m": 2}
    assert "'Unknown'" in " ".join(made.notes)
    named = biasamp.impact([1, 1, 1, 0, 0, 0, 0, 1], {"sex": sex}, unknown=["Unknown"])
    assert "Prefer not to say" in rows(named)
    with pytest.raises(ValueError, match="unknown names 'x', which no column of groups has"):
        biasamp.impact([1, 0], {"sex": ["f", "m"]}, unknown=["x"])


def test_scoring_rates_are_above_the_median_and_ties_are_stated() -> None:
    """Scores 1 2 2 3 4 with median 2: two of five are above it, two are it."""
    made = biasamp.impact(scores=[1, 2, 2, 3, 4], groups=["a", "a", "b", "b", "b"])
    assert (made.median, made.ties, made.selected) == (2.0, 2, 2)
    assert {name: row["rate"] for name, row in rows(made).items()} == {"a": 0.0, "b": 2 / 3}
    assert "2 have that very score" in " ".join(made.notes)
    rng = np.random.default_rng(0)
    scores, counts = rng.normal(size=50), rng.integers(0, 4, 50)
    counted = biasamp.impact(scores=scores, groups=["a", "b"] * 25, counts=counts)
    assert counted.median == np.median(np.repeat(scores, counts))


def test_crossings_and_the_layout_of_local_law_144() -> None:
    groups = {"Gender": ["f", "f", "m", "m", None], "Race/Ethnicity": ["x", "y", "x", "y", "y"]}
    made = biasamp.impact(["hired", "no", "hired", "no", "no"], groups, layout="ll144", positive="hired")
    assert [table.kind for table in made.tables] == ["attribute", "attribute", "crossing"]
    text = made.to_markdown()
    assert "### Sex" in text
    assert "### Race/ethnicity" in text
    assert "### Intersectional: sex and race/ethnicity" in text
    assert "| category | # of applicants | # selected | selection rate | impact ratio |" in text
    assert "no verdict" not in text.lower().replace("not a verdict", "")
    with pytest.raises(ValueError, match="needs one column of groups called 'race'"):
        biasamp.impact([1, 0], {"sex": ["f", "m"]}, layout="ll144")
    with pytest.raises(ValueError, match="leave 'age' out"):
        biasamp.impact([1, 0], {"sex": ["f", "m"], "race": ["x", "y"], "age": ["1", "2"]}, layout="ll144")


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, dict], ids=["pandas", "polars", "arrow", "dict"]
)
def test_every_container(make: Any) -> None:
    groups = make({"sex": ["f", "m", "m", None], "race": ["x", "x", "y", "y"]})
    made = biasamp.impact([True, False, True, True], groups)
    assert (
        made.to_dict()
        == biasamp.impact(np.array([1, 0, 1, 1]), {"sex": ["f", "m", "m", None], "race": list("xxyy")}).to_dict()
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({"decisions": [1, 0]}), "groups is None"),
        ({"groups": ["a", "b"]}, "neither decisions nor scores"),
        ({"decisions": [1, 0], "scores": [1, 2], "groups": ["a", "b"]}, "both decisions and scores"),
        ({"decisions": [1, 0, 1], "groups": ["a", "b"]}, "lengths differ: decisions has 3, groups has 2"),
        ({"decisions": ["x", "y"], "groups": ["a", "b"]}, "plainly means selected"),
        ({"decisions": ["x", "y", "z"], "groups": list("aba")}, "say with positive="),
        ({"decisions": [1, 0], "groups": [None, None]}, "not known of anybody"),
        (
            {"scores": [1.0, float("nan")], "groups": ["a", "b"]},
            r"scores must be finite: there is nan \(row 2, counted from 1",
        ),
        ({"decisions": [1, 0], "groups": ["a", "b"], "counts": [1, 0.5]}, "counts must be whole numbers"),
        ({"decisions": [1, 0], "groups": ["a", "b"], "counts": [0, 0]}, "there is nobody"),
        ({"decisions": [1, 0], "groups": ["a", "b"], "small": 2}, "small is 2"),
        ({"decisions": [1, 0], "groups": ["a", "b"], "layout": "x"}, "layout is 'x'"),
        ({"decisions": [1, 0], "groups": ["a", "b"], "suppress": 1}, "suppress is 1"),
        ({"decisions": [], "groups": []}, "at least one record is needed"),
        ({"decisions": [1, 0], "groups": [["a"], ["b", "c"]]}, "lists of labels"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        biasamp.impact(**arguments)


def test_nobody_selected_has_rates_and_no_ratio() -> None:
    made = rows(biasamp.impact([0, 0, 0, 0], ["a", "a", "b", "b"]))
    assert made["a"]["rate"] == 0.0
    assert made["a"]["ratio"] is None
    every = rows(biasamp.impact([1, 1, 1, 1], ["a", "a", "b", "b"]))
    assert every["a"]["ratio"] == every["b"]["ratio"] == 1.0


def test_hostile_names_are_text_everywhere(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>|=cmd()"
    made = biasamp.impact([1, 0, 1, 0], {bad: [bad, bad, "=1+1", "=1+1"]})
    made.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\\<script\\>" in made.to_markdown()
    assert "'=1+1" in made.to_csv()


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    ("groups", "tied", "size", "rate"),
    [
        (2, 2, 60, 0.05),
        (3, 2, 200, 0.5),
        (8, 8, 50, 0.3),
        (8, 1, 200, 0.5),
        (5, 3, 1000, 0.1),
        (8, 4, 60, 0.05),
        (4, 4, 400, 0.9),
    ],
)
def test_intervals_of_ratios_know_that_the_best_was_selected(groups: int, tied: int, size: int, rate: float) -> None:
    """At least 92% whatever number of groups is the best; ``python -m benchmarks.auditors.ratios`` has all cases."""
    rng = np.random.default_rng(groups * 10 + tied)
    rates = np.r_[np.full(tied, rate), rate * rng.uniform(0.3, 0.95, groups - tied)]
    sizes = np.rint(size * rng.uniform(0.5, 3, groups))
    truth, hits = rates / rates.max(), np.zeros(groups)
    for _ in range(400):
        made = ratios_to_highest(rng.binomial(sizes.astype(int), rates).astype(float), sizes)
        hits += np.isnan(made.value) | ((made.low <= truth + 1e-12) & (truth <= made.high + 1e-12))
    assert hits.min() / 400 >= 0.92


def test_a_candidate_without_anybody_selected_still_bounds_the_others() -> None:
    """Five people of whom nobody was selected may still be the best group: its rate may be up to .43."""
    made = ratios_to_highest(np.array([20.0, 0.0]), np.array([100.0, 5.0]))
    assert made.may_be_highest.all()
    assert 0.0 < made.low[0] < 0.6
    assert (made.low[1], made.high[1]) == (0.0, 1.0)


def test_one_small_row_takes_another_with_it() -> None:
    decided, groups, counts = people(a=(3, 40), b=(25, 50), c=(30, 60), d=(500, 900))
    made = biasamp.impact(decided, groups, counts=counts, suppress=10)
    withheld = [row["group"] for row in made.rates.rows() if row["withheld"]]
    assert withheld == ["a", "b"]
    assert rows(made)["c"]["ratio"] == pytest.approx(0.5 / (500 / 900))
    for row in (rows(made)[name] for name in "ab"):
        assert row["applicants"] is row["selected"] is row["rate"] is row["ratio"] is None
    assert "| a | withheld | withheld |" in made.to_markdown()
    assert "race,a,,,,,,,,,,false,true" in made.to_csv()


def test_totals_go_where_one_row_stands_alone() -> None:
    decided, groups, counts = people(a=(3, 40))
    document = biasamp.impact(decided, groups, counts=counts, suppress=10).to_dict()
    assert document["n"] is document["selected"] is None


def test_nothing_is_withheld_where_nothing_is_small() -> None:
    decided, groups, counts = people(a=(30, 60), b=(25, 50))
    made = biasamp.impact(decided, groups, counts=counts, suppress=10)
    assert not any(row["withheld"] for row in made.rates.rows())
    assert rows(made) == rows(biasamp.impact(decided, groups, counts=counts))


@pytest.mark.slow(keep=8)
@pytest.mark.parametrize("seed", range(40))
def test_nobody_can_compute_a_withheld_count(seed: int) -> None:
    """``python -m benchmarks.auditors.suppression 500`` has 500 tables."""
    decisions, groups = random_people(np.random.default_rng(1000 + seed))
    document = biasamp.impact(decisions, groups, suppress=10).to_dict()
    for what, group, width in ranges_of_withheld(document):
        assert width >= 10 - 1e-5, (what, group, width)


def test_the_sums_that_a_row_is_part_of() -> None:
    """The crossings that make up a group, before the table of the group's own attribute."""
    rows = [PublishedRow((), (), 100, 40), *(PublishedRow(("race",), (g,), 50, 20) for g in "ab")]
    rows += [PublishedRow(("sex", "race"), (s, g), 25, 10) for s in "wm" for g in "ab"]
    assert _lines(rows, 0) == []
    assert _lines(rows, 1) == [[3, 5], [1, 2]]
    assert sorted(_lines(rows, 3)) == [[3, 4], [3, 4, 5, 6], [3, 5]]


def test_decisions_of_many_values_show_five_of_them() -> None:
    with pytest.raises(ValueError, match=r"has 7 values \('a', 'b', 'c', 'd', 'e' …\)"):
        biasamp.impact(list("abcdefg") * 3, {"g": ["x", "y", "z"] * 7})
