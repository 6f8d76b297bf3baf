"""``biasamp compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from biasamp.auditing.as_audit import as_audit
from biasamp.report.terminal import show_comparison

from .command_files import Command, Input
from .output import console, html_option, json_option, write_json
from .reading_options import reading_options
from .role_options import (
    ENGINE,
    MEASURES,
    ROLES,
    audit_roles,
    number_option,
    shared_options,
    split_names,
    split_predictions,
    split_values,
)

# Predictions are those of the models.
_READ = tuple(name for name in ROLES if not name.endswith(("_predictions", "_scores")) and name != "strata")


def _named(text: str, what: str) -> tuple[str, str]:
    name, mark, rest = text.partition("=")
    if not mark or not name or not rest:
        raise click.UsageError(f"{text!r} is not of the form NAME={what}")
    return name, rest


def _source_file(text: str) -> dict[str, str]:
    """The files that a source may mean: data, and a named audit."""
    _, mark, path = text.partition("=")
    return {"": text, **({text: path} if mark else {})}


@click.command(name="compare", cls=Command)
@click.argument(
    "sources",
    nargs=-1,
    required=True,
    type=Input(_source_file, records=True),
    metavar="NAME=AUDIT NAME=AUDIT... | DATA",
)
@click.option("--model", "models", multiple=True, metavar="NAME=COLUMNS", help="With DATA: a model's task predictions.")
@click.option(
    "--attribute-model",
    "attribute_models",
    multiple=True,
    metavar="NAME=COLUMNS",
    help="With DATA: predicted attributes.",
)
@shared_options(*_READ, "metrics", *MEASURES, "min_group", *ENGINE, unset=True)
@number_option("--level", 0.95, "The confidence level of the differences.")
@json_option
@html_option
@reading_options
def command(
    sources: tuple[str, ...],
    models: tuple[str, ...],
    attribute_models: tuple[str, ...],
    level: float,
    json_path: str | None,
    html_path: str | None,
    **options: Any,
) -> None:
    """Compare models: from saved audits or counts, or from one file that holds the predictions of all of them.

    Differences are paired where the audits are of the same records; what the models share then drops out. Columns,
    resamples and seed go with DATA.

    \b
    Examples:
      biasamp compare old=old.json.gz new=new.json.gz
      biasamp compare test.csv --attributes gender --tasks hired --model old=said_old --model new=said_new
    """
    import biasamp

    if len(sources) == 1 and "=" not in Path(sources[0]).name:
        audits: dict[str, Any] = _audited(sources[0], models, attribute_models, options)
    else:
        named = [name.removeprefix("as_") for name, value in options.items() if value not in (None, ())]
        named += ["model"] if models else ["attribute_model"] if attribute_models else []
        if named:
            listed = ", ".join(f"--{name.replace('_', '-')}" for name in named)
            raise click.UsageError(
                f"{listed}: this goes with one DATA file, not with saved audits, which have been read"
            )
        paths = dict(_named(source, "AUDIT") for source in sources)
        if len(paths) < len(sources):
            raise click.UsageError("two audits have the same name")
        audits = {name: as_audit(path, name) for name, path in paths.items()}
    result = biasamp.compare(audits, level=level)
    if html_path is not None:
        list(audits.values())[-1].compared(result).to_html(html_path)
    if not write_json(result.to_json(), json_path):
        show_comparison(result, console())


def _audited(
    data: str, models: tuple[str, ...], attribute_models: tuple[str, ...], options: dict[str, Any]
) -> dict[str, Any]:
    """Audits of every model whose predictions are in one file."""
    import biasamp

    if options["attributes"] is None or options["tasks"] is None:
        raise click.UsageError("one DATA file needs --attributes and --tasks, or name saved audits as NAME=AUDIT")
    group, task = (split_names(options[name], f"--{name}") for name in ("attributes", "tasks"))
    metrics = split_names(options.pop("metrics"), "--metrics")
    read = {**split_values(options), "metrics": metrics, **audit_roles("", options), **options}
    read = {name: value for name, value in read.items() if value is not None}
    tasked = dict(_named(text, "COLUMNS") for text in models)
    groups = dict(_named(text, "COLUMNS") for text in attribute_models)
    names = list(dict.fromkeys([*tasked, *groups]))
    if len(names) < 2:
        raise click.UsageError("name at least two models with --model NAME=COLUMNS or --attribute-model NAME=COLUMNS")
    return {
        name: biasamp.audit(
            data,
            task_predictions=split_predictions(tasked.get(name), task, "--model"),
            attribute_predictions=split_predictions(groups.get(name), group, "--attribute-model"),
            **read,
        )
        for name in names
    }
