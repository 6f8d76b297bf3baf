"""Masked language models of which everything is known, and base correlations counted by hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from biasamp.cli.cmd_reproduce import command
from biasamp_reproductions import Setting, experiments, fill_in_the_blank
from biasamp_reproductions.cooccurrences import cooccurrences, sentences_of
from biasamp_reproductions.fill_in_the_blank import sources
from biasamp_reproductions.internals import (
    PRONOUNS,
    Blank,
    MaskedModel,
    Occupation,
    fill_in,
    load_masked_model,
    occupation_blanks,
)
from biasamp_reproductions.occupations import labour_table, occupations
from biasamp_reproductions.outcome import REAL, STAND_IN
from biasamp_reproductions.planted_bert import (
    Plant,
    planted,
    read_sentences,
    sentences,
    tokenizer_of,
    word_pieces,
)
from extras import needs

JOBS = (Occupation("cook", 0.38, 100, "men"), Occupation("nurse", 0.9, 300, "women"))


class TestBaseCorrelations:
    def test_labour_facts(self) -> None:
        jobs = occupations()
        assert len(jobs) == 32
        assert sum(job.toward == "men" for job in jobs) == 16
        # Nurses: 3,102 thousand, 90% of them women.
        assert labour_table(jobs)["nurse"] == pytest.approx({"he": 310.2, "she": 2791.8})

    def test_four_sources(self) -> None:
        counted = sources(JOBS, np.array([[1, 0], [0, 0]]), "text")
        assert [source.name for source in counted][2] == "text"
        # A text that does not name an occupation says nothing of it.
        assert list(counted[2].table or {}) == ["cook"]
        assert [source.table for source in sources(JOBS, None, "")] == [None, None, labour_table(JOBS)]

    def test_sentences_counted_by_hand(self, tmp_path: Path) -> None:
        text = (
            "He is a cook. The woman met two nurses! She asked the cook, and he answered.\n"
            "The nurse and the cook like his food. Her cooks left.\nBakery staff: a nursery? HIS NURSE\n"
        )
        counts = [[1, 1], [1, 1]]
        (tmp_path / "text.txt").write_text(text, encoding="utf-8")
        (tmp_path / "text.txt.gz").write_bytes(gzip.compress(text.encode()))
        for name in ("text.txt", "text.txt.gz"):
            assert cooccurrences(sentences_of(tmp_path / name), ["cook", "nurse"]).tolist() == counts

    def test_plurals(self) -> None:
        read = ["she saw salespeople", "he hired secretaries", "she is a salesperson"]
        assert cooccurrences(read, ["salesperson", "secretary"]).tolist() == [[0, 2], [1, 0]]


def tiny(seed: int = 0) -> MaskedModel:
    """A BERT with random weights."""
    needs("torch")
    needs("transformers")
    vocabulary = word_pieces(["he", "she", "they", "is", "was", "a", "good", "nurse", "cook", "baker"], ["baker"])
    return read_sentences([("He is a good cook.", "he", "cook")], vocabulary, steps=2, at_once=8, seed=seed)


class TestScores:
    def test_the_same_as_the_ordinary_pipeline(self) -> None:
        transformers = needs("transformers")
        model = tiny()
        ordinary = transformers.pipeline("fill-mask", model=model.model, tokenizer=model.tokenizer, device=-1)
        expected = {
            item["token_str"]: item["score"] for item in ordinary("She is a [MASK].", targets=["nurse", "cook"])
        }
        # Sentences of different lengths, so that some are padded.
        blanks = [Blank("She was a good good good ", "."), Blank("She is a ", ".")]
        scores, tokens = model.scores(blanks, ["nurse", "cook"])
        assert tokens.tolist() == [[1, 1], [1, 1]]
        assert np.exp(scores[1]) == pytest.approx([expected["nurse"], expected["cook"]], rel=1e-4)

    def test_all_fillings_of_two_masks_share_one(self) -> None:
        torch = needs("torch")
        model = tiny(1)
        found = model.pieces(Blank("She is a ", "."), "baker")
        assert found is not None
        ids, places = found
        assert model.tokenizer.convert_ids_to_tokens([ids[i] for i in places]) == ["ba", "##ker"]
        scores, tokens = model.scores([Blank("She is a ", ".")], ["baker"])
        assert tokens.tolist() == [[2]]

        def shares(filling: list[int], place: int) -> Any:
            with torch.inference_mode():
                return torch.softmax(model.model(torch.tensor([filling])).logits[0, place], dim=-1).numpy()

        mask = model.tokenizer.mask_token_id
        hidden = [mask if i in places else token for i, token in enumerate(ids)]
        first = shares(hidden, places[0])
        second = [
            shares([t if i == places[0] else h for i, h in enumerate(hidden)], places[1]) for t in range(len(first))
        ]
        joint = first[:, None] * np.array(second)
        assert joint.sum() == pytest.approx(1, abs=1e-5)
        assert np.exp(scores[0, 0]) == pytest.approx(joint[ids[places[0]], ids[places[1]]], rel=1e-4)

    def test_a_word_the_tokenizer_does_not_know_has_no_score(self) -> None:
        scores, tokens = tiny().scores([Blank("She is a ", ".")], ["nurse", "welder"])
        assert tokens.tolist() == [[1, 0]]
        assert np.isnan(scores).tolist() == [[False, True]]

    @pytest.mark.parametrize("kind", ["bytes", "metaspace"])
    def test_tokenizers_that_join_words_with_their_space(self, kind: str) -> None:
        needs("transformers")
        tokenizers = needs("tokenizers")
        from transformers import PreTrainedTokenizerFast

        made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
        if kind == "bytes":
            made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
            made.post_processor = tokenizers.processors.ByteLevel(trim_offsets=True)
        else:
            before = tokenizers.pre_tokenizers
            made.pre_tokenizer = before.Sequence([before.Metaspace(), before.Punctuation()])
        trainer = tokenizers.trainers.BpeTrainer(
            special_tokens=["<unk>", "<mask>"], vocab_size=400, show_progress=False
        )
        read = ["He is a nurse.", "She is a nurse.", "He was a hairy dresser."] * 50
        made.train_from_iterator(read, trainer)
        model = MaskedModel(
            PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", mask_token="<mask>"), None, kind
        )
        for blank, word, many in (
            (Blank("She is a ", "."), "nurse", 1),
            (Blank("", " is a nurse."), "She", 1),
            (Blank("She is a ", "."), "hairdresser", 2),
        ):
            found = model.pieces(blank, word)
            assert found is not None
            ids, places = found
            joined = "".join(model.tokenizer.convert_ids_to_tokens([ids[i] for i in places]))
            assert joined.lstrip("Ġ▁") == word
            assert (len(places) == 1) == (many == 1)

    def test_a_token_that_reaches_into_a_neighbour_is_no_score_of_the_word(self) -> None:
        needs("transformers")
        tokenizers = needs("tokenizers")
        from transformers import PreTrainedTokenizerFast

        words = {"<unk>": 0, "<mask>": 1, "a": 2, "nurse": 3, "cook.": 4}
        made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
        made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
        read = PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", mask_token="<mask>")
        model = MaskedModel(read, None, "x")
        assert model.pieces(Blank("a ", "."), "cook") is None
        assert model.pieces(Blank("a ", ""), "nurse") == ([2, 3], [1])

    def test_models_that_cannot_be_asked(self) -> None:
        needs("transformers")
        tokenizer = tokenizer_of(word_pieces(["a"], []))
        tokenizer.mask_token = None
        with pytest.raises(ValueError, match="no mask token"):
            MaskedModel(tokenizer, None, "x")
        with pytest.raises(ValueError, match="fast"):
            MaskedModel(object(), None, "x")
        with pytest.raises(ValueError, match="could not be loaded as a masked language model"):
            load_masked_model("/no/such/folder")


@pytest.fixture(scope="module")
def learned() -> tuple[MaskedModel, Plant, tuple[Occupation, ...], np.ndarray]:
    """A tiny BERT that read 10,000 sentences about four occupations, one of them in two pieces."""
    needs("torch")
    needs("transformers")
    jobs = tuple(job for job in occupations() if job.name in ("cook", "nurse", "lawyer", "hairdresser"))
    joint = np.array([[0.24, 0.04, 0.02], [0.06, 0.12, 0.02], [0.03, 0.24, 0.03], [0.02, 0.16, 0.02]])
    plant = Plant(tuple(job.name for job in jobs), PRONOUNS, joint)
    read = sentences(plant, occupation_blanks, 10_000, 0)
    adjectives = {word for text, _, _ in read for word in text.lower().rstrip(".").split()}
    model = read_sentences(read, word_pieces(sorted(adjectives), ["hairdresser"]), steps=300, at_once=192, seed=0)
    return model, plant, jobs, cooccurrences([text for text, _, _ in read], plant.occupations)


class TestPlanted:
    def test_what_was_planted_comes_back(self, learned: Any) -> None:
        model, plant, jobs, _ = learned
        found = fill_in(model, jobs)
        assert dict(zip(plant.occupations, found.tokens.tolist(), strict=True))["hairdresser"] == 2
        right = plant.joint / plant.joint.sum(axis=1, keepdims=True)
        assert found.pronoun.mean(axis=0) == pytest.approx(right, abs=0.06)
        one = np.flatnonzero(found.one_token)
        given = plant.joint[one] / plant.joint[one].sum(axis=0)
        assert found.occupation.mean(axis=0)[:, one] == pytest.approx(given.T, abs=0.06)
        # The word of two tokens comes out too likely where it competes by summed log-probabilities.
        long = plant.occupations.index("hairdresser")
        assert found.occupation_chained[..., long].mean() > 2 * plant.joint[long].sum()

    def test_planted_shares(self) -> None:
        plant = planted(["a", "b"], [0.9, 0.1], 3)
        assert plant.joint.sum() == pytest.approx(1)
        assert plant.pronoun_given_occupation.sum(axis=1) == pytest.approx([1, 1])
        assert plant.occupation_given_pronoun.sum(axis=1) == pytest.approx([1, 1, 1])
        assert plant.pronoun_given_occupation[0, 0] > plant.pronoun_given_occupation[1, 0]

    def test_the_stand_in_is_held_against_what_was_planted(self, learned: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        model, plant, jobs, counted = learned
        monkeypatch.setattr(fill_in_the_blank, "occupations", lambda: jobs)
        monkeypatch.setattr(fill_in_the_blank, "stand_in", lambda setting, jobs, **sizes: (model, plant, counted))
        outcome = experiments()["fill-in-the-blank"].run(Setting())
        assert outcome.kind == STAND_IN
        assert "hairdresser" in outcome.source
        rows = {row.what: row for row in outcome.rows}
        # Against equal shares: the mean of |P(he|t) - P(she|t)|, among the two, over occupations, half of it a pair.
        two = plant.joint[:, :2] / plant.joint[:, :2].sum(axis=1, keepdims=True)
        leans = np.where([job.toward == "men" for job in jobs], 1, -1) * (two[:, 0] - 0.5)
        assert rows["Table 2, base Uniform (2): T→A, of the tiny BERT"].planted == f"{leans.mean():+.4f}"
        assert len([what for what in rows if what.endswith("of the tiny BERT")]) == 8
        # What is printed stands beside, without a verdict, for the three sources that are the paper's.
        printed = [row for row in rows.values() if row.published is not None and row.item == "Table 2"]
        assert [(row.published, row.verdict) for row in printed[:2]] == [
            (".1368", "no verdict"),
            (".0084", "no verdict"),
        ]
        assert len(printed) == 6

    def test_a_model_in_a_folder(self, learned: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        model, _, jobs, counted = learned
        monkeypatch.setattr(fill_in_the_blank, "occupations", lambda: jobs)
        saved = tmp_path / "model"
        model.model.save_pretrained(saved)
        model.tokenizer.save_pretrained(saved)
        loaded = fill_in(load_masked_model(str(saved)), jobs)
        assert loaded.he == pytest.approx(fill_in(model, jobs).he, abs=1e-6)
        data = tmp_path / "data"
        data.mkdir()
        (data / "wikipedia.txt").write_text("She is a nurse. He is a cook.\nHe is no lawyer. Her hairdresser.")
        monkeypatch.setenv("BIASAMP_DATA", str(data))
        target = tmp_path / "figures.json"
        ran = CliRunner().invoke(
            command,
            ["fill-in-the-blank", "--model", str(saved), "--folder", str(tmp_path / "out"), "--json", str(target)],
        )
        assert ran.exit_code == 0, ran.output
        (item,) = json.loads(target.read_text(encoding="utf-8"))["experiments"]
        assert item["outcome"]["kind"] == REAL
        assert str(saved) in item["outcome"]["source"]
        rows = {row["what"]: row for row in item["outcome"]["rows"]}
        # In that text each occupation has one gender, so that all four move away from it.
        assert rows["Table 2, base Wikipedia (2): T→A"]["ours"] < 0
        assert rows["Table 2, base Wikipedia (2): T→A"]["agrees"] is None
        assert counted.shape == (4, 2)


class TestWithoutTheExtra:
    def test_the_message_names_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from importlib import util

        found = util.find_spec
        gone = ("transformers", "torch")
        monkeypatch.setattr(util, "find_spec", lambda name, *rest: None if name in gone else found(name, *rest))
        ran = CliRunner().invoke(command, ["fill-in-the-blank"])
        assert ran.exit_code == 3
        assert "pip install 'biasamp[experiments]'" in ran.output

    def test_other_experiments_take_no_model(self) -> None:
        ran = CliRunner().invoke(command, ["worked-examples", "--model", "x"])
        assert ran.exit_code == 2
        assert "fill-in-the-blank" in ran.output

    def test_listing_and_importing_bring_neither_torch_nor_transformers(self) -> None:
        import subprocess
        import sys

        code = (
            "from biasamp_reproductions import Setting, experiments\n"
            "[e.lacking(Setting()) for e in experiments().values()]\n"
            "import sys; sys.exit(bool({'torch', 'transformers', 'tokenizers'} & set(sys.modules)))"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_occupations_of_one_template_are_measured() -> None:
    """One record for each of 32 occupations, which are no ids; against the mean over pairs by hand."""
    from biasamp_reproductions.internals import TEMPLATES, TWO, FilledIn, Source, amplification
    from biasamp_reproductions.occupations import occupations

    jobs = occupations()
    many = len(jobs)
    toward = np.array([job.toward == "men" for job in jobs])
    he = np.where(toward, 0.8, 0.4)
    pronoun = np.tile(np.column_stack([he, 1 - he, np.zeros(many)]), (len(TEMPLATES), 1, 1))
    occupation = np.full((len(TEMPLATES), 3, many), 1 / many)
    filled = FilledIn(tuple(jobs), pronoun, occupation, occupation, np.ones(many, dtype=int))
    expected = np.where(toward, 0.3, 0.1).mean()
    for template in (None, 0):
        options = {} if template is None else {"template": template}
        found = amplification(filled, Source("Uniform (2)", TWO), "T→A", **options)
        assert found.value == pytest.approx(expected)
