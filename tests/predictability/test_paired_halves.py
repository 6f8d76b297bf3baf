"""Attackers on halves of bags: the same halves for two models, scored as a loop over records scores them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts.contingency import ContingencyTable, count_by_bag
from biasamp.data import label_set, read_columns
from biasamp.data.keys import row_keys
from biasamp.predictability import attack
from biasamp.predictability.lookup import LookupTables
from biasamp.predictability.paired_halves import PairedHalves
from biasamp.predictability.problem import problem_from_table


def _labels(values: Any) -> Any:
    return label_set(read_columns(values, "x"), "x")


def _records(seed: int, n: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    return group, (rng.random(n) < 0.3 + 0.3 * group).astype(int)


def _tables(group: Any, truth: Any, said: Any) -> tuple[ContingencyTable, ContingencyTable]:
    sets = {"given": _labels(group), "truth": _labels(truth), "predicted": _labels(said)}
    return ContingencyTable.from_labels(sets), count_by_bag(sets, row_keys(0, len(group)))


def _measured(group: Any, truth: Any, said: Any, kind: str, seed: int = 0) -> PairedHalves:
    table, by_bag = _tables(group, truth, said)
    made = attack.from_table(table, kind, by_bag=by_bag, equalize="confusion", seed=seed).paired_halves()
    assert made is not None
    return made


def _right(learn: Any, test: Any, read: Any, target: Any) -> float:
    """The share of test records that the commonest answer of the learnt ones gets right, record by record."""
    right = 0
    for i in test:
        same = [target[j] for j in learn if read[j] == read[i]]
        answers = [same.count(value) + 1e-6 * [target[j] for j in learn].count(value) for value in (0, 1)]
        right += int(target[i] == int(answers[1] > answers[0]))
    return right / len(test)


@pytest.mark.parametrize("kind", ["dpa", "leakage"])
def test_splits_of_bags_are_scored_as_their_records_are(kind: str) -> None:
    group, truth = _records(3, 60)
    said = np.where(np.random.default_rng(4).random(60) < 0.2, 1 - truth, truth)
    _, by_bag = _tables(group, truth, said)
    problem = problem_from_table(by_bag, in_order=True)
    tables = LookupTables.fit(problem, kind, "accuracy")
    assert tables is not None
    # A bag for each row of the table; every other one is learnt from.
    bags = np.arange(len(problem.counts))
    learn = (bags % 2 == 0)[None]
    dataset, model = tables.of_splits(bags, learn, ~learn, None, np.random.SeedSequence(0))
    rows = [(int(o), int(t), int(p), int(c)) for o, t, p, c in zip(
        problem.other.codes[:, 0], problem.truth.codes[:, 0], problem.predicted.codes[:, 0], problem.counts, strict=True
    )]  # fmt: skip
    records = [(o, t, p, bag % 2 == 0) for bag, (o, t, p, c) in enumerate(rows) for _ in range(c)]
    one = [i for i, record in enumerate(records) if record[3]]
    two = [i for i, record in enumerate(records) if not record[3]]
    for found, version in ((dataset, 1), (model, 2)):
        other, own = [record[0] for record in records], [record[version] for record in records]
        read, target = (other, own) if kind == "dpa" else (own, other)
        expected = 0.5 * (_right(one, two, read, target) + _right(two, one, read, target))
        assert found[0, 0] == pytest.approx(expected)


def test_a_model_is_the_same_as_itself_and_seeds_choose_the_halves() -> None:
    group, truth = _records(0)
    said = np.where(np.random.default_rng(1).random(200) < 0.2, 1 - truth, truth)
    first = _measured(group, truth, said, "dpa")
    assert first.same(_measured(group, truth, said, "dpa"))
    assert first.correlation(first) == pytest.approx(1.0)
    assert not first.same(_measured(group, truth, said, "dpa", seed=1))
    saved = PairedHalves.from_dict(first.to_dict())
    assert saved.figures == pytest.approx(first.figures, abs=1e-8)
    assert saved.halves == first.halves


def test_models_that_err_on_the_same_records_go_together() -> None:
    group, truth = _records(5, 1000)
    rng = np.random.default_rng(6)
    wrong = rng.random((2, 1000)) < 0.2
    few = rng.random(1000) < 0.02
    one, alike, other = (np.where(flip, 1 - truth, truth) for flip in (wrong[0], wrong[0] ^ few, wrong[1]))
    first = _measured(group, truth, one, "leakage")
    close, apart = (first.correlation(_measured(group, truth, said, "leakage")) for said in (alike, other))
    assert close > 0.7
    assert apart < 0.4


def test_each_task_of_several_has_its_figures() -> None:
    group, _ = _records(7, 400)
    rng = np.random.default_rng(8)
    truth = (rng.random((400, 3)) < 0.3 + 0.3 * group[:, None]).astype(int)
    said = np.where(rng.random((400, 3)) < 0.1, 1 - truth, truth)
    said[:, 2] = group
    made = _measured(group, truth, said, "dpa")
    assert len(made.labels) == 3
    assert made.figures.shape == (2, made.halves, 4)
    # The third task is predicted from the group outright.
    assert made.values[2] > 0.1 > abs(made.values[0])
    alone = attack.from_table(_tables(group, truth[:, 2], said[:, 2])[0], "dpa", equalize="confusion")
    assert made.values[2] == pytest.approx(alone.value, abs=0.02)


def test_without_bags_and_with_few_records_there_are_none() -> None:
    group, truth = _records(9, 12)
    table, by_bag = _tables(group, truth, 1 - truth)
    assert attack.from_table(table, "dpa").paired_halves() is None
    assert attack.from_table(table, "dpa", by_bag=by_bag).paired_halves() is None
