"""``biasamp check``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from biasamp import Audit
from biasamp import audit as measure
from biasamp.counts.storage import is_counts
from biasamp.policy import Policy
from biasamp.policy.template import policy_text
from biasamp.report.terminal import show_verdict

from .output import check_targets, console, json_option, with_status, write_json
from .role_options import COLUMNS, MISSING, UNSEEN, shared_options, split_roles


@click.command(name="check")
@click.argument("data", type=click.Path())
@click.option(
    "--policy",
    "policy_path",
    default="policy.toml",
    show_default=True,
    type=click.Path(),
    help="The policy, a TOML file.",
)
@click.option("--init", is_flag=True, help="Write a commented policy for DATA to the --policy file, and check nothing.")
@click.option("--baseline", type=click.Path(), help="A saved audit to be no worse than, in place of the policy's own.")
@shared_options(*COLUMNS)
@click.option("--missing", type=click.Choice(MISSING), help="What to do about missing labels.")
@click.option("--unseen", type=click.Choice(UNSEEN), help="What to do about predicted values that the truth never has.")
@click.option("--resamples", type=int, help="How many resamples intervals rest on.")
@click.option("--seed", type=int, help="The seed of the resamples.")
@click.option("--save", type=click.Path(), help="Save the audit, to be the baseline of a later check.")
@click.option("--junit", type=click.Path(), metavar="FILE", help="Write the verdict as JUnit XML.")
@click.option(
    "--markdown", type=click.Path(), metavar="FILE", help="Write the verdict as Markdown; - for standard output."
)
@json_option
def command(
    data: str,
    policy_path: str,
    init: bool,
    baseline: str | None,
    save: str | None,
    junit: str | None,
    markdown: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Hold DATA to a policy: exit code 0 is a pass, 1 a failure, 2 a mistake, 3 not enough evidence.

    DATA is a file or folder as for `biasamp audit`, or an audit that --save or --json of it wrote. Options that name
    columns override the policy's [data].

    \b
    Examples:
      biasamp check test.csv --init --policy policy.toml --attributes gender --tasks hired --task-predictions said
      biasamp check test.csv --policy policy.toml --junit verdict.xml --markdown summary.md
      biasamp check audit.json.gz --policy policy.toml --baseline released.json.gz
    """
    check_targets((save, junit, markdown, json_path), data)
    if [markdown, json_path].count("-") > 1:
        raise click.UsageError("--json and --markdown cannot both take standard output")
    given = {key: value for key, value in {**split_roles(options), **options}.items() if value is not None}
    if init:
        _write_policy(data, policy_path, given)
        return
    policy = Policy.load(policy_path)
    audit = _saved(data)
    if audit is not None and given:
        named = ", ".join(f"--{key.replace('_', '-')}" for key in given)
        raise click.UsageError(
            f"{data} holds counts or a saved audit, which say by themselves what was measured; leave out {named}"
        )
    if audit is None:
        audit = with_status(data, lambda: policy.audit(data, **given))
    if save is not None:
        audit.save(save)
    verdict = policy.check(audit, baseline)
    if junit is not None:
        verdict.to_junit(junit)
    taken = write_json(verdict.to_json(), json_path)
    if markdown == "-":
        click.echo(verdict.to_markdown())
        taken = True
    elif markdown is not None:
        verdict.to_markdown(markdown)
    if not taken:
        show_verdict(verdict, console())
    sys.exit(verdict.exit_code)


def _saved(data: str) -> Any:
    """The audit in a file, or that of saved counts, where it holds either; JSON may also be records."""
    path = Path(data)
    if is_counts(path):
        return with_status(data, lambda: measure(path))
    if not path.is_file() or not path.name.lower().endswith((".json", ".json.gz")):
        return None
    try:
        return Audit.load(path)
    except ValueError as error:
        if "has schema" in str(error):
            raise
        return None


def _write_policy(data: str, target: str, arguments: dict[str, Any]) -> None:
    import biasamp

    check_targets([target])
    if Path(target).exists():
        raise click.UsageError(f"{target!r} exists; name a new file, or remove it first")
    audit = _saved(data)
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
    Path(target).write_text(policy_text(audit, kept), encoding="utf-8")
    console(stderr=True).print(
        f"Wrote {target}. Read its comments, set its limits, then: biasamp check {data} --policy {target}"
    )
