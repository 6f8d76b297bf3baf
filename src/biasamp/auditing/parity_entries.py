"""The rates of groups as an audit's document has them: a row for each group, and an entry for each companion."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from biasamp.amplification.group_rates import (
    GroupRates,
    Proportion,
    between_groups,
    group_rates,
    over_groups,
    rate_figures,
)
from biasamp.amplification.largest_difference import Deciding, largest_difference, lowest_mean_accuracy
from biasamp.amplification.parity import (
    DIFFERENCES,
    Parity,
    from_bags,
    rates_of,
    resampled_rates,
    unseen_discordance,
)
from biasamp.amplification.positive import Outcomes
from biasamp.counts.bags import BagCounts
from biasamp.counts.pair import PairCounts, outcome_masks
from biasamp.data.label import Mask, printable
from biasamp.data.scores import USUAL, decide
from biasamp.resampling.intervals import FEW_FREEDOM
from biasamp.results.interval import FEW_CLUSTERS, FEWEST_CLUSTERS, LEFT_OUT, TOO_FEW_CLUSTERS, Caution, plain

from .settings import Measured, Settings
from .subject import Counted

# A document lists the rates of so many groups and outcomes; where there are more, those of the outcomes that
# differ most between groups.
MOST_RATES = 1000
_NO_PARITY = "parity compares task predictions, which were not given"
_MEAN = "mean_per_class_accuracy"
_FEW = "no two groups have {} records that this rate is taken over: smaller ones decide it"
_LEFT_OUT = "the difference leaves out groups of which fewer than {} records have what the rate is taken over: {}"
# Groups that a caution names of many.
_NAMED = 5
_FEW_CLUSTERS = (
    "the rates of a group rest on about {:.0f} clusters: how much so few differ is poorly known, and intervals of these rates and "
    "of their differences cover less often than their level"
)
_METHOD = "Newcombe score"
_METHOD_OF_MANY = "Clopper-Pearson limits combined, simultaneous over {:,} differences (Bonferroni)"


def measure_parity(subject: Counted, outcomes: Outcomes, settings: Settings, out: Measured) -> None:
    """The table of groups, and one entry for each of the four companions of A->T."""
    everything = subject.pairs("A->T")
    if everything is None:
        out.skip(subject.attribute, "parity", "A->T", _NO_PARITY)
        return
    out.unknown_positive = outcomes.unknown
    bags = everything.only(*outcome_masks(everything.counts, outcomes.columns))
    made = rates_of(bags, subject.clustered)
    reference = None if subject.reference is None else bags.counts.given_labels.index(subject.reference)
    kept = subject.compared[subject.known["A"]]
    result = from_bags(bags, "A->T", proportions=made, level=settings.confidence, reference=reference, kept=kept)
    places: dict[str, int] = {}
    groups: dict[str, tuple[int, int]] = {}
    decided = _decided_rates(subject, outcomes) if bags.soft else None
    for name, rate in DIFFERENCES.items():
        decides = Deciding.of(made[rate], settings.min_group, kept)
        found = largest_difference(made[rate], decides, settings.confidence)
        if found is None:
            out.skip(subject.attribute, name, "A->T", "no two groups have this rate")
            continue
        places[name], groups[name] = found.outcome, (found.higher, found.lower)
        labels = bags.counts.given_labels
        sizes = made[rate].size[[found.higher, found.lower], found.outcome]
        over_all = result.table[name]
        entry = _entry(subject, result, name, found.value, (found.low, found.high), found.outcome)
        entry.update(
            interval_method=_METHOD if found.compared == 1 else _METHOD_OF_MANY.format(found.compared),
            between=[str(labels[found.higher]), str(labels[found.lower])],
            sizes=[plain(size) for size in sizes],
            expected=plain(found.expected),
        )
        entry["outcomes"] = [
            {"outcome": label, name: plain(value), "low": plain(low), "high": plain(high)}
            for label, value, low, high in zip(result.table["outcome"], *found.by_outcome, strict=True)
        ]
        cautions = _few_clusters(made[rate], decides.all)
        if made[rate].records[decides.all].min() < settings.min_group:
            cautions.append(Caution(_FEW.format(settings.min_group), "small-groups"))
        gone = _left_out(made[rate], decides.all, kept & (made["accuracy"].records > 0).any(axis=1), settings.min_group)
        if gone:
            named = {str(labels[group]): held for group, held in gone.items()}
            entry["left_out"] = {label: plain(size) for label, (size, _) in named.items()}
            some = {label: many for label, (_, many) in named.items() if many}
            if some:
                entry["left_out_outcomes"] = some
            cautions.append(_said_left_out(named, len(entry["outcomes"]), settings.min_group))
        if cautions:
            entry["cautions"] = cautions
        if bags.soft:
            # A rate is taken over the same records, whatever is predicted: so the same groups decide.
            apart = None if decided is None else between_groups(np.where(decides.all, getattr(decided, rate), np.nan))
            entry["decided"] = None if apart is None else plain(np.nanmax(apart))
        if not np.isclose(np.nanmax(over_all), found.value):
            entry["every_group"] = plain(np.nanmax(over_all))
        out.entries.append(entry)
    rates = made["true_positive_rate"], made["false_positive_rate"]
    values, lowest, low, high = lowest_mean_accuracy(*rates, kept, settings.confidence)
    if np.isnan(values).all():
        out.skip(subject.attribute, _MEAN, "A->T", "no two groups have this rate")
    else:
        places[_MEAN] = lowest
        entry = _entry(subject, result, _MEAN, values[lowest], (low, high), lowest)
        entry["between"] = None
        if bags.soft:
            entry["decided"] = (
                None if decided is None else plain(np.nanmin(over_groups(decided.mean_per_class_accuracy[kept])))
            )
        cautions = [words for rate in rates for words in _few_clusters(rate, kept[:, None] & (rate.size > 0))]
        if cautions:
            entry["cautions"] = cautions[:1]
        entry["outcomes"] = [{k: plain(row[k]) for k in ("outcome", _MEAN)} for row in result.table.rows()]
        entry["groups"] = result.groups.plain_rows()
        entry["excluded"] = list(result.excluded)
        out.entries.append(entry)
    out.rates += _rows(subject, bags, made, settings, reference, kept)
    drawing = partial(resampled_rates, bags, places, groups, kept) if bags.resamplable and places else None
    unseen = unseen_discordance(made, places, groups, kept)
    out.results.append(replace(result, _draw=drawing, _unseen=unseen))


def _decided_rates(subject: Counted, outcomes: Outcomes) -> GroupRates | None:
    """The rates of the decisions that probabilities make, at 0.5 or for the likeliest class; None without the scores."""
    try:
        held = None if subject.data is None else subject.data.records.evaluation(subject.number, "A->T")
    except ValueError:  # too many to be read again
        return None
    if held is None or held.missing:
        return None
    hard = replace(held, predicted=decide(held.predicted, USUAL)[0]).only(*subject.with_truth("A->T"))
    counts = PairCounts.from_labels(hard)
    return group_rates(counts.only(*outcome_masks(counts, outcomes.columns)))


def _left_out(made: Proportion, decides: Mask, there: Mask, least: float) -> dict[int, tuple[float, int]]:
    """Groups that decide in no outcome, with the most records that their rate is taken over; and those that have too few in some
    outcomes, with the fewest and in how many.

    Where no two groups have enough anywhere all decide that have a rate, and only others are left out.
    """
    out: dict[int, tuple[float, int]] = {}
    asked = (made.size[there] > 0).any(axis=0)
    partly = bool((made.records[decides] >= least).all())
    for group in np.flatnonzero(there).tolist():
        held, few = made.records[group], asked & (made.records[group] < least)
        if not decides[group].any() and held.max() < least:
            out[group] = float(held.max()), 0
        elif partly and few.any():
            out[group] = float(held[few].min()), int(few.sum())
    return out


def _said_left_out(groups: dict[str, tuple[float, int]], outcomes: int, least: int) -> Caution:
    """What to say of groups that are in no difference, or not in those of some outcomes."""
    shown = [
        f"{printable(group, 40)} ({size:,.0f}{f' in {many:,} of {outcomes:,} outcomes' if many else ''})"
        for group, (size, many) in groups.items()
    ]
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return Caution(_LEFT_OUT.format(least, ", ".join(shown[:_NAMED]) + more), LEFT_OUT)


def _few_clusters(made: Proportion, decides: Mask) -> list[Caution]:
    """What to say where the rates that decide rest on few clusters."""
    if made.units is None or not decides.any():
        return []
    least = float(made.units[decides].min())
    kind = TOO_FEW_CLUSTERS if least < FEWEST_CLUSTERS else FEW_CLUSTERS
    return [Caution(_FEW_CLUSTERS.format(least), kind)] if least < FEW_FREEDOM else []


def _entry(
    subject: Counted,
    result: Parity,
    name: str,
    value: float,
    interval: tuple[float, float],
    outcome: int,
) -> dict[str, Any]:
    return {
        "attribute": subject.attribute,
        "metric": name,
        "direction": "A->T",
        "value": plain(value),
        "interval": [plain(bound) for bound in interval],
        "n": plain(result.n),
        "outcome": result.table["outcome"][outcome],
    }


def _rows(
    subject: Counted,
    bags: BagCounts,
    made: dict[str, Proportion],
    settings: Settings,
    reference: int | None,
    kept: Mask,
) -> list[dict[str, Any]]:
    """A row for every group and outcome: its size, and each rate with its interval."""
    labels, outcomes = bags.counts.given_labels, bags.counts.outcome_labels
    figures = {rate: rate_figures(part, settings.confidence, reference) for rate, part in made.items()}
    for held in figures.values():
        for name in held:
            if name.startswith(("difference", "ratio")):
                held[name] = np.where(kept[:, None], held[name], np.nan)
    apart = np.nan_to_num(np.stack([between_groups(made[rate].value[kept]) for rate in DIFFERENCES.values()]))
    most = max(1, MOST_RATES // len(labels))
    columns = np.sort(np.argsort(-apart.max(axis=0), kind="stable")[:most])
    records = subject.sizes["A"][1].tolist()
    return [
        {
            "attribute": subject.attribute,
            "group": str(label),
            "outcome": str(outcomes[column]),
            "records": records[row],
            "share": plain(records[row] / subject.records),
            "ignored": label in subject.ignored,
            "reference": row == reference,
            **{
                rate: {name: plain(values[row, column]) for name, values in held.items()}
                for rate, held in figures.items()
            },
        }
        for column in columns.tolist()
        for row, label in enumerate(labels)
    ]
