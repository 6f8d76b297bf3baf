"""The page of one experiment: published figures beside ours, as Markdown and as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .basis import BACK, BASES, BESIDE, IN_WORDS, NOT_BACK, OTHERS, STAND_IN, VERDICTS
from .figures import figure
from .markup import Html, document, fill, listing, markdown_table, markdown_text, table
from .outcome import Outcome
from .rows import Row, decimals
from .running import Done

HEAD = ("what", "measured on", "published", "ours", "95% interval", "verdict", "why not, or what to know")
PLANTED_HEAD = (*HEAD[:3], "planted here", *HEAD[3:])


def head(outcome: Outcome) -> tuple[str, ...]:
    """The columns of an outcome's table: what was planted has one of its own, apart from what is published."""
    return PLANTED_HEAD if any(row.planted is not None for row in outcome.rows) else HEAD


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


def cells(row: Row, planted: bool = False) -> tuple[str, ...]:
    """A row as text, a cell for each of ``HEAD``, or of ``PLANTED_HEAD``."""
    published = row.published or "–"
    if row.spread:
        published += f" ± {row.spread}"
    interval = "–" if row.interval is None else " to ".join(number(end, row.published) for end in row.interval)
    first = (row.what, row.basis, published, *((row.planted or "–",) if planted else ()))
    return *first, number(row.ours, row.published), interval, row.verdict, words(row)


def words(row: Row) -> str:
    """Why a row differs, and what to know of it."""
    if row.planted is not None:
        return row.note
    parts = []
    if row.agrees is False and isinstance(row.ours, float) and row.within(row.ours):
        parts.append("ours lies within the paper's ±")
    if row.agrees is False and isinstance(row.ours, float) and row.covered:
        parts.append("our interval holds the published figure")
    if row.reason is not None:
        near = (
            "within the paper's ±, not the published figure" if row.within(row.reason.figure) else "moved, not reached"
        )
        reach = row.reason.settles or ("the published figure" if row.reached else near)
        parts.append(f"{row.reason.change}: {number(row.reason.figure, row.published)} ({reach})")
    if row.left_open or row.out_of_reach:
        parts.append(_searched(row))
    elif row.unexplained:
        parts.append("not seen on the stand-in" if row.basis == STAND_IN and row.in_words else "no reason found")
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


def tally(outcome: Outcome) -> str:
    """How many published figures came out, apart by what they were measured on, in words."""
    parts = [f"{basis}: {told}" for basis, counts in outcome.totals.items() if (told := told_counts(counts))]
    return ". ".join(parts) if parts else "No published figure to hold ours against"


def told_counts(counts: Mapping[str, int]) -> str:
    """How many figures and claims have each verdict, in words; what has none is told last.

    >>> told_counts({"same digits": 2, "out of reach": 1, "no verdict": 3})
    '2 same digits, 1 out of reach; 3 beside ours without a verdict'
    """
    parts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts.get(verdict))
    planted = ", ".join(f"{counts[verdict]} {verdict}" for verdict in (BACK, NOT_BACK) if counts.get(verdict))
    beside = f"{counts[BESIDE]} beside ours without a verdict" if counts.get(BESIDE) else ""
    return "; ".join(part for part in (parts, planted and f"values of ours: {planted}", beside) if part)


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


def _notes(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """What a page tells beside its rows: a heading and its points."""
    out = []
    if outcome.trial is not None:
        out.append(("What this stand-in could have shown instead", [outcome.trial.could, outcome.trial.fails]))
    if outcome.choices:
        out.append(("Choices that the papers leave open", list(outcome.choices)))
    if outcome.left_out:
        out.append(("Left out", list(outcome.left_out)))
    return out


def _legend(outcome: Outcome) -> list[str]:
    """What the bases and verdicts on this page mean."""
    bases = [f"{basis}: {IN_WORDS[basis]}" for basis in BASES if basis in outcome.totals]
    used = {row.verdict for row in outcome.rows}
    return bases + [f"{verdict}: {words}" for verdict, words in (VERDICTS | OTHERS).items() if verdict in used]


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
        lines += [markdown_text(" ".join(outcome.says)), ""] if outcome.says else []
        lines += [f"{markdown_text(tally(outcome))}.", ""]
        for of, text in outcome.examples:
            lines += [f"- {markdown_text(of)}: {markdown_text(text)}"]
        lines += [""] if outcome.examples else []
        named = head(outcome)
        rows = [[markdown_text(cell) for cell in cells(row, named is PLANTED_HEAD)] for row in outcome.rows]
        lines += [*markdown_table(named, rows), ""]
        for title, points in _notes(outcome):
            lines += [f"### {title}", "", *(f"- {markdown_text(point)}" for point in points), ""]
        lines += ["### Words", "", *(f"- {markdown_text(point)}" for point in _legend(outcome)), ""]
    return "\n".join([*lines, f"{made_with(about)} {item.seconds:.1f} seconds."]) + "\n"


def page(item: Done, about: Mapping[str, Any]) -> str:
    """One experiment as one HTML file: no script, nothing fetched. Three sentences and the charts come first."""
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
        if outcome.says:
            pieces.append(fill("<p>$says</p>", says=" ".join(outcome.says)))
        pieces += [figure(chart) for chart in outcome.charts]
        pieces.append(fill("<p>$tally.</p>", tally=tally(outcome)))
        if outcome.examples:
            pieces.append(
                listing(fill("$of: <q>$text</q>", of=of, text=text) for of, text in outcome.examples),
            )
        named = head(outcome)
        pieces.append(table(named, [cells(row, named is PLANTED_HEAD) for row in outcome.rows]))
        for title, points in (*_notes(outcome), ("Words", _legend(outcome))):
            pieces.append(fill("<h2>$title</h2>$points", title=title, points=_listed(points)))
    pieces.append(fill("<p>$made $seconds seconds.</p>", made=made_with(about), seconds=f"{item.seconds:.1f}"))
    return document(f"{experiment.name}: published beside measured", pieces)


def _listed(points: list[str]) -> Html:
    return listing(fill("$point", point=point) for point in points)
