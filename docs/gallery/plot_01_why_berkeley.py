"""
Is it the model or the threshold?
=================================

Berkeley admitted 44% of the men and 30% of the women who applied to its six largest departments in 1973. A model that learns
admissions from these records and decides at a probability of one half amplifies that difference. How much of that is the
model, how much the threshold, and is it there inside departments?
"""

import biasamp
from biasamp.datasets import berkeley

data = berkeley.with_predictions()
print({name: len(column) for name, column in data.items()})

# %%
# The audit begins with the answer.
audit = biasamp.audit(data, **berkeley.ROLES, **berkeley.PARTS)
audit

# %%
# The parts of the change: what the scores themselves do, and what deciding at one half adds.
parts = biasamp.decompose(data["gender"], data["admitted"], data["admitted_score"], strata=data["department"])
print(f"whole {parts.value:+.4f} = scores {parts.score:+.4f} + threshold {parts.threshold:+.4f}")

# %%
# At every threshold:
curve = biasamp.sweep(data["admitted_score"], data["gender"], data["admitted"])
curve.plot()
