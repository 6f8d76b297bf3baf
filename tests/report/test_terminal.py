"""The tables of the terminal show the figures of the JSON, at any width, as plain text."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import biasamp
from biasamp.report.terminal import show_audit, show_metrics
from biasamp.results.metric_registry import METRICS

N = 300
rng = np.random.default_rng(2)
GENDER = np.where(np.arange(N) % 3 == 0, "woman", "man")
TRUTH = (rng.random(N) < np.where(GENDER == "woman", 0.75, 0.3)).astype(int)
DATA = {
    "gender": GENDER,
    "race": rng.choice(["x", "y"], N),
    "cooking": TRUTH,
    "cooking_pred": np.where(rng.random(N) < 0.1, 1 - TRUTH, TRUTH),
    "gender_pred": np.where(rng.random(N) < 0.2, "man", GENDER),
    "w": rng.random(N) + 0.5,
}
AUDIT = biasamp.audit(
    DATA,
    attributes=["gender", "race"],
    tasks="cooking",
    task_predictions="cooking_pred",
    attribute_predictions={"gender": "gender_pred"},
    weights="w",
    confidence=0.9,
    resamples=60,
)
WIDTHS = [60, 80, 100, 140, 200]


def shown(audit: Any, width: int = 140, pairs: int = 10) -> str:
    out = io.StringIO()
    show_audit(audit, Console(file=out, width=width, markup=False, highlight=False, emoji=False), pairs)
    return out.getvalue()


def section(text: str, title: str) -> list[str]:
    """The lines of a table, from below its heading to the next blank line."""
    lines = text.splitlines()
    start = lines.index(next(line for line in lines if line.strip() == title))
    rest = lines[start + 2 :]
    return rest[: next((i for i, line in enumerate(rest) if not line.strip()), len(rest))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("attribute", ["gender", "race"])
def test_metrics_are_those_of_the_json(width: int, attribute: str) -> None:
    entries = [m for m in json.loads(AUDIT.to_json())["metrics"] if m["attribute"] == attribute]
    rows = [
        line for line in section(shown(AUDIT, width), f"Metrics, {attribute}") if re.search(r"\S.*\d\.\d{4} ", line)
    ]
    rows = [line for line in rows if line[:1] != " "]  # what does not fit beside goes on in the next line
    assert len(rows) == len(entries)
    for line, entry in zip(rows, entries, strict=True):
        numbers = [float(x) for x in re.findall(r"[+-]?\d+\.\d{4}", line)]
        assert numbers[0] == pytest.approx(entry["value"], abs=5.1e-5)
        if entry["interval"][0] is not None:
            assert numbers[1:3] == pytest.approx(entry["interval"], abs=5.1e-5)
        assert (entry["direction"] or "").replace("->", "→") in line


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("direction", ["A→T", "T→A"])
def test_pairs_are_those_of_the_json(width: int, direction: str) -> None:
    (entry,) = [
        m
        for m in json.loads(AUDIT.to_json())["metrics"]
        if (m["metric"], m["attribute"], m["direction"]) == ("directional", "gender", direction.replace("→", "->"))
    ]
    rows = [
        line for line in section(shown(AUDIT, width), f"Pairs, gender {direction}") if re.search(r"\d\.\d{4}", line)
    ]
    # Of the two values of the task, 0 is the mirror image of 1, and so is one gender that of the other.
    pairs = sorted(entry["pairs"], key=lambda pair: -abs(pair["amplification"]))
    pairs = [pair for pair in pairs if pair["outcome"] not in ("cooking=0", "gender=man")]
    assert len(pairs) == 2
    assert len(rows) == len(pairs)
    for line, pair in zip(rows, pairs, strict=True):
        numbers = [float(x) for x in re.findall(r"[+-]?\d+\.\d{4}", line)]
        expected = [pair[k] for k in ("truth_rate", "predicted_rate", "amplification", "low", "high")]
        assert numbers == pytest.approx([x for x in expected if x is not None], abs=5.1e-5)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_terminal_nor_cut(width: int) -> None:
    text = shown(AUDIT, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_the_level_stands_in_the_heading() -> None:
    assert "90% interval" in shown(AUDIT)
    narrow = biasamp.audit(
        DATA, attributes="gender", tasks="cooking", task_predictions="cooking_pred", confidence=0.999, resamples=50
    )
    assert "99.9% interval" in shown(narrow)


def test_findings_cautions_and_what_was_not_run_are_all_there() -> None:
    text = re.sub(r"\s+", " ", shown(AUDIT))
    for finding in AUDIT.findings:
        assert re.sub(r"\s+", " ", finding.text) in text
    for row in AUDIT.not_run:
        assert row["reason"] in text
    assert text.index("Findings") < text.index("Metrics, gender") < text.index("Cautions") < text.index("Not run")


def test_how_many_pairs_are_shown() -> None:
    assert "Pairs," not in shown(AUDIT, pairs=0)
    text = shown(AUDIT, pairs=1)
    assert "Pairs, gender T→A, 1 of 2" in text
    assert len(section(text, "Pairs, gender T→A, 1 of 2")) == 1


def test_bars_point_by_the_sign() -> None:
    (entry,) = [
        m
        for m in AUDIT.document["metrics"]
        if (m["metric"], m["attribute"], m["direction"]) == ("directional", "gender", "T->A")
    ]
    rows = section(shown(AUDIT, 140), "Pairs, gender T→A")
    once = [pair for pair in entry["pairs"] if not pair.get("mirror")]
    pairs = sorted(once, key=lambda pair: -abs(pair["amplification"]))
    assert {np.sign(pair["amplification"]) for pair in pairs} == {-1.0, 1.0}
    for line, pair in zip(rows, pairs, strict=False):
        left, right = line.split("│")
        assert ("█" in right) == (pair["amplification"] > 0)
        assert ("█" in left) == (pair["amplification"] < 0)


def test_pairs_without_a_clear_direction_are_marked() -> None:
    flat = biasamp.audit(
        {"kind": ["a", "b"] * 50, "t": [0, 0, 1, 1] * 25, "p": [0, 1, 1, 1] * 25},
        attributes="kind",
        tasks="t",
        task_predictions="p",
        resamples=50,
    )
    text = shown(flat, 80)
    assert all(line.rstrip().endswith("?") for line in section(text, "Pairs, kind A→T")[:2])
    assert "? the records cannot tell the direction of this pair" in text


def test_a_variable_is_named_once_and_sets_of_labels_each_by_its_name() -> None:
    assert re.search(r"given: gender +outcome: cooking", shown(AUDIT, 140))
    several = biasamp.audit(
        {**DATA, "t=1": TRUTH, "t=2": 1 - TRUTH, "a": TRUTH.copy(), "b": 1 - TRUTH},
        attributes="gender",
        tasks=["t=1", "t=2"],
        task_predictions=["a", "b"],
        resamples=50,
    )
    assert {"t=1", "t=2"} <= set(shown(several, 140).split())


@pytest.mark.parametrize("width", [80, 140])
def test_the_list_of_metrics(width: int) -> None:
    text = _metrics(width)
    assert all(name in text for name in METRICS)
    for name, metric in METRICS.items():
        text = _metrics(width, name)
        assert max(map(cell_len, text.splitlines())) <= width
        text = re.sub(r"[\s│]+", " ", text)
        for words in (metric.question, metric.formula, metric.limits, metric.paper, metric.unbiased_when):
            assert words in text


def _metrics(width: int, name: str | None = None) -> str:
    out = io.StringIO()
    show_metrics(Console(file=out, width=width, markup=False, highlight=False), name)
    return out.getvalue()


INVENTED = biasamp.audit(
    {
        "g": ["w"] * 200 + ["m"] * 200,
        "t": ["a", "b", "c", "a"] * 100,
        "p": (["a", "b", "c", "none"] * 50) + (["a", "b", "c", "a"] * 48 + ["a", "b", "c", "none"] * 2),
    },
    attributes="g",
    tasks="t",
    task_predictions="p",
    metrics=["directional"],
    resamples=50,
)


@pytest.mark.parametrize("width", WIDTHS)
def test_invented_labels_have_a_table(width: int) -> None:
    """50 of 200 women and 2 of 200 men get a label that nobody has."""
    text = shown(INVENTED, width)
    assert "Invented labels (predicted, never true)" in text
    words = re.sub(r"\s+", " ", text[text.index("Invented labels") :])
    for part in ("t=none", "52", "0.2500", "0.0100", "0.2400"):
        assert part in words
    assert "Invented labels" not in shown(AUDIT, width)


def test_invented_labels_in_markdown() -> None:
    text = INVENTED.to_markdown()
    (row,) = [line for line in text.splitlines() if line.startswith("| t=none")]
    assert [cell.strip() for cell in row.split("|")][2:5] == ["52", "g=w 0.2500, g=m 0.0100", "0.2400"]
    assert "Invented labels" not in AUDIT.to_markdown()
