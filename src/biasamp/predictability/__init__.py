"""Leakage amplification and DPA: what attackers can predict from truth, and from a model's predictions."""

from .attackers import AttackerError
from .measure import measure
from .problem import problem_from_labels, problem_from_table

__all__ = ["AttackerError", "measure", "problem_from_labels", "problem_from_table"]
