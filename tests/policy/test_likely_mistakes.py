"""Gates that a mistake must not open: signs of a handful of train labels, predictions turned round or moved, other columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.policy import Policy

N = 1200
RNG = np.random.default_rng(5)
G = RNG.choice(["man", "woman"], N)
T = (RNG.random(N) < np.where(G == "man", 0.3, 0.7)).astype(int)
# Rates move by about .06 along the association.
AMPLIFIED = np.where(RNG.random(N) < 0.2, (G == "woman").astype(int), T)
FAIR = np.where(RNG.random(N) < 0.03, 1 - T, T)
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
LIMIT = [{"metric": "directional", "direction": "A->T", "max": 0.02}]


def verdict(predicted: Any, limits: Any = LIMIT, **options: Any) -> Any:
    audit = biasamp.audit({"g": G, "t": T, "p": predicted}, **ROLES, metrics=["directional", "parity"], **options)
    return Policy(limits=limits).check(audit)


def train(rows: list[tuple[str, int, int]]) -> dict[str, list[Any]]:
    return {
        "g": [group for group, _, count in rows for _ in range(count)],
        "t": [value for _, value, count in rows for _ in range(count)],
    }


LIKE = train([("man", 0, 700), ("man", 1, 300), ("woman", 0, 300), ("woman", 1, 700)])


def test_the_model_itself() -> None:
    assert verdict(AMPLIFIED).outcome == "fail"
    assert verdict(AMPLIFIED, train=LIKE).outcome == "fail"
    assert verdict(FAIR).outcome == "pass"
    assert verdict(FAIR, train=LIKE).outcome == "pass"


SHUFFLED = {"g": RNG.permutation(LIKE["g"]).tolist(), "t": LIKE["t"]}


@pytest.mark.parametrize(
    "labels",
    [
        train([("man", 0, 1), ("man", 1, 1), ("woman", 0, 1), ("woman", 1, 1)]),
        train([("man", 0, 2), ("woman", 0, 2)]),
        train([("man", 0, 1), ("man", 1, 2), ("woman", 0, 2), ("woman", 1, 1)]),
        train([("man", 0, 500), ("man", 1, 500), ("woman", 0, 500), ("woman", 1, 500)]),
        {"g": LIKE["g"], "t": [1 - value for value in LIKE["t"]]},
        SHUFFLED,
    ],
    ids=["four, a tie", "one value", "six, the wrong way", "balanced", "turned round", "groups shuffled"],
)
def test_train_labels_that_tell_nothing_open_no_gate(labels: Any) -> None:
    made = verdict(AMPLIFIED, train=labels)
    assert made.outcome == "not enough evidence"


def test_few_train_labels_get_no_verdict_in_words() -> None:
    few = train([("man", 0, 1), ("man", 1, 2), ("woman", 0, 2), ("woman", 1, 1)])
    audit = biasamp.audit({"g": G, "t": T, "p": AMPLIFIED}, **ROLES, train=few, metrics=["directional"])
    (text,) = (finding.text for finding in audit.findings if finding.code == "amplification")
    assert "concludes nothing" in text
    assert "the train labels, which do not tell the direction of 2 of 2 pairs" in text


def test_signs_of_many_train_labels_are_as_they_are() -> None:
    """A weak lean of more records than are evaluated is a fact of those records."""
    weak = train([("man", 0, 3010), ("man", 1, 2990), ("woman", 0, 2990), ("woman", 1, 3010)])
    audit = biasamp.audit({"g": G, "t": T, "p": FAIR}, **ROLES, train=weak, metrics=["directional"])
    entry = audit.document["metrics"][0]
    assert entry["unknown"] == 0
    assert entry["contradicted"] == [0, 0]


def test_train_labels_turned_round_are_said() -> None:
    other = {"g": LIKE["g"], "t": [1 - value for value in LIKE["t"]]}
    audit = biasamp.audit({"g": G, "t": T, "p": FAIR}, **ROLES, train=other, metrics=["directional"])
    assert audit.document["metrics"][0]["contradicted"] == [4, 4]
    (text,) = (finding.text for finding in audit.findings if finding.code == "contradicting")
    assert "of 4 pairs" in text
    assert "4 lean opposite ways" in text


@pytest.mark.parametrize(
    ("predicted", "code"),
    [
        (1 - T, "opposite"),
        (np.where(RNG.random(N) < 0.3, T, 1 - T), "opposite"),
        (np.where(T == 1, 0.1, 0.8) + 0.1 * RNG.random(N), "opposite"),
        (np.roll(FAIR, 1), "unrelated"),
        (RNG.permutation(T), "unrelated"),
    ],
    ids=["turned round", "mostly turned round", "probabilities of the other class", "moved by a row", "shuffled"],
)
def test_predictions_that_go_against_the_truth_open_no_gate(predicted: Any, code: str) -> None:
    made = verdict(predicted, [{"metric": "directional", "direction": "A->T", "max": 0.9}])
    assert made.outcome == "not enough evidence"
    audit = biasamp.audit({"g": G, "t": T, "p": predicted}, **ROLES, metrics=["directional"])
    assert code in {finding.code for finding in audit.findings}


def test_weak_models_and_small_samples_are_not_suspected() -> None:
    codes = {"opposite", "unrelated"}
    weak = np.where(RNG.random(N) < 0.3, T, RNG.permutation(T))
    for truth, predicted in ((T, weak), (T[:60], RNG.permutation(T[:60])), (T, np.zeros(N, dtype=int))):
        data = {"g": G[: len(truth)], "t": truth, "p": predicted}
        audit = biasamp.audit(data, **ROLES, metrics=["directional"])
        assert not codes & {finding.code for finding in audit.findings}


def test_a_ready_audit_of_another_models_column_is_no_evidence(tmp_path: Any) -> None:
    data = {"g": G, "t": T, "p": AMPLIFIED, "old": FAIR}
    policy = Policy(limits=LIMIT, data=ROLES)
    mine = biasamp.audit(data, **ROLES, metrics=["directional"])
    other = biasamp.audit(data, **{**ROLES, "task_predictions": "old"}, metrics=["directional"])
    assert policy.check(mine).outcome == "fail"
    made = policy.check(other)
    assert made.outcome == "not enough evidence"
    assert "the policy is about p, and the audit about old" in made.to_markdown()
    counts = biasamp.count(data, **{**ROLES, "task_predictions": "old"})
    assert policy.check(biasamp.audit(counts)).outcome == "not enough evidence"
