"""The page of one experiment: published figures beside ours, as Markdown and as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .figures import figure
from .markup import document, fill, markdown_table, markdown_text, table
from .outcome import STAND_IN, Outcome
from .rows import Row, decimals
from .running import Done

HEAD = ("what", "published", "ours", "95% interval", "agrees", "why not, or what to know")


def number(value: float | str, published: str | None = None) -> str:
    """A figure with one digit more than the published one, so that rounding can be seen."""
    if isinstance(value, str):
        return value
    return f"{value:.{_places(published)}f}"


def _places(published: str | None) -> int:
    try:
        size = abs(float(published or ""))
    except ValueError:
        return 4
    # Of counts of people or images a tenth is enough.
    return 1 if size >= 10 and not decimals(published or "") else max(decimals(published or ""), 2) + 1


def cells(row: Row, kind: str = "") -> tuple[str, ...]:
    """A row of an outcome of this kind as text, a cell for each of ``HEAD``."""
    published = row.published or "–"
    if row.spread:
        published += f" ± {row.spread}"
    interval = "–" if row.interval is None else " to ".join(number(end, row.published) for end in row.interval)
    agrees = {True: "yes", False: "no", None: "–"}[row.agrees]
    return row.what, published, number(row.ours, row.published), interval, agrees, words(row, kind)


def words(row: Row, kind: str = "") -> str:
    """Why a row differs, and what to know of it."""
    parts = []
    if row.agrees is False and isinstance(row.ours, float) and row.within(row.ours):
        parts.append("ours lies within the paper's ±")
    if row.agrees is False and isinstance(row.ours, float) and row.covered:
        parts.append("our interval holds the published figure")
    if row.reason is not None:
        reach = row.reason.settles or ("the published figure" if row.reached else "moved, not reached")
        parts.append(f"{row.reason.change}: {number(row.reason.figure, row.published)} ({reach})")
    if row.left_open or row.out_of_reach:
        parts.append(_searched(row))
    elif row.unexplained:
        parts.append("not seen on the stand-in" if kind == STAND_IN and row.in_words else "no reason found")
    if row.note:
        parts.append(row.note)
    return "; ".join(parts)


def _searched(row: Row) -> str:
    tried = row.tried
    if tried is None:
        return ""
    low, high = number(tried.low, row.published), number(tried.high, row.published)
    runs = f"{tried.runs} runs ({tried.over})"
    if row.left_open:
        return f"left open by the paper: the published figure lies within {low} to {high}, all that {runs} gave"
    if tried.together:
        alone = replace(tried, together="").holds(str(row.published))
        return (
            f"out of reach: no run gives all that is printed of this model, {tried.together}; alone it lies "
            f"{'within' if alone else 'outside, too, of'} {low} to {high}, all that {runs} gave"
        )
    return f"out of reach: it lies outside {low} to {high}, all that {runs} gave"


# How a published figure can differ from ours, each with what is said of it.
DIFFERENCES = (
    ("reached", "another run gives the published figure"),
    ("moved", "another run moves ours without reaching it"),
    ("left_open", "within what the paper's open choices give"),
    ("out_of_reach", "given by no run tried, or by none together with what is printed beside it"),
    ("not_seen", "not seen on the stand-in, which is not the paper's data"),
    ("unexplained", "no reason was found"),
)


def tally(outcome: Outcome) -> str:
    """How many published figures came out, in words."""
    differ = sum(getattr(outcome, kind) for kind, _ in DIFFERENCES)
    if outcome.agreed + differ == 0:
        return "no published figure to hold ours against"
    what = "claims hold on the stand-in" if outcome.kind == STAND_IN else "published figures and claims agree"
    parts = [f"{outcome.agreed} of {outcome.agreed + differ} {what}"]
    for kind, words in DIFFERENCES:
        count = getattr(outcome, kind)
        if count:
            parts.append(f"{count} {'differs' if count == 1 else 'differ'}: {words}")
    return "; ".join(parts)


def made_with(about: Mapping[str, Any]) -> str:
    """When and with what a run was made."""
    names = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    core = "core" if about["cores"] == 1 else "cores"
    return f"Run on {about['date']} with {names}; seed {about['seed']}; {about['cores']} {core}."


def first_line(item: Done) -> str:
    """What an experiment ran on, or why it gave nothing."""
    if item.outcome is not None:
        return item.outcome.first_line
    return f"Failed: {item.failed}" if item.failed else f"Not run: it {item.blocked}."


def markdown(item: Done, about: Mapping[str, Any]) -> str:
    """One experiment as Markdown."""
    experiment, outcome = item.experiment, item.outcome
    lines = [markdown_text(first_line(item)), ""]
    lines += [
        f"## {markdown_text(experiment.name)}: {markdown_text(experiment.title)}",
        "",
        markdown_text(experiment.place),
        "",
    ]
    if outcome is not None:
        lines += [f"{tally(outcome)}.", ""]
        rows = [[markdown_text(cell) for cell in cells(row, outcome.kind)] for row in outcome.rows]
        lines += [*markdown_table(HEAD, rows), ""]
        lines += [f"Left out: {markdown_text(words)}." for words in outcome.left_out]
        lines += [""] if outcome.left_out else []
    return "\n".join([*lines, f"{made_with(about)} {item.seconds:.1f} seconds."]) + "\n"


def page(item: Done, about: Mapping[str, Any]) -> str:
    """One experiment as one HTML file: no script, nothing fetched."""
    experiment, outcome = item.experiment, item.outcome
    pieces = [
        fill('<p class="first">$line</p>', line=first_line(item)),
        fill(
            "<h1>$name: $title</h1><p>$place</p>",
            name=experiment.name,
            title=experiment.title,
            place=experiment.place,
        ),
    ]
    if outcome is not None:
        pieces.append(fill("<p>$tally.</p>", tally=tally(outcome)))
        pieces.append(table(HEAD, [cells(row, outcome.kind) for row in outcome.rows]))
        pieces += [figure(chart) for chart in outcome.charts]
        pieces += [fill("<p>Left out: $words.</p>", words=words) for words in outcome.left_out]
    pieces.append(fill("<p>$made $seconds seconds.</p>", made=made_with(about), seconds=f"{item.seconds:.1f}"))
    return document(f"{experiment.name}: published beside measured", pieces)
