"""Results as tables in a terminal. Text from strangers is shown as text: never as markup or control codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from biasamp.amplification.calibrate import Calibration, Sweep
from biasamp.auditing.answer import answer_of
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.caution_topics import cautions_by_topic
from biasamp.auditing.document_types import Data, Entry
from biasamp.auditing.evidence import direction_known
from biasamp.auditing.label_names import LONGEST, group_names, label_names, short_names
from biasamp.auditing.mirrors import each_once
from biasamp.data import printable
from biasamp.policy import Verdict
from biasamp.results.interval import figure, interval
from biasamp.results.metric_registry import METRICS, direction_symbol, is_signed, pairs_oriented, short_name

from .provenance_view import label_error_words
from .rates_terminal import show_rates
from .terminal_parts import bullets, name, plain_table, titled
from .why_terminal import show_strata, show_why
from .written import (
    EACH_BY_ITSELF,
    attack_words,
    concluded,
    difference_words,
    further_figures,
    invented_lines,
    largest_pairs,
    not_run_by_reason,
)

_PAIRS_SHOWN = 10
_BAR = 12
# From this width on there is room for bars.
_WIDE = 120
_MEDIUM = 80
_STYLES = {"pass": "green", "fail": "bold red", "not enough evidence": "bold yellow"}


def show_audit(audit: Audit, console: Console, pairs: int = _PAIRS_SHOWN) -> None:
    """Print all of an audit: the answer, the headline and the rates of groups, then findings, metrics, pairs, cautions."""
    data = audit.document["data"]
    records = f"  {data['records']:,} record{'s' if data['records'] != 1 else ''}"
    console.print(Text.assemble((f"biasamp audit of {printable(audit.source, 60)}", "bold"), records))
    for title, words in answer_of(audit.document).titled.items():
        console.print(titled(title, words))
    found = [finding for finding in audit.findings if finding.kind == "finding"]
    headline = [finding.text for finding in found if finding.code == "amplification"]
    console.print(bullets("Headline", headline, "bold"))
    show_why(audit, console)
    show_rates(audit, console, "attribute")
    said = {"amplification", "why"}
    console.print(bullets("Findings", [finding.text for finding in found if finding.code not in said], "bold"))
    show_rates(audit, console, "crossing")
    for attribute in data["attributes"]:
        console.print(metric_table(audit, attribute))
    console.print(Text(EACH_BY_ITSELF, style="dim"))
    if pairs > 0:
        for entry in audit.document["metrics"]:
            if pairs_oriented(entry["metric"]) and entry.get("pairs"):
                console.print(pair_table(entry, pairs, data, console.width >= _WIDE))
        show_invented(audit, console, pairs)
    show_strata(audit, console)
    show_label_errors(audit, console)
    show_cautions(audit, console)
    if audit.not_run:
        lines = [
            f"{', '.join(map(short_name, names))}: {printable(reason, 300)}"
            for reason, names in not_run_by_reason(audit).items()
        ]
        console.print(bullets("Not run", lines, "dim"))


def show_label_errors(audit: Audit, console: Console) -> None:
    """What wrong labels of attributes would do to directional values, where something is stated of them."""
    lines = list(label_error_words(audit.document))
    if lines:
        console.print(bullets("If labels are wrong", lines, "bold"))


def show_invented(audit: Audit, console: Console, most: int) -> None:
    """The labels that only predictions have, those that groups get at the most different rates first."""
    lines = sorted(invented_lines(audit), key=lambda line: -(line.difference or 0.0))
    if not lines:
        return
    names = label_names(audit.document["data"])
    count = f", {most} of {len(lines):,}" if len(lines) > most else ""
    # A narrow terminal has no room for interval and q.
    figures = ("predicted for", "difference", "interval", "q")[: 4 if console.width >= _MEDIUM else 2]
    table = plain_table(
        ("label", *figures[:1], "highest and lowest rate", *figures[1:]),
        figures,
        figures,
        title=f"Invented labels (predicted, never true){count}",
    )
    for line in lines[:most]:
        rates = ", ".join(
            f"{names.get(group) or printable(group, LONGEST)} {figure(rate, False)}" for group, rate in line.groups
        )
        cells = [figure(line.difference, False), interval(line.low, line.high, False)]
        cells.append("" if line.q is None else f"{line.q:.2g}")
        table.add_row(name(line.label), f"{line.records:,.0f}", Text(rates), *cells[: len(figures) - 1])
    console.print(table)


def show_cautions(audit: Audit, console: Console, codes: Sequence[str] | None = None) -> None:
    """Print the cautions of an audit by what they concern, or those of some codes."""
    found = audit.document["findings"]
    for topic, places in cautions_by_topic(audit.document).items():
        texts = [found[i]["text"] for i in places if codes is None or found[i]["code"] in codes]
        console.print(bullets(f"Cautions: {topic[:1].lower()}{topic[1:]}", texts, "yellow"))


def card(title: str, facts: Mapping[str, str]) -> Panel:
    """Facts by their names, in a frame; those without words are left out."""
    rows = RichTable.grid(padding=(0, 2))
    rows.add_column(style="bold")
    rows.add_column()
    for name_, words in facts.items():
        if words:
            rows.add_row(name_, Text(words))
    return Panel(rows, title=Text(title), title_align="left")


def metric_table(audit: Audit, attribute: str) -> RichTable:
    """One row per metric of one attribute."""
    figures = ("value", f"{audit.document['data']['confidence'] * 100:g}% interval")
    headings = ("metric", "", *figures, "with it")
    table = plain_table(headings, figures, ("", *figures), title=f"Metrics, {printable(attribute, 60)}")
    for entry in audit.document["metrics"]:
        if entry["attribute"] != attribute:
            continue
        signed = is_signed(entry["metric"])
        table.add_row(
            short_name(entry["metric"]),
            direction_symbol(entry["direction"]),
            Text(figure(entry["value"], signed), style=_colour(concluded(audit, entry)) if signed else ""),
            interval(entry["interval"][0], entry["interval"][1], signed),
            _with_value(entry, audit.document["data"]),
        )
    return table


def _colour(verdict: int | None) -> str:
    return {1: "bold red", -1: "bold blue"}.get(verdict or 0, "")


def _with_value(entry: Entry, data: Data) -> Text:
    parts = further_figures(entry, ("crossfit", "floor")) + attack_words(entry) + difference_words(entry, data)
    parts += [f"base: {printable(base, 24)}" for base in [entry.get("base_source")] if base]
    return Text("; ".join(parts), style="dim")


def pair_table(entry: Entry, most: int, data: Data, wide: bool = True) -> RichTable:
    """The pairs that change most, with bars where there is room."""
    rows = largest_pairs(each_once(entry["pairs"]))
    shown = rows[:most]
    largest = max((abs(pair["amplification"] or 0.0) for pair in shown), default=0.0) or 1.0
    unlisted = entry.get("pairs_in_all", 0) - len(entry["pairs"])
    count = f", {most} of {len(rows) + max(unlisted, 0):,}" if len(rows) > most else ""
    title = f"Pairs, {printable(entry['attribute'], 60)} {direction_symbol(entry['direction'])}{count}"
    short = group_names(data, entry["attribute"])
    groups = [
        (r["group"], r.get("variable", ""), None if r.get("category") is None else short[r["group"]])
        for r in data["groups"]
        if r["attribute"] == entry["attribute"]
    ]
    tasks = [(row["label"], row["variable"], row["category"]) for row in data.get("task_labels", ())]
    spaces, names = [_categories(groups), _categories(tasks)], label_names(data)
    sides = dict(zip(("given", "outcome"), spaces if entry["direction"] == "A->T" else spaces[::-1], strict=True))
    heads = [
        f"{side}: {printable(head, 24)}" if head and wide else printable(head, 24) or side
        for side, (head, _) in sides.items()
    ]
    what = METRICS[entry["metric"]].pairs_of
    rates = (f"true {what}", "predicted", "amplification") if wide else ("true", "predicted", "amplified")
    unclear = not all(direction_known(pair) for pair in shown)
    figures = [*rates, *([""] if wide else []), "interval", "records", *([""] if unclear else [])]
    table = plain_table((*heads, *figures), {*rates, "interval", "records"}, figures, title=title)
    if unclear:
        table.caption = Text("? the records cannot tell the direction of this pair, all pairs counted", style="dim")
        table.caption_justify = "left"
    for pair in shown:
        value = pair["amplification"]
        cells: list[str | Text] = [
            *(
                Text(categories.get(pair[side]) or names.get(pair[side]) or printable(pair[side], LONGEST))
                for side, (_, categories) in sides.items()
            ),
            figure(pair["truth_rate"], False),
            figure(pair["predicted_rate"], False),
            figure(value),
            interval(pair["low"], pair["high"]),
            f"{pair['support']:,.{0 if float(pair['support']).is_integer() else 1}f}",
        ]
        if wide:
            cells.insert(5, _bar(value or 0.0, largest))
        if unclear:
            cells.append("" if direction_known(pair) else "?")
        table.add_row(*cells)
    return table


def _categories(labels: list[tuple[str, str, str | None]]) -> tuple[str, dict[str, str]]:
    """The variable that all labels are categories of, and the category of each; nothing where they are of several."""
    named = {label: category for label, _, category in labels if category is not None}
    shorter = short_names(named.values())
    named = {label: shorter[category] for label, category in named.items()}
    variables = {variable for _, variable, _ in labels}
    return (variables.pop(), named) if len(named) == len(labels) and len(variables) == 1 else ("", {})


def _bar(value: float, largest: float) -> Text:
    """A bar to the right for amplification, to the left for its opposite."""
    blocks = "█" * round(abs(value) / largest * _BAR)
    if value >= 0:
        return Text(" " * _BAR + "│" + blocks.ljust(_BAR), style="red")
    return Text(blocks.rjust(_BAR) + "│" + " " * _BAR, style="blue")


def show_calibration(result: Calibration, console: Console) -> None:
    """Print thresholds, with the rates they give."""
    figures = ("threshold", "predicted rate", "wanted rate")
    table = plain_table(("scores", *figures), figures)
    for row in result.table.rows():
        table.add_row(name(row["label"]), *(figure(row[k], False) for k in ("threshold", "rate", "wanted")))
    console.print(table)
    console.print(Text("\nA score at or above its threshold is positive.", style="dim"))


def show_sweep(result: Sweep, console: Console, points: int) -> None:
    """Print amplification at some thresholds, the calibrated one among them."""
    bounds = result.confidence_interval()
    console.print(
        Text(
            f"integral over thresholds {result.span[0]:g} to {result.span[1]:g}: {figure(result.integral)} "
            f"{interval(bounds.low, bounds.high)}; base rate {figure(result.base_rate, False)}"
        )
    )
    rows = list(result.curve.rows())
    near = min(range(len(rows)), key=lambda i: abs(rows[i]["rate"] - result.base_rate))
    points = min(points, max(len(rows), 2))  # any number may be asked for
    places = sorted({round(i * (len(rows) - 1) / (points - 1)) for i in range(points)} | {near})
    columns = [key for key in ("threshold", "amplification", "rate", "parity") if key in rows[0]]
    table = plain_table((*columns, ""), columns)
    for i in places:
        shown = [figure(rows[i][key], key == "amplification") for key in columns]
        table.add_row(*shown, Text("calibrated: nearest to the base rate", style="dim") if i == near else "")
    console.print(table)
    if len(places) < len(rows):
        console.print(Text(f"\n{len(places)} of {len(rows):,} distinct thresholds; --json has more.", style="dim"))
    show_marks(result, console)


_MARKED = {
    "used": "the threshold that the model used",
    "base_rate": "the threshold nearest to the base rate",
    "zero": "the threshold where amplification is nearest to 0",
}


def show_marks(result: Sweep, console: Console) -> None:
    """Print amplification and the rates of groups at the marked thresholds, and the means over all thresholds."""
    figures = ("threshold", "amplification", "interval", "rate")
    table = plain_table(("", *figures), figures)
    for mark, row in result.marks.items():
        cells = figure(row["threshold"], False), figure(row["amplification"]), interval(row["low"], row["high"])
        table.add_row(_MARKED[mark], *cells, figure(row["rate"], False))
    console.print()
    console.print(table)
    rates = ("rate", "tpr", "fpr")
    groups = plain_table(("threshold", "outcome", "group", *rates), ("threshold", *rates))
    for row in result.rates([row["threshold"] for row in result.marks.values()]).rows():
        shown = [f"{figure(row[of], False)} {interval(row[f'{of}_low'], row[f'{of}_high'], False)}" for of in rates]
        groups.add_row(figure(row["threshold"], False), name(row["outcome"]), name(row["given"]), *shown)
    console.print()
    console.print(groups)
    means = plain_table(("mean over thresholds", "outcome", "value"), ("value",))
    for row in result.agnostic.rows():
        means.add_row(row["metric"], name(row["outcome"] or "all"), figure(row["value"]))
    console.print()
    console.print(means)


def show_metrics(console: Console, chosen: str | None = None) -> None:
    """Print what each metric measures, or one of them in full."""
    if chosen is not None:
        metric = METRICS[chosen]
        facts = {
            "question": metric.question,
            "formula": metric.formula,
            "range": f"{metric.low:g} to {metric.high:g}",
            "sign": metric.sign,
            "calls unbiased": metric.unbiased_when,
            "needs": ", ".join(metric.needs),
            "limits": metric.limits,
            "paper": metric.paper,
        }
        console.print(card(metric.title, facts))
        return
    properties = ("balanced data", "directional", "negative")
    headings = ("metric", "which question it answers", *properties)
    table = plain_table(headings, fixed=("metric",), row_styles=["", "dim"])
    table.columns[0].style = "bold"
    for column in table.columns[2:]:
        column.justify = "center"
    ticks = {None: "—", True: "yes", False: "no"}
    for metric in METRICS.values():
        held = (metric.balanced, metric.directional, metric.negative)
        table.add_row(metric.name, metric.question, *(ticks[value] for value in held))
    console.print(table)
    console.print(
        Text(
            "\nbalanced data: sees amplification on balanced data; directional: tells A→T from T→A; negative: can show a "
            "decrease (DPA paper, Table 1). biasamp metrics NAME shows one in full.",
            style="dim",
        )
    )


def show_counts(counts: Any, path: str, console: Console) -> None:
    """Print what was counted, and what it can be used for."""
    held = counts.to_dict()
    console.print(
        Text.assemble(
            (f"{held['records']:,} records counted", "bold"),
            f" from {len(held['sources'])} source{'s' if len(held['sources']) != 1 else ''}: ",
            printable(", ".join(f"{s['name']} ({s['records']:,})" for s in held["sources"]), 200),
        )
    )
    done = Text(f"written to {printable(path, 200)}; add such files up with biasamp merge, measure them with biasamp ")
    if held["kind"] == "association":
        console.print(Text(f"{held['labels']:,} labels"))
        for row in held["identities"]:
            members = ", ".join(row["labels"])
            console.print(
                Text(f"{printable(row['identity'], 40)} ({printable(members, 80)}): {row['records']:,} records")
            )
        console.print(done + Text("associate"))
        return
    headings = ("attribute", "groups", "tasks", "direction", "pairs", "bags", "combinations")
    table = plain_table(headings, ("tasks", "pairs", "bags", "combinations"))
    for row in held["attributes"]:
        groups = ", ".join(f"{g['label']} {g['records']:,}" for g in row["groups"])
        for way, facts in row["directions"].items():
            many = "too many" if facts["combinations"] is None else f"{facts['combinations']:,}"
            counted = (f"{facts['pairs']:,}", f"{facts['bags']:,}", many)
            table.add_row(
                name(row["attribute"]), name(groups, 60), f"{row['tasks']:,}", direction_symbol(way), *counted
            )
    console.print(table)
    if "withheld" in held:
        gone = [f"{attribute}={group}" for attribute, groups in held["withheld"]["groups"].items() for group in groups]
        shown = ", ".join(printable(group, 60) for group in gone) or "no group"
        console.print(Text(f"withheld: {shown} (counts below {held['withheld']['below']})"))
    console.print(done + Text("audit"))


def show_verdict(verdict: Verdict, console: Console) -> None:
    """Print each check with its reason, what does not pass first, and the outcome last, where eyes rest."""
    figures = ("value", "interval", "limit")
    table = plain_table(("outcome", "what", *figures, "why"), figures)
    for check in verdict.worst_first:
        where = "" if check.line is None or check.outcome == "pass" else f" (policy line {check.line})"
        table.add_row(
            Text(check.outcome, style=_STYLES[check.outcome]),
            Text(printable(check.about, 60)),
            "" if check.value is None else figure(check.value),
            f"{'bounds ' if check.bounded else ''}{interval(check.low, check.high)}",
            check.limit,
            Text(printable(check.finding or check.reason, 300) + where),
        )
    console.print(table)
    if verdict.cautions:
        console.print(bullets("Cautions", [printable(line, 700) for line in verdict.caution_lines], "yellow"))
    for note in verdict.notes:
        console.print(Text(printable(note, 400), style="dim"))
    console.print(
        Text.assemble(
            "\n",
            (verdict.outcome.upper(), _STYLES[verdict.outcome]),
            f": {printable(verdict.data, 60)}, {verdict.tally}",
        )
    )
