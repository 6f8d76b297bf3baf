"""Language models against base rates: tiny ones, trained here, of which everything is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.text.blanks import Blank
from extras import needs

WOMEN = {"nurse": 0.9, "driver": 0.1, "clerk": 0.5}


class Planted:
    """A model whose probabilities are given: he and she by occupation, whichever the sentence."""

    name = "planted"

    def __init__(self, women: dict[str, float]) -> None:
        self.women = women

    def scores(self, blanks: Any, words: Any) -> Any:
        out = np.zeros((len(blanks), len(words)))
        for i, blank in enumerate(blanks):
            for j, word in enumerate(words):
                job = next((name for name in self.women if name in blank.after), None)
                share = self.women[job or word]
                pronoun = (word if job else blank.before.split()[0]).lower()
                out[i, j] = np.log({"she": 0.9 * share, "he": 0.9 * (1 - share), "they": 0.1}[pronoun])
        return out, np.ones(out.shape, dtype=np.int64)


class TestPlanted:
    def test_the_base_rates_themselves_amplify_nothing(self) -> None:
        result = biasamp.fill_blanks(Planted(WOMEN), WOMEN)
        assert result.to_attribute.value == pytest.approx(0, abs=1e-12)
        assert result.table["he"] == pytest.approx([0.1, 0.9, 0.5])
        assert result.to_task.value == pytest.approx(0, abs=1e-12)

    def test_exaggerated_shares_amplify(self) -> None:
        result = biasamp.fill_blanks(Planted({"nurse": 1 - 1e-9, "driver": 1e-9, "clerk": 0.5}), WOMEN, source="labour")
        # Nurse and driver move by .1 toward their own gender, the clerk stays: mean over three occupations.
        assert result.to_attribute.value == pytest.approx((0.1 + 0.1 + 0) / 3, abs=1e-6)
        assert any("amplifies" in line and "labour" in line for line in result.findings)

    @pytest.mark.parametrize("women", [{"nurse": 0.9}, {"nurse": 2, "driver": 0}, ["nurse"]])
    def test_wrong_rates(self, women: Any) -> None:
        with pytest.raises(ValueError, match="women"):
            biasamp.fill_blanks(Planted(WOMEN), women)

    def test_wrong_models(self) -> None:
        with pytest.raises(TypeError, match="tokenizer"):
            biasamp.fill_blanks(object(), WOMEN)
        with pytest.raises(ValueError, match="kind"):
            biasamp.fill_blanks(Planted(WOMEN), WOMEN, kind="other")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestCausal:
    def test_a_tiny_model_learns_what_it_reads(self) -> None:
        torch, transformers = needs("torch"), needs("transformers")
        from tokenizers import Tokenizer, models, pre_tokenizers

        from biasamp.text.blanks import TEMPLATES, occupation_blank
        from biasamp.text.language_models import CausalModel

        planted = {"nurse": 0.95, "driver": 0.05}
        words = sorted(
            {
                word
                for template in TEMPLATES
                for pronoun in ("he", "she", "they")
                for word in occupation_blank(template, pronoun).before.split()
            }
        )
        vocabulary = {word: i for i, word in enumerate(["<s>", "<pad>", "<unk>", ".", "nurse", "driver", *words])}
        raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
        raw.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=raw, bos_token="<s>", pad_token="<pad>", unk_token="<unk>"
        )
        rng = np.random.default_rng(0)
        texts = []
        for _ in range(1500):
            job = str(rng.choice(list(planted)))
            pronoun = "they" if rng.random() < 0.05 else "she" if rng.random() < planted[job] else "he"
            blank = occupation_blank(TEMPLATES[rng.integers(len(TEMPLATES))], pronoun)
            texts.append(blank.before + job + blank.after)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            torch.set_num_threads(1)
            net = transformers.GPT2LMHeadModel(
                transformers.GPT2Config(
                    vocab_size=len(vocabulary),
                    n_positions=16,
                    n_embd=32,
                    n_layer=1,
                    n_head=2,
                    bos_token_id=0,
                    eos_token_id=0,
                )
            )
            steps = torch.optim.Adam(net.parameters(), lr=5e-3)
            ids = torch.tensor([[0, *tokenizer(text, add_special_tokens=False)["input_ids"]] for text in texts])
            for _ in range(4):
                for batch in torch.randperm(len(ids)).split(50):
                    steps.zero_grad()
                    net(input_ids=ids[batch], labels=ids[batch]).loss.backward()
                    steps.step()
        result = biasamp.fill_blanks(net, {"nurse": 0.5, "driver": 0.5}, tokenizer=tokenizer, kind="causal")
        he = dict(zip(result.table["occupation"], result.table["he"], strict=True))
        assert he["nurse"] < 0.25
        assert he["driver"] > 0.75
        asked = CausalModel(tokenizer, net, "tiny")
        scores, tokens = asked.scores([Blank("He is a new ", ".")], ["nurse", "driver"])
        assert scores[0, 1] > scores[0, 0]
        assert (tokens == 1).all()
        # Padding changes nothing.
        one, two = asked.log_likelihoods(["He is a new nurse."]), asked.log_likelihoods(["He is a new nurse.", "He is"])
        assert one[0] == pytest.approx(two[0], abs=1e-4)
