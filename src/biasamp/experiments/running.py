"""Run experiments one after the other, and keep what each gave or why it did not run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from .experiment import Experiment, Outcome, Setting, silent


@dataclass(frozen=True)
class Done:
    """One experiment after its run: its outcome, or why there is none."""

    experiment: Experiment
    outcome: Outcome | None
    blocked: str
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The run in plain values."""
        return {
            "name": self.experiment.name,
            "title": self.experiment.title,
            "place": self.experiment.place,
            "seconds": round(self.seconds, 3),
            "blocked": self.blocked or None,
            "outcome": None if self.outcome is None else self.outcome.to_dict(),
        }


def run_all(
    chosen: Iterable[Experiment],
    setting: Setting,
    *,
    started: Callable[[Experiment], Callable[[int, int], None]] = lambda experiment: silent,
) -> list[Done]:
    """Run experiments; ``started`` is told of each and gives what its progress goes to."""
    out = []
    for experiment in chosen:
        blocked = experiment.blocked(setting)
        begin = time.perf_counter()
        outcome = None
        if not blocked:
            outcome = experiment.run(replace(setting, progress=started(experiment)))
        out.append(Done(experiment, outcome, blocked, time.perf_counter() - begin))
    return out


def versions() -> dict[str, str]:
    """What the figures were made with."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from biasamp import __version__

    out = {"biasamp": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn"):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            continue
    return out
