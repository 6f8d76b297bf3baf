"""``biasamp.leakage``: how much more a model's predictions tell about A than the true labels do."""

from __future__ import annotations

from typing import Any

from .attack import from_problem
from .attack_input import read_problem
from .attack_result import Predictability


def leakage(
    A: Any,
    T: Any,
    T_pred: Any,
    *,
    attacker: Any = "auto",
    quality: Any = "accuracy",
    equalize: str | None = "accuracy",
    evaluation: str = "held_out",
    trials: int = 100,
    seed: Any = 0,
) -> Predictability:
    r"""Leakage amplification.

    .. math:: \lambda_M - \lambda_D, \quad \lambda_D = Q(f_D(T), A), \quad \lambda_M = Q(f_M(\hat T), A)

    An attacker predicts the protected attribute A from the true tasks (:math:`\lambda_D`, of tasks perturbed
    to the model's own quality), another from the predicted tasks (:math:`\lambda_M`). A positive value means
    that the predictions give A away more than labels with as many errors would.

    Parameters
    ----------
    A, T : array-like
        Protected groups and true tasks. One column is a variable whose every value is a class; several
        columns are yes/no labels, or one variable where every record has exactly one of them (one-hot); float
        columns with fractions are continuous.
    T_pred : array-like
        The model's tasks. Probabilities are drawn as labels anew in every trial, since an attacker that saw
        the probabilities would be compared with one that sees labels; a threshold would measure another
        model.
    attacker : str or scikit-learn estimator
        ``"lookup"`` (the best function there is, on labels), ``"naive_bayes"``, ``"logistic"``, ``"mlp"``
        (needs the extra ``torch``), any scikit-learn estimator, which is cloned for each trial and gets its
        own seed, or ``"auto"``; ``.attacker`` and ``.reason`` tell what was picked and why.
    quality : str or callable
        ``"accuracy"``, ``"balanced_accuracy"``, ``"f1"``, ``"auc"``, for continuous A ``"inverse_rmse"``
        (which also takes the place of accuracy there), or a function of (truth, prediction), called with
        class numbers or floats, for which 0 is the worst. Several labels are scored one by one and averaged.
    equalize : {"accuracy", "confusion", None}
        How the truth is perturbed: to the model's accuracy, as in the paper, which is right for symmetric
        errors; to its confusion table, which is right whenever errors depend on the truth alone; or not at
        all. The result holds all three values.
    evaluation : {"held_out", "in_sample"}
        Attackers learn from a random half of the records and are scored on the other, or learn from and are
        scored on all, as in the papers. In sample, many labels are learnt by heart.
    trials : int
        Each trial perturbs and splits anew, and trains fresh attackers.
    seed : int or numpy.random.Generator
        Makes the trials reproducible. Names of classes and the order of records do not matter.

    Returns
    -------
    Predictability

    See Also
    --------
    dpa : the directional metric, relative to the sum.

    Notes
    -----
    Held out, labels that are balanced to the record score a little below chance: what one half has too many of, the
    other lacks. Equalization brings the perturbed truth to the same footing as predictions with as many errors, so
    that errors without a bias still give 0.

    References
    ----------
    Wang, T., Zhao, J., Yatskar, M., Chang, K.-W. and Ordonez, V. (2019). Balanced Datasets Are Not Enough. ICCV.

    Examples
    --------
    The tasks are balanced, but the model goes by gender:

    >>> import biasamp
    >>> gender = ["woman"] * 100 + ["man"] * 100
    >>> cooking = ([1] * 50 + [0] * 50) * 2
    >>> model = [1] * 75 + [0] * 25 + [1] * 25 + [0] * 75
    >>> result = biasamp.leakage(gender, cooking, model)
    >>> round(result.model, 2), result.attacker
    (0.75, 'lookup')
    >>> result.confidence_interval().low > 0
    True
    """
    problem = read_problem(A, T, T_pred, ("A", "T", "T_pred"))
    return from_problem(
        problem,
        "leakage",
        attacker=attacker,
        quality=quality,
        equalize=equalize,
        evaluation=evaluation,
        trials=trials,
        seed=seed,
    )
