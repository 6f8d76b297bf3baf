"""What the answer says first is what the findings below it say, on data whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp

N = 4000
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p", "resamples": 100}


def audit(data: Any, **options: Any) -> biasamp.Audit:
    return biasamp.audit(data, **{**ROLES, "metrics": ["directional"], **options})


def drawn(n: int = N, seed: int = 0) -> tuple[np.random.Generator, Any, Any]:
    """Two groups with rates .6 and .4."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["w", "m"], n)
    return rng, group, (rng.random(n) < np.where(group == "w", 0.6, 0.4)).astype(int)


def test_what_a_crossing_alone_shows_is_said_first() -> None:
    """Neither attribute has anything to do with the task; one of them together with the other has, and the model leans on it."""
    rng = np.random.default_rng(0)
    g, r = rng.choice(["w", "m"], N), rng.choice(["a", "b"], N)
    tied = (g == "w") == (r == "a")
    t = (rng.random(N) < np.where(tied, 0.6, 0.4)).astype(int)
    p = np.where(rng.random(N) < 0.4, tied.astype(int), t)
    answer = audit({"g": g, "r": r, "t": t, "p": p}, attributes=["g", "r"], intersections=True).answer
    assert answer.found.startswith("The model amplifies the bias of its data by g x r (+0.1")
    assert "whether it does by" in answer.found
    assert answer.worst_off.startswith("Most changed is t=1 among ")
    assert "Beyond chance at 95% (corrected for 3 figures): g x r [+0.1" in answer.sure
    assert answer.next.startswith("Look at t=1 among ")


def test_a_crossing_that_says_no_more_is_not_listed() -> None:
    rng, g, t = drawn()
    p = np.where(rng.random(N) < 0.4, (g == "w").astype(int), t)
    data = {"g": g, "r": rng.choice(["a", "b"], N), "t": t, "p": p}
    assert "g x r" not in audit(data, attributes=["g", "r"], intersections=True).answer.found


def test_pairs_that_an_average_hides_are_no_nothing() -> None:
    """One task is amplified by 2 points, another weakened by as much: the mean is 0 within 0.01, and pairs change beyond chance."""
    n = 100_000
    rng, g, t = drawn(n)
    other = (rng.random(n) < np.where(g == "w", 0.6, 0.4)).astype(int)
    data = {"g": g, "t": t, "u": other, "p": np.where(rng.random(n) < 0.05, (g == "w").astype(int), t)}
    data["q"] = np.where(rng.random(n) < 0.0333, (g == "m").astype(int), other)
    answer = audit(data, tasks=["t", "u"], task_predictions=["p", "q"]).answer
    assert "keeps the bias of its data to within 0.01 on average" in answer.found
    assert answer.sure.startswith("No average and no difference is beyond chance")
    assert answer.next.startswith("Look at t among g=")
    assert "The average by g hides it." in answer.next


@pytest.mark.parametrize("metric", ["dpa", "multi", "leakage"])
def test_a_decided_figure_asks_for_something(metric: str) -> None:
    rng, g, t = drawn()
    p = np.where(rng.random(N) < 0.4, (g == "w").astype(int), t)
    answer = audit({"g": g, "t": t, "p": p}, metrics=[metric]).answer
    assert answer.found.startswith("Directional amplification was not measured; beyond chance is ")
    assert answer.next.startswith("Measure directional amplification too")


def test_rates_that_differ_are_found_where_nothing_else_is_measured() -> None:
    rng, g, t = drawn()
    p = np.where(rng.random(N) < 0.4, (g == "w").astype(int), t)
    answer = audit({"g": g, "t": t, "p": p}, metrics=["parity"]).answer
    assert answer.found.startswith("Groups of g differ in false positive rates and true positive rates.")


def test_a_label_that_only_the_model_has_is_in_the_answer() -> None:
    rng = np.random.default_rng(0)
    g, t = rng.choice(["w", "m"], N), rng.choice(["a", "b", "c"], N)
    p = np.where((g == "w") & (rng.random(N) < 0.2), "refused", t)
    answer = audit({"g": g, "t": t, "p": p}).answer
    assert "It gives t=refused, which the truth never has, to g=w more often than to g=m." in answer.found
    assert answer.sure.startswith("Of labels that the truth has, no average and no difference is beyond chance")
    assert answer.next.startswith("See why the model gives t=refused")


