"""Trials of the lookup attacker on contingency tables: the cost of a trial is that of the cells.

The table of one variable counts (other, truth, predicted). A trial splits it into halves, perturbs the truth,
and scores the best lookup of one half on the other. All trials go through each step together. For a set of
labels as target, the records are split once for all labels, and then every label has its own small tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .draws import Counts, draw
from .equalize import Rule, equalize_tables
from .lookup import Table, best_score, no_input
from .problem import Problem
from .scores import Scores
from .sides import Index, Labels

Seed = np.random.SeedSequence

# Beyond these a table has more cells than it saves; records are then the cheaper way.
_CLASSES = 16
_CELLS = 1024
# Numbers held at once by all trials together.
_AT_ONCE = 1 << 22


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
        rng, step = np.random.default_rng(seed), self._chunk()
        parts = []
        for start in range(0, count, step):
            rows = min(step, count - start)
            sample = np.broadcast_to(self.problem.counts, (rows, len(self.problem.counts)))
            parts.append(self._run(sample, rng, rules, evaluation))
        return Scores.joined(parts)

    def halves(self, count: int, seed: Seed, rules: tuple[Rule, ...], evaluation: str) -> list[Scores]:
        """Two trials on each of so many random halves of the records."""
        rng, step = np.random.default_rng(seed), self._chunk()
        out: list[list[Scores]] = [[], []]
        for start in range(0, count, step):
            rows = min(step, count - start)
            counts = np.broadcast_to(self.problem.counts, (rows, len(self.problem.counts)))
            half = draw(counts, self.problem.n // 2, rng)
            for part in out:
                part.append(self._run(half, rng, rules, evaluation))
        return [Scores.joined(part) for part in out]

    def resplit(self, count: int, seed: Seed, rule: Rule, evaluation: str) -> list[NDArray[np.float64]]:
        """Dataset scores of two splits of each of so many perturbations."""
        rng, step = np.random.default_rng(seed), self._chunk()
        out: list[list[NDArray[np.float64]]] = [[], []]
        whole = self._tables(self.problem.counts[None])
        for start in range(0, count, step):
            rows = min(step, count - start)
            parts = np.tile(whole, (rows, 1, 1, 1))[:, None]
            perturbed = equalize_tables(parts, rule, rng)[:, 0]
            for part in out:
                part.append(self._split_scores(perturbed, rows, rng, evaluation))
        return [np.concatenate(part) for part in out]

    def _chunk(self) -> int:
        assert isinstance(self.problem.truth, Labels)
        classes = self.problem.truth.sizes[0]
        numbers = self.problem.truth.width * self.size * classes * classes + len(self.problem.counts)
        return max(1, _AT_ONCE // (4 * numbers))

    def _tables(self, cells: Counts) -> Counts:
        """Counts by cell as tables, shape (trials * variables, others, classes, classes)."""
        truth, predicted = self.problem.truth, self.problem.predicted
        assert isinstance(truth, Labels)
        assert isinstance(predicted, Labels)
        classes = truth.sizes[0]
        room = self.size * classes * classes
        out = np.zeros((len(cells), truth.width, room), dtype=np.int64)
        for v in range(truth.width):
            place = (self.others * classes + truth.codes[:, v]) * classes + predicted.codes[:, v]
            if len(np.unique(place)) == len(place):
                out[:, v, place] = cells
            else:
                out[:, v] = _summed(cells, place, room)
        return out.reshape(len(cells) * truth.width, self.size, classes, classes)

    def _run(self, sample: Counts, rng: np.random.Generator, rules: tuple[Rule, ...], evaluation: str) -> Scores:
        """One trial on each row of counts by cell."""
        trials = len(sample)
        whole = self._tables(sample)
        if evaluation == "in_sample":
            parts = whole[:, None]
        else:
            learn = self._tables(draw(sample, sample.sum(axis=1) // 2, rng))
            parts = np.stack([learn, whole - learn], axis=1)
        # Predictions: add up over the truth. Parts 0 and -1 are the same table in sample.
        said = parts.sum(axis=-2)
        model, model_plain = self._score(said[:, 0], said[:, -1], trials)
        dataset, dataset_plain = {}, {}
        for rule in rules:
            true = equalize_tables(parts, rule, rng)
            dataset[rule], dataset_plain[rule] = self._score(true[:, 0], true[:, -1], trials)
        return Scores(model, model_plain, dataset, dataset_plain)

    def _split_scores(self, perturbed: Counts, trials: int, rng: np.random.Generator, evaluation: str) -> NDArray[np.float64]:
        learn = test = perturbed
        if evaluation == "held_out":
            flat = perturbed.reshape(len(perturbed), -1)
            learn = draw(flat, flat.sum(axis=1) // 2, rng).reshape(perturbed.shape)
            test = perturbed - learn
        return self._score(learn, test, trials)[0]

    def _score(self, learn: Table, test: Table, trials: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score of the lookup, and of the one without input, for each trial."""
        if self.kind == "dpa":
            truth = self.problem.truth
            assert isinstance(truth, Labels)
            label = truth.yes_no[0]
            score = best_score(learn, test, self.quality, label=label)
            plain = best_score(no_input(learn), no_input(test), self.quality, label=label)
            return _mean(score, trials), _mean(plain, trials)
        other = self.problem.other
        assert isinstance(other, Labels)
        each, each_plain = [], []
        for v, classes in enumerate(other.sizes):
            a, b = (self._by_class(t, v, classes) for t in (learn, test))
            each.append(best_score(a, b, self.quality, label=other.yes_no[v]))
            each_plain.append(best_score(no_input(a), no_input(b), self.quality, label=other.yes_no[v]))
        return np.mean(each, axis=0), np.mean(each_plain, axis=0)

    def _by_class(self, table: Table, variable: int, classes: int) -> Table:
        """Counts of (truth, class of one variable of the other side)."""
        other = self.problem.other
        assert isinstance(other, Labels)
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


def _mean(scores: NDArray[np.float64], trials: int) -> NDArray[np.float64]:
    """Over the variables of each trial; NaN stays NaN, to be reported with its trial."""
    return np.asarray(scores.reshape(trials, -1).mean(axis=1))
