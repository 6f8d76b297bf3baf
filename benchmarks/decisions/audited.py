"""An audit of a sample whose population is known, with what the audit itself warns of."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import biasamp
from biasamp.results.interval import FEW_CLUSTERS, NOTES, TOO_FEW_CLUSTERS

from .population import Case, Side, leakage_of

RESAMPLES = 200
# Associations of so many standard errors are told by any test.
_PLAIN = 6.0
# A group of so small a share has cells of its own.
_SMALL = 0.1


@dataclass(frozen=True, eq=False)
class Audited:
    """A case with one of its samples and the audit of it."""

    case: Case
    data: dict[str, np.ndarray]
    audit: biasamp.Audit
    leakage: float

    @classmethod
    def of(cls, case: Case, rng: np.random.Generator, leakage: float | None = None, **more: Any) -> Audited:
        """The audit of one sample; the first group is the reference where it has records."""
        data, options = case.draw(rng)
        if (data["g"] == "a").any():
            options["reference"] = "a"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = biasamp.audit(data, resamples=RESAMPLES, **{**options, **more})
        return cls(case, data, made, leakage_of(case) if leakage is None else leakage)

    @property
    def document(self) -> dict[str, Any]:
        return self.audit.document  # type: ignore[return-value]

    @cached_property
    def sides(self) -> dict[str, Side]:
        return self.case.sides

    def entry(self, metric: str, attribute: str, direction: str | None) -> dict[str, Any]:
        wanted = metric, attribute, direction
        return next(e for e in self.document["metrics"] if (e["metric"], e["attribute"], e["direction"]) == wanted)

    def plain(self, direction: str) -> np.ndarray:
        """The pairs whose association any test would tell."""
        side = self.sides[direction]
        total = side.share @ side.truth
        error = np.sqrt(total * (1 - total) * (1 / side.share[:, None] - 1) / (self.case.n / self.case.cluster))
        return np.abs(side.lean) > _PLAIN * error

    @cached_property
    def cautions(self) -> list[dict[str, Any]]:
        return [row for row in self.document["findings"] if row["kind"] == "caution"]

    @cached_property
    def small(self) -> set[str]:
        """The groups that the audit calls small."""
        return {group for row in self.cautions if row["code"] == "small-groups" for group in row["figure"]["groups"]}

    def warned(self, entry: dict[str, Any]) -> bool:
        """Whether the audit says that the interval of an entry may cover too seldom."""
        return bool(set(entry.get("caution_kinds", ())) - NOTES)

    def unclear(self, entry: dict[str, Any]) -> bool:
        """Whether the audit says that signs and changes share their noise."""
        about = (entry["attribute"], entry["direction"])
        return any(
            row["code"] in ("unclear-signs", "balanced") and (row["attribute"], row["direction"]) == about
            for row in self.cautions
        )

    @cached_property
    def few_clusters(self) -> bool:
        """Whether the audit says that rates of groups rest on few clusters."""
        return any(
            {FEW_CLUSTERS, TOO_FEW_CLUSTERS} & set(entry.get("caution_kinds", ())) for entry in self.document["metrics"]
        )

    def size_name(self, group: str) -> str:
        """A suffix that keeps a small group apart from the others."""
        side = self.case.side
        if min(side.share) >= _SMALL or group not in side.given:
            return ""
        return ", small group" if side.share[side.given.index(group)] < _SMALL else ", large groups"
