"""``biasamp check``."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from biasamp import Audit
from biasamp import audit as measure
from biasamp.auditing.audit_result import NoAudit
from biasamp.counts.storage import is_counts
from biasamp.data.plain_arguments import same_file
from biasamp.data.saving import append_text, save_text
from biasamp.policy import Policy
from biasamp.policy.reading import audit_arguments
from biasamp.policy.template import policy_text
from biasamp.report.terminal import show_verdict

from .command_files import STDOUT, Command, Input, Output, Params, Use, given_path
from .output import console, csv_option, csv_taken, html_option, json_option, with_status, write_data, write_json
from .reading_options import reading_options
from .role_options import (
    ENGINE,
    MEASURES,
    ROLES,
    shared_options,
    split_bins,
    split_categories,
    split_names,
    split_roles,
    split_values,
)


class _PolicyFile(Input):
    """The policy, with the files that it names; with --init it is written."""

    def uses(self, option: str, value: str, params: Params) -> Iterator[Use]:
        """The policy and, unless options take their place, its own records and baseline."""
        if params["init"]:
            yield Use(option, value, writes=True, new=True)
            return
        yield Use(option, value)
        if self.is_piped(value):  # known once it is kept in a file
            return
        try:
            policy = Policy.load(value)
        except (OSError, ValueError):  # said when the command itself reads it
            return
        for key, path in {**policy.data, "baseline": policy.baseline}.items():
            if (
                key in ("train", "base", "baseline")
                and params.get(key) is None
                and isinstance(path, (str, os.PathLike))
            ):
                yield Use(f"{key} of {option}", os.fspath(path))


@click.command(name="check", cls=Command)
@click.argument("data", nargs=-1, required=True, type=Input(records=True), metavar="DATA...")
@click.option(
    "--policy",
    "policy_path",
    default="policy.toml",
    show_default=True,
    type=_PolicyFile(),
    help="The policy, a TOML file.",
)
@click.option("--init", is_flag=True, help="Write a commented policy for DATA to the --policy file, and check nothing.")
@click.option(
    "--baseline",
    type=Input(),
    help="A saved audit, or counts, to be no worse than, in place of the policy's own.",
)
@click.option(
    "--against-trend",
    "earlier",
    multiple=True,
    type=Input(),
    metavar="FILE",
    help="A saved audit, or counts, of an earlier window; once for each, in order; four or more. Figures with a limit may "
    "be no worse than these let expect of one window more.",
)
@shared_options(*ROLES, "metrics", *MEASURES, *ENGINE, unset=True)
@click.option("--save", type=Output(".json", ".json.gz"), help="Save the audit, to be the baseline of a later check.")
@click.option(
    "--sarif", type=Output(".sarif", ".json"), metavar="FILE", help="Write the verdict as SARIF, for code review."
)
@click.option("--junit", type=Output(".xml"), metavar="FILE", help="Write the verdict as JUnit XML.")
@click.option(
    "--markdown",
    type=Output(".md", ".markdown", ".txt", stdout=True),
    metavar="FILE",
    help="Write the verdict as Markdown; - for standard output.",
)
@click.option("--append", is_flag=True, help="Add to the end of what --markdown names instead of replacing it.")
@html_option
@csv_option("one row per check")
@json_option
@reading_options
def command(
    data: tuple[str, ...],
    policy_path: str,
    init: bool,
    baseline: str | None,
    earlier: tuple[str, ...],
    save: str | None,
    junit: str | None,
    sarif: str | None,
    markdown: str | None,
    append: bool,
    html_path: str | None,
    csv_path: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Hold DATA to a policy: exit code 0 is a pass, 1 a failure, 2 a mistake, 3 not enough evidence.

    DATA is a file or folder as for `biasamp audit`, an audit that --save or --json of it wrote, or counts. Options
    that name columns override the policy's [data]. Several saved audits or counts are runs of one training procedure
    that differ in their seed: their means are held to the limits, with seeds and records in the intervals.

    \b
    Examples:
      biasamp check test.csv --init --policy policy.toml --attributes gender --tasks hired --task-predictions said
      biasamp check test.csv --policy policy.toml --junit verdict.xml --markdown summary.md
      biasamp check audit.json.gz --policy policy.toml --baseline released.json.gz
      biasamp check seed_1.json.gz seed_2.json.gz seed_3.json.gz --policy policy.toml
      biasamp check test.csv --policy policy.toml --markdown "$GITHUB_STEP_SUMMARY" --append
    """
    if append and markdown in (None, STDOUT):
        raise click.UsageError("--append goes with a file that --markdown names")
    where = {name: value for name in ENGINE if (value := options.pop(name)) is not None}
    given = _given(options)
    first, *others = data
    if others and (init or save is not None):
        raise click.UsageError(f"{'--init' if init else '--save'} goes with one DATA, not with several runs")
    if init:
        _write_policy(first, policy_path, given, where)
        return
    policy = Policy.load(policy_path)
    _refuse_twice(data, policy.baseline if baseline is None else baseline, earlier)
    audit = _saved(first, policy.audit)
    if audit is not None:
        _leave_out(first, {**given, **where})
    elif others:
        audit = _run(first, policy)
    else:
        ignored = given.pop("ignore_groups", None)
        policy = policy.reading(**given) if ignored is None else replace(policy.reading(**given), ignore_groups=ignored)
        audit = with_status(first, lambda: policy.audit(first, **where), where.get("engine", "auto"))
    runs = [audit, *(_run(other, policy) for other in others)]
    verdict = policy.check(runs if others else audit, baseline, earlier=earlier or None)
    if save is not None:
        audit.save(save)
    if junit is not None:
        verdict.to_junit(junit)
    if sarif is not None:
        verdict.to_sarif(sarif, policy_path=policy_path)
    if html_path is not None:
        verdict.to_html(html_path)
    taken = csv_taken(verdict.table, csv_path)
    taken = write_json(verdict.to_json(), json_path) or taken
    if markdown is not None and append:
        append_text(markdown, verdict.to_markdown().rstrip("\n") + "\n")
    elif markdown is not None:
        taken = write_data(verdict.to_markdown(), markdown) or taken
    if not taken:
        show_verdict(verdict, console())
    sys.exit(verdict.exit_code)


