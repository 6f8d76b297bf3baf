"""A fact about a metric is said once: what is registered shows up everywhere, and nothing is accepted that is not."""

from __future__ import annotations

import copy
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

import biasamp
from amplified import audited, columns
from audit_schema import audit_schema
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import registry_of
from biasamp.policy import Limit, Policy, PolicyError
from biasamp.report.audit_page import report_document
from biasamp.report.comparison_terminal import show_comparison
from biasamp.report.figures import audit_figures
from biasamp.report.terminal import show_audit, show_metrics
from biasamp.results.metric_registry import (
    METRICS,
    Metric,
    audited_names,
    missing_facts,
    register,
    requestable_names,
)

SOURCE = Path(biasamp.__file__).parent
WEB = SOURCE.parents[1] / "web" / "src" / "report"
# Files that say what a metric is, or compute it, or phrase a finding on it.
FINDINGS = ("auditing/amplification_findings.py", "auditing/rate_findings.py")
OWN = (
    "amplification/",
    "predictability/",
    "auditing/measuring",
    "results/metric_registry",
)

LARGEST = Metric(
    name="largest_pair",
    title="Largest amplification of a pair",
    question="How far is the pair that changes most amplified or weakened?",
    formula="max over pairs of |amplification|",
    low=0.0,
    high=1.0,
    sign="never negative: 0 means that no pair changes",
    paper="none: an aggregate of directional amplification",
    needs=("attribute", "task", "a prediction of the one that is not given"),
    limits="above 0 by noise alone",
    family="co-occurrence",
    unbiased_when="no pair changes",
    short="largest pair",
    more="changes one pair more",
    less="changes every pair less",
    directions=("A->T", "T->A"),
    beside=("pair_count",),
)


@pytest.fixture
def registered() -> Iterator[Metric]:
    register(LARGEST)
    yield LARGEST
    del METRICS[LARGEST.name]


def with_largest(audit: Audit, value: float) -> Audit:
    """The audit with an entry of the metric, as the audit loop would write it."""
    document: Any = copy.deepcopy(audit.document)
    entry = {
        "attribute": "g",
        "metric": LARGEST.name,
        "direction": "A->T",
        "value": value,
        "interval": [value - 0.01, value + 0.01],
        "n": 400.0,
        "pair_count": 4.0,
    }
    document["metrics"].append(entry)
    document["registry"] = registry_of(document["metrics"])
    return Audit(document)


def printed(show: Any, *what: Any) -> str:
    out = io.StringIO()
    show(*what, Console(file=out, width=160))
    return out.getvalue()


def test_every_entry_is_complete() -> None:
    for metric in METRICS.values():
        assert missing_facts(metric) == [], metric.name
        assert metric.low < metric.high
        assert metric.part_of is None or metric.part_of in METRICS
    assert len({metric.short for metric in METRICS.values() if metric.audited}) == len(audited_names())


@pytest.mark.parametrize(
    "fact", ["title", "question", "formula", "sign", "paper", "limits", "unbiased_when", "more", "less"]
)
def test_an_entry_that_lacks_a_fact_is_refused_by_its_name(fact: str) -> None:
    with pytest.raises(ValueError, match=rf"the entry of metric 'largest_pair' lacks {fact}"):
        register(replace(LARGEST, **{fact: ""}))
    assert LARGEST.name not in METRICS


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="there is a metric 'dpa' already"):
        register(METRICS["dpa"])


def test_an_audit_measures_what_is_registered() -> None:
    data = {**columns(), "guess": columns()["g"]}
    roles: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "attribute_predictions": "guess"}
    audit = biasamp.audit(data, resamples=20, **roles)
    measured = {(entry["metric"], entry["direction"]) for entry in audit.document["metrics"]}
    # Means are of a continuous task, which has no labels.
    of_labels = {name for name in audited_names() if METRICS[name].pairs_of == "rate"}
    assert {metric for metric, _ in measured} == of_labels
    assert measured == {(name, way) for name in of_labels for way in METRICS[name].directions or (None,)}
    assert set(audit.document["registry"]) == of_labels
    for entry in audit.document["metrics"]:
        assert METRICS[entry["metric"]].paired == ("pairs" in entry)
        assert METRICS[entry["metric"]].by_outcome == ("outcomes" in entry)
        assert set(METRICS[entry["metric"]].beside) <= set(entry)
        assert METRICS[entry["metric"]].low <= entry["value"] <= METRICS[entry["metric"]].high
    for name in requestable_names():
        found = {
            entry["metric"] for entry in biasamp.audit(data, metrics=[name], resamples=20, **roles).document["metrics"]
        }
        assert found == {metric for metric in of_labels if METRICS[metric].described_by == name}


