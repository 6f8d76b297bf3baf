"""A value that only the model has, where one of the truth is missing, opens no gate: it is likely that value by another name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.policy import Policy

N = 1500
RNG = np.random.default_rng(8)
G = RNG.choice(["a", "b"], N)
VALUES = np.array(["denied", "granted", "remanded", "withdrawn"])
T = VALUES[np.where(RNG.random(N) < np.where(G == "b", 0.5, 0.2), 1, RNG.integers(0, 4, N))]
SAID = np.where(RNG.random(N) < 0.1, VALUES[RNG.integers(0, 4, N)], T)
THIRD = np.arange(N) % 3 == 0
WIDE = [{"metric": "directional", "direction": "A->T", "max": 0.9}]


def verdict(said: Any, tasks: Any = "t", truth: Any = T, **more: Any) -> Any:
    audit = biasamp.audit(
        {"g": G, "t": truth, "p": said},
        attributes="g",
        tasks=tasks,
        task_predictions="p",
        metrics=["directional"],
        resamples=50,
        **more,
    )
    return Policy(limits=WIDE).check(audit)


def renamed(value: str, name: str) -> Any:
    return np.where(value == SAID, name, SAID)


@pytest.mark.parametrize(
    ("said", "new", "value"),
    [
        (renamed("remanded", "remand"), "t=remand", "t=remanded"),
        (renamed("withdrawn", "witdrawn"), "t=witdrawn", "t=withdrawn"),
        (renamed("remanded", "sent back"), "t=sent back", "t=remanded"),
        (np.where(THIRD, np.char.add("Answer: ", SAID), SAID), "t=Answer: granted", "t=granted"),
        (np.where(THIRD, np.char.add(SAID, " the motion"), SAID), "t=granted the motion", "t=granted"),
        (np.where(THIRD & (SAID == "granted"), "grannted", SAID), "t=grannted", "t=granted"),
    ],
    ids=["a shorter form", "a slip", "another word", "words before, in a third", "words after", "a slip in a third"],
)
def test_a_value_by_another_name_opens_no_gate(said: Any, new: str, value: str) -> None:
    made = verdict(said)
    assert made.outcome == "not enough evidence"
    (check,) = [check for check in made.checks if check.rule == "predictions"]
    many = int((said == new.removeprefix("t=")).sum())
    left, true = int((said == value.removeprefix("t=")).sum()), int((value.removeprefix("t=") == T).sum())
    assert f"gives {new}, which the truth never has, for {many} records" in check.reason
    assert f"{value} for {left}, though {true} have it" in check.reason


@pytest.mark.parametrize(
    "said",
    [
        SAID,
        np.where(np.arange(N) % 20 == 0, "refused to answer", SAID),
        np.where(np.arange(N) % 300 == 0, "grannted", SAID),
        renamed("withdrawn", "denied"),
        np.where(RNG.random(N) < 0.3, "cannot tell", SAID),
    ],
    ids=["none", "refusals", "five records", "a value that is never given", "many refusals"],
)
def test_inventions_that_stand_for_no_value_keep_the_gate(said: Any) -> None:
    assert verdict(said).outcome == "pass"


def test_values_that_are_named_are_what_they_are_named() -> None:
    said = renamed("remanded", "remand")
    declared = biasamp.categorical("t", categories=[*VALUES.tolist(), "remand"])
    assert verdict(said, declared).outcome == "pass"


def test_rare_labels_of_lists_may_be_alike() -> None:
    """Captions name what the truth does not, and a record has several labels: none of them stands for another."""
    truth = [["table"] if one == "granted" else ["chair", "table"] for one in T]
    said = [["dining table"] if one == "granted" else ["chair", "table"] for one in SAID]
    assert verdict(said, truth=truth).outcome == "pass"


def test_predicted_attributes_are_looked_at_too() -> None:
    race = np.array(["red", "green", "blue"])[RNG.integers(0, 3, N)]
    task = (RNG.random(N) < np.where(race == "red", 0.7, 0.3)).astype(int)
    guess = np.where(RNG.random(N) < 0.1, "red", race)
    data = {"g": race, "t": task, "p": np.where(RNG.random(N) < 0.1, 1 - task, task)}
    outcomes = []
    for guesses in (guess, np.where(guess == "blue", "azure", guess)):
        audit = biasamp.audit(
            {**data, "guess": guesses},
            attributes="g",
            tasks="t",
            task_predictions="p",
            attribute_predictions="guess",
            metrics=["directional"],
            resamples=50,
        )
        limits = [{"metric": "directional", "direction": direction, "max": 0.9} for direction in ("A->T", "T->A")]
        outcomes.append([Policy(limits=[limit]).check(audit).outcome for limit in limits])
    assert outcomes == [["pass", "pass"], ["pass", "not enough evidence"]]
