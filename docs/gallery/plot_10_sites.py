"""
Three hospitals, no record leaves the house
===========================================

Counts add up. Each site counts its own records, sends the counts, and the audit of the sum is the audit of all records, to the bit.
"""

import matplotlib.pyplot as plt
import numpy as np

import biasamp

rng = np.random.default_rng(6)
roles = {"attributes": "sex", "tasks": "treated", "task_predictions": "advised", "record": "id"}


def site(name: str, n: int) -> dict[str, np.ndarray]:
    """The records of one hospital; ids carry its name, so that they differ between sites."""
    sex = rng.choice(["female", "male"], n)
    treated = (rng.random(n) < np.where(sex == "male", 0.55, 0.4)).astype(int)
    advised = np.where((sex == "female") & (rng.random(n) < 0.1), 0, treated)
    return {
        "id": np.array([f"{name}{number}" for number in range(n)]),
        "sex": sex,
        "treated": treated,
        "advised": advised,
    }


sites = [site("north", 900), site("east", 1400), site("west", 600)]
counts = [biasamp.count(records, **roles) for records in sites]
merged = biasamp.audit(sum(counts))

# %%
# The same audit from all records in one place:
pooled = {name: np.concatenate([records[name] for records in sites]) for name in sites[0]}
whole = biasamp.audit(pooled, **roles)
for one, other in zip(merged.document["metrics"], whole.document["metrics"], strict=True):
    assert (one["value"], one["interval"]) == (other["value"], other["interval"])
print(len(whole.document["metrics"]), "figures and intervals are the same")

# %%
merged

# %%
# What each site would see alone, and what they see together:
figure, axes = plt.subplots(figsize=(6, 2.4), layout="constrained")
for row, held in enumerate([sum(counts), *counts]):
    found = next(biasamp.audit(held, metrics=["directional"]).metrics.rows())
    axes.plot([found["low"], found["high"]], [row, row], linewidth=4, color="tab:orange" if row == 0 else "tab:blue")
axes.axvline(0, color="black")
axes.set_yticks(range(4), ["together", "north", "east", "west"])
axes.set_xlabel("directional amplification, 95% intervals")
figure.show()
