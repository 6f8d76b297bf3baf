r"""What the trials gave, the figures made of it, and how far these would move on other records.

Three things vary, and the interval carries all of them.

1. *Which records were seen.* The measurement is repeated on random halves of the records, drawn without
   replacement. Half a sample without its other half varies as much as the whole sample does around the truth
   (the delete-half jackknife of Shao and Wu), and no record is ever in a half twice, as it would be in a
   bootstrap, where a copy in the half learnt from gives away the one in the half scored.
2. *Which errors the model happened to make.* Errors that have nothing to do with the other side are as good as
   the perturbation of equalization, so the spread of the dataset's score over perturbations is the spread of
   the model's score under no amplification. It catches what halves miss, when the attacker's best answer is
   all but a tie.
3. *Which trials were run*: their variance divided by their number.

The larger of the first two is taken, and the third added. Each half is measured twice, and each perturbation
split twice; the covariance of the two is free of the noise of either. Every split is scored both ways, each
half by what was learnt from the other, which leaves little of that noise to begin with.

References
----------
J. Shao and C. F. J. Wu, "A general theory for jackknife variance estimation", Annals of Statistics 17, 1989.
"""

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

    @classmethod
    def from_rows(cls, rows: Values, rules: Sequence[Rule]) -> Scores:
        """From shape (trials, 2 + 2 * rules): with and without input, of the model and of the truth by each rule."""
        model, plain, *rest = rows.T
        return cls(model, plain, dict(zip(rules, rest[::2], strict=True)), dict(zip(rules, rest[1::2], strict=True)))

    def gain_difference(self, rule: Rule) -> Values:
        """What the model's attacker gains over one without input, less what the dataset's gains."""
        return np.asarray((self.model - self.model_plain) - (self.dataset[rule] - self.dataset_plain[rule]))


def difference(dataset: Values | float, model: Values | float) -> Values:
    """Leakage amplification, lambda_M - lambda_D (Wang et al., 2019)."""
    return np.asarray(np.subtract(model, dataset), dtype=np.float64)


def normalized_difference(dataset: Values | float, model: Values | float) -> Values:
    """DPA, (psi_M - psi_D) / (psi_M + psi_D), undefined (NaN) when both are 0 (Tokas et al., eqs. 13, 14)."""
    total = np.add(model, dataset)
    nothing = np.full(np.shape(total), np.nan)
    return np.divide(np.subtract(model, dataset), total, out=nothing, where=np.asarray(total > 0))


FIGURES = {"leakage": difference, "dpa": normalized_difference}


def standard_errors(
    kind: str,
    rule: Rule,
    telling: Scores,
    trials: int,
    halves: tuple[Scores, Scores],
    perturbed: tuple[Values, Values] | None,
) -> tuple[float, float]:
    """Standard errors of the figure, and of the difference of gains (model less dataset).

    ``telling`` are trials to estimate their variance from, ``trials`` how many the figure is the mean of.
    """

    def figure(dataset: Values | float, model: Values | float) -> Values:
        # Two attackers that score nothing do not differ; a trial of such moves the mean no way.
        return np.nan_to_num(FIGURES[kind](dataset, model))

    records = _shared_variance(*(figure(part.dataset[rule], part.model) for part in halves))
    errors = 0.0
    if perturbed is not None:
        middle = float(np.mean(perturbed))
        errors = _shared_variance(*(figure(middle, part) for part in perturbed))
    of_trials = float(figure(telling.dataset[rule], telling.model).var(ddof=1)) / trials
    gains = _shared_variance(*(part.gain_difference(rule) for part in halves))
    gain_of_trials = float(telling.gain_difference(rule).var(ddof=1)) / trials
    return float(np.sqrt(max(records, errors) + of_trials)), float(np.sqrt(gains + gain_of_trials))


def _shared_variance(first: Values, second: Values) -> float:
    """Variance of what two measurements share: their covariance, not below 0."""
    middle = 0.5 * (first.mean() + second.mean())
    return max(0.0, float(((first - middle) * (second - middle)).sum() / max(len(first) - 1, 1)))
