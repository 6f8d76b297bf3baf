"""
Does a 95% interval hold the truth 95 times in 100?
===================================================

Before an interval is believed it can be tried: draw samples from a population whose amplification is known, and count.
"""

import matplotlib.pyplot as plt
import numpy as np

import biasamp

rng = np.random.default_rng(0)
RATES = {"woman": (0.6, 0.70), "man": (0.3, 0.24)}  # of the truth, and of the model
# Both changes go along the association, so amplification is the mean of their sizes.
TRUTH = np.mean([abs(model - truth) for truth, model in RATES.values()])


def sample(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Records of one sample; the model errs in one way in each group."""
    group = rng.choice(["woman", "man"], n)
    truth = rng.random(n) < np.where(group == "woman", 0.6, 0.3)
    more = ~truth & (group == "woman") & (rng.random(n) < 0.10 / 0.40)
    fewer = truth & (group == "man") & (rng.random(n) < 0.06 / 0.30)
    return group, truth.astype(int), np.where(more, 1, np.where(fewer, 0, truth)).astype(int)


# %%
# Fifty samples of 400 records:
intervals = [biasamp.directional(*sample(400)).confidence_interval(method="closed_form") for _ in range(50)]
held = [found.low <= TRUTH <= found.high for found in intervals]
print(f"{sum(held)} of {len(held)} intervals hold {TRUTH:.3f}")

# %%
figure, axes = plt.subplots(figsize=(7, 3))
for place, (found, inside) in enumerate(zip(intervals, held, strict=True)):
    axes.plot([place, place], [found.low, found.high], color="tab:blue" if inside else "tab:red")
axes.axhline(TRUTH, color="black", linewidth=1)
axes.set_xlabel("sample")
axes.set_ylabel("amplification")
figure.tight_layout()
