"""An audit in every form: compare, over_runs and the command line take them alike."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import biasamp
from biasamp.auditing.as_audit import as_audit
from biasamp.cli import group

ROLES = {"attributes": "g", "tasks": "t", "record": "id"}


def data(seed, size=300):
    rng = np.random.default_rng(seed)
    g = rng.choice(["w", "m"], size)
    t = (rng.random(size) < np.where(g == "w", 0.6, 0.3)).astype(int)
    said = {name: np.where(rng.random(size) < 0.85, t, 1 - t) for name in ("old", "new")}
    return {"id": np.arange(size), "g": g, "t": t, **said}


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """One model's audit in four forms, and the other's."""
    folder, held = tmp_path_factory.mktemp("forms"), data(0)
    out = {}
    for name in ("old", "new"):
        made = biasamp.audit(held, **ROLES, task_predictions=name)
        counts = biasamp.count(held, **ROLES, task_predictions=name)
        made.save(folder / f"{name}.json.gz")
        counts.save(folder / f"{name}.parquet")
        out[name] = [made, folder / f"{name}.json.gz", counts, str(folder / f"{name}.parquet")]
    return out


def test_every_form_is_the_same_audit(forms):
    audits = [as_audit(form) for form in forms["new"]]
    assert all(audit.document["metrics"] == audits[0].document["metrics"] for audit in audits)
    compared = [biasamp.compare({"old": a, "new": b}) for a, b in zip(forms["old"], forms["new"], strict=True)]
    assert all(result.document == compared[0].document for result in compared)
    assert all(row["paired"] for row in compared[0].table.rows() if row["metric"] == "directional")


def test_the_command_line_compares_saved_counts(forms):
    by_audit, by_counts = (
        CliRunner().invoke(group, ["compare", f"old={forms['old'][i]}", f"new={forms['new'][i]}", "--json", "-"])
        for i in (1, 3)
    )
    assert by_counts.exit_code == 0, by_counts.output
    assert json.loads(by_counts.output) == json.loads(by_audit.output)


def test_over_runs_takes_every_form(forms):
    chosen = {"metric": "directional", "direction": "A->T"}
    runs = [biasamp.over_runs([a, b], **chosen) for a, b in zip(forms["old"], forms["new"], strict=True)]
    held = data(0)
    direct = [biasamp.directional(held["g"], held["t"], held[name]) for name in ("old", "new")]
    for run in runs:
        assert run.values == pytest.approx([result.value for result in direct], abs=1e-15)
        assert (run.metric, run.direction) == ("directional", "A->T")
        assert run.sampling_variance == pytest.approx(runs[0].sampling_variance)
        assert len(run.pairs) == len(direct[0].pairs)
        wanted = (direct[0].pairs["amplification"] + direct[1].pairs["amplification"]) / 2
        assert run.pairs["amplification"] == pytest.approx(wanted)
    seeds = np.var([result.value for result in direct], ddof=1)
    assert runs[0].seed_variance == pytest.approx(seeds)


def test_over_runs_says_what_can_be_chosen(forms):
    pair = [forms["old"][0], forms["new"][0]]
    with pytest.raises(
        ValueError, match=r"choose one with metric=, direction= and attribute= among .*g directional A->T"
    ):
        biasamp.over_runs(pair)
    with pytest.raises(ValueError, match=r"results\[0\] is an audit with 0 figures for metric='mals'"):
        biasamp.over_runs(pair, metric="mals")
    with pytest.raises(TypeError, match=r"results\[1\] is a float; an audit, the path of a saved one, counts"):
        biasamp.over_runs([pair[0], 0.1], metric="multi")
    with pytest.raises(TypeError, match="metric= chooses a figure of audits"):
        biasamp.over_runs([0.1, 0.2], metric="multi")
    with pytest.raises(TypeError, match=r"audits\['new'\]\[1\] is a float; an audit, the path"):
        biasamp.compare({"old": pair[0], "new": [pair[1], 0.5]})
    with pytest.raises(ValueError, match=r"audits\['new'\] holds no run"):
        biasamp.compare({"old": pair[0], "new": []})


def test_a_comparison_says_which_audit_lacks_what():
    held = data(1)
    old = biasamp.audit(held, **ROLES, task_predictions="old", metrics=["directional", "multi"])
    new = biasamp.audit(held, **ROLES, task_predictions="new", metrics=["directional", "leakage"])
    notes = " ".join(biasamp.compare({"old": old, "new": new}).notes)
    assert "not compared, since new lacks it: g multi A->T" in notes
    assert "not compared, since old lacks it: g leakage" in notes
