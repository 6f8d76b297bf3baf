"""How often sentences are false on data whose truth is known: a short version of ``python -m benchmarks decisions``."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.decisions.cases import CASES, FEW
from benchmarks.decisions.sentences import FALSE, study

from biasamp import auditing

SAMPLES = 60
# At 5% each, so many of the samples or more are false with a chance below 1 in 1,000; at 10% for any verdict.
MOST, MOST_VERDICTS = 10, 15
SHORT = (
    "rates kept, n 60",
    "weak, rates kept, n 500",
    "balanced, follows the group, n 500",
    "five groups",
    "clusters of 5",
    "weights, strong",
    "scores, strong",
    "20 tasks",
)


def test_every_code_has_its_truth() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in Path(auditing.__file__).parent.glob("*.py"))
    codes = set(re.findall(r'(?:caution|finding)\(\s*"([a-z-]+)"', source)) | {"dpa", "leakage"}
    assert codes == set(FALSE)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_sentences_are_seldom_false(name: str) -> None:
    (case,) = [case for case in CASES if case.name == name]
    case = replace(case, metrics=FEW) if case.tasks > 1 else case
    tally = study(case, SAMPLES)
    assert {code: many for code, many in tally.false.items() if many >= MOST} == {}
    assert tally.verdicts < MOST_VERDICTS


@pytest.mark.slow
def test_a_plain_change_is_told() -> None:
    """Amplified and reduced by .05 of 500 records: rare false sentences must not come from saying nothing."""
    for name, sign in (("amplifies", 1), ("reduces", -1)):
        (case,) = [case for case in CASES if case.name == name]
        tally = study(replace(case, n=2000, metrics=FEW), 20)
        assert tally.decided[sign] >= 18
        assert not tally.false["amplification"]
