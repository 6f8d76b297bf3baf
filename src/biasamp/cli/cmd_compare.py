"""``biasamp compare``."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Any

import click

from biasamp.auditing.as_audit import as_audit
from biasamp.report.comparison_terminal import PAIRS_SHOWN, show_comparison

from .command_files import Command, Input, Output
from .output import console, csv_option, csv_taken, html_option, json_option, write_data, write_json
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
    """The files that a source may mean: data, and a named audit, or those of several runs."""
    name, mark, path = text.partition("=")
    return {"": text, **({f"{name}={one}": one for one in (path, *_run_files(path).values())} if mark else {})}


def _run_files(path: str) -> dict[str, str]:
    """The files of a path, which may be a pattern, by what stands in the place of its wildcards: the name of the run."""
    if os.path.exists(path) or not glob.has_magic(path):
        return {"": path}
    kinds = {"*": "(.*)", "?": "(.)", "[": "(.)"}
    parts = re.split(r"(\*+|\?|\[[^\]]*\])", path)
    wild = re.compile("".join(kinds[part[0]] if part[:1] in kinds else re.escape(part) for part in parts), re.DOTALL)
    out = {}
    for file in sorted(glob.glob(path)):
        matched = wild.fullmatch(file)
        out["/".join(matched.groups()) if matched else file] = file
    return out


def _read_models(sources: tuple[str, ...]) -> dict[str, Any]:
    """The audits of every model: one, or those of its runs, by name where a pattern names them."""
    files: dict[str, list[tuple[str, str]]] = {}
    for source in sources:
        name, path = _named(source, "AUDIT")
        found = _run_files(path)
        if not found:
            raise click.UsageError(f"{source!r}: no file is of this pattern")
        files.setdefault(name, []).extend(found.items())
    out: dict[str, Any] = {}
    for name, runs in files.items():
        paths = [path for _, path in runs]
        if len(set(paths)) < len(paths):
            raise click.UsageError(f"{name} has the same file twice: one for each run is needed")
        if len(runs) == 1 and not runs[0][0]:
            out[name] = as_audit(paths[0], name)
            continue
        named = all(run for run, _ in runs) and len({run for run, _ in runs}) == len(runs)
        audits = {path: as_audit(path, f"{name}={path}") for path in paths}
        out[name] = {run: audits[path] for run, path in runs} if named else list(audits.values())
    return out


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
@click.option("--against", metavar="NAME", help="The model that others are held against; by default the first.")
@click.option(
    "--pairs",
    type=click.IntRange(min=0),
    default=PAIRS_SHOWN,
    show_default=True,
    help="How many changed pairs to list.",
)
@click.option(
    "--markdown",
    type=Output(stdout=True),
    metavar="FILE",
    help="Write the comparison as Markdown; - for standard output.",
)
@json_option
@html_option
@csv_option("the differences")
@csv_option("the pairs", "--pairs-csv", "pairs_path")
@reading_options
def command(
    sources: tuple[str, ...],
    models: tuple[str, ...],
    attribute_models: tuple[str, ...],
    level: float,
    against: str | None,
    pairs: int,
    markdown: str | None,
    json_path: str | None,
    html_path: str | None,
    csv_path: str | None,
    pairs_path: str | None,
    **options: Any,
) -> None:
    """Compare models: from saved audits or counts, or from one file that holds the predictions of all of them.

    Differences are paired where the audits are of the same records; what the models share then drops out. Columns,
    resamples and seed go with DATA. An AUDIT may be a pattern, or a name may be given again: then these are the training runs
    of that model, and what stands for the wildcards is their seed, by which models are paired.

    \b
    Examples:
      biasamp compare old=old.json.gz new=new.json.gz
      biasamp compare "old=old_*.json.gz" "new=new_*.json.gz" --markdown changes.md
      biasamp compare test.csv --attributes gender --tasks hired --model old=said_old --model new=said_new
    """
    import biasamp

    # A folder of a DATA file may be called year=2026.
    told = "=" not in sources[0] or options["attributes"] is not None or Path(sources[0]).exists()
    if len(sources) == 1 and told:
        audits: dict[str, Any] = _audited(sources[0], models, attribute_models, options)
    else:
        named = [name.removeprefix("as_") for name, value in options.items() if value not in (None, ())]
        named += ["model"] if models else ["attribute_model"] if attribute_models else []
        if named:
            listed = ", ".join(f"--{name.replace('_', '-')}" for name in named)
            raise click.UsageError(
                f"{listed}: this goes with one DATA file, not with saved audits, which have been read"
            )
        audits = _read_models(sources)
        if len(audits) < 2:
            raise click.UsageError("one model has nothing to be compared with: name at least two, as NAME=AUDIT")
    result = biasamp.compare(audits, level=level, against=against)
    if html_path is not None:
        result.to_html(html_path)
    taken = write_json(result.to_json(), json_path)
    taken |= csv_taken(result.table, csv_path)
    taken |= csv_taken(result.pairs, pairs_path)
    if markdown is not None:
        taken |= write_data(result.to_markdown(pairs=pairs), markdown)
    if not taken:
        show_comparison(result, console(), pairs)


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
