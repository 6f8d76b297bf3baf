"""Records that are kept as bits come back as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.data import Codes, Dense, Evaluation, LabelSet, Variable
from biasamp.data.packed_labels import PackedEvaluation


@pytest.mark.parametrize("by_label", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_records_come_back_whatever_their_owner_does(by_label: bool, soft: bool) -> None:
    rng = np.random.default_rng(0)
    names = tuple(Variable(f"t{i}", "binary") for i in range(3))
    truth = (rng.random((101, 3)) < 0.4).astype(np.uint8)
    truth = np.asfortranarray(truth) if by_label else truth
    said: Any = rng.random((101, 3)) if soft else truth.copy(order="K")
    there = rng.random((101, 3)) < 0.9
    codes, keys = rng.integers(0, 2, 101), np.arange(101, dtype=np.uint64)
    given = Codes((Variable("a", "categorical", ("x", "y")),), codes)
    blocks = given, Dense(names, truth, there), Dense(names, said)
    expected = [block.rows(0, 101).copy() for block in blocks]
    kept = PackedEvaluation(Evaluation(*(LabelSet((block,)) for block in blocks), None, keys))  # type: ignore[arg-type]
    for array in (truth, said, codes, keys):
        array[:] = 0
    found = kept.evaluation
    for side, rows in zip((found.given, found.truth, found.predicted), expected, strict=True):
        assert (side.rows() == rows).all()
    assert (found.keys == np.arange(101)).all()
    assert found.truth.blocks[0].there is not there  # type: ignore[union-attr]
    assert kept.evaluation is found


def test_a_result_does_not_change_with_the_arrays_it_was_made_of() -> None:
    rng = np.random.default_rng(1)
    group = rng.integers(0, 2, 2000)
    truth = (rng.random((2000, 4)) < 0.2 + 0.5 * group[:, None]).astype(np.uint8)
    said = (truth ^ (rng.random(truth.shape) < 0.2)).astype(np.uint8)
    expected = biasamp.directional(group, truth, said).confidence_interval()
    result = biasamp.directional(group, truth, said)
    group[:], truth[:], said[:] = 0, 0, 1
    assert result.confidence_interval() == expected
