"""Documents of this version held against those of version 0.1: what has to be equal, and what may move how far.

Everything is equal (floats to 1e-12 of their size), with these exceptions:

- ``version``, ``provenance`` and what tells the time are left out, and so are words: texts may be reworded, but where
  there was a text there is one, and lists of cautions and notes keep their length.
- An interval may have come where version 0.1 had none.
- New keys are welcome; a key that is gone, or holds another type, is a difference.
- Figures that come from resampling or from the influences of records may move where ``Moves`` says so: version 0.1 took
  them from single records, and now they come from bags. An interval's bound may move by 15% of the old interval's
  width, or by 0.002 where that is more; a standard error by 15% of itself; p and q by as much as moves their normal
  deviate by 15%, or by 0.1 where that is more.

The bounds are those that version 0.1 keeps to between its own two paths, records in memory and counts of the same
records (``python tests/golden/make.py --paths`` measures it). Two percentile intervals of 1,000 resamples each differ by
about 3% of their width (one standard deviation of a bound), so that 15% is five of those.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scipy.special import ndtri

EQUAL = 1e-12
TINY = 1e-15  # what is left of sums that cancel
SHARE, LEAST = 0.15, 0.002
LEAST_DEVIATE = 0.1

LEFT_OUT = {"version", "provenance", "created", "time", "timestamp", "seconds"}
WORDS = {"text", "reason", "verdict", "why", "why_not", "note"}
# Lists of words, of which the number counts.
WORD_LISTS = {"cautions", "notes", "reasons"}
# What orders findings; it follows from intervals.
WEIGHTS = {"weight"}
INTERVALS = {"interval", "crossfit_interval"}
_BOUNDS, _TAILS = {"low", "high"}, {"p", "q"}
# Metrics whose aggregate is resampled. Rates of groups are where labels are missing, or records have weights or are in clusters; DPA and
# leakage draw halves of records, and their intervals stay.
RESAMPLED = frozenset({"directional", "multi", "mals"})
RATES = frozenset({"fpr_difference", "tpr_difference", "accuracy_difference", "mean_per_class_accuracy"})


@dataclass(frozen=True)
class Moves:
    """What may move in a document: intervals of aggregates, and with ``pairs`` also what stands beside single pairs.

    Within the entry of a metric, that is so for the metrics of ``of_metrics``.
    """

    aggregates: bool = False
    pairs: bool = False
    of_metrics: frozenset[str] = RESAMPLED
    mals_pairs: bool = False

    def of(self, document: Mapping[str, Any]) -> Moves:
        """The same within a metric's entry: which metric it is decides."""
        metric = document.get("metric")
        if not self.aggregates or not isinstance(metric, str):
            return self
        pairs = self.pairs or (self.mals_pairs and metric == "mals")
        return Moves(metric in self.of_metrics, metric in self.of_metrics and pairs)


NOTHING = Moves()
RECORDS = Moves(aggregates=True)
# The counts of version 0.1 knew the errors of MALS pairs from bags only.
COUNTED = Moves(aggregates=True, mals_pairs=True)
GAPS = Moves(aggregates=True, of_metrics=RESAMPLED | RATES)
# Clusters; also differences of models and figures that a policy looks at, whose bounds stand as a pair's do.
EVERYTHING = Moves(aggregates=True, pairs=True, of_metrics=RESAMPLED | RATES)


