"""Rankings with and without ground truth: counts by hand, the package's own metrics, scipy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import biasamp
from biasamp_reproductions import Setting, experiments
from biasamp_reproductions.aies_small_spaces import (
    COMPAS,
    IMSITU,
    compas_deciles,
    compas_labels,
    imsitu_verbs,
    made_up,
    two_groups,
    verb_figures,
)
from biasamp_reproductions.compas_data import read_compas
from biasamp_reproductions.label_agreement import (
    METRICS,
    SKEW,
    Drawn,
    Labelled,
    draw,
    rank_correlation,
)
from biasamp_reproductions.outcome import REAL, STAND_IN


@pytest.fixture
def small() -> Labelled:
    rng = np.random.default_rng(3)
    first = rng.random(400) < 0.6
    truth = rng.random((400, 4)) < np.where(first[:, None], [0.6, 0.4, 0.5, 0.2], [0.3, 0.5, 0.5, 0.4])
    predicted = np.where(rng.random((400, 4)) < 0.2, ~truth, truth)
    said = np.where(rng.random(400) < 0.1, ~first, first)
    return Labelled(("a", "b", "c", "d"), two_groups(first), two_groups(said), truth, predicted)


class TestFigures:
    def test_directional_pairs_and_parity_of_the_package(self, small: Labelled) -> None:
        figures = {name: values[0] for name, values in small.figures(np.ones((1, 400))).items()}
        group = np.where(small.group[:, 0], "first", "second")
        said = np.where(small.said[:, 0], "first", "second")
        truth, predicted = (flags.astype(int) for flags in (small.truth, small.predicted))
        for direction, arguments in (("A→T", (group, truth, predicted)), ("T→A", (truth, group, said))):
            pairs = biasamp.directional(*arguments).pairs
            # The pairs of one label: as outcome from A to T, as given from T to A.
            side = "outcome" if direction == "A→T" else "given"
            labels = list(dict.fromkeys(pairs[side]))
            mean = [float(np.mean(pairs["amplification"][pairs[side] == label])) for label in labels]
            assert figures[f"{direction} amplification"] == pytest.approx(mean)
        for i in range(4):
            table = biasamp.parity(group, biasamp.binary(truth[:, i]), biasamp.binary(predicted[:, i])).table
            # The package gives the size of a difference, between the largest and the least.
            for rate in ("tpr", "fpr"):
                found = abs(figures[f"{rate.upper()} difference"][i])
                assert found == pytest.approx(table[f"{rate}_difference"][0])

    def test_gaps_are_those_of_associate(self, small: Labelled) -> None:
        wide = np.column_stack([small.said, small.predicted]).astype(int)
        names = ["one", "two", *small.names]
        result = biasamp.associate(wide, ["one", "two"], label=names, metrics="all")
        rows = [result.labels.index(name) for name in small.names]
        figures = small.figures(np.ones((1, 400)))
        for metric in METRICS:
            assert figures[metric][0] == pytest.approx(result.table[f"{metric}_gap"][rows], abs=1e-12)

    def test_a_weight_is_that_many_records(self, small: Labelled) -> None:
        times = np.random.default_rng(0).poisson(1.0, 400)
        rows = np.repeat(np.arange(400), times)
        parts = (small.group, small.said, small.truth, small.predicted)
        repeated = Labelled(small.names, *(part[rows] for part in parts))
        weighted, whole = small.figures(times[None].astype(float)), repeated.figures(np.ones((1, len(rows))))
        for name, values in weighted.items():
            assert values == pytest.approx(whole[name], abs=1e-12), name

    def test_rare_labels_are_left_out(self, small: Labelled) -> None:
        truth = small.truth.copy()
        truth[:, 1] = False
        truth[np.flatnonzero(small.group[:, 0])[:9], 1] = True
        kept = Labelled(small.names, small.group, small.said, truth, small.predicted).common()
        assert kept.names == ("a", "c", "d")
        assert kept.truth.shape == (400, 3)


class TestRankCorrelation:
    def test_scipy(self) -> None:
        rng = np.random.default_rng(1)
        a, b = rng.integers(0, 5, 30).astype(float), rng.normal(size=30)
        assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic)

    def test_undefined_labels_are_left_out_and_infinite_ones_rank(self) -> None:
        a = np.array([1.0, np.nan, 2.0, 3.0, np.inf])
        b = np.array([1.0, 9.0, 2.0, 4.0, 3.0])
        assert rank_correlation(a, b) == pytest.approx(spearmanr([1, 2, 3, 4], [1, 2, 4, 3]).statistic)
        assert np.isnan(rank_correlation(np.ones(4), b[:4]))
        assert np.isnan(rank_correlation(a[:3], b[:3]))


class TestAgreement:
    def test_figures_that_share_nothing_but_noise(self) -> None:
        """Labels without skew, and errors at one rate: gap and change share the noise of the predictions."""
        rng = np.random.default_rng(5)
        truth = rng.random((600, 40)) < 0.4
        predicted = np.where(rng.random((600, 40)) < 0.25, ~truth, truth)
        group = two_groups(np.arange(600) % 2 == 0)
        data = Labelled(tuple(map(str, range(40))), group, group, truth, predicted)
        found = draw(data, 0, resamples=60, halvings=20).agreement("dp", "A→T change")
        assert found.value > 0.3
        assert abs(found.apart) < 0.25
        assert np.isnan(found.chance)

    def test_a_figure_agrees_with_itself_up_to_its_noise(self, small: Labelled) -> None:
        made = draw(made_up(1).common(), 0, resamples=40, halvings=10)
        found = made.agreement("dp", SKEW)
        assert found.low < found.value < found.high
        assert 0.3 < found.apart < found.ceiling < 1

    def test_the_interval_is_as_wide_as_new_records_make_it(self) -> None:
        rng = np.random.default_rng(8)
        rates = [rng.uniform(0.2, 0.8, 30) for _ in range(2)]
        values, errors = [], []
        for seed in range(24):
            fresh = np.random.default_rng([8, seed])
            first = fresh.random(300) < 0.5
            truth = fresh.random((300, 30)) < np.where(first[:, None], *rates)
            predicted = np.where(fresh.random((300, 30)) < 0.2, ~truth, truth)
            group = two_groups(first)
            data = Labelled(tuple(map(str, range(30))), group, group, truth, predicted)
            found = draw(data, seed, resamples=40, halvings=1).agreement("dp", "A→T amplification")
            values.append(found.value)
            errors.append((found.high - found.low) / 3.92)
        # The standard deviation of 24 values is known to about 15%.
        assert np.mean(errors) == pytest.approx(np.std(values, ddof=1), rel=0.45)

    def test_sizes_of_gaps_are_held_against_amplification(self) -> None:
        whole = {"dp": np.array([[-0.9, 0.1, 0.5, -0.2]]), "A→T amplification": np.array([[4.0, 1.0, 3.0, 2.0]])}
        assert Drawn(whole, whole).value("dp", "A→T amplification") == pytest.approx(1)

    def test_labels_off_0(self) -> None:
        # Standard errors 1: z of 5, 0.5 and 3, which Benjamini-Hochberg keeps at 5%, drops, keeps.
        redrawn = np.array([[-1.0], [1.0]]) / np.sqrt(2) + np.array([5.0, 0.5, -3.0])
        drawn = Drawn({"dp": np.array([[5.0, 0.5, -3.0]])}, {"dp": redrawn})
        assert drawn.flagged("dp").tolist() == [True, False, True]


class TestDataSets:
    @pytest.mark.slow
    def test_made_up_labels_without_files(self) -> None:
        outcome = experiments()["aies-small-spaces"].run(Setting())
        assert outcome.kind == STAND_IN
        assert COMPAS in outcome.left_out[0]
        assert len(outcome.charts[0].lines) == 1  # type: ignore[union-attr]

    def test_verbs_by_hand(self) -> None:
        # Two verbs of 10 images, 4 and 6 with men; the model says 8 and 3.
        found = verb_figures(np.array([[[4, 6], [6, 4]]]), np.array([[10, 10]]), np.array([[8, 3]]))
        assert found["MALS change"][0] == pytest.approx([0.4, -0.3])
        assert found["MALS amplification"][0] == pytest.approx([-0.4, -0.3])
        assert found["dp"][0] == pytest.approx([8 / 11 - 2 / 9, 3 / 11 - 7 / 9])

    @pytest.mark.data
    def test_compas(self, data: Path) -> None:
        people = read_compas(Setting(folder=data))
        deciles = compas_deciles(people)
        figures = deciles.figures(np.ones((1, len(deciles))))
        # The FPR difference of Fig. 6 of the 2021 paper peaks at .208 above 3.
        assert figures["FPR difference"][0].argmax() == 2
        assert figures["FPR difference"][0].max() == pytest.approx(0.208, abs=5e-4)
        assert rank_correlation(figures["dp"][0], figures["A→T change"][0]) == 1
        labels = compas_labels(people, 0)
        assert len(labels.names) == 8
        # As many are predicted as there are, but for equal scores.
        assert labels.predicted.sum(axis=0) == pytest.approx(labels.truth.sum(axis=0), rel=0.2)

    @pytest.mark.data
    def test_imsitu(self, data: Path) -> None:
        setting = Setting(folder=data)
        drawn = imsitu_verbs(setting)
        released = setting.columns(IMSITU[0], ("verb", "gender_ratio_before_RBA"))
        images = setting.columns(IMSITU[1], ("gender", "verb"))
        genders = {
            verb: {g for g, v in zip(*images.values(), strict=True) if v == verb} for verb in set(images["verb"])
        }
        ratio = dict(zip(*released.values(), strict=True))
        verbs = [verb for verb in sorted(ratio) if genders.get(verb) == {"man", "woman"}]
        # PMI gaps rise with the predicted share of men alone; that is rounded to whole images of the verb.
        assert rank_correlation(drawn.whole["pmi"][0], np.array([ratio[v] for v in verbs])) > 0.99
        assert drawn.halves is None

    @pytest.mark.data
    def test_real_files(self, data: Path) -> None:
        outcome = experiments()["aies-small-spaces"].run(Setting(folder=data))
        assert outcome.kind == REAL
        assert not outcome.left_out
        assert [name.split(",")[0] for name in outcome.charts[0].lines] == [  # type: ignore[union-attr]
            "COMPAS",
            "COMPAS",
            "imSitu",
            "COCO captions",
        ]
        for row in outcome.rows:
            if row.interval is not None:
                assert row.interval[0] <= row.ours <= row.interval[1]  # type: ignore[operator]
