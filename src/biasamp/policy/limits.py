"""One limit of a policy: on which figure, and how far it may go; and what is wrong with a policy, and where."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from biasamp.results.metric_registry import DIRECTIONS, METRICS, Metric, audited_metrics, audited_names


class PolicyError(ValueError):
    """A policy that cannot be used as it stands.

    ``key`` names the entry, ``line`` its line where the policy is a file, ``source`` the file.
    """

    def __init__(self, key: str, problem: str, *, line: int | None = None, source: str | None = None) -> None:
        self.key, self.problem, self.line, self.source = key, problem, line, source
        place = ", ".join(part for part in (source, None if line is None else f"line {line}") if part)
        super().__init__(f"{place + ': ' if place else ''}{key}: {problem}")


@dataclass(frozen=True, kw_only=True)
class Limit:
    """How far one figure of an audit may go.

    Parameters
    ----------
    metric : str
        A metric of an audit, as ``biasamp metrics`` lists them: directional, multi, mals, dpa, leakage,
        fpr_difference, tpr_difference, accuracy_difference or mean_per_class_accuracy.
    max, min : float, optional
        The largest and the smallest value that passes; at least one of them.
    direction : {"A->T", "T->A"}, optional
        One direction; by default all that the audit has.
    attribute : str, optional
        One protected attribute; by default all of them.
    given, outcome : str, optional
        One pair, or all pairs of a given label or outcome, as the audit spells them (``"gender=woman"``).
    pairs : bool
        Hold every pair to the limit instead of the aggregate.
    on : {"bound", "value"}
        ``"bound"``: the whole interval must lie within the limit; one wholly beyond it fails, and one that
        reaches over it is not enough evidence. Of a directional value it is the bound that counts every pair whose
        direction the data do not tell with the worse of its two signs. ``"value"``: the value alone decides.
    figure : {"value", "crossfit", "over_floor"}
        Multi may be held by what it has over its noise floor, and directional by its cross-fitted value, as in
        version 0.1: that one pulls to 0 where directions are weak, and the verdict says so.
    against : {"baseline"}, optional
        Hold the difference to the baseline (this model's value less the baseline's) instead of the value itself.
    min_support : float
        Pairs with fewer records are not enough evidence.

    Examples
    --------
    >>> from biasamp.policy import Limit
    >>> Limit(metric="directional", direction="A->T", max=0.02).title
    'directional A->T'
    """

    metric: str
    max: float | None = None
    min: float | None = None
    direction: str | None = None
    attribute: str | None = None
    given: str | None = None
    outcome: str | None = None
    pairs: bool = False
    on: str = "bound"
    figure: str = "value"
    against: str | None = None
    min_support: float = 0.0

    def __post_init__(self) -> None:
        for key, problem in self._problems():
            raise PolicyError(key, problem)

    def _problems(self) -> Iterator[tuple[str, str]]:
        """What is wrong, key by key; the first is raised."""
        yield from self._wrong_kinds()
        if self.metric not in audited_names():
            yield "metric", f"there is no metric {self.metric!r}{near(self.metric, audited_names())}"
            return
        figures = {figure: metric.name for metric in audited_metrics() for figure in metric.figures}
        directions = self.facts.directions
        choices = {
            "direction": DIRECTIONS,
            "on": ("bound", "value"),
            "figure": ("value", *figures),
            "against": ("baseline",),
        }
        for key, allowed in choices.items():
            value = getattr(self, key)
            if value is not None and value not in allowed:
                yield key, f"{value!r} is not one of {', '.join(map(repr, allowed))}"
        if self.figure not in ("value", *self.facts.figures):
            yield "figure", f"{self.figure!r} is for {figures[self.figure]}, not for {self.metric}"
        if self.direction is not None and not directions:
            yield "direction", f"{self.metric} has no direction: leave the key out"
        if self.direction is not None and self.direction not in directions:
            yield "direction", f"{self.metric} compares predictions of the tasks, which is {directions[0]}"
        yield from self._wrong_pairs()
        yield from self._wrong_range()

    def _wrong_kinds(self) -> Iterator[tuple[str, str]]:
        for key in ("metric", "direction", "attribute", "given", "outcome", "on", "figure", "against"):
            value = getattr(self, key)
            if value is not None and not isinstance(value, str):
                yield key, f"text is needed, found {value!r}"
        for key in ("max", "min", "min_support"):
            value = getattr(self, key)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
                yield key, f"a number is needed, found {value!r}"
            elif value is not None and not (abs(value) <= sys.float_info.max):
                yield (
                    key,
                    f"{value if isinstance(value, float) else 'so large a number'} is no limit: give a finite number",
                )
        pairs: Any = self.pairs
        if not isinstance(pairs, bool):
            yield "pairs", f"true or false is needed, found {pairs!r}"
        elif self.min_support < 0:
            yield "min_support", f"{self.min_support} is below 0"

    def _wrong_pairs(self) -> Iterator[tuple[str, str]]:
        key = "given" if self.given is not None else "pairs"
        if (self.given is not None or self.pairs) and not self.facts.paired:
            paired = ", ".join(metric.name for metric in audited_metrics() if metric.paired)
            yield key, f"{self.metric} has no value for each pair; {paired} have"
        if self.outcome is not None and not self.facts.paired and not self.facts.by_outcome:
            yield "outcome", f"{self.metric} has no value for each outcome"
        if self.of_pairs and self.figure != "value":
            yield "figure", f"{self.figure!r} is a figure of the aggregate, not of pairs"
        if self.against and (self.of_pairs or self.outcome is not None):
            yield "against", "a baseline is compared by aggregates: leave out given, outcome and pairs"
        if self.against and self.figure != "value":
            yield "figure", f"{self.figure!r} cannot be compared with a baseline: leave it out"
        if self.against and self.on == "value":
            yield "on", "a baseline is compared by the interval of the difference: leave the key out"
        if self.min_support and not self.of_pairs:
            yield "min_support", "it counts the records of pairs: add pairs = true, or use evidence.min_group"

    def _wrong_range(self) -> Iterator[tuple[str, str]]:
        if self.max is None and self.min is None:
            yield "max", "neither max nor min is given: a limit without a limit passes everything"
        low, high = self.range
        if self.max is not None and self.min is not None and self.min > self.max:
            yield "min", f"min {self.min:g} is above max {self.max:g}: nothing can pass"
        if self.facts.higher_is_better and self.min is None and self.max is not None:
            yield "max", f"more {self.metric} is better, and a limit with max alone passes only what is worse: give min"
        if not self.facts.higher_is_better and self.max is None and self.min is not None and self.min > 0:
            yield "min", f"less {self.metric} is better, and a limit with min alone passes only what is worse: give max"
        reach = f"{'the difference of two models in ' if self.against else ''}{self.metric} lies between {low:g} and {high:g}"
        if self.max is not None and self.max < low:
            yield "max", f"nothing can pass {self.max:g}: {reach}"
        if self.max is not None and self.max >= high:
            yield "max", f"everything passes {self.max:g}: {reach}"
        if self.min is not None and self.min > high:
            yield "min", f"nothing can pass {self.min:g}: {reach}"
        if self.min is not None and self.min <= low:
            yield "min", f"everything passes {self.min:g}: {reach}"

    @property
    def facts(self) -> Metric:
        """What is known of its metric."""
        return METRICS[self.metric]

    @property
    def range(self) -> tuple[float, float]:
        """Between which values the figure can lie."""
        low, high = self.facts.low, self.facts.high
        if self.of_pairs:
            low, high = -1.0, 1.0  # a pair of any of them can fall as well as rise
        if self.against or self.figure == "over_floor":
            return low - high, high - low
        return low, high

    @property
    def of_pairs(self) -> bool:
        """Whether it is about pairs and not about an aggregate."""
        return self.pairs or self.given is not None or (self.outcome is not None and self.facts.paired)

    @property
    def title(self) -> str:
        """What it is about, in a few words."""
        pair = "" if not self.of_pairs else f" {self.given or 'every label'} → {self.outcome or 'every outcome'}"
        if not self.of_pairs and self.outcome is not None:
            pair = f" of {self.outcome}"
        words = (self.attribute, self.metric, self.direction, None if self.figure == "value" else f"({self.figure})")
        return " ".join(word for word in words if word) + pair + (" against the baseline" if self.against else "")

    @property
    def bounds(self) -> str:
        """The limit in words."""
        parts = [] if self.min is None else [f"≥ {self.min:g}"]
        return " and ".join(parts if self.max is None else [*parts, f"≤ {self.max:g}"])


LIMIT_KEYS = tuple(field.name for field in fields(Limit))


def companion_limit(metric: str, largest: float) -> Limit:
    """A companion's number as a limit: differences may be no larger, accuracy no smaller."""
    side = "min" if METRICS[metric].higher_is_better else "max"
    return Limit(**{"metric": metric, side: largest})  # type: ignore[arg-type]


def near(word: Any, names: tuple[str, ...]) -> str:
    """The nearest name, offered, or else all of them."""
    found = difflib.get_close_matches(str(word), names, n=1)
    return f"; did you mean {found[0]!r}?" if found else f"; there are {', '.join(names)}"
