"""No limit is judged by a handful of clusters, whatever many records they hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import biasamp
from biasamp.amplification.bounds import standard_errors
from biasamp.results.interval import FEWEST_CLUSTERS

ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p", "cluster": "c"}


def audit(clusters: int) -> biasamp.Audit:
    rng = np.random.default_rng(0)
    n = 3000
    group = rng.choice(["w", "m"], n)
    truth = (rng.random(n) < np.where(group == "w", 0.7, 0.3)).astype(int)
    data = {"g": group, "t": truth, "p": np.where(rng.random(n) < 0.03, 1 - truth, truth), "c": np.arange(n) % clusters}
    return biasamp.audit(data, **ROLES, metrics=["directional", "parity"], resamples=100)


@pytest.mark.parametrize(
    ("clusters", "outcome"), [(2, "not enough evidence"), (9, "not enough evidence"), (60, "pass")]
)
@pytest.mark.parametrize("limit", [{"metric": "directional", "max": 0.2}, {"metric": "tpr_difference", "max": 0.5}])
def test_a_limit_is_judged_by_clusters_enough(clusters: int, outcome: str, limit: dict[str, object]) -> None:
    verdict = biasamp.Policy(limits=[limit]).check(audit(clusters))
    assert verdict.outcome == outcome
    if outcome != "pass":
        assert "fewer than 10 clusters" in verdict.undecided[0].reason


def test_two_clusters_are_cautioned_of() -> None:
    (entry,) = [e for e in audit(2).document["metrics"] if e["metric"] == "directional"]
    assert any("about 2 clusters (about 1 degrees" in words for words in entry["cautions"])


def test_the_value_alone_may_be_judged() -> None:
    limit = {"metric": "directional", "max": 0.2, "on": "value"}
    assert biasamp.Policy(limits=[limit]).check(audit(4)).outcome == "pass"


def test_with_so_many_clusters_a_bound_misses_no_more_often_than_simulations_allow() -> None:
    """Student's tail beyond the reach of a bound at 95%: 6.2% with the fewest clusters, 11.6% with three."""
    missed = [stats.t.sf(standard_errors(0.95), clusters - 1) for clusters in (FEWEST_CLUSTERS, 3)]
    assert missed[0] < 0.065
    assert missed[1] == pytest.approx(0.116, abs=0.001)
