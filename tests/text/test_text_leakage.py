"""LIC: against a hand-made attacker, the published setting, and what must not change it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import biasamp
from biasamp.text.masking import MASKED, Mask, masked_texts, within_vocabulary
from extras import needs


def captions(rng: np.random.Generator, size: int, lean: float) -> tuple[list[str], list[str]]:
    """Captions whose place goes with the gender with probability ``lean``, and the genders."""
    gender = rng.choice(["woman", "man"], size)
    home = (gender == "woman") ^ (rng.random(size) > lean)
    fill = rng.choice(["red", "old", "big", "new"], size)
    return [
        f"a {g} with a {f} {'spoon' if h else 'bat'}" for g, f, h in zip(gender, fill, home, strict=True)
    ], gender.tolist()


class Known:
    """An attacker that answers from a table: what LIC is then can be counted by hand."""

    recipe = "known"

    def fit(self, texts: Any, groups: Any, seed: int) -> Known:
        return self

    def probabilities(self, texts: Any) -> Any:
        sure = np.array([0.9 if "spoon" in words else 0.2 for words in texts])
        return np.column_stack([1 - sure, sure])

    def weights(self) -> None:
        return


class TestValue:
    def test_by_hand(self) -> None:
        # 'woman' is the second group: a spoon says woman at .9, else man at .8.
        texts = (
            ["a woman with a spoon"] * 30
            + ["a woman with a bat"] * 10
            + ["a man with a bat"] * 20
            + ["a man with a spoon"] * 20
        )
        result = biasamp.text_leakage(texts, ["woman"] * 40 + ["man"] * 40, attacker=Known(), test_share=0.5, seeds=40)
        # In the long run (.75 * .9 + 0) / 2 + (.5 * .8 + 0) / 2.
        assert result.lic_m["texts"] == pytest.approx(100 * (0.75 * 0.9 + 0.5 * 0.8) / 2, abs=1.5)
        assert result.words["word"].tolist()

    def test_an_attacker_that_knows_nothing_and_one_that_knows_all(self) -> None:
        rng = np.random.default_rng(0)
        texts, gender = captions(rng, 400, 0.5)
        nothing = biasamp.text_leakage(["the same"] * 400, gender, seeds=5)
        assert nothing.lic_m["texts"] == pytest.approx(25, abs=1e-6)
        everything = biasamp.text_leakage(texts, gender, mask=None, attacker=DecisionTreeClassifier(), seeds=3)
        assert everything.lic_m["texts"] == pytest.approx(100)

    def test_more_lean_leaks_more_and_the_words_are_named(self) -> None:
        rng = np.random.default_rng(1)
        fair, gender = captions(rng, 600, 0.5)
        home = [("spoon" if g == "woman" else "bat") if rng.random() < 0.9 else "hat" for g in gender]
        biased = [f"a {g} with a {thing}" for g, thing in zip(gender, home, strict=True)]
        result = biasamp.text_leakage({"fair": fair, "biased": biased}, gender, seeds=5)
        (row,) = result.differences.rows()
        assert row["model"] == "biased less fair"
        assert row["value"] > 20
        assert row["low"] > 0
        assert row["q"] < 1e-6
        assert row["seed_low"] > 0
        top = next(row for row in result.words.rows() if row["model"] == "biased" and row["toward"] == "woman")
        assert "spoon" in top["word"]
        assert top["count[woman]"] > top["count[man]"]
        assert any("biased less fair" in line for line in result.findings)

    def test_references_in_the_models_vocabulary(self) -> None:
        rng = np.random.default_rng(2)
        model, gender = captions(rng, 400, 0.6)
        # People name the gender in a word that the model never says: replaced, it gives nothing away.
        people = [[f"a {g} person {'heels' if g == 'woman' else 'beard'}", "a person"] for g in gender]
        result = biasamp.text_leakage(model, gender, references=people, seeds=3)
        assert result.lic_d is not None
        assert result.lic_d["texts"] == pytest.approx(25, abs=2)
        assert result.lic is not None
        assert result.lic["texts"] == pytest.approx(result.lic_m["texts"] - result.lic_d["texts"])
        assert [row["figure"] for row in result.table.rows()] == ["LIC_M", "LIC_D", "LIC"]

    def test_what_the_mask_leaves_out_is_seen(self) -> None:
        rng = np.random.default_rng(3)
        _, gender = captions(rng, 300, 0.5)
        texts = [f"a {'lady' if g == 'woman' else 'guy'} here" for g in gender]
        result = biasamp.text_leakage(texts, gender, mask=["woman", "man"], seeds=2)
        assert result.lic_m["texts"] > 80
        assert {row["word"] for row in result.words.rows() if row["unmasked"]} == {"lady", "guy"}
        assert any("leaves out" in line and "lady" in line for line in result.findings)
        assert result.mask.words == ("woman", "man")
        assert biasamp.text_leakage(texts, gender, seeds=2).lic_m["texts"] == pytest.approx(25)

    def test_clusters_stay_together(self) -> None:
        rng = np.random.default_rng(4)
        texts, gender = captions(rng, 200, 0.5)
        # Five copies of each text: apart they would be learned by heart and recognized.
        named = [f"{text} {i}" for i, text in enumerate(texts)]
        repeated, who, image = named * 5, gender * 5, list(range(200)) * 5
        apart = biasamp.text_leakage(repeated, who, attacker=DecisionTreeClassifier(), seeds=3)
        together = biasamp.text_leakage(repeated, who, attacker=DecisionTreeClassifier(), cluster=image, seeds=3)
        assert together.lic_m["texts"] < apart.lic_m["texts"] - 5
        once = biasamp.text_leakage(named, gender, seeds=3).table
        again = biasamp.text_leakage(repeated, who, cluster=image, seeds=3).table
        assert again["error"][0] == pytest.approx(once["error"][0], rel=0.3)

    @pytest.mark.parametrize(
        "attacker", ["naive_bayes", LogisticRegression(C=0.1), make_pipeline(CountVectorizer(), LogisticRegression())]
    )
    def test_other_attackers(self, attacker: Any) -> None:
        texts, gender = captions(np.random.default_rng(5), 600, 0.9)
        result = biasamp.text_leakage(
            {"m": "caption"}, "gender", data={"caption": texts, "gender": gender}, attacker=attacker, seeds=2
        )
        assert result.lic_m["m"] > 50
        assert '"mask"' in result.to_json()

    def test_logistic_is_that_of_scikit_learn(self) -> None:
        texts, gender = captions(np.random.default_rng(6), 500, 0.8)
        ours = biasamp.text_leakage(texts, gender, seeds=4).lic_m["texts"]
        plain = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", lowercase=False),
            LogisticRegression(C=1.0, max_iter=1000),
        )
        assert biasamp.text_leakage(texts, gender, attacker=plain, seeds=4).lic_m["texts"] == pytest.approx(
            ours, abs=1e-6
        )

    def test_three_groups(self) -> None:
        texts = [f"text about {word}" for word in ("tea", "rice", "bread")] * 60
        result = biasamp.text_leakage(texts, ["x", "y", "z"] * 60, mask=None, seeds=2)
        assert result.lic_m["texts"] > 80
        assert {row["toward"] for row in result.words.rows() if row["word"] in ("tea", "rice", "bread")} == {
            "x",
            "y",
            "z",
        }

    @pytest.mark.slow
    def test_lstm(self) -> None:
        needs("torch")
        texts, gender = captions(np.random.default_rng(7), 600, 0.95)
        result = biasamp.text_leakage(texts, gender, attacker="lstm", seeds=1)
        assert result.lic_m["texts"] > 70
        assert biasamp.text_leakage(texts, gender, attacker="lstm", seeds=1).lic_m == result.lic_m
        assert np.isnan(result.words["weight"]).all()


@pytest.mark.slow
def test_intervals_over_texts_cover_given_the_attacker() -> None:
    """With an attacker that does not learn, its score in the long run is known."""
    rng = np.random.default_rng(8)
    rows = []
    for _ in range(300):
        texts, gender = captions(rng, 300, 0.7)
        found = biasamp.text_leakage({"m": texts, "same": texts}, gender, attacker=Known(), seeds=5)
        rows.append(next(found.table.rows()))
        assert found.differences["value"].tolist() == [0.0]
    # A spoon is right for 70% of women at .9, a bat for 70% of men at .8.
    covered = np.mean([row["low"] <= 100 * 0.7 * (0.9 + 0.8) / 2 <= row["high"] for row in rows])
    assert 0.91 <= covered <= 0.98


@pytest.mark.data
@pytest.mark.slow
def test_published_captions() -> None:
    """NIC+ and NIC+Equalizer of Hirota et al. 2022: 46.7 and 51.3 by an LSTM."""
    import pyarrow.parquet as pq

    folder = Path(os.environ["BIASAMP_DATA"])
    gender: dict[int, str] = {}
    for part in ("val", "test"):
        table = pq.read_table(folder / f"coco_gender_objects_{part}.parquet", columns=["image_id", "gender"])
        gender.update(zip(table["image_id"].to_pylist(), table["gender"].to_pylist(), strict=True))
    table = pq.read_table(folder / "coco_val2014_captions_6models.parquet").to_pydict()
    rows = [i for i, image in enumerate(table["image_id"]) if image in gender]
    texts = {model: [table[model][i] for i in rows] for model in ("baseline_ft", "equalizer")}
    result = biasamp.text_leakage(texts, [gender[table["image_id"][i]] for i in rows])
    assert result.lic_m["baseline_ft"] == pytest.approx(48.5, abs=1.2)
    assert result.lic_m["equalizer"] == pytest.approx(51.2, abs=1.2)
    (row,) = result.differences.rows()
    assert row["low"] > 0
    assert row["seed_low"] > 0
    assert "cowboy" in result.mask.words


class TestMasking:
    def test_words_plurals_and_phrases(self) -> None:
        mask = Mask(("woman", "old lady"), "given")
        assert masked_texts(["Women's old ladies", "old-lady", None], mask) == [[MASKED, MASKED], [MASKED], []]

    def test_vocabulary(self) -> None:
        assert within_vocabulary([["a", MASKED, "zebra"]], {"a"}) == [["a", MASKED, "<unknown>"]]


class TestRefused:
    @pytest.mark.parametrize(
        "arguments, options, message",
        [
            ((["a"] * 30, ["x"] * 30), {}, "two groups"),
            ((["a"] * 30, ["x", "y"] * 15), {}, "mask is needed"),
            ((["a"] * 30, ["x", "y"] * 10), {"mask": None}, "30 texts"),
            ((["a"] * 8, ["man", "woman"] * 4), {}, "10 or more"),
            ((["a"] * 30, ["man", "woman"] * 15), {"attacker": "bert"}, "attacker is 'bert'"),
            ((["a"] * 30, ["man", "woman"] * 15), {"attacker": LinearSVC()}, "predict_proba"),
            ((["a"] * 30, ["man", "woman"] * 15), {"mask": ["!"]}, "mask holds"),
            ((["a"] * 30, ["man", "woman"] * 15), {"seeds": 0}, "seeds"),
            ((["a"] * 30, ["man", "woman"] * 15), {"references": ["a"]}, "references has 1"),
            ((["a"] * 30, ["man", "woman"] * 15), {"cluster": [1] * 30}, "two groups in one cluster"),
            (({}, ["man", "woman"] * 15), {}, "empty mapping"),
            (([""] * 30, ["man", "woman"] * 15), {}, "has no words"),
            (("caption", ["man", "woman"] * 15), {}, "data="),
            (([1] * 30, ["man", "woman"] * 15), {}, "a list of texts"),
        ],
    )
    def test_arguments(self, arguments: Any, options: Any, message: str) -> None:
        with pytest.raises((ValueError, TypeError), match=message):
            biasamp.text_leakage(*arguments, **options)
