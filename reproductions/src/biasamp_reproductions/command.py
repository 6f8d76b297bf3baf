"""What ``biasamp reproduce`` runs: the experiments asked for, with a page each, and what is said of them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from pathlib import Path

import click

from . import data_folder, experiments
from .experiment import Experiment, Setting
from .internals import save_text, write_json
from .page import markdown, page
from .running import Done, circumstances, run_all
from .summary import summary_markdown, summary_page
from .terminal import listed, show, show_list
from .watching import Watch

# Exit codes beside 0 (all that ran agrees or shows why not) and 2 (a mistake in the command).
UNEXPLAINED = 1
CANNOT_RUN = 3
FAILED = 4
_ALL = "all"


def reproduce(name: str | None, *, seed: int, folder: str, model: str | None, json_path: str | None) -> int:
    """List the experiments, run one or run all; the exit code."""
    known = experiments()
    setting = Setting(seed=seed, folder=data_folder(), model=model)
    if name is None:
        document = {"schema": 1, "experiments": listed(known.values(), setting)}
        if not write_json(json.dumps(document, ensure_ascii=False, indent=1), json_path):
            show_list(known.values(), setting)
        return 0
    chosen = _chosen(name, known, model)
    if name != _ALL and chosen[0].blocked(setting):
        click.echo(f"biasamp: {name} cannot run here: it {chosen[0].blocked(setting)}", err=True)
        return CANNOT_RUN
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    done = _run(chosen, setting, target)
    about = circumstances(done, seed)
    if name == _ALL:
        save_text(target / "index.html", summary_page(done, about, setting))
        save_text(target / "index.md", summary_markdown(done, about, setting))
    document = {"schema": 1, **about, "experiments": [item.to_dict() for item in done]}
    if not write_json(json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1), json_path):
        show(done, setting, f"{target / ('index' if name == _ALL else name)}.html")
    return exit_code(done)


def _chosen(name: str, known: dict[str, Experiment], model: str | None) -> list[Experiment]:
    if name != _ALL and name not in known:
        near = difflib.get_close_matches(name, [*known, _ALL], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else " `biasamp reproduce` lists them."
        raise click.UsageError(f"there is no experiment {name!r}.{hint}")
    chosen = list(known.values()) if name == _ALL else [known[name]]
    if model is not None and not any("model" in experiment.options for experiment in chosen):
        takes = [experiment.name for experiment in known.values() if "model" in experiment.options]
        raise click.UsageError(f"{name} takes no --model; {', '.join(takes)} does.")
    return chosen


def exit_code(done: Sequence[Done]) -> int:
    """The code of the gravest thing that happened."""
    if any(item.failed for item in done):
        return FAILED
    if any(item.outcome is not None and item.outcome.unexplained for item in done):
        return UNEXPLAINED
    return 0 if any(item.outcome is not None for item in done) else CANNOT_RUN


def _run(chosen: Sequence[Experiment], setting: Setting, target: Path) -> list[Done]:
    """Run experiments; each writes its page as soon as it is done, so that a run cut short leaves what it had."""
    with Watch(len(chosen)) as watch:

        def finished(item: Done) -> None:
            watch.finished(item)
            if not item.blocked:
                about = circumstances([item], setting.seed)
                save_text(target / f"{item.experiment.name}.html", page(item, about))
                save_text(target / f"{item.experiment.name}.md", markdown(item, about))

        return run_all(chosen, setting, started=watch.started, finished=finished)
