"""``binary`` and ``categorical``: the caller's word on what a column is, where the rule would read it otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .label import canonical


@dataclass(frozen=True)
class Declared:
    """Data, or the name of columns, with the caller's word on what it is."""

    data: Any
    kind: str
    categories: tuple[str, ...] | None = None


def binary(data: Any) -> Declared:
    """Read data as yes/no labels: only value 1 counts.

    A single column is otherwise read as a variable, whose value 0 is a label as much as its value 1.

    Parameters
    ----------
    data : array-like, str or list of str
        The values themselves, or the names of columns where columns are named.

    See Also
    --------
    categorical : read every value as a label.

    Examples
    --------
    >>> import biasamp
    >>> painting = biasamp.binary([1, 1, 0, 0])
    >>> result = biasamp.directional(["w", "w", "m", "m"], painting, biasamp.binary([1, 1, 1, 0]))
    >>> len(result.pairs)
    2
    """
    return Declared(data, "binary")


def categorical(data: Any, categories: Sequence[Any] | None = None) -> Declared:
    """Read data as a variable whose every value is a label.

    Parameters
    ----------
    data : array-like, str or list of str
        The values, or the names of columns; with ``categories`` also a matrix of class probabilities.
    categories : sequence, optional
        For a matrix, what its columns stand for. For one column, all the values it may hold: they count
        even where they are not observed.

    See Also
    --------
    binary : only value 1 is a label.

    Examples
    --------
    >>> import biasamp
    >>> P = [[0.9, 0.1], [0.2, 0.8]]
    >>> biasamp.categorical(P, categories=["cat", "dog"]).categories
    ('cat', 'dog')
    """
    if categories is None:
        return Declared(data, "categorical")
    spelled = tuple(canonical(category) for category in categories)
    if len(set(spelled)) != len(spelled):
        raise ValueError(f"categories names one category twice: {list(spelled)}")
    return Declared(data, "categorical", spelled)
