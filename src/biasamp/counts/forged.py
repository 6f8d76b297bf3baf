"""Whether counts can be those of records: what a file holds may have been written by anybody, with a right checksum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Label

from .bags import InBags
from .contingency import BAG, ContingencyTable
from .fixed import Count, Fixed, floats
from .joint import JointCounts
from .label_bags import BAGS
from .pair import PairCounts
from .subject_counts import SubjectCounts, labels_in
from .tables import JOINT, PAIR

if TYPE_CHECKING:
    from .association_counts import AssociationCounts
    from .audit_counts import AuditCounts

# Sums of fractions are exact to 2**-52 of each addend.
_ROUNDING = 1e-6
# What each array of pair counts cannot exceed.
_WITHIN = {
    "given": ("n",),
    "truth": ("n",),
    "predicted": ("n",),
    "joint_truth": ("given", "truth"),
    "joint_predicted": ("given", "predicted"),
    "joint_both": ("joint_truth", "joint_predicted"),
}
_WITHIN_JOINT = {"left": ("n",), "right": ("n",), "joint": ("left", "right")}


def refuse_forged(problems: Iterator[str], name: str) -> None:
    """Raise for the first thing that counts of records cannot be; ``name`` is that of their file."""
    try:
        problem = next(problems, None)
    except (IndexError, KeyError, TypeError, AttributeError, OverflowError, ValueError) as error:
        problem = f"its parts do not fit each other ({error})"
    if problem is not None:
        raise ValueError(
            f"{name} is damaged or forged: {problem}. Counts of records cannot be so: count the data again"
        )


def audit_problems(counts: AuditCounts) -> Iterator[str]:
    """What the counts of an audit cannot be."""
    if not counts.subjects:
        yield "it has no attribute"
    if counts.records < 1 or counts.keys.records < counts.records or counts.missing_values < 0:
        yield f"it is of {counts.records} records with {counts.keys.records} keys and {counts.missing_values} missing values"
    if counts.sources and sum(source.records for source in counts.sources) != counts.records:
        yield "the records of its sources do not add up to all records"
    whole = counts.plan.get("missing") == "error"
    weighted = counts.plan.get("weights") is not None
    for subject in counts.subjects:
        for problem in _subject_problems(subject, counts.records, whole=whole, weighted=weighted):
            yield f"{subject.attribute!r}: {problem}"


def _subject_problems(subject: SubjectCounts, records: int, *, whole: bool, weighted: bool) -> Iterator[str]:
    labels = {"A": tuple(labels_in(subject.A)), "T": tuple(labels_in(subject.T))}
    if not subject.pairs:
        yield "it has no direction"
    for side, held in labels.items():
        sizes = subject.sizes[side]
        if sizes.shape != (len(held),) or len(set(held)) != len(held) or not held:
            yield f"the labels of {side} and their sizes do not match"
        if not _whole_numbers(sizes) or sizes.min() < 0 or sizes.max() > records:
            yield f"the sizes of {side} are below 0 or above all {records} records"
    for way, bags in subject.pairs.items():
        sides = (labels["A"], labels["T"]) if way == "A->T" else (labels["T"], labels["A"])
        if (bags.counts.given_labels, bags.counts.outcome_labels) != sides:
            yield f"{way}: its labels are not those of the attribute and the tasks"
            return
        for problem in _bag_problems(bags, sides, PAIR, _WITHIN, None if weighted else records):
            yield f"{way}: {problem}"
        if floats(bags.agreeing).shape != (len(sides[1]),) or _negative(bags.agreeing):
            yield f"{way}: agreeing does not match the labels, or is below 0"
        for title, table in (
            ("combinations", subject.cells.get(way)),
            ("combinations by bag", subject.by_bag.get(way)),
        ):
            if table is not None:
                for problem in _table_problems(table, {"given": sides[0], "truth": sides[1], "predicted": sides[1]}):
                    yield f"{way}: {title}: {problem}"
                if whole and not _same_sums(table, bags.whole):
                    yield f"{way}: {title} do not add up to the counts of pairs"
    for joint in subject.mals or ():
        for problem in _bag_problems(
            joint, (labels["A"], labels["T"]), JOINT, _WITHIN_JOINT, None if weighted else records
        ):
            yield f"MALS: {problem}"
    if subject.train is not None:
        if (subject.train.left_labels, subject.train.right_labels) != (labels["A"], labels["T"]):
            yield "the labels of the train counts are not those of the attribute and the tasks"
        for problem in _array_problems(subject.train, (len(labels["A"]), len(labels["T"])), JOINT, _WITHIN_JOINT):
            yield f"train: {problem}"
    if subject.train_cells is not None:
        for problem in _table_problems(subject.train_cells, {"given": labels["A"], "truth": labels["T"]}):
            yield f"train: combinations: {problem}"


def _bag_problems(
    bags: InBags[Any],
    labels: tuple[Sequence[Label], Sequence[Label]],
    names: Sequence[str],
    within: Mapping[str, tuple[str, ...]],
    most: int | None,
) -> Iterator[str]:
    shape = (len(bags.numbers), len(labels[0]), len(labels[1]))
    yield from _array_problems(bags.counts, shape, names, within)
    total = float(floats(bags.whole.n).max(initial=0.0))
    if most is not None and total > most + _ROUNDING:
        yield f"n adds up to {total:g}, more than all {most} records"
    if _negative(bags.counts.squared):
        yield "squared weights are below 0"


def _array_problems(
    counts: PairCounts | JointCounts,
    shape: tuple[int, ...],
    names: Sequence[str],
    within: Mapping[str, tuple[str, ...]],
) -> Iterator[str]:
    """Arrays of another shape, below 0, or above what they are a part of."""
    values: dict[str, NDArray[np.float64]] = {}
    for name in names:
        held = getattr(counts, name)
        if not _whole_numbers(held):
            yield f"{name} holds no whole numbers"
        if _negative(held):
            yield f"{name} is below 0"
        values[name] = floats(held)
        fits = len(values[name].shape) == len(shape) and all(
            size in (1, most) for size, most in zip(values[name].shape[-2:], shape[-2:], strict=True)
        )
        if not fits or values[name].shape[:-2] != shape[:-2]:
            yield f"{name} has the shape {values[name].shape}, which does not match the labels"
            return
    for name, others in within.items():
        for other in others:
            if (values[name] > values[other] + _ROUNDING).any():
                yield f"{name} is above {other}, of which it is a part"


def _table_problems(table: ContingencyTable, labels: Mapping[str, Sequence[Label]]) -> Iterator[str]:
    sides = {name: side for name, side in table.sides.items() if name != BAG}
    if list(sides) != list(labels) or any(tuple(side.labels) != tuple(labels[name]) for name, side in sides.items()):
        yield "its labels are not those of the attribute and the tasks"
        return
    rows = [len(side.combinations) for side in table.sides.values()]
    if table.cells.shape != (len(table.counts), len(rows)) or not _whole_numbers(table.cells):
        yield "its cells do not match its sides"
        return
    if (table.cells < 0).any() or (table.cells >= np.array(rows)).any():
        yield "a cell names a combination that is not there"
    if any(
        side.combinations.shape[1:] != (len(side.labels),) or side.combinations.max(initial=0) > 1
        for side in table.sides.values()
    ):
        yield "a combination does not match its labels"
    if not np.isfinite(table.counts).all() or (np.asarray(table.counts) < 0).any():
        yield "a count is below 0 or no number"


def _same_sums(table: ContingencyTable, pairs: PairCounts) -> bool:
    """Whether combinations add up to the counts of pairs of the same records."""
    counts = np.asarray(table.counts, dtype=np.float64)
    place = {name: i for i, name in enumerate(table.sides)}

    def rows(name: str) -> NDArray[np.float64]:
        return table.sides[name].combinations[table.cells[:, place[name]]].astype(np.float64)

    given, truth, predicted = rows("given"), rows("truth"), rows("predicted")
    weighed = given.T * counts
    made = {
        "joint_truth": weighed @ truth,
        "joint_predicted": weighed @ predicted,
        "joint_both": weighed @ (truth * predicted),
    }
    made |= {
        "n": counts.sum(),
        "given": weighed.sum(axis=1)[:, None],
        "truth": counts @ truth,
        "predicted": counts @ predicted,
    }
    return all(
        np.allclose(value, floats(getattr(pairs, name)), rtol=1e-9, atol=_ROUNDING) for name, value in made.items()
    )


def _whole_numbers(values: Any) -> bool:
    arrays = (values.whole, values.high, values.low) if isinstance(values, Fixed) else (values,)
    return all(array.dtype.kind in "iu" for array in arrays)


def _negative(values: Count) -> bool:
    with np.errstate(invalid="ignore"):
        return not bool((floats(values) >= 0).all())


def association_problems(counts: AssociationCounts) -> Iterator[str]:
    """What the counts of associations cannot be."""
    many, width = len(counts.identities), len(counts.labels)
    if (counts.count.shape, counts.identity_joint.shape, counts.overlap.shape, len(counts.names), len(counts.members)) != (
        (width,), (width, many), (many, many), width, many,
    ):  # fmt: skip
        yield "its counts do not match its labels and identities"
        return
    if not all(isinstance(name, str) for name in (*counts.labels, *counts.names, *counts.identities)):
        yield "a label is no text"
    if len(set(counts.labels)) != width or len(set(counts.identities)) != many:
        yield "a label stands in it twice"
    shared = counts.shared
    arrays = [counts.count, counts.identity_joint, counts.overlap, shared.keys, shared.values]
    if counts.bags is not None:
        arrays += [counts.bags.sizes, counts.bags.keys, counts.bags.values]
    if not all(_whole_numbers(array) for array in arrays):
        yield "a count is no whole number"
        return
    if counts.n < 0 or any(array.min(initial=0) < 0 for array in arrays):
        yield "a count is below 0"
    if counts.count.max(initial=0) > counts.n or counts.overlap.max(initial=0) > counts.n:
        yield f"a count is above all {counts.n} records"
    sizes = np.diagonal(counts.overlap)
    if (counts.overlap != counts.overlap.T).any() or (counts.overlap > np.minimum(sizes[:, None], sizes)).any():
        yield "records with two identities are more than those with one of them"
    if (counts.identity_joint > np.minimum(counts.count[:, None], sizes)).any():
        yield "records with a label and an identity are more than those with one of them"
    if counts.sources and sum(records for _, records, _ in counts.sources) != counts.n:
        yield "the records of its sources do not add up to all records"
    first, second = np.divmod(shared.pair, max(many, 1))
    if shared.keys.shape != shared.values.shape or (np.diff(shared.keys) <= 0).any() or (first >= second).any():
        yield "counts of pairs of identities are out of order"
    elif len(shared.keys) and (second.max() >= many or first.max() >= many or shared.label.max() >= width):
        yield "counts of pairs of identities name what is not there"
    elif (
        shared.values
        > np.minimum(counts.identity_joint[shared.label, first], counts.identity_joint[shared.label, second])
    ).any():
        yield "records with a label and two identities are more than those with one of them"
    if counts.bags is not None:
        yield from _label_bag_problems(counts)


def _label_bag_problems(counts: AssociationCounts) -> Iterator[str]:
    held, many, width = counts.bags, len(counts.identities), len(counts.labels)
    assert held is not None
    if held.sizes.shape != (BAGS, 1 + many) or held.keys.shape != held.values.shape or (np.diff(held.keys) <= 0).any():
        yield "counts by bag do not match its labels and identities"
        return
    if len(held.keys) and held.keys[-1] >= width * held.sizes.size:
        yield "counts by bag do not match its labels and identities"
        return
    label, _, part = held.cells
    sums = np.zeros((width, 1 + many), dtype=np.int64)
    np.add.at(sums, (label, part), held.values)
    expected = np.column_stack([counts.count, counts.identity_joint])
    records = [counts.n, *np.diagonal(counts.overlap).tolist()]
    if (sums != expected).any() or held.sizes.sum(axis=0).tolist() != records:
        yield "counts by bag do not add up to the counts"
