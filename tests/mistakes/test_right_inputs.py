"""Everyday inputs that are right, and look like a mistake at first sight: none is refused."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import pytest

import biasamp

G, T, P = ["M", "F"] * 30, [0, 1, 1] * 20, [0, 1, 0, 1] * 15
GROUPS: dict[str, list[Any]] = {
    "codes of gender": ["M", "F", "MtF", "FtM"],
    "two words": ["North", "East", "North East"],
    "pronouns": ["he", "she", "they", "he/they", "she/they"],
    "hand-made crossings": ["F|Black", "F|White", "M|Black", "M|White"],
    "ranges": ["[0,18]", "(18,25]", "(25,65]"],
    "months": ["2024-01-01", "2024-02-01", "2024-03-01"],
    "ages with colons": ["18:25", "26:35", "36:45"],
    "shifts": ["06:00", "14:00", "22:00"],
    "versions": ["2024.1.0", "2024.2.0", "2024.3.0"],
    "job titles": ["sales", "manager", "sales manager"],
}
OUTCOMES: dict[str, tuple[list[Any], list[Any]]] = {
    "grades": (["A", "A-", "B", "B-"], ["A", "A-", "B", "B"]),
    "letters": (["s", "t", "u"], ["s", "t", "y"]),
    "sentiment": ([-1, 0, 1], [0, 0, 1]),
    "diagnoses": (["250.1", "250.2", "3"], ["250.1", "250.10", "250.2", "3"]),
    "digits": (list(range(10)), [*range(9), 8]),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups(name: str) -> None:
    values = GROUPS[name] * (60 // len(GROUPS[name]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert biasamp.directional(values, T, P).n == 60
        data = {"g": values, "t": T, "p": P}
        assert biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics="directional").document


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes(name: str) -> None:
    truth, said = (values * (60 // len(values)) for values in OUTCOMES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert biasamp.directional(G, truth, said).n == 60


def test_other_groups_in_train() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert biasamp.directional(["F", "M"] * 30, T, P, train=(["F", "M", "N"] * 20, T)).n == 60


def test_the_same_index_in_another_type() -> None:
    index = pd.RangeIndex(60)
    found = biasamp.directional(pd.Series(G), pd.Series(T, index=index.astype("Int64")), P)
    assert found.value == biasamp.directional(G, T, P).value
    with pytest.raises(ValueError, match=r"'0' \(int\) in given and '0' \(str\) in truth"):
        biasamp.directional(pd.Series(G), pd.Series(T, index=index.astype(str)), P)
