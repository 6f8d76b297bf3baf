"""An LSTM that reads texts word by word and guesses an attribute (extra ``torch``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Texts = Sequence[Sequence[str]]
# Words beyond these are not read: captions have a dozen, and an answer's beginning tells as much.
_MOST_WORDS = 100


@dataclass(frozen=True)
class Lstm:
    """A bidirectional LSTM with a linear layer on its last states, trained by Adam.

    Hirota et al. train two layers of 256 for 20 epochs at a rate of 5e-5; this one is smaller and learns faster, for processors.
    """

    embedding: int = 64
    hidden: int = 64
    epochs: int = 6
    batch: int = 64
    rate: float = 2e-3
    dropout: float = 0.5

    @property
    def recipe(self) -> str:
        """What it is, in a line."""
        return (
            f"LSTM in both directions ({self.hidden} states, embedding of {self.embedding}, dropout {self.dropout:g}, {self.epochs} epochs of "
            f"Adam at {self.rate:g}) on words"
        )

    def fit(self, texts: Texts, groups: NDArray[np.int64], seed: int) -> FittedLstm:
        """Train on texts."""
        if find_spec("torch") is None:
            raise ImportError("attacker='lstm' needs torch, which is not installed: pip install \"biasamp[torch]\"")
        import torch

        often = Counter(word for words in texts for word in words)
        # 0 fills up, 1 is a word that was never met.
        places = {word: place for place, word in enumerate(sorted(often), start=2)}
        width = int(groups.max()) + 1
        threads = torch.get_num_threads()
        # Steps are small: threads would wait for each other, for minutes where processors have other work.
        torch.set_num_threads(1)
        try:
            return self._trained(torch, texts, groups, seed, places, width)
        finally:
            torch.set_num_threads(threads)

    def _trained(
        self, torch: Any, texts: Texts, groups: NDArray[np.int64], seed: int, places: Mapping[str, int], width: int
    ) -> FittedLstm:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net = _network(torch, len(places) + 2, self, width)
            steps = torch.optim.Adam(net.parameters(), lr=self.rate)
            loss_of = torch.nn.CrossEntropyLoss()
            goal = torch.as_tensor(groups, dtype=torch.long)
            codes, sizes = _coded(torch, texts, places)
            for _ in range(self.epochs):
                order = torch.randperm(len(goal))
                for start in range(0, len(order), self.batch):
                    own = order[start : start + self.batch]
                    steps.zero_grad()
                    loss_of(net(codes[own], sizes[own]), goal[own]).backward()
                    steps.step()
        net.eval()
        return FittedLstm(net, places)


@dataclass(frozen=True, eq=False)
class FittedLstm:
    """A trained LSTM."""

    net: Any
    places: Mapping[str, int]

    def probabilities(self, texts: Texts) -> Array:
        """The probability of each group for each text."""
        import torch

        codes, sizes = _coded(torch, texts, self.places)
        with torch.inference_mode():
            parts = [self.net(codes[i : i + 512], sizes[i : i + 512]) for i in range(0, len(codes), 512)]
            return np.asarray(torch.softmax(torch.cat(parts).double(), dim=1).numpy())

    def weights(self) -> None:
        """How words speak for groups depends on all other words here."""
        return


def _coded(torch: Any, texts: Texts, places: Mapping[str, int]) -> tuple[Any, Any]:
    rows = [[places.get(word, 1) for word in words[:_MOST_WORDS]] or [1] for words in texts]
    longest = max(map(len, rows))
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows]), torch.tensor([len(row) for row in rows])


def _network(torch: Any, words: int, plan: Lstm, groups: int) -> Any:
    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(words, plan.embedding, padding_idx=0)
            self.read = torch.nn.LSTM(plan.embedding, plan.hidden, bidirectional=True, batch_first=True)
            self.drop = torch.nn.Dropout(plan.dropout)
            self.decide = torch.nn.Linear(2 * plan.hidden, groups)

        def forward(self, codes: Any, sizes: Any) -> Any:
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                self.drop(self.embed(codes[:, : int(sizes.max())])), sizes, batch_first=True, enforce_sorted=False
            )
            _, (last, _) = self.read(packed)
            return self.decide(self.drop(torch.cat([last[-2], last[-1]], dim=1)))

    return Network()
