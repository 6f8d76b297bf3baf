"""``biasamp.choose_thresholds``: the most accurate thresholds whose amplification stays below a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.plain_arguments import number, numbers_of, one_of, pair_of, yes_or_no
from biasamp.data.scores import USUAL
from biasamp.results.table import Table, text

from .least_cost import LeastCost, Options, least_cost
from .ranked_scores import ascending, at_or_above, edges_of, thresholds_of
from .scored_labels import ScoredLabels, read_scored_labels
from .threshold_choice import Costs, Decided, ThresholdChoice, group_places

Floats = NDArray[np.float64]
_LIMIT_ON = ("mean", "task")
# What an error costs where accuracy is what counts.
_ACCURACY = (1.0, 1.0)


def choose_thresholds(
    scores: Any,
    given: Any,
    truth: Any,
    *,
    limit: Any,
    limit_on: str = "mean",
    by_group: bool = False,
    cost: tuple[float, float] = _ACCURACY,
    held_out: Any = None,
    train: Any = None,
    weights: Any = None,
    threshold: Any = None,
) -> ThresholdChoice:
    r"""The most accurate thresholds whose directional amplification (A→T) stays below a limit.

    With :math:`\hat o = [s \ge \tau]`, and :math:`y` the signs of the associations,

    .. math::
        \min_\tau \sum_o \text{cost}_o(\tau_o) \quad \text{where} \quad
        \frac{1}{|G||O|} \sum_{g, o} y_{go} \, [P(\hat o = 1 | g = 1) - P(o = 1 | g = 1)] \le \text{limit}.

    Every distinct score is tried as a threshold, for the cost of sorting them. For one task, or a limit on each, the best
    threshold is looked up: it is exact. A limit on the mean over tasks, or thresholds for each group, make a knapsack of
    it. Its Lagrange relaxation gives a choice and a bound of what any other could save; then all choices that the
    bound leaves are tried, and where these are too many ``.gap`` says how much better one of them could be.

    Thresholds are fitted to the records they are chosen on, so that accuracy and amplification there flatter. Choose on a
    validation set and hand in other records as ``held_out``: only these tell whether the limit is kept.

    Parameters
    ----------
    scores : array-like of shape (records,) or (records, tasks)
        Of a validation set; higher for more likely, any real numbers. One column for each task, in the order of the labels of ``truth``.
    given, truth : array-like
        As for :func:`biasamp.directional`.
    limit : float or array-like
        What amplification may be at most: of the mean over tasks, or of each task, where it can be one number per task.
    limit_on : {"mean", "task"}
    by_group : bool
        Whether each group gets thresholds of its own. Decisions then depend on the group as such, which is unlawful in many places where they
        are about people; so it has to be asked for. Each record needs exactly one group.
    cost : pair of float
        What a false positive and a false negative cost; (1, 1) makes accuracy best.
    held_out : tuple of array-like, optional
        ``(scores, given, truth)`` of other records, or with their weights as a fourth item.
    train : pair of array-like, optional
        ``(given, truth)`` of the training set, which then decides the signs.
    weights : array-like, optional
        One weight per record.
    threshold : float or array-like, optional
        The threshold that is in use, or one for each task, which gaps and pairs are shown at beside those chosen: 0.5 where all scores lie in [0, 1], else none.

    Returns
    -------
    ThresholdChoice
        ``.thresholds``, ``.table``, ``.apply(scores)``; ``.validation.effects``: gaps between groups and the largest pair of each task, before and after; ``.cautions``; ``.frontier`` and ``.plot()``: what accuracy each amplification
        costs; ``.gap``; ``.held_out`` with value and bound.

    Raises
    ------
    ValueError
        Where no thresholds keep the limit; the message says how low they get.

    See Also
    --------
    calibrate : thresholds that keep a rate.
    sweep : amplification at every threshold.

    Notes
    -----
    Of thresholds that cost the same those with less amplification are chosen. A sum of rates that is above the limit by less than
    1e-12 counts as at the limit, for rounding.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML. Sec. 5.3.
    Kellerer, H., Pferschy, U. and Pisinger, D. (2004). Knapsack Problems. Springer. Ch. 11: the multiple-choice
    knapsack problem.

    Examples
    --------
    >>> import biasamp
    >>> group = ["f", "f", "f", "m", "m", "m"]
    >>> truth = [1, 1, 0, 1, 0, 0]
    >>> scores = [0.9, 0.8, 0.6, 0.5, 0.4, 0.1]
    >>> choice = biasamp.choose_thresholds(scores, group, truth, limit=0.2)
    >>> choice.threshold, round(choice.accuracy, 4), round(choice.amplification, 4)
    (0.8, 0.8333, 0.1667)
    >>> list(choice.frontier.rows())[0]["amplification"] <= 0
    True
    """
    one_of(limit_on, "limit_on", _LIMIT_ON)
    yes_or_no(by_group, "by_group")
    costs = _costs(cost)
    held = read_scored_labels(scores, given, truth, train=train, weights=weights)
    limits = _limits(limit, limit_on, held.tasks)
    used = _used(threshold, held)
    group = group_places(held.given, held.groups, "given") if by_group else None
    made = [_options(held, k, column, costs, by_group) for k, column in enumerate(np.ascontiguousarray(held.scores.T))]
    fronts, at = [sets for sets, _ in made], [cuts for _, cuts in made]
    chosen, gap = _chosen(fronts, limits, limit_on, held.tasks)
    thresholds = _thresholds(held, at, chosen, by_group)
    predicted = _decide(held, thresholds, group)
    decisions = _weight(held) * len(fronts)
    free_amplification, free_cost = np.sum([options.at(-1) for sets in fronts for options in sets], axis=0)
    without = {"cost": float(free_cost / decisions), "amplification": float(free_amplification / len(fronts))}
    if costs == _ACCURACY:
        without = {"accuracy": 1.0 - without["cost"], **without}
    figures = [
        options.at(i) for sets, row in zip(fronts, chosen, strict=True) for options, i in zip(sets, row, strict=True)
    ]
    return ThresholdChoice(
        thresholds,
        held.tasks,
        held.groups,
        by_group,
        limits,
        limit_on,
        costs,
        sum(amplification for amplification, _ in figures) / len(fronts),
        gap / decisions,
        without,
        _table(held, thresholds, predicted),
        Decided.of(held, predicted, costs, _decided_at(held, used)),
        None if held_out is None else _held_out(held_out, held, thresholds, costs, train, used),
        used,
        tuple(fronts),
        tuple(at),
    )


def _costs(cost: Any) -> Costs:
    found = pair_of(cost, "cost", least=0.0, most=np.inf)
    if not sum(found):
        raise ValueError("cost is (0, 0): errors that cost nothing leave nothing to choose by")
    return found


def _limits(limit: Any, limit_on: str, tasks: tuple[str, ...]) -> Floats:
    """The limit of the mean as one number, or one for each task."""
    if not hasattr(limit, "__len__") or isinstance(limit, (str, bytes)):
        return np.full(1 if limit_on == "mean" else len(tasks), number(limit, "limit"))
    values = _finite(limit, "limit")
    if limit_on == "mean" or values.shape != (len(tasks),):
        wanted = "one number" if limit_on == "mean" else f"one number, or one for each of the {len(tasks)} tasks,"
        raise ValueError(f"limit has shape {values.shape}; {wanted} is needed with limit_on={limit_on!r}")
    return values


def _finite(value: Any, name: str) -> Floats:
    """Numbers, each of them finite."""
    values = numbers_of(value, name)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] is {values.flat[bad[0]]}; a finite number is needed")
    return values


def _weight(held: ScoredLabels) -> float:
    return float(len(held.scores) if held.weights is None else held.weights.sum())


def _options(
    held: ScoredLabels, k: int, scores: Floats, costs: Costs, by_group: bool
) -> tuple[tuple[Options, ...], tuple[Floats, ...]]:
    """The thresholds of a task that count, as sets of options, with what the thresholds are: one set, or one per group."""
    groups = np.flatnonzero(held.size > 0)
    weights = None if held.weights is None else held.weights.astype(np.float64)
    if not by_group:
        made = [_front(scores, held.flags[k], weights, costs, [(g, held.member[g]) for g in groups], held, k)]
    else:
        made = []
        for g in groups:
            mine = np.flatnonzero(held.member[g])
            own = None if weights is None else weights[mine]
            everyone = np.ones(len(mine), dtype=bool)
            made.append(_front(scores[mine], held.flags[k][mine], own, costs, [(g, everyone)], held, k))
    return tuple(options for options, _ in made), tuple(thresholds for _, thresholds in made)


def _front(
    scores: Floats,
    flag: NDArray[np.bool_],
    weights: Floats | None,
    costs: Costs,
    members: list[tuple[Any, NDArray[np.bool_]]],
    held: ScoredLabels,
    k: int,
) -> tuple[Options, Floats]:
    """Cost and amplification at every distinct score, and which thresholds nothing beats in both."""
    order, ranked = ascending(scores)
    edges = edges_of(ranked)
    weight = None if weights is None else weights[order]

    def above(flags: NDArray[np.bool_]) -> Floats:
        sorted_flags = flags[order]
        return at_or_above(sorted_flags if weight is None else sorted_flags * weight, edges).astype(np.float64)

    hits = above(flag)
    cost = (len(ranked) - edges).astype(np.float64) if weight is None else at_or_above(weight, edges)
    cost -= hits
    cost *= costs[0]
    hits -= hits[0]
    hits *= costs[1]
    cost -= hits
    amplification = np.zeros(len(edges))
    there = np.count_nonzero(held.size > 0)
    for g, member in members:
        if held.signs[g, k]:
            moved = above(member)
            moved -= held.hits[g, k]
            moved *= float(held.signs[g, k]) / (held.size[g] * there)
            amplification += moved
    options = Options.of(amplification, cost)
    return options, thresholds_of(ranked, edges)[options.place]


def _chosen(
    fronts: list[tuple[Options, ...]], limits: Floats, limit_on: str, tasks: tuple[str, ...]
) -> tuple[list[tuple[int, ...]], float]:
    """The option of every set by task, and by how much of the cost the choice may miss the best one."""
    if limit_on == "task":
        made = [least_cost(sets, float(limit)) for sets, limit in zip(fronts, limits, strict=True)]
        kept = [
            _kept(one, sets, float(limit), f"amplification of {task}")
            for one, sets, limit, task in zip(made, fronts, limits, tasks, strict=True)
        ]
        return [one.options for one in kept], sum(one.gap for one in kept)
    flat = tuple(options for sets in fronts for options in sets)
    limit = float(limits[0]) * len(fronts)
    what = "amplification" if len(fronts) == 1 else "mean amplification"
    one = _kept(least_cost(flat, limit), flat, limit, what, len(fronts))
    width = len(fronts[0])
    return [one.options[k * width : (k + 1) * width] for k in range(len(fronts))], one.gap


def _kept(found: LeastCost | None, sets: tuple[Options, ...], limit: float, what: str, tasks: int = 1) -> LeastCost:
    if found is None:
        lowest = sum(options.at(0)[0] for options in sets) / tasks
        raise ValueError(
            f"limit is {limit / tasks:g}, but no thresholds bring the {what} below {lowest:.4g}: give a higher limit"
            + (", or see whether by_group=True is allowed" if len(sets) == tasks else "")
        )
    return found


def _thresholds(
    held: ScoredLabels, at: list[tuple[Floats, ...]], chosen: list[tuple[int, ...]], by_group: bool
) -> Floats:
    """The thresholds of the chosen options, of shape (tasks,) or (tasks, groups); groups without records have none."""
    found = np.array(
        [[cuts[i] for cuts, i in zip(each, row, strict=True)] for each, row in zip(at, chosen, strict=True)]
    )
    if not by_group:
        return np.asarray(found[:, 0])
    out = np.full((len(found), len(held.size)), np.nan)
    out[:, held.size > 0] = found
    return out


def _decide(held: ScoredLabels, thresholds: Floats, group: NDArray[np.int64] | None) -> NDArray[np.uint8]:
    least = thresholds if group is None else thresholds.T[group]
    return (held.scores >= least).astype(np.uint8)


def _table(held: ScoredLabels, thresholds: Floats, predicted: NDArray[np.uint8]) -> Table:
    """What thresholds do in each task, or in each task and group."""
    weight = None if held.weights is None else held.weights.astype(np.float64)

    def total(which: NDArray[np.bool_], member: NDArray[np.bool_] | None = None) -> float:
        if weight is None:  # counting is faster than adding up ones
            return float(np.count_nonzero(which if member is None else which & member))
        held_weight = which * weight
        return float((held_weight if member is None else held_weight[member]).sum())

    by_group = thresholds.ndim == 2
    there = np.flatnonzero(held.size > 0)
    rows: list[dict[str, Any]] = []
    everyone = float(len(predicted)) if weight is None else float(weight.sum())
    for k, task in enumerate(held.tasks):
        said, flag = predicted[:, k].astype(bool), held.flags[k]
        right = said == flag
        rates = np.array([total(said, held.member[g]) / held.size[g] for g in there])
        moved = held.signs[there, k] * (rates - held.hits[there, k] / held.size[there])
        if not by_group:
            truth_rate = (np.count_nonzero(flag) if weight is None else weight[flag].sum()) / everyone
            figures = total(said) / everyone, truth_rate, total(right) / everyone, moved.mean()
            rows.append({"task": task, **_figures(thresholds[k], *figures)})
            continue
        for g, rate, change in zip(there, rates, moved, strict=True):
            accuracy = total(right, held.member[g]) / held.size[g]
            figures = rate, held.hits[g, k] / held.size[g], accuracy, change
            rows.append({"task": task, "group": held.groups[g], **_figures(thresholds[k, g], *figures)})
    made = Table.from_rows(rows)
    return Table({**made.columns, "task": text(made["task"])})


def _figures(*values: Any) -> dict[str, float]:
    names = ("threshold", "rate", "truth_rate", "accuracy", "amplification")
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def _used(threshold: Any, held: ScoredLabels) -> Floats | None:
    """The thresholds in use, one for each task; none where none is given and scores are no probabilities."""
    tasks = len(held.tasks)
    if threshold is None:
        return np.full(tasks, USUAL) if held.scores.min() >= 0.0 and held.scores.max() <= 1.0 else None
    if not hasattr(threshold, "__len__") or isinstance(threshold, (str, bytes)):
        return np.full(tasks, number(threshold, "threshold"))
    values = _finite(threshold, "threshold")
    if values.shape != (tasks,):
        raise ValueError(
            f"threshold has shape {values.shape}; one number is needed, or one for each of the {tasks} tasks"
        )
    return values


def _decided_at(held: ScoredLabels, used: Floats | None) -> NDArray[np.bool_] | None:
    return None if used is None else held.scores >= used


def _held_out(
    held_out: Any, known: ScoredLabels, thresholds: Floats, costs: Costs, train: Any, used: Floats | None
) -> Decided:
    """What thresholds do to records that they were not chosen on."""
    if not isinstance(held_out, (tuple, list)) or len(held_out) not in (3, 4):
        raise TypeError(
            f"held_out must be a tuple (scores, given, truth), or with weights as a fourth item, found "
            f"{type(held_out).__name__}" + (f" of {len(held_out)} items" if isinstance(held_out, (tuple, list)) else "")
        )
    scores, given, truth, *weights = held_out
    held = read_scored_labels(
        scores, given, truth, train=train, weights=weights[0] if weights else None, called="held_out "
    )
    if held.tasks != known.tasks:
        raise ValueError(
            f"held_out truth has the tasks {', '.join(held.tasks[:5])}, but truth has "
            f"{', '.join(known.tasks[:5])}: give the same ones in the same order"
        )
    group = group_places(held.given, known.groups, "held_out given") if thresholds.ndim == 2 else None
    return Decided.of(held, _decide(held, thresholds, group), costs, _decided_at(held, used))
