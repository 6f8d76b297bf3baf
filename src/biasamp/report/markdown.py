"""Audits and verdicts as Markdown: a section of a model card, and the summary of a run in CI."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from biasamp.auditing.audit_result import Audit
from biasamp.data import printable
from biasamp.results.metric_registry import METRICS

if TYPE_CHECKING:
    from biasamp.policy import Verdict

_SIGNS = {"pass": "✅", "fail": "❌", "not enough evidence": "⚠️"}
_PARITY = {
    "fpr_difference": "FPR difference",
    "tpr_difference": "TPR difference",
    "accuracy_difference": "accuracy difference",
    "mean_per_class_accuracy": "mean per-class accuracy",
}
_SIGNED = ("directional", "mals", "dpa", "leakage")
# Whatever Markdown or HTML gives a meaning to; a label must never be a link, an image or a tag. Dots and at signs
# would do no more than make a bare address or a mention of it, which hosts link by themselves.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~$&])")
_LINKED = re.compile(r"(?i)(https?:)(//)|(www)(\.)|(@)(?=\w)")


def escaped(text: str, limit: int = 300) -> str:
    """Text from a stranger as Markdown that shows just that text.

    >>> escaped("<b>|[x](y)")
    '\\\\<b\\\\>\\\\|\\\\[x\\\\]\\\\(y\\\\)'
    """
    safe = _SPECIAL.sub(r"\\\1", printable(text, limit))
    # A zero-width joiner would be invisible; an entity shows the same character and links nothing.
    return _LINKED.sub(
        lambda m: (m[1] or m[3] or "") + {"//": "&#47;&#47;", ".": "&#46;"}.get(m[2] or m[4], "&#64;"), safe
    )


def _number(value: float | None, signed: bool) -> str:
    return "undefined" if value is None else f"{value:{'+' if signed else ''}.4f}"


def _interval(low: float | None, high: float | None, signed: bool) -> str:
    return "—" if low is None or high is None else f"{_number(low, signed)} to {_number(high, signed)}"


def _table(headings: list[str], rows: list[list[str]]) -> list[str]:
    lines = [headings, ["---"] * len(headings), *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def audit_section(audit: Audit, *, level: int = 2, pairs: int = 5) -> str:
    """An audit as the bias section of a model card.

    Parameters
    ----------
    audit : Audit
    level : int
        The level of the section's heading.
    pairs : int
        How many pairs of each direction are listed.
    """
    data = audit.document["data"]
    mark, under = "#" * level, "#" * (level + 1)
    attributes = ", ".join(escaped(name) for name in data["attributes"])
    lines = [f"{mark} Bias amplification", ""]
    source = "" if audit.source == "data" else f" of {escaped(audit.source, 80)}"
    lines += [
        f"Measured on {data['records']:,} records{source}. Protected attributes: {attributes}. Tasks: "
        f"{escaped(data['tasks']['title'])}. Intervals have the level {data['confidence']:.0%} and say how the figures vary "
        "with the sampling of records, not between training runs.",
        "",
    ]
    groups = [
        f"{escaped(row['group'])} ({row['records']:,}{', few' if row['small'] else ''})" for row in data["groups"]
    ]
    lines += [f"Records in each group: {', '.join(groups)}.", "", f"{under} Findings", ""]
    lines += [f"- {escaped(finding.text, 2000)}" for finding in audit.findings if finding.kind == "finding"]
    lines += ["", f"{under} Figures", "", *_metric_rows(audit)]
    for entry in audit.document["metrics"]:
        if entry["metric"] == "directional" and entry["pairs"] and pairs:
            lines += _pair_rows(entry, pairs, under)
    lines += [f"{under} Limits and cautions", ""]
    lines += [f"- {escaped(finding.text, 2000)}" for finding in audit.findings if finding.kind == "caution"]
    lines.append("- Zero amplification is not fairness: a model that repeats its data repeats their bias.")
    used = dict.fromkeys("parity" if e["metric"] in _PARITY else e["metric"] for e in audit.document["metrics"])
    lines += [f"- {METRICS[name].title}: {escaped(METRICS[name].limits)}." for name in used if name in METRICS]
    lines += [f"- Not measured: {escaped(words, 500)}." for words in _not_run(audit)]
    if len(audit.excluded):
        lines.append(f"- {len(audit.excluded):,} pairs or rates are undefined and in no figure above.")
    version = escaped(str(audit.document["version"]))
    lines += [
        "",
        f"Made with biasamp {version}, seed {audit.document['seed']}, data fingerprint `{data['fingerprint']}`.",
        "",
    ]
    return "\n".join(lines)


def _not_run(audit: Audit) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for row in audit.not_run:
        names = reasons.setdefault(row["reason"], [])
        if row["metric"] not in names:
            names.append(row["metric"])
    return [f"{', '.join(names)} ({reason})" for reason, names in reasons.items()]


def _metric_rows(audit: Audit) -> list[str]:
    rows = []
    for entry in audit.document["metrics"]:
        signed = entry["metric"] in _SIGNED
        beside = []
        if entry.get("crossfit") is not None:
            beside.append(f"cross-fitted {_number(entry['crossfit'], True)}")
        if entry.get("floor") is not None:
            beside.append(f"noise floor {_number(entry['floor'], False)}")
        if entry.get("gain") is not None:
            beside.append(f"gain over no input {_number(entry['gain'], True)}")
        if entry.get("outcome"):
            beside.append(f"worst: {escaped(entry['outcome'], 60)}")
        rows.append(
            [
                escaped(entry["attribute"], 60),
                _PARITY.get(entry["metric"], entry["metric"]),
                (entry["direction"] or "").replace("->", "→"),
                _number(entry["value"], signed),
                _interval(entry["interval"][0], entry["interval"][1], signed),
                "; ".join(beside),
            ]
        )
    return _table(["attribute", "metric", "direction", "value", "interval", "beside it"], rows)


def _pair_rows(entry: dict[str, Any], most: int, under: str) -> list[str]:
    listed = sorted(entry["pairs"], key=lambda pair: -abs(pair["amplification"] or 0.0))[:most]
    arrow = (entry["direction"] or "").replace("->", "→")
    count = f", the {most} that change most of {entry.get('pairs_in_all', len(entry['pairs'])):,}"
    title = f"{under} Pairs of {escaped(entry['attribute'], 60)} {arrow}"
    rows = [
        [
            escaped(pair["given"], 60),
            escaped(pair["outcome"], 60),
            _number(pair["truth_rate"], False),
            _number(pair["predicted_rate"], False),
            _number(pair["amplification"], True) + ("" if pair["clear"] else " (sign unclear)"),
            _interval(pair["low"], pair["high"], True),
            f"{pair['support']:,.0f}",
        ]
        for pair in listed
    ]
    headings = ["given", "outcome", "true rate", "predicted rate", "amplification", "interval", "records"]
    return [title + (count if len(entry["pairs"]) > most else ""), "", *_table(headings, rows)]


def verdict_section(verdict: Verdict) -> str:
    """A verdict as a summary, the checks that do not pass first."""
    outcome = verdict.outcome
    lines = [f"## {_SIGNS[outcome]} biasamp check: {outcome}", ""]
    lines += [f"{escaped(verdict.data, 80)} against {escaped(verdict.policy, 80)}: {_counted(verdict)}.", ""]
    order = ["fail", "not enough evidence", "pass"]
    rows = [
        [
            f"{_SIGNS[check.outcome]} {check.outcome}",
            escaped(check.about, 120),
            escaped(check.limit or check.rule),
            escaped(check.reason, 500),
            "" if check.line is None else str(check.line),
        ]
        for check in sorted(verdict.checks, key=lambda check: order.index(check.outcome))
    ]
    lines += _table(["outcome", "what", "limit", "why", "line"], rows)
    lines += [f"- {escaped(note, 500)}" for note in verdict.notes]
    return "\n".join(lines).rstrip() + "\n"


def _counted(verdict: Verdict) -> str:
    counts = {kind: sum(check.outcome == kind for check in verdict.checks) for kind in _SIGNS}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
