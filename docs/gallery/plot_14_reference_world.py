"""
Amplified against which world?
==============================

The truth of a data set is one base to compare with. Labour statistics are another, and the same predictions can be above one and below the
other. ``base=`` names the source, and the result carries it.
"""

import biasamp

# A data set in which 6 of 10 carpenters and 9 of 10 nurses are women, and a model that follows it.
group = ["woman"] * 60 + ["man"] * 40 + ["woman"] * 90 + ["man"] * 10
job = ["carpenter"] * 100 + ["nurse"] * 100
model = ["carpenter"] * 55 + ["nurse"] * 5 + ["carpenter"] * 40 + ["nurse"] * 90 + ["carpenter"] * 5 + ["nurse"] * 5

# %%
# Against the data set's own labels:
own = biasamp.directional(group, job, model)
print(round(own.value, 4))

# %%
# Against a world in which 3 of 100 carpenters and 87 of 100 nurses are women (a joint table, its entries sum to 1):
world = {
    "woman": {"carpenter": 0.015, "nurse": 0.435},
    "man": {"carpenter": 0.485, "nurse": 0.065},
}
other = biasamp.directional(group, job, model, base=world)
print(round(other.value, 4))
other.plot()
