r"""The best attacker there is on discrete data: for every input the answer that scores best.

For accuracy it answers, for input :math:`x`, :math:`\arg\max_y C(x, y)`; no function of the input does
better on the records it was fitted to. Everything works on stacks of tables of shape
``(..., inputs, classes)``, fitted on one stack and scored on another.

Trials of it cost what the cells cost. The table of one variable counts (other, truth, predicted). A trial splits it into
halves, perturbs the truth, and scores the best lookup of one half on the other. All trials go through each step together.
For a set of labels as target, the records are split once for all labels, and then every label has its own small tables.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .equalize import Counts, Rule, draw, equalize_tables
from .problem import Problem
from .quality import from_confusion, rank_auc
from .scores import Scores, Values
from .sides import Index, Labels

Table = NDArray[np.int64] | NDArray[np.float64]
Seed = np.random.SeedSequence
Pair = tuple[Values, Values]

# Macro F1 over several classes has no closed form: all functions are tried up to this many of them.
_EXHAUSTIVE = 4096
_SWEEPS = 20
# Beyond these a table has more cells than it saves; records are then the cheaper way.
_CLASSES = 16
_CELLS = 1024
# Numbers held at once by all trials together.
_AT_ONCE = 1 << 23
# Sums in 32-bit floats are exact below this.
_EXACT_IN_FLOAT = 1 << 24
_ROWS = 1 << 13


def best_score(train: Table, test: Table, quality: str = "accuracy", *, label: bool = False) -> Values:
    """Score on ``test`` of the lookup that is best on ``train``.

    Parameters
    ----------
    train, test : ndarray of shape (..., inputs, classes)
        Counts of each input with each class. The same table twice is the in-sample score.
    quality : {"accuracy", "balanced_accuracy", "f1", "auc"}
        What the lookup is best for, and what is scored.
    label : bool
        Whether the classes are the absence and presence of one label; then F1 is that of its presence,
        and is otherwise the mean over the classes.

    There is one score for every table of the stack, NaN where the quality is undefined. Inputs that ``train`` misses are
    answered as without input. For accuracy ties go to the class that is the more frequent one in ``train``. Accuracy,
    balanced accuracy, AUC and the F1 of one label are exact maxima; the mean F1 of several classes is exact for up to 4096
    functions, and a local maximum beyond.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1229, 874], [1402, 1773]])
    >>> round(float(best_score(table, table)), 4)
    0.5688
    """
    if quality == "auc":
        return _auc(train, test)
    answer = answers(train, quality, label=label)
    if quality == "accuracy":
        right = np.take_along_axis(test, answer[..., None], axis=-1)[..., 0].sum(axis=-1)
        total: Values = test.sum(axis=(-1, -2))
        return np.asarray(right / total, dtype=np.float64)
    return from_confusion(_confusion(answer, test), quality, label=label)


def answers(train: Table, quality: str, *, label: bool = False) -> NDArray[np.int64]:
    """The class that the best lookup answers for every input, shape ``(..., inputs)``."""
    marginal = train.sum(axis=-2, keepdims=True)
    # Less than one record's worth of the marginal breaks ties and answers inputs never seen.
    nudge = marginal / (2.0 * np.maximum(marginal.sum(axis=-1, keepdims=True), 1))
    if quality == "f1":
        return _f1_label(train) if label else _f1_macro(train)
    if quality == "balanced_accuracy":
        weighed = np.divide(train, marginal, out=np.zeros(train.shape), where=marginal > 0)
        return np.asarray(weighed.argmax(axis=-1), dtype=np.int64)
    # Tables of probabilities have no record to be worth less than: scale the nudge to the smallest cell.
    scale = 1.0 if train.dtype.kind in "iu" else 1e-12
    return np.asarray((train + scale * nudge).argmax(axis=-1), dtype=np.int64)


def no_input(table: Table) -> Table:
    """The same records for an attacker that sees no input: one row."""
    return np.asarray(table.sum(axis=-2, keepdims=True))


def _confusion(answer: NDArray[np.int64], test: Table) -> Table:
    """Counts of (class, answer), shape ``(..., classes, classes)``."""
    classes = test.shape[-1]
    said = answer[..., None] == np.arange(classes)
    return np.asarray(np.einsum("...ic,...ia->...ca", test, said.astype(test.dtype)))


def _f1_label(train: Table) -> NDArray[np.int64]:
    """F1 of a label is a ratio of linear functions, so the best lookup has a threshold of P(yes)."""
    total = train.sum(axis=-1)
    marginal = train.sum(axis=-2)
    share = (marginal[..., 1] / np.maximum(marginal.sum(axis=-1), 1e-300))[..., None]
    rate = np.where(total > 0, train[..., 1] / np.where(total > 0, total, 1), share)
    order = np.argsort(-rate, axis=-1, kind="stable")
    true = np.take_along_axis(train[..., 1], order, axis=-1).cumsum(axis=-1)
    said = np.take_along_axis(total, order, axis=-1).cumsum(axis=-1)
    score = 2 * true / np.maximum(said + marginal[..., 1:2], 1e-300)
    # The longest of the best prefixes: inputs that change nothing are answered yes, as the marginal would be.
    last = score.shape[-1] - 1 - score[..., ::-1].argmax(axis=-1)
    yes = np.arange(score.shape[-1]) <= last[..., None]
    answer = np.zeros(yes.shape, dtype=np.int64)
    np.put_along_axis(answer, order, yes.astype(np.int64), axis=-1)
    return answer


def _f1_macro(train: Table) -> NDArray[np.int64]:
    inputs, classes = train.shape[-2:]
    flat = train.reshape(-1, inputs, classes)
    if classes**inputs <= _EXHAUSTIVE:
        functions = np.array(list(itertools.product(range(classes), repeat=inputs)), dtype=np.int64)
        best = np.zeros((len(flat), inputs), dtype=np.int64)
        for row, table in enumerate(flat):
            stack = np.broadcast_to(table, (len(functions), inputs, classes))
            best[row] = functions[from_confusion(_confusion(functions, stack), "f1").argmax()]
        return best.reshape(train.shape[:-1])
    best = answers(flat, "balanced_accuracy")
    score = from_confusion(_confusion(best, flat), "f1")
    for _ in range(_SWEEPS):
        before = score.copy()
        for place, other in itertools.product(range(inputs), range(classes)):
            changed = best.copy()
            changed[:, place] = other
            value = from_confusion(_confusion(changed, flat), "f1")
            better = value > score
            best[better], score[better] = changed[better], value[better]
        if (score == before).all():
            break
    return best.reshape(train.shape[:-1])


def _auc(train: Table, test: Table) -> Values:
    """Mean over the classes of the AUC of P(class | input), of two classes that of the second."""
    total = train.sum(axis=-1, keepdims=True)
    marginal = train.sum(axis=-2, keepdims=True)
    share = marginal / np.maximum(marginal.sum(axis=-1, keepdims=True), 1e-300)
    rate = np.where(total > 0, train / np.where(total > 0, total, 1), share)
    classes = test.shape[-1]
    own = range(1, 2) if classes == 2 else range(classes)
    each = [rank_auc(rate[..., c], test[..., c], test.sum(axis=-1) - test[..., c]) for c in own]
    stacked = np.stack(each)
    there = np.isfinite(stacked)
    summed = np.where(there, stacked, 0).sum(axis=0)
    out: Values = np.divide(summed, there.sum(axis=0), out=np.full(summed.shape, np.nan), where=there.any(axis=0))
    return out


@dataclass(frozen=True, eq=False)
class LookupTables:
    """A problem as tables, and which way the attackers look.

    ``kind`` is ``"dpa"`` (the other side is read, truth predicted) or ``"leakage"`` (truth is read, the other
    side predicted).
    """

    problem: Problem
    kind: str
    quality: str
    others: Index
    size: int
    other: Labels
    truth: Labels
    predicted: Labels

    @classmethod
    def fit(cls, problem: Problem, kind: str, quality: object) -> LookupTables | None:
        """The tables, or None where they would not fit or not do."""
        if problem.labels is None or problem.soft or not isinstance(quality, str):
            return None
        other, truth, _ = problem.labels
        if truth.sizes[0] > _CLASSES or len(set(truth.sizes)) > 1 or (kind == "leakage" and truth.width > 1):
            return None
        others, size = other.combinations()
        return (
            cls(problem, kind, quality, others, size, *problem.labels) if size * truth.sizes[0] ** 2 <= _CELLS else None
        )

    def trials(self, count: int, seed: Seed, rules: tuple[Rule, ...], evaluation: str) -> Scores:
        """Scores of so many trials."""
        rng = np.random.default_rng(seed)
        rows = [self._rows(sample, rules, evaluation, rng, self._score) for sample in self._samples(count)]
        return Scores.from_rows(np.concatenate(rows), rules)

    def halves(self, count: int, seed: Seed, rule: Rule, evaluation: str) -> tuple[Scores, Scores]:
        """Two trials, scored both ways, on each of so many random halves of the records."""
        rng = np.random.default_rng(seed)
        rows = []
        for sample in self._samples(count):
            half = draw(sample, self.problem.n // 2, rng)
            rows.append([self._rows(half, (rule,), evaluation, rng, self._both_ways) for _ in range(2)])
        first, second = (Scores.from_rows(part, (rule,)) for part in np.concatenate(rows, axis=1))
        return first, second

    def perturbed(self, count: int, seed: Seed, rule: Rule, evaluation: str) -> Pair:
        """Dataset scores of two splits, scored both ways, of each of so many perturbations of all records."""
        rng = np.random.default_rng(seed)
        rows = []
        for sample in self._samples(count):
            moved = equalize_tables(self._tables(sample)[:, None], rule, rng)
            halved = (_halved(moved, rng, evaluation) for _ in range(2))
            rows.append([self._both_ways(parts, len(sample))[0] for parts in halved])
        first, second = np.concatenate(rows, axis=1)
        return first, second

    def of_splits(self, bags: Index, learn: NDArray[np.bool_], test: NDArray[np.bool_], rule: Rule, seed: Seed) -> Pair:
        """Scores on the truth and on the predictions, scored both ways, of shape (trials, variables).

        ``bags`` is the bag of each row of the problem; ``learn`` and ``test``, of shape (trials, bags), say which bags are which.
        """
        rng = np.random.default_rng(seed)
        tables = self._by_bag(bags, learn.shape[1])
        shape = (len(learn) * self.truth.width, self.size, self.truth.sizes[0], self.truth.sizes[0])
        parts = [
            np.rint(chosen.astype(np.float64) @ tables).astype(np.int64).reshape(shape) for chosen in (learn, test)
        ]
        split = np.stack(parts, axis=1)
        versions = equalize_tables(split, rule, rng), split.sum(axis=-2)
        dataset, model = (
            0.5 * (self._each(part, len(learn))[0] + self._each(part[:, ::-1], len(learn))[0]) for part in versions
        )
        return dataset, model

    def _by_bag(self, bags: Index, many: int) -> Values:
        """The tables of every bag, one row each."""
        room = self._whole[0].size
        out = np.empty((many, self.truth.width, room))
        for v in range(self.truth.width):
            place = bags * room + self._place(v)
            out[:, v] = np.bincount(place, self.problem.counts, many * room).reshape(many, room)
        return out.reshape(many, -1)

    def _place(self, variable: int) -> Index:
        """Where each row of the problem is counted in the table (other, truth, predicted) of a variable."""
        classes = self.truth.sizes[0]
        place = self.others * classes + self.truth.codes[:, variable]
        return np.asarray(place * classes + self.predicted.codes[:, variable])

    def _rows(
        self,
        sample: Counts,
        rules: tuple[Rule, ...],
        evaluation: str,
        rng: np.random.Generator,
        score: Callable[[Counts, int], Pair],
    ) -> Values:
        """Scores of one trial of each sample, shape (samples, 2 + 2 * rules); see :meth:`Scores.from_rows`."""
        split = self._split(sample, rng, evaluation)
        parts = [split.sum(axis=-2), *(equalize_tables(split, rule, rng) for rule in rules)]
        return np.column_stack([side for part in parts for side in score(part, len(sample))])

    def _samples(self, count: int) -> Iterator[Counts]:
        """All records, once for each trial, as many trials at once as fit."""
        numbers = 4 * self._whole.size + len(self.problem.counts)
        step = max(1, _AT_ONCE // numbers)
        for start in range(0, count, step):
            yield np.broadcast_to(self.problem.counts, (min(step, count - start), len(self.problem.counts)))

    @cached_property
    def _whole(self) -> Counts:
        return self._count(self.problem.counts[None])

    def _tables(self, cells: Counts) -> Counts:
        """Counts by cell as tables, shape (trials * variables, others, classes, classes)."""
        if cells.strides[0] == 0:  # all records, once for each trial
            return np.tile(self._whole, (len(cells), 1, 1, 1))
        return self._count(cells)

    def _count(self, cells: Counts) -> Counts:
        truth, classes = self.truth, self.truth.sizes[0]
        if classes == 2 and truth.width > 1 and self.problem.n < _EXACT_IN_FLOAT:
            out = self._count_pairs(cells)
        else:
            room = self.size * classes**2
            out = np.empty((len(cells), truth.width, room), dtype=np.int64)
            for v in range(truth.width):
                out[:, v] = _summed(cells, self._place(v), room)
        return out.reshape(len(cells) * truth.width, self.size, classes, classes)

    def _count_pairs(self, cells: Counts) -> Counts:
        """Two classes each: the four counts follow from three sums, which are a matrix product."""
        truth, predicted = self.truth, self.predicted
        out = np.zeros((len(cells), truth.width, self.size, 4), dtype=np.float64)
        for other in range(self.size):
            rows = np.flatnonzero(self.others == other)
            for start in range(0, len(rows), _ROWS):
                some = rows[start : start + _ROWS]
                weights = cells[:, some].astype(np.float32)
                yes, said = truth.codes[some], predicted.codes[some]
                # float32 holds whole numbers exactly to 2^24, and no sum of so few records is larger.
                sums = weights @ np.concatenate([yes, said, yes * said], axis=1).astype(np.float32)
                true, positive, both = np.split(sums, 3, axis=1)
                total = weights.sum(axis=1, keepdims=True)
                out[:, :, other] += np.stack(
                    [total - true - positive + both, positive - both, true - both, both], axis=-1
                )
        return np.rint(out).astype(np.int64)

    def _split(self, sample: Counts, rng: np.random.Generator, evaluation: str) -> Counts:
        """Tables of the records learnt from and of those scored, along axis 1; in sample, all in one part."""
        whole = self._tables(sample)
        if evaluation == "in_sample":
            return whole[:, None]
        learn = self._tables(draw(sample, sample.sum(axis=1) // 2, rng))
        return np.stack([learn, whole - learn], axis=1)

    def _both_ways(self, parts: Counts, trials: int) -> Pair:
        """Each half scored by what was learnt from the other: no record's luck of the draw is left."""
        there, back = self._score(parts, trials), self._score(parts[:, ::-1], trials)
        return 0.5 * (there[0] + back[0]), 0.5 * (there[1] + back[1])

    def _score(self, parts: Counts, trials: int) -> Pair:
        """Score of the lookup, and of the one without input, for each trial; parts of (other, truth)."""
        # Over the variables of each trial; NaN stays NaN, to be reported with its trial.
        score, plain = (np.asarray(each.mean(axis=1)) for each in self._each(parts, trials))
        return score, plain

    def _each(self, parts: Counts, trials: int) -> Pair:
        """The same for each variable that is predicted, of shape (trials, variables)."""
        learn, test = parts[:, 0], parts[:, -1]
        if self.kind == "dpa":
            score, plain = self._with_and_without(learn, test, self.truth.yes_no[0])
            return score.reshape(trials, -1), plain.reshape(trials, -1)
        pairs = [
            self._with_and_without(self._by_class(learn, v), self._by_class(test, v), label)
            for v, label in enumerate(self.other.yes_no)
        ]
        score, plain = np.stack(pairs, axis=-1)
        return score, plain

    def _with_and_without(self, learn: Table, test: Table, label: bool) -> Pair:
        """Scores of the best lookup, and of the best answer without input."""
        score = best_score(learn, test, self.quality, label=label)
        return score, best_score(no_input(learn), no_input(test), self.quality, label=label)

    def _by_class(self, table: Table, variable: int) -> Table:
        """Counts of (truth, class of one variable of the other side)."""
        kind = np.zeros(self.size, dtype=np.int64)
        kind[self.others] = self.other.codes[:, variable]
        member = (kind[:, None] == np.arange(self.other.sizes[variable])).astype(table.dtype)
        return np.asarray(np.einsum("tok,oc->tkc", table, member))


def _summed(cells: Counts, place: Index, room: int) -> Counts:
    """Add up columns that fall on the same place."""
    order = np.argsort(place, kind="stable")
    held, start = np.unique(place[order], return_index=True)
    out = np.zeros((len(cells), room), dtype=np.int64)
    out[:, held] = np.add.reduceat(cells[:, order], start, axis=1)
    return out


def _halved(tables: Counts, rng: np.random.Generator, evaluation: str) -> Counts:
    """Perturbed tables, one part each, split into halves along axis 1."""
    if evaluation == "in_sample":
        return tables
    flat = tables.reshape(len(tables), -1)
    learn = draw(flat, flat.sum(axis=1) // 2, rng).reshape(tables.shape)
    return np.concatenate([learn, tables - learn], axis=1)
