"""Verdicts, comparisons, rates and plain tables in a notebook."""

from __future__ import annotations

from itertools import islice
from typing import Any

from biasamp.amplification.parity import Parity
from biasamp.auditing.comparison_answer import changed_by_evidence, pair_names, verdicts_first
from biasamp.auditing.comparison_result import Comparison
from biasamp.policy.verdict import FAIL, PASS, UNDECIDED, Verdict
from biasamp.results.interval import figure
from biasamp.results.metric_registry import direction_symbol, is_signed
from biasamp.results.table import Table

from .notebook import bar, shown, table

_ROWS = 20
# The sign and the word of an outcome: never a colour alone.
OUTCOMES = {PASS: "✓ pass", FAIL: "✗ fail", UNDECIDED: "◇ not enough evidence"}


def _listed(lines: Any) -> str:
    items = "".join(f"<li>{shown(line, 4000)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _more(rows: int, what: str) -> str:
    return f"<p>{_ROWS} of {rows:,} {what}</p>" if rows > _ROWS else ""


def verdict_table(verdict: Verdict) -> str:
    """The outcome, the checks with those that fail first, and what to beware of."""
    checks = verdict.worst_first
    rows = [
        (OUTCOMES[check.outcome], shown(check.about, 200), shown(check.limit, 80), shown(check.reason, 1000))
        for check in checks[:_ROWS]
    ]
    title = f"<p><b>{OUTCOMES[verdict.outcome]}</b>: {shown(verdict.policy)} on {shown(verdict.data)} ({shown(verdict.tally)})</p>"
    notes = _listed(verdict.caution_lines) + _listed(verdict.notes)
    return f"<div>{title}{table(('', 'figure', 'limit', 'found'), rows, 4)}{_more(len(checks), 'checks')}{notes}</div>"


def comparison_table(comparison: Comparison) -> str:
    """The answer, each difference with its verdict first, a bar and an interval, then the pairs that changed."""
    held = verdicts_first(comparison.document)
    said = "".join(
        f"<p><b>{shown(title)}.</b> {shown(words, 4000)}</p>" for title, words in comparison.answer.titled.items()
    )
    rows = []
    for row in held[:_ROWS]:
        sizes = [abs(value) for value in (row["difference"], row["low"], row["high"]) if value is not None]
        signed = is_signed(row["metric"])
        what = f"{row['attribute']} {row['metric']} {direction_symbol(row['direction'])}".strip()
        rows.append(
            (
                shown(row["verdict"], 400),
                shown(what, 200),
                bar(row["difference"], row["low"], row["high"], max(sizes, default=0.0)),
                f"{shown(row['models'][0])} {figure(row['first'], signed)}",
                f"{shown(row['models'][1])} {figure(row['second'], signed)}",
                *(figure(row[part], True) for part in ("difference", "low", "high")),
            )
        )
    head = ("verdict", "figure", "", "first", "second", "difference", "low", "high")
    notes = _listed(comparison.cautions) + _listed(comparison.notes)
    return f"<div>{said}{table(head, rows, 3)}{_more(len(held), 'differences')}{_changed(comparison)}{notes}</div>"


def _changed(comparison: Comparison) -> str:
    changed, names = changed_by_evidence(comparison.document), pair_names(comparison.document)
    rows = [
        (
            f"{shown(names[row['outcome']], 200)} given {shown(names[row['given']], 200)}",
            f"{shown(row['models'][1])} − {shown(row['models'][0])}",
            *(figure(row[part]) for part in ("difference", "low", "high")),
            f"{row['q']:.2g}",
        )
        for row in changed[:_ROWS]
    ]
    if not rows:
        return ""
    head = ("pair that changed", "models", "change", "low", "high", "q")
    return f"{table(head, rows, 2)}{_more(len(changed), 'pairs that changed')}"


def parity_table(parity: Parity) -> str:
    """The rates of groups, then the differences between them."""
    return f"<div>{plain_table(parity.groups)}{plain_table(parity.table)}</div>"


def plain_table(held: Table) -> str:
    """Any table: its first rows, numbers to four digits."""
    rows = [
        [shown(value, 200) if isinstance(value, str) else _number(value) for value in row.values()]
        for row in islice(held.rows(), _ROWS)
    ]
    texts = sum(1 for values in held.columns.values() if values.dtype == object)
    ordered = sorted(range(len(held.columns)), key=lambda i: list(held.columns.values())[i].dtype != object)
    head = [shown(list(held.columns)[i], 60) for i in ordered]
    return table(head, [[row[i] for i in ordered] for row in rows], texts) + _more(len(held), "rows")


def _number(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
