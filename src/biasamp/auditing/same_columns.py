"""Whether audits are of the same attributes and tasks: a figure of other columns is another figure, whatever it is called."""

from __future__ import annotations

from collections.abc import Sequence

from biasamp.data import printable

from .audit_result import Audit


def same_columns(audits: Sequence[Audit]) -> bool:
    """Whether audits are of the same attributes, tasks and labels."""
    first, *others = (audit.document["data"] for audit in audits)
    return all(first["attributes"] == other["attributes"] and first["tasks"] == other["tasks"] for other in others)


def other_tasks(audits: Sequence[Audit]) -> tuple[int, str] | None:
    """The first audit of other tasks than the first one, and what both are of; None where all are of the same."""
    first, *others = ((audit.document["data"]["tasks"]["title"], audit) for audit in audits)
    for place, (title, audit) in enumerate(others, start=1):
        if title != first[0]:
            return place, " against ".join(columns_in_words(one) for one in (first[1], audit))
    return None


def columns_in_words(audit: Audit) -> str:
    """What an audit is of, in a few words."""
    data = audit.document["data"]
    labels = data["tasks"]["labels"]
    given = listed_words(data["attributes"])
    return f"{printable(data['tasks']['title'], 60)} ({labels:,} label{'s' if labels != 1 else ''}) given {given}"


def listed_words(names: Sequence[str]) -> str:
    """Names one after another, each in one harmless line."""
    shown = [printable(name, 40) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
