"""What cautions concern: they are shown by topic, and the two that matter most before all others."""

from __future__ import annotations

from collections.abc import Sequence

from .document_types import AuditDocument, FindingFields

# Cautions that suggest a mistake in what was given: all figures rest on it.
MISTAKES = frozenset(
    {
        "opposite",
        "unrelated",
        "contradicting",
        "copied",
        "repeated",
        "swapped",
        "other-scores",
        "one-value",
        "constant",
        "perfect",
    }
)
# The topics in the order in which they are shown, with the codes of their cautions; a code that is not listed is of the last.
TOPICS: dict[str, frozenset[str]] = {
    "What was given": MISTAKES
    | {
        "unchecked",
        "positive",
        "no-truth",
        "never-predicted",
        "unknown-overlap",
        "missing",
        "ignored-groups",
        "excluded",
        "base-choice",
        "bins",
    },
    "Scores and thresholds": frozenset(
        {"threshold", "other-rule", "uncalibrated", "fractions", "sensitive-prediction"}
    ),
    "Directions of pairs": frozenset({"unclear-signs", "reversed-signs", "balanced", "no-sign", "disagreement"}),
    "Few records": frozenset(
        {
            "small-groups",
            "left-out",
            "numbers",
            "small-strata",
            "stratum-close-to-group",
            "no-interval",
            "rare-sets",
            "over-zero",
        }
    ),
    "What figures mean": frozenset({"not-fairness", "not-ground-truth", "perceived", "incomparable"}),
}
_OTHER = "What figures mean"
# So many cautions are shown first.
_FIRST = 2


def topic_of(code: str) -> str:
    """The topic of a caution."""
    return next((topic for topic, codes in TOPICS.items() if code in codes), _OTHER)


def first_cautions(findings: Sequence[FindingFields]) -> list[int]:
    """The places of the cautions that matter most among the findings, no two of the same code."""
    out: dict[str, int] = {}
    for place, row in enumerate(findings):
        if row["kind"] == "caution":
            out.setdefault(row["code"], place)
    return list(out.values())[:_FIRST]


def cautions_by_topic(document: AuditDocument) -> dict[str, list[int]]:
    """The places of all cautions among the findings, by topic."""
    out: dict[str, list[int]] = {topic: [] for topic in TOPICS}
    for place, row in enumerate(document["findings"]):
        if row["kind"] == "caution":
            out[topic_of(row["code"])].append(place)
    return {topic: places for topic, places in out.items() if places}
