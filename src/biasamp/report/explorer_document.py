"""The explorer page: counts, tests and reasons of one association result or several, label by label.

Metrics, gaps, intervals and ranks follow from counts, and the page computes those that are looked at. One file
therefore holds tens of thousands of labels with every metric. What a metric is travels with them, as its record has it;
a metric that the page has no formula for travels with its figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from biasamp.association.association_result import Association
from biasamp.association.metrics import METRICS, usual_metric
from biasamp.association.values import Contrast
from biasamp.results.interval import plain

from .page import page

# p and q keep this many digits: more than a reader can use, fewer than a file must carry.
_DIGITS = 9


def explorer_document(runs: Mapping[str, Any], title: str | None = None) -> dict[str, Any]:
    """The document of the explorer page.

    Parameters
    ----------
    runs : mapping of a name to an Association or to its ``to_dict()``
        Results to look at side by side. They need the same identities; labels may differ.
    title : str, optional
        What the page is called; by default the names of the runs.

    Examples
    --------
    >>> from biasamp.association.associate import associate
    >>> images = [["man", "bike"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman"]] * 90
    >>> document = explorer_document({"model": associate(images, ["man", "woman"])})
    >>> document["labels"], document["runs"][0]["count"]
    (['bike', 'man', 'woman'], [40, 100, 100])
    """
    if not runs:
        raise ValueError("runs is empty; give at least one association result")
    read = {
        name: _of_result(held) if isinstance(held, Association) else _of_document(held, name)
        for name, held in runs.items()
    }
    first_name, first = next(iter(read.items()))
    _check_alike(read)
    metrics = [name for name in first["metrics"] if all(name in held["metrics"] for held in read.values())]
    if not metrics:
        raise ValueError(f"the results have no metric in common; {first_name!r} has {', '.join(first['metrics'])}")
    names: dict[str, str] = {}
    for held in read.values():
        for label, name in zip(held["labels"], held["names"], strict=True):
            names.setdefault(label, name)
    place = {label: i for i, label in enumerate(names)}
    return {
        "kind": "explorer",
        "title": title if title is not None else ", ".join(runs),
        "metrics": metrics,
        "metric": usual_metric(metrics),
        "facts": {name: METRICS[name].facts(first["settings"]["paper_literal"]) for name in metrics},
        "labels": list(names),
        "names": list(names.values()),
        "runs": [{"name": name, **_aligned(held, place)} for name, held in read.items()],
    }


def _check_alike(read: Mapping[str, dict[str, Any]]) -> None:
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


def _aligned(held: dict[str, Any], place: Mapping[str, int]) -> dict[str, Any]:
    """A run's columns over the labels of all runs: null where the run does not have the label."""
    where = [place[label] for label in held["labels"]]

    def spread(values: Sequence[Any], empty: Any = None) -> list[Any]:
        out = [empty] * len(place)
        for i, value in zip(where, values, strict=True):
            out[i] = value
        return out

    def tests(values: Sequence[Any] | None) -> list[Any] | None:
        return None if values is None else spread(values)

    # 0 is ranked; the labels that a run does not have get the first reason.
    contrasts = [
        {**c, "p": tests(c["p"]), "q": tests(c["q"]), "why": spread([code + (code > 0) for code in c["why"]], 1)}
        for c in held["contrasts"]
    ]
    both = held["both"]
    return {
        **{name: held[name] for name in ("n", "version", "identities", "overlap", "settings", "notes")},
        "count": spread(held["count"]),
        "joint": [spread(values) for values in held["joint"]],
        "both": None if both is None else {pair: spread(values) for pair, values in both.items()},
        "identity": spread(held["identity"], 0),
        "contrasts": contrasts,
        "reasons": ["is not in this run", *held["reasons"]],
        "figures": {
            metric: {part: values and [spread(column) for column in values] for part, values in parts.items()}
            for metric, parts in held["figures"].items()
        },
    }


def _without_formula(metrics: Sequence[str]) -> list[str]:
    """The metrics that the page cannot compute from counts."""
    return [name for name in metrics if name in METRICS and not METRICS[name].page_formula]


def _short(value: Any) -> Any:
    return None if value is None or value != value else float(f"{value:.{_DIGITS}g}")


def _coded(reasons: list[str], why: Sequence[str | None]) -> list[int]:
    """0 for a label that is ranked, else one more than the place of its reason; new reasons are added."""
    reasons.extend(reason for reason in dict.fromkeys(why) if reason and reason not in reasons)
    code = {reason: i for i, reason in enumerate(reasons, start=1)}
    return [code[reason] if reason else 0 for reason in why]


def _gap(contrast: Contrast, p: Iterable[Any], q: Iterable[Any], why: list[int]) -> dict[str, Any]:
    """What the page knows of a gap; one against the rest has no test."""
    x1, x2 = contrast
    tests = {name: None if x2 is None else [_short(value) for value in held] for name, held in (("p", p), ("q", q))}
    return {"x1": x1, "x2": x2, **tests, "why": why}


def _of_result(result: Association) -> dict[str, Any]:
    reasons: list[str] = []
    of = result.values
    contrasts = [
        _gap(c, of.p_values(c).tolist(), of.q_values(c).tolist(), _coded(reasons, result.why_not(c).tolist()))
        for c in result.contrasts
    ]
    return {
        **result.heading(),
        "labels": list(result.labels),
        "names": list(result.names),
        "count": result.count.tolist(),
        "joint": [result.joint[:, k].tolist() for k in range(len(result.identities))],
        "both": {
            f"{k},{m}": shared.tolist()
            for k, m in result.contrasts
            if m is not None and result.overlap[k, m] and (shared := of.both((k, m))) is not None
        },
        "identity": [int(own) for own in result.is_identity.tolist()],
        "contrasts": contrasts,
        "reasons": reasons,
        "figures": {metric: _figures(result, metric) for metric in _without_formula(result.metrics)},
    }


def _figures(result: Association, metric: str) -> dict[str, Any]:
    """Columns of a metric over the labels: its value for each identity, and the others for each gap."""

    def column(values: Any) -> list[Any]:
        return [plain(value) for value in values.tolist()]

    of = result.values
    limits = [of.interval(metric, contrast)._asdict() for contrast in result.contrasts]
    return {
        "value": [column(values) for values in of.values(metric).T],
        "gap": [column(of.gaps(metric, contrast)) for contrast in result.contrasts],
        **{part: [column(held[part]) for held in limits] for part in ("low", "high", "error")},
        "null": [column(of.independence(metric, contrast)) for contrast in result.contrasts],
    }


def _of_document(document: Any, name: str) -> dict[str, Any]:
    if not isinstance(document, Mapping) or document.get("kind") != "association" or document.get("schema") != 1:
        raise ValueError(f"{name!r} is no association result of schema 1")
    rows = document["labels"]
    order = [x["identity"] for x in document["identities"]]
    reasons: list[str] = []
    contrasts = []
    both: dict[str, list[Any]] | None = {}
    for c, gap in enumerate(rows[0]["gaps"] if rows else ()):
        held = [row["gaps"][c] for row in rows]
        x1, x2 = order.index(gap["x1"]), None if gap["x2"] is None else order.index(gap["x2"])
        p, q, why = ([row[part] for row in held] for part in ("p", "q", "why_not"))
        contrasts.append(_gap((x1, x2), p, q, _coded(reasons, why)))
        if x2 is not None and document["overlap"][x1][x2]:
            if both is not None and "both" in gap:
                both[f"{x1},{x2}"] = [row["both"] for row in held]
            else:
                both = None
    return {
        **document,
        "metrics": [metric for metric in document["metrics"] if metric in METRICS],
        "labels": [row["label"] for row in rows],
        "names": [row["name"] for row in rows],
        "count": [row["count"] for row in rows],
        "joint": [[row["identities"][k]["joint"] for row in rows] for k in range(len(order))],
        "both": both,
        "identity": [int(row["identity"]) for row in rows],
        "contrasts": contrasts,
        "reasons": reasons,
        "figures": {
            metric: {
                "value": [[row["identities"][k][metric] for row in rows] for k in range(len(order))],
                "gap": [[row["gaps"][c][metric] for row in rows] for c in range(len(contrasts))],
                **{
                    part: [[row["gaps"][c][key][metric] for row in rows] for c in range(len(contrasts))]
                    for part, key in (("low", "low"), ("high", "high"), ("null", "independence"))
                },
                "error": None,
            }
            for metric in _without_formula(document["metrics"])
        },
    }


def write_explorer(runs: Mapping[str, Any], path: str | Path, title: str | None = None) -> None:
    """Write the explorer of association results as one file with everything inside it.

    ``runs``, and ``title`` with its default, are those of :func:`explorer_document`.
    """
    document = explorer_document(runs, title)
    many = f"{len(document['labels']):,} labels of {', '.join(run['name'] for run in document['runs'])}"
    Path(path).write_text(page(f"biasamp: {document['title']}", document, words=[many]), encoding="utf-8")