def test_policies_and_the_schema_accept_these_names_and_no_others() -> None:
    for name in audited_names():
        metric = METRICS[name]
        limit = {"metric": name, "min" if metric.higher_is_better else "max": 0.5}
        assert Limit(**limit).range == (metric.low, metric.high)
        for way in ("A->T", "T->A"):
            if way in metric.directions:
                Limit(**limit, direction=way)
            else:
                with pytest.raises(PolicyError, match="direction"):
                    Limit(**limit, direction=way)
    for name in ("parity", "association", "fairness"):
        with pytest.raises(PolicyError, match=f"there is no metric '{name}'"):
            Limit(metric=name, max=0.5)
    assert audit_schema()["$defs"]["Entry"]["properties"]["metric"]["enum"] == list(audited_names())


def test_no_other_file_lists_metrics() -> None:
    """Two names of metrics in one list, set or tuple are a list of metrics, which has its place in the registry."""
    names = "|".join(sorted(METRICS))
    listed = re.compile(rf"""["'](?:{names})["'],\s*["'](?:{names})["']""")
    mapped = re.compile(rf"""^\s*["']?(?:{names})["']?: ["'(]""", re.M)
    for path in [*SOURCE.rglob("*.py"), *WEB.rglob("*.ts")]:
        place = path.relative_to(SOURCE).as_posix() if path.is_relative_to(SOURCE) else path.name
        if place == "__init__.py" or place.startswith(OWN):
            continue
        code = re.sub(r'"""(?:.|\n)*?"""', "", path.read_text(encoding="utf-8"))
        assert not listed.search(code), f"{place} lists metrics"
        found = mapped.findall(code)
        # What attackers measure, and what rates of scores are, is put into words where findings are.
        assert len(found) < 2 or place in FINDINGS, f"{place} says {found}, which the registry should"


def test_a_registered_metric_shows_up_everywhere(registered: Metric) -> None:
    audit = with_largest(audited(columns(said=0.5)), 0.15)
    shown = printed(show_audit, audit)
    assert re.search(r"largest pair +A→T +0\.1500 +\[0\.1400, 0\.1600\]", shown)
    assert "| g | largest pair | A→T | 0.1500 | 0.1400 to 0.1600 |" in audit.to_markdown()
    assert f"- {LARGEST.title}: {LARGEST.limits}." in audit.to_markdown()
    assert "largest_pair" in audit._repr_html_()
    page = json.loads(json.dumps(report_document(audit)))
    assert page["audit"]["registry"]["largest_pair"]["short"] == "largest pair"
    assert page["audit"]["registry"]["largest_pair"]["meaning"].startswith(LARGEST.question)
    assert LARGEST.name in [method["name"] for method in page["methods"]]
    assert LARGEST.name in printed(lambda console: show_metrics(console))
    assert not any(LARGEST.name in name for name in audit_figures(audit.document))  # it has no pairs
    flat = audit.to_dict(flat=True)
    assert [flat[f"g/largest_pair_A-to-T{end}"] for end in ("", "_low", "_high", "_pair_count")] == pytest.approx(
        [0.15, 0.14, 0.16, 4.0]
    )
    jsonschema.validate(json.loads(audit.to_json()), audit_schema())


def test_a_registered_metric_can_be_limited_and_compared(registered: Metric) -> None:
    old, new = with_largest(audited(columns()), 0.0), with_largest(audited(columns(said=0.5)), 0.15)
    assert Policy(limits=[{"metric": "largest_pair", "max": 0.1}]).check(new).outcome == "fail"
    assert Policy(limits=[{"metric": "largest_pair", "max": 0.2}]).check(new).outcome == "pass"
    with pytest.raises(PolicyError, match="largest_pair has no value for each pair"):
        Limit(metric="largest_pair", pairs=True, max=0.1)
    with pytest.raises(PolicyError, match="everything passes 1"):
        Limit(metric="largest_pair", max=1.0)
    comparison = biasamp.compare({"old": old, "new": new})
    row = next(row for row in comparison.document["differences"] if row["metric"] == "largest_pair")
    assert row["verdict"] == "new changes one pair more than old"
    assert comparison.to_dict(flat=True)["new/g/largest_pair_A-to-T_difference"] == pytest.approx(0.15)
    assert "largest pair" in printed(show_comparison, comparison)


def test_a_metric_of_another_version_is_shown_and_not_compared() -> None:
    """A document may hold a metric that this version does not know."""
    audit = with_largest(audited(columns(said=0.5)), 0.15)
    assert "largest_pair" not in audit.document["registry"]
    assert "largest_pair" in printed(show_audit, audit)
    assert "largest\\_pair" in audit.to_markdown() or "largest_pair" in audit.to_markdown()
    comparison = biasamp.compare({"old": audit, "new": audit})
    assert "largest_pair" not in {row["metric"] for row in comparison.document["differences"]}
    assert any("g largest_pair A->T" in note for note in comparison.notes)
