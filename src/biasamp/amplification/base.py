"""Where the signs and the base rates of a directional metric come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.data import Evaluation, Label, LabelSet, canonical, printable
from biasamp.data.arguments import read_train
from biasamp.data.label import Mask
from biasamp.data.plain_arguments import array_of
from biasamp.data.spelling import respelled
from biasamp.data.vocabulary import one_space

from .base_records import BaseRecords
from .signs import association_signs

# How far the uniform base leans towards the sign, as in App. A.3 of the 2021 paper.
UNIFORM_EPSILON = 1e-7
# Tables of probabilities carry rounding errors of the tool that wrote them.
_TABLE_TOLERANCE = 1e-9

Signs = NDArray[np.int8]
Rates = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Base:
    """Signs and base rates that do not come from the evaluated labels; None where they do.

    ``records`` is of how many records each base rate is a share, given label by outcome; None where rates are taken as exact.
    ``labels`` are those records, where they are at hand. ``own_signs`` says that signs and rates come from the same records.
    """

    signs: Signs | None = None
    sign_source: str = "the evaluated labels"
    sign_counts: JointCounts | None = None
    sign_p: Rates | None = None
    rates: Rates | None = None
    rate_source: str | None = None
    records: Rates | None = None
    labels: BaseRecords | None = None
    own_signs: bool = False

    @property
    def told(self) -> bool:
        """Whether signs come from elsewhere than the records that rates or evaluated labels are of."""
        return self.signs is not None and not self.own_signs

    def signed(self, given: int, outcome: int) -> tuple[Mask, Mask]:
        """Which given labels and outcomes have a sign: where it comes from other records, those that these have."""
        counts = self.sign_counts
        if counts is None:
            return np.ones(given, dtype=bool), np.ones(outcome, dtype=bool)
        return floats(counts.left).max(axis=-1) > 0, floats(counts.right).max(axis=-2) > 0

    def only(self, given: Mask, outcome: Mask) -> Base:
        """Signs and rates of some of the labels."""
        if given.all() and outcome.all():
            return self
        counts = None if self.sign_counts is None else self.sign_counts.only(given, outcome)
        return replace(
            self,
            signs=None if self.signs is None else self.signs[given][:, outcome],
            sign_counts=counts,
            sign_p=None if self.sign_p is None else self.sign_p[given][:, outcome],
            rates=None if self.rates is None else self.rates[given][:, outcome],
            records=None if self.records is None else self.records[given][:, outcome],
            labels=None if self.labels is None else self.labels.only(given, outcome),
        )


def pairs_without_sign(
    labels: Sequence[Sequence[Label]], signed: tuple[Mask, Mask], source: str
) -> tuple[dict[str, Any], ...]:
    """The pairs of given labels and outcomes that those records lack which decide the signs, with the reason.

    It is an error where that is all of them.
    """
    given, outcome = labels
    rows = []
    for i, j in np.argwhere(~(signed[0][:, None] & signed[1][None, :])).tolist():
        lacking = outcome[j] if signed[0][i] else given[i]
        reason = f"{source} have no record of {printable(str(lacking), 40)!r}, so the pair has no sign"
        rows.append({"given": str(given[i]), "outcome": str(outcome[j]), "reason": reason, "lacking": str(lacking)})
    if len(rows) == len(given) * len(outcome):
        raise ValueError(f"no pair has a sign: {rows[0]['reason']}")
    return tuple(rows)


def read_base(
    base: Any,
    direction: Any,
    evaluation: Evaluation,
    train: JointCounts | None = None,
    without_truth: bool = False,
) -> Base:
    """Read the arguments ``base``, ``direction`` and ``train`` of a directional metric.

    Parameters
    ----------
    base : optional
        One of

        - a pair ``(given, truth)`` of labels of other records;
        - a joint table of counts or probabilities: a 2-D array with a row for each given label and a column
          for each outcome label, in their order, or a mapping ``{given: {outcome: number}}``;
        - ``{"joint": table}``, with the ``"given"`` totals where outcomes are yes/no labels, or
          ``{"conditional": P(outcome | given), "given": P(given)}``, both with an optional ``"source"`` that
          names it. Where the given labels may overlap or leave records out, the ``"outcome"`` totals (and
          ``"n"`` with a joint table) are needed too;
        - ``"uniform"``: every value of the outcome alike, which needs ``direction``.
    direction : optional
        A pair of labels, or a table of signs (-1, 0, 1) laid out as a joint table.
    evaluation : Evaluation
        Decides the label space.
    train : JointCounts, optional
        Train labels, which decide the signs before ``base`` does.
    """
    known = _direction(direction, evaluation)
    if known is None and train is not None:
        known = Base(association_signs(train), "the train labels", train)
    if base is None:
        return known or Base()
    if isinstance(base, str):
        if base != "uniform":
            raise ValueError(f"base is {base!r}; the only base with a name is 'uniform'")
        if known is None or known.signs is None:
            raise ValueError(
                "base='uniform' has no direction of its own: give direction= (train labels or a table of signs)"
            )
        if not _partition(evaluation.truth):
            raise ValueError(
                "base='uniform' shares 1 among outcomes that exclude each other, but these are yes/no labels: give "
                "one column whose values are the outcomes, or say the rates with base={'conditional': ...}"
            )
        width = evaluation.truth.width
        rates = np.asarray(1.0 / width + UNIFORM_EPSILON * known.signs, dtype=np.float64)
        return Base(known.signs, known.sign_source, known.sign_counts, known.sign_p, rates, "uniform")
    held = _table(base, evaluation)
    if known is None:
        return replace(held, sign_source=f"the base ({held.rate_source})", own_signs=held.sign_counts is not None)
    return replace(
        held,
        signs=known.signs,
        sign_source=known.sign_source,
        sign_counts=known.sign_counts,
        sign_p=known.sign_p,
    )


def _untested(signs: Signs) -> Rates:
    """P-values of the signs of a table, which has no sampling error to test: 0 where the sign is not 0."""
    return np.where(signs == 0, 1.0, 0.0)


def _direction(direction: Any, evaluation: Evaluation) -> Base | None:
    if direction is None:
        return None
    if _is_pair(direction):
        counts = JointCounts.from_labels(*_labels(direction, evaluation, "direction"))
        return Base(association_signs(counts), "the labels given as direction", counts)
    table = _layout(direction, evaluation, "direction")
    if not np.isin(table, (-1, 0, 1)).all():
        raise ValueError("direction holds other values than -1, 0 and 1: it is a table of signs")
    signs = table.astype(np.int8)
    return Base(signs, "the table given as direction", None, _untested(signs))


def _is_pair(data: Any) -> bool:
    return isinstance(data, tuple) and len(data) == 2


def _labels(pair: Any, evaluation: Evaluation, argument: str) -> tuple[LabelSet, LabelSet]:
    given, truth = read_train(pair, ("given", "truth"), argument)
    wide = len(evaluation.given.labels), len(evaluation.truth.labels)
    counted = len(evaluation) > 0
    placed = [
        one_space(mine, None, theirs, [name, "", f"{argument} {name}"], counted=counted)[2] or theirs
        for mine, theirs, name in ((evaluation.given, given, "given"), (evaluation.truth, truth, "truth"))
    ]
    given, truth = placed
    for labels, expected, name in ((given, wide[0], "given"), (truth, wide[1], "truth")):
        if len(labels.labels) != expected:
            mine = evaluation.given.labels if name == "given" else evaluation.truth.labels
            extra = [str(label) for label in labels.labels if label not in set(mine)][:5]
            raise ValueError(f"{argument} has {name} labels that the evaluated records do not have: {extra}")
    return given, truth


def _counted(counts: JointCounts, source: str, labels: BaseRecords | None = None) -> Base:
    """Signs and rates of records that were counted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = floats(counts.joint) / floats(counts.left)
    records = np.broadcast_to(floats(counts.left), rates.shape)
    return Base(
        association_signs(counts), sign_counts=counts, rates=rates, rate_source=source, records=records, labels=labels
    )


