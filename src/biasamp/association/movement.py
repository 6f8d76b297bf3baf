"""How the rank of a made-up label follows its count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.plain_arguments import array_of, made_by, numbers_of, one_of, pair_of
from biasamp.results.table import Table, text

from .association_result import Association
from .gaps import association_gap
from .metrics import metric_form


def movement(
    result: Association,
    *,
    counts: Sequence[float] = (10, 100, 1_000, 10_000, 100_000),
    shares: tuple[float, float] = (0.6, 0.3),
    steps: Sequence[float] = (0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0),
    toward: str | None = None,
    against: str | None = None,
    moving: str = "count",
) -> Table:
    """Rank of a label that does not exist among the labels that do, as its count moves.

    The label occurs in C(y) records, a fixed share of them with each identity, so that
    ``P(x1,y)/P(x2,y)`` stays the same while the count goes through orders of magnitude (``counts``) and moves
    around each (``steps``). With ``moving="joint"`` C(y) and C(x2,y) stay where each starting count puts them, and C(x1,y) alone
    moves by the steps: how a metric answers to P(x1,y) itself (Sec. 4.1). Where a metric's partial derivative by p(y) is 0 the gap hardly moves; what its
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
    moving : {"count", "joint"}
        What the steps move: the label's count at fixed shares, or P(x1,y) alone.

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
    made_by(result, Association, "result", "biasamp.associate")
    one_of(moving, "moving", ("count", "joint"))
    grids = {"counts": numbers_of(counts, "counts"), "steps": numbers_of(steps, "steps")}
    for name, grid in grids.items():
        if grid.ndim != 1 or not np.isfinite(grid).all():
            raise ValueError(f"{name} must be a list of finite numbers")
    shares = pair_of(shares, "shares")
    if len(result.identities) > 2 and against is None:
        against = next(name for name in result.identities if name != (toward or result.identities[0]))
    contrast, sign = result.gap_toward(toward, against)
    first, second = contrast if sign > 0 else contrast[::-1]
    assert first is not None
    assert second is not None
    if not all(0 < share <= 1 for share in shares):
        raise ValueError(f"shares={shares}: two shares above 0 and at most 1 are needed")
    # Starting counts stand in the table as they were given.
    as_given = array_of(counts)
    as_given = as_given if as_given.dtype.kind in "iuf" else grids["counts"]
    start, factor = (axis.ravel() for axis in np.meshgrid(as_given, grids["steps"], indexing="ij"))
    count = np.asarray(start * factor, dtype=np.float64)
    size_1, size_2 = float(result.identity_count[first]), float(result.identity_count[second])
    if moving == "joint":
        count = np.asarray(start, dtype=np.float64)
        joint_1, joint_2 = shares[0] * count * factor, shares[1] * count
    else:
        joint_1, joint_2 = (share * count for share in shares)
    fits = (count > 0) & (joint_1 >= 0) & (joint_1 <= count) & (joint_1 <= size_1) & (joint_2 <= size_2)
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
