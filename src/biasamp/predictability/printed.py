"""DPA from two tables of counts, as papers print them: (given, truth) and (given, predicted), without the records."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .lookup import best_score
from .trial_scores import normalized_difference

Values = NDArray[np.float64]


def dpa_from_counts(
    truth: ArrayLike, predicted: ArrayLike, *, accuracy: float | None = None, quality: str = "accuracy"
) -> float:
    """DPA with the exact attacker, in sample, from counts alone.

    Parameters
    ----------
    truth, predicted : array-like of shape (inputs, classes)
        Counts of what is given with the truth, and with the predictions.
    accuracy : float, optional
        The model's accuracy, which two tables do not tell. With it the truth is equalized in expectation: of every
        cell a share of ``1 - accuracy`` goes to the other classes, all alike.
    quality : {"accuracy", "balanced_accuracy", "f1", "auc"}
        The attackers' quality.

    Examples
    --------
    Unbalanced COMPAS, A→T (Tokas et al., Table 2a): not equalized, and at an accuracy of 0.745, where the paper's
    Table 3 has -0.004.

    >>> truth, predicted = [[1229, 874], [1402, 1773]], [[1165, 938], [1546, 1629]]
    >>> round(dpa_from_counts(truth, predicted), 3)
    -0.036
    >>> round(dpa_from_counts(truth, predicted, accuracy=0.745), 3)
    -0.004
    """
    tables = [np.asarray(table, dtype=np.float64) for table in (truth, predicted)]
    if tables[0].ndim != 2 or tables[0].shape != tables[1].shape:
        raise ValueError(f"truth and predicted must be tables of one shape, found {tables[0].shape}, {tables[1].shape}")
    if not all((table >= 0).all() and table.sum() > 0 for table in tables):
        raise ValueError("truth and predicted must hold counts: none below 0, and not all 0")
    if accuracy is not None:
        if not 0.0 <= accuracy <= 1.0:
            raise ValueError(f"accuracy is {accuracy}; it must lie from 0 to 1")
        tables[0] = _perturbed(tables[0], 1.0 - accuracy)
    dataset, model = (best_score(table, table, quality) for table in tables)
    return float(normalized_difference(dataset, model))


def _perturbed(table: Values, share: float) -> Values:
    """A share of every cell spread evenly over the other classes."""
    moved = share * table
    others = (moved.sum(axis=1, keepdims=True) - moved) / (table.shape[1] - 1)
    return np.asarray(table - moved + others)
