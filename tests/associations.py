"""The association of one identity and a label, from counts that are checked, and the slow variance of a gap."""

from __future__ import annotations

from typing import Any

import numpy as np

from biasamp.association.association_metric import Array
from biasamp.association.gaps import counts_of, slope
from biasamp.association.metrics import metric_form


def association(
    metric: str, n: Any, count_x: Any, count_y: Any, count_xy: Any, *, paper_literal: bool = False
) -> Array:
    """A(x, y), element by element, from the records in all, with x, with y, and with both."""
    return metric_form(metric, paper_literal).value(counts_of(n, count_x, count_y, count_xy))


def covariance(
    n: float,
    sizes: Any,
    overlap: Any,
    count: float,
    joint: Any,
    both: Any,
    weights: Any,
    metric: str,
    literal: bool = False,
) -> float:
    """The variance of a contrast from the shares of every two of [x_k], [y] and [x_k][y]."""
    at = slope(metric, n, np.array(sizes) / n, count / n, np.array(joint) / n, paper_literal=literal)
    terms = [
        (weight * factor, kind, k)
        for k, weight in enumerate(weights)
        for factor, kind in ((at.x[k], "x"), (at.y[k], "y"), (at.xy[k], "xy"))
    ]
    share = {"x": lambda k: sizes[k], "y": lambda k: count, "xy": lambda k: joint[k]}

    def together(one: tuple[float, str, int], two: tuple[float, str, int]) -> float:
        kinds, k, m = {one[1], two[1]}, one[2], two[2]
        if kinds == {"x"}:
            return sizes[k] if k == m else overlap[k][m]
        if kinds == {"y"}:
            return count
        if kinds == {"x", "y"} or kinds == {"y", "xy"}:
            return joint[k if one[1] != "y" else m]
        return joint[k] if k == m else both[k][m]

    mean = sum(factor * share[kind](k) for factor, kind, k in terms) / n
    square = sum(one[0] * two[0] * together(one, two) for one in terms for two in terms) / n
    return float((square - mean**2) / n)
