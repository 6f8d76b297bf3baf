"""What all results share: tables, intervals, the registry of metrics and the registry of renderers."""

from .interval import Interval, plain
from .table import Table, text

__all__ = ["Interval", "Table", "plain", "text"]
