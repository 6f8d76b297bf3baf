"""What the trials gave: one score of each attacker for each trial, and the figures made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .equalize import Rule

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of the attackers, one for each trial.

    ``model`` is that on predictions and ``dataset`` that on truth perturbed by each rule; the ``plain`` ones
    are those of the attacker without input.
    """

    model: Values
    model_plain: Values
    dataset: dict[Rule, Values]
    dataset_plain: dict[Rule, Values]

    def __len__(self) -> int:
        return len(self.model)

    @staticmethod
    def joined(parts: Sequence[Scores]) -> Scores:
        """Trials of several parts, one after another."""
        rules = parts[0].dataset
        return Scores(
            np.concatenate([p.model for p in parts]),
            np.concatenate([p.model_plain for p in parts]),
            {rule: np.concatenate([p.dataset[rule] for p in parts]) for rule in rules},
            {rule: np.concatenate([p.dataset_plain[rule] for p in parts]) for rule in rules},
        )


def difference(dataset: Values | float, model: Values | float) -> Values:
    """Leakage amplification, lambda_M - lambda_D (Wang et al., 2019)."""
    return np.asarray(np.subtract(model, dataset), dtype=np.float64)


def normalized_difference(dataset: Values | float, model: Values | float) -> Values:
    """DPA, (psi_M - psi_D) / (psi_M + psi_D), and 0 when both are 0 (Tokas et al., eqs. 13, 14)."""
    total = np.add(model, dataset)
    return np.divide(np.subtract(model, dataset), total, out=np.zeros(np.shape(total)), where=np.asarray(total > 0))


FIGURES = {"leakage": difference, "dpa": normalized_difference}
