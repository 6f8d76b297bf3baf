"""What checking an audit against a policy hands back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from biasamp.data.plain_arguments import path_of
from biasamp.results.metric_registry import direction_symbol
from biasamp.results.renderers import render
from biasamp.results.table import Table, written

PASS, FAIL, UNDECIDED = "pass", "fail", "not enough evidence"
# What the command line exits with; 2 is for a policy or data that cannot be read.
EXIT_CODES = {PASS: 0, FAIL: 1, UNDECIDED: 3}
SCHEMA = 1
# A caution that concerns more checks than this names the first of them.
_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Check:
    """One rule held against one figure.

    ``outcome`` is ``"pass"``, ``"fail"`` or ``"not enough evidence"``; ``reason`` says why in words, and ``finding``
    the same without the figure, for where that is shown by itself; ``line`` is where the rule stands in the policy's
    file; ``on`` is what was judged of the figure, of which ``low`` and ``high`` are the ends: its interval or, where it is
    ``bounded``, what it can be with either sign of the pairs whose direction is unknown; ``of_pairs`` is true where each pair is
    held to the limit; ``cautions`` are what the audit warns of that concerns the figure; ``records_needed`` is about how many
    records in all would decide, where evidence is lacking and a number can be given.
    """

    rule: str
    outcome: str
    reason: str
    limit: str = ""
    metric: str | None = None
    figure: str = "value"
    on: str = ""
    against: str | None = None
    attribute: str | None = None
    direction: str | None = None
    given: str | None = None
    outcome_label: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    bounded: bool = False
    of_pairs: bool = False
    line: int | None = None
    finding: str = ""
    cautions: tuple[str, ...] = ()
    records_needed: int | None = None

    @property
    def about(self) -> str:
        """What was looked at."""
        if self.metric is None:
            return f"{self.rule} of {self.attribute}" if self.attribute else self.rule
        figure = None if self.figure == "value" else f"({self.figure})"
        against = None if self.against is None else f"against the {self.against}"
        words = (self.attribute, self.metric, direction_symbol(self.direction), figure, against)
        pair = f"{self.given} → {self.outcome_label}" if self.given and self.outcome_label else self.outcome_label
        pair = pair or ("each pair" if self.of_pairs else None)
        return ", ".join(part for part in (" ".join(word for word in words if word), pair) if part)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a policy: pass, fail or not enough evidence.

    A verdict is true only when it passes. One check that fails fails the whole; without a failure, one check that
    the data cannot decide leaves the whole undecided.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1, 0, 1, 0, 1, 1, 1] * 10
    >>> data = {"group": group, "hired": hired, "model": model}
    >>> audit = biasamp.audit(data, attributes="group", tasks="hired", task_predictions="model", metrics=["directional"])
    >>> verdict = biasamp.Policy(limits=[{"metric": "directional", "max": 0.02}]).check(audit)
    >>> verdict.outcome, verdict.exit_code, bool(verdict)
    ('fail', 1, False)
    >>> [check.outcome for check in verdict.checks]
    ['pass', 'fail']
    """

    checks: tuple[Check, ...]
    policy: str = "policy"
    data: str = "data"
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """The worst outcome of all checks; without any check there is no evidence."""
        found = {check.outcome for check in self.checks}
        return FAIL if FAIL in found else PASS if found == {PASS} else UNDECIDED

    @property
    def passed(self) -> bool:
        """Whether every check passes."""
        return self.outcome == PASS

    def __bool__(self) -> bool:
        return self.passed

    @property
    def exit_code(self) -> int:
        """0 for a pass, 1 for a failure, 3 for not enough evidence."""
        return EXIT_CODES[self.outcome]

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that fail."""
        return tuple(check for check in self.checks if check.outcome == FAIL)

    @property
    def undecided(self) -> tuple[Check, ...]:
        """The checks that the data cannot decide."""
        return tuple(check for check in self.checks if check.outcome == UNDECIDED)

    @property
    def worst_first(self) -> list[Check]:
        """The checks, those that fail first and those that pass last."""
        return sorted(self.checks, key=lambda check: (FAIL, UNDECIDED, PASS).index(check.outcome))

    @property
    def tally(self) -> str:
        """How many checks have each outcome, in words."""
        counts = {kind: sum(check.outcome == kind for check in self.checks) for kind in (PASS, FAIL, UNDECIDED)}
        return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)

    @property
    def cautions(self) -> dict[str, list[str]]:
        """Each caution once, with what it concerns."""
        out: dict[str, list[str]] = {}
        for check in self.worst_first:
            for caution in check.cautions:
                concerned = out.setdefault(caution, [])
                if check.about not in concerned:
                    concerned.append(check.about)
        return out

    @property
    def caution_lines(self) -> list[str]:
        """Each caution in a line, with what it concerns after it."""
        return [f"{text.removesuffix('.')} ({'; '.join(_few(names))})." for text, names in self.cautions.items()]

    def __str__(self) -> str:
        lines = [f"{self.policy}: {self.outcome}"]
        lines += [f"  {check.outcome}: {check.about}: {check.reason}" for check in self.checks]
        lines += [f"  caution: {line}" for line in self.caution_lines]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """The verdict in plain Python values."""
        return {
            "schema": SCHEMA,
            "outcome": self.outcome,
            "policy": self.policy,
            "data": self.data,
            "checks": [{**asdict(check), "cautions": list(check.cautions)} for check in self.checks],
            "notes": list(self.notes),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """The verdict as JSON text, which is also written to ``path`` where one is given."""
        return written(json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, indent=1), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """A summary in Markdown, as CI systems show it beside a run."""
        return written(render("verdict Markdown", self), path)

    @property
    def table(self) -> Table:
        """One row per check, those that fail first."""
        rows = [{**asdict(check), "about": check.about} for check in self.worst_first]
        first = ("outcome", "about", "reason")
        ordered = [
            {**{name: row[name] for name in first}, **row, "cautions": "; ".join(row["cautions"])} for row in rows
        ]
        return Table.from_rows(ordered)

    def to_html(self, path: str | Path) -> None:
        """Write the verdict as one HTML file that needs nothing else."""
        render("verdict page", self, path)

    def _repr_html_(self) -> str:
        return str(render("verdict table", self))

    def to_junit(self, path: str | Path | None = None) -> str:
        """A report in JUnit's XML: a failure is a failure, not enough evidence an error, so neither looks green."""
        return written(render("verdict JUnit", self), path)

    def to_sarif(self, path: str | Path | None = None, *, policy_path: str | None = None) -> str:
        """A report in SARIF 2.1.0, which code review shows at the lines of the policy.

        ``policy_path`` is where the policy lies in the repository, where that is not its name.
        """
        place = None if policy_path is None else path_of(policy_path, "policy_path")
        return written(render("verdict SARIF", self, place), path)


def _few(names: list[str]) -> list[str]:
    """The first names, and how many more there are."""
    return names if len(names) <= _NAMED else [*names[:_NAMED], f"{len(names) - _NAMED} more"]
