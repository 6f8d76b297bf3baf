"""Sums of counts whose records have no ids: what is noticed, and what is said to be unknowable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp

rng = np.random.default_rng(6)
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


def records(first: int, last: int) -> dict[str, Any]:
    made = np.random.default_rng(0)
    whole = {"g": made.choice(["w", "m"], 300), "t": made.integers(0, 2, 300), "p": made.integers(0, 2, 300)}
    return {"id": np.arange(first, last), **{name: values[first:last] for name, values in whole.items()}}


def codes(audit: Any) -> list[str]:
    return [finding.code for finding in audit.findings]


def test_overlap_without_ids_cannot_be_known_and_that_is_said() -> None:
    one, two = biasamp.count(records(0, 200), **ROLES), biasamp.count(records(100, 300), **ROLES)
    audit = biasamp.audit(one + two, resamples=20)
    (caution,) = [finding for finding in audit.findings if finding.code == "unknown-overlap"]
    assert "whether some records stand in more than one source cannot be known" in caution.text
    assert caution.figure == {"sources": 2}
    assert "unknown-overlap" not in codes(biasamp.audit(one, resamples=20))
    with pytest.raises(ValueError, match="hold the same 200 records"):
        one + biasamp.count(records(0, 200), **ROLES)


def test_with_ids_an_overlap_is_noticed() -> None:
    one, two = (biasamp.count(records(*span), **ROLES, record="id") for span in ((0, 200), (100, 300)))
    with pytest.raises(ValueError, match="repeated ids"):
        one + two
    apart = one + biasamp.count(records(200, 300), **ROLES, record="id")
    assert "unknown-overlap" not in codes(biasamp.audit(apart, resamples=20))


def test_associations_of_several_sources() -> None:
    labels = [["man", "car"], ["woman"], ["man"], ["woman", "car", "bike"]] * 10
    one, two = (biasamp.count(held, identities=["man", "woman"]) for held in (labels[:30], labels[9:]))
    assert "cannot be known" in biasamp.associate(one + two).notes[-1]
    assert biasamp.associate(one).notes == ()


def test_mals_of_overlapping_groups_reaches_beyond_one() -> None:
    """Every record has all three groups, none is predicted: each group counts by itself."""
    A, T, said = np.ones((50, 3), dtype=int), *(biasamp.binary(np.ones(50, dtype=int)) for _ in range(2))
    assert biasamp.mals(A, T, np.zeros((50, 3), dtype=int), said).value == -3.0
    with pytest.raises(ValueError, match="everything passes"):
        biasamp.Policy(limits=[{"metric": "mals", "max": 1.5, "pairs": True}])
    assert biasamp.Policy(limits=[{"metric": "mals", "max": 1.5}]).limits


@pytest.mark.parametrize("seed", range(40))
def test_the_range_of_mals(seed: int) -> None:
    chance = np.random.default_rng(seed)
    n, groups = int(chance.integers(5, 40)), int(chance.integers(2, 5))
    T, T_pred = (biasamp.binary(chance.integers(0, 2, (n, 2)) | np.eye(n, 2, dtype=int)) for _ in range(2))
    sets = [(chance.random((n, groups)) < chance.random()).astype(int) | np.eye(n, groups, dtype=int) for _ in range(2)]
    assert -groups <= biasamp.mals(sets[0], T, sets[1], T_pred).value <= groups - 1
    one, other = (np.r_[np.arange(groups), chance.integers(0, groups, n - groups)] for _ in range(2))
    assert -1 <= biasamp.mals(one, T, other, T_pred).value <= 1
