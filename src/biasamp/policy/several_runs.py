"""Several runs as evidence: each its own training run, and all audited alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.same_predictions import copies
from biasamp.data import printable

from .made_otherwise import made_apart
from .verdict import UNDECIDED, Check


def of_runs(runs: Sequence[Audit]) -> Iterator[Check]:
    """Checks without a pass where runs are copies of one another, or were not audited alike."""
    twice = copies(runs)
    if twice:
        before, place = twice[0]
        reason = (
            f"{len(twice)} of {len(runs)} runs have the predictions of another (runs {before + 1} and {place + 1} are the first): "
            "copies of one run are no evidence of how seeds move a model. Give each training run once"
        )
        yield Check(rule="runs", outcome=UNDECIDED, reason=reason)
    for number, run in enumerate(runs[1:], start=2):
        for field, first, other in made_apart(runs[0], run):
            reason = (
                f"the first run was made with {field} = {first}, and run {number} ({printable(run.source, 60)}) with {other}: "
                "audit all runs alike"
            )
            yield Check(rule="runs", outcome=UNDECIDED, reason=reason)
