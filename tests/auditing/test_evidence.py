"""What counts as evidence: figures judged together, pairs corrected for their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import biasamp
from biasamp.auditing.evidence import changed_pairs, holm, kept, known_directions, two_sided_p, verdicts


def test_holm_is_the_step_down_rule() -> None:
    """Holm (1979): the smallest of m against alpha / m, the next against alpha / (m - 1), until one is not rejected."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        p = rng.uniform(0, 0.1, rng.integers(1, 8))
        adjusted = np.maximum.accumulate(np.sort(p) * (len(p) - np.arange(len(p))))
        expected = {int(i) for i, a in zip(np.argsort(p), adjusted, strict=True) if a <= 0.05}
        assert holm(dict(enumerate(p)), 0.95) == expected


@pytest.mark.parametrize("z", [0.5, 1.96, 2.5, 4.0])
@pytest.mark.parametrize("side", [1, -1])
def test_a_p_value_from_a_bound(z: float, side: int) -> None:
    bound = side * (z - 1.96)
    expected = 2 * stats.norm.sf(z) if z > 1.96 else 1.0
    assert two_sided_p(side * z, bound, 0.0, 1.96) == pytest.approx(expected)


def entry(metric: str = "directional", **more: Any) -> dict[str, Any]:
    return {"attribute": "kind", "metric": metric, "direction": "A->T", "pairs": [], **more}


def document(*entries: dict[str, Any]) -> Any:
    rows = [{**e, "attribute": f"kind{i}"} for i, e in enumerate(entries)]
    return {"data": {"confidence": 0.95}, "metrics": rows}


def test_one_figure_is_decided_by_its_interval_and_one_of_twenty_is_not() -> None:
    near = entry(value=0.05, interval=[0.005, 0.095])  # p = .03
    none = entry(value=0.0, interval=[-0.05, 0.05])
    assert list(verdicts(document(near)).values()) == [1]
    assert list(verdicts(document(near, *[none] * 19)).values()) == [0] * 20
    far = entry(value=-0.2, interval=[-0.25, -0.15])
    assert list(verdicts(document(far, *[none] * 19)).values()) == [-1] + [0] * 19


def test_unknown_directions_are_judged_by_their_bounds() -> None:
    plug_in = entry(value=-0.05, interval=[-0.06, -0.04])
    assert list(verdicts(document({**plug_in, "bounds": [-0.07, -0.03], "unknown": 0})).values()) == [-1]
    assert list(verdicts(document({**plug_in, "bounds": [-0.07, 0.06], "unknown": 4})).values()) == [0]
    assert list(verdicts(document({**plug_in, "bounds": [-0.07, -0.03], "unknown": 4})).values()) == [-1]


KNOWN = [{"known": True, "sign": 1}]


@pytest.mark.parametrize(
    ("bounds", "many", "expected"),
    [
        ([-0.004, 0.004], 1, True),
        ([-0.004, 0.011], 1, False),
        ([-0.009, 0.009], 1, True),
        ([-0.009, 0.009], 8, False),  # one of eight: 2.50 standard errors instead of 1.64
        ([-0.004, None], 1, False),
    ],
)
def test_a_value_is_as_good_as_0_by_both_its_bounds(bounds: list[Any], many: int, expected: bool) -> None:
    held = entry(value=0.0, interval=[-0.01, 0.01], bounds=bounds, pairs=KNOWN)
    assert bool(kept(document(*[held] * many))) is expected


def test_data_without_a_direction_have_no_bias_to_keep() -> None:
    assert not kept(document(entry(value=0.0, interval=[0.0, 0.0], bounds=[0.0, 0.0])))


def test_multi_is_never_decided_below_its_floor() -> None:
    assert list(verdicts(document(entry("multi", value=0.01, interval=[0.0, 0.02], floor=0.03))).values()) == [0]
    assert list(verdicts(document(entry("multi", value=0.1, interval=[0.08, 0.12], floor=0.03))).values()) == [1]


def pair(q: float, **more: Any) -> Any:
    return {"given": "a", "outcome": "b", "sign": 1, "q": q, "delta": 0.05, "low": 0.01, "high": 0.1, **more}


def test_pairs_are_named_by_their_q_value_and_largest_first() -> None:
    small, large = pair(0.04), pair(0.01, delta=-0.2)
    listed: Any = entry(pairs=[small, large, pair(0.06), pair(0.01, low=-0.01), pair(0.01, low=None)])
    assert changed_pairs(listed) == [large, small]


def test_a_known_direction_is_one_that_all_pairs_counted_leave_sure() -> None:
    """Twenty tasks without any association: at 5% each one is clear somewhere, but none is known."""
    rng = np.random.default_rng(3)
    names = [f"t{k}" for k in range(20)]
    data: dict[str, Any] = {name: rng.integers(0, 2, 400) for name in names}
    data |= {f"s{k}": data[f"t{k}"].copy() for k in range(20)} | {"kind": np.array(list("ab") * 200)}
    audited = biasamp.audit(
        data,
        attributes="kind",
        tasks=names,
        task_predictions=[f"s{k}" for k in range(20)],
        metrics=["directional"],
        resamples=20,
    )
    (made,) = audited.document["metrics"]
    assert any(row["clear"] for row in made["pairs"])
    assert not known_directions(made)
    assert made["unknown"] == 40
