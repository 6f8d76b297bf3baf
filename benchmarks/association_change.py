"""Changes between two association runs: coverage of the intervals, and how often a null names a label.

``python -m benchmarks association_change --trials 200``. Each trial draws records with latent labels, and two runs that
miss some of them and make others up; the second may label one identity more or less often. Runs are of the same records or
of others, and are compared with ids and without.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import biasamp
from biasamp.association.change import AssociationChange, association_change
from biasamp.association.gaps import association_gap
from biasamp.association.metrics import METRICS

IDENTITIES = ("man", "woman")
# Shares of the records with each identity, and with none.
SHARES = np.array([0.3, 0.2, 0.5])
# A run finds so many of the latent labels, and makes as many up.
FOUND = 0.9
LEVEL = 0.05


@dataclass(frozen=True)
class Setting:
    """A population and two runs: expected records with each label and identity, and what is known of the records."""

    counts: str
    same_records: bool
    ids: bool
    records: int = 2000
    labels: int = 500

    @property
    def title(self) -> str:
        return f"{self.counts:<9} {'same' if self.same_records else 'other'} records, {'ids' if self.ids else 'no ids'}"


SETTINGS = tuple(
    Setting(counts, same, ids)
    for counts in ("0 to 5", "5 to 30", "hundreds")
    for same in (True, False)
    for ids in (True, False)
)
EXPECTED = {"0 to 5": (0.2, 5.0), "5 to 30": (5.0, 30.0), "hundreds": (100.0, 300.0)}


def rates_of(setting: Setting, rng: np.random.Generator) -> NDArray[np.float64]:
    """P(y | identity) of each label and each of man, woman and neither."""
    low, high = EXPECTED[setting.counts]
    expected = np.exp(rng.uniform(np.log(low), np.log(high), (setting.labels, 3)))
    return np.minimum(expected / (SHARES * setting.records), 0.8)


def run_of(
    latent: NDArray[np.bool_], who: NDArray[np.int64], rates: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """What a run says: of the labels that are there most, and of the others as many as it missed."""
    missed = (1 - FOUND) * rates / (1 - rates)
    return np.where(latent, rng.random(latent.shape) < FOUND, rng.random(latent.shape) < missed.T[who])


def associated(said: NDArray[np.bool_], who: NDArray[np.int64], ids: NDArray[np.int64] | None) -> biasamp.Association:
    import pyarrow as pa

    whole = np.column_stack([who == 0, who == 1, said])
    record, label = np.nonzero(whole)
    names = pa.array([*IDENTITIES, *(f"y{i}" for i in range(said.shape[1]))])
    # A record without a label is one row without a label.
    empty = np.flatnonzero(~whole.any(axis=1))
    at = np.argsort(np.concatenate([record, empty]), kind="stable")
    rows = np.concatenate([record, empty])[at]
    labels = pa.concat_arrays([names.take(pa.array(label)), pa.nulls(len(empty), pa.string())]).take(pa.array(at))
    table = pa.table({"record": rows if ids is None else ids[rows], "label": labels})
    options = {"record": "record", "label": "label", "min_expected": 0}
    return biasamp.associate(table, IDENTITIES, **options, pairable=ids is not None)  # type: ignore[arg-type]


def two_runs(
    setting: Setting, rates: NDArray[np.float64], changed: NDArray[np.float64], seed: int
) -> tuple[biasamp.Association, biasamp.Association]:
    """An old run of a model with some rates of labels, and a new one with others."""
    rng = np.random.default_rng(seed)

    def drawn() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        who = rng.choice(3, setting.records, p=SHARES)
        return who, rng.random((setting.records, setting.labels))

    (who, chance), (other, other_chance) = drawn(), drawn()
    if setting.same_records:
        other, other_chance = who, chance
    old = run_of(chance < rates.T[who], who, rates, rng)
    new = run_of(other_chance < changed.T[other], other, changed, rng)
    first = np.arange(setting.records)
    second = first if setting.same_records else first + setting.records
    ids = (first, second) if setting.ids else (None, None)
    return associated(old, who, ids[0]), associated(new, other, ids[1])


def changes(setting: Setting, seed: int, null: bool) -> dict[str, tuple[AssociationChange, NDArray[np.float64]]]:
    """By metric, the table of changes and the population's change of each of its rows."""
    rng = np.random.default_rng([seed, 1])
    rates = rates_of(setting, rng)
    changed = rates.copy()
    if not null:
        changed[:, 0] = np.minimum(rates[:, 0] * np.exp(rng.uniform(-1, 1, setting.labels)), 0.8)
    old, new = two_runs(setting, rates, changed, seed)
    out = {}
    for metric in METRICS:
        table = association_change(old, new, metric)
        mine = [int(label[1:]) if label.startswith("y") else -1 for label in table["label"]]
        truth = np.where(np.array(mine) < 0, np.nan, _gap(metric, changed)[mine] - _gap(metric, rates)[mine])
        out[metric] = table, truth
    return out


def _gap(metric: str, rates: NDArray[np.float64]) -> NDArray[np.float64]:
    joint = rates * SHARES
    return association_gap(metric, 1.0, SHARES[0], SHARES[1], joint.sum(axis=1), joint[:, 0], joint[:, 1])


@dataclass
class Tally:
    """What trials of one setting and metric gave."""

    tests: int = 0
    rejected: int = 0
    named: int = 0
    trials: int = 0
    held: int = 0
    intervals: int = 0

    def add_null(self, table: AssociationChange) -> None:
        p, q = table["p"], table["q"]
        self.tests += int((~np.isnan(p)).sum())
        self.rejected += int((p < LEVEL).sum())
        self.named += bool((q < LEVEL).any())
        self.trials += 1

    def add_changed(self, table: AssociationChange, truth: NDArray[np.float64]) -> None:
        there = table["ranked"] & ~np.isnan(table["low"]) & ~np.isnan(truth)
        self.held += int(((table["low"] <= truth) & (truth <= table["high"]))[there].sum())
        self.intervals += int(there.sum())


def study(setting: Setting, trials: int, seed: int = 0) -> dict[str, Tally]:
    tallies = {metric: Tally() for metric in METRICS}
    for trial in range(trials):
        for metric, (table, _) in changes(setting, seed + 2 * trial, null=True).items():
            tallies[metric].add_null(table)
        for metric, (table, truth) in changes(setting, seed + 2 * trial + 1, null=False).items():
            tallies[metric].add_changed(table, truth)
    return tallies


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks association_change")
    parser.add_argument("--trials", type=int, default=40)
    trials = parser.parse_args(options).trials
    print(f"{trials} trials of {SETTINGS[0].labels} labels; counts are those expected of a label with an identity")
    print("coverage of 95% intervals under change · p < .05 under no change · trials that name a label at q < .05")
    print(f"{'':<38}" + "".join(f"{metric:>22}" for metric in METRICS))
    for setting in SETTINGS:
        cells = [
            f"{t.held / t.intervals:>8.1%}{t.rejected / max(t.tests, 1):>7.1%}{t.named / t.trials:>7.1%}"
            for t in study(setting, trials).values()
        ]
        print(f"{setting.title:<38}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
