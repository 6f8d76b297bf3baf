"""Audits and verdicts as Markdown: a section of a model card, and the summary of a run in CI."""

from __future__ import annotations

from typing import Any

from biasamp.auditing.audit_result import UNNAMED, Audit
from biasamp.auditing.caution_topics import cautions_by_topic
from biasamp.auditing.comparison_answer import changed_by_evidence, verdicts_first
from biasamp.auditing.comparison_result import Comparison
from biasamp.auditing.document_types import Entry
from biasamp.auditing.evidence import direction_known
from biasamp.auditing.label_names import group_names, label_names
from biasamp.auditing.mirrors import each_once
from biasamp.policy import Verdict
from biasamp.results.interval import figure
from biasamp.results.metric_registry import METRICS, direction_symbol, is_signed, pairs_oriented, short_name

from .markdown_text import escaped
from .matrix import SIGNS_MEAN, VERDICT_SIGNS, matrix_of
from .provenance_view import label_error_rows, provenance_rows
from .rates_view import (
    FEW,
    against_cells,
    few_said,
    marks,
    percent_cell,
    rate_titles,
    rates_notes,
    rates_of_row,
    rates_views,
    share_cell,
)
from .written import (
    EACH_BY_ITSELF,
    attack_words,
    difference_words,
    further_figures,
    invented_lines,
    largest_pairs,
    not_run_by_reason,
    pair_change_words,
    seeds_and_records,
    who_against_whom,
)

_SIGNS = {"pass": "✅", "fail": "❌", "not enough evidence": "⚠️"}


def _number(value: float | None, signed: bool) -> str:
    return figure(value, signed, "undefined")


def _interval(low: float | None, high: float | None, signed: bool) -> str:
    return "—" if low is None or high is None else f"{_number(low, signed)} to {_number(high, signed)}"


