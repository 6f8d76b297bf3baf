"""Leakage of texts and counterfactual answers in a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from biasamp.data import printable
from biasamp.text.counterfactual import Counterfactual
from biasamp.text.read_text import TextLabels
from biasamp.text.text_leakage_result import TextLeakage

from .terminal_parts import plain_table

_WIDE = 40


def show_leakage(result: TextLeakage, console: Console, *, top: int) -> None:
    """Print LIC of each model, the words that give the attribute away, and the findings."""
    sizes = ", ".join(
        f"{printable(name, 30)} ({size:,})" for name, size in zip(result.groups, result.sizes, strict=True)
    )
    console.print(Text.assemble(("biasamp text  ", "bold"), f"groups {sizes}"))
    table = plain_table(
        ("model", "figure", "value", "over texts", "spread of splits"), right=("value", "spread of splits")
    )
    for row in result.table.rows():
        interval = f"[{row['low']:.1f}, {row['high']:.1f}]"
        spread = "—" if row["seed_sd"] is None else f"{row['seed_sd']:.1f}"
        _add(table, row["model"], row["figure"], f"{row['value']:.1f}", interval, spread)
    console.print(table)
    for model in result.models if top else ():
        own = [row for row in result.words.rows() if row.get("model", model) == model][:top]
        counts = [f"texts of {printable(name, 20)}" for name in result.groups]
        words = plain_table(
            ("word", "toward", "weight", *counts, "q"),
            title=f"words that give the attribute away, {printable(model, 30)}",
        )
        for row in own:
            weight = "—" if row["weight"] is None else f"{row['weight']:+.2f}"
            _add(
                words,
                row["word"],
                row["toward"],
                weight,
                *(f"{row[f'count[{name}]']:,}" for name in result.groups),
                f"{row['q']:.2g}",
            )
        console.print(words)
    _findings(result.findings, console)


def show_counterfactual(result: Counterfactual, console: Console, *, top: int) -> None:
    """Print comparisons, the clearest first, and the findings."""
    about = f"{result.answers:,} answers to {result.items:,} items; groups {', '.join(printable(name, 30) for name in result.groups)}"
    console.print(Text.assemble(("biasamp text  ", "bold"), about))
    if top:
        topics = any("topic" in row for row in result.rows)
        table = plain_table(
            [*(["topic"] if topics else []), "outcome", "group", "reference", "means", "difference", "items", "p", "q"]
        )
        for row in sorted(result.rows, key=lambda row: (row["q"] != row["q"], row["q"]))[:top]:
            interval = "" if row["low"] != row["low"] else f" [{row['low']:+.3f}, {row['high']:+.3f}]"
            means = f"{row['group_mean']:.3f}, {row['reference_mean']:.3f}"
            lead = [row["topic"]] if topics else []
            tests = (f"{row['items']:,}", f"{row['p']:.2g}", f"{row['q']:.2g}")
            _add(
                table,
                *lead,
                row["outcome"],
                row["group"],
                row["reference"],
                means,
                f"{row['difference']:+.3f}{interval}",
                *tests,
            )
        console.print(table)
    _findings(result.findings, console)


def show_found(read: TextLabels, console: Console) -> None:
    """Print how many texts name each identity, by which words."""
    table = plain_table(("identity", "texts", "no other", "share", "words"))
    for row in read.found.rows():
        _add(table, row["identity"], f"{row['texts']:,}", f"{row['alone']:,}", f"{row['share']:.1%}", row["words"])
    console.print(table)


def _add(table: RichTable, *cells: Any) -> None:
    table.add_row(*(Text(printable(str(cell), _WIDE)) for cell in cells))


def _findings(findings: list[str], console: Console) -> None:
    for line in findings:
        console.print(Text(f"• {line}"))
