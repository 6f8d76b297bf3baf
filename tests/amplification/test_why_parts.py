"""Parts and their verdicts: on both sides of nothing, with signs that are known and signs that are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.why_parts import AMPLIFIES, REDUCES, UNKNOWN, UNTOLD, verdict_of
from biasamp.results.interval import Interval


def ends(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, "")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 0.2, AMPLIFIES),
        (0.0, 0.2, None),
        (-0.2, -0.1, REDUCES),
        (-0.2, 0.0, None),
        (-0.1, 0.1, None),
        (float("nan"), 0.1, UNKNOWN),
        (0.1, float("inf"), UNKNOWN),
    ],
)
def test_verdicts(low: float, high: float, verdict: str | None) -> None:
    """Where all signs are known the interval decides, else the bounds; what is open then has no verdict."""
    held, other = ends(low, high), ends(0.5, 0.6)
    assert verdict_of(True, held, other, 3) == (verdict or UNTOLD)
    assert verdict_of(True, held, other, 0) == (verdict or UNTOLD)
    assert verdict_of(False, other, held, 0) == (verdict or UNTOLD)
    assert verdict_of(False, other, held, 3) == (verdict or UNKNOWN)
    assert verdict_of(True, None, other, 0) == UNKNOWN
    assert verdict_of(False, other, None, 0) == UNKNOWN


def records(seed: int = 1, n: int = 300) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    truth = (rng.random((n, 2)) < 0.35 + 0.3 * (group == "a")[:, None]).astype(int)
    return group, truth, np.round(np.clip(0.2 + 0.4 * truth + 0.3 * rng.random((n, 2)), 0, 1), 2)


@pytest.mark.parametrize("trained", [False, True])
def test_rows_of_parts(trained: bool) -> None:
    """Each part is a directional value of its own: scores against the truth, decisions against scores."""
    group, truth, scores = records()
    train = {"train": records(2)[:2]} if trained else {}
    made = biasamp.decompose(group, truth, scores, **train)
    said = (scores >= 0.5).astype(int)
    whole = biasamp.directional(group, truth, said, **train)
    soft = biasamp.directional(group, truth, scores, **train)
    assert (made.value, made.score) == pytest.approx((whole.value, soft.value))
    assert made.threshold == pytest.approx(whole.value - soft.value)
    for row, one, two in zip(made.pairs.rows(), whole.pairs.rows(), soft.pairs.rows(), strict=True):
        for name in (
            "given",
            "outcome",
            "sign",
            "sign_p",
            "clear",
            "known",
            "support",
            "truth_rate",
            "delta",
            "low",
            "p",
            "q",
        ):
            assert row[name] == pytest.approx(one[name]) if isinstance(one[name], float) else row[name] == one[name]
        assert row["score_rate"] == pytest.approx(two["predicted_rate"])
        assert row["predicted_rate"] == pytest.approx(one["predicted_rate"])
        for name in ("delta", "low", "high", "p", "q"):
            assert row[f"score_{name}"] == pytest.approx(two[name])
        assert row["score"] == pytest.approx(two["amplification"])
        assert row["threshold_delta"] == pytest.approx(one["predicted_rate"] - two["predicted_rate"])
        assert row["threshold"] == pytest.approx(row["sign"] * row["threshold_delta"])
        assert row["threshold_low"] <= row["threshold"] <= row["threshold_high"]
    assert (made.unknown, made.defined) == (whole.unknown, 4)
    for of, other in (("value", whole), ("score", soft)):
        mine, theirs = (held.quiet_interval(0.9, "closed_form") for held in (made, other))
        if of == "value":
            assert tuple(mine) == pytest.approx(tuple(theirs))
        low, high = made.quiet_interval(0.9, "closed_form", of=of)
        assert low < getattr(made, of) < high
        bounds, beside = made.bounds(0.9, of=of), other.bounds(0.9)
        assert bounds is not None
        assert tuple(bounds) == pytest.approx(tuple(beside))
    threshold = made.quiet_interval(0.9, "closed_form", of="threshold")
    change = said - scores
    influence = np.zeros(300)
    sign = {(row["given"], row["outcome"]): row["sign"] for row in made.pairs.rows()}
    for (g, o), turned in sign.items():
        mine = group == g
        held = change[mine, int(o)]
        influence[mine] += turned * (held - held.mean()) / mine.sum() / 4
    part = made._parts.margin
    error = np.sqrt((influence**2).sum() + part.unseen_variance(part.factor))
    assert threshold.standard_error == pytest.approx(error, rel=0.05)
    assert made.verdicts.keys() == {"value", "score", "threshold"}
    assert (part.lends_signs, part.interval("crossfit")) == (False, None)
    usual = made.bounds()
    assert usual is not None
    assert tuple(usual) == tuple(made.bounds(0.95, of="value"))  # type: ignore[arg-type]


def test_the_document_of_parts() -> None:
    group, truth, scores = records()
    made = biasamp.decompose(group, truth, scores, strata=np.array(["p", "q"])[np.arange(300) % 2])
    held = made.to_dict(0.9, 60, 2)
    assert list(held["parts"]) == ["value", "score", "threshold", "inside"]
    for of, entry in held["parts"].items():
        interval = made.quiet_interval(0.9, resamples=60, seed=2, of=of)
        assert entry == {
            "value": getattr(made, of),
            "interval": [interval.low, interval.high],
            "verdict": made.verdicts[of],
        }
    tables = {
        "pairs": made.pairs,
        "reliability": made.reliability,
        "strata": made.strata,
        "strata_pairs": made.strata_pairs,
    }
    assert {name: held[name] for name in tables} == {name: part.plain_rows() for name, part in tables.items()}  # type: ignore[union-attr]
    assert (held["orders"], held["excluded"], held["verdict"]) == (None, [], made.verdict)
    assert (held["metric"], held["n"], held["rule"]) == ("decompose", 300.0, "a score of 0.5 or more")
    assert held["cautions"] == list(made.cautions)
    assert made.to_dict(resamples=1000)["parts"] == made.to_dict(0.95, 1000, 0, pairs=True)["parts"]
    less = made.to_dict(0.9, 60, 2, pairs=False)
    assert less == {**held, "pairs": None, "strata_pairs": None, "verdict": None}
    with pytest.raises(TypeError, match="pairs"):
        made.to_dict(pairs=1)  # type: ignore[arg-type]


def test_figures_that_are_not_there() -> None:
    group, truth, scores = records()
    made = biasamp.decompose(group, truth, scores)
    assert (made.inside, made.within, made.mix, made.orders, made.strata, made.strata_pairs) == (None,) * 6
    for of in ("inside", "within", "mix"):
        with pytest.raises(ValueError, match=f"there is no {of} without strata"):
            made.quiet_interval(of=of)
    with pytest.raises(ValueError, match="there is no inside without strata"):
        made.bounds(of="inside")
    with pytest.raises(ValueError, match=r"there are no bounds of 'mix'$"):
        made.bounds(of="mix")
    with pytest.raises(ValueError, match="there are no bounds of 'all'; use one of value, score, threshold"):
        made.bounds(of="all")
    with pytest.raises(TypeError, match="of is 3"):
        made.bounds(of=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level"):
        made.bounds(0.5)
    strata = biasamp.decompose(group, truth, scores, strata=np.array(["p", "q"])[np.arange(300) % 2])
    assert (strata.within, strata.mix) == (strata.value, 0.0)
    assert tuple(strata.quiet_interval(of="within")) == tuple(strata.quiet_interval())
    with pytest.raises(ValueError, match="the mix is 0, not estimated"):
        strata.quiet_interval(of="mix")
