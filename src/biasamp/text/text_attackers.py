"""Attackers that guess an attribute from the words of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biasamp.data.plain_arguments import shown

Array = NDArray[np.float64]
Texts = Sequence[Sequence[str]]


class TextAttacker(Protocol):
    """Learns from words of texts and codes of groups."""

    @property
    def recipe(self) -> str:
        """What it is, in a line."""
        ...

    def fit(self, texts: Texts, groups: NDArray[np.int64], seed: int) -> FittedAttacker:
        """An attacker that has learned."""
        ...


class FittedAttacker(Protocol):
    """Gives the probability of each group, and maybe how words speak for groups."""

    def probabilities(self, texts: Texts) -> Array:
        """Shape (texts, groups)."""
        ...

    def weights(self) -> Mapping[str, Array] | None:
        """How far each word or pair of words speaks for each group, shape (groups,); None where that is not known."""
        ...


@dataclass(frozen=True)
class _Fitted:
    words: Any
    model: Any
    linear: Any = None

    def probabilities(self, texts: Texts) -> Array:
        return np.asarray(self.model.predict_proba(self.words.transform(texts)), dtype=np.float64)

    def weights(self) -> Mapping[str, Array] | None:
        if self.linear is None:
            return None
        return dict(zip(self.words.get_feature_names_out().tolist(), self.linear(self.model).T, strict=True))


def _with_pairs(words: Sequence[str]) -> list[str]:
    """Words and pairs of neighbours, joined by a blank."""
    return [*words, *(f"{one} {two}" for one, two in pairwise(words))]


def _single(words: Sequence[str]) -> Sequence[str]:
    return words


def _logistic_weights(model: Any) -> Array:
    held = np.asarray(model.coef_)
    return np.concatenate([-held, held]) if len(held) == 1 else held


def _bayes_weights(model: Any) -> Array:
    logs = np.asarray(model.feature_log_prob_)
    rest = (logs.sum(axis=0, keepdims=True) - logs) / max(len(logs) - 1, 1)
    return np.asarray(logs - rest)


@dataclass(frozen=True)
class Logistic:
    """Logistic regression on TF-IDF of single words and pairs of neighbours."""

    recipe: str = "logistic regression (C = 1) on TF-IDF of single words and pairs of words"

    def fit(self, texts: Texts, groups: NDArray[np.int64], seed: int) -> FittedAttacker:
        """Learn from texts."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        words = TfidfVectorizer(analyzer=_with_pairs)
        model = LogisticRegression(C=1.0, max_iter=1000)
        model.fit(words.fit_transform(texts), groups)
        return _Fitted(words, model, _logistic_weights)


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes on counts of words."""

    recipe: str = "multinomial naive Bayes (one added to each count) on counts of words"

    def fit(self, texts: Texts, groups: NDArray[np.int64], seed: int) -> FittedAttacker:
        """Learn from texts."""
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.naive_bayes import MultinomialNB

        words = CountVectorizer(analyzer=_single)
        return _Fitted(words, MultinomialNB().fit(words.fit_transform(texts), groups), _bayes_weights)


@dataclass(frozen=True)
class Estimator:
    """An estimator of scikit-learn on TF-IDF of words and pairs; a pipeline gets texts, with blanks between words."""

    estimator: Any
    recipe: str

    def fit(self, texts: Texts, groups: NDArray[np.int64], seed: int) -> FittedAttacker:
        """Learn from texts."""
        from sklearn.base import clone
        from sklearn.feature_extraction.text import TfidfVectorizer

        model = clone(self.estimator)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        words = _Joined() if hasattr(model, "steps") else TfidfVectorizer(analyzer=_with_pairs).fit(texts)
        model.fit(words.transform(texts), groups)
        return _Fitted(
            words, model, _logistic_weights if hasattr(model, "coef_") and not hasattr(model, "steps") else None
        )


class _Joined:
    def transform(self, texts: Texts) -> list[str]:
        return [" ".join(words) for words in texts]


def text_attacker(attacker: Any) -> TextAttacker:
    """The attacker that an argument means."""
    if isinstance(attacker, str):
        if attacker == "logistic":
            return Logistic()
        if attacker == "naive_bayes":
            return NaiveBayes()
        if attacker == "lstm":
            from .lstm import Lstm

            return Lstm()
    elif hasattr(attacker, "fit") and hasattr(attacker, "get_params"):
        if not hasattr(attacker, "predict_proba"):
            raise TypeError(
                f"attacker is a {type(attacker).__name__}, which has no predict_proba: LIC is made of its confidence in an answer"
            )
        return Estimator(attacker, f"{attacker!r} on TF-IDF of single words and pairs of words".replace("\n", " "))
    elif hasattr(attacker, "fit") and hasattr(attacker, "recipe"):
        return attacker
    raise ValueError(
        f"attacker is {shown(attacker)}; 'logistic', 'naive_bayes', 'lstm' or an estimator of scikit-learn are accepted"
    )
