"""Tables of many labels against sums over records."""

import numpy as np
import pytest

from biasamp.counts.fixed import floats
from biasamp.counts.tables import WIDE, pair_tables
from biasamp.data import Evaluation, align, label_set, read_columns


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
