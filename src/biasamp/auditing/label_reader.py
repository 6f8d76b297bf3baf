"""The columns of each role as labels: of all records at once, or of a batch in the label space of the whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification.mals_sample import MalsSample
from biasamp.counts.signed_sums import Block, SecondLook, SignedSums, look_at
from biasamp.data import Codes, Evaluation, LabelSet, Variable, align, label_set, refuse_missing
from biasamp.data.column_checks import RoleOf, check_columns_alone
from biasamp.data.keys import Keys, row_keys
from biasamp.data.label import Mask
from biasamp.data.labelset import has_own_order
from biasamp.data.scores import USUAL, Strata, decide, read_strata, refuse_other_scales
from biasamp.data.vocabulary import one_space
from biasamp.data.ways_out import way_out

from .plan import Plan, Spec
from .source import Source

# Between the groups of a crossing; more combinations than this are put in order by their text.
_JOIN = " & "
_MOST_CROSSED = 100_000


@dataclass(frozen=True, eq=False)
class Subject:
    """One protected attribute with the tasks, in one label space each."""

    attribute: str
    A: LabelSet
    T: LabelSet
    A_pred: LabelSet | None
    T_pred: LabelSet | None
    A_train: LabelSet | None = None
    T_train: LabelSet | None = None
    A_scores: LabelSet | None = None
    T_scores: LabelSet | None = None
    strata: Strata | None = None

    def scores(self, direction: str) -> LabelSet | None:
        """The scores that predictions of a direction were decided from, where they are known."""
        return self.T_scores if direction == "A->T" else self.A_scores

    def sides(self, direction: str) -> tuple[LabelSet, LabelSet, LabelSet | None]:
        """Given, truth and predicted labels of a direction; None where there are no predictions."""
        return (self.A, self.T, self.T_pred) if direction == "A->T" else (self.T, self.A, self.A_pred)

    def evaluation(self, direction: str, *more: Any) -> Evaluation:
        """The labels of a direction that has predictions, with the weights and keys of the records."""
        given, truth, predicted = self.sides(direction)
        assert predicted is not None
        return Evaluation(given, truth, predicted, *more)


@dataclass(frozen=True, eq=False)
class AuditRecords:
    """The records of an audit in memory: what needs more of them than counts looks here.

    Attributes
    ----------
    subjects : sequence of Subject
    weights, ids, clusters : ndarray of shape (records,), optional
    """

    subjects: Sequence[Subject]
    weights: NDArray[Any] | None = None
    ids: Keys | None = None
    clusters: Keys | None = None

    def evaluation(self, number: int, direction: str) -> Evaluation:
        """The records of a subject, in the order of their ids where they have any.

        Sums of fractions depend on the order of their addends, and must not on that of a file's rows.
        """
        held = self.subjects[number].evaluation(direction, self.weights, self.ids, self.clusters)
        return held if self.ids is None else held.take(np.argsort(self.ids))

    def scored(self, number: int, direction: str) -> Evaluation:
        """The records of a subject with scores as predictions, in the same order."""
        subject = self.subjects[number]
        scores = subject.scores(direction)
        assert scores is not None
        given, truth, _ = subject.sides(direction)
        held = Evaluation(given, truth, scores, self.weights, self.ids, self.clusters)
        return held if self.ids is None else held.take(np.argsort(self.ids))

    def decided(self, number: int, direction: str) -> LabelSet | None:
        """The decisions of a subject, in the same order as its scores."""
        _, _, made = self.subjects[number].sides(direction)
        return made if made is None or self.ids is None else made.take(np.argsort(self.ids))

    def train(self, number: int, direction: str) -> tuple[LabelSet, LabelSet] | None:
        """Train labels as (given, truth)."""
        A, T = self.subjects[number].A_train, self.subjects[number].T_train
        if A is None or T is None:
            return None
        return (A, T) if direction == "A->T" else (T, A)

    def mals_sample(self, number: int, against_truth: bool, kept: tuple[Mask, Mask]) -> MalsSample:
        """What MALS looks at: the records of a subject that have all labels, of which some are kept."""
        subject = self.subjects[number]
        assert subject.A_pred is not None
        assert subject.T_pred is not None
        sides = [subject.A, subject.T, subject.A_pred, subject.T_pred]
        keep = np.logical_and.reduce([labels.complete() for labels in sides])
        A, T, A_pred, T_pred = (labels.take(keep).only(kept[side % 2]) for side, labels in enumerate(sides))
        units = row_keys(0, len(keep)) if self.ids is None else self.ids
        units = (units if self.clusters is None else self.clusters)[keep]
        weights = None if self.weights is None else self.weights[keep]
        truth = (A, T) if against_truth else None
        return MalsSample((A_pred, T_pred), truth, weights, units, self.clusters is not None)

    @property
    def records(self) -> AuditRecords:
        """All records, which are at hand."""
        return self

    def look(self, number: int, direction: str, kept: tuple[Mask, Mask], asked: SecondLook) -> SignedSums:
        """A second look at the records of a subject, of which some labels are kept."""
        return look_at((Block(self.evaluation(number, direction).only(*kept)),), asked)


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads the columns of each role into labels.

    Attributes
    ----------
    plan : Plan
    spaces : tuple of Subject
        Subjects in the label space of the whole, where batches of it are read; else that of the records is taken.
    truths : tuple of LabelSet
        With ``spaces``: the true labels of the tasks and of the attributes, before predictions were seen: they
        decide how predictions are read.
    lead : str
        What stands before the name of a role in messages.
    records : int, optional
        How many records there are, where those that are read are made up to have the labels of all.
    declared : tuple of tuples of Variable
        Of the tasks and of the attributes, variables whose values are known from elsewhere.
    """

    plan: Plan
    spaces: tuple[Subject, ...] = ()
    truths: tuple[LabelSet, ...] = ()
    lead: str = ""
    records: int | None = None
    declared: tuple[tuple[Variable, ...], ...] = ()

    def subjects(self, source: Source, train: Source | None = None) -> list[Subject]:
        """One subject for each attribute, and one for their crossing."""
        plan = self.plan
        scored = plan.group_scores or (None,) * len(plan.groups)
        roles = [("task", (plan.task, plan.task_prediction, plan.task_scores))]
        specs = zip(plan.groups.values(), plan.group_predictions, scored, strict=True)
        roles += [("attribute", held) for held in specs]
        spaces = [self.spaces[0].T, *(subject.A for subject in self.spaces)] if self.spaces else []
        sides = []
        for (role, held), space, like, declared in zip_longest(roles, spaces[: len(roles)], self.truths, self.declared):
            names = _names(role, self.lead)
            with source.rows_known():
                truth, predicted, scores = self._read(source, role, held, space, like)
            known = None
            if train is not None:
                known = read_labels(train, held[0], names[2], plan.missing, identifiers=True)
            if space is None:
                options: dict[str, Any] = {"declared": declared or (), "counted": self.records is None}
                placed = one_space(truth, predicted, known, names, unseen=plan.unseen, **options)
            else:
                placed = truth, predicted, known
            scores = None if scores is None else into_space(scores, placed[0], f"{role}_scores")
            sides.append((*_where_scored(*placed, scores), scores))
        (T, T_pred, T_train, T_scores), *groups = sides
        with source.rows_known():
            strata = self._strata(source)
        if strata is not None and (strata.codes < 0).any():
            # What changes inside strata adds up to what changes in all: one that has no stratum is in neither.
            T = T.where(np.repeat(strata.codes[:, None] >= 0, T.width, axis=1))
        out = [
            Subject(name, A, T, A_pred, T_pred, A_train, T_train, A_scores, T_scores, strata)
            for name, (A, A_pred, A_train, A_scores) in zip(plan.groups, groups, strict=True)
        ]
        return [*out, self._crossed(out)] if plan.intersections else out

    def _read(
        self,
        source: Source,
        role: str,
        specs: tuple[Spec, Spec | None, Spec | None],
        space: LabelSet | None,
        like: LabelSet | None,
    ) -> tuple[LabelSet, LabelSet | None, LabelSet | None]:
        """Truth, predictions and scores of a role; decisions are made of scores where no predictions are named."""
        missing, names = self.plan.missing, _names(role, self.lead)
        spec, predictions, score = specs
        truth = read_labels(source, spec, names[0], missing, space=space, records=self.records)
        like = truth if like is None else like
        predicted = None
        if predictions is not None:
            predicted = read_labels(source, predictions, names[1], missing, like=like, space=space)
        if score is None:
            return truth, predicted, None
        if predicted is not None and predicted.soft:
            raise ValueError(
                f"{names[1]} holds probabilities, and {role}_scores is given too: predictions are what was decided, "
                "scores what it was decided from. Are the two swapped? Give 0/1 or categories as predictions"
            )
        refuse_other_scales(score.columns(source), f"{role}_scores")
        scores = read_labels(source, score, f"{role}_scores", "drop", like=like)
        if missing != "drop":
            refuse_missing({f"{role}_scores": scores}, way_out("missing scores"))
        if predicted is None:
            predicted = decide(scores, USUAL, highest=score.declared == "categorical")[0]
            predicted = predicted if space is None else into_space(predicted, space, names[1])
        return truth, predicted, scores

    def _strata(self, source: Source) -> Strata | None:
        if self.plan.strata is None:
            return None
        columns = self.plan.strata.columns(source)
        known = self.spaces[0].strata if self.spaces else None
        if known is None:
            return read_strata(columns, None, records=self.records, missing=self.plan.missing)
        records = len(columns) * len(known.names)
        return read_strata(columns, None, records=records, missing=self.plan.missing).like(known, "strata")

    def _crossed(self, subjects: list[Subject]) -> Subject:
        names = [subject.attribute for subject in subjects]
        known = self.spaces[-1].A.variables[0].categories if self.spaces else None
        predicted = [s.A_pred for s in subjects]
        if self.spaces[-1].A_pred is None if self.spaces else any(p is not None and p.soft for p in predicted):
            predicted = []
        sets = [s.A for s in subjects], predicted, [s.A_train for s in subjects]
        A, A_pred, A_train = (
            crossing(present, names, known)
            if len(present := [one for one in each if one is not None]) == len(subjects)
            else None
            for each in sets
        )
        assert A is not None
        if known is None:
            # Combinations of known values are no other vocabulary, whichever occur.
            A, A_pred, A_train = one_space(A, A_pred, A_train, _names("attribute"), checked=False)
        first = subjects[0]
        scored: dict[str, Any] = {"T_scores": first.T_scores, "strata": first.strata}
        return Subject(" x ".join(names), A, first.T, A_pred, first.T_pred, A_train, first.T_train, **scored)


