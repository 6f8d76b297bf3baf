from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import biasamp


def run(seed: int) -> object:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 500)
    truth = (rng.random((500, 3)) < 0.2 + 0.5 * groups[:, None]).astype(int)
    said = np.where(np.random.default_rng(seed).random(truth.shape) < 0.1, 1 - truth, truth)
    return biasamp.directional(groups, truth, said)


def test_students_interval_is_scipys() -> None:
    values = [0.1, 0.13, 0.09, 0.12, 0.16]
    interval = biasamp.over_runs(values).confidence_interval(0.9)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert interval.varies == "training seed"


def test_the_normal_interval_is_the_papers() -> None:
    values = [0.1, 0.13, 0.09, 0.12, 0.16]
    interval = biasamp.over_runs(values).confidence_interval(method="normal")
    assert (interval.high - interval.low) / 2 == pytest.approx(1.959964 * np.std(values, ddof=1) / np.sqrt(5), rel=1e-6)


def test_seed_and_sampling_variance_are_apart() -> None:
    results = [run(seed) for seed in range(1, 6)]
    runs = biasamp.over_runs(results)
    assert runs.value == pytest.approx(np.mean([r.value for r in results]))  # type: ignore[attr-defined]
    assert runs.seed_variance == pytest.approx(np.var([r.value for r in results], ddof=1))  # type: ignore[attr-defined]
    errors = [r.confidence_interval(method="closed_form").standard_error for r in results]  # type: ignore[attr-defined]
    assert runs.sampling_variance == pytest.approx(np.mean(np.square(errors)))
    assert runs.pairs is not None
    first = [r.pairs["amplification"][0] for r in results]  # type: ignore[attr-defined]
    expected = stats.ttest_1samp(first, 0).confidence_interval()
    assert (runs.pairs["low"][0], runs.pairs["high"][0]) == pytest.approx((expected.low, expected.high))
    document = runs.to_dict()
    assert document["varies"] == "training seed"
    assert document["seed_variance"] == runs.seed_variance


def test_the_source_of_variance_is_said() -> None:
    runs = biasamp.over_runs([0.1, 0.2, 0.4], varies="train-test split")
    assert (runs.confidence_interval().varies, runs.to_dict()["varies"]) == ("train-test split",) * 2
    assert runs.confidence_interval().low == biasamp.over_runs([0.1, 0.2, 0.4]).confidence_interval().low
    with pytest.raises(TypeError, match="varies is 3; text is needed"):
        biasamp.over_runs([0.1, 0.2], varies=3)  # type: ignore[arg-type]


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="at least two"):
        biasamp.over_runs([0.1])
    with pytest.raises(TypeError, match="a list of results, one per run, is needed"):
        biasamp.over_runs(0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"results\[1\] is list"):
        biasamp.over_runs([0.1, [2]])
    with pytest.raises(ValueError, match=r"results\[0\] has the value nan"):
        biasamp.over_runs([float("nan"), 1.0])
    with pytest.raises(ValueError, match="different metrics"):
        biasamp.over_runs([run(1), 0.3])
    with pytest.raises(ValueError, match="method is 'bayes'"):
        biasamp.over_runs([0.1, 0.2]).confidence_interval(method="bayes")
    with pytest.raises(ValueError, match="level is 2"):
        biasamp.over_runs([0.1, 0.2]).confidence_interval(2)


def test_audits_of_other_tasks_have_no_mean() -> None:
    rng = np.random.default_rng(2)
    data = {"g": rng.integers(0, 2, 100), "t": rng.integers(0, 2, 100), "u": rng.integers(0, 2, 100)}
    data["p"] = np.where(rng.random(100) < 0.1, 1 - data["t"], data["t"])
    audits = [
        biasamp.audit(data, attributes="g", tasks=task, task_predictions="p", metrics=["directional"], resamples=20)
        for task in ("t", "u")
    ]
    with pytest.raises(ValueError, match=r"results\[0\] and results\[1\] are audits of other tasks, t .*against u"):
        biasamp.over_runs(audits, metric="directional", direction="A->T")
