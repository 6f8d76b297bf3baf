"""From a problem to the result that ``leakage`` and ``dpa`` return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasamp.counts.contingency import ContingencyTable
from biasamp.data import Evaluation
from biasamp.engines.progress import Bar
from biasamp.results.interval import Interval
from biasamp.results.table import Table

from .attack_result import Predictability
from .measure import Measurement, measure
from .problem import Problem, problem_from_labels, problem_from_table
from .trial_scores import FIGURES

# Equalizing by accuracy and by confusion differ for certain (trials' standard errors) and visibly.
_CERTAIN = 4.0
_VISIBLE = 0.005
_NO_GAIN = 1e-12


def from_table(table: ContingencyTable, kind: str, *, direction: str | None = None, **options: Any) -> Predictability:
    """Leakage (``kind="leakage"``) or DPA (``kind="dpa"``) of a contingency table.

    The table has the sides ``given``, ``truth`` and ``predicted``; for leakage ``given`` is A. It may be the
    sum of the tables of many batches, so that billions of records cost no more than their distinct cells.

    Examples
    --------
    >>> import numpy as np
    >>> from biasamp.counts.contingency import ContingencyTable
    >>> from biasamp.data import label_set
    >>> from biasamp.data import read_columns
    >>> read = lambda values: label_set(read_columns(values, "x"), "x")
    >>> batch = ContingencyTable.from_labels(
    ...     {"given": read([0, 0, 1, 1]), "truth": read([0, 1, 0, 1]), "predicted": read([0, 0, 1, 1])}
    ... )
    >>> from_table(batch + batch, "dpa", equalize=None, evaluation="in_sample").value
    0.3333333333333333
    """
    return from_problem(problem_from_table(table), kind, direction=direction, **options)


def from_evaluation(
    evaluation: Evaluation, kind: str, *, direction: str | None = None, **options: Any
) -> Predictability:
    """Leakage or DPA of labels that have been read and aligned already; for leakage ``given`` is A.

    Whole-number weights count a record so many times; other weights are refused, as attackers learn from records.
    """
    sides = {"given": evaluation.given, "truth": evaluation.truth, "predicted": evaluation.predicted}
    if evaluation.weights is None:
        problem = problem_from_labels(evaluation.given, evaluation.truth, evaluation.predicted)
    else:
        if evaluation.weights.dtype.kind == "f":
            raise ValueError("weights are not whole numbers; leakage and DPA draw whole records and take none other")
        problem = problem_from_table(ContingencyTable.from_labels(sides, evaluation.weights))
    return from_problem(problem, kind, direction=direction, **options)


def from_problem(problem: Problem, kind: str, *, direction: str | None = None, **options: Any) -> Predictability:
    """Leakage or DPA of a problem; ``options`` are those of the public functions."""
    bar = Bar("attackers")
    try:
        measured = measure(problem, kind, progress=bar, **options)
    finally:
        bar.close()
    scores, rule = measured.scores, measured.rule
    dataset, model = float(scores.dataset[rule].mean()), float(scores.model.mean())
    dataset_gain = dataset - float(scores.dataset_plain[rule].mean())
    model_gain = model - float(scores.model_plain.mean())
    gains = (dataset_gain, model_gain)
    if kind == "dpa":
        gains = tuple(0.0 if gain < _NO_GAIN else gain for gain in gains)  # type: ignore[assignment]
    figure = FIGURES[kind]
    return Predictability(
        metric=kind,
        value=measured.figure(rule),
        dataset=dataset,
        model=model,
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
        cautions=_cautions(measured, dataset_gain, model_gain),
        _interval=_Intervals(measured, model_gain - dataset_gain),
    )


def _cautions(measured: Measurement, dataset_gain: float, model_gain: float) -> tuple[str, ...]:
    out = []
    scores = measured.scores
    apart = scores.dataset["confusion"] - scores.dataset["accuracy"]
    noise = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else 0.0
    by_accuracy, by_confusion = measured.figure("accuracy"), measured.figure("confusion")
    if abs(apart.mean()) > _CERTAIN * noise and abs(by_accuracy - by_confusion) > _VISIBLE:
        out.append(
            f"The model's errors are not symmetric: equalizing its accuracy gives {by_accuracy:+.4f}, its "
            f"whole confusion table {by_confusion:+.4f}. Prefer the latter, equalize='confusion'."
        )
    if dataset_gain <= _NO_GAIN and model_gain <= _NO_GAIN:
        out.append(
            "Neither attacker gains anything over one without input: the value compares how unequal the "
            "classes are, not what one side tells about the other."
        )
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Makes intervals when they are asked for; results hold it and need not know how."""

    measured: Measurement
    gain_difference: float

    def __call__(self, level: float, of: str, resamples: int | None, seed: int | None) -> Interval:
        from scipy.special import ndtri

        spread = self.measured.spread(resamples, seed)
        middle, error = self.measured.figure(self.measured.rule), spread.value
        if of == "gain_difference":
            middle, error = self.gain_difference, spread.gain
        reach = float(ndtri(0.5 + level / 2)) * error
        low, high = middle - reach, middle + reach
        if self.measured.kind == "dpa" and of == "value":
            low, high = max(low, -1.0), min(high, 1.0)
        return Interval(
            low,
            high,
            level,
            "random halves of the records, normal",
            "sampling of records, the model's errors, and trials",
            error,
        )
