"""The explorer in a real browser, as a single file."""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.association.metrics import METRICS
from biasamp.report.explorer_document import write_explorer
from browser import HOSTILE, Watched, violations
from extras import needs
from report.explorer.results import hostile, result

needs("playwright.sync_api")

# A metric that the page has no formula for: it shows the figures of the document.
FOREIGN = replace(METRICS["pmi2"], name="foreign", symbol="Foreign", ratio=False, page_formula=False)
ALL = (*METRICS, FOREIGN.name)


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    write_explorer({"old": result(1), "new": result(2)}, path)
    return path


def _labels(page: Any) -> list[str]:
    return page.evaluate("() => [...document.querySelectorAll('.labels tbody th .name')].map(n => n.textContent)")


def _shown(page: Any) -> int:
    return int(page.inner_text(".status").split(" of ")[0].replace(",", ""))


def _download(page: Any, kind: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=kind, exact=True).click()
    return Path(waiting.value.path()).read_bytes().decode("utf-8")


def _csv(page: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_download(page, "CSV"), newline="")))


def _number(text: str) -> float:
    return float(text) if text else np.nan


@pytest.mark.parametrize(
    ("identities", "options"),
    [
        (2, {}),
        (3, {}),
        (3, {"paper_literal": True}),
        (2, {"zero": "smooth", "min_expected": 1}),
        (3, {"zero": "drop", "min_expected": 0}),
    ],
    ids=["two", "three", "printed", "smooth", "drop"],
)
def test_every_number_is_the_packages(
    identities: int, options: dict[str, Any], tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the page computes from counts equals what the package computed, for every metric, gap and interval."""
    monkeypatch.setitem(METRICS, FOREIGN.name, FOREIGN)
    held = result(7, identities, **options)
    write_explorer({"run": held}, tmp_path / "x.html")
    document = held.to_dict()
    rows = {row["label"]: row for row in document["labels"]}
    for c, contrast in enumerate(held.contrasts):
        extra = "!".join(ALL)
        # Another part of the address than the hash makes the browser load the page anew.
        page = watched.open(f"{(tmp_path / 'x.html').as_uri()}?{c}#gap={c}&extra={extra}&ranked=0")
        shown = _csv(page)
        assert len(shown) == len(rows)
        gaps = [row["gaps"][c] for row in document["labels"]]
        for line in shown:
            row = rows[line["label"]]
            gap = row["gaps"][c]
            assert int(line["count"]) == row["count"]
            assert _number(line["p"]) == pytest.approx(np.nan if gap["p"] is None else gap["p"], rel=1e-8, nan_ok=True)
            assert _number(line["q"]) == pytest.approx(np.nan if gap["q"] is None else gap["q"], rel=1e-8, nan_ok=True)
            assert (line["why_not"] or None) == gap["why_not"]
            for metric in ALL:
                assert _number(line[f"{metric}_gap"]) == _close(gap[metric])
                # Gaps that are equal but for their last digit may change places.
                ties = sum(other[metric] is not None and _same(other[metric], gap[metric]) for other in gaps)
                rank, wanted = _number(line[f"{metric}_rank"]), gap["rank"][metric]
                assert np.isnan(rank) if wanted is None else abs(rank - wanted) < max(ties, 1), (metric, line["label"])
                # The printed tau_b is differentiated by differences.
                loose = 1e-4 if options.get("paper_literal") and metric == "tau_b" else 1e-8
                assert _number(line[f"{metric}_low"]) == _close(gap["low"][metric], loose)
                assert _number(line[f"{metric}_high"]) == _close(gap["high"][metric], loose)
                for entry in row["identities"]:
                    assert int(line[f"count[{entry['identity']}]"]) == entry["joint"]
                    assert _number(line[f"{metric}[{entry['identity']}]"]) == _close(entry[metric])
        if contrast[1] is not None:
            assert {line["x2"] for line in shown} == {held.identities[contrast[1]]}


def _same(a: Any, b: Any) -> bool:
    return b is not None and (float(a) == float(b) or abs(float(a) - float(b)) < 1e-12)


def _close(value: Any, loose: float = 1e-8) -> Any:
    if value is None:
        return pytest.approx(np.nan, nan_ok=True)
    return pytest.approx(float(value), rel=loose, abs=1e-11)


def test_sorts_by_every_column_head(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    assert _shown(page) > 20
    for title in ("Sort by nPMI_xy gap, man − woman", "Sort by Count", "Sort by label"):
        button = page.get_by_title(title, exact=True)
        ways = []
        for _ in range(2):
            button.click()
            ways.append(_labels(page))
            assert page.locator("th[aria-sort]").count() == 1
        assert ways[0] != ways[1]
    names = [row["name"] for row in _csv(page)][::2]
    assert names == sorted(names, reverse=True)


def test_a_head_goes_on_to_the_next_run(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    button = page.get_by_title("Sort by nPMI_xy gap, man − woman", exact=True)
    for _ in range(2):
        button.click()
    gaps = [float(row["npmi_xy_gap"]) for row in _csv(page) if row["run"] == "new"]
    assert gaps == sorted(gaps, reverse=True)
    assert button.inner_text().endswith("B")


def test_gap_order_is_the_packages_ranking(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs.as_uri() + "#runs=0")
    top = [row["name"] for row in result(1).top("npmi_xy", 8, toward="man").rows()]
    assert _labels(page)[:8] == top
    box = page.locator("#metric")
    box.select_option("dp")
    top = [row["name"] for row in result(1).top("dp", 8, toward="man").rows()]
    assert _labels(page)[:8] == top


def test_searches_by_regular_expression(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs.as_uri() + "#ranked=0")
    page.fill("#search", r"^label 0[12]\d$")
    page.wait_for_function("() => document.querySelector('.status').textContent.startsWith('20 of')")
    page.fill("#search", "([")
    page.wait_for_function("() => document.querySelector('.problem').textContent.includes('Search')")
    page.fill("#search", "")
    page.wait_for_function("() => document.querySelector('.problem').textContent === ''")


def test_a_catastrophic_pattern_does_not_freeze(tmp_path: Path, watched: Watched) -> None:
    records = [["man" if i % 2 else "woman", "a" * 40 + "!", f"other {i % 5}"] for i in range(200)]
    write_explorer({"run": biasamp.associate(records, ["man", "woman"])}, tmp_path / "x.html")
    page = watched.open((tmp_path / "x.html").as_uri() + "#ranked=0")
    page.fill("#search", "^(a+)+$")
    # While the search runs the page answers: a sort by name comes at once.
    begun = time.monotonic()
    page.get_by_title("Sort by label", exact=True).click()
    assert page.locator("th.label[aria-sort=ascending]").count() == 1
    assert time.monotonic() - begun < 0.9, "the page waited for the search"
    page.wait_for_function("() => document.querySelector('.problem').textContent.includes('was stopped')")
    page.fill("#search", "other 3")
    page.wait_for_function("() => document.querySelector('.status').textContent.startsWith('1 of')")


def _drag(page: Any, canvas: Any, start: float, end: float) -> None:
    box = canvas.bounding_box()
    y = box["y"] + 20
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + (start + end) / 2 * box["width"], y, steps=3)
    page.mouse.move(box["x"] + end * box["width"], y, steps=3)
    page.mouse.up()
    page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")


def test_brush_filters_and_click_clears(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    before = _shown(page)
    gaps = page.locator(".histogram canvas").first
    _drag(page, gaps, 0.55, 0.999)
    inside = _csv(page)
    assert 0 < _shown(page) < before
    low = float(page.get_by_label("Least nPMI_xy gap, man − woman").input_value())
    assert all(float(row["npmi_xy_gap"]) >= low - 1e-3 for row in inside)
    # All runs must lie in the range, until one is enough.
    count = _shown(page)
    page.get_by_label("any run in range is enough").check()
    assert _shown(page) > count
    gaps.click(position={"x": 100, "y": 20})
    page.wait_for_function("() => !location.hash.includes('filters')")


def test_brush_on_an_axis_filters_too(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs.as_uri() + "#runs=0")
    before = _shown(page)
    box = page.locator("#view-panel canvas").bounding_box()
    # The first axis is the gap; its upper half leans to men.
    x = box["x"] + 130
    page.mouse.move(x, box["y"] + 36)
    page.mouse.down()
    page.mouse.move(x, box["y"] + 120, steps=4)
    page.mouse.up()
    page.wait_for_function("() => location.hash.includes('filters=gap.npmi_xy.0')")
    assert 0 < _shown(page) < before
    assert page.get_by_label("Least nPMI_xy gap, man − woman").input_value() != ""


def test_filters_reach_the_real_range(tmp_path: Path, watched: Watched) -> None:
    """Gaps of nPMI reach 2: with filters that end at 1 the most biased labels would vanish without a word."""
    records = [["man", "tie"]] * 40 + [["woman", "dress"]] * 40 + [["man", "bike"], ["woman", "bike"]] * 30
    held = biasamp.associate(records, ["man", "woman"])
    write_explorer({"run": held}, tmp_path / "x.html")
    gaps = {row["label"]: row["gaps"][0]["npmi_xy"] for row in held.to_dict()["labels"]}
    assert gaps["man"] == 2
    assert gaps["tie"] > 1.2
    page = watched.open((tmp_path / "x.html").as_uri() + "#ranked=0")
    canvas = page.locator(".histogram canvas").first
    _drag(page, canvas, 0.3, 0.999)
    assert {row["label"] for row in _csv(page)} == {"man", "tie", "bike"}
    _drag(page, canvas, 0.7, 0.9)
    assert {row["label"] for row in _csv(page)} == {"tie"}


def test_counts_and_q_values_filter_by_keyboard(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs.as_uri() + "#runs=0")
    page.get_by_label("Least Count", exact=True).fill("100")
    page.keyboard.press("Enter")
    page.get_by_label("Most q-value, man − woman").fill("0.05")
    page.keyboard.press("Enter")
    page.wait_for_function("() => decodeURIComponent(location.hash).includes('q.0')")
    rows = _csv(page)
    assert rows
    assert all(int(row["count"]) >= 100 and float(row["q"]) <= 0.05 for row in rows)
    wanted = [
        row
        for row in result(1).to_dict()["labels"]
        if row["count"] >= 100 and row["gaps"][0]["ranked"] and row["gaps"][0]["q"] <= 0.05
    ]
    assert len(rows) == len(wanted)


def test_state_comes_back_from_the_address(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    page.locator("#metric").select_option("dp")
    for kind in ("Select", "Flag"):
        page.get_by_label(f"{kind} {_labels(page)[1]}").click()
    page.get_by_label(f"Hide {_labels(page)[3]}").click()
    page.get_by_role("tab", name="Rank against rank").click()
    page.get_by_label("Second metric").select_option("llr")
    page.fill("#search", "label")
    page.get_by_label("Least Count", exact=True).fill("60")
    page.keyboard.press("Enter")
    page.get_by_title("Sort by Count", exact=True).click()
    page.wait_for_function("() => location.hash.includes('count')")
    before = (page.inner_text(".status"), _labels(page), page.evaluate("() => location.hash"))
    page.goto("about:blank")
    again = watched.open(two_runs.as_uri() + before[2])
    again.wait_for_function("text => document.querySelector('.status').textContent === text", arg=before[0])
    assert (again.inner_text(".status"), _labels(again), again.evaluate("() => location.hash")) == before
    assert "1 selected, 1 flagged, 1 hidden" in before[0]
    assert again.get_by_role("tab", name="Rank against rank").get_attribute("aria-selected") == "true"
    assert again.locator("#search").input_value() == "label"
    again.get_by_role("button", name="Reset").click()
    assert again.evaluate("() => location.hash") in ("", "#")
    assert "flagged" not in again.inner_text(".status")


def test_nonsense_in_the_address_does_no_harm(two_runs: Path, watched: Watched) -> None:
    page = watched.open(
        two_runs.as_uri()
        + "#metric=__proto__&gap=99&runs=7.x&sort=%3Cimg%3E~1~0&filters=count~x~y!zz&flags=zzzzzzzzz.!&view=no"
    )
    assert _shown(page) > 20
    assert page.locator("#metric").input_value() == "npmi_xy"


def test_views_follow_the_selection(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    name = _labels(page)[0]
    page.get_by_label(f"Select {name}").check()
    assert "1 selected label." in page.inner_text("#view-panel")
    for tab in ("Rank against rank", "Rank change", "One vs rest", "Run differences", "Formulas"):
        page.get_by_role("tab", name=tab).click()
        assert page.inner_text("#view-panel").strip()
    page.get_by_role("tab", name="Rank against rank").click()
    canvas = page.locator("#view-panel canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 60, steps=4)
    page.mouse.up()
    assert "selected" in page.inner_text(".status")
    assert int(page.inner_text(".status").split(", ")[1].split()[0]) > 1


def test_run_differences_are_the_packages(two_runs: Path, watched: Watched) -> None:
    from biasamp.association.change import association_change

    page = watched.open(two_runs.as_uri() + "#view=runs")
    rows = page.evaluate(
        "() => [...document.querySelectorAll('#view-panel tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    change = {row["name"]: row for row in association_change(result(1), result(2), "npmi_xy").rows()}
    assert len(rows) > 5
    for cells in rows:
        wanted = change[cells[0]]
        low, high = (float(x.replace("−", "-")) for x in cells[5].strip("[]").split(", "))
        assert float(cells[4].replace("−", "-")) == pytest.approx(wanted["change"], abs=5.1e-5)
        assert (low, high) == pytest.approx((wanted["low"], wanted["high"]), abs=5.1e-5)


def test_formula_is_one_click_away(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    page.locator("thead").get_by_label("Formula of nPMI_xy gap, man − woman").click()
    assert "(P(x) P(y))) / −ln P(x,y)" in page.inner_text(".formula-card.chosen")
    assert page.evaluate("() => document.activeElement.dataset.metric") == "npmi_xy"


def test_keyboard_alone(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    reached: dict[str, int] = {}
    for step in range(80):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "() => { const a = document.activeElement; return a.id || a.ariaLabel || a.title || a.textContent }"
        )
        reached.setdefault(name, step)
        if name.startswith("Select label "):
            page.keyboard.press("Space")
            break
    assert {"metric", "contrast", "search", "run-0", "Least Count", "Labels", "Sort by Count"} <= set(reached)
    assert "1 selected" in page.inner_text(".status")
    # The row keeps the focus after it is drawn anew.
    assert page.evaluate("() => document.activeElement.ariaLabel").startswith("Select ")
    page.get_by_role("tab", name="Parallel coordinates").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.id") == "tab-scatter"
    assert "view=scatter" in page.evaluate("() => location.hash")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier(two_runs: Path, watched: Watched, scheme: str) -> None:
    watched.page.emulate_media(color_scheme=scheme)
    page = watched.open(two_runs)
    page.get_by_label(f"Select {_labels(page)[0]}").check()
    assert violations(page) == []
    for view in ("scatter", "ranks", "rest", "runs", "formulas") if scheme == "light" else ("runs",):
        page.locator(f"#tab-{view}").click()
        assert violations(page) == []


def test_fits_a_phone(two_runs: Path, watched: Watched) -> None:
    watched.page.set_viewport_size({"width": 375, "height": 700})
    page = watched.open(two_runs.as_uri() + "#view=runs")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 375


def test_only_rows_in_view_exist_and_scrolling_shows_the_rest(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs.as_uri() + "#ranked=0&runs=0")
    whole = [row["name"] for row in _csv(page)]
    assert len(_labels(page)) < len(whole)
    page.evaluate("() => { const t = document.querySelector('.table-scroll'); t.scrollTop = t.scrollHeight }")
    page.wait_for_function(
        "name => [...document.querySelectorAll('.labels .name')].some(n => n.textContent === name)", arg=whole[-1]
    )


def test_hostile_names_are_text_everywhere(tmp_path: Path, watched: Watched) -> None:
    held = hostile()
    write_explorer({HOSTILE[1]: held, HOSTILE[2]: held}, tmp_path / "x.html")
    page = watched.open((tmp_path / "x.html").as_uri() + "#ranked=0")
    for view in ("parallel", "scatter", "ranks", "rest", "runs", "formulas"):
        page.locator(f"#tab-{view}").click()
        assert page.locator("img, iframe, object").count() == 0
        assert page.locator("script").count() == 2
    text = page.inner_text("body")
    assert HOSTILE[1] in text
    assert not set("\u202e\u200f\x07\x1b") & set(text)
    rows = _csv(page)
    assert {row["label"] for row in rows} == {"'" + name if name[0] == "=" else name for name in HOSTILE}
    assert all(row["run"] in (HOSTILE[1], "'" + HOSTILE[2]) for row in rows)
    told = json.loads(_download(page, "JSON"))
    assert {row["label"] for row in told["rows"]} == set(HOSTILE)
    page.goto("about:blank")
    page.set_content(held._repr_html_())
    assert page.locator("img, script").count() == 0
