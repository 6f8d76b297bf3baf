"""The report in a real browser: every number is the document's, every label is text, every section is there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.auditing.audit_result import Audit
from biasamp.datasets import berkeley
from biasamp.report.audit_page import report_document
from biasamp.report.matrix import matrix_of
from browser import HOSTILE, Watched, violations
from extras import data_folder, needs
from report.explorer.results import result as associations

needs("playwright.sync_api")

# What shows at once, and what is behind folds.
_FIRST = ["answer", "matrix", "group-rates", "beware"]
_FOLDED = [
    "verdicts",
    "findings",
    "metrics",
    "pairs",
    "rates",
    "groups",
    "excluded",
    "cautions",
    "methods",
    "provenance",
]


def _unfolded(page: Any) -> Any:
    """The page with every fold open."""
    page.get_by_role("button", name="Open all").click()
    return page


@pytest.fixture(scope="module")
def demo() -> Audit:
    return biasamp.audit(
        berkeley.with_predictions(),
        **berkeley.ROLES,
        resamples=200,
    ).named(berkeley.TITLE)


def _with_curves(audit: Audit) -> Audit:
    """The audit with a sweep and a comparison, as documents that have them carry them."""
    curve = [
        {"threshold": 0.1, "amplification": 0.02, "rate": 0.9},
        {"threshold": 0.4, "amplification": -0.03, "rate": 0.42},
        {"threshold": 0.8, "amplification": 0.01, "rate": 0.05},
    ]
    sweep = {
        "attribute": "gender",
        "direction": "A->T",
        "outcome": "admitted=1",
        "integral": 0.0125,
        "span": [0, 1],
        "base_rate": 0.4,
        "curve": curve,
        "usual": {"threshold": 0.5, "amplification": -0.02},
        "calibrated": {"threshold": 0.4, "amplification": -0.03, "rate": 0.42},
        "labels": [{"label": "admitted=1", "threshold": 0.4, "rate": 0.42, "base_rate": 0.4}],
    }
    row = {
        "attribute": "gender",
        "metric": "directional",
        "direction": "A->T",
        "first": 0.11,
        "second": 0.25,
        "difference": 0.14,
        "low": 0.05,
        "high": 0.2,
        "paired": True,
        "verdict": "new amplifies more than old",
    }
    compare = {"models": ["old", "new"], "differences": [row], "notes": []}
    return Audit({**audit.document, "sweep": [sweep], "compare": compare}, audit.source)


def _at(document: Any, place: str) -> Any:
    for part in place.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def _numbers(page: Any) -> list[dict[str, str]]:
    return page.evaluate(
        "() => [...document.querySelectorAll('data')].map(d => ({place: d.dataset.place, value: d.value, text: d.textContent}))"
    )


def _sections(page: Any) -> list[str]:
    return page.evaluate("() => [...document.querySelectorAll('main section')].map(s => s.id)")


def test_every_number_is_the_documents(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    audit = _with_curves(demo)
    audit.to_html(tmp_path / "report.html")
    page = watched.open(tmp_path / "report.html")
    document = json.loads(json.dumps(report_document(audit)))
    seen = _numbers(page)
    for number in seen:
        value = _at(document, number["place"])
        if value is None:  # undefined, such as a gain of 0/0
            assert (number["value"], number["text"]) == ("", "—")
            continue
        assert float(number["value"]) == value
        text = number["text"].replace("−", "-").replace(",", "")
        shown = float(text)
        digits = len(text.partition(".")[2].partition("e")[0])
        if number["place"].startswith("/audit/rates/") and not re.search(r"/(records|ratio\w*)$", number["place"]):
            value *= 100.0  # rates of groups are in percent
        assert shown == pytest.approx(value, abs=0.5000001 * 10.0**-digits, rel=0.06 if "e" in text else 0)
    places = {number["place"] for number in seen}
    for i, entry in enumerate(audit.document["metrics"]):
        own = f"/audit/metrics/{i}"
        assert {f"{own}/value", f"{own}/interval/0", f"{own}/interval/1", f"{own}/n"} <= places
        if entry["metric"] == "dpa":
            assert {f"{own}/dataset", f"{own}/model", f"{own}/model_gain", f"{own}/dataset_gain"} <= places
        if entry["metric"] == "directional":
            wanted = ("amplification", "low", "high", "truth_rate", "predicted_rate", "delta", "support", "sign_p")
            once = [j for j, pair in enumerate(entry["pairs"]) if not pair.get("mirror")]
            assert len(once) < len(entry["pairs"])
            assert {f"{own}/pairs/{j}/{k}" for j in once for k in wanted} <= places
    assert {"/audit/compare/differences/0/difference", "/audit/sweep/0/integral"} <= places
    assert "/audit/sweep/0/calibrated/threshold" in places


def test_a_badge_says_what_the_sentence_concludes(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    """An interval above 0 of which the sentence concludes nothing, as where directions are unknown, is undecided."""
    document = json.loads(demo.to_json())
    decided = [f for f in document["findings"] if f["code"] == "amplification" and f["figure"]["verdict"]]
    assert decided
    demo.to_html(tmp_path / "decided.html")
    badges = _unfolded(watched.open(tmp_path / "decided.html")).locator(".badge").all_inner_texts()
    assert sum("undecided" in badge for badge in badges) < len(badges)
    for finding in decided:
        finding["figure"]["verdict"] = 0
    Audit(document, demo.source).to_html(tmp_path / "undecided.html")
    page = _unfolded(watched.open(tmp_path / "undecided.html"))
    assert all("undecided" in badge for badge in page.locator(".badge").all_inner_texts())
    assert page.locator("#metrics .metric", has_text="Directional").locator("rect.bar.more, rect.bar.less").count() == 0


def test_sections_follow_the_data(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "plain.html")
    assert _sections(watched.open(tmp_path / "plain.html")) == [*_FIRST, *_FOLDED]
    _with_curves(demo).to_html(tmp_path / "more.html")
    page = _unfolded(watched.open(tmp_path / "more.html"))
    folded = ["verdicts", "thresholds", *_FOLDED[1:5], "comparison", *_FOLDED[5:]]
    assert _sections(page) == [*_FIRST, *folded]
    for finding in demo.findings:
        assert finding.text in page.inner_text("main")
    assert demo.document["data"]["fingerprint"] in page.inner_text("#provenance")
    assert page.locator("nav a").count() == len(_FIRST) + len(_FOLDED) + 2


def test_association_lists_stand_in_the_report(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    held = associations(1)
    demo.to_html(tmp_path / "report.html", association=held)
    page = watched.open(tmp_path / "report.html")
    document = json.loads(json.dumps(report_document(demo, association=held)))
    seen = {number["place"]: number["value"] for number in _numbers(page)}
    for identity, listed in zip(held.identities, document["association"], strict=True):
        top = list(held.top("npmi_xy", 15, toward=identity).rows())
        assert [row["name"] for row in listed["rows"]] == [row["name"] for row in top]
    own = {place: value for place, value in seen.items() if place.startswith("/association/")}
    assert len(own) > 100
    assert all(float(value) == _at(document, place) for place, value in own.items())
    assert "association" in _sections(page)


def test_directions_stand_apart_on_scales_of_their_own(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "report.html")
    page = _unfolded(watched.open(tmp_path / "report.html"))
    panels = page.locator("#pairs .panels.of-2 .panel")
    assert panels.count() == 2
    boxes = [panels.nth(i).bounding_box() for i in range(2)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    scales = [panels.nth(i).locator(".bars .scale").text_content() for i in range(2)]
    assert scales[0] != scales[1]


def test_opens_offline_in_light_dark_print_and_on_a_phone(
    demo: Audit, tmp_path: Path, watched: Watched, context: Any
) -> None:
    demo.to_html(tmp_path / "report.html")
    context.set_offline(True)
    try:
        page = watched.open(tmp_path / "report.html")
        light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        page.emulate_media(color_scheme="dark")
        assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") != light
        page.get_by_role("button", name="Change to the light colours").click()
        assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == light
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible()
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 360, "height": 740})
        wide = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0
    finally:
        context.set_offline(False)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier(demo: Audit, tmp_path: Path, watched: Watched, scheme: str) -> None:
    _with_curves(demo).to_html(tmp_path / "report.html")
    watched.page.emulate_media(color_scheme=scheme)
    page = watched.open(tmp_path / "report.html")
    assert violations(page) == []
    assert violations(_unfolded(page)) == []


def test_keyboard_reaches_contents_and_tables(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.to_html(tmp_path / "report.html")
    page = watched.open(tmp_path / "report.html")
    page.evaluate("() => document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    reached = []
    for _ in range(110):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("() => document.activeElement.getAttribute('href') || document.activeElement.ariaLabel")
        )
    assert reached[0] == "#main"
    assert "#cautions" in reached
    assert "Directional A→T, sorted bars" in reached
    page.keyboard.press("Shift+Tab")


def test_many_pairs_come_when_asked_for(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    entry = demo.document["metrics"][0]
    pair = {key: value for key, value in entry["pairs"][0].items() if key != "mirror"}
    many = [{**pair, "outcome": f"outcome {i}", "amplification": i / 1000} for i in range(300)]
    Audit({**demo.document, "metrics": [{**entry, "pairs": many}]}).to_html(tmp_path / "report.html")
    page = _unfolded(watched.open(tmp_path / "report.html"))
    rows = page.locator("#pairs .bars tbody tr")
    assert rows.count() < 100
    assert "outcome 299" in rows.first.inner_text()
    page.locator("#pairs").get_by_role("button", name="Show all 300 pairs").click()
    assert rows.count() == 300
    page.locator("#pairs").get_by_role("button", name="Show 20 pairs").click()
    assert page.locator("#pairs .bars tbody tr:visible").count() == 20
    # On paper everything is there.
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#rates .bars tbody tr:visible").count() == 300


def test_hostile_names_are_text(tmp_path: Path, watched: Watched) -> None:
    rng = np.random.default_rng(3)
    n = 400
    columns: dict[str, Any] = {HOSTILE[0]: [HOSTILE[1 + i % 2] for i in range(n)]}
    tasks = list(HOSTILE[3:])
    for name in tasks:
        columns[name] = rng.integers(0, 2, n)
        columns[name + " said"] = rng.integers(0, 2, n)
    audit = biasamp.audit(
        columns,
        attributes=HOSTILE[0],
        tasks=tasks,
        task_predictions=[name + " said" for name in tasks],
        resamples=50,
    ).named(HOSTILE[1])
    audit.to_html(tmp_path / "report.html")
    page = _unfolded(watched.open(tmp_path / "report.html"))
    assert page.locator("img, iframe, object").count() == 0
    assert page.locator("script").count() == 2
    text = page.inner_text("body")
    assert HOSTILE[0] in text
    assert HOSTILE[1] in text
    assert "\\u202egnp.exe\\u200f" in text
    assert not set("\u202e\u200f\x07\x1b") & set(text)
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for markup in (audit._repr_html_(), audit.results[0]._repr_html_()):
        page.goto("about:blank")
        page.set_content(markup)
        assert page.locator("img, script").count() == 0
        assert not set("\u202e\u200f\x07\x1b") & set(page.inner_text("body"))


def test_broken_unicode_is_shown(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    demo.named("half \ud800 a pair").to_html(tmp_path / "report.html")
    page = watched.open(tmp_path / "report.html")
    assert page.inner_text("h1") == "half \\ud800 a pair"


def test_notebook_numbers(demo: Audit, watched: Watched) -> None:
    watched.page.set_content(demo._repr_html_())
    rows = watched.page.evaluate(
        "() => [...document.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    rows = rows[len(matrix_of(demo.document).rows) :]
    rates = demo.document["rates"]
    for cells, row in zip(rows, rates, strict=False):
        assert cells[4] == "{:.1f} [{:.1f}, {:.1f}]".format(
            *(100 * row["false_positive_rate"][k] for k in ("value", "low", "high"))
        )
    for cells, entry in zip(rows[len(rates) :], demo.document["metrics"], strict=True):
        assert float(cells[4]) == pytest.approx(entry["value"], abs=5.1e-5)
        assert float(cells[5]) == pytest.approx(entry["interval"][0], abs=5.1e-5)


def test_real_sweeps_and_comparisons_have_their_sections(tmp_path: Path, watched: Watched) -> None:
    rng = np.random.default_rng(2)
    group = rng.integers(0, 2, 600)
    truth = (rng.random((600, 2)) < 0.3 + 0.3 * group[:, None]).astype(int)
    columns = {"g": np.where(group, "w", "m"), "a": truth[:, 0], "b": truth[:, 1]}
    audits = {}
    for name, strength in (("old", 0.1), ("new", 0.4)):
        scores = np.clip(0.35 + 0.2 * truth + strength * group[:, None] + 0.2 * rng.random((600, 2)), 0, 1)
        data = {**columns, "sa": scores[:, 0], "sb": scores[:, 1]}
        audits[name] = biasamp.audit(
            data, attributes="g", tasks=["a", "b"], task_predictions=["sa", "sb"], resamples=50, metrics=["directional"]
        )
    audit = audits["new"].compared(biasamp.compare(audits))
    audit.to_html(tmp_path / "report.html")
    page = _unfolded(watched.open(tmp_path / "report.html"))
    assert {"thresholds", "comparison"} <= set(_sections(page))
    document = json.loads(json.dumps(report_document(audit)))
    places = {number["place"] for number in _numbers(page) if float(number["value"]) == _at(document, number["place"])}
    assert places == {number["place"] for number in _numbers(page)}
    assert {"/audit/sweep/0/usual/amplification", "/audit/sweep/0/calibrated/amplification"} <= places
    assert {f"/audit/sweep/0/labels/{i}/threshold" for i in range(2)} <= places
    assert audit.document["compare"]["differences"][0]["verdict"] in page.inner_text("#comparison")


@pytest.mark.data
def test_compas_has_every_section(tmp_path: Path, watched: Watched) -> None:
    folder = data_folder()
    if folder is None:
        pytest.skip("BIASAMP_DATA names no folder")
    import pandas as pd

    frame = pd.read_csv(folder / "compas_two_years.csv")
    frame["said"] = (frame["decile_score"] >= 5).astype(int)
    frame = frame[frame["race"].isin(["African-American", "Caucasian"])]
    audit = biasamp.audit(
        frame, attributes=["race", "sex"], tasks="two_year_recid", task_predictions="said", resamples=100
    )
    audit.to_html(tmp_path / "compas.html")
    page = watched.open(tmp_path / "compas.html")
    assert _sections(page) == [*_FIRST, *_FOLDED]
    document = json.loads(json.dumps(report_document(audit)))
    for number in _numbers(page):
        assert float(number["value"]) == _at(document, number["place"])
    assert f"{len(frame):,}" in page.inner_text("header")


def test_invented_labels_have_a_table(tmp_path: Path, watched: Watched) -> None:
    n = 400
    said = [["a", "b", "c", "none" if i < n // 2 else "a"][i % 4] for i in range(n)]
    data = {"g": ["w"] * (n // 2) + ["m"] * (n // 2), "t": ["a", "b", "c", "a"] * (n // 4), "p": said}
    audit = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics=["directional"], resamples=50)
    audit.to_html(tmp_path / "report.html")
    page = _unfolded(watched.open(tmp_path / "report.html"))
    row = page.locator("#invented tbody tr")
    assert row.count() == 1
    assert all(words in row.inner_text() for words in ("t=none", "50", "0.2500", "g=w", "0.0000", "g=m"))
    document = json.loads(json.dumps(report_document(audit)))
    seen = [number for number in _numbers(page) if number["place"].startswith("/audit/invented/")]
    assert len(seen) == 7
    assert all(float(number["value"]) == _at(document, number["place"]) for number in seen)
