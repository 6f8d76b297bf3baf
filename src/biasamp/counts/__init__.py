"""The mergeable statistics: a batch of records becomes counts, and counts add up."""

from .contingency import ContingencyTable
from .joint import JointCounts
from .pair import PairCounts

__all__ = ["ContingencyTable", "JointCounts", "PairCounts"]
