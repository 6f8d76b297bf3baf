"""Cautions on what the caller chose, or did not choose: the positive value, and groups that are ignored."""

from __future__ import annotations

from collections.abc import Iterator

from biasamp.data import printable

from .findings import Context, Finding, Rule, caution
from .group_choice import named_ignored

# Names that a sentence has of many.
_SHOWN = 3


def unknown_positive(context: Context) -> Iterator[Finding]:
    """Two-valued tasks of which neither value is plainly the positive one."""
    names = context.document["data"].get("positive_unknown", [])
    if names:
        shown = ", ".join(printable(name, 40) for name in names[:_SHOWN])
        yield caution(
            "positive",
            f"Neither value of {shown} is plainly the positive one, so rates are given for both, and false positive rates of "
            "one are true positive rates of the other turned round. Name the value that is meant: positive= in Python, --positive on the command line.",
            tasks=names,
        )


def ignored(context: Context) -> Iterator[Finding]:
    """Groups that were left out of comparisons, and names that no group goes by."""
    data = context.document["data"]
    left_out, strange = named_ignored(data), data.get("ignored_unknown", [])
    if left_out:
        shown = ", ".join(context.name(name) for name in left_out[:_SHOWN])
        more = f" and {len(left_out) - _SHOWN} more" if len(left_out) > _SHOWN else ""
        yield caution(
            "ignored-groups",
            f"{shown}{more} {'are' if len(left_out) > 1 else 'is'} ignored: in no difference between groups and in no mean over "
            "pairs, and so is every crossing with them. What happens to them is in the table of groups alone.",
            groups=data["ignored_groups"],
        )
    if strange:
        shown = ", ".join(repr(printable(name, 40)) for name in strange[:_SHOWN])
        yield caution("ignored-groups", f"No record is of {shown}, which was to be ignored.", groups=strange)


CHOICES: tuple[Rule, ...] = (unknown_positive, ignored)
