"""Groups that the caller chooses: those that are ignored, and those that others are held against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasamp.amplification.parity import group_number
from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.subject_counts import SubjectCounts, labels_in
from biasamp.data import Label, printable
from biasamp.data.plain_arguments import categories_of
from biasamp.data.spelling import mistaken_for

from .document_types import Data

IGNORED = "the group is ignored"
# What stands between the values of a crossing.
_BETWEEN = " & "
# Groups that a message names of many.
_SHOWN = 8


class MayBeGone(tuple[str, ...]):
    """Names of groups that data need not have, as those that a policy ignores."""


@dataclass(frozen=True)
class GroupNames:
    """The groups that the caller names, as they were given."""

    reference: Any = None
    ignored: Any = ()


def ignored_groups(counts: AuditCounts, names: Any) -> tuple[dict[str, frozenset[Label]], list[str]]:
    """The labels of each attribute that are ignored, and names of groups that may be gone and are.

    ``names`` are labels (``"race=Other"``) or categories alone (``"Other"``), or lists of them by attribute. A group
    that is ignored is so in every crossing that has it. A name that no group goes by is refused, unless it
    :class:`MayBeGone` and is no likely mistake for that of a group.
    """
    asked = _asked(names, [subject.attribute for subject in counts.subjects])
    found: dict[str, frozenset[Label]] = {}
    known: set[tuple[str | None, str]] = set()
    for subject in counts.subjects:
        mine = set()
        for place in asked:
            attribute, name = place
            here = {label for label in labels_in(subject.A) if name in (str(label), label.category)}
            if here and attribute in (None, subject.attribute):
                known.add(place)
                mine |= here
        found[subject.attribute] = frozenset(mine)
    groups = list(counts.plan["groups"])
    single = [subject for subject in counts.subjects if subject.attribute in groups]
    for subject in counts.subjects:
        if subject.attribute not in groups:
            found[subject.attribute] |= _crossed(subject, single, found)
    for subject in counts.subjects:
        if found[subject.attribute] and len(found[subject.attribute]) == len(labels_in(subject.A)):
            raise ValueError(
                f"ignore_groups leaves no group of {printable(subject.attribute, 40)!r}: nothing is left to measure"
            )
    unknown = [name for attribute, name in asked if (attribute, name) not in known]
    spaces = {subject.attribute: [label.category or str(label) for label in labels_in(subject.A)] for subject in single}
    for name in unknown:
        meant = meant_group(name, spaces)
        if meant is not None or not isinstance(names, MayBeGone):
            raise ValueError(f"ignore_groups names {name!r:.60}, which is no group; {meant or _all_groups(spaces)}")
    return found, unknown


def meant_group(name: str, groups: Mapping[str, Sequence[str]]) -> str | None:
    """Which of the ``groups`` of each attribute a name is likely a mistake for, as a question."""
    for attribute, categories in groups.items():
        near = mistaken_for(name.removeprefix(f"{attribute}="), categories)
        if near is not None:
            return f"did you mean {printable(near, 40)!r}?"
    return None


def _all_groups(groups: Mapping[str, Sequence[str]]) -> str:
    shown = [repr(printable(name, 40)) for categories in groups.values() for name in categories]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return f"the groups are {', '.join(shown[:_SHOWN])}{more}"


def named_ignored(data: Data) -> list[str]:
    """The groups that an audit ignores, without the crossings that are ignored since they hold one of them."""
    ignored = set(data.get("ignored_groups", ()))
    rows = [(row, row.get("category") or "") for row in data["groups"] if row["group"] in ignored]
    single = {value for row, value in rows if row.get("kind") != "crossing"}
    return [
        row["group"]
        for row, value in rows
        if row.get("kind") != "crossing" or not single.intersection(value.split(_BETWEEN))
    ]


def _asked(names: Any, attributes: Sequence[str]) -> list[tuple[str | None, str]]:
    """Attribute, where it is said, and name of every group that is ignored."""
    if isinstance(names, Mapping):
        strange = [str(name) for name in names if str(name) not in attributes]
        if strange:
            shown = ", ".join(repr(printable(name, 40)) for name in attributes)
            raise ValueError(
                f"ignore_groups names {strange[0]!r:.60}, which is no attribute; the attributes are {shown}"
            )
        return [(str(attribute), name) for attribute, held in names.items() for name in _listed(held, "ignore_groups")]
    return [(None, name) for name in _listed(names, "ignore_groups")]


def _listed(names: Any, argument: str) -> list[str]:
    alone = isinstance(names, (str, bytes)) or not isinstance(names, Iterable) or isinstance(names, type)
    return categories_of([names] if alone else names, argument)


def _crossed(
    subject: SubjectCounts, single: Sequence[SubjectCounts], ignored: Mapping[str, frozenset[Label]]
) -> frozenset[Label]:
    """The combinations that have a group which is ignored."""
    spaces = [[label.category or "" for label in labels_in(one.A)] for one in single]
    gone = [{label.category for label in ignored[one.attribute]} for one in single]
    return frozenset(
        label
        for label in labels_in(subject.A)
        if any(
            any(part in out for part, out in zip(parts, gone, strict=True))
            for parts in _parts(label.category or "", spaces)
        )
    )


def _parts(text: str, spaces: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """The values that a combination can be read as: a value may itself hold what stands between them."""
    first, *rest = spaces
    if not rest:
        if text in first:
            yield (text,)
        return
    for value in first:
        if text.startswith(value + _BETWEEN):
            for more in _parts(text[len(value + _BETWEEN) :], rest):
                yield (value, *more)


def reference_groups(counts: AuditCounts, reference: Any) -> dict[str, Label]:
    """The group of each attribute that others are held against, where one is named.

    A name alone, or a list of names, goes to every attribute that has such a group; a mapping says the attribute.
    """
    if reference is None:
        return {}
    spaces = {subject.attribute: labels_in(subject.A) for subject in counts.subjects}
    if isinstance(reference, Mapping):
        strange = [str(name) for name in reference if str(name) not in spaces]
        if strange:
            shown = ", ".join(repr(printable(name, 40)) for name in spaces)
            raise ValueError(f"reference names {strange[0]!r:.60}, which is no attribute; the attributes are {shown}")
        return {
            str(name): spaces[str(name)][group_number(spaces[str(name)], value, f"reference of {str(name)!r:.60}")]
            for name, value in reference.items()
        }
    found: dict[str, Label] = {}
    for name in _listed(reference, "reference"):
        here = {
            attribute: labels
            for attribute, labels in spaces.items()
            if any(name in (str(x), x.category) for x in labels)
        }
        if not here:
            group_number([label for labels in spaces.values() for label in labels], name, "reference")
        for attribute, labels in here.items():
            found[attribute] = labels[group_number(labels, name, "reference")]
    return found
