"""How figures of audits go together by the sampling of records: from their intervals, and from resamples of the same records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biasamp.predictability.paired_halves import PairedHalves
from biasamp.resampling.significance import normal_quantile
from biasamp.results.metric_registry import METRICS, range_of

from .audit_result import Audit
from .document_types import Entry
from .measuring import name_of

Floats = NDArray[np.float64]


def why_unpaired(one: Audit, other: Audit) -> str | None:
    """Why the resamples of two audits are not of the same records, or None where they are."""
    mine, theirs = one.resamples, other.resamples
    if not mine or not theirs:
        return "an audit was written without its resamples (use save)"
    for name, words in (("records", "records"), ("seed", "seeds"), ("resamples", "numbers of resamples")):
        if mine[name] != theirs[name]:
            return f"the {words} differ"
    return None


def standard_error(entry: Entry, audit: Audit) -> float | None:
    """A standard error from an interval, where that is all an audit says."""
    low, high = entry["interval"]
    if low is None or high is None:
        return None
    least, most = range_of(entry["metric"])
    value = entry["value"]
    reach = (high - low) / 2.0
    if value is not None and (low <= least or high >= most):  # cut: the other side has its whole width
        reach = max(value - low, high - value)
    return float(reach / normal_quantile(audit.document["data"]["confidence"]))


def figure_error(entry: Entry, audit: Audit) -> float | None:
    """A standard error from an interval, else from halves of the records, as of clusters, which attackers have no interval for."""
    found = standard_error(entry, audit)
    if found is None and entry["value"] is not None:
        held = halves_of(audit, name_of(entry["attribute"], entry["metric"], entry["direction"]))
        if held is not None:
            found = float(np.sqrt(held.covariance(held)[0] + held.noise[0]))
    return found


def halves_of(audit: Audit, name: str) -> PairedHalves | None:
    """What attackers found on halves of the records, where the audit has it."""
    saved = audit.resamples.get("halves", {}).get(name)
    return None if saved is None else PairedHalves.from_dict(saved)


def unseen(audit: Audit, name: str) -> float:
    """The variance of a difference that records add in which two models differ and that were not seen."""
    return float(audit.resamples.get("unseen", {}).get(name) or 0.0)


def drawn_values(audit: Audit, name: str) -> Floats:
    """The values of a figure's resamples; none where it has none."""
    values = audit.resamples.get("values", {}).get(name) or ()
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def correlation_of(one: Floats, two: Floats) -> float | None:
    """How two figures go together over the same resamples; None where these do not tell."""
    if len(one) != len(two):
        return None
    there = ~np.isnan(one) & ~np.isnan(two)
    if there.sum() < 2 or not one[there].std() > 0.0 or not two[there].std() > 0.0:
        return None
    return float(np.corrcoef(one[there], two[there])[0, 1])


def record_covariance(
    audits: Sequence[Audit], errors: Sequence[float], name: str, models: Sequence[int]
) -> tuple[Floats, bool]:
    """The covariance of a figure of several runs by records, and whether all of it is known from the same resamples.

    Errors are those of resamples, with what records add that were not seen to differ. Where there are none, and of figures that are the largest of several, whose
    resamples do not know that they were selected, they are ``errors``, from the intervals.
    Runs of the same records whose resamples do not tell how they go together are taken to go together wholly where they are of
    one model, and not at all where they are of two: neither makes a variance too small.
    """
    drawn = [drawn_values(audit, name) for audit in audits]
    halves = [halves_of(audit, name) for audit in audits]
    # Trials are drawn for each run by itself, whatever its records.
    noise = np.array([0.0 if held is None else held.noise[0] for held in halves])
    error = np.asarray(errors, dtype=np.float64)
    metric = name.partition("/")[0]
    if not METRICS[metric].by_outcome:
        own = [float(np.nanstd(held, ddof=1)) if (~np.isnan(held)).sum() > 1 else np.nan for held in drawn]
        error = np.where(np.isnan(own), np.sqrt(np.maximum(error**2 - noise, 0.0)), own)
    correlation, known = np.eye(len(audits)), True
    for i in range(len(audits)):
        for j in range(i):
            why = why_unpaired(audits[i], audits[j])
            found = correlation_by_records(drawn, halves, i, j) if why is None else None
            if found is None:
                known = False
                other = bool(why) and _other_records(audits[i], audits[j])
                found = 1.0 if models[i] == models[j] and not other else 0.0
            correlation[i, j] = correlation[j, i] = found
    out = np.outer(error, error) * correlation
    out[np.diag_indices_from(out)] += [unseen(audit, name) / 2.0 for audit in audits] + noise
    return out, known


def correlation_by_records(
    drawn: Sequence[Floats], halves: Sequence[PairedHalves | None], i: int, j: int
) -> float | None:
    """How two figures of the same records go together, by their resamples or by halves of the records."""
    one, two = halves[i], halves[j]
    if one is not None and two is not None and one.halves == two.halves:
        return one.correlation(two)
    return correlation_of(drawn[i], drawn[j])


def _other_records(one: Audit, two: Audit) -> bool:
    """Whether two audits are known to be of different records."""
    mine, theirs = one.resamples.get("records"), two.resamples.get("records")
    return mine is not None and theirs is not None and mine != theirs
