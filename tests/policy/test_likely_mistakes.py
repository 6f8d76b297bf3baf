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


def test_train_labels_of_one_value_open_no_gate_however_wide() -> None:
    """Both signs lie within a wide limit, but a file of one class alone is a mistake before it is a training set."""
    wide = [{"metric": "directional", "direction": "A->T", "max": 0.9}]
    assert verdict(FAIR, wide, train=LIKE).outcome == "pass"
    made = verdict(FAIR, wide, train=train([("man", 0, 500), ("woman", 0, 500)]))
    assert made.outcome == "not enough evidence"
    assert "the train labels have no record of 't=1'" in str(made)


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


# What may make a figure worse can keep it from passing, not from failing; words say what was judged.


def test_pairs_without_a_lent_direction_are_judged_at_their_worse_sign() -> None:
    data = {
        "g": ["m"] * 1000 + ["w"] * 1000,
        "t": [1, 0] * 1000,
        "p": [1] * 700 + [0] * 300 + [1] * 300 + [0] * 700,
    }
    for labels in ({"train": {name: values * 2 for name, values in data.items()}}, {}):
        audit = biasamp.audit(data, **ROLES, metrics=["directional"], **labels)
        for limit in ({"pairs": True}, {"given": "g=m", "outcome": "t=1"}, {}):
            made = Policy(limits=[{"metric": "directional", "direction": "A->T", "max": 0.02, **limit}]).check(audit)
            assert made.outcome == "not enough evidence", (labels, limit)
        (row,) = [
            pair for pair in audit.document["metrics"][0]["pairs"] if (pair["given"], pair["outcome"]) == ("g=m", "t=1")
        ]
        assert row["low"] < -0.15
        assert row["high"] > 0.15


def test_small_groups_keep_a_difference_from_passing_not_from_failing() -> None:
    """Selected among those who are not to be: 80 of 200 men, 10 of 200 women, 3 of 10 others."""
    rows = [("man", 80, 200), ("woman", 10, 200), ("other", 3, 10)]
    data: dict[str, list[Any]] = {"g": [], "t": [], "p": []}
    for group, selected, size in rows:
        data["g"] += [group] * 2 * size
        data["t"] += [0] * size + [1] * size
        data["p"] += [1] * selected + [0] * (size - selected) + [1] * size
    audit = biasamp.audit(data, **ROLES, metrics=["parity"])
    for most, outcome in ((0.1, "fail"), (0.9, "not enough evidence")):
        made = Policy(limits=[{"metric": "fpr_difference", "max": most}], min_group=30).check(audit)
        (check,) = [check for check in made.checks if check.metric == "fpr_difference"]
        assert check.outcome == outcome
    assert "fewer than 30 records that the rate is taken over: g=other (10)" in check.reason


def test_a_rate_on_few_records_in_one_of_several_tasks_keeps_the_largest_difference_from_passing() -> None:
    """Eight of ten others are wrongly given the second task, and nobody else is: the first task's rates are alike."""
    rows = [("man", 300), ("woman", 300), ("other", 60)]
    data: dict[str, list[Any]] = {name: [] for name in ("g", "one", "two", "said_one", "said_two")}
    for group, size in rows:
        negative = size // 6
        data["g"] += [group] * size
        data["one"] += [0, 1] * (size // 2)
        data["said_one"] += [0, 1] * (size // 2)
        data["two"] += [0] * negative + [1] * (size - negative)
        wrong = 8 if group == "other" else 0
        data["said_two"] += [1] * wrong + [0] * (negative - wrong) + [1] * (size - negative)
    roles = {"attributes": "g", "tasks": ["one", "two"], "task_predictions": ["said_one", "said_two"]}
    audit = biasamp.audit(data, **roles, metrics=["parity"], resamples=50)

    def outcome(**limit: Any) -> str:
        made = Policy(limits=[{"metric": "fpr_difference", "max": 0.3, **limit}]).check(audit)
        return next(check.outcome for check in made.checks if check.metric == "fpr_difference")

    assert outcome() == "not enough evidence"
    assert outcome(outcome="one") == "pass"
    assert outcome(outcome="two") != "pass"


def test_the_value_alone_claims_nothing_of_signs() -> None:
    audit = biasamp.audit({"g": G, "t": RNG.permutation(T), "p": T}, **ROLES, metrics=["directional"])
    assert audit.document["metrics"][0]["unknown"]
    limits = [{"metric": "directional", "max": most, "on": "value"} for most in (0.5, -0.5)]
    checks = [check for check in Policy(limits=limits).check(audit).checks if check.metric == "directional"]
    assert [check.outcome for check in checks] == ["pass", "fail"]
    for check in checks:
        assert "the value alone, with signs as estimated" in check.reason
        assert "worse sign" not in check.reason
        assert "whichever" not in check.reason
        assert check.on == "value"


def test_weights_of_one_change_no_interval() -> None:
    data = {"g": G, "t": T, "p": FAIR, "w": np.ones(N)}
    plain, weighted = (biasamp.audit(data, **ROLES, metrics=["parity"], **more) for more in ({}, {"weights": "w"}))
    assert plain.document["rates"] == weighted.document["rates"]
    assert [entry["interval"] for entry in plain.document["metrics"]] == [
        entry["interval"] for entry in weighted.document["metrics"]
    ]


def test_weak_scores_are_not_called_unrelated() -> None:
    """Probabilities near their mean vary less than decisions: a correlation of .4 in 200 records is no chance."""
    rng = np.random.default_rng(2)
    group, truth = rng.choice(["a", "b"], 200), rng.integers(0, 2, 200)
    weak = np.clip(0.5 + 0.06 * (truth - 0.5) + rng.normal(0, 0.07, 200), 0, 1)
    codes = {}
    for name, scores in {"weak": weak, "shuffled": rng.permutation(weak), "turned round": 1 - weak}.items():
        data = {"g": group, "t": truth, "p": scores}
        audit = biasamp.audit(
            data, attributes="g", tasks="t", task_predictions="p", metrics=["directional"], resamples=50
        )
        codes[name] = {finding.code for finding in audit.findings}
    assert "unrelated" not in codes["weak"]
    assert "unrelated" in codes["shuffled"]
    assert codes["turned round"] & {"unrelated", "opposite"}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ([{"metric": "directional", "min": -0.5}], True),
        ([{"metric": "directional", "min": -0.5}, {"metric": "tpr_difference", "max": 0.9}], True),
        ([{"metric": "directional", "min": -0.5, "max": 0.9}], False),
        ([{"metric": "directional", "min": -0.5}, {"metric": "directional", "max": 0.9}], False),
        ([{"metric": "mean_per_class_accuracy", "min": 0.1}], False),
    ],
)
def test_limits_that_keep_nothing_from_rising_say_so(limits: Any, said: bool) -> None:
    """A minus sign and ``min`` for ``max``: however much a model amplifies, it would pass in silence."""
    rng = np.random.default_rng(0)
    g = rng.choice(["w", "m"], 1000)
    t = (rng.random(1000) < np.where(g == "w", 0.7, 0.3)).astype(int)
    data = {"g": g, "t": t, "p": np.where(rng.random(1000) < 0.05, 1 - t, t)}
    audited = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", resamples=50)
    notes = biasamp.Policy(limits=limits).check(audited).notes
    assert any("no limit has a max for it" in note for note in notes) == said
