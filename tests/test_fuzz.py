"""A short run of the fuzzer, and the laws that counting obeys, on inputs that hypothesis makes up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import biasamp
import fuzz

# A run in the suite is short: ``make fuzz MINUTES=10`` is not.
CASES = 60
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id"}
LAW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def test_a_short_run() -> None:
    """What it finds becomes a case of its own, in test_crash_sites or beside what it is about."""
    ended, failures = fuzz.run(cases=CASES, seed=7)
    assert failures == []
    assert sum(ended.values()) == CASES
    assert {"functions: result", "functions: refused", "paths: result"} <= set(ended)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Groups, truth and predictions of a few records, each of two values or three."""
    n = draw(st.integers(4, 40))
    groups, values = draw(st.sampled_from([2, 3])), draw(st.sampled_from([2, 3]))
    cells = st.tuples(st.integers(0, groups - 1), st.integers(0, values - 1), st.integers(0, values - 1))
    drawn = draw(st.lists(cells, min_size=n, max_size=n))
    # Every group and value is there.
    fixed = [(i % groups, i % values, i % values) for i in range(6)]
    g, t, p = zip(*(fixed + drawn), strict=True)
    return {"g": [f"g{x}" for x in g], "t": [f"t{x}" for x in t], "p": [f"t{x}" for x in p], "id": list(range(len(g)))}


def values(data: dict[str, Any], **more: Any) -> dict[str, float]:
    sides = data["g"], data["t"], data["p"]
    return {
        "directional": biasamp.directional(*sides, **more).value,
        "multi": biasamp.multi(*sides, **more).value,
        "mals": biasamp.mals(data["g"], data["t"], data["g"], data["p"], **more).value,
    }


def taken(data: dict[str, Any], order: Any) -> dict[str, Any]:
    return {name: [held[i] for i in order] for name, held in data.items()}


def figures(audit: Any) -> Any:
    return audit.document["metrics"]


@pytest.mark.slow
@LAW
@given(records(), st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(data: dict[str, Any], chance: Any) -> None:
    order = list(range(len(data["g"])))
    chance.shuffle(order)
    assert values(taken(data, order)) == values(data)
    one, two = (biasamp.count(held, **ROLES) for held in (data, taken(data, order)))
    assert figures(biasamp.audit(one, resamples=20)) == figures(biasamp.audit(two, resamples=20))


@pytest.mark.slow
@LAW
@given(records(), st.integers(0, 45))
def test_the_sum_of_parts_is_the_whole(data: dict[str, Any], cut: int) -> None:
    n = len(data["g"])
    cut = min(max(cut, 1), n - 1)
    whole = biasamp.count(data, **ROLES)
    parts = [biasamp.count(taken(data, part), **ROLES, labels=whole) for part in (range(cut), range(cut, n))]
    for both in (parts[0] + parts[1], parts[1] + parts[0]):
        assert both.fingerprint == whole.fingerprint
        assert figures(biasamp.audit(both, resamples=20)) == figures(biasamp.audit(whole, resamples=20))


@LAW
@given(records())
def test_names_of_labels_change_nothing(data: dict[str, Any]) -> None:
    renamed = {
        "g": [f"group {x}" for x in data["g"]],
        "t": [{"t0": "zero", "t1": "one", "t2": "two"}[x] for x in data["t"]],
        "p": [{"t0": "zero", "t1": "one", "t2": "two"}[x] for x in data["p"]],
    }
    for name, value in values(renamed).items():
        # Pairs are summed in the order of their names.
        assert value == pytest.approx(values(data)[name], abs=1e-12)


@LAW
@given(records(), st.integers(2, 4))
def test_a_weight_is_so_many_records(data: dict[str, Any], times: int) -> None:
    n = len(data["g"])
    repeated = taken(data, [i for i in range(n) for _ in range(times if i % 3 == 0 else 1)])
    weights = [times if i % 3 == 0 else 1 for i in range(n)]
    assert values(repeated) == values(data, weights=weights)
    for name, value in values(data, weights=np.full(n, 0.5)).items():
        assert value == pytest.approx(values(data)[name], abs=1e-12)


@LAW
@given(records())
def test_directions_are_one_formula_with_the_roles_swapped(data: dict[str, Any]) -> None:
    """T->A of an audit is directional(T, A, A_hat), and of the data turned round A->T."""
    said = [data["g"][(i * 7 + 1) % len(data["g"])] for i in range(len(data["g"]))]
    held = {**data, "s": said}
    one = biasamp.audit(
        held, attributes="g", tasks="t", attribute_predictions="s", record="id", resamples=20, metrics=["directional"]
    )
    two = biasamp.audit(
        held, attributes="t", tasks="g", task_predictions="s", record="id", resamples=20, metrics=["directional"]
    )
    (back,), (forth,) = figures(one), figures(two)
    assert (back["direction"], forth["direction"]) == ("T->A", "A->T")
    assert back["value"] == forth["value"] == biasamp.directional(data["t"], data["g"], said).value
    assert back["interval"] == forth["interval"]


@LAW
@given(records())
def test_perfect_predictions_amplify_nothing(data: dict[str, Any]) -> None:
    assert values({**data, "p": list(data["t"])}) == {"directional": 0.0, "multi": 0.0, "mals": 0.0}
