"""An interval does not leave the range of its figure, and says where it was cut."""

from __future__ import annotations

import numpy as np
import pytest

import biasamp
from biasamp.results.interval import Caution, Interval

# Four people: closed forms of so few reach far beyond what rates can be.
GROUP, TRUTH, SAID = ["a", "a", "b", "b"], [0, 0, 1, 1], [1, 1, 1, 0]


def test_within() -> None:
    made = Interval(-1.5, 1.25).within(-1.0, 1.0)
    assert (made.low, made.high) == (-1.0, 1.0)
    assert [Caution.kind_of(words) for words in made.cautions] == ["cut", "cut"]
    assert Interval(-0.5, 0.5).within(-1.0, 1.0) == Interval(-0.5, 0.5)
    undefined = Interval(np.nan, np.nan).within(0.0, 1.0)
    assert np.isnan([undefined.low, undefined.high]).all()
    assert not undefined.cautions


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["closed_form", "bootstrap"])
def test_amplification_of_few_records(method: str) -> None:
    calls = {
        "directional": (biasamp.directional(GROUP, TRUTH, SAID), -1.0),
        "multi": (biasamp.multi(GROUP, TRUTH, SAID), 0.0),
        "mals": (biasamp.mals(GROUP, TRUTH, GROUP, SAID), -1.0),
    }
    for name, (result, least) in calls.items():
        interval = result.quiet_interval(method=method, level=0.999)
        assert least <= interval.low <= interval.high <= 1.0, name
        if method == "closed_form":
            assert "cut" in {Caution.kind_of(words) for words in interval.cautions}, name
    bounds = calls["directional"][0].bounds(0.999)
    assert bounds is not None
    assert -1.0 <= bounds.low <= bounds.high <= 1.0


def test_groups_that_overlap_may_take_mals_beyond_one() -> None:
    """Everybody is of all three groups by the model, of none of them by the labels of the second half."""
    labels = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 4)
    tasks = np.ones((12, 1), dtype=int)
    result = biasamp.mals(labels, tasks, np.ones_like(labels), tasks.copy())
    assert result._range == (-np.inf, np.inf)


def test_runs_and_leakage() -> None:
    runs = [biasamp.multi(GROUP, TRUTH, said) for said in (SAID, TRUTH[:], [1, 1, 0, 0])]
    interval = biasamp.over_runs(runs).confidence_interval(0.99)
    assert (interval.low, interval.high) == (0.0, 1.0)
    assert [Caution.kind_of(words) for words in interval.cautions] == ["cut", "cut"]
    rng = np.random.default_rng(0)
    held = rng.integers(0, 2, (3, 12))
    made = biasamp.leakage(*held, trials=5).confidence_interval(0.9999999)
    assert -1.0 <= made.low <= made.high <= 1.0


def test_differences_of_models() -> None:
    data = {"g": GROUP * 3, "t": TRUTH * 3, "p": SAID * 3, "q": [1, 0, 1, 0] * 3}
    roles = {"attributes": "g", "tasks": "t", "metrics": ["multi", "parity"], "resamples": 50}
    audits = {name: biasamp.audit(data, task_predictions=name, **roles) for name in "pq"}
    made = biasamp.compare(audits, level=0.9999999)
    for row in made.document["differences"]:
        assert row["low"] is None or -1.0 <= row["low"] <= row["high"] <= 1.0, row
