"""Texts as label sets: against a slow reference, and the same on every way they can come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasamp
from biasamp.text.plurals import plural
from biasamp.text.words import words_of

WHO = {"woman": ["woman", "lady", "girl"], "man": ["man", "boy"]}
WHAT = {"dog": ["dog"], "hot_dog": ["hot dog"], "t-shirt": ["t-shirt"], "glass": ["wine glass", "goblet"]}
CAPTIONS = [
    "A woman's hot dogs",
    "two hot-dogs. dog",
    "a man-made lake",
    "T shirts; T-Shirt, and a boy",
    "ladies with wine glasses, wine-glass",
    "the catch of a man and a woman",
    "",
    None,
]
LABELS = [["hot_dog"], ["dog", "hot_dog"], [], ["t-shirt"], ["glass"], [], [], []]
PEOPLE = [["woman"], [], [], ["man"], ["woman"], ["man", "woman"], [], []]


def slow_labels(text: str, entries: dict[str, list[str]]) -> set[str]:
    """Every span of every entry, longest first, each word for itself."""
    words = words_of(text)
    spans = []
    for name, spellings in entries.items():
        for entry in spellings:
            parts = entry.replace("-", " ").split()
            for form in (parts, [*parts[:-1], plural(parts[-1])]):
                for start in range(len(words)):
                    for end in range(start + 1, len(words) + 1):
                        if " ".join(words[start:end]).replace("-", " ").split() == form:
                            spans.append((start, end, name))
    return {
        name for low, high, name in spans if not any(a <= low and high <= b and b - a > high - low for a, b, _ in spans)
    }


class TestReadText:
    def test_labels_and_identities_by_hand(self) -> None:
        table = biasamp.read_text(CAPTIONS, WHO, WHAT).table
        assert [sorted(found) for found in table["labels"].to_pylist()] == LABELS
        assert [sorted(found) for found in table["identities"].to_pylist()] == PEOPLE
        assert table["identity"].to_pylist() == ["woman", None, None, "man", "woman", None, None, None]

    def test_found(self) -> None:
        found = {row["identity"]: row for row in biasamp.read_text(CAPTIONS, WHO, WHAT).found.rows()}
        assert {name: row["texts"] for name, row in found.items()} == {
            "woman": 3,
            "man": 2,
            "(none)": 4,
            "(several)": 1,
        }
        assert found["woman"]["words"] == "woman 2, lady 1"
        assert found["woman"]["alone"] == 2

    words = st.sampled_from(
        "a man men woman women's lady hot dog dogs hot-dog wine glass glasses wine-glass goblet t shirt t-shirts the , .".split()  # noqa: SIM905
    )

    @given(st.lists(st.lists(words, max_size=9).map(" ".join), min_size=1, max_size=6))
    def test_against_a_slow_reference(self, texts: list[str]) -> None:
        table = biasamp.read_text(texts, WHO, WHAT).table
        for text, labels, people in zip(
            texts, table["labels"].to_pylist(), table["identities"].to_pylist(), strict=True
        ):
            assert set(labels) == slow_labels(text, WHAT)
            assert set(people) == slow_labels(text, WHO)

    def test_all_words(self) -> None:
        table = biasamp.read_text(["Two dogs and a dog's toy", "women's tennis"], WHO, "words").table
        assert [sorted(words) for words in table["labels"].to_pylist()] == [
            ["a", "and", "dog", "toy", "two"],
            ["tennis"],
        ]
        plain = biasamp.read_text(["Two dogs and a dog's toy"], None, "words", plurals=False).table
        assert sorted(plain["labels"].to_pylist()[0]) == ["a", "and", "dog", "dogs", "toy", "two"]

    def test_another_language(self) -> None:
        who = {"femme": ["femme", "dame", "elle"], "homme": ["homme", "il"]}
        table = biasamp.read_text(["L’homme d'affaires", "Elle n’est pas là", "une Dame"], who, plurals=False).table
        assert table["identity"].to_pylist() == ["homme", "femme", "femme"]
        assert biasamp.read_text(["那个女人在跑步"], {"woman": ["女人"]}).table["identity"].to_pylist() == ["woman"]

    @pytest.mark.parametrize("name", ["captions", "lic", "helm", "weat"])
    def test_lists_of_the_field(self, name: str) -> None:
        table = biasamp.read_text(["She is here", "a boy", "a person"], name).table
        assert table["identity"].to_pylist() == ["woman", "man", None]

    def test_association_knows_the_identities(self) -> None:
        read = biasamp.read_text(CAPTIONS, WHO, WHAT)
        whole = biasamp.associate(read, min_expected=0)
        assert whole.identities == ("woman", "man")
        assert whole.n == len(CAPTIONS)
        assert whole.identity_count.tolist() == [3, 2]
        again = biasamp.associate(read, ["man", "woman"], min_expected=0)
        assert again.identity_count.tolist() == [2, 3]
        assert biasamp.count(read).n == len(CAPTIONS)

    def test_negation_is_said_to_be_left_to_the_user(self) -> None:
        notes = biasamp.associate(biasamp.read_text(["no man here", "a woman"], WHO, ["here"]), min_expected=0).notes
        assert any("negation" in note for note in notes)


def _text_lines(path: Path) -> Any:
    path = path / "captions.txt"
    path.write_text("\n".join(text or " " for text in CAPTIONS[:6]), encoding="utf-8")
    return path


def _json_lines(path: Path) -> Any:
    path = path / "captions.jsonl"
    path.write_text("".join(json.dumps({"caption": text}) + "\n" for text in CAPTIONS[:6]), encoding="utf-8")
    return path


def _csv(path: Path) -> Any:
    path = path / "captions.csv"
    pd.DataFrame({"caption": CAPTIONS[:6]}).to_csv(path, index=False)
    return path


def _parquet(path: Path) -> Any:
    pq.write_table(pa.table({"caption": CAPTIONS[:6]}), path / "captions.parquet", row_group_size=2)
    return str(path / "captions.parquet")


class TestContainers:
    @pytest.mark.parametrize(
        "make",
        [
            lambda _: CAPTIONS[:6],
            lambda _: np.array(CAPTIONS[:6]),
            lambda _: pd.Series(CAPTIONS[:6]),
            lambda _: pl.Series(CAPTIONS[:6]),
            lambda _: pa.array(CAPTIONS[:6]),
            lambda _: pa.chunked_array([CAPTIONS[:2], CAPTIONS[2:6]]),
            lambda _: {"caption": CAPTIONS[:6]},
            lambda _: pd.DataFrame({"caption": CAPTIONS[:6], "n": range(6)}),
            lambda _: pl.DataFrame({"caption": CAPTIONS[:6]}),
            lambda _: pd.DataFrame({"caption": pd.Categorical(CAPTIONS[:6])}),
            _text_lines,
            _json_lines,
            _csv,
            _parquet,
        ],
        ids=lambda make: getattr(make, "__name__", ""),
    )
    def test_the_same_labels(self, make: Any, tmp_path: Path) -> None:
        table = biasamp.read_text(make(tmp_path), WHO, WHAT).table
        assert [sorted(found) for found in table["labels"].to_pylist()] == LABELS[:6]

    def test_several_texts_of_one_record(self) -> None:
        table = biasamp.read_text([["a dog", "a hot dog"], [], ["no"]], WHO, WHAT).table
        assert [sorted(found) for found in table["labels"].to_pylist()] == [["dog", "hot_dog"], [], []]

    def test_parts_and_engines_count_alike(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        texts = [str(CAPTIONS[i]) for i in rng.integers(0, 6, 5000)]
        table = pa.table({"id": np.arange(5000), "caption": texts})
        pq.write_table(table, tmp_path / "x.parquet", row_group_size=700)
        whole = biasamp.associate(biasamp.read_text(texts, WHO, WHAT))
        for record in (None, "id"):
            parts = biasamp.read_text(tmp_path / "x.parquet", WHO, WHAT, text="caption", record=record)
            for threads in (1, 2):
                again = biasamp.associate(parts, threads=threads)
                assert dict(zip(again.labels, again.joint.tolist(), strict=True)) == dict(
                    zip(whole.labels, whole.joint.tolist(), strict=True)
                )

    def test_pieces_of_a_batch_are_joined(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("biasamp.text.text_parts._PIECE", 40)
        table = biasamp.read_text({"caption": CAPTIONS, "n": list(range(8))}, WHO, WHAT, text="caption", keep="n").table
        assert [sorted(found) for found in table["labels"].to_pylist()] == LABELS
        assert table["n"].to_pylist() == list(range(8))

    def test_words_that_are_forgotten_are_found_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("biasamp.text.text_parts._PIECE", 40)
        monkeypatch.setattr("biasamp.text.lexicon.MOST_KNOWN", 3)
        table = biasamp.read_text(CAPTIONS, WHO, "words").table
        assert sorted(table["labels"].to_pylist()[5]) == ["a", "and", "catch", "of", "the"]

    def test_write(self, tmp_path: Path) -> None:
        read = biasamp.read_text({"id": list(range(8)), "caption": CAPTIONS}, WHO, WHAT, text="caption", record="id")
        read.write(tmp_path / "found.parquet")
        assert pq.read_table(tmp_path / "found.parquet").equals(read.table)


class TestCaptionsAgainstTruth:
    def test_objects_that_are_not_there_are_counted_apart(self) -> None:
        captions = (
            ["a woman with a dog"] * 40
            + ["a man with a dog and a kite"] * 40
            + ["a woman"] * 20
            + ["a man, a dog"] * 20
        )
        truth = [["dog"]] * 40 + [["dog", "ball"]] * 40 + [["ball"]] * 20 + [["dog"]] * 20
        data = {
            "gender": ["woman"] * 40 + ["man"] * 40 + ["woman"] * 20 + ["man"] * 20,
            "objects": truth,
            "caption": captions,
        }
        read = biasamp.read_text(data, "lic", ["dog", "ball", "kite"], text="caption", keep=["gender", "objects"])
        audit = biasamp.audit(
            read.table,
            attributes="gender",
            tasks="objects",
            attribute_predictions="identity",
            task_predictions="labels",
            resamples=50,
        )
        (kite,) = audit.document["invented"]
        assert kite["category"] == "kite"
        assert {row["group"]: row["count"] for row in kite["groups"]} == {"gender=man": 40, "gender=woman": 0}

    def test_human_captions_are_a_truth_like_any(self) -> None:
        human = [["a lady and a dog", "a dog"]] * 30 + [["a man", "a guy with a ball"]] * 30
        model = ["a woman and a dog"] * 20 + ["a woman and a ball"] * 10 + ["a man with a ball"] * 30
        truth = biasamp.read_text(human, "lic", ["dog", "ball"]).table
        said = biasamp.read_text(model, "lic", ["dog", "ball"]).table
        value = biasamp.directional(truth["identity"], truth["labels"], said["labels"]).value
        # P(ball | woman) rises from 0 to 1/3 and P(dog | woman) falls from 1 to 2/3, both against the correlation.
        assert value == pytest.approx(-1 / 6)


class TestRefused:
    @pytest.mark.parametrize(
        "arguments, message",
        [
            ({"identities": ["man"]}, "a mapping of names"),
            ({"identities": "gender"}, "no list of words called"),
            ({"identities": {"a": ["x"], "b": ["X"]}}, "is of 'a' and of 'b'"),
            ({"identities": {"a": []}}, "is empty"),
            ({"identities": {"a": ["!!"]}}, "no letter or digit"),
            ({"identities": {"a": [3]}}, "words are text"),
            ({"labels": "word"}, "'words' for all words"),
            ({}, "both missing"),
            ({"identities": {"a": ["cat"]}, "labels": {"cat": ["tiger"]}}, "call the label"),
            ({"labels": ["x"], "text": "caption"}, "texts is a list"),
            ({"labels": ["x " * 9]}, "phrases of up to"),
        ],
    )
    def test_arguments(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises((ValueError, TypeError), match=message):
            biasamp.read_text(["a text"], **arguments)

    @pytest.mark.parametrize(
        "texts, message",
        [
            (None, "texts is None"),
            ([], "empty"),
            ([1, 2], "a list of texts"),
            ("one long text that is no file", "give a list of texts"),
            ({"a": ["x"], "b": ["y"]}, "must say which"),
            ({"a": [1.0]}, "no column of text"),
        ],
    )
    def test_texts(self, texts: Any, message: str) -> None:
        with pytest.raises((ValueError, TypeError), match=message):
            biasamp.read_text(texts, labels=["x"])
