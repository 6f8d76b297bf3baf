"""
A gate that needs evidence
==========================

A policy holds limits. A check passes, fails, or says that the records are not enough to tell.
"""

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
policy.check(policy.audit(records(4000, 0.03)))

# %%
# The same model, but sixty records:
policy.check(policy.audit(records(60, 0.03)))

# %%
# A model that misses three of ten women's positives:
policy.check(policy.audit(records(4000, 0.3)))
