"""Flat figures: the same numbers as in the document, under names that trackers accept."""

from __future__ import annotations

import re

import numpy as np

import biasamp
from amplified import audited, columns

# MLflow's rule for names; Weights & Biases and TensorBoard accept more.
ACCEPTED = re.compile(r"[\w.\- /:]+", re.ASCII)


def test_an_audit() -> None:
    audit = audited(columns(said=0.5))
    flat = audit.to_dict(flat=True)
    entry = audit.document["metrics"][0]
    assert flat["g/directional_A-to-T"] == 0.075
    assert [flat[f"g/directional_A-to-T_{end}"] for end in ("low", "high")] == entry["interval"]
    assert flat["g/multi_A-to-T_floor"] == audit.document["metrics"][1]["floor"]
    assert all(type(value) is float and np.isfinite(value) for value in flat.values())
    assert all(ACCEPTED.fullmatch(name) for name in flat)
    # No name is a folder of another.
    assert not any(other.startswith(f"{name}/") for name in flat for other in flat)


def test_names_of_strangers_stay_apart() -> None:
    data = columns()
    odd = {"a>b": data["g"], "a<b": data["g"], "..": data["g"], "t": data["t"], "p": data["p"]}
    audit = audited(odd, attributes=["a>b", "a<b", ".."], metrics=["directional"])
    flat = audit.to_dict(flat=True)
    values = [name for name in flat if re.search(r"directional_A-to-T(\.\d)?$", name)]
    assert len(values) == 3
    assert all(ACCEPTED.fullmatch(name) and ".." not in name for name in flat)


def test_single_results() -> None:
    data = columns(said=0.5)
    result = biasamp.directional(data["g"], data["t"], data["p"])
    low, high = result.confidence_interval()
    flat = result.to_dict(flat=True)
    assert (flat["directional"], flat["directional_low"], flat["directional_high"]) == (0.075, low, high)
    parity = biasamp.parity(data["g"], data["t"], data["p"]).to_dict(flat=True)
    assert parity["1/fpr_difference"] == 0.5
    assert set(biasamp.dpa(data["g"], data["t"], data["p"], trials=5).to_dict(flat=True)) >= {
        "dpa",
        "dpa_low",
        "dpa_gain",
    }


def test_a_comparison() -> None:
    flat = biasamp.compare({"old": audited(columns()), "new": audited(columns(said=0.5))}).to_dict(flat=True)
    assert flat["new/g/directional_A-to-T_difference"] == 0.075
