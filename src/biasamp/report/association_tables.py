"""Association results and metrics in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from biasamp.association.association_metric import AssociationMetric
from biasamp.association.association_result import Association
from biasamp.data import printable
from biasamp.results.interval import figure

from .terminal import card
from .terminal_parts import plain_table

_LABEL_WIDTH = 40


def show_association(result: Association, console: Console, *, metric: str, top: int) -> None:
    """Print the labels that lean most to each identity, what was left out, and how to read it."""
    sizes = zip(result.identities, result.identity_count.tolist(), strict=True)
    identities = ", ".join(f"{printable(name, 30)} ({count:,})" for name, count in sizes)
    counted = f"{result.n:,} records, {len(result.labels):,} labels; identities {identities}"
    console.print(Text.assemble(("biasamp associate  ", "bold"), counted))
    shared = int(result.overlap.sum() - result.overlap.trace()) // 2
    if shared:
        console.print(Text(f"{shared:,} records carry two identities; tests and intervals take it into account"))
    if not result.contrasts:
        console.print(Text("one identity has no gap: name two or more identities to compare them"))
    elif top:
        for identity in result.identities:
            console.print(_top_table(result, metric, top, identity))
    for note in result.notes:
        console.print(Text(f"note: {printable(note, 400)}"))
    for line in _left_out(result):
        console.print(Text(line))


def _top_table(result: Association, metric: str, top: int, identity: str) -> RichTable:
    rest = "the rest"
    if len(result.identities) <= 2:
        rest = printable(next(x for x in result.identities if x != identity), 30)
    rows = list(result.top(metric, top, toward=identity).rows())
    null = any(row["null"] for row in rows)
    # There is a test of two identities, none of one against the rest.
    tested = len(result.identities) == 2
    headings = [
        "rank",
        "label",
        "count",
        *(f"with {printable(x, 20)}" for x in result.identities),
        "gap",
        "95% interval",
    ]
    headings += ["if independent"] * null + ["q"] * tested
    table = RichTable(title=Text(f"{metric}: toward {printable(identity, 30)} against {rest}"), title_justify="left")
    for name in headings:
        table.add_column(Text(name), justify="left" if name == "label" else "right")
    shared = {name for name, times in Counter(result.names).items() if times > 1}
    for row in rows:
        counts = (f"{row[f'count{x}']:,}" for x in ("", *(f"[{x}]" for x in result.identities)))
        limits = f"[{figure(row['low'])}, {figure(row['high'])}]"
        cells = [str(row["rank"]), _shown(row, shared), *counts, figure(row["gap"]), limits]
        cells += [figure(row["null"])] * null + ["" if row["q"] is None else f"{row['q']:.2g}"] * tested
        table.add_row(*map(Text, cells))
    return table


def _shown(row: Mapping[str, Any], shared: Set[str]) -> str:
    """The name of a label; with its key where the name is empty or not its own."""
    name, key = row["name"], row["label"]
    own = f" ({printable(key, 20)})" if name and name != key and name in shared else ""
    return printable(name or key, _LABEL_WIDTH) + own if name or key else "(empty label)"


def _left_out(result: Association) -> list[str]:
    """How many labels are not ranked, by the reason; a label that several gaps leave out counts once."""
    labels: dict[str, set[str]] = {}
    for row in result.excluded:
        labels.setdefault(row["why"], set()).add(row["label"])
    return [
        f"not ranked: {len(held):,} {'label' if len(held) == 1 else 'labels'} ({why})"
        for why, held in sorted(labels.items(), key=lambda item: -len(item[1]))
    ]


def show_association_metrics(metrics: Iterable[AssociationMetric], console: Console) -> None:
    """Print what each association metric is, one per line."""
    table = plain_table(("association metric", "A(x, y)", "range", "if independent"), row_styles=["", "dim"])
    table.columns[0].style = "bold"
    for metric in metrics:
        table.add_row(*map(Text, (metric.name, metric.formula, _range(metric), metric.independent)))
    console.print(table)


def show_association_metric(metric: AssociationMetric, console: Console) -> None:
    """Print one association metric in full."""
    leaning = f"positive: the label leans to x{1 if metric.leans > 0 else 2}"
    null = "; the gap is 0" if metric.zero_null else "; the gap is not 0 where the identities differ in size"
    facts = {
        "says": metric.words,
        "formula": f"A(x, y) = {metric.formula}",
        "as printed": "" if metric.as_printed is None else metric.as_printed.formula,
        "range": _range(metric),
        "if independent": metric.independent + null,
        "gap": f"A(x1, y) - A(x2, y); {leaning}",
        "cautions": "; ".join(metric.cautions),
        "paper": metric.paper,
    }
    console.print(card(f"{metric.title} ({metric.symbol})", facts))


def _range(metric: AssociationMetric) -> str:
    return f"{metric.low:g} to {metric.high:g}"
