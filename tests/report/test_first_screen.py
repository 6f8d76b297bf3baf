"""The first screen of a terminal: one screen at any width, whatever the audit, with the answer of every other surface."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import biasamp
from biasamp.auditing.answer import answer_of
from biasamp.auditing.answer_facts import concluded_of
from biasamp.auditing.caution_topics import TOPICS, cautions_by_topic, first_cautions, topic_of
from biasamp.auditing.evidence import place_of
from biasamp.auditing.findings import URGENCY
from biasamp.datasets import berkeley
from biasamp.report.first_screen import LINES, show_first_screen
from biasamp.report.matrix import matrix_of
from browser import HOSTILE

WIDTHS = [80, 100, 140]


def made(n: int = 900, seed: int = 0, groups: int = 3, attributes: int = 2, tasks: int = 1, **more: Any) -> Any:
    """An audit of records whose predictions lean further than the truth."""
    rng = np.random.default_rng(seed)
    data: dict[str, Any] = {
        f"attribute {i}": rng.choice([f"group {j}" for j in range(groups)], n) for i in range(attributes)
    }
    lean = np.where(data["attribute 0"] == "group 0", 0.7, 0.35)
    for t in range(tasks):
        data[f"t{t}"] = (rng.random(n) < lean).astype(int)
        data[f"p{t}"] = np.where(rng.random(n) < 0.3, lean > 0.5, data[f"t{t}"]).astype(int)
    roles = {"tasks": [f"t{t}" for t in range(tasks)], "task_predictions": [f"p{t}" for t in range(tasks)]}
    return biasamp.audit(
        data,
        attributes=[f"attribute {i}" for i in range(attributes)],
        **roles,
        resamples=50,
        metrics=["directional", "multi", "parity"],
        **more,
    )


def hostile() -> Any:
    rng = np.random.default_rng(1)
    n = 500
    data = {
        HOSTILE[5]: np.array([name[:300] for name in HOSTILE])[rng.integers(0, 8, n)],
        HOSTILE[4][:400]: rng.integers(0, 2, n),
    }
    data["p"] = np.where(rng.random(n) < 0.2, 1 - data[HOSTILE[4][:400]], data[HOSTILE[4][:400]])
    roles = {"attributes": HOSTILE[5], "tasks": HOSTILE[4][:400], "task_predictions": "p"}
    return biasamp.audit(data, **roles, resamples=50, metrics=["directional", "parity"]).named(HOSTILE[3])


def demo() -> Any:
    return biasamp.audit(
        berkeley.with_predictions(),
        **berkeley.ROLES,
        **berkeley.PARTS,
        resamples=50,
    )


AUDITS: dict[str, Any] = {
    "small": lambda: made(40),
    "crossed": lambda: made(groups=4, attributes=3, intersections=True),
    "many groups": lambda: made(4000, groups=40),
    "many attributes": lambda: made(attributes=12),
    "many tasks": lambda: made(tasks=6),
    "hostile": hostile,
    "demo": demo,
}


@pytest.fixture(scope="module", params=AUDITS)
def audit(request: pytest.FixtureRequest) -> Any:
    return AUDITS[request.param]()


def shown(audit: Any, width: int) -> str:
    out = io.StringIO()
    show_first_screen(audit, Console(file=out, width=width, markup=False, highlight=False, emoji=False))
    return out.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
def test_one_screen_at_every_width(audit: Any, width: int) -> None:
    text = shown(audit, width)
    lines = text.splitlines()
    assert len(lines) <= LINES == 40
    assert max(map(len, lines)) <= width
    flat = re.sub(r"\s+", "", text)
    for title, words in answer_of(audit.document).titled.items():
        assert title in text
        assert re.sub(r"\s+", "", words) in flat
    assert "--full" in text
    assert not {c for c in text if ord(c) < 32 and c != "\n"}
    assert not set("\u202e\u200f\u200b") & set(text)


def test_print_and_repr_are_short_and_plain(audit: Any) -> None:
    assert len(repr(audit)) < 1000
    assert "\n" not in repr(audit)
    for text in (repr(audit), str(audit)):
        assert not {c for c in text if ord(c) < 32 and c != "\n"}
        assert not set("\u202e\u200f") & set(text)


def test_the_matrix_has_every_figure_once(audit: Any) -> None:
    held = matrix_of(audit.document)
    places = [cell.place for _, cells in held.rows for cell in cells.values()]
    assert sorted(places) == list(range(len(audit.document["metrics"])))
    for (attribute, direction), cells in held.rows:
        for metric, cell in cells.items():
            entry = audit.document["metrics"][cell.place]
            assert (entry["attribute"], entry["metric"]) == (attribute, metric)
            assert entry["direction"] in (None, direction)
            assert (cell.value, [cell.low, cell.high]) == (entry["value"], entry["interval"])


def test_the_answer_says_who_by_how_much_how_sure_and_what_next() -> None:
    """The demo by hand: of the 557 women admitted 106 are predicted to be, of the 1,198 men 865."""
    audit = demo()
    data = berkeley.with_predictions()
    missed = {
        who: 100 * float(np.mean(data["admitted_pred"][(data["gender"] == who) & (data["admitted"] == 1)] == 0))
        for who in ("woman", "man")
    }
    answer = audit.answer
    # Shares of the admitted, not of all women and men.
    assert (
        f"gender=woman, if it is a benefit: missed for {missed['woman']:.1f}% of those with it (gender=man: "
        f"{missed['man']:.1f}%)." in answer.worst_off
    )
    assert "(+0.150: scores +0.000, threshold +0.150; inside strata of department -0.053)" in answer.found
    assert re.search(r"Beyond chance at 95% \(corrected for \d+ figures\): gender A→T \[\+0\.1", answer.sure)
    assert "Calibrate: amplification by gender A→T comes from the threshold, not from the scores." in answer.next
    marks = audit.document["sweep"][0]["marks"]
    assert f"{marks['base_rate']['amplification']:+.3f} at {marks['base_rate']['threshold']:.3f}" in answer.next
    assert "Read the strata of department: in 1 of 6" in answer.next
    assert set(answer.groups) == {"gender=woman", "gender=man"}


def test_a_model_that_repeats_its_data_is_not_called_amplifying() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    data = {"g": rng.choice(["a", "b"], 400), "t": truth, "p": np.where(rng.random(400) < 0.1, 1 - truth, truth)}
    answer = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", resamples=50).answer
    assert "Whether the model amplifies the bias of its data is not decided" in answer.found
    assert answer.worst_off == "No difference in error rates between groups is beyond chance."
    assert answer.sure.startswith("Nothing is beyond chance")


def differing(n: int = 4000) -> dict[str, Any]:
    """Groups alike in truth, of which one is more often given what it does not have, and as often denied what it has."""
    rng = np.random.default_rng(5)
    group, truth = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    wrong = rng.random(n) < np.where(group == "a", 0.3, 0.1)
    return {"g": group, "t": truth, "p": np.where(wrong, 1 - truth, truth)}


ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p", "resamples": 50}


def test_what_is_decided_comes_before_what_is_not() -> None:
    answer = biasamp.audit(differing(), **ROLES, metrics=["directional", "parity"]).answer
    assert answer.found.startswith("Groups of g differ in ")
    assert "true positive rates" in answer.found
    assert "; whether the model amplifies the bias of its data is not decided: g (" in answer.found
    # What is found is what is to be looked at first.
    assert answer.next.startswith("Look at the errors of g=")


@pytest.mark.parametrize(
    ("missing", "words"), [("drop", "left out of what they concern"), ("negative", "read as not having the label")]
)
def test_missing_values_are_said_first(missing: str, words: str) -> None:
    data = differing()
    given = data["p"].astype(object)
    given[[3, 77, 1200]] = None
    answer = biasamp.audit({**data, "p": given}, **ROLES, missing=missing, metrics=["directional"]).answer
    assert answer.sure.endswith(f" 3 missing values were {words}.")
    assert "missing" not in biasamp.audit(data, **ROLES, missing=missing, metrics=["directional"]).answer.sure


def test_an_interval_beyond_0_that_is_one_of_many_is_a_hint() -> None:
    document = biasamp.audit(differing(), **ROLES, metrics=["directional", "parity"]).to_dict()
    entry = next(row for row in document["metrics"] if row["metric"] == "directional")
    # A known direction, an interval just beyond 0, and findings that conclude nothing with all figures counted.
    entry.update(value=0.02, interval=[0.001, 0.039], bounds=[-0.001, 0.041], unknown=0)
    for pair in entry["pairs"]:
        pair["known"] = True
    document["metrics"] = [entry, *(row for row in document["metrics"] if row["metric"] == "multi")]
    document["findings"] = [
        {**row, "figure": {**row["figure"], "verdict": 0}}
        for row in document["findings"]
        if row["kind"] == "finding" and row["code"] == "amplification"
    ]
    answer = answer_of(document)
    assert answer.next.startswith("Take +0.020 by g for a hint: its own interval does not cover 0, but with all ")
    assert "Leave" not in answer.next


def test_numbers_as_groups_are_to_be_cut() -> None:
    rng = np.random.default_rng(5)
    data = {**differing(), "g": rng.integers(18, 70, 4000)}
    answer = biasamp.audit(data, **ROLES, metrics=["directional"]).answer
    assert answer.next.startswith("Cut g into a few bins, so that its groups have records enough to compare.")


def test_a_likely_mistake_is_the_first_thing_to_look_at() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    data = {"g": rng.choice(["a", "b"], 400), "t": truth, "p": 1 - truth}
    answer = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", resamples=50).answer
    assert answer.next.startswith("Check the columns first: ")


def test_what_is_concluded_is_what_the_findings_say() -> None:
    audit = demo()
    concluded = concluded_of(audit.document)
    for row in audit.document["findings"]:
        if row["kind"] == "finding" and "verdict" in row["figure"]:
            assert concluded[place_of(row["figure"])] == row["figure"]["verdict"]


def test_every_caution_has_a_topic(audit: Any) -> None:
    codes = [code for held in TOPICS.values() for code in held]
    assert sorted(codes) == sorted(URGENCY)
    found = audit.document["findings"]
    places = [place for held in cautions_by_topic(audit.document).values() for place in held]
    assert sorted(places) == [i for i, row in enumerate(found) if row["kind"] == "caution"]
    first = first_cautions(found)
    assert len({found[i]["code"] for i in first}) == len(first) <= 2
    assert all(topic_of(found[i]["code"]) in TOPICS for i in first)
