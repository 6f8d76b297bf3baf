"""Published figures, to the digits printed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp
import published
from biasamp import binary, categorical, directional, mals, multi
from published import THREE_GROUPS, TWO_GROUPS_OVER, TWO_GROUPS_UNDER, WRONG_GROUP


class TestWangRussakovsky2021:
    """Sec. 3.2 and 4.1: the task is one label."""

    @pytest.mark.parametrize(
        "records, printed",
        [(THREE_GROUPS, 0.0), (TWO_GROUPS_UNDER, 0.2), (TWO_GROUPS_OVER, 0.033), (WRONG_GROUP, -0.6)],
    )
    def test_mals(self, records: Any, printed: float) -> None:
        group, task, model = records
        assert round(mals(group, binary(task), group, binary(model)).value, 3) == printed

    def test_mals_of_the_task_as_a_variable_is_another_figure(self) -> None:
        group, task, model = TWO_GROUPS_UNDER
        assert round(mals(group, task, group, model).value, 3) == 0.117

    @pytest.mark.parametrize("records, printed", [(THREE_GROUPS, 0.1778), (WRONG_GROUP, 0.3333)])
    @pytest.mark.parametrize("read", [binary, categorical])
    def test_directional(self, records: Any, printed: float, read: Any) -> None:
        group, task, model = records
        assert round(directional(group, read(task), read(model)).value, 4) == printed
        assert directional(read(task), group, list(group)).value == 0

    def test_wrong_group_flag(self) -> None:
        group, task, model = WRONG_GROUP
        flagged = mals(group, binary(task), group, binary(model)).pairs["wrong_group"]
        assert flagged.all()
        group, task, model = TWO_GROUPS_UNDER
        assert not mals(group, binary(task), group, binary(model)).pairs["wrong_group"].any()


class TestFigure2:
    """The painting example: 40 women of whom 30 paint, 40 men of whom 10 do and are always predicted rightly."""

    @pytest.mark.parametrize("women", range(0, 41, 4))
    def test_amplification_curves(self, women: int) -> None:
        woman, paints, model = published.painting(women)
        share = women / 40
        # Women's rate changes by (share - .75), and counts for both values of the task; men's does not.
        assert directional(woman, paints, model).value == pytest.approx((share - 0.75) / 2, abs=1e-12)
        # P(woman | painting) is .75 and so is P(man | not painting); the authors average the two tasks.
        predicted = women + 10
        amplified = (women / predicted - 0.75 + 30 / (80 - predicted) - 0.75) / 2
        assert mals(woman, paints, woman, model).value == pytest.approx(amplified, abs=1e-12)

    def test_curves_have_the_sign_of_over_and_under_prediction(self) -> None:
        for women, sign in ((10, -1), (30, 0), (40, 1)):
            woman, paints, model = published.painting(women)
            assert np.sign(directional(woman, paints, model).value) == sign
            assert np.sign(round(mals(woman, paints, woman, model).value, 12)) == sign

    @pytest.mark.parametrize("women", range(0, 41, 4))
    def test_parity_curves(self, women: int) -> None:
        woman, paints, model = published.painting(women)
        row = next(biasamp.parity(woman, binary(paints), binary(model)).table.rows())
        missed, false = max(30 - women, 0), max(women - 30, 0)
        assert row["fpr_difference"] == pytest.approx(false / 10)
        assert row["tpr_difference"] == pytest.approx(missed / 30)
        assert row["accuracy_difference"] == pytest.approx((missed + false) / 40)
        # Men's mean per-class accuracy is 1.
        assert row["mean_per_class_accuracy"] == pytest.approx((1 + (1 - missed / 30 + 1 - false / 10) / 2) / 2)


class TestTokas:
    """Table 3 from the counts of Table 2: BA and Multi, the task a variable."""

    @pytest.mark.parametrize(
        "version, direction, amplification, size",
        [
            ("unbalanced", "T->A", -0.078, 0.078),
            ("unbalanced", "A->T", -0.038, 0.038),
            ("balanced", "T->A", 0.0, 0.066),
            ("balanced", "A->T", 0.0, 0.099),
        ],
    )
    def test_table_3(self, version: str, direction: str, amplification: float, size: float) -> None:
        records = published.compas(version, direction)
        assert round(directional(*records).value, 3) == amplification
        assert round(multi(*records).value, 3) == size

    def test_a_label_in_place_of_the_variable_is_another_figure(self) -> None:
        given, truth, predicted = published.compas("unbalanced", "T->A")
        assert round(directional(binary(given), truth, predicted).value, 3) == -0.091

    def test_hiring_is_biased_for_directional(self) -> None:
        """Sec. 7.2: 25 of 100 men and 25 of 50 women are hired; a model may strengthen or weaken that."""
        woman, hired = published.repeated([(25, (0, 1)), (75, (0, 0)), (25, (1, 1)), (25, (1, 0))])
        result = directional(woman, hired, hired.copy())
        signs = {(row["given"], row["outcome"]): row["sign"] for row in result.pairs.rows()}
        assert signs == {("0", "0"): 1, ("0", "1"): -1, ("1", "0"): -1, ("1", "1"): 1}
        more = hired.copy()
        more[np.flatnonzero((woman == 1) & (hired == 0))[:5]] = 1
        assert directional(woman, hired, more).value == pytest.approx(0.05)

    @pytest.mark.parametrize("alpha_model", [-0.25, -0.1, 0.0, 0.05, 0.25])
    def test_heatmap(self, alpha_model: float) -> None:
        """Fig. 2: BA's zero column at alpha_d = 0; Multi is never negative."""
        for alpha_data in (-0.2, -0.05, 0.0, 0.1):
            given, truth, predicted = alpha_records(alpha_data, alpha_model)
            value, size = directional(given, truth, predicted).value, multi(given, truth, predicted).value
            assert size >= 0
            assert (size == 0) == (given_rates(given, truth) == given_rates(given, predicted))
            if alpha_data == 0:
                assert value == 0


def alpha_records(alpha_data: float, alpha_model: float) -> tuple[Any, Any, Any]:
    """1000 records of each group, with the task rates that alpha leaves it in the data and in the model."""
    rates = lambda alpha: ((0.25 + alpha) / (0.5 + alpha), 0.5 if alpha == 0 else 0.25 / (0.5 - alpha))
    given, truth, predicted = [], [], []
    for group in (0, 1):
        zeros = [round(1000 * rates(alpha)[group]) for alpha in (alpha_data, alpha_model)]
        given.append(np.full(1000, group))
        truth.append(np.repeat([0, 1], [zeros[0], 1000 - zeros[0]]))
        predicted.append(np.repeat([0, 1], [zeros[1], 1000 - zeros[1]]))
    return np.concatenate(given), np.concatenate(truth), np.concatenate(predicted)


def given_rates(given: Any, outcome: Any) -> tuple[float, float]:
    return outcome[given == 0].mean(), outcome[given == 1].mean()
