"""Counts of labels by bag: cells, labels that are moved, sums of linear forms; against dictionaries and loops."""

from __future__ import annotations

import numpy as np

from biasamp.counts.bagging import bag_of
from biasamp.counts.cells import summed
from biasamp.counts.label_bags import BAG_LABELS, BAG_OF_LABEL, BAG_SHIFT, BAGS, LabelBags, label_bags_of
from biasamp.data.keys import row_keys

Held = dict[tuple[int, int, int], int]


def of_cells(held: Held, sizes: np.ndarray) -> LabelBags:
    width = sizes.shape[1]
    entries = sorted(((label * BAGS + bag) * width + part, value) for (label, bag, part), value in held.items())
    return LabelBags(sizes, *(np.array([entry[side] for entry in entries], dtype=np.int64) for side in (0, 1)))


def held_in(bags: LabelBags) -> Held:
    assert (np.diff(bags.keys) > 0).all()
    label, bag, part = (side.tolist() for side in bags.cells)
    return dict(zip(zip(label, bag, part, strict=True), bags.values.tolist(), strict=True))


def some(seed: int, labels: int = 5) -> tuple[Held, np.ndarray]:
    rng = np.random.default_rng(seed)
    held = {
        (int(rng.integers(labels)), int(rng.integers(BAGS)), int(rng.integers(3))): int(rng.integers(1, 9))
        for _ in range(60)
    }
    return held, rng.integers(1, 50, (BAGS, 3))


def test_bags_of_labels() -> None:
    assert BAGS == 256
    assert len(BAG_LABELS) == len(set(BAG_LABELS)) == 256
    assert BAG_OF_LABEL[BAG_LABELS[7]] == 7
    assert BAG_SHIFT == 55
    keys = row_keys(0, 50)
    assert label_bags_of(keys).tolist() == bag_of(keys, 256).tolist()


def test_cells_that_are_named_twice() -> None:
    keys, values = summed(np.array([5, 2, 5, 9]), np.array([1, 2, 3, 4]))
    assert (keys.tolist(), values.tolist()) == ([2, 5, 9], [2, 4, 4])
    none = np.zeros(0, dtype=np.int64)
    assert [side.tolist() for side in summed(none, none)] == [[], []]
    assert [side.tolist() for side in summed(np.array([3]), np.array([4]))] == [[3], [4]]


def test_sums_and_labels_that_are_moved() -> None:
    (one, sizes), (two, more) = some(0), some(1)
    both = of_cells(one, sizes) + of_cells(two, more)
    assert both.sizes.tolist() == (sizes + more).tolist()
    assert held_in(both) == {place: one.get(place, 0) + two.get(place, 0) for place in {*one, *two}}
    for target in ([0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [2, -1, 0, -1, 1], [-1] * 5, [7, 1, 3, 2, 9]):
        moved = of_cells(one, sizes).moved(np.array(target))
        assert held_in(moved) == {
            (target[label], bag, part): value for (label, bag, part), value in one.items() if target[label] >= 0
        }
        assert moved.sizes.tolist() == sizes.tolist()


def test_counts_of_patterns() -> None:
    rng = np.random.default_rng(2)
    many, patterns = 2, 30
    bag, mask = rng.permutation(BAGS)[:patterns], rng.integers(0, 4, patterns)
    masks = (bag << BAG_SHIFT) | mask
    records = rng.integers(1, 9, patterns)
    pattern, label, values = rng.integers(0, patterns, 70), rng.integers(0, 4, 70), rng.integers(1, 5, 70)
    bits = (masks[:, None] >> np.arange(many)) & 1
    made = LabelBags.of_patterns(many, masks, records, (pattern, label, values), bits)
    sizes, expected = np.zeros((BAGS, 3), dtype=int), {}
    for place in range(patterns):
        sizes[bag[place]] += np.array([1, mask[place] & 1, mask[place] >> 1]) * records[place]
    for at, own, value in zip(pattern.tolist(), label.tolist(), values.tolist(), strict=True):
        for part in [0, *(1 + k for k in range(many) if mask[at] >> k & 1)]:
            place = own, int(bag[at]), part
            expected[place] = expected.get(place, 0) + value
    assert made.sizes.tolist() == sizes.tolist()
    assert held_in(made) == expected


def test_sums_of_linear_forms() -> None:
    held, sizes = some(3)
    rng = np.random.default_rng(4)
    for labels in ([0, 2, 3], [4], [0, 1, 2, 3, 4]):
        of_records, of_label = rng.integers(-4, 5, (2, len(labels), 3)).astype(float)
        expected = np.zeros((len(labels), BAGS))
        for row, label in enumerate(labels):
            for bag in range(BAGS):
                expected[row, bag] = sum(
                    of_records[row, part] * sizes[bag, part] + of_label[row, part] * held.get((label, bag, part), 0)
                    for part in range(3)
                )
        share = sizes[:, 0] / sizes[:, 0].sum()
        expected -= expected.sum(axis=1, keepdims=True) * share
        found = of_cells(held, sizes).linear(np.array(labels), of_records, of_label)
        np.testing.assert_allclose(found, expected, atol=1e-9)
