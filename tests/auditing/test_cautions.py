"""Every caution has data that call for it and data that do not; findings are ordered and carry their figure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp import auditing

NAMES: dict[str, Any] = {"attributes": "kind", "tasks": "cooks", "task_predictions": "said"}


def cells(*counts: tuple[Any, Any, Any, int]) -> dict[str, Any]:
    """Records of (group, truth, prediction, how many)."""
    rows = [row[:3] for row in counts for _ in range(row[3])]
    return {"kind": [r[0] for r in rows], "cooks": [r[1] for r in rows], "said": [r[2] for r in rows]}


# Associated in truth (.75 against .25); said of more of a and of fewer of b, so plainly amplified.
AMPLIFIED = cells(
    ("a", 1, 1, 300), ("a", 0, 1, 60), ("a", 0, 0, 40), ("b", 1, 0, 60), ("b", 1, 1, 40), ("b", 0, 0, 300)
)
# Errors of both kinds in equal number: rates, and so amplification, are what they were.
FAITHFUL = cells(
    ("a", 1, 1, 280), ("a", 1, 0, 20), ("a", 0, 1, 20), ("a", 0, 0, 80),
    ("b", 1, 1, 80), ("b", 1, 0, 20), ("b", 0, 1, 20), ("b", 0, 0, 280),
)  # fmt: skip
# No association in truth at all.
BALANCED = cells(
    ("a", 1, 1, 180), ("a", 1, 0, 20), ("a", 0, 1, 60), ("a", 0, 0, 140),
    ("b", 1, 1, 140), ("b", 1, 0, 60), ("b", 0, 1, 20), ("b", 0, 0, 180),
)  # fmt: skip
PERFECT = {**FAITHFUL, "said": FAITHFUL["cooks"]}
WEAKENED = {
    **AMPLIFIED,
    "said": [int(t == (k == "b")) for k, t in zip(AMPLIFIED["kind"], AMPLIFIED["cooks"], strict=True)],
}


def renamed(data: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): values for name, values in data.items()}


def audit(data: dict[str, Any], **options: Any) -> Any:
    return biasamp.audit(data, **{**NAMES, "resamples": 50, "metrics": ["directional", "multi", "parity"], **options})


Case = tuple[dict[str, Any], dict[str, Any]]
BOTH = {"attribute_predictions": "guess"}
GUESS = {**AMPLIFIED, "guess": [*AMPLIFIED["kind"][1:], "a"]}
GAPS = {**AMPLIFIED, "cooks": [None, *AMPLIFIED["cooks"][1:]]}
SMALL = {name: values + [{"kind": "c"}.get(name, 1)] * 5 for name, values in AMPLIFIED.items()}
YES_NO = {**AMPLIFIED, "said": ["yes" if x else "no" for x in AMPLIFIED["said"]]}

ALL = {"metrics": "auto"}

# caution: (data and options that call for it), (data and options that do not)
CASES: dict[str, tuple[Case, Case]] = {
    "sensitive-prediction": ((GUESS, BOTH), (AMPLIFIED, {})),
    "incomparable": ((GUESS, BOTH), (AMPLIFIED, {})),
    "not-fairness": ((FAITHFUL, {}), (AMPLIFIED, {})),
    "balanced": ((BALANCED, {}), (AMPLIFIED, {})),
    "over-zero": ((FAITHFUL, {}), (AMPLIFIED, {})),
    "no-interval": (
        ({name: values[:1] for name, values in AMPLIFIED.items()}, {"engine": "local"}),
        (AMPLIFIED, {"engine": "local"}),
    ),
    "threshold": (
        ({**AMPLIFIED, "said": [x or int(i % 3 == 0) for i, x in enumerate(AMPLIFIED["said"])]}, {}),
        (FAITHFUL, {}),
    ),
    "not-ground-truth": (
        (renamed(AMPLIFIED, cooks="two_year_recid"), {"tasks": "two_year_recid"}),
        (renamed(AMPLIFIED, cooks="asterisk"), {"tasks": "asterisk"}),
    ),
    "perceived": (
        (renamed(AMPLIFIED, kind="gender"), {"attributes": "gender"}),
        (renamed(AMPLIFIED, kind="bracelet"), {"attributes": "bracelet"}),
    ),
    "base-choice": (
        (AMPLIFIED, {"base": {"a": {"0": 3, "1": 5}, "b": {"0": 4, "1": 1}}}),
        (AMPLIFIED, {}),
    ),
    "small-groups": ((SMALL, {}), (SMALL, {"min_group": 5})),
    "unclear-signs": ((BALANCED, {}), (AMPLIFIED, {})),
    "missing": ((GAPS, {"missing": "drop"}), (AMPLIFIED, {"missing": "drop"})),
    "excluded": ((AMPLIFIED, {"tasks": biasamp.categorical("cooks", categories=[0, 1, 2])}), (AMPLIFIED, {})),
    "perfect": ((PERFECT, {}), (FAITHFUL, {})),
    "swapped": (
        (renamed(AMPLIFIED, cooks="cooks_pred"), {"tasks": "cooks_pred", "task_predictions": "said"}),
        (renamed(AMPLIFIED, said="cooks_pred"), {"task_predictions": "cooks_pred"}),
    ),
    "one-value": (({**AMPLIFIED, "kind": ["a"] * len(AMPLIFIED["kind"])}, {}), (AMPLIFIED, {})),
    "disjoint": ((YES_NO, {}), (AMPLIFIED, {})),
    "disagreement": ((BALANCED, ALL), (AMPLIFIED, ALL)),
}


@pytest.mark.parametrize("code", CASES)
def test_the_caution_is_given_where_it_applies(code: str) -> None:
    data, options = CASES[code][0]
    found = [finding for finding in audit(data, **options).findings if finding.code == code]
    assert found
    assert all(finding.kind == "caution" for finding in found)


@pytest.mark.parametrize("code", CASES)
def test_the_caution_is_not_given_where_it_does_not_apply(code: str) -> None:
    data, options = CASES[code][1]
    assert code not in {finding.code for finding in audit(data, **options).findings}


def test_every_caution_has_its_cases() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in Path(auditing.__file__).parent.glob("*.py"))
    codes = set(re.findall(r'caution\(\s*"([a-z-]+)"', source))
    assert codes == set(CASES)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("perceived_gender", "ab", True),
        ("Age", "ab", True),
        ("race_ethnicity", "ab", True),
        ("sex", "ab", True),
        ("SkinTone", "ab", True),
        ("kind", ("woman", "other"), True),
        ("kind", ("M", "F"), True),
        ("size", ("m", "l"), False),
        ("image_id", "ab", False),
        ("language", "ab", False),
        ("trace", "ab", False),
        ("sextant", "ab", False),
        ("page_count", "ab", False),
    ],
)
def test_what_counts_as_an_identity(name: str, values: Any, expected: bool) -> None:
    held = [values[0] if x == "a" else values[1] for x in AMPLIFIED["kind"]]
    audited = audit({**AMPLIFIED, name: held}, attributes=name, metrics=["directional"])
    assert ("perceived" in {finding.code for finding in audited.findings}) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("is_hired", True), ("credit_default", True), ("risk_high", True), ("cooking", False), ("brisk", False)],
)
def test_what_counts_as_a_decision_or_a_future_event(name: str, expected: bool) -> None:
    audited = audit(renamed(AMPLIFIED, cooks=name), tasks=name, metrics=["directional"])
    assert ("not-ground-truth" in {finding.code for finding in audited.findings}) is expected


def test_two_identity_values_leave_people_out() -> None:
    two = audit(renamed(AMPLIFIED, kind="gender"), attributes="gender", metrics=["directional"])
    three = audit(renamed(SMALL, kind="gender"), attributes="gender", metrics=["directional"])
    said = [_text(audited, "perceived") for audited in (two, three)]
    assert "two values" in said[0]
    assert "two values" not in said[1]


def test_the_crossing_of_attributes_is_not_cautioned_of_twice() -> None:
    data = {**renamed(AMPLIFIED, kind="gender"), "race": ["x", "y"] * 400}
    audited = audit(data, attributes=["gender", "race"], intersections=True)
    codes = [finding.code for finding in audited.findings]
    assert codes.count("perceived") == 2
    assert codes.count("threshold") <= 1


def test_a_threshold_off_the_base_rate_shows_both_rates() -> None:
    data, options = CASES["threshold"][0]
    (found,) = [finding for finding in audit(data, **options).findings if finding.code == "threshold"]
    outcome = int(found.figure["outcome"].removeprefix("cooks="))
    for role, name in (("said", "predicted_rate"), ("cooks", "base_rate")):
        assert found.figure[name] == pytest.approx(np.mean(np.array(data[role]) == outcome))
    assert f"{found.figure['predicted_rate']:.3f} predicted against {found.figure['base_rate']:.3f}" in found.text


def test_missing_and_excluded_count_what_they_say() -> None:
    assert "1 missing values were left out" in _text(audit(GAPS, missing="drop"), "missing")
    audited = audit(*CASES["excluded"][0][:1], **CASES["excluded"][0][1])
    assert _text(audited, "excluded").startswith(f"{len(audited.excluded)} figures are undefined")


def _text(audited: Any, code: str) -> str:
    (text,) = [finding.text for finding in audited.findings if finding.code == code]
    return str(text)


# Findings


@pytest.mark.parametrize(
    ("data", "words", "sign"),
    [
        (AMPLIFIED, "the model amplifies the bias of its data", 1),
        (WEAKENED, "the model weakens the associations of its data", -1),
        (FAITHFUL, "The interval covers 0, so this concludes nothing", 0),
    ],
    ids=["amplified", "weakened", "neither"],
)
def test_the_interval_decides_the_words(data: dict[str, Any], words: str, sign: int) -> None:
    audited = audit(data)
    first = audited.findings[0]
    assert first.code == "amplification"
    assert words in first.text
    low, high = first.figure["interval"]
    assert (low > 0) - (high < 0) == sign
    assert f"{first.figure['value']:+.3f} [{low:+.3f}, {high:+.3f}]" in first.text


def test_no_error_seen_is_an_interval_over_0() -> None:
    audited = audit(PERFECT)
    low, high = audited.document["metrics"][0]["interval"]
    assert low < 0 < high
    assert "concludes nothing" in audited.findings[0].text
    assert "over-zero" in {finding.code for finding in audited.findings}


def test_findings_come_before_cautions_and_the_weightiest_first() -> None:
    audited = audit({**GUESS, "kind2": GUESS["kind"][::-1]}, attributes=["kind", "kind2"], metrics="auto")
    weights = [finding.weight for finding in audited.findings]
    assert weights == sorted(weights, reverse=True)
    kinds = [finding.kind for finding in audited.findings]
    assert kinds == sorted(kinds, reverse=True)  # finding, then caution
    values = [abs(f.figure["value"]) for f in audited.findings if f.code == "amplification" and "covers" not in f.text]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("data", [AMPLIFIED, WEAKENED, FAITHFUL, BALANCED, GUESS, SMALL], ids=range(6))
def test_every_finding_shows_the_figure_it_rests_on(data: dict[str, Any]) -> None:
    options = BOTH if "guess" in data else {}
    audited = audit(data, metrics="auto", **options)
    entries = {(m["metric"], m["attribute"], m["direction"]): m for m in audited.document["metrics"]}
    for finding in audited.findings:
        if finding.kind == "caution":
            continue
        figure = finding.figure
        entry = entries[figure["metric"], figure["attribute"], figure["direction"]]
        assert figure["value"] == entry["value"]
        assert figure["interval"] == entry["interval"]
        if finding.code not in ("pairs", "opposite-pairs"):
            assert f"{abs(figure['value']):.3f}" in finding.text, finding.text


def test_pairs_are_told_with_their_rates() -> None:
    audited = audit(AMPLIFIED)
    text = _text(audited, "pairs")
    assert "of 4 pairs, 4 are amplified and 0 weakened" in text
    assert "kind=a → cooks=0 0.250 becomes 0.100 (+0.150" in text  # 100 of 400, then 40 of 400
    assert "kind=b → cooks=0 0.750 becomes 0.900 (+0.150" in text
    assert "cooks=1" not in text  # the mirror image of cooks=0


def test_large_opposite_pairs_behind_a_small_aggregate() -> None:
    """a is said of less than true, b the same way round: one pair weakened, the other amplified, the mean 0."""
    data = cells(("a", 1, 1, 200), ("a", 1, 0, 100), ("a", 0, 0, 100), ("b", 1, 0, 100), ("b", 0, 0, 300))
    text = _text(audit(data), "opposite-pairs")
    assert "hides pairs that move in opposite ways, from -0.250 to +0.250" in text
    assert "opposite-pairs" not in {finding.code for finding in audit(AMPLIFIED).findings}


def test_multi_is_held_against_its_floor() -> None:
    assert "more than noise" in _text(audit(AMPLIFIED), "multi")
    assert "no more than noise would give" in _text(audit(FAITHFUL), "multi")


def test_parity_names_the_largest_difference() -> None:
    """TPR of cooks=1 is 1 in a and .4 in b, so they differ by .6; both kinds of accuracy by hand: 340/400 in each."""
    text = _text(audit(AMPLIFIED), "parity")
    assert "true positive rates differ by up to 0.600" in text
    assert "accuracies differ by up to 0.000" in text


def test_what_was_not_run_says_why() -> None:
    rows = {(row["metric"], row["direction"]): row["reason"] for row in audit(AMPLIFIED, metrics="auto").not_run}
    assert "attribute_predictions, which were not given" in rows["directional", "T->A"]
    assert "attribute_predictions were not given" in rows["mals", None]
    rows = {row["metric"]: row["reason"] for row in audit(GUESS, task_predictions=None, **BOTH, metrics="auto").not_run}
    assert "task predictions, which were not given" in rows["parity"]


def test_disagreements_are_explained_once() -> None:
    """Two directions that disagree are one caution, which shows both."""
    audited = audit(
        {**BALANCED, "guess": BALANCED["said"], "cooks2": BALANCED["kind"]},
        attributes=["kind", "cooks2"],
        metrics="auto",
    )
    text = _text(audited, "disagreement")
    assert text.count("directional amplification is") == 2
    assert text.count("Choose by which") == 1
