"""How directional values move with the bins of columns that were cut: the same records, counted in other bins."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from biasamp.counts.audit_counts import AuditCounts
from biasamp.data.binning import numbers_to_cut
from biasamp.results.interval import plain
from biasamp.results.metric_registry import DIRECTIONS

from .bin_edges import cut_at, other_edges, replace_truths
from .bin_types import BinEntry, OtherBins
from .findings import Context, Finding, caution, number, place
from .group_choice import GroupNames, ignored_groups
from .measuring import directional_of
from .plan import Plan, Spec
from .settings import Settings
from .source import Source
from .subject import Counted

METRIC = "directional"
Values = dict[tuple[str, str], float]
# A value that moves by more than this over bins is worth a sentence of its own.
_MOVES = 0.001
NO_NUMBERS = "counts hold no numbers to be cut anew; audit the records"
NOT_WITH = "it is not with another base, nor with groups that are withheld or ignored by their bins"


def bin_entries(
    plan: Plan,
    source: Source,
    counted: Callable[[Plan], AuditCounts],
    settings: Settings,
    chosen: GroupNames,
) -> list[BinEntry]:
    """Every directional value with other bins of each column that was cut; ``counted`` counts the records by a plan."""

    def measured(made: Plan) -> Values:
        counts = counted(made)
        ignored, _ = ignored_groups(counts, chosen.ignored)
        return {
            (subject.attribute, way): directional_of(
                Counted(subject, counts.records, made, None, ignored=ignored[subject.attribute]), way, settings
            ).value
            for subject in counts.subjects
            for way in DIRECTIONS
            if way in subject.pairs
        }

    out: list[BinEntry] = []
    base = None
    for role, name, spec in _cut_columns(plan):
        base = measured(plan) if base is None else base
        values = numbers_to_cut(source.column(spec.names[0]), spec.title)
        assert spec.edges is not None
        moved = [(how, edges, measured(_with(plan, name, edges))) for how, edges in other_edges(values, spec.edges)]
        for (attribute, way), value in base.items():
            if role == "attribute" and attribute in plan.groups and attribute != name:
                continue  # a crossing is of all attributes
            others: list[OtherBins] = [
                {"how": how, "edges": list(edges), "value": plain(found[attribute, way])}
                for how, edges, found in moved
                if (attribute, way) in found
            ]
            held = [value, *(found[attribute, way] for _, _, found in moved if (attribute, way) in found)]
            out.append(
                {
                    "column": spec.names[0],
                    "role": role,  # type: ignore[typeddict-item]
                    "attribute": attribute,
                    "direction": way,  # type: ignore[typeddict-item]
                    "edges": list(spec.edges),
                    "value": plain(value),
                    "least": plain(min(held)),
                    "largest": plain(max(held)),
                    "others": others,
                }
            )
    return out


def bins_moved(
    plan: Plan,
    source: Callable[[], Source],
    counted: Callable[[Plan], AuditCounts],
    settings: Settings,
    chosen: GroupNames,
    base: Any,
) -> list[BinEntry] | str:
    """The same, or why it is not measured; ``source`` reads all records, and refuses where they do not fit."""
    if not is_cut(plan) or METRIC not in settings.metrics:
        return []
    if base is not None or settings.suppress is not None:
        return NOT_WITH
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return bin_entries(plan, source(), counted, settings, chosen)
        except ValueError as error:
            return str(error)


def _cut_columns(plan: Plan) -> Iterator[tuple[str, str, Spec]]:
    """The columns that are cut: as what, under which name, and where."""
    if plan.task.edges is not None:
        yield "task", "", plan.task
    for name, spec in plan.groups.items():
        if spec.edges is not None:
            yield "attribute", name, spec


def _with(plan: Plan, name: str, edges: tuple[float, ...]) -> Plan:
    """The plan with another cut of the attribute, or without a name of the task."""
    task = plan.task if name else cut_at(plan.task, edges)
    groups = {one: cut_at(spec, edges) if one == name else spec for one, spec in plan.groups.items()}
    return replace_truths(replace(plan, strata=None), groups, task)


def is_cut(plan: Plan) -> bool:
    """Whether any column of the truth is cut into bins."""
    return any(True for _ in _cut_columns(plan))


def moved_by_bins(context: Context) -> Iterator[Finding]:
    """How values move with bins, one sentence a value; one that changes its sign rests on where it was cut."""
    for entry in context.document.get("bins", ()):
        least, largest, value = entry["least"], entry["largest"], entry["value"]
        if least is None or largest is None or value is None:
            continue
        low, high = float(least), float(largest)
        column, edges = context.name(entry["column"]), ", ".join(f"{edge:g}" for edge in entry["edges"])
        words = f"{place(entry)}: {column} is cut into bins at {edges}. Over {len(entry['others'])} other plausible bins the value of {number(value)} "
        if low < 0 < high and high - low > _MOVES:
            words += (
                f"goes from {number(low)} to {number(high)}: its sign rests on where {column} is cut, and not on the data "
                "alone."
            )
        else:
            words += f"goes from {number(low)} to {number(high)}; where {column} is cut is a choice, and should be made before figures are seen."
        yield caution(
            "bins",
            words,
            {"attribute": entry["attribute"], "metric": METRIC, "direction": entry["direction"]},
            column=entry["column"],
        )
