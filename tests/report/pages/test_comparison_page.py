"""The pages of comparisons and of trajectories in a real browser, and their notebook forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.auditing.comparison_answer import changed_by_evidence, decided, verdicts_first
from biasamp.report.comparison_page import comparison_document
from biasamp.report.trajectory_page import trajectory_document, trends_first
from browser import HOSTILE, Watched, violations
from extras import needs

needs("playwright.sync_api")


def records(seed: int = 0, many: int = 3000, groups: tuple[str, ...] = ("a", "b", "c")) -> dict[str, Any]:
    """Three models of growing bias; a group of a few records changes most."""
    rng = np.random.default_rng(seed)
    group = rng.choice(len(groups), many, p=[0.6, 0.39, 0.01])
    truth = rng.random(many) < 0.3 + 0.2 * (group == 0)
    out: dict[str, Any] = {"group": [groups[i] for i in group], "truth": truth.astype(int)}
    for name, bias in (("calm", 0.0), ("bold", 0.15), ("wild", 0.3)):
        flips = rng.random(many)
        shift = np.where(group == 0, bias, np.where(group == 1, -bias, -1.0 if name == "wild" else 0.0))
        out[name] = np.where(flips < np.abs(shift), (shift > 0).astype(int), truth).astype(int)
    return out


def audits(data: dict[str, Any], *models: str) -> dict[str, Any]:
    return {
        name: biasamp.audit(data, attributes="group", tasks="truth", task_predictions=name, resamples=200)
        for name in models
    }


@pytest.fixture(scope="module")
def compared() -> Any:
    return biasamp.compare(audits(records(), "calm", "bold", "wild"))


@pytest.fixture(scope="module")
def followed() -> Any:
    data = records()
    steps = {}
    for step in range(6):
        rng = np.random.default_rng(100 + step)
        bias = 0.05 * step
        shift = np.where(np.array(data["group"]) == "a", bias, -bias)
        said = np.where(rng.random(len(shift)) < np.abs(shift), shift > 0, np.array(data["truth"]) == 1)
        steps[f"2026-0{step + 1}"] = biasamp.audit(
            {**data, "said": said.astype(int)},
            attributes="group",
            tasks="truth",
            task_predictions="said",
            resamples=200,
        )
    return biasamp.trajectory(steps)


def test_verdicts_come_first_and_pairs_by_evidence(compared: Any) -> None:
    level = compared.document["level"]
    sure = [decided(row, level) != 0 for row in verdicts_first(compared.document)]
    assert sure == sorted(sure, reverse=True)
    assert any(sure)
    assert len(sure) == len(compared.document["differences"])
    chances = [row["p"] for row in changed_by_evidence(compared.document)]
    assert chances == sorted(chances)
    assert {id(row) for row in changed_by_evidence(compared.document)} == {id(row) for row in compared.changed}


def test_the_page_of_a_comparison(compared: Any, tmp_path: Path, watched: Watched) -> None:
    compared.to_html(tmp_path / "x.html")
    page = watched.open(tmp_path / "x.html")
    document = comparison_document(compared)
    # The answer and the first verdicts are on the first screen, not the audit of a model.
    assert page.locator("#verdicts-title").bounding_box()["y"] < 600
    for words in document["answer"].values():
        assert words in page.inner_text("#answer")
    rows = page.locator("#verdicts tbody tr")
    assert rows.count() == len(document["comparison"]["differences"])
    for i, row in enumerate(document["comparison"]["differences"]):
        text = rows.nth(i).inner_text()
        assert all(model in text for model in row["models"])
        assert row["verdict"] in text
    pairs = page.locator("#pairs tbody tr")
    assert 0 < pairs.count() <= 30
    first = document["comparison"]["pairs"][0]
    assert first["given"] in pairs.first.inner_text()
    # Every figure says where it comes from, and is what the document has there.
    for place, value in page.evaluate(
        "() => [...document.querySelectorAll('data')].map(n => [n.dataset.place, n.value])"
    ):
        held: Any = document
        for part in place.split("/")[1:]:
            held = held[int(part)] if isinstance(held, list) else held[part]
        assert value == ("" if held is None else str(held)) or float(value) == pytest.approx(held)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_the_pages_fit_and_have_no_barrier(
    compared: Any, followed: Any, tmp_path: Path, watched: Watched, scheme: str, width: int
) -> None:
    watched.page.emulate_media(color_scheme=scheme)
    watched.page.set_viewport_size({"width": width, "height": 900})
    for name, result in (("compare", compared), ("trajectory", followed)):
        result.to_html(tmp_path / f"{name}.html")
        page = watched.open(tmp_path / f"{name}.html")
        assert page.evaluate("() => document.documentElement.scrollWidth") == width
        assert violations(page) == []


def test_the_page_of_a_trajectory(followed: Any, tmp_path: Path, watched: Watched) -> None:
    followed.to_html(tmp_path / "x.html")
    page = watched.open(tmp_path / "x.html")
    figures = trends_first(followed)
    assert figures[0]["trend"]["verdict"] == "rises"
    assert page.locator(".followed").count() == len(figures)
    assert "rises" in page.locator("#trends tbody tr").first.inner_text()
    chart = page.locator(".followed svg").first
    assert chart.locator(".point").count() == 6
    box = chart.bounding_box()
    for dot in chart.locator(".point").all():
        at = dot.bounding_box()
        assert box["x"] <= at["x"] <= box["x"] + box["width"]
        assert box["y"] <= at["y"] <= box["y"] + box["height"]
    outside = sum(point["left"] for point in figures[0]["points"])
    assert chart.locator(".outside").count() == outside
    page.locator(".followed details summary").first.click()
    assert page.locator(".followed details tbody tr").first.is_visible()
    assert trajectory_document(followed)["answer"]["Found"].startswith(figures[0]["words"][:40])


def test_paper_has_verdicts_and_charts(compared: Any, followed: Any, tmp_path: Path, watched: Watched) -> None:
    for result in (compared, followed):
        result.to_html(tmp_path / "x.html")
        page = watched.open(tmp_path / "x.html")
        page.emulate_media(media="print", color_scheme="dark")
        assert page.locator(".badge").first.is_visible()
        assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert len(page.pdf()) > 10_000
        page.emulate_media(media="screen", color_scheme="light")


def test_notebook_forms_say_the_same(compared: Any, followed: Any) -> None:
    for result, words in (
        (compared, comparison_document(compared)["answer"]),
        (followed, trajectory_document(followed)["answer"]),
    ):
        text = result._repr_html_()
        assert all(title in text for title in words)
        assert "<script" not in text
    assert "pair that changed" in compared._repr_html_()


def test_hostile_models_and_groups_are_text(tmp_path: Path, watched: Watched) -> None:
    data = records(groups=(HOSTILE[0], HOSTILE[1], HOSTILE[3]))
    runs = audits(data, "calm", "bold")
    result = biasamp.compare({HOSTILE[1]: runs["calm"], HOSTILE[0]: runs["bold"]})
    steps = biasamp.trajectory({HOSTILE[0]: runs["calm"], HOSTILE[3]: runs["bold"]})
    for held in (result, steps):
        held.to_html(tmp_path / "x.html")
        page = watched.open(tmp_path / "x.html")
        assert page.locator("img, iframe, object").count() == 0
        assert page.locator("script").count() == 2
        assert not set("\u202e\u200f\x07\x1b") & set(page.inner_text("body"))
        page.goto("about:blank")
        page.set_content(held._repr_html_())
        assert page.locator("img, script").count() == 0
