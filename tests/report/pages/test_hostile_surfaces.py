"""More than ninety hostile names on every surface: nothing runs, nothing is fetched, nothing steers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import biasamp
from biasamp.report.comparison_terminal import show_comparison
from biasamp.report.explorer_document import write_explorer
from biasamp.report.terminal import show_audit
from browser import Watched, looked_at
from extras import needs
from hostile_labels import LABELS, STEERING

needs("playwright.sync_api")


@pytest.fixture(scope="module")
def audits() -> dict[str, Any]:
    """Two models; every hostile name is a group, and others name the task, the attribute and the models."""
    rng = np.random.default_rng(0)
    group = [name for name in LABELS for _ in range(12)]
    truth = rng.integers(0, 2, len(group))
    out = {}
    for name, error in ((LABELS[0], 0.1), (LABELS[11], 0.3)):
        said = np.where(rng.random(len(group)) < error, 1 - truth, truth)
        data = {LABELS[12]: group, LABELS[13]: truth, "said": said}
        roles: Any = {
            "attributes": biasamp.categorical(LABELS[12], categories=LABELS),
            "tasks": LABELS[13],
            "task_predictions": "said",
        }
        out[name] = biasamp.audit(data, **roles, resamples=50, min_group=5, metrics=["directional", "parity"]).named(
            name
        )
    return out


@pytest.fixture(scope="module")
def association() -> Any:
    rng = np.random.default_rng(1)
    others = [k for k in range(len(LABELS)) if k not in (0, 11)]
    sets = [
        [
            LABELS[0] if i % 2 else LABELS[11],
            *(LABELS[k] for k in rng.choice(others, 20, replace=False)),
        ]
        for i in range(600)
    ]
    return biasamp.associate(sets, [LABELS[0], LABELS[11]], min_expected=0)


def test_pages(audits: dict[str, Any], tmp_path: Path, watched: Watched) -> None:
    comparison = biasamp.compare(audits)
    first = next(iter(audits.values()))
    steps = biasamp.trajectory(audits)
    for name, held in (("audit", first), ("compare", comparison), ("trajectory", steps)):
        held.to_html(tmp_path / f"{name}.html")
        page = watched.open(tmp_path / f"{name}.html")
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true })")
        for button in page.locator("button.more").all():
            button.click()
        assert page.locator("script").count() == 2
        looked_at(page)


def test_the_explorer(association: Any, tmp_path: Path, watched: Watched) -> None:
    write_explorer({LABELS[0]: association, LABELS[1]: association}, tmp_path / "x.html")
    page = watched.open((tmp_path / "x.html").as_uri() + "#ranked=0")
    page.get_by_role("button", name="Select shown").click()
    for view in ("parallel", "scatter", "ranks", "rest", "runs", "frequency", "formulas"):
        page.locator(f"#tab-{view}").click()
        looked_at(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV", exact=True).click()
    rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_bytes().decode(), newline="")))
    assert {row["label"].removeprefix("'") for row in rows} == {label.removeprefix("'") for label in LABELS}
    for row in rows:
        for cell in (row["label"], row["name"], row["run"]):
            bare = cell.lstrip("\u200b\u202e\x00\ufeff \t")
            assert not bare.startswith(("=", "+", "-", "@", "＝")), cell[:40]


def test_notebooks(audits: dict[str, Any], association: Any, watched: Watched) -> None:
    comparison, first = biasamp.compare(audits), next(iter(audits.values()))
    held = [first, comparison, biasamp.trajectory(audits), association, first.metrics, first.pairs, comparison.pairs]
    for result in held:
        watched.page.goto("about:blank")
        watched.page.set_content(f"<!doctype html><body>{result._repr_html_()}</body>")
        assert watched.page.locator("script, style").count() == 0
        looked_at(watched.page)


def test_terminals_markdown_and_csv(audits: dict[str, Any], association: Any) -> None:
    comparison, first = biasamp.compare(audits), next(iter(audits.values()))
    for width in (80, 100, 140):
        for show, held in ((show_audit, first), (show_comparison, comparison)):
            stream = io.StringIO()
            show(held, Console(file=stream, width=width, markup=False, highlight=False, emoji=False))
            text = stream.getvalue()
            assert not STEERING & set(text)
            assert max(map(len, text.splitlines())) <= width
    for words in (str(first), repr(first), str(comparison), str(biasamp.trajectory(audits)), repr(association)):
        assert not STEERING & set(words)
    for text in (first.to_markdown(), comparison.to_markdown()):
        assert not STEERING & set(text)
        # Angle brackets, links and pictures of names are escaped.
        assert "<script" not in text.replace("\\<", "").replace("&lt;", "").lower()
        assert "![x](" not in text
    assert json.loads(first.to_json())["data"]["groups"]


# Fonts have no glyph for some of the labels, and matplotlib says so.
@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
def test_figures(audits: dict[str, Any], watched: Watched, tmp_path: Path) -> None:
    needs("matplotlib")
    for name, figure in next(iter(audits.values())).plot().items():
        path = tmp_path / f"{name}.svg"
        figure.savefig(path, format="svg")
        watched.page.goto(path.as_uri())
        assert watched.page.evaluate("() => window.pwned") is None
        assert (
            watched.page.evaluate("() => document.querySelectorAll('script, foreignObject, image[href^=http]').length")
            == 0
        )
