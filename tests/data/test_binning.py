"""Numbers cut into bins: which bin a number is in, in which order bins are, and what cannot be cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import biasamp
from biasamp.data import label_set, read_columns


def bins_of(data: Any) -> tuple[list[str], tuple[str, ...]]:
    """The bin of each record, and all bins."""
    labels = label_set(read_columns(data, "age"), "age")
    (variable,) = labels.variables
    block = labels.blocks[0]
    return [variable.categories[code] if code >= 0 else "" for code in block.codes], variable.categories  # type: ignore[union-attr]


def test_a_bin_has_its_lower_edge_and_not_its_upper_one() -> None:
    """As pandas.cut cuts with right=False."""
    rng = np.random.default_rng(0)
    ages, edges = rng.integers(0, 90, 500), [18, 25, 45, 65]
    mine, names = bins_of(biasamp.binned(ages, edges=edges))
    assert names == ("under 18", "18 to under 25", "25 to under 45", "45 to under 65", "65 or more")
    theirs = pd.cut(ages, [-np.inf, *edges, np.inf], right=False, labels=list(names))
    assert mine == list(theirs)


def test_quantiles_make_bins_of_as_many_records() -> None:
    values = np.random.default_rng(1).permutation(np.arange(1000))
    mine, _ = bins_of(biasamp.binned(values, bins=4))
    assert set(pd.Series(mine).value_counts()) == {250}
    tied, names = bins_of(biasamp.binned([1] * 60 + [2] * 40, bins=4))
    assert names == ("under 2", "2 or more")
    assert tied.count("under 2") == 60


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
def test_every_container_and_missing_numbers(make: Any) -> None:
    held = [20.5, None, 70.0, 25.0] if make in (list, pl.Series, pa.array) else [20.5, np.nan, 70.0, 25.0]
    assert bins_of(biasamp.binned(make(held), edges=[25, 60]))[0] == ["under 25", "", "60 or more", "25 to under 60"]


def test_wide_numbers_and_fractions_of_edges_are_kept() -> None:
    mine, names = bins_of(biasamp.binned([0.1, 0.25, 123456789.5], edges=[0.25, 123456789.25]))
    assert names == ("under 0.25", "0.25 to under 123456789.25", "123456789.25 or more")
    assert mine == list(names)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: biasamp.binned([1, 2]), "takes one of edges and bins"),
        (lambda: biasamp.binned([1, 2], edges=[1], bins=2), "takes one of edges and bins"),
        (lambda: biasamp.binned([1, 2], edges=[]), "edges has 0 numbers"),
        (lambda: biasamp.binned([1, 2], edges=[2, 1]), "edges must ascend"),
        (lambda: biasamp.binned([1, 2], edges=[1, 1]), "edges must ascend"),
        (lambda: biasamp.binned([1, 2], edges=["a"]), "edges is 'a'"),
        (lambda: biasamp.binned([1, 2], edges=[float("nan")]), "a finite number"),
        (lambda: biasamp.binned([1, 2], bins=1), "bins is 1"),
        (lambda: bins_of(biasamp.binned(["a", "b"], edges=[1])), "holds text such as 'a'; bins are of numbers"),
        (
            lambda: bins_of(biasamp.binned(["18", "n/a", "40"], edges=[30])),
            "the text 'n/a' among numbers, to be left empty",
        ),
        (lambda: bins_of(biasamp.binned(["18", "40"], edges=[30])), "holds numbers as text, such as '18'; bins are of"),
        (lambda: bins_of(biasamp.binned([[1, 2], [3, 4]], edges=[1])), "has 2 columns"),
        (lambda: bins_of(biasamp.binned([3, 3, 3], bins=2)), "one value in nearly all records"),
    ],
)
def test_what_cannot_be_cut_is_refused(make: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_numbers_are_never_cut_in_silence() -> None:
    """Ids, measurements and fractions as groups are refused as before, and the way out is named."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 300)
    with pytest.raises(ValueError, match=r"holds fractions such as .*cut numbers into bins with biasamp.binned"):
        biasamp.directional(rng.normal(40, 9, 300), truth, truth)
    with pytest.raises(ValueError, match=r"looks like an identifier or a measurement.*biasamp.binned"):
        biasamp.directional(rng.permutation(10_000)[:300], truth, truth)
    with pytest.raises(ValueError, match="dates or times"):
        biasamp.directional([f"2024-01-{1 + i % 28:02}" for i in range(300)], truth, truth)


def test_declared_order_is_kept_by_every_function() -> None:
    band = ["low", "high", "middle"] * 20
    order = ["low", "middle", "high"]
    truth, said = [1, 0, 1, 1, 0, 0] * 10, [1, 0, 0, 1, 1, 0] * 10
    made = biasamp.directional(biasamp.categorical(band, categories=order), truth, said)
    assert list(dict.fromkeys(made.pairs["given"])) == order
    rates = biasamp.impact(truth, {"band": biasamp.categorical(band, categories=order), "sex": ["f", "m"] * 30})
    held = [row["group"] for row in rates.rates.rows()]
    assert held[:3] == order
    assert held[5] == "low & f"
