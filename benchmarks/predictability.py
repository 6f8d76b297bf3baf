"""The lookup attacker on tables against trained attackers, and against the package of DPA's authors."""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

import numpy as np

from benchmarks.timing import cpu_seconds, row
from biasamp.predictability.attack import dpa, from_problem
from biasamp.predictability.problem import read_problem
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


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    against_logistic()
    many_trials()
    heatmap()
    against_package()
