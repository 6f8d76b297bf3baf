"""How to add an association metric: write its record, register it, and it is everywhere.

Lift, ``P(x,y) / (P(x) P(y))``, is added here for the time of a test. In the package the record of a new metric stands in
a file of ``biasamp/association``, is listed in ``metrics.py``, has its value in ``test_metrics.py`` and a row in
``docs/metrics.md``: four files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import biasamp
from biasamp.association.association_metric import Array, AssociationMetric, Counts, Slope, divide
from biasamp.association.association_result import Association
from biasamp.association.metrics import METRICS, register
from biasamp.cli import group
from biasamp.report.explorer_document import explorer_document


def lift_value(c: Counts) -> Array:
    # C(x) = 0 or C(y) = 0: undefined. C(x,y) = 0 otherwise: 0.
    return divide(c.n * c.xy, c.x * c.y)


def lift_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(-xy / (x**2 * y), -xy / (x * y**2), 1.0 / (x * y))


LIFT: dict[str, Any] = {
    "name": "lift",
    "symbol": "Lift",
    "title": "Lift",
    "formula": "P(x,y) / (P(x) P(y))",
    "low": 0.0,
    "high": float("inf"),
    "independent": "1",
    "zero_null": True,
    "words": "How many times more often they occur together than by chance.",
    "paper": "Brin et al. (1997), Dynamic Itemset Counting, SIGMOD",
    "value": lift_value,
    "slope": lift_slope,
}

# 100 images of a man, 30 of them with a bike, and 100 of a woman, 10 of them with a bike: P(bike) = .2.
IMAGES = [["man", "bike"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman"]] * 90
PEOPLE = ["man", "woman"]
MAN, WOMAN = 0.15 / (0.5 * 0.2), 0.05 / (0.5 * 0.2)


@pytest.fixture
def result() -> Iterator[Association]:
    """A result with lift, which is registered for one test."""
    register(AssociationMetric(**LIFT))
    yield biasamp.associate(IMAGES, PEOPLE, metrics=["npmi_xy", "lift"])
    del METRICS["lift"]


def test_lift_is_in_the_result(result: Association) -> None:
    bike = list(result.labels).index("bike")
    table = result.table
    assert (table["lift[man]"][bike], table["lift[woman]"][bike]) == pytest.approx((MAN, WOMAN))
    assert table["lift_gap"][bike] == pytest.approx(MAN - WOMAN)
    assert table["lift_low"][bike] < MAN - WOMAN < table["lift_high"][bike]
    top = next(result.top("lift", 1, toward="woman").rows())
    assert (top["label"], top["gap"], top["null"]) == ("bike", pytest.approx(WOMAN - MAN), 0.0)
    document = json.loads(json.dumps(result.to_dict()))
    assert document["labels"][bike]["gaps"][0]["lift"] == pytest.approx(MAN - WOMAN)


def test_lift_is_in_all_metrics(result: Association) -> None:
    assert biasamp.associate(IMAGES, PEOPLE).metrics[-1] == "lift"


def test_lift_is_on_the_command_line(result: Association, tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"labels": labels}) + "\n" for labels in IMAGES))
    card = CliRunner().invoke(group, ["metrics", "lift"]).output
    assert all(LIFT[part] in card for part in ("title", "formula", "words", "paper"))
    assert LIFT["formula"] in CliRunner().invoke(group, ["metrics"]).output
    asked = ["associate", str(path), "--label", "labels", "-i", "man,woman", "--metrics", "dp,lift", "--sort", "lift"]
    assert "lift: toward man against woman" in CliRunner().invoke(group, asked).output


@pytest.mark.parametrize("saved", [False, True])
def test_lift_is_in_the_explorer(result: Association, saved: bool) -> None:
    document = explorer_document({"run": result.to_dict() if saved else result})
    assert document["metrics"] == ["npmi_xy", "lift"]
    assert document["facts"]["lift"]["formula"] == LIFT["formula"]
    # The page has no formula for it, and gets its figures.
    figures = document["runs"][0]["figures"]
    assert list(figures) == ["lift"]
    assert figures["lift"]["gap"][0][document["labels"].index("bike")] == pytest.approx(MAN - WOMAN)


@pytest.mark.parametrize("part", ["slope", "value", "formula", "words", "independent", "paper"])
def test_a_record_that_misses_a_part_is_refused(part: str) -> None:
    with pytest.raises(TypeError, match=rf"'lift' has no {part}"):
        AssociationMetric(**{**LIFT, part: None})
    with pytest.raises(TypeError, match=part):
        AssociationMetric(**{name: held for name, held in LIFT.items() if name != part})


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="'dp' is registered already"):
        register(AssociationMetric(**{**LIFT, "name": "dp"}))
