"""All four count tables of one direction, 2 groups by 80 tasks, and Multi's itemsets."""

from __future__ import annotations

import numpy as np

import biasamp
from benchmarks.timing import cpu_seconds, row
from biasamp.counts import PairCounts
from biasamp.counts.itemsets import carried, support
from biasamp.data import Evaluation, LabelSet, align, label_set, read_columns


def simulated(records: int, tasks: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, records)
    chance = np.minimum(0.6, 1.2 / np.arange(1, tasks + 1))
    truth = (rng.random((records, tasks)) < chance).astype(np.uint8)
    flips = rng.random((records, tasks)) < 0.03
    return groups, truth, truth ^ flips


def loop(groups: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """The four tables by one masked sum a pair, as research code does it."""
    out = np.zeros((4, 2, truth.shape[1]), dtype=np.int64)
    for g in range(2):
        for t in range(truth.shape[1]):
            out[0, g, t] = (groups == g).sum()
            out[1, g, t] = ((groups == g) & (truth[:, t] == 1)).sum()
            out[2, g, t] = ((groups == g) & (predicted[:, t] == 1)).sum()
            out[3, g, t] = ((groups == g) & (truth[:, t] == 1) & (predicted[:, t] == 1)).sum()
    return out


def stream(*arrays: np.ndarray) -> int:
    """Read every byte once: the limit."""
    return int(sum(np.bitwise_xor.reduce(array.reshape(-1).view(np.uint64)) & np.uint64(1) for array in arrays))


def package(groups: np.ndarray, truth: np.ndarray, predicted: np.ndarray, repeats: int) -> tuple[float, object] | None:
    """The package ``bias-amplification`` 0.2.1, where it is installed."""
    try:
        import torch
        from bias_amplification.metrics.CoOccurMetrics import DBA  # type: ignore[import-not-found]
    except ImportError:
        return None
    A = torch.eye(2)[torch.as_tensor(groups)]
    T, P = torch.as_tensor(truth).float(), torch.as_tensor(predicted).float()
    metric = DBA()
    return cpu_seconds(lambda: metric.computeBiasAmp(A, T, P), repeats), metric.computeBiasAmp(A, T, P)


def main() -> None:
    for records in (100_000, 1_000_000):
        # Both sides of every ratio are the least of equally many runs: more for one would flatter it.
        repeats = 15 if records <= 100_000 else 3
        groups, truth, predicted = simulated(records)
        read = [label_set(read_columns(x, "x"), "x") for x in (groups, truth, predicted)]
        evaluation = Evaluation(read[0], *align(read[1:], ["truth", "predicted"]))
        expected = loop(groups, truth, predicted)
        slow = cpu_seconds(lambda g=groups, t=truth, p=predicted: loop(g, t, p), repeats)
        limit = cpu_seconds(lambda t=truth, p=predicted: stream(t, p), repeats)
        for accelerate in (False, True):
            name = "numba" if accelerate else "numpy"
            try:
                counts = PairCounts.from_labels(evaluation, accelerate=accelerate)
            except ImportError:
                print("numba is not installed: its kernel is left out")
                continue
            assert (counts.joint_truth == expected[1]).all()
            assert (counts.joint_predicted == expected[2]).all()
            assert (counts.joint_both == expected[3]).all()
            ours = cpu_seconds(lambda e=evaluation, a=accelerate: PairCounts.from_labels(e, accelerate=a), repeats)
            wanted = "(at least 60x)" if accelerate else "(at least 15x)"
            row(f"{records:,} x (2, 80), {name}", ours, "a numpy loop per pair", slow, wanted)
            print(f"{'':<58} {ours / limit:>9.1f} times the cost of streaming the arrays once")
        whole = cpu_seconds(lambda g=groups, t=truth, p=predicted: biasamp.directional(g, t, p).value, repeats)
        row(
            f"{records:,}: biasamp.directional(...).value from raw arrays",
            whole,
            "that loop",
            slow,
            "(40x, 15x without numba)",
        )
        rival = package(groups, truth, predicted, repeats)
        if rival is None:
            print("the package bias-amplification is not installed: left out")
        else:
            row(f"{records:,}: the same", whole, "bias-amplification 0.2.1", rival[0])
    itemsets(*simulated(100_000))


def walked(labels: LabelSet, found: list[tuple[int, ...]]) -> list[np.ndarray]:
    """The records that have each itemset, by a walk along prefixes in Python, as version 0.1 made it."""
    held = labels.rows().T.astype(bool)
    records = [np.flatnonzero(own) for own in held]
    rank = np.argsort(np.argsort([len(own) for own in records], kind="stable"), kind="stable")
    out = [np.zeros(0, dtype=np.int64)] * len(found)
    path: list[tuple[int, np.ndarray]] = []
    for items, number in sorted((tuple(sorted(items, key=lambda i: rank[i])), k) for k, items in enumerate(found)):
        shared = 0
        while shared < min(len(path), len(items)) and path[shared][0] == items[shared]:
            shared += 1
        del path[shared:]
        for label in items[shared:]:
            path.append((label, path[-1][1][held[label][path[-1][1]]] if path else records[label]))
        out[number] = path[-1][1]
    return out


def itemsets(groups: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> None:
    """Multi of every label set that occurs, and the walk that finds the records that have each."""
    read = [label_set(read_columns(x, "x"), "x") for x in (truth, predicted)]
    source, other = align(read, ["truth", "predicted"])
    found = carried(source, 1, None, 1)
    support(other, found)  # loads the compiler
    ours = cpu_seconds(lambda: support(other, found))
    assert support(other, found).tolist() == [len(records) for records in walked(other, found)]
    slow = cpu_seconds(lambda: walked(other, found))
    row(f"records of {len(found):,} itemsets, {len(other):,} x 80 labels", ours, "a walk in Python", slow)
    result = biasamp.multi(groups, truth, predicted)
    for what, work in {
        "its value": lambda: biasamp.multi(groups, truth, predicted).value,
        "its value and interval": lambda: biasamp.multi(groups, truth, predicted).confidence_interval(),
        "its pairs": lambda: biasamp.multi(groups, truth, predicted).pairs,
    }.items():
        print(
            f"multi, {len(result.pairs):,} pairs of itemsets, {what}: {cpu_seconds(work, 2):.2f} s (2 s with interval)"
        )
