"""Results in a notebook: static tables with bars, which need no script and trust no text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from biasamp.amplification.result import Amplification
from biasamp.amplification.why_result import Decomposition
from biasamp.association.association_result import Association
from biasamp.association.metrics import usual_metric
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.caution_topics import cautions_by_topic, first_cautions
from biasamp.auditing.label_names import group_names
from biasamp.data import printable
from biasamp.results.interval import figure
from biasamp.results.metric_registry import direction_symbol, is_signed

from .matrix import SIGNS_MEAN, VERDICT_SIGNS, matrix_of
from .rates_view import (
    FEW,
    few_said,
    marks,
    percent_cell,
    rate_titles,
    rates_notes,
    rates_of_row,
    rates_views,
    share_cell,
)
from .written import EACH_BY_ITSELF, LESS, MORE, UNSURE, largest_pairs

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
    colour, line = LESS if value < 0 else MORE, ""
    if low is not None and high is not None:
        colour = UNSURE if low <= 0 <= high else colour
        ends = f'x1="{place(low):.1f}" x2="{place(high):.1f}"'
        line = f'<line {ends} y1="7" y2="7" stroke="currentColor" stroke-width="1.2"/>'
    return (
        f'<svg width="{_WIDTH}" height="14" aria-hidden="true"><rect x="{left:.1f}" width="{right - left:.1f}" y="2" '
        f'height="10" fill="{colour}"/><line x1="{half}" x2="{half}" y1="0" y2="14" stroke="currentColor" '
        f'stroke-opacity=".5"/>{line}</svg>'
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    """Cells that are safe already, as a table; the first columns hold text, the others numbers."""
    # A column of bars has no title: a heading without a name is read aloud as one.
    titles = "".join(f'<th scope="col" style="text-align:left">{name}</th>' if name else "<td></td>" for name in head)
    styles = ["text-align:left" if i < texts else _NUMBER for i in range(len(head))]
    lines = (
        "".join(f'<td style="{style}">{cell}</td>' for style, cell in zip(styles, row, strict=True)) for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _measured(row: Mapping[str, Any], name: str, largest: float, signed: bool = True) -> tuple[str, ...]:
    """The cells of a figure: its bar, its value and its limits."""
    drawn = bar(row[name], row["low"], row["high"], largest) if signed else ""
    return drawn, *(figure(row[part], signed) for part in (name, "low", "high"))


def _largest(rows: Iterable[Mapping[str, Any]], name: str) -> float:
    """The largest size of a figure or one of its limits."""
    sizes = (abs(row[part]) for row in rows for part in (name, "low", "high") if row[part] is not None)
    return max((size for size in sizes if size < math.inf), default=0.0)


def audit_table(audit: Audit) -> str:
    """The answer, all figures at a glance and the groups; findings, cautions and intervals behind a fold."""
    said = "".join(f"<p><b>{title}.</b> {shown(words, 4000)}</p>" for title, words in audit.answer.titled.items())
    found = audit.document["findings"]
    findings = "".join(f"<li>{shown(row['text'], 4000)}</li>" for row in found if row["kind"] == "finding")
    first = first_cautions(found)
    items = [f"<li>{shown(row['text'], 4000)}</li>" for row in found]
    warned = "".join(items[i] for i in first)
    topics = "".join(
        f"<p><b>{shown(topic)}</b></p><ul>{''.join(items[i] for i in places)}</ul>"
        for topic, places in cautions_by_topic(audit.document).items()
    )
    rows = [
        (
            *(shown(row[part]) for part in ("attribute", "metric", "direction")),
            *_measured(row, "value", _largest([row], "value"), is_signed(row["metric"])),
        )
        for row in audit.metrics.rows()
    ]
    head = ("attribute", "metric", "direction", "", "value", "low", "high")
    return (
        f"<div>{said}{_matrix(audit)}{rates_tables(audit)}{f'<p>Beware:</p><ul>{warned}</ul>' if warned else ''}"
        f"<details><summary>Findings</summary><ul>{findings}</ul></details>"
        f"<details><summary>Cautions</summary>{topics}</details>"
        f"<details open><summary>Figures with intervals</summary>{table(head, rows, 4)}<p>{shown(EACH_BY_ITSELF, 400)}</p>"
        "</details></div>"
    )


def _matrix(audit: Audit) -> str:
    held = matrix_of(audit.document)
    lines = []
    for (attribute, direction), cells in held.rows:
        values = [cells.get(metric) for metric in held.metrics]
        row = [
            "" if cell is None else f"{figure(cell.value, cell.signed)} {VERDICT_SIGNS[cell.verdict]}"
            for cell in values
        ]
        lines.append((shown(f"{attribute} {direction_symbol(direction)}".strip()), *row))
    head = ("", *(shown(held.short[metric]) for metric in held.metrics))
    return f"{table(head, lines, 1)}<p>{SIGNS_MEAN}</p>"


def rates_tables(audit: Audit) -> str:
    """The rates of every group, with their intervals."""
    blocks, few = [], audit.document["data"]["min_group"]
    views = list(rates_views(audit.document))
    for view in views:
        names = group_names(audit.document["data"], view.attribute)
        rows = [
            (
                shown(names[row["group"]] + marks(row), 400),
                f"{row['records']:,}",
                share_cell(row),
                *(percent_cell(rate, 1, few) for rate in rates_of_row(row)),
            )
            for row in sorted(view.rows, key=lambda row: -row["records"])[:_ROWS]
        ]
        head = ("group", "records", "share", *rate_titles(audit.document).values())
        more = f"<p>{_ROWS} of {len(view.rows)} groups</p>" if len(view.rows) > _ROWS else ""
        blocks.append(f"<p><b>{shown(view.title, 200)}</b></p>{table(head, rows, 1)}{more}")
    if views:
        blocks.append(f"<p>{shown(' '.join(rates_notes(audit.document)), 1000)}</p>")
    if few_said(views, few):
        blocks.append(f"<p>{FEW} over fewer than {few} records: it decides no difference</p>")
    return "".join(blocks)


def amplification_table(result: Amplification) -> str:
    """The pairs that change most, with bars on one scale."""
    rows = largest_pairs(result.pairs.rows(), _ROWS)
    largest = _largest(rows, "amplification")
    cells = [
        (shown(row["given"]), shown(row["outcome"]), *_measured(row, "amplification", largest), f"{row['support']:,g}")
        for row in rows
    ]
    more = f"<p>{_ROWS} of {len(result.pairs)} pairs</p>" if len(result.pairs) > _ROWS else ""
    title = shown(f"{result.metric} {result.direction or ''}".strip())
    head = ("given", "outcome", "", "amplification", "low", "high", "records")
    return f"<div><p><b>{title}</b> {figure(result.value)}</p>{table(head, cells, 3)}{more}</div>"


def decomposition_table(result: Decomposition) -> str:
    """The parts with their intervals, then strata where there are any."""
    parts = result.to_dict()["parts"]
    rows = [
        {"part": of, "value": held["value"], "low": held["interval"][0], "high": held["interval"][1]}
        for of, held in parts.items()
    ]
    cells = [(shown(row["part"]), *_measured(row, "value", _largest(rows, "value"))) for row in rows]
    out = [f"<p>{shown(result.verdict, 4000)}</p>", table(("part", "", "value", "low", "high"), cells, 2)]
    if result.strata is not None:
        strata = list(result.strata.rows())
        largest = _largest(strata, "value")
        lines = [
            (
                shown(row["stratum"]),
                *_measured(row, "value", largest),
                figure(row["by_sign_of_whole"]),
                f"{row['n']:,g}",
                "—" if row["q"] is None else f"{row['q']:.2g}",
            )
            for row in strata[:_ROWS]
        ]
        head = ("stratum", "", "value", "low", "high", "by the sign of the whole", "records", "q")
        out.append(table(head, lines, 2))
        out += [f"<p>{_ROWS} of {len(strata)} strata</p>"] if len(strata) > _ROWS else []
    out += [f"<p>{shown(words, 1000)}</p>" for words in result.cautions]
    return f"<div>{''.join(out)}</div>"


def association_table(result: Association, top: int = 10) -> str:
    """The labels that lean most to each identity, with bars and the counts they rest on."""
    blocks = [f"<p>{shown(repr(result), 400)}</p>"]
    metric = usual_metric(result.metrics)
    head = ("label", "", "gap", "low", "high", "q", "records", *(f"with {shown(x, 24)}" for x in result.identities))
    for identity in result.identities if result.contrasts else ():
        rows = list(result.top(metric, top, toward=identity).rows())
        largest = _largest(rows, "gap")
        cells = [
            (
                shown(row["name"]),
                *_measured(row, "gap", largest),
                "—" if row["q"] is None else f"{row['q']:.2g}",
                f"{row['count']:,}",
                *(f"{row[f'count[{x}]']:,}" for x in result.identities),
            )
            for row in rows
        ]
        blocks.append(f"<p><b>{shown(metric)}</b> toward {shown(identity)}</p>{table(head, cells, 2)}")
    return "<div>" + "".join(blocks) + "</div>"
