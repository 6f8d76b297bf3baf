"""Figures of attackers on random halves of bags of records: what pairs leakage and DPA of two models.

Two audits of the same records with the same seed draw the same halves of the same bags, and split each of them alike into records
to learn from and records to score. Each half is measured twice, with a split and a perturbation of its own: what
the two measurements of a half share is what records do to the figure, free of the noise of trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import FEWEST_BAGS, fewer_bags
from biasamp.results.interval import plain

from .equalize import Rule
from .lookup import LookupTables
from .records import RecordTrials
from .scores import FIGURES
from .sides import Index

Floats = NDArray[np.float64]
Engine = LookupTables | RecordTrials

# Halves that are measured, by what one costs, and splits of all records that the figures of labels are means of.
HALVES_OF_TABLES, HALVES_OF_RECORDS, TRIALS = 200, 30, 100
# A measurement on a table is the mean of so many splits, which take next to nothing.
REPEATS_OF_TABLES = 4
# With fewer records than this in a half there is nothing to split.
_FEWEST = 8
# Records beyond which attackers that are trained measure a part of them, which bags do not tell.
_MOST_RECORDS = 500_000
_DIGITS = 8
_PAIRED_STREAM = 0x9A1_5EED


@dataclass(frozen=True, eq=False)
class PairedHalves:
    """Figures on random halves of the records.

    Attributes
    ----------
    labels : tuple of str
        The variables that attackers predict, where there are several.
    values : ndarray of shape (labels,)
        The figure of each of them on all records.
    noise : ndarray of shape (1 + labels,)
        The variance of the figure of all of them, and of each, by the trials that they are means of.
    figures : ndarray of shape (2, halves, 1 + labels)
        Of all of them, and of each, measured twice on each half.
    """

    labels: tuple[str, ...]
    values: Floats
    noise: Floats
    figures: Floats

    @property
    def halves(self) -> int:
        """How many halves were measured."""
        return self.figures.shape[1]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; all figures in the order of the array."""
        return {
            "labels": list(self.labels),
            "values": [plain(float(value)) for value in self.values],
            "noise": [plain(float(value)) for value in self.noise],
            "halves": self.halves,
            "figures": [round(float(value), _DIGITS) for value in self.figures.reshape(-1)],
        }

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> PairedHalves:
        """What :meth:`to_dict` wrote."""
        labels = tuple(held["labels"])
        return cls(
            labels,
            np.array(held["values"], dtype=np.float64),
            np.array(held["noise"], dtype=np.float64),
            np.array(held["figures"], dtype=np.float64).reshape(2, int(held["halves"]), 1 + len(labels)),
        )

    def covariance(self, other: PairedHalves) -> Floats:
        """How figures of both vary together over the halves, of shape (1 + labels,); with itself their variances.

        Half a sample varies without its other half as much as the whole sample does (the delete-half jackknife). The noise of trials
        that is left in the figures makes variances larger than they are, never smaller.
        """
        one, two = (held.figures.mean(axis=0) for held in (self, other))
        return np.asarray(((one - one.mean(axis=0)) * (two - two.mean(axis=0))).sum(axis=0) / max(self.halves - 1, 1))

    def covariance_by_records(self, other: PairedHalves) -> Floats:
        """The same without the noise of trials, which is another in each of the two measurements; it may be below 0 by chance."""
        (a, b), (c, d) = (held.figures - held.figures.mean(axis=(0, 1)) for held in (self, other))
        return np.asarray(0.5 * (a * d + b * c).sum(axis=0) / max(self.halves - 1, 1))

    def correlation(self, other: PairedHalves) -> float:
        """How the figures of all labels go together by records; 0 where records are not seen to move one of them.

        Of the two measurements of a half one is taken from each, so that noise is in none, not even that which both share by
        their seed.
        """
        one, two = (float(held.covariance_by_records(held)[0]) for held in (self, other))
        if not min(one, two) > 0.0:
            return 0.0
        return float(np.clip(self.covariance_by_records(other)[0] / np.sqrt(one * two), -1.0, 1.0))

    def same(self, other: PairedHalves) -> bool:
        """Whether no half, however it was split, told the two apart."""
        return self.figures.shape == other.figures.shape and bool((self.figures == other.figures).all())


def measure_halves(
    engine: Engine, bags: Index, many: int, names: Sequence[str], rule: Rule, trial_noise: float, seed: int
) -> PairedHalves | None:
    """Figures of an attacker on halves of bags; None where there are too few records for it, or too many.

    Parameters
    ----------
    engine : LookupTables or RecordTrials
        On a problem whose rows lie each in one bag.
    bags, many : ndarray of int, int
        The bag of each row, and how many bags there are.
    names : sequence of str
        Of the variables that are predicted.
    rule : str or None
        How the truth is equalized.
    trial_noise : float
        The variance of the figure itself by its trials.
    seed : int
    """
    problem = engine.problem
    wanted = min(many, FEWEST_BAGS)
    held, place = np.unique(fewer_bags(bags, many, wanted), return_inverse=True)
    tables = isinstance(engine, LookupTables)
    if problem.n < 2 * _FEWEST or len(held) < _FEWEST or (not tables and problem.n > _MOST_RECORDS):
        return None
    rng = np.random.default_rng([_PAIRED_STREAM, seed])
    halves = HALVES_OF_TABLES if tables else HALVES_OF_RECORDS
    chosen = _permuted(np.tile(np.arange(len(held)), (halves, 1)), rng)[:, : len(held) // 2]
    repeats = REPEATS_OF_TABLES if tables else 1
    measured = [
        np.mean([_scores(engine, place, len(held), chosen, rule, rng) for _ in range(repeats)], axis=0)
        for _ in range(2)
    ]
    total = np.stack([_figures(engine.kind, *pair.mean(axis=2, keepdims=True)) for pair in measured])
    if len(names) < 2 or measured[0][0].shape[1] != len(names):
        return PairedHalves((), np.empty(0), np.array([trial_noise]), total)
    every = np.tile(np.arange(len(held)), (TRIALS, 1))
    dataset, model = _scores(engine, place, len(held), every, rule, rng)
    values = _figures(engine.kind, dataset.mean(axis=0), model.mean(axis=0))
    noise = _figures(engine.kind, dataset, model).var(axis=0, ddof=1) / TRIALS
    each = np.stack([_figures(engine.kind, *pair) for pair in measured])
    figures = np.concatenate([total, each], axis=-1)
    return PairedHalves(tuple(names), values, np.concatenate([[trial_noise], noise]), figures)


def _permuted(bags: Index, rng: np.random.Generator) -> Index:
    return np.asarray(rng.permuted(bags, axis=1))


def _scores(
    engine: Engine, place: Index, many: int, chosen: Index, rule: Rule, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Scores on the truth and on the predictions, of shape (trials, variables), with the chosen bags of each trial split in two."""
    order = _permuted(chosen, rng)
    learn, test = np.zeros((2, len(chosen), many), dtype=bool)
    rows, middle = np.arange(len(chosen))[:, None], order.shape[1] // 2
    learn[rows, order[:, :middle]] = True
    test[rows, order[:, middle:]] = True
    # A stream of its own, so that one model's draws do not move the halves of the next trials.
    return engine.of_splits(place, learn, test, rule, np.random.SeedSequence(int(rng.integers(1 << 62))))


def _figures(kind: str, dataset: Floats, model: Floats) -> Floats:
    # Two attackers that score nothing do not differ.
    return np.nan_to_num(FIGURES[kind](dataset, model))
