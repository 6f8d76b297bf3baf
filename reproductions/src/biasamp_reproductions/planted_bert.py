"""A tiny BERT that has read sentences with known associations between pronouns and occupations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .experiment import Progress, silent
from .internals import Blank, MaskedModel

Array = NDArray[np.float64]
SENTENCES, STEPS, READ_AT_ONCE = 80_000, 800, 512
HIDDEN, LAYERS, HEADS, RATE = 32, 2, 2, 3e-3
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_GO_ON = "##"


@dataclass(frozen=True, eq=False)
class Plant:
    """The truth of the sentences: the joint probabilities of occupations (rows) and pronouns (columns)."""

    occupations: tuple[str, ...]
    pronouns: tuple[str, ...]
    joint: Array

    @property
    def pronoun_given_occupation(self) -> Array:
        """P(pronoun | occupation), a row for each occupation."""
        out: Array = self.joint / self.joint.sum(axis=1, keepdims=True)
        return out

    @property
    def occupation_given_pronoun(self) -> Array:
        """P(occupation | pronoun), a row for each pronoun."""
        out: Array = (self.joint / self.joint.sum(axis=0)).T
        return out


def planted(names: Sequence[str], men: Sequence[float], seed: int) -> Plant:
    """Sentences in which pronouns follow the shares of men loosely, and "they" stands for one person in ten or so."""
    rng = np.random.default_rng([seed, 32])
    among_two = np.clip(0.15 + 0.7 * np.asarray(men) + rng.uniform(-0.12, 0.12, len(names)), 0.05, 0.95)
    they = rng.uniform(0.04, 0.16, len(names))
    size = rng.uniform(0.5, 2.0, len(names))
    shares = np.column_stack([among_two * (1 - they), (1 - among_two) * (1 - they), they])
    return Plant(tuple(names), ("he", "she", "they"), shares * (size / size.sum())[:, None])


def sentences(
    plant: Plant, blanks: Callable[[str], Sequence[Blank]], count: int, seed: int
) -> list[tuple[str, str, str]]:
    """Drawn sentences, each with its pronoun and its occupation; ``blanks`` gives the templates of a pronoun."""
    rng = np.random.default_rng([seed, 33])
    cells = rng.choice(plant.joint.size, size=count, p=plant.joint.ravel())
    templates = {pronoun: blanks(pronoun) for pronoun in plant.pronouns}
    out = []
    for cell, draw in zip(cells.tolist(), rng.random(count).tolist(), strict=True):
        occupation, pronoun = plant.occupations[cell // len(plant.pronouns)], plant.pronouns[cell % len(plant.pronouns)]
        chosen = templates[pronoun][int(draw * len(templates[pronoun]))]
        out.append((chosen.before + occupation + chosen.after, pronoun, occupation))
    return out


def word_pieces(words: Sequence[str], split: Sequence[str]) -> dict[str, int]:
    """A vocabulary in which words are one piece, but those of ``split`` are two."""
    pieces: list[str] = [*_SPECIAL, "."]
    for word in words:
        middle = len(word) // 2
        pieces += [word[:middle], _GO_ON + word[middle:]] if word in split else [word]
    return {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}


def tokenizer_of(vocabulary: dict[str, int]) -> Any:
    """A WordPiece tokenizer that reads lower-case words, as BERT's does."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), _SPECIAL, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=made, **names)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Threads wait for one another longer than they work on a model this small."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def read_sentences(
    read: Sequence[tuple[str, str, str]],
    vocabulary: dict[str, int],
    *,
    steps: int = STEPS,
    at_once: int = READ_AT_ONCE,
    seed: int = 0,
    progress: Progress = silent,
) -> MaskedModel:
    """Train a BERT of two layers to fill in the pronoun or the occupation of sentences.

    As for a word of several pieces the model is asked for one after the other, it learns them so: some of the
    first pieces are shown while the last are masked.
    """
    import torch
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = tokenizer_of(vocabulary)
    ids, masks = _inputs(read, tokenizer)
    with _one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            intermediate_size=2 * HIDDEN,
            max_position_embeddings=32,
            # Without dropout the model can reach the rates of its sentences, which is what is looked for.
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            pad_token_id=tokenizer.pad_token_id,
        )
        model = BertForMaskedLM(config)
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
        rng = np.random.default_rng([seed, 34])
        tokens = torch.from_numpy(ids)
        hidden = torch.from_numpy(masks)
        model.train()
        for step in range(steps):
            rows = torch.from_numpy(rng.integers(len(ids), size=at_once))
            which = torch.from_numpy(rng.integers(masks.shape[1], size=at_once))
            batch, hide = tokens[rows], hidden[rows, which]
            shown = torch.where(hide, tokenizer.mask_token_id, batch)
            wanted = torch.where(hide, batch, -100)
            loss = model(input_ids=shown, attention_mask=(batch != tokenizer.pad_token_id).long(), labels=wanted).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            progress(step + 1, steps)
    model.eval()
    return MaskedModel(tokenizer, model, "a tiny BERT")


def _inputs(read: Sequence[tuple[str, str, str]], tokenizer: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Padded tokens, and for every sentence four ways to mask it: twice the pronoun, the occupation whole or its end."""
    encoded = tokenizer([text for text, _, _ in read])["input_ids"]
    length = max(map(len, encoded))
    ids = np.full((len(read), length), tokenizer.pad_token_id, dtype=np.int64)
    masks = np.zeros((len(read), 4, length), dtype=bool)
    for row, (tokens, (_, pronoun, occupation)) in enumerate(zip(encoded, read, strict=True)):
        ids[row, : len(tokens)] = tokens
        many = len(tokenizer.tokenize(occupation))
        # "[CLS] he is … occupation . [SEP]": the pronoun comes first, the occupation just before the full stop.
        first, last = len(tokens) - 2 - many, len(tokens) - 2
        masks[row, :2, 1 : 1 + len(tokenizer.tokenize(pronoun))] = True
        masks[row, 2, first:last] = True
        masks[row, 3, last - 1 : last] = True
    return ids, masks
