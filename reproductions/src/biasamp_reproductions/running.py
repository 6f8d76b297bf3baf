"""Run experiments one after the other, and keep what each gave or why it gave nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import biasamp

from .experiment import Experiment, Progress, Setting, silent
from .outcome import Outcome

# What every experiment is computed with; what an experiment's extras bring is added where it ran.
_ALWAYS = ("numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Done:
    """One experiment after its run: its outcome, or why there is none.

    Attributes
    ----------
    blocked : str
        What it lacks here, where it was not started.
    seconds : float
    failed : str
        The error that ended it, where one did.
    """

    experiment: Experiment
    outcome: Outcome | None
    blocked: str
    seconds: float
    failed: str = ""

    @property
    def state(self) -> str:
        """``"ran"``, ``"not run"`` or ``"failed"``."""
        return "failed" if self.failed else "ran" if self.outcome is not None else "not run"

    def to_dict(self) -> dict[str, Any]:
        """The run in plain values."""
        return {
            "name": self.experiment.name,
            "title": self.experiment.title,
            "place": self.experiment.place,
            "seconds": round(self.seconds, 3),
            "blocked": self.blocked or None,
            "failed": self.failed or None,
            "outcome": None if self.outcome is None else self.outcome.to_dict(),
        }


def run_all(
    chosen: Iterable[Experiment],
    setting: Setting,
    *,
    started: Callable[[Experiment], Progress] = lambda experiment: silent,
    finished: Callable[[Done], None] = lambda item: None,
) -> list[Done]:
    """Run experiments, whatever becomes of the others.

    ``started`` is told of each and gives what its progress goes to; ``finished`` is told what became of it.
    """
    out = []
    for experiment in chosen:
        blocked = experiment.blocked(setting)
        begin = time.perf_counter()
        outcome, failed = None, ""
        progress = started(experiment)
        if not blocked:
            try:
                outcome = experiment.run(replace(setting, progress=progress))
            except Exception as error:
                # Whatever goes wrong in one experiment is its own matter: the others still run.
                failed = _told(error, [name for name in experiment.files if setting.file(name) is not None])
        out.append(Done(experiment, outcome, blocked, time.perf_counter() - begin, failed))
        finished(out[-1])
    return out


def _told(error: Exception, files: Sequence[str] = ()) -> str:
    """An error in one line, with the line of code and the files it came from, but not the folders of this machine."""
    import traceback
    from pathlib import Path

    last = traceback.extract_tb(error.__traceback__)[-1]
    read = f"; it read {', '.join(files)}: is each as docs/reproductions.md says?" if files else ""
    return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}){read}"


def versions(done: Sequence[Done] = ()) -> dict[str, str]:
    """What the figures were made with: packages of extras too, where an experiment that uses them ran."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    out = {"biasamp": biasamp.__version__, "python": platform.python_version()}
    used = [module for item in done if item.outcome is not None for module in item.experiment.extras]
    for name in dict.fromkeys((*_ALWAYS, *used)):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            continue
    return out


def cores() -> int:
    """How many processor cores this process may use."""
    import os

    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def circumstances(done: Sequence[Done], seed: int) -> dict[str, Any]:
    """When, where and with what a run was made, in plain values."""
    from datetime import date

    return {
        "date": date.today().isoformat(),
        "seed": seed,
        "cores": cores(),
        "seconds": round(sum(item.seconds for item in done), 1),
        "versions": versions(done),
    }
