"""Paper by paper: which printed figures were reached on real files, which only on the paper's own numbers, which were not tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .basis import AGREE, ARITHMETIC, BESIDE, DEFINED, DIFFER, FAILS, PRINTED, REAL, STAND_IN
from .basis import REACHED as BY_ANOTHER
from .internals import plain
from .page import number
from .papers import PAPERS, Paper
from .rows import Row
from .running import Done

# What became of a printed figure or claim on one of the things measured on.
REACHED, NOT_REACHED, NO_VERDICT, NOT_TRIED = "reached", "not reached", "no verdict", "not tried"
# An item of which no row is; and how many names a sentence holds, where there are more than that the table has them.
WHOLE, MOST_NAMED = "all of it", 8
# What a figure is measured on, in the order of what that is worth, and the words for it.
KINDS = {"real": REAL, "own": PRINTED, "defined": DEFINED, "arithmetic": ARITHMETIC, "stand_in": STAND_IN}
ON = {
    "real": "on real files",
    "own": "on the paper's own numbers",
    "defined": "by the paper's definitions, at values that we chose",
    "arithmetic": "against its other figures",
    "stand_in": "on a stand-in",
}
HEAD = ("printed in", "figures and claims", *ON.values())
STANDINGS = {
    REACHED: "a figure: ours rounds to it, digit for digit; a claim in words: its test is passed",
    NOT_REACHED: "ours differs, or the test is not passed; the word behind it is the verdict, and ours stands beside the printed figure",
    "–": "not tried on this, or none",
}
_NOWHERE = (NOT_TRIED, NOT_TRIED, NOT_TRIED, NOT_TRIED, NOT_TRIED)
# In a table a stand-in shows a claim or not, and figures follow from others or not; only the first column says what was not tried.
_IN_TABLE: Mapping[str, Mapping[str, str]] = {
    "real": {},
    "own": {NOT_TRIED: "–"},
    "defined": {NOT_TRIED: "–"},
    "arithmetic": {REACHED: "follows", NOT_REACHED: "does not follow", NOT_TRIED: "–"},
    "stand_in": {REACHED: "seen", NOT_REACHED: "not seen", NOT_TRIED: "–"},
}


@dataclass(frozen=True)
class Printed:
    """A figure that a paper prints, or a claim in words, and what became of it on each thing that it was measured on.

    Attributes
    ----------
    item, name : str
        Where it is printed, and which it is.
    published : str or None
        A figure or a claim as printed; None for figures that are told of together.
    figures : int
        How many figures it is: 1, or as many as are told of together; 0 for a claim in words, and for an item of which nothing was run.
    real, own, defined, arithmetic, stand_in : str
        What became of it on real files, on the paper's own numbers, by its definitions, against its other figures and on a stand-in:
        ``"reached"``, ``"not reached"``, ``"no verdict"`` or ``"not tried"``.
    verdicts, ours, ways : dict
        On each of these that was tried: the verdict of the row that decides, what ours is there, and what was changed in another run
        that gives the published figure, where there is one.
    origin : str
        What ours was taken from on real files, where a row says so.
    """

    item: str
    name: str
    published: str | None
    figures: int
    real: str
    own: str
    defined: str
    arithmetic: str
    stand_in: str
    verdicts: dict[str, str] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    ways: dict[str, str] = field(default_factory=dict)
    origin: str = ""

    @property
    def shown(self) -> str:
        """Its name; the figure as printed, or the claim; and ours, where it is another."""
        parts = [] if self.published in (None, self.name) else [str(self.published)]
        parts = parts if self.figures else [f"the paper: {words}" for words in parts]
        for kind in ("real", "own", "defined", "arithmetic"):
            if self.on(kind) == NOT_REACHED and self.ours.get(kind) is not None:
                value = self.ours[kind]
                told = number(value, self.published) if self.figures or isinstance(value, str) else f"{value:.4g}"
                parts.append(f"its other figures give {told}" if kind == "arithmetic" else f"ours {told} {ON[kind]}")
            parts += [self.ways[kind]] if self.ways.get(kind) else []
        return f"{self.name} ({'; '.join(parts)})" if parts else self.name

    def on(self, kind: str) -> str:
        """What became of it on one of ``KINDS``."""
        return str(getattr(self, kind))

    def why_not(self, kind: str) -> str:
        """The verdict on one of ``KINDS``, in words that can stand behind "not reached"."""
        verdict = self.verdicts.get(kind, "")
        return "another run gives it" if verdict == BY_ANOTHER else verdict

    @property
    def best(self) -> str:
        """The first of ``KINDS`` that it was tried on; empty where on none."""
        return next((kind for kind in KINDS if self.on(kind) != NOT_TRIED), "")

    @property
    def cells(self) -> tuple[str, ...]:
        """What became of it, as in a table's columns."""
        out = []
        for kind, words in _IN_TABLE.items():
            told = words.get(self.on(kind), self.on(kind))
            out.append(f"{told}: {self.why_not(kind)}" if told == NOT_REACHED else told)
        return tuple(out)


