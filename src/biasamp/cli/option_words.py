"""Messages of the library in the words of the command line: what Python calls arguments are options here."""

from __future__ import annotations

import re

# Arguments that are options of the same name, with dashes.
_ARGUMENTS = (
    *("attributes", "tasks", "attribute_predictions", "task_predictions", "attribute_scores", "task_scores"),
    *("strata", "train", "base", "weights", "record", "cluster", "missing", "unseen", "intersections", "metrics"),
    *("confidence", "resamples", "seed", "min_group", "engine", "threads", "memory", "positive", "reference"),
    *("ignore_groups", "labels", "label", "score", "threshold", "identities", "min_count", "min_expected", "pairable"),
    *("layout", "suppress", "small", "text", "attribute", "references", "mask", "seeds", "topic", "attacker", "item"),
    "intervals",
)
_CALLS = {
    "categories": re.compile(r"(?:biasamp\.)?categorical\([^()]*categories=\[\.\.\.\][^()]*\)"),
    "categorical": re.compile(r"(?:biasamp\.)?categorical\((?:\.\.\.|column)?\)"),
    "binary": re.compile(r"(?:biasamp\.)?binary\((?:\.\.\.|column)?\)"),
}
_OPTIONS = {"categories": "--categories ROLE=VALUES", "categorical": "--categorical ROLE", "binary": "--binary ROLE"}
_COMMANDS = re.compile(
    r"(?<![\w.'\"])(?:biasamp\.)?(associate|audit|count|check|compare|calibrate|sweep)\((?:\.\.\.)?\)"
)
_NAMES = "|".join(sorted(_ARGUMENTS, key=len, reverse=True))
# ``name=value``, and names that no word of a sentence has. What stands in quotes is a column or a value of the caller.
_GIVEN = re.compile(rf"(?<![\w'\"-])({_NAMES})=(?:(['\"])([\w.]+)\2|(\w+))?(?!\w)")
_PLAIN = re.compile(rf"(?<![\w'\"\[-])({'|'.join(name for name in _ARGUMENTS if '_' in name)})(?![\w'\"=])")
# What a message begins with, and says something of as of an argument.
_BEGINS = re.compile(rf"^({_NAMES})(?= (?:is|are|names|maps|must) )")
_BOTH = re.compile(
    rf"^(?:--)?({_NAMES.replace('_', '[-_]')}) and (?:--)?({_NAMES.replace('_', '[-_]')})(?= both name )"
)
# audit(..., missing="drop") is said of a call: the option alone is left of it.
_INSIDE = re.compile(r"(?<![\w.'\"])(?:biasamp\.)?audit\(\.\.\., ([^()]*)\)")


def in_options(message: str) -> str:
    """A message with arguments and calls of Python as options and commands.

    >>> in_options('name one with task_predictions=, or use audit(..., missing="drop")')
    'name one with --task-predictions, or use --missing drop'
    >>> in_options("no column 'task_predictions'; wrap it in biasamp.categorical(...), or use associate()")
    "no column 'task_predictions'; wrap it in --categorical ROLE, or use biasamp associate"
    >>> in_options("tasks and task_predictions both name the column 'hired'"), in_options("confidence is 95")
    ("--tasks and --task-predictions both name the column 'hired'", '--confidence is 95')
    """
    for name, call in _CALLS.items():
        message = call.sub(_OPTIONS[name], message)
    message = _INSIDE.sub(r"\1", message)
    message = _COMMANDS.sub(r"biasamp \1", message)
    message = _GIVEN.sub(_option, message)
    message = _PLAIN.sub(lambda found: _dashed(found[1]), message)
    message = _BOTH.sub(lambda found: f"{_dashed(found[1])} and {_dashed(found[2])}", message)
    return _BEGINS.sub(lambda found: _dashed(found[1]), message)


def _option(found: re.Match[str]) -> str:
    value = found[3] or found[4]
    return _dashed(found[1]) + (f" {value}" if value and value != "True" else "")


def _dashed(name: str) -> str:
    return "--" + name.replace("_", "-")
