r"""The best attacker there is on discrete data: for every input the answer that scores best.

For accuracy it answers, for input :math:`x`, :math:`\arg\max_y C(x, y)`; no function of the input does
better on the records it was fitted to. Everything works on stacks of tables of shape
``(..., inputs, classes)``, fitted on one stack and scored on another.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from .quality import from_confusion, rank_auc

Table = NDArray[np.int64] | NDArray[np.float64]
Values = NDArray[np.float64]

# Macro F1 over several classes has no closed form: all functions are tried up to this many of them.
_EXHAUSTIVE = 4096
_SWEEPS = 20


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

    Returns
    -------
    ndarray
        One score for every table of the stack; NaN where the quality is undefined.

    Notes
    -----
    Inputs that ``train`` lacks are answered as without input. Ties go to the class that is the more frequent
    one in ``train``. Accuracy, balanced accuracy, AUC and the F1 of one label are exact maxima; the mean F1
    of several classes is exact for up to 4096 functions, and a local maximum beyond.

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
