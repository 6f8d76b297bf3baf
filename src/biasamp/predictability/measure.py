"""One measurement from end to end: attacker, trials, figures, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasamp.data.plain_arguments import MOST_DRAWS, one_of, shown, whole_number
from biasamp.results.interval import NO_WIDTH, Caution, Interval

from .attackers import AttackerError, Lookup, Trained, choose
from .equalize import RULES, Rule, check_rule
from .lookup import LookupTables
from .paired_halves import PairedHalves, measure_halves
from .problem import Problem
from .quality import LABEL_QUALITIES, Quality, check_quality
from .records import Progress, RecordTrials
from .scores import FIGURES, Scores, standard_errors
from .sides import Index, Numbers

# Attackers that need records get so many of a larger table, drawn at random.
_MOST_RECORDS = 500_000
# Random halves (and perturbations) behind an interval, by what one costs.
_RESAMPLES_TABLE = 500
_RESAMPLES_CLOSED_FORM = 100
_RESAMPLES_TRAINED = 30
# Fewer trials than this do not tell their own variance.
_TELLING = 12

# A standard error that is no more than rounding: nothing moved.
_WIDTH = 1e-12
_UNMOVED = Caution(
    "there is no interval: no resample moves the value, which is no certainty that it is exact", NO_WIDTH
)

Seed = np.random.SeedSequence


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured, before it is put into a result, and what makes its intervals when they are asked for."""

    kind: str
    n: int
    scores: Scores
    rule: Rule
    evaluation: str
    quality: str
    attacker: str
    reason: str
    engine: LookupTables | RecordTrials
    resamples: int
    seeds: tuple[Seed, ...]
    never_wrong: bool = False

    def figure(self, rule: Rule) -> float:
        """The metric with the truth equalized by a rule, of the mean scores."""
        return float(FIGURES[self.kind](self.scores.dataset[rule].mean(), self.scores.model.mean()))

    @property
    def gains(self) -> tuple[float, float]:
        """What the mean scores have over those of the attacker without input: dataset, model."""
        scores, rule = self.scores, self.rule
        dataset = float(scores.dataset[rule].mean()) - float(scores.dataset_plain[rule].mean())
        return dataset, float(scores.model.mean()) - float(scores.model_plain.mean())

    def interval(self, level: float, of: str, resamples: int | None, seed: int | None) -> Interval:
        """See :meth:`biasamp.predictability.attack_result.Predictability.confidence_interval`."""
        from scipy.special import ndtri

        value_error, gain_error = self._standard_errors(resamples, seed)
        dataset_gain, model_gain = self.gains
        middle, error = self.figure(self.rule), value_error
        if of == "gain_difference":
            middle, error = model_gain - dataset_gain, gain_error
        method, varies = "random halves of the records, normal", "sampling of records, the model's errors, and trials"
        unseen = self._unseen(level, of)
        if not error > _WIDTH and not unseen:
            return Interval(np.nan, np.nan, level, "undefined", varies, error, (_UNMOVED,))
        if unseen:
            method = "random halves of the records, normal, and errors that were not seen"
        reach = float(ndtri(0.5 + level / 2)) * error + unseen
        made = Interval(middle - reach, middle + reach, level, method, varies, error)
        # DPA is a quotient; differences of qualities lie where qualities do, and those of numbers have no bound.
        bounded = self.quality in LABEL_QUALITIES or (self.kind == "dpa" and of == "value")
        return made.within(-1.0, 1.0) if bounded else made

    def on_bags(self, problem: Problem, bags: Index, many: int, names: Sequence[str]) -> PairedHalves | None:
        """Figures on halves of bags of records, which pair those of two models; ``problem`` has rows that lie each in one bag."""
        figures = np.nan_to_num(FIGURES[self.kind](self.scores.dataset[self.rule], self.scores.model))
        noise = float(figures.var(ddof=1)) / len(figures) if len(figures) > 1 else 0.0
        if isinstance(self.engine, LookupTables):
            engine: LookupTables | RecordTrials | None = LookupTables.fit(problem, self.kind, self.engine.quality)
        else:
            rows = np.repeat(np.arange(len(problem.counts)), problem.counts)
            engine, bags = replace(self.engine, problem=problem.records(), progress=None), bags[rows]
        if engine is None:
            return None
        return measure_halves(engine, bags, many, names, self.rule, noise, int(self.seeds[0].generate_state(1)[0]))

    def _unseen(self, level: float, of: str) -> float:
        """How far errors that were not seen may move a figure of a model that is never wrong here, scored by accuracy.

        Without an error in n records the share of records with one is at most ``1 - ((1 - level) / 2)**(1 / n)`` (Clopper
        and Pearson). An attacker's score moves by no more than the share of records that change: that of the model's
        answers, and that of the truth made as inaccurate. Gains are differences of two scores each.
        """
        if not self.never_wrong or self.quality != "accuracy":
            return 0.0
        share = 1.0 - ((1.0 - level) / 2.0) ** (1.0 / self.n)
        moved = share * (1.0 if self.rule is None else 2.0) * (2.0 if of == "gain_difference" else 1.0)
        scores = float(self.scores.dataset[self.rule].mean() + self.scores.model.mean())
        return moved / scores if self.kind == "dpa" and of == "value" else moved

    def _standard_errors(self, count: int | None, seed: int | None) -> tuple[float, float]:
        """Of the figure and of the difference of gains, from so many halves, and another seed if one is given."""
        seeds = self.seeds if seed is None else np.random.SeedSequence(seed).spawn(3)
        # Children of one seed differ by how often it was asked: ask a copy, so that asking twice agrees.
        first, second, third = (np.random.SeedSequence(s.entropy, spawn_key=s.spawn_key) for s in seeds)
        size = self.resamples if count is None else count
        halves = self.engine.halves(size, first, self.rule, self.evaluation)
        perturbed = None
        if self.rule is not None:
            perturbed = self.engine.perturbed(size, second, self.rule, self.evaluation)
        # Few trials do not tell their own variance: some more are run for that alone.
        telling = self.scores
        if len(telling) < _TELLING:
            telling = self.engine.trials(_TELLING, third, (self.rule,), self.evaluation)
        for part in (*halves, telling):
            _refuse_undefined(part, self.attacker)
        return standard_errors(self.kind, self.rule, telling, len(self.scores), halves, perturbed)


