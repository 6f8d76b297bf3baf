"""The summary of a run of all experiments: how many figures agree, what was left, and every drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .basis import BASES, BESIDE, IN_WORDS, OTHERS, OURS, STAND_IN, VERDICTS
from .experiment import Setting
from .figures import figure
from .markup import Html, anchor, document, fill, listing, markdown_table, markdown_text, table
from .page import first_line, made_with, tally, told_counts
from .papers import PAPERS
from .readings import HEAD as READING_HEAD
from .readings import KINDS, NOT_TRIED, STANDINGS, Reading, overview, readings
from .running import Done

TITLE = "Published beside measured"
ASKED = (
    "What became of what the papers print. Real files are data that the paper speaks of; the paper's own numbers and definitions are put through "
    "this software and are no real files; a stand-in is made up and cannot reach a printed figure. A figure is reached where ours rounds to it, digit "
    "for digit; a claim in words where its test is passed. Each stands in one row."
)
WORDS = "What the words mean"
# Short names on the page, each in a line.
TERMS = {
    "A→T": "given the attribute (such as gender), the task (such as an object) is predicted; no claim of causality",
    "T→A": "given the task, the attribute is predicted",
    "MALS": "the metric of Zhao et al. (2017), which has no direction: mean rise of the share of the attribute that a task leans to",
    "BA": "directional bias amplification of Wang & Russakovsky (2021): how much more predictions lean than the data, in one direction",
    "Multi": "the mean size of the same differences, whatever their sign",
    "DPA": "directional predictability amplification of Tokas et al.: how much better an attacker guesses from predictions than from the data",
    "SDC": "the Sorensen-Dice coefficient, one of ten association metrics that Aka et al. compare",
}
HEAD = ("experiment", "of", "ran on", *BASES[:-1], "seconds")


def glossary(done: Sequence[Done], found: Sequence[Reading]) -> list[str]:
    """What the words on the page mean; those that are not on it are left out."""
    rows = [row for item in done if item.outcome is not None for row in item.outcome.rows]
    used = {row.basis for row in rows} | {row.verdict for row in rows} - {OURS} | {BESIDE}
    words = {word: told for word, told in (IN_WORDS | VERDICTS | OTHERS).items() if word in used}
    shown = " ".join(each.shown for reading in found for each in reading.printed)
    terms = {term: told for term, told in TERMS.items() if term in shown}
    return [f"{word}: {told}" for word, told in (STANDINGS | words | terms).items()]


def counts(item: Done) -> tuple[str, ...]:
    """What it ran on, how many figures and claims have which verdict by what each was measured on, and the time: as in ``HEAD``."""
    outcome = item.outcome
    if outcome is None:
        return item.state, *("–" for _ in BASES[:-1]), f"{item.seconds:.1f}"
    told = (told_counts(outcome.totals.get(basis, {})) or "–" for basis in BASES[:-1])
    ran_on = outcome.kind if holds_published(item) else f"{outcome.kind}; no printed figure is tested"
    return ran_on, *told, f"{item.seconds:.1f}"


def holds_published(item: Done) -> bool:
    """Whether any row has something that a paper prints."""
    return item.outcome is not None and any(row.published is not None for row in item.outcome.rows)


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


def _totals(done: Sequence[Done], found: Sequence[Reading]) -> list[str]:
    """All experiments together, a sentence for each thing measured on; those of papers that have no table below apart."""
    ran = [item for item in done if item.state == "ran"]
    made_up = [item.experiment.name for item in ran if item.outcome is not None and item.outcome.kind == STAND_IN]
    only = f", {len(made_up)} of them on stand-ins and no real files: {', '.join(made_up)}" if made_up else ""
    out = [f"{len(ran)} of {len(done)} experiments ran{only}."]
    further = [item for item in ran if (paper := PAPERS.get(item.experiment.paper)) is not None and not paper.items]
    for basis, many in totals([item for item in done if item not in further]).items():
        kind = next((kind for kind, name in KINDS.items() if name == basis), "")
        printed = sum(each.on(kind) != NOT_TRIED for reading in found for each in reading.printed) if kind else 0
        if told := told_counts(many):
            rows = sum(count for verdict, count in many.items() if verdict != OURS)
            out.append(f"{basis}: {told}. Rows: {rows}, for {printed} figures and claims that the papers print.")
    if further:
        told = "; ".join(
            f"{item.experiment.name}, {tally(item.outcome)}" for item in further if item.outcome is not None
        )
        out.append(f"Not counted in these, of further papers: {told}.")
    return out


def _overview_head(found: Sequence[Reading]) -> tuple[str, ...]:
    return "what became of it", *(reading.paper.name for reading in found)


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
    lines = [
        f"# {TITLE}",
        "",
        _time(about),
        "",
        f"{ASKED} All words: [{WORDS}](#{anchor(WORDS.lower().replace(' ', '-'))}).",
        "",
    ]
    lines += [*markdown_table(_overview_head(found), overview(found)), ""]
    lines += ["Rows of all experiments, apart by what each was measured on:", ""]
    lines += [*(f"- {words}" for words in _totals(done, found)), ""]
    for reading in found:
        told = (f"- **{markdown_text(words)}**: {markdown_text(told)}." for words, told in reading.answers())
        lines += [f"## {markdown_text(reading.paper.name)}", "", *told, ""]
        rows_of = ([markdown_text(cell) for cell in row] for row in reading.table())
        lines += [*markdown_table(READING_HEAD, rows_of), ""]
    lines += [f"## {WORDS}", "", *(f"- {markdown_text(words)}" for words in glossary(done, found)), ""]
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
        fill('<p><a href="#words">$words</a></p>', words=WORDS),
        table(_overview_head(found), overview(found)),
        fill("<p>Rows of all experiments, apart by what each was measured on:</p>"),
        listing(fill("$words", words=words) for words in _totals(done, found)),
    ]
    for reading in found:
        told = listing(fill("<b>$words</b>: $told.", words=words, told=told) for words, told in reading.answers())
        pieces.append(fill("<h2>$name</h2>$told", name=reading.paper.name, told=told))
        pieces.append(table(READING_HEAD, reading.table()))
    meaning = listing(fill("$line", line=line) for line in glossary(done, found))
    pieces.append(fill('<h2 id="words">$title</h2>$meaning', title=WORDS, meaning=meaning))
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
