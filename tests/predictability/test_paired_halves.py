"""Attackers on halves of bags: the same halves for two models, scored as a loop over records scores them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from biasamp.counts.contingency import ContingencyTable, count_by_bag
from biasamp.data import label_set, read_columns
from biasamp.data.keys import row_keys
from biasamp.predictability import attack
from biasamp.predictability.attackers import Lookup
from biasamp.predictability.lookup import LookupTables
from biasamp.predictability.paired_halves import PairedHalves, measure_halves
from biasamp.predictability.problem import problem_from_table
from biasamp.predictability.records import RecordTrials


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


def _held(*figures: Any, labels: tuple[str, ...] = ()) -> PairedHalves:
    """Figures by measurement and half, of all labels, or of all and each."""
    made = np.array(figures, dtype=float)
    return PairedHalves(labels, np.zeros(len(labels)), np.zeros(1 + len(labels)), made.reshape(2, -1, 1 + len(labels)))


def test_covariances_by_hand() -> None:
    # Two measurements on three halves; their means are 2, 4, 3 and 1, 3, 8.
    one, two = _held([1, 5, 3], [3, 3, 3]), _held([0, 2, 7], [2, 4, 9])
    assert one.halves == 3
    assert one.covariance(two) == pytest.approx([((-1) * (-3) + 1 * (-1) + 0 * 4) / 2])
    assert one.covariance(one) == pytest.approx([1.0])
    # Of all six the means are 3 and 4; the first measurement of one meets the second of the other.
    expected = 0.5 * ((-2) * (-2) + 2 * 0 + 0 * 5 + 0 * (-4) + 0 * (-2) + 0 * 3) / 2
    assert one.covariance_by_records(two) == pytest.approx([expected])
    both = _held([1, 5], [2, 8]), _held([0, 4], [1, 7])
    assert both[0].covariance_by_records(both[1]) == pytest.approx([0.5 * (-3 * -2 + 1 * 4 + -2 * -3 + 4 * 1) / 1])


def test_each_label_has_its_own_covariance() -> None:
    rng = np.random.default_rng(0)
    figures = rng.normal(size=(2, 2, 6, 3))
    one, two = (_held(part, labels=("a", "b")) for part in figures)
    for v in range(3):
        alone = [_held(part[..., v]) for part in figures]
        assert one.covariance(two)[v] == pytest.approx(alone[0].covariance(alone[1])[0])
        assert one.covariance_by_records(two)[v] == pytest.approx(alone[0].covariance_by_records(alone[1])[0])
    assert one.covariance(two)[0] == pytest.approx(
        np.cov(figures[0].mean(axis=0)[:, 0], figures[1].mean(axis=0)[:, 0])[0, 1]
    )


def test_one_half_has_no_variance() -> None:
    one = _held([1], [3])
    assert one.covariance(one) == pytest.approx([0.0])
    assert one.covariance_by_records(one) == pytest.approx([-1.0])


def test_correlations_lie_within_1_of_0() -> None:
    up = _held([1, 2, 3], [1, 2, 3])
    down = _held([5, 3, 1], [5, 3, 1])
    assert (up.correlation(up), up.correlation(down)) == (1.0, -1.0)
    partly = _held([1, 3, 2], [1, 3, 2])
    assert up.correlation(partly) == pytest.approx(0.5)
    # Where the two measurements agree less with themselves than with each other, they are cut.
    noisy, other = _held([1, 2, 3], [3, 2, 4]), _held([3, 2, 4], [1, 2, 3])
    assert noisy.covariance_by_records(noisy)[0] > 0
    assert noisy.correlation(other) == 1.0
    # Records are not seen to move one of them.
    still = _held([2, 2, 2], [2, 2, 2])
    against = _held([1, 3], [3, 1])
    assert up.correlation(still) == still.correlation(up) == 0.0
    assert against.covariance_by_records(against)[0] < 0
    assert against.correlation(_held([1, 3], [1, 3])) == 0.0
    small = _held([0.01, 0.02, 0.03], [0.01, 0.02, 0.03])
    assert small.correlation(up) == pytest.approx(1.0)
    # Of several labels it is that of all together, the first column.
    labels = _held([[1, 9], [2, 1], [3, 5]], [[1, 9], [2, 1], [3, 5]], labels=("a",))
    assert labels.correlation(labels) == 1.0
    turned = _held([[1, 1], [2, 9], [3, 5]], [[1, 1], [2, 9], [3, 5]], labels=("a",))
    assert labels.correlation(turned) == pytest.approx(1.0)


def test_models_are_the_same_where_no_figure_differs() -> None:
    one = _held([1, 2, 3], [1, 2, 3])
    assert one.same(_held([1, 2, 3], [1, 2, 3]))
    assert not one.same(_held([1, 2, 3], [1, 2, 4]))
    assert not one.same(_held([1, 2], [1, 2]))
    assert not one.same(_held([4, 5, 6], [4, 5, 6]))


def test_figures_are_saved_in_the_order_of_their_array() -> None:
    figures = np.arange(12.0).reshape(2, 2, 3) / 7
    made = PairedHalves(("a", "b"), np.array([0.5, np.nan]), np.array([0.1, 0.2, 0.3]), figures)
    held = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert (held["labels"], held["values"], held["noise"], held["halves"]) == (
        ["a", "b"],
        [0.5, None],
        [0.1, 0.2, 0.3],
        2,
    )
    assert held["figures"] == [round(place / 7, 8) for place in range(12)]
    again = PairedHalves.from_dict({**held, "values": [0.5, 0.25]})
    assert (again.labels, again.values.tolist(), again.halves) == (("a", "b"), [0.5, 0.25], 2)
    assert again.figures.shape == (2, 2, 3)
    assert again.figures == pytest.approx(figures, abs=1e-8)
    alone = PairedHalves.from_dict(_held([1, 2, 3], [4, 5, 6]).to_dict())
    assert (alone.labels, alone.figures.tolist()) == ((), [[[1], [2], [3]], [[4], [5], [6]]])


class _Shares:
    """An engine whose scores are the shares that the chosen bags have of some weights, different ones for each variable."""

    def __init__(self, n: int, bags: int, width: int = 1) -> None:
        self.problem, self.kind = SimpleNamespace(n=n), "leakage"
        self.weights = np.random.default_rng(0).random((bags, width))
        self.asked: list[Any] = []

    def of_splits(self, place: Any, learn: Any, test: Any, rule: Any, seed: Any) -> Any:
        self.asked.append((place, learn, test, rule, seed.entropy))
        # What is learnt from counts twice, so that every split has other scores.
        model = (2.0 * learn + test) @ self.weights
        return np.full(model.shape, 0.25) + learn[:, :1] / 16, model


class _Tables(LookupTables):
    """The same as tables."""

    def of_splits(self, *arguments: Any) -> Any:
        return self.stand.of_splits(*arguments)  # type: ignore[attr-defined]


def _tables_of(stand: _Shares) -> _Tables:
    made = object.__new__(_Tables)
    for name, value in (("stand", stand), ("problem", stand.problem), ("kind", stand.kind)):
        object.__setattr__(made, name, value)
    return made


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("tables", [True, False])
def test_each_half_is_split_anew_for_each_of_its_measurements(tables: bool, width: int) -> None:
    stand = _Shares(100, 21, width)
    engine = _tables_of(stand) if tables else stand
    names = [f"label {v}" for v in range(width)]
    made = measure_halves(engine, np.arange(21), 21, names, "accuracy", 0.125, 5)  # type: ignore[arg-type]
    assert made is not None
    halves, repeats = (200, 4) if tables else (30, 1)
    assert made.halves == halves
    assert len(stand.asked) == 2 * repeats + (width > 1)
    first = stand.asked[0][1] | stand.asked[0][2]
    assert len(set(map(tuple, first.tolist()))) == halves
    for place, learn, test, rule, _ in stand.asked[: 2 * repeats]:
        assert place.tolist() == list(range(21))
        assert learn.shape == test.shape == (halves, 21)
        assert not (learn & test).any()
        assert ((learn | test) == first).all()
        # Ten of twenty-one bags, five to learn from.
        assert (learn.sum(axis=1) == 5).all()
        assert (test.sum(axis=1) == 5).all()
        assert rule == "accuracy"
    assert len({entropy for *_, entropy in stand.asked}) == len(stand.asked)
    assert not (stand.asked[0][1] == stand.asked[1][1]).all()
    figures = [
        np.mean(
            [(2.0 * learn + test) @ stand.weights - 0.25 - learn[:, :1] / 16 for _, learn, test, *_ in part], axis=0
        )
        for part in (stand.asked[:repeats], stand.asked[repeats : 2 * repeats])
    ]
    assert made.figures[..., 0] == pytest.approx(np.mean(figures, axis=2))
    assert made.noise[0] == 0.125
    if width == 1:
        assert (made.labels, made.values.tolist(), made.noise.tolist()) == ((), [], [0.125])
        assert made.figures.shape == (2, halves, 1)
        return
    assert made.labels == tuple(names)
    assert made.figures[..., 1:] == pytest.approx(np.array(figures))
    # The figures of the labels on all records are means of a hundred splits.
    _, learn, test, *_ = stand.asked[-1]
    assert (learn | test).all()
    assert learn.shape == (100, 21)
    assert (learn.sum(axis=1) == 10).all()
    own = (2.0 * learn + test) @ stand.weights - 0.25 - learn[:, :1] / 16
    assert made.values == pytest.approx(own.mean(axis=0))
    assert made.noise[1:] == pytest.approx(own.var(axis=0, ddof=1) / 100)


def test_labels_of_another_number_than_the_variables_are_not_told_apart() -> None:
    for names, width, found in ((["a"], 2, ()), (["a", "b"], 2, ("a", "b")), (["a", "b"], 3, ()), ([], 2, ())):
        made = measure_halves(_Shares(100, 20, width), np.arange(20), 20, names, None, 0.0, 0)  # type: ignore[arg-type]
        assert made is not None
        assert made.labels == found


@pytest.mark.parametrize(
    ("n", "bags", "tables", "measured"),
    [
        (15, 10, True, False),
        (16, 10, True, True),
        (40, 7, True, False),
        (40, 8, True, True),
        (500_000, 9, False, True),
        (500_001, 9, False, False),
        (10**9, 9, True, True),
    ],
)
def test_how_many_records_and_bags_are_enough(n: int, bags: int, tables: bool, measured: bool) -> None:
    stand = _Shares(n, bags)
    engine = _tables_of(stand) if tables else stand
    made = measure_halves(engine, np.arange(bags), bags, [], None, 0.0, 0)  # type: ignore[arg-type]
    assert (made is not None) == measured


@pytest.mark.parametrize(("many", "held"), [(20, 20), (256, 256), (512, 256), (4096, 256)])
def test_many_bags_are_put_together(many: int, held: int) -> None:
    stand = _Shares(5000, held)
    assert measure_halves(stand, np.arange(many), many, [], None, 0.0, 0) is not None  # type: ignore[arg-type]
    place, learn, *_ = stand.asked[0]
    assert learn.shape[1] == held
    assert np.bincount(place).tolist() == [many // held] * held
    # Bags without records are none.
    few = _Shares(5000, held // 2)
    every_other = np.arange(0, many, 2 * (many // held))
    assert measure_halves(few, every_other, many, [], None, 0.0, 0) is not None  # type: ignore[arg-type]
    assert few.asked[0][0].tolist() == list(range(held // 2))


def test_the_seed_decides_the_halves() -> None:
    made = [measure_halves(_Shares(100, 20), np.arange(20), 20, [], None, 0.0, seed) for seed in (0, 0, 1)]  # type: ignore[arg-type]
    assert made[0] is not None
    assert made[0].same(made[1])  # type: ignore[arg-type]
    assert not made[0].same(made[2])  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", ["accuracy", "confusion"])
@pytest.mark.parametrize("kind", ["dpa", "leakage"])
def test_splits_of_a_model_that_is_never_right_score_alike_on_both_sides(kind: str, rule: str) -> None:
    """Its errors leave the truth no choice: equalized, the truth is what the model predicts, whatever bag a record is in."""
    group, _ = _records(1, 120)
    truth = (np.random.default_rng(2).random((120, 2 if kind == "dpa" else 1)) < 0.3 + 0.3 * group[:, None]).astype(int)
    problem = problem_from_table(_tables(group, truth, 1 - truth)[1], in_order=True)
    tables = LookupTables.fit(problem, kind, "accuracy")
    assert tables is not None
    bags = np.arange(len(problem.counts)) % 24
    learn = np.random.default_rng(3).random((7, 24)) < 0.4
    test = ~learn & (np.random.default_rng(4).random((7, 24)) < 0.8)
    dataset, model = tables.of_splits(bags, learn, test, rule, np.random.SeedSequence(0))
    assert dataset.shape == model.shape == (7, truth.shape[1])
    assert dataset.tolist() == model.tolist()


@pytest.mark.parametrize("kind", ["dpa", "leakage"])
def test_splits_on_tables_are_those_on_records(kind: str) -> None:
    """Several splits at once, of bags of which some are in neither part."""
    group, truth = _records(3, 90)
    said = np.where(np.random.default_rng(4).random(90) < 0.2, 1 - truth, truth)
    problem = problem_from_table(_tables(group, truth, said)[1], in_order=True)
    tables = LookupTables.fit(problem, kind, "accuracy")
    assert tables is not None
    bags = np.arange(len(problem.counts)) % 20
    learn = np.random.default_rng(5).random((5, 20)) < 0.4
    test = ~learn & (np.random.default_rng(6).random((5, 20)) < 0.7)
    rows = np.repeat(np.arange(len(problem.counts)), problem.counts)
    records = RecordTrials(problem.records(), kind, Lookup(), "accuracy", workers=1)
    fast = tables.of_splits(bags, learn, test, None, np.random.SeedSequence(0))
    slow = records.of_splits(bags[rows], learn, test, None, np.random.SeedSequence(0))
    for one, two in zip(fast, slow, strict=True):
        assert one.shape == two.shape == (5, 1)
        assert one == pytest.approx(two)
    assert len(set(fast[1].ravel().tolist())) == 5
