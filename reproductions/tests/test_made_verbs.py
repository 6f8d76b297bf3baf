"""The stand-in for imSitu: what is planted, how verbs are restricted, and what the experiment gives back."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from biasamp_reproductions import Setting, experiments
from biasamp_reproductions.imsitu_leakage import _recovered, tables
from biasamp_reproductions.made_verbs import PlantedVerbs, made_verbs, restricted
from biasamp_reproductions.outcome import STAND_IN, Outcome


@pytest.fixture(scope="module")
def splits() -> Any:
    return made_verbs(3)[0]


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return experiments()["imsitu-leakage"].run(Setting())


@pytest.mark.parametrize("alpha", [1, 2, 3])
def test_each_verb_keeps_all_that_alpha_allows(splits: Any, alpha: int) -> None:
    for columns in splits.values():
        pairs = list(zip(columns["verb"], columns["gender"], strict=True))
        whole = Counter(pairs)
        kept = Counter(pair for pair, stays in zip(pairs, columns[f"in_ratio_{alpha}"], strict=True) if stays)
        for verb in set(columns["verb"]):
            women, men = whole[verb, "woman"], whole[verb, "man"]
            assert kept[verb, "woman"] == min(women, alpha * men)
            assert kept[verb, "man"] == min(men, alpha * women)


def test_what_stays_at_an_alpha_stays_above_it(splits: Any) -> None:
    one, two, three = (np.array(splits["train"][f"in_ratio_{alpha}"]) for alpha in (1, 2, 3))
    assert np.all(one <= two)
    assert np.all(two <= three)
    assert one.sum() < two.sum() < three.sum()


def test_a_verb_of_one_gender_goes() -> None:
    verb, man = np.array([0, 0, 1, 1]), np.array([True, True, True, False])
    assert restricted(verb, man, 3, np.arange(4)).tolist() == [False, False, True, True]


def test_planted_accuracy_by_hand() -> None:
    planted = PlantedVerbs(np.array([0.5, 0.5]), np.array([0.1, 0.5]))
    assert planted.accuracy(None) == pytest.approx(0.45 + 0.25)
    # Of the first verb .05 and thrice as much are left, of the second all.
    assert planted.accuracy(3) == pytest.approx((0.15 + 0.25) / (0.2 + 0.5))
    assert planted.accuracy(1) == 0.5


def test_seeds_draw_apart_and_again() -> None:
    first, again, other = (made_verbs(seed)[0]["val"]["gender"] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_what_is_planted_comes_back(outcome: Outcome) -> None:
    assert outcome.kind == STAND_IN
    assert outcome.first_line.startswith("Stand-in: 42,000 made-up images")
    assert "nothing about imSitu" in outcome.source
    assert "imsitu_gender_verbs_train.parquet" in outcome.left_out[0]
    held = [row for row in outcome.rows if row.agrees is not None]
    assert len(held) == 5
    assert [row.verdict for row in held] == ["seen"] + ["as planted"] * 4
    found = {row.what: row.ours for row in outcome.rows}
    assert found["alpha = 1, restricting train and test: balanced accuracy of the attacker"] == 0.5


def test_what_is_not_planted_does_not(outcome: Outcome) -> None:
    splits, planted = made_verbs(0)
    flatter = PlantedVerbs(planted.rate, 0.5 + 0.5 * (planted.men - 0.5))
    rows = tuple(_recovered(outcome.rows, tables(splits), flatter))
    assert [row.agrees for row in rows] == [False, False, False, True]
