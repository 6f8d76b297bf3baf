"""How often ``check`` passes a model at its limit, fails one that is under it, and cannot tell."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

import biasamp
from biasamp.policy import Policy

from .cells import MOST_MISSED, beyond
from .population import Case

RESAMPLES = 50
LEAST_DECIDED = 0.8
# What a gate is about: it may not pass, it may not fail, or it has to decide.
AT, UNDER, FAR, BOTH = "at its limit", "under it", "four errors away", "every pair at its limit"


@dataclass(frozen=True)
class Gate:
    """A model, the limit that it is held to, and of what kind it is."""

    model: Case
    limit: dict[str, Any]
    kind: str
    baseline: Case | None = None
    min_group: int = 0
    title: str = ""

    @cached_property
    def policy(self) -> Policy:
        direction = {} if self.limit.get("metric") in ("leakage", "mals") else {"direction": "A->T"}
        limit = {"metric": "directional", **direction, **self.limit}
        if self.baseline is not None:
            limit["against"] = "baseline"
        return Policy(limits=[limit], min_group=self.min_group)

    @property
    def metric(self) -> str:
        return str(self.limit.get("metric", "directional"))

    @property
    def name(self) -> str:
        """What the gate is about, in words."""
        model = self.model
        words = [self.metric] if self.metric != "directional" else []
        words += ["pairs"] if self.limit.get("pairs") else []
        words += ["against a baseline"] if self.baseline is not None else []
        kind = "label" if model.label else "variable" if model.tasks == 1 else "tasks"
        words += [f"{model.tasks} {kind}", f"n={model.n}", f"lean {model.lean:g}", model.name]
        words += [f"limit {self.limit.get('max', self.limit.get('min')):.3g}", self.title]
        return ", ".join(word for word in words if word)

    def outcome(self, rng: np.random.Generator) -> str:
        """The outcome for one sample."""
        drawn = self.model.records(rng)
        audits = []
        cases = [self.model] if self.baseline is None else [self.model, self.baseline]
        for place, case in enumerate(cases):
            if place:  # a model of its own: some of the records are decided anew
                anew = case.chances(drawn.person, rng)
                drawn = replace(drawn, chance=np.where(rng.random(anew.shape) < 0.2, anew, drawn.chance))
            data, options = case.columns(drawn, case.predictions(drawn, rng), np.random.default_rng(7))
            options["metrics"] = ["parity" if "_" in self.metric else self.metric]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                audits.append(biasamp.audit(data, resamples=RESAMPLES if len(cases) == 1 else 200, **options))
        if self.baseline is None:
            return self.policy.check(audits[0]).outcome
        return replace(self.policy, baseline=audits[1]).check(audits[0]).outcome


@dataclass
class Outcomes:
    """How often each outcome came out."""

    gate: Gate
    found: Counter[str] = field(default_factory=Counter)

    @property
    def samples(self) -> int:
        return sum(self.found.values())

    @property
    def broken(self) -> bool:
        """Whether a gate is wrong too often, or decides too seldom, beyond chance."""
        passed, failed, samples = self.found["pass"], self.found["fail"], self.samples
        if self.gate.kind == FAR:
            return beyond(samples - passed - failed, samples, 1 - LEAST_DECIDED)
        wrong = {AT: passed, UNDER: failed, BOTH: max(passed, failed)}[self.gate.kind]
        return beyond(wrong, samples, MOST_MISSED)


def study(gate: Gate, samples: int, seed: int = 0) -> Outcomes:
    """The outcomes over samples of a model."""
    out = Outcomes(gate)
    for stream in np.random.SeedSequence(seed).spawn(samples):
        out.found[gate.outcome(np.random.default_rng(stream))] += 1
    return out


def model(n: int, tasks: int, lean: float, moved: float, name: str = "", **more: Any) -> Case:
    variable = more.pop("variable", False)
    return Case(name, n, tasks, lean, moved, label=tasks == 1 and not variable, **more)


SMALL = (0.02, 0.98)


def at_the_limit() -> Iterator[Gate]:
    """Models whose true value is the limit: they may pass in 5% at most."""

    def gate(case: Case, **more: Any) -> Gate:
        return Gate(case, {"max": case.side.directional}, AT, **more)

    for tasks in (1, 20, 80):
        for size in (500, 4000):
            for lean in (0.02, 0.06, 0.15):
                yield gate(model(size, tasks, lean, 0.02))
    for size in (200, 1000, 2000, 5000):
        yield gate(model(size, 1, 0.15, 0.02, "2% group", groups=SMALL))
        yield gate(model(size, 20, 0.05, 0.02, "2% group", groups=SMALL))
        yield gate(model(size, 1, 0.15, 0.02, "2% group, all errors one way", groups=SMALL, errors=0.0))
        yield gate(model(size, 1, 0.15, 0.02, "one way, one group", errors=0.0, first_only=True))
    for size, moved in ((300, 0.02), (1000, 0.01), (1000, 0.03), (2000, 0.02), (2000, 0.1), (2000, 0.07)):
        few = {"errors": 0.0, "first_only": True, "rate": 0.5}
        yield gate(model(size, 1, 0.2, moved, "2% group alone errs, one way", groups=SMALL, **few))
        yield gate(model(size, 1, 0.2, moved, "2% group alone errs, one way", groups=SMALL, variable=True, **few))
    for size in (500, 2000):
        yield gate(model(size, 1, 0.15, 0.03, "weights", weighted=True))
        yield gate(model(size, 20, 0.06, 0.03, "weights", weighted=True))
        yield gate(model(size, 1, 0.15, 0.03, "clusters of 5", cluster=5))
        yield gate(model(size, 20, 0.06, 0.03, "clusters of 5", cluster=5))
        yield gate(model(size, 5, 0.1, 0.02, "three groups", groups=(0.5, 0.3, 0.2)))
        yield gate(model(size, 5, 0.02, 0.02, "three groups", groups=(0.5, 0.3, 0.2)))
        # Signs of train labels are taken as they are: only where they are right is the limit that of the population.
        yield gate(model(size, 20, 0.15, 0.02, "train labels", trained=True))


def of_other_figures() -> Iterator[Gate]:
    """Other figures at their limit: they may pass in 5% at most."""
    for tasks, size in ((1, 500), (1, 4000), (20, 500), (20, 4000)):
        case = model(size, tasks, 0.15, 0.04, variable=True)
        rates = case.labels.rates
        for metric, rate in (("tpr_difference", "true_positive_rate"), ("fpr_difference", "false_positive_rate")):
            yield Gate(case, {"metric": metric, "max": float(np.ptp(rates[rate], axis=0).max())}, AT)
        each = 0.5 * (rates["true_positive_rate"] + 1 - rates["false_positive_rate"])
        yield Gate(case, {"metric": "mean_per_class_accuracy", "min": float(each.mean(axis=0).min())}, AT)
    for size in (500, 4000):
        case = model(size, 1, 0.15, 0.04, variable=True)
        yield Gate(case, {"metric": "multi", "max": float(np.abs(case.side.delta).mean())}, AT)
        even = model(size, 1, 0.15, 0.04, variable=True, rate=0.5)
        yield Gate(even, {"metric": "dpa", "max": even.side.dpa}, AT)


def against_a_baseline() -> Iterator[Gate]:
    """Models that are worse than their baseline by the limit: they may pass in 5% at most."""
    for tasks in (1, 20):
        for size in (500, 2000):
            for lean in (0.02, 0.15):
                one, two = model(size, tasks, lean, 0.03), model(size, tasks, lean, 0.01)
                yield Gate(one, {"max": one.side.directional - two.side.directional}, AT, two)
    for moved in (0.01, 0.02):
        few = {"errors": 0.0, "first_only": True}
        one, two = model(400, 1, 0.15, moved, "few differ", **few), model(400, 1, 0.15, 0.0, "", **few)
        yield Gate(one, {"max": moved}, AT, two)
    for tasks in (1, 20):
        one, two = model(1000, tasks, 0.0, 0.0, "", tied=0.1), model(1000, tasks, 0.0, 0.0)
        apart = [float(np.ptp(case.labels.hit, axis=0).max()) for case in (one, two)]
        yield Gate(one, {"metric": "tpr_difference", "max": apart[0] - apart[1]}, AT, two)


def under_the_limit() -> Iterator[Gate]:
    """Models at 0 and at half the limit: they may fail in 5% at most; how often they pass is printed, not bounded."""
    for tasks in (1, 20, 80):
        for moved in (0.0, 0.01):
            for lean in (0.02, 0.15):
                yield Gate(model(1000, tasks, lean, moved), {"max": 0.02}, UNDER, title=f"true {moved:g}")


def error_of(case: Case, samples: int = 40, seed: int = 1) -> float:
    """The standard error of the value, from samples."""
    values = []
    for stream in np.random.SeedSequence(seed).spawn(samples):
        rng = np.random.default_rng(stream)
        drawn = case.records(rng)
        values.append(biasamp.directional(drawn.group, drawn.truth, case.predictions(drawn, rng)).value)
    return float(np.std(values, ddof=1))


def four_errors() -> Iterator[Gate]:
    """Clear directions and a truth four standard errors from the limit: at least 80% must be decided."""
    for tasks in (1, 20, 80):
        for size in (500, 2000):
            case = model(size, tasks, 0.25, 0.03)
            error = error_of(case)
            for side in (-4, 4):
                limit = case.side.directional + side * error
                yield Gate(case, {"max": limit}, FAR, title=f"{-side:+d} errors")


def all_pairs() -> Iterator[Gate]:
    """Every pair at its limit, where neither passing nor failing is right in more than 5%; then every pair under it."""
    for tasks in (1, 20, 80):
        yield Gate(model(2000, tasks, 0.2, 0.03), {"max": 0.03, "pairs": True}, BOTH)
        yield Gate(model(1000, tasks, 0.03, -0.05), {"max": 0.02, "pairs": True}, UNDER)


def bound_shares(case: Case, limit: float, samples: int, seed: int = 0) -> tuple[float, float, float]:
    """In how many samples the upper bound is at or below the limit, below the truth, and the lower bound above it."""
    found = []
    for stream in np.random.SeedSequence(seed).spawn(samples):
        rng = np.random.default_rng(stream)
        drawn = case.records(rng)
        columns = [drawn.truth, case.predictions(drawn, rng)]
        if case.variable:
            columns = [column[:, 0] for column in columns]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = biasamp.directional(drawn.group, *columns).bounds()
        assert made is not None
        found.append((made.low, made.high))
    (low, high), truth = np.array(found).T, case.side.directional
    return float((high <= limit).mean()), float((high < truth).mean()), float((low > truth).mean())


def bounded() -> Iterator[Case]:
    """Models whose bounds are held against the truth: sizes, tasks, directions, groups and errors crossed."""
    for tasks in (1, 20, 80):
        for size in (200, 1000):
            for lean in (0.01, 0.05, 0.15):
                for groups, words in (((0.5, 0.5), ""), (SMALL, "2% group")):
                    for errors in (0.0, 0.1):
                        yield model(size, tasks, lean, 0.02, words, groups=groups, errors=errors)
    for size in (200, 500, 1000):
        for variable in (False, True):
            few = {"errors": 0.0, "first_only": True, "variable": variable}
            yield model(size, 1, 0.15, 0.02, "one group errs", **few)
            yield model(size, 1, 0.15, 0.02, "2% group alone errs", groups=SMALL, **few)


STUDIES = (at_the_limit, of_other_figures, against_a_baseline, under_the_limit, four_errors, all_pairs)
