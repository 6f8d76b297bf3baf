"""Input that once ended in a traceback, or in other values without a word: a result or a message that names what is wrong."""

from __future__ import annotations

import decimal
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import biasamp
from biasamp.policy import Limit, Policy

G = ["w", "m"] * 20
T = [1, 0, 0, 1] * 10
P = [1, 0, 1, 1] * 10
SCORES = [0.125, 0.75, 0.5, 0.875] * 10
LISTS = [["a"], ["a", "b"], [], ["b"]] * 10
WORDS = ["a", "b"] * 20
DATA: dict[str, Any] = {
    "g": G,
    "h": ["x", "x", "y", "y"] * 10,
    "t": T,
    "p": P,
    "lists": LISTS,
    "words": WORDS,
    "gp": ["w", "m", "m", "w"] * 10,
    "hp": ["x", "y"] * 20,
}
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


@pytest.mark.parametrize("function", [biasamp.dpa, biasamp.leakage, biasamp.directional, biasamp.multi, biasamp.parity])
@pytest.mark.parametrize(("truth", "predicted"), [(LISTS, WORDS), (WORDS, LISTS)], ids=["lists", "words"])
def test_lists_against_single_values(function: Callable[..., Any], truth: Any, predicted: Any) -> None:
    with pytest.raises(ValueError, match=r"(truth|T) was read as .* give lists on both sides"):
        function(G, truth, predicted)


@pytest.mark.parametrize(("truth", "predicted"), [("lists", "words"), ("words", "lists")])
@pytest.mark.parametrize("function", [biasamp.audit, biasamp.count])
def test_columns_of_lists_against_single_values(function: Callable[..., Any], truth: str, predicted: str) -> None:
    with pytest.raises(
        ValueError, match=f"tasks column '{truth}' was read as .* task_predictions column '{predicted}'"
    ):
        function(DATA, attributes="g", tasks=truth, task_predictions=predicted)


@pytest.mark.parametrize("missing", [False, True])
def test_crossings_of_predicted_attributes_are_counted(missing: bool) -> None:
    data = {**DATA, "gp": [None, "m", "m", "w"] * 10} if missing else DATA
    roles: dict[str, Any] = {"attributes": ["g", "h"], "attribute_predictions": ["gp", "hp"], "intersections": True}
    roles |= {"tasks": "t", "task_predictions": "p", "missing": "drop" if missing else "error"}
    whole = biasamp.audit(data, **roles, resamples=20)
    counted = biasamp.audit(biasamp.count(data, **roles), resamples=20)
    assert counted.document["metrics"] == whole.document["metrics"]


BIG = [2**70, 2**70 + 1] * 20


@pytest.mark.parametrize(
    "values",
    [
        BIG,
        np.array(BIG, dtype=object),
        pl.Series([2**70, 2**70 + 1] * 20, dtype=pl.Int128),
        pl.Series([1, 2] * 20, dtype=pl.UInt128),
        pa.array([decimal.Decimal(7), decimal.Decimal(8)] * 20),
        pa.array([decimal.Decimal(7), decimal.Decimal(8)] * 20, pa.decimal256(40, 0)),
        pa.array([decimal.Decimal(2**70), decimal.Decimal(2**70 + 1)] * 20),
        [decimal.Decimal(2**70), decimal.Decimal(2**70 + 1)] * 20,
    ],
    ids=["list", "objects", "Int128", "UInt128", "decimal", "decimal256", "large decimal", "decimals"],
)
def test_numbers_beyond_64_bits_are_labels(values: Any) -> None:
    """Two of them differ though floats could not tell them apart."""
    expected = biasamp.directional(["x", "y"] * 20, T, P)
    assert len(biasamp.directional(values, T, P).pairs) == len(expected.pairs)
    data = {"b": values, "t": T, "p": P}
    roles = {"attributes": "b", "tasks": "t", "task_predictions": "p"}
    (one, two) = biasamp.audit(data, **roles, resamples=20), biasamp.audit(biasamp.count(data, **roles), resamples=20)
    assert one.document["metrics"] == two.document["metrics"]
    assert one.document["metrics"][0]["value"] == expected.value


