"""One figure of a paper beside ours, and what is known of a difference between them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .basis import (
    ARITHMETIC,
    BACK,
    BESIDE,
    FAILS,
    FOLLOWS,
    FOLLOWS_NOT,
    HOLDS,
    LEFT_OPEN,
    MOVED,
    NO_REASON,
    NOT_BACK,
    NOT_SEEN,
    OURS,
    OUT_OF_REACH,
    REACHED,
    SAME,
    SEEN,
    STAND_IN,
    WITHIN,
)
from .internals import plain


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
class Tried:
    """All that a figure came to in runs over whatever its paper leaves open: settings, draws, seeds.

    The evidence for a published figure that no setting named in the paper gives. ``runs`` are as many as ``low`` and
    ``high`` were taken from, and ``over`` says what was varied, so that a reader can judge how wide the search was.

    Over a wide search almost any single figure lies in its range. Where a paper prints figures of one model, and no
    single run gives them all, ``together`` says how near the nearest run comes, and the range then holds nothing.
    """

    low: float
    high: float
    runs: int
    over: str
    together: str = ""

    @classmethod
    def of(cls, figures: Sequence[float], over: str, together: str = "") -> Tried:
        """From the figures of all runs.

        >>> Tried.of([0.2, 0.1, 0.4], "depths")
        Tried(low=0.1, high=0.4, runs=3, over='depths', together='')
        """
        return cls(float(min(figures)), float(max(figures)), len(figures), over, together)

    def holds(self, published: str) -> bool:
        """Whether the published figure lies between the least and the largest, to its digits."""
        if self.together:
            return False
        half = _half_digit(published)
        return self.low - half <= float(published) <= self.high + half


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
        Whether ours rounds to the published figure, the claim holds or what was planted comes back; None where there is nothing
        to hold ours against.
    interval : tuple of float, optional
        Of our figure.
    spread : str
        The figure's ± as printed.
    reason : Reason, optional
        For a figure that differs: a run that changes it.
    note : str
        What a reader should know.
    tried : Tried, optional
        For a figure that differs and that no run gives: what all runs over the paper's open choices came to.
    basis : str
        What ours was measured on, one of :data:`~biasamp_reproductions.basis.BASES`; empty: what its experiment ran on.
    planted : str or None
        What was planted in a stand-in; such a row has nothing published.
    item : str
        The table, figure or section that prints it.
    paper : str
        The paper, where it is not the experiment's own.
    claim : str
        Rows of one claim in words share this name, and count once: it holds where all of them hold.
    name : str
        The printed figure by a name of its own, where several rows measure it, on real files and on the paper's own numbers.
    origin : str
        What ours was taken from on real files, where "reached" alone would say too much: a count of the input file, say.
    """

    what: str
    published: str | None
    ours: float | str
    agrees: bool | None
    interval: tuple[float, float] | None = None
    spread: str = ""
    reason: Reason | None = None
    note: str = ""
    tried: Tried | None = None
    basis: str = ""
    planted: str | None = None
    item: str = ""
    paper: str = ""
    claim: str = ""
    name: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        if self.planted is not None and self.published is not None:
            raise ValueError(f"{self.what}: a planted value is not a published one")

    @property
    def verdict(self) -> str:
        """One of the verdicts of :mod:`biasamp_reproductions.basis`, by the same rule for every row."""
        if self.planted is not None:
            return BACK if self.agrees else NOT_BACK
        if self.agrees is None:
            return OURS if self.published is None else BESIDE
        if self.basis == ARITHMETIC:
            return FOLLOWS if self.agrees else FOLLOWS_NOT
        if self.in_words and self.basis == STAND_IN:
            return SEEN if self.agrees else NOT_SEEN
        if self.in_words:
            return HOLDS if self.agrees else FAILS
        if self.agrees:
            return SAME
        if self.reached:
            return REACHED
        if self.within_spread:
            return WITHIN
        if self.moved:
            return MOVED
        return LEFT_OPEN if self.left_open else OUT_OF_REACH if self.out_of_reach else NO_REASON

    @property
    def within_spread(self) -> bool:
        """Whether it differs, and ours or its reason's run lies within the ± that the paper prints."""
        found = [self.ours] if isinstance(self.ours, float) else []
        found += [] if self.reason is None else [self.reason.figure]
        return self.agrees is False and any(map(self.within, found))

    @property
    def reached(self) -> bool:
        """Whether it differs and its reason's run gives the published figure, to its digits."""
        if self.agrees is not False or self.reason is None or self.published is None:
            return False
        if self.reason.settles:
            return True
        return _figure(self.published) is not None and rounds_to(self.reason.figure, self.published)

    def within(self, figure: float) -> bool:
        """Whether a figure lies within the ± that the paper prints."""
        published = _figure(self.published)
        return published is not None and bool(self.spread) and abs(figure - published) <= float(self.spread)

    @property
    def covered(self) -> bool:
        """Whether the published figure lies in our interval."""
        published = _figure(self.published)
        return published is not None and self.interval is not None and self.interval[0] <= published <= self.interval[1]

    @property
    def moved(self) -> bool:
        """Whether it differs and its reason's run changes the figure without reaching the published one."""
        return self.agrees is False and self.reason is not None and not self.reached

    @property
    def left_open(self) -> bool:
        """Whether it differs, and runs over what the paper leaves open lie on both sides of the published figure."""
        return self._searched and self.tried is not None and self.tried.holds(str(self.published))

    @property
    def out_of_reach(self) -> bool:
        """Whether it differs, and no run over what the paper leaves open comes to the published figure or past it."""
        return self._searched and not self.left_open

    @property
    def _searched(self) -> bool:
        return self.agrees is False and self.reason is None and self.tried is not None

    @property
    def in_words(self) -> bool:
        """Whether what is published is a claim, not a number."""
        return _figure(self.published) is None

    @property
    def unexplained(self) -> bool:
        """Whether it differs and nothing was found that changes it."""
        return self.agrees is False and self.reason is None and self.tried is None

    def to_dict(self) -> dict[str, Any]:
        """The row in plain values."""
        return {
            "what": self.what,
            "item": self.item or None,
            "paper": self.paper or None,
            "claim": self.claim or None,
            "name": self.name or None,
            "origin": self.origin or None,
            "basis": self.basis,
            "verdict": self.verdict,
            "published": self.published,
            "planted": self.planted,
            "spread": self.spread or None,
            "ours": plain(self.ours),
            "interval": None if self.interval is None else [plain(bound) for bound in self.interval],
            "agrees": self.agrees,
            "reason": None
            if self.reason is None
            else {
                "change": self.reason.change,
                "figure": plain(self.reason.figure),
                "settles": self.reason.settles or None,
                "reaches": self.reached,
            },
            "tried": None
            if self.tried is None
            else {
                "low": plain(self.tried.low),
                "high": plain(self.tried.high),
                "runs": self.tried.runs,
                "over": self.tried.over,
                "together": self.tried.together or None,
                "holds": self.left_open,
            },
            "note": self.note or None,
        }


