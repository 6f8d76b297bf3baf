import numpy as np
import pytest

from biasamp.predictability import dpa_from_counts
from biasamp.predictability.dpa import dpa

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
    assert dpa(given, truth, predicted, evaluation="in_sample").value == pytest.approx(exact, abs=1e-3)


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        dpa_from_counts([[1, 2]], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="counts"):
        dpa_from_counts([[1, -2]], [[1, 2]])
    with pytest.raises(ValueError, match="from 0 to 1"):
        dpa_from_counts([[1, 2]], [[1, 2]], accuracy=69)
