"""Sentences with a blank, and what is put there, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from biasamp.text.blanks import (
    PRONOUNS,
    TEMPLATES,
    TWO,
    Blank,
    FilledIn,
    Occupation,
    Source,
    amplification,
    fill_in,
    occupation_blank,
    occupation_blanks,
    pronoun_blank,
)

JOBS = (Occupation("cook", 0.38, 100, "men"), Occupation("nurse", 0.9, 300, "women"))
# Thousands of men and women: cooks 62 men of 100, nurses 30 of 300, sheriffs .3 of 1.
MEN_AND_WOMEN = {
    "cook": {"he": 62, "she": 38},
    "nurse": {"he": 30, "she": 270},
    "sheriff": {"he": 0.3, "she": 0.7},
}
LABOUR = Source("labour force", TWO, MEN_AND_WOMEN)


class TestSentences:
    def test_twenty_as_the_appendix_says(self) -> None:
        texts = {blank.before + "nurse" + blank.after for blank in occupation_blanks("she")}
        assert len(texts) == 20
        assert {"She is a French nurse.", "She was an old nurse."} <= texts

    def test_both_blanks_make_the_same_sentence(self) -> None:
        for template in TEMPLATES:
            asked, told = pronoun_blank(template, "cook"), occupation_blank(template, "they")
            assert asked.before + "They" + asked.after == told.before + "cook" + told.after


def filled(he: list[float], she: list[float], cook: list[float]) -> FilledIn:
    """Two occupations in all templates: pronouns given each, and the share of cooks given each pronoun."""
    pronoun = np.column_stack([he, she, 1 - np.add(he, she)])
    occupation = np.column_stack([cook, 1 - np.array(cook)])
    times = (len(TEMPLATES), 1, 1)
    return FilledIn(
        JOBS, np.tile(pronoun, times), np.tile(occupation, times), np.tile(occupation, times), np.array([1, 1])
    )


class TestAmplification:
    """Each value is the mean over pairs of the sign times the change, worked out by hand."""

    made = filled(he=[0.6, 0.1], she=[0.2, 0.7], cook=[0.7, 0.4, 0.5])

    def value(self, source: Source, direction: str, **options: Any) -> float:
        return float(amplification(self.made, source, direction, **options).value)

    def test_uniform_between_two(self) -> None:
        two = Source("two alike", TWO)
        # Among he and she: .75 for the cook, .125 for the nurse. Cooks lean to he, nurses to she: +.25 and +.375.
        assert self.value(two, "T→A") == pytest.approx((0.25 + 0.25 + 0.375 + 0.375) / 4, abs=1e-6)
        assert self.value(two, "A→T") == pytest.approx((0.2 + 0.2 + 0.1 + 0.1) / 4, abs=1e-6)

    def test_uniform_among_three_leaves_they_out_of_the_sum(self) -> None:
        three = Source("three alike", PRONOUNS)
        # he less she: .4 for the cook, she less he: .6 for the nurse; six pairs.
        assert self.value(three, "T→A") == pytest.approx((0.4 + 0.6) / 6, abs=1e-6)
        assert self.value(three, "A→T") == pytest.approx((0.2 + 0.2 + 0.1 + 0.1 + 0) / 6, abs=1e-6)

    def test_labour_force(self) -> None:
        # Cooks 62 men of 100, nurses 30 of 300: P(he | job) moves from .62 to .75 and from .10 to .125.
        assert self.value(LABOUR, "T→A") == pytest.approx((2 * 0.13 - 2 * 0.025) / 4)
        # P(cook | he) moves from 62/92 to .7, P(cook | she) from 38/308 to .4.
        assert self.value(LABOUR, "A→T") == pytest.approx((2 * (0.7 - 62 / 92) - 2 * (0.4 - 38 / 308)) / 4)

    def test_counts_of_a_text_leave_out_what_it_does_not_name(self) -> None:
        counted = Source("x", ("he", "she"), {"cook": {"he": 3, "she": 1}, "nurse": {"he": 1, "she": 3}})
        assert self.value(counted, "T→A") == pytest.approx((0.0 + 0.0 + 0.125 + 0.125) / 4)

    def test_occupations_taken_for_equally_large_change_signs_alone(self) -> None:
        jobs = (*JOBS, Occupation("sheriff", 0.7, 1, "men"))
        pronoun = np.tile([[0.6, 0.4, 0.0], [0.2, 0.8, 0.0], [0.5, 0.5, 0.0]], (len(TEMPLATES), 1, 1))
        none = np.zeros((len(TEMPLATES), 3, 3))
        made = FilledIn(jobs, pronoun, none, none, np.ones(3, dtype=int))
        # 92.3 of 401 are men: a sheriff (.3) leans to men. Taken alike, (.62 + .1 + .3) / 3 = .34: to women.
        rest = 2 * (0.6 - 0.62) - 2 * (0.2 - 0.1)
        assert amplification(made, LABOUR, "T→A").value == pytest.approx((rest + 2 * (0.5 - 0.3)) / 6)
        assert amplification(made, LABOUR, "T→A", alike=True).value == pytest.approx((rest - 2 * (0.5 - 0.3)) / 6)


class Spoken:
    """A model that knows some words, each with the weight of its letters; 'baker' has two tokens."""

    name = "spoken"

    def __init__(self, known: Sequence[str]) -> None:
        self.known = known

    def scores(self, blanks: Sequence[Blank], words: Sequence[str]) -> tuple[Any, Any]:
        tokens = [0 if word.lower() not in self.known else 2 if word == "baker" else 1 for word in words]
        logs = [np.log(len(word)) if many else np.nan for word, many in zip(words, tokens, strict=True)]
        return np.tile(logs, (len(blanks), 1)), np.tile(tokens, (len(blanks), 1))


class TestFillIn:
    jobs = (*JOBS, Occupation("baker", 0.5, 1, "men"), Occupation("welder", 0.1, 1, "men"))

    def test_shares_by_hand(self) -> None:
        found = fill_in(Spoken(["he", "she", "they", "cook", "nurse", "baker"]), self.jobs)
        # Letters: he 2, she 3, they 4; cook 4, nurse 5, baker 5; the welder is not known.
        assert found.pronoun.shape == (len(TEMPLATES), 4, 3)
        assert found.pronoun[7, 2] == pytest.approx([2 / 9, 3 / 9, 4 / 9])
        assert found.he == pytest.approx([0.4] * 4)
        assert found.tokens.tolist() == [1, 1, 2, 0]
        # Words of one token compete with one another alone; chained, those of two as well.
        assert found.occupation[3, 1] == pytest.approx([4 / 9, 5 / 9, 0, 0])
        assert found.occupation_chained[3, 1] == pytest.approx([4 / 14, 5 / 14, 5 / 14, 0])

    @pytest.mark.parametrize(
        "known, message", [(["he", "she", "cook", "nurse"], "they as one token"), (PRONOUNS, "fewer than two")]
    )
    def test_models_that_do_not_know_the_words(self, known: Sequence[str], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            fill_in(Spoken(known), self.jobs)
