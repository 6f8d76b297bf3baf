"""Association results for the explorer's tests: skewed labels, overlapping identities, names of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

import biasamp
from browser import HOSTILE

IDENTITIES = ("man", "woman", "child")


def label_sets(seed: int, identities: int, labels: int = 120, records: int = 3000) -> list[list[str]]:
    """Records as lists of labels; identities overlap, and every seventh label shuns one of them."""
    rng = np.random.default_rng(seed)
    names = IDENTITIES[:identities]
    rates = 0.5 / np.arange(1, labels + 1) ** 0.8
    out = []
    for _ in range(records):
        held = [name for name in names if rng.random() < 0.3]
        there = rng.random(labels) < rates
        for i in np.flatnonzero(there):
            if i % 7 == 0 and held and held[0] == names[i // 7 % identities] and rng.random() < 0.8:
                there[i] = False
        out.append([*held, *(f"label {i:03d}" for i in np.flatnonzero(there))])
    return out


def result(seed: int = 0, identities: int = 2, **options: Any) -> Any:
    """An association result of generated records."""
    return biasamp.associate(label_sets(seed, identities), list(IDENTITIES[:identities]), **options)


def hostile() -> Any:
    """An association result whose labels and identities are named by attackers."""
    rng = np.random.default_rng(5)
    records = []
    for i in range(600):
        held = [HOSTILE[0] if i % 2 else HOSTILE[1]]
        records.append([*held, *(name for name in HOSTILE[2:] if rng.random() < 0.4)])
    return biasamp.associate(records, [HOSTILE[0], HOSTILE[1]])
