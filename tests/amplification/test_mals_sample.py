"""The errors of MALS pairs, against a loop over records, whatever their weights and bags."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import biasamp

N = 250
RNG = np.random.default_rng(8)
A = RNG.integers(0, 2, N)
A_HAT = np.where(RNG.random(N) < 0.15, 1 - A, A)
T = (RNG.random((N, 3)) < 0.4).astype(int)
T_HAT = np.where(RNG.random((N, 3)) < 0.15, 1 - T, T)
SOFT = np.clip(0.8 * T_HAT + 0.2 * RNG.random((N, 3)), 0, 1)
WEIGHTS: dict[str, Any] = {"none": None, "whole": RNG.integers(1, 5, N), "real": RNG.random(N) + 0.1}


def by_hand(t_hat: np.ndarray, weights: Any, train: bool) -> np.ndarray:
    """P-values of every pair: squared influences of single records, one record added with the label and one without."""
    w = np.ones(N) if weights is None else np.asarray(weights, dtype=float)
    out = np.zeros((2, 3))
    for g in range(2):
        for k in range(3):
            a, a_hat = (g == A).astype(float), (g == A_HAT).astype(float)
            size, base_size = (w * t_hat[:, k]).sum(), ((1.0 if train else w) * T[:, k]).sum()
            rate = (w * a_hat * t_hat[:, k]).sum() / size
            base = ((1.0 if train else w) * a * T[:, k]).sum() / base_size
            moved = w * t_hat[:, k] * (a_hat - rate) / (size + 2)
            variance = ((1 - rate) ** 2 + rate**2) / (size + 2) ** 2
            if not train:
                moved = moved - w * T[:, k] * (a - base) / (base_size + 2)
                variance += ((1 - base) ** 2 + base**2) / (base_size + 2) ** 2
            variance += (moved**2).sum()
            out[g, k] = 2 * norm.sf(abs(rate - base) / np.sqrt(variance))
    return out


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("train", [False, True])
def test_independent_records(weights: str, soft: bool, train: bool) -> None:
    t_hat = SOFT if soft else T_HAT
    labels = {"train": (A, T)} if train else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        truth = (None, None) if train else (A, T)
        result = biasamp.mals(*truth, A_HAT, t_hat, weights=WEIGHTS[weights], **labels)
    expected = by_hand(t_hat, WEIGHTS[weights], train)
    assert result.pairs["p"] == pytest.approx(expected.reshape(-1), rel=1e-9)


def test_counts_that_were_added_and_saved_give_the_same(tmp_path: Any) -> None:
    table = {"id": np.arange(N), "a": A, "ah": A_HAT, **{f"t{k}": T[:, k] for k in range(3)}}
    table |= {f"p{k}": T_HAT[:, k] for k in range(3)}
    roles: Any = {
        "attributes": "a",
        "attribute_predictions": "ah",
        "tasks": ["t0", "t1", "t2"],
        "task_predictions": ["p0", "p1", "p2"],
        "record": "id",
    }
    parts = [biasamp.count({k: v[i::3] for k, v in table.items()}, **roles) for i in range(3)]
    sum(parts[1:], parts[0]).save(tmp_path / "counts.parquet")
    audit = biasamp.audit(biasamp.AuditCounts.load(tmp_path / "counts.parquet"), metrics=["mals"])
    found = [pair["p"] for pair in audit.document["metrics"][0]["pairs"]]
    assert found == pytest.approx(by_hand(T_HAT, None, False).reshape(-1).tolist(), rel=1e-9)


def test_tasks_that_are_rarely_predicted_are_counted() -> None:
    """Three tasks of a hundred predictions each, then one of them with five."""
    rare = T_HAT.copy()
    rare[np.flatnonzero(rare[:, 0])[5:], 0] = 0
    said = {
        name: " ".join(biasamp.mals(A, T, A_HAT, t_hat).quiet_interval(resamples=20).cautions)
        for name, t_hat in {"often": T_HAT, "rare": rare}.items()
    }
    assert "are predicted for fewer than" not in said["often"]
    assert "1 of 3 tasks are predicted for fewer than" in said["rare"]


@pytest.mark.parametrize(("near", "told"), [(1, True), (0, False)])
def test_a_fifth_of_the_pairs_near_their_share_is_enough_to_say_so(near: int, told: bool) -> None:
    """Two groups and ten tasks, so 20 pairs: two tasks of an even share are 4 of them, a fifth; one is less."""
    rows = 400
    given = np.array([0, 1] * (rows // 2))
    truth = np.zeros((rows, 10), dtype=int)
    for task in range(10):
        both = np.flatnonzero(given == 0)[:100], np.flatnonzero(given == 1)[: 100 if task < 1 + near else 10]
        truth[np.concatenate(both), task] = 1
    said = truth.copy()
    said[::40] ^= 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cautions = biasamp.mals(given, truth, given.copy(), said).interval_maker().cautions
    assert any("so near 1/2" in words for words in cautions) == told
