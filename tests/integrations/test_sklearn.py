"""scikit-learn's own tools and Fairlearn's MetricFrame, against the library's functions and hand counts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from fairlearn.metrics import MetricFrame, false_positive_rate, true_positive_rate
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import biasamp
from biasamp.integrations.sklearn import (
    ThresholdCalibrator,
    accuracy_difference_score,
    bias_amplification_score,
    fpr_difference_score,
    mean_per_class_accuracy_score,
    multi_amplification_score,
    tpr_difference_score,
)

N = 400
rng = np.random.default_rng(1)
GROUP = np.where(rng.random(N) < 0.4, "w", "m")
X = np.c_[rng.normal(size=(N, 2)), GROUP == "w"]
Y = (X[:, 0] + X[:, 2] + rng.normal(size=N) > 0.7).astype(int)
WEIGHT = rng.uniform(0.5, 2.0, N)
MULTILABEL = make_multilabel_classification(120, n_features=6, n_classes=3, random_state=1)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def scorer(function: Any = bias_amplification_score, **options: Any) -> Any:
    return make_scorer(function, greater_is_better=False, **options).set_score_request(sensitive_features=True)


def test_shortcoming_2_of_the_paper() -> None:
    group = ["first"] * 90 + ["second"] * 30
    y_true = [0] * 60 + [1] * 30 + [0] * 10 + [1] * 20
    score = bias_amplification_score(y_true, [0] * 90 + [1] * 30, sensitive_features=group)
    assert score == pytest.approx(1 / 3, abs=1e-12)


@given(st.integers(0, 2**32), st.integers(1, 3), st.booleans(), st.booleans())
@settings(max_examples=40)
def test_scores_are_the_library_s_values(seed: int, width: int, weighted: bool, soft: bool) -> None:
    draw = np.random.default_rng(seed)
    group = draw.integers(0, 3, 60)
    shape: Any = 60 if width == 1 else (60, width)
    truth = draw.integers(0, 2, shape)
    predicted = draw.random(shape) if soft else draw.integers(0, 2, shape)
    weights = draw.uniform(0.1, 2, 60) if weighted else None
    options = {"sensitive_features": group, "sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = biasamp.directional(group, truth, predicted, weights=weights)
        assert bias_amplification_score(truth, predicted, **options) == expected.value
        assert bias_amplification_score(truth, predicted, absolute=True, **options) == abs(expected.value)
        more = biasamp.multi(group, truth, predicted, weights=weights)
        assert multi_amplification_score(truth, predicted, **options) == more.value
        assert multi_amplification_score(truth, predicted, over_floor=True, **options) == more.value - more.floor


def test_cross_validate_gives_the_value_of_each_fold(routing: None) -> None:
    folds = KFold(4)
    scores = {"amplification": scorer(), "accuracy": "accuracy", "tpr": scorer(tpr_difference_score)}
    found = cross_validate(LogisticRegression(), X, Y, cv=folds, scoring=scores, params={"sensitive_features": GROUP})
    for fold, (train, test) in enumerate(folds.split(X)):
        predicted = LogisticRegression().fit(X[train], Y[train]).predict(X[test])
        assert found["test_amplification"][fold] == -biasamp.directional(GROUP[test], Y[test], predicted).value


def test_probabilities_count_as_fractions(routing: None) -> None:
    soft = make_scorer(bias_amplification_score, response_method="predict_proba").set_score_request(
        sensitive_features=True
    )
    model = LogisticRegression().fit(X, Y)
    expected = biasamp.directional(GROUP, Y, model.predict_proba(X)[:, 1]).value
    assert soft(model, X, Y, sensitive_features=GROUP) == expected


def test_grid_search_with_weights_through_a_pipeline(routing: None) -> None:
    score = make_scorer(bias_amplification_score, greater_is_better=False, absolute=True).set_score_request(
        sensitive_features=True, sample_weight=True
    )
    grid = GridSearchCV(
        make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=True),
        ),
        {"logisticregression__C": [1e-4, 1.0]},
        scoring=score,
        cv=KFold(3),
    ).fit(X, Y, sensitive_features=GROUP, sample_weight=WEIGHT)
    for place, C in enumerate([1e-4, 1.0]):
        values = []
        for train, test in KFold(3).split(X):
            scaler = StandardScaler().fit(X[train])
            model = LogisticRegression(C=C).fit(scaler.transform(X[train]), Y[train], WEIGHT[train])
            predicted = model.predict(scaler.transform(X[test]))
            values.append(-abs(biasamp.directional(GROUP[test], Y[test], predicted, weights=WEIGHT[test]).value))
        assert grid.cv_results_["mean_test_score"][place] == pytest.approx(np.mean(values), abs=1e-12)
    assert grid.best_index_ == int(np.argmax(grid.cv_results_["mean_test_score"]))


def test_multi_label_model_selection(routing: None) -> None:
    data, labels = MULTILABEL
    group = (data[:, 0] > np.median(data[:, 0])).astype(int)
    model = OneVsRestClassifier(LogisticRegression(max_iter=500))
    found = cross_validate(model, data, labels, cv=KFold(2), scoring=scorer(), params={"sensitive_features": group})
    for fold, (train, test) in enumerate(KFold(2).split(data)):
        predicted = (
            OneVsRestClassifier(LogisticRegression(max_iter=500)).fit(data[train], labels[train]).predict(data[test])
        )
        assert found["test_score"][fold] == -biasamp.directional(group[test], labels[test], predicted).value


def test_beside_fairlearn() -> None:
    predicted = LogisticRegression().fit(X, Y).predict(X)
    frame = MetricFrame(
        metrics={"tpr": true_positive_rate, "fpr": false_positive_rate, "accuracy": accuracy_score},
        y_true=Y,
        y_pred=predicted,
        sensitive_features=GROUP,
        sample_params={name: {"sample_weight": WEIGHT} for name in ("tpr", "fpr", "accuracy")},
    )
    expected = frame.difference()
    options = {"sensitive_features": GROUP, "sample_weight": WEIGHT}
    assert tpr_difference_score(Y, predicted, **options) == pytest.approx(expected["tpr"], abs=1e-12)
    assert fpr_difference_score(Y, predicted, **options) == pytest.approx(expected["fpr"], abs=1e-12)
    assert accuracy_difference_score(Y, predicted, **options) == pytest.approx(expected["accuracy"], abs=1e-12)
    mean = ((frame.by_group["tpr"] + 1 - frame.by_group["fpr"]) / 2).mean()
    assert mean_per_class_accuracy_score(Y, predicted, **options) == pytest.approx(mean, abs=1e-12)


def test_several_features_are_crossed_as_in_fairlearn() -> None:
    other = rng.integers(0, 2, N)
    features = np.c_[GROUP.astype(object), other]
    predicted = LogisticRegression().fit(X, Y).predict(X)
    frame = MetricFrame(metrics=accuracy_score, y_true=Y, y_pred=predicted, sensitive_features=features)
    assert accuracy_difference_score(Y, predicted, sensitive_features=features) == pytest.approx(frame.difference())
    named = [f"{a}{b}" for a, b in zip(GROUP, other, strict=True)]
    assert bias_amplification_score(Y, predicted, sensitive_features=features) == pytest.approx(
        bias_amplification_score(Y, predicted, sensitive_features=named), abs=1e-15
    )


def test_train_labels_decide_the_signs() -> None:
    predicted = LogisticRegression().fit(X, Y).predict(X)
    train = (GROUP[:150], 1 - Y[:150])
    expected = biasamp.directional(GROUP, Y, predicted, train=train).value
    assert bias_amplification_score(Y, predicted, sensitive_features=GROUP, train=train) == expected
    both = np.c_[GROUP.astype(object), GROUP.astype(object)]
    score = bias_amplification_score(Y, predicted, sensitive_features=both, train=(both[:150], 1 - Y[:150]))
    assert score == pytest.approx(expected, abs=1e-15)
    with pytest.raises(TypeError, match="train must be a pair"):
        bias_amplification_score(Y, predicted, sensitive_features=GROUP, train=GROUP)
    with pytest.raises(ValueError, match="2 columns"):
        bias_amplification_score(Y, predicted, sensitive_features=both, train=train)


def test_a_fold_that_lacks_a_class_of_the_predictions() -> None:
    """Classes 0, 1 and 2: the fold has two of them, so it must be said that there are three."""
    said, groups = [2, 1, 0, 1], ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"never has: '2'.*categories"):
        accuracy_difference_score([0, 1, 0, 1], said, sensitive_features=groups)
    known = biasamp.categorical([0, 1, 0, 1], categories=[0, 1, 2])
    with pytest.warns(UserWarning, match="y_pred holds 1 values that y_true never has, such as '2'"):
        assert accuracy_difference_score(known, said, sensitive_features=groups) == 0.5


SCORES = {
    "amplification": bias_amplification_score,
    "multi": multi_amplification_score,
    "tpr": tpr_difference_score,
    "fpr": fpr_difference_score,
    "accuracy": accuracy_difference_score,
}


@pytest.mark.parametrize("name", SCORES)
def test_one_group_is_no_comparison(name: str) -> None:
    with pytest.warns(UserWarning, match="one group only"):
        value = SCORES[name]([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=["a"] * 4)
    assert np.isnan(value) or (name == "multi" and value == 0.25)


def test_scores_warn_as_parity_does() -> None:
    groups, truth, said = list("aabbcc"), [0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 0]
    with pytest.warns(UserWarning, match="1 rate is undefined and left out, such as the true positive rate"):
        assert tpr_difference_score(truth, said, sensitive_features=groups) == 1.0
    assert fpr_difference_score(truth, said, sensitive_features=groups) == 0.5
    words = np.array(["north", "south"])
    with pytest.warns(UserWarning, match="neither value of"):
        accuracy_difference_score(words[truth], words[said], sensitive_features=groups)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library: str, routing: None) -> None:
    module = pytest.importorskip(library)
    predicted = LogisticRegression().fit(X, Y).predict(X)
    frame = module.DataFrame({"g": GROUP, "y": Y, "p": predicted, "h": GROUP})
    expected = bias_amplification_score(Y, predicted, sensitive_features=GROUP)
    assert bias_amplification_score(frame["y"], frame["p"], sensitive_features=frame["g"]) == expected
    assert bias_amplification_score(frame["y"], frame["p"], sensitive_features=frame[["g", "h"]]) == pytest.approx(
        expected
    )
    assert tpr_difference_score(frame["y"], frame["p"], sensitive_features=frame["g"]) == tpr_difference_score(
        Y, predicted, sensitive_features=GROUP
    )


def test_sensitive_features_are_needed() -> None:
    with pytest.raises(TypeError, match="sensitive_features"):
        bias_amplification_score(Y, Y)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="sensitive_features has shape"):
        bias_amplification_score(Y, Y, sensitive_features=np.zeros((2, 2, 2)))


# ThresholdCalibrator.


@parametrize_with_checks(
    [ThresholdCalibrator(LogisticRegression(), random_state=0)],
    expected_failed_checks=lambda estimator: {
        "check_classifiers_train": "it expects decisions at a probability of one half",
    },
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_accepts_the_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_rates_are_those_of_the_training_labels() -> None:
    """A rare label that a threshold of one half never predicts."""
    rare = (X[:, 0] + rng.normal(size=N) > 2.2).astype(int)
    model = ThresholdCalibrator(LogisticRegression(), random_state=0, validation_fraction=0.5).fit(X, rare)
    assert model.rates_[0] == pytest.approx(rare.mean(), abs=1 / (N / 2))
    assert model.predict(X).mean() > 1.5 * LogisticRegression().fit(X, rare).predict(X).mean()


def test_prefit_takes_the_highest_scores() -> None:
    base = LogisticRegression().fit(X[:200], Y[:200])
    model = ThresholdCalibrator(base, prefit=True, rate=0.1).fit(X[200:], Y[200:])
    chosen = np.flatnonzero(model.predict(X[200:]))
    order = np.argsort(-base.predict_proba(X[200:])[:, 1])
    assert set(chosen) == set(order[:20])
    assert model.estimator_ is base
    words = np.array(["no", "yes"])
    named = ThresholdCalibrator(LogisticRegression(), random_state=0).fit(X, words[Y])
    assert set(named.predict(X)) == {"no", "yes"}


@pytest.mark.parametrize(
    "base",
    [
        OneVsRestClassifier(LogisticRegression(max_iter=500)),
        MultiOutputClassifier(LogisticRegression(max_iter=500)),
        RandomForestClassifier(20, random_state=0),
        OneVsRestClassifier(Perceptron(random_state=0)),
    ],
    ids=["one-vs-rest", "multi-output", "forest", "decision function"],
)
def test_multi_label_thresholds(base: Any) -> None:
    data, labels = MULTILABEL
    wanted = [0.1, 0.5, 0.9]
    model = ThresholdCalibrator(base, rate=wanted, validation_fraction=0.5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(data, labels)
    predicted = model.predict(data)
    assert predicted.shape == labels.shape
    assert set(np.unique(predicted)) <= {0, 1}
    assert model.rates_ == pytest.approx(wanted, abs=0.1)


def test_calibrating_removes_what_a_threshold_made(routing: None) -> None:
    """Scores that know the truth up to noise, cut far above the base rate: rates shrink, most where they are high."""
    scores = (Y + rng.normal(0, 0.4, N))[:, None]
    base = LogisticRegression().fit(scores, Y)
    cut = (base.predict_proba(scores)[:, 1] >= 0.97).astype(int)
    model = ThresholdCalibrator(base, prefit=True).fit(scores, Y)
    predicted = model.predict(scores)
    assert predicted.mean() == pytest.approx(Y.mean(), abs=1 / N)
    raw = bias_amplification_score(Y, cut, sensitive_features=GROUP)
    assert abs(bias_amplification_score(Y, predicted, sensitive_features=GROUP)) < abs(raw) / 2


def test_the_calibrator_in_cross_validation(routing: None) -> None:
    model = ThresholdCalibrator(LogisticRegression(), random_state=0)
    found = cross_validate(model, X, Y, scoring=scorer(), params={"sensitive_features": GROUP}, cv=KFold(2))
    train, test = next(KFold(2).split(X))
    predicted = ThresholdCalibrator(LogisticRegression(), random_state=0).fit(X[train], Y[train]).predict(X[test])
    assert found["test_score"][0] == -biasamp.directional(GROUP[test], Y[test], predicted).value


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="yes/no"):
        ThresholdCalibrator(LogisticRegression()).fit(X, np.arange(N) % 3)
    with pytest.raises(ValueError, match="validation_fraction is 2"):
        ThresholdCalibrator(LogisticRegression(), validation_fraction=2).fit(X, Y)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        ThresholdCalibrator(LogisticRegression(), prefit=True).fit(X, Y)
