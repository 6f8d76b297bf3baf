"""The populations that the suite draws samples of: nulls and known truths."""

from __future__ import annotations

from .population import Case

# What is cheap enough for many tasks, and for scores, of which attackers draw labels.
FEW = ("directional", "multi", "parity")
# Attackers that read many labels learn anew in every half of the records: one case in some has them.
_NO_LEAKAGE = ("directional", "multi", "dpa", "parity")
CASES = (
    *(Case(f"rates kept, n {n}", n) for n in (60, 500, 5000)),
    *(Case(f"weak, rates kept, n {n}", n, lean=0.02) for n in (60, 500, 5000)),
    *(Case(f"strong, rates kept, n {n}", n, lean=0.15) for n in (60, 500, 5000)),
    *(Case(f"noise of truth, n {n}", n, kept=False) for n in (60, 500, 5000)),
    *(Case(f"strong, noise of truth, n {n}", n, lean=0.15, kept=False) for n in (60, 500)),
    *(Case(f"balanced, follows the group, n {n}", n, tied=0.08) for n in (60, 500, 5000)),
    Case("2% group", 1000, groups=(0.98, 0.02)),
    Case("2% group, strong", 1000, lean=0.15, groups=(0.98, 0.02)),
    Case("five groups", 1000, groups=(0.3, 0.3, 0.2, 0.15, 0.05)),
    Case("eight groups, noise of truth", 1000, groups=(0.125,) * 8, kept=False, metrics=FEW),
    Case("eight groups, 20 tasks", 2000, 20, groups=(0.125,) * 8, kept=False, metrics=("directional", "parity")),
    Case("few errors", 500, 5, lean=0.15, errors=0.02, metrics=("directional", "parity")),
    Case("clusters of 5", 1000, cluster=5),
    Case("clusters of 5, follows the group", 1000, cluster=5, tied=0.08),
    Case("clusters of 5, strong", 1000, lean=0.15, cluster=5),
    Case("weights", 500, weighted=True),
    Case("weights, strong", 500, lean=0.15, weighted=True),
    Case("scores", 500, soft=True, metrics=FEW),
    Case("scores, strong", 500, lean=0.15, soft=True, metrics=FEW),
    Case("both directions", 500, both=True),
    Case("both directions, strong, unequal", 1000, lean=0.15, groups=(0.7, 0.3), both=True),
    Case("amplifies", 500, lean=0.15, moved=0.05),
    Case("reduces", 500, lean=0.15, moved=-0.05),
    Case("20 tasks", 500, 20),
    Case("20 tasks, weak", 500, 20, lean=0.02, metrics=_NO_LEAKAGE),
    Case("20 tasks, strong", 500, 20, lean=0.15),
    Case("20 tasks, noise of truth", 500, 20, kept=False, metrics=_NO_LEAKAGE),
    Case("20 tasks, follows the group", 500, 20, tied=0.05, metrics=_NO_LEAKAGE),
    Case("20 tasks, clusters of 5", 1000, 20, cluster=5, metrics=_NO_LEAKAGE),
    Case("20 tasks, weights", 500, 20, weighted=True, metrics=_NO_LEAKAGE),
    Case("20 tasks, scores", 500, 20, soft=True, metrics=FEW),
    Case("20 tasks, n 60", 60, 20),
    Case("20 tasks, 2% group", 1000, 20, groups=(0.98, 0.02), metrics=_NO_LEAKAGE),
    Case("80 tasks", 500, 80, metrics=FEW),
    Case("80 tasks, weak", 1000, 80, lean=0.02, metrics=FEW),
    Case("20 tasks, 2% group, n 3000", 3000, 20, groups=(0.98, 0.02), metrics=("directional", "parity")),
    Case("train labels, weak", 500, lean=0.02, trained=True, metrics=FEW),
    Case("20 tasks, train labels, weak", 500, 20, lean=0.02, trained=True, metrics=("directional", "parity")),
    Case("rare errors, one way", 200, lean=0.15, moved=0.01, errors=0.0, metrics=FEW),
    Case("rare errors, clusters of 5", 500, lean=0.15, moved=0.02, errors=0.0, cluster=5, metrics=FEW),
    Case("clusters of 20", 1000, lean=0.15, moved=0.03, cluster=20, metrics=FEW),
    Case("2% group, weights", 2000, lean=0.15, groups=(0.98, 0.02), weighted=True, metrics=FEW),
    Case("2% group, clusters of 5", 5000, lean=0.15, groups=(0.98, 0.02), cluster=5, metrics=FEW),
    Case("80 tasks, n 5000", 5000, 80, metrics=("directional", "parity")),
)
