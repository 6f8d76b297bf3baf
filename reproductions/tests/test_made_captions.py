"""The stand-in for captions: planted errors, by hand and through the experiment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import biasamp
from biasamp_reproductions import Setting, experiments
from biasamp_reproductions.captions import MODELS, read_made
from biasamp_reproductions.made_captions import (
    OBJECTS,
    PLANTED,
    MadeCaptions,
    made_captions,
    planted_a_to_t,
    planted_rows,
    planted_t_to_a,
)
from biasamp_reproductions.outcome import STAND_IN, Outcome

# Two men and two women; the first object goes with men, the second with women.
MAN = np.array([True, True, False, False])
THERE = np.array([[1, 0], [1, 0], [1, 1], [0, 1]], dtype=bool)


@pytest.fixture(scope="module")
def made() -> MadeCaptions:
    return made_captions(0)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return experiments()["captions"].run(Setting())


def test_planted_t_to_a_by_hand() -> None:
    # One woman with both objects is a man for half of the draws: 2/3 to 5/6 given the first, 0 to 1/4 given the second.
    found = planted_t_to_a(MAN, THERE, np.array([1, 1, 0.5, 0]))
    assert found == pytest.approx(((1 / 6 - 1 / 4) / 2, 1 / 24))


def test_planted_a_to_t_by_hand() -> None:
    # Her first object is named in half of the draws: 1/2 to 1/4 given a woman, one pair of four.
    names = THERE.astype(float)
    names[2, 0] = 0.5
    assert planted_a_to_t(MAN, THERE, names) == pytest.approx((1 / 16, 1 / 16))


def test_chances_of_0_and_1_are_predictions(made: MadeCaptions) -> None:
    rng = np.random.default_rng(5)
    said, named = rng.random(len(made.man)) < 0.5, rng.random(made.there.shape) < 0.2
    there, man = made.there.astype(np.uint8), made.man.astype(np.uint8)
    t_to_a = biasamp.directional(there, man, said.astype(np.uint8)).value
    a_to_t = biasamp.directional(np.where(made.man, "man", "woman"), there, named.astype(np.uint8)).value
    assert planted_t_to_a(made.man, made.there, said.astype(float))[0] == pytest.approx(t_to_a)
    assert planted_a_to_t(made.man, made.there, named.astype(float))[0] == pytest.approx(a_to_t)


def test_words_give_back_the_planted_rates(made: MadeCaptions) -> None:
    data = read_made(made)
    assert tuple(PLANTED) == MODELS
    for model, plan in PLANTED.items():
        said = np.array(data.said[model], dtype=object)
        assert np.mean(said == None) == pytest.approx(plan.unsaid, abs=0.025)  # noqa: E711
        named = np.array([[name in found for name in OBJECTS] for found in data.named(model)])
        assert named[made.there].mean() == pytest.approx(plan.named, abs=0.04)
        # Ties are of men: invented with men alone.
        tie = list(OBJECTS).index("tie")
        without = ~made.there[:, tie]
        assert named[without & made.man, tie].mean() == pytest.approx(plan.invented, abs=0.05)
        assert not named[without & ~made.man, tie].any()
        # The first four objects are of women, the next four of men; people with more of the other's are misleading.
        lead = made.there[:, 4:8].sum(1) - made.there[:, :4].sum(1)
        misleading, told = np.where(made.man, lead < 0, lead > 0), said != None  # noqa: E711
        wrong = said != np.array(made.gender)
        assert wrong[told & misleading].mean() == pytest.approx(plan.wrong + plan.drawn, abs=0.11)
        assert wrong[told & ~misleading].mean() == pytest.approx(plan.wrong, abs=0.02)


@pytest.mark.slow
def test_what_is_planted_comes_back(outcome: Outcome) -> None:
    assert outcome.kind == STAND_IN
    assert outcome.first_line.startswith("Stand-in: 2,400 made-up images")
    assert "names alone are borrowed" in outcome.source
    assert "coco_objects_66.csv" in outcome.left_out[0]
    held = [row for row in outcome.rows if row.agrees is not None]
    assert len(held) == 2 * len(MODELS) + 2
    assert {row.verdict for row in held} == {"as planted"}
    # Nothing of the paper stands beside figures of made-up captions.
    assert {row.published for row in outcome.rows} == {None}
    assert len(outcome.charts) == 4


@pytest.mark.slow
def test_what_is_not_planted_does_not(made: MadeCaptions, outcome: Outcome) -> None:
    # Chances of a model that always errs as the baseline, and of one that names what is there.
    swapped = replace(
        made,
        says_man={**made.says_man, "equalizer": made.says_man["baseline_ft"]},
        names={**made.names, "equalizer": made.there.astype(float)},
    )
    rows = planted_rows(swapped, read_made(made).common, outcome.rows)
    assert {row.what for row in rows if not row.agrees} == {
        "equalizer: A→T against what was planted",
        "equalizer: T→A against what was planted",
    }
