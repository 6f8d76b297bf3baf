"""The document of a result field by field, and what is refused of it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import biasamp

RNG = np.random.default_rng(4)
GROUP = RNG.choice(["a", "b", "c"], 240)
TRUTH = (RNG.random((240, 4)) < 0.3 + 0.3 * (GROUP == "a")[:, None]).astype(int)
SAID = np.where(RNG.random((240, 4)) < 0.2, 1 - TRUTH, TRUTH)


def made(metric: str = "directional", **more: Any) -> Any:
    if metric == "mals":
        return biasamp.mals(GROUP, TRUTH, GROUP.copy(), SAID, **more)
    return getattr(biasamp, metric)(GROUP, TRUTH, SAID, **more)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metric", ["directional", "multi", "mals"])
def test_the_document(metric: str) -> None:
    result = made(metric)
    held = result.to_dict(0.9, 60, 2)
    interval = result.quiet_interval(0.9, "bootstrap", 60, 2)
    expected: dict[str, Any] = {
        "metric": metric,
        "direction": None,
        "value": result.value,
        "interval": list(interval),
        "interval_method": interval.method,
        "n": 240.0,
        "sign_source": "the evaluated labels",
        "base_source": None,
    }
    for name in ("crossfit", "clear_value", "variance", "floor"):
        if getattr(result, name) is not None:
            expected[name] = getattr(result, name)
    if metric == "directional":
        expected["bounds"] = list(result.bounds(0.9))
        expected["unknown"] = result.unknown
        for of, name in (("crossfit", "crossfit_interval"), ("clear_value", "clear_interval")):
            expected[name] = list(result.quiet_interval(0.9, "bootstrap", 60, 2, of=of))
    expected |= {"pairs": result.pairs.plain_rows(), "excluded": [], "cautions": list(interval.cautions)}
    assert held == expected
    closed = result.to_dict(method="closed_form")
    assert closed["interval"] == list(result.quiet_interval(method="closed_form"))
    assert result.to_dict(resamples=60)["interval"] == list(result.quiet_interval(resamples=60))
    flat = result.to_dict(0.9, 60, 2, flat=True)
    assert all(not isinstance(value, (list, dict)) for value in flat.values())
    assert result.value in flat.values()
    names = {"variance": metric == "multi", "floor": metric == "multi", "crossfit": metric == "directional"}
    assert {name: getattr(result, name) is not None for name in names} == names


def test_levels_without_bounds() -> None:
    """Bounds are one-sided: a level of one half or less has none."""
    result = made()
    assert "bounds" not in result.to_dict(0.5, 60)
    assert "bounds" in result.to_dict(0.51, 60)
    with pytest.raises(ValueError, match="level"):
        result.bounds(0.5)
    assert result.bounds(0.51) is not None
    assert made("multi").bounds() is None


@pytest.mark.parametrize("most", [0, 1, 5, 11, 12, 50])
def test_the_largest_pairs(most: int) -> None:
    """Those of the largest amplification, up or down, in their order."""
    result = made()
    rows = result.pairs.plain_rows()
    listed = result.to_dict(resamples=20, most_pairs=most)["pairs"]
    largest = sorted(range(12), key=lambda i: (-abs(rows[i]["amplification"]), i))[:most]
    assert listed == [rows[i] for i in sorted(largest)]
    with pytest.raises(ValueError, match="most_pairs"):
        result.to_dict(most_pairs=-1)
    with pytest.raises(TypeError, match="flat"):
        result.to_dict(flat="yes")


def test_what_lent_signs_contradict() -> None:
    other = RNG.permutation(240)
    result = made(train=(GROUP[other], 1 - TRUTH[other]))
    held = result.to_dict(resamples=20)
    assert held["contradicted"] == list(result._estimate.contradicted)
    assert held["contradicted"][0] > 0
    assert "contradicted" not in made().to_dict(resamples=20)
    assert not any("contradicted" in name for name in result.to_dict(resamples=20, flat=True))


def test_intervals_that_are_refused() -> None:
    result = made("multi")
    for of in ("crossfit", "clear_value"):
        assert result.interval_maker(of) is None
        with pytest.raises(ValueError, match=f"this result has no {of}, so there is no interval for it"):
            result.confidence_interval(of=of)
    with pytest.raises((TypeError, ValueError), match="of"):
        result.confidence_interval(of="floor")
    for wrong in ({"level": 0.0}, {"level": 1.0}, {"resamples": 1}, {"method": "exact"}):
        with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
            result.confidence_interval(**wrong)
    assert len(tuple(result.quiet_interval(resamples=2))) == 2


def test_cautions_are_warned_of_once() -> None:
    """All of them in one warning, but for notes; a quiet interval keeps them inside."""
    few = biasamp.directional(GROUP[:20], TRUTH[:20], SAID[:20])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interval = few.quiet_interval(resamples=50)
    assert len(interval.cautions) > 1
    with pytest.warns(UserWarning, match="Also, ") as caught:
        few.confidence_interval(resamples=50)
    (one,) = caught
    assert str(one.message) == ". Also, ".join(interval.cautions)
    assert one.filename == __file__


def test_values_stay_in_their_range() -> None:
    """A few records: intervals are cut at what the value can be."""
    few = biasamp.directional(["a", "b"] * 4, [1, 0] * 4, [0, 1] * 4)
    low, high = few.quiet_interval(0.999, "closed_form")
    assert -1.0 <= low <= high <= 1.0
    size = biasamp.multi(["a", "b"] * 4, [1, 0] * 4, [0, 1] * 4)
    low, high = size.quiet_interval(0.999, "closed_form")
    assert 0.0 <= low <= high <= 1.0


@pytest.mark.parametrize("wrong", [2.5, "many", 10**12])
def test_resamples_are_whole_numbers_within_reason(wrong: Any) -> None:
    for method in ("bootstrap", "closed_form"):
        with pytest.raises((TypeError, ValueError), match="resamples"):
            made().quiet_interval(method=method, resamples=wrong)
