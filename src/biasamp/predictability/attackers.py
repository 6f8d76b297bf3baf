"""Attackers that learn from some records and are scored on others.

Every trial makes its own attacker: scikit-learn estimators are cloned, so that nothing learnt in one trial is
carried into the next, and get a seed of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .lookup import answers, best_score
from .quality import Quality, label_score, number_score
from .sides import Index, Labels, Numbers, Side, Values

# Laplace's rule: one imagined record for each class and category.
_SMOOTHING = 1.0

Answer = tuple[Index | Values, Values | None]


class AttackerError(RuntimeError):
    """An attacker failed, or its score is not a number; the message says in which trial and why."""


class Attacker(Protocol):
    """What a trial needs of an attacker."""

    @property
    def name(self) -> str:
        """What it is called in results and messages."""

    def score(self, read: Side, target: Side, learn: Index, test: Index, quality: Quality, seed: int) -> float:
        """Learn on some records, and return the mean quality over the target's variables on others."""


@dataclass(frozen=True)
class Lookup:
    """For each combination of input labels the answer that is best on the records learnt from."""

    name: str = "lookup"

    def score(self, read: Side, target: Side, learn: Index, test: Index, quality: Quality, seed: int) -> float:
        """See :class:`Attacker`."""
        if not (isinstance(read, Labels) and isinstance(target, Labels)):
            raise ValueError("the lookup attacker needs labels on both sides; continuous data needs a trained one")
        inputs, size = read.combinations()
        return _by_tables(inputs, size, target, learn, test, quality)


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes: input variables taken as independent given the class, with Laplace's smoothing."""

    name: str = "naive_bayes"

    def score(self, read: Side, target: Side, learn: Index, test: Index, quality: Quality, seed: int) -> float:
        """See :class:`Attacker`."""
        if not (isinstance(read, Labels) and isinstance(target, Labels)):
            raise ValueError("naive_bayes needs labels on both sides; continuous data needs a trained attacker")
        classes = np.concatenate(
            [target.codes[learn][:, [v]] == np.arange(size) for v, size in enumerate(target.sizes)], axis=1
        ).astype(np.float64)
        held = classes.sum(axis=0)
        cases = read.indicators()
        seen = cases[learn].T @ classes + _SMOOTHING
        yes_no = np.repeat(read.yes_no, [1 if yes else k for yes, k in zip(read.yes_no, read.sizes, strict=True)])
        room = np.repeat(read.sizes, [1 if yes else k for yes, k in zip(read.yes_no, read.sizes, strict=True)])
        weight = np.log(seen) - np.log(held + _SMOOTHING * room[:, None])
        # A yes/no label has one column: its absence speaks for every record, and its presence by the
        # difference.
        absent = np.log(held + 2 * _SMOOTHING - seen[yes_no]) - np.log(held + 2 * _SMOOTHING)
        weight[yes_no] -= absent
        evidence = cases[test] @ weight + absent.sum(axis=0)
        # A class that was never seen is never answered; without a prior all seen classes start alike.
        with np.errstate(divide="ignore"):
            prior = np.log(held) if quality != "balanced_accuracy" else np.log((held > 0).astype(float))
        return _by_evidence(evidence + prior, target, test, quality)


@dataclass(frozen=True)
class Trained:
    """Any scikit-learn estimator: a classifier of labels, a regressor of continuous columns."""

    estimator: Any

    name: str

    def score(self, read: Side, target: Side, learn: Index, test: Index, quality: Quality, seed: int) -> float:
        """See :class:`Attacker`."""
        features = read.indicators()
        seeds = np.random.SeedSequence(seed).generate_state(target.width)
        score = self._number if isinstance(target, Numbers) else self._label
        each = [score(features, target, v, learn, test, quality, int(seeds[v])) for v in range(target.width)]
        return float(np.mean(each))

    def _number(
        self, features: Values, target: Any, v: int, learn: Index, test: Index, quality: Quality, seed: int
    ) -> float:
        column = target.values[:, v]
        fitted = self._fresh(seed).fit(features[learn], column[learn])
        return number_score(quality, column[test], _finite(_one_each(fitted.predict(features[test]), len(test))))

    def _label(
        self, features: Values, target: Any, v: int, learn: Index, test: Index, quality: Quality, seed: int
    ) -> float:
        codes = target.codes[:, v].astype(np.int64)
        known = np.unique(codes[learn])
        if len(known) > 1:
            fitted = self._fresh(seed).fit(features[learn], codes[learn])
            said = _classes(_one_each(fitted.predict(features[test]), len(test)), known)
            chances = _chances(fitted, features[test], known, target.sizes[v]) if quality == "auc" else None
        elif target.width > 1:  # a rare label of many: its absence is all there is to learn
            said, chances = np.full(len(test), known[0]), np.zeros((len(test), target.sizes[v]))
        else:
            raise ValueError(
                f"the {len(learn):,} records learnt from are all of one class; attacker='lookup' can do with that"
            )
        return label_score(quality, codes[test], said, chances, label=target.yes_no[v])

    def _fresh(self, seed: int) -> Any:
        from sklearn.base import clone

        fresh = clone(self.estimator)
        own = {
            name: seed % (2**31)
            for name in fresh.get_params(deep=True)
            if name == "random_state" or name.endswith("__random_state")
        }
        return fresh.set_params(**own) if own else fresh


