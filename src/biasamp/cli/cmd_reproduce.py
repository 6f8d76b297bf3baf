"""``biasamp reproduce``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from biasamp.experiments import Experiment, Setting, data_folder, experiments

from .output import check_target, console, json_option, write_json

if TYPE_CHECKING:
    from biasamp.experiments.running import Done

# Exit codes beside 0 (all that ran agrees or shows why not) and 2 (a mistake in the command).
UNEXPLAINED = 1
CANNOT_RUN = 3
FAILED = 4
_ALL = "all"


@click.command(name="reproduce")
@click.argument("name", required=False, metavar="[NAME|all]")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Makes draws and attackers reproducible."
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False),
    default="reproductions",
    show_default=True,
    help="Where pages are written.",
)
@click.option(
    "--model",
    metavar="NAME_OR_PATH",
    help="fill-in-the-blank: a masked language model of the Hugging Face Hub, or the folder of one, in place of the stand-in.",
)
@json_option
def command(name: str | None, seed: int, folder: str, model: str | None, json_path: str | None) -> None:
    """Run tables and figures of the papers again: published figures beside ours.

    Without NAME, list the experiments, what each needs and whether it can run here. Real files are looked for in the
    folder that the variable BIASAMP_DATA names. With all, experiments that cannot run here are named with what they
    need, one that fails does not stop the others, and a summary, index.html, is written.

    Exit code 1: a figure differs and no run is shown that tells why; 3: nothing that was asked for can run here;
    4: an experiment ended with an error.

    \b
    Examples:
      biasamp reproduce
      biasamp reproduce worked-examples
      biasamp reproduce fill-in-the-blank --model bert-base-uncased
      BIASAMP_DATA=~/data biasamp reproduce all --json figures.json
    """
    check_target(json_path)
    known = experiments()
    setting = Setting(seed=seed, folder=data_folder(), model=model)
    if name is None:
        _list(known, setting, json_path)
        return
    if name != _ALL and name not in known:
        import difflib

        near = difflib.get_close_matches(name, [*known, _ALL], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else " `biasamp reproduce` lists them."
        raise click.UsageError(f"there is no experiment {name!r}.{hint}")
    chosen = list(known.values()) if name == _ALL else [known[name]]
    if model is not None and not any("model" in experiment.options for experiment in chosen):
        takes = [experiment.name for experiment in known.values() if "model" in experiment.options]
        raise click.UsageError(f"{name} takes no --model; {', '.join(takes)} does.")
    if name != _ALL and chosen[0].blocked(setting):
        click.echo(f"biasamp: {name} cannot run here: it {chosen[0].blocked(setting)}", err=True)
        raise click.exceptions.Exit(CANNOT_RUN)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    done = _run(chosen, setting, target)
    from biasamp.experiments.running import circumstances

    about = circumstances(done, seed)
    if name == _ALL:
        from biasamp.experiments.summary import summary_markdown, summary_page

        _write(target / "index.html", summary_page(done, about, setting))
        _write(target / "index.md", summary_markdown(done, about, setting))
    document = {"schema": 1, **about, "experiments": [item.to_dict() for item in done]}
    if not write_json(json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1), json_path):
        _show(done, setting)
        screen = console()
        screen.print(f"Written: {target / ('index' if name == _ALL else name)}.html, and the same as .md")
    _exit(done)


def _exit(done: list[Done]) -> None:
    """End with the code of the gravest thing that happened."""
    if any(item.failed for item in done):
        raise click.exceptions.Exit(FAILED)
    if any(item.outcome is not None and item.outcome.unexplained for item in done):
        raise click.exceptions.Exit(UNEXPLAINED)
    if not any(item.outcome is not None for item in done):
        raise click.exceptions.Exit(CANNOT_RUN)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _list(known: dict[str, Experiment], setting: Setting, json_path: str | None) -> None:
    rows = [
        {
            "name": experiment.name,
            "title": experiment.title,
            "place": experiment.place,
            "files": list(experiment.files),
            "extras": sorted(set(experiment.extras.values())),
            "lacking": experiment.lacking(setting),
            "runs_here": not experiment.blocked(setting),
            "without": experiment.without,
        }
        for experiment in known.values()
    ]
    if write_json(json.dumps({"schema": 1, "experiments": rows}, ensure_ascii=False, indent=1), json_path):
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for head in ("experiment", "shows", "of", "runs here"):
        table.add_column(head, overflow="fold")
    for experiment in known.values():
        lacking = experiment.lacking(setting)
        here = experiment.blocked(setting) or (
            f"without {', '.join(lacking)}: {experiment.without}" if lacking else "yes"
        )
        table.add_row(experiment.name, experiment.title, experiment.place, here)
    screen = console()
    screen.print(table)
    if setting.folder is None:
        screen.print(
            "\nBIASAMP_DATA is not set: name the folder of real files with it (docs/reproductions.md says which)."
        )


def _run(chosen: list[Experiment], setting: Setting, target: Path) -> list[Done]:
    """Run experiments; each writes its page as soon as it is done, so that a run cut short leaves what it had."""
    from biasamp.experiments.page import markdown, page
    from biasamp.experiments.running import circumstances, run_all

    from .watching import Watch

    with Watch(len(chosen)) as watch:

        def finished(item: Done) -> None:
            watch.finished(item)
            if not item.blocked:
                about = circumstances([item], setting.seed)
                _write(target / f"{item.experiment.name}.html", page(item, about))
                _write(target / f"{item.experiment.name}.md", markdown(item, about))

        return run_all(chosen, setting, started=watch.started, finished=finished)


def _show(done: list[Done], setting: Setting) -> None:
    """One experiment row by row; of several, whose rows are on their pages, the summary."""
    screen = console()
    if len(done) > 1:
        _show_summary(done, setting, screen)
    else:
        _show_one(done[0], screen)


def _show_one(item: Done, screen: Any) -> None:
    from rich.table import Table

    from biasamp.experiments.page import HEAD, cells, first_line, tally

    screen.print(first_line(item))
    screen.print(f"{item.experiment.name}: {item.experiment.title} ({item.experiment.place})")
    if item.outcome is not None:
        table = Table(box=None, pad_edge=False)
        for head in HEAD:
            table.add_column(head, overflow="fold")
        for row in item.outcome.rows:
            table.add_row(*cells(row, item.outcome.kind))
        screen.print(table)
        screen.print(f"{tally(item.outcome)}.")
        for text in item.outcome.left_out:
            screen.print(f"Left out: {text}.")
    screen.print("")


def _show_summary(done: list[Done], setting: Setting, screen: Any) -> None:
    from rich.table import Table

    from biasamp.experiments.summary import HEAD, counts, left

    table = Table(box=None, pad_edge=False)
    for head in HEAD:
        if head != "of":
            table.add_column(head, overflow="fold")
    for item in done:
        table.add_row(item.experiment.name, *counts(item))
    screen.print(table)
    for item in done:
        if item.failed:
            screen.print(f"\n{item.experiment.name} failed: {item.failed}")
    for name, wanting, command in left(done, setting):
        screen.print(f"\n{name} {wanting}." + (f"\n  {command}" if command else ""))
    screen.print("")
