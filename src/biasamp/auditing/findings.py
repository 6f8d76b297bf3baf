"""Findings in plain words, each with the figure it rests on, the weightiest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from biasamp.data import printable

from .audit_result import Finding
from .cautions import CAUTIONS
from .context import Context, arrow, bounds, figure, number, side
from .margins import Audited
from .mistakes import MISTAKES

# Findings come before cautions; within each, larger effects first.
_FINDING, _PAIR, _BESIDE = 100.0, 80.0, 60.0
_PAIRS_SHOWN = 3
# An aggregate is said to hide its pairs when the largest is so many times larger.
_HIDES = 5.0
# Changes that cancel to within this are two sides of one change.
_MIRROR = 1e-12


def find(document: dict[str, Any], subjects: Sequence[Audited]) -> list[Finding]:
    """Everything worth saying about an audit."""
    context = Context(document, subjects)
    found = [
        *_amplification(context),
        *_pairs(context),
        *_hidden(context),
        *_multi(context),
        *_predictability(context),
        *_mals(context),
        *_parity(context),
    ]
    for caution in (*CAUTIONS, *MISTAKES):
        found.extend(caution(context))
    return sorted(found, key=lambda finding: -finding.weight)


def _amplification(context: Context) -> Iterator[Finding]:
    for entry in context.entries("directional"):
        value, where = entry["value"], f"{printable(entry['attribute'], 40)}, {arrow(entry['direction'])}"
        effect = (
            "predictions of the task lean further towards the groups that the data tie it to"
            if entry["direction"] == "A->T"
            else "predictions of the attribute lean further towards the tasks that the data tie it to"
        )
        verdict = side(entry)
        shown = f"{number(value)}{bounds(entry)}"
        crossed = _crossed(entry)
        if verdict and crossed is not None:
            verdict = 0
            words = (
                f"{where}: amplification is {shown} with signs from the same records, which they cannot tell for many "
                f"pairs; with signs from the other half of them it is {crossed}. This concludes nothing."
            )
        elif verdict is None:
            words = f"{where}: amplification is {shown}. There is no interval, so this concludes nothing."
        elif verdict > 0:
            words = f"{where}: the model amplifies the bias of its data, {shown}: {effect}."
        elif verdict < 0:
            words = f"{where}: the model weakens the associations of its data, {shown}."
        elif any(entry["interval"]):
            words = f"{where}: amplification is {shown}. The interval covers 0, so this concludes nothing."
        else:
            words = (
                f"{where}: amplification is 0 in every resample: no pair has a direction, or no prediction is wrong."
            )
        yield Finding(
            "finding", "amplification", words, _FINDING + (10 if verdict else 0) + abs(value or 0.0), figure(entry)
        )


def _crossed(entry: dict[str, Any]) -> str | None:
    """The cross-fitted value where signs are in doubt and its interval does not say the same as the value's."""
    low, high = entry.get("crossfit_interval") or (None, None)
    doubtful = any("cannot tell the direction" in caution for caution in entry.get("cautions", ()))
    if low is None or high is None or not doubtful or (1 if low > 0 else -1 if high < 0 else 0) == side(entry):
        return None
    return f"{number(entry['crossfit'])} [{number(low)}, {number(high)}]"


def _pairs(context: Context) -> Iterator[Finding]:
    for entry in context.entries("directional"):
        told = [
            pair
            for pair in entry["pairs"]
            if pair["clear"] and pair["low"] is not None and (pair["low"] > 0 or pair["high"] < 0)
        ]
        told.sort(key=lambda pair: -abs(pair["amplification"]))
        if not told:
            continue
        named = _distinct(told)[:_PAIRS_SHOWN]
        shown = "; ".join(
            f"{printable(pair['given'], 30)} → {printable(pair['outcome'], 30)} "
            f"{number(pair['truth_rate'], False)} becomes {number(pair['predicted_rate'], False)} "
            f"({number(pair['amplification'])} [{number(pair['low'])}, {number(pair['high'])}])"
            for pair in named
        )
        up = sum(pair["amplification"] > 0 for pair in told)
        words = (
            f"{printable(entry['attribute'], 40)}, {arrow(entry['direction'])}: of {_listed(entry)}, {up} are "
            f"amplified and {len(told) - up} weakened beyond their interval. Largest: {shown}."
        )
        yield Finding("finding", "pairs", words, _PAIR + abs(told[0]["amplification"]), figure(entry, pairs=named))


def _listed(entry: dict[str, Any]) -> str:
    """How many pairs are looked at, and of how many: a document lists those that change most."""
    listed, known = len(entry["pairs"]), entry.get("pairs_in_all", len(entry["pairs"]))
    return f"{listed:,} pairs" if listed == known else f"the {listed:,} listed pairs of {known:,}"


