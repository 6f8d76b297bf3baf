"""What readers do in the explorer: choose runs, columns and labels, look at charts, print."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.association.change import association_change
from biasamp.report.explorer_document import write_explorer
from browser import Watched
from extras import needs
from report.explorer.results import label_sets, result

needs("playwright.sync_api")


@pytest.fixture(scope="module")
def six_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "six.html"
    write_explorer({f"run {i}": result(i) for i in range(1, 7)}, path)
    return path


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "two.html"
    write_explorer({"old": result(1), "new": result(2)}, path)
    return path


def labels(page: Any) -> list[str]:
    return page.evaluate("() => [...document.querySelectorAll('.labels tbody th .name')].map(n => n.textContent)")


def status(page: Any) -> str:
    return page.inner_text(".status")


def downloaded(page: Any) -> list[dict[str, str]]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="CSV", exact=True).click()
    text = Path(waiting.value.path()).read_bytes().decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def settled(page: Any) -> None:
    """Until the address and the views say what was chosen."""
    page.wait_for_timeout(150)


def shown_changes(page: Any) -> dict[str, float]:
    """The change column of the table, by label."""
    cells = page.evaluate(
        "() => [...document.querySelectorAll('.labels tbody tr')].filter(r => r.querySelector('td.change'))"
        ".map(r => [r.querySelector('.name').textContent, r.querySelector('td.change .figures').textContent])"
    )
    return {name: number(text) for name, text in cells}


def listed_changes(page: Any) -> dict[str, float]:
    """The changes of the view 'Run differences', by label."""
    cells = page.evaluate(
        "() => [...document.querySelectorAll('#view-panel tbody tr')].map(r => [r.cells[0].textContent, r.cells[4].textContent])"
    )
    return {name: number(text) for name, text in cells}


@pytest.mark.parametrize(("address", "pair"), [("#runs=2.3", (3, 4)), ("#runs=4", (5, 1)), ("#pair=5.1", (6, 2))])
def test_changes_are_of_the_two_chosen_runs_in_both_places(
    six_runs: Path, watched: Watched, address: str, pair: tuple[int, int]
) -> None:
    page = watched.open(f"{six_runs.as_uri()}?{pair[0]}{address}&view=runs")
    first, second = (result(seed) for seed in pair)
    wanted = {row["name"]: row for row in association_change(first, second, "npmi_xy").rows()}
    listed = listed_changes(page)
    assert len(listed) > 20
    for name, change in listed.items():
        assert change == pytest.approx(wanted[name]["change"], abs=5.1e-5)
    for name, change in shown_changes(page).items():
        assert change == pytest.approx(wanted[name]["change"], abs=5.1e-5)
    rows = downloaded(page)
    assert {(row["change_from"], row["change_to"]) for row in rows} == {(f"run {pair[0]}", f"run {pair[1]}")}
    for row in rows:
        ends = [number(row[f"npmi_xy_change_{end}"]) for end in ("low", "high")]
        assert ends == pytest.approx([wanted[row["name"]]["low"], wanted[row["name"]]["high"]], rel=1e-7, abs=1e-10)


def test_choosing_a_run_moves_both_places(six_runs: Path, watched: Watched) -> None:
    page = watched.open(six_runs.as_uri() + "#runs=0.1&view=runs")
    before = listed_changes(page)
    page.locator("#differences-1").focus()
    page.locator("#differences-1").select_option("4")
    assert page.evaluate("() => document.activeElement.id") == "differences-1"
    wanted = {row["name"]: row["change"] for row in association_change(result(1), result(5), "npmi_xy").rows()}
    after = listed_changes(page)
    assert after != before
    assert all(after[name] == pytest.approx(wanted[name], abs=5.1e-5) for name in after)
    assert all(change == pytest.approx(wanted[name], abs=5.1e-5) for name, change in shown_changes(page).items())
    # The same run twice has no change: the two change places.
    page.locator("#pair-0").select_option("4")
    assert page.locator("#pair-0").input_value() == "4"
    assert page.locator("#pair-1").input_value() == "0"


def test_runs_of_the_same_records_are_paired(tmp_path: Path, watched: Watched) -> None:
    def run(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        kept = [
            [x for x in held if x in ("man", "woman") or rng.random() < 0.9] for held in label_sets(1, 2, labels=40)
        ]
        ids = {"id": list(range(len(kept))), "says": kept}
        return biasamp.associate(ids, ["man", "woman"], label="says", record="id", pairable=True)

    runs = run(1), run(2)
    write_explorer(dict(zip("ab", runs, strict=True)), tmp_path / "x.html")
    page = watched.open((tmp_path / "x.html").as_uri() + "#view=runs")
    assert "paired" in page.inner_text("#view-panel .controls")
    for metric, turned in (("npmi_xy", False), ("dp", True)):
        page.locator("#metric").select_option(metric)
        page.locator("#pair-0").select_option("1" if turned else "0")
        wanted = {row["name"]: row for row in association_change(*(runs[::-1] if turned else runs), metric).rows()}
        rows = downloaded(page)
        assert wanted[rows[0]["name"]]["paired"]
        for row in rows:
            ends = [number(row[f"{metric}_change_{end}"]) for end in ("low", "high")]
            assert ends == pytest.approx([wanted[row["name"]]["low"], wanted[row["name"]]["high"]], rel=1e-6, abs=1e-9)


def test_typing_and_clearing_leaves_nothing_filtered(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    before = status(page)
    page.evaluate(
        "() => { const box = document.querySelector('#search'); for (const text of ['label 01', '']) "
        "{ box.value = text; box.dispatchEvent(new Event('input')); } }"
    )
    page.wait_for_timeout(400)
    assert status(page) == before


def test_the_skip_link_keeps_the_state(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    page.get_by_label(f"Flag {labels(page)[0]}").click()
    page.get_by_label("Least Count", exact=True).fill("50")
    page.keyboard.press("Enter")
    settled(page)
    before = status(page), page.evaluate("() => location.hash")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    settled(page)
    assert (status(page), page.evaluate("() => location.hash")) == before
    assert page.evaluate("() => document.activeElement.className") == "table-scroll"
    # An address of a place, typed by hand, does no harm either.
    page.evaluate("() => { location.hash = 'labels' }")
    settled(page)
    assert status(page) == before[0]


def test_selections_are_made_isolated_and_cleared(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    page.fill("#search", r"label 0[01]\d")
    page.wait_for_function("() => /^20 of/.test(document.querySelector('.status').textContent)")
    page.get_by_role("button", name="Select shown").click()
    assert "20 selected" in status(page)
    page.fill("#search", "")
    page.wait_for_function("() => !/^20 of/.test(document.querySelector('.status').textContent)")
    page.get_by_role("button", name="Isolate selection").click()
    assert status(page).startswith("20 of")
    settled(page)
    again = watched.open(f"{two_runs.as_uri()}?{page.evaluate('() => location.hash')}")
    assert status(again).startswith("20 of")
    again.get_by_role("button", name="Clear selection").click()
    assert "selected" not in status(again)
    assert not status(again).startswith("20 of")


def test_columns_are_chosen_and_stay_chosen(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    heads = "() => [...document.querySelectorAll('.labels thead th')].map(n => n.className)"
    assert {"rank", "joint", "change"} <= set(page.evaluate(heads))
    page.locator("summary", has_text="Columns").click()
    for title in ("rank", "counts with identities", "change between runs"):
        page.get_by_label(title, exact=True).uncheck()
    page.get_by_label("PMI", exact=True).check()
    assert not {"rank", "joint", "change"} & set(page.evaluate(heads))
    assert page.evaluate(heads).count("gap") == 2
    page.keyboard.press("Escape")
    assert page.locator(".menu[open]").count() == 0
    settled(page)
    again = watched.open(f"{two_runs.as_uri()}?{page.evaluate('() => location.hash')}")
    assert not {"rank", "joint", "change"} & set(again.evaluate(heads))


@pytest.mark.parametrize("width", [1280, 1440, 1920])
def test_the_table_fits_usual_widths(two_runs: Path, watched: Watched, width: int) -> None:
    watched.page.set_viewport_size({"width": width, "height": 900})
    page = watched.open(two_runs)
    inside = page.evaluate(
        "() => { const t = document.querySelector('.table-scroll'); return t.scrollWidth - t.clientWidth }"
    )
    assert inside == 0
    assert page.evaluate("() => document.documentElement.scrollWidth") == width
    # No figure runs into its neighbour.
    over = page.evaluate(
        "() => [...document.querySelectorAll('.labels .line')].flatMap(l => [...l.children].filter(c => c.getBoundingClientRect().width)"
        ".map((c, i, all) => i && c.getBoundingClientRect().left - all[i - 1].getBoundingClientRect().right)).filter(x => x < -0.5)"
    )
    assert over == []


def test_the_divider_is_dragged_and_moved_by_keys(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    tall = "() => document.querySelector('.views').getBoundingClientRect().height"
    before = page.evaluate(tall)
    box = page.locator(".divider").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 4
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 120, steps=4)
    page.mouse.up()
    dragged = page.evaluate(tall)
    assert dragged == pytest.approx(before + 120, abs=12)
    for key, larger in (("ArrowDown", False), ("ArrowUp", True), ("Home", False), ("End", True)):
        last = page.evaluate(tall)
        page.keyboard.press(key)
        assert (page.evaluate(tall) > last) == larger, key
    settled(page)
    again = watched.open(f"{two_runs.as_uri()}?{page.evaluate('() => location.hash')}")
    assert again.locator(".divider").get_attribute("aria-valuenow") == "80"
    again.keyboard.press("Tab")


def test_charts_name_what_is_under_the_pointer(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    told = "() => { const n = document.querySelector('.hover'); return n && !n.hidden ? n.innerText : '' }"

    def over(canvas: Any, x: float, y: float) -> str:
        box = canvas.bounding_box()
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        return page.evaluate(told)

    canvas = page.locator(".histogram canvas").first
    texts = [over(canvas, x / 40, 0.25) for x in range(2, 39)]
    assert any(re.search(r"label \d{3}", text) and "shown" in text for text in texts)
    name = labels(page)[0]
    page.get_by_label(f"Select {name}").check()
    canvas = page.locator("#view-panel canvas")
    assert any(name in over(canvas, 0.12, y / 60) for y in range(5, 58))
    page.get_by_role("tab", name="Rank against rank").click()
    canvas = page.locator("#view-panel canvas")
    canvas.scroll_into_view_if_needed()
    found = [over(canvas, 0.05 + x / 30, 0.03 + y / 20) for x in range(28) for y in range(8)]
    assert any(re.search(r"label \d{3}", text) and "rank" in text for text in found)
    page.mouse.move(5, 5)
    assert page.evaluate(told) == ""


def test_many_runs_have_an_axis_each_and_the_selection_is_drawn(six_runs: Path, watched: Watched) -> None:
    page = watched.open(six_runs)
    page.get_by_label(f"Select {labels(page)[0]}").check()
    canvas = page.locator("#view-panel canvas")
    assert re.search(r"of 1 labels over A run 1; B run 2; .*F run 6", canvas.get_attribute("aria-label"))
    # A label that is filtered out is still among what was selected.
    page.get_by_label(f"Hide {labels(page)[0]}").click()
    assert "1 selected label, 1 of them filtered out (dashed)" in page.inner_text("#view-panel")
    drawn = page.evaluate(
        "() => { const c = document.querySelector('#view-panel canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        " let many = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) many++; return many }"
    )
    assert drawn > 2000
    page.get_by_label("Axes").select_option("columns")
    assert "Count" in canvas.get_attribute("aria-label")


def test_frequency_buckets_count_and_filter(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs.as_uri() + "#view=frequency&ranked=0&runs=0")
    counts = [row["count"] for row in result(1).to_dict()["labels"]]
    rows = page.evaluate(
        "() => [...document.querySelectorAll('.frequency tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    for cells in rows:
        low, high = (int(x.replace(",", "")) for x in cells[0].split(" to "))
        assert int(cells[1]) == sum(low <= count <= high for count in counts)
    assert sum(int(cells[1]) for cells in rows) == len(counts)
    page.get_by_role("button", name="10 to 99", exact=True).click()
    page.wait_for_function("() => location.hash.includes('filters')")
    shown = downloaded(page)
    assert shown
    assert all(10 <= int(row["count"]) <= 99 for row in shown)
    page.get_by_role("button", name="10 to 99", exact=True).click()
    page.wait_for_function("() => !location.hash.includes('filters')")


def test_labels_that_one_run_ranks_are_shown_with_the_reason(tmp_path: Path, watched: Watched) -> None:
    rare = [["man", "bike"]] * 200 + [["woman", "bike"]] * 150 + [["man"]] * 50 + [["woman"]] * 50
    often = [*rare, *[["man", "kite"]] * 60, *[["woman", "kite"]] * 40]
    runs = {
        "a": biasamp.associate(often, ["man", "woman"]),
        "b": biasamp.associate([*rare, ["man", "kite"]], ["man", "woman"]),
    }
    write_explorer(runs, tmp_path / "x.html")
    page = watched.open(tmp_path / "x.html")
    assert set(labels(page)) == {"bike", "kite"}
    why = page.evaluate("() => [...document.querySelectorAll('.labels .why')].map(n => n.textContent)")
    assert len(why) == 1
    assert why[0].startswith("B: ")
    wanted = next(row for row in runs["b"].to_dict()["labels"] if row["name"] == "kite")["gaps"][0]["why_not"]
    assert why[0] == f"B: {wanted}"


def test_crossed_identities_are_explored(tmp_path: Path, watched: Watched) -> None:
    rng = np.random.default_rng(3)
    sets = [
        [["man", "woman"][i % 2], ["young", "old"][i // 2 % 2], *(f"label {k}" for k in range(6) if rng.random() < 0.4)]
        for i in range(800)
    ]
    held = biasamp.associate(sets, ["man", "woman", "young", "old"], crossings=True)
    write_explorer({"run": held}, tmp_path / "x.html")
    page = watched.open(tmp_path / "x.html")
    options = page.locator("#contrast option").all_inner_texts()
    assert "man & young − woman & young" in [text.strip() for text in options]
    page.locator("#contrast").select_option(label="man & young − woman & young")
    rows = downloaded(page)
    wanted = {row["label"]: row for row in held.to_dict()["labels"]}
    c = [tuple(held.identities[x] for x in pair) if pair[1] is not None else None for pair in held.contrasts].index(
        ("man & young", "woman & young")
    )
    assert rows
    for row in rows:
        assert number(row["npmi_xy_gap"]) == pytest.approx(wanted[row["label"]]["gaps"][c]["npmi_xy"], rel=1e-8)


def test_home_and_end_move_between_tabs(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    page.locator("#tab-parallel").focus()
    for key, tab in (("End", "formulas"), ("ArrowRight", "parallel"), ("ArrowLeft", "formulas"), ("Home", "parallel")):
        page.keyboard.press(key)
        assert page.evaluate("() => document.activeElement.id") == f"tab-{tab}"


def test_the_focus_stays_after_hiding(two_runs: Path, watched: Watched) -> None:
    page = watched.open(two_runs)
    first, second = labels(page)[:2]
    page.get_by_label(f"Hide {first}").focus()
    page.keyboard.press("Enter")
    assert labels(page)[0] == second
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == f"Hide {second}"
    page.get_by_label("Remove Count").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "Remove q-value, man − woman"


def test_paper_has_what_is_filtered_and_no_empty_space(tmp_path: Path, watched: Watched) -> None:
    rng = np.random.default_rng(0)
    count = 20_000
    sets = [
        [["man", "woman"][i % 2], *(f"label {k:05d}" for k in set(rng.integers(0, count, 12).tolist()))]
        for i in range(9000)
    ]
    write_explorer({"run": biasamp.associate(sets, ["man", "woman"], min_expected=0)}, tmp_path / "many.html")
    page = watched.open((tmp_path / "many.html").as_uri() + "#ranked=0")
    assert "of 19,9" in status(page)
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf()))
    assert pages < 40, "an explorer of 20,000 labels once printed 440 pages"
    page.fill("#search", "label 0000[0-4]")
    page.wait_for_function("() => /^5 of/.test(document.querySelector('.status').textContent)")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) <= 2
    # What paper shows, while it is printed.
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".labels .space").count() == 0
    assert len(labels(page)) == 5
    text = page.inner_text(".paper-only")
    assert "names that match label 0000[0-4]" in text
    assert not page.locator(".side").is_visible()
    page.emulate_media(media="screen")
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".labels .space").count() == 2
