"""Run experiments one after the other, and keep what each gave or why it gave nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import biasamp

from .experiment import Experiment, Progress, Setting, silent
from .outcome import ARITHMETIC, Outcome
from .rows import Row

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

    @classmethod
    def from_dict(cls, experiment: Experiment, held: dict[str, Any]) -> Done:
        """A run that was kept."""
        return cls(experiment, Outcome.from_dict(held["outcome"]), "", float(held["seconds"]))

    def to_dict(self) -> dict[str, Any]:
        """The run in plain values."""
        return {
            "name": self.experiment.name,
            "title": self.experiment.title,
            "place": self.experiment.place,
            "paper": self.experiment.paper or None,
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
    resumed: Callable[[Experiment], Done | None] = lambda experiment: None,
) -> list[Done]:
    """Run experiments, whatever becomes of the others.

    ``started`` is told of each and gives what its progress goes to; ``finished`` is told what became of it. What ``resumed`` gives
    is taken in place of a run.
    """
    out = []
    for experiment in chosen:
        before = resumed(experiment)
        if before is not None:
            started(experiment)
            out.append(before)
            finished(before)
            continue
        blocked = experiment.blocked(setting)
        begin = time.perf_counter()
        outcome, failed = None, ""
        progress = started(experiment)
        if not blocked:
            try:
                outcome = over_seeds(experiment, replace(setting, progress=progress))
            except Exception as error:
                # Whatever goes wrong in one experiment is its own matter: the others still run.
                failed = _told(error, [name for name in experiment.files if setting.file(name) is not None])
        out.append(Done(experiment, outcome, blocked, time.perf_counter() - begin, failed))
        finished(out[-1])
    return out


def over_seeds(experiment: Experiment, setting: Setting) -> Outcome:
    """One run; or, where runs with other seeds are asked for and the experiment has none of its own, several.

    Figures and verdicts are then those of the first seed, and every figure that moves says how far.
    """
    seeds = setting.seeds
    # Of all experiments each takes the sizes that it has.
    scale = {name: value for name, value in setting.scale.items() if name in experiment.sizes}
    own = "seeds" in experiment.sizes
    setting = replace(setting, scale=scale, seeds=seeds if own else None)
    first = experiment.run(setting)
    if setting.quick and experiment.sizes:
        small = f"{first.source}; small sizes (--quick), which show that it runs and are not for figures"
        first = replace(first, source=small, rows=tuple(map(_unjudged, first.rows)))
    if own or seeds is None or seeds < 2:
        return first
    others = [experiment.run(replace(setting, seed=setting.seed + number)) for number in range(1, seeds)]
    found: dict[str, list[float]] = {}
    for outcome in (first, *others):
        for row in outcome.rows:
            if isinstance(row.ours, float):
                found.setdefault(row.what, []).append(row.ours)
    rows = []
    for row in first.rows:
        values = found.get(row.what, [])
        if len(values) == seeds and len(set(values)) > 1:
            mean = sum(values) / seeds
            told = f"over {seeds} seeds: mean {mean:.4f}, from {min(values):.4f} to {max(values):.4f}"
            row = replace(row, note="; ".join(part for part in (row.note, told) if part))
        rows.append(row)
    return replace(first, rows=tuple(rows))


def _unjudged(row: Row) -> Row:
    """A row of a quick run: claims are not judged by a few small networks."""
    if row.agrees is None or row.planted is not None or row.basis == ARITHMETIC or not row.in_words:
        return row
    return replace(
        row, agrees=None, reason=None, note="; ".join(part for part in ("no verdict at small sizes", row.note) if part)
    )


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
