"""``biasamp reproduce``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from biasamp.experiments import Experiment, Setting, data_folder, experiments

from .output import check_target, console, json_option, write_json

# Exit codes: everything that ran agrees or has its reason; something differs without one; it cannot run here.
UNEXPLAINED = 1
CANNOT_RUN = 3
_ALL = "all"


@click.command(name="reproduce")
@click.argument("name", required=False, metavar="[NAME|all]")
@click.option("--seed", type=int, default=0, show_default=True, help="Makes draws and attackers reproducible.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False),
    default="reproductions",
    show_default=True,
    help="Where pages are written.",
)
@json_option
def command(name: str | None, seed: int, folder: str, json_path: str | None) -> None:
    """Run tables and figures of the papers again: published figures beside ours.

    Without NAME, list the experiments, what each needs and whether it can run here. Real files are looked for in the
    folder that the variable BIASAMP_DATA names. Exit code 1: a figure differs and no reason was found; 3: the
    experiment cannot run here.

    \b
    Examples:
      biasamp reproduce
      biasamp reproduce worked-examples
      BIASAMP_DATA=~/data biasamp reproduce all --json figures.json
    """
    check_target(json_path)
    known = experiments()
    setting = Setting(seed=seed, folder=data_folder())
    if name is None:
        _list(known, setting, json_path)
        return
    if name != _ALL and name not in known:
        import difflib

        near = difflib.get_close_matches(name, [*known, _ALL], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else " `biasamp reproduce` lists them."
        raise click.UsageError(f"there is no experiment {name!r}.{hint}")
    chosen = list(known.values()) if name == _ALL else [known[name]]
    if name != _ALL and chosen[0].blocked(setting):
        click.echo(f"biasamp: {name} cannot run here: it {chosen[0].blocked(setting)}", err=True)
        raise click.exceptions.Exit(CANNOT_RUN)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    done = _run(chosen, setting)
    from biasamp.experiments.page import markdown, page

    written = [target / f"{name}.html", target / f"{name}.md"]
    for path, text in zip(written, (page(done), markdown(done)), strict=True):
        path.write_text(text, encoding="utf-8")
    from biasamp.experiments.running import versions

    document = {"schema": 1, "seed": seed, "versions": versions(), "experiments": [item.to_dict() for item in done]}
    if not write_json(json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1), json_path):
        _show(done, written)
    if any(item.outcome is not None and item.outcome.unexplained for item in done):
        raise click.exceptions.Exit(UNEXPLAINED)


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


def _run(chosen: list[Experiment], setting: Setting) -> Any:
    from biasamp.experiments.running import run_all
    from biasamp.measures.progress import Bar

    stream = console(stderr=True)
    bars: list[Bar] = []

    def started(experiment: Experiment) -> Callable[[int, int], None]:
        for bar in bars:
            bar.close()
        bars.append(Bar(experiment.name))
        if stream.is_terminal:
            stream.print(f"{len(bars)} of {len(chosen)}: {experiment.name}")
        return bars[-1]

    try:
        return run_all(chosen, setting, started=started)
    finally:
        for bar in bars:
            bar.close()


def _show(done: Any, written: list[Path]) -> None:
    from rich.table import Table

    from biasamp.experiments.page import HEAD, cells, tally

    screen = console()
    for item in done:
        if item.outcome is None:
            screen.print(f"{item.experiment.name}: not run, {item.blocked}\n")
            continue
        screen.print(item.outcome.first_line)
        screen.print(f"{item.experiment.name}: {item.experiment.title} ({item.experiment.place})")
        table = Table(box=None, pad_edge=False)
        for head in HEAD:
            table.add_column(head, overflow="fold")
        for row in item.outcome.rows:
            table.add_row(*cells(row))
        screen.print(table)
        screen.print(f"{tally(item.outcome)}.")
        for text in item.outcome.left_out:
            screen.print(f"Left out: {text}.")
        screen.print("")
    screen.print(f"Written: {', '.join(map(str, written))}")
