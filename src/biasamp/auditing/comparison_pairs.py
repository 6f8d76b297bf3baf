"""Which pairs changed between models, from what saved audits hold of their bags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from biasamp.predictability.paired_halves import PairedHalves
from biasamp.resampling.pair_bags import PairBags
from biasamp.resampling.runs_and_records import CrossedMean, difference_of_runs
from biasamp.resampling.significance import q_values
from biasamp.results.interval import plain

from .audit_result import Audit
from .comparison_models import Model, same_seeds
from .comparison_types import PairDifference
from .document_types import Pair
from .evidence import direction_known
from .measuring import name_of
from .record_covariance import halves_of, why_unpaired

Floats = NDArray[np.float64]

# Less of a variance than this is by records only by chance: halves are few.
_LEAST_PART = 0.25


def pair_differences(models: Sequence[Model], level: float) -> tuple[list[PairDifference], str]:
    """Every pair of every model held against the first, and why there are none, or why some are missing."""
    lacking = [model.name for model in models if any("pairs" not in audit.resamples for audit in model.audits)]
    if lacking:
        return [], (
            f"Pairs are not compared: what was saved of {', '.join(lacking)} has totals only. Version 0.1 saved no pairs by bag, and "
            "to_json() none at all: audit again and save()."
        )
    held = [[_kept(audit) for audit in model.audits] for model in models]
    out: list[PairDifference] = []
    missing: set[str] = set()
    for other in range(1, len(models)):
        runs = [*held[0], *held[other]]
        for name in runs[0]:
            if all(name in run for run in runs):
                out += _of_figure((models[0], models[other]), [run[name] for run in runs], name, level)
            else:
                missing.add(name)
        out += _of_attackers((models[0], models[other]), level)
    missing |= _too_many(models)
    _corrected(out)
    note = ""
    if missing:
        note = f"Pairs of {', '.join(sorted(missing))} are not compared: a model lacks them, or they are too many to be kept by bag."
    return out, note


def _kept(audit: Audit) -> dict[str, PairBags]:
    return {name: PairBags.from_dict(saved) for name, saved in audit.resamples["pairs"].items()}


def _too_many(models: Sequence[Model]) -> set[str]:
    """The figures with pairs that no audit keeps by bag."""
    return {
        name_of(entry["attribute"], entry["metric"], entry["direction"])
        for model in models
        for audit in model.audits
        for entry in audit.document["metrics"]
        if entry["metric"] == "directional"
        and name_of(entry["attribute"], entry["metric"], entry["direction"]) not in audit.resamples["pairs"]
    }


def _listed(audits: Sequence[Audit], name: str) -> Iterator[tuple[tuple[str, str], Pair]]:
    """The pairs of a figure that audits list, with their labels."""
    for audit in audits:
        for entry in audit.document["metrics"]:
            if name_of(entry["attribute"], entry["metric"], entry["direction"]) == name:
                yield from (((pair["given"], pair["outcome"]), pair) for pair in entry.get("pairs", ()))


def _of_figure(models: tuple[Model, Model], bags: list[PairBags], name: str, level: float) -> list[PairDifference]:
    given = [label for label in bags[0].given if all(label in held.given for held in bags)]
    outcome = [label for label in bags[0].outcome if all(label in held.outcome for held in bags)]
    if not given or not outcome:
        return []
    bags = [held.only(given, outcome) for held in bags]
    audits = [*models[0].audits, *models[1].audits]
    made, paired = _difference(models, audits, bags)
    first = len(models[0].audits)
    before, after = (np.mean([held.delta for held in part], axis=0) for part in (bags[:first], bags[first:]))
    reach, p = made.reach(level).reshape(before.shape), made.p().reshape(before.shape)
    signs = np.stack([held.sign for held in bags])
    sign = np.where((signs == signs[0]).all(axis=0), signs[0], 0)
    metric, direction, attribute = name.split("/", 2)
    rows: list[PairDifference] = []
    for i, j in np.ndindex(before.shape):
        change = float(after[i, j] - before[i, j])
        rows.append(
            {
                "attribute": attribute,
                "metric": metric,
                "direction": cast("Any", direction or None),
                "models": [models[0].name, models[1].name],
                "given": given[i],
                "outcome": outcome[j],
                "sign": int(sign[i, j]),
                "first": plain(float(before[i, j])),
                "second": plain(float(after[i, j])),
                "difference": plain(change),
                "low": plain(max(change - float(reach[i, j]), -2.0)),
                "high": plain(min(change + float(reach[i, j]), 2.0)),
                "p": plain(float(p[i, j])),
                "q": None,
                "support": float(bags[0].total[i, j]),
                "paired": paired,
            }
        )
    mirrors = {place for place, pair in _listed(audits[:1], name) if pair.get("mirror")}
    unknown = {place for place, pair in _listed(audits, name) if not direction_known(pair)}
    for row in rows:
        if (row["given"], row["outcome"]) in mirrors:
            row["mirror"] = True
        if (row["given"], row["outcome"]) in unknown:
            row["sign"] = 0
    return rows


def _of_attackers(models: tuple[Model, Model], level: float) -> list[PairDifference]:
    """The labels that attackers predict one by one, as DPA of several tasks does, each against the attribute."""
    audits = [*models[0].audits, *models[1].audits]
    out: list[PairDifference] = []
    for name in audits[0].resamples.get("halves", {}):
        held = [found for audit in audits if (found := halves_of(audit, name)) is not None and found.labels]
        labels = [label for label in held[0].labels if all(label in one.labels for one in held)] if held else []
        if len(held) == len(audits) and labels:
            out += _of_labels(models, held, labels, name, level)
    return out


def _of_labels(
    models: tuple[Model, Model], held: list[PairedHalves], labels: list[str], name: str, level: float
) -> list[PairDifference]:
    audits = [*models[0].audits, *models[1].audits]
    places = [np.array([one.labels.index(label) for label in labels]) for one in held]
    covariance, by_records = np.zeros((2, len(held), len(held), len(labels)))
    paired = True
    for i, one in enumerate(held):
        for j, two in enumerate(held[: i + 1]):
            alike = one.labels == two.labels and one.halves == two.halves
            together = i == j or (alike and why_unpaired(audits[i], audits[j]) is None)
            paired = paired and together
            if together:
                covariance[i, j] = covariance[j, i] = one.covariance(two)[1:][places[i]]
                by_records[i, j] = by_records[j, i] = one.covariance_by_records(two)[1:][places[i]]
    first = len(models[0].audits)
    covariance *= _without_noise(covariance, by_records, first)
    for i, one in enumerate(held):
        covariance[i, i] += one.noise[1:][places[i]] + 1.0 / audits[i].document["data"]["records"] ** 2
    values = np.stack([one.values[place] for one, place in zip(held, places, strict=True)])
    made = difference_of_runs(
        values,
        covariance,
        range(first),
        range(first, len(held)),
        same_seeds=same_seeds(*models),
        units=float(held[0].halves),
    )
    metric, direction, attribute = name.split("/", 2)
    records = float(min(audit.document["data"]["records"] for audit in audits))
    before, after = values[:first].mean(axis=0), values[first:].mean(axis=0)
    reach, p = made.reach(level), made.p()
    return [
        {
            "attribute": attribute,
            "metric": metric,
            "direction": cast("Any", direction or None),
            "models": [models[0].name, models[1].name],
            "given": attribute,
            "outcome": label,
            "sign": 1,
            "first": plain(float(before[k])),
            "second": plain(float(after[k])),
            "difference": plain(float(after[k] - before[k])),
            "low": plain(max(float(after[k] - before[k] - reach[k]), -2.0)),
            "high": plain(min(float(after[k] - before[k] + reach[k]), 2.0)),
            "p": plain(float(p[k])),
            "q": None,
            "support": records,
            "paired": paired,
        }
        for k, label in enumerate(labels)
    ]


def _without_noise(covariance: Floats, by_records: Floats, first: int) -> Floats:
    """Which part of the variance of each difference is by records and not by the trials on halves, which the figures on all records have few of."""
    runs = len(covariance)
    factors = np.where(np.arange(runs) < first, -1.0 / first, 1.0 / (runs - first))
    whole, part = (np.einsum("i,ij...,j->...", factors, held, factors) for held in (covariance, by_records))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.nan_to_num(part / whole, nan=1.0), _LEAST_PART, 1.0)


def _difference(models: tuple[Model, Model], audits: Sequence[Audit], bags: list[PairBags]) -> tuple[CrossedMean, bool]:
    """The difference of all pairs, and whether the runs are paired by records."""
    pairs = bags[0].delta.size
    covariance = np.zeros((len(bags), len(bags), pairs))
    pulls = [held.influence().reshape(len(held.moved), pairs) for held in bags]
    paired = True
    for i, one in enumerate(pulls):
        for j, two in enumerate(pulls[: i + 1]):
            together = i == j or (len(one) == len(two) and why_unpaired(audits[i], audits[j]) is None)
            paired = paired and together
            if together:
                covariance[i, j] = covariance[j, i] = (one * two).sum(axis=0)
    filled = min(held.filled for held in bags)
    covariance *= filled / max(filled - 1, 1)
    for i, held in enumerate(bags):
        covariance[i, i] += held.unseen.reshape(-1)
    first = len(models[0].audits)
    made = difference_of_runs(
        np.stack([held.delta.reshape(-1) for held in bags]),
        covariance,
        range(first),
        range(first, len(bags)),
        same_seeds=same_seeds(*models),
        units=float(filled),
    )
    return made, paired


def _corrected(rows: list[PairDifference]) -> None:
    """Give all rows their q-values; the pairs of all models are one family."""
    p = np.array([np.nan if row["p"] is None else row["p"] for row in rows], dtype=np.float64)
    for row, q in zip(rows, q_values(p).tolist() if rows else (), strict=True):
        row["q"] = plain(q)
