"""The recipe "add an amplification metric" of docs/architecture.md, followed step by step with the largest pair.

A metric of its own file would hold what stands here between the lines: the formula, what it computes when it is looked at,
and a function from the counts of a direction to a result. Its entry and one line of the loop are all that an audit needs.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

import biasamp
from amplified import columns
from biasamp.amplification.directional import Directional
from biasamp.amplification.result import Amplification, Estimate
from biasamp.auditing import measuring
from biasamp.counts.pair import PairCounts
from biasamp.report.audit_page import report_document
from biasamp.report.terminal import show_audit
from biasamp.resampling.intervals import Intervals
from biasamp.resampling.statistics_of_bags import FixedSigns, Redrawn
from biasamp.results import Table
from biasamp.results.metric_registry import METRICS, Metric, register

# 1. The metric's own file: the formula, its estimate, and the function from counts to a result.


@dataclass(frozen=True, eq=False)
class LargestPair(Estimate):
    """The largest size of the amplification over pairs."""

    of: Directional

    def formula(self, counts: PairCounts) -> NDArray[np.float64]:
        """The value of counts: those of the data, or of many resamples at once."""
        delta = (counts.joint_predicted - counts.joint_truth) / counts.given
        return np.nanmax(np.abs(self.of.signs(counts) * delta), axis=(-2, -1))

    def pairs(self) -> Table:
        """One row for each pair."""
        return self.of.pairs()

    def interval(self, of: str) -> Intervals:
        """What makes the intervals: the resampled maximum, with the influence of the pair that is largest."""
        size = np.abs(np.nan_to_num(self.of.values.amplification))
        largest = size == size.max()
        bags = self.of.sample.bags
        return Intervals(Redrawn(FixedSigns(bags, self.of.factor, None, largest), bags, self.formula))


def largest_pair(subject: Any, direction: str, settings: Any) -> Amplification:
    sample = subject.sample(direction)
    estimate = LargestPair(Directional(sample, subject.base_source(direction)))
    value = float(estimate.formula(sample.counts))
    return Amplification("largest_pair", value, float(sample.records), direction, _estimate=estimate)


# 2. Its entry in the registry.
ENTRY = Metric(
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
    paired=True,
)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    register(ENTRY)
    # 3. Its line in the loop over metrics.
    monkeypatch.setitem(measuring.DIRECTED, "largest_pair", largest_pair)
    yield
    del METRICS["largest_pair"]


@pytest.mark.usefixtures("added")
def test_a_metric_that_is_added_shows_up_everywhere(tmp_path: Any) -> None:
    data = columns()
    audit = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", resamples=200)
    entry = next(entry for entry in audit.document["metrics"] if entry["metric"] == "largest_pair")
    # 4. A value from outside: the pairs of the directional result, by hand.
    pairs = biasamp.directional(data["g"], data["t"], data["p"]).pairs
    assert entry["value"] == pytest.approx(np.abs(pairs["amplification"]).max())
    low, high = entry["interval"]
    assert low <= entry["value"] <= high
    assert json.loads(audit.to_json())["registry"]["largest_pair"]["title"] == ENTRY.title
    out = io.StringIO()
    show_audit(audit, Console(file=out, width=160))
    assert "largest pair" in out.getvalue()
    assert "largest pair" in audit.to_markdown()
    assert "largest_pair" in json.dumps(report_document(audit))
    assert any("largest_pair" in name for name in audit.to_dict(flat=True))
    (tmp_path / "policy.toml").write_text('[[limit]]\nmetric = "largest_pair"\ndirection = "A->T"\nmax = 0.99\n')
    assert biasamp.Policy.load(tmp_path / "policy.toml").check(audit).passed
    other = biasamp.audit(
        {**data, "p": copy(data["t"])}, attributes="g", tasks="t", task_predictions="p", resamples=200
    )
    compared = biasamp.compare({"first": audit, "second": other})
    assert "largest_pair" in json.dumps(compared.to_dict())
