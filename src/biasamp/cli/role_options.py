"""Options that say which columns play which role, and where counting runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import click

from biasamp.data import binary, categorical


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
    pairs = [_split(name, known) for name in listed]
    if not any(pairs):
        return names
    if not all(pairs):
        odd = listed[pairs.index(None)]
        raise click.BadParameter(
            f"{option} has {odd!r} beside truth=prediction pairs; the columns of truth are {', '.join(known)}"
        )
    return dict(pair for pair in pairs if pair)


def _split(name: str, truths: list[str]) -> tuple[str, str] | None:
    """The pair that a name spells, if a truth column stands before an equals sign."""
    for truth in sorted(truths, key=len, reverse=True):
        if name.startswith(f"{truth}="):
            return truth, name[len(truth) + 1 :]
    return None


def _declared(names: Any, role: str, as_binary: tuple[str, ...], as_categorical: tuple[str, ...]) -> Any:
    if role in as_binary and role in as_categorical:
        raise click.UsageError(f"{role} cannot be both binary and categorical")
    declare = binary if role in as_binary else categorical if role in as_categorical else None
    if declare is None:
        return names
    # Attributes are measured one by one, tasks together.
    return [declare(name) for name in names] if role == "attributes" and not isinstance(names, str) else declare(names)


_ROLES = click.Choice(["attributes", "tasks"])

_ROLE_OPTIONS = [
    click.option("--attributes", help="Protected attributes: column names, comma separated, measured one by one."),
    click.option("--tasks", help="Task columns, comma separated; one is a variable, several are yes/no labels."),
    click.option("--attribute-predictions", help="Predicted attributes, in the same order, or truth=prediction pairs."),
    click.option("--task-predictions", help="Predicted tasks, in the same order, or truth=prediction pairs."),
    click.option(
        "--train", type=click.Path(), help="Training records with the same truth columns; they decide the signs."
    ),
    click.option("--weights", help="A column of weights."),
    click.option(
        "--record", help="A column of record ids, which key the resamples; they differ over all files and sites."
    ),
    click.option("--cluster", help="A column of clusters that are resampled together."),
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "negative"]),
        default="error",
        show_default=True,
        help="Missing labels: stop, leave the record out of the pairs concerned, or read as not having the label.",
    ),
    click.option("--intersections", is_flag=True, help="Measure the crossing of all attributes too."),
    click.option(
        "--binary", "as_binary", multiple=True, type=_ROLES, help="Read this role as yes/no: only value 1 counts."
    ),
    click.option(
        "--categorical", "as_categorical", multiple=True, type=_ROLES, help="Read every value of this role as a label."
    ),
]

_ENGINE_OPTIONS = [
    click.option(
        "--engine",
        type=click.Choice(["auto", "local", "dask", "spark"]),
        default="auto",
        show_default=True,
        help="Where counting runs: auto reads small files into memory, the others count part by part.",
    ),
    click.option("--threads", type=int, help="Threads, or processes of a Dask cluster; default: all processors."),
    click.option("--memory", help="Memory budget of a process that counts part by part, such as 512MB."),
]


def role_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which columns play which role."""
    return reduce(lambda made, option: option(made), reversed(_ROLE_OPTIONS), command)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where counting runs."""
    return reduce(lambda made, option: option(made), reversed(_ENGINE_OPTIONS), command)


def audit_roles(data: str, options: dict[str, Any]) -> dict[str, Any]:
    """The columns that options name, taken out of them; saved counts know theirs, and take none."""
    from biasamp.counts.storage import is_counts

    groups, labels = (split_names(options.pop(name), f"--{name}") for name in ("attributes", "tasks"))
    as_binary, as_categorical = options.pop("as_binary"), options.pop("as_categorical")
    predictions = {name: options.pop(name) for name in ("attribute_predictions", "task_predictions")}
    if is_counts(data):
        named = [f"--{name}" for name, value in (("attributes", groups), ("tasks", labels)) if value is not None]
        named += [f"--{name.replace('_', '-')}" for name, value in predictions.items() if value is not None]
        named += [f"--{name}" for name in ("train", "weights", "record", "cluster") if options.pop(name) is not None]
        if named:
            raise click.UsageError(f"{data} holds counts, which know their columns: leave out {', '.join(named)}")
        return {}
    for name, value in (("--attributes", groups), ("--tasks", labels)):
        if value is None:
            raise click.UsageError(f"Missing option '{name}': name the columns, comma separated")
    truths = {"attribute_predictions": groups, "task_predictions": labels}
    return {
        "attributes": _declared(groups, "attributes", as_binary, as_categorical),
        "tasks": _declared(labels, "tasks", as_binary, as_categorical),
        **{
            name: split_predictions(text, truths[name], f"--{name.replace('_', '-')}")
            for name, text in predictions.items()
        },
    }
