"""What a label is called, and how names from strangers are shown."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biasamp.data import Label, LabelSet, align, canonical, category_order, printable
from evaluations import read


@pytest.mark.parametrize(
    "one", [1, 1.0, True, "1", np.int8(1), np.uint64(1), np.float16(1), np.bool_(True), np.str_("1")]
)
def test_one_category(one: Any) -> None:
    assert canonical(one) == "1"


@pytest.mark.parametrize(
    "value, spelled",
    [
        (0.5, "0.5"),
        (-0.0, "0"),
        (2**63, "9223372036854775808"),
        (1e300, str(int(1e300))),
        ("1.0", "1.0"),
        (" a ", " a "),
        (b"caf\xc3\xa9", "café"),
        (b"\xff", "\\xff"),
        (datetime.date(2021, 7, 18), "2021-07-18"),
        (pd.Timestamp("2021-07-18"), "2021-07-18T00:00:00"),
        (Decimal("0.1"), "0.1"),
    ],
)
def test_spelling(value: Any, spelled: str) -> None:
    assert canonical(value) == spelled


def test_a_list_is_no_category() -> None:
    with pytest.raises(TypeError, match="single value, found list"):
        canonical([1])


def test_numbers_come_first_and_by_value() -> None:
    order = sorted(["b", "10", "9", "-1", "a", "1.5", "nan", "inf"], key=category_order)
    assert order == ["-1", "1.5", "9", "10", "a", "b", "inf", "nan"]


@given(st.text(max_size=200), st.integers(2, 100))
def test_printable_is_one_harmless_line(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert shown.splitlines() in ([], [shown])
    assert "\x1b" not in shown
    assert "\u202e" not in shown  # would turn the rest of the line around


def test_display() -> None:
    assert str(Label("gender", "woman")) == "gender=woman"
    assert str(Label("", "woman")) == "woman"
    assert str(Label("cat")) == "cat"


class TestAlign:
    def aligned(self, *columns: Any) -> list[LabelSet]:
        return align([read(column) for column in columns], [str(i) for i in range(len(columns))])

    def test_categories_are_united(self) -> None:
        one, two = self.aligned(["a", "b"], ["c", "a"])
        assert one.labels == two.labels == (Label("", "a"), Label("", "b"), Label("", "c"))
        assert one.rows().tolist() == [[1, 0, 0], [0, 1, 0]]
        assert two.rows().tolist() == [[0, 0, 1], [1, 0, 0]]

    def test_types_of_one_category_meet(self) -> None:
        one, two = self.aligned([0, 1], ["1", "0"])
        assert one.labels == (Label("", "0"), Label("", "1"))
        assert two.rows().tolist() == [[0, 1], [1, 0]]

    def test_names_of_the_first_lead(self) -> None:
        one, two = self.aligned(pd.Series(["x", "y"], name="truth"), pd.Series(["y", "x"], name="said"))
        assert {label.variable for label in two.labels} == {"truth"}
        assert one.labels == two.labels

    def test_mixed_columns(self) -> None:
        frame = pd.DataFrame({"sex": ["f", "m"], "old": [1, 0], "tags": [["p"], ["q", "p"]]})
        other = pd.DataFrame({"sex": ["m", "x"], "old": [0, 0], "tags": [[], ["r"]]})
        one, two = self.aligned(frame, other)
        assert [str(label) for label in one.labels] == ["sex=f", "sex=m", "sex=x", "old", "tags=p", "tags=q", "tags=r"]
        assert one.rows().tolist() == [[1, 0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 1, 1, 0]]
        assert two.rows().tolist() == [[0, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 1]]

    @given(st.lists(st.lists(st.sampled_from("abcdef")), min_size=1, max_size=8), st.data())
    def test_lists_keep_their_labels(self, lists: list[list[str]], data: Any) -> None:
        lists = [*lists, ["a"], []]
        others = [*data.draw(st.lists(st.lists(st.sampled_from("xaeiou")), min_size=1, max_size=8)), ["a"], []]
        sets = self.aligned(lists, others)
        for labels, source in zip(sets, (lists, others), strict=True):
            rows = labels.rows()
            assert [{str(labels.labels[j]) for j in np.flatnonzero(row)} for row in rows] == [set(x) for x in source]
            picked = labels.take(np.array([len(source) - 1, 0]))
            np.testing.assert_array_equal(picked.rows(), rows[[len(source) - 1, 0]])


class TestRows:
    """However labels are stored, any range of records reads the same."""

    @pytest.mark.parametrize(
        "data",
        [
            np.arange(30) % 3,
            (np.arange(90).reshape(30, 3) % 4 == 0).astype(np.uint8),
            [[c for c in "abc" if (i + ord(c)) % 3 == 0] for i in range(30)],
            pd.DataFrame({"s": list("xyz") * 10, "b": np.arange(30) % 2, "t": list("pq") * 15}),
        ],
        ids=["codes", "dense", "sparse", "mixed"],
    )
    def test_ranges(self, data: Any) -> None:
        labels = read(data)
        whole = labels.rows()
        assert whole.shape == (30, labels.width)
        for start, stop in ((0, 30), (0, 7), (7, 30), (29, 30), (5, 5)):
            np.testing.assert_array_equal(labels.rows(start, stop), whole[start:stop])
            row, column = labels.nonzero(start, stop)
            np.testing.assert_array_equal(np.argwhere(whole[start:stop]), np.column_stack([row, column]))
        mask = np.arange(30) % 4 == 1
        np.testing.assert_array_equal(labels.take(mask).rows(), whole[mask])
        np.testing.assert_array_equal(labels.take(np.array([3, 3, 0])).rows(), whole[[3, 3, 0]])


@given(st.lists(st.one_of(st.integers(-(2**63), 2**64 - 1), st.booleans()), min_size=1, max_size=20))
@example([0, 2**63 + 1, 2**63 + 2])  # numpy would make equal floats of the last two
@example([-1, 2**64 - 1])
@example([2**80, 1])
def test_codes_of_any_integers(values: list[int]) -> None:
    """Integers of any width and sign become categories by their value."""
    labels = read(values)
    spelled = [str(labels.labels[j]) for j in labels.nonzero()[1]]
    assert spelled == [str(int(v)) for v in values]


@given(st.lists(st.floats(-(2.0**53), 2.0**53, exclude_min=True, exclude_max=True).map(round), min_size=1, max_size=20))
def test_codes_of_whole_floats(values: list[int]) -> None:
    labels = read(np.array(values, dtype=float))
    assert [str(labels.labels[j]) for j in labels.nonzero()[1]] == [str(int(float(v))) for v in values]


@pytest.mark.parametrize(("names", "values"), [("bcn", [0, 1, 1]), ("acb", list("xyz"))])
def test_names_that_contradict_positions_are_refused(names, values):
    sides = [read(dict.fromkeys(each, values)) for each in ("abc", names)]
    with pytest.raises(ValueError, match=r"predicted has the column '[bc]' in place \d, truth in place \d"):
        align(sides, ["truth", "predicted"])


def test_other_names_pair_by_position():
    truth, predicted = {"a": [0, 1, 0], "b": [1, 1, 0]}, {"a_pred": [0, 1, 1], "b": [1, 0, 0]}
    sides = [read(data) for data in (truth, predicted)]
    assert align(sides, ["truth", "predicted"])[1].rows(0, 3).tolist() == [[0, 1], [1, 0], [1, 0]]
