"""Naive Bayes: an attacker that weighs labels one by one, for sets of labels of which no lookup can be learnt.

Weights are rounded to whole multiples of a power of two so fine that no sum of them is rounded again. So evidence is
the same however it is added up: by matrix products or in numba, in any order of labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.tables import worth_compiling

from .quality import Quality, label_score
from .sides import Index, Labels, Side, Values

# Laplace's rule: one imagined record for each class and category.
_SMOOTHING = 1.0
# Floats hold whole numbers exactly below this.
_EXACT_BITS = 52
# Records whose labels are laid out as floats at once, so that they stay in cache.
_BLOCK = 1024


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes: input variables taken as independent given the class, with Laplace's smoothing."""

    name: str = "naive_bayes"

    def score(self, read: Side, target: Side, learn: Index, test: Index, quality: Quality, seed: int) -> float:
        """Learn on some records, and return the mean quality over the target's variables on others."""
        if not (isinstance(read, Labels) and isinstance(target, Labels)):
            raise ValueError("naive_bayes needs labels on both sides; continuous data needs a trained attacker")
        held = np.concatenate(
            [np.bincount(target.codes[learn, v], minlength=size) for v, size in enumerate(target.sizes)]
        ).astype(np.float64)
        seen = seen_together(read, target, learn) + _SMOOTHING
        columns = [1 if yes else k for yes, k in zip(read.yes_no, read.sizes, strict=True)]
        yes_no, room = np.repeat(read.yes_no, columns), np.repeat(read.sizes, columns)
        weight = np.log(seen) - np.log(held[:, None] + _SMOOTHING * room)
        # A yes/no label has one column: its absence speaks for every record, and its presence by the
        # difference.
        absent = np.log(held[:, None] + 2 * _SMOOTHING - seen[:, yes_no]) - np.log(held[:, None] + 2 * _SMOOTHING)
        weight[:, yes_no] -= absent
        # A class that was never seen is never answered; without a prior all seen classes start alike.
        with np.errstate(divide="ignore"):
            prior = np.log(held) if quality != "balanced_accuracy" else np.log((held > 0).astype(float))
        evidence = evidence_of(read, test, weight, absent.sum(axis=1) + prior)
        return _by_evidence(evidence, target, test, quality)


def seen_together(read: Labels, target: Labels, records: Index, accelerate: bool | None = None) -> Index:
    """How many of the records have each indicator of ``read`` in each class of ``target``: shape (classes, indicators).

    ``accelerate`` says whether to use numba; by default it is used where it is installed and pays.
    """
    first = np.concatenate([[0], np.cumsum(target.sizes)])
    if _compiled(read, accelerate):
        from .compiled_evidence import add_seen

        seen = np.zeros((first[-1], read.width), dtype=np.int64)
        add_seen(read.codes, records, target.codes, first[:-1], seen)
        return seen
    total: Values = np.zeros(())
    for rows in _blocks(records):
        classes = np.zeros((len(rows), first[-1]), dtype=np.float32)
        np.put_along_axis(classes, first[:-1] + target.codes[rows], 1.0, axis=1)
        total = total + (classes.T @ read.take(rows).indicators(np.float32)).astype(np.float64)
    return np.asarray(total, dtype=np.int64)


def evidence_of(
    read: Labels, records: Index, weight: Values, constant: Values, accelerate: bool | None = None
) -> Values:
    """Evidence of some records for each class, the same to the bit whether numba is used or not.

    Parameters
    ----------
    weight : ndarray of shape (classes, indicators)
        What each indicator of ``read`` adds.
    constant : ndarray of shape (classes,)
        What every record has; minus infinity for a class that is never answered.
    accelerate : bool, optional
        As for :func:`seen_together`.
    """
    finite = np.where(np.isfinite(constant), constant, 0.0)
    largest = float((np.abs(weight).sum(axis=1) + np.abs(finite)).max())
    scale = 2.0 ** (_EXACT_BITS - int(np.ceil(np.log2(max(largest, 1.0)))) - 1)
    weight, constant = np.rint(weight * scale), np.rint(constant * scale)
    evidence = np.empty((len(records), len(constant)))
    if _compiled(read, accelerate):
        from .compiled_evidence import add_evidence

        evidence[:] = constant
        add_evidence(read.codes, records, weight, evidence)
    else:
        for place, rows in enumerate(_blocks(records)):
            own = slice(place * _BLOCK, place * _BLOCK + len(rows))
            evidence[own] = read.take(rows).indicators() @ weight.T + constant
    evidence /= scale
    return evidence


def _compiled(read: Labels, accelerate: bool | None) -> bool:
    """Whether records are read in numba: sets of yes/no labels, large enough."""
    return all(read.yes_no) and worth_compiling(len(read) * read.width, accelerate)


def _blocks(records: Index) -> Iterator[Index]:
    return (records[start : start + _BLOCK] for start in range(0, len(records), _BLOCK))


def _by_evidence(evidence: Values, target: Labels, test: Index, quality: Quality) -> float:
    """Score the class of most evidence, variable by variable."""
    codes = target.codes[test]
    if quality == "accuracy" and set(target.sizes) == {2}:  # many labels at once
        said: NDArray[np.bool_] = evidence[:, 1::2] > evidence[:, ::2]
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
