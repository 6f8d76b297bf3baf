"""What users hold: frozen results that know their numbers and how to hand them on."""

from .amplification import Amplification, Interval, plain
from .table import Table, text

__all__ = ["Amplification", "Interval", "Table", "plain", "text"]
