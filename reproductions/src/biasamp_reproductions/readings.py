"""Paper by paper: which printed figures were reached on real files, which only on the paper's own numbers, which were not tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .basis import AGREE, ARITHMETIC, BESIDE, DIFFER, PRINTED, REAL, STAND_IN
from .papers import PAPERS, Paper
from .rows import Row
from .running import Done

# What became of a printed figure or claim on one of the things measured on.
REACHED, NOT_REACHED, NO_VERDICT, NOT_TRIED = "reached", "not reached", "no verdict", "not tried"
# An item of which no row is; and how many names a sentence holds, where there are more than that the table has them.
WHOLE, MOST_NAMED = "all of it", 8
HEAD = (
    "printed in",
    "figures and claims",
    "on real files",
    "on the paper's own numbers",
    "against its other figures",
    "on a stand-in",
)

# Of all papers together: each printed figure and claim stands in one of these columns.
OVERVIEW: Mapping[str, Callable[[Printed], bool]] = {
    "reached on real files": lambda each: each.real == REACHED,
    "tried on real files, not reached": lambda each: each.real == NOT_REACHED,
    "tried on real files, no verdict": lambda each: each.real == NO_VERDICT,
    "not tried on real data, reached on the paper's own numbers": lambda each: (
        each.real == NOT_TRIED and each.own == REACHED
    ),
    "not tried on real data, not reached on the paper's own numbers": lambda each: (
        each.real == NOT_TRIED and each.own in (NOT_REACHED, NO_VERDICT)
    ),
    "not tried on real data, nor on the paper's own numbers": lambda each: each.real == each.own == NOT_TRIED,
}
# In a table a stand-in shows a claim or not, and figures follow from others or not; only the first column says what was not tried.
_IN_TABLE: tuple[Mapping[str, str], ...] = (
    {},
    {NOT_TRIED: "–"},
    {REACHED: "follows", NOT_REACHED: "does not follow", NOT_TRIED: "–"},
    {REACHED: "seen", NOT_REACHED: "not seen", NOT_TRIED: "–"},
)


@dataclass(frozen=True)
class Printed:
    """A figure that a paper prints, or a claim in words, and what became of it on each thing that it was measured on.

    Attributes
    ----------
    item, name : str
        Where it is printed, and which it is.
    published : str or None
        A figure as printed; None for a claim, and for figures that are told of together.
    figures : int
        How many figures it is: 1, or as many as are told of together; 0 for a claim in words, and for an item of which nothing was run.
    real, own, arithmetic, stand_in : str
        What became of it on real files, on the paper's own numbers, against the paper's other figures and on a stand-in: ``"reached"``,
        ``"not reached"``, ``"no verdict"`` or ``"not tried"``.
    """

    item: str
    name: str
    published: str | None
    figures: int
    real: str
    own: str
    arithmetic: str
    stand_in: str

    @property
    def shown(self) -> str:
        """Its name, and the figure as printed."""
        return self.name if self.published is None else f"{self.name} ({self.published})"

    @property
    def untried(self) -> bool:
        """Whether nothing at all was run for it."""
        return self.standing == (NOT_TRIED,) * 4

    @property
    def standing(self) -> tuple[str, str, str, str]:
        """What became of it, in the order of a table's columns."""
        return self.real, self.own, self.arithmetic, self.stand_in


def became(rows: Sequence[Row]) -> str:
    """What became of one figure or claim in its rows of one basis.

    A figure is reached where any row has its digits; a claim where a row tests it and none fails.
    """
    verdicts = {row.verdict for row in rows if row.published is not None}
    agrees, differs = bool(verdicts & set(AGREE)), bool(verdicts & set(DIFFER))
    words = any(row.in_words for row in rows)
    if agrees and not (words and differs):
        return REACHED
    return NOT_REACHED if differs else NO_VERDICT if BESIDE in verdicts else NOT_TRIED


def short(item: str, what: str) -> str:
    """A row's name without the item, which stands before it already.

    >>> short("Table 3", "Table 3, BA, balanced"), short("Sec. 3.2", "Sec. 3.2.3, leakage"), short("Fig. 1", "Fig. 1: one, seen")
    ('BA, balanced', 'leakage', 'one, seen')
    """
    head, _, rest = what.partition(", ")
    if rest and head.startswith(item) and ":" not in head:
        return rest
    return what.removeprefix(f"{item}: ")