def _of_table(rates: Rates, overall: Rates, source: str) -> Base:
    """Signs and rates of a table of probabilities, which has no sampling error."""
    signs = _leaning(rates, overall)
    return Base(signs, sign_p=_untested(signs), rates=rates, rate_source=source)


def _table(base: Any, evaluation: Evaluation) -> Base:
    """What a base says of ``P(outcome | given)`` and, in ``signs``, of directions."""
    if _is_pair(base):
        labels = BaseRecords.of(*_labels(base, evaluation, "base"))
        return _counted(labels.joint(), "other labels", labels)
    if isinstance(base, Mapping) and "conditional" in base:
        if "given" not in base:
            raise ValueError(
                "base has conditionals P(outcome | given) but no 'given' marginal: without it the sign of "
                "P(g, o) - P(g) P(o) is not known"
            )
        rates = _layout(base["conditional"], evaluation, "base['conditional']")
        marginal = _marginal(base["given"], evaluation.given, "given")
        if rates.min() < 0 or rates.max() > 1:
            raise ValueError("base['conditional'] holds values outside [0, 1]: they are probabilities")
        if "outcome" in base:
            overall = _marginal(base["outcome"], evaluation.truth, "outcome")
        else:
            _need_partition(evaluation, "'outcome': P(outcome)")
            overall = (marginal[:, None] * rates).sum(axis=0) / marginal.sum()
        return _of_table(rates, overall, str(base.get("source", "conditionals")))
    tables: Mapping[Any, Any] = base if isinstance(base, Mapping) and "joint" in base else {"joint": base}
    joint = _layout(tables["joint"], evaluation, "base")
    if (joint < 0).any() or not joint.any():
        raise ValueError("base is a joint table of counts or probabilities: not negative, and not all 0")
    if "given" in tables:
        left = _marginal(tables["given"], evaluation.given, "given")
    else:
        left = _totals(joint, evaluation)
    if "outcome" in tables and "n" in tables:
        right, n = _marginal(tables["outcome"], evaluation.truth, "outcome"), np.array([float(tables["n"])])
    else:
        _need_partition(evaluation, "'outcome': C(outcome), 'n': n")
        right, n = joint.sum(axis=0), left.sum(keepdims=True)
    source = str(tables.get("source", "joint table"))
    if all((part == np.rint(part)).all() and part.max() < 2**53 for part in (joint, left, right, n)):
        # Counts: independence is decided on whole numbers, as it is for records.
        names = evaluation.given.labels, evaluation.truth.labels
        total, both, mine, theirs = (part.astype(np.int64) for part in (n, joint, left[:, None], right[None]))
        return _counted(JointCounts(*names, int(total[0]), total[None], mine, theirs, both, total), source)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = joint / left[:, None]
    return _of_table(np.nan_to_num(rates), right / n, source)


