"""What a saved audit must look like before anything believes it: the types of its document, and bounds.

The checks are made from the types in :mod:`biasamp.auditing.document_types`, as the JSON schema is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from biasamp.data import printable
from biasamp.results.metric_registry import METRICS

from .document_types import BOUNDS, SavedAudit

_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    NoneType: "null",
    list: "a list",
    dict: "an object",
}
# Digests of 64 bits are the largest whole numbers of an audit.
_BEYOND = 1 << 64
# A problem: the field, and what is wrong with it.
Problem = tuple[str, str]
Check = Callable[[Any, str], Iterator[Problem]]


def first_problem(document: Mapping[str, Any], *, closed: bool) -> Problem | None:
    """The first field of a saved audit that is not as it must be, and what is wrong with it.

    ``closed`` refuses fields that are not known, which a later version may have added.
    """
    if closed:
        for name in document:
            if name not in SavedAudit.__annotations__:
                return name, "is no field of an audit"
    for problem in _check_of(SavedAudit)(document, ""):
        return problem
    return next(_contradictions(document), None)


@cache
def _check_of(kind: Any) -> Check:
    """What checks values of a type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (NotRequired, Required):
        return _check_of(inner[0])
    if kind is Any:
        return lambda value, path: iter(())
    if is_typeddict(kind):
        return _check_of_fields(kind)
    if origin in (Union, UnionType):
        return _check_of_any(inner)
    if origin is Literal:
        return _check_of_values(inner)
    if origin is list:
        return _check_of_items(_check_of(inner[0]))
    if origin is dict:
        return _check_of_entries(_check_of(inner[1]))
    return _check_of_plain(kind)


def _check_of_fields(kind: Any) -> Check:
    checks = {name: _check_of(held) for name, held in get_type_hints(kind, include_extras=True).items()}
    required, bounds = (
        sorted(kind.__required_keys__),
        BOUNDS.get(kind.__name__.replace("SavedAudit", "AuditDocument"), {}),
    )

    def check(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield path, _found("an object", value)
            return
        for name in required:
            if name not in value:
                yield _under(path, name), "is missing"
        for name, held in value.items():
            if name in checks:
                yield from checks[name](held, _under(path, name))
                yield from _beyond(held, bounds.get(name, {}), _under(path, name))

    return check


def _check_of_any(kinds: tuple[Any, ...]) -> Check:
    checks = [_check_of(kind) for kind in kinds]
    words = " or ".join(_WORDS.get(get_origin(kind) or kind, " or ".join(map(repr, get_args(kind)))) for kind in kinds)

    def check(value: Any, path: str) -> Iterator[Problem]:
        if all(next(one(value, path), None) for one in checks):
            # A list or an object of the right kind says itself which of its parts is wrong.
            inner = [found for one in checks for found in [next(one(value, path))] if found[0] != path]
            yield inner[0] if inner else (path, _found(words, value))

    return check


def _check_of_values(values: tuple[Any, ...]) -> Check:
    def check(value: Any, path: str) -> Iterator[Problem]:
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in values):
            yield path, _found(" or ".join(map(repr, values)), value)

    return check


def _check_of_items(inner: Check) -> Check:
    def check(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, list):
            yield path, _found("a list", value)
            return
        for place, item in enumerate(value):
            yield from inner(item, f"{path}[{place}]")

    return check


