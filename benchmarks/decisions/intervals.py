"""Every interval of an audit's document against the truth of the population that its records are of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .audited import Audited
from .population import NONE, Side

# Fields of a document that hold an interval, and what measures them here; those that repeat another are named with it.
RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "precision")
MEASURED = {
    "metrics[].interval",
    "metrics[].crossfit_interval",
    "metrics[].clear_interval",
    "metrics[].bounds",
    "metrics[].pairs[].low",
    "metrics[].outcomes[].low",
    *(f"rates[].{rate}.{figure}low" for rate in RATES for figure in ("", "difference_", "ratio_")),
    "invented[].low",
    "differences[].low",
    "pairs[].low",
}
REPEATED = {
    "findings[].figure.interval": "metrics[].interval",
    "findings[].figure.pairs[].low": "metrics[].pairs[].low",
    "differences[].first_interval": "metrics[].interval",
    "differences[].second_interval": "metrics[].interval",
    **{
        f"metrics[].groups[].{rate}_{figure}low": f"rates[].{rate}.{figure}low"
        for rate in RATES
        for figure in ("", "difference_", "ratio_")
    },
}
_DIFFERENCES = {
    "tpr_difference": "true_positive_rate",
    "fpr_difference": "false_positive_rate",
    "accuracy_difference": "accuracy",
}


class Held(NamedTuple):
    """One interval: of which figure, whether it holds the truth, and whether the audit warns of it."""

    figure: str
    held: bool
    cautioned: bool


def interval_fields(document: Any, path: str = "") -> Iterator[str]:
    """The path of every field that holds an interval, or its low end."""
    if isinstance(document, dict):
        for name, value in document.items():
            inner = f"{path}.{name}" if path else name
            if name in ("bounds", "low") or name.endswith(("_low", "interval")):
                yield inner
            yield from interval_fields(value, inner)
    elif isinstance(document, list):
        for value in document:
            yield from interval_fields(value, f"{path}[]")


def checked(audited: Audited) -> Iterator[Held]:
    """Every interval of the document."""
    for entry in audited.document["metrics"]:
        direction = f" {entry['direction']}" if entry["direction"] and audited.case.both else ""
        yield from METRICS[entry["metric"]](audited, entry, entry["metric"] + direction)
    yield from _rates(audited)


def _decide(audited: Audited, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The groups and outcomes that decide the largest difference of a rate: of all outcomes, and of each by itself."""
    case, data = audited.case, audited.data
    least = audited.document["data"]["min_group"]
    w = data.get("w", np.ones(len(data["g"])))
    held = np.zeros((len(case.groups), case.tasks))
    for g in range(len(case.groups)):
        here = data["g"] == chr(97 + g)
        unit = (w[here] ** 2).sum() / w[here].sum() if here.any() else 1.0
        for k in range(case.tasks):
            of = {"tpr_difference": data[f"t{k}"] == 1, "fpr_difference": data[f"t{k}"] == 0}.get(name, True)
            held[g, k] = w[here & of].sum() / unit
    some = held > 0
    some &= some.sum(axis=0) >= 2
    there = some & (held >= least)
    there &= there.sum(axis=0) >= 2
    return there if there.any() else some, np.where(there.any(axis=0), there, some)


def _rates(audited: Audited) -> Iterator[Held]:
    side, truth = audited.case.labels, audited.case.labels.rates
    for row in audited.document.get("rates", ()):
        g, k = side.given.index(row["group"]), int(row["outcome"].split("=")[0][1:])
        words = audited.size_name(row["group"])
        alone = row["group"] in audited.small or audited.few_clusters
        either = alone or side.given[0] in audited.small
        for rate in RATES:
            shown, mine, theirs = row[rate], truth[rate][g, k], truth[rate][0, k]
            yield from _one(f"{rate}{words}", shown["low"], shown["high"], mine, alone)
            if row["reference"] or "difference" not in shown:
                continue
            ends = shown["difference_low"], shown["difference_high"]
            yield from _one(f"{rate} difference{words}", *ends, mine - theirs, either)
            ends = shown["ratio_low"], shown["ratio_high"]
            yield from _one(f"{rate} ratio{words}", *ends, mine / theirs, either)


def _one(figure: str, low: Any, high: Any, truth: float, cautioned: bool) -> Iterator[Held]:
    if low is None and high is None:
        return
    low, high = -np.inf if low in (None, "-inf") else low, np.inf if high in (None, "inf") else high
    if not np.isnan(truth):
        yield Held(figure, bool(low - NONE <= truth <= high + NONE), cautioned)


def _pairs(audited: Audited, entry: dict[str, Any], name: str, truth: dict[tuple[str, str], float]) -> Iterator[Held]:
    """The pairs of an entry; ``truth`` are their changes, turned by the sign that is shown."""
    sizes = entry["metric"] == "multi"
    for pair in entry["pairs"]:
        change = truth[pair["given"], pair["outcome"]]
        change = abs(change) if sizes else change * (pair["sign"] if entry["metric"] != "mals" else bool(pair["sign"]))
        group = pair["given"] if entry["direction"] != "T->A" else ""
        figure = f"{name} pairs{audited.size_name(group)}"
        yield from _one(figure, pair["low"], pair["high"], change, pair["given"] in audited.small)


