"""An independent slow reference of the parts of a change: record by record, in plain Python, from the definitions alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass
class Case:
    """Records by hand: every label is a column of numbers.

    ``given[g][i]``, ``truth[o][i]``, ``scores[o][i]`` and ``decided[o][i]`` are of record ``i``.
    """

    given: list[list[Any]]
    truth: list[list[Any]]
    scores: list[list[Any]]
    decided: list[list[Any]]
    weights: list[Any]
    strata: list[Any]

    def only(self, stratum: Any) -> Case:
        rows = [i for i, held in enumerate(self.strata) if held == stratum]

        def taken(columns: list[list[Any]]) -> list[list[Any]]:
            return [[column[i] for i in rows] for column in columns]

        sides = (taken(side) for side in (self.given, self.truth, self.scores, self.decided))
        return Case(*sides, [self.weights[i] for i in rows], [self.strata[i] for i in rows])


def total(weights: Sequence[Any], *columns: Sequence[Any]) -> Fraction:
    out = Fraction(0)
    for i, weight in enumerate(weights):
        product = Fraction(weight)
        for column in columns:
            product *= Fraction(column[i])
        out += product
    return out


def signs(case: Case) -> list[list[int]]:
    """``sign(P(g, o) - P(g) P(o))``, exactly."""
    n = total(case.weights)
    out = []
    for mine in case.given:
        row = []
        for one in case.truth:
            apart = n * total(case.weights, mine, one) - total(case.weights, mine) * total(case.weights, one)
            row.append((apart > 0) - (apart < 0))
        out.append(row)
    return out


def changes(case: Case) -> list[list[tuple[Fraction, Fraction, Fraction] | None]]:
    """Change of the decisions, of the scores, and of decisions against scores, of every pair; None where undefined."""
    out: list[list[tuple[Fraction, Fraction, Fraction] | None]] = []
    for mine in case.given:
        size = total(case.weights, mine)
        row: list[tuple[Fraction, Fraction, Fraction] | None] = []
        for one, score, held in zip(case.truth, case.scores, case.decided, strict=True):
            if size == 0:
                row.append(None)
                continue
            rates = [total(case.weights, mine, side) / size for side in (one, score, held)]
            row.append((rates[2] - rates[0], rates[1] - rates[0], rates[2] - rates[1]))
        out.append(row)
    return out


def parts(case: Case, turned: list[list[int]] | None = None) -> tuple[Fraction, Fraction, Fraction]:
    """The three aggregates, with the case's own signs or others."""
    turned = signs(case) if turned is None else turned
    held = [
        [sign * part for part in change]
        for lines in zip(turned, changes(case), strict=True)
        for sign, change in zip(*lines, strict=True)
        if change is not None
    ]
    return tuple(sum(column) / len(held) for column in zip(*held, strict=True))  # type: ignore[return-value]


def inside(case: Case) -> Fraction:
    """``sum_s P(s | g) y_s change_s``, the mean over pairs."""
    sums = [Fraction(0)] * (len(case.given) * len(case.truth))
    for stratum in sorted(set(case.strata)):
        few = case.only(stratum)
        for g, (row, changed) in enumerate(zip(signs(few), changes(few), strict=True)):
            share = total(few.weights, few.given[g]) / total(case.weights, case.given[g])
            for o, (sign, change) in enumerate(zip(row, changed, strict=True)):
                if change is not None:
                    sums[g * len(case.truth) + o] += share * sign * change[0]
    return sum(sums) / len(sums)


def kitagawa(case: Case, base: Case) -> list[tuple[Fraction, Fraction]]:
    """The part of the rates and of the mix against the base's truth, in both orders, with the base's signs."""
    found = []
    for first in (True, False):
        rates = mix = Fraction(0)
        for g in range(len(case.given)):
            for o in range(len(case.truth)):
                sign = signs(base)[g][o]
                here, there = total(case.weights, case.given[g]), total(base.weights, base.given[g])
                for stratum in sorted({*case.strata, *base.strata}):
                    mine, other = case.only(stratum), base.only(stratum)
                    c1, c0 = total(mine.weights, mine.given[g]), total(other.weights, other.given[g])
                    w1, w0 = c1 / here, c0 / there
                    r1 = total(mine.weights, mine.given[g], mine.decided[o]) / c1 if c1 else None
                    r0 = total(other.weights, other.given[g], other.truth[o]) / c0 if c0 else None
                    if r1 is None or r0 is None:
                        mix += sign * (w1 * (r1 or 0) - w0 * (r0 or 0))
                    elif first:
                        rates += sign * w0 * (r1 - r0)
                        mix += sign * (w1 - w0) * r1
                    else:
                        rates += sign * w1 * (r1 - r0)
                        mix += sign * (w1 - w0) * r0
        pairs = len(case.given) * len(case.truth)
        found.append((rates / pairs, mix / pairs))
    return found
