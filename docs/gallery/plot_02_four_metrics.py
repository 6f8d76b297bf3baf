"""
Four metrics, one table
=======================

Directional amplification, Multi, MALS and DPA ask different questions, so they can disagree on the same data. Here a data set is
balanced: both groups have the task equally often. The model gives it to one group more often than to the other.
"""

import biasamp

n = 400
group = ["woman"] * n + ["man"] * n
paints = ([1] * (n // 2) + [0] * (n // 2)) * 2
# The model finds the task in 260 of 400 women and in 140 of 400 men.
model = [1] * 260 + [0] * 140 + [1] * 140 + [0] * 260

# %%
# Balanced data has no direction to amplify, so directional amplification is 0 by definition; Multi looks at the size of the
# changes alone; DPA asks how well the group predicts the model's answer.
print("directional", round(biasamp.directional(group, paints, model).value, 3))
print("Multi      ", round(biasamp.multi(group, paints, model).value, 3))
print("MALS       ", round(biasamp.mals(group, biasamp.binary(paints), group, biasamp.binary(model)).value, 3))
dpa = biasamp.dpa(group, paints, model)
print("DPA        ", round(dpa.value, 3), "±", round(dpa.trials["value"].std(), 3), "over trials")

# %%
# Pairs show what an aggregate can hide: the changes of the four pairs cancel by sign.
biasamp.multi(group, paints, model).plot()
