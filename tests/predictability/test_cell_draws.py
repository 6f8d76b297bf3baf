import numpy as np
import pytest
from scipy.stats import chisquare, multivariate_hypergeom

from biasamp.predictability.cell_draws import draw, hypergeometric, scatter


@pytest.mark.parametrize("rows", [2, 40_000])
def test_draws_are_multivariate_hypergeometric(rows):
    counts, size = np.array([3, 1, 2]), 3
    rng = np.random.default_rng(0)
    drawn = np.concatenate([draw(np.tile(counts, (rows, 1)), size, rng) for _ in range(40_000 // rows)])
    outcomes, seen = np.unique(drawn, axis=0, return_counts=True)
    chance = multivariate_hypergeom(counts, size).pmf(outcomes)
    assert chance.sum() == pytest.approx(1)
    assert chisquare(seen, chance * len(drawn)).pvalue > 1e-4


def test_rows_may_differ_in_counts_and_size():
    counts = np.array([[4, 0, 6], [1, 1, 1]])
    drawn = draw(counts, np.array([10, 2]), np.random.default_rng(0))
    assert drawn[0].tolist() == [4, 0, 6]
    assert drawn[1].sum() == 2


def test_populations_of_billions_have_the_right_mean_and_spread():
    good, bad, size = 3_000_000_000, 7_000_000_000, 5_000_000_000
    rng = np.random.default_rng(0)
    drawn = hypergeometric(np.full(20_000, good), np.full(20_000, bad), np.full(20_000, size), rng)
    share, total = good / (good + bad), good + bad
    spread = np.sqrt(size * share * (1 - share) * (total - size) / (total - 1))
    assert abs(drawn.mean() - size * share) < 5 * spread / np.sqrt(20_000)
    assert drawn.std() == pytest.approx(spread, rel=0.03)


def test_scattered_records_are_all_there():
    counts = np.array([[5, 0], [7, 2]])
    spread = scatter(counts, 3, np.random.default_rng(0))
    assert (spread.sum(axis=-1) == counts).all()
