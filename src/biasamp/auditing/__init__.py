"""The audit: the one place that calls all metrics, judges them and finds words."""

from .audit import audit

__all__ = ["audit"]
