"""The lookup attacker on tables against trained attackers, and against the package of DPA's authors."""

from __future__ import annotations

import contextlib
import io
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.counts import simulated as simulated_sets
from benchmarks.timing import cpu_seconds, row
from biasamp.predictability.attack import dpa, from_problem, leakage
from biasamp.predictability.equalize import draw
from biasamp.predictability.problem import Problem, read_problem
from biasamp.predictability.sides import Labels
from biasamp_reproductions.exact_dpa import dpa_heatmap

_TRIALS = 100


def simulated(records: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A model whose errors follow the group's majority: amplification."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, records)
    truth = (rng.random(records) < np.where(groups == 1, 0.65, 0.35)).astype(int)
    wrong = rng.random(records) < np.where(groups == truth, 0.1, 0.35)
    return groups, truth, np.where(wrong, 1 - truth, truth)


def against_logistic(records: int = 100_000) -> None:
    data = simulated(records)
    for name in ("leakage", "dpa"):
        found: dict[str, Any] = {}
        seconds = {}
        for attacker, repeats in (("lookup", 5), ("logistic", 1)):

            def work(attacker: str = attacker, name: str = name, found: dict[str, Any] = found) -> None:
                # One process: CPU time elsewhere would not be counted.
                problem = read_problem(*data, ("given", "truth", "predicted"))
                found[attacker] = from_problem(problem, name, attacker=attacker, trials=_TRIALS, workers=1)

            seconds[attacker] = cpu_seconds(work, repeats)
        row(
            f"{name}, n = {records:,}, {_TRIALS} trials, from raw arrays",
            seconds["lookup"],
            "a logistic attacker",
            seconds["logistic"],
            "(at least 200x)",
        )
        for figure in ("dataset", "model", "value"):
            ours, theirs = (getattr(found[a], figure) for a in ("lookup", "logistic"))
            print(f"  {figure:<8} lookup {ours:.4f}   logistic {theirs:.4f}   difference {ours - theirs:+.4f}")
            assert abs(ours - theirs) < 1e-3, "lookup and logistic attacker should agree to three digits"


def many_trials(records: int = 100_000) -> None:
    data = simulated(records)
    few, many = (cpu_seconds(lambda t=t: dpa(*data, trials=t), 5) for t in (1, 1000))
    print(f"a thousand trials on the table of {records:,} records: {(many - few) * 1e3:.1f} ms beyond the reading")


def heatmap() -> None:
    alphas = np.linspace(-0.25, 0.25, 100)
    seconds = cpu_seconds(lambda: dpa_heatmap(alphas, alphas))
    print(f"alpha grid of 100 x 100: {seconds * 1e3:.2f} ms (less than 1000 ms)")


def package(data: tuple[np.ndarray, ...], trials: int) -> tuple[float, str] | None:
    """DPA of ``bias-amplification`` 0.2.1 with its defaults, where it is installed: one column a side."""
    try:
        import torch
        from bias_amplification import DPA  # type: ignore[import-not-found]
        from bias_amplification.attacker_models.ANN import simpleDenseModel  # type: ignore[import-not-found]
        from bias_amplification.utils.config import DEFAULT_TRAIN_PARAMS  # type: ignore[import-not-found]
    except ImportError:
        return None
    columns = [torch.tensor(x, dtype=torch.float).reshape(-1, 1) for x in data]
    torch.manual_seed(0)
    attackers = [simpleDenseModel(1, 1, 2, numFirst=4, activations=["sigmoid", "sigmoid"]) for _ in range(2)]
    metric = DPA(*attackers, train_params=dict(DEFAULT_TRAIN_PARAMS, epochs=20), eval_metric="accuracy")
    said: list[str] = []

    def work() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            said.append(metric.computeBiasAmp(*columns, mode="AtoT", num_trials=trials))

    return cpu_seconds(work, 1), said[0]


def against_package(records: int = 5_000, trials: int = 5) -> None:
    data = simulated(records)
    rival = package(data, trials)
    if rival is None:
        print("the package bias-amplification is not installed: left out")
        return
    ours = dpa(*data, trials=trials)
    seconds = cpu_seconds(lambda: dpa(*data, trials=trials), 5)
    row(f"dpa, n = {records:,}, {trials} trials", seconds, "bias-amplification 0.2.1", rival[0])
    low, high = ours.confidence_interval()
    print(f"  ours {ours.value:.4f} (95% {low:.4f} to {high:.4f}); theirs, as text: {rival[1]} (sd of trials)")


def former_equalize(truth: Labels, predicted: Labels, rule: str, rng: np.random.Generator) -> Labels:
    """A perturbation as version 0.1 made it: an order of all records for every label."""
    n, width = truth.codes.shape
    wrong = truth.codes != predicted.codes
    if rule == "accuracy":
        flip = rng.permuted(np.arange(n)[:, None] < wrong.sum(axis=0), axis=0)
        return replace(truth, codes=truth.codes ^ flip)
    order = rng.permuted(np.broadcast_to(np.arange(n, dtype=np.int32)[:, None], (n, width)), axis=0)
    shuffled = np.take_along_axis(truth.codes, order, axis=0) == 1
    yes_place = shuffled.cumsum(axis=0, dtype=np.int32)
    no_place = np.arange(1, n + 1, dtype=np.int32)[:, None] - yes_place
    yes, no = ((wrong & (truth.codes == true)).sum(axis=0) for true in (1, 0))
    flip = np.zeros((n, width), dtype=bool)
    np.put_along_axis(flip, order, np.where(shuffled, yes_place <= yes, no_place <= no), axis=0)
    return replace(truth, codes=truth.codes ^ flip)


def former_score(read: Labels, target: Labels, learn: np.ndarray, test: np.ndarray) -> float:
    """Naive Bayes of one variable on labels copied to 64-bit floats, as version 0.1 did it."""
    classes = (target.codes[learn] == np.arange(target.sizes[0])).astype(np.float64)
    held, cases = classes.sum(axis=0), read.codes.astype(np.float64)
    seen = cases[learn].T @ classes + 1.0
    absent = np.log(held + 2.0 - seen) - np.log(held + 2.0)
    weight = np.log(seen) - np.log(held + 2.0) - absent
    said = (cases[test] @ weight + absent.sum(axis=0) + np.log(held)).argmax(axis=1)
    return float((said == target.codes[test, 0]).mean())


def former_trial(problem: Problem, rng: np.random.Generator) -> float:
    """One trial of leakage as version 0.1 made it; the value with truth equalized by the confusion table."""
    other, truth, predicted = problem.labels or ()
    order = rng.permutation(len(truth))
    half = len(order) // 2
    learn, test = np.sort(order[:half]), np.sort(order[half:])
    model = former_score(predicted, other, learn, test)
    former_score(former_equalize(truth, predicted, "accuracy", rng), other, learn, test)
    moved = former_score(former_equalize(truth, predicted, "confusion", rng), other, learn, test)
    former_score(truth, other, learn, test)
    return model - moved


def sets_of_labels(records: int = 100_000, former_trials: int = 10) -> None:
    """Leakage and DPA of 80 labels, trials alone and with the interval, against trials as they were made before."""
    data = simulated_sets(records)
    problem = read_problem(*data, ("given", "truth", "predicted"))
    rng = np.random.default_rng(1)
    start = time.process_time()
    before = [former_trial(problem, rng) for _ in range(former_trials)]
    each = (time.process_time() - start) / former_trials
    leakage(*data, trials=1)  # loads the compiler
    for trials in (10, 100):
        seconds = cpu_seconds(lambda t=trials: leakage(*data, equalize="confusion", trials=t), 1)
        what = f"leakage, n = {records:,} x 80 labels, {trials} trials"
        row(what, seconds, "a permutation of all labels a trial", trials * each)
    ours = leakage(*data, equalize="confusion")
    row(
        "  its interval, 30 halves",
        cpu_seconds(lambda: ours.confidence_interval(resamples=30), 1),
        "the same",
        90 * each,
    )
    apart, spread = ours.value - np.mean(before), np.std(before, ddof=1)
    print(f"  value {ours.value:+.5f}, before {np.mean(before):+.5f}, sd over trials {spread:.5f}")
    assert abs(apart) < 2 * spread, "other draws should give the same value within two sd over trials"

    counts = np.ones(records, dtype=np.int64)
    slow = cpu_seconds(lambda: rng.multivariate_hypergeometric(counts, records // 2, method="marginals"), 3)
    fast = cpu_seconds(lambda: draw(counts[None], records // 2, rng), 3)
    row(f"half of {records:,} cells of one record, for DPA", fast, "a draw cell by cell", slow)
    found: list[Any] = []
    seconds = cpu_seconds(lambda: found.append(dpa(*data, equalize="confusion").confidence_interval()), 1)
    print(f"dpa, n = {records:,} x 80 labels, {_TRIALS} trials, with its interval: {seconds:.2f} s (at most 3 s)")


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    against_logistic()
    many_trials()
    sets_of_labels()
    heatmap()
    against_package()