@pytest.mark.filterwarnings("ignore:.*groups hold fewer than 30 records")
@pytest.mark.parametrize("wide", [pl.Int128, pl.UInt128, pl.Decimal(38, 0)], ids=str)
def test_numbers_of_types_that_numpy_lacks(wide: Any) -> None:
    """They are the numbers that they are, wherever numbers are asked for."""
    numbers = [1, 2, 3, 5] * 10
    held = pl.Series(numbers, dtype=wide)
    plain = biasamp.directional(G, T, P, weights=numbers)
    assert biasamp.directional(G, T, P, weights=held).value == plain.value
    (one, two) = (biasamp.directional(G, T, P, cluster=ids).confidence_interval() for ids in (numbers, held))
    assert (one.low, one.high) == (two.low, two.high)
    assert (
        biasamp.audit(DATA, **ROLES, weights=held, resamples=20).document["metrics"]
        == (biasamp.audit(DATA, **ROLES, weights=numbers, resamples=20).document["metrics"])
    )
    assert biasamp.calibrate(SCORES, rate=pl.Series([1], dtype=wide)).thresholds == (
        biasamp.calibrate(SCORES, rate=[1]).thresholds
    )


def test_ids_beyond_64_bits() -> None:
    data = {**DATA, "id": [2**70 + i for i in range(40)]}
    assert biasamp.count(data, **ROLES, record="id").records == 40
    with pytest.raises(ValueError, match=r"weights add up to .* too large to be summed exactly"):
        biasamp.directional(G, T, P, weights=BIG)


def test_columns_of_one_name() -> None:
    twice = pa.table([T, P, G, T], names=["t", "p", "g", "t"])
    frame = pd.DataFrame(np.column_stack([T, P, T]), columns=["t", "p", "t"]).assign(g=G)
    for data in (twice, frame):
        for function in (biasamp.audit, biasamp.count):
            with pytest.raises(
                ValueError, match=r"data has (2 columns named 't'|columns of the same name, rename them)"
            ):
                function(data, **ROLES)
    with pytest.raises(ValueError, match="data has 2 columns named 't': rename them"):
        biasamp.associate(twice.select([0, 1, 3]), ["t", "p"])
    with pytest.raises(ValueError, match="truth has more than one column named 't'"):
        biasamp.directional(G, twice.select([0, 3]), twice.select([0, 3]))


@pytest.mark.slow
def test_probabilities_that_are_stored_as_codes() -> None:
    """They are the numbers that they stand for, in memory and in files read part by part."""
    plain = pa.array(SCORES)
    coded = plain.dictionary_encode()
    chunks = pa.chunked_array([coded.slice(0, 13), plain.slice(13).dictionary_encode()])
    for values in (coded, chunks, pd.Series(SCORES).astype("category")):
        assert biasamp.directional(G, T, values).value == biasamp.directional(G, T, plain).value
        assert biasamp.sweep(values, G, T).integral == biasamp.sweep(plain, G, T).integral
        made = [biasamp.count({"g": G, "t": T, "p": one}, **ROLES) for one in (values, plain)]
        assert made[0].fingerprint == made[1].fingerprint
        audits = [biasamp.audit(counts, resamples=20).document["metrics"] for counts in made]
        assert audits[0] == audits[1]
        audits = [
            biasamp.audit({"g": G, "t": T, "p": one}, **ROLES, resamples=20).document["metrics"]
            for one in (values, plain)
        ]
        assert audits[0] == audits[1]


def test_decimals_are_read_alike_everywhere() -> None:
    halves = [decimal.Decimal("1.5"), decimal.Decimal("2.5")] * 20
    for values in (halves, pa.array(halves), pa.array(halves, pa.decimal256(40, 2)), np.array(halves, dtype=object)):
        with pytest.raises(ValueError, match=r"given holds fractions such as 1\.5"):
            biasamp.directional(values, T, P)
        for function in (biasamp.audit, biasamp.count):
            with pytest.raises(ValueError, match=r"attributes holds fractions such as 1\.5"):
                function({"g": values, "t": T, "p": P}, **ROLES)
        assert (
            biasamp.directional(G, T, P, weights=values).value
            == biasamp.directional(G, T, P, weights=[1.5, 2.5] * 20).value
        )


def test_a_budget_of_one_byte() -> None:
    assert biasamp.count(DATA, **ROLES, memory=1).records == 40
    long = pa.table({"record": [1, 1, 2, 3], "label": ["a", "b", "b", "c"]})
    assert biasamp.associate(long, ["a", "b"], memory=1, engine="local").n == 3


