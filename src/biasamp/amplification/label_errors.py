"""What errors in the labels of an attribute do to a directional value: corrected, with bounds, and at worst."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.data import printable
from biasamp.data.arguments import read_evaluation
from biasamp.data.label import Label, canonical
from biasamp.data.plain_arguments import level_of, number, one_of, whole_number
from biasamp.data.spelling import mistaken_for
from biasamp.resampling.sample import Sample
from biasamp.resampling.significance import normal_quantile
from biasamp.results.interval import plain

from .signs import WEIGHT_TOLERANCE

Floats = NDArray[np.float64]

SIDES = ("given", "truth")
# Signs of which chance is the cause in fewer than so many of 100 samples, all pairs counted, are clear.
_CLEAR = 0.01
# Rates of error at which it is asked whether the conclusion still stands.
_STEP = 0.0025
# Beyond, a matrix turns noise into figures.
_SINGULAR = 1e-3
# Resampled pairs that are held at a time.
_MOST_RESAMPLED = 4_000_000


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """What stated errors of an attribute's labels do to a directional value.

    Attributes
    ----------
    value : float
        The directional value of the labels as they were recorded.
    corrected : float
        The value of the true labels, if errors are as stated and independent of task and prediction given the true group.
    low, high : float
        Bounds of it: its sampling error, and for pairs whose direction the records do not tell both signs.
    unclear : int
        How many pairs have no clear direction.
    worst : pair of float
        The least and the largest value that these records can have if errors are as many as stated and fall on
        whomever they hurt most, whatever their task and prediction.
    tips, tips_if_dependent : float or None
        The least rate of error, the same for all groups, at which the conclusion is another one: for independent errors, and if
        they fall where they hurt most. None where no rate up to ``tried`` does it, or where nothing is concluded.
    concluded : int
        +1 or -1 where bounds without any error lie above or below 0, else 0: then there is no conclusion to change.
    tried : float
        The largest rate of error that was tried.

    Examples
    --------
    >>> import biasamp
    >>> found = biasamp.label_errors(["w", "m"] * 50, [1, 0] * 40 + [0, 1] * 10, [1, 0] * 50, 0.1)
    >>> round(found.value, 3), round(found.corrected, 3)
    (0.2, 0.25)
    >>> bool(found.low < found.corrected < found.high)
    True
    """

    value: float
    corrected: float
    low: float
    high: float
    unclear: int
    worst: tuple[float, float]
    concluded: int
    tips: float | None
    tips_if_dependent: float | None
    tried: float
    level: float
    matrix: Floats

    def to_dict(self) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold."""
        figures = {
            name: plain(getattr(self, name))
            for name in ("value", "corrected", "unclear", "concluded", "tips", "tips_if_dependent", "tried", "level")
        }
        ends = {"interval": [plain(self.low), plain(self.high)], "worst": [plain(end) for end in self.worst]}
        return {**figures, **ends, "matrix": [[plain(float(cell)) for cell in row] for row in self.matrix]}


