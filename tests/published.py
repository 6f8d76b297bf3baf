"""Records behind published figures, written out from the counts that the papers print."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def repeated(cells: list[tuple[int, tuple[int, ...]]]) -> list[NDArray[np.int64]]:
    """Columns of records: each cell is a count and the values of one record."""
    counts = [count for count, _ in cells]
    return [np.repeat([values[i] for _, values in cells], counts) for i in range(len(cells[0][1]))]


# Wang & Russakovsky (2021), Sec. 3.2: (group, task, predicted task); groups are always predicted rightly.
THREE_GROUPS = repeated(
    [(10, (1, 0, 0)), (40, (1, 1, 1)), (40, (2, 0, 0)), (10, (2, 1, 0)), (10, (3, 0, 1)), (20, (3, 1, 1))]
)
TWO_GROUPS_UNDER = repeated([(10, (1, 0, 0)), (40, (1, 1, 1)), (40, (2, 0, 0)), (10, (2, 1, 0))])
TWO_GROUPS_OVER = repeated([(10, (1, 0, 1)), (40, (1, 1, 1)), (40, (2, 0, 0)), (10, (2, 1, 1))])
WRONG_GROUP = repeated([(60, (1, 0, 0)), (30, (1, 1, 0)), (10, (2, 0, 1)), (20, (2, 1, 1))])

# Tokas et al., Table 2: counts of (A, T), of (T, A_hat) and of (A, T_hat), unbalanced and balanced. Only these
# margins are printed; any joint distribution that has them gives the same value of a directional metric.
COMPAS = {
    "unbalanced": {
        "A,T": {(0, 0): 1229, (1, 0): 1402, (0, 1): 874, (1, 1): 1773},
        "A_hat,T": {(0, 0): 1056, (1, 0): 1575, (0, 1): 1115, (1, 1): 1532},
        "A,T_hat": {(0, 0): 1165, (1, 0): 1546, (0, 1): 938, (1, 1): 1629},
    },
    "balanced": {
        "A,T": {(0, 0): 874, (1, 0): 874, (0, 1): 874, (1, 1): 874},
        "A_hat,T": {(0, 0): 1083, (1, 0): 665, (0, 1): 896, (1, 1): 852},
        "A,T_hat": {(0, 0): 1145, (1, 0): 948, (0, 1): 603, (1, 1): 800},
    },
}


def compas(version: str, direction: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """``(given, truth, predicted)`` with the printed counts of one direction."""
    tables = COMPAS[version]
    given, truth, predicted = [], [], []
    for value in (0, 1):
        if direction == "A->T":
            true = [tables["A,T"][value, t] for t in (0, 1)]
            held = [tables["A,T_hat"][value, t] for t in (0, 1)]
        else:
            true = [tables["A,T"][a, value] for a in (0, 1)]
            held = [tables["A_hat,T"][a, value] for a in (0, 1)]
        assert sum(true) == sum(held)
        given.append(np.full(sum(true), value))
        truth.append(np.repeat([0, 1], true))
        predicted.append(np.repeat([0, 1], held))
    return np.concatenate(given), np.concatenate(truth), np.concatenate(predicted)


def painting(women_predicted: int) -> list[NDArray[np.int64]]:
    """2021 Fig. 2: (woman, painting, predicted) where so many of 40 women, of whom 30 paint, are predicted to.

    Men are always right. Women predicted beyond 30 are wrong positives; below, the shortfall are misses.
    """
    hits, false = min(women_predicted, 30), max(women_predicted - 30, 0)
    return repeated(
        [
            (hits, (1, 1, 1)),
            (30 - hits, (1, 1, 0)),
            (false, (1, 0, 1)),
            (10 - false, (1, 0, 0)),
            (10, (0, 1, 1)),
            (30, (0, 0, 0)),
        ]
    )
