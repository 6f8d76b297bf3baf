"""Tables of pairs of labels, bag by bag: by matrix products, in numba, or by listing what records hold.

Counts of all records together are those of a single bag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Codes, Dense, Evaluation, LabelSet

from .fixed import EXACT, Count, Fixed, add, concatenate, total
from .kernels import coded, cross, scored
from .kernels.cross import row_sums

Index = NDArray[np.int64]
Weights = NDArray[Any] | None

# The arrays of joint counts and of pair counts, in the order of their fields.
JOINT = ("n", "left", "right", "joint")
PAIR = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")
# Beyond this width a record's labels are listed instead of laid out in a matrix.
WIDE = 512
# Records whose columns are laid out at once: for a product that stays in cache, for sums by bag, and in lists.
_PRODUCT, _BAGGED, _LISTED = 1024, 1 << 14, 1 << 17
# Below so many labels of records, loading the compiler would take longer than counting.
_WORTH_COMPILING = 1 << 21
# To sum a score costs so many times what it costs to count a label.
SCORES_COST = 4
# Adding whole rows pays when rows are wide and a record holds few given labels; else a matrix product does.
_WORTH_ADDING = 16
_FEW_LABELS = 4
# Places that are counted by their codes; the tables that come of it have as many.
_MOST_CODED = 1 << 23
# Labels of which a record holds less than one in so many are listed when they are counted by bag.
_RARE = 32
# So many records tell how many labels a record holds.
_SAMPLE = 4096
# Up to so many given labels and bags, each is a column whose sums are taken for every label held.
_FEW_COLUMNS = 32


def pair_tables(
    evaluation: Evaluation,
    bag: Index | None = None,
    bags: int = 1,
    accelerate: bool | None = None,
    by_row: bool = True,
) -> tuple[dict[str, Any], Count]:
    """The arrays of pair counts by bag, and how often truth and prediction agree that a label holds.

    Parameters
    ----------
    evaluation : Evaluation
        The records.
    bag : ndarray of shape (records,), optional
        The row of each record's bag, below ``bags``.
    accelerate : bool, optional
        Whether to use numba; by default where it is installed and pays.
    by_row : bool
        Whether the counts of a bag lie together in memory. Sums of floats that are made of them depend on it in their
        last bit; to leave it for later is quicker where tables of many batches are added up.

    Returns
    -------
    arrays : dict of counts of shape (bags, given labels or 1, outcome labels or 1)
    agreeing : counts of shape (outcome labels,)
    """
    if evaluation.missing:
        return _masked(evaluation, bag, bags)
    sides, width = (evaluation.truth, evaluation.predicted), evaluation.truth.width
    true, held = _tables(evaluation.given, sides, evaluation.weights, bag, bags, accelerate, by_row)
    return _pair_arrays(true, held, width)


def pair_tables_of_kinds(kinds: NDArray[np.uint32], size: Index) -> tuple[dict[str, Any], Count]:
    """As :func:`pair_tables` from the records of every bag and given label, of which each record has one.

    Parameters
    ----------
    kinds : ndarray of shape (outcome labels, bags, given labels, 4)
        Records without truth and decision, with the decision, with the truth, and with both.
    size : ndarray of shape (bags, given labels)
    """
    width, bags, groups = kinds.shape[:3]
    _, said, one, both = kinds.transpose(3, 0, 2, 1)
    out = np.empty((3 * width + 1, groups + 1, bags), dtype=np.int64)
    out[:width, :-1], out[width, :-1] = one + both, size.T
    out[width + 1 : 2 * width + 1, :-1], out[2 * width + 1 :, :-1] = said + both, both
    np.sum(out[:, :-1], axis=1, out=out[:, -1])
    table = out.transpose()
    return _pair_arrays(table[..., : width + 1], table[..., width + 1 :], width)


def _pair_arrays(true: Any, held: Any, width: int) -> tuple[dict[str, Any], Count]:
    margins = true[:, -1:, -1:], true[:, :-1, -1:], true[:, -1:, :-1], held[:, -1:, :width]
    joints = true[:, :-1, :-1], held[:, :-1, :width], held[:, :-1, width:]
    return dict(zip(PAIR, (*margins, *joints), strict=True)), total(held[:, -1, width:])


def joint_tables(
    left: LabelSet, right: LabelSet, weights: Weights = None, bag: Index | None = None, bags: int = 1
) -> dict[str, Any]:
    """The arrays of joint counts by bag, of shape (bags, left labels or 1, right labels or 1)."""
    table = _tables(left, (right,), weights, bag, bags, None)[0]
    arrays = table[:, -1:, -1:], table[:, :-1, -1:], table[:, -1:, :-1], table[:, :-1, :-1]
    return dict(zip(JOINT, arrays, strict=True))


def chunks(records: int, width: int = 1, most: int = _PRODUCT) -> list[tuple[int, int]]:
    """Cut records, at least into one chunk, so that a chunk fits in cache, narrower for wide labels."""
    size = max(256, min(most, (1 << 21) // max(width, 1)))
    return [(start, min(start + size, records)) for start in range(0, max(records, 1), size)]


def add_up(parts: Iterable[Sequence[Count]]) -> list[Count]:
    """The sums of several counts over the chunks of records."""
    sums: list[Count] = []
    for part in parts:
        sums = [add(one, two) for one, two in zip(sums, part, strict=True)] if sums else list(part)
    return sums


def worth_compiling(labels: int, accelerate: bool | None) -> bool:
    """Whether so many labels are counted in numba: where it is installed and pays, or as the caller says."""
    if accelerate is not None:
        return accelerate
    return labels >= _WORTH_COMPILING and find_spec("numba") is not None


def _tables(
    left: LabelSet,
    sides: Sequence[LabelSet],
    weights: Weights,
    bag: Index | None,
    bags: int,
    accelerate: bool | None,
    by_row: bool = True,
) -> list[Count]:
    """Tables (bags, left labels and everyone, columns): of the first side and one, then of the second and of both."""
    width = sides[0].width
    hard = not any(labels.soft for labels in (left, *sides))
    plain = hard and weights is None
    by_code = _by_code(left, sides, bag, bags) if plain and len(sides) > 1 else None
    if by_code is not None:
        by_code = np.ascontiguousarray(by_code) if by_row else by_code
        return [by_code[..., : width + 1], by_code[..., width + 1 :]]
    by_score = _by_score(left, sides, bag, bags) if weights is None else None
    if by_score is not None:
        return by_score
    if bag is None:
        plain = plain and len(sides) > 1 and width >= _WORTH_ADDING and _few_held(left)
    compiled = plain and worth_compiling(len(left) * width, accelerate)
    rare = hard and bag is not None and not compiled and all(_rarely_held(labels) for labels in sides)
    if rare or (hard and max(left.width, width) > WIDE):
        found = [_listed(left, sides, weights, bag, bags, accelerate)]
    elif compiled:
        found = [_compiled(left, sides, bag, bags)]
    elif plain and bag is None:
        # Rows that are gathered should stay in cache.
        found = add_up([_added(left, sides, *rows)] for rows in chunks(len(left), 1, _BAGGED))
    else:
        found = _products(left, sides, weights, bag, bags, hard)
    # Products of chances have a column for each label of both sides.
    cut = left.width + 1 if left.soft and bag is not None else 1
    found = [_shaped(table, bags, left.width + 1, table.shape[-1] // cut) for table in found]
    return found if len(found) > 1 else [found[0][..., : width + 1], found[0][..., width + 1 :]]


def _by_code(left: LabelSet, sides: Sequence[LabelSet], bag: Index | None, bags: int) -> Index | None:
    """As :func:`_compiled` where a record's labels are one code, or columns that lie together; None for all others."""
    codes, (one, held) = _codes(left), (_codes(side) for side in sides)
    groups, width = left.width + 1, sides[0].width
    if codes is None:
        given = _columns(left)
        if bag is None or given is None or one is None or held is None:
            return None
        if not coded.worth_coding(bags * (width + 1) ** 2, len(left)):
            return None
        return coded.pairs_given_columns(bag, bags, given, one, held, width)
    columns = [_columns(side) for side in sides]
    in_codes, in_columns = (
        one is not None and held is not None,
        bag is not None and all(column is not None for column in columns),
    )
    if bags * groups * min(width + 1, 4) > _MOST_CODED or not (in_codes or in_columns):
        return None
    # Records without a given label are in the totals alone.
    each = not len(codes) or codes.min() >= 0
    many = left.width if each else groups
    place = codes if each else np.where(codes < 0, left.width, codes)
    if bag is not None:
        place = place * bags + bag
    if one is not None and held is not None:
        table = coded.pairs_of_codes(place, bags * many, one, held, width)
    else:
        table = coded.pairs_of_columns(place, bags * many, *(column for column in columns if column is not None))
    by_group = table.T.reshape(3 * width + 1, many, bags)
    out = np.empty((3 * width + 1, groups, bags), dtype=np.int64)
    out[:, :-1] = by_group[:, : left.width]
    np.sum(by_group, axis=1, out=out[:, -1])
    return out.transpose()


