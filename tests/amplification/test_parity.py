"""Parity companions are Fairlearn's."""

from __future__ import annotations

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from sklearn.metrics import accuracy_score, balanced_accuracy_score

import biasamp
from biasamp import binary, parity

RATES = {
    "false_positive_rate": false_positive_rate,
    "true_positive_rate": true_positive_rate,
    "accuracy": accuracy_score,
    "selection_rate": selection_rate,
}


@pytest.mark.parametrize("groups", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_fairlearn(groups: int, weighted: bool) -> None:
    rng = np.random.default_rng(groups)
    n = 400
    group, truth = rng.integers(0, groups, n), rng.integers(0, 2, (n, 3))
    predicted = np.where(rng.random((n, 3)) < 0.3, 1 - truth, truth)
    weights = rng.gamma(2.0, size=n) if weighted else None
    result = parity(group, truth, predicted, weights=weights)
    for task in range(3):
        frame = MetricFrame(
            metrics=RATES,
            y_true=truth[:, task],
            y_pred=predicted[:, task],
            sensitive_features=group,
            sample_params=None if weights is None else {name: {"sample_weight": weights} for name in RATES},
        )
        row = list(result.table.rows())[task]
        difference = frame.difference(method="between_groups")
        assert row["fpr_difference"] == pytest.approx(difference["false_positive_rate"], abs=1e-12)
        assert row["tpr_difference"] == pytest.approx(difference["true_positive_rate"], abs=1e-12)
        assert row["accuracy_difference"] == pytest.approx(difference["accuracy"], abs=1e-12)
        mine = [r for r in result.groups.rows() if r["outcome"] == str(task)]
        for r in mine:
            for name in RATES:
                assert r[name] == pytest.approx(frame.by_group[name][int(r["given"])], abs=1e-12)
        balanced = [
            balanced_accuracy_score(
                truth[group == g, task],
                predicted[group == g, task],
                sample_weight=None if weights is None else weights[group == g],
            )
            for g in range(groups)
        ]
        assert [r["mean_per_class_accuracy"] for r in mine] == pytest.approx(balanced, abs=1e-12)
        assert row["mean_per_class_accuracy"] == pytest.approx(np.mean(balanced), abs=1e-12)


@pytest.mark.filterwarnings("ignore:2 rates are undefined")
def test_a_variable_gives_every_value_its_rates() -> None:
    group, truth, predicted = list("aabb"), ["x", "y", "x", "z"], ["x", "x", "x", "z"]
    result = parity(group, truth, predicted)
    assert result.table["outcome"].tolist() == ["x", "y", "z"]
    assert result.table["accuracy_difference"].tolist() == [0.5, 0.5, 0.0]


def test_undefined_rates_are_listed() -> None:
    """Nobody in b truly has the task: b has no true positive rate, and there is no difference to speak of."""
    with pytest.warns(UserWarning, match=r"1 rate is undefined and left out, such as the true positive rate of \(b, "):
        result = parity(list("aabb"), binary([1, 0, 0, 0]), binary([1, 0, 0, 1]))
    row = next(result.table.rows())
    assert row["tpr_difference"] is None
    assert row["fpr_difference"] == 0.5
    assert [(r["given"], r["rate"]) for r in result.excluded] == [("b", "true_positive_rate")]
    listed = result.to_dict()
    assert listed["outcomes"][0]["tpr_difference"] is None


def test_an_empty_group_is_told_of() -> None:
    groups, truth = [[1, 0], [1, 0], [1, 0]], [[1, 1], [0, 0], [1, 0]]
    with pytest.warns(UserWarning, match="2 rates are undefined and left out.*no record has the group"):
        result = parity(groups, truth, truth.copy())
    assert [(r["given"], r["outcome"], r["rate"]) for r in result.excluded] == [
        ("1", "0", "accuracy"),
        ("1", "1", "accuracy"),
    ]


def test_soft_predictions_count_as_fractions() -> None:
    result = parity(list("aabb"), binary([1, 0, 1, 0]), binary([0.75, 0.25, 1.0, 0.5]))
    row = next(result.table.rows())
    assert row["tpr_difference"] == pytest.approx(0.25)
    assert row["fpr_difference"] == pytest.approx(0.25)
    assert row["accuracy_difference"] == pytest.approx(0.75 - 0.75)


class TestErrorClasses:
    """2021 Fig. 1: women paint more. Errors that make women painters, or painters women, amplify."""

    A = np.repeat(["w", "w", "m", "m"], [30, 10, 10, 30])
    T = np.repeat([1, 0, 1, 0], [30, 10, 10, 30])

    def classed(self, record: int, task: int | None = None, attribute: str | None = None) -> dict[str, int]:
        A_hat, T_hat = self.A.copy(), self.T.copy()
        if task is not None:
            T_hat[record] = task
        if attribute is not None:
            A_hat[record] = attribute
        return biasamp.classify_errors(self.A, self.T, A_hat, T_hat).counts

    def test_figure_1(self) -> None:
        along, back = {"A->T amplifying": 1, "neither": 0}, {"A->T amplifying": 0, "neither": 1}
        for record, task, expected in ((30, 1, along), (0, 0, back), (40, 0, along), (50, 1, back)):
            assert self.classed(record, task=task) == {"T->A amplifying": 0, **expected}
        along, back = {"T->A amplifying": 1, "neither": 0}, {"T->A amplifying": 0, "neither": 1}
        for record, attribute, expected in ((30, "m", along), (0, "m", back), (40, "w", along), (50, "w", back)):
            assert self.classed(record, attribute=attribute) == {"A->T amplifying": 0, **expected}

    def test_train_labels_decide_the_associations(self) -> None:
        T_hat = self.T.copy()
        T_hat[30] = 1
        opposite = (self.A, 1 - self.T)
        counts = biasamp.classify_errors(self.A, self.T, T_pred=T_hat, train=opposite).counts
        assert counts == {"A->T amplifying": 0, "T->A amplifying": 0, "neither": 1}

    def test_perfect_predictions_have_no_errors(self) -> None:
        result = biasamp.classify_errors(self.A, self.T, self.A.copy(), self.T.copy())
        assert set(result.counts.values()) == {0}
        assert (result.task_errors, result.attribute_errors, result.records, len(result.table)) == (0, 0, 80, 0)

    def test_both_kinds_in_one_record(self) -> None:
        A_hat, T_hat = self.A.copy(), self.T.copy()
        A_hat[30], T_hat[30] = "m", 1
        result = biasamp.classify_errors(self.A, self.T, A_hat, T_hat)
        assert result.counts == {"A->T amplifying": 1, "T->A amplifying": 1, "neither": 0}
        assert result.table["count"].tolist() == [1, 1]

    def test_messages(self) -> None:
        with pytest.raises(ValueError, match="A_pred and T_pred are both None"):
            biasamp.classify_errors(self.A, self.T)
        with pytest.raises(ValueError, match="T_pred holds probabilities"):
            biasamp.classify_errors(self.A, self.T, T_pred=np.full(80, 0.5))
