"""Frames, arrays and files become columns of labels here."""

from .arrays import read_columns

__all__ = ["read_columns"]
