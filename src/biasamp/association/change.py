"""Which gaps changed between two models or data sets, and how a made-up label's rank follows its count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.resampling.significance import q_values
from biasamp.results.table import Table, text

from .association_result import Association
from .gaps import association_gap
from .metrics import metric_form


def association_change(
    old: Association,
    new: Association,
    metric: str = "npmi_xy",
    *,
    toward: str | None = None,
    against: str | None = None,
    level: float = 0.95,
    correction: str = "bh",
) -> Table:
    r"""How each label's gap changed from one result to another.

    The change is ``G_new(y|x1,x2) - G_old(y|x1,x2)``, with the interval

    .. math:: change \pm z \sqrt{se_{old}^2 + se_{new}^2}.

    It takes the two results as independent samples. Two models run on the same records share their sampling
    error, and the interval is then wider than need be.

    Parameters
    ----------
    old, new : Association
        With the same identities, zero policy and form of the metrics.
    metric : str
    toward, against : str, optional
        The identities compared; a positive change leans more to ``toward`` than before.
    level : float
        Nominal coverage of the interval.
    correction : {"bh", "by"}

    Returns
    -------
    Table
        One row per label of either result, the largest changes first: label, name, count_old, count_new, gap_old,
        gap_new, change, low, high, p and q of no change, ``ranked`` (ranked in both). Numbers that one side
        does not have are NaN. Tests are made of labels ranked in both, whose gaps are finite.

    Examples
    --------
    >>> from biasamp.association.associate import associate
    >>> a = [["man", "bike"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman"]] * 90
    >>> b = [["man", "bike"]] * 20 + [["man"]] * 80 + [["woman", "bike"]] * 20 + [["woman"]] * 80
    >>> change = association_change(associate(a, ["man", "woman"]), associate(b, ["man", "woman"]), "dp")
    >>> row = next(change.rows())
    >>> row["label"], round(row["change"], 3), round(row["low"], 3), round(row["high"], 3)
    ('bike', -0.2, -0.354, -0.046)
    """
    from scipy.special import erfc, ndtri

    for which, given in (("old", old), ("new", new)):
        if not isinstance(given, Association):
            raise TypeError(f"{which} is a {type(given).__name__}; what biasamp.associate gives is needed")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
    if old.identities != new.identities:
        raise ValueError(
            f"old compares {', '.join(old.identities)} and new {', '.join(new.identities)}; the same identities, in the "
            "same order, are needed"
        )
    for name in ("zero", "alpha", "paper_literal"):
        if old.settings[name] != new.settings[name]:
            raise ValueError(
                f"old was made with {name}={old.settings[name]!r}, new with {new.settings[name]!r}; values differ in kind"
            )
    labels = list(dict.fromkeys([*old.labels, *new.labels]))
    names = {**dict(zip(old.labels, old.names, strict=True)), **dict(zip(new.labels, new.names, strict=True))}
    count_old, gap_old, error_old, ranked_old = _side(old, labels, metric, toward, against)
    count_new, gap_new, error_new, ranked_new = _side(new, labels, metric, toward, against)
    with np.errstate(invalid="ignore"):
        change = gap_new - gap_old
        error = np.hypot(error_old, error_new)
    ranked = ranked_old & ranked_new
    tested = ranked & np.isfinite(change) & (error > 0)
    p = np.full(len(labels), np.nan)
    p[tested] = erfc(np.abs(change[tested]) / error[tested] / np.sqrt(2.0))
    reach = float(ndtri(0.5 + level / 2)) * error
    columns: dict[str, NDArray[Any]] = {
        "label": text(labels),
        "name": text([names[label] for label in labels]),
        "count_old": count_old,
        "count_new": count_new,
        "gap_old": gap_old,
        "gap_new": gap_new,
        "change": change,
        "low": change - reach,
        "high": change + reach,
        "p": p,
        "q": q_values(p, correction),
        "ranked": ranked,
    }
    size = np.where(np.isnan(change), -1.0, np.abs(change))
    return Table(columns).take(np.lexsort((-size, ~ranked)))


def _side(
    result: Association, labels: list[str], metric: str, toward: str | None, against: str | None
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Count, gap, standard error and whether it is ranked, of every label; 0, NaN or no where the result has it not."""
    metric = result.checked(metric)
    contrast, sign = result.gap_toward(toward, against)
    place = {label: i for i, label in enumerate(result.labels)}
    index = np.array([place.get(label, -1) for label in labels], dtype=np.int64)

    def pick(values: NDArray[Any], gone: Any) -> NDArray[Any]:
        return np.where(index >= 0, values[index], gone)

    return (
        pick(result.count, 0),
        pick(sign * result.values.gaps(metric, contrast), np.nan),
        pick(result.values.interval(metric, contrast).error, np.nan),
        pick(result.ranked(contrast), False),
    )


def movement(
    result: Association,
    *,
    counts: Sequence[float] = (10, 100, 1_000, 10_000, 100_000),
    shares: tuple[float, float] = (0.6, 0.3),
    steps: Sequence[float] = (0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0),
    toward: str | None = None,
    against: str | None = None,
) -> Table:
    """Rank of a label that does not exist among the labels that do, as its count moves.

    The label occurs in C(y) records, a fixed share of them with each identity, so that
    ``P(x1,y)/P(x2,y)`` stays the same while the count goes through orders of magnitude (``counts``) and moves
    around each (``steps``). Where a metric's partial derivative by p(y) is 0 the gap hardly moves; what its
    rank does depends on the labels around it.

    Parameters
    ----------
    result : Association
    counts : sequence of float
        Starting counts of the label.
    shares : tuple of two float
        Share of the label's records that carry x1, and x2.
    steps : sequence of float
        Factors by which each starting count is moved.
    toward, against : str, optional
        The identities x1 and x2; by default the first two.

    Returns
    -------
    Table
        metric, start, count, joint_1, joint_2, gap, rank (1 leans most to x1), of (how many labels are ranked,
        the made-up one included). Counts that do not fit the data (more records with y than there are, or more
        with x and y than with x) are left out.

    References
    ----------
    Aka et al., AIES 2021, Section 4.1 and Appendix E.2.

    Examples
    --------
    >>> from biasamp import associate
    >>> images = [["man", "bike"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman"]] * 90
    >>> moved = movement(associate(images, ["man", "woman"], metrics="dp"), counts=[40], steps=[1.0])
    >>> round(float(moved["gap"][0]), 3), int(moved["rank"][0]), int(moved["of"][0])
    (0.12, 2, 2)
    """
    if len(result.identities) > 2 and against is None:
        against = next(name for name in result.identities if name != (toward or result.identities[0]))
    contrast, sign = result.gap_toward(toward, against)
    first, second = contrast if sign > 0 else contrast[::-1]
    assert first is not None
    assert second is not None
    if not all(0 < share <= 1 for share in shares):
        raise ValueError(f"shares={shares}: two shares above 0 and at most 1 are needed")
    start, factor = (grid.ravel() for grid in np.meshgrid(counts, steps, indexing="ij"))
    count = np.asarray(start * factor, dtype=np.float64)
    size_1, size_2 = float(result.identity_count[first]), float(result.identity_count[second])
    joint_1, joint_2 = (share * count for share in shares)
    fits = (count > 0) & (joint_1 <= size_1) & (joint_2 <= size_2)
    fits &= (size_1 + count - joint_1 <= result.n) & (size_2 + count - joint_2 <= result.n)
    start, count, joint_1, joint_2 = start[fits], count[fits], joint_1[fits], joint_2[fits]
    literal = bool(result.settings["paper_literal"])
    parts: list[tuple[NDArray[Any], ...]] = []
    for metric in result.metrics:
        gap = association_gap(metric, result.n, size_1, size_2, count, joint_1, joint_2, paper_literal=literal)
        turn = metric_form(metric, literal).leans
        others = turn * sign * result.values.gaps(metric, contrast)[result.ranked(contrast)]
        others = np.sort(others[~np.isnan(others)])
        above = len(others) - np.searchsorted(others, turn * gap, side="right")
        names = text([metric] * len(gap))
        parts.append((names, start, count, joint_1, joint_2, gap, above + 1, np.full(len(gap), len(others) + 1)))
    columns = ("metric", "start", "count", "joint_1", "joint_2", "gap", "rank", "of")
    return Table(dict(zip(columns, map(np.concatenate, zip(*parts, strict=True)), strict=True)))
