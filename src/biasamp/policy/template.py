"""A commented policy for the data at hand, to start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Entry
from biasamp.auditing.evidence import unknown_directions
from biasamp.auditing.group_choice import named_ignored
from biasamp.auditing.mirrors import each_once
from biasamp.data import printable
from biasamp.results.interval import figure, figure_with_interval, interval
from biasamp.results.metric_registry import METRICS, audited_metrics

from .policy import MIN_GROUP

# Where a discussion can start: two points in a hundred, and one in ten for differences between groups.
_AMPLIFICATION, _DIFFERENCE, _MARGIN = 0.02, 0.1, 0.01
# A test of independence with a p-value below this, 6 standard errors, is clear in nearly all samples of as many records.
_ALWAYS_CLEAR = 1e-9

_HEAD = """\
# What a model has to show before it may pass: biasamp check DATA --policy THIS_FILE
#
# Outcomes: pass (exit code 0), fail (1) and not enough evidence (3), which is no pass. A limit holds the interval: one
# that lies wholly within the limit passes, one wholly beyond it fails, and one that reaches over it is not enough
# evidence. Of directional amplification it holds the bound: a pair whose direction the data do not tell counts with
# the worse of its two signs, since plug-in and cross-fitted values both pull to 0 there.
#
# The limits below are where a discussion can start, not what is right for your case: set them with the people whom the
# model concerns. The comments show what {source} gave when this file was written.
schema = 1
"""


def policy_text(audit: Audit, arguments: Mapping[str, Any]) -> str:
    """The text of a policy for data that have been audited with these arguments."""
    head = _HEAD.format(source=printable(audit.source, 60))
    parts = (_evidence(audit), _companions(audit), _limits(audit), _baseline(audit))
    return "\n".join(part for part in (head, _data(audit, arguments), *parts) if part)


def _data(audit: Audit, arguments: Mapping[str, Any]) -> str:
    lines = ["# How the data are read; options of the command line take the place of these.", "[data]"]
    for key, value in arguments.items():
        if value is not None and value != () and value is not False:
            lines.append(f"{key} = {toml(value)}")
    used = audit.document["data"]
    # A saved audit says that it had them, not where they are.
    used_before = [("train", used["train"]), ("base", used["base"]), ("weights", used["weighted"])]
    named = [key for key, had in used_before if had and key not in arguments]
    lines += [f"# {key} = ...  # the audit was made with it: name it here" for key in named]
    return "\n".join(lines) + "\n"


def _evidence(audit: Audit) -> str:
    left_out = audit.document["data"].get("ignored_groups", [])
    groups = [row for row in audit.document["data"]["groups"] if row["records"] and row["group"] not in left_out]
    listed = "".join(f"  {toml(row['group'])},  # {row['records']:,} records\n" for row in groups)
    ignored = named_ignored(audit.document["data"])
    ignoring = f"ignore_groups = {toml(ignored)}" if ignored else "# ignore_groups = []"
    return f"""\
# What has to be there before anything is judged.
[evidence]
min_records = {MIN_GROUP * max(len(groups), 1)}
min_group = {MIN_GROUP}  # records that every group needs
# These groups must be in the data: one that vanishes is not a pass.
groups = [
{listed}]
{_associated(audit)}{ignoring}  # groups that may be small or gone: left out of all that compares groups
confidence = {audit.document["data"]["confidence"]}
"""


def _associated(audit: Audit) -> str:
    """The attributes that go together with tasks so clearly that as many records of the same kind would always show it."""
    data = audit.document["data"]
    if data["train"] or data["base"]:  # directions are those of other records
        return ""
    found = [
        entry["attribute"]
        for entry in audit.document["metrics"]
        if entry["metric"] == "directional"
        and entry["direction"] == "A->T"
        and min((pair["sign_p"] for pair in entry["pairs"] if pair["sign_p"] is not None), default=1.0) < _ALWAYS_CLEAR
    ]
    if not found:
        return ""
    words = "# These go together with tasks here. Where they no longer do, their groups may be those of other rows: no pass."
    return f"{words}\nassociated = {toml(found)}\n"


def _companions(audit: Audit) -> str:
    differences = [metric.name for metric in audited_metrics() if metric.by_outcome and not metric.higher_is_better]
    here = [entry for entry in audit.document["metrics"] if entry["metric"] in differences]
    if not here:
        return ""
    lines = [
        "# Zero amplification is not fairness: a model that repeats its data repeats their bias. These must be measured",
        "# beside it; true requires no more than that, a number is the largest difference between groups that passes.",
        "[companions]",
    ]
    for metric in differences:
        found = [entry for entry in here if entry["metric"] == metric]
        if found:
            shown = "; ".join(f"{printable(entry['attribute'], 60)} {_figure(entry)}" for entry in found)
            lines.append(f"{metric} = {_DIFFERENCE}  # {shown}")
    return "\n".join(lines) + "\n"


def _limits(audit: Audit) -> str:
    blocks = []
    for entry in (entry for entry in audit.document["metrics"] if entry["metric"] == "directional"):
        head = ["[[limit]]", 'metric = "directional"', f"attribute = {toml(entry['attribute'])}"]
        head.append(f'direction = "{entry["direction"]}"')
        bound = ['on = "bound"  # unknown directions count with their worse sign; train labels would tell them all']
        blocks.append("\n".join([*head, *bound, f"max = {_AMPLIFICATION}  # {_bounded(entry)}"]))
        pairs = [pair for pair in each_once(entry["pairs"]) if pair["amplification"] is not None]
        if pairs:
            top = max(pairs, key=lambda pair: pair["amplification"] or 0.0)
            change = figure_with_interval(top["amplification"], top["low"], top["high"])
            shown = f"{printable(top['given'], 60)} → {printable(top['outcome'], 60)} {change}"
            lines = ["# An aggregate near 0 can hide large opposite pairs.", *head]
            lines.append("pairs = true  # or one pair: given = ..., outcome = ...")
            blocks.append("\n".join([*lines, f"max = {_DIFFERENCE}  # largest: {shown}"]))
    if not blocks:
        first = audit.document["metrics"][0]
        side = "min" if METRICS[first["metric"]].higher_is_better else "max"
        blocks.append(f'[[limit]]\nmetric = "{first["metric"]}"\n{side} = {_DIFFERENCE}  # {_figure(first)}')
    return "\n\n".join(blocks) + "\n"


def _baseline(audit: Audit) -> str:
    return f"""\
# No worse than the released model: save its audit with biasamp audit ... --save released.json.gz, on the same
# records, and take the comment signs away. The interval of the paired difference has to stay within the margin.
# [baseline]
# audit = "released.json.gz"
#
# [[limit]]
# metric = "{audit.document["metrics"][0]["metric"]}"
# against = "baseline"
# max = {_MARGIN}
"""


def _figure(entry: Entry) -> str:
    return figure_with_interval(entry["value"], *entry["interval"])


def _bounded(entry: Entry) -> str:
    """A directional value with the bound that a limit holds, and how many directions are unknown."""
    low, high = entry.get("bounds", entry["interval"])
    unknown, many = unknown_directions(entry)
    if not unknown:
        return figure_with_interval(entry["value"], low, high)
    value = figure(entry["value"], undefined="undefined")
    return f"{value}, bounds {interval(low, high)}, {unknown:,} of {many:,} directions unknown"


def toml(value: Any) -> str:
    """A plain value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml(str(key))} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return repr(value)