def _table(headings: list[str], rows: list[list[str]]) -> list[str]:
    lines = [headings, ["---"] * len(headings), *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def audit_section(audit: Audit, *, level: int = 2, pairs: int = 5) -> str:
    """An audit as the bias section of a model card: ``level`` is that of its heading, ``pairs`` how many are listed."""
    document = audit.document
    data, under = document["data"], "#" * (level + 1)
    source = "" if audit.source == UNNAMED else f" of {escaped(audit.source, 80)}"
    found = document["findings"]
    findings = [f"- {escaped(row['text'], 2000)}" for row in found if row["kind"] == "finding"]
    cautions = [
        f"- {escaped(topic)}: {escaped(found[i]['text'], 2000)}"
        for topic, places in cautions_by_topic(document).items()
        for i in places
    ]
    lines = [
        f"{'#' * level} Bias amplification",
        "",
        *(f"- **{title}.** {escaped(words, 4000)}" for title, words in audit.answer.titled.items()),
        "",
        *_matrix_rows(audit),
        f"Measured on {data['records']:,} records{source}. Protected attributes: "
        f"{', '.join(escaped(name) for name in data['attributes'])}. Tasks: "
        f"{escaped(data['tasks']['title'])}. Intervals have the level {data['confidence']:.0%} and say how the figures vary "
        f"with the sampling of records, not between training runs. {EACH_BY_ITSELF}",
        "",
        *_group_rows(audit, under),
        f"{under} Findings",
        "",
        *findings,
        "",
        f"{under} Figures",
        "",
        *_metric_rows(audit),
    ]
    for entry in document["metrics"]:
        if pairs and pairs_oriented(entry["metric"]) and entry.get("pairs"):
            lines += _pair_rows(entry, each_once(entry["pairs"]), pairs, under, label_names(data))
    lines += _invented_rows(audit, under, pairs)
    lines += [f"{under} Limits and cautions", "", *cautions]
    lines.append("- Zero amplification is not fairness: a model that repeats its data repeats their bias.")
    known = (METRICS[entry["metric"]] for entry in document["metrics"] if entry["metric"] in METRICS)
    used = [METRICS[name] for name in dict.fromkeys(metric.described_by for metric in known)]
    lines += [f"- {metric.title}: {escaped(metric.limits)}." for metric in used]
    skipped = [f"{', '.join(names)} ({reason})" for reason, names in not_run_by_reason(audit).items()]
    lines += [f"- Not measured: {escaped(words, 500)}." for words in skipped]
    if len(audit.excluded):
        lines.append(f"- {len(audit.excluded):,} pairs or rates are undefined and in no figure above.")
    lines += label_error_rows(document, under)
    return "\n".join([*lines, "", *provenance_rows(document, under)])


def _matrix_rows(audit: Audit) -> list[str]:
    """Attributes by metrics, each with what is concluded of it."""
    held = matrix_of(audit.document)
    rows = []
    for (attribute, direction), cells in held.rows:
        values = [cells.get(metric) for metric in held.metrics]
        shown = [
            "" if cell is None else f"{_number(cell.value, cell.signed)} {VERDICT_SIGNS[cell.verdict]}"
            for cell in values
        ]
        rows.append([f"{escaped(attribute, 60)} {direction_symbol(direction)}".strip(), *map(str.strip, shown)])
    return [*_table(["", *(held.short[metric] for metric in held.metrics)], rows), f"{SIGNS_MEAN}.", ""]


def _group_rows(audit: Audit, under: str) -> list[str]:
    """The records of every group, and its rates where tasks are predicted."""
    data, views = audit.document["data"], list(rates_views(audit.document))
    if not views:
        names = label_names(data)
        groups = [
            f"{escaped(names.get(row['group'], row['group']))} ({row['records']:,}{', few' if row['small'] else ''})"
            for row in data["groups"]
        ]
        return [f"Records in each group: {', '.join(groups)}.", ""]
    lines, titles = [], list(rate_titles(audit.document).values())
    for view in views:
        names = group_names(data, view.attribute)
        rows = [
            [
                escaped(names[row["group"]] + marks(row)),
                f"{row['records']:,}",
                share_cell(row),
                *(escaped(percent_cell(rate, 1, data["min_group"])) for rate in rates_of_row(row)),
            ]
            for row in sorted(view.rows, key=lambda row: -row["records"])
        ]
        lines += [f"{under} Groups of {escaped(view.title, 160)}", ""]
        lines += _table(["group", "records", "share", *titles], rows)
        if view.reference is not None:
            rows = [
                [
                    escaped(names[row["group"]]),
                    *(escaped(", ".join(against_cells(r, 1))) for r in rates_of_row(row)),
                ]
                for row in view.rows
                if not row["reference"] and not row["ignored"]
            ]
            lines += [
                f"Ratio to {escaped(names[view.reference])}, and difference in percentage points:",
                "",
            ]
            lines += _table(["group", *titles], rows)
    few = (
        f" {escaped(FEW)} over fewer than {data['min_group']} records: it decides no difference."
        if few_said(views, data["min_group"])
        else ""
    )
    return [*lines, f"{' '.join(rates_notes(audit.document))}{few}", ""]


def _metric_rows(audit: Audit) -> list[str]:
    rows = []
    for entry in audit.document["metrics"]:
        signed = is_signed(entry["metric"])
        parts = further_figures(entry, ("crossfit", "floor")) + attack_words(entry)
        parts += [escaped(words, 200) for words in difference_words(entry, audit.document["data"])]
        rows.append(
            [
                escaped(entry["attribute"], 60),
                short_name(entry["metric"]),
                direction_symbol(entry["direction"]),
                _number(entry["value"], signed),
                _interval(entry["interval"][0], entry["interval"][1], signed),
                "; ".join(parts),
            ]
        )
    return _table(["attribute", "metric", "direction", "value", "interval", "with it"], rows)


def _pair_rows(entry: Entry, pairs: list[Any], most: int, under: str, names: dict[str, str]) -> list[str]:
    unlisted = max(entry.get("pairs_in_all", 0) - len(entry["pairs"]), 0)
    count = f", the {most} that change most of {len(pairs) + unlisted:,}"
    title = f"{under} Pairs of {escaped(entry['attribute'], 60)} {direction_symbol(entry['direction'])}"
    rows = [
        [
            *(escaped(names.get(pair[side], pair[side])) for side in ("given", "outcome")),
            _number(pair["truth_rate"], False),
            _number(pair["predicted_rate"], False),
            _number(pair["amplification"], True) + ("" if direction_known(pair) else " (direction unknown)"),
            _interval(pair["low"], pair["high"], True),
            f"{pair['support']:,.0f}",
        ]
        for pair in largest_pairs(pairs, most)
    ]
    what = METRICS[entry["metric"]].pairs_of
    headings = ["given", "outcome", f"true {what}", f"predicted {what}", "amplification", "interval", "records"]
    return [title + (count if len(pairs) > most else ""), "", *_table(headings, rows)]


def _invented_rows(audit: Audit, under: str, most: int) -> list[str]:
    found = sorted(invented_lines(audit), key=lambda line: -(line.difference or 0.0))
    if not found or not most:
        return []
    names = label_names(audit.document["data"])
    rows = [
        [
            escaped(line.label, 60),
            f"{line.records:,.0f}",
            ", ".join(f"{escaped(names.get(group, group))} {_number(rate, False)}" for group, rate in line.groups),
            _number(line.difference, False),
            _interval(line.low, line.high, False),
            "—" if line.q is None else f"{line.q:.2g}",
        ]
        for line in found[:most]
    ]
    count = f", {most} of {len(found):,}" if len(found) > most else ""
    headings = ["label", "predicted for", "highest and lowest rate", "difference", "interval", "q"]
    words = "Predicted, and true of no record: they have no truth to be amplified and are in no mean."
    return [f"{under} Invented labels{count}", "", words, "", *_table(headings, rows)]


def comparison_section(result: Comparison, *, level: int = 2, pairs: int = 20) -> str:
    """Models side by side: differences with their verdicts, pairs that changed, the order of models, notes."""
    head, under, document = "#" * level, "#" * min(level + 1, 6), result.document
    lines = [f"{head} {escaped(who_against_whom(result), 400)}", ""]
    lines += [f"- **{title}.** {escaped(words, 4000)}" for title, words in result.answer.titled.items()]
    lines.append("")
    rows = [
        [
            escaped(row["attribute"]),
            short_name(row["metric"]),
            direction_symbol(row["direction"]),
            f"{escaped(row['models'][0])} {_number(row['first'], is_signed(row['metric']))}",
            f"{escaped(row['models'][1])} {_number(row['second'], is_signed(row['metric']))}",
            _number(row["difference"], True),
            _interval(row["low"], row["high"], True),
            escaped(row["verdict"]) + ("" if row["paired"] else " (unpaired)"),
        ]
        for row in verdicts_first(result.document)
    ]
    interval = f"{document['level']:.0%} interval"
    lines += _table(["attribute", "metric", "direction", "model", "other", "difference", interval, "verdict"], rows)
    seeds = seeds_and_records(result)
    if seeds:
        lines += [f"{under} Seeds and records", "", *(f"- {escaped(text, 600)}" for text in seeds), ""]
    if result.orders:
        lines += [f"{under} Order of the models", "", *(f"- {escaped(words, 600)}" for words in result.orders), ""]
    words = pair_change_words(result)
    if pairs and words:
        lines += [f"{under} Pairs that changed", ""]
        listed = [
            [
                escaped(row["models"][1]),
                short_name(row["metric"]),
                direction_symbol(row["direction"]),
                escaped(row["given"]),
                escaped(row["outcome"]),
                _number(row["difference"], True),
                _interval(row["low"], row["high"], True),
                f"{row['q']:.2g}",
            ]
            for row in changed_by_evidence(result.document)[:pairs]
        ]
        if listed:
            lines += _table(["model", "metric", "direction", "given", "outcome", "change", "interval", "q"], listed)
        lines += [escaped(words, 1000), ""]
    if result.cautions:
        lines += [f"{under} Cautions", "", *(f"- {escaped(words, 2000)}" for words in result.cautions), ""]
    lines += [f"- {escaped(note, 2000)}" for note in result.notes]
    return "\n".join(lines).rstrip() + "\n"


def verdict_section(verdict: Verdict) -> str:
    """A verdict as a summary, the checks that do not pass first."""
    outcome = verdict.outcome
    lines = [f"## {_SIGNS[outcome]} biasamp check: {outcome}", ""]
    lines += [f"{escaped(verdict.data, 80)} against {escaped(verdict.policy, 80)}: {verdict.tally}.", ""]
    rows = [
        [
            f"{_SIGNS[check.outcome]} {check.outcome}",
            escaped(check.about, 120),
            escaped(check.limit or check.rule),
            escaped(check.reason, 500),
            "" if check.line is None else str(check.line),
        ]
        for check in verdict.worst_first
    ]
    lines += _table(["outcome", "what", "limit", "why", "line"], rows)
    lines += [f"- **Caution**: {escaped(line, 700)}" for line in verdict.caution_lines]
    lines += [f"- {escaped(note, 500)}" for note in verdict.notes]
    return "\n".join(lines).rstrip() + "\n"
