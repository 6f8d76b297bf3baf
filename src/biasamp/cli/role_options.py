"""Options that say which columns play which role, and where counting runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import click

from biasamp.counts.storage import is_counts
from biasamp.data import Declared, binary, categorical
from biasamp.data.binning import cut_columns

from .command_files import Input

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def split_names(text: str | None, option: str) -> Any:
    """Column names, comma separated; one name is one variable. A name with a comma is quoted as in CSV."""
    if text is None:
        return None
    import csv

    try:
        names = next(csv.reader([text], skipinitialspace=True))
    except csv.Error as error:
        raise click.BadParameter(f"{option} {text!r} cannot be read: {error}. Quote names as in CSV") from None
    if '"' not in text:
        names = [name.strip() for name in names]
    if not names or not all(names):
        raise click.BadParameter(f"{option} {text!r} holds an empty column name")
    return names[0] if len(names) == 1 else names


def split_predictions(text: str | None, truth: Any, option: str) -> Any:
    """Column names by position, or ``truth=prediction`` pairs where a truth column stands before the sign."""
    names = split_names(text, option)
    if names is None:
        return None
    listed, known = ([x] if isinstance(x, str) else x for x in (names, truth))
    longest_first = sorted(known, key=len, reverse=True)
    pairs = [
        next(((truth, name[len(truth) + 1 :]) for truth in longest_first if name.startswith(f"{truth}=")), None)
        for name in listed
    ]
    if not any(pairs):
        return names
    if not all(pairs):
        odd = listed[pairs.index(None)]
        raise click.BadParameter(
            f"{option} has {odd!r} among truth=prediction pairs; the columns of truth are {', '.join(known)}"
        )
    return dict(pair for pair in pairs if pair)


def split_categories(listed: tuple[str, ...]) -> dict[str, list[str]]:
    """The values of each role that ``ROLE=VALUES`` names."""
    out: dict[str, list[str]] = {}
    for text in listed:
        role, sign, values = text.partition("=")
        if not sign or role not in _LABELLED:
            raise click.BadParameter(
                f"--categories is {text!r}; say attributes=... or tasks=..., values comma separated"
            )
        found = split_names(values, f"--categories {role}")
        out[role] = [found] if isinstance(found, str) else found
    return out


_QUANTILES = "quantiles:"


def split_bins(listed: tuple[str, ...]) -> dict[str, Any]:
    """The edges of columns that are cut, or into how many bins, by ``COLUMN=EDGES`` or ``COLUMN=quantiles:N``."""
    out: dict[str, Any] = {}
    for text in listed:
        name, sign, numbers = text.rpartition("=")
        if not sign or not name:
            raise click.BadParameter(f"--bins is {text!r}; say COLUMN=25,45 or COLUMN=quantiles:4")
        if name in out:
            raise click.BadParameter(f"--bins cuts {name!r} twice")
        try:
            if numbers.startswith(_QUANTILES):
                out[name] = int(numbers.removeprefix(_QUANTILES))
            else:
                out[name] = [float(number) for number in numbers.split(",")]
        except ValueError:
            raise click.BadParameter(
                f"--bins {name} is {numbers!r}; edges are numbers, such as 25,45, or quantiles:4"
            ) from None
    return out


def _declared(
    names: Any,
    role: str,
    as_binary: tuple[str, ...],
    as_categorical: tuple[str, ...],
    categories: dict[str, list[str]],
) -> Any:
    if role in as_binary and (role in as_categorical or role in categories):
        raise click.UsageError(f"{role} cannot be both binary and categorical")
    declare: Callable[[Any], Any] | None = None
    if role in as_binary:
        declare = binary
    elif role in as_categorical or role in categories:
        declare = partial(categorical, categories=categories.get(role))
    if declare is None:
        return names
    # Attributes are measured one by one, tasks together; one that is cut into bins is declared already.
    if isinstance(names, Declared):
        return names
    if role == "attributes" and not isinstance(names, str):
        return [name if isinstance(name, Declared) else declare(name) for name in names]
    return declare(names)


def choice_option(flag: str, values: list[str], words: str) -> Decorator:
    """An option that takes one of some values, by default the first."""
    return click.option(flag, type=click.Choice(values), default=values[0], show_default=True, help=words)


def number_option(flag: str, default: float, words: str) -> Decorator:
    """An option that takes a number of the kind that its default is."""
    return click.option(flag, type=type(default), default=default, show_default=True, help=words)


_ENGINES = ["auto", "local", "dask", "spark"]
_LABELLED = ["attributes", "tasks"]
_PAIRED = "in the same order, or truth=prediction pairs."
_SCORED = "in the same order, or truth=score pairs; decided at 0.5 where no predictions are named."
_DROPPED = (
    "Missing labels, scores or strata: stop, leave the record out of the pairs concerned, or (labels) read as not had."
)
_UNSEEN = "Predicted values that the truth never has and that are no likely mistake: measure apart, or stop."
_WHERE = "Where counting runs: auto reads small files into memory, the others count part by part."
_TRAIN = "Training records with the same truth columns; they decide the signs."
_IDS = "A column of record ids, which key the resamples; they differ over all files and sites."
_THREADS = "Threads, or processes of a Dask cluster; default: all processors."


def _chosen(values: list[str], words: str) -> dict[str, Any]:
    return {"type": click.Choice(values), "default": values[0], "show_default": True, "help": words}


def _numbered(default: float, words: str) -> dict[str, Any]:
    return {"type": type(default), "default": default, "show_default": True, "help": words}


def _roles(words: str) -> dict[str, Any]:
    return {"multiple": True, "type": click.Choice(_LABELLED), "help": words}


# Options that several commands have, by the argument that they are: what click is told of each.
_SHARED: dict[str, dict[str, Any]] = {
    "attributes": {"help": "Protected attributes, comma separated, measured one by one."},
    "tasks": {"help": "Task columns, comma separated; one is a variable, several are yes/no labels."},
    "attribute_predictions": {"help": f"Predicted attributes, {_PAIRED}"},
    "task_predictions": {"help": f"Predicted tasks, {_PAIRED}"},
    "train": {"type": Input(records=True), "help": _TRAIN},
    "weights": {"help": "A column of weights."},
    "record": {"help": _IDS},
    "cluster": {"help": "A column of clusters that are resampled together."},
    "missing": _chosen(["error", "drop", "negative"], _DROPPED),
    "unseen": _chosen(["invented", "error"], _UNSEEN),
    "intersections": {"is_flag": True, "help": "Measure the crossing of all attributes too."},
    "as_binary": _roles("Read this role as yes/no: only value 1 counts."),
    "as_categorical": _roles("Read every value of this role as a label."),
    "categories": {
        "multiple": True,
        "metavar": "ROLE=VALUES",
        "help": "All values of a role, such as tasks=no,yes,refused.",
    },
    "bins": {
        "multiple": True,
        "metavar": "COLUMN=EDGES",
        "help": "Cut a column of numbers into bins, such as age=25,45 or age=quantiles:4.",
    },
    "attribute_scores": {"help": f"Probabilities of attributes, {_SCORED}"},
    "task_scores": {"help": f"Probabilities of tasks, {_SCORED}"},
    "strata": {"help": "A column of strata: what changes is shown inside them too."},
    "base": {"type": Input(records=True), "help": "Base rates: records, or a table with attribute, task and count."},
    "resamples": _numbered(1000, "How many resamples intervals rest on."),
    "seed": _numbered(0, "What the resamples are drawn from."),
    "confidence": _numbered(0.95, "The level of the intervals."),
    "min_group": _numbered(30, "Flag groups with fewer records."),
    "intervals": _chosen(
        ["bootstrap", "closed_form"], "Intervals of aggregates from resamples, or in closed form, which draws nothing."
    ),
    "metrics": {
        "default": "auto",
        "show_default": True,
        "help": "auto, or metric names, comma separated.",
    },
    "positive": {"help": "The task value that rates are of, or task=value pairs; default: 1, true or yes."},
    "reference": {"help": "Groups that the rates of others are held against, such as race=Caucasian."},
    "ignore_groups": {"help": "Groups that are in no comparison, such as race=Other, comma separated."},
    "provenance": {
        "type": Input(),
        "metavar": "FILE",
        "help": "A TOML file that says where labels come from, and how often they are wrong.",
    },
    "as_continuous": {"is_flag": True, "help": "Read the task as numbers that are no labels, such as salaries."},
    "suppress": {
        "type": int,
        "metavar": "N",
        "help": "For publication: withhold groups with counts below N, and those that would give them away.",
    },
    "engine": _chosen(_ENGINES, _WHERE),
    "threads": {"type": int, "help": _THREADS},
    "memory": {"help": "Memory budget of a process that counts part by part, such as 512MB."},
}
COLUMNS = tuple(_SHARED)[:8]
SCORES = ("attribute_scores", "task_scores", "strata")
ROLES = (*tuple(_SHARED)[:15], *SCORES)
# How an audit measures what was read, and which groups and values it looks at.
VALUES = ("positive", "reference", "ignore_groups")
MEASURES = ("base", "resamples", "seed", "confidence", *VALUES)
ENGINE = ("engine", "threads", "memory")


def shared_options(*names: str, unset: bool = False) -> Decorator:
    """Options that several commands have, by name; ``unset`` ones have no default, so that another place may hold it."""

    def made(name: str) -> Decorator:
        told = dict(_SHARED[name])
        if unset and not told.get("multiple"):
            told = {key: value for key, value in told.items() if key != "show_default"} | {"default": None}
        return click.option(f"--{name.removeprefix('as_').replace('_', '-')}", name, **told)

    return lambda command: reduce(lambda held, name: made(name)(held), reversed(names), command)


def split_values(options: dict[str, Any]) -> dict[str, Any]:
    """The values and groups that options name, taken out of them."""
    named = {name: split_names(options.pop(name), f"--{name.replace('_', '-')}") for name in VALUES if name in options}
    return {name: [value] if isinstance(value, str) else value for name, value in named.items() if value is not None}


def split_roles(options: dict[str, Any]) -> dict[str, Any]:
    """The columns that options name, taken out of them, as arguments of an audit; None where they name none."""
    truths = {name: split_names(options.pop(name), f"--{name}") for name in ("attributes", "tasks")}
    return {
        **truths,
        **{
            f"{role}_{what}": split_predictions(
                options.pop(f"{role}_{what}"), truths[f"{role}s"] or [], f"--{role}-{what}"
            )
            for what in ("predictions", "scores")
            for role in ("attribute", "task")
            if f"{role}_{what}" in options
        },
    }


def _listed(names: Any) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def audit_roles(data: str, options: dict[str, Any]) -> dict[str, Any]:
    """As :func:`split_roles`, for an audit that needs them; saved counts know theirs, and take none."""
    as_binary, as_categorical = options.pop("as_binary"), options.pop("as_categorical")
    categories, bins = split_categories(options.pop("categories")), split_bins(options.pop("bins", ()))
    roles = split_roles(options)
    if is_counts(data):
        roles |= {
            name: options.pop(name) for name in ("train", "weights", "record", "cluster", "strata") if name in options
        }
        roles |= {"bins": bins or None}
        named = [f"--{name.replace('_', '-')}" for name, value in roles.items() if value is not None]
        if named:
            raise click.UsageError(f"{data} holds counts, which know their columns: leave out {', '.join(named)}")
        return {}
    strange = next((name for name in bins if name not in _listed(roles["attributes"]) + _listed(roles["tasks"])), None)
    if strange is not None:
        raise click.UsageError(f"--bins cuts {strange!r}, which is no column of --attributes or --tasks")
    for name in ("attributes", "tasks"):
        if roles[name] is None:
            raise click.UsageError(f"Missing option '--{name}': name the columns, comma separated")
        roles[name] = _declared(cut_columns(roles[name], bins), name, as_binary, as_categorical, categories)
    return roles
