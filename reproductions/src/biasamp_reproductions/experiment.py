"""What an experiment is, and where and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .outcome import Outcome


class Progress(Protocol):
    """Told how much of the work is done, and in a few words what is being done now."""

    def __call__(self, done: int, total: int, doing: str = "") -> None:
        """So much of the total is done."""


def silent(done: int, total: int, doing: str = "") -> None:
    """Progress that nobody is told of."""


@dataclass(frozen=True)
class Setting:
    """Where and how an experiment runs.

    Attributes
    ----------
    seed : int
    folder : Path, optional
        The folder of real files.
    model : str, optional
        A model to run on in place of the experiment's own, where it takes one.
    progress : callable
        Told ``(done, total)`` as the work goes on, or ``(done, total, "what is being done now")``. An experiment that
        takes longer than some seconds calls it, so that whoever waits sees that it goes on and how far it is.
    """

    seed: int = 0
    folder: Path | None = None
    model: str | None = None
    progress: Progress = field(default=silent)

    def file(self, name: str) -> Path | None:
        """A real file, where it is there; a folder of them, where the name ends with a slash."""
        path = None if self.folder is None else self.folder / name
        there = path is not None and (path.is_dir() if name.endswith("/") else path.is_file())
        return path if there else None

    def has(self, names: Sequence[str]) -> bool:
        """Whether all of these files are there."""
        return all(self.file(name) is not None for name in names)

    def columns(self, name: str, wanted: Sequence[str]) -> dict[str, Any]:
        """Columns of a CSV or Parquet file of the folder, as Python lists."""
        path = self.file(name)
        if path is None:
            raise FileNotFoundError(f"{name} is not in the folder that BIASAMP_DATA names")
        if path.suffix == ".parquet":
            from pyarrow import parquet

            table = parquet.read_table(path, columns=list(wanted))
        else:
            from pyarrow import csv

            table = csv.read_csv(path, convert_options=csv.ConvertOptions(include_columns=list(wanted)))
        return {column: table[column].to_pylist() for column in wanted}


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper, or a few that belong together.

    Attributes
    ----------
    name, title, place : str
        What it is called, what it shows, and where in which paper.
    run : callable
        Takes a :class:`Setting`, gives an :class:`Outcome`.
    files : tuple of str
        Real files that it reads where they are there.
    without : str
        What it does without them; empty where it cannot run.
    extras : mapping of str to str
        Modules that it cannot run without, and the extra of this package that brings each.
    options : tuple of str
        Attributes of :class:`Setting` that only some experiments take, and this one does.
    """

    name: str
    title: str
    place: str
    run: Callable[[Setting], Outcome]
    files: tuple[str, ...] = ()
    without: str = ""
    extras: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    def lacking(self, setting: Setting) -> list[str]:
        """Files and extras that are not there."""
        return [name for name in self.files if setting.file(name) is None] + [
            f"biasamp[{extra}]" for extra in self._lacking_extras()
        ]

    def _lacking_extras(self) -> list[str]:
        from importlib.util import find_spec

        return list(dict.fromkeys(extra for module, extra in self.extras.items() if find_spec(module) is None))

    def blocked(self, setting: Setting) -> str:
        """Why it cannot run here, or an empty string."""
        files = [name for name in self.files if setting.file(name) is None]
        extras = self._lacking_extras()
        needs = []
        if extras:
            needs.append(f"the extra: pip install 'biasamp[{','.join(extras)}]'")
        if files and not self.without:
            needs.append(f"{', '.join(files)} in the folder that BIASAMP_DATA names")
        return f"needs {'; and '.join(needs)}" if needs else ""

    def command(self, setting: Setting) -> str:
        """What to type, once the files are at hand, to run it whole."""
        extras = self._lacking_extras()
        install = f"pip install 'biasamp[{','.join(extras)}]' && " if extras else ""
        elsewhere = setting.folder is None and bool(self.files)
        return f"{install}{'BIASAMP_DATA=FOLDER ' if elsewhere else ''}biasamp reproduce {self.name}"
