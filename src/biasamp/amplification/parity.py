"""``biasamp.parity``: how the model's error rates differ between groups."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.data.arguments import read_evaluation
from biasamp.results import Table, text

from .parity_rates import GroupRates, between_groups, group_rates, over_groups
from .parity_result import Parity


def parity(given: Any, truth: Any, predicted: Any, *, weights: Any = None) -> Parity:
    """Parity companions of amplification, over any number of groups.

    FPR, TPR and accuracy difference, each the largest difference between two groups, and mean per-class
    accuracy averaged over the groups (2021 paper, Fig. 2), for every outcome label.

    Parameters
    ----------
    given : array-like
        The groups.
    truth, predicted : array-like
        True and predicted labels; soft predictions count as fractions.
    weights : array-like, optional
        One weight a record.

    Returns
    -------
    Parity

    See Also
    --------
    directional : amplification, which these cannot see the sign of.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML, Fig. 2.

    Examples
    --------
    >>> import biasamp
    >>> result = biasamp.parity(["w", "w", "m", "m"], biasamp.binary([1, 0, 1, 0]), biasamp.binary([1, 1, 1, 0]))
    >>> result.table["fpr_difference"].tolist(), result.table["tpr_difference"].tolist()
    ([1.0], [0.0])
    """
    evaluation, _ = read_evaluation(given, truth, predicted, None, weights)
    result = from_counts(PairCounts.from_labels(evaluation))
    if result.excluded:
        first, more = result.excluded[0], len(result.excluded) > 1
        warnings.warn(
            f"{len(result.excluded)} rate{'s are' if more else ' is'} undefined and left out, such as the "
            f"{first['rate'].replace('_', ' ')} of "
            f"({first['given']}, {first['outcome']}): {first['reason']}; .excluded lists them",
            UserWarning,
            stacklevel=2,
        )
    return result


def from_counts(counts: PairCounts, direction: str | None = None) -> Parity:
    """The result for pair counts."""
    rates = group_rates(counts)
    shape = counts.joint_truth.shape
    given, outcome = text(counts.given_labels), text(counts.outcome_labels)
    rows, columns = (index.ravel() for index in np.indices(shape))
    size = np.broadcast_to(floats(counts.given), shape)
    positives = floats(counts.joint_truth)
    groups = Table(
        {
            "given": given[rows],
            "outcome": outcome[columns],
            "false_positive_rate": rates.false_positive_rate.ravel(),
            "true_positive_rate": rates.true_positive_rate.ravel(),
            "accuracy": rates.accuracy.ravel(),
            "mean_per_class_accuracy": rates.mean_per_class_accuracy.ravel(),
            "selection_rate": rates.selection_rate.ravel(),
            "positives": positives.ravel(),
            "negatives": (size - positives).ravel(),
        }
    )
    table = Table(
        {
            "outcome": outcome,
            "fpr_difference": between_groups(rates.false_positive_rate),
            "tpr_difference": between_groups(rates.true_positive_rate),
            "accuracy_difference": between_groups(rates.accuracy),
            "mean_per_class_accuracy": over_groups(rates.mean_per_class_accuracy),
        }
    )
    return Parity(table, groups, _undefined(rates, given, outcome), float(floats(counts.n).max()), direction)


def _undefined(rates: GroupRates, given: Any, outcome: Any) -> tuple[dict[str, Any], ...]:
    reasons = (
        ("accuracy", rates.accuracy, "no record has the group"),
        ("true_positive_rate", rates.true_positive_rate, "nobody in the group truly has the outcome"),
        ("false_positive_rate", rates.false_positive_rate, "everybody in the group truly has the outcome"),
    )
    empty = np.isnan(rates.accuracy)
    out = []
    for name, values, reason in reasons:
        gone = np.isnan(values) & (~empty | (name == "accuracy"))
        for i, j in np.argwhere(gone).tolist():
            out.append({"given": given[i], "outcome": outcome[j], "rate": name, "reason": reason})
    return tuple(out)
