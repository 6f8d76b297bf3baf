"""What a verdict is, of checks that are written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from biasamp.policy import Check, Verdict

PASS, FAIL, UNDECIDED = "pass", "fail", "not enough evidence"


def check(outcome: str = PASS, **more: Any) -> Check:
    return Check(**{"rule": "r", "outcome": outcome, "reason": "so", **more})


@pytest.mark.parametrize(
    ("outcomes", "outcome", "code", "passed"),
    [
        ((), UNDECIDED, 3, False),
        ((PASS,), PASS, 0, True),
        ((PASS, PASS), PASS, 0, True),
        ((PASS, UNDECIDED), UNDECIDED, 3, False),
        ((UNDECIDED,), UNDECIDED, 3, False),
        ((FAIL,), FAIL, 1, False),
        ((PASS, FAIL), FAIL, 1, False),
        ((UNDECIDED, FAIL, PASS), FAIL, 1, False),
    ],
)
def test_the_worst_outcome_is_that_of_the_whole(outcomes: Any, outcome: str, code: int, passed: bool) -> None:
    verdict = Verdict(tuple(map(check, outcomes)))
    assert (verdict.outcome, verdict.exit_code, verdict.passed, bool(verdict)) == (outcome, code, passed, passed)


MIXED = Verdict(
    (
        check(PASS, rule="a"),
        check(UNDECIDED, rule="b", cautions=("One.",)),
        check(FAIL, rule="c", cautions=("Two", "One.")),
        check(UNDECIDED, rule="d", cautions=("One.",)),
        check(PASS, rule="e", cautions=("One.",)),
        check(PASS, rule="b", cautions=("One.",)),
    ),
    "p.toml",
    "data.csv",
    ("A note.",),
)


def rules(checks: Any) -> str:
    return "".join(one.rule for one in checks)


def test_checks_by_their_outcome() -> None:
    assert rules(MIXED.failures) == "c"
    assert rules(MIXED.undecided) == "bd"
    assert rules(MIXED.worst_first) == "cbdaeb"
    assert MIXED.tally == "3 pass, 1 fail, 2 not enough evidence"
    assert Verdict((check(FAIL),)).tally == "1 fail"


def test_cautions_are_said_once_with_what_they_concern() -> None:
    assert MIXED.cautions == {"Two": ["c"], "One.": ["c", "b", "d", "e"]}
    assert MIXED.caution_lines == ["Two (c).", "One (c; b; d; 1 more)."]
    three = Verdict(tuple(check(rule=name, cautions=("One.",)) for name in "abc"))
    assert three.caution_lines == ["One (a; b; c)."]
    five = Verdict(tuple(check(rule=name, cautions=("One.",)) for name in "abcde"))
    assert five.caution_lines == ["One (a; b; c; 2 more)."]


def test_a_verdict_in_lines() -> None:
    assert str(MIXED).splitlines() == [
        "p.toml: fail",
        "  pass: a: so",
        "  not enough evidence: b: so",
        "  fail: c: so",
        "  not enough evidence: d: so",
        "  pass: e: so",
        "  pass: b: so",
        "  caution: Two (c).",
        "  caution: One (c; b; d; 1 more).",
        "  note: A note.",
    ]


def test_a_verdict_in_plain_values(tmp_path: Path) -> None:
    held = MIXED.to_dict()
    assert list(held) == ["schema", "outcome", "policy", "data", "checks", "notes"]
    assert (held["schema"], held["outcome"], held["policy"], held["data"], held["notes"]) == (
        1,
        FAIL,
        "p.toml",
        "data.csv",
        ["A note."],
    )
    assert held["checks"][2] == {
        "rule": "c",
        "outcome": FAIL,
        "reason": "so",
        "limit": "",
        "metric": None,
        "figure": "value",
        "on": "",
        **dict.fromkeys(
            ("against", "attribute", "direction", "given", "outcome_label", "value", "low", "high", "line")
        ),
        "bounded": False,
        "of_pairs": False,
        "finding": "",
        "cautions": ["Two", "One."],
        "records_needed": None,
    }
    text = MIXED.to_json(tmp_path / "verdict.json")
    assert (tmp_path / "verdict.json").read_text(encoding="utf-8").rstrip("\n") == text.rstrip("\n")
    assert json.loads(text) == held
    assert text.startswith('{\n "schema": 1,')
    words = Verdict((check(reason="Männer → t"),))
    assert "Männer → t" in words.to_json()
    with pytest.raises(ValueError, match="JSON"):
        Verdict((check(value=float("nan")),)).to_json()


def test_a_verdict_as_a_table() -> None:
    rows = list(MIXED.table.rows())
    assert [row["rule"] for row in rows] == list("cbdaeb")
    assert list(rows[0])[:3] == ["outcome", "about", "reason"]
    assert rows[0]["cautions"] == "Two; One."
    assert rows[3]["cautions"] == ""


@pytest.mark.parametrize(
    ("fields", "about"),
    [
        ({}, "r"),
        ({"attribute": "g"}, "r of g"),
        ({"metric": "dpa"}, "dpa"),
        ({"metric": "directional", "attribute": "g", "direction": "A->T"}, "g directional A→T"),
        ({"metric": "directional", "figure": "crossfit"}, "directional (crossfit)"),
        ({"metric": "directional", "against": "trend"}, "directional against the trend"),
        ({"metric": "directional", "given": "g=w", "outcome_label": "t=1"}, "directional, g=w → t=1"),
        ({"metric": "directional", "outcome_label": "t=1"}, "directional, t=1"),
        ({"metric": "directional", "given": "g=w"}, "directional"),
        ({"metric": "directional", "given": "g=w", "of_pairs": True}, "directional, each pair"),
        ({"metric": "directional", "of_pairs": True}, "directional, each pair"),
        ({"metric": "directional", "outcome_label": "t=1", "of_pairs": True}, "directional, t=1"),
        (
            {"metric": "directional", "given": "g=w", "outcome_label": "t=1", "of_pairs": True},
            "directional, g=w → t=1",
        ),
    ],
)
def test_what_a_check_is_about(fields: dict[str, Any], about: str) -> None:
    assert check(**fields).about == about


def test_what_a_verdict_is_called_where_nothing_is_said() -> None:
    made = Verdict(())
    assert (made.policy, made.data, made.notes) == ("policy", "data", ())
    bare = check()
    assert (bare.bounded, bare.of_pairs, bare.figure, bare.on, bare.cautions) == (False, False, "value", "", ())


def test_reports_are_written_where_they_are_told_to(tmp_path: Path) -> None:
    for name in ("to_markdown", "to_junit", "to_sarif"):
        text = getattr(MIXED, name)(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").rstrip("\n") == text.rstrip("\n")
    MIXED.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "<table" in MIXED._repr_html_()
    assert "ci/p.toml" in MIXED.to_sarif(policy_path="ci/p.toml")
    with pytest.raises(TypeError, match="policy_path"):
        MIXED.to_sarif(policy_path=3)  # type: ignore[arg-type]
