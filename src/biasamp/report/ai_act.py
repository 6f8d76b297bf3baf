"""An audit under the headings that technical documentation of high-risk AI systems has in the EU AI Act.

Annex IV, point 2(g) asks for validation and testing procedures, the data used, metrics of accuracy, robustness and potentially
discriminatory impacts; Article 10(2)(f) for an examination in view of possible biases. Headings, and nothing of what they amount to.
"""

from __future__ import annotations

from biasamp.auditing.audit_result import UNNAMED, Audit
from biasamp.data import printable
from biasamp.results.interval import figure
from biasamp.results.metric_registry import METRICS, direction_symbol, is_signed, short_name

from .markdown_text import escaped
from .provenance_view import label_error_words, made_rows
from .written import not_run_by_reason


def ai_act_section(audit: Audit, *, level: int = 2) -> str:
    """Metrics, groups, limits, data and foreseeable bias, in Markdown; what an audit cannot know is left to be filled in."""
    document, data = audit.document, audit.document["data"]
    head, under = "#" * level, "#" * min(level + 1, 6)
    found = document["findings"]
    source = "" if audit.source == UNNAMED else f" of {escaped(audit.source, 80)}"
    lines = [
        f"{head} Validation and testing: potentially discriminatory impacts (Regulation (EU) 2024/1689, Annex IV, point 2(g))",
        "",
        f"{under} Data used and their main characteristics",
        "",
        f"- {data['records']:,} records{source}; fingerprint {data['fingerprint']}; missing values: {data['missing_values']:,} ({data['missing']}).",
        f"- Tasks: {escaped(data['tasks']['title'], 300)}; {data['tasks']['labels']:,} labels. Directions come from "
        f"{'training labels' if data['train'] else 'the evaluated labels'}.",
        *(
            f"- Labels of {escaped(name, 60)}: {escaped(text, 500)}."
            for name, text in data.get("label_sources", {}).items()
        ),
        "",
        f"{under} Groups",
        "",
        *_table(
            ["attribute", "group", "records", "note"],
            [
                [
                    escaped(row["attribute"], 60),
                    escaped(row["group"], 60),
                    f"{row['records']:,}",
                    "few records" if row["small"] else "",
                ]
                for row in data["groups"]
            ],
        ),
        f"{under} Metrics used to measure potentially discriminatory impacts",
        "",
        *_table(
            ["attribute", "metric", "direction", "value", f"{data['confidence']:.0%} interval"],
            [
                [
                    escaped(entry["attribute"], 60),
                    short_name(entry["metric"]),
                    direction_symbol(entry["direction"]),
                    figure(entry["value"], is_signed(entry["metric"]), "undefined"),
                    _ends(entry["interval"], is_signed(entry["metric"])),
                ]
                for entry in document["metrics"]
            ],
        ),
        *(
            f"- {METRICS[name].title}: {escaped(METRICS[name].question)}"
            for name in dict.fromkeys(
                METRICS[entry["metric"]].described_by for entry in document["metrics"] if entry["metric"] in METRICS
            )
        ),
        "",
        f"{under} Limits",
        "",
        *(f"- {escaped(row['text'], 2000)}" for row in found if row["kind"] == "caution"),
        *(
            f"- Not measured: {escaped(', '.join(names))} ({escaped(reason, 400)})."
            for reason, names in not_run_by_reason(audit).items()
        ),
        "",
        f"{under} Test logs",
        "",
        *(f"- {escaped(title, 120)}: {escaped(text, 2000)}" for title, text in made_rows(document)),
        "- signed by: (to be filled in, with date)",
        "",
        f"{head} Examination in view of possible biases (Article 10(2)(f))",
        "",
        f"{under} What was found",
        "",
        *(f"- {escaped(row['text'], 2000)}" for row in found if row["kind"] == "finding"),
        "",
        f"{under} Foreseeable bias",
        "",
        "- A model that amplifies nothing still repeats the bias of its data.",
        *(f"- {escaped(line, 1000)}" for line in label_error_words(document)),
        *(
            f"- {escaped(row['group'], 60)} has {row['records']:,} records: little is known of it."
            for row in data["groups"]
            if row["small"]
        ),
        "- Feedback loops, and people whom the data leave out: (to be filled in)",
        "",
        f"{under} Measures to detect, prevent and mitigate them (Article 10(2)(g))",
        "",
        "- (to be filled in)",
        "",
        f"Made from an audit by biasamp {escaped(str(document['version']))}. These are figures under headings; whether they meet any "
        "requirement is not said here.",
        "",
    ]
    return "\n".join(lines)


def _ends(ends: list[float | None], signed: bool) -> str:
    low, high = ends
    return "—" if low is None or high is None else f"{figure(low, signed)} to {figure(high, signed)}"


def _table(headings: list[str], rows: list[list[str]]) -> list[str]:
    return [
        f"| {' | '.join(printable(cell, 200) for cell in row)} |" for row in [headings, ["---"] * len(headings), *rows]
    ] + [""]
