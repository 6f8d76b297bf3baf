"""What ``associate`` is asked with: each argument at both sides of its limits, and what the result says of it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.association.associate import count_labels, source_identities
from biasamp.counts.label_counter import Pairing
from biasamp.data.label_source import label_source

IMAGES = [["man", "tie", "out"], ["man", "tie"], ["man", "cup"], ["woman", "cup", "out"], ["woman", "tie"], ["cup"]] * 5
PEOPLE = ["man", "woman"]
SCORED = {
    "id": [1, 1, 2, 2, 3, 3],
    "tag": ["man", "tie", "woman", "tie", "man", "cup"],
    "p": [0.9, 0.5, 0.8, 0.4, 0.7, 0.6],
}
COLUMNS = {"record": "id", "label": "tag"}


def counted(result: biasamp.Association) -> dict[str, int]:
    return dict(zip(result.labels, result.count.tolist(), strict=True))


def test_settings_say_what_was_asked_for() -> None:
    usual = {
        "zero": "limit",
        "alpha": None,
        "min_count": 1,
        "min_expected": 5,
        "paper_literal": False,
        "correction": "bh",
    }
    asked: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {}),
        ({"zero": "drop"}, {"zero": "drop"}),
        ({"zero": "smooth"}, {"zero": "smooth", "alpha": 0.5}),
        ({"zero": ("smooth", 2)}, {"zero": "smooth", "alpha": 2.0}),
        ({"zero": ("smooth", 1e-9)}, {"zero": "smooth", "alpha": 1e-9}),
        ({"min_count": 0, "min_expected": 0.5}, {"min_count": 0, "min_expected": 0.5}),
        ({"min_count": np.int64(3), "min_expected": np.float32(0)}, {"min_count": 3, "min_expected": 0.0}),
        ({"paper_literal": True, "correction": "by"}, {"paper_literal": True, "correction": "by"}),
        ({"contrasts": "pairs"}, {"contrasts": "pairs"}),
        ({"contrasts": "auto", "reference": "woman"}, {"reference": "woman"}),
        ({"contrasts": "reference", "reference": "woman"}, {"contrasts": "reference", "reference": "woman"}),
    ]
    for options, said in asked:
        assert dict(biasamp.associate(IMAGES, PEOPLE, **options).settings) == {**usual, **said}, options


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"paper_literal": 1}, TypeError, "paper_literal is 1; True or False is needed"),
        ({"pairable": "yes"}, TypeError, "pairable is 'yes'"),
        ({"crossings": 0}, TypeError, "crossings is 0"),
        ({"correction": "fdr"}, ValueError, "correction is 'fdr'"),
        ({"contrasts": "some"}, ValueError, "contrasts is 'some'"),
        ({"reference": 5}, TypeError, "reference is 5; text is needed"),
        ({"reference": "child"}, ValueError, "reference is 'child'; the identities are 'man', 'woman'"),
        ({"metrics": ["dp", "x"]}, ValueError, "metrics asks for 'x'"),
        ({"zero": ("smooth", -1)}, ValueError, r"zero=\('smooth', -1\): alpha must be a number above 0"),
        ({"zero": ("smooth", 0.0)}, ValueError, "alpha must be a number above 0"),
        ({"zero": ("smooth", float("inf"))}, ValueError, "zero is"),
        ({"zero": ("smooth", "a")}, TypeError, "zero is 'a'; a number is needed"),
        ({"zero": "limits"}, ValueError, "zero is 'limits'; 'limit', 'drop', 'smooth'"),
        ({"min_count": -1}, ValueError, "min_count is -1; a number of 0 or more is needed"),
        ({"min_count": True}, ValueError, "min_count is True"),
        ({"min_count": "3"}, ValueError, "min_count is '3'"),
        ({"min_expected": -0.1}, ValueError, "min_expected is -0.1; a number of 0 or more"),
        ({"min_expected": float("nan")}, ValueError, "min_expected is nan"),
        ({"min_expected": None}, ValueError, "min_expected is None"),
        ({"threads": 0}, ValueError, "threads"),
        ({"memory": "lots"}, ValueError, "memory"),
        ({"threshold": True}, TypeError, "threshold holds True; a number, or a mapping"),
        ({"threshold": "0.5"}, TypeError, "threshold holds '0.5'"),
        ({"threshold": {"a": 0.5, "b": None}}, TypeError, "threshold holds None"),
        ({"threshold": float("nan")}, TypeError, "threshold holds nan"),
        ({"threshold": float("inf")}, TypeError, "threshold holds inf"),
        ({"threshold": -float("inf")}, TypeError, "threshold holds -inf"),
        ({"threshold": np.float32("inf")}, TypeError, "threshold holds"),
        ({"threshold": 10**400}, TypeError, "threshold holds a number of hundreds of digits"),
        ({"threshold": [0.5]}, TypeError, "threshold holds a list"),
        ({"strata": ["out"], "crossings": True}, ValueError, "strata and crossings=True do not go together"),
        ({"strata": []}, ValueError, "strata is empty: name at least one label"),
        ({"strata": {}}, ValueError, "strata is empty"),
        ({"strata": 5}, TypeError, "strata is 5; a list of labels, or a mapping of names to labels, is needed"),
        ({"strata": {"out"}}, TypeError, "strata is a set; a list of labels"),
        ({"strata": ["out", None]}, TypeError, "strata holds None; labels are text or whole numbers"),
        ({"strata": [True]}, TypeError, "strata holds True; labels are text or whole numbers"),
        ({"strata": ["out", 1.5]}, TypeError, "strata holds 1.5; labels"),
        ({"strata": {"where": 2.5}}, TypeError, "strata holds 2.5; labels"),
        ({"strata": {"where": ["out", None]}}, TypeError, "strata holds None; labels"),
        (
            {"strata": ["woman"]},
            ValueError,
            "identities and strata both name 'woman': an identity cannot be held fixed",
        ),
    ],
)
def test_what_cannot_be_asked_for(options: dict[str, Any], error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        biasamp.associate(IMAGES, PEOPLE, **options)


def test_identities_are_needed_but_for_counts() -> None:
    with pytest.raises(TypeError, match="identities is None: name the labels of at least one identity"):
        biasamp.associate(IMAGES)
    counts = biasamp.count(IMAGES, identities=PEOPLE)
    assert biasamp.associate(counts).identities == ("man", "woman")
    assert biasamp.associate(counts, {"man": "man", "woman": ["woman"]}).identities == ("man", "woman")
    for other in (["man"], ["woman", "man"], {"men": "man", "woman": "woman"}, ["man", "woman", "cup"]):
        with pytest.raises(
            ValueError, match=r"identities asks for .*, but the counts were made for .*; count the data again"
        ):
            biasamp.associate(counts, other)
    named = replace(counts, names=tuple(label.upper() for label in counts.labels))
    assert biasamp.associate(named, {"man": "MAN", "woman": "WOMAN"}).identities == ("man", "woman")


def test_counts_of_an_audit_are_refused() -> None:
    rows = {"g": ["a", "b"] * 9, "y": [0, 1] * 9, "p": [0, 1, 1] * 6}
    counts = biasamp.count(rows, attributes="g", tasks="y", task_predictions="p")
    with pytest.raises(TypeError, match=r"data are the counts of an audit: measure them with audit\(\)"):
        biasamp.associate(counts, PEOPLE)


def test_scores_that_reach_the_threshold() -> None:
    options = {**COLUMNS, "score": "p", "min_expected": 0}
    cases: list[tuple[Any, dict[str, int]]] = [
        (None, {"cup": 1, "man": 2, "tie": 2, "woman": 1}),
        (0.5, {"cup": 1, "man": 2, "tie": 1, "woman": 1}),
        (0, {"cup": 1, "man": 2, "tie": 2, "woman": 1}),
        ({"tie": 0.45}, {"cup": 1, "man": 2, "tie": 1, "woman": 1}),
        ({"man": 0.8, "cup": np.float64(0.7)}, {"man": 1, "tie": 2, "woman": 1}),
        (np.float32(0.55), {"cup": 1, "man": 2, "woman": 1}),
    ]
    for threshold, held in cases:
        assert counted(biasamp.associate(SCORED, PEOPLE, threshold=threshold, **options)) == held, threshold
    numbers = {"id": [1, 1, 2], "tag": [7, 8, 8], "p": [0.9, 0.2, 0.9]}
    assert counted(biasamp.associate(numbers, [7], threshold={8: 0.5}, **options)) == {"7": 1, "8": 1}
    with pytest.raises(ValueError, match="threshold= needs score="):
        biasamp.associate(SCORED, PEOPLE, threshold=0.5, **COLUMNS)
    assert counted(biasamp.associate(SCORED, PEOPLE, threshold=-sys.float_info.max, **options))["tie"] == 2


def test_strata_are_labels_or_labels_united() -> None:
    plain = biasamp.associate(IMAGES, PEOPLE, strata=["out"])
    for strata in ("out", ("out",), {"out": "out"}, {"out": ["out"]}):
        again = biasamp.associate(IMAGES, PEOPLE, strata=strata)
        assert again.to_dict() == plain.to_dict(), strata
    assert plain.conditional is not None
    assert [layer.name for layer in plain.conditional.strata] == ["out", "none of them"]
    numbers = [[1, 5, 9], [1, 9], [2, 5], [2, 9]] * 9
    found = biasamp.associate(numbers, [1, 2], strata=[5])
    assert found.identities == ("1", "2")
    assert found.conditional is not None
    assert [layer.n for layer in found.conditional.strata] == [18, 18]
    assert found.conditional.labels == ("1", "2", "5", "9")
    assert found.conditional.tested.tolist() == [False, False, False, True]
    united = biasamp.associate(numbers, {"one": 1, "two": [2]}, strata={"five": [np.int64(5)]})
    assert united.identities == ("one", "two")
    with pytest.raises(TypeError, match="identities holds None; labels are text or whole numbers"):
        biasamp.associate(IMAGES, ["man", None], strata=["out"])


def test_counts_have_the_strata_that_they_were_made_with() -> None:
    counts = biasamp.count(IMAGES, identities=["man", "out", "woman"])
    direct = biasamp.associate(IMAGES, PEOPLE, strata=["out"])
    mixed = biasamp.associate(counts, strata=["out"])
    assert mixed.identities == ("man", "woman")
    assert mixed.conditional is not None
    assert direct.conditional is not None
    assert mixed.conditional.to_dict() == direct.conditional.to_dict()
    assert mixed.to_dict()["labels"] == direct.to_dict()["labels"]
    assert mixed.counted is counts
    assert direct.counted is not None
    assert direct.counted.identities == ("man", "woman", "out")
    assert biasamp.associate(IMAGES, PEOPLE).counted is None
    with pytest.raises(ValueError, match="the counts were made without the stratum 'in': count the data again"):
        biasamp.associate(counts, strata=["out", "in"])


def test_bags_of_counts_are_there_where_they_were_asked_for() -> None:
    without, with_bags = (
        biasamp.count(SCORED, identities=PEOPLE, pairable=pairable, **COLUMNS) for pairable in (False, True)
    )
    assert biasamp.associate(with_bags, pairable=True).values.counts.bags is not None
    assert biasamp.associate(without).values.counts.bags is None
    with pytest.raises(ValueError, match="pairable=True: these counts were made without it; count the data again"):
        biasamp.associate(without, pairable=True)
    assert biasamp.associate(SCORED, PEOPLE, **COLUMNS).values.counts.bags is None
    paired = biasamp.associate(SCORED, PEOPLE, pairable=True, **COLUMNS).values.counts
    assert paired.bags is not None
    assert paired.known is not None


def test_files_of_counts_are_measured(tmp_path: Path) -> None:
    counts = biasamp.count(IMAGES, identities=PEOPLE)
    counts.save(tmp_path / "counts.parquet")
    wanted = biasamp.associate(counts, metrics=["dp"]).to_dict()
    for path in (tmp_path / "counts.parquet", str(tmp_path / "counts.parquet")):
        assert biasamp.associate(path, metrics=["dp"]).to_dict() == wanted


def test_the_counts_of_a_result() -> None:
    result = biasamp.associate(IMAGES, {"m": "man", "w": ["woman", "cup"]}, min_expected=0)
    assert result.members == (("man",), ("woman", "cup"))
    assert result.n == 30
    assert result.identity_count.tolist() == [15, 20]
    assert result.overlap.tolist() == [[15, 5], [5, 20]]
    assert dict(zip(result.labels, result.is_identity.tolist(), strict=True)) == {
        "cup": True, "man": True, "out": False, "tie": False, "woman": True,
    }  # fmt: skip
    tie = result.labels.index("tie")
    assert result.joint[tie].tolist() == [10, 5]
    assert result.expected[tie] == pytest.approx([15 * 15 / 30, 15 * 20 / 30])
    assert result.version == biasamp.__version__
    assert list(result.reading) == ["rows", "order", "duplicates", "below_threshold"]
    assert dict(biasamp.associate(result.values.counts).reading) == {}


def test_sums_of_sources_without_ids_say_what_is_unknown() -> None:
    one, two = (biasamp.count(images, identities=PEOPLE) for images in (IMAGES, IMAGES[:7]))
    (note,) = biasamp.associate(one + two).notes
    assert note.startswith("these counts were added up from 2 sources whose records have no ids")
    assert biasamp.associate(one).notes == ()
    later = {"id": [7, 7, 8, 9], "tag": ["man", "tie", "woman", "man"]}
    known = [biasamp.count(rows, identities=PEOPLE, pairable=True, **COLUMNS) for rows in (SCORED, later)]
    assert biasamp.associate(known[0] + known[1]).notes == ()


def test_identities_that_a_source_knows() -> None:
    held = {"m": ["man"], "w": ["woman"], "c": ["child"]}
    source = replace(label_source(IMAGES), identities=held)
    bare = label_source(IMAGES)
    assert source_identities(bare, None) is None
    assert source_identities(bare, ["m"]) == ["m"]
    assert source_identities(source, None) == held
    assert source_identities(source, ["w", "m"]) == {"w": ["woman"], "m": ["man"]}
    assert list(source_identities(source, ["w", "m"])) == ["w", "m"]
    for own in (["w", "cup"], {"m": "cup"}):
        assert source_identities(source, own) == own
    two = replace(source, identities={"m": ["man"], "w": ["woman"]})
    assert biasamp.associate(two).identities == ("m", "w")
    assert biasamp.associate(two, ["w"]).members == (("woman",),)
    counts, _ = count_labels(two, None)
    assert counts.identities == ("m", "w")


def test_counts_are_named_after_their_source() -> None:
    counts, reading = count_labels(SCORED, PEOPLE, "tag", "id", "p", 0.6, threads=1, memory="200MB")
    assert reading.below_threshold == 2
    assert len(counts.sources) == 1
    assert counts.sources[0][1] == 3
    with pytest.raises(ValueError, match="no record has the label 'child'"):
        count_labels(SCORED, ["man", "child"], "tag", "id")
    absent, _ = count_labels(SCORED, ["man", "child"], "tag", "id", absent=True)
    assert absent.identity_count.tolist() == [2, 0]
    assert absent.bags is None
    paired, _ = count_labels(SCORED, PEOPLE, "tag", "id", pairing=Pairing(True, True))
    assert paired.bags is not None


def test_crossed_identities_are_measured() -> None:
    images = [["man", "old", "tie"], ["man", "young"], ["woman", "old"], ["woman", "young", "tie"]] * 10
    crossed = biasamp.associate(images, ["man", "woman", "young", "old"], crossings=True, min_expected=0)
    assert crossed.identities == ("man & young", "man & old", "woman & young", "woman & old")
    tie = crossed.labels.index("tie")
    assert crossed.joint[tie].tolist() == [0, 10, 10, 0]
    assert crossed.is_identity[[crossed.labels.index(name) for name in ("man", "young")]].all()
    assert not crossed.is_identity[tie]


def test_one_text_is_no_list_of_identities() -> None:
    counts = biasamp.count(IMAGES, identities=["man", "woman", "out"])
    for data in (IMAGES, counts):
        with pytest.raises(TypeError, match="identities is the text 'man'; a list of labels"):
            biasamp.associate(data, "man")
    with pytest.raises(TypeError, match="identities is None: name the labels of at least one identity"):
        biasamp.associate(IMAGES, strata=["out"])
    asked = biasamp.associate(counts, ["man", "woman"], strata=["out"])
    assert asked.to_dict()["conditional"] == biasamp.associate(IMAGES, PEOPLE, strata=["out"]).to_dict()["conditional"]
