"""
A gate that needs evidence
==========================

A policy holds limits. A check passes, fails, or says that the records are not enough to tell.
"""

import matplotlib.pyplot as plt
import numpy as np

import biasamp

policy = biasamp.Policy(
    limits=[{"metric": "directional", "direction": "A->T", "max": 0.03}],
    data={"attributes": "group", "tasks": "truth", "task_predictions": "model"},
)
rng = np.random.default_rng(5)


def records(n: int, missed: float) -> dict[str, np.ndarray]:
    """Women's positives are missed with this rate, men's in one of fifty."""
    group = rng.choice(["woman", "man"], n)
    truth = (rng.random(n) < np.where(group == "man", 0.6, 0.4)).astype(int)
    lost = rng.random(n) < np.where(group == "woman", missed, 0.02)
    return {"group": group, "truth": truth, "model": np.where(lost, 0, truth)}


# %%
# Good enough, and enough records to say so:
good = policy.audit(records(4000, 0.03))
policy.check(good)

# %%
# The same model, but sixty records:
few = policy.audit(records(60, 0.03))
policy.check(few)

# %%
# A model that misses three of ten women's positives:
bad = policy.audit(records(4000, 0.3))
policy.check(bad)

# %%
# The limit and the three intervals. An interval that reaches over the limit decides nothing.
figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
for row, audit in enumerate([bad, few, good]):
    (found,) = audit.metrics.take(audit.metrics["metric"] == "directional").rows()
    axes.plot([found["low"], found["high"]], [row, row], linewidth=4)
axes.axvline(0.03, color="black", linestyle="--")
axes.set_yticks(range(3), ["misses women", "sixty records", "good enough"])
axes.set_xlabel("directional amplification, and its limit")
figure.show()