def _refuse_twice(data: tuple[str, ...], baseline: Any, earlier: tuple[str, ...]) -> None:
    """Refuse a file that is two runs, or what is judged and what it is held against."""
    for place, path in enumerate(data):
        if any(same_file(path, other) for other in data[:place]):
            raise click.UsageError(f"{path} is given twice: one file for each training run is needed")
        if same_file(path, baseline):
            raise click.UsageError(
                f"{path} is both DATA and --baseline: name the audit of the model that it is to be no worse than"
            )
        if any(same_file(path, other) for other in earlier):
            raise click.UsageError(f"{path} is both DATA and --against-trend: name audits of earlier windows")


def _run(data: str, policy: Policy) -> Any:
    """The audit of a further run."""
    audit = _saved(data, policy.audit)
    if audit is None:
        raise click.UsageError(
            f"{data} is no saved audit and holds no counts, which several runs are needed as: audit each with --save"
        )
    return audit


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """What options say of the data, in the plain values that a policy holds."""
    listed: dict[str, Any] = {
        "binary": list(options.pop("as_binary")),
        "categorical": list(options.pop("as_categorical")),
    }
    listed["categories"] = split_categories(options.pop("categories"))
    listed["bins"] = split_bins(options.pop("bins"))
    metrics = split_names(options.pop("metrics"), "--metrics")
    given = {**split_roles(options), **split_values(options), **options, "metrics": metrics}
    return {key: value for key, value in {**given, **listed}.items() if value is not None and value not in ([], {})}


def _leave_out(data: str, given: dict[str, Any]) -> None:
    """Refuse options that say how data are read where they have been read."""
    if given:
        named = ", ".join(f"--{key.replace('_', '-')}" for key in given)
        raise click.UsageError(
            f"{data} holds counts or a saved audit, which say by themselves what was measured; leave out {named}"
        )


def _saved(data: str, measured: Callable[[Path], Any]) -> Any:
    """The audit in a file, or that of saved counts, where it holds either; JSON may also be records."""
    path = Path(data)
    if is_counts(path):
        return with_status(data, lambda: measured(path))
    if not path.is_file() or not path.name.lower().endswith((".json", ".json.gz")):
        return None
    try:
        return Audit.load(path)
    except NoAudit:
        return None


def _write_policy(data: str, target: str, arguments: dict[str, Any], where: dict[str, Any]) -> None:
    audit = _saved(data, measure)
    if audit is not None:
        _leave_out(data, {**arguments, **where})
        used = audit.document["data"]
        kept = {key: names[0] if len(names) == 1 else names for key, names in used["roles"].items() if names}
        kept["intersections"] = len(used["attributes"]) > len(used["roles"]["attributes"])
        kept["missing"] = None if used["missing"] == "error" else used["missing"]
    else:
        for key in ("attributes", "tasks"):
            if key not in arguments:
                raise click.UsageError(f"--init needs --{key}: which columns of {Path(data).name} are they?")
        audit = with_status(data, lambda: measure(data, **audit_arguments(arguments), **where))
        # Groups that are ignored stand with the evidence; paths in a policy are relative to its folder.
        kept = {key: value for key, value in arguments.items() if key != "ignore_groups"}
        kept |= {key: str(Path(given_path(kept[key])).resolve()) for key in ("train", "base") if key in kept}
    save_text(target, policy_text(audit, kept), new=True)
    console(stderr=True).print(
        f"Wrote {target}. Read its comments, set its limits, then: "
        + shlex.join(["biasamp", "check", str(given_path(data)), "--policy", str(target)])
    )
