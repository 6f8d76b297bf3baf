"""Every caution has data that call for it and data that do not; findings are ordered and carry their figure."""

from __future__ import annotations

import copy
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
# Hardly told apart by truth, plainly by the model in the other way: associations are turned, and easier to guess.
TURNED = cells(("a", 1, 1, 20), ("a", 1, 0, 220), ("a", 0, 0, 160), ("b", 1, 1, 160), ("b", 0, 1, 220), ("b", 0, 0, 20))
WEAKENED = {
    **AMPLIFIED,
    "said": [int(t == (k == "b")) for k, t in zip(AMPLIFIED["kind"], AMPLIFIED["cooks"], strict=True)],
}


def renamed(data: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): values for name, values in data.items()}


def audit(data: dict[str, Any], **options: Any) -> Any:
    data = {name: copy.copy(values) for name, values in data.items()}
    return biasamp.audit(data, **{**NAMES, "resamples": 50, "metrics": ["directional", "multi", "parity"], **options})


Case = tuple[dict[str, Any], dict[str, Any]]
BOTH = {"attribute_predictions": "guess"}
GUESS = {**AMPLIFIED, "guess": [*AMPLIFIED["kind"][1:], "a"]}
# Train labels with the same associations, of twice as many records.
OTHERS = {name: values * 2 for name, values in AMPLIFIED.items()}
GAPS = {**AMPLIFIED, "cooks": [None, *AMPLIFIED["cooks"][1:]]}
SMALL = {name: values + [{"kind": "c"}.get(name, 1)] * 5 for name, values in AMPLIFIED.items()}
TWO_COLUMNS = {**AMPLIFIED, "flies": [0] * 800, "flew": [0, 1] * 400}

# In no order: a table that was sorted, or made by hand, may well repeat.
_ORDER = np.random.default_rng(8).permutation(800)
ONCE = {name: [values[i] for i in _ORDER] for name, values in AMPLIFIED.items()}
TWICE = {name: values * 2 for name, values in ONCE.items()}

SCORES = {**AMPLIFIED, "said": [0.9 if x else 0.4 for x in AMPLIFIED["said"]]}

ALL = {"metrics": "auto"}

