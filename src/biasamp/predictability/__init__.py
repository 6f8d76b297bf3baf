"""Leakage amplification and DPA: what attackers can predict from truth, and from a model's predictions.

The array core is here: problems from label sets or contingency tables, attackers, equalization, trials. The
public functions are :func:`biasamp.leakage` and :func:`biasamp.dpa`.
"""

from .attackers import AttackerError
from .grid import alpha_tables, dpa_heatmap
from .lookup import best_score
from .measure import Measurement, measure
from .printed import dpa_from_counts
from .problem import Problem, problem_from_labels, problem_from_table

__all__ = [
    "AttackerError",
    "Measurement",
    "Problem",
    "alpha_tables",
    "best_score",
    "dpa_from_counts",
    "dpa_heatmap",
    "measure",
    "problem_from_labels",
    "problem_from_table",
]
