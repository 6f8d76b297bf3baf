"""Trials on records: for attackers that are trained, and for data that no small table holds.

Each trial has a seed of its own, so that trials can run anywhere in any order and give the same scores.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .attackers import Attacker, AttackerError, plain_score
from .equalize import Rule, equalize_records
from .problem import Problem
from .quality import Quality
from .scores import Scores
from .sides import Index, Side, Values

Seed = np.random.SeedSequence
Progress = Callable[[int, int], None]

# Trials that take longer than this in all, in seconds, are shared out over the processors.
_WORTH_SHARING = 60.0


@dataclass(frozen=True, eq=False)
class RecordTrials:
    """A problem of one row per record, an attacker, and which way it looks (see ``LookupTables``)."""

    problem: Problem
    kind: str
    attacker: Attacker
    quality: Quality
    workers: int | None = None
    progress: Progress | None = None

    def trials(self, count: int, seed: Seed, rules: tuple[Rule, ...], evaluation: str) -> Scores:
        """Scores of so many trials."""
        return Scores.from_rows(self._rows([_Trial(child, rules, evaluation) for child in seed.spawn(count)]), rules)

    def halves(self, count: int, seed: Seed, rule: Rule, evaluation: str) -> tuple[Scores, Scores]:
        """Two trials, scored both ways, on each of so many random halves of the records."""
        plans = [_Trial(half, (rule,), evaluation, half=half, both_ways=True) for half in seed.spawn(count)]
        first, second = (Scores.from_rows(rows, (rule,)) for rows in self._twice(plans))
        return first, second

    def perturbed(self, count: int, seed: Seed, rule: Rule, evaluation: str) -> tuple[Values, Values]:
        """Dataset scores of two splits, scored both ways, of each of so many perturbations of all records."""
        plans = [
            _Trial(move, (rule,), evaluation, move=move, both_ways=True, model=False) for move in seed.spawn(count)
        ]
        first, second = self._twice(plans)
        return first[:, 0], second[:, 0]

    def of_splits(
        self, bags: Index, learn: NDArray[np.bool_], test: NDArray[np.bool_], rule: Rule, seed: Seed
    ) -> tuple[Values, Values]:
        """Scores on the truth and on the predictions, scored both ways, of shape (trials, 1); see ``LookupTables``."""
        splits = [(np.flatnonzero(one[bags]), np.flatnonzero(two[bags])) for one, two in zip(learn, test, strict=True)]
        plans = [
            _Trial(child, (rule,), "held_out", split=split, both_ways=True)
            for child, split in zip(seed.spawn(len(splits)), splits, strict=True)
        ]
        rows = self._rows(plans)
        return rows[:, 2:3], rows[:, :1]

    def _twice(self, plans: list[_Trial]) -> tuple[Values, Values]:
        """Two trials of each plan with seeds of their own, which share its half or its perturbation."""
        rows = self._rows([replace(plan, seed=child) for plan in plans for child in plan.seed.spawn(2)])
        return rows[::2], rows[1::2]

    def _rows(self, plans: list[_Trial]) -> Values:
        """The scores of the trials, in order; the first failure is raised.

        Without ``workers``, joblib's own setting counts; where there is none, long work goes to all processors, and
        short work stays here, since starting processes takes seconds. The time of the second trial tells: the first
        one has to load what it needs.
        """
        # What runs elsewhere goes without the progress bar, which cannot be sent there.
        alone = replace(self, progress=None)
        numbered = list(enumerate(plans))
        first = [alone._trial(*one) for one in numbered[:1]]
        start = time.perf_counter()
        first += [alone._trial(*one) for one in numbered[1:2]]
        later = numbered[2:]
        seconds = (time.perf_counter() - start) * len(later)
        rest: Iterable[list[float]] = (alone._trial(*one) for one in later)
        workers = self._shares(seconds) if later else 1
        if workers != 1:
            from joblib import Parallel, delayed

            rest = Parallel(n_jobs=workers, return_as="generator")(delayed(alone._trial)(*one) for one in later)
        rows = []
        for row in itertools.chain(first, rest):
            rows.append(row)
            if self.progress is not None:
                self.progress(len(rows), len(plans))
        return np.array(rows)

    def _shares(self, seconds: float) -> int:
        if self.workers is not None:
            return self.workers
        from joblib import Parallel

        set_by_caller = int(Parallel().n_jobs or 1)
        return set_by_caller if set_by_caller != 1 or seconds < _WORTH_SHARING else -1

    def _trial(self, place: int, plan: _Trial) -> list[float]:
        """Pairs of scores (with and without input): of the model, and of the truth by each rule."""
        # A stream of its own for each step, so that one step's draws do not move another's.
        labelling, splitting, moving, attacking = plan.seed.spawn(4)
        problem, n = self.problem, len(self.problem.truth)
        if plan.half is not None:
            chosen, _ = _halves(n, plan.half)
            problem, n = problem.take(chosen), n // 2
        elif plan.split is not None:
            problem, n = problem.take(np.concatenate(plan.split)), sum(map(len, plan.split))
        moves = np.random.default_rng(moving if plan.move is None else plan.move)
        problem = problem.hard(moves if plan.move is not None else np.random.default_rng(labelling))
        learn = test = np.arange(n)
        if plan.split is not None:
            learn, test = np.split(learn, [len(plan.split[0])])
        elif plan.evaluation == "held_out":
            learn, test = _halves(n, splitting)
        ways = [(learn, test), (test, learn)] if plan.both_ways else [(learn, test)]
        seed = int(attacking.generate_state(1)[0])
        row: list[float] = []
        if plan.model:
            row += self._pair(problem, problem.predicted, ways, seed, place, "model")
        for rule in plan.rules:
            truth = equalize_records(problem.truth, problem.predicted, rule, moves)
            row += self._pair(problem, truth, ways, seed, place, "dataset")
        return row

    def _pair(
        self, problem: Problem, version: Side, ways: list[tuple[Index, Index]], seed: int, place: int, which: str
    ) -> list[float]:
        """Score with and without input, on one version of the truth."""
        read, target = (problem.other, version) if self.kind == "dpa" else (version, problem.other)
        scores = []
        try:
            for learn, test in ways:
                score = self.attacker.score(read, target, learn, test, self.quality, seed)
                scores.append((score, plain_score(target, learn, test, self.quality)))
        except Exception as error:
            raise AttackerError(
                f"attacker {self.attacker.name} failed in trial {place} on the {which} side: {error}"
            ) from error
        return [float(np.mean(side)) for side in zip(*scores, strict=True)]


def _halves(n: int, seed: Seed) -> tuple[Index, Index]:
    """Two random halves of the records, each in their order; the first is the smaller one."""
    first = np.zeros(n, dtype=bool)
    first[np.random.default_rng(seed).permutation(n)[: n // 2]] = True
    return np.flatnonzero(first), np.flatnonzero(~first)


@dataclass(frozen=True, eq=False)
class _Trial:
    """What one trial is to do; its seed is its own, but for a half or a perturbation shared with another."""

    seed: Seed
    rules: tuple[Rule, ...]
    evaluation: str
    half: Seed | None = None
    split: tuple[Index, Index] | None = None
    move: Seed | None = None
    both_ways: bool = False
    model: bool = True
