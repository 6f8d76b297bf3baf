"""``biasamp.mals``: the metric of "Men Also Like Shopping"."""

from __future__ import annotations

from typing import Any

import numpy as np

from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.labels import LabelSet, align, same_length, weights_of
from biasamp.metrics.amplification import mals_pairs, mals_value
from biasamp.metrics.signs import association_p
from biasamp.results import Amplification

from .pair_table import excluded_pairs, pair_table
from .reading import read, read_train


def mals(A: Any, T: Any, A_pred: Any, T_pred: Any, *, train: Any = None, weights: Any = None) -> Amplification:
    r"""Bias amplification as in Zhao et al. (2017), BiasAmp-MALS.

    .. math::
        \frac{1}{|T|} \sum_{a, t} y_{at} \, [P(\hat a = 1 | \hat t = 1) - P(a = 1 | t = 1)], \quad
        y_{at} = 1\left[P(a = 1 | t = 1) > \tfrac{1}{|A|}\right]

    It mixes the two directions, looks at positive correlations only, and may follow the larger group instead of
    the one that is associated with the task: such pairs are flagged ``wrong_group`` in ``.pairs``.

    Parameters
    ----------
    A, T : array-like or None
        True groups and tasks of the evaluated records. With ``train`` they are not needed and may be None.
    A_pred, T_pred : array-like
        Predicted groups and tasks, hard or soft.
    train : pair of array-like, optional
        ``(A, T)`` of the training set, which then gives the indicator and ``P(a | t)``.
    weights : array-like, optional
        One weight an evaluated record.

    Returns
    -------
    Amplification
        ``.pairs`` has the attribute as ``given`` and the task as ``outcome``; ``support`` is the number of
        records predicted to have the task.

    See Also
    --------
    directional : tells the two directions apart and takes base rates into account.

    References
    ----------
    Zhao, J., Wang, T., Yatskar, M., Ordonez, V. and Chang, K.-W. (2017). Men also like shopping: reducing gender
    bias amplification using corpus-level constraints. EMNLP.

    Examples
    --------
    Shortcoming 2 of the 2021 paper: MALS picks the larger group and reports a decrease.

    >>> import biasamp
    >>> group = ["first"] * 90 + ["second"] * 30
    >>> task = biasamp.binary([0] * 60 + [1] * 30 + [0] * 10 + [1] * 20)
    >>> model = biasamp.binary([0] * 90 + [1] * 30)
    >>> result = biasamp.mals(group, task, group, model)
    >>> round(result.value, 4), [row["given"] for row in result.pairs.rows() if row["wrong_group"]]
    (-0.6, ['first', 'second'])
    """
    if train is None and (A is None or T is None):
        lacking = "A" if A is None else "T"
        raise ValueError(f"{lacking} is None: true labels are needed unless train=(A, T) is given")
    a_sets: dict[str, LabelSet] = {}
    t_sets: dict[str, LabelSet] = {}
    if train is not None:
        a_sets["train A"], t_sets["train T"] = read_train(train, ("A", "T"))
    if A is not None and T is not None:
        a_sets["A"], t_sets["T"] = read(A, "A"), read(T, "T")
    elif A is not None or T is not None:
        raise ValueError("A and T come together: give both or neither")
    a_sets["A_pred"] = read(A_pred, "A_pred", soft=True, like=next(iter(a_sets.values())))
    t_sets["T_pred"] = read(T_pred, "T_pred", soft=True, like=next(iter(t_sets.values())))
    count = same_length({name: s for name, s in {**a_sets, **t_sets}.items() if not name.startswith("train")})
    a_sets = dict(zip(a_sets, align(list(a_sets.values()), list(a_sets)), strict=True))
    t_sets = dict(zip(t_sets, align(list(t_sets.values()), list(t_sets)), strict=True))
    w = weights_of(weights, count)
    predictions = JointCounts.from_labels(a_sets["A_pred"], t_sets["T_pred"], w)
    if train is not None:
        labels = JointCounts.from_labels(a_sets["train A"], t_sets["train T"])
    else:
        labels = JointCounts.from_labels(a_sets["A"], t_sets["T"], w)
    return from_counts(labels, predictions, "the evaluated labels" if train is None else "the train labels")


def from_counts(labels: JointCounts, predictions: JointCounts, sign_source: str) -> Amplification:
    """The result for joint counts of the labels and of the predictions."""
    pairs = mals_pairs(labels, predictions)
    if not pairs.defined.any():
        raise ValueError("no task is defined: none is both present in the labels and predicted")
    support = floats(predictions.right)
    nothing = np.full(pairs.delta.shape, np.nan)
    return Amplification(
        metric="mals",
        value=float(mals_value(pairs)),
        pairs=pair_table(
            labels.left_labels,
            labels.right_labels,
            pairs,
            factor=pairs.sign,
            sign_p=association_p(labels),
            low=nothing,
            high=nothing,
            support=support,
            wrong_group=pairs.wrong_group,
        ),
        excluded=excluded_pairs(
            labels.left_labels,
            labels.right_labels,
            pairs,
            "the task is absent from the labels or is never predicted",
            outcome_count=floats(labels.right),
            predicted_count=support,
            joint_count=floats(labels.joint),
        ),
        n=float(floats(predictions.n).max()),
        sign_source=sign_source,
    )
