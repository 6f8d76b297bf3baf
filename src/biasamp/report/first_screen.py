"""The first screen of an audit in a terminal: the answer, all figures in a small matrix, the groups, and what to beware of."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from biasamp.auditing.answer import answer_of
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.caution_topics import first_cautions
from biasamp.auditing.label_names import label_names, short_names
from biasamp.data import printable
from biasamp.results.metric_registry import direction_symbol

from .matrix import SIGNS_MEAN, VERDICT_SIGNS, Cell, matrix_of
from .rates_view import FEW, RatesView, percent_cell, percent_digits, rate_titles, rates_of_row, rates_views
from .terminal_parts import plain_table, titled

# Lines that a screen has.
LINES = 40
# What is kept for the end: where all else is, with a blank line before it.
_END = 2
# Rows of groups that there is room for, whatever else is said.
_LEAST_GROUPS = 4
# Lines of that table beside its rows and notes: a blank one, the title and the headings.
_AROUND_GROUPS = 3
# Lines that its notes take, and named groups that are worth more than a caution.
_NOTES = 2
_MOST_NAMED = 6
_STYLES = {1: "bold red", -1: "bold blue", 0: "dim"}
_UNBOUNDED = 10_000


def show_first_screen(audit: Audit, console: Console, lines: int = LINES) -> None:
    """Print what fits on one screen, the most important first."""
    screen = _Screen(console, lines - _END)
    data = audit.document["data"]
    records = f"  {data['records']:,} record{'s' if data['records'] != 1 else ''}"
    screen.show(Text.assemble((f"biasamp audit of {printable(audit.source, 40)}", "bold"), records))
    answer = answer_of(audit.document)
    for title, words in answer.titled.items():
        screen.show(titled(title, words))
    warned = [_caution(audit.document["findings"][i]["text"]) for i in first_cautions(audit.document["findings"])]
    screen.show(_matrix(audit, console, max(1, screen.left - 4 - _LEAST_GROUPS - 4)))
    kept = sum(screen.height(text) for text in warned) + 1 if warned else 0
    # Groups that the answer names are in the table, if need be in place of a caution.
    least = max(_LEAST_GROUPS, min(len(answer.groups), _MOST_NAMED)) + _AROUND_GROUPS + _NOTES
    while warned and screen.left - kept < least:
        kept -= screen.height(warned.pop()) + (0 if warned else 1)
    _groups(audit, screen, kept, answer.groups)
    if warned:
        screen.show(Text())
    for text in warned:
        screen.show(text)
    findings = [row["kind"] for row in audit.document["findings"]]
    count = f"{findings.count('finding')} findings and {findings.count('caution')} cautions"
    console.print(Text(f"\n--full shows all {count}; --html writes a page.", style="dim"))


class _Screen:
    def __init__(self, console: Console, left: int) -> None:
        self.console, self.left = console, left

    def height(self, shown: RenderableType) -> int:
        return len(self.console.render_lines(shown, pad=False))

    def show(self, shown: RenderableType) -> None:
        self.left -= self.height(shown)
        self.console.print(shown)


def _caution(text: str) -> Text:
    """A caution by its first sentence; the rest of it stands in the full report."""
    first = text.split(". ")[0].rstrip(".")
    return Text.assemble(("! ", "bold yellow"), printable(f"{first}.", 400))


def _matrix(audit: Audit, console: Console, most: int) -> Group:
    """A row per attribute and direction, a column per metric: as many as there is room for."""
    held = matrix_of(audit.document)
    rows = held.rows[: max(1, most)]
    metrics = list(held.metrics)
    while True:
        table = plain_table(("", *(held.short[metric] for metric in metrics)), held.short.values(), title="Figures")
        for place, cells in rows:
            table.add_row(
                Text(f"{printable(place[0], 24)} {direction_symbol(place[1])}".strip()),
                *(_cell(cells.get(metric)) for metric in metrics),
            )
        unbounded = console.options.update(max_width=_UNBOUNDED)
        if len(metrics) < 2 or console.measure(table, options=unbounded).maximum <= console.width:
            break
        metrics.pop()
    left = len(held.rows) - len(rows), len(held.metrics) - len(metrics)
    said = SIGNS_MEAN
    if any(left):
        parts = [
            f"{many} more {of}{'s' * (many > 1)}" for many, of in zip(left, ("row", "metric"), strict=True) if many
        ]
        said += f"; {' and '.join(parts)}: --full"
    return Group(table, Text(said, style="dim"))


def _cell(cell: Cell | None) -> Text:
    if cell is None:
        return Text("")
    sign = VERDICT_SIGNS[cell.verdict] or " "
    value = "—" if cell.value is None else f"{round(cell.value, 3) + 0.0:{'+' if cell.signed else ''}.3f}"
    return Text(f"{value} {sign}", style=_STYLES.get(cell.verdict if cell.verdict is not None else 2, ""))


# Which groups a table has where not all fit.
_SOME = "{} of {} groups, those named and the largest"


def _crossings_left(audit: Audit, shown: Sequence[RatesView]) -> list[str]:
    """Which crossings are measured and have no rows here."""
    there = {view.attribute for view in shown}
    sizes: dict[str, int] = {}
    for view in rates_views(audit.document):
        if view.attribute not in there:
            sizes[view.attribute] = len(view.rows)
    return [f"{many:,} groups of {printable(attribute, 40)}: --full" for attribute, many in sizes.items()]


def _groups(audit: Audit, screen: _Screen, kept: int, named: Sequence[str]) -> None:
    """The rates of groups in one table: where there is no room for all, those that are ``named`` and the largest."""
    views = list(rates_views(audit.document, "attribute")) or list(rates_views(audit.document))
    if not views:
        return
    few, titles, digits = audit.document["data"]["min_group"], rate_titles(audit.document), percent_digits(views)
    names = label_names(audit.document["data"])
    every = [row for view in views for row in sorted(view.rows, key=lambda row: -row["records"])]
    # Where no two groups have as many records, small ones are compared with each other.
    compared = any("small-groups" in entry.get("caution_kinds", ()) for entry in audit.document["metrics"])
    rates_say = "FPR, TPR: of those truly without and with it"
    marked = f"{FEW} under {few} records{'' if compared else ', in no gap'}"
    left_out = _crossings_left(audit, views)
    longest = Text("; ".join([rates_say, marked, *left_out, _SOME.format(f"{len(every):,}", f"{len(every):,}")]))
    room = screen.left - kept - _AROUND_GROUPS - screen.height(longest)
    if room < 1:
        return
    order = sorted(range(len(every)), key=lambda i: (every[i]["group"] not in named, -every[i]["records"]))[:room]
    rows = [every[i] for i in sorted(order)]
    small = any(rate["size"] < few for row in rows for rate in rates_of_row(row) if rate["value"] is not None)
    notes = [rates_say, *([marked] if small else []), *left_out]
    # Cut once, and never until two names are the same.
    spoken = {row["group"]: names.get(row["group"], row["group"]) for row in rows}
    cut = short_names(spoken.values(), 40)
    called = {group: cut[held] for group, held in spoken.items()}
    several = len({view.outcome for view in views}) > 1
    rates, console = list(titles), screen.console
    unbounded = console.options.update(max_width=_UNBOUNDED)
    for chosen, bounds in ((rates, True), (rates[:3], True), (rates, False), (rates[:3], False)):
        outcome = views[0].outcome
        title = f"Groups, {'in' if several else f'{names.get(outcome, printable(outcome, 40))} in'} percent"
        heads = ("records", *(titles[rate] for rate in chosen))
        table = plain_table(("group", *heads), heads, heads, title=title)
        for row in rows:
            cells = [percent_cell(rate, digits, few) for rate in rates_of_row(row, chosen)]
            shown = cells if bounds else [cell.split(" [")[0].split("[")[0] for cell in cells]
            of = f" ({printable(row['outcome'], 20)})" if several else ""
            table.add_row(Text(called[row["group"]] + of), f"{row['records']:,}", *shown)
        if console.measure(table, options=unbounded).maximum <= console.width:
            break
    screen.show(table)
    if len(rows) < len(every):
        notes.append(_SOME.format(f"{len(rows):,}", f"{len(every):,}"))
    screen.show(Text("; ".join(notes), style="dim"))
