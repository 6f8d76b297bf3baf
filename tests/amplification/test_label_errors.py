"""Wrong labels of an attribute: by hand, by simulation, and at worst by trying all."""

from __future__ import annotations

import sys
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import biasamp
from biasamp.amplification import label_errors as module
from biasamp.amplification.label_errors import _Problem, error_matrix, from_bags
from biasamp.counts.bags import BagCounts
from biasamp.counts.joint import JointCounts
from biasamp.data import Label
from biasamp.data.arguments import read_evaluation

sys.path.insert(0, str(Path(__file__).parents[2]))

GROUPS = (Label("g", "m"), Label("g", "w"))


def repeated(table: dict[tuple[str, int, int], int]) -> tuple[list[str], list[int], list[int]]:
    rows = [cell for cell, many in table.items() for _ in range(many)]
    return [g for g, _, _ in rows], [t for _, t, _ in rows], [p for _, _, p in rows]


def test_exact_counts_are_undone_exactly() -> None:
    """True counts go through the matrix in whole records; the corrected value is that of the true labels."""
    true = {("w", 1, 1): 30, ("w", 1, 0): 20, ("w", 0, 0): 50, ("m", 1, 1): 60, ("m", 0, 1): 20, ("m", 0, 0): 20}
    recorded: dict[tuple[str, int, int], int] = {}
    for (group, task, said), many in true.items():
        other = "m" if group == "w" else "w"
        for name, part in ((group, many * 9 // 10), (other, many // 10)):
            recorded[name, task, said] = recorded.get((name, task, said), 0) + part
    truth = biasamp.directional(*repeated(true)).value
    made = biasamp.label_errors(*repeated(recorded), 0.1, resamples=50)
    assert made.corrected == pytest.approx(truth, abs=1e-12)
    assert made.value == pytest.approx(biasamp.directional(*repeated(recorded)).value, abs=1e-12)
    assert abs(made.value) < abs(truth)


def test_exact_counts_of_the_other_direction() -> None:
    true = {("x", 1, 1): 50, ("x", 1, 0): 30, ("x", 0, 0): 20, ("y", 1, 1): 20, ("y", 0, 1): 30, ("y", 0, 0): 50}
    recorded: dict[tuple[str, int, int], int] = {}
    for (task, group, said), many in true.items():
        for name, part in ((group, many * 9 // 10), (1 - group, many // 10)):
            recorded[task, name, said] = recorded.get((task, name, said), 0) + part
    made = biasamp.label_errors(*repeated(recorded), 0.1, side="truth", resamples=50)
    assert made.corrected == pytest.approx(biasamp.directional(*repeated(true)).value, abs=1e-12)


def test_matrices() -> None:
    assert error_matrix({"w": 0.2}, GROUPS, "error").tolist() == [[1.0, 0.2], [0.0, 0.8]]
    three = (*GROUPS, Label("g", "n"))
    np.testing.assert_allclose(error_matrix(0.2, three, "error"), [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    full = error_matrix({"g=w": {"m": 0.1, "n": 0.2}}, three, "error")
    np.testing.assert_allclose(full[:, 1], [0.1, 0.7, 0.2])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (0.5, "say next to nothing"),
        (1.5, "from 0 to 1"),
        ({"woman": 0.1}, "which is no group"),
        ({"w": {"m": 0.7, "w": 0.1}, "m": {"w": 1.4}}, "from 0 to 1"),
        ("much", "error is 'much'"),
    ],
)
def test_errors_that_cannot_be_are_refused(error: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        biasamp.label_errors(["w", "m"] * 20, [1, 0] * 20, [1, 0] * 20, error)


def test_rates_that_the_records_cannot_have_are_refused() -> None:
    """A group of 2% cannot be what 10% of the others would have been recorded as."""
    with pytest.raises(ValueError, match="fewer than 0 true members"):
        biasamp.label_errors(["w"] * 2 + ["m"] * 98, [1, 0] * 50, [1, 0] * 50, 0.1)


def test_the_worst_case_holds_every_way_of_being_wrong() -> None:
    """Ten records of two groups: every choice of one wrong label in each is tried, and none leaves the range."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        group = np.array(["w"] * 5 + ["m"] * 5)
        truth = rng.integers(0, 2, 10)
        said = rng.integers(0, 2, 10)
        if len(set(truth)) < 2:
            continue
        made = biasamp.label_errors(group, truth, said, 0.2, resamples=20)
        # One of five true members of each group is recorded as the other.
        for women, men in ((a, b) for a in combinations(range(5), 1) for b in combinations(range(5, 10), 1)):
            true = group.copy()
            true[list(women)], true[list(men)] = "m", "w"
            value = biasamp.directional(true, truth, said).value
            assert made.worst[0] - 1e-12 <= value <= made.worst[1] + 1e-12


def test_the_worst_case_of_a_pair_is_reached() -> None:
    """All choices of records that leave a group and join it: the ends of the ranges are met by one of them."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        sizes, (out, joined) = rng.integers(3, 6, 2), rng.integers(1, 4, 2)
        truth, said = ([rng.integers(0, 2, size) for size in sizes] for _ in range(2))
        problem = object.__new__(_Problem)
        counts = {"given": sizes, "truth": [sum(map(sum, truth))] * 2}
        counts |= {"joint_truth": [t.sum() for t in truth], "joint_predicted": [p.sum() for p in said]}
        problem.counts = {name: np.array(held, dtype=float)[:, None] for name, held in counts.items()}
        problem.both = np.array([[float((t & p).sum())] for t, p in zip(truth, said, strict=True)])
        low, high, joint_low, joint_high, size, _ = problem._worst_groups(np.array([[0.0, out], [joined, 0.0]]))
        changes, joints = [], []
        for left in combinations(range(sizes[0]), out):
            for new in combinations(range(sizes[1]), joined):
                stay = np.delete(np.arange(sizes[0]), left)
                t, p = (np.r_[held[0][stay], held[1][list(new)]] for held in (truth, said))
                changes.append((p - t).sum())
                joints.append(t.sum())
                assert size[0, 0] == len(t)
        assert (low[0, 0], high[0, 0]) == (min(changes), max(changes))
        assert (joint_low[0, 0], joint_high[0, 0]) == (min(joints), max(joints))


def test_how_wrong_labels_would_have_to_be() -> None:
    """A large effect that is sure stays so under random errors, and does not if they fall where it hurts."""
    table = {("w", 0, 0): 300, ("w", 1, 1): 60, ("w", 1, 0): 140, ("m", 1, 1): 300, ("m", 0, 0): 60, ("m", 0, 1): 140}
    made = biasamp.label_errors(*repeated(table), 0.02, resamples=200)
    assert made.concluded == 1
    assert made.tips_if_dependent is not None
    assert made.tips is None or made.tips > made.tips_if_dependent
    # The change of each group is .28: 140 of 500 of one kind must be other people's, about 14% of each group.
    assert 0.05 < made.tips_if_dependent < 0.3
    low, high = biasamp.label_errors(*repeated(table), made.tips_if_dependent, resamples=20).worst
    assert low <= 0 <= high
    nothing = biasamp.label_errors(["w", "m"] * 20, [1, 0] * 20, [1, 0] * 20, 0.02, resamples=50)
    assert (nothing.concluded, nothing.tips, nothing.tips_if_dependent) == (0, None, None)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("case", range(7))
def test_bounds_hold_the_truth(case: int) -> None:
    """At least 92% where errors are as stated; ``python -m benchmarks.auditors.label_errors 500`` has more samples."""
    from benchmarks.auditors.label_errors import CASES, covered

    held, _, _, _ = covered(CASES[case], 60, seed=1)
    assert held >= 0.92 - 2 * (0.92 * 0.08 / 60) ** 0.5


def test_errors_are_of_groups_not_of_the_attribute() -> None:
    """The name of the attribute is that of no group; of an attribute of yes/no labels each name is one."""
    groups, truth, said = ["a", "b"] * 40, [1, 0, 0, 1] * 20, [1, 1, 0, 1] * 20
    with pytest.raises(ValueError, match="names 'sex', which is no group"):
        biasamp.label_errors({"sex": groups}, truth, said, error={"sex": 0.01}, resamples=10)
    held = biasamp.label_errors({"sex": groups}, truth, said, error={"a": 0.01}, resamples=10)
    also = biasamp.label_errors({"sex": groups}, truth, said, error={"sex=a": 0.01}, resamples=10)
    assert held.value == also.value


@pytest.mark.parametrize("side", ["predicted", "", None, 0])
def test_a_side_that_is_none_is_refused(side: Any) -> None:
    """It would be taken for the truth."""
    with pytest.raises((TypeError, ValueError), match="side"):
        biasamp.label_errors(["w", "m"] * 50, [1, 0] * 50, [1, 0, 0, 1] * 25, 0.1, side=side)


def heaviest(values: list[float], many: float) -> float:
    """The largest sum of so many of these, one of them in part."""
    total = 0.0
    for value in sorted(values, reverse=True):
        taken = min(1.0, many)
        total, many = total + taken * value, many - taken
    return total


class Slow:
    """Label errors pair by pair, from records and from the counts of the same resamples."""

    def __init__(self, bags: BagCounts, train: JointCounts | None, side: str, level: float, resamples: int) -> None:
        self.side, self.level = side, level
        names = ("n", "given", "truth", "joint_truth", "joint_predicted")
        self.shape = bags.whole.joint_truth.shape
        drawn = bags.replicates(resamples, 0, names)
        self.whole = {name: np.broadcast_to(getattr(bags.whole, name), self.shape).astype(float) for name in names}
        self.drawn = [
            {name: np.broadcast_to(np.asarray(getattr(drawn, name))[k], self.shape).astype(float) for name in names}
            for k in range(resamples)
        ]
        both = np.asarray(bags.whole.joint_both)
        self.both = both.astype(float)
        self.train = None
        if train is not None:
            held = {"n": train.n, "given": train.left, "truth": train.right, "joint_truth": train.joint}
            self.train = {name: np.broadcast_to(part, self.shape).astype(float) for name, part in held.items()}

    def true(self, counts: dict[str, Any], matrix: Any) -> dict[str, Any]:
        """The counts of the true groups."""
        across = self.side == "truth"
        out = dict(counts)
        for name in ("truth", "joint_truth") if across else ("given", "joint_truth", "joint_predicted"):
            if name in counts:
                table = counts[name].T if across else counts[name]
                solved = np.linalg.solve(matrix, table)
                out[name] = solved.T if across else solved
        return out

    @staticmethod
    def change(counts: dict[str, Any], g: int, o: int) -> float | None:
        size = counts["given"][g, o]
        return (counts["joint_predicted"][g, o] - counts["joint_truth"][g, o]) / size if size > 0.5 else None

    @staticmethod
    def leaning(counts: dict[str, Any], g: int, o: int) -> float:
        n = counts["n"][g, o]
        leaning = float(counts["joint_truth"][g, o] / n - counts["given"][g, o] / n * counts["truth"][g, o] / n)
        return leaning if abs(leaning) > 1e-13 else 0.0

    def sizes(self, matrix: Any) -> Any:
        return np.linalg.solve(matrix, self.whole["given"][:, 0] if self.side == "given" else self.whole["truth"][0])

    def bounds(self, matrix: Any) -> tuple[float, float, float, int]:
        """The corrected value, its bounds, and how many pairs are unclear."""
        counts, drawn = self.true(self.whole, matrix), [self.true(one, matrix) for one in self.drawn]
        rows, columns = self.shape
        questions = max(1, (rows - 1) * (columns - 1))
        far = norm.ppf(1 - 0.01 / questions / 2)
        inverse = np.linalg.inv(matrix)
        total = known = either = variance = 0.0
        there = unclear = 0
        moved = np.zeros(len(drawn))
        for g in range(rows):
            for o in range(columns):
                delta = self.change(counts, g, o)
                again = [self.change(one, g, o) for one in drawn]
                if delta is None or sum(change is None for change in again) >= len(again) / 2:
                    continue
                there += 1
                if self.train is None:
                    lean = self.leaning(counts, g, o)
                    clear = abs(lean) > far * np.std([self.leaning(one, g, o) for one in drawn])
                else:
                    lean, clear = self.leaning(self.true(self.train, matrix), g, o), True
                sign = float(np.sign(lean))
                total += sign * delta
                known += sign * delta * clear
                either += abs(delta) * (not clear)
                unclear += not clear
                moved += [sign * (delta if change is None else change) for change in again]
                row = g if self.side == "given" else o
                variance += 2.0 * sum(inverse[row] ** 2) / (counts["given"][g, o] + 2.0) ** 2
        pairs = max(there, 1)
        reach = norm.ppf(0.5 + self.level / 2) * sqrt(moved.var() + variance) / pairs
        low, high = (known - either) / pairs - reach, (known + either) / pairs + reach
        return total / pairs, max(low, -1.0), min(high, 1.0), unclear

    def worst(self, matrix: Any) -> tuple[float, float]:
        """Every choice of so many wrong labels, the records taken one by one in the order of what they do."""
        moved = matrix * self.sizes(matrix)[None, :]
        np.fill_diagonal(moved, 0.0)
        whole, bottom, top, there = self.whole, 0.0, 0.0, 0
        rows, columns = self.shape
        for g in range(rows):
            for o in range(columns):
                lists = {h: self.records(h, o) for h in range(rows)}
                if self.side == "given":
                    swaps = [(g, moved[g].sum(), -1)] + [(h, moved[h, g], 1) for h in range(rows) if h != g]
                    size = whole["given"][g, o] - moved[g].sum() + moved[:, g].sum()
                    margin = whole["truth"][g, o]
                    changes = [[p - t for t, p in lists[h]] for h in range(rows)]
                    truths = [[t for t, _ in lists[h]] for h in range(rows)]
                    (low, high), (few, many) = (self.ends(held, g, swaps) for held in (changes, truths))
                else:
                    size = whole["given"][g, o]
                    margin = whole["truth"][g, o] - moved[o].sum() + moved[:, o].sum()
                    few = many = whole["joint_truth"][g, o]
                    few -= min(moved[o].sum(), few)
                    for h in range(columns):
                        if h != o:
                            many += min(moved[h, o], whole["joint_truth"][g, h])
                    said = whole["joint_predicted"][g, o]
                    low, high = said - many, said - few
                if size <= 0.5:
                    continue
                there += 1
                chance = size * margin / whole["n"][g, o]
                if self.train is not None:
                    lean = self.leaning(self.train, g, o)
                    up, down = lean > 0, lean < 0
                else:
                    up, down = few > chance + 1e-9, many < chance - 1e-9
                found = []
                if not down:
                    found += [low / size, high / size]
                if not up:
                    found += [-low / size, -high / size]
                bottom, top = bottom + min(found), top + max(found)
        pairs = max(there, 1)
        return max(bottom / pairs, -1.0), min(top / pairs, 1.0)

    def records(self, g: int, o: int) -> list[tuple[float, float]]:
        """Truth and prediction of every record of a pair's group."""
        both, true, said = self.both[g, o], self.whole["joint_truth"][g, o], self.whole["joint_predicted"][g, o]
        many = {(1.0, 1.0): both, (1.0, 0.0): true - both, (0.0, 1.0): said - both}
        many[0.0, 0.0] = self.whole["given"][g, o] - sum(many.values())
        return [record for record, times in many.items() for _ in range(round(times))]

    @staticmethod
    def ends(held: list[list[float]], g: int, swaps: list[tuple[int, float, int]]) -> tuple[float, float]:
        low = high = sum(held[g])
        for h, many, way in swaps:
            most, least = heaviest(held[h], many), -heaviest([-value for value in held[h]], many)
            high, low = (high + most, low + least) if way > 0 else (high - least, low - most)
        return low, high

    @staticmethod
    def changed(ends: tuple[float, float], concluded: int) -> bool:
        return not (ends[0] > 0 if concluded > 0 else ends[1] < 0)

    def tips(self, concluded: int, groups: int) -> tuple[float | None, float | None, float]:
        """Rates 0.0025 apart, until both answers are there or no rate is left to try."""
        tips = dependent = None
        tried = 0.0
        for step in range(1, 400):
            rate = step * 0.0025
            matrix = np.full((groups, groups), rate / (groups - 1))
            np.fill_diagonal(matrix, 1.0 - rate)
            told = 1.0 - rate - rate / (groups - 1) > 1e-3
            if not concluded or not told or (self.sizes(matrix) < -1e-9).any() or None not in (tips, dependent):
                break
            tried = rate
            if tips is None and self.changed(self.bounds(matrix)[1:3], concluded):
                tips = rate
            if dependent is None and self.changed(self.worst(matrix), concluded):
                dependent = rate
        return tips, dependent, tried


def drawn_case(seed: int, side: str) -> tuple[Any, Any, Any, int]:
    """Records whose groups lean to outcomes by more or less, two to four of them; some are few."""
    rng = np.random.default_rng(seed)
    groups, tasks, n = int(rng.integers(2, 5)), int(rng.integers(2, 4)), int(rng.choice([61, 199, 401]))
    share = rng.dirichlet(np.full(groups, 2.0)) if seed % 3 else np.full(groups, 1.0 / groups)
    group = rng.choice(groups, n, p=share)
    lean = rng.choice([0.1, 0.5, 0.9])
    task = np.where(rng.random(n) < lean, group % tasks, rng.integers(0, tasks, n))
    keep = rng.choice([0.5, 0.8, 0.95])
    given, truth = (group, task) if side == "given" else (task, group)
    if side == "given":
        said = np.where(rng.random(n) < keep, truth, group % tasks if seed % 2 else rng.integers(0, tasks, n))
    else:
        said = np.where(rng.random(n) < keep, truth, task % groups if seed % 2 else rng.integers(0, groups, n))
    return given.astype(str), truth.astype(str), said.astype(str), groups


@pytest.mark.parametrize("side", ["given", "truth"])
@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_every_figure_is_that_of_a_loop_over_pairs(seed: int, trained: bool, side: str) -> None:
    given, truth, said, _ = drawn_case(seed, side)
    evaluation, _, _ = read_evaluation(given, truth, said, None, None)
    bags = BagCounts.from_labels(evaluation)
    many = len((evaluation.given if side == "given" else evaluation.truth).labels)
    rng = np.random.default_rng(seed)
    matrix = np.eye(many) * (1 - (rate := (0.01, 0.04)[seed % 2])) + rate * rng.dirichlet(np.ones(many), many).T
    train = None
    if trained:
        mixed = rng.permutation(len(truth)) if seed % 2 else slice(None)
        other, _, _ = read_evaluation(given, truth[mixed], said, None, None)
        train = JointCounts.from_labels(other.given, other.truth)
    level = (0.9, 0.95)[seed % 2]
    slow = Slow(bags, train, side, level, 24)
    if (slow.sizes(matrix) < 0).any():
        with pytest.raises(ValueError, match="fewer than 0 true members"):
            from_bags(bags, matrix, side, train=train, level=level, resamples=24)
        return
    made = from_bags(bags, matrix, side, train=train, level=level, resamples=24)
    corrected, low, high, unclear = slow.bounds(matrix)
    value, none_low, none_high, _ = slow.bounds(np.eye(many))
    if not trained:
        assert made.value == pytest.approx(biasamp.directional(given, truth, said).value, abs=1e-12)
    assert (made.value, made.corrected) == pytest.approx((value, corrected), abs=1e-9)
    assert (made.low, made.high, made.unclear) == pytest.approx((low, high, unclear), abs=1e-9)
    assert made.worst == pytest.approx(slow.worst(matrix), abs=1e-9)
    assert made.concluded == (1 if none_low > 0 else -1 if none_high < 0 else 0)
    tips, dependent, tried = slow.tips(made.concluded, many)
    assert made.tips == (None if tips is None else pytest.approx(tips))
    assert made.tips_if_dependent == (None if dependent is None else pytest.approx(dependent))
    assert made.tried == pytest.approx(tried)
    assert made.level == level
    assert made.matrix is matrix


def test_what_is_not_stated() -> None:
    """Defaults, as the page of the function names them."""
    rng = np.random.default_rng(1)
    truth = np.array([1, 0] * 40 + [0, 1] * 10)
    asked = ["w", "m"] * 50, truth, np.where(rng.random(100) < 0.3, 1 - truth, truth)
    made = biasamp.label_errors(*asked, 0.1)
    said = biasamp.label_errors(*asked, 0.1, side="given", level=0.95, resamples=1000, seed=0)
    assert made.to_dict() == said.to_dict()
    evaluation, _, _ = read_evaluation(*asked, None, None)
    assert from_bags(BagCounts.from_labels(evaluation), made.matrix, "given").to_dict() == said.to_dict()
    for other in ({"level": 0.9}, {"resamples": 999}, {"seed": 1}):
        again = biasamp.label_errors(*asked, 0.1, **other)
        assert again.corrected == made.corrected
        assert (again.low, again.high) != (made.low, made.high)
    assert said.to_dict() == {
        "value": made.value,
        "corrected": made.corrected,
        "unclear": made.unclear,
        "concluded": made.concluded,
        "tips": made.tips,
        "tips_if_dependent": made.tips_if_dependent,
        "tried": made.tried,
        "level": 0.95,
        "interval": [made.low, made.high],
        "worst": list(made.worst),
        "matrix": [[0.9, 0.1], [0.1, 0.9]],
    }
    assert made.worst[0] < made.worst[1]


def test_the_fewest_resamples() -> None:
    asked = ["w", "m"] * 50, [1, 0] * 40 + [0, 1] * 10, [1, 0] * 50, 0.1
    assert biasamp.label_errors(*asked, resamples=2).low < biasamp.label_errors(*asked, resamples=2).high
    with pytest.raises(ValueError, match="resamples"):
        biasamp.label_errors(*asked, resamples=1)
    with pytest.raises(TypeError, match="resamples"):
        biasamp.label_errors(*asked, resamples=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed"):
        biasamp.label_errors(*asked, seed=-1)
    with pytest.raises(ValueError, match="level"):
        biasamp.label_errors(*asked, level=1.0)


@pytest.mark.filterwarnings("ignore:given has one group only")
def test_one_group_and_several_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="given has one group only, which cannot be recorded as another"):
        biasamp.label_errors(["w"] * 18, ["x", "y"] * 9, ["y", "y"] * 9, 0.1)
    with pytest.raises(ValueError, match="given has several labels per record"):
        biasamp.label_errors(np.eye(2, dtype=int)[[0, 1, 1] * 9], [1, 0, 1] * 9, [1, 0, 0] * 9, 0.1)
    with pytest.raises(ValueError, match="error: there is one group only"):
        error_matrix(0.1, GROUPS[:1], "error")


def test_matrices_at_the_edge() -> None:
    """No error, all labels turned, and what is in between; each refused on the far side."""
    three = (*GROUPS, Label("g", "n"))
    np.testing.assert_array_equal(error_matrix(0.0, GROUPS, "error"), np.eye(2))
    np.testing.assert_array_equal(error_matrix({}, three, "error"), np.eye(3))
    np.testing.assert_array_equal(error_matrix(1.0, GROUPS, "error"), [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(error_matrix({"m": 1.0, "w": 1.0}, GROUPS, "error"), [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(error_matrix(1.0, three, "error"), 0.5 * (1.0 - np.eye(3)))
    swapped = error_matrix({"m": {"w": 1.0}, "w": {"m": 1.0, "w": 0.3}, "n": {"m": 0.0}}, three, "error")
    np.testing.assert_array_equal(swapped, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(error_matrix({"n": 0.2}, three, "error")[:, 2], [0.1, 0.1, 0.8])
    for near in (0.4994, 0.5006):
        np.testing.assert_allclose(error_matrix(near, GROUPS, "error"), [[1 - near, near], [near, 1 - near]])
    for near in (0.4996, 0.5004):
        with pytest.raises(ValueError, match="say next to nothing"):
            error_matrix(near, GROUPS, "error")
    for wrong in (-0.01, 1.01):
        for stated in (wrong, {"w": wrong}, {"w": {"m": wrong}}):
            with pytest.raises(ValueError, match="from 0 to 1"):
                error_matrix(stated, GROUPS, "error")
    with pytest.raises(ValueError, match="chances that 'w' is recorded as another group add up to more than 1"):
        error_matrix({"w": {"m": 0.6, "n": 0.5}}, three, "error")
    with pytest.raises(ValueError, match="chances that 'n' is recorded as another group add up to more than 1"):
        error_matrix({"n": {"m": 0.6, "w": 0.5}, "w": {"m": 0.6, "n": 0.41}}, three, "error")


def test_groups_that_are_named() -> None:
    """By category, by the whole label, and labels without categories by their name."""
    alone = Label("horse", None), Label("cat", None)
    np.testing.assert_allclose(error_matrix({"cat": 0.2}, alone, "error"), [[1.0, 0.2], [0.0, 0.8]])
    for name in ("w", "g=w"):
        np.testing.assert_allclose(error_matrix({name: 0.2}, GROUPS, "error"), [[1.0, 0.2], [0.0, 0.8]])
    with pytest.raises(ValueError, match=r"error names 'hors', which is no group; did you mean 'horse'\?"):
        error_matrix({"hors": 0.2}, alone, "error")
    with pytest.raises(ValueError, match="add up"):
        error_matrix({"horse": {"cat": 0.6, "cow": 0.6}}, (*alone, Label("cow", None)), "error")
    many = tuple(Label("g", f"group {i}") for i in range(9))
    with pytest.raises(ValueError, match=r"the groups are 'group 0', .*'group 7'$"):
        error_matrix({"zzz": 0.2}, many, "error")


def test_what_every_error_turned_is_turned_back() -> None:
    """Labels that are all wrong say as much as labels that are all right."""
    truth, said = [1, 0] * 40 + [0, 1] * 10, [1, 0, 1, 1] * 25
    right = biasamp.label_errors(["w", "m"] * 50, truth, said, 0.0, resamples=20)
    wrong = biasamp.label_errors(["m", "w"] * 50, truth, said, 1.0, resamples=20)
    assert wrong.corrected == pytest.approx(right.corrected)
    assert right.corrected == right.value
    assert right.worst == pytest.approx((right.value, right.value))


def test_no_more_resamples_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    given, truth, said, _ = drawn_case(1, "given")
    cells = len(set(given)) * len(set(truth))
    evaluation, _, _ = read_evaluation(given, truth, said, None, None)
    bags = BagCounts.from_labels(evaluation)

    def made(resamples: int) -> tuple[float, float]:
        found = from_bags(bags, np.eye(len(set(given))), "given", resamples=resamples)
        return found.low, found.high

    several = {many: made(many) for many in (30, 50, 60, 70)}
    assert len(set(several.values())) == 4
    monkeypatch.setattr(module, "_MOST_RESAMPLED", 60 * cells)
    assert [made(30), made(60), made(70)] == [several[30], several[60], several[60]]
    monkeypatch.setattr(module, "_MOST_RESAMPLED", 1)
    assert [made(30), made(60)] == [several[30], several[50]]


def test_too_few_bags_have_no_bounds() -> None:
    evaluation, _, _ = read_evaluation(["w", "m"] * 50, [1, 0] * 50, [1, 0] * 50, None, None)
    with pytest.raises(ValueError, match="bounds need counts by bag"):
        from_bags(BagCounts.from_labels(evaluation, bags=1), np.eye(2), "given", resamples=10)


def test_labels_that_are_independent_have_no_sign() -> None:
    """One value of truth in every group as often: what is predicted amplifies nothing there, whatever rounding leaves."""
    given = np.repeat(["a", "b", "c"], [21, 14, 14])
    truth = np.r_[[1] * 3, [0] * 18, [1] * 2, [0] * 12, [1] * 2, [0] * 12]
    said = np.where(given == "a", 1, 0)
    made = biasamp.label_errors(given, truth, said, 0.1, resamples=20)
    assert (made.value, made.corrected, made.unclear) == (0.0, 0.0, 6)
    assert made.low < 0 < made.high
    assert made.worst[0] < 0 < made.worst[1]
    exact = biasamp.label_errors(given, truth, said, 0.0, resamples=20).worst
    change = (18 / 21 + 2 / 14 + 2 / 14) / 3
    assert exact == pytest.approx((-change, change))


def test_the_unit_of_weights_does_not_matter() -> None:
    """Weights that add up to 1, or to millions: the same records."""
    rng = np.random.default_rng(2)
    given, truth = rng.choice(["a", "b"], 300), rng.integers(0, 2, 300)
    said = np.where(rng.random(300) < 0.3, (given == "a").astype(int), truth)
    found = []
    for unit in (1.0, 1.0 / 300.0, 1e4):
        evaluation, _, _ = read_evaluation(given, truth, said, None, np.full(300, unit))
        bags = BagCounts.from_labels(evaluation)
        made = from_bags(bags, error_matrix(0.1, evaluation.given.labels, "error"), "given", resamples=20)
        found.append([made.value, made.corrected, made.low, made.high, *made.worst])
    alone = biasamp.label_errors(given, truth, said, 0.1, resamples=20)
    plain = [alone.value, alone.corrected, alone.low, alone.high, *alone.worst]
    np.testing.assert_allclose(found, [plain] * 3, rtol=1e-6)
    assert abs(alone.value) > 0.01


def test_uneven_weights_count_as_few_records() -> None:
    """Half of the weight on one record in ten leaves fewer records, by Kish, and wider bounds than as many of weight 1."""
    rng = np.random.default_rng(3)
    given, truth = rng.choice(["a", "b"], 60), rng.integers(0, 2, 60)
    weights = np.where(np.arange(60) % 10 == 0, 9.0, 1.0)
    evaluation, _, _ = read_evaluation(given, truth, truth.copy(), None, weights)
    made = from_bags(BagCounts.from_labels(evaluation), np.eye(2), "given", resamples=10)
    # Without any wrong prediction only one more error of either kind in each group is left.
    effective = weights.sum() / (weights**2).sum()
    size = [weights[given == name].sum() * effective for name in ("a", "b")]
    reach = float(norm.ppf(0.975)) * sqrt(sum(2 * 2.0 / (one + 2.0) ** 2 for one in size)) / 4
    assert (made.value, made.high) == pytest.approx((0.0, reach))
