"""Columns one by one, and what is refused of their names and lengths."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from biasamp.data import check_columns, column_codes, read_columns
from biasamp.data.columns import check_lengths


def test_columns_one_by_one() -> None:
    matrix = np.array([[0, 1], [1, 1], [0, 0]])
    for data in (matrix, sp.csr_array(matrix), {"0": matrix[:, 0], "1": matrix[:, 1]}):
        columns = read_columns(data, "data")
        assert columns.width == 2
        assert [column.name for column in columns.apart()] == ["0", "1"]
        assert np.array_equal(np.column_stack([column.values for column in columns.apart()]), matrix)


@pytest.mark.parametrize(
    ("values", "codes", "categories"),
    [
        (["b", None, "a"], [1, -1, 0], ("a", "b")),
        ([10, 9, 10], [1, 0, 1], ("9", "10")),
        ([0.5, np.nan, 2.0], [0, -1, 1], ("0.5", "2")),
        ([True, False, True], [1, 0, 1], ("0", "1")),
    ],
)
def test_every_kind_of_column_has_codes(values: list[object], codes: list[int], categories: tuple[str, ...]) -> None:
    (column,) = read_columns(values, "data").apart()
    found = column_codes(column)
    assert (found[0].tolist(), found[1]) == (codes, categories)


def test_names_that_are_not_there_or_there_twice() -> None:
    check_columns(["a"], ["a", "b", "b"], "x.csv")
    with pytest.raises(ValueError, match=r"x\.csv has 2 columns named 'b': rename them"):
        check_columns(["a", "b"], ["a", "b", "b"], "x.csv")
    with pytest.raises(ValueError, match=r"x\.csv has no column 'gendr'; did you mean 'gender'\?"):
        check_columns(["gendr"], ["gender", "task"], "x.csv")
    with pytest.raises(ValueError, match=r"has no column 'q'; it has 'c0', .*'c7' and 2 more"):
        check_columns(["q"], [f"c{i}" for i in range(10)], "x.csv")


def test_lengths_that_differ() -> None:
    with pytest.raises(ValueError, match=r"the columns of data have different lengths: \{'a': 1, 'b': 2\}"):
        check_lengths({"a": [1], "b": [1, 2]}, "data")