def _where_scored(
    truth: LabelSet, predicted: LabelSet | None, train: LabelSet | None, scores: LabelSet | None
) -> tuple[LabelSet, LabelSet | None, LabelSet | None]:
    """Labels that are missing where their scores are: the parts of a value are of the same records as the value."""
    there = None if scores is None else scores.present()
    if there is None:
        return truth, predicted, train
    return truth.where(there), None if predicted is None else predicted.where(there), train


def _names(role: str, lead: str = "") -> tuple[str, str, str]:
    return f"{lead}{role}s", f"{role}_predictions", f"train {role}s"


def read_labels(
    source: Source,
    spec: Spec,
    role: str,
    missing: str,
    *,
    like: LabelSet | None = None,
    space: LabelSet | None = None,
    identifiers: bool = False,
    records: int | None = None,
) -> LabelSet:
    """The labels of some columns, under the policy for missing ones.

    Predictions are read ``like`` their truth and may be probabilities. Those of a batch are put into the ``space`` of
    the whole. Columns that look like ``identifiers`` are refused unless they are let through; ``records`` is how many
    there are where these stand for more.
    """
    columns = spec.columns(source)
    labels = label_set(columns, role, soft=like is not None, like=like)
    # A model that never predicts a label has those of the truth; a column without any value has none.
    if space is None and not labels.width and (like is None or not labels.complete().any()):
        raise ValueError(f"{role} column {spec.title!r} holds no label: every value is missing")
    if space is None:
        side: RoleOf = "groups" if role.endswith("attributes") else "outcomes"
        side = "predictions" if like is not None else "other" if identifiers else side
        check_columns_alone(labels, columns, role, side, records=records, like=like)
    if missing == "error":
        refuse_missing({role: labels}, way_out("missing labels"))
    elif missing == "negative":
        labels = labels.without_missing()
    if space is None:
        return labels
    return into_space(labels, space, role, "the data changed while it was counted")