@pytest.mark.parametrize("lent", ["train", "base"])
def test_labels_that_were_given_are_not_asked_for(lent: str) -> None:
    rng, g, t = drawn()
    p = np.where(rng.random(N) < 0.1, 1 - t, t)
    few = {"g": rng.choice(["w", "m"], 80), "t": rng.integers(0, 2, 80)}
    said = audit({"g": g, "t": t, "p": p}, **{lent: few}).answer.next
    assert "give the training labels" not in said
    assert f"Give more {'train labels' if lent == 'train' else 'records of the base'} for g" in said


def test_so_many_times_the_records_decide_in_four_of_five_samples() -> None:
    """The number is held against samples of as many records, drawn anew from what the first sample shows."""
    rng, g, _ = drawn(800)
    t = (rng.random(800) < np.where(g == "w", 0.75, 0.25)).astype(int)
    data = {"g": g, "t": t, "p": np.where(rng.random(800) < 0.05, 1 - t, t)}
    words = audit(data, intervals="closed_form").answer.next
    assert words.startswith("Collect more for g: about ")
    assert "with a chance of 80%, if it stays as it is" in words
    times = float(words.split("about ")[1].split(" times")[0])
    decided = 0
    for seed in range(100):
        rows = np.random.default_rng(seed).integers(0, 800, round(800 * times))
        more = audit({name: values[rows] for name, values in data.items()}, intervals="closed_form")
        decided += more.document["findings"][0]["figure"]["verdict"] != 0
    assert 0.66 <= decided / 100 <= 0.94  # four standard errors about .8


def test_mean_scores_are_not_called_predictions() -> None:
    rng, g, t = drawn()
    p = np.clip(np.where(t == 1, 0.7, 0.3) + rng.normal(0, 0.1, N), 0.01, 0.99)
    audited = audit({"g": g, "t": t, "p": p})
    assert "with a mean score of" in audited.answer.worst_off
    (words,) = [row["text"] for row in audited.document["findings"] if row["code"] == "not-fairness"]
    assert "Its mean score is" in words
    assert "predicted for" not in words


def test_one_is_one() -> None:
    rng, g, t = drawn()
    group = g.astype(object)
    group[0] = "x"
    data = {"g": group, "t": t, "p": np.where(rng.random(N) < 0.1, 1 - t, t)}
    assert "(1 record)" in audit(data).answer.next
    labels = [None if i == 5 else int(x) for i, x in enumerate(t)]
    assert (
        "1 missing value was left out of what it concerns." in audit({**data, "t": labels}, missing="drop").answer.sure
    )


def test_what_is_predicted_wrongly_is_named_where_there_are_several() -> None:
    rng, g, _ = drawn(N, 2)
    truths = {f"t{i}": rng.integers(0, 2, N) for i in range(3)}
    wrong = {name: np.where(rng.random(N) < 0.02, 1 - values, values) for name, values in truths.items()}
    wrong["t1"] = np.where((g == "w") & (rng.random(N) < 0.025), 1 - wrong["t1"], wrong["t1"])
    data = {"g": g, **truths, **{f"p{name}": values for name, values in wrong.items()}}
    roles = {"tasks": list(truths), "task_predictions": [f"p{name}" for name in truths]}
    audited = audit(data, **roles, metrics=["directional", "parity"], intervals="closed_form")
    decided = [row["figure"]["decided"] for row in audited.document["findings"] if row["code"] == "parity"]
    assert decided == [["accuracy_difference"]]
    assert audited.answer.worst_off.startswith("g=w: t1 is predicted wrongly for ")


@pytest.mark.parametrize("level", [0.05, 0.3, 0.5])
def test_a_level_of_one_half_or_less_names_no_number_of_records(level: float) -> None:
    """A one-sided bound at such a level lies at the value or before it: no number of records follows from how far it reaches."""
    cells = {"a": ((1, 1, 28), (0, 0, 31), (0, 1, 1), (1, 0, 1)), "b": ((1, 1, 45), (0, 0, 57), (0, 1, 4), (1, 0, 4))}
    rows = [(group, t, p) for group, held in cells.items() for t, p, many in held for _ in range(many)]
    data = {name: [row[place] for row in rows] for place, name in enumerate("gtp")}
    answer = audit(data, confidence=level, intervals="closed_form").answer
    assert "small for what these records can tell" in answer.next
    assert "records in all would" not in answer.next