def differences(expected: Any, actual: Any, moves: Moves = NOTHING, path: str = "") -> Iterator[str]:
    """Every way in which a document differs from the expected one beyond what may move, in words with its place."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            yield f"{path}: {_kind(actual)} instead of an object"
            return
        yield from _of_objects(expected, actual, moves, path)
    elif isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            shown = f"{len(actual)} items" if isinstance(actual, list) else _kind(actual)
            yield f"{path}: {shown} instead of {len(expected)} items"
            return
        for i, (old, new) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(old, new, moves, f"{path}[{i}]")
    elif _kind(expected) != _kind(actual):
        yield f"{path}: {actual!r} ({_kind(actual)}) instead of {expected!r} ({_kind(expected)})"
    elif not _equal(expected, actual):
        yield f"{path}: {actual!r} instead of {expected!r}"


def _of_objects(expected: dict[str, Any], actual: dict[str, Any], moves: Moves, path: str) -> Iterator[str]:
    moves = moves.of(expected)
    # Where 0.1 had no interval and said why, one may have come.
    appeared = moves.aggregates and expected.get("interval") == [None, None]
    for key, old in expected.items():
        place = f"{path}.{key}"
        if key in LEFT_OUT | WEIGHTS or (appeared and key in {"interval", "interval_method", "cautions"}):
            continue
        if key not in actual:
            yield f"{place}: gone"
            continue
        new = actual[key]
        if key in WORDS and isinstance(old, str):
            if not isinstance(new, str) or bool(new) != bool(old):
                yield f"{place}: {new!r} instead of words"
        elif key in WORD_LISTS and isinstance(old, list) and all(isinstance(item, str) for item in old):
            if not isinstance(new, list) or len(new) != len(old):
                yield f"{place}: {new!r} instead of {len(old)} texts, {old!r}"
        elif moves.aggregates and key in INTERVALS and isinstance(old, list):
            yield from _of_intervals(old, new, place)
        elif moves.aggregates and key == "standard_error" and _finite(old, new):
            if abs(new - old) > max(SHARE * abs(old), LEAST * SHARE):
                yield f"{place}: {new!r} instead of {old!r}, more than {SHARE:.0%} off"
        elif moves.pairs and key in _BOUNDS and _finite(old, new, *(expected.get(name) for name in _BOUNDS)):
            yield from _moved(old, new, expected["high"] - expected["low"], place)
        elif moves.pairs and key in _TAILS and _finite(old, new):
            yield from _of_tails(old, new, place)
        elif key in _TAILS and _finite(old, new):
            # Close to its mean an approximation of a tail is a difference of large numbers: processors differ in the last bits.
            if abs(new - old) > 1e-9 * abs(old):
                yield f"{place}: {new!r} instead of {old!r}"
        else:
            yield from differences(old, new, moves, place)


def _of_intervals(old: Any, new: Any, place: str) -> Iterator[str]:
    if not isinstance(new, list) or len(new) != 2 or not _finite(*old) or not _finite(*new):
        yield from differences(old, new, NOTHING, place)
        return
    for i in (0, 1):
        yield from _moved(old[i], new[i], old[1] - old[0], f"{place}[{i}]")


def _moved(old: float, new: float, width: float, place: str) -> Iterator[str]:
    if abs(new - old) > max(SHARE * width, LEAST):
        yield f"{place}: {new!r} instead of {old!r}, {abs(new - old) / width if width else math.inf:.0%} of the width off"


def _of_tails(old: float, new: float, place: str) -> Iterator[str]:
    mine, theirs = (float(-ndtri(max(value, 1e-300) / 2.0)) for value in (new, old))
    if abs(mine - theirs) > max(SHARE * theirs, LEAST_DEVIATE):
        yield f"{place}: {new!r} instead of {old!r}, whose deviates are {mine:.3f} and {theirs:.3f}"


def _finite(*values: Any) -> bool:
    return all(
        isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) for value in values
    )


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _equal(old: Any, new: Any) -> bool:
    if isinstance(old, float):
        return old == new or abs(new - old) <= max(EQUAL * max(abs(old), abs(new)), TINY)
    return bool(old == new)


# --- long lists ------------------------------------------------------------------------------------------------------

_LONG, _SHOWN = 40, 6


def shortened(document: Any, moves: Moves = NOTHING) -> Any:
    """The document with long lists cut to their first and last few items and sums over all of them.

    Each column of a list of objects is summed with weights that differ from row to row, so that an item that changes or
    trades places shows, while the last bit of a float does not. What may move is left out of the sums.
    """
    if isinstance(document, dict):
        inner = moves.of(document)
        return {key: shortened(value, inner) for key, value in document.items() if key not in LEFT_OUT}
    if not isinstance(document, list):
        return document
    if len(document) <= _LONG:
        return [shortened(item, moves) for item in document]
    return {
        "length": len(document),
        "first": [shortened(item, moves) for item in document[:_SHOWN]],
        "last": [shortened(item, moves) for item in document[-_SHOWN:]],
        "sums": _sums(document, moves),
    }


def _sums(items: list[Any], moves: Moves) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for i, item in enumerate(items):
        for name, value in _leaves(item, "", moves):
            # Weights of the golden ratio's multiples: no two rows have the same.
            weight = 1.0 + (i * 0.6180339887498949) % 1.0
            held = out.setdefault(name, {"filled": 0})
            if value is None:
                continue
            held["filled"] += 1
            if isinstance(value, (bool, int, float)):
                held["sum"] = held.get("sum", 0.0) + weight * float(value)
                held["size"] = held.get("size", 0.0) + abs(weight * float(value))
            else:
                code = sum(byte * (1 + k % 251) for k, byte in enumerate(str(value).encode("utf-8", "replace")))
                held["text"] = (held.get("text", 0) + (i + 1) * code) % (1 << 53)
    for held in out.values():
        if "sum" in held:  # rounding is of the size of what was added, not of what is left
            held["sum"] = 2.0 + (held["sum"] / held["size"] if held["size"] else 0.0)
    return out


def _leaves(item: Any, name: str, moves: Moves) -> Iterator[tuple[str, Any]]:
    if isinstance(item, dict):
        inner = moves.of(item)
        for key, value in item.items():
            if key in LEFT_OUT | WORDS | WORD_LISTS | WEIGHTS:
                continue
            if (inner.aggregates and key in INTERVALS | {"standard_error"}) or (
                inner.pairs and key in _BOUNDS | _TAILS
            ):
                continue
            yield from _leaves(value, f"{name}.{key}", inner)
    elif isinstance(item, list):
        for i, value in enumerate(item):
            yield from _leaves(value, f"{name}[{i}]", moves)
    else:
        yield name, item
