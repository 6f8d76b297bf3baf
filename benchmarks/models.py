"""Choosing between models: several seeds on the same records, and which pairs changed.

``python -m benchmarks models --samples 400``. Simulated runs have a seed that moves the model, and records that move all runs: how often
intervals hold the difference of the training procedures, how often verdicts are wrong, and whether the range of needed seeds holds
the number that the true variances give: by whole comparisons of audits (``seeds``), and ten times as often by the same figures without audits (``counted``). Then pairs: how often a model against itself with noise of its own names a pair; and leakage and DPA of two
models, paired by halves of the records. ``--part`` prints one of these, ``--runs 5 10`` of seeds some. The captioning models are in ``python -m benchmarks captions``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biasamp
from biasamp.auditing.comparison_models import read_models
from biasamp.auditing.comparison_runs import crossed_difference
from biasamp.resampling.runs_and_records import CrossedMean, Seeds, difference_of_runs

Bits = NDArray[np.bool_]
TASKS = 8
LEVEL = 0.95


@dataclass(frozen=True)
class Procedure:
    """A training procedure: how much it amplifies on average, how much seeds move that, and how often it errs besides."""

    moved: float
    by_seed: float
    errors: float = 0.08


@dataclass(frozen=True)
class World:
    """Test records of two groups, and two procedures; with ``paired`` both share what a seed adds."""

    records: int
    runs: tuple[int, int]
    old: Procedure
    new: Procedure
    paired: bool = False

    @property
    def title(self) -> str:
        seeds = f"{_words(self.runs)}, {'same seeds' if self.paired else 'other seeds'}"
        return f"{self.records:,} records, {seeds}, seeds move {self.old.by_seed:g}"


def _words(runs: tuple[int, int]) -> str:
    return f"{runs[0]} runs" if runs[0] == runs[1] else f"{runs[0]} against {runs[1]} runs"


def records_of(world: World, rng: np.random.Generator) -> tuple[NDArray[np.int64], Bits]:
    group = rng.integers(0, 2, world.records)
    return group, rng.random((world.records, TASKS)) < 0.3 + 0.2 * group[:, None]


def predicted(
    procedure: Procedure,
    group: NDArray[np.int64],
    truth: Bits,
    seed: float,
    hard: NDArray[np.float64],
    rng: np.random.Generator,
) -> Bits:
    """What a run predicts: it errs on records that are hard for all runs, and on some of its own."""
    said = np.where(hard < procedure.errors / 2, ~truth, truth)
    said = np.where(rng.random(truth.shape) < procedure.errors / 2, ~said, said)
    moved = max(procedure.moved + procedure.by_seed * seed, 0.0)
    more = (group[:, None] == 1) & ~truth & (rng.random(truth.shape) < moved / 0.5)
    return np.where(more, True, said)


def audited(group: NDArray[np.int64], truth: Bits, said: Bits, resamples: int = 200) -> biasamp.Audit:
    columns = {"id": np.arange(len(group)), "g": group}
    columns |= {f"t{k}": truth[:, k].astype(int) for k in range(TASKS)}
    columns |= {f"p{k}": said[:, k].astype(int) for k in range(TASKS)}
    return biasamp.audit(
        columns,
        attributes="g",
        tasks=[f"t{k}" for k in range(TASKS)],
        task_predictions=[f"p{k}" for k in range(TASKS)],
        record="id",
        metrics=["directional"],
        resamples=resamples,
    )


def predictions(
    world: World, group: NDArray[np.int64], truth: Bits, rng: np.random.Generator
) -> tuple[list[Bits], list[Bits]]:
    """What all runs of both procedures predict on one sample of records."""
    hard = rng.random(truth.shape)
    seeds = [rng.normal(size=runs) for runs in world.runs]
    if world.paired:
        seeds[1] = seeds[0]
    old, new = (
        [predicted(procedure, group, truth, seed, hard, rng) for seed in own]
        for procedure, own in ((world.old, seeds[0]), (world.new, seeds[1]))
    )
    return old, new


def two_procedures(world: World, rng: np.random.Generator) -> dict[str, Any]:
    """Audits of all runs of both procedures on one sample of records."""
    group, truth = records_of(world, rng)
    out: dict[str, Any] = {}
    for name, model in zip(("old", "new"), predictions(world, group, truth, rng), strict=True):
        runs = {str(i): audited(group, truth, said) for i, said in enumerate(model)}
        out[name] = runs if world.paired else list(runs.values())
    return out


def truth_of(world: World, samples: int = 1500) -> tuple[float, list[Seeds]]:
    """The difference of the procedures, and the true variances over runs, from many runs on many records.

    Half of the pairs, those of the group that a model moves, rise by what it is moved, so that the mean over pairs rises by half of it.
    """
    moved = [_mean_moved(procedure) for procedure in (world.old, world.new)]
    rng = np.random.default_rng(12345)
    values: list[list[float]] = [[], []]
    for _ in range(samples):
        group, truth = records_of(world, rng)
        hard = rng.random(truth.shape)
        drawn = rng.normal(size=2)
        both = []
        again = rng.normal(size=2)
        for k, procedure in enumerate((world.old, world.new)):
            seeds = (drawn[0], again[0]) if world.paired else (drawn[k], again[k])
            both.append([_value(group, truth, predicted(procedure, group, truth, one, hard, rng)) for one in seeds])
        # Half the squared difference of two runs on the same records is the variance over runs; of the same seeds, that of differences.
        values[0].append(both[0][0] - both[0][1])
        values[1].append(both[1][0] - both[1][1])
    apart = [np.subtract(*values)] if world.paired else values
    spread = [0.5 * float(np.mean(np.square(part))) for part in apart]
    return 0.5 * (moved[1] - moved[0]), [
        Seeds(runs, np.array([part]), np.array([0.0])) for runs, part in zip(world.runs, spread, strict=False)
    ]


def _mean_moved(procedure: Procedure) -> float:
    """The mean of the largest of 0 and a normal draw, times what is left of the truth and of the errors."""
    from scipy.special import ndtr

    z = procedure.moved / procedure.by_seed if procedure.by_seed else np.inf
    mean = (
        procedure.moved
        if np.isinf(z)
        else procedure.moved * ndtr(z) + procedure.by_seed * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    )
    # Of records without the truth, whose share is .5 in that group, those that are not predicted already can be moved.
    already = procedure.errors / 2 * (1 - procedure.errors / 2) * 2
    return float(mean * (1.0 - already))


def _value(group: NDArray[np.int64], truth: Bits, said: Bits) -> float:
    """The mean over pairs of the signed change; the second group has every task more often."""
    moved = said.astype(float) - truth
    return float(np.mean([(1 if g else -1) * moved[group == g].mean(axis=0) for g in (0, 1)]))


@dataclass
class Tally:
    """What samples of one world gave."""

    samples: int = 0
    held: int = 0
    wrong: int = 0
    decided: int = 0
    asked: int = 0
    ranged: int = 0

    def add(self, low: float, high: float, true: float, ranged: bool | None) -> None:
        """Count one interval, and of one that decides nothing whether its range of seeds holds the right number."""
        self.samples += 1
        self.held += low <= true <= high
        sure = low > 0.0 or high < 0.0
        self.decided += sure
        self.wrong += sure and not (low > 0.0 and true > 0.0) and not (high < 0.0 and true < 0.0)
        self.asked += ranged is not None
        self.ranged += bool(ranged)

    def __str__(self) -> str:
        ranged = f"{self.ranged / self.asked:.1%} of {self.asked}" if self.asked else "not asked"
        return (
            f"covered {self.held / self.samples:.1%} · decided {self.decided / self.samples:.1%}, wrongly "
            f"{self.wrong / self.samples:.1%} · range of seeds holds the right number in {ranged}"
        )


def counted(world: World, samples: int, seed: int = 0) -> Tally:
    """As :func:`study` without audits: the same figures, and their covariance by what each record adds to them."""
    difference, spread = truth_of(world)
    out = Tally()
    for number in range(samples):
        rng = np.random.default_rng([seed, number])
        group, truth = records_of(world, rng)
        runs = [said for model in predictions(world, group, truth, rng) for said in model]
        moved = np.array([(said.astype(float) - truth).mean(axis=1) for said in runs])
        adds = np.zeros_like(moved)
        for g in (0, 1):
            mine = group == g
            centred = moved[:, mine] - moved[:, mine].mean(axis=1, keepdims=True)
            adds[:, mine] = (0.5 if g else -0.5) * centred / mine.sum()
        values = np.array([_value(group, truth, said) for said in runs])
        first = world.runs[0]
        made = difference_of_runs(
            values[:, None],
            (adds @ adds.T)[:, :, None],
            range(first),
            range(first, len(runs)),
            same_seeds=world.paired,
        )
        value, reach = float(made.value[0]), float(made.reach(LEVEL)[0])
        more = made.more_runs(LEVEL) if abs(value) <= reach else None
        out.add(value - reach, value + reach, difference, None if more is None else _range_holds(made, more, spread))
    return out


def study(world: World, samples: int, seed: int = 0) -> Tally:
    """Compare two procedures on many samples of seeds and records."""
    difference, spread = truth_of(world)
    out = Tally()
    for number in range(samples):
        audits = two_procedures(world, np.random.default_rng([seed, number]))
        row = biasamp.compare(audits, level=LEVEL).document["differences"][0]
        low, high = float(row["low"] or 0.0), float(row["high"] or 0.0)
        more = row["runs"].get("more_seeds")
        out.add(low, high, difference, None if more is None else _range_holds(_crossed(audits), more, spread))
    return out


def _crossed(audits: dict[str, Any]) -> CrossedMean:
    models = read_models(audits)
    entries = tuple([audit.document["metrics"][0] for audit in model.audits] for model in models)
    found = crossed_difference((models[0], models[1]), entries)  # type: ignore[arg-type]
    assert found is not None
    return found[0]


def _range_holds(made: CrossedMean, more: Sequence[int | None], spread: list[Seeds]) -> bool:
    """Whether a range of seeds holds the number that the true variance over runs gives, for the same difference."""
    true = tuple(replace(part, spread=known.spread) for part, known in zip(made.seeds, spread, strict=True))
    right = replace(made, seeds=true).runs_needed(LEVEL)
    low, high, number = (np.inf if one is None else one for one in (*more, right))
    return bool(low <= number <= high)


def null_names(samples: int, records: int = 2000, seed: int = 0) -> float:
    """In how many samples a model against itself, with errors of its own in each run, names a pair."""
    named = 0
    for number in range(samples):
        rng = np.random.default_rng([seed, number, 7])
        world = World(records, (1, 1), Procedure(0.05, 0.0), Procedure(0.05, 0.0))
        group, truth = records_of(world, rng)
        hard = rng.random(truth.shape)
        one, two = (audited(group, truth, predicted(world.old, group, truth, 0.0, hard, rng), 50) for _ in range(2))
        named += bool(biasamp.compare({"one": one, "two": two}).changed)
    return named / samples


@dataclass(frozen=True)
class Errors:
    """Two models that err on the same records in part, and the second of which moves tasks towards one group."""

    records: int
    tasks: int
    shared: float
    moved: float = 0.0
    clusters: bool = False

    @property
    def title(self) -> str:
        same = f"{self.shared:.0%} of errors shared"
        return f"{self.records:,} records{' in clusters of 4' if self.clusters else ''}, {self.tasks} tasks, {same}, moved {self.moved:g}"

    def audits(self, rng: np.random.Generator) -> dict[str, biasamp.Audit]:
        size = (self.records, self.tasks)
        draw = -(-self.records // 4) if self.clusters else self.records
        unit = np.arange(self.records) // 4 if self.clusters else np.arange(self.records)
        group = rng.integers(0, 2, draw)[unit]
        truth = rng.random((draw, self.tasks))[unit] < 0.3 + 0.3 * group[:, None]
        hard = rng.random((draw, self.tasks))[unit] < 0.15
        columns: dict[str, Any] = {"id": np.arange(self.records), "unit": unit, "g": group}
        columns |= {f"t{k}": truth[:, k].astype(int) for k in range(self.tasks)}
        for name, moved in (("one", 0.0), ("two", self.moved)):
            wrong = np.where(rng.random(size) < self.shared, hard, rng.random(size) < 0.15)
            said = np.where(wrong, ~truth, truth)
            said = np.where((group[:, None] == 1) & ~truth & (rng.random(size) < moved), True, said)
            said = np.where((group[:, None] == 0) & truth & (rng.random(size) < moved), False, said)
            columns |= {f"{name}{k}": said[:, k].astype(int) for k in range(self.tasks)}
        return {
            name: biasamp.audit(
                columns,
                attributes="g",
                tasks=[f"t{k}" for k in range(self.tasks)],
                task_predictions=[f"{name}{k}" for k in range(self.tasks)],
                record="id",
                cluster="unit" if self.clusters else None,
                metrics=["dpa", "leakage"],
                resamples=2,
            )
            for name in ("one", "two")
        }


def attackers(world: Errors, samples: int, seed: int = 0) -> str:
    """How often intervals of differences of DPA and leakage hold what many records give, and how often they are wrongly decided."""
    true: dict[str, float] = {}
    if world.moved:
        many = replace(world, records=100_000).audits(np.random.default_rng(99))
        true = {row["metric"]: float(row["difference"] or 0.0) for row in biasamp.compare(many).document["differences"]}
    held: dict[str, list[bool]] = {}
    named = 0
    for number in range(samples):
        found = biasamp.compare(world.audits(np.random.default_rng([seed, number])))
        named += bool(found.changed)
        for row in found.document["differences"]:
            low, high = (float("nan") if end is None else end for end in (row["low"], row["high"]))
            held.setdefault(row["metric"], []).append(bool(low <= true.get(row["metric"], 0.0) <= high))
    shares = ", ".join(f"{metric} held in {np.mean(hits):.1%} of {len(hits)}" for metric, hits in held.items())
    return f"{world.title}: {shares}; a task is named in {named / samples:.1%}"


def variances(
    runs: tuple[int, int],
    paired: bool,
    parts: tuple[float, float, float],
    ratio: float,
    samples: int,
    seed: int = 0,
    skewed: bool = False,
) -> float:
    """How often intervals of a difference of two means over runs hold 0, where all variances by records are known.

    ``parts`` are standard deviations by seeds, by records that all runs share, and by records of a run alone; ``ratio`` is how many times as far
    seeds move one model as the other. With ``paired`` seeds, seeds move both by as much again, which drops out. ``skewed`` seeds mostly move a model a
    little one way and seldom far the other, as an exponential variable does.
    """
    by_seed, shared, apart = parts
    rng = np.random.default_rng([seed, *runs, paired])
    first, many = runs[0], sum(runs)
    moved = np.repeat([2.0 / (1.0 + ratio), 2.0 * ratio / (1.0 + ratio)], runs) * by_seed
    if skewed:
        values = moved[:, None] * (rng.exponential(size=(many, samples)) - 1.0) + apart * rng.normal(
            size=(many, samples)
        )
    else:
        values = np.hypot(moved, apart)[:, None] * rng.normal(size=(many, samples))
    values[first:] += shared * rng.normal(size=samples)
    if paired:
        values += np.tile(rng.normal(size=(first, samples)), (2, 1))
    covariance = np.eye(many) * apart**2
    covariance[first:, first:] += shared**2
    known = np.broadcast_to(covariance[:, :, None], (many, many, samples))
    made = difference_of_runs(values, known, range(first), range(first, many), same_seeds=paired)
    return float((np.abs(made.value) <= made.reach(LEVEL)).mean())


PROPORTIONS = (
    *((0, 0, 1), (0, 1, 1), (0, 1, 3), (1, 1, 1), (1, 0, 1), (1, 0.3, 0.3), (1, 2, 1), (0.5, 0.5, 1), (1, 0, 0)),
    *((0.1, 1, 0.1), (1, 1, 0)),
)
RATIOS = (1 / 9, 1.0, 9.0)
# Numbers of runs of two models, and whether their seeds are the same.
DESIGNS = (
    *(((n, n), True) for n in (2, 3, 5, 10)),
    *(((one, two), False) for one, two in ((2, 2), (3, 3), (5, 5), (10, 10), (3, 5), (3, 10), (5, 10), (2, 5))),
)
RECORDS = (600, 4000)
PARTS = ("variances", "counted", "seeds", "null", "attackers")


def _worlds(records: Sequence[int], runs: Sequence[int]) -> Iterator[World]:
    for many in records:
        for one in runs:
            for by_seed, new, paired in ((0.02, 0.05, False), (0.02, 0.05, True), (0.005, 0.06, False)):
                yield World(many, (one, one), Procedure(0.05, by_seed), Procedure(new, by_seed), paired)


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks models")
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument(
        "--runs", type=int, nargs="+", default=[3, 5, 10], help="runs of each model in the part 'seeds'"
    )
    parser.add_argument("--records", type=int, nargs="+", default=list(RECORDS), help="records in the part 'seeds'")
    given = parser.parse_args(options)
    parts, samples = PARTS if given.part is None else (given.part,), given.samples
    for design, same in DESIGNS if "variances" in parts else ():
        held = [variances(design, same, one, r, 100 * samples) for one in PROPORTIONS for r in RATIOS]
        ends = f"{min(held):.1%} to {max(held):.1%}, half in {np.median(held):.1%} or more,"
        title = f"{_words(design)}, {'same' if same else 'other'} seeds"
        print(f"{title}: intervals hold in {ends} of {100 * samples:,}", flush=True)
        for what, one in (("alone", (1, 0, 0)), ("and as much by records", (1, 1, 1))):
            skewed = [variances(design, same, one, r, 100 * samples, skewed=True) for r in RATIOS]
            print(f"{title}: with skewed seeds {what} in {min(skewed):.1%} to {max(skewed):.1%}", flush=True)
    for part, judge, times in (("counted", counted, 10), ("seeds", study, 1)):
        for world in _worlds(given.records, given.runs) if part in parts else ():
            true = f"true difference {truth_of(world, 2)[0]:+.4f}"
            print(f"{part}: {world.title}, {true}: {judge(world, times * samples)}", flush=True)
    if "null" in parts:
        print(f"a model against itself: {null_names(samples):.1%} of {samples} samples name a pair", flush=True)
    if "attackers" in parts:
        for world in (
            Errors(500, 1, 0.0),
            Errors(500, 4, 0.9),
            Errors(500, 4, 0.5, 0.1),
            Errors(800, 4, 0.9, 0.0, True),
        ):
            print(attackers(world, samples), flush=True)


if __name__ == "__main__":
    main()