def label_errors(
    given: Any,
    truth: Any,
    predicted: Any,
    error: Any,
    *,
    side: str = "given",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> LabelErrors:
    r"""How far a directional value may be off because labels of the attribute are wrong.

    With :math:`M_{hg} = P(\text{recorded } h \mid \text{true } g)` and errors that depend on nothing but the true group, recorded
    counts are :math:`C^* = M C`: counts of the true groups are :math:`M^{-1} C^*`, and the value of these is the corrected one.

    Parameters
    ----------
    given, truth, predicted : array-like
        As for :func:`biasamp.directional`.
    error : float or mapping
        The chance that a recorded label is wrong: of all groups alike, of each true group (``{"woman": 0.02, "man": 0.05}``), or
        what each true group is recorded as (``{"woman": {"man": 0.02}, "man": {"woman": 0.05}}``). Without the last, wrong labels
        are any of the others alike.
    side : {"given", "truth"}
        Where the attribute stands: A→T has it as ``given``, T→A as ``truth``.
    level : float
    resamples, seed : int
        Of the bounds.

    Returns
    -------
    LabelErrors

    References
    ----------
    Kuha, J. and Skinner, C. (1997). Categorical data analysis and misclassification. In Survey Measurement and Process Quality,
    chapter 28.

    Examples
    --------
    >>> import biasamp
    >>> made = biasamp.label_errors(["w", "m"] * 50, [1, 0] * 40 + [0, 1] * 10, [1, 0] * 50, 0.1)
    >>> round(made.value, 3), round(made.corrected, 3)
    (0.2, 0.25)
    """
    one_of(side, "side", SIDES)
    level_of(level, "level")
    whole_number(resamples, "resamples", least=2)
    whole_number(seed, "seed")
    evaluation, _, _ = read_evaluation(given, truth, predicted, None, None)
    attribute = evaluation.given if side == "given" else evaluation.truth
    if not attribute.exclusive:
        raise ValueError(f"{side} has several labels per record: errors are between the groups of one column")
    if attribute.width < 2:
        raise ValueError(f"{side} has one group only, which cannot be recorded as another")
    matrix = error_matrix(error, attribute.labels, "error")
    return from_bags(Sample.of(evaluation).bags, matrix, side, level=level, resamples=resamples, seed=seed)


def error_matrix(error: Any, labels: tuple[Label, ...], argument: str) -> Floats:
    """``P(recorded h | true g)`` of every pair of groups, of shape (recorded, true), from what the caller states.

    >>> error_matrix(0.1, (Label("s", "m"), Label("s", "w")), "error").tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    names = [label.category or label.variable for label in labels]
    many = len(names)
    if many < 2:
        raise ValueError(f"{argument}: there is one group only, which cannot be recorded as another")
    matrix = np.zeros((many, many))
    if isinstance(error, Mapping):
        for name, held in error.items():
            true = _group(canonical(name), labels, argument)
            if isinstance(held, Mapping):
                for other, chance in held.items():
                    recorded = _group(canonical(other), labels, argument)
                    if recorded != true:
                        matrix[recorded, true] = number(chance, f"{argument}[{name!r}]", least=0.0, most=1.0)
            else:
                matrix[:, true] = number(held, f"{argument}[{name!r}]", least=0.0, most=1.0) / (many - 1)
    else:
        matrix[:] = number(error, argument, least=0.0, most=1.0) / (many - 1)
    np.fill_diagonal(matrix, 0.0)
    matrix[np.diag_indices(many)] = 1.0 - matrix.sum(axis=0)
    if (np.diag(matrix) < 0).any():
        worst = names[int(np.diag(matrix).argmin())]
        raise ValueError(
            f"{argument}: the chances that {printable(worst, 40)!r} is recorded as another group add up to more than 1"
        )
    if abs(np.linalg.det(matrix)) < _SINGULAR:
        raise ValueError(
            f"{argument} is so large that recorded labels say next to nothing of true ones: nothing can be corrected"
        )
    return matrix


def _group(name: str, labels: tuple[Label, ...], argument: str) -> int:
    names = [label.category or label.variable for label in labels]
    for i, label in enumerate(labels):
        if name in (str(label), label.category, label.variable if label.category is None else None):
            return i
    near = mistaken_for(name, names)
    offer = f"did you mean {printable(near, 40)!r}?" if near else f"the groups are {', '.join(map(repr, names[:8]))}"
    raise ValueError(f"{argument} names {printable(name, 40)!r}, which is no group; {offer}")


def from_bags(
    bags: BagCounts,
    matrix: Floats,
    side: str,
    *,
    train: JointCounts | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> LabelErrors:
    """The result of pair counts by bag; ``train`` labels, which decide signs, have the same errors."""
    problem = _Problem(bags, side, train, level, resamples, seed)
    stated = problem.bounds(matrix)
    if stated is None:
        raise ValueError(
            "error rates are larger than these records can have: with them a group would have fewer than 0 true members"
        )
    none = problem.bounds(np.eye(len(matrix)))
    assert none is not None
    concluded = 1 if none.low > 0 else -1 if none.high < 0 else 0
    tips, tips_dependent, tried = problem.tipping(concluded, len(matrix))
    return replace(
        stated, value=none.corrected, concluded=concluded, tips=tips, tips_if_dependent=tips_dependent, tried=tried
    )


class _Problem:
    """Counts of recorded labels, their resamples, and what they become with a matrix of errors."""

    def __init__(
        self, bags: BagCounts, side: str, train: JointCounts | None, level: float, resamples: int, seed: int
    ) -> None:
        self.side, self.level = side, level
        whole = bags.whole
        self.shape = whole.joint_truth.shape
        names = ("n", "given", "truth", "joint_truth", "joint_predicted")
        # Weights in any unit: Kish's effective records are counted.
        unit = 1.0 if whole.unweighted else float(floats(whole.squared).max() / floats(whole.n).max())
        self.counts = {name: np.broadcast_to(floats(getattr(whole, name)) / unit, self.shape) for name in names}
        self.both = floats(whole.joint_both) / unit
        draws = min(resamples, max(_MOST_RESAMPLED // max(self.shape[0] * self.shape[1], 1), 50))
        if not bags.resamplable:
            raise ValueError("bounds need counts by bag, which so many pairs do not have")
        drawn = bags.replicates(draws, seed, names)
        self.drawn = {
            name: np.broadcast_to(floats(getattr(drawn, name)) / unit, (draws, *self.shape)) for name in names
        }
        self.train = None
        if train is not None:
            held = {"n": train.n, "given": train.left, "truth": train.right, "joint_truth": train.joint}
            self.train = {name: np.broadcast_to(floats(part), self.shape) for name, part in held.items()}

    def corrected(self, counts: dict[str, Floats], inverse: Floats) -> dict[str, Floats]:
        """Counts of true labels: every count of the attribute's labels goes through the inverse."""
        out = dict(counts)
        given = self.side == "given"
        rule = "hg,...go->...ho" if given else "po,...go->...gp"
        for name in ("given", "joint_truth", "joint_predicted") if given else ("truth", "joint_truth"):
            if name in counts:
                out[name] = np.einsum(rule, inverse, counts[name])
        return out

    @staticmethod
    def changes(counts: dict[str, Floats]) -> Floats:
        """``P(o_hat | g) - P(o | g)`` of every pair; NaN where nobody is left."""
        with np.errstate(divide="ignore", invalid="ignore"):
            size = counts["given"]
            return np.where(size > 0.5, (counts["joint_predicted"] - counts["joint_truth"]) / size, np.nan)

    @staticmethod
    def association(counts: dict[str, Floats]) -> Floats:
        """``P(g, o) - P(g) P(o)`` of every pair; 0 where rounding alone keeps them apart."""
        n = counts["n"]
        chance = (counts["given"] / n) * (counts["truth"] / n)
        leaning = counts["joint_truth"] / n - chance
        return np.where(np.abs(leaning) > WEIGHT_TOLERANCE * np.abs(chance), leaning, 0.0)

    def bounds(self, matrix: Floats) -> LabelErrors | None:
        """The corrected value and its bounds; None where no true groups could be recorded so."""
        sizes = self.true_sizes(matrix)
        if (sizes < 0).any():
            return None
        inverse = np.linalg.inv(matrix).astype(np.float64)
        counts, drawn = self.corrected(self.counts, inverse), self.corrected(self.drawn, inverse)
        delta, moved = self.changes(counts), self.changes(drawn)
        there = ~np.isnan(delta) & (np.isnan(moved).mean(axis=0) < 0.5)
        pairs = max(int(there.sum()), 1)
        sign, clear = self.signs(counts, drawn, inverse, there)
        signed = np.where(there, sign * np.nan_to_num(delta), 0.0)
        resampled = np.where(there & ~np.isnan(moved), sign * np.nan_to_num(moved), signed)
        variance = float(resampled.sum(axis=(-2, -1)).var()) + self.unseen(counts, inverse, there)
        reach = normal_quantile(self.level) * np.sqrt(variance) / pairs
        known = float(signed[clear].sum()) / pairs
        either = float(np.abs(np.nan_to_num(delta))[there & ~clear].sum()) / pairs
        return LabelErrors(
            np.nan,
            float(signed.sum()) / pairs,
            max(known - either - reach, -1.0),
            min(known + either + reach, 1.0),
            int((there & ~clear).sum()),
            self.worst(matrix),
            0,
            None,
            None,
            0.0,
            self.level,
            matrix,
        )

    def signs(
        self, counts: dict[str, Floats], drawn: dict[str, Floats], inverse: Floats, there: NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The sign of every pair among true labels, and whether it is clear."""
        if self.train is not None:
            sign = np.sign(self.association(self.corrected(self.train, inverse)))
            return sign, np.ones(self.shape, dtype=bool)
        leaning = self.association(counts)
        spread = self.association(drawn).std(axis=0)
        # Two groups, or two values, lean to opposite sides: they are one question.
        questions = max((self.shape[0] - 1) * (self.shape[1] - 1), 1)
        clear = np.abs(leaning) > normal_quantile(1.0 - _CLEAR / questions) * spread
        return np.sign(leaning), clear & there

    def unseen(self, counts: dict[str, Floats], inverse: Floats, there: NDArray[np.bool_]) -> float:
        """The variance that one more error of either kind in each recorded group adds to the sum of changes."""
        size = np.where(there, counts["given"], np.inf)
        if self.side == "given":
            added = 2.0 * (inverse**2).sum(axis=1)[:, None] / (size + 2.0) ** 2
        else:
            added = 2.0 * (inverse**2).sum(axis=1)[None, :] / (size + 2.0) ** 2
        return float(added.sum())

    def true_sizes(self, matrix: Floats) -> Floats:
        """How many records truly have each group, which follows from the rates of error."""
        recorded = self.counts["given"].max(axis=1) if self.side == "given" else self.counts["truth"].max(axis=0)
        return np.asarray(np.linalg.solve(matrix, recorded))

    def worst(self, matrix: Floats) -> tuple[float, float]:
        """The least and the largest value if as many labels are wrong as stated, and whichever.

        As many records as stated leave and join each group: those that move its figure most. Every pair is taken at its worst
        by itself, with either sign where wrong labels could turn it.
        """
        moved = matrix * self.true_sizes(matrix)[None, :]
        np.fill_diagonal(moved, 0.0)
        low, high, joint_low, joint_high, size, margin = (
            self._worst_groups(moved) if self.side == "given" else self._worst_outcomes(moved)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            least, most = low / size, high / size
        there = size > 0.5
        expected = (size * margin) / self.counts["n"]
        if self.train is not None:
            sign = np.sign(self.association(self.train))
            up, down = sign > 0, sign < 0
        else:
            hair = WEIGHT_TOLERANCE * np.abs(expected)
            up, down = joint_low > expected + hair, joint_high < expected - hair
        ends = np.stack([np.where(up, least, -most), np.where(up, most, -least)])
        either = ~(up | down)
        ends[0] = np.where(either, np.minimum(least, -most), ends[0])
        ends[1] = np.where(either, np.maximum(most, -least), ends[1])
        pairs = max(int(there.sum()), 1)
        bottom, top = (np.where(there, np.nan_to_num(end), 0.0).sum() / pairs for end in ends)
        return float(max(bottom, -1.0)), float(min(top, 1.0))

    @cached_property
    def _kinds(self) -> tuple[Floats, Floats, Floats]:
        """Records of each pair that are wrongly predicted to have the outcome, wrongly not, and all others."""
        wrong = self.counts["joint_predicted"] - self.both
        missed = self.counts["joint_truth"] - self.both
        return wrong, missed, self.counts["given"] - wrong - missed

    def _worst_groups(self, moved: Floats) -> tuple[Floats, ...]:
        wrong, missed, rest = self._kinds
        true, false = self.counts["joint_truth"], self.counts["given"] - self.counts["joint_truth"]
        leave = moved.sum(axis=1)[:, None]  # recorded in the group, and truly of another

        def gained(first: Floats, then: Floats, many: Floats) -> Floats:
            """What ``many`` records add who are taken from the ``first`` as long as there are any, then from others."""
            return np.asarray(np.minimum(many, first) - np.maximum(many - first - then, 0.0))

        high = wrong - missed + gained(missed, rest, leave)
        low = wrong - missed - gained(wrong, rest, leave)
        joint_high = true - np.maximum(leave - false, 0.0)
        joint_low = true - np.minimum(leave, true)
        for other in range(len(moved)):
            join = moved[other][:, None]
            high = high + gained(wrong[other], rest[other], join)
            low = low - gained(missed[other], rest[other], join)
            joint_high = joint_high + np.minimum(join, true[other])
            joint_low = joint_low + np.maximum(join - false[other], 0.0)
        size = self.counts["given"] - leave + moved.sum(axis=0)[:, None]
        return low, high, joint_low, joint_high, size, self.counts["truth"]

    def _worst_outcomes(self, moved: Floats) -> tuple[Floats, ...]:
        true, said = self.counts["joint_truth"], self.counts["joint_predicted"]
        leave, join = moved.sum(axis=1)[None, :], moved
        fewest = true - np.minimum(leave, true)
        most = true + sum(np.minimum(join[other][None, :], true[:, [other]]) for other in range(len(moved)))
        margin = self.counts["truth"] - leave + moved.sum(axis=0)[None, :]
        return said - most, said - fewest, fewest, most, self.counts["given"], margin

    def tipping(self, concluded: int, groups: int) -> tuple[float | None, float | None, float]:
        """The least rates of error at which bounds, and the worst case, no longer say what is concluded."""
        tips: float | None = None
        dependent: float | None = None
        rate, tried = 0.0, 0.0
        while concluded and (tips is None or dependent is None):
            rate += _STEP
            matrix = np.full((groups, groups), rate / (groups - 1))
            matrix[np.diag_indices(groups)] = 1.0 - rate
            if np.diag(matrix).min() <= matrix[0, 1] + _SINGULAR or (self.true_sizes(matrix) < 0).any():
                break
            tried = rate
            if dependent is None:
                low, high = self.worst(matrix)
                if not (low > 0 if concluded > 0 else high < 0):
                    dependent = rate
            if tips is None:
                made = self.bounds(matrix)
                assert made is not None
                if not (made.low > 0 if concluded > 0 else made.high < 0):
                    tips = rate
        return tips, dependent, tried
