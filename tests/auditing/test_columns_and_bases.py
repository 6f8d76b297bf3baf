"""Columns in another order, and bases: what an audit says of them, and that it says no such thing of sound data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp

NAMES = ["cooking", "reading", "running", "sewing", "singing"]


def several(n: int = 2_000, seed: int = 0, errors: float = 0.2) -> dict[str, np.ndarray]:
    """Five yes-or-no tasks of two groups, each predicted with errors."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    data: dict[str, np.ndarray] = {"g": np.array(["m", "w"])[group]}
    for place, name in enumerate(NAMES):
        true = (rng.random(n) < 0.25 + 0.1 * place + 0.1 * group).astype(int)
        data[name] = true
        data[f"{name}_hat"] = np.where(rng.random(n) < errors, 1 - true, true)
    return data


def audited(data: dict[str, Any], predictions: list[str] | None = None, **options: Any) -> Any:
    columns = predictions or [f"{name}_hat" for name in NAMES]
    return biasamp.audit(data, attributes="g", tasks=NAMES, task_predictions=columns, resamples=100, **options)


def said(audit: Any, *codes: str) -> list[str]:
    return [finding.text for finding in audit.findings if finding.code in codes]


def test_two_columns_that_changed_places_are_named() -> None:
    data = several()
    columns = [f"{name}_hat" for name in ("cooking", "running", "reading", "sewing", "singing")]
    names = {f"{name}_hat": data[f"{name}_hat"] for name in NAMES}
    moved = {**data, **{f"{name}_hat": names[column] for name, column in zip(NAMES, columns, strict=True)}}
    (text,) = said(audited(moved), "unrelated")
    assert "reading and running" in text
    assert "cooking" not in text
    assert "in the order of the truth" in text


def test_a_column_that_was_turned_round_is_named() -> None:
    data = several()
    data["sewing_hat"] = 1 - data["sewing_hat"]
    (text,) = said(audited(data), "opposite")
    assert text.startswith("Predictions of sewing are opposite to their truth")


@pytest.mark.slow
def test_columns_in_their_order_are_not_called_so() -> None:
    assert sum(bool(said(audited(several(seed=seed, errors=0.35)), "opposite", "unrelated")) for seed in range(10)) == 0


def test_columns_in_another_order_have_no_verdict() -> None:
    data = several()
    data["reading_hat"], data["running_hat"] = data["running_hat"], data["reading_hat"]
    limit = {"metric": "directional", "direction": "A->T", "max": 0.9}
    assert not biasamp.Policy(limits=[limit]).check(audited(data)).passed
    assert biasamp.Policy(limits=[limit]).check(audited(several())).passed


def test_pairs_that_changed_are_in_the_answer_where_their_mean_is_not_decided() -> None:
    """Two tasks whose changes cancel out: each is decided, and their mean is 0."""
    rng = np.random.default_rng(4)
    n = 1_000
    group = np.repeat(["m", "w"], n // 2)
    rate = np.where(group == "m", 0.35, 0.65)
    data = {"g": group}
    for name, moves in (("up", 0.3), ("down", -0.3 * 0.35 / 0.65)):
        true = (rng.random(n) < rate).astype(int)
        lean = np.where(group == "w", moves, -moves)
        flips = rng.random(n)
        hat = np.where((lean > 0) & (true == 0) & (flips < abs(lean)), 1, true)
        data[name] = true
        data[f"{name}_hat"] = np.where((lean < 0) & (true == 1) & (flips < abs(lean)), 0, hat)
    audit = biasamp.audit(
        data, attributes="g", tasks=["up", "down"], task_predictions=["up_hat", "down_hat"], resamples=100
    )
    (entry,) = (entry for entry in audit.document["metrics"] if entry["metric"] == "directional")
    assert entry["value"] == pytest.approx(0.0, abs=0.02)
    answer = " ".join(audit.answer.titled.values())
    assert "change beyond chance" in answer
    assert "Nothing is beyond chance" not in answer


def test_a_base_is_what_amplification_is_said_to_be_of() -> None:
    data = several()
    rng = np.random.default_rng(5)
    base = {
        "g": np.array(["m", "w"])[rng.integers(0, 2, 500)],
        **{name: (rng.random(500) < 0.3).astype(int) for name in NAMES},
    }
    text = audited(data, base=base).to_markdown()
    assert "the base" in text
    assert "bias of its data" not in text
    assert "associations of its data" not in text
    assert "its own sampling error is in the intervals" in text


def test_train_labels_that_are_balanced_are_not_called_the_data() -> None:
    data, rng = several(), np.random.default_rng(6)
    rows = rng.permutation(len(data["g"]))[:60]
    flat = {"g": rng.permutation(data["g"][rows]), **{name: data[name][rows] for name in NAMES}}
    texts = said(audited(data, train=flat), "balanced")
    assert all("the train labels are balanced" in text for text in texts)
    assert texts
