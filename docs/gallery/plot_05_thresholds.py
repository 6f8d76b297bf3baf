"""
Choose a threshold under a limit on amplification
=================================================

Scores of a model, two groups, and a limit: which threshold is the most accurate whose amplification stays below it, and what does the
limit cost?
"""

import numpy as np

import biasamp

rng = np.random.default_rng(1)
n = 4000
group = rng.choice(["younger", "older"], n)
truth = (rng.random(n) < np.where(group == "younger", 0.45, 0.3)).astype(int)
# The scores know the truth, and lean to the younger a little more than the truth does.
scores = np.clip(0.5 + 0.25 * (truth - 0.5) + np.where(group == "younger", 0.05, -0.05) + rng.normal(0, 0.18, n), 0, 1)

# %%
# Amplification at every threshold, with the rates of both groups.
curve = biasamp.sweep(scores, group, truth)
curve.plot()

# %%
# Half of the records choose, the other half judges: a limit that is kept on the data it was chosen on is not yet kept.
first, second = slice(0, n // 2), slice(n // 2, n)
choice = biasamp.choose_thresholds(
    scores[first], group[first], truth[first], limit=0.01, held_out=(scores[second], group[second], truth[second])
)
print(choice)

# %%
# What every limit would cost:
choice.plot()
