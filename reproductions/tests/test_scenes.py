"""Scenes are what they are said to be, and masks hide what they are said to hide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biasamp_reproductions.masks import BOX, CONDITIONS, NOISY, ORIGINAL, PARTIAL, SEGMENT, bounding_box, hidden, masked
from biasamp_reproductions.scenes import OF_MEN, SceneDesign, draw, labels, paint


class TestScenes:
    def test_rates_and_ratio(self) -> None:
        man, objects = labels(SceneDesign(men=0.6, rate=0.12, ratio=2.5), 200_000, np.random.default_rng(0))
        assert man.mean() == pytest.approx(0.6, abs=0.005)
        # 2 * .12 / 3.5 = .0686 with the other gender, 2.5 times that with its own.
        for side in (True, False):
            rates = objects[man == side].mean(axis=0)
            assert rates[side == OF_MEN] == pytest.approx(0.1714, abs=0.005)
            assert rates[side != OF_MEN] == pytest.approx(0.0686, abs=0.005)

    def test_balanced_exactly_though_context_tells_gender(self) -> None:
        scenes = draw(replace(SceneDesign(), cue=0.0), 4000, 1, balanced=True)
        men, women = (scenes.objects[side].sum(axis=0) for side in (scenes.man, ~scenes.man))
        assert men.tolist() == women.tolist()
        assert scenes.man.mean() == 0.5
        # Context is white or black, and of no other thing are there so many such pixels.
        white = (scenes.images > 0.85).all(axis=1).sum(axis=(1, 2))
        assert white[~scenes.man].mean() > 1.5 * white[scenes.man].mean()

    def test_objects_never_cover_the_person(self) -> None:
        design = SceneDesign(noise=0.0)
        man = np.arange(300) % 2 == 0
        none, every = np.zeros((300, len(OF_MEN)), bool), np.ones((300, len(OF_MEN)), bool)
        bare, full = (paint(design, man, objects, np.random.default_rng(5)) for objects in (none, every))
        assert (bare.person == full.person).all()
        inside = np.broadcast_to(bare.person[:, None], bare.images.shape)
        assert (bare.images[inside] == full.images[inside]).all()
        assert (bare.images != full.images).any(axis=(1, 2, 3)).all()

    def test_torsos_hint_at_gender_as_far_as_the_cue_goes(self) -> None:
        gaps = []
        for cue in (0.0, 1.0):
            scenes = draw(SceneDesign(noise=0.0, cue=cue), 3000, 2)
            inside = np.where(scenes.person, scenes.images[:, 0] - scenes.images[:, 2], 0).sum(axis=(1, 2))
            gaps.append(inside[scenes.man].mean() - inside[~scenes.man].mean())
        assert abs(gaps[0]) < 1.5 < 5 < gaps[1]

    def test_a_seed_gives_the_same_scenes(self) -> None:
        one, again, other = (draw(SceneDesign(), 20, seed) for seed in (3, 3, 4))
        assert (one.images == again.images).all()
        assert (one.images != other.images).any()


class TestMasks:
    def test_what_each_hides(self) -> None:
        scenes = draw(SceneDesign(), 200, 0)
        hides = {condition: hidden(scenes.person, condition, 1) for condition in CONDITIONS}
        assert not hides[ORIGINAL].any()
        assert (hides[SEGMENT] == scenes.person).all()
        for condition in (NOISY, PARTIAL):
            assert not (hides[condition] & ~scenes.person).any()
        assert hides[NOISY].sum() / scenes.person.sum() == pytest.approx(0.75, abs=0.02)
        # From the top: in every column of the person nothing is shown above what is hidden.
        rows = hides[PARTIAL].any(axis=2)
        shown = (scenes.person & ~hides[PARTIAL]).any(axis=2)
        for hid, seen in zip(rows, shown, strict=True):
            assert not hid.any() or not seen.any() or np.flatnonzero(hid).max() < np.flatnonzero(seen).min()
        for person, box in zip(scenes.person, hides[BOX], strict=True):
            y, x = np.nonzero(person)
            wanted = np.zeros_like(person)
            wanted[y.min() : y.max() + 1, x.min() : x.max() + 1] = True
            assert (box == wanted).all()

    @pytest.mark.parametrize("dtype", [np.uint8, np.float32])
    def test_pixels_outside_stay(self, dtype: type) -> None:
        rng = np.random.default_rng(0)
        person = rng.random((5, 8, 8)) < 0.3
        images = rng.integers(1, 255, (5, 3, 8, 8)).astype(dtype)
        for condition in CONDITIONS:
            seen = masked(images, person, condition, 7)
            assert seen.dtype == dtype
            outside = np.broadcast_to(~hidden(person, condition, 7)[:, None], images.shape)
            assert (seen[outside] == images[outside]).all()
            if condition in (SEGMENT, BOX):
                assert (seen[~outside] == 0).all()

    def test_annotators_boxes_are_taken(self) -> None:
        person, box = np.zeros((1, 4, 4), bool), np.ones((1, 4, 4), bool)
        assert hidden(person, BOX, 0, box).all()
        assert not bounding_box(person).any()

    def test_unknown_condition(self) -> None:
        with pytest.raises(ValueError, match="blurred"):
            hidden(np.zeros((1, 4, 4), bool), "blurred")
