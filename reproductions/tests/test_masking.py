"""The masking experiment at a scale that tests can bear, on scenes and on files of COCO's shape."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from biasamp.cli.cmd_reproduce import command
from biasamp_reproductions import Setting, experiments
from biasamp_reproductions.coco import read_coco, read_split, usual_objects
from biasamp_reproductions.experiment import silent
from biasamp_reproductions.masking import Scale, reproduce, scene_splits
from biasamp_reproductions.masking_published import TABLE_1, TABLE_3
from biasamp_reproductions.masking_rows import Figures
from biasamp_reproductions.masking_run import A_TO_T, GENDER, MALS, MULTI, T_TO_A, Job, Run, covered, run_job, run_jobs
from biasamp_reproductions.masking_sweep import cells
from biasamp_reproductions.masks import CONDITIONS, NOISY, PARTIAL, SEGMENT
from biasamp_reproductions.networks import Training
from biasamp_reproductions.outcome import REAL, STAND_IN, Outcome
from biasamp_reproductions.rows import Row, rounds_to
from biasamp_reproductions.scenes import SceneDesign
from extras import needs
from made_images import make_coco

QUICK = Scale(
    train=120,
    validation=100,
    test=120,
    training=Training(epochs=1),
    coco_epochs=1,
    seeds=2,
    trials=2,
    attributed=4,
    cells=cells()[:1],
    workers=1,
)


def rows(outcome: Outcome, *words: str) -> list[Row]:
    return [item for item in outcome.rows if all(word in item.what for word in words)]


class TestPublished:
    def test_all_66_objects(self) -> None:
        assert len(TABLE_3) == 66
        assert TABLE_3["keyboard"] == (0.01, 1.64, -0.08, 17.38, 0.02, 31.15)

    def test_table_1_follows_from_table_3_in_one_direction(self) -> None:
        means = np.array(list(TABLE_3.values())).mean(axis=0) / 100
        for column, condition in ((1, "original"), (3, "noisy"), (5, SEGMENT)):
            assert rounds_to(means[column], TABLE_1[T_TO_A][condition][0])
            assert not rounds_to(means[column - 1], TABLE_1[A_TO_T][condition][0])


class TestRows:
    """Figures made up so that every trend is known."""

    @pytest.fixture
    def figures(self) -> Figures:
        runs = []
        for name in ("unbalanced", "balanced"):
            for step, condition in enumerate(CONDITIONS):
                for number in range(4):
                    # Runs differ by 10 each, conditions by about 1: told apart only when paired.
                    noise = 10.0 * number + 0.01 * ((step * 7 + number * 3) % 5)
                    values = dict.fromkeys((T_TO_A, MALS, "DPA T→A", "Multi T→A"), noise + step)
                    values |= {A_TO_T: noise - step, "attribution outside the person": noise - step}
                    if name == "balanced":
                        values[T_TO_A] = 0.0
                    runs.append(Run((name, condition, number), values, {A_TO_T: {"x": 0.0}, T_TO_A: {"x": 0.0}}))
        return Figures.of(runs)

    def test_trends_are_paired(self, figures: Figures) -> None:
        from biasamp_reproductions.masking_rows import trend_rows

        found = {row.what: row for row in trend_rows(figures)}
        assert found["Table 1, A→T: segment mask less original"].agrees is True
        assert found["Table 1, A→T: segment mask less original"].ours == pytest.approx(-3, abs=0.05)
        assert found["Table 1, T→A: noisy mask less original"].agrees is True
        assert found["Table 4, T→A of a balanced set: the largest of all runs and maskings"].agrees is True
        assert found["Table 4, DPA T→A, balanced: bounding box less original"].agrees is True
        # It falls here, and the papers say that it rises.
        assert found["Table 4, attribution outside the person, unbalanced: bounding box less original"].agrees is False

    def test_no_conclusion_from_one_run(self, figures: Figures) -> None:
        from biasamp_reproductions.masking_rows import trend_rows

        first = Figures({key: run for key, run in figures.runs.items() if key[2] == 0})
        assert not any(row.agrees for row in trend_rows(first) if "less original" in row.what)


class TestScenes:
    def test_everything_is_told(self) -> None:
        needs("torch")
        needs("captum")
        told: list[tuple[int, int]] = []
        outcome = reproduce(Setting(progress=lambda done, total, doing="": told.append((done, total))), QUICK)
        assert outcome.kind == STAND_IN
        assert "made-up scenes" in outcome.first_line
        assert "coco/annotations/instances_train2014.json" in outcome.left_out[0]
        # 2 sets x 5 conditions x 2 runs, and one cell x 2 conditions x 2 runs.
        assert told[-1] == (24, 24)
        (zero,) = rows(outcome, "T→A of a balanced set")
        assert (zero.ours, zero.agrees) == (0.0, True)
        assert all(row.agrees is None for row in rows(outcome, "Table 1, ") if row.spread)
        assert all(row.agrees for row in rows(outcome, "Table 3, mean", "T→A"))
        for metric in ("MALS", "leakage amplification", "Multi A→T", "DPA T→A", "attribution outside the person"):
            assert rows(outcome, "unbalanced, original", f": {metric}"), metric
        assert len(rows(outcome, "sweep, faint")) == 2
        assert [len(chart.lines) for chart in outcome.charts[:3]] == [3, 2, 1]  # type: ignore[union-attr]

    def test_a_run_against_counts_by_hand(self) -> None:
        needs("torch")
        splits = scene_splits(SceneDesign(), replace(QUICK, test=400), 3, False)
        import biasamp

        calls: list[Any] = []
        measure = biasamp.directional

        def watched(*labels: Any, **options: Any) -> Any:
            calls.append(labels)
            return measure(*labels, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(biasamp, "directional", watched)
            run = run_job(Job(("x",), lambda: splits, SEGMENT, 3, Training(epochs=2), trials=0, attributed=0))
        (a, t, t_hat), (_, _, a_hat) = calls
        assert run.figures[GENDER] == pytest.approx(np.mean(a == a_hat))
        a_to_t, sizes = [], []
        for name in splits.names:
            k = splits.names.index(name)
            for who in ("man", "woman"):
                train_a = np.where(splits.train.man, "man", "woman") == who
                train_t = splits.train.objects[:, k]
                sign = np.sign(len(train_a) * (train_a & train_t).sum() - train_a.sum() * train_t.sum())
                a_to_t.append(sign * (t_hat[name][a == who].mean() - t[name][a == who].mean()))
                has = t[name] == 1
                sizes.append(abs((a_hat[has] == who).mean() - (a[has] == who).mean()))
        assert run.figures[A_TO_T] == pytest.approx(np.mean(a_to_t))
        assert run.by_object[A_TO_T][splits.names[0]] == pytest.approx(np.mean(a_to_t[:2]))
        assert run.figures[f"{MULTI} {T_TO_A}"] == pytest.approx(np.mean(sizes))

    def test_masks_do_not_tell_gender(self) -> None:
        """How much a mask hides says nothing of who is hidden, as it would if both were drawn from one stream."""
        splits = scene_splits(SceneDesign(), replace(QUICK, train=4000), 11, False)
        for condition in (NOISY, PARTIAL):
            hid = (covered(splits, condition, 11)[0] != splits.train.images).any(axis=1).sum(axis=(1, 2))
            # Of the person, whose outline does tell a little.
            share = hid / splits.train.person.sum(axis=(1, 2))
            assert abs(np.corrcoef(share, splits.train.man)[0, 1]) < 0.06, condition

    def test_cores_change_nothing(self) -> None:
        needs("torch")
        jobs = [
            Job((k,), partial(scene_splits, SceneDesign(), QUICK, k, False), SEGMENT, k, QUICK.training, 0, 0)
            for k in range(2)
        ]
        alone, shared = (run_jobs(jobs, silent, workers=workers) for workers in (1, 2))
        assert [run.key for run in shared] == [(0,), (1,)]
        assert alone == shared


class TestCoco:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        make_coco(tmp_path)
        return tmp_path

    def test_who_and_what(self, folder: Path) -> None:
        found = read_split(folder / "coco", "train2014")
        # The 120 images of one gender with a person; not those with both, with nobody or with no gender.
        assert len(found) == 120
        assert [item.man for item in found[:4]] == [True, False, True, False]
        assert [sorted(item.objects) for item in found[:4]] == [
            ["bus", "tie"],
            ["umbrella"],
            ["tie", "umbrella"],
            ["tie", "umbrella"],
        ]
        assert usual_objects(found) == ("tie", "umbrella")

    def test_masks_of_polygons_runs_and_boxes(self, folder: Path) -> None:
        coco = read_coco(folder / "coco", silent, side=20)
        # The person is the left half, whether by polygon or by run lengths; the box goes on to three fifths.
        assert (coco.train.person == (np.arange(20) < 10)).all()
        assert coco.train.box is not None
        assert (coco.train.box == (np.arange(20) < 12)).all()
        assert coco.train.images[0, :, 10, 2].tolist() == [200, 20, 20]
        assert (coco.train.seen(SEGMENT, 0)[:, :, :, :10] == 0).all()

    def test_constraints(self, folder: Path) -> None:
        coco = read_coco(folder / "coco", silent, side=8)
        exact, loose = (coco.splits(0, balanced) for balanced in (True, False))
        for part in (exact.train, exact.validation, exact.test):
            assert part.objects[part.man].sum(axis=0).tolist() == part.objects[~part.man].sum(axis=0).tolist()
        for part in (loose.train, loose.validation, loose.test):
            men, women = (part.objects[side].sum(axis=0) for side in (part.man, ~part.man))
            assert (men < 2 * women).all()
            assert (women < 2 * men).all()
        assert len(loose.test) > len(exact.test)

    def test_training_on_real_files(self, folder: Path) -> None:
        needs("torch")
        needs("captum")
        outcome = reproduce(Setting(folder=folder), replace(QUICK, seeds=1))
        assert outcome.kind == REAL
        assert "120 train and 120 test images" in outcome.source
        assert "tie, umbrella" in outcome.source
        (zero,) = rows(outcome, "T→A of a balanced set")
        assert zero.ours == 0.0
        assert not rows(outcome, "sweep")

    @pytest.mark.parametrize(
        "part, value, message",
        [
            ("file_name", "../secret.png", "plain name"),
            ("categories", [{"id": 1, "name": "dog"}, {"id": 7, "name": "cat"}, {"id": 9, "name": "x"}], "'person'"),
            ("images", None, "no 'images'"),
        ],
    )
    def test_files_that_are_not_as_they_should_be(self, folder: Path, part: str, value: Any, message: str) -> None:
        path = folder / "coco" / "annotations" / "instances_train2014.json"
        document = json.loads(path.read_text())
        if part == "file_name":
            document["images"][0][part] = value
        elif value is None:
            del document[part]
        else:
            document[part] = value
        path.write_text(json.dumps(document))
        with pytest.raises(ValueError, match=message):
            read_split(folder / "coco", "train2014")


class TestWithoutTorch:
    def test_message_names_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("BIASAMP_DATA", raising=False)
        real = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *rest: None if name in ("torch", "captum") else real(name, *rest)
        )
        for name in ("masking", "seed-variance"):
            ran = CliRunner().invoke(command, [name])
            assert ran.exit_code == 3
            assert "pip install 'biasamp[experiments]'" in ran.output

    def test_listing_imports_no_torch(self) -> None:
        import subprocess

        code = "from biasamp_reproductions import experiments; experiments(); import sys; print({'torch', 'captum', 'PIL'} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "set()"

    def test_pillow_is_named(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        from biasamp_reproductions.image_files import read_image

        monkeypatch.setitem(sys.modules, "PIL", None)
        with pytest.raises(ImportError, match=r"biasamp\[experiments\]"):
            read_image(tmp_path / "x.png", 8)

    def test_experiments_say_what_they_need(self) -> None:
        known = experiments()
        assert known["masking"].extras == {"torch": "experiments", "captum": "experiments"}
        assert known["masking"].without
        assert known["seed-variance"].without