@pytest.mark.parametrize("span", [(0.5, 0.5), (1, 0), (float("nan"), 1), (), (0, 10**400), "01"])
def test_empty_spans(span: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="span is"):
        biasamp.sweep(SCORES, G, T, span=span)


@pytest.mark.parametrize("number", [10**400, -(10**400), float("inf"), float("nan"), 1e308])
def test_policies_with_absurd_numbers(number: float) -> None:
    for key in ("max", "min", "min_support"):
        limit = {"metric": "directional", "max": 0.1, "pairs": True, key: number}
        if key == "min_support" and number == 1e308:
            continue  # no pair has so many records, and that is said
        with pytest.raises(ValueError, match=rf"(max|min|{key}): .*(no limit|pass)"):
            Policy(limits=[limit])
    with pytest.raises(ValueError, match=r"tpr_difference: .*(no limit|pass)"):
        Policy(companions={"tpr_difference": number})


@pytest.mark.parametrize(
    "call",
    [
        lambda: biasamp.count({**DATA, "g": ["\ud800x", "b"] * 20}, **ROLES),
        lambda: biasamp.count({**DATA, "\ud800x": G}, **{**ROLES, "attributes": "\ud800x"}),
        lambda: biasamp.audit({**DATA, "g": ["\ud800x", "b"] * 20}, **ROLES, engine="local"),
        lambda: biasamp.associate([["a", "\ud800x"], ["b"]] * 9, ["a", "b"]),
        lambda: biasamp.associate([["a"], ["b"]] * 9, ["a", "\ud800x"]),
        lambda: biasamp.associate({"\ud800x": [1, 0] * 9, "b": [0, 1] * 9, "c": [1, 1] * 9}, ["\ud800x", "b"]),
    ],
)
def test_half_of_a_surrogate_pair(call: Any) -> None:
    """It is refused where UTF-8 is needed, in words that show it."""
    with pytest.raises(ValueError, match=r"\\\\?ud800.* has half of a surrogate pair"):
        call()
    assert len(biasamp.audit({**DATA, "g": ["\ud800x", "b"] * 20}, **ROLES).document["data"]["groups"]) == 2


def test_numbers_that_are_far_apart_are_not_counted_through() -> None:
    """Found by the fuzzer: values between 0 and 10**30 were listed one by one."""
    given, truth = ["a", "b"] * 10, ["0", str(10**30), "5", "7"] * 5
    with pytest.raises(ValueError, match="never has"):
        biasamp.directional(given, truth, ["9"] * 20)


def test_scores_that_are_empty_lists_are_answered() -> None:
    """Found by the fuzzer: an index error."""
    with pytest.raises(ValueError, match="scores holds empty lists, not scores"):
        biasamp.decompose(["a", "b"] * 10, [0, 1] * 10, [[] for _ in range(20)])


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    """The system's words for it name nothing."""
    there, name = tmp_path / "there.csv", "a\0b"
    there.write_text("g,t,p\n" + "w,1,1\nm,0,1\n" * 9)
    for call in (
        lambda: biasamp.audit(name, **ROLES),
        lambda: biasamp.audit(there, train=name, **ROLES),
        lambda: biasamp.audit(there, base=name, **ROLES),
        lambda: biasamp.count(name, **ROLES),
        lambda: biasamp.verify(biasamp.audit(there, **ROLES), name),
        lambda: Policy(limits=[Limit(metric="directional", max=0.1)]).check(name),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=r"'a\\x00b'"):
            call()


def test_a_file_is_itself_by_another_name(tmp_path: Path) -> None:
    """A second name of one file (a hard link) passed for another file: an audit was held against itself."""
    audit, again = tmp_path / "a.json", tmp_path / "again.json"
    biasamp.audit(DATA, **ROLES).save(audit)
    os.link(audit, again)
    policy = Policy(limits=[Limit(metric="directional", against="baseline", max=0.1)])
    with pytest.raises(ValueError, match="is both what is judged and its baseline"):
        policy.check(audit, again)
    data, train = tmp_path / "d.csv", tmp_path / "train.csv"
    data.write_text("g,t,p\n" + "w,1,1\nm,0,1\n" * 9)
    os.link(data, train)
    with pytest.raises(ValueError, match="train is the data that are measured"):
        biasamp.audit(data, train=train, **ROLES)
