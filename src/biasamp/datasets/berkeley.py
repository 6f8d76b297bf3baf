"""Graduate admissions at Berkeley in the autumn of 1973: the six largest departments.

Bickel, P. J., Hammel, E. A. and O'Connell, J. W. (1975). Sex bias in graduate admissions: data from Berkeley.
Science 187, 398-404. The 24 counts are public facts.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

# (department, men admitted, men rejected, women admitted, women rejected)
COUNTS = (
    ("A", 512, 313, 89, 19),
    ("B", 353, 207, 17, 8),
    ("C", 120, 205, 202, 391),
    ("D", 138, 279, 131, 244),
    ("E", 53, 138, 94, 299),
    ("F", 22, 351, 24, 317),
)


def records() -> dict[str, Any]:
    """The 4,526 applicants as columns: department, gender and admitted (1 or 0)."""
    cells = list(product([name for name, *_ in COUNTS], ("man", "woman"), (1, 0)))
    counts = [count for _, *row in COUNTS for count in row]
    columns = zip(("department", "gender", "admitted"), zip(*cells, strict=True), strict=True)
    return {name: np.repeat(np.array(values), counts) for name, values in columns}


TITLE = "Berkeley admissions, 1973"
# What the columns of with_predictions() are in an audit.
ROLES: dict[str, Any] = {
    "attributes": "gender",
    "tasks": "admitted",
    "attribute_predictions": "gender_pred",
    "task_predictions": "admitted_pred",
}
PARTS: dict[str, Any] = {"task_scores": "admitted_score", "strata": "department"}


# Scores are rounded to so many digits: machines differ in the last bits of what they compute.
_DIGITS = 10
# Newton's method on these data is done in a handful of steps.
_STEPS = 25


def with_predictions(folds: int = 5, seed: int = 0) -> dict[str, Any]:
    """The applicants with out-of-fold predictions of logistic regression, in both directions.

    ``admitted_pred`` is predicted from department and gender, ``gender_pred`` from department and admission. Each
    applicant is predicted by a model that has not seen them. ``admitted_score`` is the probability of admission that
    ``admitted_pred`` was decided from.
    """
    data = records()
    department = (data["department"][:, None] == np.array([row[0] for row in COUNTS])).astype(float)
    woman, admitted = (data["gender"] == "woman").astype(float), data["admitted"].astype(float)
    fold = _folds(np.char.add(data["department"], data["gender"]), folds, seed)
    admitted_score = _out_of_fold(np.column_stack([department, woman]), admitted, fold)
    woman_score = _out_of_fold(np.column_stack([department, admitted]), woman, fold)
    admitted_pred = (admitted_score >= 0.5).astype(data["admitted"].dtype)
    gender_pred = np.where(woman_score > 0.5, "woman", "man")
    return {**data, "admitted_pred": admitted_pred, "gender_pred": gender_pred, "admitted_score": admitted_score}


def _folds(strata: NDArray[Any], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each applicant: all strata are spread over all folds, in the way of scikit-learn's ``StratifiedKFold``."""
    _, first, codes = np.unique(strata, return_index=True, return_inverse=True)
    # Strata are numbered as they are met.
    codes = np.argsort(np.argsort(first))[codes.reshape(-1)]
    rng = np.random.RandomState(seed)
    ranked, out = np.sort(codes), np.empty(len(codes), dtype=np.int64)
    sizes = np.stack([np.bincount(ranked[i::folds], minlength=len(first)) for i in range(folds)])
    for stratum in range(len(first)):
        held = np.arange(folds).repeat(sizes[:, stratum])
        rng.shuffle(held)
        out[codes == stratum] = held
    return out


def _out_of_fold(features: NDArray[np.float64], label: NDArray[np.float64], fold: NDArray[np.int64]) -> Any:
    """For each applicant the probability of the label by a model that was fitted to the other folds."""
    out = np.empty(len(label))
    for number in range(int(fold.max()) + 1):
        held_out = fold == number
        intercept, *slopes = logistic_regression(features[~held_out], label[~held_out])
        out[held_out] = 1.0 / (1.0 + np.exp(-(intercept + features[held_out] @ np.array(slopes))))
    return np.round(out, _DIGITS)


def logistic_regression(features: NDArray[np.float64], label: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Intercept and slopes that minimise :math:`\frac12 |w|^2 + \sum \log(1 + e^{-y (b + w x)})`, by Newton's method.

    These are those of scikit-learn's ``LogisticRegression()``, which takes a second to import.
    """
    known = np.column_stack([np.ones(len(features)), features])
    penalty = np.append(0.0, np.ones(features.shape[1]))
    weights = np.zeros(known.shape[1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-(known @ weights)))
        slope = known.T @ (chance - label) + penalty * weights
        curvature = (known * (chance * (1.0 - chance))[:, None]).T @ known + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-13:
            break
    return weights
