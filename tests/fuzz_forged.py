"""Saved audits that somebody forged: values of any field are others, and the checksums are right."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from biasamp.results.checksums import with_checksum

Rng = np.random.Generator
_OTHERS: tuple[Any, ...] = (
    *(None, -1, 0, 0.5, 3, True, 1e308, -1e308, 1e-320, 2**70, -(2**70), 10**400, [], {}, ["x"], [[1]]),
    *("", "text", "0", "nan", "A->T", "T->A", "directional", "=cmd|x", "\ud800", "x" * 3000),
)
# Lists of an audit may be long, and their entries are alike.
_ENTRIES = 6


def _records() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    n = 120
    return {
        "id": np.arange(n),
        "g": rng.choice(["w", "m", "x"], n),
        "h": rng.choice(["a", "b"], n),
        "age": rng.integers(18, 80, n),
        "t": rng.integers(0, 2, n),
        "p": rng.integers(0, 2, n),
        "s": rng.random(n).round(2),
        "r": rng.choice(["north", "south"], n),
        "w": rng.integers(1, 3, n),
    }


@cache
def _saved() -> tuple[biasamp.Audit, list[dict[str, Any]]]:
    """An audit, and the documents of several as files have them."""
    records = _records()
    some: dict[str, Any] = {"tasks": "t", "task_predictions": "p", "resamples": 20}
    plain = biasamp.audit(records, attributes=["g", "h"], record="id", **some)
    scored = biasamp.audit(records, attributes="g", task_scores="s", strata="r", record="id", **some)
    binned = biasamp.audit(records, attributes=biasamp.binned("age", edges=[25, 45]), weights="w", **some)
    compared = plain.compared(biasamp.compare({"one": plain, "two": plain}))
    return plain, [
        {**json.loads(one.to_json()), "resamples": one.resamples} for one in (plain, scored, binned, compared)
    ]


def _spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    keys = value if isinstance(value, dict) else range(min(len(value), _ENTRIES)) if isinstance(value, list) else ()
    for key in keys:
        yield from _spots(value[key], (*path, key))


def _another(rng: Rng, value: Any) -> Any:
    """A value in the place of another: of any kind, or of the same."""
    if rng.random() < 0.3:
        return _OTHERS[int(rng.integers(len(_OTHERS)))]
    alike = [other for other in _OTHERS if type(other) is type(value)]
    if alike and rng.random() < 0.7:
        return alike[int(rng.integers(len(alike)))]
    if isinstance(value, dict):
        return {f"z{key}": held for key, held in value.items()}
    if isinstance(value, list):
        return value[::-1] if rng.random() < 0.5 else [*value, *value[-1:]]
    return not value if isinstance(value, bool) else -value if isinstance(value, (int, float)) else 7


def forged(rng: Rng) -> dict[str, Any]:
    """The document of an audit in which some fields are others, with checksums that agree."""
    _, documents = _saved()
    document = copy.deepcopy(documents[int(rng.integers(len(documents)))])
    del document["checksum"]
    places = list(_spots(document))
    part = str(rng.choice(list(document)))
    if rng.random() < 0.7:
        places = [path for path in places if path[0] == part]
    for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.2, 0.2]))):
        path = places[int(rng.integers(len(places)))]
        spot = document
        try:
            for key in path[:-1]:
                spot = spot[key]
            if rng.random() < 0.15:
                del spot[path[-1]]
            else:
                spot[path[-1]] = _another(rng, spot[path[-1]])
        except (KeyError, IndexError, TypeError):  # a change before took it away
            continue
    return with_checksum(document, "metrics" if isinstance(document.get("metrics"), list) else None)


def _check(audit: biasamp.Audit, right: biasamp.Audit) -> None:
    limits = [{"metric": "directional", "max": 0.1}, {"metric": "fpr_difference", "max": 0.3}]
    policy = biasamp.Policy(limits=limits, min_group=1)
    verdict = policy.check(audit, right, earlier=[right, audit, right, audit])
    for written in (verdict.to_markdown, verdict.to_junit, verdict.to_sarif, verdict.to_json):
        written()
    policy.check([audit, right])


def _written(audit: biasamp.Audit) -> None:
    for written in (audit.to_markdown, audit.to_croissant, audit.to_ai_act, lambda: audit.to_model_card(name="m")):
        written()
    str(audit), audit._repr_html_()


def uses(folder: Path) -> tuple[Callable[[biasamp.Audit], Any], ...]:
    """All that is done with a saved audit."""
    right, _ = _saved()
    return (
        _written,
        lambda audit: audit.to_html(folder / "page.html"),
        lambda audit: biasamp.compare({"one": audit, "two": right}).to_html(folder / "compared.html"),
        lambda audit: biasamp.compare({"one": [audit, right], "two": [right, audit]}).to_markdown(),
        lambda audit: biasamp.trajectory({"1": audit, "2": right, "3": audit}).to_html(folder / "steps.html"),
        lambda audit: _check(audit, right),
        lambda audit: biasamp.verify(audit, _records()),
    )
