"""Classes of errors, record by record."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import biasamp


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("trained", [False, True])
def test_errors_are_classed_record_by_record(seed: int, trained: bool) -> None:
    """Along the associations of all that a record has: each label gained counts for its sign, each lost against it."""
    rng = np.random.default_rng(seed)
    A = rng.choice(["x", "y", "z"], 120)
    T = (rng.random((120, 3)) < 0.3 + 0.3 * (A == "x")[:, None]).astype(int)
    A_hat = np.where(rng.random(120) < 0.3, rng.choice(["x", "y", "z"], 120), A)
    T_hat = np.where(rng.random((120, 3)) < 0.2, 1 - T, T)
    train = (rng.permutation(A), T.copy()) if trained else None
    known = (A, T) if train is None else train
    sign = {
        (g, k): np.sign(
            120 * ((known[0] == g) & (known[1][:, k] == 1)).sum() - (known[0] == g).sum() * known[1][:, k].sum()
        )
        for g in "xyz"
        for k in range(3)
    }
    made = biasamp.classify_errors(A, T, A_hat, T_hat, train=train)
    cells: Counter[tuple[str, str, str, bool]] = Counter()
    for a, t, a_hat, t_hat in zip(A, T, A_hat, T_hat, strict=True):
        names = ", ".join(str(k) for k in range(3) if t[k]) or "none"
        if (t != t_hat).any():
            along = sum(sign[a, k] * (int(t_hat[k]) - int(t[k])) for k in range(3))
            cells["task", str(a), names, bool(along > 0)] += 1
        if a != a_hat:
            along = sum(t[k] * (sign[a_hat, k] - sign[a, k]) for k in range(3))
            cells["attribute", str(a), names, bool(along > 0)] += 1
    found = [(row["error"], row["A"], row["T"], row["amplifies"]) for row in made.table.rows()]
    assert {key: row["count"] for key, row in zip(found, made.table.rows(), strict=True)} == dict(cells)
    kinds = [key[0] for key in found]
    assert kinds == sorted(kinds, reverse=True)
    for kind in ("task", "attribute"):
        mine = [key[1:] for key in found if key[0] == kind]
        assert mine == sorted(mine)
    total = {kind: sum(n for key, n in cells.items() if key[0] == kind) for kind in ("task", "attribute")}
    along = {kind: sum(n for key, n in cells.items() if key[0] == kind and key[3]) for kind in total}
    assert (made.task_errors, made.attribute_errors, made.records) == (total["task"], total["attribute"], 120)
    assert made.counts == {
        "A->T amplifying": along["task"],
        "T->A amplifying": along["attribute"],
        "neither": sum(total.values()) - sum(along.values()),
    }
    alone = biasamp.classify_errors(A, T, T_pred=T_hat, train=train)
    assert (alone.task_errors, alone.attribute_errors) == (total["task"], 0)
    other = biasamp.classify_errors(A, T, A_hat, train=train)
    assert (other.task_errors, other.attribute_errors) == (0, total["attribute"])


def test_an_error_on_no_balance_is_neither() -> None:
    """A task gained along the association and another against it; independent labels have none."""
    A = ["w"] * 4 + ["m"] * 4
    T = np.array([[1, 0]] * 3 + [[0, 1]] + [[0, 1]] * 3 + [[1, 0]])
    said = T.copy()
    said[3] = [1, 0]
    assert biasamp.classify_errors(A, T, T_pred=said).counts["A->T amplifying"] == 1
    said[3] = [1, 1]
    assert biasamp.classify_errors(A, T, T_pred=said).counts["A->T amplifying"] == 1
    said[3] = [0, 0]
    assert biasamp.classify_errors(A, T, T_pred=said).counts["A->T amplifying"] == 1
    both = np.array([[1, 1]] * 2 + [[0, 0]] * 2)
    flipped = both.copy()
    flipped[0] = [0, 0]
    even = biasamp.classify_errors(["w", "m"] * 2, both, T_pred=flipped)
    assert (even.counts["A->T amplifying"], even.counts["neither"]) == (0, 1)


def test_probabilities_are_refused() -> None:
    with pytest.raises(ValueError, match="T_pred holds probabilities"):
        biasamp.classify_errors(["a", "b"] * 4, [1, 0] * 4, T_pred=[0.3, 0.9] * 4)
    with pytest.raises(ValueError, match="A_pred holds probabilities"):
        biasamp.classify_errors([1, 0] * 4, ["x", "x", "y", "y"] * 2, [0.3, 0.9] * 4)
