"""The built documentation site, in a browser that may reach nothing: ``make docs`` builds it, ``make test EXTRAS=all`` does so before."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from browser import Watched, context, lacking, violations, watched  # noqa: F401

ROOT = Path(__file__).parent.parent
SITE = ROOT / "docs" / "_build" / "html"
PAGES = (
    "index",
    "start",
    "in_the_browser",
    "which_metric",
    "concepts/directional",
    "concepts/association",
    "guides/thresholds",
    "reference/python",
    "reference/commands",
    "reference/generated/directional",
    "examples/index",
    "examples/plot_05_thresholds",
    "examples/plot_11_crossings",
    "troubleshooting",
)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the site, served on this machine alone."""
    if not (SITE / "index.html").is_file():
        lacking("the documentation site is not built; run make docs")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def opened(held: Watched, address: str) -> Any:
    held.page.goto(address)
    held.page.wait_for_load_state("load")
    return held.page


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible_and_fetch_nothing(site: str, watched: Watched, name: str) -> None:  # noqa: F811
    page = opened(watched, f"{site}/{name}.html")
    assert page.title()
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_page_in_both_schemes_and_on_a_telephone(site: str, watched: Watched, scheme: Any) -> None:  # noqa: F811
    watched.page.emulate_media(color_scheme=scheme)
    watched.page.set_viewport_size({"width": 390, "height": 800})
    page = opened(watched, f"{site}/index.html")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")


@pytest.mark.parametrize(
    "name", [*PAGES, "reference/generated/amplification.threshold_choice.ThresholdChoice", "concepts/predictability"]
)
def test_titles_and_text_fit_a_telephone(site: str, watched: Watched, name: str) -> None:  # noqa: F811
    watched.page.set_viewport_size({"width": 390, "height": 800})
    page = opened(watched, f"{site}/{name}.html")
    cut = page.eval_on_selector_all(
        ".bd-article :is(h1, h2, h3, p, dt)",
        """all => all.filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 2
          && !one.closest('pre, .pst-scrollable-table-container')).map(one => one.textContent.trim().slice(0, 60))""",
    )
    assert cut == []


def test_search_works_without_a_network(site: str, watched: Watched) -> None:  # noqa: F811
    page = opened(watched, (SITE / "search.html").as_uri() + "?q=cross-fitted")
    page.wait_for_selector("#search-results li a")
    assert "glossary" in " ".join(page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)"))


def test_formulas_are_drawn_by_the_browser_itself(site: str, watched: Watched) -> None:  # noqa: F811
    page = opened(watched, f"{site}/concepts/directional.html")
    assert page.locator("math").count() > 0
    assert page.evaluate("document.querySelector('math mfrac').getBoundingClientRect().height") > 0


@pytest.mark.parametrize("name", ["concepts/directional", "concepts/association", "concepts/why"])
def test_formulas_can_be_read_whole_on_a_telephone(site: str, watched: Watched, name: str) -> None:  # noqa: F811
    watched.page.set_viewport_size({"width": 390, "height": 800})
    page = opened(watched, f"{site}/{name}.html")
    seen = page.eval_on_selector_all(
        "div.math",
        """all => all.map(one => {
          const [drawn, room] = [one.querySelector('math').getBoundingClientRect(), one.getBoundingClientRect()];
          one.scrollLeft = 1e6;
          return [drawn.left - room.left, drawn.right - one.scrollLeft - room.right, drawn.width > room.width, one.tabIndex];
        })""",
    )
    assert seen
    for before, behind, wide, stop in seen:
        assert before >= -1
        assert behind <= 1
        assert stop == (0 if wide else -1)
    assert name != "concepts/directional" or any(wide for _, _, wide, _ in seen)
    assert violations(page) == []


def test_every_example_shows_a_figure_and_can_be_downloaded(site: str) -> None:
    pages = sorted((SITE / "examples").glob("plot_*.html"))
    assert len(pages) >= 12
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert f'src="../_images/sphx_glr_{page.stem}_001.png"' in text, page.name
        assert "ShownFigure" not in text, page.name
        assert f"{page.stem}.ipynb" in text, page.name
