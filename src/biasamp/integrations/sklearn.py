"""Scores for scikit-learn's model selection, and thresholds that keep predicted rates where they belong.

Every score takes ``(y_true, y_pred, *, sensitive_features, sample_weight=None)``, as Fairlearn's metrics do, so that
one call to ``make_scorer`` makes a scorer of it. One column of ``y`` is a variable whose every class is a label; a matrix
is a set of yes/no labels. Several columns of ``sensitive_features`` are crossed, as in Fairlearn's ``MetricFrame``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from biasamp.amplification.directional import directional_pairs
from biasamp.amplification.multi import multi
from biasamp.amplification.pair_table import mean_over_pairs
from biasamp.amplification.parity import between_groups, group_rates, over_groups
from biasamp.amplification.signs import association_signs
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data.arguments import read_evaluation

from .threshold_calibrator import ThresholdCalibrator

__all__ = [
    "ThresholdCalibrator",
    "accuracy_difference_score",
    "bias_amplification_score",
    "fpr_difference_score",
    "mean_per_class_accuracy_score",
    "multi_amplification_score",
    "tpr_difference_score",
]


def bias_amplification_score(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    train: Any = None,
    absolute: bool = False,
) -> float:
    r"""Directional bias amplification A→T: do predictions lean further than the labels to the groups they are tied to?

    .. math:: \frac{1}{|A||T|} \sum_{a, t} y_{at} \, [P(\hat t | a) - P(t | a)], \quad
        y_{at} = \operatorname{sign}[P(a, t) - P(a) P(t)]

    For T→A give the true and predicted attribute as ``y`` and the task as ``sensitive_features``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (records,) or (records, labels)
        True and predicted labels; predictions may be probabilities, which count as fractions.
    sensitive_features : array-like of shape (records,) or (records, features)
        The protected attribute; several are crossed.
    sample_weight : array-like, optional
        One weight a record.
    train : pair of array-like, optional
        ``(sensitive_features, y)`` of the training set, which then decides the signs. Without it they come from
        ``y_true``, which biases the score down; a small fold is biased most.
    absolute : bool
        The absolute value: a model selected for the smallest signed score is the one that reverses the data most.

    Returns
    -------
    float
        Positive: associations get stronger. Smaller is better: use ``make_scorer(..., greater_is_better=False)``.

    See Also
    --------
    biasamp.directional : the same value with pairs, intervals and cautions.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML.

    Examples
    --------
    >>> from sklearn.metrics import make_scorer
    >>> from biasamp.integrations.sklearn import bias_amplification_score
    >>> group = ["first"] * 90 + ["second"] * 30
    >>> y_true = [0] * 60 + [1] * 30 + [0] * 10 + [1] * 20
    >>> y_pred = [0] * 90 + [1] * 30
    >>> round(bias_amplification_score(y_true, y_pred, sensitive_features=group), 4)
    0.3333
    >>> scorer = make_scorer(bias_amplification_score, greater_is_better=False)
    """
    if train is not None:
        if not isinstance(train, (tuple, list)) or len(train) != 2:
            raise TypeError("train must be a pair (sensitive_features, y) of the training set")
        columns = _width(sensitive_features), _width(train[0])
        if columns[0] != columns[1]:
            raise ValueError(f"sensitive_features has {columns[0]} columns, but that of train has {columns[1]}")
        both = crossed(sensitive_features, train[0])
        given, train = both[0], (both[1], train[1])
    else:
        (given,) = crossed(sensitive_features)
    evaluation, train_sets = read_evaluation(given, y_true, y_pred, train, sample_weight)
    counts = PairCounts.from_labels(evaluation)
    signs_from = counts.truth_joint if train_sets is None else JointCounts.from_labels(*train_sets)
    pairs = directional_pairs(counts, association_signs(signs_from))
    value = float(mean_over_pairs(pairs.amplification, pairs.defined))
    return abs(value) if absolute else value


def multi_amplification_score(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, over_floor: bool = False
) -> float:
    """Multi: how much rates change on average, for sets of labels that hold together too, whatever the sign.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight
        As for :func:`bias_amplification_score`.
    over_floor : bool
        Less the value that a model without amplification that errs as often would show.

    Returns
    -------
    float
        Smaller is better.

    Examples
    --------
    >>> multi_amplification_score([0, 0, 1, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"])
    0.25
    """
    (given,) = crossed(sensitive_features)
    result = multi(given, y_true, y_pred, weights=sample_weight)
    return float(result.value - (result.floor or 0.0)) if over_floor else float(result.value)


def tpr_difference_score(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """The largest difference between groups in true positive rates, over all labels.

    NaN where no two groups have a true positive rate. Of a yes/no variable only class 1 counts, as elsewhere.

    Examples
    --------
    >>> tpr_difference_score([1, 1, 1, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    return _difference("true_positive_rate", y_true, y_pred, sensitive_features, sample_weight)


def fpr_difference_score(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """The largest difference between groups in false positive rates, over all labels.

    Examples
    --------
    >>> fpr_difference_score([0, 0, 0, 0], [0, 1, 0, 0], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    return _difference("false_positive_rate", y_true, y_pred, sensitive_features, sample_weight)


def accuracy_difference_score(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """The largest difference between groups in accuracy, over all labels.

    Examples
    --------
    >>> accuracy_difference_score([0, 1, 0, 1], [1, 1, 0, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    return _difference("accuracy", y_true, y_pred, sensitive_features, sample_weight)


def mean_per_class_accuracy_score(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> float:
    """The mean of TPR and 1 - FPR, averaged over groups; of several labels the least. Greater is better.

    Examples
    --------
    >>> mean_per_class_accuracy_score([0, 1, 0, 1], [1, 1, 0, 1], sensitive_features=["a", "a", "b", "b"])
    0.75
    """
    values = over_groups(_rates(y_true, y_pred, sensitive_features, sample_weight).mean_per_class_accuracy)
    return float("nan") if np.isnan(values).all() else float(np.nanmin(values))


def _difference(rate: str, y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any) -> float:
    values = between_groups(getattr(_rates(y_true, y_pred, sensitive_features, sample_weight), rate))
    return float("nan") if np.isnan(values).all() else float(np.nanmax(values))


def _rates(y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any) -> Any:
    """Rates by group; a 0/1 variable has the rates of class 1, as in scikit-learn and Fairlearn."""
    from biasamp.data import binary

    (given,) = crossed(sensitive_features)
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    numbers = truth.ndim == predicted.ndim == 1 and truth.dtype.kind in "biuf" and predicted.dtype.kind in "biuf"
    # A fold may lack a class that is predicted in it: then there are more than two.
    if numbers and np.isin(truth, (0, 1)).all() and ((predicted >= 0) & (predicted <= 1)).all():
        y_true, y_pred = binary(truth), binary(predicted)
    evaluation, _ = read_evaluation(given, y_true, y_pred, None, sample_weight)
    return group_rates(PairCounts.from_labels(evaluation))


def _width(features: Any) -> int:
    shape = np.shape(features)
    return 1 if len(shape) < 2 else int(shape[1])


def crossed(*features: Any) -> list[Any]:
    """Sensitive features as one variable each; several columns are crossed, in the same way for all of them."""
    tables = [np.asarray(part, dtype=object) for part in features]
    for table in tables:
        if table.ndim not in (1, 2) or not table.size:
            raise ValueError(f"sensitive_features has shape {table.shape}; one row a record, one column a feature")
    if all(_width(table) == 1 for table in tables):
        if all(table.ndim == 1 for table in tables):
            return list(features)
        return [table.ravel().tolist() for table in tables]
    # Lists of values would not tell ("a, b", "c") from ("a", "b, c"): number the combinations instead.
    numbers: dict[tuple[Any, ...], int] = {}
    return [[f"{numbers.setdefault(tuple(row), len(numbers))}" for row in table.tolist()] for table in tables]
