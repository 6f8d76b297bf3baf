"""Amplification over thresholds from counts, for data whose scores are gone or too many to be sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from biasamp.amplification.counted_sweep import CountedCurves, counted_sweep
from biasamp.amplification.signs import association_signs
from biasamp.counts.fixed import floats
from biasamp.counts.threshold_counts import GRID
from biasamp.data.scores import USUAL
from biasamp.resampling.significance import fair_coins_p
from biasamp.results.interval import plain

from .subject import Counted, within
from .threshold_notes import POINTS, marks


def scores_counted(subject: Counted, direction: str) -> int:
    """How many scores were counted between thresholds; 0 where none were."""
    held = subject.counts.why.get(direction)
    if held is None or held.thresholds is None:
        return 0
    _, outcome = subject.sides(direction)
    return subject.records * (1 if outcome.exclusive else outcome.width)


def counted_entry(subject: Counted, direction: str, level: float = 0.95) -> dict[str, Any] | None:
    """As :func:`biasamp.auditing.threshold_notes.threshold_entry`, from counts: ``grid`` says at how many thresholds."""
    source, kept = subject.base_source(direction), subject.kept(direction)
    counts = subject.counts.why[direction]
    if counts.thresholds is None or counts.reliability is None or source.rates is not None:
        return None
    signed = source.signed(*(int(side.sum()) for side in kept))
    kept = within(kept[0], signed[0]), within(kept[1], signed[1])
    source = source.only(*signed)
    given, outcome = (side.only(keep) for side, keep in zip(subject.sides(direction), kept, strict=True))
    pairs = subject.counts.pairs[direction].only(*kept).whole
    signs = association_signs(pairs.truth_joint) if source.signs is None else source.signs
    signs = np.broadcast_to(signs, (given.width, outcome.width))
    reliability = counts.reliability.only(*kept)
    with np.errstate(divide="ignore", invalid="ignore"):
        promised, true, n = (
            floats(held).sum(axis=-1) for held in (reliability.scores, reliability.truth, reliability.n)
        )
        moved = signs * (promised - true) / n
    integral = float(np.nanmean(moved)) if (n > 0).any() else float("nan")
    thresholds = counts.thresholds.only(*kept)
    labels = outcome.labels
    if outcome.exclusive:
        # P(1) decides both values of a 0/1 variable.
        one = np.array([label.category == "1" for label in labels])
        if one.sum() != 1:
            return None
        thresholds = thresholds.only(np.ones(given.width, dtype=bool), one)
        signs, labels = signs[:, one], tuple(label for label in labels if label.category == "1")
        pairs = pairs.only(np.ones(given.width, dtype=bool), one)
    curves = CountedCurves.of_counts(thresholds, signs, given.labels, labels, given.exclusive)
    used = curves.used(floats(pairs.joint_predicted))
    swept = counted_sweep(curves, integral, source.sign_source, subject.records, used)
    at, rates, base = curves.calibrated()
    return {
        "outcome": str(labels[0]) if len(labels) == 1 else None,
        **{name: value for name, value in swept.to_dict(POINTS).items() if name != "schema"},
        "grid": len(GRID),
        "usual": _usual(subject, curves),
        "calibrated": {
            "threshold": plain(at[0]) if len(labels) == 1 else None,
            "amplification": plain(curves.at(at)),
            "rate": plain(float(rates.mean())),
        },
        "labels": [
            {"label": str(label), "threshold": plain(t), "rate": plain(r), "base_rate": plain(w)}
            for label, t, r, w in zip(labels, at, rates, base, strict=True)
        ],
        "marks": marks(swept),
        "steps": swept.steps(POINTS, level),
    }


def _usual(subject: Counted, curves: CountedCurves) -> dict[str, Any]:
    many = len(curves.outcome)
    held = [curves.hits(label, np.array([USUAL])) for label in range(many)]
    out = {
        "threshold": USUAL,
        "amplification": plain(curves.at(np.full(many, USUAL))),
        "rates": [plain(part.rate[-1, 0]) for part in held],
    }
    if curves.counts.squared is None and not subject.clustered:
        false = np.array([part.false[-1, 0] for part in held])
        missed = np.array([part.positive[-1, 0] - part.true[-1, 0] for part in held])
        out["rate_p"] = [plain(value) for value in fair_coins_p(false, missed)]
    return out
