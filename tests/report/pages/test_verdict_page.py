"""The page of a verdict in a real browser, and its form in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import biasamp
from biasamp.policy.verdict import Check, Verdict
from biasamp.report.verdict_page import verdict_document
from browser import HOSTILE, Watched, violations
from extras import needs

needs("playwright.sync_api")


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    data = {"g": ["w", "m"] * 60, "t": [1, 0, 0, 1] * 30, "p": [1, 0, 1, 1] * 30}
    limits = [{"metric": "directional", "max": 0.1}, {"metric": "tpr_difference", "max": 0.001}]
    audit = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", resamples=50)
    return biasamp.Policy(limits=[*limits, {"metric": "fpr_difference", "max": 0.05}], min_group=10).check(audit)


def _place(document: Any, place: str) -> Any:
    for part in place.split("/")[1:]:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


@pytest.mark.parametrize("width", [1440, 390])
def test_the_outcome_comes_first_and_every_number_is_the_documents(
    verdict: Verdict, watched: Watched, tmp_path: Path, width: int
) -> None:
    verdict.to_html(tmp_path / "v.html")
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    watched.open(tmp_path / "v.html")
    assert verdict.outcome in page.inner_text("header .lead")
    shown = [text.strip() for text in page.locator(".checks tbody .badge").all_inner_texts()]
    assert [text.split(" ", 1)[1] for text in shown] == [check.outcome for check in verdict.worst_first]
    document = verdict_document(verdict)
    numbers = page.evaluate("() => [...document.querySelectorAll('data')].map(d => [d.dataset.place, d.value])")
    assert numbers
    for place, value in numbers:
        held = _place(document, place)
        assert value == ("" if held is None else str(held)) or float(value) == held
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1")
    assert violations(page) == []


@pytest.mark.parametrize("text", HOSTILE[::9])
def test_names_of_strangers_are_text(watched: Watched, tmp_path: Path, text: str) -> None:
    check = Check(rule=text, outcome="fail", reason=text, limit=text, attribute=text, cautions=(text,))
    made = Verdict((check,), policy=text, data=text, notes=(text,))
    made.to_html(tmp_path / "v.html")
    watched.open(tmp_path / "v.html")
    assert watched.page.locator(".checks tbody tr").count() == 1


def _forms(text: str) -> list[str]:
    """Results in a notebook, with a label as the name of everything."""
    check = Check(rule=text, outcome="fail", reason=text, limit=text, attribute=text, cautions=(text,))
    sides = [text, "m"] * 20, [1, 0, 0, 1] * 10, [1, 0, 1, 1] * 10
    audits = {
        name: biasamp.audit(
            {"g": sides[0], "t": sides[1], name: held}, attributes="g", tasks="t", task_predictions=name, resamples=20
        )
        for name, held in (("one", sides[2]), ("two", sides[2][::-1]))
    }
    parity = biasamp.parity(*sides)
    results = (Verdict((check,), policy=text, data=text, notes=(text,)), parity, parity.groups, biasamp.compare(audits))
    return [held._repr_html_() for held in results]


@pytest.mark.parametrize("text", HOSTILE[::12])
def test_every_result_has_a_form_in_a_notebook(watched: Watched, text: str) -> None:
    for hostile, plain in zip(_forms(text), _forms("group"), strict=True):
        shapes = []
        for markup in (hostile, plain):
            watched.page.set_content(markup)
            assert watched.page.locator("table tbody tr").count() > 0
            shapes.append(watched.page.evaluate("() => [...document.querySelectorAll('*')].map(e => e.tagName)"))
        assert shapes[0] == shapes[1]
