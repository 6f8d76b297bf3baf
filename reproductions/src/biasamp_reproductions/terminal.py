"""Experiments and what they gave, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

from .experiment import Experiment, Setting
from .internals import console
from .page import PLANTED_HEAD, cells, first_line, head, tally
from .readings import readings
from .running import Done
from .summary import HEAD as SUMMARY_HEAD
from .summary import counts, left


def _table(head: Iterable[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in head:
        table.add_column(name, overflow="fold")
    return table


def listed(known: Iterable[Experiment], setting: Setting) -> list[dict[str, Any]]:
    """The experiments in plain values: what each needs, and whether it can run here."""
    return [
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
        for experiment in known
    ]


def show_list(known: Iterable[Experiment], setting: Setting) -> None:
    """The same for people."""
    table = _table(("experiment", "shows", "of", "runs here"))
    for experiment in known:
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


def show(done: Sequence[Done], setting: Setting, written: str) -> None:
    """One experiment row by row; of several, whose rows are on their pages, the summary; and where the page is."""
    screen = console()
    if len(done) > 1:
        _show_summary(done, setting, screen)
    else:
        _show_one(done[0], screen)
    screen.print(f"Written: {written}, and the same as .md")


def _show_one(item: Done, screen: Any) -> None:
    screen.print(first_line(item))
    screen.print(f"{item.experiment.name}: {item.experiment.title} ({item.experiment.place})")
    if item.outcome is not None:
        for sentence in item.outcome.says:
            screen.print(sentence)
        named = head(item.outcome)
        table = _table(named)
        for row in item.outcome.rows:
            table.add_row(*cells(row, named is PLANTED_HEAD))
        screen.print(table)
        screen.print(f"{tally(item.outcome)}.")
        for text in item.outcome.left_out:
            screen.print(f"Left out: {text}.")
    screen.print("")


def _show_summary(done: Sequence[Done], setting: Setting, screen: Any) -> None:
    for reading in readings(done):
        screen.print(f"{reading.paper.name}")
        for words in reading.sentences():
            screen.print(f"  {words}")
        screen.print("")
    table = _table(head for head in SUMMARY_HEAD if head != "of")
    for item in done:
        table.add_row(item.experiment.name, *counts(item))
    screen.print(table)
    for item in done:
        if item.failed:
            screen.print(f"\n{item.experiment.name} failed: {item.failed}")
    for name, wanting, command in left(done, setting):
        screen.print(f"\n{name} {wanting}." + (f"\n  {command}" if command else ""))
    screen.print("")
