"""The summary of a run of all experiments: how many figures agree, what was left, and every drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .basis import BASES, IN_WORDS, OTHERS, VERDICTS
from .experiment import Setting
from .figures import figure
from .markup import Html, anchor, document, fill, listing, markdown_table, markdown_text, table
from .page import first_line, made_with, tally, told_counts
from .readings import HEAD as READING_HEAD
from .readings import OVERVIEW, overview, readings
from .running import Done

TITLE = "Published beside measured"
OVERVIEW_HEAD = ("paper", *OVERVIEW)
ASKED = (
    "What became of what the papers print. Real files are data that the paper speaks of; the paper's own numbers are counts, tables and formulas "
    "that it prints, put through this software, which is no real data; a stand-in is made up and cannot reach a printed figure. A figure is "
    "reached where ours rounds to it, digit for digit; a claim in words where its test is passed. Each stands in one column:"
)
WORDS = [f"{name}: {words}" for name, words in (IN_WORDS | VERDICTS | OTHERS).items()]
HEAD = ("experiment", "of", "ran on", *BASES[:-1], "seconds")


def counts(item: Done) -> tuple[str, ...]:
    """What it ran on, how many figures and claims have which verdict by what each was measured on, and the time: as in ``HEAD``."""
    outcome = item.outcome
    if outcome is None:
        return item.state, *("–" for _ in BASES[:-1]), f"{item.seconds:.1f}"
    told = (told_counts(outcome.totals.get(basis, {})) or "–" for basis in BASES[:-1])
    return outcome.kind, *told, f"{item.seconds:.1f}"


def left(done: Sequence[Done], setting: Setting) -> list[tuple[str, str, str]]:
    """Of all that could not run, or only in part: its name, what is wanting, and the command that then runs it whole.

    The command is empty where no file and no extra is wanting, but time.
    """
    out = []
    for item in done:
        experiment = item.experiment
        lacking = experiment.lacking(setting)
        if item.blocked:
            out.append((experiment.name, item.blocked, experiment.command(setting)))
        elif lacking:
            wanting = f"ran without {', '.join(lacking)}: {experiment.without}"
            out.append((experiment.name, wanting, experiment.command(setting)))
        elif item.outcome is not None:
            out += [(experiment.name, f"left out {words}", "") for words in item.outcome.left_out]
    return out


def totals(done: Sequence[Done]) -> dict[str, dict[str, int]]:
    """How many rows of all experiments have each verdict, apart by what they were measured on."""
    found: dict[str, dict[str, int]] = {}
    for outcome in (item.outcome for item in done if item.outcome is not None):
        for basis, counts in outcome.totals.items():
            mine = found.setdefault(basis, {})
            for verdict, many in counts.items():
                mine[verdict] = mine.get(verdict, 0) + many
    return {
        basis: {verdict: found[basis][verdict] for verdict in (*VERDICTS, *OTHERS) if verdict in found[basis]}
        for basis in BASES
        if basis in found
    }


def _totals(done: Sequence[Done]) -> list[str]:
    """All experiments together, a sentence for each thing measured on."""
    ran = f"{sum(item.state == 'ran' for item in done)} of {len(done)} experiments ran"
    found = totals(done)
    return [f"{ran}."] + [f"{basis}: {told}." for basis, many in found.items() if (told := told_counts(many))]


def _time(about: Mapping[str, Any]) -> str:
    return f"{made_with(about)} {about['seconds']:.0f} seconds in all."


def _failed(done: Sequence[Done]) -> list[Done]:
    return [item for item in done if item.failed]


def summary_markdown(done: Sequence[Done], about: Mapping[str, Any], setting: Setting) -> str:
    """The run as Markdown."""

    def code(words: str) -> str:
        return f"`{markdown_text(words).replace('`', '')}`"

    rows = [
        (
            f"[{markdown_text(item.experiment.name)}]({anchor(item.experiment.name)}.md)",
            markdown_text(item.experiment.place),
            *counts(item),
        )
        for item in done
    ]
    found = readings(done)
    lines = [f"# {TITLE}", "", _time(about), "", ASKED, ""]
    lines += [*markdown_table(OVERVIEW_HEAD, overview(found)), ""]
    lines += ["Rows of all experiments, apart by what each was measured on:", ""]
    lines += [*(f"- {words}" for words in _totals(done)), ""]
    for reading in found:
        told = (f"- **{markdown_text(words)}**: {markdown_text(told)}." for words, told in reading.answers())
        lines += [f"## {markdown_text(reading.paper.name)}", "", *told, ""]
        rows_of = ([markdown_text(cell) for cell in row] for row in reading.table())
        lines += [*markdown_table(READING_HEAD, rows_of), ""]
    lines += ["## What the words mean", "", *(f"- {words}" for words in WORDS), ""]
    lines += ["## Experiments", "", *markdown_table(HEAD, rows), ""]
    if _failed(done):
        lines += ["## Failed", ""]
        lines += [f"- {code(item.experiment.name)}: {markdown_text(item.failed)}" for item in _failed(done)] + [""]
    wanting = [
        f"- {code(name)} {markdown_text(words)}." + (f" To run it whole: {code(command)}" if command else "")
        for name, words, command in left(done, setting)
    ]
    if wanting:
        lines += ["## What is left, and what it needs", "", *wanting, ""]
    lines += ["## What each ran on", ""]
    lines += [f"- {code(item.experiment.name)} {markdown_text(first_line(item))}" for item in done]
    return "\n".join(lines) + "\n"


def summary_page(done: Sequence[Done], about: Mapping[str, Any], setting: Setting) -> str:
    """The run as one HTML file with every drawing in it."""
    found = readings(done)
    rows = [
        (
            fill('<a href="#$place">$name</a>', place=anchor(item.experiment.name), name=item.experiment.name),
            item.experiment.place,
            *counts(item),
        )
        for item in done
    ]
    pieces = [
        fill("<h1>$title</h1><p>$time</p><p>$asked</p>", title=TITLE, time=_time(about), asked=ASKED),
        table(OVERVIEW_HEAD, overview(found)),
        fill("<p>Rows of all experiments, apart by what each was measured on:</p>"),
        listing(fill("$words", words=words) for words in _totals(done)),
    ]
    for reading in found:
        told = listing(fill("<b>$words</b>: $told.", words=words, told=told) for words, told in reading.answers())
        pieces.append(fill("<h2>$name</h2>$told", name=reading.paper.name, told=told))
        pieces.append(table(READING_HEAD, reading.table()))
    pieces.append(fill("<h2>What the words mean</h2>$words", words=listing(fill("$w", w=w) for w in WORDS)))
    pieces.append(fill("<h2>Experiments</h2>$rows", rows=table(HEAD, rows)))
    if _failed(done):
        failed = (fill("<code>$name</code>: $why", name=it.experiment.name, why=it.failed) for it in _failed(done))
        pieces.append(fill("<h2>Failed</h2>$items", items=listing(failed)))
    wanting = [
        fill("<code>$name</code> $words.", name=name, words=words)
        if not command
        else fill(
            "<code>$name</code> $words. To run it whole: <code>$command</code>", name=name, words=words, command=command
        )
        for name, words, command in left(done, setting)
    ]
    if wanting:
        pieces.append(fill("<h2>What is left, and what it needs</h2>$items", items=listing(wanting)))
    for item in done:
        pieces += _section(item)
    return document(f"biasamp: {TITLE.lower()}", pieces)


def _section(item: Done) -> list[Html]:
    """What is said of one experiment in the summary, with its drawings."""
    name, place = item.experiment.name, anchor(item.experiment.name)
    pieces = [
        fill('<h2 id="$place">$name: $title</h2>', place=place, name=name, title=item.experiment.title),
        fill('<p class="first">$line</p>', line=first_line(item)),
    ]
    if item.outcome is not None:
        if item.outcome.says:
            pieces.append(fill("<p>$says</p>", says=" ".join(item.outcome.says)))
        pieces.append(
            fill(
                '<p>$of. $tally. $seconds seconds. <a href="$place.html">Every figure</a></p>',
                of=item.experiment.place,
                tally=tally(item.outcome),
                seconds=f"{item.seconds:.1f}",
                place=place,
            )
        )
        pieces += [figure(chart) for chart in item.outcome.charts]
    return pieces
