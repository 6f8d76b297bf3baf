"""``biasamp metrics`` of the association metrics; tests/cli/test_commands.py has those of audits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from biasamp.association.metrics import METRICS


def test_lists_every_association_metric(run: Any) -> None:
    table = run("metrics").out
    assert all(metric.formula in table for metric in METRICS.values())
    document = json.loads(run("metrics", "--json", "-").out)
    assert [row["name"] for row in document["association_metrics"]] == list(METRICS)


@pytest.mark.parametrize("name", ["npmi_xy", "llr", "tau_b"])
def test_shows_one_in_full(run: Any, name: str) -> None:
    card = " ".join(run("metrics", name).out.replace("│", " ").split())
    metric = METRICS[name]
    for words in (metric.title, metric.formula, metric.words, metric.independent, metric.paper, *metric.cautions):
        assert words in card
    assert ("as printed" in card) == (metric.as_printed is not None)
    (row,) = json.loads(run("metrics", name, "--json", "-").out)["association_metrics"]
    assert row["formula"] == metric.formula
    assert row["low"] == ("-inf" if name == "llr" else -1.0)
