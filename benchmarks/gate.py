"""How often ``check`` passes a model at its limit, fails one that is under it, and cannot tell.

``python -m benchmarks.gate 400`` prints the shares over 400 samples a case; a share of 5% measured on 400 samples is
sure to about 2.1 points.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import biasamp
from biasamp.policy import Policy

from .coverage import Population, population

RESAMPLES = 50


def audited(drawn: tuple[np.ndarray, np.ndarray, np.ndarray], **options: Any) -> biasamp.Audit:
    """The audit of a sample of groups, true and predicted yes/no tasks."""
    group, truth, predicted = drawn
    tasks = range(truth.shape[1])
    data = {
        "g": group.astype(str),
        **{f"t{k}": truth[:, k] for k in tasks},
        **{f"p{k}": predicted[:, k] for k in tasks},
    }
    roles = {"tasks": [f"t{k}" for k in tasks], "task_predictions": [f"p{k}" for k in tasks]}
    if truth.shape[1] == 1:
        roles = {"tasks": biasamp.binary(["t0"]), "task_predictions": biasamp.binary(["p0"])}
    settings = {"metrics": ["directional"], "resamples": RESAMPLES, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return biasamp.audit(data, attributes="g", **roles, **settings)


def gate(limit: float, **more: Any) -> Policy:
    """A policy of one limit on directional amplification."""
    return Policy(limits=[{"metric": "directional", "direction": "A->T", "max": limit, **more}], min_group=0)


def outcomes(
    model: Population, policy: Policy, samples: int, seed: int = 0, check: Callable[..., str] | None = None
) -> Counter[str]:
    """How often each outcome comes out over samples of a model."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for _ in range(samples):
        audit = audited(model.draw(rng))
        found[policy.check(audit).outcome if check is None else check(audit)] += 1
    return found


def mixed(size: int, tasks: int, moved: float, weak: float = 0.003) -> Population:
    """Half of the tasks lean clearly and are amplified, half lean weakly and are reversed as much: the value is 0."""
    clear = population(size, tasks=tasks, lean=0.15, moved=moved)
    faint = population(size, tasks=tasks, lean=weak, moved=-moved)
    half = np.arange(tasks) % 4 < 2
    parts = {name: np.where(half, getattr(clear, name), getattr(faint, name)) for name in ("truth", "hit", "false")}
    return replace(clear, **parts)


def error_of(model: Population, samples: int = 40, seed: int = 1) -> float:
    """The standard error of the value, from samples."""
    rng = np.random.default_rng(seed)
    values = [audited(model.draw(rng)).document["metrics"][0]["value"] for _ in range(samples)]
    return float(np.std(values, ddof=1))


@dataclass(frozen=True)
class Case:
    """A model, the policy that it is held to, and which outcome must be rare or frequent."""

    title: str
    model: Population
    policy: Policy


def at_the_limit() -> Iterator[Case]:
    """Models whose true value is the limit: they may pass in 5% at most."""
    for tasks in (1, 20, 80):
        for size in (500, 1000, 4000):
            for lean, words in ((0.02, "weak"), (0.06, "middling"), (0.15, "strong")):
                model = population(size, tasks=tasks, lean=lean, moved=0.02)
                yield Case(f"at the limit .02, K={tasks}, n={size}, {words} directions", model, gate(model.value()))


def under_the_limit() -> Iterator[Case]:
    """Models at 0 and at half the limit, and one whose weak pairs are reversed: they should not fail."""
    for tasks in (1, 20, 80):
        for moved in (0.0, 0.01):
            for lean, words in ((0.02, "weak"), (0.15, "strong")):
                model = population(1000, tasks=tasks, lean=lean, moved=moved)
                yield Case(f"true {moved:g}, limit .02, K={tasks}, n=1000, {words}", model, gate(0.02))
    yield Case("clear pairs +.06, weak pairs -.06, limit .01, K=20, n=1000", mixed(1000, 20, 0.06), gate(0.01))


def four_errors() -> Iterator[Case]:
    """Clear directions and a truth four standard errors from the limit: at least 80% must be decided."""
    for tasks in (1, 20, 80):
        for size in (500, 2000):
            model = population(size, tasks=tasks, lean=0.2 if tasks == 1 else 0.25, moved=0.03)
            error = error_of(model)
            for side in (-4, 4):
                limit = model.value() + side * error
                yield Case(f"{-side:+d} errors from {limit:.3f}, K={tasks}, n={size}", model, gate(limit))


def all_pairs() -> Iterator[Case]:
    """Every pair at its limit: neither passing nor failing is right in more than 5%."""
    for tasks in (1, 20, 80):
        model = population(2000, tasks=tasks, lean=0.2, moved=0.03)
        yield Case(f"pairs at the limit .03, K={tasks}, n=2000", model, gate(0.03, pairs=True))
        faint = population(1000, tasks=tasks, lean=0.03, moved=-0.05)
        yield Case(f"pairs at -.05, limit .02, weak, K={tasks}, n=1000", faint, gate(0.02, pairs=True))


def main(options: list[str] | None = None) -> None:
    """Print the shares of all cases."""
    samples = int((options or ["200"])[0].removeprefix("--samples="))
    for make in (at_the_limit, under_the_limit, four_errors, all_pairs):
        print(f"\n{make.__doc__}")
        print("| case | pass | fail | cannot tell |\n|---|---|---|---|")
        for case in make():
            found = outcomes(case.model, case.policy, samples)
            shares = [found[kind] / samples for kind in ("pass", "fail", "not enough evidence")]
            print(f"| {case.title} | {' | '.join(f'{share:.1%}' for share in shares)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
