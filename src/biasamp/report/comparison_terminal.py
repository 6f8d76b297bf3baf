"""Models side by side on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from biasamp.auditing.comparison_answer import changed_by_evidence, pair_names, verdicts_first
from biasamp.auditing.comparison_result import Comparison
from biasamp.auditing.findings import side_of_zero
from biasamp.auditing.label_names import short_names
from biasamp.data import printable
from biasamp.results.interval import figure, interval
from biasamp.results.metric_registry import direction_symbol, is_signed, short_name

from .terminal_parts import bullets, name, plain_table, titled
from .written import pair_change_words, seeds_and_records, who_against_whom

PAIRS_SHOWN = 20


def show_comparison(result: Comparison, console: Console, pairs: int = PAIRS_SHOWN) -> None:
    """Print the differences between models, a verdict each, then which pairs changed and whether the order is stable."""
    several = len(result.models) > 2
    first, *others = short_names(result.models, 24).values()
    figures = (first, "other model" if several else others[0], "difference", f"{result.document['level']:.0%} interval")
    named = ("model",) if several else ()
    table = plain_table((*named, "attribute", "metric", "direction", *figures, "verdict"), figures)
    for row in verdicts_first(result.document):
        signed = is_signed(row["metric"])
        table.add_row(
            *([name(row["models"][1], 24)] if several else []),
            name(row["attribute"], 24),
            short_name(row["metric"]),
            direction_symbol(row["direction"]),
            figure(row["first"], signed),
            figure(row["second"], signed),
            Text(figure(row["difference"]), style="bold" if side_of_zero(row["low"], row["high"]) else ""),
            interval(row["low"], row["high"]),
            Text(printable(row["verdict"], 120) + ("" if row["paired"] else " (unpaired)")),
        )
    console.print(Text(who_against_whom(result), style="bold"))
    for title, words in result.answer.titled.items():
        console.print(titled(title, words))
    console.print()
    console.print(table)
    console.print(bullets("Seeds and records", seeds_and_records(result), "bold"))
    console.print(bullets("Order of the models", [printable(words, 600) for words in result.orders], "bold"))
    if pairs > 0:
        show_changed_pairs(result, console, pairs)
    console.print(bullets("Cautions", [printable(words, 2000) for words in result.cautions], "yellow"))
    console.print(bullets("Notes", [printable(note, 2000) for note in result.notes], "dim"))


def show_changed_pairs(result: Comparison, console: Console, most: int) -> None:
    """Print the pairs that changed, the best founded first."""
    changed = changed_by_evidence(result.document)
    words = pair_change_words(result)
    if changed:
        figures = ("change", "interval", "q")
        several = len({row["metric"] for row in changed}) > 1
        columns = (
            *(("model",) if len(result.models) > 2 else ()),
            *(("metric",) if several else ()),
            "direction",
            "given",
            "outcome",
            *figures,
            "amplification",
        )
        table = plain_table(columns, figures, title="Pairs that changed")
        names = pair_names(result.document)
        for row in changed[:most]:
            table.add_row(
                *([name(row["models"][1], 24)] if len(result.models) > 2 else []),
                *([short_name(row["metric"])] if several else []),
                direction_symbol(row["direction"]),
                Text(names[row["given"]]),
                Text(names[row["outcome"]]),
                figure(row["difference"]),
                interval(row["low"], row["high"]),
                f"{row['q']:.1e}" if row["q"] is not None and row["q"] < 1e-3 else figure(row["q"], False),
                WAYS[(row["sign"] > 0) - (row["sign"] < 0), (row["difference"] or 0.0) > 0.0],
            )
        console.print(table)
    console.print(Text(f"\n{printable(words, 1000)}" if words else "", style="dim"))


# What a change means for amplification, by the sign of a pair and whether it rises.
WAYS = {(1, True): "more", (1, False): "less", (-1, True): "less", (-1, False): "more", (0, True): "", (0, False): ""}
