"""What one of two outcomes gains, the other loses: such a pair is one fact."""

from __future__ import annotations

from typing import Any

import biasamp
from biasamp.auditing.mirrors import each_once

G = ["w"] * 60 + ["m"] * 60
T = ["no"] * 40 + ["yes"] * 20 + ["no"] * 20 + ["yes"] * 40
P = ["no"] * 50 + ["yes"] * 10 + ["no"] * 15 + ["yes"] * 45


def directional(truth: list[str], predicted: list[str], **options: Any) -> Any:
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", **options}
    audit = biasamp.audit({"g": G, "t": truth, "p": predicted}, **roles, metrics=["directional"])
    return audit.document["metrics"][0]


def kept(entry: Any) -> set[tuple[str, str]]:
    return {(pair["given"], pair["outcome"]) for pair in each_once(entry["pairs"])}


def test_of_two_values_the_positive_one_is_kept() -> None:
    assert kept(directional(T, P)) == {("g=w", "t=yes"), ("g=m", "t=yes")}
    assert kept(directional(T, P, positive="no")) == {("g=w", "t=no"), ("g=m", "t=no")}
    assert len(directional(T, P)["pairs"]) == 4


def test_where_neither_value_is_positive_one_is_kept() -> None:
    names = {"no": "cat", "yes": "dog"}
    truth, predicted = ([names[x] for x in column] for column in (T, P))
    assert kept(directional(truth, predicted)) == {("g=w", "t=dog"), ("g=m", "t=dog")}


def test_three_values_are_three_facts() -> None:
    truth = [*T[:-9], *["maybe"] * 9]
    assert len(kept(directional(truth, [*P[:-6], *["maybe"] * 6]))) == 6


def test_two_values_and_an_invented_one_are_two_facts() -> None:
    """What yes loses, no need not gain."""
    predicted = ["none", *P[1:-1], "none"]
    entry = directional(T, predicted, tasks=biasamp.categorical("t", categories=["no", "yes", "none"]))
    assert len(kept(entry)) == 4


def test_sentences_count_each_fact_once() -> None:
    data = {"g": G * 20, "t": T * 20, "p": P * 20}
    audit = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics=["directional"])
    (pairs,) = (finding for finding in audit.findings if finding.code == "pairs")
    assert "of 2 pairs, 2 are amplified and 0 weakened" in pairs.text
    assert "t=yes" in pairs.text
    assert "t=no" not in pairs.text
