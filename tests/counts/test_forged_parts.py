"""Every part of counts that may be forged: what records can give is let pass to the last number, and one more is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts.contingency import BAG
from biasamp.counts.fingerprints import Fingerprint
from biasamp.counts.fixed import Fixed
from biasamp.counts.forged import association_problems, audit_problems, refuse_forged
from biasamp.counts.label_bags import LabelBags
from biasamp.counts.shared_counts import SharedCounts
from biasamp.data import Label

GROUP, TRUTH, SAID = list("wwwwmmmm"), [1, 1, 1, 0, 1, 0, 0, 0], [1, 1, 0, 0, 1, 1, 0, 0]
CHANCE = [0.5, 0.25, 0.0, 1.0, 0.75, 0.5, 0.125, 0.0]
OTHER = list("wwwmmmmw")
ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


@cache
def counts_of(kind: str = "hard") -> Any:
    data: dict[str, Any] = {
        "g": GROUP,
        "t": TRUTH,
        "p": SAID,
        "s": CHANCE,
        "h": OTHER,
        "w": [0.5] * 8,
        "id": list(range(8)),
    }
    more: dict[str, dict[str, Any]] = {
        "hard": {},
        "soft": {"task_predictions": "s"},
        "weighted": {"weights": "w"},
        "both ways": {"attribute_predictions": "h"},
        "train": {"train": {"g": GROUP, "t": TRUTH}},
        "missing": {"missing": "drop"},
        "no ids": {"record": None},
    }
    return biasamp.count(data, **{**ROLES, "record": "id", **more[kind]})


def subject_with(kind: str = "hard", **parts: Any) -> Any:
    counts = counts_of(kind)
    return replace(counts, subjects=(replace(counts.subjects[0], **parts),))


def pairs_with(kind: str = "hard", **arrays: Any) -> Any:
    """Counts whose tables of pairs are others."""
    bags = counts_of(kind).subjects[0].pairs["A->T"]
    return subject_with(kind, pairs={"A->T": replace(bags, counts=replace(bags.counts, **arrays))})


def problems(counts: Any) -> list[str]:
    """All problems up to parts that do not fit each other, which end the search once one was told."""
    found: list[str] = []
    try:
        for problem in audit_problems(counts):
            found.append(problem)
    except ValueError:
        assert found
    return found


@pytest.mark.parametrize("kind", ["hard", "soft", "weighted", "both ways", "train", "missing", "no ids"])
def test_counts_of_records_have_no_problem(kind: str) -> None:
    assert problems(counts_of(kind)) == []


def test_the_first_problem_is_told() -> None:
    refuse_forged(iter(()), "c.parquet")

    def two() -> Iterator[str]:
        yield "the first"
        yield "the second"

    text = r"^c\.parquet is damaged or forged: the first\. Counts of records cannot be so: count the data again$"
    with pytest.raises(ValueError, match=text):
        refuse_forged(two(), "c.parquet")
    for error in (IndexError, KeyError, TypeError, AttributeError, OverflowError, ValueError):

        def broken(error: type[Exception] = error) -> Iterator[str]:
            raise error("why")
            yield ""

        with pytest.raises(
            ValueError, match=r"damaged or forged: its parts do not fit each other \(.?why.?\)\. Counts"
        ):
            refuse_forged(broken(), "c.parquet")


def prints(records: int) -> Fingerprint:
    return Fingerprint(records, 1, 2)


def test_numbers_of_records() -> None:
    counts = counts_of()
    few = "it is of {} records with {} keys and {} missing values".format
    assert problems(replace(counts, subjects=())) == ["it has no attribute"]
    assert problems(replace(counts, missing_values=-1)) == [few(8, 8, -1)]
    assert problems(replace(counts, missing_values=1)) == []
    # Clusters are fewer than records.
    assert problems(replace(counts, keys=prints(7))) == [few(8, 7, 0)]
    assert problems(replace(counts, keys=prints(9))) == []
    none = replace(counts, units=prints(0), sources=(), subjects=())
    assert problems(none) == ["it has no attribute", few(0, 8, 0)]
    assert problems(replace(none, units=prints(1))) == ["it has no attribute"]
    (source,) = counts.sources
    assert problems(replace(counts, sources=())) == []
    wrong = ["the records of its sources do not add up to all records"]
    assert problems(replace(counts, sources=(replace(source, records=7),))) == wrong
    assert problems(replace(counts, sources=(source, source))) == wrong
    assert problems(replace(counts, sources=(source, replace(source, records=0)))) == []
    parts = (replace(source, records=3), replace(source, records=5))
    assert problems(replace(counts, sources=parts)) == []


def test_every_attribute_is_looked_at() -> None:
    counts = counts_of()
    bad = replace(counts.subjects[0], attribute="second", sizes={**counts.subjects[0].sizes, "A": np.array([4, 9])})
    found = problems(replace(counts, subjects=(counts.subjects[0], bad)))
    assert found == ["'second': the sizes of A are below 0 or above all 8 records"]


def test_sizes_of_labels() -> None:
    assert problems(subject_with(pairs={})) == ["'g': it has no direction"]

    def sizes(A: Any, T: Any) -> list[str]:
        return problems(subject_with(sizes={"A": np.array(A), "T": np.array(T)}))

    match, beyond = (
        "'g': the labels of {} and their sizes do not match".format,
        "'g': the sizes of {} are below 0 or above all 8 records".format,
    )
    width = len(counts_of().subjects[0].sizes["T"])
    right = [4] * width
    assert sizes([0, 8], right) == []
    assert sizes([0, 9], right) == [beyond("A")]
    assert sizes([-1, 8], right) == [beyond("A")]
    assert sizes([4.0, 4.0], right) == [beyond("A")]
    assert sizes([4, 4, 0], right) == [match("A")]
    assert sizes([[4], [4]], right) == [match("A")]
    assert sizes([4, 4], [9] * width) == [beyond("T")]
    assert sizes([4, 4], [*right, 1]) == [match("T")]
    # A label that stands there twice, and none at all.
    counts = counts_of()
    (variable,) = counts.subjects[0].A
    twice = subject_with(A=(variable._replace(categories=("m", "m")),), pairs={})
    assert problems(twice) == ["'g': it has no direction", match("A")]
    assert problems(
        subject_with(
            A=(variable._replace(categories=()),),
            pairs={},
            sizes={"A": np.zeros(0, dtype=np.int64), "T": np.array(right)},
        )
    )[:2] == [
        "'g': it has no direction",
        match("A"),
    ]


def array(name: str, kind: str = "hard") -> Any:
    return getattr(counts_of(kind).subjects[0].pairs["A->T"].counts, name)


def changed(name: str, change: Callable[[Any], Any], kind: str = "hard") -> list[str]:
    held = array(name, kind)
    values = held.each(np.copy) if isinstance(held, Fixed) else np.array(held)
    return problems(pairs_with(kind, **{name: change(values)}))


def lead(*texts: str) -> list[str]:
    return [f"'g': A->T: {text}" for text in texts]


SUMS = lead("combinations do not add up to the counts of pairs")
# Combinations are kept by bag, too, where records have ids.
BOTH_SUMS = [*SUMS, *lead("combinations by bag do not add up to the counts of pairs")]


def first_held(values: Any) -> Any:
    return tuple(np.argwhere(values)[0])


@pytest.mark.parametrize("name", ["n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both"])
def test_tables_of_pairs_hold_whole_numbers_from_0_on(name: str) -> None:
    found = changed(name, lambda values: values.astype(np.float64))
    assert found[0] == lead(f"{name} holds no whole numbers")[0]
    assert [text for text in found if "add up" not in text] == lead(f"{name} holds no whole numbers")

    def negative(values: Any) -> Any:
        values[first_held(values == 0) if (values == 0).any() else (0, 0, 0)] = -1
        return values

    found = changed(name, negative)
    assert found[0] == lead(f"{name} is below 0")[0]
    assert "holds no whole numbers" not in " ".join(found)
    # Unsigned numbers are whole ones.
    assert changed(name, lambda values: values.astype(np.uint32)) == []

    def other_shape(values: Any) -> Any:
        return np.concatenate([values, values[:, :1], values[:, :1]], axis=1)

    wrong = array(name).shape
    wrong = (wrong[0], wrong[1] + 2, wrong[2])
    assert changed(name, other_shape)[0] == lead(f"{name} has the shape {wrong}, which does not match the labels")[0]
    assert changed(name, lambda values: values[0])[0].startswith(lead(f"{name} has the shape")[0])
    assert changed(name, lambda values: values[:-1])[0].startswith(lead(f"{name} has the shape")[0])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("given", "n"),
        ("truth", "n"),
        ("predicted", "n"),
        ("joint_truth", "given"),
        ("joint_truth", "truth"),
        ("joint_predicted", "given"),
        ("joint_predicted", "predicted"),
        ("joint_both", "joint_truth"),
        ("joint_both", "joint_predicted"),
    ],
)
@pytest.mark.parametrize("kind", ["hard", "weighted"])
def test_parts_are_not_above_what_they_are_part_of(name: str, other: str, kind: str) -> None:
    from biasamp.counts.fixed import floats

    text = f"{name} is above {other}, of which it is a part"
    most = np.broadcast_to(
        floats(array(other, kind)), np.broadcast_shapes(array(other, kind).shape, array(name, kind).shape)
    )
    place = tuple(
        0 if size == 1 else int(at) for size, at in zip(array(name, kind).shape, np.argwhere(most > 0)[0], strict=True)
    )

    def raised(by: float) -> Callable[[Any], Any]:
        def change(values: Any) -> Any:
            if isinstance(values, Fixed):
                limit = float(most[place]) + by
                values.whole[place], values.low[place] = int(limit), 0
                values.high[place] = int((limit - int(limit)) * 2**26)
            else:
                values[place] = int(most[place]) + int(np.ceil(by))
            return values

        return change

    held = problems(counts_of(kind))
    assert held == []
    assert not any(text in found for found in changed(name, raised(0.0), kind))
    assert any(text in found for found in changed(name, raised(1.0 if kind == "hard" else 0.01), kind))


def test_pairs_do_not_count_more_than_all_records() -> None:
    def one_more(values: Any) -> Any:
        values[0, 0, 0] += 1
        return values

    text = "n adds up to 9, more than all 8 records"
    assert lead(text)[0] in changed("n", one_more)
    # Weights may add up to anything.
    weighted = array("n", "weighted")
    assert not any(
        "more than all" in found
        for found in problems(pairs_with("weighted", n=weighted + weighted + weighted + weighted))
    )
    bags = counts_of().subjects[0].pairs["A->T"]
    assert problems(pairs_with(squared=np.asarray(bags.counts.squared) * 0)) == []
    assert lead("squared weights are below 0")[0] in problems(pairs_with(squared=np.asarray(bags.counts.squared) - 9))


def test_labels_of_pairs_are_those_of_both_sides() -> None:
    text = lead("its labels are not those of the attribute and the tasks")
    other = (Label("g", "x"), Label("g", "y"))
    assert problems(pairs_with(given_labels=other)) == text
    assert problems(pairs_with(outcome_labels=(Label("t", "x"),))) == text
    # Backwards the sides are changed.
    counts = counts_of("both ways").subjects[0]
    assert set(counts.pairs) == {"A->T", "T->A"}
    crossed = subject_with("both ways", pairs={"A->T": counts.pairs["T->A"], "T->A": counts.pairs["T->A"]})
    assert problems(crossed) == text
    crossed = subject_with("both ways", pairs={"A->T": counts.pairs["A->T"], "T->A": counts.pairs["A->T"]})
    assert problems(crossed) == ["'g': T->A: its labels are not those of the attribute and the tasks"]


def test_agreements() -> None:
    bags = counts_of().subjects[0].pairs["A->T"]

    def agreeing(values: Any) -> list[str]:
        return problems(subject_with(pairs={"A->T": replace(bags, agreeing=np.array(values))}))

    text = lead("agreeing does not match the labels, or is below 0")
    width = np.asarray(bags.agreeing).shape[0]
    assert agreeing([0] * width) == []
    assert agreeing([-1] * width) == text
    assert agreeing([0] * (width + 1)) == text
    assert agreeing([[0] * width]) == text


def table_problems(**parts: Any) -> list[str]:
    table = counts_of().subjects[0].cells["A->T"]
    return problems(subject_with(cells={"A->T": replace(table, **parts)}))


def combinations(*texts: str) -> list[str]:
    return lead(*(f"combinations: {text}" for text in texts))


def test_combinations() -> None:
    table = counts_of().subjects[0].cells["A->T"]
    assert problems(subject_with(cells={"A->T": None})) == []
    labels = combinations("its labels are not those of the attribute and the tasks")
    fewer = {name: side for name, side in table.sides.items() if name != "predicted"}
    # Whether sums agree is then not asked: a problem before is enough.
    counts = counts_of("missing")
    lax = counts.subjects[0]

    def lax_problems(**parts: Any) -> list[str]:
        held = replace(lax.cells["A->T"], **parts)
        return problems(replace(counts, subjects=(replace(lax, cells={"A->T": held}),)))

    assert lax_problems(sides=fewer) == labels
    other = {**table.sides, "given": replace(table.sides["given"], labels=(Label("g", "x"), Label("g", "y")))}
    assert lax_problems(sides=other) == labels
    assert lax_problems(sides=dict(reversed(table.sides.items()))) == labels
    match = combinations("its cells do not match its sides")
    assert lax_problems(cells=table.cells[:-1]) == match
    assert lax_problems(cells=table.cells[:, :2]) == match
    assert lax_problems(cells=table.cells.astype(float)) == match
    there = combinations("a cell names a combination that is not there")
    for place, side in enumerate(table.sides.values()):
        last = len(side.combinations) - 1
        for number, expected in ((last, []), (last + 1, there), (0, []), (-1, there)):
            cells = table.cells.copy()
            cells[0, place] = number
            assert lax_problems(cells=cells) == expected
    fit = combinations("a combination does not match its labels")
    for name in table.sides:
        side = table.sides[name]
        wide = np.concatenate([side.combinations, side.combinations[:, :1]], axis=1)
        assert lax_problems(sides={**table.sides, name: replace(side, combinations=wide)}) == fit
        assert lax_problems(sides={**table.sides, name: replace(side, combinations=side.combinations * 2)}) == fit
    below = combinations("a count is below 0 or no number")
    for value, expected in ((0, []), (-1, below), (1e9, []), (np.nan, below), (np.inf, below)):
        values = np.asarray(table.counts, dtype=np.float64).copy()
        values[0] = value
        assert lax_problems(counts=values) == expected


def test_combinations_by_bag() -> None:
    table = counts_of("missing").subjects[0].by_bag["A->T"]
    assert BAG in table.sides
    values = np.asarray(table.counts).copy()
    values[0] = -1
    found = problems(subject_with("missing", by_bag={"A->T": replace(table, counts=values)}))
    assert found == lead("combinations by bag: a count is below 0 or no number")


def test_combinations_add_up_to_pairs() -> None:
    """Each table of pairs is compared, for the records of which nothing is missing."""
    assert SUMS[0] in changed("joint_both", lambda values: values * 0)
    for name in ("joint_truth", "joint_predicted", "joint_both", "n", "given", "truth", "predicted"):
        held = array(name)
        for place in np.argwhere(held > 0)[:3]:
            less = held.copy()
            less[tuple(place)] -= 1
            assert [text for text in problems(pairs_with(**{name: less})) if "add up" in text] == BOTH_SUMS, name
    table = counts_of().subjects[0].cells["A->T"]
    more = np.asarray(table.counts).copy()
    more[-1] += 1
    assert table_problems(counts=more) == SUMS
    # Where records are left out of a pair, tables of pairs know more of them.
    lax = counts_of("missing").subjects[0]
    less = {"joint_both": lax.pairs["A->T"].counts.joint_both * 0}
    assert problems(pairs_with("missing", **less)) == []


def test_mals_and_train() -> None:
    counts = counts_of("both ways")
    predicted, truth = counts.subjects[0].mals

    def mals(**parts: Any) -> list[str]:
        return problems(
            subject_with("both ways", mals=(predicted, replace(truth, counts=replace(truth.counts, **parts))))
        )

    def front(text: str) -> str:
        return f"'g': MALS: {text}"

    assert mals() == []
    held = truth.counts
    assert front("joint is below 0") in mals(joint=held.joint - 100)
    assert front("joint is above left, of which it is a part") in mals(joint=held.joint + 100)
    assert front("joint is above right, of which it is a part") in mals(joint=held.joint + 100)
    assert front("left is above n, of which it is a part") in mals(left=held.left + 100)
    assert front("right is above n, of which it is a part") in mals(right=held.right + 100)
    assert front("n adds up to 808, more than all 8 records") in [
        text.replace(f"{8 + 100 * len(held.n):g}", "808") for text in mals(n=held.n + 100)
    ]
    counts = counts_of("train")
    train = counts.subjects[0].train

    def trained(**parts: Any) -> list[str]:
        return problems(subject_with("train", train=replace(train, **parts)))

    assert trained() == []
    text = "'g': the labels of the train counts are not those of the attribute and the tasks"
    assert trained(left_labels=(Label("g", "x"), Label("g", "y")))[0] == text
    assert trained(right_labels=(Label("t", "x"),))[0] == text
    assert "'g': train: joint is below 0" in trained(joint=train.joint - 100)
    assert "'g': train: joint is above left, of which it is a part" in trained(joint=train.joint + 100)
    assert "'g': train: left has the shape" in " ".join(trained(left=train.left[:1].repeat(3, axis=0)))
    cells = counts.subjects[0].train_cells
    assert cells is not None
    below = np.asarray(cells.counts).copy()
    below[0] = -1
    found = problems(subject_with("train", train_cells=replace(cells, counts=below)))
    assert found == ["'g': train: combinations: a count is below 0 or no number"]
    sides = {**cells.sides, "truth": replace(cells.sides["truth"], labels=(Label("t", "x"),))}
    found = problems(subject_with("train", train_cells=replace(cells, sides=sides)))
    assert found == ["'g': train: combinations: its labels are not those of the attribute and the tasks"]


@cache
def associations(pairable: bool = True) -> Any:
    tags = [["a", "b", "x"], ["a", "x"], ["b", "x"], ["a", "b", "x", "y"], ["y"], [], ["a", "b"], ["b", "y"]]
    return biasamp.count(
        {"id": list(range(8)), "tags": tags}, identities=["a", "b"], label="tags", record="id", pairable=pairable
    )


def told(**parts: Any) -> list[str]:
    return list(association_problems(replace(associations(), **parts)))


def put(values: Any, place: Any, value: Any) -> Any:
    out = np.array(values)
    out[place] = value
    return out


def test_true_associations_have_no_problem() -> None:
    assert told() == []
    assert list(association_problems(associations(False))) == []
    counts = associations()
    assert counts.labels == ("a", "b", "x", "y")
    assert counts.count.tolist() == [4, 5, 4, 3]
    assert counts.overlap.tolist() == [[4, 3], [3, 5]]


def test_shapes_of_associations() -> None:
    counts = associations()
    match = ["its counts do not match its labels and identities"]
    assert told(count=counts.count[:-1]) == match
    assert told(identity_joint=counts.identity_joint[:, :1]) == match
    assert told(overlap=counts.overlap[:1]) == match
    assert told(names=counts.names[:-1]) == match
    assert told(members=counts.members[:-1]) == match
    assert told(labels=("a", "b", "x", 3)) == ["a label is no text"]
    assert told(names=("a", "b", "x", None)) == ["a label is no text"]
    assert told(identities=("a", 1)) == ["a label is no text"]
    twice = ["a label stands in it twice"]
    assert told(labels=("a", "b", "x", "x")) == twice
    assert told(identities=("a", "a")) == twice


def test_numbers_of_associations() -> None:
    counts = associations()
    whole = ["a count is no whole number"]
    for name in ("count", "identity_joint", "overlap"):
        assert told(**{name: getattr(counts, name).astype(float)}) == whole
    for name in ("keys", "values"):
        cells = replace(counts.shared.sparse(), **{name: getattr(counts.shared, name).astype(float)})
        assert told(shared=cells) == whole
        assert told(bags=replace(counts.bags, **{name: getattr(counts.bags, name).astype(float)})) == whole
    assert told(bags=replace(counts.bags, sizes=counts.bags.sizes.astype(float))) == whole
    below = "a count is below 0"
    assert below in told(count=put(counts.count, 3, -1))
    assert below in told(identity_joint=put(counts.identity_joint, (3, 0), -1))
    assert below in told(n=-1)
    assert below in told(shared=replace(counts.shared.sparse(), values=put(counts.shared.values, 0, -1)))
    assert below in told(bags=replace(counts.bags, values=put(counts.bags.values, 0, -1)))
    assert below in told(bags=replace(counts.bags, sizes=put(counts.bags.sizes, (0, 0), -1)))
    assert below not in told(count=counts.count * 0)
    assert below not in told(n=0)
    beyond = "a count is above all 8 records"
    assert beyond in told(count=put(counts.count, 3, 9))
    assert beyond not in told(count=put(counts.count, 3, 8))
    assert beyond in told(overlap=put(counts.overlap, (1, 1), 9))
    assert beyond not in told(overlap=put(counts.overlap, (1, 1), 8))


def test_records_with_two_are_not_more_than_those_with_one() -> None:
    counts = replace(associations(), bags=None)

    def found(**parts: Any) -> list[str]:
        return list(association_problems(replace(counts, **parts)))

    two = ["records with two identities are more than those with one of them"]
    assert found(overlap=np.array([[4, 4], [4, 5]])) == []
    assert found(overlap=np.array([[4, 5], [5, 5]])) == two
    assert found(overlap=np.array([[4, 3], [4, 5]])) == two
    labels = ["records with a label and an identity are more than those with one of them"]
    joint = counts.identity_joint
    # Three records have the label y, four the identity a.
    assert found(identity_joint=put(joint, (3, 0), 3)) == []
    assert found(identity_joint=put(joint, (3, 0), 4)) == labels
    assert found(identity_joint=put(joint, (2, 0), 4)) == []
    assert found(count=put(counts.count, 2, 8), identity_joint=put(joint, (2, 0), 5)) == labels
    (source,) = counts.sources
    sources = ["the records of its sources do not add up to all records"]
    assert found(sources=()) == []
    assert found(sources=((source[0], 7, source[2]),)) == sources
    assert found(sources=((source[0], 3, source[2]), ("other", 5, "0"))) == []


def test_cells_of_pairs_of_identities() -> None:
    counts = replace(associations(), bags=None)
    shared = counts.shared.sparse()

    def found(keys: Any, values: Any) -> list[str]:
        return list(association_problems(replace(counts, shared=SharedCounts(2, np.array(keys), np.array(values)))))

    def key(first: int, second: int, label: int) -> int:
        return (first * 2 + second) << 32 | label

    # Of x there are two records with both identities, of y one.
    assert shared.keys.tolist() == [key(0, 1, label) for label in range(4)]
    assert shared.values.tolist() == [3, 3, 2, 1]
    assert found([], []) == [] or found(np.zeros(0, np.int64), np.zeros(0, np.int64)) == []
    order = ["counts of pairs of identities are out of order"]
    assert found([key(0, 1, 2), key(0, 1, 3)], [2, 1]) == []
    assert found([key(0, 1, 3), key(0, 1, 2)], [1, 2]) == order
    assert found([key(0, 1, 2), key(0, 1, 2)], [1, 1]) == order
    assert found([key(0, 1, 2), key(0, 1, 3)], [2]) == order
    assert found([key(1, 0, 2)], [1]) == order
    assert found([key(1, 1, 2)], [1]) == order
    absent = ["counts of pairs of identities name what is not there"]
    assert found([key(0, 1, 4)], [1]) == absent
    assert found([key(2, 3, 1)], [1]) in (order, absent)
    two = ["records with a label and two identities are more than those with one of them"]
    joint = counts.identity_joint
    for label in range(4):
        most = int(joint[label].min())
        assert found([key(0, 1, label)], [most]) == []
        assert found([key(0, 1, label)], [most + 1]) == two
    assert joint[3].tolist() == [1, 2]
    # What there is of three identities; the pairs are numbered by their many.
    three = SimpleNamespace(first=0, second=5)
    assert divmod(three.second, 3) == (1, 2)


def test_no_identity_and_no_label() -> None:
    none = np.zeros(0, dtype=np.int64)
    counts = replace(
        associations(),
        labels=(),
        names=(),
        identities=(),
        members=(),
        count=none,
        overlap=none.reshape(0, 0),
        identity_joint=none.reshape(0, 0),
        shared=SharedCounts.none(0),
        bags=None,
    )
    assert list(association_problems(counts)) == []


def test_counts_of_associations_by_bag() -> None:
    counts = associations()
    held = counts.bags
    match = ["counts by bag do not match its labels and identities"]
    assert told(bags=replace(held, sizes=held.sizes[:-1])) == match
    assert told(bags=replace(held, sizes=held.sizes[:, :-1])) == match
    assert told(bags=replace(held, values=held.values[:-1])) == match
    assert told(bags=replace(held, keys=put(held.keys, 1, held.keys[0]))) == match
    assert told(bags=replace(held, keys=held.keys[::-1].copy())) == match
    # Cells are label, bag, part: there are 4 * 256 * 3.
    cells = 4 * 256 * 3
    sums = ["counts by bag do not add up to the counts"]
    assert told(bags=replace(held, keys=put(held.keys, -1, cells))) == match
    last = LabelBags(held.sizes, put(held.keys, -1, cells - 1), held.values)
    assert told(bags=last) in (sums, [])
    assert told(bags=replace(held, values=put(held.values, 0, held.values[0] + 1))) == sums
    place = np.argwhere(held.sizes[:, 0] > 0)[0, 0]
    for part in range(3):
        assert told(bags=replace(held, sizes=put(held.sizes, (place, part), held.sizes[place, part] + 1))) == sums
    none = np.zeros(0, dtype=np.int64)
    assert told(bags=LabelBags(held.sizes, none, none)) == sums
