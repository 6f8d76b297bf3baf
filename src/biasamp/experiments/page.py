"""The page of a run: published figures beside ours, as Markdown and as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
import math
from collections.abc import Sequence
from datetime import date

from biasamp.labels import printable

from .experiment import STAND_IN, Chart, Outcome, Row, decimals
from .running import Done, versions

HEAD = ("what", "published", "ours", "95% interval", "agrees", "why not, or what to know")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ccc; }
td.no { font-weight: 600; color: #8a1c00; } td.yes { color: #0b5d1e; }
.first { border-left: 4px solid #888; padding-left: .8rem; } svg { max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e6e6; } td.no { color: #ff9d80; }
td.yes { color: #7fd694; } svg { background: #f7f7f7; } th, td { border-color: #444; } }
"""
# Distinct without colour vision too, with the dashes below (Okabe and Ito's palette).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4")


def number(value: float | str, published: str | None = None) -> str:
    """A figure with one digit more than the published one, so that rounding can be seen."""
    if isinstance(value, str):
        return value
    return f"{value:.{_places(published)}f}"


def _places(published: str | None) -> int:
    try:
        float(published or "")
    except ValueError:
        return 4
    return max(decimals(published or ""), 2) + 1


def cells(row: Row) -> tuple[str, ...]:
    """A row as text, a cell for each of ``HEAD``."""
    published = row.published or "–"
    if row.spread:
        published += f" ± {row.spread}"
    interval = "–" if row.interval is None else f"{row.interval[0]:.4f} to {row.interval[1]:.4f}"
    agrees = {True: "yes", False: "no", None: "–"}[row.agrees]
    return row.what, published, number(row.ours, row.published), interval, agrees, words(row)


def words(row: Row) -> str:
    """Why a row differs, and what to know of it."""
    parts = []
    if row.agrees is False and isinstance(row.ours, float) and row.within(row.ours):
        parts.append("ours lies within the paper's ±")
    if row.agrees is False and isinstance(row.ours, float) and row.covered:
        parts.append("our interval holds the published figure")
    if row.reason is not None:
        reach = row.reason.settles or ("the published figure" if row.reached else "moved, not reached")
        parts.append(f"{row.reason.change}: {number(row.reason.figure, row.published)} ({reach})")
    elif row.unexplained:
        parts.append("no reason found")
    if row.note:
        parts.append(row.note)
    return "; ".join(parts)


def tally(outcome: Outcome) -> str:
    """How many published figures came out, in words."""
    differ = outcome.reached + outcome.moved + outcome.unexplained
    if outcome.agreed + differ == 0:
        return "no published figure to hold ours against"
    what = "claims hold on the stand-in" if outcome.kind == STAND_IN else "published figures and claims agree"
    parts = [f"{outcome.agreed} of {outcome.agreed + differ} {what}"]
    for count, what in (
        (outcome.reached, "another run settles it"),
        (outcome.moved, "another run moves ours without reaching it"),
        (outcome.unexplained, "no reason was found"),
    ):
        if count:
            parts.append(f"{count} {'differs' if count == 1 else 'differ'}: {what}")
    return "; ".join(parts)


def _made_with() -> str:
    names = ", ".join(f"{name} {version}" for name, version in versions().items())
    return f"Run on {date.today().isoformat()} with {names}."


def _markdown_cell(text: str) -> str:
    # Text from strangers: no markup, no new row.
    plain = printable(text, 4000).replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace("|", "\\|").replace("\n", " ")


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(_markdown_cell(cell) for cell in row) + " |" for row in rows]


def _summary(done: Sequence[Done]) -> list[tuple[str, ...]]:
    return [
        (
            item.experiment.name,
            item.experiment.place,
            f"not run: {item.blocked}" if item.outcome is None else item.outcome.first_line,
            "–" if item.outcome is None else tally(item.outcome),
            f"{item.seconds:.1f}",
        )
        for item in done
    ]


_SUMMARY_HEAD = ("experiment", "of", "ran on", "result", "seconds")


