"""Slopes, changes and control limits against other people's regressions and chances that are known."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp.resampling.trend import Steps


def test_a_weighted_slope_is_that_of_numpy() -> None:
    rng = np.random.default_rng(0)
    at, values, error = np.array([1.0, 2.0, 4.0, 7.0, 8.0]), rng.normal(size=5), rng.uniform(0.5, 2.0, size=5)
    made = Steps(at, values, np.diag(error**2), paired=False).slope()
    line, unscaled = np.polyfit(at, values, 1, w=1.0 / error, cov="unscaled")
    assert made.value == pytest.approx(line[0])
    assert made.standard_error == pytest.approx(np.sqrt(unscaled[0, 0]))
    _, scaled = np.polyfit(at, values, 1, w=1.0 / error, cov=True)
    assert made.scatter == pytest.approx(scaled[0, 0] / unscaled[0, 0])


def test_steps_off_the_line_make_p_that_of_an_ordinary_regression() -> None:
    stats = pytest.importorskip("scipy.stats")
    at, values = np.arange(6.0), np.array([0.0, 3.0, 1.0, 5.0, 3.0, 7.0])
    made = Steps(at, values, np.eye(6) * 0.01, paired=False).slope()
    assert made.scatter > 1.0
    assert made.p == pytest.approx(stats.linregress(at, values).pvalue)


def test_a_paired_slope_is_the_mean_of_the_records_own_slopes() -> None:
    rng = np.random.default_rng(1)
    at = np.array([0.0, 1.0, 2.0, 5.0])
    records = rng.normal(size=(500, 1)) * 3 + rng.normal(size=(500, 4)) + 0.1 * at
    covariance = np.cov(records.T) / 500
    made = Steps(at, records.mean(axis=0), covariance, paired=True).slope()
    own = np.array([np.polyfit(at, row, 1)[0] for row in records])
    assert made.value == pytest.approx(own.mean())
    assert made.standard_error == pytest.approx(own.std(ddof=1) / np.sqrt(500))


def test_changes_know_what_steps_share() -> None:
    covariance = np.array([[4.0, 3.0], [3.0, 4.0]])
    change = Steps(np.arange(2.0), np.array([1.0, 2.0]), covariance, paired=True).change(1, 0, 0.95)
    assert change.value == 1.0
    assert change.standard_error == pytest.approx(np.sqrt(2.0))
    assert change.high - change.low == pytest.approx(2 * 1.959964 * np.sqrt(2.0))


def test_the_first_step_beyond_its_limits_is_found_and_spoils_no_later_ones() -> None:
    values = np.array([0.0, 0.1, -0.1, 0.0, 9.0, 0.1, 0.0])
    limits = Steps(np.arange(7.0), values, np.eye(7) * 0.04, paired=False).control()
    assert limits.first_left == 4
    assert limits.left.tolist() == [False] * 4 + [True] + [False] * 2
    # The sixth is held against the mean of the first four: 1.960 widened for six steps is 2.638 standard errors.
    reach = 2.638257 * np.sqrt(0.04 + 0.04 / 4)
    assert limits.high[5] == pytest.approx(0.0 + reach, abs=1e-6)


def test_steps_that_vary_by_themselves_have_wide_limits() -> None:
    rng = np.random.default_rng(2)
    error = rng.uniform(0.5, 1.5, size=400)
    values = 3.0 * rng.normal(size=400) + error * rng.normal(size=400)
    steps = Steps(np.arange(400.0), values, np.diag(error**2), paired=False)
    # Records explain errors of about 1, and steps vary by 3.
    assert steps.wander == pytest.approx(9.0, rel=0.3)
    assert Steps(steps.at, 0.5 * error, np.diag(error**2), paired=False).wander == 0.0


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("count", [3, 6, 12])
def test_false_alarms_are_as_rare_as_they_should_be(paired: bool, count: int) -> None:
    rng = np.random.default_rng(count + 100 * paired)
    covariance = np.diag(rng.uniform(0.5, 2.0, size=count)) + (4.0 if paired else 0.0)
    drawn = rng.multivariate_normal(np.zeros(count), covariance, size=400)
    made = [Steps(np.arange(float(count)), values, covariance, paired) for values in drawn]
    # Five percent of 400 is 20; 36 is beyond what chance gives in one of a thousand cases.
    assert sum(steps.slope().p < 0.05 for steps in made) <= 36
    assert sum(steps.control().left.any() for steps in made) <= 36
    covered = sum(slope.low <= 0.0 <= slope.high for slope in (steps.slope() for steps in made))
    assert 362 <= covered <= 394


@pytest.mark.parametrize("count", [6, 12])
@pytest.mark.parametrize("besides", [1.0, 3.0])
def test_steps_that_vary_besides_raise_no_more_false_alarms(count: int, besides: float) -> None:
    rng = np.random.default_rng(count)
    drawn = np.sqrt(1.0 + besides**2) * rng.normal(size=(300, count))
    alarms = sum(Steps(np.arange(float(count)), row, np.eye(count), False).control().left.any() for row in drawn)
    # Five percent of 300 is 15; 28 is beyond what chance gives in one of a thousand cases. Normal quantiles gave 30 to 40.
    assert alarms <= 28


def test_a_jump_is_still_found() -> None:
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(100):
        values = np.sqrt(2.0) * rng.normal(size=12)
        values[9] += 15.0
        found += bool(Steps(np.arange(12.0), values, np.eye(12), False).control().left[9])
    assert found >= 90


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("count", [5, 8, 12])
def test_steps_that_vary_by_themselves_are_no_trend_and_leave_no_limits(count: int, paired: bool) -> None:
    from benchmarks.trajectories import false_alarms

    trends, left = false_alarms(count, 2.0, paired, 300)
    # Five percent of 300 is 15; 30 is beyond what chance gives in one of a thousand cases.
    assert trends <= 0.1
    assert left <= 0.1


def test_few_steps_close_to_their_line_are_no_proof() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.array([0.0, 1.1, 1.9])
    made = Steps(np.arange(3.0), values, np.eye(3) * 0.01, paired=False).slope()
    assert made.records_p < 1e-10
    assert made.p == pytest.approx(stats.linregress(np.arange(3.0), values).pvalue)
    assert np.isnan(Steps(np.arange(2.0), values[:2], np.eye(2) * 0.01, paired=False).slope().p)


def test_the_newest_step_is_held_to_students_prediction_interval() -> None:
    """Where records move nothing, and where all steps are of the same records, whose common part drops out."""
    stats = pytest.importorskip("scipy.stats")
    values = np.array([1.0, 4.0, 2.0, 3.0, 2.5, 9.0])
    mean, sd = values[:5].mean(), values[:5].std(ddof=1)
    expected = stats.t.interval(0.95, 4, loc=mean, scale=sd * np.sqrt(1 + 1 / 5))
    for covariance in (np.zeros((6, 6)), np.full((6, 6), 4.0)):
        assert Steps(np.arange(6.0), values, covariance, paired=True).newest(0.95) == pytest.approx(expected)
    # Steps that happen to agree vary by no less than their records.
    alike = Steps(np.arange(6.0), np.array([1.0, 1.001, 1.002, 0.999, 1.0, 2.0]), np.eye(6) * 0.09, paired=False)
    reach = stats.norm.ppf(0.975) * 0.3 * np.sqrt(1 + 1 / 5)
    assert alike.newest(0.95) == pytest.approx((1.0004 - reach, 1.0004 + reach))


@pytest.mark.parametrize("wander", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("records", [0.2, 1.0, 5.0])
def test_newest_steps_are_outside_by_chance_in_one_of_twenty_at_most(wander: float, records: float) -> None:
    """Also where the newest has more or fewer records; a jump of six standard deviations is seen."""
    rng = np.random.default_rng(6)
    own = np.array([1.0] * 6 + [records])
    values = rng.normal(size=(3000, 7)) * np.sqrt(own + wander**2)

    def outside(drawn: np.ndarray) -> float:
        ends = [Steps(np.arange(7.0), row, np.diag(own), False).newest(0.95) for row in drawn]
        return float(np.mean([not low <= row[-1] <= high for row, (low, high) in zip(drawn, ends, strict=True)]))

    assert outside(values) <= 0.062  # 5%, and three standard errors of 3,000 samples
    jump = np.append(np.zeros(6), 6.0 * np.sqrt(max(own.max(), 1.0) + wander**2))
    assert outside(values[:500] + jump) >= 0.9
