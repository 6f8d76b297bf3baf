r"""How far a figure would move on other records: the standard errors behind an interval.

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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .equalize import Rule
from .trial_scores import FIGURES, Scores

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Standard errors of the figure.

    Attributes
    ----------
    value : float
        Of the figure: all that varies.
    gain : float
        Of the difference of gains over the attacker without input, model less dataset.
    records, errors, trials : float
        What they are made of: the records, the model's errors under no amplification, the trials.
    """

    value: float
    gain: float
    records: float
    errors: float
    trials: float


def spread(
    kind: str,
    rule: Rule,
    telling: Scores,
    trials: int,
    halves: tuple[Scores, Scores],
    perturbed: tuple[Values, Values] | None,
) -> Spread:
    """Standard errors from figures on random halves, and from dataset scores over perturbations.

    ``telling`` are trials to tell their variance from, ``trials`` how many the figure is the mean of.
    """
    figure = FIGURES[kind]
    on_halves = [figure(part.dataset[rule], part.model) for part in halves]
    records = shared_variance(*on_halves)
    errors = 0.0
    if perturbed is not None:
        middle = float(np.mean(perturbed))
        errors = shared_variance(*(figure(middle, part) for part in perturbed))
    gains = [_gain_difference(part, rule) for part in halves]
    of_trials = float(figure(telling.dataset[rule], telling.model).var(ddof=1)) / trials
    gain_of_trials = float(_gain_difference(telling, rule).var(ddof=1)) / trials
    return Spread(
        value=_root(max(records, errors) + of_trials),
        gain=_root(shared_variance(*gains) + gain_of_trials),
        records=_root(records),
        errors=_root(errors),
        trials=_root(of_trials),
    )


def shared_variance(first: Values, second: Values) -> float:
    """Variance of what two measurements share: their covariance, not below 0."""
    middle = 0.5 * (first.mean() + second.mean())
    return max(0.0, float(((first - middle) * (second - middle)).sum() / max(len(first) - 1, 1)))


def _gain_difference(scores: Scores, rule: Rule) -> Values:
    return np.asarray((scores.model - scores.model_plain) - (scores.dataset[rule] - scores.dataset_plain[rule]))


def _root(variance: float) -> float:
    return float(np.sqrt(variance))
