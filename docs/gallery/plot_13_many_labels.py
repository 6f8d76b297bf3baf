"""
Images with many labels: which pairs are behind the figure?
===========================================================

With forty yes/no labels the aggregate says little. The pairs say where it comes from, each with an interval, and with a q-value that
counts how many were looked at.
"""

import numpy as np

import biasamp

rng = np.random.default_rng(9)
n, names = 3000, [f"object {number}" for number in range(40)]
group = rng.choice(["woman", "man"], n)
lean = rng.choice([-0.08, 0.0, 0.08], 40)
truth = rng.random((n, 40)) < 0.2 + np.where(group[:, None] == "man", lean, -lean)
# Three objects are predicted along their lean more often than they are there.
model = truth.copy()
amplified = np.flatnonzero(lean > 0)[:3]
for place in amplified:
    model[:, place] |= (group == "man") & (rng.random(n) < 0.08)
model ^= rng.random((n, 40)) < 0.01

data = {"group": group} | {name: truth[:, place].astype(int) for place, name in enumerate(names)}
data |= {f"{name}, predicted": model[:, place].astype(int) for place, name in enumerate(names)}
audit = biasamp.audit(
    data,
    attributes="group",
    tasks=names,
    task_predictions=[f"{name}, predicted" for name in names],
    metrics=["directional"],
)
print("planted:", [names[place] for place in amplified])
audit

# %%
# The pairs with the most evidence:
pairs = audit.to_frame("pairs", "pandas")
pairs.sort_values("q").head(6)[["given", "outcome", "delta", "low", "high", "q"]].round(4)

# %%
# The same as a figure:
next(iter(audit.plot().values()))