def deciding(rows: Sequence[Row]) -> Row | None:
    """The row that says what became of one figure or claim on one thing measured on.

    A figure is reached where any row has its digits; a claim where a row tests it and none fails.
    """
    held = [row for row in rows if row.published is not None]
    order = (*DIFFER, *AGREE, BESIDE) if any(row.in_words for row in held) else (*AGREE, *DIFFER, BESIDE)
    return min(held, key=lambda row: order.index(row.verdict), default=None)


def standing(row: Row | None) -> str:
    """What became of a figure or claim by the row that decides."""
    if row is None:
        return NOT_TRIED
    return REACHED if row.verdict in AGREE else NOT_REACHED if row.verdict in DIFFER else NO_VERDICT


def way(row: Row) -> str:
    """What was changed in another run that gives the published figure; empty where none does."""
    if row.reason is None or not row.reached:
        return ""
    return f"{row.reason.change}: {row.reason.settles or 'the printed figure'}"


def short(item: str, what: str) -> str:
    """A row's name without the item, which stands before it already.

    >>> short("Table 3", "Table 3, BA, balanced"), short("Sec. 3.2", "Sec. 3.2.3, leakage"), short("Fig. 1", "Fig. 1: one, seen")
    ('BA, balanced', 'leakage', 'one, seen')
    """
    head, _, rest = what.partition(", ")
    if rest and head.startswith(item) and ":" not in head:
        return rest
    return what.removeprefix(f"{item}: ")


# What a reader asks of a paper: of what each printed figure was tried on first, and what became of it there. Each is in one of them.
Question = tuple[str, tuple[str, ...], str]
_NOT_REAL = "Not tried on real files"
QUESTIONS: tuple[Question, ...] = (
    ("real", (REACHED,), "Reached on real files"),
    ("real", (NOT_REACHED,), "Tried on real files and not reached there"),
    (
        "real",
        (NO_VERDICT,),
        "Tried on real files without a verdict, since no threshold is stated or other data are meant",
    ),
    ("own", (REACHED,), f"{_NOT_REAL}; reached on the paper's own numbers"),
    ("own", (NOT_REACHED,), f"{_NOT_REAL}; not reached on the paper's own numbers"),
    ("own", (NO_VERDICT,), f"{_NOT_REAL}; no verdict on the paper's own numbers"),
    ("defined", (REACHED,), f"{_NOT_REAL}; reached by the paper's definitions, at values that we chose"),
    ("defined", (NOT_REACHED,), f"{_NOT_REAL}; not reached by the paper's definitions, at values that we chose"),
    ("defined", (NO_VERDICT,), f"{_NOT_REAL}; no verdict by the paper's definitions, at values that we chose"),
    ("arithmetic", (REACHED,), f"{_NOT_REAL}; held against other figures of the paper: follows from them"),
    (
        "arithmetic",
        (NOT_REACHED, NO_VERDICT),
        f"{_NOT_REAL}; held against other figures of the paper: does not follow",
    ),
    (
        "stand_in",
        (REACHED, NOT_REACHED, NO_VERDICT),
        f"{_NOT_REAL}, run on a stand-in only, which cannot reach a printed figure",
    ),
    ("", (NOT_TRIED,), "Not tried on anything"),
)
# These are answered even where the answer is: nothing.
_ALWAYS = (0, 1, 3, 11)


def fits(each: Printed, question: Question) -> bool:
    """Whether a printed figure or claim is one that the question asks for."""
    kind, standings, _ = question
    return each.best == kind and (not kind or each.on(kind) in standings)


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
        out = []
        for place, question in enumerate(QUESTIONS):
            some = [each for each in self.printed if fits(each, question)]
            told = self.of(some.__contains__, most)
            broken = _broken_down(some)
            if some or place in _ALWAYS:
                out.append((f"{question[2]} ({broken})" if broken else question[2], told))
        return out

    def sentences(self) -> Iterator[str]:
        """The same as lines of text, where there is no table: all are named."""
        for words, told in self.answers(len(self.printed)):
            yield f"{words}: {told}."

    def table(self) -> Iterator[tuple[str, ...]]:
        """A row for each item and each thing that became of some of it, as in ``HEAD``."""
        for item in dict.fromkeys(each.item for each in self.printed):
            all_of = [each for each in self.printed if each.item == item]
            for cells in dict.fromkeys(each.cells for each in all_of):
                which = _which([each for each in all_of if each.cells == cells], all_of, len(all_of))
                yield item, which, *cells

    def to_dict(self) -> dict[str, Any]:
        """The reading in plain values."""
        return {"paper": self.paper.name, "printed": [asdict(each) for each in self.printed]}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Reading:
        """The reading from its plain values."""
        paper = next(paper for paper in PAPERS.values() if paper.name == held["paper"])
        return cls(paper, tuple(Printed(**each) for each in held["printed"]))


