"""Results compute what is looked at, when it is looked at, from labels of their own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp.counts.bags import BagCounts, BagJoint

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def labels(n: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    truth = (rng.random((n, 3)) < 0.3 + 0.3 * group[:, None]).astype(np.uint8)
    said = np.where(rng.random(truth.shape) < 0.15, 1 - truth, truth).astype(np.uint8)
    return {
        "group": group,
        "truth": truth,
        "said": said,
        "soft": np.clip(0.8 * said + 0.2 * rng.random(said.shape), 0, 1),
        "seen": np.where(rng.random(n) < 0.1, 1 - group, group),
        "weights": rng.random(n) + 0.5,
        "people": np.arange(n) // 3,
    }


CASES: dict[str, Any] = {
    "directional": lambda d: biasamp.directional(d["group"], d["truth"], d["said"]),
    "cross-fitted": lambda d: biasamp.directional(d["group"], d["truth"], d["said"], signs="crossfit"),
    "soft": lambda d: biasamp.directional(d["group"], d["truth"], d["soft"], weights=d["weights"]),
    "frame": lambda d: biasamp.directional(
        pd.Series(d["group"], copy=False), pd.DataFrame(d["truth"], copy=False), pd.DataFrame(d["soft"], copy=False)
    ),
    "clusters": lambda d: biasamp.directional(d["truth"], d["group"], d["seen"], cluster=d["people"]),
    "train": lambda d: biasamp.directional(
        d["group"], d["truth"], d["said"], train=(d["group"].copy(), d["truth"].copy())
    ),
    "base": lambda d: biasamp.directional(d["group"], d["truth"], d["said"], base=(d["group"], d["truth"])),
    "multi": lambda d: biasamp.multi(d["group"], d["truth"], d["said"], weights=d["weights"], cluster=d["people"]),
    "soft multi": lambda d: biasamp.multi(d["group"], d["truth"], d["soft"]),
    "mals": lambda d: biasamp.mals(d["group"], d["truth"], d["seen"], d["said"], weights=d["weights"]),
    "mals with train": lambda d: biasamp.mals(
        None, None, d["seen"], d["soft"], train=(d["group"], d["truth"]), cluster=d["people"]
    ),
}


def spoil(data: dict[str, Any]) -> None:
    """Change every array in place, as a training loop does with its buffers."""
    for values in data.values():
        values[:] = values[::-1].copy()
        values[: len(values) // 2] = 0


@pytest.mark.parametrize("name", CASES)
def test_arrays_that_change_afterwards_change_no_result(name: str) -> None:
    expected = CASES[name](labels()).to_dict(resamples=100)
    data = labels()
    late = CASES[name](data)
    spoil(data)
    assert late.to_dict(resamples=100) == expected
    assert labels()["group"].tolist() != data["group"].tolist()


def test_a_sweep_keeps_its_own_scores() -> None:
    data = labels()
    first = biasamp.sweep(data["soft"][:, 0], data["group"], data["truth"][:, 0], weights=data["weights"])
    expected = first.confidence_interval(resamples=100)
    data = labels()
    late = biasamp.sweep(data["soft"][:, 0], data["group"], data["truth"][:, 0], weights=data["weights"])
    spoil(data)
    assert late.confidence_interval(resamples=100) == expected


@pytest.mark.parametrize("looked", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_results_are_pickled(name: str, looked: bool) -> None:
    result = CASES[name](labels())
    if looked:
        result.to_dict(resamples=100)
    again = pickle.loads(pickle.dumps(result))
    assert again.value == result.value
    assert again.to_dict(resamples=100) == result.to_dict(resamples=100)


@pytest.mark.parametrize("name", [name for name in CASES if name != "cross-fitted"])
def test_the_value_alone_needs_no_bags(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = CASES[name](labels()).value

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("bags were counted")

    monkeypatch.setattr(BagCounts, "from_labels", refused)
    monkeypatch.setattr(BagJoint, "from_labels", refused)
    result = CASES[name](labels())
    assert result.value == expected
    assert result.n > 0
    assert repr(result)
    with pytest.raises(AssertionError, match="bags were counted"):
        result.quiet_interval(resamples=10)


def test_what_was_looked_at_is_kept() -> None:
    result = CASES["directional"](labels())
    assert result.pairs is result.pairs
    assert result.interval_maker() is result.interval_maker()
    maker = result.interval_maker()
    assert maker is not None
    assert maker.values(50, 1) is maker.values(50, 1)
