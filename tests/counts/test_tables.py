"""Tables of many labels against sums over records."""

import numpy as np
import pytest

from biasamp.counts.fixed import floats
from biasamp.counts.tables import WIDE, pair_tables
from biasamp.data import Evaluation, align, label_set, read_columns
from extras import needs


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
@pytest.mark.parametrize("bags", [1, 2, 40])
@pytest.mark.parametrize("width", [90, WIDE + 5])
def test_many_labels_of_few_groups_are_counted_as_a_plain_product_counts_them(weights, bags, width):
    rng = np.random.default_rng(0)
    n = 300
    group, bag = rng.integers(0, 2, n), rng.integers(0, bags, n)
    one, two = (rng.random((2, n, width)) < 0.02).astype(np.uint8)
    weight = {None: None, "whole": rng.integers(1, 9, n), "fractions": rng.random(n)}[weights]
    sides = [label_set(read_columns(x, "x"), "x") for x in (group, one, two)]
    evaluation = Evaluation(sides[0], *align(sides[1:], ["truth", "predicted"]), weight)
    arrays, _ = pair_tables(evaluation, bag, bags)
    own = np.ones(n) if weight is None else weight
    for name, values in {"joint_truth": one, "joint_predicted": two, "joint_both": one * two}.items():
        expected = np.zeros((bags, 2, width))
        np.add.at(expected, (bag, group), values * own[:, None])
        assert floats(arrays[name]) == pytest.approx(expected, rel=1e-12)


def test_few_labels_held_of_many_are_counted_alike_by_numpy_and_in_numba():
    needs("numba")
    rng = np.random.default_rng(1)
    n, width = 500, WIDE + 5
    for groups in (rng.integers(0, 2, n), (rng.random((n, 3)) < 0.5).astype(np.uint8)):
        one, two = (rng.random((2, n, width)) < 0.01).astype(np.uint8)
        # Records without any label, at either end and in the middle.
        one[[0, 7, n - 1]] = 0
        two[[0, 8, n - 1]] = 0
        sides = [label_set(read_columns(x, "x"), "x") for x in (groups, one, two)]
        evaluation = Evaluation(sides[0], *align(sides[1:], ["truth", "predicted"]))
        plain, compiled = (pair_tables(evaluation, accelerate=way) for way in (False, True))
        assert plain[0].keys() == compiled[0].keys()
        for name, table in plain[0].items():
            assert table.dtype == compiled[0][name].dtype
            assert np.array_equal(table, compiled[0][name]), name
        assert np.array_equal(plain[1], compiled[1])
