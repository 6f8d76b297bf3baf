"""A verdict as SARIF 2.1.0, which code review shows at the lines of the policy."""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from biasamp import __version__
from biasamp.data import printable
from biasamp.policy.verdict import FAIL, PASS, UNDECIDED, Check, Verdict

_LEVELS = {FAIL: "error", UNDECIDED: "warning", PASS: "none"}
_KINDS = {FAIL: "fail", UNDECIDED: "open", PASS: "pass"}
_LONG = 2000


def sarif_json(verdict: Verdict, policy_path: str | None = None) -> str:
    """One run, one result a check; results stand at the rule's line of the policy file.

    ``policy_path`` is where the policy lies in the repository, where that is not its name.
    """
    path = policy_path or verdict.policy
    rules = list(dict.fromkeys(_rule(check) for check in verdict.checks))
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "biasamp",
                        "semanticVersion": __version__,
                        "rules": [{"id": rule, "shortDescription": {"text": rule}} for rule in rules],
                    }
                },
                "results": [_result(check, rules, path) for check in verdict.worst_first],
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "exitCode": verdict.exit_code,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": _message(line)}}
                            for line in [*verdict.caution_lines, *verdict.notes]
                        ],
                    }
                ],
                "columnKind": "unicodeCodePoints",
            }
        ],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)


def _rule(check: Check) -> str:
    return printable(check.metric or check.rule, 120)


def _message(text: str) -> str:
    """Plain text of a message, in which ``[words](address)`` would be a link: labels come from strangers."""
    return printable(text, _LONG).replace("](", "\\](")


def _result(check: Check, rules: list[str], path: str) -> dict[str, Any]:
    # What makes a result the same one in the next run: what it is about, not its figures.
    about = hashlib.sha256(f"{check.about}\0{check.limit}\0{check.rule}".encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": _rule(check),
        "ruleIndex": rules.index(_rule(check)),
        "kind": _KINDS[check.outcome],
        "level": _LEVELS[check.outcome],
        "message": {"text": _message(f"{check.about}: {check.reason}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(PurePath(path).as_posix(), errors="surrogatepass")},
                    "region": {"startLine": check.line or 1},
                }
            }
        ],
        "partialFingerprints": {"biasamp/v1": about},
    }
