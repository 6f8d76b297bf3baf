"""The predictions of the demo, held against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp.datasets import berkeley


def test_predictions_are_those_of_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    selection = pytest.importorskip("sklearn.model_selection")
    data = berkeley.with_predictions()
    department = (data["department"][:, None] == np.array([row[0] for row in berkeley.COUNTS])).astype(float)
    woman = (data["gender"] == "woman").astype(float)[:, None]
    admitted = data["admitted"].astype(float)[:, None]
    splits = selection.StratifiedKFold(5, shuffle=True, random_state=0)
    held_out = list(splits.split(department, np.char.add(data["department"], data["gender"])))
    model = linear.LogisticRegression(max_iter=1000, tol=1e-10)
    known = np.hstack([department, woman])
    scores = selection.cross_val_predict(model, known, data["admitted"], cv=held_out, method="predict_proba")[:, 1]
    assert np.abs(scores - data["admitted_score"]).max() < 1e-6
    assert ((scores >= 0.5) == data["admitted_pred"]).all()
    genders = selection.cross_val_predict(model, np.hstack([department, admitted]), data["gender"], cv=held_out)
    assert (genders == data["gender_pred"]).all()


def test_every_applicant_is_there() -> None:
    data = berkeley.records()
    assert len(data["admitted"]) == 4526
    # Bickel et al. 1975, table 2: 1,755 of the applicants to these departments were admitted.
    assert data["admitted"].sum() == 1755
