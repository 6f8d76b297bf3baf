"""Sets in which every task goes as often with one gender as with the other (DPA paper, eqs. 15 and 16)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasamp.data import LabelSet, label_set, read_columns
from biasamp.data.plain_arguments import number, whole_number
from biasamp.data.same_columns import same_index

Rows = NDArray[np.int64]


def balance(tasks: Any, attribute: Any, *, ratio: float | None = None, seed: int | np.random.Generator = 0) -> Rows:
    r"""Records to keep so that every task goes as often with one group as with the other, or nearly so.

    Without ``ratio`` exactly (eq. 15): :math:`\forall y: \#(m, y) = \#(f, y)`. Of every set of tasks that records have, as many
    records of one group as of the other are kept, so that no combination of tasks tells the group either, which is more than
    eq. 15 asks. With ``ratio`` :math:`q` (eq. 16, where it is 2): :math:`\forall y: 1/q < \#(m, y) / \#(f, y) < q`; records of the
    group that has too many are left out at random, the worst task first, until no task is over.

    On such a set directional amplification is 0 by construction where the model keeps to it, and predictability is not.

    Parameters
    ----------
    tasks : array-like, frame or list of lists
        The tasks of each record, read as ``truth`` of :func:`biasamp.directional`.
    attribute : array-like
        The group of each record; there must be two.
    ratio : float, optional
        The ratio that no task may reach, above 1; by default tasks are balanced exactly.
    seed : int or Generator
        Which records are kept.

    Returns
    -------
    ndarray of int
        Rows to keep, in their old order.

    See Also
    --------
    directional : blind to what a model adds to balanced data.
    dpa : not blind to it.

    References
    ----------
    Tokas, B., Nair, R. and Kerner, H. Making Bias Amplification in Balanced Datasets Directional and Interpretable. Sec. 5.2,
    eqs. 15 and 16.

    Examples
    --------
    >>> import biasamp
    >>> objects = [["fork"], ["fork"], ["fork"], ["knife"], ["knife"]]
    >>> gender = ["f", "m", "m", "f", "m"]
    >>> kept = biasamp.balance(objects, gender)
    >>> [gender[i] for i in kept if "fork" in objects[i]].count("m")
    1
    >>> len(biasamp.balance([["fork"]] * 10, ["m"] * 8 + ["f"] * 2, ratio=2))
    5
    """
    if not isinstance(seed, np.random.Generator):
        seed = whole_number(seed, "seed")
    same_index({"tasks": tasks, "attribute": attribute})
    held = _whole(tasks, "tasks")
    groups = _whole(attribute, "attribute")
    if len(held) != len(groups):
        raise ValueError(
            f"tasks has {len(held):,} records and attribute {len(groups):,}; they must be of the same records"
        )
    if not groups.exclusive or groups.width != 2:
        raise ValueError(
            f"attribute has {groups.width} groups: {', '.join(map(str, groups.labels[:5]))}; two groups are balanced, one for each "
            "record. Keep the records of two groups first, or name one group against all others"
        )
    first = groups.rows()[:, 0].astype(bool)
    if ratio is None:
        return exactly_balanced(held.rows().astype(bool), first, seed)
    largest = number(ratio, "ratio")
    if not largest > 1:
        raise ValueError(f"ratio is {ratio!r}; it must be above 1, or left out to balance exactly")
    flags = held.rows().astype(bool)
    lacking = np.flatnonzero(flags.any(axis=0) & ~(flags[first].any(axis=0) & flags[~first].any(axis=0)))
    if len(lacking):
        raise ValueError(
            f"the task {held.labels[int(lacking[0])]} goes with one group alone, so that no choice of records brings it within a "
            f"ratio of {largest:g}: leave it out"
        )
    return within_ratio(flags, first, largest=largest, seed=seed)


def _whole(values: Any, name: str) -> LabelSet:
    """Hard labels without missing ones."""
    read = label_set(read_columns(values, name), name)
    if read.missing:
        raise ValueError(f"{name} has {read.missing:,} missing values: leave those records out first")
    return read


def exactly_balanced(objects: ArrayLike, man: ArrayLike, seed: int | np.random.Generator = 0) -> Rows:
    r"""Records to keep so that :math:`\#(m, y) = \#(f, y)` for every task ``y`` (eq. 15).

    Of every set of tasks that records hold, as many men as women are kept, chosen at random. So men and women
    are also as many in all, and no combination of tasks tells gender either, which is more than eq. 15 asks.

    Parameters
    ----------
    objects : array-like of bool, shape (records, tasks)
    man : array-like of bool, shape (records,)
    seed : int or Generator

    Returns
    -------
    ndarray of int
        Rows in their old order.

    Examples
    --------
    >>> exactly_balanced([[1], [1], [0]], [1, 0, 0]).tolist()
    [0, 1]
    """
    held, of_men = _read(objects, man)
    rng = np.random.default_rng(seed)
    kept: list[Rows] = []
    _, group = np.unique(held, axis=0, return_inverse=True)
    for rows in _by_group(group.ravel()):
        men, women = rows[of_men[rows]], rows[~of_men[rows]]
        size = min(len(men), len(women))
        kept += [rng.choice(side, size, replace=False) for side in (men, women)]
    return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.int64)


def within_ratio(
    objects: ArrayLike, man: ArrayLike, *, largest: float = 2.0, seed: int | np.random.Generator = 0
) -> Rows:
    r"""Records to keep so that :math:`1/q < \#(m, y) / \#(f, y) < q` for every task ``y`` (eq. 16, with q = 2).

    Records of the gender that has too many are left out at random, the worst task first, until no task is over.
    Tasks that no record has are left as they are.

    Arguments and result are those of :func:`exactly_balanced`; ``largest`` is the ratio ``q`` that must not be reached.
    A task that is left without one of the genders, such as one that only men have, is a ``ValueError``.

    Examples
    --------
    >>> kept = within_ratio([[1]] * 10, [1] * 8 + [0] * 2, seed=0)
    >>> len(kept)
    5
    """
    held, of_men = _read(objects, man)
    if not largest > 1:
        raise ValueError(f"largest must be above 1, found {largest!r}")
    rng = np.random.default_rng(seed)
    stays = np.ones(len(held), dtype=bool)
    while True:
        men, women = (held[stays & side].sum(axis=0, dtype=np.int64) for side in (of_men, ~of_men))
        more, less = np.maximum(men, women), np.minimum(men, women)
        if ((less == 0) & (more > 0)).any():
            task = int(np.flatnonzero((less == 0) & (more > 0))[0])
            raise ValueError(
                f"objects: task {task} has {men[task]:,} men and {women[task]:,} women left, which no choice of records "
                f"brings within a ratio of {largest:g}; leave the task out"
            )
        over = np.where(less > 0, more / np.maximum(less, 1), 0.0)
        if not (over >= largest).any():
            return np.flatnonzero(stays)
        task = int(np.argmax(over))
        side = of_men if men[task] > women[task] else ~of_men
        # As many as leave the ratio just below the largest.
        wanted = int(np.ceil(largest * less[task])) - 1
        rows = np.flatnonzero(stays & side & held[:, task])
        stays[rng.choice(rows, len(rows) - wanted, replace=False)] = False


def with_majority(
    task: ArrayLike,
    man: ArrayLike,
    *,
    ratio: float,
    of_men: bool,
    most: int | None = None,
    seed: int | np.random.Generator = 0,
) -> Rows:
    """Records to keep so that majority groups are ``ratio`` times as many as minority groups (2021 paper, Sec. 5.2).

    Where a task goes with men, men who have it and women who do not are the majority, each ``ratio`` times as many
    as men who do not and women who do, to the nearest record.

    Parameters
    ----------
    task, man : array-like of bool, shape (records,)
    ratio : float
        1 or more.
    of_men : bool
        Whether the task goes with men.
    most : int, optional
        How many records to keep at most; by default as many as there are.
    seed : int or Generator

    Examples
    --------
    >>> len(with_majority([1] * 8 + [0] * 8, [1, 0] * 8, ratio=2, of_men=True))
    12
    """
    has, is_man = np.asarray(task, dtype=bool), np.asarray(man, dtype=bool)
    if has.ndim != 1 or has.shape != is_man.shape:
        raise ValueError(f"task has shape {has.shape} and man {is_man.shape}; one value per record is needed in both")
    if not ratio >= 1:
        raise ValueError(f"ratio must be 1 or more, found {ratio!r}")
    rng = np.random.default_rng(seed)
    usual = (has == is_man) if of_men else (has != is_man)
    groups = {(u, m): np.flatnonzero((usual == u) & (is_man == m)) for u in (True, False) for m in (True, False)}
    many, few = (min(len(rows) for (u, _), rows in groups.items() if u == side) for side in (True, False))
    small = min(few, int(many / ratio))
    if most is not None:
        small = min(small, int(most / (2 * (1 + ratio))))
    sizes = {True: min(round(small * ratio), many), False: small}
    return np.sort(np.concatenate([rng.choice(rows, sizes[u], replace=False) for (u, _), rows in groups.items()]))


def _read(objects: ArrayLike, man: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    held, of_men = np.asarray(objects, dtype=bool), np.asarray(man, dtype=bool)
    if held.ndim != 2 or of_men.shape != held.shape[:1]:
        raise ValueError(
            f"objects has shape {held.shape} and man {of_men.shape}; (records, tasks) and (records,) are needed"
        )
    return held, of_men


def _by_group(group: NDArray[np.int64]) -> list[Rows]:
    """The rows of every group."""
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
