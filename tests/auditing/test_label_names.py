"""Labels in sentences and tables: crossings by their values, and no two names cut to the same."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import biasamp
from biasamp.auditing.label_names import LONGEST, group_names, label_names, short_names
from biasamp.report.audit_page import report_document
from biasamp.report.terminal import show_audit

LONG = "people who came to the country before the year "


@given(st.lists(st.text("ab…", max_size=30), unique=True), st.integers(4, 20))
def test_no_two_names_are_the_same(names: list[str], limit: int) -> None:
    made = short_names(names, limit)
    assert list(made) == names
    assert len(set(made.values())) == len(names)
    assert all(made[name] == name for name in names if len(name) <= limit and list(made.values()).count(name) == 1)


def test_names_that_differ_in_the_middle_of_much_text() -> None:
    names = ["x" * 500 + end + "y" * 500 for end in "ab"]
    assert len(set(short_names(names).values())) == 2


@pytest.fixture(scope="module")
def crossed() -> Any:
    """Two attributes whose values are long and begin alike; the model goes by both."""
    rng = np.random.default_rng(2)
    n = 1200
    came, sex = rng.choice(["1990", "2000"], n), rng.choice(["Female", "Male"], n)
    truth = (rng.random(n) < np.where(came == "1990", 0.3, 0.7)).astype(int)
    said = np.where(rng.random(n) < np.where(sex == "Male", 0.5, 0.05), came == "2000", truth).astype(int)
    data = {"came": [LONG + year for year in came], "sex": sex, "t": truth, "p": said}
    return biasamp.audit(
        data,
        attributes=["came", "sex"],
        tasks="t",
        task_predictions="p",
        intersections=True,
        resamples=60,
        min_group=400,
    )


def test_crossings_are_called_by_their_values(crossed: Any) -> None:
    data = crossed.document["data"]
    names = group_names(data, "came x sex")
    assert all(name.endswith((", Female", ", Male")) and len(name) <= LONGEST for name in names.values())
    assert len(set(names.values())) == 4
    assert names.items() <= label_names(data).items()
    assert label_names(data)["sex=Male"] == "sex=Male"


def test_every_report_calls_them_so(crossed: Any) -> None:
    names = group_names(crossed.document["data"], "came x sex").values()
    out = io.StringIO()
    show_audit(crossed, Console(file=out, width=160, markup=False, highlight=False))
    for text in (out.getvalue(), crossed.to_markdown(), crossed._repr_html_()):
        assert all(name in text for name in names)
        assert " & Male" not in text
    assert set(report_document(crossed)["group_names"]["came x sex"].values()) == set(names)
    for code in ("pairs", "parity", "small-groups"):
        said = " ".join(f.text for f in crossed.findings if f.code == code and f.attribute == "came x sex")
        assert any(name in said for name in names), code
        assert "came x sex=" not in said


def test_values_that_have_the_sign_themselves_stay_apart() -> None:
    data: Any = {
        "attributes": ["a x b"],
        "kinds": {"a x b": "crossing"},
        "groups": [
            {"attribute": "a x b", "group": f"a x b={value}", "category": value} for value in ("R & D, x", "R, D & x")
        ],
    }
    assert set(group_names(data, "a x b").values()) == {"R & D, x", "R, D & x"}
