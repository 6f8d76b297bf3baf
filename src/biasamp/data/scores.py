"""Scores, the decisions that thresholds make of them, and strata: the arguments of a decomposition, read and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .argument_columns import read_columns
from .arguments import read, read_clusters, read_evaluation, read_train, refuse_missing, warn_of_one_value
from .column_checks import check_columns_alone, refuse_identifiers
from .columns import Column, Columns, Declared, IndexMatrix, compact, within_0_1
from .label import Apart, Block, Codes, Dense, Index, Mask, Variable, canonical, category_order, printable
from .label_rules import column_title, label_set
from .labelset import Evaluation, LabelSet
from .plain_arguments import array_of, shown
from .row_numbers import row_numbers
from .same_columns import refuse_same, same_index
from .spelling import another_spelling, mistaken_for
from .vocabulary import one_space
from .ways_out import way_out

# The threshold that is meant where none is named.
USUAL = 0.5
_YES_NO = ("0", "1")
# The threshold that a search gives where nobody is best decided positive.
_NOBODY = float(np.nextafter(1.0, np.inf))
# How decisions follow from scores where the caller gave both.
GIVEN_DECISIONS = "the decisions given as predicted"
# Crossed strata are named by what they cross.
CROSSED = " x "


@dataclass(frozen=True, eq=False)
class Strata:
    """The stratum of each record.

    Attributes
    ----------
    name : str
    names : tuple of str
        What the strata are called.
    codes : ndarray of shape (records,)
        The place of each record's stratum among them; -1 where it is missing.
    """

    name: str
    names: tuple[str, ...]
    codes: Index

    def __len__(self) -> int:
        return len(self.codes)

    def like(self, other: Strata, argument: str) -> Strata:
        """These strata by the names of others, which must know all of them."""
        place = {name: i for i, name in enumerate(other.names)}
        strange = [name for name in self.names if name not in place]
        again = another_spelling(strange, other.names)
        if again:
            raise ValueError(f"{argument} and strata spell their strata differently{again}. Spell them alike")
        if strange and len(strange) == len(self.names):
            raise ValueError(
                f"{argument} has none of the strata of strata, such as {printable(other.names[0], 40)!r}; it has "
                f"{printable(self.names[0], 40)!r}. Are these the columns that were meant? Spell their values alike"
            )
        target = np.array([place.get(name, -1) for name in self.names], dtype=np.int64)
        return Strata(self.name, other.names, np.append(target, -1)[self.codes])

    def with_names_of(self, other: Strata) -> Strata:
        """The same strata, and those that only others have."""
        return Strata(self.name, (*self.names, *(name for name in other.names if name not in self.names)), self.codes)


@dataclass(frozen=True, eq=False)
class Scored:
    """Records with scores and with the decisions that were made of them, in one label space.

    Attributes
    ----------
    scored, decided : Evaluation
        The same records, with scores and with decisions as predictions.
    train : pair of LabelSet, optional
    invented : LabelSet, optional
        Labels that only decisions have.
    rule : str
        How decisions follow from scores, in words.
    strata, train_strata, base_strata : Strata, optional
    base : the argument without its strata
    """

    scored: Evaluation
    decided: Evaluation
    train: tuple[LabelSet, LabelSet] | None
    invented: LabelSet | None
    rule: str
    strata: Strata | None = None
    train_strata: Strata | None = None
    base: Any = None
    base_labels: tuple[LabelSet, LabelSet, Strata] | None = None

    @property
    def margin(self) -> Evaluation:
        """The same records, decisions as predictions of the scores."""
        return replace(self.decided, truth=self.scored.predicted)

    def only(self, given: Mask, outcome: Mask) -> Scored:
        """The same records with some of the labels."""
        return replace(self, scored=self.scored.only(given, outcome), decided=self.decided.only(given, outcome))


def read_scored(
    given: Any,
    truth: Any,
    scores: Any,
    *,
    threshold: Any = USUAL,
    predicted: Any = None,
    strata: Any = None,
    train: Any = None,
    base: Any = None,
    weights: Any = None,
    cluster: Any = None,
) -> Scored:
    """Read the arguments of :func:`biasamp.decompose`; whatever is wrong is refused here."""
    sides = {"given": given, "truth": truth, "scores": scores, "predicted": predicted, "strata": strata}
    same_index({name: side for name, side in {**sides, "weights": weights}.items() if side is not None})
    refuse_same({"given": given, "truth": truth, "scores": scores})
    true = read(truth, "truth", "outcomes")
    chances = read_chances(scores, true)
    if predicted is None:
        held = read(given, "given", "groups")
        if len(held) != len(chances):
            raise ValueError(f"given has {len(held):,} records and scores {len(chances):,}: they must be the same ones")
        most = isinstance(scores, Declared) and scores.kind == "categorical"
        decisions, rule = decide(chances, _by_task(threshold, chances, true), held, highest=most)
    else:
        if not _is_usual(threshold):
            raise ValueError("both threshold and predicted say how scores are decided: give one of them")
        decisions, rule = read(predicted, "predicted", soft=True, like=true), GIVEN_DECISIONS
        if decisions.soft:
            raise ValueError(
                "predicted holds probabilities, but it is what was decided: give 0/1 or categories, and the "
                "probabilities as scores"
            )
    train, known = _with_strata(train, strata, "train")
    base, based = _with_strata(base, strata, "base")
    scored, train_sets, _ = read_evaluation(
        given, true, chances, train, weights, names=("given", "truth", "scores"), compared=base is None
    )
    decided, _, invented = read_evaluation(given, true, decisions, train, weights, compared=base is None)
    if train is None and base is None:
        warn_of_one_value(decided.truth, "truth")
    clusters = read_clusters(cluster, len(decided), sides)
    layers = None if strata is None else read_strata(strata, len(decided))
    base_labels = None
    if based is not None:
        assert layers is not None
        theirs = read_strata(based, None, "base strata")
        placed = theirs.like(layers, "base")
        if -1 in placed.codes:
            layers = layers.with_names_of(theirs)
            placed = theirs.like(layers, "base")
        base_labels = (*_base_labels(base, decided), placed)
        _same_records("base", base_labels[0], base_labels[2])
    train_strata = None
    if known is not None and layers is not None:
        train_strata = read_strata(known, None, "train strata").like(layers, "train")
        assert train_sets is not None
        _same_records("train", train_sets[0], train_strata)
    return Scored(
        replace(scored, clusters=clusters),
        replace(decided, clusters=clusters),
        train_sets,
        invented,
        rule,
        layers,
        train_strata,
        base,
        base_labels,
    )


def _by_task(threshold: Any, scores: LabelSet, truth: LabelSet) -> Any:
    """Thresholds that name tasks as the truth does, by the names of the columns of scores, which stand in the same order."""
    theirs, mine = ([variable.name for variable in side.variables] for side in (truth, scores))
    if not isinstance(threshold, Mapping) or len(theirs) != len(mine) or set(theirs) & (set(mine) - {""}):
        return threshold
    named = dict(zip(theirs, mine, strict=True))

    def renamed(held: Mapping[Any, Any]) -> dict[Any, Any]:
        return {named.get(canonical(name), name): value for name, value in held.items()}

    if set(map(canonical, threshold)) <= set(named):
        return renamed(threshold)
    return {name: renamed(held) if isinstance(held, Mapping) else held for name, held in threshold.items()}


def _same_records(argument: str, labels: LabelSet, strata: Strata) -> None:
    if len(labels) != len(strata):
        raise ValueError(f"{argument} has {len(labels):,} records of labels and {len(strata):,} strata: one per record")


def _is_usual(threshold: Any) -> bool:
    return isinstance(threshold, (int, float)) and not isinstance(threshold, bool) and threshold == USUAL


def _with_strata(labels: Any, strata: Any, argument: str) -> tuple[Any, Any]:
    """A pair of labels, and its strata where there are three."""
    if not isinstance(labels, tuple) or len(labels) != 3:
        return labels, None
    if strata is None:
        raise ValueError(f"{argument} has strata but the evaluated records have none: give strata= too")
    return labels[:2], labels[2]


def _base_labels(base: Any, evaluation: Evaluation) -> tuple[LabelSet, LabelSet]:
    """The labels of a base in the label space of the evaluated records."""
    sides = zip((evaluation.given, evaluation.truth), read_train(base, ("given", "truth"), "base"), strict=True)
    placed = []
    for (mine, theirs), name in zip(sides, ("given", "truth"), strict=True):
        moved = one_space(mine, None, theirs, [name, "", f"base {name}"])[2]
        assert moved is not None
        placed.append(moved)
    return placed[0], placed[1]


def refuse_other_scales(columns: Columns, argument: str) -> None:
    """Refuse numbers that are no probabilities: percentages, points, log-odds.

    >>> refuse_other_scales(read_columns([54, 20, 77], "scores"), "scores")
    Traceback (most recent call last):
    ValueError: scores holds 54 (row 1, counted from 1 without the header) among numbers from 20 to 77: a score is the probability of 1. Divide percentages by 100, turn log-odds x into 1 / (1 + exp(-x)), and recode yes and no as 1 and 0
    """
    for item in columns.items:
        if isinstance(item, IndexMatrix) or not item.values.size or item.values.dtype.kind not in "iuf":
            continue
        if isinstance(item, Column) and item.kind not in ("int", "float"):
            continue
        if item.within_0_1 if isinstance(item, Column) else within_0_1(item.values):
            continue
        for column in [item] if isinstance(item, Column) else item.columns():
            _refuse_other_scale(column, argument)


def _refuse_other_scale(column: Column, argument: str) -> None:
    outside = ((column.values < 0) | (column.values > 1)) & ~column.gone
    if outside.any():
        row, there = int(outside.argmax()), column.values[~column.gone]
        raise ValueError(
            f"{argument}{column_title(column.name)} holds {column.values[row]:g} ({row_numbers([row])}) among numbers from "
            f"{there.min():g} to {there.max():g}: a score is the probability of 1. Divide percentages by 100, turn "
            "log-odds x into 1 / (1 + exp(-x)), and recode yes and no as 1 and 0"
        )


def read_chances(scores: Any, truth: LabelSet, argument: str = "scores") -> LabelSet:
    """Scores in [0, 1] of the labels of the truth."""
    if isinstance(scores, LabelSet):
        return scores
    columns = read_columns(scores, argument)
    refuse_other_scales(columns, argument)
    chances = label_set(columns, argument, soft=True, like=truth)
    refuse_missing({argument: chances}, "No threshold can place them: fill them in, or leave those records out.")
    for variable in chances.variables:
        if variable.kind == "multilabel" or (
            variable.kind == "categorical" and not chances.soft and not _zero_one(variable)
        ):
            found = (
                f"labels such as {printable(variable.categories[0], 30)!r}" if variable.categories else "empty lists"
            )
            raise ValueError(
                f"{argument} holds {found}, not scores: give P(1) in one "
                "column of a 0/1 truth, one column of probabilities per yes/no label, or class probabilities as "
                "biasamp.categorical(P, categories=[...])"
            )
    return chances


def _zero_one(variable: Variable) -> bool:
    return variable.kind == "categorical" and set(variable.categories) <= set(_YES_NO)


def decide(
    scores: LabelSet, threshold: Any, given: LabelSet | None = None, *, highest: bool = False
) -> tuple[LabelSet, str]:
    """What scores are decided to be, and the rule in words.

    A yes/no label, or the 1 of a 0/1 variable, holds where its score is at or above the threshold. Of several classes
    the one with the highest score holds, the first of them where scores are tied; with ``highest`` of two as well.
    """
    tasks = [variable.name for variable in scores.variables if _by_threshold(variable, highest)]
    if not tasks:
        if not _is_usual(threshold):
            raise ValueError(
                "threshold is given, but the scores are class probabilities, of which the highest decides: leave "
                "threshold out, give the decisions as predicted=, or P(1) alone as one column"
            )
        return LabelSet(tuple(_most_likely(block) for block in scores.blocks)), "the class with the highest score"
    table, rule = read_threshold(threshold, tasks, given)
    member = None
    if len(table) > 1:
        assert given is not None
        member = given.nonzero()[1]
    blocks: list[Block] = []
    first = 0
    for block in scores.blocks:
        many = sum(_by_threshold(variable, highest) for variable in block.variables)
        if not many:
            blocks.append(_most_likely(block))
            continue
        mine = table[:, first : first + many]
        first += many
        blocks.append(_at_or_above(block, mine[0] if member is None else mine[member]))
    return LabelSet(tuple(blocks)), rule


def _by_threshold(variable: Variable, highest: bool) -> bool:
    return variable.kind == "binary" or (not highest and _zero_one(variable))


def _at_or_above(block: Block, threshold: NDArray[np.float64]) -> Block:
    if isinstance(block, Apart):
        held_or_not = [part >= threshold[..., place] for place, part in enumerate(block.parts)]
        return Dense(block.variables, np.stack(held_or_not).view(np.uint8).T)
    values = block.rows(0, len(block))
    if block.variables[0].kind == "binary":
        return Dense(block.variables, np.ascontiguousarray((values >= threshold).astype(np.uint8)))
    (variable,) = block.variables
    one = values[:, variable.categories.index("1")] if "1" in variable.categories else np.zeros(len(block))
    held = one >= threshold.reshape(-1)
    return Codes((variable._replace(categories=_YES_NO),), held.astype(np.int64))


def _most_likely(block: Block) -> Codes:
    return Codes(block.variables, block.rows(0, len(block)).argmax(axis=1).astype(np.int64))


def read_threshold(threshold: Any, tasks: list[str], given: LabelSet | None = None) -> tuple[NDArray[np.float64], str]:
    """Thresholds as a table with a column for each task and one row, or a row for each group; and the rule in words."""
    groups = [] if given is None else [label.category or str(label) for label in given.labels]
    if not isinstance(threshold, Mapping):
        row = _numbers(threshold, len(tasks), "threshold")
        one = len(set(row.tolist())) == 1
        return row[None, :], f"a score of {row[0]:g} or more" if one else "a threshold for each task"
    named = {canonical(name): value for name, value in threshold.items()}
    by_task, by_group = (bool(names) and set(names) <= set(named) for names in (tasks, groups))
    if by_task and by_group:
        raise ValueError("threshold names labels that are both tasks and groups: rename the columns of one of them")
    if by_task:
        _refuse_strange(named, tasks, "tasks")
        row = _numbers([named[name] for name in tasks], len(tasks), "threshold")
        return row[None, :], "a threshold for each task"
    if not by_group:
        # An array has no names of tasks: then there are those of groups alone.
        of_tasks = f"one for each task ({_listed(tasks)}) or " if any(tasks) else ""
        raise ValueError(
            f"threshold has entries for {_listed(list(named))}; it takes {of_tasks}one for "
            f"each group ({_listed(groups)}){_meant((name for name in named if name not in {*tasks, *groups}), [*tasks, *groups])}"
        )
    _refuse_strange(named, groups, "groups")
    assert given is not None
    if not given.exclusive or given.missing or len(given.nonzero()[0]) != len(given):
        raise ValueError(
            "threshold differs by group, but a record may have several groups or none: give one column whose values are "
            "the groups, or the decisions as predicted="
        )
    rows = []
    for name in groups:
        value = named[name]
        if isinstance(value, Mapping):
            inner = {canonical(task): number for task, number in value.items()}
            if set(inner) != set(tasks):
                raise ValueError(
                    f"threshold[{name!r}] has entries for {_listed(list(inner))}; the tasks are {_listed(tasks)}"
                    + _meant((one for one in inner if one not in tasks), tasks)
                )
            value = [inner[task] for task in tasks]
        rows.append(_numbers(value, len(tasks), f"threshold[{name!r}]"))
    return np.stack(rows), "a threshold for each group"


def _refuse_strange(named: Mapping[str, Any], known: list[str], what: str) -> None:
    strange = [name for name in named if name not in known]
    if strange:
        raise ValueError(
            f"threshold names {_listed(strange)}, which are no {what}: these are {_listed(known)}{_meant(strange, known)}"
        )


def _meant(names: Iterable[str], known: Iterable[str]) -> str:
    """Which known name others are likely mistakes for, as a question; empty where there is none."""
    near = next(filter(None, (mistaken_for(name, known) for name in names)), None)
    return "" if near is None else f"; did you mean {printable(near, 30)!r}?"


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(printable(name, 30)) for name in names[:5])
    return (shown + (", …" if len(names) > 5 else "")) or "none"


def _numbers(value: Any, many: int, argument: str) -> NDArray[np.float64]:
    """One number for all tasks, or one for each."""
    try:
        numbers = array_of(value, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{argument} is {shown(value)}; a number such as 0.5 is needed, or one for each task") from None
    if isinstance(value, bool):
        raise TypeError(f"{argument} is {value!r}; a number such as 0.5 is needed")
    if numbers.ndim == 0:
        numbers = np.full(many, float(numbers))
    if numbers.shape != (many,):
        raise ValueError(f"{argument} has shape {numbers.shape}; give one number, or one for each of the {many} tasks")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{argument} holds {numbers[~np.isfinite(numbers)][0]}; a threshold is a finite number")
    outside = (numbers < 0.0) | (numbers > _NOBODY)
    if outside.any():
        raise ValueError(
            f"{argument} holds {numbers[outside][0]:g}, but scores lie from 0 to 1, and so do thresholds on them: divide "
            "percentages by 100. Where everybody or nobody is decided positive, give the decisions as predicted="
        )
    return numbers


def read_strata(
    strata: Any, count: int | None, argument: str = "strata", *, records: int | None = None, missing: str | None = None
) -> Strata:
    """The stratum of each record: one column of categories, or several that are crossed.

    ``records`` is how many records there are, where those that are read stand for more. Missing strata are let through
    where ``missing`` is ``"drop"``; any other policy of an audit is told of that one.
    """
    if isinstance(strata, Strata):
        return strata
    columns = read_columns(strata, argument)
    if columns.declared is None and not columns.single:
        columns = type(columns)(columns.apart(), False, "categorical")
    labels = label_set(columns, argument)
    check_columns_alone(labels, columns, argument, "other")
    if missing != "drop":
        alone = "Name a stratum for those too, such as 'unknown', or leave those records out."
        refuse_missing({argument: labels}, alone if missing is None else way_out("missing strata"))
    if count is not None and len(labels) != count:
        raise ValueError(f"{argument} has {len(labels):,} records, but there are {count:,}: one stratum per record")
    if any(variable.kind != "categorical" for variable in labels.variables):
        raise ValueError(f"{argument} holds lists or yes/no labels; a stratum is one category per record")
    made = crossed(labels)
    refuse_identifiers(Variable(made.name, "categorical", made.names), records or len(labels), argument, group=True)
    return made


def crossed(labels: LabelSet) -> Strata:
    """The combinations of categories that occur, as strata."""
    blocks = [block for block in labels.blocks if isinstance(block, Codes)]
    if len(blocks) == 1:
        variable = blocks[0].variables[0]
        single, used = compact(blocks[0].codes, variable.categories)
        return Strata(variable.name, used, single)
    each = np.column_stack([block.codes for block in blocks])
    cells, codes = np.unique(each, axis=0, return_inverse=True)
    names = [
        CROSSED.join(block.variables[0].categories[i] for block, i in zip(blocks, cell, strict=True))
        for cell in cells.tolist()
    ]
    order = sorted(range(len(names)), key=lambda i: [category_order(part) for part in names[i].split(CROSSED)])
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    name = CROSSED.join(block.variables[0].name for block in blocks)
    return Strata(name, tuple(names[i] for i in order), place[codes.reshape(-1)])