def scored_places(given: LabelSet, truth: LabelSet, scores: LabelSet) -> Index | None:
    """The given label of each record where all have one, the truth is hard and predictions are scores; else None."""
    codes = _codes(given)
    if codes is None or truth.soft or not scores.soft or not len(codes) or not scored.fits(len(codes)):
        return None
    return codes if codes.min() >= 0 and not truth.missing and not scores.missing else None


def _by_score(left: LabelSet, sides: Sequence[LabelSet], bag: Index | None, bags: int) -> list[Count] | None:
    """The tables of records of one given label each whose predictions are scores; None for all others."""
    codes = None if len(sides) < 2 else scored_places(left, *sides)
    if codes is None or not coded.worth_coding(2 * bags * left.width, len(left)):
        return None
    place = codes if bag is None else bag * left.width + codes
    found: list[Count] = []
    for table in scored.scored_pairs(place, bags * left.width, *(side.rows() for side in sides)):
        by_group = _shaped(table, bags, left.width, table.shape[-1])
        everyone = (
            by_group.each(lambda part: part.sum(axis=1, keepdims=True))
            if isinstance(by_group, Fixed)
            else by_group.sum(axis=1, keepdims=True)
        )
        found.append(concatenate([by_group, everyone], axis=1))
    return found


def _codes(labels: LabelSet) -> Index | None:
    """The code of each record where labels are one variable of one category."""
    block = labels.blocks[0]
    return block.codes if len(labels.blocks) == 1 and isinstance(block, Codes) else None


