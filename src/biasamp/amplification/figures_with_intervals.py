"""What results with several figures share: an interval for each of them, made when it is first asked for."""

from __future__ import annotations

import math
import warnings
from functools import cached_property
from typing import Any, ClassVar, Protocol

from biasamp.data.plain_arguments import MOST_DRAWS, level_of, one_of, whole_number
from biasamp.resampling.intervals import Seed
from biasamp.results.interval import NOTES, Caution, Interval


class IntervalMaker(Protocol):
    """What makes intervals of one figure."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """Where the interval covers less often than its level."""

    def __call__(self, level: float, method: str, resamples: int, seed: Seed) -> Interval:
        """The interval by the named method."""

    def values(self, resamples: int = 1000, seed: int = 0) -> Any:
        """The values of keyed resamples, of shape (resamples,)."""


class FiguresWithIntervals:
    """A result whose figures have intervals.

    ``figures`` are their names; a result says how the intervals of each are made, and why there are none.
    """

    figures: ClassVar[tuple[str, ...]] = ("value",)

    def _made(self, of: str) -> IntervalMaker | None:
        """What makes the intervals of a figure; None where there is none."""
        raise NotImplementedError

    def _no_interval(self, of: str) -> str:
        """Why a figure has no interval."""
        return "this result carries no resamples for an interval"

    @property
    def _range(self) -> tuple[float, float]:
        """The least and the largest value that the figures can have."""
        return -math.inf, math.inf

    @cached_property
    def _makers(self) -> dict[str, IntervalMaker | None]:
        return {}

    def interval_maker(self, of: str = "value") -> IntervalMaker | None:
        """What makes the intervals of a figure, and holds its resamples; None where there is none."""
        one_of(of, "of", self.figures)
        if of not in self._makers:
            self._makers[of] = self._made(of)
        return self._makers[of]

    def confidence_interval(
        self,
        level: float = 0.95,
        method: str = "bootstrap",
        resamples: int = 1000,
        seed: Seed = 0,
        *,
        of: str = "value",
    ) -> Interval:
        """An interval for the value, or for another figure.

        A warning says where the interval covers less often than its level: signs that the data cannot tell,
        tiny groups, few records or clusters that carry all the variation.

        Parameters
        ----------
        level : float
            The confidence level, strictly between 0 and 1.
        method : {"bootstrap", "auto", "bca", "closed_form"}
            ``"bootstrap"`` (and ``"auto"``) is the percentile bootstrap of bags of records. ``"bca"`` is Efron's
            bias-corrected and accelerated bootstrap. ``"closed_form"`` is Student's interval on the influences
            of the bags, with the signs held fixed.
        resamples : int
            How many resamples a bootstrap draws.
        seed : int or numpy.random.Generator
            Makes the resamples reproducible; a generator is drawn from once, now.
        of : str
            Which of the result's figures the interval is for: a name in ``figures``.
        """
        interval = self.quiet_interval(level, method, resamples, seed, of=of)
        warned = [words for words in interval.cautions if Caution.kind_of(words) not in NOTES]
        if warned:
            warnings.warn(". Also, ".join(warned), UserWarning, stacklevel=2)
        return interval

    def quiet_interval(
        self, level: float = 0.95, method: str = "bootstrap", resamples: int = 1000, seed: Seed = 0, of: str = "value"
    ) -> Interval:
        """The interval, with its cautions inside it only."""
        level_of(level, "level")
        whole_number(resamples, "resamples", least=2, most=MOST_DRAWS)
        maker = self.interval_maker(of)
        if maker is None:
            raise ValueError(self._no_interval(of))
        return maker(level, method, resamples, seed).within(*self._range)
