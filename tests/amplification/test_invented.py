"""Labels that only a model has, against tests and intervals of every two groups."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact

from biasamp.amplification import invented as module
from biasamp.amplification.group_rates import one_of_many
from biasamp.amplification.invented import invented_labels, invented_table, warn_of, with_q
from biasamp.counts.joint import JointCounts
from biasamp.data import Label

LABELS = Label("job", "nurse"), Label("job", "poet"), Label("bird", None)


def counted(held: Any, size: Any, n: float, weight: float = 1.0) -> JointCounts:
    """Groups that exclude each other, every record of the same weight."""
    joint, left = np.array(held, dtype=float) * weight, np.array(size, dtype=float)[:, None] * weight
    total = np.array([[n]]) * weight
    names = tuple(Label("g", name) for name in "abcd"[: len(left)])
    squared = np.array([n * weight**2])
    return JointCounts(names, LABELS[: joint.shape[1]], int(n), total, left, joint.sum(axis=0)[None], joint, squared)


HELD = [[4, 0, 12], [9, 0, 5], [1, 3, 0], [0, 0, 0]]
SIZE = [60, 80, 30, 0]


@pytest.mark.parametrize("weight", [1.0, 0.25, 40.0])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_three_groups_and_one_that_is_empty(weight: float, level: float) -> None:
    """Rates, the two groups furthest apart, Fisher's test of each against the others, and the interval of the largest."""
    made = invented_labels(counted(HELD, SIZE, 170, weight), exclusive=True, level=level)
    for k, (entry, label) in enumerate(zip(made, LABELS, strict=True)):
        hits = [HELD[g][k] for g in range(3)]
        rates = [hits[g] / SIZE[g] for g in range(3)]
        high, low = int(np.argmax(rates)), int(np.argmin(rates))
        p = min(
            fisher_exact([[hits[g], SIZE[g] - hits[g]], [sum(hits) - hits[g], 170 - SIZE[g] - sum(hits) + hits[g]]])[1]
            for g in range(3)
        )
        pairs = [one_of_many(rates[a], SIZE[a], rates[b], SIZE[b], level, 3) for a, b in combinations(range(3), 2)]
        pairs += [(-b, -a) for a, b in pairs]
        expected = {
            "variable": label.variable,
            "label": str(label),
            "category": label.category,
            "count": sum(hits) * weight,
            "rate": sum(hits) / 170,
            "between": [f"g={'abc'[g]}" for g in (high, low)],
            "difference": rates[high] - rates[low],
            "low": max(0.0, *(float(a) for a, _ in pairs)),
            "high": max(0.0, *(float(b) for _, b in pairs)),
            "p": min(1.0, 3 * p),
        }
        groups = entry.pop("groups")
        assert entry == {
            name: pytest.approx(value) if isinstance(value, float) else value for name, value in expected.items()
        }
        assert groups == [
            {
                "group": f"g={'abc'[g]}",
                "count": hits[g] * weight,
                "records": SIZE[g] * weight,
                "rate": pytest.approx(rates[g]),
            }
            for g in range(3)
        ]


@pytest.mark.parametrize(("exclusive", "times"), [(True, 1), (False, 2)])
def test_two_groups_are_one_test(exclusive: bool, times: int) -> None:
    """Where they exclude each other; the difference has Newcombe's interval."""
    (entry,) = invented_labels(counted([[9], [2]], [50, 60], 110), exclusive=exclusive)
    p = fisher_exact([[9, 41], [2, 58]])[1]
    assert entry["p"] == pytest.approx(min(1.0, times * p))
    low, high = one_of_many(9 / 50, 50, 2 / 60, 60, 0.95, 1)
    assert (entry["low"], entry["high"]) == pytest.approx((max(0.0, low), high))
    beside = invented_labels(counted([[9], [2], [0]], [50, 60, 0], 110), exclusive=exclusive)[0]
    assert (beside["p"], beside["low"]) == (entry["p"], entry["low"])


def test_p_values_are_no_more_than_1() -> None:
    made = invented_labels(counted([[3], [3], [3]], [50, 50, 50], 150), exclusive=True)
    assert (made[0]["p"], made[0]["difference"], made[0]["low"]) == (1.0, 0.0, 0.0)


def test_clusters_have_rates_alone() -> None:
    made = invented_labels(counted(HELD, SIZE, 170), exclusive=True, clustered=True)
    assert [(entry["low"], entry["high"], entry["p"]) for entry in made] == [(None, None, None)] * 3
    assert made[0]["between"] == ["g=b", "g=c"]
    assert made[0]["difference"] == pytest.approx(9 / 80 - 1 / 30)


def test_one_group_has_no_difference() -> None:
    (entry,) = invented_labels(counted([[4], [0]], [60, 0], 60), exclusive=True)
    assert [entry[name] for name in ("between", "difference", "low", "high", "p")] == [None] * 5
    assert len(entry["groups"]) == 1


def test_too_many_differences_have_no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The square of the groups times the labels, against twice the most."""
    monkeypatch.setattr(module, "_MOST_DIFFERENCES", 14)
    three = counted(HELD[:3], SIZE[:3], 170)
    made = invented_labels(three, exclusive=True)
    assert made[0]["low"] is not None
    monkeypatch.setattr(module, "_MOST_DIFFERENCES", 13)
    made = invented_labels(three, exclusive=True)
    assert (made[0]["low"], made[0]["high"]) == (None, None)
    assert made[0]["p"] is not None
    monkeypatch.undo()
    assert module._MOST_DIFFERENCES == 100_000


def test_rows_and_q_values() -> None:
    """One row for each label and group; q by Benjamini and Hochberg over labels, none where there is no p."""
    made = with_q(invented_labels(counted(HELD, SIZE, 170), exclusive=True))
    p = [entry["p"] for entry in made]
    order = sorted(p)
    for entry in made:
        q = min(min(1.0, 3 * value / (place + 1)) for place, value in enumerate(order) if value >= entry["p"])
        assert entry["q"] == pytest.approx(q)
    table = list(invented_table([{"attribute": "g", **entry} for entry in made]).rows())
    assert len(table) == 9
    first = {name: made[0][name] for name in ("variable", "label", "difference", "low", "high", "p", "q")}
    assert table[0] == {"attribute": "g", **first, **made[0]["groups"][0]}
    assert with_q([{"p": None}, {"p": 0.02}]) == [{"p": None, "q": None}, {"p": 0.02, "q": 0.02}]


def test_pairs_without_a_sign_are_told() -> None:
    with pytest.warns(UserWarning, match="2 pairs are left out of the mean: because; .excluded lists them"):
        warn_of([{"reason": "because"}, {"reason": "also"}])
    warn_of([])


def test_a_single_group() -> None:
    """One yes/no group: its own rate beside that of all."""
    (entry,) = invented_labels(counted([[4]], [50], 60), exclusive=False)
    assert (entry["count"], entry["rate"]) == (4, pytest.approx(4 / 60))
    assert entry["groups"][0]["rate"] == pytest.approx(4 / 50)
