"""What a masked or causal language model puts in a blank: the probabilities of given words, for any tokenizer (extra ``text``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blanks import Blank

Array = NDArray[np.float64]
BATCH = 64


@dataclass(frozen=True, eq=False)
class MaskedModel:
    """A masked language model with its tokenizer.

    Attributes
    ----------
    tokenizer, model
        Of transformers; the tokenizer must be a fast one, which says where in the text each token stands.
    name : str
        What to call it.
    """

    tokenizer: Any
    model: Any
    name: str

    def __post_init__(self) -> None:
        if not getattr(self.tokenizer, "is_fast", False):
            raise ValueError(
                f"model: the tokenizer of {self.name!r} does not say where its tokens stand in the text; a fast "
                "tokenizer is needed"
            )
        if self.tokenizer.mask_token_id is None:
            raise ValueError(f"model: {self.name!r} has no mask token, so it is no masked language model")

    def pieces(self, blank: Blank, word: str) -> tuple[list[int], list[int]] | None:
        """The tokens of the sentence with a word in its blank, and the places of those that make up the word.

        None where the tokenizer does not know the word, or takes it together with its neighbours.
        """
        text = blank.before + word + blank.after
        start, end = len(blank.before), len(blank.before) + len(word)
        read = self.tokenizer(text, return_offsets_mapping=True)
        ids, offsets = list(read["input_ids"]), read["offset_mapping"]
        places = [i for i, (low, high) in enumerate(offsets) if low < end and high > start]
        for i in places:
            low, high = offsets[i]
            # Some tokenizers count the space before a word as part of it; letters of a neighbour are another matter.
            if ids[i] == self.tokenizer.unk_token_id or text[low:start].strip() or text[end:high].strip():
                return None
        return (ids, places) if places else None

    def log_probabilities(self, inputs: Sequence[tuple[tuple[int, ...], int]]) -> list[Array]:
        """For each sentence and place in it, the logarithm of the probability of every token there."""
        import torch

        out: list[Array] = []
        fill = self.tokenizer.pad_token_id or 0
        was_training = self.model.training
        self.model.eval()
        try:
            for first in range(0, len(inputs), BATCH):
                part = inputs[first : first + BATCH]
                longest = max(len(ids) for ids, _ in part)
                padded = torch.tensor([[*ids, *[fill] * (longest - len(ids))] for ids, _ in part])
                seen = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids, _ in part])
                with torch.inference_mode():
                    logits = self.model(input_ids=padded, attention_mask=seen).logits
                    rows = logits[torch.arange(len(part)), torch.tensor([place for _, place in part])]
                    out.extend(torch.log_softmax(rows.double(), dim=-1).numpy())
        finally:
            self.model.train(was_training)
        return out

    def scores(self, blanks: Sequence[Blank], words: Sequence[str]) -> tuple[Array, NDArray[np.int64]]:
        """The log-probability of every word in every blank, and how many tokens it has there.

        A word of k tokens gets k masks, which are filled from left to right: the sum of log-probabilities is that
        of the word among all fillings of k masks. It is comparable between words of as many tokens, not between
        words of different lengths: how many masks there are has told the model the length.

        Returns
        -------
        scores : ndarray of shape (blanks, words)
            NaN where the tokenizer does not know the word.
        tokens : ndarray of int, of the same shape
            0 where it does not.
        """
        wanted: dict[tuple[tuple[int, ...], int], list[tuple[int, int, int]]] = {}
        tokens = np.zeros((len(blanks), len(words)), dtype=np.int64)
        for i, blank in enumerate(blanks):
            for j, word in enumerate(words):
                found = self.pieces(blank, word)
                if found is None:
                    continue
                ids, places = found
                tokens[i, j] = len(places)
                for done, place in enumerate(places):
                    hidden = set(places[done:])
                    masked = tuple(self.tokenizer.mask_token_id if k in hidden else t for k, t in enumerate(ids))
                    # Words of one token share their sentence, so most of the work is done once.
                    wanted.setdefault((masked, place), []).append((i, j, ids[place]))
        scores = np.where(tokens > 0, 0.0, np.nan)
        for logs, uses in zip(self.log_probabilities(list(wanted)), wanted.values(), strict=True):
            for i, j, token in uses:
                scores[i, j] += logs[token]
        return scores, tokens


@dataclass(frozen=True, eq=False)
class CausalModel:
    """A causal language model with its tokenizer.

    Attributes
    ----------
    tokenizer, model
        Of transformers.
    name : str
        What to call it.
    """

    tokenizer: Any
    model: Any
    name: str

    def scores(self, blanks: Sequence[Blank], words: Sequence[str]) -> tuple[Array, NDArray[np.int64]]:
        """The log-probability of every blank's whole sentence with every word in it, and 1 for each word.

        A sentence's probability is the product of those of its tokens, each given all before it, and words of any number of tokens
        compare. The first token has none before it but the one that begins a text, where the tokenizer has one.
        """
        asked = [blank.before + word + blank.after for blank in blanks for word in words]
        found = np.array(self.log_likelihoods(asked)).reshape(len(blanks), len(words))
        return found, np.ones(found.shape, dtype=np.int64)

    def log_likelihoods(self, texts: Sequence[str]) -> list[float]:
        """The logarithm of the probability of each text."""
        import torch

        start = self.tokenizer.bos_token_id
        fill = self.tokenizer.pad_token_id or 0
        was_training = self.model.training
        self.model.eval()
        out: list[float] = []
        try:
            for first in range(0, len(texts), BATCH):
                rows = [self._ids(text, start) for text in texts[first : first + BATCH]]
                longest = max(map(len, rows))
                padded = torch.tensor([[*ids, *[fill] * (longest - len(ids))] for ids in rows])
                seen = torch.tensor([[1] * len(ids) + [0] * (longest - len(ids)) for ids in rows])
                with torch.inference_mode():
                    logits = self.model(input_ids=padded, attention_mask=seen).logits.double()
                    logs = torch.log_softmax(logits[:, :-1], dim=-1).gather(2, padded[:, 1:, None])[..., 0]
                    out.extend((logs * seen[:, 1:]).sum(dim=1).tolist())
        finally:
            self.model.train(was_training)
        return out

    def _ids(self, text: str, start: int | None) -> list[int]:
        ids = list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        if not ids:
            raise ValueError(f"model: the tokenizer of {self.name!r} has no token for {text!r}")
        return ids if start is None else [start, *ids]


@contextmanager
def _without_bars() -> Iterator[None]:
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def load_masked_model(name_or_path: str) -> MaskedModel:
    """A masked language model of Hugging Face, by its name there or from a local folder.

    Examples
    --------
    >>> load_masked_model("bert-base-uncased")  # doctest: +SKIP
    """
    return MaskedModel(*_loaded(name_or_path, "AutoModelForMaskedLM", "a masked"), name_or_path)


def load_causal_model(name_or_path: str) -> CausalModel:
    """A causal language model of Hugging Face, by its name there or from a local folder.

    Examples
    --------
    >>> load_causal_model("gpt2")  # doctest: +SKIP
    """
    return CausalModel(*_loaded(name_or_path, "AutoModelForCausalLM", "a causal"), name_or_path)


def _loaded(name_or_path: str, kind: str, what: str) -> tuple[Any, Any]:
    if find_spec("transformers") is None or find_spec("torch") is None:
        raise ImportError(
            'language models need transformers and torch, which are not installed: pip install "biasamp[text]"'
        )
    import transformers

    try:
        with _without_bars():
            tokenizer = transformers.AutoTokenizer.from_pretrained(name_or_path)
            model = getattr(transformers, kind).from_pretrained(name_or_path)
    except (OSError, ValueError, KeyError, ImportError) as error:
        why = str(error).strip().splitlines()
        raise ValueError(
            f"model: {name_or_path!r} could not be loaded as {what} language model; give the name of one on the Hugging "
            f"Face Hub, which takes a connection, or a folder made by save_pretrained ({why[0] if why else 'no message'})"
        ) from error
    return tokenizer, model
