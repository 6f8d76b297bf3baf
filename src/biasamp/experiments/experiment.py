"""What an experiment is, and what it hands back: published figures beside ours."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasamp.results import plain

REAL = "Real files"
STAND_IN = "Stand-in"
PRINTED = "The paper's own numbers"


@dataclass(frozen=True)
class Reason:
    """A run that changes a figure which differs: what was changed, and the figure that this gave.

    It may give the published figure, or only move ours: :attr:`Row.reached` tells. ``settles`` says so in words
    where the two are not held together digit by digit.
    """

    change: str
    figure: float
    settles: str = ""


@dataclass(frozen=True)
class Row:
    """One figure of a paper beside ours.

    Attributes
    ----------
    what : str
        What is compared.
    published : str or None
        As printed, digit by digit; a claim in words; or None where the paper gives nothing to compare with.
    ours : float or str
        What running this software gave.
    agrees : bool or None
        Whether ours rounds to the published figure, or the claim holds; None where nothing is published.
    interval : tuple of float, optional
        Of our figure.
    spread : str
        The figure's ± as printed.
    reason : Reason, optional
        For a figure that differs: a run that changes it.
    note : str
        What a reader should know.
    """

    what: str
    published: str | None
    ours: float | str
    agrees: bool | None
    interval: tuple[float, float] | None = None
    spread: str = ""
    reason: Reason | None = None
    note: str = ""

    @property
    def reached(self) -> bool:
        """Whether it differs and its reason's run gives the published figure, to its digits or within its ±."""
        if self.agrees is not False or self.reason is None or self.published is None:
            return False
        if self.reason.settles:
            return True
        return rounds_to(self.reason.figure, self.published) or self.within(self.reason.figure)

    def within(self, figure: float) -> bool:
        """Whether a figure lies within the ± that the paper prints."""
        if self.published is None or not self.spread:
            return False
        return abs(figure - float(self.published)) <= float(self.spread)

    @property
    def covered(self) -> bool:
        """Whether the published figure lies in our interval."""
        if self.published is None or self.interval is None:
            return False
        return self.interval[0] <= float(self.published) <= self.interval[1]

    @property
    def unexplained(self) -> bool:
        """Whether it differs and nothing was found that changes it."""
        return self.agrees is False and self.reason is None

    def to_dict(self) -> dict[str, Any]:
        """The row in plain values."""
        return {
            "what": self.what,
            "published": self.published,
            "spread": self.spread or None,
            "ours": plain(self.ours),
            "interval": None if self.interval is None else [plain(bound) for bound in self.interval],
            "agrees": self.agrees,
            "reason": None
            if self.reason is None
            else {"change": self.reason.change, "figure": plain(self.reason.figure), "reaches": self.reached},
            "note": self.note or None,
        }


def decimals(published: str) -> int:
    """How many decimals a figure is printed with.

    >>> decimals("-.0317"), decimals("0")
    (4, 0)
    """
    return len(published.partition(".")[2])


def rounds_to(figure: float, published: str) -> bool:
    """Whether a figure is the published one to the digits printed.

    >>> rounds_to(1 / 30, "0.033"), rounds_to(0.034, "0.033")
    (True, False)
    """
    # Half a unit of the last digit either way, and a hair for figures that lie on the edge.
    return abs(figure - float(published)) <= 0.5 * 10.0 ** -decimals(published) + 1e-9


def printed(
    what: str,
    published: str,
    ours: float,
    *,
    interval: tuple[float, float] | None = None,
    spread: str = "",
    reason: Reason | None = None,
    note: str = "",
) -> Row:
    """A published number beside ours, which agrees when it rounds to the digits printed.

    >>> printed("MALS", "0.033", 1 / 30).agrees, printed("MALS", "0.033", 0.034).agrees
    (True, False)
    """
    agrees = rounds_to(ours, published)
    return Row(what, published, float(ours), agrees, interval, spread, None if agrees else reason, note)


def claimed(
    what: str,
    published: str,
    ours: float | str,
    holds: bool,
    *,
    interval: tuple[float, float] | None = None,
    note: str = "",
) -> Row:
    """A statement of a paper, and whether ours bears it out."""
    return Row(what, published, ours, bool(holds), interval, note=note)


