"""
Which labels does a model tie to which identity?
================================================

Without ground truth there is still something to see: how often each label comes with each identity. Here 20,000 images carry labels of
a made vocabulary in which a few labels were planted with a lean.
"""

import biasamp

labels = [["woman", "kitchen", "cup"], ["woman", "cup"], ["man", "car"], ["man", "cup", "tie"], ["man", "kitchen"]]
images = [labels[number % 5] if number % 7 else [*labels[number % 5], "tree"] for number in range(20_000)]
ranked = biasamp.associate(images, ["woman", "man"])

# %%
# A positive gap leans to the first identity. Every metric ranks by its own idea of association; the test is the same for all.
ranked.top("npmi_xy", 3, toward="woman")

# %%
ranked.top("npmi_xy", 3, toward="man")

# %%
# Two metrics against each other, every label a point:
ranked.plot()
