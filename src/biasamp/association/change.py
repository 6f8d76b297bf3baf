"""Two models or data sets compared label by label: which gaps changed, and how surely."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.resampling.multiplicity import q_values
from biasamp.results.table import Table, text

from .association_result import Association


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

    for name, given in (("old", old), ("new", new)):
        if not isinstance(given, Association):
            raise TypeError(f"{name} is a {type(given).__name__}; what biasamp.associate gives is needed")
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
    sides = [_side(result, labels, metric, toward, against) for result in (old, new)]
    (count_old, gap_old, error_old, ranked_old), (count_new, gap_new, error_new, ranked_new) = sides
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
    metric = result.checked(metric)
    contrast, sign = result.gap_toward(toward, against)
    place = {label: i for i, label in enumerate(result.labels)}
    index = np.array([place.get(label, -1) for label in labels], dtype=np.int64)
    there = index >= 0
    _, _, error = result.values.interval(metric, contrast)

    def pick(values: NDArray[Any], gone: Any) -> NDArray[Any]:
        return np.where(there, values[index], gone)

    return (
        pick(result.count, 0),
        pick(sign * result.values.gaps(metric, contrast), np.nan),
        pick(error, np.nan),
        pick(result.why_not(contrast) == "", False),
    )
