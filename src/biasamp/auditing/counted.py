"""All metrics of one protected attribute, from counts alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification import directional, mals, multi
from biasamp.amplification.base import Base, read_base
from biasamp.amplification.parity_intervals import bag_resampled_rates
from biasamp.counts.audit_counts import MOST_COMBINATIONS, SubjectCounts
from biasamp.counts.bag_joints import whole_joint
from biasamp.counts.bags import BagCounts
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.joint import JointCounts
from biasamp.data import Codes, Dense, Evaluation, Label, LabelSet, Sparse, Variable
from biasamp.predictability import attack
from biasamp.resampling.aggregate import MOST_REPLICATED
from biasamp.resampling.samples import BagSample

from .audit_base import BaseSource
from .margins import Margins
from .metrics_of import FEW_TRIALS, NO_PARITY, TRIALS, Measured, Settings, lacking, parity_entries, run
from .plan import Plan

_FEW_BAGS = (
    "there are so many pairs that no resamples of them are kept: the aggregate has no interval, each pair has its own"
)
_ONE_RECORD = "there is one record only"
_NO_CLUSTERS = "combinations of labels do not tell clusters apart: there is no interval"


class Counted:
    """The counts of one protected attribute, as an audit sees them."""

    def __init__(self, counts: SubjectCounts, records: int, plan: Plan, base: BaseSource | None) -> None:
        self.counts, self.records, self.plan, self.base = counts, records, plan, base
        self.attribute = counts.attribute
        self.clustered = plan.cluster is not None

    @property
    def predicts_attribute(self) -> bool:
        """Whether the model predicts the attribute."""
        return "T->A" in self.counts.pairs

    @cached_property
    def sizes(self) -> dict[str, tuple[tuple[Label, ...], NDArray[np.int64], bool]]:
        """Of both sides: the labels, how many records have each, and whether a record has one at most."""
        sides = {"A": self.space(self.counts.A), "T": self.space(self.counts.T)}
        return {side: (held.labels, self.counts.sizes[side], held.exclusive) for side, held in sides.items()}

    def margins(self, direction: str) -> Margins | None:
        """Totals of the outcome labels; None where its predictions are not there."""
        bags = self.counts.pairs.get(direction)
        if bags is None:
            return None
        outcome = self.counts.T if direction == "A->T" else self.counts.A
        return Margins.of_counts(bags.whole, floats(bags.agreeing), self.space(outcome).exclusive)

    @staticmethod
    def space(variables: tuple[Variable, ...]) -> LabelSet:
        """No records in a label space."""
        return no_records(variables)

    def sides(self, direction: str) -> tuple[LabelSet, LabelSet]:
        """Given and outcome of a direction, without records."""
        A, T = self.space(self.counts.A), self.space(self.counts.T)
        return (A, T) if direction == "A->T" else (T, A)

    def train(self, direction: str) -> JointCounts | None:
        """Joint counts of the train labels as (given, truth)."""
        train = self.counts.train
        return train if train is None or direction == "A->T" else turned(train)

    def source(self, direction: str) -> Base:
        """Where signs and base rates come from."""
        given, outcome = self.sides(direction)
        base = None
        if self.base is not None and self.attribute in self.plan.groups:
            base = self.base.argument(self.plan.groups[self.attribute], self.plan.task, direction)
        return read_base(base, None, Evaluation(given, outcome, outcome), self.train(direction))


def no_records(variables: tuple[Variable, ...]) -> LabelSet:
    """A label space without records: yes/no labels side by side, every other variable by itself."""
    blocks: list[Codes | Dense | Sparse] = []
    for variable in variables:
        last = blocks[-1] if blocks else None
        if variable.kind == "binary" and isinstance(last, Dense):
            merged = (*last.variables, variable)
            blocks[-1] = Dense(merged, np.zeros((0, len(merged)), dtype=np.uint8))
        elif variable.kind == "binary":
            blocks.append(Dense((variable,), np.zeros((0, 1), dtype=np.uint8)))
        elif variable.kind == "multilabel":
            blocks.append(Sparse((variable,), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)))
        else:
            blocks.append(Codes((variable,), np.zeros(0, dtype=np.int64)))
    return LabelSet(tuple(blocks))


def turned(joint: JointCounts) -> JointCounts:
    """Joint counts with the sides exchanged."""

    def swap(values: Any) -> Any:
        if isinstance(values, Fixed):
            return Fixed(*(np.swapaxes(part, -1, -2) for part in (values.whole, values.high, values.low)))
        return np.swapaxes(values, -1, -2)

    return JointCounts(
        joint.right_labels,
        joint.left_labels,
        joint.records,
        swap(joint.n),
        swap(joint.right),
        swap(joint.left),
        swap(joint.joint),
        joint.squared,
    )


def measure_counted(subject: Counted, settings: Settings) -> Measured:
    """Compute every metric that was asked for and that the counts allow."""
    out = Measured()
    for direction in ("A->T", "T->A"):
        bags = subject.counts.pairs.get(direction)
        for metric, measured in (("directional", _directional), ("multi", _multi), ("dpa", _dpa)):
            if metric not in settings.metrics:
                continue
            if bags is None:
                out.skip(subject.attribute, metric, direction, lacking(direction))
                continue
            measured(subject, direction, bags, settings, out)
            if metric == "directional" and bags.soft:
                reason = "thresholds need the scores themselves, which counts do not hold: see sweep() and calibrate()"
                out.skip(subject.attribute, "sweep", direction, reason)
    if "leakage" in settings.metrics:
        if "A->T" not in subject.counts.pairs:
            reason = lacking("A->T").replace("A->T", "leakage (A->T)")
            out.skip(subject.attribute, "leakage", None, reason)
        else:
            _attack(subject, "leakage", "A->T", None, settings, out)
    if "mals" in settings.metrics:
        _mals(subject, settings, out)
    if "parity" in settings.metrics:
        _parity(subject, settings, out)
    return out


def _directional(subject: Counted, direction: str, bags: BagCounts, settings: Settings, out: Measured) -> None:
    def make() -> Any:
        sample = BagSample(bags, subject.clustered)
        result = directional.from_sample(
            sample, subject.source(direction), direction=direction, level=settings.confidence
        )
        if bags.resamplable:
            return result if bags.whole.records > 1 else replace(result, cautions=(*result.cautions, _ONE_RECORD))
        return replace(result, cautions=(*result.cautions, _FEW_BAGS))

    run(subject, "directional", direction, settings, out, make)


def _multi(subject: Counted, direction: str, bags: BagCounts, settings: Settings, out: Measured) -> None:
    given, outcome = subject.sides(direction)
    cells = subject.counts.cells[direction]

    def make() -> Any:
        if given.exclusive and outcome.exclusive:
            sample = BagSample(bags, subject.clustered)
            return multi.from_samples([lambda: sample], subject.train(direction), direction, settings.confidence)
        if subject.plan.weights is not None:
            raise ValueError("Multi of sets of labels needs the records where they have weights: audit them in memory")
        if cells is None or (subject.counts.train is not None and subject.counts.train_cells is None):
            raise ValueError(f"Multi of sets of labels {_why_no_cells(subject, bags)}")
        train = None
        if subject.counts.train_cells is not None:
            rows = records_of(subject.counts.train_cells, subject.counts.A, subject.counts.T)
            train = (*(rows[:2] if direction == "A->T" else rows[1::-1]), subject.counts.train_cells.counts)
        one, two, three = records_of(cells, given.variables, outcome.variables, outcome.variables)
        evaluation = Evaluation(one, two, three, cells.counts)
        result = multi.from_cells(evaluation, train, direction, settings.confidence, subject.clustered)  # type: ignore[arg-type]
        return replace(result, cautions=(*result.cautions, _NO_CLUSTERS)) if subject.clustered else result

    run(subject, "multi", direction, settings, out, make)


def _why_no_cells(subject: Counted, bags: BagCounts) -> str:
    """Why the combinations of labels are not known."""
    if isinstance(bags.counts.joint_predicted, Fixed):
        return (
            "needs the records where predictions are probabilities or weights are fractions: counts do not hold their "
            "combinations. Audit a sample of the records in memory"
        )
    return (
        f"needs combinations of labels, and there are more than the {MOST_COMBINATIONS:,} that counts keep: name fewer "
        "tasks, or audit a sample of the records in memory"
    )


def records_of(table: ContingencyTable, *spaces: tuple[Variable, ...]) -> list[LabelSet]:
    """The cells of a table as records of each side, one a cell."""
    out = []
    for (place, side), variables in zip(enumerate(table.sides.values()), spaces, strict=True):
        rows = side.combinations[table.cells[:, place]]
        blocks: list[Codes | Dense | Sparse] = []
        first = 0
        for block in no_records(variables).blocks:
            mine = rows[:, first : first + block.width]
            first += block.width
            if isinstance(block, Codes):
                codes = np.where(mine.any(axis=1), mine.argmax(axis=1), -1)
                blocks.append(Codes(block.variables, codes, sparse=bool((codes < 0).any())))
            elif isinstance(block, Sparse):
                row, column = np.nonzero(mine)
                indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(mine)))])
                blocks.append(Sparse(block.variables, indptr.astype(np.int64), column))
            else:
                blocks.append(Dense(block.variables, np.ascontiguousarray(mine)))
        out.append(LabelSet(tuple(blocks)))
    return out


def _dpa(subject: Counted, direction: str, bags: BagCounts, settings: Settings, out: Measured) -> None:
    _attack(subject, "dpa", direction, direction, settings, out)


def _attack(
    subject: Counted, metric: str, direction: str, stated: str | None, settings: Settings, out: Measured
) -> None:
    given, outcome = subject.sides(direction)
    read = outcome if metric == "leakage" else given
    trials = TRIALS if len(read.variables) == 1 and read.variables[0].kind != "multilabel" else FEW_TRIALS

    def make() -> Any:
        table = subject.counts.cells[direction]
        if table is None:
            name = "DPA" if metric == "dpa" else metric
            raise ValueError(f"{name} {_why_no_cells(subject, subject.counts.pairs[direction])}")
        # Attackers learn from records that have every label, where others were read as having none.
        sides = records_of(table, given.variables, outcome.variables, outcome.variables)
        keep = np.logical_and.reduce([labels.complete() for labels in sides])
        table = replace(table, cells=table.cells[keep], counts=table.counts[keep])
        return attack.from_table(
            table, metric, direction=stated, equalize="confusion", trials=trials, seed=settings.seed
        )

    run(subject, metric, stated, settings, out, make)


def _mals(subject: Counted, settings: Settings, out: Measured) -> None:
    held = subject.counts.mals
    if held is None:
        side = "attribute_predictions" if "T->A" not in subject.counts.pairs else "task_predictions"
        out.skip(subject.attribute, "mals", None, f"MALS needs predictions of both sides; {side} were not given")
        return
    said, truth = held

    def make() -> Any:
        train = subject.counts.train
        labels = whole_joint(truth) if train is None else train
        source = "the evaluated labels" if train is None else "the train labels"
        records = mals.MalsBags(said, truth if train is None else None, subject.clustered)
        return mals.from_counts(labels, whole_joint(said), source, records, settings.confidence)

    run(subject, "mals", None, settings, out, make)


def _parity(subject: Counted, settings: Settings, out: Measured) -> None:
    bags = subject.counts.pairs.get("A->T")
    if bags is None:
        out.skip(subject.attribute, "parity", "A->T", NO_PARITY)
        return
    counts = bags.whole
    exclusive = subject.space(subject.counts.A).exclusive
    plainly = exclusive and counts.spread is None and not subject.clustered
    few = bags.resamplable and counts.joint_truth.shape[0] * counts.joint_truth.shape[1] * settings.resamples <= (
        MOST_REPLICATED
    )
    drawn = bags.replicates(settings.resamples, settings.seed) if few and not plainly else None
    draw = partial(bag_resampled_rates, bags) if bags.resamplable else None
    parity_entries(subject.attribute, counts, plainly, drawn, draw, settings, out)