@dataclass(frozen=True)
class Reading:
    """One paper: all that it prints and the pages hold, each with what became of it."""

    paper: Paper
    printed: tuple[Printed, ...]

    def of(self, wanted: Callable[[Printed], bool], most: int) -> str:
        """What fits, item by item: how many of its figures and claims, and which where it is not all of them."""
        told = []
        for item in dict.fromkeys(each.item for each in self.printed):
            all_of = [each for each in self.printed if each.item == item]
            some = [each for each in all_of if wanted(each)]
            if some:
                told.append(f"{item} ({_which(some, all_of, most)})")
        return "; ".join(told) or "nothing"

    def answers(self, most: int = MOST_NAMED) -> list[tuple[str, str]]:
        """What a reader asks of the paper, each with its answer; of an item no more than ``most`` are named."""

        def untried(each: Printed) -> bool:
            return each.real == NOT_TRIED

        def own(standing: str) -> Callable[[Printed], bool]:
            return lambda each: untried(each) and each.own == standing

        questions: list[tuple[str, Callable[[Printed], bool], bool]] = [
            ("Reached on real files", lambda each: each.real == REACHED, True),
            ("Tried on real files and not reached there", lambda each: each.real == NOT_REACHED, True),
            (
                "Tried on real files without a verdict, since the words have no edge or other data are meant",
                lambda each: each.real == NO_VERDICT,
                False,
            ),
            (
                "Reached on the paper's own numbers only: tried on real files too, and not reached there",
                lambda each: each.own == REACHED and each.real in (NOT_REACHED, NO_VERDICT),
                False,
            ),
            ("Reached on the paper's own numbers only: not tried on real data at all", own(REACHED), True),
            ("Not tried on real data at all, and not reached on the paper's own numbers", own(NOT_REACHED), False),
            ("Not tried on real data at all, beside the paper's own numbers without a verdict", own(NO_VERDICT), False),
            (
                "Not tried on real data at all: held against other figures of the paper, from which it follows or not",
                lambda each: untried(each) and each.own == NOT_TRIED and each.arithmetic != NOT_TRIED,
                False,
            ),
            (
                "Not tried on real data at all: run on a stand-in only, which cannot reach a printed figure",
                lambda each: (
                    untried(each)
                    and each.own == NOT_TRIED
                    and each.arithmetic == NOT_TRIED
                    and each.stand_in != NOT_TRIED
                ),
                True,
            ),
            ("Not tried on real data at all: not tried on anything", lambda each: each.untried, False),
        ]
        found = [(words, self.of(wanted, most), always) for words, wanted, always in questions]
        return [(words, told) for words, told, always in found if always or told != "nothing"]

    def sentences(self) -> Iterator[str]:
        """The same as lines of text, where there is no table: all are named."""
        for words, told in self.answers(len(self.printed)):
            yield f"{words}: {told}."

    def table(self) -> Iterator[tuple[str, ...]]:
        """A row for each item and each thing that became of some of it, as in ``HEAD``."""
        for item in dict.fromkeys(each.item for each in self.printed):
            all_of = [each for each in self.printed if each.item == item]
            for standing in dict.fromkeys(each.standing for each in all_of):
                which = _which([each for each in all_of if each.standing == standing], all_of, len(all_of))
                yield item, which, *(words.get(word, word) for words, word in zip(_IN_TABLE, standing, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The reading in plain values."""
        return {"paper": self.paper.name, "printed": [asdict(each) for each in self.printed]}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Reading:
        """The reading from its plain values."""
        paper = next(paper for paper in PAPERS.values() if paper.name == held["paper"])
        return cls(paper, tuple(Printed(**each) for each in held["printed"]))


def overview(found: Sequence[Reading]) -> Iterator[tuple[str, ...]]:
    """A row for each paper: how many of its figures and claims stand in each column of ``OVERVIEW``."""
    for reading in found:
        cells = [[each for each in reading.printed if wanted(each)] for wanted in OVERVIEW.values()]
        yield reading.paper.name, *(_many(some) or "–" for some in cells)


def _many(some: Sequence[Printed]) -> str:
    """How many figures and claims these are.

    >>> _many([Printed("a", "b", None, 396, *[""] * 4), Printed("a", "c", None, 0, *[""] * 4)])
    '396 figures, 1 claim in words'
    """
    figures = sum(each.figures for each in some)
    claims = sum(not each.figures and each.name != WHOLE for each in some)
    parts = [f"{figures} figure{'s' if figures > 1 else ''}"] if figures else []
    parts += [f"{claims} claim{'s' if claims > 1 else ''} in words"] if claims else []
    return ", ".join(parts + [f"all of {each.item}" for each in some if each.name == WHOLE])


def _which(some: Sequence[Printed], all_of: Sequence[Printed], most: int) -> str:
    """How many figures and claims these are, and their names where they are not all of the item's, nor more than ``most``."""
    if some[0].name == WHOLE:
        return WHOLE
    parts = []
    for kind in (True, False):
        mine, whole = ([each for each in group if bool(each.figures) is kind] for group in (some, all_of))
        if not mine:
            continue
        if len(mine) == len(whole):
            parts.append(
                f"all {_many(mine)}" if len(mine) > 1 or mine[0].figures > 1 else f"{_many(mine)}: {mine[0].shown}"
            )
        elif len(mine) > most:
            parts.append(f"{_many(mine)}, named in the table")
        else:
            parts.append(f"{_many(mine)}: {'; '.join(each.shown for each in mine)}")
    return "; and ".join(parts)


def readings(done: Sequence[Done]) -> list[Reading]:
    """One for each paper that has items, from all rows of all experiments."""
    rows: dict[str, list[Row]] = {key: [] for key in PAPERS}
    for item in done:
        for row in () if item.outcome is None else item.outcome.rows:
            rows.setdefault(row.paper or item.experiment.paper, []).append(row)
    return [_reading(paper, rows[key]) for key, paper in PAPERS.items() if paper.items]


def _reading(paper: Paper, rows: Sequence[Row]) -> Reading:
    held: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.published is not None and row.item:
            key = (row.item, row.name or row.claim or short(row.item, row.what))
            held[key] = [*held.get(key, []), row]
    out = []
    for item in dict.fromkeys((*paper.items, *(item for item, _ in held))):
        mine = {name: found for (place, name), found in held.items() if place == item}
        for name, found in mine.items():
            words = found[0].in_words
            by_basis = (
                became([row for row in found if row.basis == basis]) for basis in (REAL, PRINTED, ARITHMETIC, STAND_IN)
            )
            out.append(Printed(item, name, None if words else found[0].published, int(not words), *by_basis))
        absent = {name: many for (place, name), many in paper.more.items() if place == item}
        absent = {name: many for name, many in absent.items() if not any(key.startswith(name) for key in mine)}
        for name, many in absent.items() if mine or absent else [(WHOLE, 0)]:
            out.append(Printed(item, name, None, many, *[NOT_TRIED] * 4))
    return Reading(paper, tuple(out))
