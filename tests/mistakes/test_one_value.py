"""A truth of one value is said by everything that gives a figure of it; folds of a search say it once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import biasamp
from extras import needs
from mistakes.cases import RIGHT, N

G, P = RIGHT["gender"], RIGHT["said"]
ONE = np.zeros(N, dtype=int)


def score(truth: Any, said: Any, **more: Any) -> float:
    from biasamp.integrations.sklearn import bias_amplification_score

    return bias_amplification_score(truth, said, sensitive_features=G, **more)


@pytest.mark.parametrize("value", [0, 1])
def test_functions_and_the_scorer_warn(value: int) -> None:
    truth = ONE + value
    for call in (
        lambda: biasamp.directional(G, truth, P).value,
        lambda: biasamp.decompose(G, truth, np.where(P, 0.7, 0.2)).value,
        lambda: biasamp.sweep(np.where(P, 0.7, 0.2), G, truth).integral,
        lambda: score(truth, P),
    ):
        with pytest.warns(UserWarning, match="has one value only.*0 by definition"):
            assert call() == 0.0


def test_signs_from_elsewhere_need_no_warning() -> None:
    train = G[::-1], RIGHT["hired"]
    assert biasamp.directional(G, ONE, P, train=train).value != 0.0
    assert score(ONE, P, train=train) != 0.0


def test_the_torch_metric_warns() -> None:
    torch = needs("torch")
    needs("torchmetrics")
    from biasamp.integrations.torch import BiasAmplification

    def metric(**more: Any) -> Any:
        return BiasAmplification(task="binary", num_groups=2, **more)

    said, truth, groups = (torch.as_tensor(x) for x in (P, ONE, (G == "man").astype(int)))
    held = metric()
    held.update(said, truth, groups)
    with pytest.warns(UserWarning, match="target has one value only"):
        assert held.compute().item() == 0.0
    batch = metric()
    assert batch(said, truth, groups).item() == 0.0  # a batch may be so
    assert metric().counted_as == "decisions at 0.5"
    assert metric(threshold=None).counted_as == "fractions"


def test_the_torch_metric_and_an_audit_of_the_same_scores() -> None:
    """By default they differ; the audit shows the value of the metric, and the metric says what it counts."""
    torch = needs("torch")
    needs("torchmetrics")
    from biasamp.integrations.torch import BiasAmplification

    chances = np.random.default_rng(1).random(N)
    held = {}
    for threshold in (0.5, None):
        metric = BiasAmplification(task="binary", num_groups=2, threshold=threshold)
        metric.update(*(torch.as_tensor(x) for x in (chances, RIGHT["hired"], (G == "man").astype(int))))
        held[threshold] = metric.compute().item()
    data = {"g": G, "t": RIGHT["hired"], "p": chances}
    audit = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics="directional", resamples=50)
    (finding,) = [one for one in audit.findings if one.code == "fractions"]
    assert audit.document["metrics"][0]["value"] == pytest.approx(held[None], abs=1e-12)
    assert f"{held[0.5]:+.3f}".replace("-", "−") in finding.text.replace("-", "−")


def test_a_search_over_folds_says_it_once() -> None:
    """Ninety scores of folds without a positive record: one line, and none where every fold has both values."""
    needs("sklearn")
    from sklearn.dummy import DummyClassifier
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import GridSearchCV, KFold

    from biasamp.integrations.sklearn import bias_amplification_score

    rng = np.random.default_rng(3)
    features = rng.normal(size=(N, 1))

    def said(truth: Any, folds: int) -> list[str]:
        def by_place(y_true: Any, y_pred: Any) -> float:
            groups = np.where(np.arange(len(y_true)) % 2, "a", "b")
            return bias_amplification_score(y_true, y_pred, sensitive_features=groups)

        search = GridSearchCV(
            DummyClassifier(strategy="stratified"),
            {"random_state": list(range(3))},
            scoring=make_scorer(by_place, greater_is_better=False),
            cv=KFold(folds),
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            search.fit(features, truth)
        return [str(one.message) for one in caught if issubclass(one.category, UserWarning)]

    late = np.zeros(N, dtype=int)
    late[-8:] = 1
    lines = said(late, 30)
    assert len(lines) == 1
    assert "y_true has one value only" in lines[0]
    assert said(np.arange(N) // 2 % 2, 10) == []