def overview(found: Sequence[Reading]) -> Iterator[tuple[str, ...]]:
    """A row for each of ``QUESTIONS``: how many figures and claims of each paper, and what they come to in more words."""
    for question in QUESTIONS:
        cells = []
        for reading in found:
            some = [each for each in reading.printed if fits(each, question)]
            more = _broken_down(some)
            cells.append(f"{_many(some)} ({more})" if more else _many(some) or "–")
        yield question[2], *cells


def _broken_down(some: Sequence[Printed]) -> str:
    """What stands behind one word: where figures on real files were taken from, how far off what was not reached is.

    >>> row = Printed("a", "b", "1", 1, "reached", *["not tried"] * 4, {"real": "same digits"}, origin="counted in the input file")
    >>> _broken_down([row, row])
    '2 counted in the input file'
    """
    if not some or not some[0].best:
        return ""
    kind = some[0].best
    if kind == "real" and some[0].real == REACHED:
        counts = Counter(each.origin for each in some if each.origin)
    elif kind == "stand_in" or (some[0].on(kind) == NOT_REACHED and kind != "arithmetic"):
        counts = Counter(each.why_not(kind) for each in some)
        # What the question says already.
        counts.pop(FAILS, None)
    else:
        return ""
    parts = [f"{many} {words}" if len(some) > 1 else words for words, many in counts.items() if words]
    both = sum(each.own == REACHED for each in some) if some[0].real == NOT_REACHED else 0
    return ", ".join(parts) + (f"; {both} of them are reached on the paper's own numbers" if both else "")


def _many(some: Sequence[Printed]) -> str:
    """How many figures and claims these are.

    >>> _many([Printed("a", "b", None, 396, *[""] * 5), Printed("a", "c", None, 0, *[""] * 5)])
    '396 figures, 1 claim in words'
    """
    figures = sum(each.figures for each in some)
    claims = sum(not each.figures and each.name != WHOLE for each in some)
    parts = [f"{figures} figure{'s' if figures > 1 else ''}"] if figures else []
    parts += [f"{claims} claim{'s' if claims > 1 else ''} in words"] if claims else []
    return ", ".join(parts + [f"all of {each.item}" for each in some if each.name == WHOLE])


def _which(some: Sequence[Printed], all_of: Sequence[Printed], most: int) -> str:
    """How many figures and claims these are, and their names where they are not all of the item's, nor more than ``most``.

    Those on real files are told apart by what they were taken from.
    """
    if some[0].name == WHOLE:
        return WHOLE
    parts = []
    for kind, origin in dict.fromkeys((bool(each.figures), each.origin) for each in some):
        mine = [each for each in some if (bool(each.figures), each.origin) == (kind, origin)]
        whole = [each for each in all_of if bool(each.figures) is kind]
        many = f"{_many(mine)} {origin}" if origin else _many(mine)
        differs = any(each.on(on) == NOT_REACHED for each in mine for on in KINDS if on != "stand_in")
        if len(mine) == len(whole) and not differs and (len(mine) > 1 or mine[0].figures > 1):
            parts.append(f"all {many}")
        elif len(mine) > most:
            parts.append(f"{many}, named in the table")
        else:
            parts.append(f"{many}: {'; '.join(each.shown for each in mine)}")
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
            rows_of = {kind: deciding([row for row in found if row.basis == basis]) for kind, basis in KINDS.items()}
            real, own, defined, arithmetic, stand_in = map(standing, rows_of.values())
            tried = {kind: row for kind, row in rows_of.items() if row is not None}
            out.append(
                Printed(
                    item,
                    name,
                    found[0].published,
                    int(not words),
                    *(real, own, defined, arithmetic, stand_in),
                    verdicts={kind: row.verdict for kind, row in tried.items()},
                    ours={kind: plain(row.ours) for kind, row in tried.items()},
                    ways={kind: way(row) for kind, row in tried.items() if way(row)},
                    origin=tried["real"].origin if "real" in tried else "",
                )
            )
        absent = {name: many for (place, name), many in paper.more.items() if place == item}
        absent = {name: many for name, many in absent.items() if not any(key.startswith(name) for key in mine)}
        for name, many in absent.items() if mine or absent else [(WHOLE, 0)]:
            out.append(Printed(item, name, None, many, *_NOWHERE))
    return Reading(paper, tuple(out))
