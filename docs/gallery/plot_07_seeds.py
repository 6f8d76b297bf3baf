"""
One run decides nothing
=======================

Train the same two kinds of model with several seeds, audit each run on the same test records, and compare kinds, not runs. What seeds move
and what records move are separated.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import biasamp

rng = np.random.default_rng(3)
n = 3000
group = rng.choice(["woman", "man"], n)
skill = rng.normal(size=n)
truth = (skill + np.where(group == "man", 0.4, -0.4) + rng.normal(size=n) > 0).astype(int)
features = np.c_[skill + rng.normal(0, 0.5, n), group == "man", rng.normal(size=n)]
train, test = slice(0, 1500), slice(1500, n)


def audited(model, seed: int) -> biasamp.Audit:
    """The audit of one run; a run sees its own sample of the training records."""
    chosen = np.random.default_rng(seed).integers(0, 1500, 1500)
    predicted = model.fit(features[train][chosen], truth[train][chosen]).predict(features[test])
    records = {"id": np.arange(1500), "group": group[test], "truth": truth[test], "model": predicted}
    roles = {"attributes": "group", "tasks": "truth", "task_predictions": "model", "record": "id"}
    return biasamp.audit(records, **roles, metrics=["directional"])


# %%
# Five runs of each:
linear = [audited(LogisticRegression(), seed) for seed in range(5)]
tree = [audited(DecisionTreeClassifier(max_depth=6, random_state=seed), seed) for seed in range(5)]
comparison = biasamp.compare({"tree": tree, "linear": linear})
comparison

# %%
# Every dot is one run:
figure, axes = plt.subplots(figsize=(6, 2), layout="constrained")
for row, runs in enumerate([tree, linear]):
    axes.plot([run.metrics["value"][0] for run in runs], [row] * len(runs), "o")
axes.set_yticks([0, 1], ["tree", "linear"])
axes.set_ylim(-0.5, 1.5)
axes.set_xlabel("directional amplification")
figure.show()
