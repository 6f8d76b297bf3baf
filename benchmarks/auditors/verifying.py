"""Whether ``verify`` notices one changed value among a million records, whatever its role, and what it costs.

``python -m benchmarks.auditors.verifying 1000000`` has so many records.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

import biasamp

ROLES: dict[str, Any] = {
    "attributes": "group",
    "tasks": "truth",
    "task_predictions": "said",
    "task_scores": "score",
    "weights": "weight",
    "record": "id",
    "metrics": ["directional"],
    "resamples": 20,
}


def records(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Records with every role."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["w", "m"], n)
    truth = (rng.random(n) < np.where(group == "w", 0.3, 0.6)).astype(np.int64)
    score = np.round(np.clip(0.6 * truth + 0.4 * rng.random(n), 0, 1), 6)
    return {"id": np.arange(n), "group": group, "truth": truth, "score": score, "said": (score >= 0.5).astype(np.int64),
            "weight": rng.integers(1, 4, n).astype(np.float64)}  # fmt: skip


def _turned(name: str) -> Callable[[dict[str, np.ndarray], int], None]:
    def change(data: dict[str, np.ndarray], at: int) -> None:
        data[name][at] = 1 - data[name][at]

    return change


def _other_group(data: dict[str, np.ndarray], at: int) -> None:
    data["group"][at] = "m" if data["group"][at] == "w" else "w"


def _other_score(data: dict[str, np.ndarray], at: int) -> None:
    """So little that the decision stays, and no count moves."""
    data["score"][at] += 1e-6 if data["score"][at] < 0.5 else -1e-6


def _other_weight(data: dict[str, np.ndarray], at: int) -> None:
    data["weight"][at] += 1.0


def _swapped(data: dict[str, np.ndarray], at: int) -> None:
    """Two records of one group and weight exchange truth, score and prediction: no count moves."""
    alike = (data["group"] == data["group"][at]) & (data["weight"] == data["weight"][at])
    other = int(np.flatnonzero(alike & (data["truth"] != data["truth"][at]))[0])
    for name in ("truth", "said", "score"):
        data[name][[at, other]] = data[name][[other, at]]


def _lost(data: dict[str, np.ndarray], at: int) -> None:
    """One record is left out, and another stands twice under its id."""
    for name in data:
        if name != "id":
            data[name][at] = data[name][at - 1]
    data["truth"][at] = 1 - data["truth"][at]


CHANGES: dict[str, Callable[[dict[str, np.ndarray], int], None]] = {
    "truth": _turned("truth"),
    "prediction": _turned("said"),
    "group": _other_group,
    "score, by a millionth": _other_score,
    "weight": _other_weight,
    "two records swapped": _swapped,
    "a record replaced": _lost,
}


def noticed(n: int) -> dict[str, bool]:
    """Of every change whether it is noticed; that nothing changed must be noticed too."""
    whole = records(n)
    audit = biasamp.audit(whole, **ROLES)
    found = {"nothing": bool(biasamp.verify(audit, whole))}
    for name, change in CHANGES.items():
        data = {column: values.copy() for column, values in whole.items()}
        change(data, 7 * n // 9)
        found[name] = not biasamp.verify(audit, data).same
    return found


def main(arguments: list[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    n = int(given[0]) if given and given[0].isdigit() else 1_000_000
    data = records(n)
    begun = process_time()
    audit = biasamp.audit(data, **ROLES)
    made = process_time()
    biasamp.verify(audit, data)
    print(f"{n:,} records: audit {made - begun:.2f} s of CPU, verify {process_time() - made:.2f} s")
    for name, seen in noticed(n).items():
        print(f"{name:24} {'as it should be' if seen else 'NOT NOTICED'}")


if __name__ == "__main__":
    main()
