"""
Follow a model over months
==========================

A deployed model is counted every month. Has its amplification changed, and since when?
"""

import numpy as np

import biasamp

rng = np.random.default_rng(4)
roles = {"attributes": "group", "tasks": "truth", "task_predictions": "model"}


def month(number: int) -> biasamp.AuditCounts:
    """The counts of one month; from the seventh on the model errs in one group more than it did."""
    group = rng.choice(["woman", "man"], 4000)
    truth = (rng.random(4000) < np.where(group == "man", 0.5, 0.35)).astype(int)
    missed = np.where(group == "woman", 0.05 if number < 7 else 0.25, 0.05)
    model = np.where((truth == 1) & (rng.random(4000) < missed), 0, truth)
    return biasamp.count({"group": group, "truth": truth, "model": model}, **roles)


path = biasamp.trajectory({f"2026-{number:02}": month(number) for number in range(1, 11)})
print(path)

# %%
path.plot()
