"""Association results and metrics in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from biasamp.association.association_metric import AssociationMetric
from biasamp.association.association_result import Association
from biasamp.data import printable

_LABEL_WIDTH = 40


def show_association(result: Association, console: Console, *, metric: str, top: int) -> None:
    """Print the labels that lean most to each identity, what was left out, and how to read it."""
    console.print(
        Text.assemble(
            ("biasamp associate  ", "bold"),
            f"{result.n:,} records, {len(result.labels):,} labels; identities ",
            ", ".join(
                f"{printable(name, 30)} ({count:,})"
                for name, count in zip(result.identities, result.identity_count.tolist(), strict=True)
            ),
        )
    )
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
    rest = (
        "the rest" if len(result.identities) > 2 else printable(next(x for x in result.identities if x != identity), 30)
    )
    table = RichTable(title=Text(f"{metric}: toward {printable(identity, 30)} against {rest}"), title_justify="left")
    for name in ("rank", "label", "count", *(f"with {printable(x, 20)}" for x in result.identities)):
        table.add_column(Text(name), justify="left" if name == "label" else "right")
    table.add_column("gap", justify="right")
    table.add_column("95% interval", justify="right")
    rows = list(result.top(metric, top, toward=identity).rows())
    null = any(row["null"] for row in rows)
    if null:
        table.add_column("if independent", justify="right")
    # There is a test of two identities, none of one against the rest.
    tested = len(result.identities) == 2
    if tested:
        table.add_column("q", justify="right")
    times = Counter(result.names)
    shared = {name for name, held in times.items() if held > 1}
    for row in rows:
        cells: list[str | Text] = [
            str(row["rank"]),
            Text(_shown(row, shared)),
            f"{row['count']:,}",
            *(f"{row[f'count[{x}]']:,}" for x in result.identities),
            _number(row["gap"]),
            f"[{_number(row['low'])}, {_number(row['high'])}]",
        ]
        if null:
            cells.append(_number(row["null"]))
        if tested:
            cells.append("" if row["q"] is None else f"{row['q']:.2g}")
        table.add_row(*(part if isinstance(part, Text) else Text(part) for part in cells))
    return table


def _shown(row: Mapping[str, Any], shared: Set[str]) -> str:
    """The name of a label; with its key where the name is empty or not its own."""
    name, key = row["name"], row["label"]
    if name == key:
        return printable(name, _LABEL_WIDTH) if name else "(empty label)"
    if not name:
        return printable(key, _LABEL_WIDTH)
    return (
        f"{printable(name, _LABEL_WIDTH)} ({printable(key, 20)})" if name in shared else printable(name, _LABEL_WIDTH)
    )


def _number(value: Any) -> str:
    return "—" if value is None else f"{value:+.4f}"


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
    """Print what each association metric is, one a line."""
    table = RichTable(header_style="bold", box=None, pad_edge=False, row_styles=["", "dim"])
    for title in ("association metric", "A(x, y)", "range", "if independent"):
        table.add_column(title, style="bold" if title == "association metric" else "")
    for metric in metrics:
        table.add_row(*map(Text, (metric.name, metric.formula, _range(metric), metric.independent)))
    console.print(table)


def show_association_metric(metric: AssociationMetric, console: Console) -> None:
    """Print one association metric in full."""
    rows = RichTable.grid(padding=(0, 2))
    rows.add_column(style="bold")
    rows.add_column()
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
    for title, words in facts.items():
        if words:
            rows.add_row(title, Text(words))
    console.print(Panel(rows, title=Text(f"{metric.title} ({metric.symbol})"), title_align="left"))


def _range(metric: AssociationMetric) -> str:
    return f"{metric.low:g} to {metric.high:g}"
