"""One figure of an audit as a limit judges it, and how it would move with more records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from biasamp.resampling.intervals import normal_statistic

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class UnknownSigns:
    """Pairs whose direction the data do not tell, for how many records would tell it.

    ``changes`` are what they add to the aggregate as the data sign them, ``sizes`` what they would add with the worse
    sign, ``statistics`` the normal statistics of their directions, and ``needed`` that of a direction which is clear.
    """

    changes: Floats
    sizes: Floats
    statistics: Floats
    needed: float

    def still(self, factor: float) -> float:
        """The sum of sizes of changes whose direction is unknown with ``factor`` times as many records."""
        unknown = self.statistics * np.sqrt(factor) < self.needed
        return float(self.sizes[unknown].sum())


@dataclass(frozen=True)
class Figure:
    """One figure with what it is judged by; ``doubt`` says why it cannot be judged, where it cannot.

    ``low`` and ``high`` are the interval, or the bounds that count unknown directions with either sign (``bounded``);
    ``sign_p`` is the p-value of a pair's direction where the evaluated records decide it; ``records`` is how many
    records in all the figure rests on (not known ``of_base`` rates, which have an error of their own), ``errors`` how many standard errors its ends are away, ``unseen`` what part of the variance stands for errors that were not seen, ``unknown`` what they leave open, and ``directions`` how many are unknown, and of how many; ``lent`` signs are left open by other records.
    What is ``withheld`` from the figure may make it worse, never better: it can fail, not pass.
    """

    attribute: str
    direction: str | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    given: str | None = None
    outcome_label: str | None = None
    doubt: str | None = None
    bounded: bool = False
    directions: tuple[int, int] | None = None
    lent: bool = False
    withheld: str | None = None
    sign_p: float | None = None
    records: int | None = None
    runs: int = 1
    errors: float = 1.96
    unseen: float = 0.0
    of_base: bool = False
    unknown: UnknownSigns | None = None
    cautions: tuple[str, ...] = ()
    fails: bool = True
    needed: int | None = None

    def doubted(self, doubt: str | None, needed: int | None = None) -> Figure:
        """The figure with a reason not to judge it, unless it has one."""
        return self if doubt is None or self.doubt is not None else replace(self, doubt=doubt, needed=needed)

    def without_pass(self, reason: str | None, needed: int | None = None) -> Figure:
        """The figure with a reason for which it cannot pass, though it may fail."""
        return self if reason is None or self.withheld is not None else replace(self, withheld=reason, needed=needed)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a figure of a document is a finite number: it may be null, or the name of an infinity."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(value))


def statistic(p: float) -> float:
    """The size of the normal statistic with a two-sided p-value."""
    return float(normal_statistic(np.array(p, dtype=np.float64)))
