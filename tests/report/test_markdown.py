"""Markdown of audits and verdicts: the same figures as the audit, and labels that stay text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplified import audited, columns
from biasamp.policy import Policy
from biasamp.report.markdown_text import escaped


def cells(text: str, heading: str) -> list[dict[str, str]]:
    """The rows of the table whose first column has a heading."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    names = [cell.strip() for cell in lines[at].strip("| ").split(" | ")]
    rows = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(names, [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]], strict=True)))
    return rows


def test_a_model_card_section(tmp_path: Path) -> None:
    """By hand: A->T .075 (see the policy's tests), FPR apart by .5."""
    audit = audited(columns(said=0.5))
    text = audit.to_markdown(tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text(encoding="utf-8") == text
    assert text.startswith("## Bias amplification\n")
    values = {row["metric"]: row["value"] for row in cells(text, "attribute")}
    assert (values["directional"], values["FPR difference"]) == ("+0.0750", "0.5000")
    pairs = cells(text, "given")
    assert (pairs[0]["true rate"], pairs[0]["predicted rate"], pairs[0]["records"]) == ("0.7000", "0.8500", "200")
    assert {pair["outcome"] for pair in pairs} == {"t=1"}
    assert "### Limits and cautions" in text
    assert "Zero amplification is not fairness" in text
    for finding in audit.findings:
        assert escaped(finding.text, 2000) in text
    assert "Not measured: directional" in text


def test_headings_and_pairs_can_be_chosen() -> None:
    audit = audited(columns())
    text = audit.to_markdown(level=4, pairs=0)
    assert text.startswith("#### Bias amplification")
    assert "| given |" not in text


HOSTILE = [
    "[x](javascript:alert(1))",
    "<img src=x onerror=y>",
    "a|b",
    "![i](http://e.org/x.png)",
    "@team",
    "a\n## b",
    "`x`",
]


@pytest.mark.parametrize("label", HOSTILE)
def test_labels_are_never_markup(label: str) -> None:
    data = columns()
    data["g"] = [label if g == "w" else g for g in data["g"]]
    audit = audited(data)
    verdict = Policy(limits=[{"metric": "directional", "pairs": True, "max": -0.5}]).check(audit)
    for text in (audit.to_markdown(), verdict.to_markdown()):
        assert not re.search(r"(?<!\\)[\[<]", text)
        assert not re.search(r"https?://|(?<!\w)@\w", text)
        assert not any(line.startswith("## b") for line in text.splitlines())
        for row in cells(text, "attribute" if "Figures" in text else "outcome"):
            assert row


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40))
def test_escaping_loses_nothing(text: str) -> None:
    shown = escaped(text).replace("&#47;", "/").replace("&#46;", ".").replace("&#64;", "@")
    assert re.sub(r"\\(.)", r"\1", shown) == text


def test_a_verdict() -> None:
    amplifying = audited(columns(said=0.5))
    text = Policy(limits=[{"metric": "directional", "max": 0.01}]).check(amplifying).to_markdown()
    first = cells(text, "outcome")[0]
    assert first["outcome"] == "❌ fail"
    assert first["what"] == "g directional A→T"
