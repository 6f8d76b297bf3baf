"""How well an attacker did: functions for which 0 is the worst and more is better.

DPA divides by the sum of two qualities, which means something only when 0 is the worst there is; losses and
scores that can be negative are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Quality = str | Callable[[Any, Any], float]

LABEL_QUALITIES = ("accuracy", "balanced_accuracy", "f1", "auc")
NUMBER_QUALITIES = ("inverse_rmse",)
# A prediction that is never right may score this share of a perfect one, for rounding and smoothing.
_WORST_SHARE = 1e-3
# Ranks of more inputs than this are compared by sorting instead of pair by pair.
_PAIRWISE = 64


def from_confusion(confusion: NDArray[Any], quality: str, *, label: bool = False) -> Values:
    """A quality from counts of (class, answer), for any stack of them.

    Examples
    --------
    >>> import numpy as np
    >>> confusion = np.array([[8, 2], [1, 3]])
    >>> [round(float(from_confusion(confusion, q, label=True)), 4) for q in ("accuracy", "f1")]
    [0.7857, 0.6667]
    """
    diagonal = np.diagonal(confusion, axis1=-2, axis2=-1)
    truly, said = confusion.sum(axis=-1), confusion.sum(axis=-2)
    if quality == "accuracy":
        return np.asarray(diagonal.sum(axis=-1) / truly.sum(axis=-1), dtype=np.float64)
    if quality == "balanced_accuracy":
        there = truly > 0
        recall = np.divide(diagonal, truly, out=np.zeros(diagonal.shape), where=there)
        return np.asarray(recall.sum(axis=-1) / there.sum(axis=-1), dtype=np.float64)
    both = truly + said
    f1 = np.divide(2.0 * diagonal, both, out=np.zeros(diagonal.shape), where=both > 0)
    if label:
        return np.asarray(f1[..., 1], dtype=np.float64)
    return np.asarray(f1.sum(axis=-1) / (both > 0).sum(axis=-1), dtype=np.float64)


def rank_auc(score: Values, positive: NDArray[Any], negative: NDArray[Any]) -> Values:
    """Chance that a positive record scores above a negative one, ties counting half; NaN without a kind.

    Scores and counts are given per input, along the last axis.
    """
    pairs = positive.sum(axis=-1, dtype=np.float64) * negative.sum(axis=-1, dtype=np.float64)
    if score.shape[-1] <= _PAIRWISE:
        above = (score[..., :, None] > score[..., None, :]) + 0.5 * (score[..., :, None] == score[..., None, :])
        won = np.einsum("...i,...ij,...j->...", positive.astype(np.float64), above, negative.astype(np.float64))
    else:
        flat = [a.reshape(-1, score.shape[-1]) for a in (score, positive, negative)]
        won = np.array([_won(*row) for row in zip(*flat, strict=True)]).reshape(score.shape[:-1])
    return np.asarray(np.divide(won, pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0))


def _won(score: Values, positive: NDArray[Any], negative: NDArray[Any]) -> float:
    _, place = np.unique(score, return_inverse=True)
    up = np.bincount(place, weights=positive)
    down = np.bincount(place, weights=negative)
    return float((up * (down.cumsum() - 0.5 * down)).sum())


def label_score(
    quality: Quality, target: NDArray[Any], answer: NDArray[Any], chances: Values | None, *, label: bool
) -> float:
    """Score predictions of one variable, record by record.

    ``chances`` has a column for every class and is needed for the AUC alone.
    """
    target, answer = target.astype(np.int64), answer.astype(np.int64)
    if callable(quality):
        return float(quality(target, answer))
    if quality == "auc":
        assert chances is not None
        classes = chances.shape[1]
        own = range(1, 2) if classes == 2 else range(classes)
        each = np.array([float(rank_auc(chances[:, c], target == c, target != c)) for c in own])
        each = each[np.isfinite(each)]
        return float(each.mean()) if len(each) else float("nan")
    classes = max(int(target.max()), int(answer.max()), 1) + 1
    confusion = np.bincount(target * classes + answer, minlength=classes * classes).reshape(classes, classes)
    return float(from_confusion(confusion, quality, label=label))


def number_score(quality: Quality, target: Values, answer: Values) -> float:
    """Score predictions of one continuous column: inverse root mean squared error, or a callable."""
    if callable(quality):
        return float(quality(target, answer))
    error = float(np.sqrt(np.mean((target - answer) ** 2)))
    return float("inf") if error == 0 else 1.0 / error


def check_quality(quality: Quality, *, continuous: bool) -> Quality:
    """Return the quality to use, or say what is wrong with it.

    A callable is tried on predictions that are (nearly) perfect and on predictions that are never right: it
    must give more for the first, and 0 for the second.
    """
    if callable(quality):
        _check_callable(quality, continuous)
        return quality
    if not isinstance(quality, str):
        raise TypeError(f"quality must be a name or a callable, found {type(quality).__name__}")
    known = LABEL_QUALITIES + NUMBER_QUALITIES
    if quality not in known:
        raise ValueError(f"quality {quality!r} is not known; take one of {', '.join(known)}, or a callable")
    if continuous and quality not in ("accuracy", *NUMBER_QUALITIES):
        raise ValueError(
            f"quality {quality!r} compares labels, but what the attacker predicts is continuous; take "
            "'inverse_rmse' or a callable"
        )
    if not continuous and quality in NUMBER_QUALITIES:
        raise ValueError(
            f"quality {quality!r} compares numbers, but what the attacker predicts are labels; take one of "
            f"{', '.join(LABEL_QUALITIES)}, or a callable"
        )
    return "inverse_rmse" if continuous else quality


def _check_callable(quality: Callable[[Any, Any], float], continuous: bool) -> None:
    name = getattr(quality, "__name__", type(quality).__name__)
    if continuous:
        target = np.linspace(-1.0, 1.0, 64)
        ripple = 1e-3 * np.cos(np.arange(64.0))
        tries = {"nearly perfect": target + ripple, "far off": target + 1e6 * (1.0 + ripple)}
    else:
        target = np.tile([0, 1], 32)
        tries = {"perfect": target.copy(), "never right": 1 - target}
    got = {}
    for what, answer in tries.items():
        try:
            got[what] = float(quality(target, answer))
        except Exception as error:
            raise ValueError(f"quality {name} failed on {what} predictions: {error!r}") from error
    (good, high), (bad, low) = got.items()
    rule = "0 must be the worst score and more must be better, or the ratio of DPA means nothing"
    if not (np.isfinite(high) and np.isfinite(low)):
        raise ValueError(f"quality {name} gives {high} for {good} and {low} for {bad} predictions: {rule}")
    if low >= high:
        raise ValueError(
            f"quality {name} gives {low:g} for {bad} and {high:g} for {good} predictions, so less is better "
            f"(a loss?): {rule}"
        )
    if low < 0 or low > _WORST_SHARE * high:
        raise ValueError(f"quality {name} gives {low:g} for {bad} predictions: {rule}")
