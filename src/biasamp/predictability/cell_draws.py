"""Records drawn at random without replacement, when all that is kept of them is how many a cell holds.

Drawing ``k`` of ``n`` records and counting them by cell is the multivariate hypergeometric distribution, so
a draw of counts is exactly a draw of records, at the cost of the cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

# numpy refuses to draw from populations of a billion and more; there the normal limit is exact to some
# ten-thousandths of a standard deviation.
_EXACT_BELOW = 1_000_000_000


def draw(counts: Counts, size: Counts | int, rng: np.random.Generator) -> Counts:
    """Draw ``size`` records from every row of counts, without replacement.

    Parameters
    ----------
    counts : ndarray of shape (rows, cells)
        How many records each cell holds; the rows are independent populations.
    size : ndarray of shape (rows,) or int
        How many records to draw from each row.
    rng : numpy.random.Generator
        Where the draws come from.

    Returns
    -------
    ndarray of shape (rows, cells)
        How many of the drawn records each cell holds.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = draw(np.array([[5, 0, 3]]), 4, np.random.default_rng(0))
    >>> int(drawn.sum()), bool((drawn <= [5, 0, 3]).all())
    (4, True)
    """
    rows, cells = counts.shape
    sizes = np.broadcast_to(np.asarray(size, dtype=np.int64), (rows,))
    if cells > rows and rows and counts.sum(axis=1).max() < _EXACT_BELOW:
        # Many cells, few rows: numpy's own loop over the cells is the faster one.
        each = zip(counts, sizes, strict=True)
        return np.stack([rng.multivariate_hypergeometric(*row, method="marginals") for row in each])
    drawn = np.zeros_like(counts)
    left, rest = sizes.copy(), counts.sum(axis=1)
    for cell in range(cells - 1):
        here = counts[:, cell]
        rest = rest - here
        drawn[:, cell] = taken = hypergeometric(here, rest, left, rng)
        left = left - taken
    drawn[:, -1] = left
    return drawn


def hypergeometric(good: Counts, bad: Counts, size: Counts, rng: np.random.Generator) -> Counts:
    """How many of ``size`` records drawn from ``good + bad`` are good, for populations of any size."""
    if not len(good) or max(int(good.max()), int(bad.max())) < _EXACT_BELOW:
        return rng.hypergeometric(good, bad, size).astype(np.int64)
    total = (good + bad).astype(np.float64)
    share = good / np.maximum(total, 1)
    spread = np.sqrt(size * share * (1 - share) * (total - size) / np.maximum(total - 1, 1))
    guess = np.rint(size * share + spread * rng.standard_normal(len(good))).astype(np.int64)
    return np.clip(guess, np.maximum(0, size - bad), np.minimum(good, size))


def scatter(counts: Counts, classes: int, rng: np.random.Generator) -> Counts:
    """Give each counted record one of ``classes`` classes, all alike: shape ``counts.shape + (classes,)``."""
    if classes == 1:
        return counts[..., None]
    spread: Counts = rng.multinomial(counts, np.full(classes, 1 / classes))
    return spread
