"""Scores for scikit-learn's model selection, and thresholds that keep predicted rates where they belong.

Every score takes ``(y_true, y_pred, *, sensitive_features, sample_weight=None)``, as Fairlearn's metrics do, so that
one call to ``make_scorer`` makes a scorer of it. One column of ``y`` is a variable whose every class is a label; a matrix
is a set of yes/no labels. Several columns of ``sensitive_features`` are crossed, as in Fairlearn's ``MetricFrame``.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from biasamp.amplification.base import Base
from biasamp.amplification.calibrate import calibrate
from biasamp.amplification.directional import directional_pairs
from biasamp.amplification.group_rates import GroupRates, between_groups, group_rates, over_groups
from biasamp.amplification.multi import from_records
from biasamp.amplification.pair_table import mean_over_pairs
from biasamp.amplification.parity import undefined_rates, warn_of_rates
from biasamp.amplification.positive import choose_outcomes
from biasamp.amplification.signs import association_signs
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts, outcome_masks
from biasamp.counts.signed_sums import Block
from biasamp.data import Evaluation, LabelSet, binary, printable
from biasamp.data.arguments import one_value_words, read_evaluation
from biasamp.data.plain_arguments import shown
from biasamp.data.same_columns import same_index

# What messages call the groups, the truth and the predictions.
_NAMES = ("sensitive_features", "y_true", "y_pred")
# What kinds of warnings were given of the folds of a search in this process.
_SAID: set[str] = set()


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
        True and predicted labels; predictions may be probabilities, which count as fractions, and not as decisions at 0.5.
        Of one column with two dimensions only value 1 counts; of one with one dimension both values do, which gives the same score.
        A ``y_true`` of one value has a score of 0 whatever is predicted, which a warning says.
    sensitive_features : array-like of shape (records,) or (records, features)
        The protected attribute; several are crossed.
    sample_weight : array-like, optional
        One weight per record.
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
    evaluation, train_sets, _ = _read(y_true, y_pred, sensitive_features, sample_weight, train)
    counts = PairCounts.from_labels(evaluation)
    known = None if train_sets is None else JointCounts.from_labels(*train_sets)
    pairs = directional_pairs(counts, association_signs(known or counts.truth_joint))
    # A group or a class that the training set lacks has no sign.
    groups, classes = Base(sign_counts=known).signed(*pairs.defined.shape)
    counted = pairs.defined & groups[:, None] & classes
    if not counted.all():
        _warn(
            "left out",
            f"{int((~counted).sum()):,} of {counted.size:,} pairs are left out of the score: no record has their group, or the "
            "training set lacks their group or class; biasamp.directional(...).excluded lists them",
            stacklevel=3,
        )
    if _one_group(evaluation):
        return float("nan")
    one_value = one_value_words(evaluation.truth, "y_true") if train is None else None
    if one_value is not None:
        _warn("one value", one_value, stacklevel=3)
    value = float(mean_over_pairs(pairs.amplification, counted))
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
    evaluation, _, _ = _read(y_true, y_pred, sensitive_features, sample_weight)
    _one_group(evaluation)
    result = from_records(Block(evaluation.owned()), None)
    return float(result.value - (result.floor or 0.0)) if over_floor else float(result.value)


def tpr_difference_score(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, positive: Any = None
) -> float:
    """The largest difference between groups in true positive rates, over all labels.

    NaN where no two groups have a true positive rate. Of a yes/no variable only its positive class counts: 1, True,
    "yes", or the one that ``positive`` names.

    Examples
    --------
    >>> tpr_difference_score([1, 1, 1, 1], [0, 1, 1, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    return _difference("true_positive_rate", y_true, y_pred, sensitive_features, sample_weight, positive)


def fpr_difference_score(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, positive: Any = None
) -> float:
    """The largest difference between groups in false positive rates, over all labels.

    Examples
    --------
    >>> fpr_difference_score([0, 0, 0, 0], [0, 1, 0, 0], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    return _difference("false_positive_rate", y_true, y_pred, sensitive_features, sample_weight, positive)


def accuracy_difference_score(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, positive: Any = None
) -> float:
    """The largest difference between groups in accuracy, over all labels.

    Examples
    --------
    >>> accuracy_difference_score([0, 1, 0, 1], [1, 1, 0, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    return _difference("accuracy", y_true, y_pred, sensitive_features, sample_weight, positive)


def mean_per_class_accuracy_score(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> float:
    """The mean of TPR and 1 - FPR, averaged over groups; of several labels the least. Greater is better.

    Examples
    --------
    >>> mean_per_class_accuracy_score([0, 1, 0, 1], [1, 1, 0, 1], sensitive_features=["a", "a", "b", "b"])
    0.75
    """
    both = ("true_positive_rate", "false_positive_rate")
    _, rates = _rates(both, y_true, y_pred, sensitive_features, sample_weight)
    values = over_groups(rates.mean_per_class_accuracy)
    return float("nan") if np.isnan(values).all() else float(np.nanmin(values))


def _difference(
    rate: str, y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, positive: Any
) -> float:
    evaluation, rates = _rates((rate,), y_true, y_pred, sensitive_features, sample_weight, positive)
    values = between_groups(getattr(rates, rate))
    return float("nan") if _one_group(evaluation) or np.isnan(values).all() else float(np.nanmax(values))


def _rates(
    used: tuple[str, ...],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    positive: Any = None,
) -> tuple[Evaluation, GroupRates]:
    """Rates by group; a two-valued variable has the rates of its positive class, as in scikit-learn and Fairlearn.

    A warning names those of the rates ``used`` that are undefined.
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    numbers = truth.ndim == predicted.ndim == 1 and truth.dtype.kind in "biuf" and predicted.dtype.kind in "biuf"
    # A fold may lack a class that is predicted in it: then there are more than two.
    if positive is None and numbers and np.isin(truth, (0, 1)).all() and ((predicted >= 0) & (predicted <= 1)).all():
        y_true, y_pred = binary(y_true), binary(y_pred)
    evaluation, _, invented = _read(y_true, y_pred, sensitive_features, sample_weight)
    apart = set() if invented is None else {variable.name for variable in invented.variables}
    outcomes = choose_outcomes(evaluation.truth.variables, positive, apart)
    counts = PairCounts.from_labels(evaluation)
    counts = counts.only(*outcome_masks(counts, outcomes.columns))
    rates = group_rates(counts)
    gone = undefined_rates(rates, counts.given_labels, counts.outcome_labels)
    warn_of_rates(outcomes, [row for row in gone if row["rate"] in used], "biasamp.parity(...).excluded")
    return evaluation, rates


def _read(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, train: Any = None
) -> tuple[Evaluation, tuple[LabelSet, LabelSet] | None, LabelSet | None]:
    """The arguments of a score as labels, the train labels, and labels that only the predictions have."""
    same_index(dict(zip(_NAMES, (sensitive_features, y_true, y_pred), strict=True)) | {"sample_weight": sample_weight})
    if train is None:
        (given,) = _crossed(sensitive_features)
    else:
        if not isinstance(train, (tuple, list)) or len(train) != 2:
            raise TypeError("train must be a pair (sensitive_features, y) of the training set")
        own, other = _width(sensitive_features), _width(train[0])
        if own != other:
            raise ValueError(f"sensitive_features has {own} columns, but that of train has {other}")
        given, train_given = _crossed(sensitive_features, train[0])
        train = train_given, train[1]
    # A fold may have one group only: that is warned of.
    read = read_evaluation(
        given, y_true, y_pred, train, sample_weight, names=_NAMES, weights_name="sample_weight", compared=False
    )
    invented = read[2]
    if invented is not None:
        shown = ", ".join(repr(printable(str(label), 40)) for label in invented.labels[:3])
        _warn(
            "invented",
            f"y_pred holds {invented.width:,} values that y_true never has, such as {shown}: they are in no pair and in no rate",
            stacklevel=4,
        )
    return read


def _one_group(evaluation: Evaluation) -> bool:
    """Whether there is one group only, which a warning says."""
    if (evaluation.given.totals() > 0).sum() > 1:
        return False
    _warn(
        "one group",
        "sensitive_features has one group only: there is none to compare it with. A score that compares groups is NaN; "
        "give folds that hold several groups, such as those of StratifiedKFold over the groups",
        stacklevel=5,
    )
    return True


def _warn(kind: str, words: str, *, stacklevel: int) -> None:
    """Warn; of the folds of a search once of a kind, as hundreds of scores would say the same.

    scikit-learn makes Python forget which warnings were shown before.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and not frame.f_globals.get("__name__", "").startswith("sklearn.model_selection"):
        frame = frame.f_back
    if frame.f_back is not None:
        if kind in _SAID:
            return
        _SAID.add(kind)
    warnings.warn(words, UserWarning, stacklevel=stacklevel)


def _width(features: Any) -> int:
    return 1 if np.ndim(features) < 2 else int(np.shape(features)[1])


def _crossed(*features: Any) -> list[Any]:
    """Sensitive features as one variable each; several columns are crossed, in the same way for all of them."""
    tables = [np.asarray(part, dtype=object) for part in features]
    for part, table in zip(features, tables, strict=True):
        if table.ndim == 0:
            raise TypeError(f"sensitive_features is {shown(part)}; a column of groups is needed, one per record")
        if not table.size:
            raise ValueError("sensitive_features is empty: at least one record is needed")
        if table.ndim not in (1, 2):
            raise ValueError(f"sensitive_features has shape {table.shape}; one row per record, one column per feature")
    if all(table.ndim == 1 for table in tables):
        return list(features)
    if all(_width(table) == 1 for table in tables):
        return [table.ravel().tolist() for table in tables]
    # Lists of values would not tell ("a, b", "c") from ("a", "b, c"): number the combinations instead.
    numbers: dict[tuple[Any, ...], int] = {}
    return [[f"{numbers.setdefault(tuple(row), len(numbers))}" for row in table.tolist()] for table in tables]


def _has(method: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), method))


class ThresholdCalibrator(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Decide at the thresholds that make each label as frequent in predictions as in the training labels.

    A threshold off the base rate alone shows as amplification: the 2021 paper's model went from 0.040 to 0.001 when
    its thresholds were calibrated.

    Parameters
    ----------
    estimator : classifier
        A yes/no or multi-label classifier with ``predict_proba`` or ``decision_function``.
    rate : float, array-like or None
        The wanted share of positives, one for all labels or one per label; by default that of the training labels.
    validation_fraction : float
        The share of the records that thresholds are found on; the estimator is fitted on the others.
    prefit : bool
        The estimator is fitted already: ``fit`` takes a validation set and finds the thresholds alone. ``rate`` is
        then that of the labels given, unless it is said.
    random_state : int or RandomState, optional
        Decides which records are held out.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    thresholds_ : ndarray
        One threshold per label; scores at or above it are positive.
    rates_ : ndarray
        The share of positives on the validation records.
    classes_ : ndarray
        The classes, of a single label.

    See Also
    --------
    biasamp.calibrate : the same for scores.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML. Sec. 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from biasamp.integrations.sklearn import ThresholdCalibrator
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = (X[:, 0] + rng.normal(size=1000) > 1.5).astype(int)
    >>> model = LogisticRegression().fit(X[:500], y[:500])
    >>> calibrated = ThresholdCalibrator(model, prefit=True).fit(X[500:], y[500:])
    >>> int(calibrated.predict(X[500:]).sum()) == int(y[500:].sum())
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        rate: Any = None,
        validation_fraction: float = 0.2,
        prefit: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rate = rate
        self.validation_fraction = validation_fraction
        self.prefit = prefit
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ThresholdCalibrator:
        """Fit the estimator, unless it is fitted, and find the thresholds."""
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind not in ("binary", "multilabel-indicator"):
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}. Thresholds decide yes/no "
                "labels: give one column of two classes, or a 0/1 matrix"
            )
        labels = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        if kind == "binary":
            labels = column_or_1d(labels, warn=True)
        if self.prefit:
            check_is_fitted(self.estimator)
            self.estimator_, held, known = self.estimator, X, labels
        else:
            if not 0.0 < self.validation_fraction < 1.0:
                raise ValueError(f"validation_fraction is {self.validation_fraction}; it must lie between 0 and 1")
            X_fit, held, known, _ = self._split(X, labels)
            self.estimator_ = clone(self.estimator).fit(X_fit, known)
        if kind == "binary":
            self.classes_ = np.unique(labels) if not self.prefit else np.asarray(self.estimator_.classes_)
            if len(self.classes_) != 2:
                raise ValueError(
                    f"Classifier can't train when only one class is present: y holds {self.classes_.tolist()}"
                )
            share = np.mean(known == self.classes_[1])
        else:
            share = known.mean(axis=0)
        found = calibrate(self._scores(held), rate=share if self.rate is None else self.rate)
        self.thresholds_, self.rates_ = found.thresholds, found.rates
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _split(self, X: Any, labels: Any) -> Any:
        shared = {"test_size": self.validation_fraction, "random_state": self.random_state}
        if labels.ndim == 1 and np.unique(labels, return_counts=True)[1].min() > 1:
            with suppress(ValueError):  # too few records to have each class on both sides
                return train_test_split(X, labels, stratify=labels, **shared)
        return train_test_split(X, labels, **shared)

    def predict(self, X: Any) -> Any:
        """Labels at the calibrated thresholds."""
        check_is_fitted(self, "thresholds_")
        positive = self._scores(X) >= self.thresholds_
        return self.classes_[positive[:, 0].astype(int)] if hasattr(self, "classes_") else positive.astype(int)

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The estimator's own probabilities, which no threshold changes."""
        check_is_fitted(self, "thresholds_")
        return self.estimator_.predict_proba(X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The estimator's own decision function, which no threshold changes."""
        check_is_fitted(self, "thresholds_")
        return self.estimator_.decision_function(X)

    def _scores(self, X: Any) -> Any:
        """One column of scores per label."""
        if hasattr(self.estimator_, "predict_proba"):
            found = self.estimator_.predict_proba(X)
            if isinstance(found, list):  # one table of two classes per label
                return np.column_stack([np.asarray(table)[:, -1] for table in found])
            found = np.asarray(found)
            single = len(np.shape(getattr(self.estimator_, "classes_", ()))) == 1 and hasattr(self, "classes_")
            return found[:, 1:] if single else found
        if not hasattr(self.estimator_, "decision_function"):
            raise TypeError(f"{type(self.estimator).__name__} has neither predict_proba nor decision_function")
        found = np.asarray(self.estimator_.decision_function(X))
        return found[:, None] if found.ndim == 1 else found

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.target_tags.multi_output = inner.target_tags.multi_output
        return tags