def into_space(
    labels: LabelSet, space: LabelSet, role: str, why: str = "truth and predictions have none of them"
) -> LabelSet:
    """Labels in the label space of others, which must have all of them."""
    _, placed = align([space, labels], [role, role])
    if placed.variables != space.variables:
        raise ValueError(f"{role} holds labels that were not there at first: {why}")
    return placed


def crossing_order(crossed: Collection[str], categories: Sequence[Sequence[str]]) -> list[str]:
    """Combinations of categories as they are listed: as text, or as categories are where a caller declared an order.

    >>> crossing_order(["old & f", "young & f"], [("young", "old"), ("f", "m")])
    ['young & f', 'old & f']
    """
    place: dict[str, int] = {}
    if any(has_own_order(held) for held in categories) and prod(map(len, categories)) <= _MOST_CROSSED:
        place = {_JOIN.join(one): number for number, one in enumerate(product(*categories))}
    return sorted(set(crossed), key=lambda text: (place.get(text, 0), text))


def crossing(sets: Sequence[LabelSet], names: Sequence[str], categories: Sequence[str] | None = None) -> LabelSet:
    """The crossing of variables: one category for every combination that occurs, such as ``woman & Black``.

    With ``categories`` the combinations are these, whichever occur here.
    """
    blocks = [labels.blocks[0] for labels in sets]
    held = [block for block in blocks if isinstance(block, Codes)]
    if len(held) < len(blocks):
        raise ValueError("intersections cross attributes of one category a record; yes/no sets have none")
    texts = [block.variables[0].categories for block in held]
    distinct, place = np.unique(np.column_stack([block.codes for block in held]), axis=0, return_inverse=True)
    joined = [
        None if min(row) < 0 else _JOIN.join(texts[i][code] for i, code in enumerate(row)) for row in distinct.tolist()
    ]
    known = list(categories or crossing_order([text for text in joined if text is not None], texts))
    number = {text: i for i, text in enumerate(known)}
    target = np.array([-1 if text is None else number[text] for text in joined], dtype=np.int64)
    variable = Variable(" x ".join(names), "categorical", tuple(known))
    return LabelSet((Codes((variable,), target[place.reshape(-1)], all(block.sparse for block in held)),))
