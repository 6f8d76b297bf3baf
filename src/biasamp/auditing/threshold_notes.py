"""What soft predictions become at a threshold: the usual one, the calibrated one, and all of them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification.base import Base
from biasamp.amplification.calibrate import Sweep, calibrate
from biasamp.amplification.directional import directional_pairs
from biasamp.amplification.pair_table import mean_over_pairs
from biasamp.amplification.signs import association_signs
from biasamp.amplification.sweep import sweep
from biasamp.counts.pair import PairCounts
from biasamp.data import Dense, Evaluation, LabelSet
from biasamp.data.label import Mask
from biasamp.data.scores import USUAL, decide
from biasamp.resampling.significance import fair_coins_p, summed_p
from biasamp.results.interval import plain

# Thresholds of a curve that a document lists.
POINTS = 300
# More scores than these have their curve, but no rates of groups at every threshold.
_MOST_STEPPED = 1 << 22


def threshold_entry(
    evaluation: Evaluation,
    source: Base,
    train: tuple[LabelSet, LabelSet] | None = None,
    decided: LabelSet | None = None,
    level: float = 0.95,
) -> dict[str, Any] | None:
    """Amplification over thresholds, with the calibrated one marked; None where predictions are hard.

    ``decided`` are the decisions that were made on the scores, where they are known; else they are made at 0.5.
    """
    chances = _chances(evaluation)
    if chances is None or evaluation.given.missing or source.rates is not None:
        return None
    scores, truth, names = chances
    weights = evaluation.weights
    # With a single label the sweep takes a plain column of scores.
    column = scores[:, 0] if scores.shape[1] == 1 else scores
    swept = sweep(column, evaluation.given, evaluation.truth, train=train, weights=weights)
    used = USUAL if decided is None else _used(scores, decided)
    swept = replace(swept, used=used)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # tied scores: the nearest rate is reported beside
        found = calibrate(scores, rate=np.average(truth, axis=0, weights=weights), weights=weights)
    signs = (
        source.signs if source.signs is not None else association_signs(PairCounts.from_labels(evaluation).truth_joint)
    )
    usual = _at(evaluation, scores, np.full(scores.shape[1], USUAL), signs)
    calibrated = _at(evaluation, scores, found.thresholds, signs)
    tiled = None if weights is None else np.repeat(weights[:, None], scores.shape[1], axis=1)
    return {
        "outcome": names[0] if len(names) == 1 else None,
        **{k: v for k, v in swept.to_dict(POINTS).items() if k != "schema"},
        "usual": {
            "threshold": USUAL,
            "amplification": usual,
            "rates": [plain(x) for x in np.average(scores >= USUAL, axis=0, weights=weights)],
            "rate_p": [plain(x) for x in _rate_p(evaluation, (scores >= USUAL) - truth.astype(np.float64))],
        },
        "calibrated": {
            "threshold": plain(found.thresholds[0]) if len(names) == 1 else None,
            "amplification": calibrated,
            "rate": plain(float(np.average(scores >= found.thresholds, weights=tiled))),
        },
        "labels": [
            {"label": name, "threshold": plain(t), "rate": plain(r), "base_rate": plain(w)}
            for name, t, r, w in zip(names, found.thresholds, found.rates, found.wanted, strict=True)
        ],
        **({} if scores.size > _MOST_STEPPED else {"marks": marks(swept), "steps": swept.steps(POINTS, level)}),
    }


def marks(swept: Sweep) -> dict[str, dict[str, Any]]:
    """Amplification with its interval and the share of positives at the marked thresholds."""
    names = ("threshold", "amplification", "low", "high", "rate")
    return {mark: {name: row[name] for name in names} for mark, row in swept.marks.items()}


def _used(scores: NDArray[np.float64], decided: LabelSet) -> float | None:
    """The threshold that separates what was decided positive from all else; None where no threshold does."""
    if decided.missing or decided.soft:
        return None
    flags = decided.rows() > 0
    if flags.shape[1] == 2 * scores.shape[1] == 2 and "1" in decided.variables[0].categories:
        place = decided.variables[0].categories.index("1")
        flags = flags[:, place : place + 1]
    if flags.shape != scores.shape or flags.all() or not flags.any():
        return None
    if ((scores >= USUAL) == flags).all():
        return USUAL
    lowest = float(scores[flags].min())
    return lowest if lowest > float(scores[~flags].max()) else None


def decided_value(evaluation: Evaluation, source: Base, kept: tuple[Mask, Mask]) -> Any:
    """The directional value of the decisions that soft predictions make: at 0.5, or for the likeliest class.

    ``kept`` are the given labels and the outcomes that aggregates are of, which ``source`` has the signs of.
    """
    if evaluation.missing:
        return None
    held = replace(evaluation, predicted=decide(evaluation.predicted, USUAL)[0]).only(*kept)
    counts = PairCounts.from_labels(held)
    signs = association_signs(counts.truth_joint) if source.signs is None else source.signs
    pairs = directional_pairs(counts, signs, base=source.rates)
    return plain(float(mean_over_pairs(pairs.amplification, pairs.defined)))


def _rate_p(evaluation: Evaluation, moved: NDArray[np.float64]) -> NDArray[np.float64]:
    """P-values that decisions are as frequent as the truth; records of a cluster, and of a bag, move together."""
    if evaluation.weights is not None:
        moved = moved * evaluation.weights[:, None]
    if evaluation.weights is None and evaluation.clusters is None:
        return fair_coins_p((moved > 0).sum(axis=0).astype(float), (moved < 0).sum(axis=0).astype(float))
    _, unit = np.unique(evaluation.units, axis=0, return_inverse=True)
    summed = np.zeros((int(unit.max()) + 1, moved.shape[1]))
    np.add.at(summed, unit.reshape(-1), moved)
    return summed_p(summed)


def _chances(evaluation: Evaluation) -> tuple[NDArray[np.float64], NDArray[Any], list[str]] | None:
    """Scores, truth and names of the labels that a threshold decides; None where none does."""
    predicted = evaluation.predicted
    if not predicted.soft or predicted.missing or evaluation.truth.missing:
        return None
    scores, truth = predicted.rows().astype(np.float64), evaluation.truth.rows()
    if all(variable.kind == "binary" for variable in predicted.variables):
        return scores, truth, [str(label) for label in evaluation.truth.labels]
    if len(predicted.variables) == 1 and set(predicted.variables[0].categories) == {"0", "1"}:
        place = predicted.variables[0].categories.index("1")
        label = str(evaluation.truth.labels[place])
        return scores[:, place : place + 1], truth[:, place : place + 1], [label]
    return None  # several classes: the likeliest one is taken, and no threshold is set


def _at(
    evaluation: Evaluation, scores: NDArray[np.float64], thresholds: NDArray[np.float64], signs: NDArray[np.int8]
) -> Any:
    """The directional value of the predictions that thresholds make."""
    hard = (scores >= thresholds).astype(np.uint8)
    variables = evaluation.truth.variables
    if scores.shape[1] < evaluation.truth.width:  # P(1) of a 0/1 variable decides both of its labels
        hard = np.concatenate([1 - hard, hard], axis=1)
    predicted = LabelSet((Dense(variables, hard),))
    pairs = directional_pairs(PairCounts.from_labels(replace(evaluation, predicted=predicted)), signs)
    return plain(float(mean_over_pairs(pairs.amplification, pairs.defined)))
