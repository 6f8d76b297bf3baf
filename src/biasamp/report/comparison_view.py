"""What a comparison says, in the order in which it is read: what differs first, and pairs by their evidence."""

from __future__ import annotations

from biasamp.auditing.comparison_result import Comparison
from biasamp.auditing.comparison_types import ModelDifference, PairDifference
from biasamp.auditing.findings import side_of_zero
from biasamp.auditing.label_names import short_names
from biasamp.data import printable
from biasamp.results.interval import figure_with_interval
from biasamp.results.metric_registry import METRICS, direction_symbol, short_name

# How many differences the answer names.
_NAMED = 3


def decided(row: ModelDifference, level: float) -> int:
    """+1 or -1 where the second model's figure is larger or smaller, with all models counted; 0 where that is not known."""
    adjusted = row.get("adjusted_p")
    if isinstance(adjusted, float) and adjusted > 1.0 - level:
        return 0
    return side_of_zero(row["low"], row["high"]) or 0


def verdicts_first(result: Comparison) -> list[ModelDifference]:
    """The differences: those that are decided first, amplification before other figures, else in their order."""
    level, order = result.document["level"], list(METRICS)

    def place(row: ModelDifference) -> tuple[bool, int]:
        return not decided(row, level), order.index(row["metric"]) if row["metric"] in order else len(order)

    return sorted(result.document["differences"], key=place)


def changed_by_evidence(result: Comparison) -> list[PairDifference]:
    """The pairs that changed, the best founded first: a large change of a few records does not lead the list."""
    # Chances beyond the least number are equal; the larger change then comes first.
    return sorted(result.changed, key=lambda row: row["p"] if isinstance(row["p"], float) else 1.0)


def pair_names(result: Comparison) -> dict[str, str]:
    """What the labels of pairs are called: cut where they are long, and never until two coincide."""
    rows = result.document.get("pairs", ())
    return short_names(dict.fromkeys(label for row in rows for label in (row["given"], row["outcome"])))


def figure_name(row: ModelDifference) -> str:
    """Which figure a difference is of."""
    return " ".join(
        filter(None, (printable(row["attribute"], 60), short_name(row["metric"]), direction_symbol(row["direction"])))
    )


def comparison_answer(result: Comparison) -> dict[str, str]:
    """What was found, how sure it is and what to do next, a sentence or two each."""
    rows, level = verdicts_first(result), result.document["level"]
    sure = [row for row in rows if decided(row, level)]
    named = [
        f"{figure_name(row)}: {printable(row['verdict'], 200)}, by {figure_with_interval(row['difference'], row['low'], row['high'])}"
        for row in sure[:_NAMED]
    ]
    more = f", and {len(sure) - _NAMED} more below" if len(sure) > _NAMED else ""
    found = f"{'; '.join(named)}{more}." if named else "No figure differs beyond what sampling explains."
    unpaired = sum(not row["paired"] for row in rows)
    how = (
        f"{len(sure)} of {len(rows)} differences are decided at {level:.0%}"
        f"{', all models counted' if len(result.models) > 2 else ''}; "
        + (
            "all are paired on the same records."
            if not unpaired
            else f"{len(rows) - unpaired} of them compare the same records, {unpaired} do not and are wider."
        )
    )
    left = len(rows) - len(sure)
    changed = changed_by_evidence(result)
    names = pair_names(result)
    step = []
    if changed:
        first = changed[0]
        step.append(
            f"Look at {names[first['outcome']]} given {names[first['given']]}, the change with the best evidence "
            f"({figure_with_interval(first['difference'], first['low'], first['high'])})."
        )
    if left:
        step.append(
            f"For {left} figure{'s' if left > 1 else ''} the data cannot tell the models apart: more records would."
        )
    return {
        "Found": found,
        "How sure": how,
        "Next": " ".join(step) or "Every figure is decided: nothing is left to measure.",
    }
