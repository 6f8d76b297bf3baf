r"""DPA with the exact attacker, in sample: from two tables as papers print them, and on the grid of the paper's heatmaps.

Of the grid (Sec. 7.1, Fig. 2)

.. math:: P(A=0, T=0) = 1/4 + \alpha, \quad P(A=1, T=1) = 1/4 - \alpha, \quad P(0, 1) = P(1, 0) = 1/4

for the data with :math:`\alpha_d` and for the model with :math:`\alpha_m`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .internals import best_score, no_input, normalized_difference

Values = NDArray[np.float64]


def alpha_tables(alphas: ArrayLike) -> Values:
    """Tables of P(A, T), shape ``(alphas, 2, 2)``.

    Examples
    --------
    >>> alpha_tables([0.25])[0].tolist()
    [[0.5, 0.25], [0.25, 0.0]]
    """
    alpha = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    if alpha.ndim != 1 or not (np.abs(alpha) <= 0.25).all():
        raise ValueError("alphas must be numbers from -0.25 to 0.25, or a probability would be negative")
    quarter = np.full_like(alpha, 0.25)
    return np.stack(
        [np.stack([quarter + alpha, quarter], axis=-1), np.stack([quarter, quarter - alpha], axis=-1)],
        axis=-2,
    )


def dpa_heatmap(
    alpha_d: ArrayLike,
    alpha_m: ArrayLike,
    *,
    direction: str = "A->T",
    quality: str = "accuracy",
    gain: bool = False,
) -> Values:
    """DPA of every data table with every model table: exact attackers, no sampling, no equalization.

    Parameters
    ----------
    alpha_d, alpha_m : array-like
        The grids of the data and of the model.
    direction : {"A->T", "T->A"}
        What is predicted from what.
    quality : {"accuracy", "balanced_accuracy", "f1", "auc"}
        The attackers' quality.
    gain : bool
        Whether to take the gain over the attacker without input instead of the quality itself.

    Returns
    -------
    ndarray of shape (len(alpha_m), len(alpha_d))
        As in the paper, the data along x and the model along y.

    Examples
    --------
    >>> dpa_heatmap([0.0, 0.1], [0.0, 0.1]).round(3).tolist()
    [[0.0, -0.091], [0.091, 0.0]]
    """
    if direction not in ("A->T", "T->A"):
        raise ValueError(f"direction is {direction!r}; take 'A->T' or 'T->A'")
    psi = []
    for alphas in (alpha_d, alpha_m):
        tables = alpha_tables(alphas)
        tables = tables if direction == "A->T" else tables.swapaxes(-1, -2)
        score = best_score(tables, tables, quality)
        psi.append(score - best_score(no_input(tables), no_input(tables), quality) if gain else score)
    return np.asarray(normalized_difference(psi[0][None, :], psi[1][:, None]))


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
