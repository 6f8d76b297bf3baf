"""What holds where nothing is said: the same level, resamples and seed everywhere, and what each function adds to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import biasamp

GROUP = ["a", "b", "a", "b", "b", "a", "a", "b"] * 3
TRUTH = [1, 0, 1, 1, 0, 0, 1, 0] * 3
SAID = [1, 0, 1, 0, 0, 1, 1, 0] * 3
SCORES = [0.9, 0.2, 0.8, 0.4, 0.3, 0.6, 0.7, 0.1] * 3
USUAL = {"level": 0.95, "resamples": 1000, "seed": 0}
LEVEL = {"level": 0.95}


def made(name: str) -> Any:
    """A result, and so a use, of each function."""
    calls: dict[str, Callable[[], Any]] = {
        "balance": lambda: biasamp.balance([["x"]] * 4, ["a", "b"] * 2),
        "calibrate": lambda: biasamp.calibrate(SCORES[:8], rate=0.5),
        "choose_thresholds": lambda: biasamp.choose_thresholds(SCORES, GROUP, TRUTH, limit=0.3),
        "directional": lambda: biasamp.directional(GROUP, TRUTH, SAID),
        "impact": lambda: biasamp.impact(SAID, {"sex": GROUP}),
        "label_errors": lambda: biasamp.label_errors(GROUP, TRUTH, SAID, 0.0, resamples=20),
        "mals": lambda: biasamp.mals(GROUP, TRUTH, GROUP[:], SAID),
        "mean_amplification": lambda: biasamp.mean_amplification(GROUP, SCORES, predicted=SCORES[:]),
        "multi": lambda: biasamp.multi(GROUP, TRUTH, SAID),
        "parity": lambda: biasamp.parity(GROUP, TRUTH, SAID),
        "sweep": lambda: biasamp.sweep(SCORES, GROUP, TRUTH),
        "decompose": lambda: biasamp.decompose(GROUP, TRUTH, SCORES, strata=TRUTH[4:] + TRUTH[:4]),
    }
    return calls[name]()


DEFAULTS: dict[str, dict[str, Any]] = {
    "balance": {"ratio": None, "seed": 0},
    "calibrate": {"weights": None},
    "choose_thresholds": {"limit_on": "mean", "by_group": False, "cost": (1.0, 1.0), "held_out": None},
    "directional": {"signs": "plugin", "ties": "zero", "unseen": "invented", "train": None, "base": None},
    "impact": {"small": 0.02, "level": 0.95, "suppress": None, "layout": None, "counts": None},
    "label_errors": {"side": "given", **USUAL},
    "mals": {"unseen": "invented", "train": None},
    "mean_amplification": {"level": 0.95, "train": None},
    "multi": {"itemsets": "records", "min_size": 1, "max_size": None, "min_support": 1, "unseen": "invented"},
    "parity": {},
    "sweep": {"span": None, "threshold": None},
    "decompose": {},
}
METHODS: dict[tuple[str, str], dict[str, Any]] = {
    ("choose_thresholds", "to_dict"): {"points": 1000},
    ("directional", "bounds"): LEVEL,
    ("directional", "confidence_interval"): {**USUAL},
    ("directional", "quiet_interval"): {**USUAL},
    ("directional", "to_dict"): {**USUAL, "flat": False},
    ("impact", "published"): {"limit": 10},
    ("impact", "to_markdown"): {"level": 2},
    ("mean_amplification", "confidence_interval"): {**USUAL, "of": "value"},
    ("parity", "to_dict"): {"flat": False},
    ("sweep", "rates"): LEVEL,
    ("sweep", "band"): LEVEL,
    ("sweep", "confidence_interval"): {**USUAL, "method": "bootstrap"},
    ("sweep", "to_dict"): {"points": 1000, "groups": False},
    ("sweep", "steps"): {"points": 300, "level": 0.95, "most_groups": 60},
    ("sweep", "to_html"): LEVEL,
    ("decompose", "bounds"): LEVEL,
    ("decompose", "to_dict"): {**USUAL, "pairs": True},
}


def named(function: Any, expected: dict[str, Any]) -> dict[str, Any]:
    own = inspect.signature(function).parameters
    return {name: own[name].default for name in expected}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name: str) -> None:
    assert named(getattr(biasamp, name), DEFAULTS[name]) == DEFAULTS[name]
    result = made(name)
    for (whose, method), expected in METHODS.items():
        if whose == name:
            assert named(getattr(result, method), expected) == expected
