"""``biasamp.leakage`` and ``biasamp.dpa``: what attackers predict from truth, and from a model's predictions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from biasamp.counts.bagging import MOST_BAGS, bag_of
from biasamp.counts.contingency import ContingencyTable, bags_of_cells
from biasamp.data import Evaluation
from biasamp.engines.progress import Bar
from biasamp.results.interval import ASYMMETRIC, NO_GAIN, Caution
from biasamp.results.table import Table

from .attack_result import Predictability
from .measure import Measurement, measure
from .problem import Problem, problem_from_labels, problem_from_table, read_problem
from .scores import FIGURES
from .sides import Index, names_of_variables

# A problem whose rows lie each in one bag, these bags, how many there are, and the names of what is predicted.
Bagged = tuple[Problem, Index, int, list[str]]
# Equalizing by accuracy and by confusion differ for certain (trials' standard errors) and visibly.
_CERTAIN = 4.0
_VISIBLE = 0.005
_NO_GAIN = 1e-12


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
    how = {"attacker": attacker, "quality": quality, "equalize": equalize, "evaluation": evaluation}
    return from_problem(problem, "leakage", trials=trials, seed=seed, **how)


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
    how = {"attacker": attacker, "quality": quality, "equalize": equalize, "evaluation": evaluation}
    return from_problem(problem, "dpa", trials=trials, seed=seed, **how)


def from_table(
    table: ContingencyTable,
    kind: str,
    *,
    direction: str | None = None,
    by_bag: ContingencyTable | None = None,
    **options: Any,
) -> Predictability:
    """Leakage (``kind="leakage"``) or DPA (``kind="dpa"``) of a contingency table.

    The table has the sides ``given``, ``truth`` and ``predicted``; for leakage ``given`` is A. It may be the
    sum of the tables of many batches, so that billions of records cost no more than their distinct cells. ``by_bag`` are the
    same records with the bag of each, by which two models can be paired.
    """
    bagged = None if by_bag is None else partial(_in_bags, by_bag, kind)
    return from_problem(problem_from_table(table), kind, direction=direction, bagged=bagged, **options)


def _in_bags(table: ContingencyTable, kind: str) -> Bagged:
    """The problem of a table by bag, the bag of each row, how many there are, and the names of what is predicted."""
    side = table.sides["truth" if kind == "dpa" else "given"]
    combinations = side.combinations
    if kind == "dpa":
        combinations = np.concatenate([combinations, table.sides["predicted"].combinations])
    names = names_of_variables(side.labels, combinations)
    return problem_from_table(table, in_order=True), *bags_of_cells(table), names


def from_evaluation(
    evaluation: Evaluation, kind: str, *, direction: str | None = None, **options: Any
) -> Predictability:
    """Leakage or DPA of labels that have been read and aligned already; for leakage ``given`` is A.

    Whole-number weights count a record so many times; other weights are refused, as attackers learn from records.
    """
    given, truth, predicted, weights = evaluation.given, evaluation.truth, evaluation.predicted, evaluation.weights
    if weights is None:

        def bagged() -> Bagged:
            problem = problem_from_labels(given, truth, predicted, in_order=True)
            return problem, bag_of(evaluation.units, MOST_BAGS), MOST_BAGS, []

        problem = problem_from_labels(given, truth, predicted)
        return from_problem(problem, kind, direction=direction, bagged=bagged, **options)
    if weights.dtype.kind == "f":
        raise ValueError("weights are not whole numbers; leakage and DPA draw whole records and take none other")
    table = ContingencyTable.from_labels({"given": given, "truth": truth, "predicted": predicted}, weights)
    return from_table(table, kind, direction=direction, **options)


def from_problem(
    problem: Problem,
    kind: str,
    *,
    direction: str | None = None,
    bagged: Callable[[], Bagged] | None = None,
    **options: Any,
) -> Predictability:
    """Leakage or DPA of a problem; ``bagged`` gives it by bags, ``options`` are those of the public functions."""
    bar = Bar("attackers")
    try:
        measured = measure(problem, kind, progress=bar, **options)
    finally:
        bar.close()
    scores, rule, figure = measured.scores, measured.rule, FIGURES[kind]
    dataset_gain, model_gain = measured.gains
    gains = [0.0 if kind == "dpa" and gain < _NO_GAIN else gain for gain in measured.gains]
    return Predictability(
        metric=kind,
        value=measured.figure(rule),
        dataset=float(scores.dataset[rule].mean()),
        model=float(scores.model.mean()),
        gain=float(figure(*gains)),
        dataset_gain=dataset_gain,
        model_gain=model_gain,
        trials=Table(
            {
                "trial": np.arange(len(scores)),
                "dataset": scores.dataset[rule],
                "model": scores.model,
                "value": figure(scores.dataset[rule], scores.model),
                "dataset_gain": scores.dataset[rule] - scores.dataset_plain[rule],
                "model_gain": scores.model - scores.model_plain,
            }
        ),
        unequalized=measured.figure(None),
        accuracy_equalized=measured.figure("accuracy"),
        confusion_equalized=measured.figure("confusion"),
        n=measured.n,
        attacker=measured.attacker,
        reason=measured.reason,
        quality=measured.quality,
        equalize=rule,
        evaluation=measured.evaluation,
        direction=direction,
        cautions=_cautions(measured),
        _interval=measured.interval,
        _on_bags=None if bagged is None else lambda: measured.on_bags(*bagged()),
    )


def _cautions(measured: Measurement) -> tuple[str, ...]:
    out = []
    apart = measured.scores.dataset["confusion"] - measured.scores.dataset["accuracy"]
    noise = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else 0.0
    by_accuracy, by_confusion = measured.figure("accuracy"), measured.figure("confusion")
    if abs(apart.mean()) > _CERTAIN * noise and abs(by_accuracy - by_confusion) > _VISIBLE:
        words = (
            f"The model's errors are not symmetric: equalizing its accuracy gives {by_accuracy:+.4f}, its "
            f"whole confusion table {by_confusion:+.4f}. Prefer the latter, equalize='confusion'."
        )
        out.append(Caution(words, ASYMMETRIC))
    if max(measured.gains) <= _NO_GAIN:
        words = (
            "Neither attacker gains anything over one without input: the value compares how unequal the "
            "classes are, not what one side tells about the other."
        )
        out.append(Caution(words, NO_GAIN))
    return tuple(out)
