"""What the figures of an audit are evidence of, with all its sentences counted.

An audit of twenty tasks makes dozens of figures; at 95% each, one in twenty would be called a discovery on data without
any. So figures that get a verdict in words are judged together by Holm's rule, and pairs that are named by
Benjamini-Hochberg over all pairs of the audit. Tables keep the interval of each figure by itself.

References
----------
Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from biasamp.resampling.significance import normal_quantile
from biasamp.results.metric_registry import METRICS

from .document_types import AuditDocument, Entry, Pair
from .mirrors import each_once

# A value is called as good as 0 where it lies within one point of a hundred of it for certain.
AS_GOOD_AS_0 = 0.01
# A pair is named where its change is a discovery at this rate of false ones among all pairs of the audit.
FALSE_DISCOVERIES = 0.05

Place = tuple[str, str, str | None]
Key = TypeVar("Key")


def place_of(entry: Mapping[str, Any]) -> Place:
    """What tells one figure of an audit from all others."""
    return entry["attribute"], entry["metric"], entry["direction"]


def two_sided_p(value: float, bound: float, null: float, quantile: float) -> float:
    """The p-value of ``null``, by the bound towards it, which is ``quantile`` standard errors away; 1 if it is beyond.

    A bound that was widened for other reasons (a selected maximum, an unknown direction) makes the error too large and
    the p-value with it, never too small.

    >>> round(two_sided_p(3.0, 1.04, 0.0, 1.96), 4)
    0.0027
    """
    from scipy.special import ndtr

    away = value - null
    if not away * (bound - null) > 0:
        return 1.0
    reach = abs(value - bound)
    return 0.0 if reach == 0 else float(2.0 * ndtr(-quantile * abs(away) / reach))


def holm(p_values: Mapping[Key, float], level: float) -> set[Key]:
    """The tests that are rejected so that any false rejection at all has at most the chance ``1 - level``.

    >>> sorted(holm({"a": 0.01, "b": 0.04, "c": 0.03}, 0.95))
    ['a']
    """
    rejected: set[Key] = set()
    for rank, key in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        if p_values[key] > (1.0 - level) / (len(p_values) - rank):
            break
        rejected.add(key)
    return rejected


def _test(entry: Entry, level: float) -> tuple[int, float] | None:
    """Which way a figure points, and the p-value of its null; None where it has no interval."""
    value = entry["value"]
    low, high = entry["interval"]
    if value is None or low is None or high is None:
        return None
    null, quantile = 0.0, normal_quantile(level)
    if entry["metric"] == "multi":
        if entry.get("floor") is None:
            return None
        null = entry["floor"] or 0.0
        high = null  # below what noise gives is never more than noise
    known = entry.get("bounds")
    if known and entry.get("unknown") and known[0] is not None and known[1] is not None:
        # One-sided, and a little further than this normal quantile, so that the p-value is not too small.
        low, high, quantile = known[0], known[1], normal_quantile(2.0 * level - 1.0)
    up = value > null
    return (1 if up else -1), two_sided_p(value, low if up else high, null, quantile)


def verdicts(document: AuditDocument) -> dict[Place, int]:
    """Every figure that gets a verdict in words: +1 or -1 where it is decided, all of them counted, else 0."""
    level = document["data"]["confidence"]
    tests = {}
    for entry in document["metrics"]:
        metric = METRICS.get(entry["metric"])
        if metric is None or not metric.judged:
            continue
        test = _test(entry, level)
        if test is not None:
            tests[place_of(entry)] = test
    decided = holm({key: p for key, (_, p) in tests.items()}, level)
    return {key: side if key in decided else 0 for key, (side, _) in tests.items()}


def kept(document: AuditDocument) -> set[Place]:
    """The directional values that lie within ``AS_GOOD_AS_0`` of 0 for certain, whichever the signs that are unknown.

    Both one-sided bounds lie there, at a level that counts all such values (Bonferroni). Data without any known direction
    have no bias that could be kept.
    """
    level = document["data"]["confidence"]
    held = [entry for entry in document["metrics"] if entry["metric"] == "directional" and entry.get("bounds")]
    if not held:
        return set()
    further = normal_quantile(1.0 - 2.0 * (1.0 - level) / len(held)) / normal_quantile(2.0 * level - 1.0)
    out = set()
    for entry in held:
        value, (low, high) = entry["value"], entry.get("bounds") or (None, None)
        if value is None or low is None or high is None or not known_directions(entry):
            continue
        if max(abs(value + further * (end - value)) for end in (low, high)) < AS_GOOD_AS_0:
            out.add(place_of(entry))
    return out


def counts_fractions(document: AuditDocument) -> bool:
    """Whether task predictions are probabilities, so that rates of groups are mean scores."""
    made = ((e["metric"], e["direction"]) for e in document["metrics"] if "decided" in e)
    return document["data"].get("soft_tasks", False) or ("directional", "A->T") in made


def of_fractions(document: AuditDocument, entry: Entry) -> bool:
    """Whether the predictions of a directional value are probabilities, so that its predicted rates are mean scores."""
    return "decided" in entry or (entry["direction"] == "A->T" and counts_fractions(document))


def known_directions(entry: Entry) -> list[Pair]:
    """The pairs whose direction is known: signs of other records are as they are, those of these must be sure."""
    return [pair for pair in entry["pairs"] if pair.get("known") and pair["sign"]]


def direction_known(pair: Pair) -> bool:
    """Whether the direction of a pair is known, with all pairs counted; documents of 0.1 know each test by itself."""
    return pair.get("known", pair.get("clear", True))


def measured_from(entry: Entry) -> str:
    """Whose bias amplification is measured from: the data's, or that of a base which was given."""
    return "the base" if entry.get("base_source") else "its data"


