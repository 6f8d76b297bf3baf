"""
A size of changes is never zero
===============================

Multi is a mean of absolute changes, so a model that errs at random and amplifies nothing has a value above zero. The result says
what such a model would show: its floor.
"""

import matplotlib.pyplot as plt
import numpy as np

import biasamp

rng = np.random.default_rng(0)
sizes = [100, 200, 400, 800, 1600, 3200]
measured, floors = [], []
for n in sizes:
    group = rng.choice(["a", "b"], n)
    truth = (rng.random((n, 20)) < 0.3).astype(int)
    wrong = rng.random((n, 20)) < 0.05  # errors that depend on nothing
    result = biasamp.multi(group, truth, np.where(wrong, 1 - truth, truth), max_size=1, itemsets="subsets")
    measured.append(result.value)
    floors.append(result.floor)

# %%
# The value falls with the number of records though nothing about the model changes. What it has above its floor is what counts.
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.loglog(sizes, measured, "o-", label="Multi")
axes.loglog(sizes, floors, "s--", label="its floor")
axes.set_xlabel("records")
axes.set_ylabel("mean absolute change")
axes.legend()
figure.tight_layout()
