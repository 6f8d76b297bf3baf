"""A pandas column whose rows come in another order than the others' is refused, whichever argument it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import biasamp

pd = pytest.importorskip("pandas")

N = 240
RNG = np.random.default_rng(3)
GROUP = pd.Series(RNG.choice(["a", "b"], N))
TRUTH = pd.Series(RNG.integers(0, 2, N))
SAID = pd.Series(np.where(RNG.random(N) < 0.2, 1 - TRUTH, TRUTH))
GUESS = pd.Series(np.where(RNG.random(N) < 0.2, "a", GROUP))
SCORE = pd.Series(RNG.random(N))
SALARY = pd.Series(RNG.normal(30.0, 4.0, N))
WEIGHT = pd.Series(RNG.uniform(0.5, 2.0, N))
PERSON = pd.Series(np.arange(N) // 2)
STRATUM = pd.Series(RNG.choice(["x", "y"], N))
ROLES = {"given": GROUP, "truth": TRUTH, "predicted": SAID}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "directional": (biasamp.directional, {**ROLES, "weights": WEIGHT, "cluster": PERSON}),
    "multi": (biasamp.multi, {**ROLES, "weights": WEIGHT, "cluster": PERSON}),
    "mals": (
        biasamp.mals,
        {"A": GROUP, "T": TRUTH, "A_pred": GUESS, "T_pred": SAID, "weights": WEIGHT, "cluster": PERSON},
    ),
    "dpa": (biasamp.dpa, {**ROLES, "trials": 2}),
    "leakage": (biasamp.leakage, {"A": GROUP, "T": TRUTH, "T_pred": SAID, "trials": 2}),
    "parity": (biasamp.parity, {**ROLES, "weights": WEIGHT}),
    "decompose": (
        biasamp.decompose,
        {"given": GROUP, "truth": TRUTH, "scores": SCORE, "strata": STRATUM, "weights": WEIGHT, "cluster": PERSON},
    ),
    "sweep": (biasamp.sweep, {"scores": SCORE, "given": GROUP, "truth": TRUTH, "weights": WEIGHT}),
    "calibrate": (biasamp.calibrate, {"scores": SCORE, "rate": 0.3, "weights": WEIGHT}),
    "choose_thresholds": (
        biasamp.choose_thresholds,
        {"scores": SCORE, "given": GROUP, "truth": TRUTH, "limit": 0.2, "weights": WEIGHT},
    ),
    "mean_amplification": (
        biasamp.mean_amplification,
        {"groups": GROUP, "outcome": SALARY, "predicted": SALARY + 1.0, "weights": WEIGHT, "cluster": PERSON},
    ),
    "balance": (biasamp.balance, {"tasks": TRUTH, "attribute": GROUP}),
    "impact": (biasamp.impact, {"decisions": SAID, "groups": GROUP}),
    "classify_errors": (biasamp.classify_errors, {"A": GROUP, "T": TRUTH, "A_pred": GUESS, "T_pred": SAID}),
    "counterfactual": (
        biasamp.counterfactual,
        {
            "answers": SAID,
            "group": pd.Series(["a", "b"] * (N // 2)),
            "item": PERSON,
        },
    ),
    "text_leakage": (
        biasamp.text_leakage,
        {
            "texts": pd.Series(np.where(GROUP == "a", "red door", "blue door")),
            "references": pd.Series(["a door"] * N),
            "attribute": GROUP,
            "cluster": pd.Series(np.arange(N)),
            "mask": None,
            "seeds": 2,
        },
    ),
}
MOVED = [
    (name, argument)
    for name, (_, given) in CALLS.items()
    for argument, held in given.items()
    if isinstance(held, pd.Series)
]


@pytest.mark.parametrize(("name", "argument"), MOVED)
def test_rows_in_another_order_are_refused(name: str, argument: str) -> None:
    call, given = CALLS[name]
    with pytest.raises(ValueError, match="pandas objects with different indexes"):
        call(**{**given, argument: given[argument].iloc[::-1]})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(CALLS))
def test_rows_in_one_order_are_taken(name: str) -> None:
    """All moved alike, they are the same records."""
    call, given = CALLS[name]
    call(**{key: held.iloc[::-1] if isinstance(held, pd.Series) else held for key, held in given.items()})
