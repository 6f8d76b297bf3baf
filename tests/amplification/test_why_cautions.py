"""What is said of strata and of scores that do not come true, on both sides of each limit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from biasamp.amplification.why_cautions import cautions_of_strata, close_to_group, uncalibrated
from biasamp.data import Label
from biasamp.results import Table


def table(*rows: tuple[str, str, float, float, float | None]) -> Table:
    names = ("given", "outcome", "error", "expected", "q")
    return Table.from_rows([{**dict(zip(names, row, strict=True)), "score": 0.4, "rate": 0.2} for row in rows])


def test_scores_that_do_not_come_true() -> None:
    """Below a q-value of 1%; the one that is furthest off beyond chance is named."""
    assert uncalibrated(table(("a", "x", 0.2, 0.01, 0.01), ("b", "x", 0.2, 0.01, None))) == ()
    (one,) = uncalibrated(table(("a", "x", 0.2, 0.01, 0.0099), ("b", "x", 0.3, 0.01, 0.5)))
    assert one.startswith(
        "the scores of 1 of 2 pairs of group and outcome do not come true as often as they promise: 'x' in 'a'"
    )
    assert "off by 0.200 on average (0.010 by chance), with a mean score of 0.400 against a rate of 0.200" in one
    assert one.kind == "uncalibrated"  # type: ignore[attr-defined]
    (two,) = uncalibrated(table(("a", "x", 0.3, 0.25, 0.001), ("b", "y", 0.2, 0.01, 0.001)))
    assert "of 2 of 2 pairs" in two
    assert "promise, most of all 'y' in 'b'" in two


def strata(sizes: list[list[float]], turned: tuple[int, ...] = ()) -> Any:
    """What is looked at of strata: sizes of shape (strata, groups), and in which of them signs are turned round."""
    held = np.array(sizes)
    labels = tuple(Label("g", name) for name in "abc"[: held.shape[1]])
    reversed_ = np.zeros((*held.shape, 2), dtype=bool)
    for place in turned:
        reversed_[place, 0, 1] = True
    whole = SimpleNamespace(sample=SimpleNamespace(counts=SimpleNamespace(given_labels=labels)))
    names = tuple(f"s{i}" for i in range(len(held)))
    return SimpleNamespace(names=names, sizes=np.repeat(held[:, :, None], 2, axis=2), reversed=reversed_, whole=whole)


EVEN = [[50.0, 50.0], [60.0, 70.0], [90.0, 80.0]]


def kinds(held: Any) -> list[str]:
    return [caution.kind for caution in cautions_of_strata(held)]  # type: ignore[attr-defined]


def test_nothing_is_said_of_even_strata() -> None:
    assert cautions_of_strata(strata(EVEN)) == ()


def test_directions_that_differ() -> None:
    (one,) = cautions_of_strata(strata(EVEN, (1,)))
    assert one.startswith("directions differ: in 1 of 3 strata ('s1') pairs")
    assert kinds(strata(EVEN, (1,))) == ["reversed-signs"]
    assert (
        "in 5 of 8 strata ('s0', 's1', 's2', 's3', 's4') pairs"
        in cautions_of_strata(strata([[50.0, 50.0]] * 8, (0, 1, 2, 3, 4)))[0]
    )
    assert (
        "in 6 of 8 strata ('s0', 's1', 's2', 's3', 's4', …) pairs"
        in cautions_of_strata(strata([[50.0, 50.0]] * 8, (0, 1, 2, 3, 4, 7)))[0]
    )


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([[30.0, 50.0], [50.0, 50.0]], None),
        (
            [[29.0, 50.0], [50.0, 50.0]],
            "1 of 2 strata holds fewer than 30 records of some group: what changes inside it is",
        ),
        (
            [[29.0, 50.0], [50.0, 1.0]],
            "2 of 2 strata hold fewer than 30 records of some group: what changes inside them is",
        ),
        (
            [[0.0, 50.0], [90.0, 5.0]],
            "2 of 2 strata hold fewer than 30 records of some group, 1 of them without any record",
        ),
    ],
)
def test_small_strata(sizes: list[list[float]], words: str | None) -> None:
    found = [caution for caution in cautions_of_strata(strata(sizes)) if "fewer than" in caution]
    assert len(found) == (words is not None)
    assert words is None or (found[0].startswith(words) and found[0].kind == "small-strata")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ([[95.0, 5.0], [5.0, 90.0]], (0, 0, 0.95, 0.95, 1)),
        ([[94.0, 6.0], [6.0, 40.0]], None),
        ([[97.0, 2.0], [3.0, 95.0]], (0, 0, 97 / 99, 0.97, 2)),
        ([[2.0, 97.0], [99.0, 1.0]], (1, 0, 0.99, 99 / 101, 2)),
        ([[100.0], [5.0]], None),
        ([[0.0, 0.0], [50.0, 0.0]], (1, 0, 1.0, 1.0, 1)),
        ([[96.0, 1.0, 1.0], [1.0, 60.0, 0.0], [1.0, 20.0, 50.0]], (0, 0, 96 / 98, 96 / 98, 1)),
    ],
)
def test_a_stratum_that_is_nearly_a_group(sizes: list[list[float]], found: Any) -> None:
    made = close_to_group(np.array(sizes))
    assert made == (None if found is None else pytest.approx(found))
    said = [caution for caution in cautions_of_strata(strata(sizes)) if "is close to the group" in caution]
    assert len(said) == (found is not None)
    if found:
        s, g, share, other, several = found
        assert said[0].startswith(
            f"stratum 's{s}' is close to the group 'g={'abc'[g]}': {share:.0%} of its records are of that group and {other:.0%}"
        )
        assert (f"; {several} strata in all are close" in said[0]) == (several > 1)
        assert said[0].kind == "stratum-close-to-group"  # type: ignore[attr-defined]
