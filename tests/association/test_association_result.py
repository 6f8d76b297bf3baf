"""What a result says of every label: reasons, ranks, tables, tops and documents, worked out label by label."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.association import association_result
from biasamp.association.association_result import Association
from biasamp.association.gaps import association_gap
from biasamp.association.metrics import METRICS

IDENTITY = "is part of an identity"
RARE = "too rare to rank: expected co-occurrence below min_expected"
FEW = "too rare to rank: count below min_count"
ALL = "every record has it"
NEITHER = "never occurs with the identities that are compared"
ONE = "never occurs with one of the identities (zero='drop')"


def of_cells(cells: dict[str, tuple[int, ...]], sizes: tuple[int, ...], others: int = 0) -> list[list[str]]:
    """Records of identities 'a', 'b', ... that exclude each other: so many of each, and of nobody, have each label."""
    groups = [*((name, size) for name, size in zip("abcdef", sizes, strict=False)), ("", others)]
    return [
        [*filter(None, [who]), *(label for label, held in cells.items() if place < (*held, 0)[k])]
        for k, (who, size) in enumerate(groups)
        for place in range(size)
    ]


# Of 40 'a', 60 'b' and 20 of neither.
CELLS = {
    "both": (20, 12, 4),
    "first": (8, 0, 2),
    "second": (0, 9, 3),
    "neither": (0, 0, 15),
    "all": (40, 60, 20),
    "ten": (4, 6, 2),
    "nine": (3, 6, 2),
    "one": (1, 0, 0),
}


def images() -> list[list[str]]:
    return of_cells(CELLS, (40, 60), 20)


@pytest.fixture(scope="module")
def result() -> Association:
    return biasamp.associate(images(), ["a", "b"], min_expected=0)


def reasons(result: Association, contrast: Any = None) -> dict[str, str]:
    return dict(zip(result.labels, result.why_not(contrast).tolist(), strict=True))


def test_reasons_why_labels_are_not_ranked() -> None:
    usual = dict.fromkeys(CELLS, "") | {"a": IDENTITY, "b": IDENTITY, "all": ALL}
    by_limit = usual | {"neither": NEITHER}
    assert reasons(biasamp.associate(images(), ["a", "b"], min_expected=0)) == by_limit
    dropped = usual | dict.fromkeys(["first", "second", "one"], ONE) | {"neither": NEITHER}
    assert reasons(biasamp.associate(images(), ["a", "b"], min_expected=0, zero="drop")) == dropped
    assert reasons(biasamp.associate(images(), ["a", "b"], min_expected=0, zero="smooth")) == usual
    # C(a) C(y) / n is 4 for a label of 12 records.
    rare = by_limit | dict.fromkeys(["first", "nine", "one"], RARE)
    assert reasons(biasamp.associate(images(), ["a", "b"], min_expected=4)) == rare
    assert reasons(biasamp.associate(images(), ["a", "b"], min_expected=4.001)) == rare | {"second": RARE, "ten": RARE}
    few = by_limit | dict.fromkeys(["nine", "first", "one"], FEW)
    assert reasons(biasamp.associate(images(), ["a", "b"], min_expected=0, min_count=12)) == few
    # The rarer reason is told: a count, then what is expected.
    both = by_limit | dict.fromkeys(["first", "nine"], RARE) | {"one": FEW}
    assert reasons(biasamp.associate(images(), ["a", "b"], min_expected=4, min_count=2)) == both
    everything = dict.fromkeys(CELLS, FEW) | {"a": IDENTITY, "b": IDENTITY}
    assert reasons(biasamp.associate(images(), ["a", "b"], min_expected=0, min_count=999)) == everything


THREE = {
    "abc": (5, 6, 7),
    "ab": (5, 6, 0),
    "ac": (5, 0, 7),
    "bc": (0, 6, 7),
    "only": (5, 0, 0),
    "none": (0, 0, 0, 4),
}


def test_reasons_of_three_identities_are_those_of_each_gap() -> None:
    held = of_cells(THREE, (20, 20, 20), 10)
    limit = biasamp.associate(held, {"x": "a", "y": "b", "z": "c"}, min_expected=0)
    pair = {"only": "", "abc": "", "ab": "", "ac": "", "bc": ""}
    names = {"a": IDENTITY, "b": IDENTITY, "c": IDENTITY}
    assert reasons(limit, (0, 1)) == {**pair, "none": NEITHER, **names}
    assert reasons(limit, (1, 2)) == {**pair, "only": NEITHER, "none": NEITHER, **names}
    # Against the rest a gap is undefined where the label meets neither the identity nor another one.
    assert reasons(limit, (0, None)) == {**pair, "none": NEITHER, **names}
    assert reasons(limit, (1, None)) == {**pair, "only": NEITHER, "none": NEITHER, **names}
    assert [name for name, why in reasons(limit, (2, None)).items() if why == NEITHER] == ["none", "only"]
    drop = biasamp.associate(held, ["a", "b", "c"], min_expected=0, zero="drop")
    assert {name: why for name, why in reasons(drop, (0, 1)).items() if why == ONE} == dict.fromkeys(
        ["ac", "bc", "only"], ONE
    )
    told = {name: why for name, why in reasons(drop, (0, None)).items() if why == ONE}
    assert told == dict.fromkeys(["ab", "ac", "bc", "only"], ONE)


def test_labels_that_are_left_out_are_listed_with_their_counts() -> None:
    found = biasamp.associate(images(), ["a", "b"], min_expected=0).excluded
    assert list(found) == [
        {"label": "a", "name": "a", "why": IDENTITY, "count": 40, "joint": {"a": 40, "b": 0}},
        {"label": "all", "name": "all", "why": ALL, "count": 120, "joint": {"a": 40, "b": 60}},
        {"label": "b", "name": "b", "why": IDENTITY, "count": 60, "joint": {"a": 0, "b": 60}},
        {"label": "neither", "name": "neither", "why": NEITHER, "count": 15, "joint": {"a": 0, "b": 0}},
    ]
    three = biasamp.associate(of_cells(THREE, (20, 20, 20), 10), {"x": "a", "y": "b", "z": "c"}, min_expected=0)
    told = [(row["label"], row["gap"]) for row in three.excluded if row["why"] == NEITHER]
    assert sorted(told) == [
        ("none", "x,rest"), ("none", "x,y"), ("none", "x,z"), ("none", "y,rest"), ("none", "y,z"), ("none", "z,rest"),
        ("only", "y,rest"), ("only", "y,z"), ("only", "z,rest"),
    ]  # fmt: skip


def test_a_result_in_one_line(result: Association) -> None:
    assert repr(result) == "Association(10 labels, 120 records, identities a, b; 4 labels not ranked)"
    three = biasamp.associate(of_cells(THREE, (20, 20, 20), 10), ["a", "b", "c"], min_expected=0)
    assert repr(three) == "Association(9 labels, 70 records, identities a, b, c; 5 labels not ranked in some gap)"


@pytest.mark.parametrize("literal", [False, True])
def test_ranks_are_those_of_a_loop(literal: bool) -> None:
    result = biasamp.associate(images(), ["a", "b"], min_expected=0, paper_literal=literal)
    for metric in METRICS:
        turn = -1 if literal and metric.startswith("npmi") else 1
        gaps = {
            label: turn * float(association_gap(metric, 120, 40, 60, sum(held), *held[:2], paper_literal=literal))
            for label, held in {**CELLS, "a": (40, 0), "b": (0, 60)}.items()
        }
        for own in (False, True):
            there = [name for name in gaps if name not in ("a", "b", "all", "neither") or (own and name in ("a", "b"))]
            found = result.ranks(metric, (0, 1), include_identities=own)
            for label, rank in zip(result.labels, found.tolist(), strict=True):
                if label in there:
                    better = sum(gaps[other] > gaps[label] + 1e-12 for other in there)
                    assert rank == better + 1, (metric, label)
                else:
                    assert math.isnan(rank)
        np.testing.assert_array_equal(result.ranks(metric), result.ranks(metric, (0, 1), include_identities=False))
    assert result.ranked((0, 1)).sum() == 6
    assert result.ranked((0, 1), True).sum() == 8
    with pytest.raises(TypeError, match="include_identities is 1"):
        result.ranks("dp", include_identities=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("literal", [False, True])
def test_the_table_of_one_gap_has_every_column(literal: bool) -> None:
    result = biasamp.associate(
        images(), ["a", "b"], min_expected=0, paper_literal=literal, metrics=["dp", "sdc", "tau_b"]
    )
    table = result.table
    null = ["tau_b_null"] if literal else []
    assert list(table.columns) == [
        "label", "name", "count", "probability", "identity", "count[a]", "count[b]", "probability[a]", "expected[a]",
        "probability[b]", "expected[b]", "dp[a]", "dp[b]", "sdc[a]", "sdc[b]", "tau_b[a]", "tau_b[b]", "ranked", "why_not",
        "p", "q", "dp_gap", "dp_low", "dp_high", "dp_rank", "sdc_gap", "sdc_low", "sdc_high", "sdc_null", "sdc_rank",
        "tau_b_gap", "tau_b_low", "tau_b_high", *null, "tau_b_rank",
    ]  # fmt: skip
    for row in table.rows():
        a, b, *more = {**CELLS, "a": (40, 0), "b": (0, 60)}[row["label"]]
        count = a + b + sum(more)
        assert (row["name"], row["count"], row["count[a]"], row["count[b]"]) == (row["label"], count, a, b)
        assert row["probability"] == pytest.approx(count / 120)
        assert (row["probability[a]"], row["probability[b]"]) == pytest.approx((a / 120, b / 120))
        assert (row["expected[a]"], row["expected[b]"]) == pytest.approx((count * 40 / 120, count * 60 / 120))
        assert row["identity"] == (row["label"] in ("a", "b"))
        assert row["ranked"] == (row["why_not"] == "")
        assert (row["dp[a]"], row["dp[b]"]) == pytest.approx((a / 40, b / 60))
        assert row["dp_gap"] == pytest.approx(a / 40 - b / 60)
        assert row["dp_low"] <= row["dp_gap"] <= row["dp_high"]
    for metric in ("dp", "sdc", "tau_b"):
        of = result.values
        np.testing.assert_array_equal(table[f"{metric}_rank"], result.ranks(metric))
        np.testing.assert_array_equal(table[f"{metric}_low"], of.interval(metric, (0, 1)).low)
        np.testing.assert_array_equal(table[f"{metric}_high"], of.interval(metric, (0, 1)).high)
    np.testing.assert_array_equal(table["sdc_null"], result.values.independence("sdc", (0, 1)))
    np.testing.assert_array_equal(table["p"], result.values.p_values((0, 1)))
    np.testing.assert_array_equal(table["q"], result.values.q_values((0, 1)))


def test_the_table_of_several_gaps_names_them() -> None:
    held = of_cells(THREE, (20, 20, 20), 10)
    result = biasamp.associate(held, {"x": "a", "y": "b", "z": "c"}, min_expected=0, metrics=["llr"])
    names = list(result.table.columns)
    wanted = []
    for gap in ("x,y", "x,z", "y,z", "x,rest", "y,rest", "z,rest"):
        tests = [] if "rest" in gap else ["p", "q"]
        wanted += [
            f"{name}[{gap}]"
            for name in ("ranked", "why_not", *tests, "llr_gap", "llr_low", "llr_high", "llr_null", "llr_rank")
        ]
    assert names[names.index("ranked[x,y]") :] == wanted
    for contrast, gap in zip(result.contrasts, ("x,y", "x,z", "y,z", "x,rest", "y,rest", "z,rest"), strict=True):
        np.testing.assert_array_equal(result.table[f"why_not[{gap}]"], result.why_not(contrast))
        np.testing.assert_array_equal(result.table[f"llr_gap[{gap}]"], result.values.gaps("llr", contrast))
        np.testing.assert_array_equal(result.table[f"llr_rank[{gap}]"], result.ranks("llr", contrast))


@pytest.mark.parametrize("size", [1, 3, 5, 10, 11])
def test_blocks_are_the_table_cut(result: Association, size: int) -> None:
    blocks = list(result.table_blocks(size))
    assert [len(block) for block in blocks] == [min(size, 10 - start) for start in range(0, 10, size)]
    for name, column in result.table.columns.items():
        joined = np.concatenate([block[name] for block in blocks])
        assert joined.dtype == column.dtype
        np.testing.assert_array_equal(joined, column)
    assert [len(block) for block in result.table_blocks()] == [10]


def test_labels_on_top_in_order(result: Association) -> None:
    rows = list(result.top("dp", 99).rows())
    assert list(rows[0]) == [
        "rank", "label", "name", "count", "count[a]", "count[b]", "gap", "low", "high", "null", "p", "q",
    ]  # fmt: skip
    gaps = {label: held[0] / 40 - held[1] / 60 for label, held in CELLS.items() if label not in ("all", "neither")}
    ordered = sorted(gaps, key=lambda label: -gaps[label])
    assert [row["label"] for row in rows] == ordered
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5, 6]
    for turn, toward, top in ((1, "a", rows), (-1, "b", list(result.top("dp", 99, toward="b").rows()))):
        assert [row["label"] for row in top] == ordered[::turn]
        for row in top:
            at = result.labels.index(row["label"])
            low, high, _ = (float(part[at]) for part in result.values.interval("dp", (0, 1)))
            assert (row["name"], row["count"]) == (row["label"], result.count[at])
            assert (row["count[a]"], row["count[b]"]) == tuple(result.joint[at])
            assert row["gap"] == pytest.approx(turn * gaps[row["label"]])
            assert (row["low"], row["high"]) == ((low, high) if turn > 0 else (-high, -low)), toward
            assert row["p"] == result.values.p_values((0, 1))[at]
            assert row["q"] == result.values.q_values((0, 1))[at]
    for toward, turn in (("a", 1), ("b", -1)):
        for row in result.top("llr", 2, toward=toward).rows():
            assert row["null"] == pytest.approx(turn * math.log(40 / 60))
    zero = result.top("dp", 9, toward="b")
    assert not np.signbit(zero["null"]).any()


def test_so_many_are_on_top_and_ten_where_none_is_said() -> None:
    many = {f"y{k:02d}": (k + 1, 3) for k in range(15)}
    result = biasamp.associate(of_cells(many, (40, 40)), ["a", "b"], min_expected=0)
    assert result.top()["label"].tolist() == result.top("npmi_xy", 10, toward="a")["label"].tolist()
    for k in (0, 1, 14, 15, 16, np.int64(3)):
        assert len(result.top("dp", k)) == min(int(k), 15)
    both = result.top("dp", 99, include_identities=True)
    assert len(both) == 17
    assert both["label"][0] == "a"
    assert both["label"][-1] == "b"
    for wrong in (-1, True, 2.0, "3", None):
        with pytest.raises(ValueError, match=r"k is .*; a whole number of 0 or more is needed"):
            result.top("dp", wrong)
    with pytest.raises(TypeError, match="include_identities is 'yes'"):
        result.top("dp", 1, include_identities="yes")  # type: ignore[arg-type]


def test_ties_go_by_count_then_by_label() -> None:
    cells = {"d": (4, 2, 0), "b2": (4, 2, 6), "c": (4, 2, 0), "e": (4, 2, 3), "z": (9, 2, 0)}
    result = biasamp.associate(of_cells(cells, (20, 20), 9), ["a", "b"], min_expected=0)
    top = result.top("dp", 9)
    assert top["label"].tolist() == ["z", "b2", "e", "c", "d"]
    assert top["rank"].tolist() == [1, 2, 2, 2, 2]
    assert result.top("dp", 3)["label"].tolist() == ["z", "b2", "e"]
    assert result.top("dp", 9, toward="b")["label"].tolist() == ["b2", "e", "c", "d", "z"]


def test_labels_whose_gap_is_undefined_are_on_no_top() -> None:
    """With smoothing labels of every record are known to mean nothing; NaN is what a metric says of them."""
    held = of_cells({"y": (5, 3), "all": (10, 10)}, (10, 10))
    result = biasamp.associate(held, ["a", "b"], min_expected=0)
    assert result.top("npmi_y", 9)["label"].tolist() == ["y"]
    three = biasamp.associate(of_cells(THREE, (20, 20, 20), 10), ["a", "b", "c"], min_expected=0)
    assert "none" not in three.top("pmi", 99, toward="a", include_identities=True)["label"].tolist()


def test_gaps_toward_identities() -> None:
    two = biasamp.associate(images(), ["a", "b"])
    assert two.gap_toward(None, None) == ((0, 1), 1.0)
    assert two.gap_toward("a", None) == ((0, 1), 1.0)
    assert two.gap_toward("b", None) == ((0, 1), -1.0)
    assert two.gap_toward(None, "b") == ((0, 1), 1.0)
    assert two.gap_toward("b", "a") == ((0, 1), -1.0)
    three = biasamp.associate(of_cells(THREE, (20, 20, 20), 10), ["a", "b", "c"])
    assert three.gap_toward(None, None) == ((0, None), 1.0)
    assert three.gap_toward("c", None) == ((2, None), 1.0)
    assert three.gap_toward("c", "b") == ((1, 2), -1.0)
    assert three.gap_toward("b", "c") == ((1, 2), 1.0)
    assert three.gap_toward(None, "c") == ((0, 2), 1.0)
    for toward, against, said in (
        ("z", None, "toward is 'z'; the identities are 'a', 'b'"),
        ("a", "z", "against is 'z'; the identities are 'a', 'b'"),
        (None, "a", "toward and against are both 'a'; two identities are compared"),
        (1, None, "toward is 1; the identities"),
    ):
        with pytest.raises(ValueError, match=said):
            two.gap_toward(toward, against)  # type: ignore[arg-type]


def test_contrasts_are_checked() -> None:
    two = biasamp.associate(images(), ["a", "b"])
    three = biasamp.associate(of_cells(THREE, (20, 20, 20), 10), ["a", "b", "c"], contrasts="rest")
    assert (two.why_not([0, 1]) == two.why_not()).all()  # type: ignore[arg-type]
    assert len(three.why_not((1, 2))) == len(three.why_not((2, None))) == 9
    for held, wrong in (
        (two, (1, 0)), (two, (0, 0)), (two, (0, 2)), (two, (0, None)), (two, (2, None)), (three, (3, None)), (three, (2, 3)),
        (three, (2, 1)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"contrast is .*; this result holds"):
            held.why_not(wrong)
    for wrong in (5, (0,), (0, 1, 2), "ab", (0, "b"), (None, 1), (True, 1)):
        with pytest.raises(TypeError, match="contrast is"):
            two.ranks("dp", wrong)  # type: ignore[arg-type]
    for wrong in ((-1, 1), (0, -1)):
        with pytest.raises(ValueError, match="contrast is -1"):
            two.ranks("dp", wrong)


def test_metrics_that_a_result_does_not_hold() -> None:
    result = biasamp.associate(images(), ["a", "b"], metrics=["dp", "ji"])
    assert result.checked("ji") == "ji"
    for wrong, said in (("pmi", "'pmi'"), (5, "5"), (None, "None")):
        with pytest.raises(ValueError, match=f"metric is {said}; this result holds dp, ji"):
            result.checked(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="metrics is 'pmi'"):
        result.plot(metrics=["dp", "pmi"])
    with pytest.raises(ValueError, match="kind is 'pie'; use one of 'ranks', 'counts'"):
        result.plot("pie")
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="k is"):
            result.plot("counts", k=wrong)
    with pytest.raises(TypeError, match=r"k is 1\.5"):
        result.plot("counts", k=1.5)  # type: ignore[arg-type]


def test_figures_are_asked_for_by_kind_and_metrics(result: Association, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(association_result, "render", lambda *given, **how: asked.append((given[2:], how)))
    result.plot()
    result.plot("counts", metrics=["dp", "llr"], k=1)
    assert asked == [
        (("ranks",), {"metrics": None, "k": 100}),
        (("counts",), {"metrics": ["dp", "llr"], "k": 1}),
    ]


def test_the_document_of_a_result(result: Association, tmp_path: Path) -> None:
    document = result.to_dict()
    assert list(document) == [
        "schema", "kind", "version", "n", "identities", "overlap", "metrics", "settings", "data", "notes", "labels", "excluded",
    ]  # fmt: skip
    assert (document["schema"], document["kind"], document["version"]) == (1, "association", biasamp.__version__)
    assert document["n"] == 120
    assert document["identities"] == [
        {"identity": "a", "labels": ["a"], "count": 40},
        {"identity": "b", "labels": ["b"], "count": 60},
    ]
    assert document["overlap"] == [[40, 0], [0, 60]]
    assert document["metrics"] == list(METRICS)
    assert document["settings"] == {
        "zero": "limit", "alpha": None, "min_count": 1, "min_expected": 0, "paper_literal": False, "correction": "bh",
    }  # fmt: skip
    assert document["data"] == dict(result.reading)
    assert list(document["data"]) == ["rows", "order", "duplicates", "below_threshold"]
    assert document["excluded"] == list(result.excluded)
    assert document["notes"] == list(result.notes)
    told = json.loads(result.to_json(tmp_path / "run.json"))
    assert (tmp_path / "run.json").read_text(encoding="utf-8") == result.to_json() + "\n"
    for name, held in json.loads(json.dumps(document)).items():
        assert told[name] == held


def test_the_document_of_each_label(result: Association) -> None:
    rows = result.to_dict()["labels"]
    assert [row["label"] for row in rows] == list(result.labels)
    of = result.values
    for at, row in enumerate(rows):
        a, b, *more = {**CELLS, "a": (40, 0), "b": (0, 60)}[row["label"]]
        assert list(row) == ["label", "name", "count", "identity", "identities", "gaps"]
        assert (row["name"], row["count"], row["identity"]) == (row["label"], a + b + sum(more), row["label"] in "ab")
        for k, (held, joint) in enumerate(zip(row["identities"], (a, b), strict=True)):
            assert list(held) == ["identity", "joint", *METRICS]
            assert (held["identity"], held["joint"]) == ("ab"[k], joint)
            for metric in METRICS:
                assert held[metric] == plain(of.values(metric)[at, k])
        (gap,) = row["gaps"]
        assert list(gap) == [
            "x1",
            "x2",
            "p",
            "q",
            "both",
            "ranked",
            "why_not",
            "low",
            "high",
            "rank",
            "independence",
            *METRICS,
        ]
        assert (gap["x1"], gap["x2"], gap["both"]) == ("a", "b", 0)
        why = result.why_not()[at]
        assert (gap["ranked"], gap["why_not"]) == (not why, why or None)
        assert (gap["p"], gap["q"]) == (plain(of.p_values((0, 1))[at]), plain(of.q_values((0, 1))[at]))
        for metric in METRICS:
            low, high, _ = of.interval(metric, (0, 1))
            assert gap[metric] == plain(of.gaps(metric, (0, 1))[at])
            assert (gap["low"][metric], gap["high"][metric]) == (plain(low[at]), plain(high[at]))
            assert gap["rank"][metric] == plain(result.ranks(metric)[at])
            assert gap["independence"][metric] == plain(of.independence(metric, (0, 1))[at])


def plain(value: Any) -> Any:
    held = float(value)
    return None if math.isnan(held) else held if math.isfinite(held) else "inf" if held > 0 else "-inf"


def test_documents_of_labels_have_errors_where_they_are_asked_for() -> None:
    records = [*of_cells(THREE, (20, 20, 20), 10), *[["a", "b", "ab"]] * 3]
    result = biasamp.associate(records, {"x": "a", "y": "b", "z": "c"}, min_expected=0)
    rows = result.label_rows(["dp", "llr"], errors=True)
    plain_rows = result.label_rows(["dp"])
    at = result.labels.index("ab")
    assert [(gap["x1"], gap["x2"], gap["both"]) for gap in rows[at]["gaps"]] == [
        ("x", "y", 3), ("x", "z", 0), ("y", "z", 0), ("x", None, None), ("y", None, None), ("z", None, None),
    ]  # fmt: skip
    for contrast, gap, bare in zip(result.contrasts, rows[at]["gaps"], plain_rows[at]["gaps"], strict=True):
        assert list(gap)[-7:] == ["low", "high", "rank", "independence", "error", "dp", "llr"]
        assert gap["error"] == {m: plain(result.values.interval(m, contrast).error[at]) for m in ("dp", "llr")}
        assert list(gap["low"]) == ["dp", "llr"]
        assert list(bare)[-5:] == ["low", "high", "rank", "independence", "dp"]
        assert "error" not in bare


def test_a_result_with_strata_says_what_is_within_them() -> None:
    records = [[*r, "s"] if k % 2 else r for k, r in enumerate(of_cells(CELLS, (40, 60), 20))]
    result = biasamp.associate(records, ["a", "b"], strata=["s"])
    assert result.conditional is not None
    assert result.to_dict()["conditional"] == result.conditional.to_dict()
    assert "conditional" not in biasamp.associate(records, ["a", "b"]).to_dict()
    assert not result.conditional.tested[[result.labels.index(name) for name in ("a", "b", "s")]].any()
    assert result.conditional.tested.sum() == len(CELLS)


def test_results_are_written_as_pages(result: Association, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def noted(*given: Any) -> int:
        asked.append(given)
        return 5

    monkeypatch.setattr(association_result, "render", noted)
    result.to_html(tmp_path / "my run.html")
    assert result._repr_html_() == "5"
    assert asked == [
        ("association explorer", {"my run": result}, tmp_path / "my run.html"),
        ("association table", result),
    ]


def test_what_a_saved_result_holds(tmp_path: Path) -> None:
    records = {"id": [1, 1, 2, 2, 3], "tag": ["a", "y", "b", "y", "a"]}
    result = biasamp.associate(records, ["a", "b"], record="id", label="tag", min_expected=0)
    result.save(tmp_path / "run.parquet")
    back = Association.load(tmp_path / "run.parquet")
    assert back.reading == result.reading
    assert back.notes == result.notes
    assert back.settings == result.settings
    assert back.metrics == result.metrics
    assert back.conditional is None


def test_two_gaps_are_told_apart() -> None:
    """Of three identities each against the first."""
    held = of_cells(THREE, (20, 20, 20), 10)
    result = biasamp.associate(held, ["a", "b", "c"], min_expected=0, metrics="dp", contrasts="reference")
    assert result.contrasts == ((0, 1), (0, 2))
    assert {row["gap"] for row in result.excluded} == {"a,b", "a,c"}
    assert "dp_gap[a,b]" in result.table.columns
    assert repr(result).endswith("; 4 labels not ranked in some gap)")


def test_no_gap_is_less_than_0_and_0() -> None:
    result = biasamp.associate(of_cells({"y": (4, 4)}, (20, 20)), ["a", "b"], min_expected=0)
    for toward in ("a", "b"):
        top = result.top("dp", 1, toward=toward)
        assert not np.signbit(top["gap"]).any()
        assert top["low"] == pytest.approx(-top["high"])
