"""
Crossings: where two attributes meet
====================================

A model can treat women and men alike, and the young and the old alike, and still not young women. ``intersections=True`` adds the crossing of
the attributes.
"""

import matplotlib.pyplot as plt
import numpy as np

import biasamp

rng = np.random.default_rng(7)
n = 6000
sex, age = rng.choice(["female", "male"], n), rng.choice(["young", "old"], n)
truth = (rng.random(n) < 0.4).astype(int)
# Young women and old men are missed, the other two get more: each attribute alone shows nothing.
worse = (sex == "female") == (age == "young")
model = np.where(worse & (rng.random(n) < 0.3), 0, np.where(~worse & (rng.random(n) < 0.2), 1, truth))
audit = biasamp.audit(
    {"sex": sex, "age": age, "truth": truth, "model": model},
    attributes=["sex", "age"],
    tasks="truth",
    task_predictions="model",
    intersections=True,
    metrics=["directional", "parity"],
)
audit

# %%
# The table of groups, with intervals:
groups = audit.to_frame("groups", "pandas")
groups[["attribute", "group", "records", "true_positive_rate", "false_positive_rate"]].round(3)

# %%
# Each attribute by itself looks even; their crossing does not:
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.barh(groups["group"], groups["true_positive_rate"])
axes.set_xlabel("true positive rate")
figure.show()
