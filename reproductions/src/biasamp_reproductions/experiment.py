"""What an experiment is, and where and how it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from .outcome import Outcome

S = TypeVar("S", bound=Any)


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
    quick : bool
        Whether sizes are small: to see that it runs, not for figures.
    scale : mapping of str to number
        Sizes by name, where they are to differ (``{"seeds": 3}``).
    seeds : int, optional
        How many runs with other seeds.
    keep : Path, optional
        A folder in which finished parts of long experiments are kept, and looked for.
    own : mapping of str to str or callable
        One's own files, columns and networks in place of the paper's data; each experiment says which it takes.
    progress : callable
        Told ``(done, total)`` as the work goes on, or ``(done, total, "what is being done now")``. An experiment that
        takes longer than some seconds calls it, so that whoever waits sees that it goes on and how far it is.
    """

    seed: int = 0
    folder: Path | None = None
    model: str | None = None
    progress: Progress = field(default=silent)
    quick: bool = False
    scale: Mapping[str, float] = field(default_factory=dict)
    seeds: int | None = None
    keep: Path | None = None
    own: Mapping[str, Any] = field(default_factory=dict)

    def sized(self, usual: S, quick: S) -> S:
        """The sizes of an experiment, a dataclass: the quick ones or the usual, with those that ``scale`` and ``seeds`` name."""
        sizes = {name.name: getattr(usual, name.name) for name in fields(usual)}
        asked = dict(self.scale)
        if self.seeds is not None and "seeds" in sizes:
            asked["seeds"] = self.seeds
        whole = {name for name, value in sizes.items() if isinstance(value, int) and not isinstance(value, bool)}
        unknown = [name for name in asked if name not in whole]
        if unknown:
            raise ValueError(f"--scale {unknown[0]}: there is no such size here; there are {', '.join(sorted(whole))}")
        return replace(quick if self.quick else usual, **{name: int(value) for name, value in asked.items()})

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
        return columns_of(path, wanted)


def columns_of(path: Path, wanted: Sequence[str]) -> dict[str, Any]:
    """Columns of a CSV or Parquet file, as Python lists; a column that is not there is named with those that are."""
    from pyarrow import csv, parquet

    if not path.is_file():
        raise ValueError(f"there is no file {path.name}")
    if path.suffix == ".parquet":
        table = parquet.ParquetFile(path).read()
    else:
        table = csv.read_csv(path)
    lacking = [column for column in wanted if column not in table.column_names]
    if lacking:
        raise ValueError(f"{path.name} has no column {lacking[0]!r}; it has {', '.join(map(repr, table.column_names))}")
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
    paper : str
        The key of its paper among :data:`~biasamp_reproductions.papers.PAPERS`.
    sizes : tuple of str
        What ``scale`` can name; with ``"seeds"`` it makes several runs by itself.
    """

    name: str
    title: str
    place: str
    run: Callable[[Setting], Outcome]
    files: tuple[str, ...] = ()
    without: str = ""
    extras: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    paper: str = ""
    sizes: tuple[str, ...] = ()

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
        if files and not self.without and not setting.own:
            needs.append(f"{', '.join(files)} in the folder that BIASAMP_DATA names")
        return f"needs {'; and '.join(needs)}" if needs else ""

    def command(self, setting: Setting) -> str:
        """What to type, once the files are at hand, to run it whole."""
        extras = self._lacking_extras()
        install = f"pip install 'biasamp[{','.join(extras)}]' && " if extras else ""
        elsewhere = setting.folder is None and bool(self.files)
        return f"{install}{'BIASAMP_DATA=FOLDER ' if elsewhere else ''}biasamp reproduce {self.name}"
