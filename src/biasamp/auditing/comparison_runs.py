"""Differences of models that were trained several times: by seeds and by records, and whether their order is stable."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any, cast

import numpy as np

from biasamp.data import printable
from biasamp.resampling.model_difference import SAME, UNDECIDED, Difference
from biasamp.resampling.runs_and_records import RANGE_LEVEL, CrossedMean, difference_of_runs
from biasamp.results.interval import WITH_CHANCE, plain, rounded_up
from biasamp.results.metric_registry import METRICS, direction_symbol, short_name

from .comparison_models import Model, same_seeds
from .comparison_types import Ranking, RunsBehind
from .document_types import Entry
from .evidence import holm
from .measuring import name_of
from .record_covariance import figure_error, halves_of, record_covariance

# Choices of one run of each model that are looked at; more say the same.
_MOST_CHOICES = 100_000
UNDIRECTED = "No direction of its pairs is known: training labels decide them, not seeds or a few records more."
# Means that differ by less differ by rounding.
_ROUNDING = 1e-12


def crossed_difference(
    models: tuple[Model, Model], entries: tuple[Sequence[Entry], Sequence[Entry]]
) -> tuple[CrossedMean, bool] | None:
    """The difference of one figure of two models, and whether records are paired; None where a run has no interval."""
    rows = [*entries[0], *entries[1]]
    audits = [*models[0].audits, *models[1].audits]
    errors = [figure_error(entry, audit) for entry, audit in zip(rows, audits, strict=True)]
    if any(entry["value"] is None for entry in rows) or any(error is None for error in errors):
        return None
    first, second = len(entries[0]), len(entries[1])
    values = np.array([entry["value"] for entry in rows], dtype=np.float64)[:, None]
    name = name_of(rows[0]["attribute"], rows[0]["metric"], rows[0]["direction"])
    covariance, paired = record_covariance(audits, cast("list[float]", errors), name, [0] * first + [1] * second)
    halves = [held.halves for audit in audits if (held := halves_of(audit, name)) is not None]
    made = difference_of_runs(
        values,
        covariance[:, :, None],
        range(first),
        range(first, first + second),
        same_seeds=same_seeds(*models),
        units=float(min(halves, default=np.inf)),
    )
    return made, paired


def difference_in_words(
    made: CrossedMean, paired: bool, metric: str, level: float, names: tuple[str, str], by_seed: bool
) -> Difference:
    """The difference with its interval and verdict."""
    value, reach = float(made.value[0]), float(made.reach(level)[0])
    value = 0.0 if abs(value) < _ROUNDING else value
    low, high = value - reach, value + reach
    verdict = UNDECIDED
    if not reach > 0.0:
        low = high = float("nan")
        verdict = SAME if value == 0.0 else "the difference is undefined: nothing varies"
    elif low > 0.0 or high < 0.0:
        verdict = f"{names[1]} {METRICS[metric].more if low > 0.0 else METRICS[metric].less} than {names[0]}"
    counted = " and ".join(str(part.runs) for part in made.seeds) if not by_seed else f"{made.seeds[0].runs} pairs of"
    method = (
        f"Cochran's t with {made.freedom(level)[0]:.1f} degrees of freedom: {counted} runs, {'paired' if paired else 'unpaired'} "
        f"records{', paired by seed' if by_seed else ''}"
    )
    return Difference(value, low, high, level, paired, float(made.standard_error[0]), verdict, method)


def runs_behind(
    made: CrossedMean,
    entries: tuple[Sequence[Entry], Sequence[Entry]],
    by_seed: bool,
    level: float,
    records: int,
    directed: bool = True,
) -> RunsBehind:
    """What a difference rests on, and what would decide it; without ``directed``, neither seeds nor records of the same kind would."""
    variance = float(made.variance[0])
    seeds = min(float(made.by_seeds[0]), variance)
    out: dict[str, Any] = {
        "first": [entry["value"] for entry in entries[0]],
        "second": [entry["value"] for entry in entries[1]],
        "same_seeds": by_seed,
        "by_seeds": plain(seeds),
        "by_records": plain(variance - seeds),
        "freedom": plain(float(made.freedom(level)[0])),
    }
    share = seeds / variance if variance > 0.0 else 0.0
    words = f"Of the variance of the difference {share:.0%} is by seeds and {1.0 - share:.0%} by records."
    values = [np.array(out[name], dtype=np.float64) for name in ("first", "second")]
    order = (0, 1) if float(made.value[0]) >= 0.0 else (1, 0)
    reach = float(made.reach(level)[0])
    if abs(float(made.value[0])) < _ROUNDING:
        words += f" The means are equal, which no number of seeds or records tells apart; the difference may be up to {reach:.4f} either way."
        out["more_seeds"], out["more_records"] = [None, None], None
        return cast("RunsBehind", {**out, "words": words})
    words += f" One run of each shows a difference of the same sign in {_single_runs(values, order, by_seed):.0%} of choices."
    if reach > 0.0 and abs(float(made.value[0])) <= reach:
        if not directed:
            out["more_seeds"], out["more_records"] = [None, None], None
            return cast("RunsBehind", {**out, "words": f"{words} {UNDIRECTED}"})
        low, high = made.more_runs(level)
        times = made.more_records(level)
        needed = None if times is None else rounded_up(records * times)
        out["more_seeds"], out["more_records"] = [low, high], needed
        words += f" {_needed(low, high, needed)}"
    return cast("RunsBehind", {**out, "words": words})


def _needed(low: int | None, high: int | None, records: int | None) -> str:
    if low is None and records is None:
        return "Neither more seeds on these records nor more records with these seeds would decide a difference of this size; more of both would."
    if low is None:
        seeds = "no number of seeds would decide a difference of this size on these records"
    elif high is None:
        seeds = f"at least {low:,} more seeds of each would decide a difference of this size {WITH_CHANCE}, and perhaps no number would"
    elif low == high:
        seeds = (
            f"{low:,} more seed{'s' if low > 1 else ''} of each would decide a difference of this size {WITH_CHANCE}"
        )
    else:
        seeds = f"{low:,} to {high:,} more seeds of each would decide a difference of this size {WITH_CHANCE} ({RANGE_LEVEL:.0%} range)"
    more = (
        f"about {records:,} records in all would with these seeds{'' if low is not None else f', {WITH_CHANCE}'}"
        if records
        else "no number of records would with these seeds"
    )
    return f"{seeds[0].upper()}{seeds[1:]}; {more}."


def ranking(
    key: tuple[str, str, str],
    models: Sequence[Model],
    entries: Sequence[Sequence[Entry]],
    p: dict[tuple[int, int], float],
    level: float,
) -> Ranking:
    """The models from the least value to the largest; ``p`` are those of all pairs of models."""
    values = [np.array([entry["value"] for entry in rows], dtype=np.float64) for rows in entries]
    means = [float(held.mean()) for held in values]
    order = sorted(range(len(models)), key=lambda place: means[place])
    decided = holm({pair: 1.0 if np.isnan(chance) else chance for pair, chance in p.items()}, level)
    close = [(one, two) for one, two in pairwise(order) if (min(one, two), max(one, two)) not in decided]
    single = _single_runs(values, order, all(same_seeds(models[0], model) for model in models[1:]))
    names = [models[place].name for place in order]
    title = " ".join((printable(key[0], 60), short_name(key[1]), direction_symbol(key[2] or None))).strip()
    if close:
        pairs = "; ".join(f"{models[one].name} and {models[two].name}" for one, two in close)
        words = f"{title}: the order {' < '.join(names)} is not stable: {pairs} cannot be told apart with every model against every other counted."
    else:
        words = f"{title}: the order {' < '.join(names)} is stable."
    if single is not None:
        words += f" One run of each shows it in {single:.0%} of choices."
    return {
        "attribute": key[0],
        "metric": key[1],
        "direction": cast("Any", key[2] or None),
        "models": names,
        "values": [means[place] for place in order],
        "stable": not close,
        "single_run": plain(single),
        "words": words,
    }


def _single_runs(values: Sequence[Any], order: Sequence[int], by_seed: bool) -> float | None:
    """In how many choices of one run of each model the values have an order; runs of one seed go together."""
    if all(len(held) == 1 for held in values):
        return None
    ordered = [values[place] for place in order]
    if by_seed:
        choices: Any = np.stack(ordered, axis=1)
    elif np.prod([float(len(held)) for held in ordered]) <= _MOST_CHOICES:
        choices = np.array(list(product(*ordered)))
    else:
        rng = np.random.default_rng(0)
        choices = np.stack([rng.choice(held, _MOST_CHOICES) for held in ordered], axis=1)
    return float((np.diff(choices, axis=1) > 0.0).all(axis=1).mean())
