"""More than ninety hostile names in the results with a form of their own: impact, verdicts, thresholds, strata, texts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

import biasamp
from biasamp.policy import Policy
from biasamp.report.impact_terminal import show_impact
from biasamp.report.sweep_page import write_sweep
from biasamp.report.terminal import show_audit
from biasamp.report.text_terminal import show_counterfactual, show_found, show_leakage
from biasamp.report.thresholds_terminal import show_thresholds
from biasamp.report.trajectory_terminal import show_trajectory
from browser import Watched, looked_at
from extras import needs
from hostile_labels import LABELS, STEERING

needs("playwright.sync_api")
needs("sklearn")

EACH = 12
GROUPS = [name for name in LABELS for _ in range(EACH)]


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, len(GROUPS))
    scores = np.clip(0.3 + 0.4 * truth + rng.normal(0, 0.25, len(GROUPS)), 0, 1)
    return {
        LABELS[12]: GROUPS,
        LABELS[13]: truth,
        "said": (scores >= 0.5).astype(int),
        "scores": scores,
        LABELS[14]: rng.choice(LABELS[:8], len(GROUPS)),
    }


@pytest.fixture(scope="module")
def audit(data: dict[str, Any]) -> Any:
    roles: Any = {
        "attributes": biasamp.categorical(LABELS[12], categories=LABELS),
        "tasks": LABELS[13],
        "task_predictions": "said",
        "task_scores": "scores",
        "strata": LABELS[14],
    }
    return biasamp.audit(data, **roles, resamples=50, min_group=5, metrics=["directional", "parity"]).named(LABELS[0])


@pytest.fixture(scope="module")
def verdict(audit: Any) -> Any:
    limits = [{"metric": "directional", "max": 0.0001}, {"metric": "fpr_difference", "max": 0.01}]
    return Policy(limits=limits, min_group=0, source=LABELS[1]).check(audit)


@pytest.fixture(scope="module")
def impact(data: dict[str, Any]) -> Any:
    return biasamp.impact(data["said"], biasamp.categorical(GROUPS, categories=LABELS), small=0.0)


@pytest.fixture(scope="module")
def crossed(data: dict[str, Any]) -> Any:
    rng = np.random.default_rng(5)
    groups = {LABELS[12]: data[LABELS[14]], LABELS[13]: rng.choice(LABELS[:6], len(GROUPS))}
    return biasamp.impact(data["said"], groups, small=0.0)


@pytest.fixture(scope="module")
def answers() -> Any:
    rng = np.random.default_rng(2)
    items = [f"{LABELS[i]} {i}" for i in range(60) for _ in LABELS[20:26]]
    groups = LABELS[20:26] * 60
    said = [LABELS[k] for k in rng.integers(30, 33, len(items))]
    topics = [LABELS[40 + i % 3] for i in range(60) for _ in LABELS[20:26]]
    return biasamp.counterfactual(said, groups, items, topic=topics)


@pytest.fixture(scope="module")
def leakage() -> Any:
    rng = np.random.default_rng(3)
    groups = [LABELS[21] if i % 2 else LABELS[22] for i in range(120)]
    texts = [" ".join([*rng.choice(LABELS, 6), "kite" if i % 2 else "tie"]) for i in range(120)]
    return biasamp.text_leakage({LABELS[0]: texts, LABELS[5]: texts[::-1]}, groups, mask=None, seeds=2)


@pytest.fixture(scope="module")
def choice(data: dict[str, Any]) -> Any:
    truth = np.column_stack([data[LABELS[13]], 1 - data[LABELS[13]]])
    scores = np.column_stack([data["scores"], 1 - data["scores"]])
    tasks = {LABELS[3]: truth[:, 0], LABELS[4]: truth[:, 1]}
    given = [LABELS[0] if i % 2 else LABELS[11] for i in range(len(GROUPS))]
    scored = {LABELS[3]: scores[:, 0], LABELS[4]: scores[:, 1]}
    return biasamp.choose_thresholds(scored, given, tasks, limit=0.05, by_group=True)


def printed(show: Callable[[Any, Console], None], held: Any, width: int) -> str:
    stream = io.StringIO()
    show(held, Console(file=stream, width=width, markup=False, highlight=False, emoji=False))
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 140])
def test_terminals(width: int, request: pytest.FixtureRequest) -> None:
    audit = request.getfixturevalue("audit")
    shows: dict[str, Callable[[Any, Console], None]] = {
        "audit": show_audit,
        "impact": show_impact,
        "crossed": show_impact,
        "answers": partial(show_counterfactual, top=50),
        "leakage": partial(show_leakage, top=50),
        "choice": show_thresholds,
    }
    for name, show in shows.items():
        text = printed(show, request.getfixturevalue(name), width)
        assert not STEERING & set(text), name
    text = printed(show_trajectory, biasamp.trajectory({LABELS[0]: audit, LABELS[1]: audit}), width)
    assert not STEERING & set(text)
    read = biasamp.read_text([f"{LABELS[k]} man" for k in range(90)], {LABELS[0]: ["man"], LABELS[1]: ["she"]}, "words")
    assert not STEERING & set(printed(show_found, read, width))


def test_pages(
    audit: Any, verdict: Any, impact: Any, crossed: Any, data: dict[str, Any], tmp_path: Path, watched: Watched
) -> None:
    audit.to_html(tmp_path / "why.html")
    verdict.to_html(tmp_path / "verdict.html")
    given = [LABELS[0] if i % 2 else LABELS[1] for i in range(len(GROUPS))]
    swept = biasamp.sweep(data["scores"], given, data[LABELS[13]])
    write_sweep(swept, tmp_path / "sweep.html", source=LABELS[2], attribute=LABELS[12], outcome=LABELS[13])
    for name in ("why", "verdict", "sweep"):
        page = watched.open(tmp_path / f"{name}.html")
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert page.locator("script").count() == 2
        looked_at(page)
    # Pages without any script.
    for held in (impact, crossed):
        held.to_html(tmp_path / "impact.html")
        watched.page.goto((tmp_path / "impact.html").as_uri())
        assert watched.page.locator("script").count() == 0
        looked_at(watched.page)


def test_notebooks(request: pytest.FixtureRequest, watched: Watched) -> None:
    for name in ("verdict", "impact", "crossed", "answers", "leakage", "choice"):
        held = request.getfixturevalue(name)
        watched.page.goto("about:blank")
        watched.page.set_content(f"<!doctype html><body>{held._repr_html_()}</body>")
        assert watched.page.locator("script, style").count() == 0, name
        looked_at(watched.page)
        assert not STEERING & set(repr(held)), name
        assert not STEERING & set(str(held)), name


def test_files_of_other_tools(audit: Any, verdict: Any, impact: Any, crossed: Any) -> None:
    root = ElementTree.fromstring(verdict.to_junit().encode())
    words = [text for node in root.iter() for text in (*node.attrib.values(), node.text or "", node.tail or "")]
    assert not STEERING & set("".join(words))
    assert {node.tag for node in root.iter()} <= {
        "testsuites",
        "testsuite",
        "properties",
        "property",
        "testcase",
        "failure",
        "error",
        "system-out",
        "system-err",
    }
    sarif = json.loads(verdict.to_sarif())
    messages = [held["message"]["text"] for held in sarif["runs"][0]["results"]]
    assert messages
    assert not STEERING & set("".join(messages))
    for text in (verdict.to_markdown(), impact.to_markdown(), crossed.to_markdown(), audit.to_markdown()):
        assert not STEERING & set(text)
        bare = text.replace("\\<", "").replace("&lt;", "").lower()
        assert "<script" not in bare
        assert "<img" not in bare
        assert "![x](" not in text
