"""Whether decisions follow the scores beside them: scores of the other class, of another task or of other rows do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.threshold_counts import GRID, ThresholdCounts
from biasamp.data import Label, printable
from biasamp.results.interval import Caution

Floats = NDArray[np.float64]

# Decisions that follow scores to less than this are those of another rule, where so many records are on the wrong side.
_BY_THRESHOLD, _FEW = 0.98, 5
# Below, they have next to nothing to do with each other; and further down scores run against decisions.
_RELATED, _REVERSED = 0.3, -0.5
# Of several classes: what is decided scores higher by so many standard errors, or is said not to; and lower for certain.
_MORE_LIKELY, _SURE = 2.33, 4.5
# Sums of scores that differ by less, record by record, are equal.
_HAIR = 1e-9
# Tasks that a sentence names of many.
_SHOWN = 3


def followed(margin: PairCounts, thresholds: ThresholdCounts) -> tuple[Floats, Floats]:
    """How far the decisions on each outcome follow its scores, and about how many records are on the wrong side.

    The scores of those decided positive are compared with the highest scores of as many records of the same group.
    1 is a threshold, whichever and for each group another; 0 is what decisions that have nothing to do with the scores give, -1 the lowest scores
    instead of the highest. nan where all scores are alike, or all decisions.

    Parameters
    ----------
    margin : PairCounts
        Of records whose truth are scores and whose predictions are decisions.
    thresholds : ThresholdCounts
        Of the same records.

    Returns
    -------
    pair of ndarray of shape (outcome labels,)
    """
    n = np.broadcast_to(floats(margin.given), floats(margin.joint_truth).shape)
    scores, decided, both = (floats(part) for part in (margin.joint_truth, margin.joint_predicted, margin.joint_both))
    held = floats(thresholds.held)[:-1].sum(axis=-1)
    higher = held[..., ::-1].cumsum(axis=-1)[..., ::-1] - held
    taken = np.clip(decided[..., None] - higher, 0.0, held)
    # Steps count with their lower ends: rounding makes no threshold look like another rule.
    highest = (taken * GRID).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        unrelated = np.nan_to_num(decided * scores / n)
        apart = np.nan_to_num(2.0 * decided * (n - decided) / n).sum(axis=0)
        gained, most = (both - unrelated).sum(axis=0), (highest - unrelated).sum(axis=0)
        # Of scores that are all alike rounding leaves a hair.
        share = np.where(most > _HAIR * decided.sum(axis=0), np.clip(gained / most, -1.0, 1.0), np.nan)
    return share, (1.0 - share) * apart


def not_followed(labels: tuple[Label, ...], share: Floats, records: Floats) -> tuple[Caution, ...]:
    """What to say of scores that decisions do not follow; of two values of a variable one says all."""
    off = [
        (label, float(share[place]), float(records[place]))
        for place, label in enumerate(labels)
        if label.category != "0" and share[place] < _BY_THRESHOLD and records[place] >= _FEW
    ]
    out = []
    for low, high, kind, words in (
        (-np.inf, _REVERSED, "other-scores", _RUN_AGAINST),
        (_REVERSED, _RELATED, "other-scores", _OF_ANOTHER),
        (_RELATED, _BY_THRESHOLD, "other-rule", _BY_ANOTHER_RULE),
    ):
        mine = sorted((one for one in off if low <= one[1] < high), key=lambda one: one[1])
        if mine:
            shown = [printable(label.variable, 40) for label, _, _ in mine[:_SHOWN] if label.variable]
            shown += [f"{len(mine) - _SHOWN} more"] if len(mine) > _SHOWN else []
            of = f" of {' and '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}" if shown else ""
            out.append(Caution(words.format(of=of, share=mine[0][1], records=max(1, round(mine[0][2]))), kind))
    return tuple(out)


def not_followed_classes(z: float) -> tuple[Caution, ...]:
    """As :func:`not_followed`, of class probabilities: by how many standard errors the classes that were decided score higher than others."""
    if np.isnan(z) or z >= _MORE_LIKELY:
        return ()
    words = _LESS_LIKELY if z < -_SURE else _NO_MORE_LIKELY
    return (Caution(words, "other-scores"),)


_LESS_LIKELY = (
    "the classes that are predicted have lower scores than others have: are the columns of scores in another order than the "
    "categories?"
)
_NO_MORE_LIKELY = (
    "the classes that are predicted have no higher scores than chance would give them: are the scores those of another task "
    "or model, or are their rows or columns in another order?"
)
_SCALE = "1 would be a threshold, 0 none at all"
_RUN_AGAINST = (
    "the scores{of} run against the predictions beside them ({share:+.2f}; "
    f"{_SCALE}): those predicted positive have the lowest scores. Are they the chances of the other class?"
)
_OF_ANOTHER = (
    "the predictions{of} have little to do with the scores beside them ({share:+.2f}; "
    f"{_SCALE}): are the scores those of another task or model, or are their rows in another order?"
)
_BY_ANOTHER_RULE = (
    "no threshold on the scores{of}, not even one for each group, gives the predictions beside them: about {records:,} records are on "
    "the wrong side. They were decided by another rule than a threshold, or on other scores: what is called the part of "
    "deciding is the part of all that lies between these scores and the predictions"
)
