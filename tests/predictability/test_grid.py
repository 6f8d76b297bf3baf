import numpy as np
import pytest

from biasamp.predictability import alpha_tables, dpa_heatmap, grid


def test_heatmap_of_the_paper_in_closed_form():
    """By hand: the best accuracy of the alpha table is 1/2 + |alpha| for alpha within 1/4."""
    alphas = np.linspace(-0.25, 0.25, 100)
    heatmap = dpa_heatmap(alphas, alphas)
    psi = 0.5 + np.abs(alphas)
    expected = (psi[:, None] - psi[None, :]) / (psi[:, None] + psi[None, :])
    assert heatmap == pytest.approx(expected)
    assert heatmap.shape == (100, 100)


def test_a_heatmap_scores_every_table_once(monkeypatch):
    """Hundred tables along each side, not ten thousand pairs of them."""
    scored = []
    best = grid.best_score
    monkeypatch.setattr(grid, "best_score", lambda tables, *rest: scored.append(len(tables)) or best(tables, *rest))
    dpa_heatmap(np.linspace(-0.25, 0.25, 100), np.linspace(-0.25, 0.25, 100))
    assert scored == [100, 100]


def test_a_balanced_data_set_still_shows_the_models_bias():
    column = dpa_heatmap([0.0], np.linspace(-0.25, 0.25, 11))[:, 0]
    assert (column[[0, 1, 9, 10]] > 0).all()
    assert column[5] == pytest.approx(0)


def test_both_directions_agree_on_the_symmetric_tables():
    alphas = np.linspace(-0.2, 0.2, 9)
    assert dpa_heatmap(alphas, alphas, direction="T->A") == pytest.approx(dpa_heatmap(alphas, alphas))


def test_tables_are_probabilities():
    assert alpha_tables([-0.25, 0.1]).sum(axis=(1, 2)) == pytest.approx([1, 1])
    with pytest.raises(ValueError, match=r"-0\.25 to 0\.25"):
        alpha_tables([0.3])
    with pytest.raises(ValueError, match="direction"):
        dpa_heatmap([0], [0], direction="A-T")