def measure(
    problem: Problem,
    kind: str,
    *,
    attacker: Any = "auto",
    quality: Quality = "accuracy",
    equalize: Rule = "accuracy",
    evaluation: str = "held_out",
    trials: int = 100,
    seed: int | np.random.Generator = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Measurement:
    """Measure leakage amplification (``kind="leakage"``) or DPA (``kind="dpa"``) of a problem."""
    rule = check_rule(equalize)
    one_of(evaluation, "evaluation", ("held_out", "in_sample"))
    whole_number(trials, "trials", least=1, most=MOST_DRAWS)
    used = check_quality(quality, continuous=isinstance(problem.target(kind), Numbers))
    picking, thinning, running, *later = _seed_sequence(seed).spawn(6)
    chosen, reason = choose(attacker, problem, kind, rule, np.random.default_rng(picking))
    if used != quality:
        reason += f"; quality is {used}, as what is predicted is continuous"
    if problem.soft:
        reason += "; predicted probabilities are drawn as labels anew in every trial"
    tables = LookupTables.fit(problem, kind, used) if isinstance(chosen, Lookup) else None
    if tables is not None:
        engine: LookupTables | RecordTrials = tables
        resamples = _RESAMPLES_TABLE if problem.truth.width == 1 else _RESAMPLES_CLOSED_FORM
    else:
        resamples = _RESAMPLES_TRAINED if isinstance(chosen, Trained) else _RESAMPLES_CLOSED_FORM
        few = problem.thinned(_MOST_RECORDS, np.random.default_rng(thinning))
        if few.n < problem.n:
            reason += f"; measured on {few.n:,} of the {problem.n:,} records, drawn at random"
        engine = RecordTrials(few, kind, chosen, used, workers, progress)
    scores = engine.trials(int(trials), running, RULES, evaluation)
    _refuse_undefined(scores, chosen.name)
    name = used if isinstance(used, str) else getattr(used, "__name__", type(used).__name__)
    held = (kind, problem.n, scores, rule, evaluation, name, chosen.name, reason)
    return Measurement(*held, engine, resamples, tuple(later), problem.never_wrong)


def _seed_sequence(seed: Any) -> Seed:
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence([int(word) for word in seed.integers(0, 2**32, size=4)])
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed is {shown(seed)}; a whole number of at least 0, or a numpy Generator, is needed")
    return np.random.SeedSequence(int(seed))


def _refuse_undefined(scores: Scores, name: str) -> None:
    sides = {"model": scores.model, "model without input": scores.model_plain}
    for rule in scores.dataset:
        sides["dataset"] = scores.dataset[rule]
        sides["dataset without input"] = scores.dataset_plain[rule]
        for side, values in sides.items():
            bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
            if len(bad):
                raise AttackerError(
                    f"the quality of attacker {name} is {values[bad[0]]} in trial {bad[0]} on the {side} "
                    f"side ({len(bad):,} of {len(values):,} trials): a class that is absent from the scored "
                    "records, or a score below 0, has no place in the mean. Take quality='accuracy', or more "
                    "records"
                )
