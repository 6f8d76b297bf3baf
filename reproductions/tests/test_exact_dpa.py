"""DPA of tables with the exact attacker: the paper's figures, and what records give."""

import numpy as np
import pytest

import biasamp
from biasamp_reproductions import exact_dpa
from biasamp_reproductions.exact_dpa import alpha_tables, dpa_from_counts, dpa_heatmap

UNBALANCED_T_TO_A = ([[1229, 1402], [874, 1773]], [[1056, 1575], [1115, 1532]])


def test_what_equalization_at_the_stated_accuracy_gives():
    """The paper says that A is predicted with an accuracy of about 69%; 0.044 there was worked out apart."""
    assert dpa_from_counts(*UNBALANCED_T_TO_A) == pytest.approx(-0.011, abs=5e-4)
    assert dpa_from_counts(*UNBALANCED_T_TO_A, accuracy=0.69) == pytest.approx(0.044, abs=5e-4)


def test_it_is_the_limit_of_the_record_level_procedure():
    rng = np.random.default_rng(0)
    given = rng.integers(0, 3, 30_000)
    truth = np.where(rng.random(30_000) < 0.5, given, rng.integers(0, 3, 30_000))
    predicted = np.where(rng.random(30_000) < 0.3, given, truth)
    tables = []
    for labels in (truth, predicted):
        tables.append(np.zeros((3, 3), dtype=int))
        np.add.at(tables[-1], (given, labels), 1)
    exact = dpa_from_counts(*tables, accuracy=(truth == predicted).mean())
    assert biasamp.dpa(given, truth, predicted, evaluation="in_sample").value == pytest.approx(exact, abs=1e-3)


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        dpa_from_counts([[1, 2]], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="counts"):
        dpa_from_counts([[1, -2]], [[1, 2]])
    with pytest.raises(ValueError, match="from 0 to 1"):
        dpa_from_counts([[1, 2]], [[1, 2]], accuracy=69)


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
    best = exact_dpa.best_score
    monkeypatch.setattr(
        exact_dpa, "best_score", lambda tables, *rest: scored.append(len(tables)) or best(tables, *rest)
    )
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
