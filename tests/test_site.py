"""The built documentation site, in a browser that may reach nothing: ``make docs`` builds it, ``make test EXTRAS=all`` does so before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser import Watched, context, lacking, violations, watched  # noqa: F401

ROOT = Path(__file__).parent.parent
SITE = ROOT / "docs" / "_build" / "html"
PAGES = (
    "index",
    "start",
    "which_metric",
    "concepts/directional",
    "concepts/association",
    "guides/thresholds",
    "reference/python",
    "reference/commands",
    "reference/generated/directional",
    "examples/index",
    "examples/plot_05_thresholds",
    "troubleshooting",
)


@pytest.fixture
def site() -> Path:
    if not (SITE / "index.html").is_file():
        lacking("the documentation site is not built; run make docs")
    return SITE


def opened(held: Watched, page: Path, query: str = "") -> Any:
    held.page.goto(page.as_uri() + query)
    held.page.wait_for_load_state("load")
    return held.page


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible_and_fetch_nothing(site: Path, watched: Watched, name: str) -> None:  # noqa: F811
    page = opened(watched, site / f"{name}.html")
    assert page.title()
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_page_in_both_schemes_and_on_a_telephone(site: Path, watched: Watched, scheme: Any) -> None:  # noqa: F811
    watched.page.emulate_media(color_scheme=scheme)
    watched.page.set_viewport_size({"width": 390, "height": 800})
    page = opened(watched, site / "index.html")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")


def test_search_works_without_a_network(site: Path, watched: Watched) -> None:  # noqa: F811
    page = opened(watched, site / "search.html", "?q=cross-fitted")
    page.wait_for_selector("#search-results li a")
    assert "glossary" in " ".join(page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)"))


def test_formulas_are_drawn_by_the_browser_itself(site: Path, watched: Watched) -> None:  # noqa: F811
    page = opened(watched, site / "concepts" / "directional.html")
    assert page.locator("math").count() > 0
    assert page.evaluate("document.querySelector('math mfrac').getBoundingClientRect().height") > 0