def _check_of_entries(inner: Check) -> Check:
    def check(value: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield path, _found("an object", value)
            return
        for name, held in value.items():
            yield from inner(held, _under(path, name))

    return check


def _check_of_plain(kind: Any) -> Check:
    kinds = (int, float) if kind is float else (kind,)

    def check(value: Any, path: str) -> Iterator[Problem]:
        # True is an integer to Python, and text may be of a class of its own.
        if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
            yield path, _found(_WORDS[kind], value)
        elif isinstance(value, int) and abs(value) >= _BEYOND:
            yield path, "is a whole number beyond 64 bits"
        elif kind is float and not math.isfinite(value):
            yield path, f"must be finite, and is {value}"

    return check


def _beyond(value: Any, bounds: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Where a value of the right type is beyond its bounds."""
    for word, bound in bounds.items():
        if word in ("minItems", "minLength") and isinstance(value, (list, str)) and len(value) < bound:
            yield path, f"has {len(value)} items, and {bound} or more are needed"
        elif word == "maxItems" and isinstance(value, list) and len(value) > bound:
            yield path, f"has {len(value)} items, and {bound} at most are possible"
        elif isinstance(value, (int, float)) and (
            (word == "minimum" and value < bound)
            or (word == "exclusiveMinimum" and value <= bound)
            or (word == "exclusiveMaximum" and value >= bound)
        ):
            yield path, f"is {value}, which is beyond {bound}"


def _lengths(resamples: Mapping[str, Any]) -> Iterator[Problem]:
    """What resamples of the same records are known by, where there are any, and lists of numbers that are not as long as what they are of."""
    for name in ("seed", "resamples", "records") if resamples else ():
        if name not in resamples:
            yield f"resamples.{name}", "is missing"
    for name, held in resamples.get("pairs", {}).items():
        given, outcome, bags = len(held["given"]), len(held["outcome"]), held["bags"]
        pairs = given * outcome
        fits = {
            "moved": (bags * pairs,),
            "size": (bags * given, bags * pairs),
            "against": (0, pairs),
            "sign": (pairs,),
        }
        for field, lengths in fits.items():
            yield from _another_length(held[field], lengths, f"resamples.pairs.{printable(name, 60)}.{field}")
    for name, held in resamples.get("halves", {}).items():
        labels = len(held["labels"])
        fits = {"values": (labels,), "noise": (1 + labels,), "figures": (2 * held["halves"] * (1 + labels),)}
        for field, lengths in fits.items():
            yield from _another_length(held[field], lengths, f"resamples.halves.{printable(name, 60)}.{field}")


def _another_length(held: Any, lengths: tuple[int, ...], path: str) -> Iterator[Problem]:
    if len(held) not in lengths:
        yield path, f"has {len(held):,} numbers, and {' or '.join(f'{length:,}' for length in lengths)} are needed"


def _contradictions(document: Mapping[str, Any]) -> Iterator[Problem]:
    """What cannot be, though every value is of its type."""
    data = document["data"]
    yield from _lengths(document.get("resamples", {}))
    for place, row in enumerate(document["findings"]):
        yield from _figure_problems(row["figure"], f"findings[{place}].figure")
    for place, group in enumerate(data["groups"]):
        if group["attribute"] not in data["attributes"]:
            yield (
                f"data.groups[{place}].attribute",
                f"is {printable(group['attribute'], 40)!r}, which is no attribute of the audit",
            )
        if group["records"] > data["records"]:
            yield f"data.groups[{place}].records", f"is {group['records']}, more than all {data['records']} records"
    for place, entry in enumerate(document["metrics"]):
        path = f"metrics[{place}]"
        if entry["attribute"] not in data["attributes"]:
            yield f"{path}.attribute", f"is {printable(entry['attribute'], 40)!r}, which is no attribute of the audit"
        if entry["n"] < 0:
            yield f"{path}.n", f"is {entry['n']}, below 0"
        for name in ("interval", "crossfit_interval", "clear_interval"):
            if len(entry.get(name, ())) == 2:
                yield from _upside_down(entry[name][0], entry[name][1], f"{path}.{name}")
        of_means = entry["metric"] in METRICS and METRICS[entry["metric"]].pairs_of == "mean"
        for number, pair in enumerate(entry.get("pairs", ())):
            yield from _upside_down(pair["low"], pair["high"], f"{path}.pairs[{number}].low")
            for name in ("sign_p", "p", "q", *(() if of_means else ("truth_rate", "predicted_rate"))):
                yield from _no_share(pair.get(name), f"{path}.pairs[{number}].{name}")
        metric = METRICS.get(entry["metric"])
        value = entry["value"]
        if metric is not None and value is not None and not metric.low - _ROUNDING <= value <= metric.high + _ROUNDING:
            yield f"{path}.value", f"is {value}, and {entry['metric']} lies between {metric.low:g} and {metric.high:g}"
    groups = {(group["attribute"], group["group"]) for group in data["groups"]}
    for place, row in enumerate(document.get("rates", ())):
        if (row["attribute"], row["group"]) not in groups:
            yield f"rates[{place}].group", f"is {printable(row['group'], 40)!r}, which is no group of the attribute"
        for name, rate in row.items():
            if isinstance(rate, dict):
                yield from _no_share(rate["value"], f"rates[{place}].{name}.value")


def _figure_problems(figure: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """What a finding concludes, which other parts of a report repeat, and of which figure."""
    if "verdict" not in figure:
        return
    if figure["verdict"] not in (-1, 0, 1, None):
        yield f"{path}.verdict", _found("-1, 0, 1 or null", figure["verdict"])
    for name in ("attribute", "metric", "direction"):
        if not isinstance(figure.get(name, 0), (str, NoneType)):
            yield f"{path}.{name}", "is missing" if name not in figure else _found("text or null", figure[name])


_ROUNDING = 1e-9


def _upside_down(low: float | None, high: float | None, path: str) -> Iterator[Problem]:
    if low is not None and high is not None and low > high:
        yield path, f"ends at {high}, below where it begins, {low}"


def _no_share(value: float | None, path: str) -> Iterator[Problem]:
    if value is not None and not -_ROUNDING <= value <= 1.0 + _ROUNDING:
        yield path, f"is {value}, and a share lies between 0 and 1"


def _found(wanted: str, value: Any) -> str:
    kind = (
        "a number that is no whole one"
        if type(value) is float and "whole" in wanted
        else next((words for one, words in _WORDS.items() if type(value) is one), f"a {type(value).__name__}")
    )
    shown = f" ({printable(str(value), 40)})" if isinstance(value, (str, int, float)) and value is not True else ""
    return f"must be {wanted}, and is {kind}{shown}"


def _under(path: str, name: str) -> str:
    return f"{path}.{printable(name, 40)}" if path else printable(name, 40)