def markdown(done: Sequence[Done]) -> str:
    """The run as Markdown."""
    lines: list[str] = []
    if len(done) > 1:
        lines += [
            "# Published beside measured",
            "",
            _made_with(),
            "",
            *_markdown_table(_SUMMARY_HEAD, _summary(done)),
            "",
        ]
    for item in done:
        if item.outcome is not None:
            lines += [_markdown_cell(item.outcome.first_line), ""] if len(done) == 1 else []
        title = _markdown_cell(item.experiment.title)
        lines += [f"## {item.experiment.name}: {title}", "", _markdown_cell(item.experiment.place), ""]
        if item.outcome is None:
            lines += [f"Not run: {item.blocked}.", ""]
            continue
        lines += [] if len(done) == 1 else [_markdown_cell(item.outcome.first_line), ""]
        lines += [f"{tally(item.outcome)}.", ""]
        lines += [*_markdown_table(HEAD, [cells(row) for row in item.outcome.rows]), ""]
        lines += [f"Left out: {_markdown_cell(text)}." for text in item.outcome.left_out]
        lines += [""] if item.outcome.left_out else []
        lines += [_made_with(), ""] if len(done) == 1 else []
    return "\n".join(lines).rstrip() + "\n"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def cell(text: str, name: str) -> str:
        kind = f' class="{text}"' if name == "agrees" and text in ("yes", "no") else ""
        return f"<td{kind}>{html.escape(printable(text, 4000))}</td>"

    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(cell(text, name) for text, name in zip(row, head, strict=True)) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def page(done: Sequence[Done]) -> str:
    """The run as one HTML file: no script, nothing fetched."""
    parts = []
    if len(done) > 1:
        parts.append(f"<h1>Published beside measured</h1>{_html_table(_SUMMARY_HEAD, _summary(done))}")
    for item in done:
        first = f"Not run: {item.blocked}." if item.outcome is None else item.outcome.first_line
        parts.append(f'<p class="first">{html.escape(printable(first, 4000))}</p>')
        name, title = html.escape(item.experiment.name), html.escape(item.experiment.title)
        parts.append(f'<h2 id="{name}">{name}: {title}</h2><p>{html.escape(item.experiment.place)}</p>')
        if item.outcome is None:
            continue
        parts.append(f"<p>{html.escape(tally(item.outcome))}.</p>")
        parts.append(_html_table(HEAD, [cells(row) for row in item.outcome.rows]))
        parts += [f"<figure>{svg(chart)}</figure>" for chart in item.outcome.charts]
        parts += [f"<p>Left out: {html.escape(printable(text, 4000))}.</p>" for text in item.outcome.left_out]
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = html.escape(f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>biasamp: published beside measured</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + f"\n<p>{html.escape(_made_with())}</p>\n</body>\n</html>\n"
    )


def svg(chart: Chart, width: int = 720, height: int = 340) -> str:
    """A chart as inline SVG."""
    points = [p for line in chart.lines.values() for p in line if all(map(math.isfinite, p))]
    if not points:
        return ""
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low_y, high_y = min(y for _, y in points), max(y for _, y in points)
    span_x, span_y = (high_x - low_x) or 1.0, (high_y - low_y) or 1.0
    left, right, top, bottom = 60, width - 200, 30, height - 45

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (x - low_x) / span_x * (right - left), bottom - (y - low_y) / span_y * (bottom - top)

    out = [f'<svg viewBox="0 0 {width} {height}" role="img" font-size="12" font-family="sans-serif">']
    out.append(f"<title>{html.escape(printable(chart.title, 200))}</title>")
    out.append(f'<text x="{left}" y="18" font-weight="bold">{html.escape(printable(chart.title, 200))}</text>')
    out.append(f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#444"/>')
    for share in (0.0, 0.5, 1.0):
        x, y = low_x + share * span_x, low_y + share * span_y
        out.append(f'<text x="{place(x, low_y)[0]:.1f}" y="{bottom + 16}" text-anchor="middle">{x:.3g}</text>')
        out.append(f'<text x="{left - 6}" y="{place(low_x, y)[1] + 4:.1f}" text-anchor="end">{y:.3g}</text>')
    if low_y < 0 < high_y:
        zero = place(low_x, 0.0)[1]
        out.append(f'<path d="M{left} {zero:.1f}H{right}" stroke="#999" stroke-dasharray="2 4"/>')
    for i, (name, line) in enumerate(chart.lines.items()):
        colour, dash = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line if math.isfinite(x) and math.isfinite(y))
        stroke = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        out.append(f'<polyline points="{path}" {stroke}/>')
        y = top + 18 * i
        out.append(f'<path d="M{right + 10} {y}h24" {stroke}/>')
        out.append(f'<text x="{right + 40}" y="{y + 4}">{html.escape(printable(name, 40))}</text>')
    out.append(
        f'<text x="{(left + right) / 2:.0f}" y="{height - 8}" text-anchor="middle">{html.escape(printable(chart.x, 100))}'
        f'</text><text x="14" y="{(top + bottom) / 2:.0f}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(top + bottom) / 2:.0f})">{html.escape(printable(chart.y, 60))}</text></svg>'
    )
    return "".join(out)
