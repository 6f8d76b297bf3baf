"""The sentences of parts, with their figures and what may be said of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import biasamp
from biasamp.amplification.why_parts import AMPLIFIES, REDUCES, UNKNOWN, UNTOLD

SAID = {
    AMPLIFIES: "which amplifies.",
    REDUCES: "which reduces.",
    UNKNOWN: "no verdict, as signs are not clear.",
    UNTOLD: "which cannot be told from 0.",
}


def decomposed(lean: float, threshold: float = 0.5, **more: Any) -> Any:
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b"], 800)
    truth = (rng.random(800) < 0.4 + 0.3 * (group == "a")).astype(int)
    scores = np.clip(0.2 + 0.3 * truth + lean * (group == "a") + 0.3 * rng.random(800), 0, 1)
    return biasamp.decompose(group, truth, np.round(scores, 2), threshold=threshold, **more)


def test_sentences() -> None:
    seen = set()
    for lean in (0.25, 0.0, -0.25):
        for threshold in (0.3, 0.5, 0.7):
            made = decomposed(lean, threshold)
            lines = made.verdict.split(". ")
            verdict = made.verdicts
            seen |= set(verdict.values())
            assert made.verdict.startswith(f"The decisions (a score of {threshold:g} or more): ")
            lead = {AMPLIFIES: ", amplifies", REDUCES: ", reduces"}.get(verdict["value"], "")
            assert lines[0].endswith(lead) if lead else "amplifies" not in lines[0] and "reduces" not in lines[0]
            assert SAID[verdict["score"]] in made.verdict.split("The scores: ")[1].split("Deciding on them: ")[0]
            assert SAID[verdict["threshold"]] in made.verdict.split("Deciding on them: ")[1]
            told = f"The records do not tell the direction of {made.unknown} of {made.defined} pairs."
            assert (told in made.verdict) == (made.unknown > 0)
            assert "strata" not in made.verdict
    assert {AMPLIFIES, REDUCES} <= seen


def test_sentences_of_strata_and_a_base() -> None:
    stratum = np.array(["p", "q"])[np.arange(800) % 2]
    made = decomposed(0.2, strata=stratum)
    last = made.verdict.split("Inside strata, by the signs there and each group's own shares: ")[1]
    assert last.endswith(SAID[made.verdicts["inside"]])
    assert "Against the base" not in made.verdict
    rng = np.random.default_rng(9)
    group = rng.choice(["a", "b"], 500)
    base = group, (rng.random(500) < 0.3 + 0.4 * (group == "a")).astype(int), rng.choice(["p", "q"], 500)
    held = decomposed(0.2, strata=stratum, base=base)
    assert "Against the base, which is taken as known, the rates inside strata are " in held.verdict
    assert " and their mix " in held.verdict
