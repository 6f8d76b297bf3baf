"""``biasamp.parity``: how the model's error rates differ between groups."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts, outcome_masks
from biasamp.data import Label, printable
from biasamp.data.arguments import read_evaluation
from biasamp.data.label import canonical
from biasamp.data.plain_arguments import yes_or_no
from biasamp.data.spelling import mistaken_for
from biasamp.resampling.sample import Sample
from biasamp.results import Table, text
from biasamp.results.flat import put
from biasamp.results.interval import plain
from biasamp.results.renderers import render

from .group_rates import (
    RATES,
    Floats,
    GroupRates,
    Proportion,
    between_groups,
    group_rates,
    over_groups,
    proportion,
    rate_figures,
)
from .positive import Outcomes, choose_outcomes


@dataclass(frozen=True, eq=False)
class Parity:
    """Four companions of amplification, for every outcome label; of a two-valued outcome for its positive value.

    Attributes
    ----------
    table : Table
        One row per outcome: fpr_difference, tpr_difference, accuracy_difference (the largest difference
        between two groups) and mean_per_class_accuracy (its mean over groups).
    groups : Table
        One row per group and outcome: the rates themselves with Wilson's intervals, and the counts they rest on;
        with a reference group, difference (Newcombe) and ratio (MOVER-R of Wilson limits) to it.
    excluded : tuple of dict
        Rates that are undefined, with the reason.
    n : float
        The total weight of the records.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman"] * 40 + ["man"] * 40
    >>> paints = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> model = [1] * 27 + [0] * 13 + [1] * 6 + [0] * 34
    >>> result = biasamp.parity(group, paints, model)
    >>> [(row["given"], row["true_positive_rate"], row["false_positive_rate"]) for row in result.groups.rows()]
    [('man', 0.6, 0.0), ('woman', 0.9, 0.0)]
    >>> result.table["tpr_difference"].round(3).tolist()
    [0.3]
    """

    table: Table
    groups: Table
    excluded: tuple[dict[str, Any], ...]
    n: float
    direction: str | None = None
    _draw: Callable[[int, int], Mapping[str, NDArray[np.float64]]] | None = field(default=None, repr=False)
    _unseen: Mapping[str, float] = field(default_factory=dict, repr=False)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold, or with ``flat`` figures by name, as trackers take them."""
        if yes_or_no(flat, "flat"):
            out: dict[str, Any] = {}
            for row in self.table.rows():
                for name, value in row.items():
                    put(out, (row["outcome"], name), {"": plain(value)})
            return out
        return {
            "metric": "parity",
            "direction": self.direction,
            "n": plain(self.n),
            "outcomes": self.table.plain_rows(),
            "groups": self.groups.plain_rows(),
            "excluded": [{k: plain(v) for k, v in row.items()} for row in self.excluded],
        }

    def _repr_html_(self) -> str:
        return str(render("parity table", self))


# The rates that the table of groups begins with.
_FIRST = ("false_positive_rate", "true_positive_rate", "accuracy", "mean_per_class_accuracy", "selection_rate")
# What the rates of groups need of a resample.
_COUNTS = ("given", "joint_truth", "joint_predicted", "joint_both")
# The rate that each difference between groups is of.
DIFFERENCES = {
    "fpr_difference": "false_positive_rate",
    "tpr_difference": "true_positive_rate",
    "accuracy_difference": "accuracy",
}


