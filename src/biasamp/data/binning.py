"""Numbers cut into bins: ages and incomes as groups, in their order. Nothing is cut unless the caller says where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Columns, Declared
from .label import canonical, category_order, printable
from .plain_arguments import listed, number, whole_number
from .ways_out import way_out

# What a declaration is called: cut at edges that are named, or at the quantiles of all records.
BINNED, QUANTILES = "binned", "quantiles"
# More bins than this are no groups.
MOST_BINS = 100


def binned(data: Any, *, edges: Sequence[float] | None = None, bins: int | None = None) -> Declared:
    """Read a column of numbers as bins, such as ages as bands of age.

    Parameters
    ----------
    data : array-like or str
        The numbers, or the name of their column where columns are named.
    edges : sequence of float, optional
        Where to cut: ``[25, 45]`` makes three bins, under 25, from 25 to under 45, and 45 or more.
    bins : int, optional
        Instead of edges: so many bins of about as many records each, cut at quantiles of the records at hand.

    Notes
    -----
    Where numbers are cut moves every figure. :func:`biasamp.audit` says by how much over other bins; predictions of a task that is cut
    are cut at the same edges.

    See Also
    --------
    categorical : every value is a label.
    continuous : a task of numbers that are no labels.

    Examples
    --------
    >>> import biasamp
    >>> ages = [18, 70, 30, 44, 45, 25]
    >>> made = biasamp.impact([1, 0, 1, 1, 0, 0], {"age": biasamp.binned(ages, edges=[25, 45])})
    >>> [(row["group"], row["applicants"]) for row in made.rates.rows()]
    [('under 25', 1), ('25 to under 45', 3), ('45 or more', 2)]
    """
    if (edges is None) == (bins is None):
        raise TypeError("binned() takes one of edges and bins: where to cut, or into how many")
    if bins is not None:
        return Declared(data, QUANTILES, (str(whole_number(bins, "bins", least=2, most=MOST_BINS)),))
    found = [number(edge, "edges") for edge in listed(edges, "edges", "numbers")]
    check_edges(found)
    return Declared(data, BINNED, tuple(canonical(edge) for edge in found))


def cut_columns(names: Any, bins: Mapping[str, Any]) -> Any:
    """The columns of a role, of which some are declared to be cut: ``bins`` has their edges, or into how many bins.

    >>> cut_columns(["sex", "age"], {"age": [25, 45]})[1].categories
    ('25', '45')
    """
    if not isinstance(names, list):
        how = bins.get(names) if isinstance(names, str) else None
        return names if how is None else binned(names, **{"bins" if isinstance(how, int) else "edges": how})
    return [cut_columns(name, bins) for name in names]


def check_edges(edges: Sequence[float]) -> None:
    """Refuse edges that do not ascend, none, and too many."""
    if not 1 <= len(edges) < MOST_BINS:
        raise ValueError(f"edges has {len(edges):,} numbers; 1 to {MOST_BINS - 1} are needed")
    if any(second <= first for first, second in pairwise(edges)):
        raise ValueError(f"edges must ascend: found {', '.join(canonical(edge) for edge in edges[:6])}")


def bin_names(edges: Sequence[float]) -> tuple[str, ...]:
    """What the bins between edges are called, in order.

    >>> bin_names([25, 45.5])
    ('under 25', '25 to under 45.5', '45.5 or more')
    """
    spelled = [canonical(edge) for edge in edges]
    between = [f"{low} to under {high}" for low, high in pairwise(spelled)]
    return (f"under {spelled[0]}", *between, f"{spelled[-1]} or more")


def numbers_to_cut(column: Column, role: str) -> NDArray[np.float64]:
    """The numbers of a column, NaN where one is missing; anything else cannot be cut."""
    if column.kind not in ("bool", "int", "float"):
        title = f"{role} column {printable(column.name, 60)!r}" if column.name else role
        raise TypeError(f"{title} holds {_no_numbers(column.categories)}; bins are of numbers")
    values = column.values.astype(np.float64)
    return values if column.missing is None else np.where(column.missing, np.nan, values)


def _no_numbers(categories: Sequence[str]) -> str:
    """What keeps text from being numbers: one word for a gap makes a whole column text."""
    words = [category for category in categories if category_order(category)[0]]
    if not words:
        return f"numbers as text, such as {printable(categories[0], 30)!r}" if categories else "no numbers"
    if len(words) == len(categories):
        return f"text such as {printable(words[0], 30)!r}"
    return f"the text {printable(words[0], 30)!r} among numbers, to be left empty where it stands for a gap"


def cut(column: Column, edges: Sequence[float], role: str) -> Columns:
    """A column of numbers as one of bins; a bin has its lower edge, and not its upper one."""
    values = numbers_to_cut(column, role)
    names = bin_names(edges)
    codes = np.searchsorted(np.asarray(edges, dtype=np.float64), values, side="right").astype(np.int64)
    codes[np.isnan(values)] = -1
    return Columns([Column(column.name, "text", codes, None, names)], True, "categorical", names)


def quantile_edges(values: NDArray[np.float64], bins: int, role: str) -> tuple[float, ...]:
    """Edges that make so many bins of about as many records each; values that are observed, each once.

    >>> quantile_edges(np.array([1.0, 2, 3, 4, 5, 6]), 3, "age")
    (3.0, 5.0)
    """
    there = np.sort(values[np.isfinite(values)])
    if not len(there):
        raise ValueError(f"{role} holds no number: there is nothing to cut")
    places = np.ceil(np.arange(1, bins) * len(there) / bins).astype(np.int64)
    found = np.unique(there[np.minimum(places, len(there) - 1)])
    edges = tuple(found[found > there[0]].tolist())
    if not edges:
        raise ValueError(f"{role} has one value in nearly all records, and no {bins} bins of numbers: name the edges")
    return edges


def read_binned(columns: Columns, declared: Declared, role: str) -> Columns:
    """One argument that was declared to be cut, as bins."""
    held = columns.apart()
    if len(held) != 1 or not columns.single:
        raise ValueError(f"{role} is cut into bins, and has {len(held)} columns: bins are of one column of numbers")
    assert declared.categories is not None
    if declared.kind == QUANTILES:
        edges = quantile_edges(numbers_to_cut(held[0], role), int(declared.categories[0]), role)
    else:
        edges = tuple(float(edge) for edge in declared.categories)
    return cut(held[0], edges, role)


def refuse_quantiles(role: str) -> None:
    """Refuse to cut at quantiles where only a part of the records is at hand."""
    raise ValueError(
        f"{role} is to be cut at its quantiles, which need all records in memory, and these are counted part by part: "
        f"{way_out('edges')}"
    )
