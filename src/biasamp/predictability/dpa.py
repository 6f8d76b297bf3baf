"""``biasamp.dpa``: directional predictability amplification."""

from __future__ import annotations

from typing import Any

from .attack import from_problem
from .attack_input import read_problem
from .attack_result import Predictability


def dpa(
    given: Any,
    truth: Any,
    predicted: Any,
    *,
    attacker: Any = "auto",
    quality: Any = "accuracy",
    equalize: str | None = "accuracy",
    evaluation: str = "held_out",
    trials: int = 100,
    seed: Any = 0,
) -> Predictability:
    r"""Directional predictability amplification.

    .. math::
        \frac{\Psi_M - \Psi_D}{\Psi_M + \Psi_D}, \quad
        \Psi_D = Q(f_D(\text{given}), \text{truth}), \quad \Psi_M = Q(f_M(\text{given}), \text{predicted})

    One attacker predicts the truth from what is given (perturbed to the model's own quality), another the
    model's predictions from it. For A→T give ``(A, T, T_hat)``, for T→A give ``(T, A, A_hat)``; the arrow is
    no claim of causality, and the two directions are not comparable. A positive value means that the
    predictions follow what is given more closely than the truth does.

    DPA calls data unbiased when all combinations are equally frequent. With unequal classes an attacker
    without input already scores the largest share: ``.gain`` is the same figure without that part. With two
    classes, accuracy and attackers at chance or better the value lies within 1/3 of 0.

    Parameters
    ----------
    given, truth : array-like
        What the attackers read, and the true labels of what they predict. One column is a variable whose
        every value is a class; several columns are yes/no labels, or one variable where every record
        has exactly one of them (one-hot); float columns with fractions are continuous.
    predicted : array-like
        The model's labels. Probabilities are drawn as labels anew in every trial, which makes them count as
        fractions; a threshold would measure another model.
    attacker, quality, equalize, evaluation, trials, seed
        As in :func:`biasamp.leakage`.

    Returns
    -------
    Predictability

    See Also
    --------
    leakage : the metric without direction.
    directional : co-occurrence amplification, for which balanced data have no bias to amplify.

    References
    ----------
    Tokas, B., Nair, R. and Kerner, H. Making Bias Amplification in Balanced Datasets Directional and
    Interpretable. Equations (9)-(12) are the definition; the text around them swaps directions.

    Examples
    --------
    Balanced COMPAS, Table 2b of the paper, A→T, from the counts of (A, T) and (A, T_hat):

    >>> import biasamp
    >>> A = [0] * 1748 + [1] * 1748
    >>> T = ([0] * 874 + [1] * 874) * 2
    >>> T_hat = [0] * 1145 + [1] * 603 + [0] * 948 + [1] * 800
    >>> result = biasamp.dpa(A, T, T_hat, equalize=None, evaluation="in_sample")
    >>> round(result.value, 3)
    0.09
    """
    problem = read_problem(given, truth, predicted, ("given", "truth", "predicted"))
    return from_problem(
        problem,
        "dpa",
        attacker=attacker,
        quality=quality,
        equalize=equalize,
        evaluation=evaluation,
        trials=trials,
        seed=seed,
    )
