"""Trials on records: for attackers that are trained, and for data that no small table holds.

Each trial has a seed of its own, so that trials can run anywhere in any order and give the same scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .attackers import Attacker, AttackerError, plain_score
from .equalize import Rule, equalize_records
from .problem import Problem
from .quality import Quality
from .scores import Scores
from .sides import Index, Side

Progress = Callable[[int, int], None]

# Trials that take longer than this in all are shared out over the processors.
_WORTH_SHARING = 5.0


@dataclass(frozen=True, eq=False)
class RecordTrials:
    """A problem of one row a record, an attacker, and which way it looks (see ``LookupTables``)."""

    problem: Problem
    kind: str
    attacker: Attacker
    quality: Quality
    workers: int | None = None
    progress: Progress | None = None

    def trials(self, count: int, seed: np.random.SeedSequence, rules: tuple[Rule, ...], evaluation: str) -> Scores:
        """Scores of so many trials."""
        tasks = [(None, s, s) for s in seed.spawn(count)]
        return self._scores(tasks, rules, evaluation)

    def halves(self, count: int, seed: np.random.SeedSequence, rules: tuple[Rule, ...], evaluation: str) -> list[Scores]:
        """Two trials on each of so many random halves of the records."""
        n, tasks = self.problem.n, []
        for child in seed.spawn(count):
            half, *own = child.spawn(3)
            chosen = np.sort(np.random.default_rng(half).permutation(n)[: n // 2])
            tasks += [(chosen, s, s) for s in own]
        scores = self._scores(tasks, rules, evaluation)
        return [_every_other(scores, first) for first in (0, 1)]

    def resplit(self, count: int, seed: np.random.SeedSequence, rule: Rule, evaluation: str) -> list[NDArray[np.float64]]:
        """Dataset scores of two splits of each of so many perturbations."""
        tasks = []
        for child in seed.spawn(count):
            perturb, *splits = child.spawn(3)
            tasks += [(None, perturb, split) for split in splits]
        scores = self._scores(tasks, (rule,), evaluation, dataset_only=True).dataset[rule]
        return [scores[0::2], scores[1::2]]

    def _scores(
        self, tasks: list[Any], rules: tuple[Rule, ...], evaluation: str, *, dataset_only: bool = False
    ) -> Scores:
        # What runs elsewhere goes without the progress bar, which cannot be sent there.
        alone = replace(self, progress=None)
        run = [
            (alone._trial, (place, chosen, perturb, split, rules, evaluation, dataset_only))
            for place, (chosen, perturb, split) in enumerate(tasks)
        ]
        rows = np.array(run_all(run, self.workers, self.progress))
        return Scores(
            rows[:, 0],
            rows[:, 1],
            {rule: rows[:, 2 + 2 * i] for i, rule in enumerate(rules)},
            {rule: rows[:, 3 + 2 * i] for i, rule in enumerate(rules)},
        )

    def _trial(
        self,
        place: int,
        chosen: Index | None,
        perturb: np.random.SeedSequence,
        split: np.random.SeedSequence,
        rules: tuple[Rule, ...],
        evaluation: str,
        dataset_only: bool,
    ) -> list[float]:
        problem = self.problem if chosen is None else self.problem.take(chosen)
        # Streams apart for each step: keyed children of the trial's own seed.
        draw_labels, moves = (np.random.default_rng(_keyed(perturb, key)) for key in (1, 2))
        halves = np.random.default_rng(_keyed(split, 3))
        attacker_seed = int(_keyed(split, 4).generate_state(1)[0])
        problem = problem.hard(draw_labels)
        n = len(problem.truth)
        learn = test = np.arange(n)
        if evaluation == "held_out":
            order = halves.permutation(n)
            learn, test = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
        row = [0.0, 0.0]
        if not dataset_only:
            row = self._pair(problem, problem.predicted, learn, test, attacker_seed, place, "model")
        for rule in rules:
            truth = equalize_records(problem.truth, problem.predicted, rule, moves)
            row += self._pair(problem, truth, learn, test, attacker_seed, place, "dataset")
        return row

    def _pair(
        self, problem: Problem, version: Side, learn: Index, test: Index, seed: int, place: int, which: str
    ) -> list[float]:
        """Score with and without input, on one version of the truth."""
        read, target = (problem.other, version) if self.kind == "dpa" else (version, problem.other)
        try:
            pair = [
                self.attacker.score(read, target, learn, test, self.quality, seed),
                plain_score(target, learn, test, self.quality),
            ]
        except Exception as error:
            raise AttackerError(
                f"attacker {self.attacker.name} failed in trial {place} on the {which} side: {error}"
            ) from error
        return pair


def _keyed(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(entropy=seed.entropy, spawn_key=(*seed.spawn_key, key))


def _every_other(scores: Scores, first: int) -> Scores:
    return replace(
        scores,
        model=scores.model[first::2],
        model_plain=scores.model_plain[first::2],
        dataset={rule: values[first::2] for rule, values in scores.dataset.items()},
        dataset_plain={rule: values[first::2] for rule, values in scores.dataset_plain.items()},
    )


def run_all(calls: list[Any], workers: int | None, progress: Progress | None) -> list[Any]:
    """Run calls in order, or over the processors when they take long; the first failure is raised.

    ``workers`` None decides by the time of the first call; 1 never shares out.
    """
    import time

    done: list[Any] = []
    start = time.perf_counter()
    for place, (call, arguments) in enumerate(calls):
        elapsed = time.perf_counter() - start
        slow = place == 1 and elapsed * (len(calls) - 1) > _WORTH_SHARING
        if place and workers != 1 and (slow if workers is None else True):
            done += _shared(calls[place:], workers, progress, place, len(calls))
            break
        done.append(call(*arguments))
        if progress is not None:
            progress(place + 1, len(calls))
    return done


def _shared(calls: list[Any], workers: int | None, progress: Progress | None, before: int, total: int) -> list[Any]:
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=-1 if workers is None else workers, return_as="generator")
    done = []
    for place, result in enumerate(parallel(delayed(call)(*arguments) for call, arguments in calls)):
        done.append(result)
        if progress is not None:
            progress(before + place + 1, total)
    return done