def _columns(labels: LabelSet) -> NDArray[np.uint8] | None:
    """Yes/no labels whose columns lie together, of shape (labels, records); None where records do."""
    block = labels.blocks[0]
    if len(labels.blocks) > 1 or not isinstance(block, Dense) or not block.values.flags.f_contiguous:
        return None
    return block.values.T


def _few_held(labels: LabelSet) -> bool:
    """Whether a record holds few labels, so that adding its row for each of them is cheap."""
    if labels.width <= _FEW_LABELS or labels.exclusive:
        return True
    return len(labels.nonzero(0, _SAMPLE)[0]) <= _FEW_LABELS * min(_SAMPLE, len(labels))


def _rarely_held(labels: LabelSet) -> bool:
    """Whether a record holds so small a share of the labels that they are listed instead of laid out in a matrix."""
    return _RARE * len(labels.nonzero(0, _SAMPLE)[0]) <= labels.width * min(_SAMPLE, len(labels))


def _added(left: LabelSet, sides: Sequence[LabelSet], start: int, stop: int) -> NDArray[np.int64]:
    one, held = (side.rows(start, stop) for side in sides)
    return row_sums(left.nonzero(start, stop), left.width, one, held, left.exclusive)


def _products(
    left: LabelSet, sides: Sequence[LabelSet], weights: Weights, bag: Index | None, bags: int, hard: bool
) -> list[Count]:
    """As matrix products, whatever the labels; all columns in one table where they are of one kind."""
    groups = left.width + 1
    width = left.width + (2 * len(sides) - 1) * sides[0].width
    cut = chunks(len(left), width)
    if bag is not None:
        # Chances of both sides are multiplied pair by pair.
        cut = chunks(len(left), groups * (sides[0].width + 1) // 2 if left.soft else 1, _BAGGED)

    def part(start: int, stop: int) -> list[Count]:
        own = None if weights is None else weights[start:stop]
        rows = [side.rows(start, stop) for side in sides]
        first = [rows[0], np.ones((stop - start, 1), dtype=rows[0].dtype)]
        second = [rows[1], rows[0] * rows[1]] if len(rows) > 1 else []
        lots = [first, second] if second and not hard else [first + second]
        columns = [np.concatenate(lot, axis=1) for lot in lots]
        if bag is None:
            given = _and_one(left.rows(start, stop))
            return [cross.by_product(given, side, own) for side in columns]
        if left.soft:
            given = _and_one(left.rows(start, stop))
            columns = [(given[:, :, None] * side[:, None, :]).reshape(stop - start, -1) for side in columns]
            return [cross.sums_by(bag[start:stop], bags, side, own) for side in columns]
        row, key = _held_in_bags(left, bag, start, stop)
        return [cross.sums_by(key, bags * groups, side, own, row) for side in columns]

    return add_up(part(start, stop) for start, stop in cut)


def _and_one(rows: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([rows, np.ones((len(rows), 1), dtype=rows.dtype)], axis=1)


def _held_in_bags(labels: LabelSet, bag: Index | None, start: int, stop: int) -> tuple[Index, Index]:
    """Row and (bag, label) of every label held, and for every record a last label that all hold."""
    row, label = labels.nonzero(start, stop)
    here = np.zeros(stop - start, dtype=np.int64) if bag is None else bag[start:stop] * (labels.width + 1)
    rows = np.concatenate([row, np.arange(stop - start)])
    return rows, np.concatenate([here[row] + label, here + labels.width])


def _shaped(table: Count, *shape: int) -> Count:
    if isinstance(table, Fixed):
        return table.each(lambda part: part.reshape(shape))
    return table.reshape(shape)


def _compiled(left: LabelSet, sides: Sequence[LabelSet], bag: Index | None, bags: int) -> NDArray[np.int64]:
    """As :func:`_products` for hard unweighted labels, in numba; the columns of all tables side by side."""
    from .kernels.compiled_bags import add_to_bags

    table = np.zeros((bags, left.width + 1, 3 * sides[0].width + 1), dtype=np.int64)
    everyone = False
    for start, stop in chunks(len(left), 1, _LISTED):
        one, held = (np.ascontiguousarray(side.rows(start, stop)) for side in (sides[0], sides[-1]))
        row, label = left.nonzero(start, stop)
        # Records with one given label each are all in the totals of these labels.
        each = len(row) == stop - start and (left.exclusive or np.array_equal(row, np.arange(stop - start)))
        if not each and not everyone:
            table[:, -1] = table[:, :-1].sum(axis=1)
            everyone = True
        if everyone:
            row = np.concatenate([row, np.arange(stop - start)])
            label = np.concatenate([label, np.full(stop - start, left.width)])
        mine = np.zeros(0, dtype=np.int64)
        if bag is not None:
            # Records of one bag together, so that its counts stay in cache.
            order = np.argsort(bag[start:stop][row].astype(np.uint16), kind="stable")
            row, label = row[order], label[order]
            mine = bag[start:stop][row]
        add_to_bags(row, label, mine, one, held, table)
    if not everyone:
        table[:, -1] = table[:, :-1].sum(axis=1)
    return table


def _listed(
    left: LabelSet, sides: Sequence[LabelSet], weights: Weights, bag: Index | None, bags: int, accelerate: bool | None
) -> Count:
    """As :func:`_compiled` for many labels of which a record has few."""
    width = sides[0].width
    shape = (bags * (left.width + 1), width)
    whole = weights is None or (weights.dtype.kind != "f" and float(weights.sum()) < EXACT)
    few = whole and shape[0] <= _FEW_COLUMNS

    def part(start: int, stop: int) -> Count:
        own = None if weights is None else weights[start:stop]
        rows, keys = _held_in_bags(left, bag, start, stop)
        held = [side.nonzero(start, stop) for side in sides]
        if few and own is None and len(held) == 2 and worth_compiling(len(held[0][0]), accelerate):
            return _in_loops(rows, keys, held, (stop - start, *shape))
        if few:
            return _in_columns(
                rows, keys, [cross.indicator(side, (stop - start, width)) for side in held], shape[0], own
            )
        if len(held) > 1:
            held.append(cross.held_by_both(held[0], held[1], width))
        order = np.argsort(rows, kind="stable")
        mine = rows[order], keys[order]
        parts = [cross.by_listing(mine, side, shape, own) for side in held]
        parts.insert(1, cross.marginal(mine, shape[0], own)[:, None])
        return concatenate(parts, axis=1)

    return add_up([part(*rows)] for rows in chunks(len(left), 1, _LISTED))[0]


def _in_columns(rows: Index, keys: Index, sides: list[Any], many: int, weights: Weights) -> Index:
    """The sums of :func:`_listed` for a few keys: a column each, added up for every label held, exactly."""
    columns = np.zeros((sides[0].shape[0], many))
    columns[rows, keys] = 1.0 if weights is None else weights[rows]
    matrices = [*sides, sides[0].multiply(sides[1])] if len(sides) > 1 else sides
    sums = [(matrix.T @ columns).T for matrix in matrices]
    sums.insert(1, columns.sum(axis=0)[:, None])
    return np.concatenate(sums, axis=1).astype(np.int64)


def _in_loops(rows: Index, keys: Index, held: list[cross.Held], shape: tuple[int, int, int]) -> Index:
    """As :func:`_in_columns` for two sides without weights, in numba."""
    from .kernels.compiled_listing import add_listed

    records, many, width = shape
    columns = np.zeros((records, many), dtype=bool)
    columns[rows, keys] = True
    table = np.zeros((3 * width + 1, many), dtype=np.int64)
    add_listed(columns, *held[0], *held[1], table)
    return np.ascontiguousarray(table.T)


def _masked(evaluation: Evaluation, bag: Index | None, bags: int) -> tuple[dict[str, Any], Count]:
    """Records with a missing label are left out of that pair alone, so every pair has its own totals."""
    groups, width = evaluation.given.width, evaluation.truth.width

    def part(start: int, stop: int) -> list[Count]:
        given, one, held, here, there = present_rows(evaluation, start, stop)
        own = None if evaluation.weights is None else evaluation.weights[start:stop]
        both = one * held
        sides = [np.concatenate(columns, axis=1) for columns in ([there, one], [held, both])]
        agreeing = cross.by_product(np.ones((stop - start, 1), dtype=np.uint8), both, own)
        if bag is None:
            return [agreeing, *(cross.by_product(left, side, own) for left in (here, given) for side in sides)]
        sums = []
        for left in (here, given):
            row, label = np.nonzero(left)
            keys = bag[start:stop][row] * groups + label
            sums += [cross.sums_by(keys, bags * groups, side, own, row) for side in sides]
        return [agreeing, *sums]

    cut = chunks(len(evaluation), groups + 3 * width) if bag is None else chunks(len(evaluation), 1, _BAGGED)
    agreeing, *sums = add_up(part(start, stop) for start, stop in cut)
    known, known_held, true, held = (_shaped(table, bags, groups, 2 * width) for table in sums)
    margins = known[..., :width], true[..., :width], known[..., width:], known_held[..., :width]
    joints = true[..., width:], held[..., :width], held[..., width:]
    return dict(zip(PAIR, (*margins, *joints), strict=True)), total(agreeing)


def present_rows(evaluation: Evaluation, start: int, stop: int) -> tuple[Any, Any, Any, Any, Any]:
    """Given, truth and prediction of some records, 0 where missing, and which given and outcome labels are known."""
    given = evaluation.given.rows(start, stop)
    one, held = evaluation.truth.rows(start, stop), evaluation.predicted.rows(start, stop)
    here = evaluation.given.present(start, stop)
    there = np.ones(one.shape, dtype=bool)
    for labels in (evaluation.truth, evaluation.predicted):
        mask = labels.present(start, stop)
        if mask is not None:
            there &= mask
    here = np.ones(given.shape, dtype=np.uint8) if here is None else here.astype(np.uint8)
    mark = there.astype(np.uint8)
    return given * here, one * mark, held * mark, here, mark
