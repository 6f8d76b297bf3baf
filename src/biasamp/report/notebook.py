"""Results in a notebook: static tables with bars, which need no script and trust no text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from biasamp.amplification.result import Amplification
from biasamp.association.association_result import Association
from biasamp.auditing.audit_result import Audit
from biasamp.data import printable
from biasamp.results.figure_text import figure
from biasamp.results.metric_registry import is_signed

from .written import LESS, MORE, UNSURE, largest_pairs

_ROWS = 20
_WIDTH = 140
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums"


def shown(text: Any, limit: int = 60) -> str:
    """Text from a stranger, safe between tags."""
    return escape(printable(str(text), limit))


def bar(value: Any, low: Any, high: Any, largest: float) -> str:
    """A bar from 0 in the middle, with its interval as a line; grey where the interval covers 0."""
    if value is None or not largest:
        return ""
    half = _WIDTH / 2

    def place(x: float) -> float:
        return half + half * max(-1.0, min(1.0, x / largest))

    left, right = sorted((place(0.0), place(float(value))))
    unsure = low is not None and high is not None and low <= 0 <= high
    colour = UNSURE if unsure else (LESS if value < 0 else MORE)
    line = ""
    if low is not None and high is not None:
        line = (
            f'<line x1="{place(low):.1f}" x2="{place(high):.1f}" y1="7" y2="7" stroke="currentColor" '
            'stroke-width="1.2"/>'
        )
    return (
        f'<svg width="{_WIDTH}" height="14" aria-hidden="true"><rect x="{left:.1f}" width="{right - left:.1f}" y="2" '
        f'height="10" fill="{colour}"/><line x1="{half}" x2="{half}" y1="0" y2="14" stroke="currentColor" '
        f'stroke-opacity=".5"/>{line}</svg>'
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """Cells that are safe already, as a table."""
    right = set(numbers)
    titles = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_NUMBER if i in right else "text-align:left"}">{cell}</td>' for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def audit_table(audit: Audit) -> str:
    """Findings, and a row a metric."""
    findings = "".join(f"<li>{shown(finding.text, 4000)}</li>" for finding in audit.findings)
    rows = []
    for row in audit.metrics.rows():
        signed = is_signed(row["metric"])
        reach = max((abs(row[name]) for name in ("value", "low", "high") if row[name] is not None), default=0.0)
        rows.append(
            (
                shown(row["attribute"]),
                shown(row["metric"]),
                shown(row["direction"]),
                bar(row["value"], row["low"], row["high"], reach) if signed else "",
                figure(row["value"], signed),
                figure(row["low"], signed),
                figure(row["high"], signed),
            )
        )
    head = ("attribute", "metric", "direction", "", "value", "low", "high")
    return f"<div><ul>{findings}</ul>{table(head, rows, (4, 5, 6))}</div>"


def amplification_table(result: Amplification) -> str:
    """The pairs that change most, with bars on one scale."""
    rows = largest_pairs(result.pairs.rows(), _ROWS)
    largest = max(
        (abs(row[name]) for row in rows for name in ("amplification", "low", "high") if row[name] is not None),
        default=0.0,
    )
    cells = [
        (
            shown(row["given"]),
            shown(row["outcome"]),
            bar(row["amplification"], row["low"], row["high"], largest),
            figure(row["amplification"]),
            figure(row["low"]),
            figure(row["high"]),
            f"{row['support']:,g}",
        )
        for row in rows
    ]
    more = f"<p>{_ROWS} of {len(result.pairs)} pairs</p>" if len(result.pairs) > _ROWS else ""
    title = shown(f"{result.metric} {result.direction or ''}".strip())
    head = ("given", "outcome", "", "amplification", "low", "high", "records")
    return f"<div><p><b>{title}</b> {figure(result.value)}</p>{table(head, cells, (3, 4, 5, 6))}{more}</div>"


def association_table(result: Association, top: int = 10) -> str:
    """The labels that lean most to each identity, with bars and the counts they rest on."""
    blocks = [f"<p>{shown(repr(result), 400)}</p>"]
    metric = "npmi_xy" if "npmi_xy" in result.metrics else result.metrics[0]
    for identity in result.identities if result.contrasts else ():
        rows = list(result.top(metric, top, toward=identity).rows())
        names = ("gap", "low", "high")
        largest = max(
            (abs(r[n]) for r in rows for n in names if r[n] is not None and abs(r[n]) < math.inf), default=0.0
        )
        cells = [
            (
                shown(row["name"]),
                bar(row["gap"], row["low"], row["high"], largest),
                *(figure(row[name]) for name in names),
                "—" if row["q"] is None else f"{row['q']:.2g}",
                f"{row['count']:,}",
                *(f"{row[f'count[{x}]']:,}" for x in result.identities),
            )
            for row in rows
        ]
        head = ("label", "", "gap", "low", "high", "q", "records", *(f"with {shown(x, 24)}" for x in result.identities))
        blocks.append(
            f"<p><b>{shown(metric)}</b> toward {shown(identity)}</p>{table(head, cells, range(2, len(head)))}"
        )
    return "<div>" + "".join(blocks) + "</div>"
