"""``biasamp.compare``: models side by side, from their audits alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, cast, overload

import numpy as np

from biasamp import __version__
from biasamp.association.association_result import Association
from biasamp.association.change import AssociationChange, association_change
from biasamp.association.metrics import usual_metric
from biasamp.data import printable
from biasamp.data.plain_arguments import level_of, one_of
from biasamp.resampling.model_difference import UNDECIDED, Difference
from biasamp.resampling.runs_and_records import MOST_TIMES, margin
from biasamp.resampling.significance import normal_quantile
from biasamp.results.interval import plain, rounded_up
from biasamp.results.metric_registry import METRICS

from .audit_of_runs import interval_of_runs
from .audit_result import Audit
from .comparison_cautions import comparison_cautions
from .comparison_figures import difference_of_figures, within_range
from .comparison_models import Model, read_models, same_seeds
from .comparison_pairs import pair_differences
from .comparison_result import Comparison
from .comparison_runs import crossed_difference, difference_in_words, ranking, runs_behind
from .comparison_types import ComparisonDocument, ModelDifference, Note, Ranking, RunsBehind
from .document_types import Entry
from .evidence import two_sided_p, unknown_directions
from .measurement_types import SCHEMA
from .record_covariance import why_unpaired

Key = tuple[str, str, str]
# Figures that differ by less differ by rounding.
_ROUNDING = 1e-12
_PAIR_SEEDS = " Compare runs of the same seeds alone to pair them."


@overload
def compare(
    audits: Mapping[str, Association], *, level: float = ..., seed: None = ..., against: str | None = ...
) -> AssociationChange: ...


@overload
def compare(
    audits: Mapping[str, Any], *, level: float = ..., seed: Any = ..., against: str | None = ...
) -> Comparison: ...


def compare(
    audits: Mapping[str, Any], *, level: float = 0.95, seed: Any = None, against: str | None = None
) -> Comparison | AssociationChange:
    """Is one model's figure different from another's, beyond what sampling explains?

    Parameters
    ----------
    audits : mapping
        A name and an audit for each model: what :func:`biasamp.audit` gave, the path of a saved one, or counts or the
        path of saved counts, which are measured with the defaults. Or a list of them, one for each training run of the model, or
        a mapping of the runs' names (their seeds) to audits. Others are held against the first. Two results of
        :func:`biasamp.associate` are compared by :func:`biasamp.association_change`, label by label.
    level : float
        The confidence level of the differences.
    seed : sequence or mapping, optional
        The training seed of each run: one list for all models, or a list for each by its name. Runs of the same seeds, or of the
        same names, are paired: what a seed adds to both models drops out.
    against : str, optional
        The model that others are held against, in place of the first.

    Returns
    -------
    Comparison
        Differences are paired where both audits are of the same records (the same ids, or rows where there are
        none) and the same seed of resamples: what the models share then drops out. Otherwise they are unpaired and say why.
        ``.pairs`` says which pairs changed, with q-values over all pairs of all models.

    Notes
    -----
    Of several runs the figures are means. Their difference varies with the seeds of training and with the test records: its variance is that
    over runs, plus that over records (resamples that all runs share), less their interaction, which both hold; its quantile is Cochran's,
    those of few runs and of records weighted by their variances. Where it is not decided, ``more_seeds`` and ``more_records`` say what would decide a difference of this
    size with a chance of 80%: of seeds a 90% range, as few runs tell little of how much runs vary. A model with one run is taken to vary as the other does.
    ``rankings`` say whether the order of the models is stable. With more than two models verdicts count all of them (Holm).

    The simulated coverage of all this is what ``python -m benchmarks models`` prints.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML. Sec. 5.2 and App. A.4.

    Examples
    --------
    >>> import biasamp
    >>> data = {"g": ["w", "m"] * 50, "t": [1, 0] * 50, "old": [1, 0] * 40 + [0, 1] * 10, "new": [1, 0] * 50}
    >>> audits = {
    ...     name: biasamp.audit(data, attributes="g", tasks="t", task_predictions=name, metrics=["directional"])
    ...     for name in ("old", "new")
    ... }
    >>> row = next(biasamp.compare(audits).table.rows())
    >>> row["paired"], row["verdict"]
    (True, 'new amplifies more than old')

    Which pairs changed:

    >>> [(row["given"], row["outcome"], round(row["difference"], 2)) for row in biasamp.compare(audits).changed]
    [('g=m', 't=1', -0.2), ('g=w', 't=1', 0.2)]
    """
    if not isinstance(audits, Mapping) or len(audits) < 2:
        raise ValueError("audits must be a mapping of at least two names to audits, such as {'old': a, 'new': b}")
    level_of(level, "level")
    if any(isinstance(held, Association) for held in audits.values()):
        return _changed_labels(audits, level, seed, against)
    models = _reference_first(read_models(audits, seed), against)
    notes: list[Note] = []
    rows: list[ModelDifference] = []
    for other in models[1:]:
        rows += _differences((models[0], other), level, notes)
    if not rows:
        raise ValueError(f"the audits have no metric in common, so that nothing can be compared: {_figures(models)}")
    if len(models) > 2:
        _count_all_models(rows, level)
    several = any(len(model.audits) > 1 for model in models)
    pairs, pairs_note = pair_differences(models, level)
    distinct = list({note["text"]: note for note in notes}.values())
    document: ComparisonDocument = {
        "schema": SCHEMA,
        "version": __version__,
        "models": [model.name for model in models],
        "level": level,
        "differences": rows,
        "notes": [note["text"] for note in distinct],
        "noted": distinct,
        "runs": {model.name: len(model.audits) for model in models},
        "rankings": _rankings(models, level) if several or len(models) > 2 else [],
        "pairs": pairs,
        "pairs_note": pairs_note,
        "cautions": comparison_cautions(models),
    }
    return Comparison(document)


def _changed_labels(audits: Mapping[str, Any], level: float, seed: Any, against: str | None) -> AssociationChange:
    """What two results of ``associate`` differ in."""
    strange = [name for name, held in audits.items() if not isinstance(held, Association)]
    if strange:
        raise TypeError(
            f"audits: {strange[0]!r} is no result of associate, and others are; they are compared with their like"
        )
    if len(audits) > 2 or seed is not None:
        raise ValueError(
            "two associations are compared, without seed=: call association_change for each two of several"
        )
    names = list(audits)
    if against is not None and against not in names:
        raise ValueError(f"against is {against!r}; the models are {', '.join(map(repr, names))}")
    old = names[0] if against is None else against
    (new,) = (name for name in names if name != old)
    return association_change(audits[old], audits[new], usual_metric(audits[old].metrics), level=level)


def _figures(models: Sequence[Model]) -> str:
    """Which figures each model has, in words."""
    held = ((model.name, [" ".join(filter(None, key)) for key in _entries(model)]) for model in models)
    return "; ".join(f"{name} has {', '.join(map(printable, found[:6])) or 'none'}" for name, found in held)


def _reference_first(models: list[Model], against: str | None) -> list[Model]:
    if against is None:
        return models
    names = [model.name for model in models]
    one_of(against, "against", names)
    return sorted(models, key=lambda model: model.name != against)


def _differences(models: tuple[Model, Model], level: float, notes: list[Note]) -> list[ModelDifference]:
    """Every figure that both models have, and what to know of all of them."""
    names = (models[0].name, models[1].name)
    both = f"{names[0]} and {names[1]}"
    unpaired = _why_not_paired(models)
    if unpaired is not None:
        notes.append({"kind": "unpaired", "text": f"{both} are compared unpaired: {unpaired}."})
    notes += _of_seeds(models)
    entries = [_entries(model) for model in models]
    rows: list[ModelDifference] = []
    lacking: dict[str, list[str]] = {}

    def lacks(which: int, key: Key) -> None:
        reason = next(filter(None, (_why_not_run(audit, key) for audit in models[which].audits)), "")
        words = " ".join(filter(None, key)) + (f" ({reason})" if reason else "")
        lacking.setdefault(f"{names[which]} lacks it", []).append(words)

    for key, mine in entries[0].items():
        theirs = entries[1].get(key)
        if theirs is None:
            lacks(1, key)
            continue
        found = _measured_difference(models, (mine, theirs), unpaired, level)
        if found is None:
            why = f"one of {names[0]} and {names[1]} has no value or no interval there"
            lacking.setdefault(why, []).append(" ".join(filter(None, key)))
            continue
        difference, p, behind = found
        row: ModelDifference = {
            "attribute": key[0],
            "metric": key[1],
            "direction": cast("Any", key[2] or None),
            "models": list(names),
            "first": float(np.mean([cast("float", entry["value"]) for entry in mine])),
            "second": float(np.mean([cast("float", entry["value"]) for entry in theirs])),
            "difference": plain(difference.value),
            "low": plain(difference.low),
            "high": plain(difference.high),
            "paired": difference.paired,
            "method": difference.method,
            "verdict": difference.verdict,
            "first_interval": interval_of_runs(mine, models[0].audits),
            "second_interval": interval_of_runs(theirs, models[1].audits),
            "p": plain(p),
        }
        if behind is not None:
            row["runs"] = behind
        elif difference.verdict == UNDECIDED:
            records = max(model.audits[0].document["data"]["records"] for model in models)
            row["more_records"] = _records_needed(difference, records) if _directed((mine, theirs)) else None
        rows.append(row)
    for key in entries[1]:
        if key not in entries[0]:
            lacks(0, key)
    for why, listed in lacking.items():
        notes.append({"kind": "not-compared", "text": f"not compared, since {why}: {', '.join(listed)}."})
    return rows


def _directed(entries: tuple[Sequence[Entry], Sequence[Entry]]) -> bool:
    """Whether a figure has a direction to go by: one of its pairs is known to lean, or it needs none."""
    for entry in (*entries[0], *entries[1]):
        if entry["metric"] == "directional" and entry.get("pairs"):
            unknown, many = unknown_directions(entry)
            if unknown == many:
                return False
    return True


def _records_needed(found: Difference, records: int) -> int | None:
    """How many records in all would decide a difference of this size with a chance of 80%; None where so many times as many would not."""
    reach = found.value - found.low if found.value > 0.0 else found.high - found.value
    reach += margin(found.standard_error**2)
    times = (reach / abs(found.value)) ** 2 if abs(found.value) > _ROUNDING else float("inf")
    return rounded_up(records * times) if times <= MOST_TIMES else None


def _entries(model: Model) -> dict[Key, list[Entry]]:
    """The figures that all runs of a model have."""
    held = [{_key(entry): entry for entry in audit.document["metrics"]} for audit in model.audits]
    return {key: [run[key] for run in held] for key in held[0] if all(key in run for run in held)}


def _why_not_paired(models: tuple[Model, Model]) -> str | None:
    """Why runs of two models are not of the same records, or None where all are."""
    first = models[0].audits[0]
    audits = [*models[0].audits[1:], *models[1].audits]
    return next((why for audit in audits if (why := why_unpaired(first, audit)) is not None), None)


def _of_seeds(models: tuple[Model, Model]) -> list[Note]:
    """What to know of the runs of two models."""
    runs = [len(model.audits) for model in models]
    both = f"{models[0].name} and {models[1].name}"
    if max(runs) == 1:
        return []
    out = []
    if same_seeds(*models):
        out.append(f"{both} are paired by the seeds of {runs[0]} runs.")
    elif all(model.seeds is not None for model in models) and min(runs) > 1:
        shared = [seed for seed in models[0].seeds or () if seed in (models[1].seeds or ())]
        which = f"share the seeds {', '.join(shared)} only" if shared else "have runs of different seeds"
        out.append(f"{both} {which}: their seeds count as independent.{_PAIR_SEEDS if shared else ''}")
    elif min(runs) > 1 and any(model.seeds is not None for model in models):
        named, other = models if models[0].seeds is not None else models[::-1]
        out.append(
            f"Runs of {named.name} have seeds or names and those of {other.name} none: their seeds count as independent."
        )
    if 2 in runs:
        out.append(
            "Two runs of a model say little of how much seeds move it; a third would shorten intervals more than any after it."
        )
    if min(runs) == 1:
        one, more = models if runs[0] == 1 else models[::-1]
        out.append(
            f"{one.name} has one run: its seeds are taken to vary as those of {more.name} do, which nothing here shows."
        )
    return [{"kind": "seeds", "text": text} for text in out]


def _measured_difference(
    models: tuple[Model, Model], entries: tuple[Sequence[Entry], Sequence[Entry]], unpaired: str | None, level: float
) -> tuple[Difference, float, RunsBehind | None] | None:
    """The difference of one figure, its p-value, and of several runs what it rests on."""
    names = (models[0].name, models[1].name)
    metric = entries[0][0]["metric"]
    if metric not in METRICS:
        return None
    if len(entries[0]) == len(entries[1]) == 1:
        audits = models[0].audits[0], models[1].audits[0]
        found = difference_of_figures((entries[0][0], entries[1][0]), audits, unpaired, level=level, names=names)
        return None if found is None else (found, _p_of(found), None)
    crossed = crossed_difference(models, entries)
    if crossed is None:
        return None
    made, paired = crossed
    by_seed = same_seeds(*models)
    records = max(audit.document["data"]["records"] for model in models for audit in model.audits)
    difference = difference_in_words(made, paired, metric, level, names, by_seed)
    behind = runs_behind(made, entries, by_seed, level, records, _directed(entries))
    return within_range(difference, metric), float(made.p()[0]), behind


def _p_of(found: Difference) -> float:
    """The p-value of no difference, from the interval."""
    if np.isnan(found.low) or np.isnan(found.high):
        return float("nan")
    bound = found.low if found.value > 0.0 else found.high
    return two_sided_p(found.value, bound, 0.0, normal_quantile(found.level))


def _count_all_models(rows: list[ModelDifference], level: float) -> None:
    """Make the verdicts of each figure those with all models counted, by Holm's rule."""
    figures: dict[Key, list[ModelDifference]] = {}
    for row in rows:
        figures.setdefault((row["attribute"], row["metric"], row["direction"] or ""), []).append(row)
    for held in figures.values():
        largest = 0.0
        known = [row for row in held if isinstance(row.get("p"), float)]
        for rank, row in enumerate(sorted(known, key=lambda row: cast("float", row["p"]))):
            largest = max(largest, min((len(known) - rank) * cast("float", row["p"]), 1.0))
            row["adjusted_p"] = largest
            low, high = row["low"], row["high"]
            decided = isinstance(low, float) and isinstance(high, float) and (low > 0.0 or high < 0.0)
            if decided and largest > 1.0 - level:
                row["verdict"] = f"{UNDECIDED} with all models counted"


def _rankings(models: Sequence[Model], level: float) -> list[Ranking]:
    """The order of all models by each figure that all of them have."""
    entries = [_entries(model) for model in models]
    out = []
    for key in entries[0]:
        if not all(key in held for held in entries):
            continue
        p: dict[tuple[int, int], float] = {}
        for one, two in combinations(range(len(models)), 2):
            pair = models[one], models[two]
            found = _measured_difference(pair, (entries[one][key], entries[two][key]), _why_not_paired(pair), level)
            if found is not None:
                p[one, two] = found[1]
        if len(p) == len(models) * (len(models) - 1) // 2:
            out.append(ranking(key, models, [held[key] for held in entries], p, level))
    return out


def _why_not_run(audit: Audit, key: tuple[str, str, str]) -> str:
    """Why an audit has no such figure, where it says so."""
    for row in audit.not_run:
        if (row["attribute"], row["metric"], row["direction"] or "") == key:
            return row["reason"]
    return ""


def _key(entry: Entry) -> tuple[str, str, str]:
    return entry["attribute"], entry["metric"], entry["direction"] or ""
