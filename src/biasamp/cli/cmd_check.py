"""``biasamp check``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from biasamp import Audit
from biasamp import audit as measure
from biasamp.auditing.audit_result import NoAudit
from biasamp.counts.storage import is_counts
from biasamp.data.saving import save_text
from biasamp.policy import Policy
from biasamp.policy.template import policy_text
from biasamp.report.terminal import show_verdict

from .command_files import STDOUT, Command, Input, Output, Params, Use
from .output import console, json_option, with_status, write_json
from .role_options import COLUMNS, MISSING, UNSEEN, shared_options, split_roles


class _PolicyFile(Input):
    """The policy, with the files that it names; with --init it is written."""

    def uses(self, option: str, value: str, params: Params) -> Iterator[Use]:
        """The policy and, unless options take their place, its own records and baseline."""
        if params["init"]:
            yield Use(option, value, writes=True, new=True)
            return
        yield Use(option, value)
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
@click.argument("data", type=Input())
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
    help="A saved audit, or counts, of an earlier window; once for each, in order. Figures with a limit have to stay "
    "within the control limits that these show.",
)
@shared_options(*COLUMNS)
@click.option("--missing", type=click.Choice(MISSING), help="What to do about missing labels.")
@click.option("--unseen", type=click.Choice(UNSEEN), help="What to do about predicted values that the truth never has.")
@click.option("--resamples", type=int, help="How many resamples intervals rest on.")
@click.option("--seed", type=int, help="The seed of the resamples.")
@click.option("--save", type=Output(), help="Save the audit, to be the baseline of a later check.")
@click.option("--junit", type=Output(), metavar="FILE", help="Write the verdict as JUnit XML.")
@click.option(
    "--markdown",
    type=Output(stdout=True),
    metavar="FILE",
    help="Write the verdict as Markdown; - for standard output.",
)
@json_option
def command(
    data: str,
    policy_path: str,
    init: bool,
    baseline: str | None,
    earlier: tuple[str, ...],
    save: str | None,
    junit: str | None,
    markdown: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Hold DATA to a policy: exit code 0 is a pass, 1 a failure, 2 a mistake, 3 not enough evidence.

    DATA is a file or folder as for `biasamp audit`, an audit that --save or --json of it wrote, or counts. Options
    that name columns override the policy's [data].

    \b
    Examples:
      biasamp check test.csv --init --policy policy.toml --attributes gender --tasks hired --task-predictions said
      biasamp check test.csv --policy policy.toml --junit verdict.xml --markdown summary.md
      biasamp check audit.json.gz --policy policy.toml --baseline released.json.gz
    """
    given = {key: value for key, value in {**split_roles(options), **options}.items() if value is not None}
    if init:
        _write_policy(data, policy_path, given)
        return
    policy = Policy.load(policy_path)
    audit = _saved(data, policy.audit)
    if audit is not None and given:
        named = ", ".join(f"--{key.replace('_', '-')}" for key in given)
        raise click.UsageError(
            f"{data} holds counts or a saved audit, which say by themselves what was measured; leave out {named}"
        )
    if audit is None:
        policy = policy.reading(**given)
        audit = with_status(data, lambda: policy.audit(data))
    verdict = policy.check(audit, baseline, earlier=earlier or None)
    if save is not None:
        audit.save(save)
    if junit is not None:
        verdict.to_junit(junit)
    taken = write_json(verdict.to_json(), json_path)
    if markdown == STDOUT:
        click.echo(verdict.to_markdown(), file=sys.stdout)
        taken = True
    elif markdown is not None:
        verdict.to_markdown(markdown)
    if not taken:
        show_verdict(verdict, console())
    sys.exit(verdict.exit_code)


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


def _write_policy(data: str, target: str, arguments: dict[str, Any]) -> None:
    import biasamp

    audit = _saved(data, measure)
    if audit is not None:
        if arguments:
            raise click.UsageError(f"{data} holds counts or a saved audit, which say by themselves what was measured")
        used = audit.document["data"]
        kept = {key: names[0] if len(names) == 1 else names for key, names in used["roles"].items() if names}
        kept["intersections"] = len(used["attributes"]) > len(used["roles"]["attributes"])
        kept["missing"] = None if used["missing"] == "error" else used["missing"]
    else:
        for key in ("attributes", "tasks"):
            if key not in arguments:
                raise click.UsageError(f"--init needs --{key}: which columns of {Path(data).name} are they?")
        audit = with_status(data, lambda: biasamp.audit(data, **arguments))
        kept = dict(arguments)
        if "train" in kept:  # paths in a policy are relative to its folder
            kept["train"] = str(Path(kept["train"]).resolve())
    save_text(target, policy_text(audit, kept), new=True)
    console(stderr=True).print(
        f"Wrote {target}. Read its comments, set its limits, then: biasamp check {data} --policy {target}"
    )
