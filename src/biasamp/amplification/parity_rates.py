"""Parity companions: how error rates differ between groups (2021 paper, Fig. 2).

A group's confusion table for an outcome is four counts that the pair counts already hold, so parity costs
nothing beside amplification. Zero amplification is not fairness; these show what it leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupRates:
    """Rates of every (group, outcome); NaN where a group has nobody to take the rate over."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    accuracy: Floats
    mean_per_class_accuracy: Floats
    selection_rate: Floats


def group_rates(counts: PairCounts) -> GroupRates:
    r"""Error rates of each group for each outcome label.

    .. math::
        FPR = \frac{C(g, \hat o) - C(g, o \hat o)}{C(g) - C(g, o)}, \quad TPR = \frac{C(g, o \hat o)}{C(g, o)}, \quad
        accuracy = \frac{C(g) - C(g, o) - C(g, \hat o) + 2 C(g, o \hat o)}{C(g)}

    and mean per-class accuracy, the mean of TPR and 1 - FPR.
    """
    joint, held, both = (floats(x) for x in (counts.joint_truth, counts.joint_predicted, counts.joint_both))
    given = np.broadcast_to(floats(counts.given), joint.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        fpr = (held - both) / (given - joint)
        tpr = both / joint
        accuracy = (given - joint - held + 2.0 * both) / given
        selection = held / given
    # 0/0 is undefined; rounding may leave a hair where a count is 0.
    fpr = np.where(given - joint > 0, fpr, np.nan)
    tpr = np.where(joint > 0, tpr, np.nan)
    empty = given <= 0
    return GroupRates(
        fpr,
        tpr,
        np.where(empty, np.nan, accuracy),
        0.5 * (tpr + 1.0 - fpr),
        np.where(empty, np.nan, selection),
    )


def between_groups(rates: Floats) -> Floats:
    """The largest difference between two groups; NaN where fewer than two have a rate."""
    there = ~np.isnan(rates)
    largest = np.where(there, rates, -np.inf).max(axis=-2)
    smallest = np.where(there, rates, np.inf).min(axis=-2)
    with np.errstate(invalid="ignore"):
        return np.where(there.sum(axis=-2) >= 2, largest - smallest, np.nan)


def over_groups(rates: Floats) -> Floats:
    """The unweighted mean over the groups that have a rate."""
    there = ~np.isnan(rates)
    count = there.sum(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(there, rates, 0.0).sum(axis=-2) / count, dtype=np.float64)
