"""The explorer page: counts, tests and reasons of one association result or several, label by label.

Metrics, gaps, intervals and ranks follow from counts, and the page computes those that are looked at. One file
therefore holds tens of thousands of labels with every metric. What a metric is travels with them, as its record has it;
a metric that the page has no formula for travels with its figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from biasamp.association.association_result import Association
from biasamp.association.change import association_change
from biasamp.association.metrics import METRICS, usual_metric
from biasamp.data.saving import save_text
from biasamp.results.interval import plain

from .page import page

# The identities of a gap, the second None where it is the rest.
Gap = tuple[str, str | None]
# p and q keep this many digits: more than a reader can use, fewer than a file must carry.
_DIGITS = 9
# Paired limits are computed for so many labels, metrics, gaps and pairs of runs in all, which takes a few seconds.
_PAIRED = 60_000


def explorer_document(runs: Mapping[str, Any], title: str | None = None) -> dict[str, Any]:
    """The document of the explorer page, which is called by its title, or else by the names of the runs.

    ``runs`` are results to look at side by side, by name, each an Association or its ``to_dict()``. They need the same
    identities; labels may differ.

    >>> from biasamp.association.associate import associate
    >>> images = [["man", "bike"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman"]] * 90
    >>> document = explorer_document({"model": associate(images, ["man", "woman"])})
    >>> document["labels"], document["runs"][0]["count"]
    (['bike', 'man', 'woman'], [40, 100, 100])
    """
    if not runs:
        raise ValueError("runs is empty; give at least one association result")
    read = {name: _document(held, name) for name, held in runs.items()}
    first_name, first = next(iter(read.items()))
    _check_alike(read)
    known = [name for name in first["metrics"] if name in METRICS]
    metrics = [name for name in known if all(name in held["metrics"] for held in read.values())]
    if not metrics:
        raise ValueError(f"the results have no metric in common; {first_name!r} has {', '.join(known)}")
    names: dict[str, str] = {}
    for held in read.values():
        for row in held["labels"]:
            names.setdefault(row["label"], row["name"])
    place = {label: i for i, label in enumerate(names)}
    shown = _shared_gaps(read)
    return {
        "kind": "explorer",
        "title": title if title is not None else ", ".join(runs),
        "metrics": metrics,
        "metric": usual_metric(metrics),
        "facts": {name: METRICS[name].facts(first["settings"]["paper_literal"]) for name in metrics},
        "labels": list(names),
        "names": list(names.values()),
        "runs": [{"name": name, **_run(held, place, shown)} for name, held in read.items()],
        "shared": _shared(list(runs.values()), metrics, list(names), shown),
    }


def _shared(runs: list[Any], metrics: list[str], labels: list[str], gaps: Sequence[Gap]) -> list[dict[str, Any]]:
    """What ids say of the records that two runs share, and the limits of paired changes, the usual metric's first.

    Results that were read from JSON have no ids: the page then takes intervals that hold whatever records the runs share.
    """
    usual = usual_metric(metrics)
    ordered = [usual, *(name for name in metrics if name != usual)]
    left, out = _PAIRED, []
    for (i, one), (j, two) in combinations(enumerate(runs), 2):
        if not (isinstance(one, Association) and isinstance(two, Association) and gaps) or not _alike(one, two):
            continue
        limits: dict[str, dict[str, list[Any]]] = {}
        sharing = association_change(one, two, usual, **_sides(gaps[0])).sharing
        if sharing == "unknown":
            continue
        for metric in ordered if sharing == "paired" else ():
            for c, gap in enumerate(gaps):
                left -= len(labels)
                if left >= 0:
                    limits[f"{metric}.{c}"] = _paired_limits(one, two, metric, gap, labels)
        out.append({"first": i, "second": j, "records": sharing, "limits": limits})
    return out


def _alike(one: Association, two: Association) -> bool:
    """Whether two results are of one kind, so that their difference is one of records."""
    return all(one.settings[name] == two.settings[name] for name in ("zero", "alpha", "paper_literal"))


def _sides(gap: Gap) -> dict[str, Any]:
    x1, x2 = gap
    return {"toward": x1, **({} if x2 is None else {"against": x2})}


def _paired_limits(
    one: Association, two: Association, metric: str, gap: Gap, labels: list[str]
) -> dict[str, list[Any]]:
    rows = {row["label"]: row for row in association_change(one, two, metric, **_sides(gap)).rows()}
    return {
        end: [_short(plain(rows[label][end])) if label in rows else None for label in labels] for end in ("low", "high")
    }


def _document(held: Any, name: str) -> Mapping[str, Any]:
    """A result as it is saved, as far as the page shows it."""
    if isinstance(held, Association):
        return {**held.heading(), "labels": held.label_rows(_without_formula(held.metrics), errors=True)}
    if not isinstance(held, Mapping) or held.get("kind") != "association" or held.get("schema") != 1:
        raise ValueError(f"{name!r} is no association result of schema 1")
    return held


def _check_alike(read: Mapping[str, Mapping[str, Any]]) -> None:
    first_name, first = next(iter(read.items()))
    for name, held in read.items():
        ours, theirs = ([x["identity"] for x in run["identities"]] for run in (first, held))
        if ours != theirs:
            raise ValueError(
                f"the results {first_name!r} and {name!r} have different identities, {ours} and {theirs}: gaps are "
                "only comparable between the same ones"
            )
        if held["settings"]["paper_literal"] != first["settings"]["paper_literal"]:
            raise ValueError(
                f"one of {first_name!r} and {name!r} has the metrics as printed (paper_literal), one has not"
            )


def _gap_names(document: Mapping[str, Any]) -> list[Gap]:
    """The identities of each gap that a document has."""
    rows = document["labels"]
    return [(gap["x1"], gap["x2"]) for gap in rows[0]["gaps"]] if rows else []


def _shared_gaps(read: Mapping[str, Mapping[str, Any]]) -> list[Gap]:
    """The gaps that all runs with labels have, in the order of the first: what differs is of different gaps."""
    held = {name: _gap_names(document) for name, document in read.items() if document["labels"]}
    if not held:
        return []
    (first, names), *others = held.items()
    out = [gap for gap in names if all(gap in other for _, other in others)]
    if names and not out:
        raise ValueError(
            f"the results {first!r} and {others[0][0]!r} have no gap in common: measure both with the same contrasts="
        )
    return out


def _run(document: Mapping[str, Any], place: Mapping[str, int], shown: Sequence[Gap]) -> dict[str, Any]:
    """A run's columns over the labels of all runs: null where the run does not have the label."""
    rows = document["labels"]
    where = [place[row["label"]] for row in rows]

    def spread(values: Iterable[Any], empty: Any = None) -> list[Any]:
        out = [empty] * len(place)
        for i, value in zip(where, values, strict=True):
            out[i] = value
        return out

    order = [x["identity"] for x in document["identities"]]
    own = _gap_names(document)
    gaps = [[row["gaps"][c] for row in rows] for c in (own.index(gap) for gap in shown)] if rows else []
    # The labels that a run does not have get the first reason; 0 is ranked.
    reasons = ["is not in this run"]
    contrasts = []
    both: dict[str, list[Any]] | None = {}
    for held in gaps:
        x1, x2 = (None if held[0][x] is None else order.index(held[0][x]) for x in ("x1", "x2"))
        why = [row["why_not"] for row in held]
        reasons.extend(reason for reason in dict.fromkeys(why) if reason and reason not in reasons)
        code = {reason: i for i, reason in enumerate(reasons, start=1)}
        # There is no test of one identity against the rest.
        tests = {name: None if x2 is None else spread(_short(row[name]) for row in held) for name in ("p", "q")}
        coded = spread((code[reason] if reason else 0 for reason in why), 1)
        contrasts.append({"x1": x1, "x2": x2, **tests, "why": coded})
        if x2 is not None and document["overlap"][x1][x2]:
            # Files of older versions do not say it.
            known = both is not None and "both" in held[0]
            both = {**(both or {}), f"{x1},{x2}": spread(row["both"] for row in held)} if known else None

    def figures(metric: str) -> dict[str, Any]:
        """Its value for each identity, and the other figures for each gap; saved results have no errors."""
        parts = {"low": "low", "high": "high", "error": "error", "null": "independence"}
        return {
            "value": [spread(row["identities"][k][metric] for row in rows) for k in range(len(order))],
            "gap": [spread(row[metric] for row in held) for held in gaps],
            **{
                part: [spread(row[key][metric] for row in held) for held in gaps]
                if all(key in g[0] for g in gaps)
                else None
                for part, key in parts.items()
            },
        }

    return {
        **{name: document[name] for name in ("n", "version", "identities", "overlap", "settings", "notes")},
        "count": spread(row["count"] for row in rows),
        "joint": [spread(row["identities"][k]["joint"] for row in rows) for k in range(len(order))],
        "both": both,
        "identity": spread((int(row["identity"]) for row in rows), 0),
        "contrasts": contrasts,
        "reasons": reasons,
        "figures": {metric: figures(metric) for metric in _without_formula(document["metrics"])},
    }


def _without_formula(metrics: Iterable[str]) -> list[str]:
    """The metrics that the page cannot compute from counts."""
    return [name for name in metrics if name in METRICS and not METRICS[name].page_formula]


def _short(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else float(f"{value:.{_DIGITS}g}")


def write_explorer(runs: Mapping[str, Any], path: str | Path, title: str | None = None) -> None:
    """Write the explorer of association results as one file with everything inside it.

    ``runs``, and ``title`` with its default, are those of :func:`explorer_document`.
    """
    document = explorer_document(runs, title)
    many = f"{len(document['labels']):,} labels of {', '.join(run['name'] for run in document['runs'])}"
    save_text(path, page(f"biasamp: {document['title']}", document, words=[many]))
