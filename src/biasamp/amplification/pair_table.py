"""The per-pair table and the list of excluded pairs that every amplification result carries."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.data import Label, printable
from biasamp.resampling.significance import q_values
from biasamp.results import Table, text

# A sign whose test of independence has a p-value above this is one that the data cannot tell.
CLEAR_SIGN = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairValues:
    """What a metric says of every pair; NaN where the pair is undefined."""

    sign: NDArray[np.int8]
    truth_rate: Floats
    predicted_rate: Floats
    delta: Floats
    amplification: Floats
    defined: NDArray[np.bool_]


def mean_over_pairs(values: Floats, defined: NDArray[np.bool_]) -> Floats:
    """The mean over the pairs that are defined; NaN where none is.

    The order of summation is specified, as the audit in the browser gives the same bits (``web/src/try/sums.ts``): pairs in the order
    of given labels and then outcomes, 0 for those that are not defined, in numpy's pairwise summation.
    """
    count = defined.sum(axis=(-2, -1))
    total = np.where(defined, values, 0.0).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / count, dtype=np.float64)


def pair_table(
    given: Sequence[Any],
    outcome: Sequence[Any],
    pairs: PairValues,
    *,
    factor: NDArray[Any],
    sign_p: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    support: NDArray[np.float64],
    p: NDArray[np.float64],
    either_way: bool = False,
    **extra: NDArray[Any],
) -> Table:
    """One row a defined pair; ``low`` and ``high`` bound delta and are turned with the sign.

    A factor of 0 leaves an amplification of exactly 0. With ``either_way`` it only says that these records do not
    tell the sign: the bounds then hold delta turned one way and the other.
    ``p`` is of the test that delta is 0, and ``q`` follows from it by Benjamini-Hochberg over the pairs.
    """
    keep = pairs.defined
    shape = keep.shape
    rows, columns = np.nonzero(keep)
    turned = np.where(factor[keep] < 0, -1.0, 1.0)
    bounds = np.stack([low[keep] * turned, high[keep] * turned])
    unknown = factor[keep] == 0
    reach = np.abs(bounds).max(axis=0) if either_way else np.where(np.isnan(bounds[0]), np.nan, 0.0)
    bounds = np.where(unknown, np.stack([-reach, reach]), bounds)
    sign_p = np.broadcast_to(sign_p, shape)[keep]
    return Table(
        {
            "given": text(given)[rows],
            "outcome": text(outcome)[columns],
            "sign": pairs.sign[keep],
            "sign_p": sign_p,
            "truth_rate": pairs.truth_rate[keep],
            "predicted_rate": pairs.predicted_rate[keep],
            "delta": pairs.delta[keep],
            "amplification": pairs.amplification[keep],
            "low": bounds.min(axis=0),
            "high": bounds.max(axis=0),
            "support": np.broadcast_to(support, shape)[keep],
            "clear": sign_p <= CLEAR_SIGN,
            "p": p[keep],
            "q": q_values(p[keep]),
            **{name: np.broadcast_to(values, shape)[keep] for name, values in extra.items()},
        }
    )


def excluded_pairs(
    given: Sequence[Label | str],
    outcome: Sequence[Label | str],
    pairs: PairValues,
    reason: str,
    stacklevel: int = 4,
    **counts: Any,
) -> tuple[dict[str, Any], ...]:
    """The pairs that are undefined, with the reason and their counts; a warning says how many."""
    rows, columns = np.nonzero(~pairs.defined)
    if not len(rows):
        return ()
    spread = {name: np.broadcast_to(values, pairs.defined.shape) for name, values in counts.items()}
    out = tuple(
        {
            "given": str(given[i]),
            "outcome": str(outcome[j]),
            "reason": reason,
            **{name: spread[name][i, j].item() for name in spread},
        }
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    )
    first = f"({printable(out[0]['given'], 30)}, {printable(out[0]['outcome'], 30)})"
    warnings.warn(
        f"{len(out):,} of {pairs.defined.size:,} pairs are undefined and left out of the mean, such as {first}: "
        f"{reason}; .excluded lists them",
        UserWarning,
        stacklevel=stacklevel,
    )
    return out


def pairs_without_given(counts: PairCounts, pairs: PairValues) -> tuple[dict[str, Any], ...]:
    """The pairs whose given label no record has, with their counts; a warning says how many."""
    return excluded_pairs(
        counts.given_labels,
        counts.outcome_labels,
        pairs,
        "no record has the given label",
        given_count=floats(counts.given),
        outcome_count=floats(counts.truth),
        joint_count=floats(counts.joint_truth),
        stacklevel=5,
    )
