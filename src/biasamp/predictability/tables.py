"""Trials of the lookup attacker on contingency tables: the cost of a trial is that of the cells.

The table of one variable counts (other, truth, predicted). A trial splits it into halves, perturbs the truth,
and scores the best lookup of one half on the other. All trials go through each step together. For a set of
labels as target, the records are split once for all labels, and then every label has its own small tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .cell_draws import Counts, draw
from .equalize import Rule, equalize_tables
from .lookup import Table, best_score, no_input
from .problem import Problem
from .sides import Index, Labels
from .trial_scores import Scores

Seed = np.random.SeedSequence
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]

# Beyond these a table has more cells than it saves; records are then the cheaper way.
_CLASSES = 16
_CELLS = 1024
# Numbers held at once by all trials together.
_AT_ONCE = 1 << 23
# Sums in 32-bit floats are exact below this.
_EXACT_IN_FLOAT = 1 << 24
_ROWS = 1 << 13


@dataclass(frozen=True, eq=False)
class LookupTables:
    """A problem as tables, and which way the attackers look.

    ``kind`` is ``"dpa"`` (the other side is read, truth predicted) or ``"leakage"`` (truth is read, the other
    side predicted).
    """

    problem: Problem
    kind: str
    quality: str
    others: Index
    size: int

    @classmethod
    def fit(cls, problem: Problem, kind: str, quality: object) -> LookupTables | None:
        """The tables, or None where they would not fit or not do."""
        if not problem.discrete or problem.soft or not isinstance(quality, str):
            return None
        other, truth = problem.other, problem.truth
        assert isinstance(other, Labels)
        assert isinstance(truth, Labels)
        if max(truth.sizes) > _CLASSES or (kind == "leakage" and truth.width > 1):
            return None
        others, size = other.combinations()
        if size * max(truth.sizes) ** 2 > _CELLS:
            return None
        if truth.width > 1 and len(set(truth.sizes)) > 1:
            return None
        return cls(problem, kind, quality, others, size)

    def trials(self, count: int, seed: Seed, rules: tuple[Rule, ...], evaluation: str) -> Scores:
        """Scores of so many trials."""
        rng = np.random.default_rng(seed)
        parts = []
        for sample in self._samples(count):
            split = self._split(sample, rng, evaluation)
            model, model_plain = self._score(split.sum(axis=-2), len(sample))
            scores = {rule: self._score(equalize_tables(split, rule, rng), len(sample)) for rule in rules}
            dataset, plain = ({rule: pair[side] for rule, pair in scores.items()} for side in (0, 1))
            parts.append(Scores(model, model_plain, dataset, plain))
        return Scores.joined(parts)

    def halves(self, count: int, seed: Seed, rule: Rule, evaluation: str) -> tuple[Scores, Scores]:
        """Two trials, scored both ways, on each of so many random halves of the records."""
        rng = np.random.default_rng(seed)
        parts: tuple[list[Scores], list[Scores]] = ([], [])
        for sample in self._samples(count):
            half = draw(sample, self.problem.n // 2, rng)
            for part in parts:
                split = self._split(half, rng, evaluation)
                model = self._both_ways(split.sum(axis=-2), len(sample))
                dataset = self._both_ways(equalize_tables(split, rule, rng), len(sample))
                part.append(Scores(*model, {rule: dataset[0]}, {rule: dataset[1]}))
        return Scores.joined(parts[0]), Scores.joined(parts[1])

    def perturbed(
        self, count: int, seed: Seed, rule: Rule, evaluation: str
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Dataset scores of two splits, scored both ways, of each of so many perturbations of all records."""
        rng = np.random.default_rng(seed)
        parts: tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]] = ([], [])
        for sample in self._samples(count):
            moved = equalize_tables(self._tables(sample)[:, None], rule, rng)
            for part in parts:
                part.append(self._both_ways(_halved(moved, rng, evaluation), len(sample))[0])
        return np.concatenate(parts[0]), np.concatenate(parts[1])

    def _samples(self, count: int) -> Iterator[Counts]:
        """All records, once for each trial, as many trials at once as fit."""
        step = self._chunk()
        for start in range(0, count, step):
            yield np.broadcast_to(self.problem.counts, (min(step, count - start), len(self.problem.counts)))

    def _chunk(self) -> int:
        truth = self._labels[1]
        numbers = 4 * truth.width * self.size * truth.sizes[0] ** 2 + len(self.problem.counts)
        return max(1, _AT_ONCE // numbers)

    @property
    def _labels(self) -> tuple[Labels, Labels, Labels]:
        other, truth, predicted = self.problem.other, self.problem.truth, self.problem.predicted
        assert isinstance(other, Labels)
        assert isinstance(truth, Labels)
        assert isinstance(predicted, Labels)
        return other, truth, predicted

    @cached_property
    def _whole(self) -> Counts:
        return self._count(self.problem.counts[None])

    def _tables(self, cells: Counts) -> Counts:
        """Counts by cell as tables, shape (trials * variables, others, classes, classes)."""
        if cells.strides[0] == 0:  # all records, once for each trial
            return np.tile(self._whole, (len(cells), 1, 1, 1))
        return self._count(cells)

    def _count(self, cells: Counts) -> Counts:
        _, truth, predicted = self._labels
        classes, room = truth.sizes[0], self.size * truth.sizes[0] ** 2
        if classes == 2 and truth.width > 1 and self.problem.n < _EXACT_IN_FLOAT:
            out = self._count_pairs(cells)
        else:
            out = np.zeros((len(cells), truth.width, room), dtype=np.int64)
            for v in range(truth.width):
                place = (self.others * classes + truth.codes[:, v]) * classes + predicted.codes[:, v]
                out[:, v] = _summed(cells, place, room)
        return out.reshape(len(cells) * truth.width, self.size, classes, classes)

    def _count_pairs(self, cells: Counts) -> Counts:
        """Two classes each: the four counts follow from three sums, which are a matrix product."""
        _, truth, predicted = self._labels
        out = np.zeros((len(cells), truth.width, self.size, 4), dtype=np.float64)
        for other in range(self.size):
            rows = np.flatnonzero(self.others == other)
            for start in range(0, len(rows), _ROWS):
                some = rows[start : start + _ROWS]
                weights = cells[:, some].astype(np.float32)
                yes, said = truth.codes[some], predicted.codes[some]
                # float32 holds whole numbers exactly to 2^24, and no sum of so few records is larger.
                sums = weights @ np.concatenate([yes, said, yes * said], axis=1).astype(np.float32)
                true, positive, both = np.split(sums, 3, axis=1)
                total = weights.sum(axis=1, keepdims=True)
                out[:, :, other] += np.stack(
                    [total - true - positive + both, positive - both, true - both, both], axis=-1
                )
        return np.rint(out).astype(np.int64)

    def _split(self, sample: Counts, rng: np.random.Generator, evaluation: str) -> Counts:
        """Tables of the records learnt from and of those scored, along axis 1; in sample, all in one part."""
        whole = self._tables(sample)
        if evaluation == "in_sample":
            return whole[:, None]
        learn = self._tables(draw(sample, sample.sum(axis=1) // 2, rng))
        return np.stack([learn, whole - learn], axis=1)

    def _both_ways(self, parts: Counts, trials: int) -> Pair:
        """Each half scored by what was learnt from the other: no record's luck of the draw is left."""
        there, back = self._score(parts, trials), self._score(parts[:, ::-1], trials)
        return 0.5 * (there[0] + back[0]), 0.5 * (there[1] + back[1])

    def _score(self, parts: Counts, trials: int) -> Pair:
        """Score of the lookup, and of the one without input, for each trial; parts of (other, truth)."""
        learn, test = parts[:, 0], parts[:, -1]
        if self.kind == "dpa":
            label = self._labels[1].yes_no[0]
            score = best_score(learn, test, self.quality, label=label)
            plain = best_score(no_input(learn), no_input(test), self.quality, label=label)
            return _mean(score, trials), _mean(plain, trials)
        other = self._labels[0]
        each, each_plain = [], []
        for v, classes in enumerate(other.sizes):
            a, b = (self._by_class(t, v, classes) for t in (learn, test))
            each.append(best_score(a, b, self.quality, label=other.yes_no[v]))
            each_plain.append(best_score(no_input(a), no_input(b), self.quality, label=other.yes_no[v]))
        return np.mean(each, axis=0), np.mean(each_plain, axis=0)

    def _by_class(self, table: Table, variable: int, classes: int) -> Table:
        """Counts of (truth, class of one variable of the other side)."""
        other = self._labels[0]
        kind = np.zeros(self.size, dtype=np.int64)
        kind[self.others] = other.codes[:, variable]
        member = (kind[:, None] == np.arange(classes)).astype(table.dtype)
        return np.asarray(np.einsum("tok,oc->tkc", table, member))


def _summed(cells: Counts, place: Index, room: int) -> Counts:
    """Add up columns that fall on the same place."""
    order = np.argsort(place, kind="stable")
    held, start = np.unique(place[order], return_index=True)
    out = np.zeros((len(cells), room), dtype=np.int64)
    out[:, held] = np.add.reduceat(cells[:, order], start, axis=1)
    return out


def _halved(tables: Counts, rng: np.random.Generator, evaluation: str) -> Counts:
    """Perturbed tables, one part each, split into halves along axis 1."""
    if evaluation == "in_sample":
        return tables
    flat = tables.reshape(len(tables), -1)
    learn = draw(flat, flat.sum(axis=1) // 2, rng).reshape(tables.shape)
    return np.concatenate([learn, tables - learn], axis=1)


def _mean(scores: NDArray[np.float64], trials: int) -> NDArray[np.float64]:
    """Over the variables of each trial; NaN stays NaN, to be reported with its trial."""
    return np.asarray(scores.reshape(trials, -1).mean(axis=1))