# caution: (data and options that call for it), (data and options that do not)
NAMED = {
    name: [("no" if x == 0 else "maybe") if name != "kind" else x for x in values] for name, values in AMPLIFIED.items()
}
CASES: dict[str, tuple[Case, Case]] = {
    "positive": ((NAMED, {}), (NAMED, {"positive": "maybe"})),
    "ignored-groups": ((AMPLIFIED, {"ignore_groups": ["a"]}), (AMPLIFIED, {})),
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
    # Five records of c, all of which cook: of these none is without, whatever is asked for.
    "left-out": ((SMALL, {}), (AMPLIFIED, {})),
    "unclear-signs": ((BALANCED, {}), (AMPLIFIED, {})),
    "missing": ((GAPS, {"missing": "drop"}), (AMPLIFIED, {"missing": "drop"})),
    "excluded": ((AMPLIFIED, {"train": SMALL}), (AMPLIFIED, {"train": OTHERS})),
    "no-sign": ((SMALL, {"train": AMPLIFIED}), (AMPLIFIED, {"train": SMALL})),
    "no-truth": (
        (TWO_COLUMNS, {"tasks": ["cooks", "flies"], "task_predictions": ["said", "flew"]}),
        (
            {**TWO_COLUMNS, "flew": TWO_COLUMNS["flies"]},
            {"tasks": ["cooks", "flies"], "task_predictions": ["said", "flew"]},
        ),
    ),
    "perfect": ((PERFECT, {}), (FAITHFUL, {})),
    "copied": (
        ({**AMPLIFIED, "kind": list(AMPLIFIED["said"])}, {}),
        ({**AMPLIFIED, "kind": [*AMPLIFIED["said"][1:], 1 - AMPLIFIED["said"][-1]]}, {}),
    ),
    "repeated": ((TWICE, {}), (ONCE, {})),
    "swapped": (
        (renamed(AMPLIFIED, cooks="cooks_pred"), {"tasks": "cooks_pred", "task_predictions": "said"}),
        (renamed(AMPLIFIED, said="cooks_pred"), {"task_predictions": "cooks_pred"}),
    ),
    "one-value": (({**AMPLIFIED, "kind": ["a"] * len(AMPLIFIED["kind"])}, {}), (AMPLIFIED, {})),
    "disagreement": ((TURNED, ALL), (BALANCED, ALL)),
    "constant": (({**AMPLIFIED, "said": [0] * 800}, {}), (AMPLIFIED, {})),
    "rare-sets": (
        (TWO_COLUMNS, {"tasks": ["cooks", "flies"], "task_predictions": ["said", "flew"], "min_group": 500}),
        (TWO_COLUMNS, {"tasks": ["cooks", "flies"], "task_predictions": ["said", "flew"]}),
    ),
    "opposite": (({**FAITHFUL, "said": [1 - x for x in FAITHFUL["said"]]}, {}), (FAITHFUL, {})),
    "unrelated": (({**FAITHFUL, "said": [0, 1] * 400}, {}), (FAITHFUL, {})),
    "contradicting": (
        (AMPLIFIED, {"train": {**AMPLIFIED, "cooks": [1 - x for x in AMPLIFIED["cooks"]]}}),
        (AMPLIFIED, {"train": OTHERS}),
    ),
    "fractions": ((SCORES, {}), (AMPLIFIED, {})),
    "bins": (
        ({**AMPLIFIED, "kind": [20 + i % 40 for i in range(800)]}, {"attributes": biasamp.binned("kind", edges=[35])}),
        (AMPLIFIED, {}),
    ),
    "never-predicted": (
        (
            {
                **AMPLIFIED,
                "cooks": ["yes", *("yess" if x else "no" for x in AMPLIFIED["cooks"][1:])],
                "said": ["yes" if x else "no" for x in AMPLIFIED["said"]],
            },
            {},
        ),
        ({**AMPLIFIED, "said": [0] * 800}, {}),
    ),
    "numbers": (
        ({**AMPLIFIED, "kind": [20 + i % 13 for i in range(800)]}, {}),
        ({**AMPLIFIED, "kind": [20 + i % 12 for i in range(800)]}, {}),
    ),
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
    # Of sums of counts: test_merging_without_ids.
    assert codes - {"unknown-overlap"} == set(CASES)


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
    assert "1 missing value was left out" in _text(audit(GAPS, missing="drop"), "missing")
    audited = audit(*CASES["excluded"][0][:1], **CASES["excluded"][0][1])
    told = [finding for finding in audited.findings if finding.code == "excluded"]
    assert sum(finding.figure["count"] for finding in told) == len(audited.excluded)
    assert all({row["metric"] for row in audited.excluded} >= {finding.metric} for finding in told)


def _text(audited: Any, code: str) -> str:
    (text,) = [finding.text for finding in audited.findings if finding.code == code]
    return str(text)


def test_a_yes_no_label_has_two_values() -> None:
    """Records without it are the second one; where all have it there is none."""
    data = {name: list(values) for name, values in AMPLIFIED.items()}
    said = {"tasks": biasamp.binary("cooks"), "task_predictions": biasamp.binary("said")}
    assert "one-value" not in {finding.code for finding in audit(data, **said).findings}
    policy = biasamp.Policy(limits=[{"metric": "directional", "max": 0.9}])
    assert policy.check(audit(data, **said)).passed
    alone = audit({**data, "cooks": [1] * 800}, **said)
    assert "one-value" in {finding.code for finding in alone.findings}
    assert not policy.check(alone).passed


def test_one_value_of_the_truth_does_not_contradict_the_figures() -> None:
    """All records have 0: no pair has a direction, yet Multi sees that the model changes rates."""
    data = {**AMPLIFIED, "cooks": [0] * 800}
    audited = audit(data)
    value, multi = (entry["value"] for entry in audited.document["metrics"][:2])
    assert value == 0
    assert multi > 0
    assert "directional amplification is 0 by definition. Other figures may differ" in _text(audited, "one-value")
    known = audit(data, train=AMPLIFIED)
    assert known.document["metrics"][0]["value"] != 0
    assert "by definition" not in _text(known, "one-value")


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


def test_no_error_seen_is_no_certainty() -> None:
    first = audit(PERFECT).findings[0]
    assert first.figure["value"] == 0
    low, high = first.figure["interval"]
    assert low < 0 < high
    assert "the model keeps the bias of its data to within 0.01" in first.text
    few = audit({name: values[::8] for name, values in PERFECT.items()})
    assert "The interval covers 0, so this concludes nothing" in few.findings[0].text
    assert few.answer.found.startswith("Whether the model amplifies the bias of its data is not decided")
    assert re.search(r"about \d[\d,]* records in all would show it to be within 0\.01 of 0", few.answer.next)


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
    assert "of 2 pairs, 2 are amplified and 0 weakened" in text
    assert "kind=a → cooks=1 0.750 becomes 0.900 (+0.150" in text  # 300 of 400, then 360 of 400
    assert "kind=b → cooks=1 0.250 becomes 0.100 (+0.150" in text
    assert "cooks=0" not in text  # the mirror image of cooks=1


def test_large_opposite_pairs_behind_a_small_aggregate() -> None:
    """a is said of less than true, b the same way round: one pair weakened, the other amplified, the mean 0."""
    data = cells(("a", 1, 1, 200), ("a", 1, 0, 100), ("a", 0, 0, 100), ("b", 1, 0, 100), ("b", 0, 0, 300))
    text = _text(audit(data), "opposite-pairs")
    assert "hides pairs of known direction that move in opposite ways, from -0.250 to +0.250" in text
    assert "opposite-pairs" not in {finding.code for finding in audit(AMPLIFIED).findings}


def test_multi_is_held_against_its_floor() -> None:
    assert "The change is more than noise" in _text(audit(AMPLIFIED), "multi")
    assert "cannot be told from noise" in _text(audit(FAITHFUL), "multi")


def test_parity_names_the_largest_difference() -> None:
    """TPR of cooks=1 is 1 in a and .4 in b, so they differ by .6; both kinds of accuracy by hand: 340/400 in each."""
    text = _text(audit(AMPLIFIED), "parity")
    assert re.search(r"true positive rates differ by 0\.600 \[0\.5\d\d, 0\.\d+\] between kind=. .*and kind=", text)
    assert re.search(r"no difference in accuracies is seen \(0\.000 \[0\.000, 0\.\d+\]\)", text)


def test_what_was_not_run_says_why() -> None:
    rows = {(row["metric"], row["direction"]): row["reason"] for row in audit(AMPLIFIED, metrics="auto").not_run}
    assert "attribute_predictions, which were not given" in rows["directional", "T->A"]
    assert "attribute_predictions were not given" in rows["mals", None]
    rows = {row["metric"]: row["reason"] for row in audit(GUESS, task_predictions=None, **BOTH, metrics="auto").not_run}
    assert "task predictions, which were not given" in rows["parity"]


def test_disagreements_are_explained_once() -> None:
    """Two attributes that disagree are one caution, which shows both; it is about one figure where there is one."""
    both = audit({**TURNED, "kind2": TURNED["kind"]}, attributes=["kind", "kind2"], metrics="auto")
    text = _text(both, "disagreement")
    assert text.count("directional amplification is") == 2
    assert text.count("Choose by which") == 1
    (one,) = [finding for finding in audit(TURNED, metrics="auto").findings if finding.code == "disagreement"]
    assert (one.attribute, one.metric, one.direction) == ("kind", "directional", "A->T")


def test_attackers_are_held_against_truth_made_as_inaccurate_as_the_model() -> None:
    audited = audit(BALANCED, metrics=["dpa", "leakage"])
    for code in ("dpa", "leakage"):
        assert "than the truth made as inaccurate as the model" in _text(audited, code)
        assert "gain" not in _text(audited, code)  # what attackers have above no input is said of both


def test_probabilities_are_told_to_count_as_fractions_with_what_decisions_give() -> None:
    (found,) = [finding for finding in audit(SCORES).findings if finding.code == "fractions"]
    soft = biasamp.directional(SCORES["kind"], SCORES["cooks"], SCORES["said"]).value
    hard = biasamp.directional(AMPLIFIED["kind"], AMPLIFIED["cooks"], AMPLIFIED["said"]).value
    assert found.figure["value"] == pytest.approx(soft)
    assert found.figure["decided"] == pytest.approx(hard)
    assert f"{soft:+.3f}" in found.text
    assert f"{hard:+.3f}" in found.text


def test_parity_of_probabilities_says_what_decisions_give() -> None:
    rng = np.random.default_rng(5)
    group, truth = rng.choice(["a", "b", "c"], 400), rng.integers(0, 2, 400)
    scores = np.clip(0.5 * truth + 0.2 * (group == "a") + rng.random(400) * 0.5, 0.0, 1.0)
    hard = biasamp.parity(group, truth, (scores >= 0.5).astype(int)).table
    data = {"kind": group, "cooks": truth, "said": scores}
    for metrics in (["parity"], ["directional", "parity"]):
        for options in ({}, {"engine": "local"}):
            audited = audit(data, metrics=metrics, **options)
            entries = {entry["metric"]: entry for entry in audited.document["metrics"]}
            (found,) = [finding.text for finding in audited.findings if finding.code == "fractions"]
            for name in ("fpr_difference", "tpr_difference", "accuracy_difference", "mean_per_class_accuracy"):
                assert entries[name]["decided"] == pytest.approx(hard[name][0]), name
                if name.endswith("_difference"):
                    assert f"{hard[name][0]:.3f} in place of {entries[name]['value']:.3f}" in found
    counted = biasamp.audit(biasamp.count(data, **NAMES), metrics=["parity"])
    (found,) = [finding.text for finding in counted.findings if finding.code == "fractions"]
    assert "which are not known: that needs the scores of single records" in found


def test_decisions_leave_ignored_groups_out_as_the_value_does() -> None:
    more = {name: [*values, *[{"kind": "c", "said": 0.9}.get(name, 0)] * 40] for name, values in SCORES.items()}
    hard = {**more, "said": [int(x >= 0.5) for x in more["said"]]}
    values = []
    for data, name in ((more, "decided"), (hard, "value")):
        (entry,) = audit(data, metrics=["directional"], ignore_groups=["c"]).document["metrics"]
        values.append(entry[name])
    assert values[0] == pytest.approx(values[1])


def test_the_likeliest_of_several_classes_is_the_decision() -> None:
    rng = np.random.default_rng(0)
    chances = rng.dirichlet([1, 1, 1], 300)
    data = {"kind": list("ab") * 150, "cooks": rng.choice(list("xyz"), 300)}
    data |= {f"p{name}": chances[:, i] for i, name in enumerate("xyz")}
    audited = biasamp.audit(
        data,
        attributes="kind",
        tasks="cooks",
        task_predictions={"cooks": biasamp.categorical(["px", "py", "pz"], categories=list("xyz"))},
        metrics=["directional"],
        resamples=50,
    )
    hard = np.array(list("xyz"))[chances.argmax(axis=1)]
    (entry,) = audited.document["metrics"]
    assert entry["decided"] == pytest.approx(biasamp.directional(data["kind"], data["cooks"], hard).value)


def test_one_value_does_not_deny_the_figure_beside_it() -> None:
    """Train labels give signs, so that one group alone still has a value: the caution says what it is, not that it is 0."""
    alone = {
        name: [v for v, k in zip(values, AMPLIFIED["kind"], strict=True) if k == "a"]
        for name, values in AMPLIFIED.items()
    }
    audited = audit(alone, train=AMPLIFIED)
    (entry,) = [e for e in audited.document["metrics"] if e["metric"] == "directional"]
    assert entry["value"] > 0.1
    assert f"{entry['value']:+.3f}" in _text(audited, "one-value")
    assert "is 0" not in _text(audited, "one-value")


def test_perfect_predictions_against_another_base_are_not_said_to_give_0() -> None:
    base = {"a": {"0": 1, "1": 5}, "b": {"0": 5, "1": 1}}
    assert "amplification is 0" in _text(audit(PERFECT), "perfect")
    assert "amplification is 0" not in _text(audit(PERFECT, base=base), "perfect")


@pytest.mark.parametrize("data", [AMPLIFIED, WEAKENED, FAITHFUL, BALANCED, GUESS, SMALL, SCORES, TURNED], ids=range(8))
def test_what_is_about_one_figure_says_which(data: dict[str, Any]) -> None:
    options = BOTH if "guess" in data else {}
    everywhere = {
        "missing",
        "not-ground-truth",
        "swapped",
        "incomparable",
        "base-choice",
        "threshold",
        "disjoint",
        "perfect",
        "constant",
        "opposite",
        "unrelated",
    }
    for finding in audit(data, metrics="auto", **options).findings:
        assert finding.code in everywhere or finding.attribute == "kind", finding.code


NEVER = re.compile(r"no bias|unbiased|because of (its|the) |causes? |due to|no more than noise|fair\b", re.I)


@pytest.mark.parametrize(
    "data", [AMPLIFIED, WEAKENED, FAITHFUL, BALANCED, GUESS, SCORES, TURNED, PERFECT], ids=range(8)
)
def test_no_sentence_accepts_a_null_or_names_a_cause(data: dict[str, Any]) -> None:
    for finding in audit(data, metrics="auto", **(BOTH if "guess" in data else {})).findings:
        assert not NEVER.search(finding.text), finding.text


def test_a_difference_names_the_groups_that_it_leaves_out() -> None:
    """Of c 40 records cook and 3 do not: it is in the differences of true positive rates and in no other."""
    added = {"kind": ["c"] * 43, "cooks": [1] * 40 + [0] * 3, "said": [1] * 40 + [0] * 3}
    audited = audit({name: AMPLIFIED[name] + values for name, values in added.items()})
    entries = {entry["metric"]: entry for entry in audited.document["metrics"]}
    assert entries["fpr_difference"]["left_out"] == {"kind=c": 3}
    assert "left_out" not in entries["tpr_difference"]
    assert "left_out" not in entries["accuracy_difference"]
    assert any(
        "leaves out groups" in words and "kind=c (3)" in words for words in entries["fpr_difference"]["cautions"]
    )
    text = _text(audited, "left-out")
    assert "of false positive rates, kind=c (3)" in text
    assert "true positive rates" not in text


def test_a_difference_names_the_groups_that_have_too_few_records_in_some_outcomes() -> None:
    """Of others 30 do not cook and 4 do not drive, 3 of whom are said to: the largest difference that is seen is of cooking."""
    rows = [("a", 300), ("b", 300), ("other", 60)]
    data: dict[str, Any] = {name: [] for name in ("kind", "cooks", "said", "drives", "drives_said")}
    for kind, size in rows:
        walking = 4 if kind == "other" else size // 6
        wrong = 3 if kind == "other" else 0
        data["kind"] += [kind] * size
        data["cooks"] += [0, 1] * (size // 2)
        data["said"] += [0, 1] * (size // 2)
        data["drives"] += [0] * walking + [1] * (size - walking)
        data["drives_said"] += [1] * wrong + [0] * (walking - wrong) + [1] * (size - walking)
    audited = biasamp.audit(
        data, attributes="kind", tasks=["cooks", "drives"], task_predictions=["said", "drives_said"], metrics=["parity"]
    )
    entries = {entry["metric"]: entry for entry in audited.document["metrics"]}
    entry = entries["fpr_difference"]
    assert (entry["value"], entry["left_out"], entry["left_out_outcomes"]) == (
        0.0,
        {"kind=other": 4},
        {"kind=other": 1},
    )
    assert "left_out" not in entries["tpr_difference"]
    assert "left_out" not in entries["accuracy_difference"]
    assert "of false positive rates, kind=other (4 in 1 of 2 outcomes)" in _text(audited, "left-out")
    assert any("kind=other (4 in 1 of 2 outcomes)" in words for words in entry["cautions"])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("yess", "never have cooks=yess (5 records). Is cooks=yess another spelling of cooks=yes?"),
        ("perhaps", "never have cooks=perhaps (5 records). Its predicted rate is 0 in every group."),
    ],
)
def test_a_value_that_is_never_predicted_is_named(value: str, words: str) -> None:
    truth = ["yes" if x else "no" for x in AMPLIFIED["cooks"]]
    truth[:5] = [value] * 5
    said = ["yes" if x else "no" for x in AMPLIFIED["said"]]
    (found,) = (f for f in audit({**AMPLIFIED, "cooks": truth, "said": said}).findings if f.code == "never-predicted")
    assert found.text == f"Predictions of the task {words}"
