"""The summary of a run of all experiments: how many figures agree, what was left, and every drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .drawing import figure
from .experiment import Setting
from .markup import anchor, document, html_table, markdown_table, markdown_text, text
from .page import DIFFERENCES, first_line, made_with, tally
from .running import Done

TITLE = "Published beside measured"
HEAD = ("experiment", "of", "ran on", "agree", *(kind.replace("_", " ") for kind, _ in DIFFERENCES), "seconds")


def counts(item: Done) -> tuple[str, ...]:
    """What it ran on, how many figures agree and how many differ in which way, and the time: as in ``HEAD``."""
    outcome = item.outcome
    if outcome is None:
        return item.state, *("–" for _ in range(1 + len(DIFFERENCES))), f"{item.seconds:.1f}"
    figures = (outcome.agreed, *(getattr(outcome, kind) for kind, _ in DIFFERENCES))
    return outcome.kind, *map(str, figures), f"{item.seconds:.1f}"


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


def _totals(done: Sequence[Done]) -> str:
    outcomes = [item.outcome for item in done if item.outcome is not None]
    parts = [
        f"{sum(item.state == 'ran' for item in done)} of {len(done)} experiments ran",
        f"{sum(outcome.agreed for outcome in outcomes)} published figures and claims agree",
    ]
    for kind, words in DIFFERENCES:
        count = sum(getattr(outcome, kind) for outcome in outcomes)
        if count:
            parts.append(f"{count} {'differs' if count == 1 else 'differ'}: {words}")
    return "; ".join(parts)


def _time(about: Mapping[str, Any]) -> str:
    return f"{made_with(about)} {about['seconds']:.0f} seconds in all."


def _left_lines(
    done: Sequence[Done], setting: Setting, say: Callable[[str], str], code: Callable[[str], str]
) -> list[str]:
    return [
        f"{code(name)} {say(wanting)}." + (f" To run it whole: {code(command)}" if command else "")
        for name, wanting, command in left(done, setting)
    ]


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
    lines = [f"# {TITLE}", "", _time(about), "", f"{_totals(done)}.", "", *markdown_table(HEAD, rows), ""]
    if _failed(done):
        lines += ["## Failed", ""]
        lines += [f"- {code(item.experiment.name)}: {markdown_text(item.failed)}" for item in _failed(done)] + [""]
    wanting = _left_lines(done, setting, markdown_text, code)
    if wanting:
        lines += ["## What is left, and what it needs", "", *(f"- {line}" for line in wanting), ""]
    lines += ["## What each ran on", ""]
    lines += [f"- {code(item.experiment.name)} {markdown_text(first_line(item))}" for item in done]
    return "\n".join(lines) + "\n"


def summary_page(done: Sequence[Done], about: Mapping[str, Any], setting: Setting) -> str:
    """The run as one HTML file with every drawing in it."""

    def code(words: str) -> str:
        return f"<code>{text(words)}</code>"

    rows = [
        (
            f'<a href="#{anchor(item.experiment.name)}">{text(item.experiment.name)}</a>',
            text(item.experiment.place),
            *map(text, counts(item)),
        )
        for item in done
    ]
    parts = [f"<h1>{TITLE}</h1><p>{text(_time(about))}</p><p>{text(_totals(done))}.</p>", html_table(HEAD, rows)]
    meanings = "".join(f"<li>{kind.replace('_', ' ')}: differs; {words}</li>" for kind, words in DIFFERENCES)
    parts.append(f"<ul>{meanings}</ul>")
    if _failed(done):
        items = "".join(f"<li>{code(item.experiment.name)}: {text(item.failed)}</li>" for item in _failed(done))
        parts.append(f"<h2>Failed</h2><ul>{items}</ul>")
    wanting = _left_lines(done, setting, text, code)
    if wanting:
        parts.append(
            f"<h2>What is left, and what it needs</h2><ul>{''.join(f'<li>{line}</li>' for line in wanting)}</ul>"
        )
    for item in done:
        name = item.experiment.name
        parts.append(f'<h2 id="{anchor(name)}">{text(name)}: {text(item.experiment.title)}</h2>')
        parts.append(f'<p class="first">{text(first_line(item))}</p>')
        if item.outcome is not None:
            parts.append(
                f"<p>{text(item.experiment.place)}. {text(tally(item.outcome))}. {item.seconds:.1f} seconds. "
                f'<a href="{anchor(name)}.html">Every figure</a></p>'
            )
            parts += [figure(chart) for chart in item.outcome.charts]
    return document(f"biasamp: {TITLE.lower()}", parts)