def row_of(held: Mapping[str, Any]) -> Row:
    """A row from its plain values."""
    reason, tried = held["reason"], held["tried"]
    interval = held["interval"]
    return Row(
        held["what"],
        held["published"],
        held["ours"] if isinstance(held["ours"], str) else number_of(held["ours"]),
        held["agrees"],
        None if interval is None else (number_of(interval[0]), number_of(interval[1])),
        held["spread"] or "",
        None if reason is None else Reason(reason["change"], number_of(reason["figure"]), reason["settles"] or ""),
        held["note"] or "",
        None
        if tried is None
        else Tried(
            number_of(tried["low"]), number_of(tried["high"]), tried["runs"], tried["over"], tried["together"] or ""
        ),
        held["basis"],
        held["planted"],
        held["item"] or "",
        held["paper"] or "",
        held["claim"] or "",
        held["name"] or "",
        held.get("origin") or "",
    )


def number_of(value: Any) -> float:
    """A number of a document: null is what is undefined."""
    return float("nan") if value is None else float(value)


def _figure(published: str | None) -> float | None:
    """The published figure, or None where it is words or nothing."""
    try:
        return float(published or "")
    except ValueError:
        return None


def decimals(published: str) -> int:
    """How many decimals a figure is printed with.

    >>> decimals("-.0317"), decimals("0")
    (4, 0)
    """
    return len(published.partition(".")[2])


