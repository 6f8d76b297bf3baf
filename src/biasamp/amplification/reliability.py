"""Whether scores promise what comes true: the reliability of each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasamp.counts.fixed import floats
from biasamp.counts.reliability import ReliabilityCounts
from biasamp.data import Label
from biasamp.resampling.significance import q_values
from biasamp.results import Table, text


def reliability_table(
    counts: ReliabilityCounts, given: Sequence[Label], outcome: Sequence[Label], *, clustered: bool = False
) -> Table:
    r"""One row for each group and outcome: mean score, rate of the truth, and how far they are apart over ten bins.

    ``error`` is :math:`\sum_b \frac{n_b}{n} |\bar s_b - r_b|` over bins of the score, ``expected`` what it is on average
    for scores that come true. ``p`` is of the test :math:`\sum_b n_b (\bar s_b - r_b)^2 / [\bar s_b (1 - \bar s_b)]`
    against :math:`\chi^2` with as many degrees of freedom as bins that can vary; ``q`` is over all rows. Records that
    come in clusters have neither.
    """
    from scipy.special import gammaincc

    n, truth, scores, squared = (floats(getattr(counts, name)) for name in ("n", "truth", "scores", "squared"))
    with np.errstate(divide="ignore", invalid="ignore"):
        score, rate = np.nan_to_num(scores / n), np.nan_to_num(truth / n)
        effective = np.nan_to_num(n**2 / squared)
        spread = score * (1.0 - score)
        total = n.sum(axis=-1)
        error = (n * np.abs(score - rate)).sum(axis=-1) / total
        chance = np.where(effective > 0, np.sqrt(2.0 * spread / np.pi / np.maximum(effective, 1.0)), 0.0)
        expected = (n * chance).sum(axis=-1) / total
        varies = (effective > 0) & (spread > 0)
        each = np.where(varies, effective * (score - rate) ** 2 / np.where(varies, spread, 1.0), 0.0)
        freedom = varies.sum(axis=-1)
        p = np.where(freedom > 0, gammaincc(np.maximum(freedom, 1) / 2.0, each.sum(axis=-1) / 2.0), np.nan)
        # A score of 0 or 1 that fails is off beyond chance.
        impossible = ((effective > 0) & (spread <= 0) & (np.abs(score - rate) > 1e-12)).any(axis=-1)
        mean, held = scores.sum(axis=-1) / total, truth.sum(axis=-1) / total
    p = np.full(p.shape, np.nan) if clustered else np.where(impossible, 0.0, p)
    rows, columns = np.nonzero(total > 0)
    there = rows, columns
    return Table(
        {
            "given": text(given)[rows],
            "outcome": text(outcome)[columns],
            "n": total[there],
            "score": mean[there],
            "rate": held[there],
            "error": error[there],
            "expected": expected[there],
            "p": p[there],
            "q": q_values(np.clip(p[there], 0.0, 1.0)),
        }
    )