def plain_score(target: Side, learn: Index, test: Index, quality: Quality) -> float:
    """Score of the best attacker without input: one answer for all."""
    if isinstance(target, Numbers):
        each = [
            number_score(quality, column[test], np.full(len(test), column[learn].mean())) for column in target.values.T
        ]
        return float(np.mean(each))
    return _by_tables(np.zeros(len(target), dtype=np.int64), 1, target, learn, test, quality)


def _by_tables(inputs: Index, size: int, target: Labels, learn: Index, test: Index, quality: Quality) -> float:
    scores = []
    for v, classes in enumerate(target.sizes):
        codes = target.codes[:, v]
        place = inputs * classes + codes
        known, asked = (np.bincount(place[w], minlength=size * classes).reshape(size, classes) for w in (learn, test))
        if callable(quality):
            said = answers(known, "accuracy")[inputs[test]]
            scores.append(label_score(quality, codes[test], said, None, label=target.yes_no[v]))
        else:
            scores.append(float(best_score(known, asked, quality, label=target.yes_no[v])))
    return float(np.mean(scores))


def _by_evidence(evidence: Values, target: Labels, test: Index, quality: Quality) -> float:
    """Score the class of most evidence, variable by variable."""
    codes = target.codes[test]
    if quality == "accuracy" and set(target.sizes) == {2}:  # many labels at once
        said = evidence.reshape(len(test), -1, 2).argmax(axis=2)
        return float((said == codes).mean())
    scores, start = [], 0
    for v, classes in enumerate(target.sizes):
        own = evidence[:, start : start + classes]
        start += classes
        chances = None
        if quality == "auc":
            chances = np.exp(own - own.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
        scores.append(label_score(quality, codes[:, v], own.argmax(axis=1), chances, label=target.yes_no[v]))
    return float(np.mean(scores))


def _one_each(values: Any, records: int) -> NDArray[Any]:
    """One prediction a record; estimators that give a column, or too few, would be compared crosswise."""
    said = np.asarray(values)
    if said.shape == (records, 1):
        return said[:, 0]
    if said.shape != (records,):
        raise ValueError(f"its predictions have the shape {said.shape}; one for each of {records:,} records is needed")
    return said


def _classes(values: Any, known: Index) -> Index:
    said = np.asarray(values)
    if not np.isin(said, known).all():
        raise ValueError("its predictions are not among the classes it learnt")
    return said.astype(np.int64)


def _chances(fitted: Any, features: Values, known: Index, classes: int) -> Values:
    """What ranks the records for each class: probabilities, else the decision function of two classes."""
    out = np.zeros((len(features), classes))
    if hasattr(fitted, "predict_proba"):
        out[:, known] = _finite(fitted.predict_proba(features))
    elif hasattr(fitted, "decision_function") and len(known) == 2:
        out[:, known[1]] = _finite(fitted.decision_function(features))
        out[:, known[0]] = -out[:, known[1]]
    else:
        raise ValueError("quality 'auc' needs predict_proba, or decision_function of two classes")
    return out


def _finite(values: Any) -> NDArray[np.float64]:
    out = np.asarray(values, dtype=np.float64)
    if not np.isfinite(out).all():
        raise ValueError("its predictions are not finite")
    return out
