"""The association of one identity and a label, from counts that are checked."""

from __future__ import annotations

from typing import Any

from biasamp.association.association_metric import Array
from biasamp.association.gaps import counts_of
from biasamp.association.metrics import metric_form


def association(
    metric: str, n: Any, count_x: Any, count_y: Any, count_xy: Any, *, paper_literal: bool = False
) -> Array:
    """A(x, y), element by element, from the records in all, with x, with y, and with both."""
    return metric_form(metric, paper_literal).value(counts_of(n, count_x, count_y, count_xy))
