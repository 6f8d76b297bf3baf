"""The audit: the one place that calls all metrics, judges them and finds words."""

from .comparison import compare
from .counting import count
from .run import audit

__all__ = ["audit", "compare", "count"]
