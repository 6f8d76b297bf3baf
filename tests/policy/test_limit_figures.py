"""What stands behind a figure that a limit judges, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import biasamp
from biasamp.policy import Limit, Policy
from biasamp.policy.limit_figures import Held, unseen_part


def pair(support: int, half: float) -> dict[str, Any]:
    return {"support": support, "low": -half, "high": half}


def test_the_part_of_errors_that_were_not_seen(amplifying: biasamp.Audit) -> None:
    """Two pairs of 100 and 50 records: a variance each, in which 2 / n**2 stands for one error more of either kind."""
    held = Held(amplifying, frozenset(), 0, 0)
    z = norm.ppf(0.975)
    pairs = [pair(100, 0.08), pair(50, 0.15)]
    unseen = [2.0 / n**2 for n in (100, 50)]
    seen = [(half / z) ** 2 - one for half, one in zip((0.08, 0.15), unseen, strict=True)]
    for more in (1.0, 3.0):
        expected = more * sum(unseen) / (sum(seen) + more * sum(unseen))
        assert unseen_part(pairs, held, more) == pytest.approx(expected, rel=1e-12)  # type: ignore[arg-type]
    # Nothing was measured, or nothing can err: nothing is unseen.
    for none in ([], [pair(0, 0.1)], [{**pair(9, 0.1), "low": None}]):
        assert unseen_part(none, held, 1.0) == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("many", "words"), [(2, "in no pair: t=z0, t=z1"), (5, "in no pair: t=z0, t=z1, t=z2 and 2 more")]
)
def test_labels_that_only_the_model_has_stand_in_the_verdict(many: int, words: str) -> None:
    rng = np.random.default_rng(3)
    truth = rng.choice(["a", "b", "c"], 600)
    said = truth.astype(object)
    said[: 10 * many] = [f"z{i % many}" for i in range(10 * many)]
    data = {"g": rng.choice(["w", "m"], 600), "t": truth, "p": said}
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
    audit = biasamp.audit(data, **roles, metrics=["directional"], resamples=50)
    verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.3}]).check(audit)
    (said_of,) = {w for check in verdict.checks for w in check.cautions if "the truth never has" in w}
    assert said_of.endswith(words)


@pytest.mark.parametrize(
    ("outcome", "ends"), [("t=0", (-0.18465291065730546, 0.1388217252314241)), ("t=1", (None, None))]
)
def test_an_audit_of_0_1_has_an_interval_of_its_worst_outcome_alone(outcome: str, ends: Any) -> None:
    """As the file says it: that of t=0. Without one there is no evidence, however small the difference."""
    saved = Path(__file__).parents[1] / "auditing" / "saved" / "both-0.1.json.gz"
    limit = Limit(metric="tpr_difference", attribute="gender", outcome=outcome, max=0.2)
    (check,) = (check for check in Policy(limits=[limit]).check(saved).checks if check.metric == "tpr_difference")
    assert (check.low, check.high) == ends
    assert check.outcome == ("pass" if ends[0] else "not enough evidence")