def rounds_to(figure: float, published: str) -> bool:
    """Whether a figure is the published one to the digits printed.

    >>> rounds_to(1 / 30, "0.033"), rounds_to(0.034, "0.033"), rounds_to(0.4, "0")
    (True, False, False)
    """
    # A hair for figures that lie on the edge.
    return abs(figure - float(published)) <= _half_digit(published) + 1e-9


def _half_digit(published: str) -> float:
    """Half a unit of the last digit printed; a bare 0 is nothing at all, not all that is nearer to 0 than to 1."""
    places = decimals(published)
    return 0.5 * 10.0**-places if places or float(published) else 0.0


def printed(
    what: str,
    published: str,
    ours: float,
    *,
    interval: tuple[float, float] | None = None,
    spread: str = "",
    reason: Reason | None = None,
    note: str = "",
    tried: Tried | None = None,
    item: str = "",
    basis: str = "",
    name: str = "",
) -> Row:
    """A published number beside ours, which agrees when it rounds to the digits printed.

    >>> printed("MALS", "0.033", 1 / 30).agrees, printed("MALS", "0.033", 0.034).agrees
    (True, False)
    """
    agrees = rounds_to(ours, published)
    if agrees:
        reason = tried = None
    return Row(what, published, float(ours), agrees, interval, spread, reason, note, tried, basis, item=item, name=name)


def claimed(
    what: str,
    published: str,
    ours: float | str,
    holds: bool,
    *,
    test: str,
    interval: tuple[float, float] | None = None,
    reason: Reason | None = None,
    note: str = "",
    item: str = "",
    basis: str = "",
    claim: str = "",
    name: str = "",
) -> Row:
    """A statement of a paper in words, and whether ours bears it out.

    One rule for all: words get a verdict only where they can be put to a test without a threshold of ours: an order, a sign, an
    equality, a number that the paper prints. ``test`` says which, and the verdict is given whichever way it goes. Words that
    state no threshold ("high", "about 70", "close to 0", "quite different") never get one: they are :func:`measured` with the words beside.
    """
    told = "; ".join(part for part in (f"test: {test}", note) if part)
    return Row(
        what,
        published,
        ours,
        bool(holds),
        interval,
        reason=None if holds else reason,
        note=told,
        basis=basis,
        item=item,
        claim=claim,
        name=name,
    )


def recovered(
    what: str,
    planted: str,
    ours: float | str,
    holds: bool,
    *,
    interval: tuple[float, float] | None = None,
    note: str = "",
    claim: str = "",
) -> Row:
    """A value that was planted in a stand-in, and whether it comes back; nothing that a paper prints.

    >>> recovered("share", "0.25", 0.26, True).verdict
    'as planted'
    """
    return Row(what, None, ours, bool(holds), interval, note=note, basis=STAND_IN, planted=planted, claim=claim)


def measured(
    what: str,
    ours: float | str,
    *,
    published: str | None = None,
    interval: tuple[float, float] | None = None,
    note: str = "",
    item: str = "",
    basis: str = "",
    spread: str = "",
    name: str = "",
) -> Row:
    """A figure of ours without a verdict: none is printed, or it is of other data, or a word that states no threshold."""
    return Row(what, published, ours, None, interval, spread, note=note, basis=basis, item=item, name=name)


def placed(rows: Iterable[Row], item: str = "", *, basis: str = "", paper: str = "", origin: str = "") -> Iterator[Row]:
    """Rows with the table, figure or section that prints them, and what they were measured on and taken from, where they do not say.

    >>> [row.item for row in placed([measured("x", 1.0)], "Table 1")]
    ['Table 1']
    """
    for row in rows:
        yield replace(
            row,
            item=row.item or item,
            basis=row.basis or basis,
            paper=row.paper or paper,
            origin=row.origin or origin,
        )


def interval_of(result: Any, **options: Any) -> tuple[float, float]:
    """A result's 95% interval; its cautions are the page's matter, not warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        low, high = result.confidence_interval(**options)
    return float(low), float(high)
