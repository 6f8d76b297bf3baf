"""Quality equalization: the truth perturbed until it is as wrong as the model, redrawn for each trial.

Without it an attacker would tell the model's errors from the data's lack of them, and call the difference
bias. Three rules:

``"accuracy"``
    As many records as the model gets wrong are chosen, all alike, and get another class, all alike. A set of
    labels is perturbed label by label. Right when the model's errors are symmetric.
``"confusion"``
    The model's own answers are dealt out again at random among the records of the same true class, so that
    the whole confusion table (of a label: TPR and FPR) is the model's. Right whenever errors do not depend on
    the other side given the truth.
``None``
    The truth as it is.

Continuous truth: ``"accuracy"`` adds normal noise of the variance of the model's errors, ``"confusion"``
deals the model's own errors out again.

Each rule exists for records and for counts; both draw from the same distribution: drawing ``k`` of ``n`` records and
counting them by cell is the multivariate hypergeometric distribution, at the cost of the cells.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.plain_arguments import shown

from .sides import Labels, Numbers, Side

Counts = NDArray[np.int64]
Records = NDArray[np.int64]
Rule = str | None
RULES: tuple[Rule, ...] = ("accuracy", "confusion", None)

# numpy refuses to draw from populations of a billion and more; there the normal limit is exact to some
# ten-thousandths of a standard deviation.
_EXACT_BELOW = 1_000_000_000
# So many cells of one record are worth drawing as records: a cell takes numpy some fifty times as long.
_MANY_SINGLE = 1024


def check_rule(equalize: object) -> Rule:
    """Return the rule, or say which there are."""
    if equalize is None or (isinstance(equalize, str) and equalize in RULES):
        return equalize
    raise ValueError(f"equalize is {shown(equalize)}; take 'accuracy', 'confusion' or None")


def draw(counts: Counts, size: Counts | int, rng: np.random.Generator) -> Counts:
    """Draw ``size`` records, of shape (rows,) or one number for all, from every row of counts, without replacement.

    Counts before and after have the shape (rows, cells); the rows are independent populations.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = draw(np.array([[5, 0, 3]]), 4, np.random.default_rng(0))
    >>> int(drawn.sum()), bool((drawn <= [5, 0, 3]).all())
    (4, True)
    """
    rows, cells = counts.shape
    sizes = np.broadcast_to(np.asarray(size, dtype=np.int64), (rows,))
    if cells > rows and rows and counts.sum(axis=1).max() < _EXACT_BELOW:
        # Many cells, few rows: numpy's own loop over the cells is the faster one.
        return np.stack([_draw_row(row, int(own), rng) for row, own in zip(counts, sizes, strict=True)])
    drawn = np.zeros_like(counts)
    left, rest = sizes.copy(), counts.sum(axis=1)
    for cell in range(cells - 1):
        here = counts[:, cell]
        rest = rest - here
        drawn[:, cell] = taken = hypergeometric(here, rest, left, rng)
        left = left - taken
    drawn[:, -1] = left
    return drawn


def _draw_row(counts: Counts, size: int, rng: np.random.Generator) -> Counts:
    """As :func:`draw` for one row: cells of a single record are one cell first, and then some of its records."""
    single = np.flatnonzero(counts == 1)
    if len(single) < _MANY_SINGLE:
        return rng.multivariate_hypergeometric(counts, size, method="marginals")
    larger = np.flatnonzero(counts > 1)
    drawn = np.zeros_like(counts)
    taken = rng.multivariate_hypergeometric([*counts[larger], len(single)], size, method="marginals")
    drawn[larger] = taken[:-1]
    drawn[single[_some(len(single), int(taken[-1]), rng)]] = 1
    return drawn


def hypergeometric(good: Counts, bad: Counts, size: Counts, rng: np.random.Generator) -> Counts:
    """How many of ``size`` records drawn from ``good + bad`` are good, for populations of any size."""
    if not len(good) or max(int(good.max()), int(bad.max())) < _EXACT_BELOW:
        return rng.hypergeometric(good, bad, size).astype(np.int64)
    total = (good + bad).astype(np.float64)
    share = good / np.maximum(total, 1)
    spread = np.sqrt(size * share * (1 - share) * (total - size) / np.maximum(total - 1, 1))
    guess = np.rint(size * share + spread * rng.standard_normal(len(good))).astype(np.int64)
    return np.clip(guess, np.maximum(0, size - bad), np.minimum(good, size))


def scatter(counts: Counts, classes: int, rng: np.random.Generator) -> Counts:
    """Give each counted record one of ``classes`` classes, all alike: shape ``counts.shape + (classes,)``."""
    if classes == 1:
        return counts[..., None]
    spread: Counts = rng.multinomial(counts, np.full(classes, 1 / classes))
    return spread


def equalize_tables(parts: Counts, rule: Rule, rng: np.random.Generator) -> Counts:
    """Perturb the truth of counted records.

    ``parts`` counts (other, truth, predicted), shape (trials, parts, others, classes, classes); the parts of a trial,
    the halves of a split, share one perturbation. Returns counts of (other, perturbed truth), shape (trials, parts,
    others, classes).

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[[[[30, 10], [0, 20]]]]])  # ten errors, all on the first class
    >>> equalize_tables(table, "confusion", np.random.default_rng(0))[0, 0, 0]
    array([30, 30])
    """
    truth: Counts = parts.sum(axis=-1)
    if rule is None:
        return truth
    trials, _, _, classes = truth.shape
    if rule == "accuracy":
        right = np.trace(parts, axis1=-2, axis2=-1).sum(axis=(1, 2))
        wrong = parts.sum(axis=(1, 2, 3, 4)) - right
        moved = draw(truth.reshape(trials, -1), wrong, rng).reshape(truth.shape)
        out = truth - moved
        if classes == 2:
            return np.asarray(out + moved[..., ::-1])
        landed = scatter(moved, classes - 1, rng)
        for true in range(classes):
            others = [c for c in range(classes) if c != true]
            out[..., others] += landed[..., true, :]
        return out
    confusion = parts.sum(axis=(1, 2))
    out = np.zeros_like(truth)
    for true in range(classes):
        left = truth[..., true].reshape(trials, -1)
        for said in range(classes - 1):
            dealt = draw(left, confusion[:, true, said], rng)
            out[..., said] += dealt.reshape(out.shape[:-1])
            left = left - dealt
        out[..., -1] += left.reshape(out.shape[:-1])
    return out


def equalize_records(truth: Side, predicted: Side, rule: Rule, rng: np.random.Generator) -> Side:
    """Perturb the truth of records; see the module for the rules."""
    if rule is None:
        return truth
    if isinstance(truth, Numbers):
        assert isinstance(predicted, Numbers)
        return _numbers(truth, predicted, rule, rng)
    assert isinstance(predicted, Labels)
    codes = truth.codes.copy()
    for v in np.flatnonzero(np.array(truth.sizes) == 2):
        codes[_moved(truth, predicted, int(v), rule, rng), v] ^= 1
    for v in np.flatnonzero(np.array(truth.sizes) > 2):
        codes[:, v] = _one_of_many(truth.codes[:, v], predicted.codes[:, v], truth.sizes[v], rule, rng)
    return replace(truth, codes=codes)


def _moved(truth: Labels, predicted: Labels, variable: int, rule: str, rng: np.random.Generator) -> Records:
    """Which records change their class of a variable of two classes: only these are drawn, not an order of all."""
    yes = truth.holders[variable]
    missed = int((predicted.codes[yes, variable] == 0).sum())
    added = int(predicted.holding[variable]) - (len(yes) - missed)
    if rule == "accuracy":
        return _some(len(truth), missed + added, rng)
    no = np.sort(_some(len(truth) - len(yes), added, rng))  # in order, they are found faster
    # The k-th record without the label stands behind those with it that have at most k others before them.
    no = no + np.searchsorted(yes - np.arange(len(yes)), no, side="right")
    return np.concatenate([yes[_some(len(yes), missed, rng)], no])


def _some(n: int, size: int, rng: np.random.Generator) -> Records:
    """So many of the numbers below n, every set of them alike."""
    return rng.choice(n, size, replace=False, shuffle=False)


def _one_of_many(
    truth: NDArray[Any], predicted: NDArray[Any], classes: int, rule: str, rng: np.random.Generator
) -> NDArray[Any]:
    if rule == "accuracy":
        out = truth.copy()
        chosen = rng.permutation(len(truth))[: int((truth != predicted).sum())]
        out[chosen] = (truth[chosen] + rng.integers(1, classes, size=len(chosen))) % classes
        return out
    # Both orders go through the true classes alike: answers meet records of their own class, shuffled.
    shuffled = rng.permutation(len(truth))
    receive = shuffled[np.argsort(truth[shuffled], kind="stable")]
    hand_out = np.argsort(truth, kind="stable")
    out = np.empty_like(truth)
    out[receive] = predicted[hand_out]
    return out


def _numbers(truth: Numbers, predicted: Numbers, rule: str, rng: np.random.Generator) -> Numbers:
    errors = predicted.values - truth.values
    if rule == "confusion":
        return Numbers(truth.values + rng.permuted(errors, axis=0))
    noise = rng.standard_normal(errors.shape)
    # Scaled so that the perturbed truth has the model's error variance in this very trial, as a perturbed
    # label has its accuracy.
    noise = (noise - noise.mean(axis=0)) / np.maximum(noise.std(axis=0), 1e-300)
    return Numbers(truth.values + noise * errors.std(axis=0))
