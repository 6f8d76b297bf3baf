"""Paper by paper: which printed figures were reached on real files, which only on the paper's own numbers, which were not tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .basis import AGREE, ARITHMETIC, BESIDE, DIFFER, PRINTED, REAL, STAND_IN
from .outcome import counted_once
from .papers import PAPERS, Paper
from .rows import Row
from .running import Done

# What can be said of a printed table, figure or section, in the order of the summary.
REACHED_REAL = "reached on real files"
DIFFER_REAL = "tried on real files, not reached"
REACHED_PRINTED = "reached on the paper's own numbers, which is no real data"
DIFFER_PRINTED = "not reached on the paper's own numbers"
CHECKED = "the paper's figures follow from one another"
UNCHECKED = "the paper's figures do not follow from one another"
BESIDE_REAL = "beside a figure of real files, without a verdict"
ONLY_MADE_UP = "not tried on real data: a stand-in only"
NOT_TRIED = "not tried at all"
STANDINGS = (
    REACHED_REAL,
    DIFFER_REAL,
    BESIDE_REAL,
    REACHED_PRINTED,
    DIFFER_PRINTED,
    CHECKED,
    UNCHECKED,
    ONLY_MADE_UP,
    NOT_TRIED,
)


def standing(row: Row) -> str | None:
    """Where a row that has something published stands; None where it has nothing."""
    if row.published is None:
        return None
    if row.basis == STAND_IN:
        return ONLY_MADE_UP
    if row.verdict == BESIDE:
        return BESIDE_REAL if row.basis == REAL else None
    agrees, differs = row.verdict in AGREE, row.verdict in DIFFER
    by_basis = {
        REAL: (REACHED_REAL, DIFFER_REAL),
        PRINTED: (REACHED_PRINTED, DIFFER_PRINTED),
        ARITHMETIC: (CHECKED, UNCHECKED),
    }
    if row.basis not in by_basis or not (agrees or differs):
        return None
    return by_basis[row.basis][0 if agrees else 1]


@dataclass(frozen=True)
class Reading:
    """One paper: by item, how many printed figures and claims stand where."""

    paper: Paper
    items: dict[str, dict[str, tuple[int, int]]]

    def table(self) -> Iterator[tuple[str, ...]]:
        """A row for each item: figures and claims by standing."""
        for item, counts in self.items.items():
            yield item, *(_told(*counts[place]) if place in counts else "–" for place in STANDINGS)

    @property
    def head(self) -> tuple[str, ...]:
        """The columns of the table."""
        return "printed in", *STANDINGS

    def sentences(self) -> Iterator[str]:
        """For each standing that something has: what has it."""
        for place in STANDINGS:
            told = [f"{item} ({_told(*counts[place])})" for item, counts in self.items.items() if place in counts]
            if place == NOT_TRIED:
                told = [item for item, counts in self.items.items() if place in counts]
            if told:
                yield f"{place[0].upper()}{place[1:]}: {'; '.join(told)}."
            elif place == REACHED_REAL:
                yield "Reached on real files: nothing."

    def to_dict(self) -> dict[str, Any]:
        """The reading in plain values."""
        return {
            "paper": self.paper.name,
            "items": {
                item: {place: {"figures": figures, "claims": claims} for place, (figures, claims) in counts.items()}
                for item, counts in self.items.items()
            },
        }


def _told(figures: int, claims: int) -> str:
    parts = []
    if figures:
        parts.append(f"{figures} figure{'s' if figures > 1 else ''}")
    if claims:
        parts.append(f"{claims} claim{'s' if claims > 1 else ''} in words")
    return ", ".join(parts)


def readings(done: Sequence[Done]) -> list[Reading]:
    """One for each paper that has items, from all rows of all experiments."""
    rows: dict[str, list[Row]] = {key: [] for key in PAPERS}
    for item in done:
        for row in () if item.outcome is None else item.outcome.rows:
            rows.setdefault(row.paper or item.experiment.paper, []).append(row)
    out = []
    for key, paper in PAPERS.items():
        if not paper.items:
            continue
        found: dict[str, dict[str, tuple[int, int]]] = {item: {} for item in paper.items}
        for row in counted_once(rows[key]):
            place = standing(row)
            if place is None or not row.item:
                continue
            counts = found.setdefault(row.item, {})
            figures, claims = counts.get(place, (0, 0))
            counts[place] = (figures, claims + 1) if row.in_words else (figures + 1, claims)
        out.append(Reading(paper, {item: counts or {NOT_TRIED: (0, 0)} for item, counts in found.items()}))
    return out
