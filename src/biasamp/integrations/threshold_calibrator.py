"""``ThresholdCalibrator``: a classifier that decides at thresholds which keep predicted rates where they belong."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from biasamp.amplification.calibrate import calibrate


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
        The wanted share of positives, one for all labels or one a label; by default that of the training labels.
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
        One threshold a label; scores at or above it are positive.
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
            try:
                return train_test_split(X, labels, stratify=labels, **shared)
            except ValueError:  # too few records to have each class on both sides
                pass
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
        """One column of scores a label."""
        if hasattr(self.estimator_, "predict_proba"):
            found = self.estimator_.predict_proba(X)
            if isinstance(found, list):  # one table of two classes a label
                return np.column_stack([np.asarray(table)[:, -1] for table in found])
            found = np.asarray(found)
            single = len(np.shape(getattr(self.estimator_, "classes_", ()))) == 1 and hasattr(self, "classes_")
            return found[:, 1:] if single else found
        if not hasattr(self.estimator_, "decision_function"):
            raise TypeError(f"{type(self.estimator).__name__} has neither predict_proba nor decision_function")
        found = np.asarray(self.estimator_.decision_function(X))
        return found[:, None] if found.ndim == 1 else found

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.target_tags.multi_output = inner.target_tags.multi_output
        return tags
