"""Figures of parity in resamples, what was not seen of them, and rates that no record makes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.parity import from_bags, group_number, rates_of, resampled_rates, unseen_discordance
from biasamp.counts.bags import BagCounts
from biasamp.data import Label
from biasamp.data.arguments import read_evaluation

RNG = np.random.default_rng(3)
GROUP = RNG.choice(["a", "b", "c"], 200)
TRUTH = (RNG.random((200, 2)) < 0.5).astype(int)
SAID = np.where(RNG.random((200, 2)) < 0.25, 1 - TRUTH, TRUTH)
WORST = {"fpr_difference": 1, "tpr_difference": 0, "accuracy_difference": 1, "mean_per_class_accuracy": 0}
PAIRS = {"fpr_difference": (0, 2), "tpr_difference": (2, 1), "accuracy_difference": (1, 0)}
KEPT = np.array([True, False, True])


def bags() -> BagCounts:
    read, _, _ = read_evaluation(GROUP, TRUTH, SAID, None, None)
    return BagCounts.from_labels(read)


def rates(counts: Any, k: int, o: int) -> dict[str, list[float]]:
    """The rates of each group in one resample."""
    out: dict[str, list[float]] = {"fpr": [], "tpr": [], "accuracy": []}
    for g in range(3):
        n, one = float(counts.given[k, g, 0]), float(counts.joint_truth[k, g, o])
        said, both = float(counts.joint_predicted[k, g, o]), float(counts.joint_both[k, g, o])
        out["tpr"].append(both / one)
        out["fpr"].append((said - both) / (n - one))
        out["accuracy"].append((n - one - said + 2 * both) / n)
    return out


def test_resamples() -> None:
    """The same two groups in every resample; the mean accuracy over those that are kept."""
    held = bags()
    made = resampled_rates(held, WORST, PAIRS, KEPT, 7, 5)
    drawn = held.replicates(7, 5)
    for k in range(7):
        for name, rate in (("fpr_difference", "fpr"), ("tpr_difference", "tpr"), ("accuracy_difference", "accuracy")):
            own = rates(drawn, k, WORST[name])[rate]
            high, low = PAIRS[name]
            assert made[name][k] == pytest.approx(own[high] - own[low])
        own = rates(drawn, k, 0)
        expected = np.mean([(own["tpr"][g] + 1 - own["fpr"][g]) / 2 for g in (0, 2)])
        assert made["mean_per_class_accuracy"][k] == pytest.approx(expected)


def test_what_was_not_seen() -> None:
    """A record more of either kind in each rate that a figure is made of."""
    made = rates_of(bags())

    def added(rate: str, g: int, o: int) -> float:
        return float(2.0 / (made[rate].effective[g, o] + 2.0) ** 2)

    found = unseen_discordance(made, WORST, PAIRS, KEPT)
    for name, rate in (
        ("fpr_difference", "false_positive_rate"),
        ("tpr_difference", "true_positive_rate"),
        ("accuracy_difference", "accuracy"),
    ):
        assert found[name] == pytest.approx(sum(added(rate, g, WORST[name]) for g in PAIRS[name]))
    both = [added("true_positive_rate", g, 0) + added("false_positive_rate", g, 0) for g in (0, 2)]
    assert found["mean_per_class_accuracy"] == pytest.approx(sum(both) / 4 / 2**2)
    assert set(found) == set(WORST)
    alone = unseen_discordance(made, WORST, PAIRS, np.array([False, False, True]))
    assert alone["mean_per_class_accuracy"] == pytest.approx(both[1] / 4)
    nobody = replace(made["true_positive_rate"], hits=0 * made["accuracy"].hits, size=0 * made["accuracy"].size)
    none = unseen_discordance({**made, "true_positive_rate": nobody}, WORST, PAIRS, KEPT)
    assert none["mean_per_class_accuracy"] == 0.0


def test_groups_that_are_kept() -> None:
    made = from_bags(bags(), "A->T", kept=KEPT, reference=1, level=0.9)
    assert made.direction == "A->T"
    for o, row in enumerate(made.table.rows()):
        own = {"fpr": [], "tpr": [], "accuracy": []}  # type: ignore[var-annotated]
        for name in "ac":
            mine, one, said = name == GROUP, TRUTH[:, o], SAID[:, o]
            own["tpr"].append(said[mine & (one == 1)].mean())
            own["fpr"].append(said[mine & (one == 0)].mean())
            own["accuracy"].append((said == one)[mine].mean())
        for name, values in own.items():
            assert row[f"{name}_difference"] == pytest.approx(max(values) - min(values))
        assert row["mean_per_class_accuracy"] == pytest.approx(
            np.mean([(t + 1 - f) / 2 for t, f in zip(own["tpr"], own["fpr"], strict=True)])
        )
    rows = list(made.groups.rows())
    assert [(row["given"], row["outcome"]) for row in rows] == [(g, o) for g in "abc" for o in "01"]
    for row in rows:
        mine, o = row["given"] == GROUP, int(row["outcome"])
        assert (row["positives"], row["negatives"]) == (TRUTH[mine, o].sum(), (1 - TRUTH[mine, o]).sum())
        assert row["precision"] == pytest.approx(TRUTH[mine & (SAID[:, o] == 1), o].mean())
        assert (row["accuracy_difference"] is None) == (row["given"] == "b")
        assert row["accuracy_low"] < row["accuracy"] < row["accuracy_high"]
    assert not any("difference" in name for name in from_bags(bags()).groups.columns)
    wide = from_bags(bags()).groups
    assert (wide["accuracy_low"] < made.groups["accuracy_low"]).all()
    flat = made.to_dict(flat=True)
    assert len(flat) >= 8
    assert made.to_dict()["n"] == 200
    assert set(made.to_dict()) == {"metric", "direction", "n", "outcomes", "groups", "excluded"}
    with pytest.raises(TypeError, match="flat"):
        made.to_dict(flat=1)  # type: ignore[arg-type]


def test_rates_that_no_record_makes() -> None:
    """All truly have it: no false positive rate; none truly has it: no true positive rate; nobody at all: no rate."""
    group = biasamp.categorical(["a", "a", "b", "b", "c", "c"], categories=["a", "b", "c", "d"])
    truth = np.array([[1], [1], [0], [0], [0], [1]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = biasamp.parity(group, biasamp.binary(truth), biasamp.binary(np.array([[1], [0], [0], [1], [0], [1]])))
    found = [(row["given"], row["rate"], row["reason"]) for row in made.excluded]
    assert found == [
        ("d", "accuracy", "no record has the group"),
        ("b", "true_positive_rate", "no record of the group truly has the outcome"),
        ("a", "false_positive_rate", "everybody in the group truly has the outcome"),
    ]
    words = " ".join(str(one.message) for one in caught)
    assert "3 rates are undefined and left out, such as the accuracy of (d, " in words
    assert "no record has the group; .excluded lists them" in words


def test_names_of_groups() -> None:
    labels = [Label("sex", name) for name in ("woman", "man", *"cdefghij")]
    assert [group_number(labels, name, "reference") for name in ("man", "sex=man", "woman")] == [1, 1, 0]
    with pytest.raises(
        ValueError, match=r"reference is 'x', which is no group; the groups are 'woman', .*'h' and 2 more$"
    ):
        group_number(labels, "x", "reference")
    with pytest.raises(ValueError, match=r"the groups are 'woman', 'man', 'c', 'd', 'e', 'f', 'g', 'h'$"):
        group_number(labels[:8], "x", "reference")
    with pytest.raises(ValueError, match="did you mean 'woman'"):
        group_number(labels, "sex=womann", "reference")
    with pytest.raises(TypeError, match="reference: "):
        group_number(labels, ["woman"], "reference")
