"""The policy that ``check --init`` writes names what an audit found."""

from __future__ import annotations

import tomllib

import biasamp
from biasamp.policy.template import policy_text


def test_the_pair_that_is_amplified_most_stands_beside_its_limit(amplifying: biasamp.Audit) -> None:
    text = policy_text(amplifying, {"attributes": "g", "tasks": "t", "task_predictions": "p"})
    limits = tomllib.loads(text)["limit"]
    assert any(limit.get("pairs") is True for limit in limits)
    pairs = next(entry["pairs"] for entry in amplifying.document["metrics"] if entry["metric"] == "directional")
    top = max(pair["amplification"] for pair in pairs)
    assert f"{top:+.3f}" in next(line for line in text.splitlines() if "→" in line)
