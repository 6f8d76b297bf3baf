r"""The registry of association metrics: the ten of Aka et al., and those that are registered later.

P(x), P(y) and P(x,y) are the shares of the records with identity x, with label y and with both. ``llr`` and ``t_test``
carry the paper's names; neither is a test statistic.

Several derivatives that the paper prints carry errors (signs of ``ln p(y)`` terms in equations 56-59, minus signs in
37, 47 and 63, squares in Table 4's JI, a missing term in 66); the slopes of the records follow from the definitions and
are checked against finite differences.

References
----------
O. Aka, K. Burke, A. Bäuerle, C. Greer, M. Mitchell, "Measuring Model Biases in the Absence of Ground
Truth", AIES 2021.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .association_metric import AssociationMetric
from .frequency_metrics import DP, JI, SDC, T_TEST, TAU_B
from .information_metrics import LLR, NPMI_XY, NPMI_Y, PMI, PMI2

METRICS: dict[str, AssociationMetric] = {
    metric.name: metric for metric in (DP, PMI, NPMI_Y, NPMI_XY, PMI2, SDC, JI, LLR, TAU_B, T_TEST)
}


def register(metric: AssociationMetric) -> None:
    """Make a metric known to results, commands, reports and the explorer.

    Examples
    --------
    ``tests/association/test_metric_recipe.py`` registers one and looks for it everywhere.
    """
    if metric.name in METRICS:
        raise ValueError(f"an association metric {metric.name!r} is registered already")
    METRICS[metric.name] = metric


def metric_names(metrics: str | Iterable[str]) -> tuple[str, ...]:
    """The metrics asked for, checked; ``"all"`` is all that are registered."""
    if isinstance(metrics, str):
        metrics = METRICS if metrics == "all" else (metrics,)
    names = tuple(dict.fromkeys(metrics))
    strange = [name for name in names if name not in METRICS]
    if strange or not names:
        found = ", ".join(repr(name) for name in strange) or "nothing"
        raise ValueError(f"metrics asks for {found}; 'all', or names among {', '.join(METRICS)} are accepted")
    return names


def metric_form(metric: str, paper_literal: bool = False) -> AssociationMetric:
    """The record of a metric by its name: as defined, or as printed."""
    (name,) = metric_names(metric)
    return METRICS[name].form(paper_literal)


def usual_metric(metrics: Sequence[str]) -> str:
    """The metric that a result of these shows where none is asked for: ``npmi_xy`` if it is there."""
    return "npmi_xy" if "npmi_xy" in metrics else metrics[0]
