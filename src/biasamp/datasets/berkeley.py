"""Graduate admissions at Berkeley in the autumn of 1973: the six largest departments.

Bickel, P. J., Hammel, E. A. and O'Connell, J. W. (1975). Sex bias in graduate admissions: data from Berkeley.
Science 187, 398-404. The 24 counts are public facts.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

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


def with_predictions(folds: int = 5, seed: int = 0) -> dict[str, Any]:
    """The applicants with out-of-fold predictions of logistic regression, in both directions.

    ``admitted_pred`` is predicted from department and gender, ``gender_pred`` from department and admission. Each
    applicant is predicted by a model that has not seen them. ``admitted_score`` is the probability of admission that
    ``admitted_pred`` was decided from.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    data = records()
    department = (data["department"][:, None] == np.array([row[0] for row in COUNTS])).astype(float)
    woman = (data["gender"] == "woman").astype(float)[:, None]
    admitted = data["admitted"].astype(float)[:, None]
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    held_out = list(splits.split(department, np.char.add(data["department"], data["gender"])))
    model = LogisticRegression(max_iter=1000)
    known = np.hstack([department, woman])
    admitted_score = cross_val_predict(model, known, data["admitted"], cv=held_out, method="predict_proba")[:, 1]
    # The last digits of a fit differ from one processor to another.
    admitted_score = admitted_score.round(10)
    admitted_pred = (admitted_score >= 0.5).astype(data["admitted"].dtype)
    gender_pred = cross_val_predict(model, np.hstack([department, admitted]), data["gender"], cv=held_out)
    return {**data, "admitted_pred": admitted_pred, "gender_pred": gender_pred, "admitted_score": admitted_score}