def _distinct(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pairs without mirror images: what a group gains in one of two outcomes it loses in the other."""
    kept: list[dict[str, Any]] = []
    for pair in pairs:
        mirrored = any(
            other["given"] == pair["given"] and abs(other["delta"] + pair["delta"]) < _MIRROR for other in kept
        )
        if not mirrored:
            kept.append(pair)
    return kept


def _hidden(context: Context) -> Iterator[Finding]:
    """An aggregate near 0 can hide large opposite pairs."""
    for entry in context.entries("directional"):
        told = [p for p in entry["pairs"] if p["low"] is not None and p["clear"]]
        up = max((p["amplification"] for p in told if p["low"] > 0), default=0.0)
        down = min((p["amplification"] for p in told if p["high"] < 0), default=0.0)
        if up > 0 > down and min(up, -down) > _HIDES * abs(entry["value"]):
            words = (
                f"{printable(entry['attribute'], 40)}, {arrow(entry['direction'])}: the aggregate {number(entry['value'])} "
                f"hides pairs that move in opposite ways, from {number(down)} to {number(up)}: read the pairs."
            )
            yield Finding("finding", "opposite-pairs", words, _PAIR + 5.0, figure(entry, low=down, high=up))


def _multi(context: Context) -> Iterator[Finding]:
    for entry in context.entries("multi"):
        floor = entry.get("floor")
        if floor is None:
            continue
        low = entry["interval"][0]
        above = entry["value"] > floor if low is None else low > floor
        words = (
            f"{printable(entry['attribute'], 40)}, {arrow(entry['direction'])}: rates change by "
            f"{number(entry['value'], False)}{bounds(entry)} on average (Multi); a model without amplification that errs as "
            f"often would show {number(floor, False)}. "
            + ("The change is more than noise." if above else "This is no more than noise would give.")
        )
        yield Finding("finding", "multi", words, _BESIDE + entry["value"], figure(entry, floor=floor))


def _predictability(context: Context) -> Iterator[Finding]:
    for metric, title in (("dpa", "DPA"), ("leakage", "leakage amplification")):
        for entry in context.entries(metric):
            where = f"{printable(entry['attribute'], 40)}" + (
                f", {arrow(entry['direction'])}" if entry["direction"] else ""
            )
            verdict = side(entry)
            if metric == "dpa":
                up, down = "easier", "harder"
                words = "the model's answers are {} to guess from what is given than the truth is"
            else:
                up, down = "more", "less"
                words = "the model's answers give the attribute away {} than the truth does"
            if verdict is None:
                said = "without an interval this concludes nothing"
            elif entry["interval"] == [0, 0]:
                said = "no resample moves it"
            elif not verdict:
                said = "the interval covers 0, so this concludes nothing"
            else:
                said = words.format(up if verdict > 0 else down)
            gain = entry["model_gain"]
            text = (
                f"{where}: {title} is {number(entry['value'])}{bounds(entry)}: {said}. Attackers gain {number(gain)} over "
                "guessing without input."
            )
            weight = _BESIDE + (5.0 if verdict else 0.0) + abs(entry["value"] or 0.0)
            yield Finding("finding", metric, text, weight, figure(entry, gain=entry["gain"], model_gain=gain))


def _mals(context: Context) -> Iterator[Finding]:
    for entry in context.entries("mals"):
        wrong = [pair for pair in entry["pairs"] if pair.get("wrong_group")]
        words = f"{printable(entry['attribute'], 40)}: MALS, which mixes both directions, is {number(entry['value'])}{bounds(entry)}."
        if wrong:
            words += (
                f" For {len(wrong)} of {len(entry['pairs'])} pairs it follows the larger group instead of the associated "
                f"one, such as ({printable(wrong[0]['given'], 30)}, {printable(wrong[0]['outcome'], 30)}): prefer the "
                "directional values."
            )
        yield Finding("finding", "mals", words, _BESIDE - 5.0, figure(entry, wrong_group=len(wrong)))


_COMPANIONS = {
    "tpr_difference": "true positive rates differ by up to",
    "fpr_difference": "false positive rates differ by up to",
    "accuracy_difference": "accuracies differ by up to",
}


def _parity(context: Context) -> Iterator[Finding]:
    for attribute in context.document["data"]["attributes"]:
        parts, largest, first = [], 0.0, None
        for metric, words in _COMPANIONS.items():
            entry = context.entry(metric, attribute, "A->T")
            if entry is None:
                continue
            first = first or entry
            parts.append(f"{words} {number(entry['value'], False)} ({printable(entry['outcome'], 30)})")
            largest = max(largest, entry["value"])
        if first is not None:
            text = f"{printable(attribute, 40)}: between groups, {', '.join(parts)}."
            yield Finding("finding", "parity", text, _BESIDE - 10.0 + largest, figure(first))