def resampled_rates(
    bags: BagCounts,
    worst: Mapping[str, int],
    groups: Mapping[str, tuple[int, int]],
    kept: NDArray[np.bool_],
    resamples: int,
    seed: int,
) -> dict[str, Floats]:
    """The figure of every keyed resample, so that two models on the same records can be compared in pairs.

    Parameters
    ----------
    bags : BagCounts
        The sample.
    worst : mapping
        The outcome label that each figure is about.
    groups : mapping
        For a difference of rates, the groups that are furthest apart in the data: they are held fixed, as in the
        interval. A figure without them is mean per-class accuracy, over the groups that are ``kept``.
    """
    parts = [_figures(part, worst, groups, kept) for part in bags.resampled(resamples, seed, _COUNTS)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def unseen_discordance(
    made: Mapping[str, Proportion],
    worst: Mapping[str, int],
    groups: Mapping[str, tuple[int, int]],
    kept: NDArray[np.bool_],
) -> dict[str, float]:
    """What records in which two models differ, and that were not seen, add to the variance of each figure's difference.

    One more record of either kind of ``n`` adds ``2 / (n + 2)**2`` to the variance of a rate.
    """

    def added(rate: str) -> Floats:
        return np.asarray(np.nan_to_num(2.0 / (made[rate].effective + 2.0) ** 2))

    out = {name: float(added(DIFFERENCES[name])[list(pair), worst[name]].sum()) for name, pair in groups.items()}
    for name in worst.keys() - groups.keys():
        both = added("true_positive_rate") + added("false_positive_rate")
        there = kept & ~np.isnan(made["true_positive_rate"].value + made["false_positive_rate"].value)[:, worst[name]]
        out[name] = float(0.25 * both[there, worst[name]].sum() / max(int(there.sum()), 1) ** 2)
    return out


def _figures(
    resampled: PairCounts,
    worst: Mapping[str, int],
    groups: Mapping[str, tuple[int, int]],
    kept: NDArray[np.bool_],
) -> dict[str, Floats]:
    rates = group_rates(resampled)
    out = {}
    for name, outcome in worst.items():
        if name in groups:
            drawn: Floats = getattr(rates, DIFFERENCES[name])[..., outcome]
            higher, lower = groups[name]
            out[name] = drawn[:, higher] - drawn[:, lower]
        else:
            out[name] = over_groups(rates.mean_per_class_accuracy[..., kept, :])[..., outcome]
    return out


def parity(
    given: Any, truth: Any, predicted: Any, *, weights: Any = None, positive: Any = None, reference: Any = None
) -> Parity:
    """Parity companions of amplification, over any number of groups.

    FPR, TPR and accuracy difference, each the largest difference between two groups, and mean per-class
    accuracy averaged over the groups (2021 paper, Fig. 2), for every outcome label.

    Parameters
    ----------
    given : array-like
        The groups.
    truth, predicted : array-like
        True and predicted labels; soft predictions count as fractions.
    weights : array-like, optional
        One weight per record.
    positive : optional
        The value that counts as positive; a list or mapping where there are several tasks. Without it that is 1, True
        or yes of two values; where neither value is, both have rates, each as if it were the positive one. Of more
        than two values each has its rates.
    reference : str, optional
        The group that every other one is held against: adds difference and ratio of each rate to ``.groups``.

    Returns
    -------
    Parity

    See Also
    --------
    directional : amplification, which these cannot see the sign of.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML, Fig. 2.

    Examples
    --------
    >>> import biasamp
    >>> result = biasamp.parity(["w", "w", "m", "m"], [1, 0, 1, 0], [1, 1, 1, 0])
    >>> result.table["fpr_difference"].tolist(), result.table["tpr_difference"].tolist()
    ([1.0], [0.0])
    """
    evaluation, _, invented = read_evaluation(given, truth, predicted, None, weights)
    apart = set() if invented is None else {variable.name for variable in invented.variables}
    outcomes = choose_outcomes(evaluation.truth.variables, positive, apart)
    bags = Sample.of(evaluation).bags
    bags = bags.only(*outcome_masks(bags.counts, outcomes.columns))
    against = None if reference is None else group_number(bags.counts.given_labels, reference, "reference")
    result = from_bags(bags, reference=against)
    warn_of_rates(outcomes, result.excluded)
    return result


def warn_of_rates(outcomes: Outcomes, excluded: Sequence[Mapping[str, Any]], listed: str = ".excluded") -> None:
    """Say which outcomes have no plain positive value, and which rates are undefined and ``listed`` where."""
    if outcomes.unknown:
        warnings.warn(
            f"neither value of {', '.join(repr(name) if name else 'the outcome' for name in outcomes.unknown)} is plainly the positive one: rates are given for "
            "both, and each false positive rate of one is the other's true positive rate turned round. Name it with "
            "positive=",
            UserWarning,
            stacklevel=3,
        )
    if excluded:
        first, more = excluded[0], len(excluded) > 1
        warnings.warn(
            f"{len(excluded)} rate{'s are' if more else ' is'} undefined and left out, such as the "
            f"{first['rate'].replace('_', ' ')} of "
            f"({first['given']}, {first['outcome']}): {first['reason']}; {listed} lists them",
            UserWarning,
            stacklevel=3,
        )


def group_number(labels: Sequence[Label], name: Any, argument: str) -> int:
    """The number of the group that goes by a name: its label, or its category alone."""
    try:
        spelled = canonical(name)
    except TypeError as error:
        raise TypeError(f"{argument}: {error}; the name of a group is needed") from None
    found = [i for i, label in enumerate(labels) if spelled in (str(label), label.category)]
    if not found:
        names = [label.category or str(label) for label in labels]
        shown = ", ".join(repr(printable(group, 40)) for group in names[:8])
        more = f" and {len(labels) - 8} more" if len(labels) > 8 else ""
        near = mistaken_for(spelled.removeprefix(f"{labels[0].variable}="), names) if labels else None
        offer = f"the groups are {shown}{more}" if near is None else f"did you mean {printable(near, 40)!r}?"
        raise ValueError(f"{argument} is {name!r:.60}, which is no group; {offer}")
    return found[0]


def from_bags(
    bags: BagCounts,
    direction: str | None = None,
    *,
    proportions: Mapping[str, Proportion] | None = None,
    level: float = 0.95,
    reference: int | None = None,
    kept: NDArray[np.bool_] | None = None,
) -> Parity:
    """The result for pair counts by bag.

    ``proportions`` are the rates where they are known already, ``reference`` is the number of the group that others
    are held against, and ``kept`` are the groups that differences and means are over; all by default.
    """
    counts = bags.whole
    made = rates_of(bags) if proportions is None else proportions
    rates = group_rates(counts)
    given, outcome = text(counts.given_labels), text(counts.outcome_labels)
    rows, columns = (index.ravel() for index in np.indices(counts.joint_truth.shape))
    positives = floats(counts.joint_truth)
    shown = {rate: rate_figures(made[rate], level, reference) for rate in made}
    groups = Table(
        {
            "given": given[rows],
            "outcome": outcome[columns],
            **{rate: getattr(rates, rate).ravel() for rate in _FIRST},
            "positives": positives.ravel(),
            "negatives": (np.broadcast_to(floats(counts.given), positives.shape) - positives).ravel(),
            "precision": rates.precision.ravel(),
            **{
                f"{rate}_{name}": values.ravel()
                for rate, figures in shown.items()
                for name, values in figures.items()
                if name not in ("value", "size")
            },
        }
    )
    held = slice(None) if kept is None else kept
    table = Table(
        {
            "outcome": outcome,
            **{name: between_groups(getattr(rates, rate)[held]) for name, rate in DIFFERENCES.items()},
            "mean_per_class_accuracy": over_groups(rates.mean_per_class_accuracy[held]),
        }
    )
    return Parity(table, groups, undefined_rates(rates, given, outcome), float(floats(counts.n).max()), direction)


def rates_of(bags: BagCounts, clustered: bool = False) -> dict[str, Proportion]:
    """Every rate of every group, with the sizes that intervals go by."""
    return {rate: proportion(bags, rate, clustered) for rate in RATES}


def undefined_rates(rates: GroupRates, given: Any, outcome: Any) -> tuple[dict[str, Any], ...]:
    """The rates that no record makes, each with the reason."""
    reasons = (
        ("accuracy", rates.accuracy, "no record has the group"),
        ("true_positive_rate", rates.true_positive_rate, "no record of the group truly has the outcome"),
        ("false_positive_rate", rates.false_positive_rate, "everybody in the group truly has the outcome"),
    )
    empty = np.isnan(rates.accuracy)
    out = []
    for name, values, reason in reasons:
        gone = np.isnan(values) & (~empty | (name == "accuracy"))
        for i, j in np.argwhere(gone).tolist():
            out.append({"given": given[i], "outcome": outcome[j], "rate": name, "reason": reason})
    return tuple(out)
