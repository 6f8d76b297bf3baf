"""The page of parts and thresholds in a real browser: its figures are those of the document, and at every threshold those of sweep."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp.auditing.audit_result import Audit
from biasamp.datasets import berkeley
from biasamp.report.audit_page import report_document, write_html
from biasamp.report.sweep_page import sweep_document, write_sweep
from browser import HOSTILE, Watched, violations
from extras import needs

needs("playwright.sync_api")


@pytest.fixture(scope="module")
def demo() -> Audit:
    return biasamp.audit(
        berkeley.with_predictions(),
        attributes="gender",
        tasks="admitted",
        task_scores="admitted_score",
        strata="department",
        metrics="directional",
        resamples=100,
    ).named(berkeley.TITLE)


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "").replace("%", ""))


def _numbers(page: Any, within: str) -> list[dict[str, str]]:
    return page.evaluate(
        "(within) => [...document.querySelectorAll(within + ' data')].map(d => ({place: d.dataset.place, value: d.value}))",
        within,
    )


def _at(document: Any, place: str) -> Any:
    for part in place.split("/")[1:]:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def _shown_rates(page: Any) -> dict[str, list[list[float]]]:
    """Positive rate, TPR and FPR of each group at the chosen threshold, in percent, with their limits."""
    rows = page.evaluate(
        "() => [...document.querySelectorAll('.at-threshold-rates tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    return {
        name.strip(): [[_number(x) for x in re.findall(r"\d+\.\d", cell)] for cell in rates] for name, _, *rates in rows
    }


def _amplification(page: Any) -> list[float]:
    found = re.search(r"amplification (\S+) \[(\S+), (\S+)\]", page.inner_text(".at-threshold"))
    assert found is not None
    return [_number(x) for x in found.groups()]


def test_parts_pairs_and_strata_are_the_documents(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    write_html(demo, tmp_path / "why.html", view="why")
    page = watched.open(tmp_path / "why.html")
    document = json.loads(json.dumps(report_document(demo, view="why")))
    seen = _numbers(page, "#why")
    for number in seen:
        assert float(number["value"]) == _at(document, number["place"])
    places = {number["place"] for number in seen}
    parts = [f"/audit/why/0/parts/{name}" for name in ("value", "score", "threshold", "inside")]
    assert {f"{part}/{of}" for part in parts for of in ("value", "interval/0", "interval/1")} <= places
    assert {
        f"/audit/why/0/strata/{i}/{of}" for i in range(6) for of in ("value", "low", "q", "by_sign_of_whole")
    } <= places
    (entry,) = document["audit"]["why"]
    once = [i for i, pair in enumerate(entry["pairs"]) if not pair.get("mirror")]
    assert len(once) == 2
    for i in once:
        pair = entry["pairs"][i]
        assert pair["score"] + pair["threshold"] == pytest.approx(pair["amplification"], abs=1e-12)
        assert {
            f"/audit/why/0/pairs/{i}/{of}" for of in ("score", "threshold", "amplification", "score_rate")
        } <= places
    assert not any(f"/audit/why/0/pairs/{i}/" in place for i in range(4) if i not in once for place in places)
    # Directions that a stratum's records do not tell are marked, and only those.
    rows = page.locator(".why-strata tbody tr")
    for i in range(rows.count()):
        text = rows.nth(i).inner_text()
        held = next(row for row in entry["strata"] if row["stratum"] == text.split()[0])
        assert ("?" in text) == (held["unclear"] > 0)
        assert ("reversed" in text) == (held["reversed"] > 0)
    assert page.locator(".why-reliability tbody tr").count() == 2


def test_the_slider_shows_every_figure_at_the_chosen_threshold(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    write_html(demo, tmp_path / "why.html", view="why")
    page = watched.open(tmp_path / "why.html")
    data = berkeley.with_predictions()
    swept = biasamp.sweep(data["admitted_score"], data["gender"], data["admitted"])
    slider = page.get_by_role("slider", name="Threshold")
    thresholds = demo.document["sweep"][0]["steps"]["threshold"]
    for place in (0, 17, len(thresholds) // 2, len(thresholds) - 1):
        slider.fill(str(place))
        at = thresholds[place]
        assert page.inner_text(".threshold-value") == f"{at:.4f}"
        (row,) = swept.band([at]).rows()
        assert _amplification(page) == pytest.approx([row["amplification"], row["low"], row["high"]], abs=5.1e-5)
        rates = _shown_rates(page)
        for held in swept.rates([at]).rows():
            shown = rates[f"gender={str(held['given']).removeprefix('given=')}"]
            for of, cell in zip(("rate", "tpr", "fpr"), shown, strict=True):
                wanted = [100 * held[name] for name in (of, f"{of}_low", f"{of}_high")]
                assert cell == pytest.approx(wanted, abs=0.0501)


def test_marks_are_shown_and_go_to_their_threshold(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    write_html(demo, tmp_path / "why.html", view="why")
    page = watched.open(tmp_path / "why.html")
    marks = demo.document["sweep"][0]["marks"]
    assert list(marks) == ["used", "base_rate", "zero"]
    # The page opens at the threshold that was used.
    assert page.inner_text(".threshold-value") == "0.5000"
    assert page.locator(".chart .mark").count() == 3
    for name, words in (("zero", "nearest to 0"), ("base_rate", "nearest to the base rate"), ("used", "were made at")):
        page.get_by_role("button", name=re.compile(words)).click()
        assert page.inner_text(".threshold-value") == f"{marks[name]['threshold']:.4f}"
        assert _amplification(page)[0] == pytest.approx(marks[name]["amplification"], abs=5.1e-5)


def test_a_curve_follows_the_pointer_and_groups_can_be_hidden(demo: Audit, tmp_path: Path, watched: Watched) -> None:
    write_html(demo, tmp_path / "why.html", view="why")
    page = watched.open(tmp_path / "why.html")
    chart = page.locator(".chart svg").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.click(box["x"] + 60, box["y"] + 80)
    low = _number(page.inner_text(".threshold-value"))
    page.mouse.click(box["x"] + box["width"] - 30, box["y"] + 80)
    assert _number(page.inner_text(".threshold-value")) > low
    lines = page.locator(".chart").nth(1).locator(".step")
    assert lines.count() == 2
    page.locator(".legend input").first.uncheck()
    assert lines.count() == 1


def test_many_scores_are_thinned_and_said_to_be(tmp_path: Path, watched: Watched) -> None:
    rng = np.random.default_rng(5)
    group, scores = rng.integers(0, 9, 3000), rng.random(3000)
    truth = (rng.random(3000) < scores).astype(int)
    weights = rng.random(3000) + 0.5
    swept = biasamp.sweep(scores, group, truth, weights=weights)
    write_sweep(swept, tmp_path / "sweep.html", source="made", attribute="g", outcome="t")
    page = watched.open(tmp_path / "sweep.html")
    document = json.loads(json.dumps(sweep_document(swept, source="made", attribute="g", outcome="t")))
    steps = document["sweep"]["steps"]
    assert 300 <= len(steps["threshold"]) <= 303
    assert f"{len(steps['threshold'])} of 3,001 distinct thresholds" in page.inner_text("#thresholds")
    for number in _numbers(page, "main"):
        assert float(number["value"]) == _at(document, number["place"])
    page.get_by_role("slider", name="Threshold").fill("150")
    rates = _shown_rates(page)
    assert len(rates) == 9
    for held in swept.rates([steps["threshold"][150]]).rows():
        wanted = [100 * held[name] for name in ("tpr", "tpr_low", "tpr_high")]
        assert rates[str(held["given"])][1] == pytest.approx(wanted, abs=0.0501)
    # As many lines as there are colours, until more are asked for.
    assert page.locator(".chart").nth(2).locator(".step").count() == 6


@pytest.mark.parametrize("width", [1440, 1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier_and_nothing_beside_the_page(
    demo: Audit, tmp_path: Path, watched: Watched, width: int, scheme: str
) -> None:
    write_html(demo, tmp_path / "why.html", view="why")
    watched.page.set_viewport_size({"width": width, "height": 900})
    watched.page.emulate_media(color_scheme=scheme)
    page = watched.open(tmp_path / "why.html")
    assert violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_hostile_labels_are_text(tmp_path: Path, watched: Watched) -> None:
    rng = np.random.default_rng(0)
    n = 600
    names = np.array([name[:200] for name in HOSTILE])
    data = {
        HOSTILE[0]: names[rng.integers(0, 3, n)],
        HOSTILE[6]: rng.integers(0, 2, n),
        "score": rng.random(n),
        HOSTILE[7]: names[3 + rng.integers(0, 3, n)],
    }
    audit = biasamp.audit(
        data,
        attributes=HOSTILE[0],
        tasks=HOSTILE[6],
        task_scores="score",
        strata=HOSTILE[7],
        metrics="directional",
        resamples=50,
    ).named(HOSTILE[1])
    write_html(audit, tmp_path / "why.html", view="why")
    swept = biasamp.sweep(data["score"], data[HOSTILE[0]], data[HOSTILE[6]])
    write_sweep(swept, tmp_path / "sweep.html", source=HOSTILE[1], attribute=HOSTILE[0], outcome=HOSTILE[6])
    for name in ("why.html", "sweep.html"):
        page = watched.open(tmp_path / name)
        page.get_by_role("slider", name="Threshold").first.fill("5")
        assert page.locator("img, iframe, object").count() == 0
        assert page.locator("script").count() == 2
        assert HOSTILE[0] in page.inner_text("body")
        assert not set("\u202e\u200f\x07\x1b") & set(page.inner_text("body"))


def test_the_commands_write_their_pages(tmp_path: Path, watched: Watched) -> None:
    from click.testing import CliRunner

    from biasamp.cli import group

    pd.DataFrame(berkeley.with_predictions()).to_csv(tmp_path / "data.csv", index=False)
    roles = ["--attributes", "gender", "--tasks", "admitted", "--scores", "admitted_score"]
    for command, kicker in (("why", "biasamp why"), ("sweep", "biasamp sweep")):
        target = tmp_path / f"{command}.html"
        done = CliRunner().invoke(group, [command, str(tmp_path / "data.csv"), *roles, "--html", str(target)])
        assert done.exit_code == 0, done.output
        page = watched.open(target)
        assert page.inner_text(".kicker").lower() == kicker
        assert page.get_by_role("slider", name="Threshold").count() == 1
