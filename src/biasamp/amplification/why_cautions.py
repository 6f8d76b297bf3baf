"""What the parts of a change do not say: scores that do not come true, strata that say little or have other signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from biasamp.results.interval import Caution
from biasamp.results.table import Table

from .why_strata import StrataParts

# A stratum with fewer records than this in its smallest group says little.
FEW_IN_STRATUM = 30
# A share of a group's records in one stratum beyond which the stratum is nearly the group.
CLOSE_TO_GROUP = 0.95
# Scores are said not to come true where the q-value over groups and outcomes is below this.
OFF = 0.01


def uncalibrated(table: Table) -> tuple[str, ...]:
    """Where scores do not come true in a group, beyond chance."""
    off = [row for row in table.rows() if row["q"] is not None and row["q"] < OFF]
    if not off:
        return ()
    worst = max(off, key=lambda row: row["error"] - row["expected"])
    return (
        Caution(
            f"the scores of {len(off):,} of {len(table):,} pairs of group and outcome do not come true as often as they "
            f"promise{', most of all' if len(off) > 1 else ':'} {worst['outcome']!r} in {worst['given']!r}: over ten bins of the score they are off by "
            f"{worst['error']:.3f} on average ({worst['expected']:.3f} by chance), with a mean score of {worst['score']:.3f} "
            f"against a rate of {worst['rate']:.3f}",
            "uncalibrated",
        ),
    )


def cautions_of_strata(strata: StrataParts) -> tuple[str, ...]:
    """Where signs differ inside strata, where strata are nearly empty, and where one is close to a group."""
    out: list[str] = []
    many = len(strata.names)
    turned = strata.reversed.any(axis=(1, 2))
    if turned.any():
        names = ", ".join(repr(strata.names[i]) for i in np.flatnonzero(turned)[:5].tolist())
        more = ", …" if turned.sum() > 5 else ""
        out.append(
            Caution(
                f"directions differ: in {int(turned.sum()):,} of {many:,} strata ({names}{more}) pairs are clearly associated "
                "the other way than in all records (Simpson's paradox): read the value by the sign inside, not by that of the "
                "whole",
                "reversed-signs",
            )
        )
    sizes = strata.sizes[:, :, 0]
    small = sizes.min(axis=1) < FEW_IN_STRATUM
    if small.any():
        empty = int((sizes.min(axis=1) == 0).sum())
        lacking = f", {empty:,} of them without any record of some group" if empty else ""
        out.append(
            Caution(
                f"{int(small.sum()):,} of {many:,} strata {'holds' if small.sum() == 1 else 'hold'} fewer than {FEW_IN_STRATUM} records of some group{lacking}: "
                f"what changes inside {'it' if small.sum() == 1 else 'them'} is hardly known",
                "small-strata",
            )
        )
    close = close_to_group(sizes)
    if close is not None:
        stratum, group, share, other, several = close
        label = strata.whole.sample.counts.given_labels[group]
        out.append(
            Caution(
                f"stratum {strata.names[stratum]!r} is close to the group {str(label)!r}: {share:.0%} of its records are of "
                f"that group and {other:.0%} of the group are in it. Comparing inside it says little of the group"
                + (f"; {several:,} strata in all are close to a group" if several > 1 else ""),
                "stratum-close-to-group",
            )
        )
    return tuple(out)


def close_to_group(sizes: Any) -> tuple[int, int, float, float, int] | None:
    """The stratum and group that are nearly the same records, the shares of either, and how many strata are like this.

    ``sizes`` is ``C(g, s)`` of shape (strata, groups).
    """
    of_stratum = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    of_group = sizes / np.maximum(sizes.sum(axis=0, keepdims=True), np.finfo(float).tiny)
    both = np.minimum(of_stratum, of_group)
    if sizes.shape[1] < 2 or not (both >= CLOSE_TO_GROUP).any():
        return None
    s, g = np.unravel_index(int(both.argmax()), both.shape)
    return (
        int(s),
        int(g),
        float(of_stratum[s, g]),
        float(of_group[s, g]),
        int((both >= CLOSE_TO_GROUP).any(axis=1).sum()),
    )
