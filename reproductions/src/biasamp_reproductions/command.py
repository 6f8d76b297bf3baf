"""What ``biasamp reproduce`` runs: the experiments asked for, with a page each, and what is said of them."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import biasamp

from . import data_folder, experiments
from .experiment import Experiment, Setting
from .internals import save_text, write_json
from .page import markdown, page
from .readings import readings
from .running import Done, circumstances, run_all
from .summary import summary_markdown, summary_page, totals
from .terminal import listed, show, show_list
from .watching import Watch

# Exit codes beside 0 (all that ran agrees or shows why not) and 2 (a mistake in the command).
UNEXPLAINED = 1
CANNOT_RUN = 3
FAILED = 4
_ALL = "all"
SCHEMA = 2


def reproduce(
    name: str | None,
    *,
    seed: int,
    folder: str,
    model: str | None,
    json_path: str | None,
    quick: bool = False,
    scale: Mapping[str, float] | None = None,
    seeds: int | None = None,
    resume: bool = False,
    own: Mapping[str, Any] | None = None,
) -> int:
    """List the experiments, run one or run all; the exit code."""
    known = experiments()
    setting = Setting(seed, data_folder(), model, quick=quick, scale=scale or {}, seeds=seeds, own=own or {})
    if name is None:
        document = {"schema": SCHEMA, "experiments": listed(known.values(), setting)}
        if not write_json(json.dumps(document, ensure_ascii=False, indent=1), json_path):
            show_list(known.values(), setting)
        return 0
    chosen = _chosen(name, known, setting)
    if name != _ALL and chosen[0].blocked(setting):
        click.echo(f"biasamp: {name} cannot run here: it {chosen[0].blocked(setting)}", file=sys.stderr)
        return CANNOT_RUN
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    if resume:
        setting = replace(setting, keep=target)
    done = _run(chosen, setting, target, resume)
    about = circumstances(done, seed)
    if name == _ALL:
        save_text(target / "index.html", summary_page(done, about, setting))
        save_text(target / "index.md", summary_markdown(done, about, setting))
    if not write_json(json.dumps(document_of(done, about), allow_nan=False, ensure_ascii=False, indent=1), json_path):
        show(done, setting, f"{target / ('index' if name == _ALL else name)}.html")
    return exit_code(done)


def document_of(done: Sequence[Done], about: Mapping[str, Any]) -> dict[str, Any]:
    """A run as data: totals apart by what was measured on, each paper's reading, and every row."""
    return {
        "schema": SCHEMA,
        **about,
        "totals": totals(done),
        "papers": [reading.to_dict() for reading in readings(done)],
        "experiments": [item.to_dict() for item in done],
    }


def _chosen(name: str, known: dict[str, Experiment], setting: Setting) -> list[Experiment]:
    if name != _ALL and name not in known:
        near = difflib.get_close_matches(name, [*known, _ALL], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else " `biasamp reproduce` lists them."
        raise click.UsageError(f"there is no experiment {name!r}.{hint}")
    chosen = list(known.values()) if name == _ALL else [known[name]]
    asked = [*setting.own, *(["model"] if setting.model is not None else [])]
    if setting.own and name == _ALL:
        raise click.UsageError(f"--{asked[0].replace('_', '-')} is of one experiment: name it in place of all")
    for option in asked:
        if not any(option in experiment.options for experiment in chosen):
            takes = [experiment.name for experiment in known.values() if option in experiment.options]
            raise click.UsageError(f"{name} takes no --{option.replace('_', '-')}; {', '.join(takes)} does.")
    sizes = sorted({size for experiment in chosen for size in experiment.sizes})
    for size in setting.scale:
        if size not in sizes:
            there = f"it has {', '.join(sizes)}" if sizes else "it has none"
            raise click.UsageError(f"{name} has no size {size!r} for --scale; {there}.")
    return chosen


def exit_code(done: Sequence[Done]) -> int:
    """The code of the gravest thing that happened."""
    if any(item.failed for item in done):
        return FAILED
    if any(item.outcome is not None and item.outcome.unexplained for item in done):
        return UNEXPLAINED
    return 0 if any(item.outcome is not None for item in done) else CANNOT_RUN


def _made_by(experiment: Experiment, setting: Setting) -> dict[str, Any]:
    """What a kept run was made by: where any of it differs, it is run again."""
    files = {}
    for name in experiment.files:
        path = setting.file(name)
        files[name] = None if path is None else [path.stat().st_size, path.stat().st_mtime_ns]
    return {
        "version": biasamp.__version__,
        "seed": setting.seed,
        "quick": setting.quick,
        "scale": dict(setting.scale),
        "seeds": setting.seeds,
        "model": setting.model,
        "own": {key: str(value) for key, value in setting.own.items()},
        "files": files,
    }


def _run(chosen: Sequence[Experiment], setting: Setting, target: Path, resume: bool) -> list[Done]:
    """Run experiments; each writes its page as soon as it is done, so that a run cut short leaves what it had."""

    def kept(experiment: Experiment) -> Path:
        return target / f"part-{experiment.name}.json"

    def resumed(experiment: Experiment) -> Done | None:
        if not resume:
            return None
        try:
            held = json.loads(kept(experiment).read_text(encoding="utf-8"))
            # JSON has no tuples, so both sides go through it.
            wanted = json.loads(json.dumps(_made_by(experiment, setting)))
            return Done.from_dict(experiment, held["done"]) if held["made"] == wanted else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    with Watch(len(chosen)) as watch:

        def finished(item: Done) -> None:
            watch.finished(item)
            if not item.blocked:
                about = circumstances([item], setting.seed)
                save_text(target / f"{item.experiment.name}.html", page(item, about))
                save_text(target / f"{item.experiment.name}.md", markdown(item, about))
            if resume and item.outcome is not None:
                held = {"made": _made_by(item.experiment, setting), "done": item.to_dict()}
                save_text(kept(item.experiment), json.dumps(held, allow_nan=False, ensure_ascii=False))

        return run_all(chosen, setting, started=watch.started, finished=finished, resumed=resumed)
