"""Which comparisons can be concluded: on scenes at a small scale, and on files of CelebA's shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biasamp_reproductions import Setting
from biasamp_reproductions.celeba import read_attributes, read_celeba, read_partition
from biasamp_reproductions.experiment import silent
from biasamp_reproductions.masking_run import A_TO_T
from biasamp_reproductions.outcome import REAL, STAND_IN
from biasamp_reproductions.seed_variance import Found, reproduce
from biasamp_reproductions.seed_variance_run import (
    FIXED,
    FPR,
    PRECISION,
    Job,
    Scale,
    celeba_splits,
    run_job,
    scene_splits,
)
from extras import needs
from made_images import make_celeba

QUICK = Scale(train=80, validation=80, test=120, epochs=1, celeba_epochs=1, seeds=2, workers=1)


class TestComparisons:
    """Made-up figures whose intervals overlap while every paired difference is nearly the same."""

    @pytest.fixture
    def found(self) -> Found:
        base = [0.1, 0.2, 0.3, 0.4, 0.5]
        shifts = {1.5: 0.0, 3.0: 0.05, 5.0: 2.0}
        return Found(
            {
                ("t", "plain", ratio, number): {A_TO_T: value + shift + 0.001 * (number % 2), PRECISION: value}
                for ratio, shift in shifts.items()
                for number, value in enumerate(base)
            }
        )

    def test_pairing_tells_what_overlap_hides(self, found: Found) -> None:
        near = found.compared("t", ("plain", 1.5), ("plain", 3.0), A_TO_T)
        assert near.overlap
        assert near.concluded
        assert near.difference[0] == pytest.approx(0.05)

    def test_far_apart_by_either(self, found: Found) -> None:
        far = found.compared("t", ("plain", 1.5), ("plain", 5.0), A_TO_T)
        assert not far.overlap
        assert far.concluded

    def test_nothing_from_equal_figures(self, found: Found) -> None:
        same = found.compared("t", ("plain", 1.5), ("plain", 5.0), PRECISION)
        assert same.overlap
        assert not same.concluded


class TestScenes:
    def test_ratio_is_exact_in_every_part(self) -> None:
        splits = scene_splits(4, 3.0, Scale(), 0)
        for part, size in ((splits.train, 3000), (splits.validation, 2000), (splits.test, 4000)):
            has = part.objects[:, 0]
            # Object 5 goes with men: 3/8, 1/8, 1/8 and 3/8 of all.
            cells = [int((part.man == m)[has == t].sum()) for m, t in ((1, 1), (1, 0), (0, 1), (0, 0))]
            assert cells == [size * 3 // 8, size // 8, size // 8, size * 3 // 8]

    def test_run_against_scikit_learn_and_counts(self) -> None:
        needs("torch")
        from sklearn.metrics import average_precision_score, confusion_matrix

        from biasamp import calibrate
        from biasamp_reproductions.networks import Training, scores, trained

        splits = scene_splits(0, 2.0, QUICK, 1)
        _, figures = run_job(Job(("x",), lambda: splits, 1, Training(3)))
        model = trained(splits.train.images, splits.train.objects, 1, Training(3))
        raw, truth = scores(model, splits.test.images)[:, 0], splits.test.objects[:, 0]
        said = calibrate(scores(model, splits.validation.images), rate=splits.train.objects.mean()).apply(raw)
        said = np.asarray(said).ravel()
        assert figures[PRECISION] == pytest.approx(average_precision_score(truth, raw))
        rates, changes = {}, {}
        for man in (True, False):
            here = splits.test.man == man
            (tn, fp), _ = confusion_matrix(truth[here], said[here], labels=[0, 1])
            rates[man] = fp / (fp + tn)
            changes[man] = said[here].mean() - truth[here].mean()
        assert figures[FPR] == pytest.approx(abs(rates[True] - rates[False]))
        # The fixed test set is of ratio 3 though trained at 2.
        assert splits.fixed is not None
        there = [int(splits.fixed.objects[splits.fixed.man == man, 0].sum()) for man in (True, False)]
        assert there[1] == 3 * there[0]
        moved = np.asarray(
            calibrate(scores(model, splits.validation.images), rate=splits.train.objects.mean()).apply(
                scores(model, splits.fixed.images)
            )
        ).ravel()
        apart = [
            moved[splits.fixed.man == man].mean() - splits.fixed.objects[splits.fixed.man == man, 0].mean()
            for man in (False, True)
        ]
        assert figures[FIXED] == pytest.approx((apart[0] - apart[1]) / 2)
        # The object goes with women, so their sign is + and men's is -.
        assert figures[A_TO_T] == pytest.approx((changes[False] - changes[True]) / 2)

    def test_everything_is_told(self) -> None:
        needs("torch")
        told: list[tuple[int, int]] = []
        outcome = reproduce(Setting(progress=lambda done, total, doing="": told.append((done, total))), QUICK)
        assert outcome.kind == STAND_IN
        assert "celeba/list_attr_celeba.txt" in outcome.left_out[0]
        # 2 runs x 2 tasks x (3 architectures and 3 more ratios, then other seeds and other splits of one pool).
        assert told[-1] == (32, 32)
        spreads = [row for row in outcome.rows if row.what.startswith("sd of A→T over")]
        assert len(spreads) == 4
        assert all(float(row.ours) >= 0 for row in spreads)
        wholes = [
            row for row in outcome.rows if "comparisons between architectures" in row.what and "paired" in row.what
        ]
        assert len(wholes) == 6
        assert {row.published for row in wholes} == {
            "a consistent ranking",
            "intervals overlap: nothing can be concluded",
        }
        assert [len(chart.ticks) for chart in outcome.charts] == [3, 3, 3, 4, 4]  # type: ignore[union-attr]


class TestCelebA:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        make_celeba(tmp_path)
        return tmp_path

    def test_attributes_by_hand(self, folder: Path) -> None:
        files, values = read_attributes(folder / "celeba/list_attr_celeba.txt", ("Male", "Big_Nose", "Young"))
        assert files[5] == "000005.png"
        # Face 5: odd, so a woman; 5 // 2 = 2, even, so a big nose; 5 // 4 = 1, odd, so not young.
        assert values[5].tolist() == [False, True, False]
        parts = read_partition(folder / "celeba/list_eval_partition.txt")
        assert [parts[f"{face:06}.png"] for face in (0, 31, 32, 64, 95)] == [0, 0, 1, 2, 2]

    def test_faces_keep_their_labels(self, folder: Path) -> None:
        faces = read_celeba(folder, ("Big_Nose", "Young"), 0, silent, side=16, pool=(20, 10, 32))
        assert [len(part) for part in (faces.train, faces.validation, faces.test)] == [20, 10, 32]
        # The brightness is the face's number.
        for part, first in ((faces.train, 0), (faces.validation, 32), (faces.test, 64)):
            number = part.images[:, 0, 0, 0].astype(int)
            assert ((number >= first) & (number < first + 32)).all()
            assert (part.man == (number % 2 == 0)).all()
            assert (part.objects[:, 1] == (number // 4 % 2 == 0)).all()
        chosen = celeba_splits(faces, 1, False, 2.0, 0).test
        # 32 faces, 8 of every kind: of the majority 8 each, of the minority 4 each.
        assert len(chosen) == 24
        assert int((chosen.objects[:, 0] & ~chosen.man).sum()) == 8

    def test_training_on_real_files(self, folder: Path) -> None:
        needs("torch")
        outcome = reproduce(Setting(folder=folder), QUICK)
        assert outcome.kind == REAL
        assert "32 train and 32 test faces" in outcome.source
        assert any(row.what.startswith("Big_Nose: A→T") for row in outcome.rows)

    @pytest.mark.parametrize(
        "old, new, message",
        [("96\n", "97\n", "cut short"), (" Young", " Old", "'Young'"), ("000003.png  ", "000003.png  1  ", "line 6")],
    )
    def test_files_that_are_not_as_they_should_be(self, folder: Path, old: str, new: str, message: str) -> None:
        path = folder / "celeba/list_attr_celeba.txt"
        path.write_text(path.read_text().replace(old, new, 1))
        with pytest.raises(ValueError, match=message):
            read_attributes(path, ("Male", "Young"))
