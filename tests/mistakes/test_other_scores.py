"""Scores that the predictions beside them were not made from are said: of the other class, another task, other rows, another rule."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp

RNG = np.random.default_rng(8)
N = 1200
G = RNG.choice(["a", "b"], N)
X = RNG.normal(size=N) + 0.5 * (G == "a")
S = 1.0 / (1.0 + np.exp(-X))
T = (RNG.random(N) < S).astype(int)
P = (S >= 0.5).astype(int)
FLIPPED = np.where(np.arange(N) % 40 == 0, 1 - P, P)
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p", "task_scores": "s"}
# Scores, predictions, and the caution that they need.
CASES: dict[str, tuple[Any, Any, str | None]] = {
    "at 0.5": (S, P, None),
    "at another threshold": (S, (S > 0.7).astype(int), None),
    "a threshold for each group": (S, (np.where(G == "a", 0.6, 0.4) <= S).astype(int), None),
    "rounded scores": (S.round(1), P, None),
    "the highest half": (S, (np.median(S) < S).astype(int), None),
    "scores that hardly differ": (0.5 + S / 100, P, None),
    "decisions as scores": (P.astype(float), P, None),
    "a few by hand": (S, np.where(np.arange(N) < 4, 1 - P, P), None),
    "all alike": (np.full(N, 0.4), np.zeros(N, dtype=int), None),
    "the other class": (1.0 - S, P, "other-scores"),
    "rows in another order": (RNG.permutation(S), P, "other-scores"),
    "another task": (RNG.random(N), P, "other-scores"),
    "another model": (1.0 / (1.0 + np.exp(-X - RNG.normal(size=N))), P, "other-rule"),
    "some by hand": (S, FLIPPED, "other-rule"),
    "rows off by one": (np.roll(S, 1), P, "other-scores"),
}


def found(data: Any, engine: str = "auto", **more: Any) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        audit = biasamp.audit(data, **{**ROLES, **more}, metrics="directional", resamples=50, engine=engine)
    return [one.code for one in audit.findings if one.code.startswith("other-")]


@pytest.mark.parametrize("name", CASES)
def test_of_an_audit_and_of_a_decomposition(name: str) -> None:
    scores, decided, code = CASES[name]
    data = {"g": G, "t": T, "p": decided, "s": scores}
    expected = [] if code is None else [code]
    assert [found(data), found(data, "local")] == [expected, expected]
    parts = biasamp.decompose(G, T, scores, predicted=decided)
    assert [c.kind for c in parts.cautions if getattr(c, "kind", "").startswith("other-")] == expected


def test_how_many_records_are_on_the_wrong_side() -> None:
    """30 of 1,200 were turned; about half of them lie near the threshold and cost little."""
    (words,) = [str(c) for c in biasamp.decompose(G, T, S, predicted=FLIPPED).cautions if "wrong side" in str(c)]
    count = int(words.split("about ")[1].split(" ")[0])
    assert 15 <= count <= 45
    assert "decided by another rule than a threshold" in words


def test_one_task_of_several() -> None:
    other = RNG.random(N)
    data = {"g": G, "t": T, "u": T[::-1].copy(), "p": P, "q": P[::-1].copy(), "s": S, "r": other}
    roles = {"tasks": ["t", "u"], "task_predictions": ["p", "q"], "task_scores": ["s", "r"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        audit = biasamp.audit(data, **{**ROLES, **roles}, metrics="directional", resamples=50)
    (finding,) = [one for one in audit.findings if one.code == "other-scores"]
    assert "predictions of u have little to do with the scores" in finding.text


def test_decisions_of_thresholds_are_not_asked_about() -> None:
    assert found({"g": G, "t": T, "s": S}, task_predictions=None) == []
    parts = biasamp.decompose(G, T, 1.0 - S, threshold=0.3)
    assert not [c for c in parts.cautions if getattr(c, "kind", "").startswith("other-")]


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_class_probabilities(engine: str) -> None:
    rng = np.random.default_rng(4)
    z = rng.normal(size=(N, 3)) + (G == "a")[:, None] * [0.0, 1.0, 0.0]
    chances = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    names = np.array(["x", "y", "z"])
    truth = names[[rng.choice(3, p=row) for row in chances]]
    decided = names[chances.argmax(axis=1)]
    scored = biasamp.categorical(["s0", "s1", "s2"], categories=list(names))
    for made, codes in (
        (chances, []),
        (chances[:, [1, 2, 0]], ["other-scores"]),
        (rng.permutation(chances), ["other-scores"]),
        ((1.0 - chances) / 2.0, ["other-scores"]),
    ):
        frame = pd.DataFrame({"g": G, "t": truth, "p": decided, **{f"s{i}": made[:, i] for i in range(3)}})
        assert found(frame, engine, task_scores=scored) == codes


def test_a_mistake_stands_first_and_in_what_to_do() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        audit = biasamp.audit({"g": G, "t": T, "p": P, "s": 1.0 - S}, **ROLES, resamples=50)
    assert next(one.code for one in audit.findings if one.kind == "caution") == "other-scores"
    assert "Check the columns first" in str(audit.answer)
