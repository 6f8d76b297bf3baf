"""
Choose hyperparameters with amplification in view
=================================================

Scores for scikit-learn have Fairlearn's signature, so they work in a search together with accuracy.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

from biasamp.integrations.sklearn import bias_amplification_score

rng = np.random.default_rng(8)
n = 3000
group = rng.choice(["woman", "man"], n)
truth = (rng.random(n) < np.where(group == "man", 0.6, 0.35)).astype(int)
features = np.c_[rng.normal(size=n) + truth, rng.normal(size=(n, 5)), group == "man"]
grid = [0.0005, 0.002, 0.01, 0.1, 1.0]
with sklearn.config_context(enable_metadata_routing=True):
    scorer = make_scorer(bias_amplification_score, greater_is_better=False)
    search = GridSearchCV(
        LogisticRegression(),
        {"C": grid},
        scoring={"amplification": scorer.set_score_request(sensitive_features=True), "accuracy": "accuracy"},
        refit="accuracy",
    ).fit(features, truth, sensitive_features=group)

# %%
# A model held back by regularisation leans on the group where it cannot use the rest.
amplification, accuracy = -search.cv_results_["mean_test_amplification"], search.cv_results_["mean_test_accuracy"]
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.plot(amplification, accuracy, "o-")
for strength, x, y in zip(grid, amplification, accuracy, strict=True):
    axes.annotate(f"C={strength:g}", (x, y), textcoords="offset points", xytext=(5, 5))
axes.set_xlabel("directional amplification")
axes.set_ylabel("accuracy")
figure.tight_layout()
