"""Audits in the form that other systems take, and what those systems read of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import biasamp
from amplified import audited, columns
from biasamp.policy.verdict import Check, Verdict

HOSTILE = "</script>\n---\n- x: {{evil}} \u2028 é"


@pytest.fixture(scope="module")
def audit() -> biasamp.Audit:
    return audited(columns(said=0.3), resamples=100, provenance={"g": "perceived by annotators"})


def test_huggingface_hub_loads_the_model_card(audit: biasamp.Audit) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed: make apart")
    for name in ("org/model", HOSTILE):
        card = hub.ModelCard(audit.to_model_card(name=name, dataset="org/data"))
        results = {(one.metric_type, one.metric_args["direction"]): one for one in card.data.eval_results}
        entry = next(row for row in audit.document["metrics"] if row["metric"] == "directional")
        held = results["directional", "A->T"]
        assert held.metric_value == entry["value"]
        assert [held.metric_args["low"], held.metric_args["high"]] == entry["interval"]
        assert held.dataset_name == "org/data"
        assert "Bias amplification" in card.text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the library that reads JSON-LD for it
def test_mlcroissant_validates_the_metadata(audit: biasamp.Audit, tmp_path: Path) -> None:
    mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed: make apart")
    known = {
        "license": "https://creativecommons.org/licenses/by/4.0/",
        "url": "https://example.org/data",
        "citeAs": "Somebody (2026)",
        "datePublished": "2026-01-01",
        "version": "1.0.0",
    }
    audit.to_croissant(tmp_path / "croissant.json", name=HOSTILE, metadata=known)
    held = mlc.Dataset(jsonld=tmp_path / "croissant.json").metadata
    assert not held.ctx.issues.errors
    assert not held.ctx.issues.warnings
    assert held.data_annotation_protocol == ["Labels of g: perceived by annotators"]
    assert [f.text for f in audit.findings if f.kind == "finding"] == held.data_biases[:-1]
    assert held.data_limitations


def test_the_metadata_without_its_reader(audit: biasamp.Audit) -> None:
    held = json.loads(audit.to_croissant(metadata={"license": "MIT"}))
    assert held["license"] == "MIT"
    assert held["rai:personalSensitiveInformation"] == ["The protected attributes g are columns of the data."]


def test_the_headings_of_the_ai_act(audit: biasamp.Audit) -> None:
    text = audit.to_ai_act()
    for heading in (
        "Annex IV, point 2(g)",
        "Article 10(2)(f)",
        "### Groups",
        "### Limits",
        "### Foreseeable bias",
        "### Data used",
    ):
        assert heading in text
    for entry in audit.document["metrics"]:
        if entry["value"] is not None:
            assert f"{abs(entry['value']):.4f}" in text
    for word in ("compliant", "compliance", "conforms", "in line with"):
        assert word not in text.lower()


OFFLINE = """
import sys, wandb
import biasamp
from biasamp.integrations.wandb import log_audit

audit = biasamp.Audit.load(sys.argv[1])
try:
    log_audit(audit)
except ValueError as error:
    assert "there is no active run" in str(error)
else:
    raise AssertionError("logged without a run")
with wandb.init(project="test", dir=sys.argv[2]) as run:
    log_audit(audit, run=run, step=2)
"""


def test_weights_and_biases_offline(audit: biasamp.Audit, tmp_path: Path) -> None:
    """A run without a network, in a process of its own: its file is whole when the process has ended."""
    pytest.importorskip("wandb", reason="wandb is not installed: make apart")
    audit.save(tmp_path / "audit.json")
    environment = {**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true"}
    words = [sys.executable, "-c", OFFLINE, str(tmp_path / "audit.json"), str(tmp_path)]
    subprocess.run(words, check=True, env=environment, timeout=300)
    (kept,) = tmp_path.rglob("*.wandb")
    raw = kept.read_bytes()
    for name, value in audit.to_dict(flat=True).items():
        assert f"bias/{name}".encode() in raw
        assert json.dumps(value).encode() in raw
    for name in (b"bias/metrics", b"bias/pairs", b"bias-audit", b"audit.json.gz", b"report.html"):
        assert name in raw


def test_the_scorer_of_weave_against_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weave has no mode without a network: a base class and a decorator that does nothing stand for it."""
    stand_in = types.ModuleType("weave")
    stand_in.Scorer = type("Scorer", (), {})  # type: ignore[attr-defined]
    stand_in.op = lambda function: function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "weave", stand_in)
    from biasamp.integrations.weave import bias_scorer

    data = columns(said=0.3)
    scorer: Any = bias_scorer("g", "t", output="label")
    rows = [
        scorer.score(output={"label": said}, g=group, t=truth)
        for group, truth, said in zip(data["g"], data["t"], data["p"], strict=True)
    ]
    assert scorer.summarize(rows)["value"] == biasamp.directional(data["g"], data["t"], data["p"]).value
    assert sum(row["right"] for row in rows) == sum(a == b for a, b in zip(data["t"], data["p"], strict=True))


def test_sarif_has_a_result_for_every_check_at_its_line() -> None:
    checks = (
        Check(rule="limit", outcome="pass", reason="fine", metric="directional", attribute="g", line=7),
        Check(rule="limit", outcome="fail", reason=f"too much {HOSTILE}", metric="directional", attribute="h", line=12),
        Check(rule="evidence", outcome="not enough evidence", reason="few records", attribute="g"),
    )
    text = Verdict(checks, policy="policy.toml", notes=("a note",)).to_sarif(policy_path="ci/my policy.toml")
    held = json.loads(text)
    assert held["version"] == "2.1.0"
    (run,) = held["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [(row["kind"], row["level"]) for row in run["results"]] == [
        ("fail", "error"),
        ("open", "warning"),
        ("pass", "none"),
    ]
    for row in run["results"]:
        assert rules[row["ruleIndex"]] == row["ruleId"]
        (place,) = row["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "ci/my%20policy.toml"
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 12
    assert len({row["partialFingerprints"]["biasamp/v1"] for row in run["results"]}) == 3
    assert run["invocations"][0]["exitCode"] == 1


def test_a_saved_audit_is_exported_by_the_command(audit: biasamp.Audit, tmp_path: Path) -> None:
    from biasamp.cli import group

    audit.save(tmp_path / "a.json")
    names = {"--model-card": "README.md", "--croissant": "c.json", "--ai-act": "annex.md"}
    words = [str(part) for flag, name in names.items() for part in (flag, tmp_path / name)]
    group.main(["export", str(tmp_path / "a.json"), *words, "--name", "m"], prog_name="biasamp", standalone_mode=False)
    assert (tmp_path / "README.md").read_text().startswith("---\nmodel-index: ")
    assert json.loads((tmp_path / "c.json").read_text())["@type"] == "sc:Dataset"
    assert "Annex IV" in (tmp_path / "annex.md").read_text()
