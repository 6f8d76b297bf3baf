"""Records written out from counts, as papers print them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.int64]
Cells = Sequence[tuple[int, tuple[int, ...]]]


def records(cells: Cells) -> tuple[Values, ...]:
    """Columns of records: each cell is a count and the values of one record.

    >>> [column.tolist() for column in records([(2, (0, 1)), (1, (1, 0))])]
    [[0, 0, 1], [1, 1, 0]]
    """
    counts = [count for count, _ in cells]
    return tuple(np.repeat([values[i] for _, values in cells], counts) for i in range(len(cells[0][1])))


def with_margins(truth: Sequence[Sequence[int]], predicted: Sequence[Sequence[int]]) -> tuple[Values, Values, Values]:
    """``(given, truth, predicted)`` from two tables of counts, (given, truth) and (given, predicted).

    A paper's table says no more than these margins. Whatever joint distribution has them gives the same value of
    a directional metric; here truth and prediction agree as often as they can.

    >>> given, truth, predicted = with_margins([[2, 1]], [[1, 2]])
    >>> truth.tolist(), predicted.tolist()
    ([0, 0, 1], [0, 1, 1])
    """
    columns: list[list[Values]] = [[], [], []]
    for value, (true, held) in enumerate(zip(truth, predicted, strict=True)):
        if sum(true) != sum(held):
            raise ValueError(f"given {value}: the truth counts {sum(true)} records, the predictions {sum(held)}")
        columns[0].append(np.full(sum(true), value))
        columns[1].append(np.repeat(np.arange(len(true)), true))
        columns[2].append(np.repeat(np.arange(len(held)), held))
    given, labels, model = (np.concatenate(parts) for parts in columns)
    return given, labels, model
