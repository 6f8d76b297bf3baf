"""What one experiment gave: what it ran on, its rows, its charts, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .basis import (
    AGREE,
    ARITHMETIC,
    BASES,
    DEFINED,
    FAILS,
    FOLLOWS_NOT,
    HOLDS,
    LEFT_OPEN,
    MOVED,
    NO_REASON,
    NOT_BACK,
    NOT_SEEN,
    OTHERS,
    OUT_OF_REACH,
    OWN,
    PRINTED,
    REACHED,
    REAL,
    SEEN,
    STAND_IN,
    VERDICTS,
    WITHIN,
)
from .chart import Chart, Heatmap, chart_of
from .rows import Row, row_of

__all__ = ["ARITHMETIC", "DEFINED", "OWN", "PRINTED", "REAL", "STAND_IN", "Outcome", "Trial", "counted_once", "tallied"]


@dataclass(frozen=True)
class Trial:
    """Why a stand-in is evidence at all: what it could have shown instead, and a setting in which it does.

    Attributes
    ----------
    could : str
        What it could have shown instead.
    fails : str
        The settings of its sweep in which the claim fails, with the figures; or that none was found, and among how many.
    """

    could: str
    fails: str


def counted_once(rows: Iterable[Row]) -> list[Row]:
    """One row for each claim: rows that share a claim stand for it together, and it holds where all of them hold.

    >>> from .rows import claimed
    >>> both = [claimed("a", "falls", 1.0, holds, test="t", claim="falls") for holds in (True, False)]
    >>> [row.verdict for row in counted_once(both)]
    ['does not hold']
    """
    out: dict[Any, Row] = {}
    for number, row in enumerate(rows):
        key = (row.basis, row.item, row.claim) if row.claim else number
        if key not in out or row.verdict in (FAILS, NOT_SEEN, FOLLOWS_NOT, NOT_BACK):
            out[key] = row
    return list(out.values())


def tallied(rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    """How many rows have each verdict, apart by what they were measured on; a claim counts once."""
    held = counted_once(rows)
    out: dict[str, dict[str, int]] = {}
    for basis in BASES:
        mine = [row.verdict for row in held if row.basis == basis]
        if mine:
            out[basis] = {verdict: mine.count(verdict) for verdict in (*VERDICTS, *OTHERS) if verdict in mine}
    return out


@dataclass(frozen=True)
class Outcome:
    """What one experiment gave.

    Attributes
    ----------
    kind : str
        What it ran on: real files, a stand-in, the paper's own numbers or definitions, or one's own files. A row may say otherwise of itself.
    source : str
        Which files, or what the stand-in is.
    rows : tuple of Row
    charts : tuple of Chart or Heatmap
    left_out : tuple of str
        What could not be run here, and what it needs.
    says : tuple of str
        What came out, in at most three sentences, which stand first.
    choices : tuple of str
        What was chosen that the papers do not tell, and how much it matters.
    trial : Trial, optional
        For a stand-in: what it could have shown instead.
    examples : tuple of (str, str)
        Texts that explain a figure: what each is of, and the text.
    """

    kind: str
    source: str
    rows: tuple[Row, ...]
    charts: tuple[Chart | Heatmap, ...] = ()
    left_out: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    trial: Trial | None = None
    examples: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        rows = tuple(row if row.basis else replace(row, basis=self.kind) for row in self.rows)
        object.__setattr__(self, "rows", rows)

    @property
    def first_line(self) -> str:
        """What it ran on, which is the first thing to know."""
        return f"{self.kind}: {self.source}"

    @property
    def totals(self) -> dict[str, dict[str, int]]:
        """How many rows have each verdict, apart by what they were measured on."""
        return tallied(self.rows)

    def count(self, *verdicts: str, basis: str | None = None) -> int:
        """How many rows have one of these verdicts; a claim counts once."""
        return sum(
            many
            for mine, counts in self.totals.items()
            for verdict, many in counts.items()
            if verdict in verdicts and basis in (None, mine)
        )

    @property
    def agreed(self) -> int:
        """How many published figures and claims come out, whatever they were measured on."""
        return self.count(*AGREE)

    @property
    def reached(self) -> int:
        """How many differ, and a run that gives the published figure is shown."""
        return self.count(REACHED)

    @property
    def within(self) -> int:
        """How many differ, and lie within the paper's ±."""
        return self.count(WITHIN)

    @property
    def moved(self) -> int:
        """How many differ, and a run is shown that changes the figure without reaching the published one."""
        return self.count(MOVED)

    @property
    def left_open(self) -> int:
        """How many differ, and lie inside what runs over the paper's open choices give."""
        return self.count(LEFT_OPEN)

    @property
    def out_of_reach(self) -> int:
        """How many differ, and lie outside all that such runs give."""
        return self.count(OUT_OF_REACH)

    @property
    def not_seen(self) -> int:
        """How many claims do not show on a stand-in, which is not the data that the paper speaks of."""
        return self.count(NOT_SEEN)

    @property
    def holding(self) -> int:
        """How many claims in words hold, or are seen on a stand-in."""
        return self.count(HOLDS, SEEN)

    @property
    def unexplained(self) -> int:
        """How many figures differ, or claims do not hold on the paper's own numbers or definitions, and nothing is known of why.

        A claim that does not hold on real files is a finding; where a paper's figures do not follow from one another nothing of
        ours is involved that could explain it.
        """
        claims = (row for row in counted_once(self.rows) if row.verdict == FAILS and row.basis in (PRINTED, DEFINED))
        return self.count(NO_REASON) + sum(row.unexplained for row in claims)

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Outcome:
        """The outcome from its plain values."""
        trial = held["trial"]
        return cls(
            held["kind"],
            held["source"],
            tuple(map(row_of, held["rows"])),
            tuple(map(chart_of, held["charts"])),
            tuple(held["left_out"]),
            tuple(held["says"]),
            tuple(held["choices"]),
            None if trial is None else Trial(trial["could"], trial["fails"]),
            tuple((item["of"], item["text"]) for item in held["examples"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The outcome in plain values."""
        return {
            "kind": self.kind,
            "source": self.source,
            "says": list(self.says),
            "totals": self.totals,
            "choices": list(self.choices),
            "trial": None if self.trial is None else {"could": self.trial.could, "fails": self.trial.fails},
            "examples": [{"of": of, "text": text} for of, text in self.examples],
            "rows": [row.to_dict() for row in self.rows],
            "charts": [chart.to_dict() for chart in self.charts],
            "left_out": list(self.left_out),
        }
