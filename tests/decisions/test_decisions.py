"""A short version of ``python -m benchmarks decisions``, and that it forgets no interval of an audit's document."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.decisions import compared, gates, invented, tables
from benchmarks.decisions.audited import Audited
from benchmarks.decisions.cases import CASES, FEW
from benchmarks.decisions.cells import Coverage, beyond
from benchmarks.decisions.intervals import MEASURED, REPEATED, checked, interval_fields
from benchmarks.decisions.population import Case
from benchmarks.decisions.study import study

import biasamp

SAMPLES = 30


def case_of(name: str, **changed: Any) -> Case:
    (case,) = [case for case in CASES if case.name == name]
    return replace(case, **changed)


def test_every_interval_of_a_document_is_measured() -> None:
    """An audit with all metrics, invented labels and a comparison: each field that holds an interval is known here."""
    both = Audited.of(case_of("both directions, strong, unequal", n=500), np.random.default_rng(0))
    documents: list[Any] = [both.document, biasamp.compare({"a": both.audit, "b": both.audit}).document]
    rng = np.random.default_rng(1)
    truth = rng.choice(list("xyz"), 200)
    data = {"g": rng.choice(list("ab"), 200), "t": truth, "s": np.where(rng.random(200) < 0.1, "other", truth)}
    documents.append(biasamp.audit(data, attributes="g", tasks="t", task_predictions="s", resamples=50).document)
    found = {field for document in documents for field in interval_fields(document)}
    assert found == MEASURED | set(REPEATED)
    assert set(REPEATED.values()) <= MEASURED


def test_what_repeats_an_interval_repeats_it() -> None:
    """Fields that are not measured by themselves hold what others do."""
    document = Audited.of(case_of("five groups", metrics=FEW), np.random.default_rng(0)).document
    (mean,) = [entry for entry in document["metrics"] if entry["metric"] == "mean_per_class_accuracy"]
    rates = {(row["group"], row["outcome"]): row for row in document["rates"]}
    for row in mean["groups"]:
        shown = rates[row["given"], row["outcome"]]
        for name, value in row.items():
            found = re.fullmatch(r"(.+?)_((?:difference_|ratio_)?(?:low|high))", name)
            if found is not None:
                assert value == shown[found[1]][found[2]]
    entries = {(entry["metric"], entry["direction"]): entry for entry in document["metrics"]}
    for finding in document["findings"]:
        if "interval" in finding["figure"]:
            assert finding["figure"]["interval"] == entries[finding["metric"], finding["direction"]]["interval"]
    audited = Audited.of(case_of("five groups", metrics=FEW), np.random.default_rng(0)).audit
    for row in biasamp.compare({"a": audited, "b": audited}).document["differences"]:
        own = entries[row["metric"], row["direction"]]["interval"]
        assert row["first_interval"] == row["second_interval"] == own


def test_a_figure_that_is_off_is_found() -> None:
    """Intervals shifted by their own width hold the truth in no cell, and the suite says so."""
    audited = Audited.of(case_of("strong, rates kept, n 500", metrics=FEW), np.random.default_rng(0))
    for entry in audited.document["metrics"]:
        low, high = entry["interval"]
        entry["interval"] = [high + 0.5 * (high - low) + 0.1, high + 2 * (high - low) + 0.1]
    off = {one.figure for one in checked(audited) if not one.held}
    assert off >= {entry["metric"] for entry in audited.document["metrics"] if entry["metric"] != "multi"}


def test_cells_are_broken_beyond_chance_and_without_a_caution_only() -> None:
    def cell(held: int, missed: int, cautioned: bool = False) -> Coverage:
        made = Coverage()
        for place in range(held + missed):
            made.add([place < held], cautioned)
        return made

    assert not cell(36, 4).broken
    assert cell(32, 8).broken
    assert not cell(32, 8, cautioned=True).broken
    few = cell(90, 7, cautioned=True)
    for _ in range(3):  # three of a hundred that chance left without a caution
        few.add([False], False)
    assert not few.broken
    assert not beyond(5, 60, 0.05)
    assert beyond(8, 60, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("2% group, strong", {"metrics": FEW, "n": 500}),
        ("clusters of 5, strong", {"metrics": FEW}),
        ("weights, strong", {}),
        ("both directions, strong, unequal", {"n": 400}),
        ("20 tasks, strong", {"metrics": ("directional", "parity")}),
    ],
)
def test_intervals_hold_the_truth(name: str, changed: dict[str, Any]) -> None:
    made = study(case_of(name, **changed), SAMPLES)
    assert {figure: cell.share for figure, cell in made.coverage.items() if cell.broken} == {}
    assert made.said.above() == []
    assert len(made.coverage) > 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["equal models, n 500", "20 tasks, the second follows the group in one, n 500", "few errors, n 400"]
)
def test_differences_of_two_models_are_covered(name: str) -> None:
    (two,) = [two for two in compared.cases() if two.name == name]
    found = compared.study(two, SAMPLES)
    assert {metric: cell.share for metric, cell in found.coverage.items() if cell.broken} == {}
    assert not any(beyond(many, SAMPLES, 0.05) for many in found.false.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "2000, lean 0.2, 2% group alone errs, one way, limit 0.1",
        "against a baseline, 20 tasks, n=500, lean 0.02",
        "against a baseline, 1 label, n=400, lean 0.15, few differ, limit 0.02",
        "1 label, n=500, lean 0.15, clusters of 5",
    ],
)
def test_models_at_their_limit_seldom_pass(name: str) -> None:
    made = [gate for make in gates.STUDIES[:3] for gate in make()]
    gate = next(gate for gate in made if name in gate.name)
    assert not gates.study(gate, SAMPLES).broken


@pytest.mark.slow
def test_invented_labels_are_covered() -> None:
    cell, false = invented.study(invented.Inventing(500, 5), SAMPLES)
    assert not cell.broken
    assert not beyond(false, SAMPLES, 0.05)


@pytest.mark.slow
def test_the_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    tables.main(["--samples", "3", "--only", "n 60"])
    shown = capsys.readouterr().out
    for words in (
        "### Sentences",
        "### Intervals",
        "### Differences of two models",
        "tpr_difference",
        "3 samples each",
    ):
        assert words in shown


@pytest.mark.slow
def test_what_is_called_as_good_as_0_is() -> None:
    """A model that amplifies by just over 0.01 is seldom said to keep the bias of its data to within it; one that keeps it often is."""

    def kept(case: Case, samples: int) -> int:
        found = 0
        for stream in np.random.SeedSequence(3).spawn(samples):
            audit = Audited.of(case, np.random.default_rng(stream)).audit
            (said,) = [one for one in audit.findings if one.code == "amplification"]
            found += bool(said.figure["kept"] and not said.figure["verdict"])
        return found

    over = Case("just over", 3000, lean=0.15, moved=0.011, errors=0.05, metrics=("directional",))
    assert not beyond(kept(over, 100), 100, 0.05)
    assert kept(replace(over, name="kept", moved=0.0), 30) > 15
