"""A verdict as one HTML file: the outcome, the checks with those that fail first, cautions and notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from biasamp import __version__
from biasamp.data.saving import save_text
from biasamp.policy.verdict import Verdict

from .page import page


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """What the page of a verdict shows."""
    held = replace(verdict, checks=tuple(verdict.worst_first)).to_dict()
    about = [check.about for check in verdict.worst_first]
    return {
        "kind": "verdict",
        "source": verdict.data,
        "version": __version__,
        "tally": verdict.tally,
        "cautions": verdict.caution_lines,
        "verdict": {
            **held,
            "checks": [{**row, "about": words} for row, words in zip(held["checks"], about, strict=True)],
        },
    }


def write_verdict(verdict: Verdict, path: str | Path) -> None:
    """Write the page of a verdict as a single self-contained HTML file."""
    words = [f"{verdict.outcome}: {verdict.tally}"]
    words += [f"{check.outcome}: {check.about}: {check.reason}" for check in verdict.worst_first]
    words += [*verdict.caution_lines, *verdict.notes]
    title = f"biasamp check: {verdict.data}, {verdict.outcome}"
    save_text(path, page(title, verdict_document(verdict), words=words))