def directional(audited: Audited, entry: dict[str, Any], name: str) -> Iterator[Held]:
    side = audited.case.sides[entry["direction"]]
    signs = np.sign(side.lean)
    shown = np.full(side.truth.shape, np.nan)
    for pair in entry["pairs"]:
        shown[side.place(pair)] = pair["sign"]
    if audited.case.trained:
        signs = shown
    there = ~np.isnan(shown)
    turned = signs * side.delta
    value = float(turned[there].mean())
    yield from _one(name, *entry["interval"], value, audited.warned(entry) or audited.unclear(entry))
    if entry.get("crossfit_interval"):
        yield from _one(f"{name} cross-fitted", *entry["crossfit_interval"], value, audited.unclear(entry))
    clear = [side.place(pair) for pair in entry["pairs"] if pair["clear"]]
    of_clear, doubted = f"{name} of clear pairs", audited.warned(entry) or audited.unclear(entry)
    if entry.get("clear_interval"):
        some = float(np.mean([turned[place] for place in clear]))
        yield from _one(of_clear, *entry["clear_interval"], some, doubted)
    else:  # which pairs are clear is chance, too: what is not shown is not wrong
        yield Held(of_clear, True, doubted)
    if entry.get("bounds"):
        low, high = entry["bounds"]
        # Signs that the population does not have either may be any.
        any_sign = np.where(signs == 0, shown, signs) * side.delta
        yield from _one(f"{name} upper bound", None, high, min(value, any_sign[there].mean()), False)
        yield from _one(f"{name} lower bound", low, None, max(value, any_sign[there].mean()), False)
    delta = {(g, o): side.delta[i, j] for i, g in enumerate(side.given) for j, o in enumerate(side.outcome)}
    yield from _pairs(audited, entry, name, delta)


def multi(audited: Audited, entry: dict[str, Any], name: str) -> Iterator[Held]:
    case = audited.case
    side = case.sides[entry["direction"]]
    if case.tasks == 1:
        there = np.zeros(side.truth.shape, dtype=bool)
        for pair in entry["pairs"]:
            there[side.place(pair)] = True
        delta = {(g, o): side.delta[i, j] for i, g in enumerate(side.given) for j, o in enumerate(side.outcome)}
        value = float(np.abs(side.delta)[there].mean())
    else:
        truth = np.stack([audited.data[f"t{k}"] for k in range(case.tasks)], axis=1)
        sets = np.unique(truth, axis=0).astype(bool)
        sets = sets[sets.any(axis=1)]
        rates = [np.exp(np.where(sets, np.log(r)[:, None, :], 0.0).sum(axis=2)) for r in (side.predicted, side.truth)]
        change = rates[0] - rates[1]
        value = float(np.abs(change).mean())
        names = [" & ".join(np.array(side.outcome)[row]) for row in sets]
        delta = {(g, o): change[i, j] for i, g in enumerate(side.given) for j, o in enumerate(names)}
    yield from _one(name, *entry["interval"], value, audited.warned(entry))
    yield from _pairs(audited, entry, name, delta)


def dpa(audited: Audited, entry: dict[str, Any], name: str) -> Iterator[Held]:
    case = audited.case
    truth = case.sides[entry["direction"]].dpa if not case.soft else float("nan")
    # Other values than 0 depend on how much attackers learn from so many records.
    truth = truth if truth == 0 or case.n >= 5000 else float("nan")
    yield from _one(name, *entry["interval"], truth, False)


def leakage(audited: Audited, entry: dict[str, Any], name: str) -> Iterator[Held]:
    case = audited.case
    # Other values than 0 depend on how much attackers learn from so many records.
    truth = audited.leakage if audited.leakage == 0 or (case.tasks == 1 and case.n >= 5000) else float("nan")
    yield from _one(name, *entry["interval"], truth, False)


def mals(audited: Audited, entry: dict[str, Any], name: str) -> Iterator[Held]:
    value, change = audited.case.mals
    side = audited.case.side
    yield from _one(name, *entry["interval"], value, audited.warned(entry))
    delta = {(g, o): change[i, j] for i, g in enumerate(side.given) for j, o in enumerate(side.outcome)}
    yield from _pairs(audited, entry, name, delta)


def _largest(rates: np.ndarray, decides: np.ndarray) -> np.ndarray:
    """The largest difference of each outcome; NaN where nothing decides it."""
    top, bottom = np.where(decides, rates, -np.inf).max(axis=0), np.where(decides, rates, np.inf).min(axis=0)
    return np.where(decides.any(axis=0), top - bottom, np.nan)


def parity_difference(audited: Audited, entry: dict[str, Any], name: str) -> Iterator[Held]:
    metric = entry["metric"]
    rates = audited.case.labels.rates[_DIFFERENCES[metric]]
    all_, own = _decide(audited, metric)
    whole = np.nanmax(_largest(rates, all_))
    yield from _one(name, *entry["interval"], float(whole), audited.warned(entry))
    each = _largest(rates, own)
    for row in entry["outcomes"]:
        k = int(row["outcome"].split("=")[0][1:])
        yield from _one(f"{name} by outcome", row["low"], row["high"], float(each[k]), audited.warned(entry))


def mean_accuracy(audited: Audited, entry: dict[str, Any], name: str) -> Iterator[Held]:
    side: Side = audited.case.labels
    each = 0.5 * (side.hit + 1 - side.false)
    both = np.zeros(each.shape, dtype=bool)
    for row in entry["groups"]:
        g, k = side.given.index(row["given"]), int(row["outcome"].split("=")[0][1:])
        both[g, k] = row["mean_per_class_accuracy"] is not None
    with np.errstate(invalid="ignore"):
        means = np.where(both, each, 0.0).sum(axis=0) / both.sum(axis=0)
    yield from _one(name, *entry["interval"], float(np.nanmin(means)), audited.warned(entry))


METRICS = {
    "directional": directional,
    "multi": multi,
    "dpa": dpa,
    "leakage": leakage,
    "mals": mals,
    "mean_per_class_accuracy": mean_accuracy,
    **dict.fromkeys(_DIFFERENCES, parity_difference),
}