def _partition(labels: LabelSet) -> bool:
    """Whether every record has exactly one of the labels: they are the values of one variable."""
    return labels.exclusive and labels.variables[0].kind == "categorical"


def _need_partition(evaluation: Evaluation, totals: str) -> None:
    """Without totals over all records, the rows of a table must cover every record once."""
    if not _partition(evaluation.given):
        raise ValueError(
            "base is a table over given labels that may overlap or leave records out, so that its rows do not "
            f"sum to all records and the sign of P(g, o) - P(g) P(o) is not known: add {totals} to it"
        )


def _totals(joint: Rates, evaluation: Evaluation) -> Rates:
    """``C(given)`` of a joint table: the row sums, which need outcomes that exclude each other."""
    if _partition(evaluation.truth):
        return np.asarray(joint.sum(axis=1), dtype=np.float64)
    raise ValueError(
        "base is a joint table, but the outcomes are yes/no labels, whose rows do not sum to the given's "
        "total: give {'joint': C(given, outcome), 'given': C(given)} instead"
    )


def _leaning(rates: Rates, overall: Rates) -> Signs:
    difference = rates - overall
    return np.where(np.abs(difference) <= _TABLE_TOLERANCE, 0, np.sign(difference)).astype(np.int8)


def _layout(table: Any, evaluation: Evaluation, argument: str) -> Rates:
    """A table by label names or by position, as (given, outcome)."""
    given, outcome = evaluation.given.labels, evaluation.truth.labels
    if hasattr(table, "index") and hasattr(table, "columns") and hasattr(table, "to_dict"):
        named = {canonical(key): row for key, row in table.to_dict(orient="index").items()}
        # Rows and columns that are numbered go by their place; names are not passed over.
        numbered = [list(axis) == list(range(len(axis))) for axis in (table.index, table.columns)]
        if not all(numbered) or set(named) >= {label.category or label.variable for label in given}:
            table = named
    if isinstance(table, Mapping):
        rows = _by_name(table, given, argument)
        return np.array([_by_name(row, outcome, f"{argument} row") for row in rows], dtype=np.float64)
    try:
        values = array_of(table, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"{argument} is neither a table of numbers nor a pair of labels: a pair (given, truth) is a tuple, a table "
            "an array or a mapping {given: {outcome: number}}"
        ) from None
    if values.shape != (len(given), len(outcome)):
        raise ValueError(
            f"{argument} has shape {values.shape}; a row for each of the {len(given)} given labels and a column "
            f"for each of the {len(outcome)} outcome labels are needed ({_names(given)} by {_names(outcome)})"
        )
    if np.isnan(values).any():
        raise ValueError(f"{argument} holds missing values")
    return values


def _by_name(table: Mapping[Any, Any], labels: Sequence[Label], argument: str) -> list[Any]:
    paired = next((name for name in table if isinstance(name, tuple)), None) if isinstance(table, Mapping) else table
    if paired is not None:
        raise TypeError(f"{argument} has {paired!r:.60}; a mapping {{given: {{outcome: number}}}} is needed")
    spelled = {canonical(name): value for name, value in table.items()}
    names = {name for label in labels for name in (str(label), label.category, label.variable) if name}
    twice = respelled(
        [name for name in spelled if name not in names], [label.category or str(label) for label in labels]
    )
    if twice is not None:
        raise ValueError(
            f"{argument} has an entry {printable(twice[0], 40)!r}, which looks like another spelling of the label "
            f"{printable(twice[1], 40)!r}: spell them alike"
        )
    out = []
    for label in labels:
        for name in (str(label), label.category, label.variable):
            if name is not None and name in spelled:
                out.append(spelled[name])
                break
        else:
            raise ValueError(f"{argument} has no entry for the label {str(label)!r}; it has {_names(list(spelled))}")
    return out


def _marginal(totals: Any, side: LabelSet, name: str) -> Rates:
    """Totals or shares of the labels of one side, by label names or by position."""
    labels = side.labels
    values = _by_name(totals, labels, f"base[{name!r}]") if isinstance(totals, Mapping) else totals
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(labels),) or not (array >= 0).all() or not array.any():
        raise ValueError(f"base[{name!r}] must hold one share for each of the {len(labels)} {name} labels")
    return array


def _names(labels: Sequence[Any]) -> str:
    shown = ", ".join(str(label) for label in labels[:6])
    return shown + (", …" if len(labels) > 6 else "")
