"""Closed-form errors from influences: how much each unit moves a figure, to first order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def standard_error(influence: Floats) -> float:
    """The standard error that the influences of independent units give."""
    units = len(influence)
    return float(np.sqrt((influence**2).sum() * (units / max(units - 1, 1))))


def degrees_of_freedom(influence: Floats) -> float:
    r"""How well the influences determine their own variance.

    Satterthwaite's :math:`2 V^2 / \operatorname{Var} V` with :math:`V = \sum \psi^2` and
    :math:`\operatorname{Var} V \approx \sum \psi^4 - V^2 / n`: about ``n`` where influences are normal, about
    twice the number of records whose prediction is wrong where few are.
    """
    square = influence**2
    total = float(square.sum())
    if total == 0.0:
        return 0.0
    spread = float((square**2).sum()) - total**2 / len(influence)
    return float("inf") if spread <= 0.0 else min(2.0 * total**2 / spread, float(len(influence) - 1))


def student_interval(value: float, influence: Floats, level: float) -> tuple[float, float]:
    """``value`` plus and minus Student's quantile times the closed-form error."""
    from scipy.special import ndtri, stdtrit

    tail = 0.5 + level / 2.0
    freedom = degrees_of_freedom(influence)
    if freedom <= 0.0:
        return value, value
    quantile = float(stdtrit(max(freedom, 1.0), tail)) if np.isfinite(freedom) else float(ndtri(tail))
    reach = quantile * standard_error(influence)
    return value - reach, value + reach
