"""Every figure of the tables of ``impact``, its notes and its messages, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import biasamp
from biasamp import __version__
from biasamp.amplification.ratio_to_highest import ratios_to_highest

# Group, people, of whom so many were selected.
PEOPLE = {"a": (200, 50), "b": (120, 48), "few": (6, 5)}


def made(**asked: Any) -> biasamp.amplification.impact_result.Impact:  # type: ignore[name-defined]
    decisions = [1, 0] * 3
    counts = [n for size, hits in PEOPLE.values() for n in (hits, size - hits)]
    return biasamp.impact(decisions, {"g": np.repeat(list(PEOPLE), 2)}, counts=counts, **asked)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_rows(level: float) -> None:
    result = made(level=level)
    ratio = ratios_to_highest(np.array([50.0, 48.0]), np.array([200.0, 120.0]), level)
    for place, (row, (name, (size, hits))) in enumerate(zip(result.rates.rows(), PEOPLE.items(), strict=True)):
        ends = binomtest(hits, size).proportion_ci(level, method="wilson")
        small = name == "few"
        expected = {
            "attribute": "g",
            "group": name,
            "applicants": size,
            "share": pytest.approx(size / 326),
            "selected": hits,
            "rate": pytest.approx(hits / size),
            "rate_low": pytest.approx(ends.low),
            "rate_high": pytest.approx(ends.high),
            "ratio": None if small else pytest.approx(ratio.value[place]),
            "ratio_low": None if small else pytest.approx(ratio.low[place]),
            "ratio_high": None if small else pytest.approx(ratio.high[place]),
            "small": small,
            "withheld": False,
        }
        assert row == expected
    (table,) = result.tables
    assert (table.kind, table.groups, table.crossed) == ("attribute", ("a", "b", "few"), ("g",))
    assert repr(result) == "<Impact: 326 people; g>"


def test_the_share_below_which_a_group_is_small() -> None:
    """6 of 326 are 1.84%."""
    assert [row["small"] for row in made(small=6 / 326).rates.rows()] == [False, False, False]
    assert [row["small"] for row in made(small=6.01 / 326).rates.rows()] == [False, False, True]
    assert [row["small"] for row in made(small=1.0).rates.rows()] == [True] * 3
    assert [row["ratio"] for row in made(small=1.0).rates.rows()] == [None] * 3
    for wrong in (-0.01, 1.01):
        with pytest.raises(ValueError, match="small"):
            made(small=wrong)


def test_the_document() -> None:
    result = made()
    held = result.to_dict()
    (table,) = held.pop("tables")
    assert held == {
        "schema": 1,
        "kind": "impact",
        "version": __version__,
        "n": 326,
        "selected": 103,
        "outcome": "selected=1",
        "median": None,
        "ties": None,
        "small": 0.02,
        "level": 0.95,
        "layout": None,
        "withheld_below": None,
        "notes": result.notes,
    }
    rows = [{name: value for name, value in row.items() if name != "attribute"} for row in result.rates.rows()]
    assert table == {
        "attribute": "g",
        "kind": "attribute",
        "unknown": {"applicants": 0, "selected": 0},
        "groups": rows,
    }
    assert list(result.unknown.rows()) == [{"attribute": "g", "applicants": 0, "selected": 0}]


def test_what_is_withheld_has_no_figure() -> None:
    """Six people of a few: the next smallest goes with them, and with it the ratio to the only rate that is left."""
    result = made(suppress=10)
    rows = list(result.rates.rows())
    assert [row["withheld"] for row in rows] == [False, True, True]
    for row in rows[1:]:
        assert row == {**dict.fromkeys(row), "attribute": "g", "group": row["group"], "small": False, "withheld": True}
    assert (rows[0]["applicants"], rows[0]["share"], rows[0]["ratio"]) == (200, None, None)
    assert result.to_dict() == made().published().to_dict()
    held = result.to_dict()
    assert (held["n"], held["selected"], held["withheld_below"]) == (326, 103, 10)
    assert "Counts from 1 to 9 are withheld" in result.notes[-2]
    safe = made(suppress=2)
    assert not any(row["withheld"] for row in safe.rates.rows()) or safe.withheld_below == 2
    for wrong in (1, 0):
        with pytest.raises(ValueError, match="suppress"):
            made(suppress=wrong)
        with pytest.raises(ValueError, match="limit"):
            made().published(wrong)
    larger = biasamp.impact([1, 0] * 2, {"g": ["a", "a", "b", "b"]}, counts=[50, 50, 40, 60])
    assert larger.published(2).notes[-2] == "No count from 1 to 1 had to be withheld."


def test_totals_that_are_withheld() -> None:
    one = biasamp.impact([1, 0], {"g": ["a", "a"]}, counts=[3, 20]).published(10)
    assert one.total_withheld
    held = one.to_dict()
    assert (held["n"], held["selected"], held["ties"]) == (None, None, None)
    assert repr(one) == "<Impact: people; g>"
    assert held["tables"][0]["unknown"] in ({"applicants": 0, "selected": 0}, {"applicants": None, "selected": None})


def test_shares_of_those_that_are_shown() -> None:
    """Where some rows are gone a group is small by all people, or where these are gone by those that are shown."""
    counts = [300, 300, 250, 250, 200, 195, 3, 2, 9, 9]
    people = biasamp.impact([1, 0] * 5, {"g": np.repeat(list("abcde"), 2)}, counts=counts, small=0.02)
    assert [row["small"] for row in people.rates.rows()] == [False, False, False, True, True]
    shown = people.published(5)
    rows = list(shown.rates.rows())
    assert [row["withheld"] for row in rows] == [False, False, False, True, True]
    assert [row["small"] for row in rows] == [False] * 5
    assert [row["ratio"] is None for row in rows] == [False, False, False, True, True]


def test_notes() -> None:
    notes = made(level=0.9).notes
    assert notes[0].startswith("Rate: the share of a group that was selected. Ratio: ")
    assert "Intervals: 90%, of each figure by itself" in notes[0]
    assert notes[1] == "Groups with less than 2% of the people are shown, and are in no ratio."
    assert len(notes) == 3
    assert len(made(small=0.0).notes) == 2
    scored = biasamp.impact(None, {"g": ["a", "b"] * 20}, scores=[1.0, 2.0, 2.0, 3.0] * 10)
    assert scored.notes[0].startswith("Rate: the share of a group that was scored above the median.")
    assert scored.notes[1].startswith("The median score of all 40 people is 2; 20 have that very score")
    unknown = biasamp.impact([1, 0] * 20, {"g": ["a", "b", "x", None] * 10}, unknown=["x"])
    assert "Counted as not known: missing values and 'x'." in unknown.notes
    values = [f"v{i}" for i in range(10)]
    many = biasamp.impact([1, 0] * 20, {"g": (["a", "b"] * 5 + values) * 2}, unknown=values)
    assert "missing values and 'v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7'." in " ".join(many.notes)


@pytest.mark.parametrize(
    ("scores", "counts", "median", "ties", "above"),
    [
        ([1.0, 2.0, 3.0], [1, 1, 1], 2.0, 1, 1),
        ([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1], 2.5, 0, 2),
        ([4.0, 1.0, 3.0], [5, 2, 2], 4.0, 5, 0),
        ([4.0, 1.0, 3.0], [4, 2, 2], 3.5, 0, 4),
        ([1.0, 2.0, 3.0], [2, 3, 1], 2.0, 3, 1),
        ([5.0, 5.0, 5.0], [2, 3, 1], 5.0, 6, 0),
        ([1.0, 2.0, 9.0], [0, 3, 4], 9.0, 4, 0),
        ([1.0, 2.0, 9.0], [4, 3, 0], 1.0, 4, 3),
    ],
)
def test_the_median_of_all_people(scores: list[float], counts: list[int], median: float, ties: int, above: int) -> None:
    """As if each person had a row."""
    result = biasamp.impact(None, {"g": ["a", "b", "a", "b"][: len(scores)]}, scores=scores, counts=counts)
    assert (result.median, result.ties, result.selected, result.n) == (median, ties, above, sum(counts))
    assert median == np.median(np.repeat(scores, counts))
    assert result.outcome == "score above the median"


def test_crossings() -> None:
    """Every combination that somebody is of; who is unknown in one attribute is not in the crossing."""
    sex = ["f", "m", "f", "m", "f", None]
    race = ["x", "x", "y", None, "x", "y"]
    result = biasamp.impact([1, 0, 1, 1, 0, 1], {"sex": sex, "race": race}, counts=[5, 6, 7, 8, 9, 10], small=0)
    by_sex, by_race, both = result.tables
    assert [(t.attribute, t.kind, t.groups) for t in result.tables] == [
        ("sex", "attribute", ("f", "m")),
        ("race", "attribute", ("x", "y")),
        ("sex x race", "crossing", ("f & x", "f & y", "m & x")),
    ]
    assert [t.applicants.tolist() for t in result.tables] == [[21, 14], [20, 17], [14, 7, 6]]
    assert [t.selected.tolist() for t in result.tables] == [[12, 8], [5, 17], [5, 7, 0]]
    assert [(t.unknown, t.unknown_selected) for t in result.tables] == [(10, 10), (8, 8), (18, 18)]
    assert both.members == (("f", "x"), ("f", "y"), ("m", "x"))
    assert (by_sex.crossed, by_race.crossed, both.crossed) == (("sex",), ("race",), ("sex", "race"))
    assert (result.n, result.selected) == (45, 30)


def test_groups_of_no_people() -> None:
    """A row that stands for nobody makes no group; where all do there is no rate."""
    result = biasamp.impact([1, 0, 1], {"g": ["a", "a", "b"]}, counts=[5, 6, 0])
    assert result.tables[0].groups == ("a",)
    with pytest.raises(ValueError, match="groups are not known of anybody"):
        biasamp.impact([1, 0], {"g": [None, None]})


def test_what_is_selected_is_named() -> None:
    assert made().outcome == "selected=1"
    import pandas as pd

    frame = pd.Series(["yes", "no"] * 5, name="hired")
    assert biasamp.impact(frame, {"g": ["a", "b"] * 5}).outcome == "hired=yes"
    assert biasamp.impact(["in", "out"] * 5, {"g": ["a"] * 10}, positive="in").outcome == "selected=in"
    with pytest.raises(ValueError, match="neither 'in' nor 'out' of decisions plainly means selected"):
        biasamp.impact(["in", "out"] * 5, {"g": ["a"] * 10})
    with pytest.raises(ValueError, match="lengths differ: decisions has 3, groups has 4 rows"):
        biasamp.impact([1, 0, 1], {"g": ["a"] * 4})
    with pytest.raises(TypeError, match="neither decisions nor scores are given"):
        biasamp.impact(None, {"g": ["a"]})
    with pytest.raises(TypeError, match="both decisions and scores are given"):
        biasamp.impact([1], {"g": ["a"]}, scores=[1.0])


@pytest.mark.parametrize("only", ["no", "in"])
def test_one_value_alone_does_not_say_whether_it_is_selected(only: str) -> None:
    """That nobody was hired is not that everybody was."""
    people = {"g": ["a", "b"] * 3}
    with pytest.raises(
        ValueError, match=f"decisions has one value, '{only}': say with positive= that it means selected"
    ):
        biasamp.impact([only] * 6, people)
    assert biasamp.impact([only] * 6, people, positive=only).selected == 6
    declared = biasamp.categorical([only] * 6, categories=["no", "yes"]) if only == "no" else None
    if declared is not None:
        assert (biasamp.impact(declared, people).selected, biasamp.impact(declared, people).outcome) == (
            0,
            "selected=yes",
        )
    assert (biasamp.impact([0] * 6, people).selected, biasamp.impact([1] * 6, people).selected) == (0, 6)


def test_layouts_take_names_in_any_case() -> None:
    people = {" Race ": ["x", "y"] * 4, "SEX": ["f", "f", "m", "m"] * 2}
    result = biasamp.impact([1, 0] * 4, people, layout="ll144")
    assert [table.kind for table in result.tables] == ["attribute", "attribute", "crossing"]
    assert [table.crossed[0].strip().casefold() for table in result.tables] == ["sex", "race", "sex"]
    assert result.layout == "ll144"
    with pytest.raises((TypeError, ValueError), match="layout"):
        biasamp.impact([1, 0] * 4, people, layout="other")


def test_files_and_headings(tmp_path: Any) -> None:
    result = made()
    assert result.to_markdown() == result.to_markdown(level=2)
    assert result.to_markdown(level=1) != result.to_markdown(level=6)
    for wrong in (0, 7):
        with pytest.raises(ValueError, match="level"):
            result.to_markdown(level=wrong)
    result.to_markdown(tmp_path / "a.md")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == result.to_markdown()
    result.to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes().decode() == result.to_csv()
    result.to_html(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!")
    assert len(result.to_frame("pandas")) == 3
    assert "few" in result._repr_html_()


def test_what_a_table_is_where_nothing_is_said() -> None:
    """Two percent is small, intervals are of 95%, and nothing is withheld."""
    from biasamp.amplification.impact_result import GroupTable, Impact

    (table,) = made().tables
    plain = Impact((table,), 326, 103, "selected=1")
    assert plain.to_dict() == made().to_dict()
    bare = GroupTable("g", ("g",), table.members, table.applicants, table.selected, 0, 0, table.withheld)
    assert Impact((bare,), 326, 103, "selected=1").to_dict() == made().to_dict()
