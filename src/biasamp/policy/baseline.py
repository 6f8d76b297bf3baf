"""No worse than a baseline: which audit that may be, and the differences to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from biasamp.auditing import compare
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.comparison_result import Comparison
from biasamp.auditing.comparison_types import ModelDifference
from biasamp.auditing.mirrors import variables_of
from biasamp.auditing.same_predictions import same_predictions
from biasamp.data import printable
from biasamp.results.metric_registry import METRICS

from .figure import Figure, is_number
from .ignored import AUDIT_WITHOUT, ignored_labels, not_ignored
from .limit_figures import AUDIT_AGAIN, signs_known, unknown_signs
from .limits import Limit, PolicyError
from .made_otherwise import made_apart
from .verdict import UNDECIDED, Check

if TYPE_CHECKING:
    from .policy import Policy

# What the models of a comparison are called; the baseline is the one that the other is held against.
_BEFORE, _NOW = "baseline", "this model"
# True rates of the same records agree to within rounding.
_SAME = 1e-9


def check_baseline(policy: Policy, audit: Audit, baseline: Audit | None) -> None:
    """Refuse a baseline that is missing, that no limit uses, or that is of other data."""
    uses = [place for place, limit in enumerate(policy.limits) if isinstance(limit, Limit) and limit.against]
    if uses and baseline is None:
        problem = "a limit is against the baseline, but there is none: name a saved audit under [baseline], or give one"
        raise PolicyError("baseline", problem, line=policy.line("limit", uses[0]), source=policy.source)
    if baseline is None:
        return
    if not uses:
        problem = (
            f"the baseline ({baseline.source}) is used by no limit, so it would decide nothing: "
            'add a limit with against = "baseline", or leave the baseline out'
        )
        raise PolicyError("baseline", problem, line=policy.line("baseline"), source=policy.source)
    differs = _other_data(audit, baseline) if policy.paired else None
    if differs is not None:
        problem = (
            f"the baseline ({baseline.source}) is of other data than {audit.source}: {differs}. Audit both models on "
            "the same records, or accept an unpaired comparison with [baseline] paired = false"
        )
        raise PolicyError("baseline", problem, line=policy.line("baseline"), source=policy.source)


def held_against_itself(runs: Sequence[Audit], before: Sequence[Audit]) -> str | None:
    """Why a baseline with the same predictions shows nothing; None where it has its own."""
    if not any(same_predictions(run, held) for run in runs for held in before):
        return None
    return (
        "the baseline has the same predictions of the same records: a model is never worse than itself, which shows nothing. "
        "See whether a file or column was given twice"
    )


def made_unlike(policy: Policy, audit: Audit, baseline: Audit) -> Iterator[Check]:
    """Checks without a pass for what the baseline was made with otherwise: a difference may come from that alone."""
    for field, mine, theirs in made_apart(audit, baseline):
        reason = (
            f"the baseline ({printable(baseline.source, 60)}) was made with {field} = {theirs}, and the audit with {mine}: "
            "audit both alike"
        )
        yield Check(rule="the baseline", outcome=UNDECIDED, reason=reason, line=policy.line("baseline"))


def made_after(audit: Audit, baseline: Audit) -> Iterator[str]:
    """A note where the baseline was audited after what is judged: the two may have been swapped."""
    now, before = (one.document.get("provenance", {}).get("time") for one in (audit, baseline))
    if now is not None and before is not None and datetime.fromisoformat(before) > datetime.fromisoformat(now):
        yield f"The baseline was audited after what is judged ({before}, {now}): see that the two are not swapped."


def _other_data(audit: Audit, baseline: Audit) -> str | None:
    """What shows that two audits are not of the same records and true labels."""
    here, there = audit.document["data"], baseline.document["data"]
    if here["records"] != there["records"]:
        return f"{there['records']:,} records against {here['records']:,}"
    sizes = [{(row["attribute"], row["group"]): row["records"] for row in data["groups"]} for data in (there, here)]
    for (attribute, group), before in sizes[0].items():
        now = sizes[1].get((attribute, group), 0)
        if attribute in here["attributes"] and before != now:
            return f"{group} has {before:,} records against {now:,}"
    rates = [_true_rates(one) for one in (baseline, audit)]
    for pair, rate in rates[0].items():
        if pair in rates[1] and abs(rate - rates[1][pair]) > _SAME:
            return f"{pair[3]} is true of {rate:.4f} of {pair[2]} against {rates[1][pair]:.4f}"
    mine, theirs = audit.resamples.get("records"), baseline.resamples.get("records")
    if mine is not None and theirs is not None and mine != theirs:
        return "the ids or the true labels of their records differ"
    return None


def _true_rates(audit: Audit) -> dict[tuple[str, str, str, str], float]:
    """The true rate of every pair, where no label is missing: a missing prediction would change it."""
    if audit.document["data"]["missing_values"] or audit.document["data"]["base"]:
        return {}
    return {
        (entry["attribute"], entry["direction"] or "", pair["given"], pair["outcome"]): pair["truth_rate"]
        for entry in audit.document["metrics"]
        if entry["metric"] == "directional"
        for pair in entry.get("pairs", ())
        if is_number(pair["truth_rate"])
    }


def compared(runs: Sequence[Audit], before: Sequence[Audit]) -> Comparison | None:
    """The comparison of one or several runs with those of the baseline, where they have a metric in common."""
    sides = {name: held[0] if len(held) == 1 else list(held) for name, held in ((_BEFORE, before), (_NOW, runs))}
    try:
        return compare(sides, level=runs[0].document["data"]["confidence"])
    except ValueError:
        return None


def vanished(policy: Policy, audit: Audit, baseline: Audit) -> Iterator[Check]:
    """Groups and outcomes that the baseline has and this audit has not."""
    line = policy.line("baseline")
    ignored = ignored_labels(policy.ignore_groups, baseline.document["data"])
    now = {row["group"] for row in audit.document["data"]["groups"] if row["records"]}
    gone = [
        row["group"]
        for row in baseline.document["data"]["groups"]
        if row["records"] and row["group"] not in now and row["group"] not in ignored
    ]
    if gone:
        reason = f"the baseline has groups that are gone: {', '.join(gone)}"
        yield Check(rule="groups of the baseline", outcome=UNDECIDED, reason=reason, line=line)
    lost = sorted(_outcomes(baseline) - _outcomes(audit))
    if lost:
        reason = f"the baseline has outcomes that are gone, so that values are over other pairs: {', '.join(lost[:10])}"
        yield Check(rule="outcomes of the baseline", outcome=UNDECIDED, reason=reason, line=line)


def _outcomes(audit: Audit) -> set[str]:
    """The task labels that the directional values of an audit are over, where all of them are listed."""
    return {
        pair["outcome"]
        for entry in audit.document["metrics"]
        if entry["metric"] == "directional"
        and entry["direction"] == "A->T"
        and len(entry["pairs"]) == entry["pairs_in_all"]
        for pair in entry["pairs"]
    }


def differences(limit: Limit, comparison: Comparison, audit: Audit, baseline: Audit, policy: Policy) -> list[Figure]:
    """The differences that a limit is about; an attribute that cannot be compared is one in doubt."""
    ignored = ignored_labels(policy.ignore_groups, audit.document["data"])
    rows = [row for row in comparison.document["differences"] if row["metric"] == limit.metric]
    rows = [row for row in rows if limit.direction in (None, row["direction"])]
    rows = [row for row in rows if limit.attribute in (None, row["attribute"])]
    doubt = "the difference is not paired: audit both models on the same records with the same seed and save()"
    if not any(note["kind"] == "unpaired" for note in comparison.document["noted"]):
        doubt = f"{limit.metric} has no resamples to pair; [baseline] paired = false accepts an unpaired interval"
    out = []
    for row in rows:
        figure = _figure(row, audit)
        if METRICS[row["metric"]].pairs_oriented:
            figure = _either_sign(figure, row, audit, baseline)
        counted = not_ignored(audit, ignored, row["attribute"])
        if counted and METRICS[row["metric"]].family != "predictability":
            figure = figure.doubted(AUDIT_WITHOUT.format(", ".join(counted)))
        out.append(figure.doubted(doubt) if policy.paired and not row["paired"] else figure)
    met = {row["attribute"] for row in rows}
    for attribute in audit.document["data"]["attributes"] if limit.attribute is None else [limit.attribute]:
        if attribute not in met:
            figure = Figure(attribute, limit.direction)
            out.append(figure.doubted("it cannot be compared: this audit or the baseline lacks it"))
    return out


def _either_sign(figure: Figure, row: ModelDifference, audit: Audit, baseline: Audit) -> Figure:
    """A difference in which pairs whose direction the records do not tell count with the worse of their signs.

    With the signs of the records themselves it is drawn to 0, as the values of both models are.
    """
    if signs_known(audit, row["attribute"]) or not (is_number(figure.low) and is_number(figure.high)):
        return figure
    about = (row["attribute"], row["metric"], row["direction"])
    now, before = (
        next(e for e in one.document["metrics"] if (e["attribute"], e["metric"], e["direction"]) == about)
        for one in (audit, baseline)
    )
    if "unknown" not in now:
        return figure.doubted(AUDIT_AGAIN)
    if not now["unknown"]:
        return figure
    unknown = unknown_signs(now, variables_of(audit.document["data"]), before)
    if unknown is None:
        return figure.doubted("the directions of some pairs are unknown, and not all pairs of both audits are listed")
    least, most = unknown.sizes.sum() + unknown.changes.sum(), unknown.sizes.sum() - unknown.changes.sum()
    low, high = figure.low - float(least), figure.high + float(most)
    return replace(figure, low=low, high=high, bounded=True, unknown=unknown)


def _figure(row: ModelDifference, audit: Audit) -> Figure:
    """A difference with its interval; no difference seen is no certainty that there is none.

    Two models that agree in all n records of a group may differ in a share of them that n records miss with the
    chance that the interval allows: 1 - (alpha / 2)^(1/n), 3.7 / n at 95%. A rate differs by no more than that.
    """
    data = audit.document["data"]
    low, high = row["low"], row["high"]
    figure = Figure(row["attribute"], row["direction"], row["difference"], low, high, records=data["records"])
    if not (is_number(low) and is_number(high)) or low < high:
        return figure
    sizes = [group["records"] for group in data["groups"] if group["attribute"] == row["attribute"]]
    least = min((size for size in sizes if size), default=0)
    if not least:
        return figure.doubted("the difference has no width, and no group has records")
    missed = 1.0 - ((1.0 - data["confidence"]) / 2.0) ** (1.0 / least)
    return replace(figure, low=low - missed, high=high + missed)
