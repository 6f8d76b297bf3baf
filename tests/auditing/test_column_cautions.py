"""Cautions of columns that are likely wrong: names, values that follow from groups, codes in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.auditing.caution_topics import MISTAKES

N = 2000
LIMIT = [{"metric": "directional", "max": 0.3}]


def drawn(seed: int = 0) -> dict[str, Any]:
    """Three groups, a two-valued task and one of four values; both predictions err at random."""
    rng = np.random.default_rng(seed)
    g = rng.choice(["w", "m", "x"], N, p=[0.45, 0.45, 0.1])
    t = (rng.random(N) < np.where(g == "w", 0.7, 0.3)).astype(int)
    place = rng.choice(["a", "b", "c", "d"], N, p=[0.5, 0.35, 0.09, 0.06])
    guess = np.where(rng.random(N) < 0.1, rng.choice(["a", "b", "c", "d"], N), place)
    said = np.where(rng.random(N) < 0.1, rng.choice(["w", "m", "x"], N), g)
    return {"g": g, "t": t, "p": np.where(rng.random(N) < 0.1, 1 - t, t), "place": place, "guess": guess, "said": said}


def audit(data: Any, **options: Any) -> biasamp.Audit:
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": "directional", "resamples": 50}
    return biasamp.audit(data, **{**roles, **options})


def mistakes(audited: biasamp.Audit) -> dict[str, str]:
    return {row["code"]: row["text"] for row in audited.document["findings"] if row["code"] in MISTAKES}


def turned(values: Any, one: str, other: str) -> Any:
    return np.where(values == one, other, np.where(values == other, one, values))


def test_two_values_in_another_order_open_no_gate() -> None:
    data, roles = drawn(), {"tasks": "place", "task_predictions": "guess"}
    right = audit(data, **roles)
    assert not mistakes(right)
    assert biasamp.Policy(limits=LIMIT).check(right).outcome == "pass"
    wrong = audit({**data, "guess": turned(data["guess"], "c", "d")}, **roles)
    assert "Predictions of place=c and place=d" in "".join(mistakes(wrong).values())
    assert biasamp.Policy(limits=LIMIT).check(wrong).outcome == "not enough evidence"


def test_two_groups_in_another_order_open_no_gate() -> None:
    data = drawn()
    limits = [{"metric": "directional", "direction": "T->A", "max": 0.3}]
    right = audit(data, attribute_predictions="said")
    assert not mistakes(right)
    wrong = audit({**data, "said": turned(data["said"], "m", "x")}, attribute_predictions="said")
    assert "Predictions of g=m and g=x are opposite" in mistakes(wrong)["opposite"]
    assert biasamp.Policy(limits=limits).check(wrong).outcome == "not enough evidence"


def test_weak_models_of_many_values_are_not_suspected() -> None:
    """Ten values, right in 15 to 40% of records: none is predicted well, and none is taken for another."""
    said = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 10, N)
        p = np.where(rng.random(N) < rng.uniform(0.06, 0.33), truth, rng.integers(0, 10, N))
        found = mistakes(audit({"g": rng.choice(["w", "m"], N), "t": truth, "p": p}, intervals="closed_form"))
        said += any("coded alike" in text for text in found.values())
    assert said == 0


def test_one_value_that_is_hard_to_predict_is_no_other_code() -> None:
    data = drawn()
    lost = np.where(data["guess"] == "d", "a", data["guess"])  # d is predicted where it is not, and never where it is
    lost[np.flatnonzero(data["place"] == "b")[:60]] = "d"
    assert not mistakes(audit({**data, "guess": lost}, tasks="place", task_predictions="guess"))


def test_a_truth_that_follows_from_the_group_says_nothing() -> None:
    data = drawn()
    made = audit({**data, "t": (data["g"] == "w").astype(int)})
    assert "go together in every record (m with 0, w with 1, x with 0)" in mistakes(made)["copied"]
    assert biasamp.Policy(limits=LIMIT).check(made).outcome == "not enough evidence"


def test_an_outcome_that_few_have_follows_from_nothing() -> None:
    """Nobody but a few of the small group has it: that no other has is what rare outcomes look like."""
    data = drawn()
    t = np.zeros(N, dtype=int)
    small = data["g"] == "x"
    t[np.flatnonzero(small)] = 1
    keep = ~small | (np.cumsum(small) <= 20)
    made = audit({"g": data["g"][keep], "t": t[keep], "p": data["p"][keep]}, min_group=1)
    assert "copied" not in mistakes(made)


RIGHT = [
    "probation",
    "prediabetes",
    "predisposed",
    "credit_score_ok",
    "output_defect",
    "hat_size",
    "scored_goal",
    "problem",
]
WRONG = [
    ("y_pred", "y_true"),
    ("predicted", "hired"),
    ("prediction", "p"),
    ("y_hat", "y"),
    ("modelPrediction", "truth"),
]
WRONG += [("score", "label"), ("prob", "y"), ("model_output", "target"), ("logits", "answer"), ("yPred", "actual")]


@pytest.mark.parametrize("name", RIGHT)
def test_outcomes_whose_names_remind_of_predictions(name: str) -> None:
    data = drawn()
    made = audit({"g": data["g"], name: data["t"], "model": data["p"]}, tasks=name, task_predictions="model")
    assert "swapped" not in mistakes(made)
    assert biasamp.Policy(limits=LIMIT).check(made).outcome == "pass"


@pytest.mark.parametrize(("truth", "predicted"), WRONG)
def test_truth_and_predictions_by_each_others_names(truth: str, predicted: str) -> None:
    data = drawn()
    made = audit({"g": data["g"], truth: data["t"], predicted: data["p"]}, tasks=truth, task_predictions=predicted)
    assert "swapped" in mistakes(made)