def measured(
    what: str,
    ours: float | str,
    *,
    published: str | None = None,
    interval: tuple[float, float] | None = None,
    note: str = "",
) -> Row:
    """A figure of ours without a verdict: none is printed, or it is of other data, or a word that has no edge."""
    return Row(what, published, ours, None, interval, note=note)


def interval_of(result: Any, **options: Any) -> tuple[float, float]:
    """A result's 95% interval; its cautions are the page's matter, not warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        low, high = result.confidence_interval(**options)
    return float(low), float(high)


@dataclass(frozen=True)
class Chart:
    """Lines to draw: each a name with its points."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]

    def to_dict(self) -> dict[str, Any]:
        """The chart in plain values."""
        lines = {name: [[plain(a), plain(b)] for a, b in points] for name, points in self.lines.items()}
        return {"title": self.title, "x": self.x, "y": self.y, "lines": lines}


@dataclass(frozen=True)
class Outcome:
    """What one experiment gave.

    Attributes
    ----------
    kind : str
        Whether it ran on real files, on a stand-in, or on the paper's own numbers.
    source : str
        Which files, or what the stand-in is.
    rows : tuple of Row
    charts : tuple of Chart
    left_out : tuple of str
        What could not be run here, and what it needs.
    """

    kind: str
    source: str
    rows: tuple[Row, ...]
    charts: tuple[Chart, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def first_line(self) -> str:
        """What it ran on, which is the first thing to know."""
        return f"{self.kind}: {self.source}"

    @property
    def agreed(self) -> int:
        """How many published figures and claims come out."""
        return sum(row.agrees is True for row in self.rows)

    @property
    def reached(self) -> int:
        """How many differ, and a run that gives the published figure is shown."""
        return sum(row.reached for row in self.rows)

    @property
    def moved(self) -> int:
        """How many differ, and a run is shown that changes the figure without reaching the published one."""
        return sum(row.agrees is False and row.reason is not None and not row.reached for row in self.rows)

    @property
    def unexplained(self) -> int:
        """How many differ without one."""
        return sum(row.unexplained for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The outcome in plain values."""
        return {
            "kind": self.kind,
            "source": self.source,
            "agreed": self.agreed,
            "reached": self.reached,
            "moved": self.moved,
            "unexplained": self.unexplained,
            "rows": [row.to_dict() for row in self.rows],
            "charts": [chart.to_dict() for chart in self.charts],
            "left_out": list(self.left_out),
        }


def silent(done: int, total: int) -> None:
    """Progress that nobody is told of."""


@dataclass(frozen=True)
class Setting:
    """Where and how an experiment runs.

    Attributes
    ----------
    seed : int
    folder : Path, optional
        The folder of real files.
    progress : callable
        Told ``(done, total)`` as the work goes on.
    """

    seed: int = 0
    folder: Path | None = None
    progress: Callable[[int, int], None] = field(default=silent)

    def file(self, name: str) -> Path | None:
        """A real file, where it is there."""
        path = None if self.folder is None else self.folder / name
        return path if path is not None and path.is_file() else None

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
    """

    name: str
    title: str
    place: str
    run: Callable[[Setting], Outcome]
    files: tuple[str, ...] = ()
    without: str = ""
    extras: Mapping[str, str] = field(default_factory=dict)

    def lacking(self, setting: Setting) -> list[str]:
        """Files and extras that are not there."""
        from importlib.util import find_spec

        extras = [extra for module, extra in self.extras.items() if find_spec(module) is None]
        return [name for name in self.files if setting.file(name) is None] + [f"biasamp[{e}]" for e in extras]

    def blocked(self, setting: Setting) -> str:
        """Why it cannot run here, or an empty string."""
        lacking = self.lacking(setting)
        extras = [item for item in lacking if item.startswith("biasamp[")]
        if extras:
            return f"needs the extra: pip install '{extras[0]}'"
        if lacking and not self.without:
            return f"needs {', '.join(lacking)} in the folder that BIASAMP_DATA names"
        return ""