def unknown_directions(entry: Entry) -> tuple[int, int]:
    """How many pairs have a direction that is not known, and of how many: each fact once where all pairs are listed."""
    pairs = entry["pairs"]
    in_all = entry.get("pairs_in_all", len(pairs))
    if len(pairs) < in_all:
        return entry.get("unknown", 0), in_all
    once = each_once(pairs)
    return sum(not direction_known(pair) for pair in once), len(once)


def changed_pairs(entry: Entry) -> list[Pair]:
    """The pairs that change for certain, the largest first, each fact once.

    Each is a discovery among all pairs of the audit, which q-values count, and beyond its own interval.
    """
    changed = (pair for pair in each_once(entry["pairs"]) if _changes(pair))
    return sorted(changed, key=lambda pair: -abs(pair["delta"] or 0.0))


def _changes(pair: Pair) -> bool:
    q, low, high = pair.get("q"), pair["low"], pair["high"]
    if q is None or q >= FALSE_DISCOVERIES or low is None or high is None:
        return False
    return low > 0 or high < 0 or not pair["sign"]


def wrong_groups(entry: Entry, sizes: Mapping[str, float] | None, level: float) -> list[Pair]:
    """The pairs for which MALS follows the larger group, not the associated one, for certain.

    Both must be sure: which group the task is associated with, and on which side of ``1 / |A|`` its share lies.
    ``sizes`` are the records that have each task; None where labels of other records decide, which are as they are.
    """
    wrong = [pair for pair in entry["pairs"] if pair.get("wrong_group")]
    if sizes is None:
        return wrong
    share = 1.0 / len({pair["given"] for pair in entry["pairs"]})
    p = {i: max(pair["sign_p"] or 0.0, _share_p(pair, share, sizes)) for i, pair in enumerate(entry["pairs"])}
    sure = {id(entry["pairs"][i]) for i in holm(p, level)}
    return [pair for pair in wrong if id(pair) in sure]


def _share_p(pair: Pair, share: float, sizes: Mapping[str, float]) -> float:
    """Two-sided p-value that a group's share of the records that have a task is ``share``."""
    from scipy.special import ndtr

    size = sizes.get(pair["outcome"], 0.0)
    if pair["truth_rate"] is None or not size:
        return 1.0
    error = np.sqrt(share * (1.0 - share) / size)
    return float(2.0 * ndtr(-abs(pair["truth_rate"] - share) / error))
