"""The first screen of the page: the answer, all figures at a glance and the groups; all else behind folds, and on paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import biasamp
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.caution_topics import cautions_by_topic, first_cautions
from biasamp.datasets import berkeley
from biasamp.report.matrix import matrix_of
from browser import Watched, violations
from extras import data_folder, needs

needs("playwright.sync_api")


@pytest.fixture(scope="module")
def demo() -> Audit:
    return biasamp.audit(
        berkeley.with_predictions(),
        **berkeley.ROLES,
        **berkeley.PARTS,
        resamples=100,
    ).named(berkeley.TITLE)


def _compas(**more: Any) -> Audit:
    folder = data_folder()
    if folder is None:
        pytest.skip("BIASAMP_DATA names no folder")
    import pandas as pd

    frame = pd.read_csv(folder / "compas_two_years.csv")
    frame["said"] = (frame["decile_score"] >= 5).astype(int)
    frame["risk"] = (frame["decile_score"] - 0.5) / 10
    return biasamp.audit(
        frame,
        attributes=["race", "sex", "age_cat"],
        tasks="two_year_recid",
        task_predictions="said",
        task_scores="risk",
        resamples=100,
        **more,
    ).named("COMPAS")


def _bottom(page: Any, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    return box["y"] + box["height"]


def test_every_surface_says_the_same(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "report.html")
    page = watched.open(tmp_path / "report.html")
    shown = page.inner_text("#answer")
    notebook = demo._repr_html_()
    for words in demo.answer.titled.values():
        assert words in shown
        assert words in str(demo)
        assert words.split("(")[0] in notebook
        assert re.sub(r"\W", "", words) in re.sub(r"\W|&#\d+;", "", demo.to_markdown())


def test_the_answer_and_all_figures_are_on_the_first_screen(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "report.html")
    page = watched.page
    for width, scheme in ((1440, "light"), (1280, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        watched.open(tmp_path / "report.html")
        assert _bottom(page, "#answer") < _bottom(page, "#matrix") < _bottom(page, "#group-rates table") < 900
    page.set_viewport_size({"width": 390, "height": 844})
    watched.open(tmp_path / "report.html")
    assert _bottom(page, ".answer dd >> nth=0") < 844
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert violations(page) == []
    # What is folded is not there until it is asked for.
    assert page.locator("details.fold[open]").count() == 0
    assert not page.locator("#pairs table").first.is_visible()


def test_every_cell_leads_to_its_figure(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "report.html")
    page = watched.open(tmp_path / "report.html")
    held = matrix_of(demo.document)
    assert page.locator("#matrix tbody tr").count() == len(held.rows) == 2
    assert page.locator(".figure-cell a").count() == len(demo.document["metrics"])
    for i in (0, len(demo.document["metrics"]) - 1):
        link = page.locator(f'.figure-cell a[href="#metric-{i}"]')
        entry = demo.document["metrics"][i]
        value = float(link.locator("data").inner_text().replace("−", "-"))
        assert value == pytest.approx(entry["value"], abs=5.1e-4)
        link.click()
        card = page.locator(f"#metric-{i}")
        assert card.is_visible()
        assert f"{abs(entry['value']):.4f}" in card.inner_text()
    kinds = {1: "more", -1: "less", 0: "none"}
    for (attribute, direction), cells in held.rows:
        cell = cells["directional"]
        shown = page.locator(f'.figure-cell:has(a[href="#metric-{cell.place}"])')
        assert kinds[cell.verdict or 0] in shown.get_attribute("class").split(), (attribute, direction)


def test_an_address_opens_what_it_points_into(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "report.html")
    page = watched.open(f"{(tmp_path / 'report.html').as_uri()}#why")
    assert page.locator(".why-parts").first.is_visible()
    assert not page.locator(".method").first.is_visible()
    page.locator("nav").get_by_role("link", name="Methods").click()
    assert page.locator(".method").first.is_visible()
    watched.open(f"{(tmp_path / 'report.html').as_uri()}#%E0%A4%A")
    page.get_by_role("button", name="Open all").click()
    assert page.locator("details.fold:not([open])").count() == 0
    page.get_by_role("button", name="Close all").click()
    assert page.locator("details.fold[open]").count() == 0


def test_cautions_are_grouped_and_the_weightiest_shown(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "report.html")
    page = watched.open(tmp_path / "report.html")
    found = demo.document["findings"]
    first = first_cautions(found)
    assert len({found[i]["code"] for i in first}) == 2
    assert page.locator("#beware li").all_inner_texts() == [found[i]["text"] for i in first]
    page.locator("#beware a").click()
    topics = cautions_by_topic(demo.document)
    assert page.locator("#cautions h3").all_inner_texts() == [f"{t} ({len(held)})" for t, held in topics.items()]
    listed = page.locator("#cautions li").all_inner_texts()
    assert sorted(listed) == sorted(row["text"] for row in found if row["kind"] == "caution")


def test_paper_is_light_and_shows_verdicts(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "report.html")
    watched.page.emulate_media(color_scheme="dark")
    page = watched.open(tmp_path / "report.html")
    dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)" != dark
    # A badge and a bar of 'amplifies' are there, as is what matters behind folds; the rest and all buttons are not.
    assert page.locator(".badge.more").first.is_visible()
    assert page.locator("#matrix rect.bar.more").first.is_visible()
    assert page.locator("#cautions li").first.is_visible()
    assert page.locator(".why-parts").first.is_visible()
    for hidden in ("nav", ".theme", ".slide", "#methods", "#pairs"):
        assert not page.locator(hidden).first.is_visible(), hidden
    page.emulate_media(media="screen", color_scheme="dark")
    page.get_by_role("button", name="Change to the light colours").click()
    page.get_by_role("button", name="Change to the dark colours").click()
    pages = _pages(page.pdf())
    assert 2 <= pages <= 8
    page.get_by_role("button", name="Open all").click()
    assert _pages(page.pdf()) > pages


def _pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.data
def test_compas_with_three_attributes(tmp_path: Path, watched: Watched) -> None:
    audit = _compas()
    audit.to_html(tmp_path / "compas.html")
    page = watched.open(tmp_path / "compas.html")
    answer = page.inner_text("#answer")
    # Who is worst off and by how much, from the published counts of false positives and misses.
    assert "race=African-American" in answer
    assert re.search(r"wrongly predicted for 54\.1% of those without it \(age_cat=Greater than 45: 16\.8%\)", answer)
    # Whether it is the scores or the threshold, and what to do.
    assert re.search(r"by age_cat \(\+0\.054: scores [+-]0\.00\d, threshold \+0\.05\d\)", answer)
    assert "Move the threshold: amplification by age_cat comes from it, not from the scores" in answer
    assert _bottom(page, "#answer") < _bottom(page, "#matrix") < 900
    assert "[+0.0" in answer
    assert "threshold" in answer
    assert page.evaluate("() => document.documentElement.scrollHeight") < 3000
    assert _pages(page.pdf()) <= 14
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
