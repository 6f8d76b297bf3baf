"""Which gaps many identities have, and that none of them depends on the others that are chosen."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.association.contrasts import chosen_contrasts
from biasamp.association.values import contrast_weights
from biasamp.report.spreadsheet import csv_blocks, write_csv

NAMES = [f"x{k}" for k in range(6)]


@pytest.fixture(scope="module")
def images() -> list[list[str]]:
    rng = np.random.default_rng(3)
    return [
        [name for name in NAMES if rng.random() < 0.3] + [f"y{y}" for y in range(12) if rng.random() < 0.1 + 0.03 * y]
        for _ in range(900)
    ]


@pytest.fixture(scope="module")
def results(images: list[list[str]]) -> dict[str, Any]:
    return {kind: biasamp.associate(images, NAMES, contrasts=kind) for kind in ("auto", "pairs", "reference", "rest")}


def test_pairs_of_few_identities_and_a_reference_for_many() -> None:
    assert chosen_contrasts("ab") == ((0, 1),)
    assert len(chosen_contrasts("abcd")) == 6 + 4
    assert chosen_contrasts("abcde") == ((0, 1), (0, 2), (0, 3), (0, 4), *((k, None) for k in range(5)))
    assert chosen_contrasts("abcde", reference="c")[:4] == ((0, 2), (1, 2), (2, 3), (2, 4))
    assert chosen_contrasts("ab", "rest") == ((0, 1),)
    for wrong in ({"contrasts": "all"}, {"reference": "z"}, {"contrasts": "rest", "reference": "a"}):
        with pytest.raises(ValueError, match=r"contrasts|reference"):
            chosen_contrasts("abcde", **wrong)


def test_figures_of_a_gap_do_not_depend_on_the_others(results: dict[str, Any]) -> None:
    every = results["pairs"].table
    for kind, result in results.items():
        for name, column in result.table.columns.items():
            if name.startswith("q["):  # among the tests that are made
                continue
            assert name in every.columns, (kind, name)
            np.testing.assert_array_equal(column, every[name])


def test_a_pair_that_was_not_chosen_is_computed_where_it_is_asked_for(results: dict[str, Any]) -> None:
    mine, every = (results[kind].top("dp", 5, toward="x4", against="x2") for kind in ("auto", "pairs"))
    for name in ("label", "gap", "low", "high", "p"):
        assert mine[name].tolist() == every[name].tolist()
    assert ((mine["q"] >= mine["p"]) & (mine["q"] <= 1)).all()


@pytest.mark.parametrize("metric", ["dp", "npmi_xy", "llr", "tau_b"])
def test_errors_against_the_rest_are_those_of_all_pairs(results: dict[str, Any], metric: str) -> None:
    values = results["rest"].values
    moments = values._smooth
    fast = moments.rest_variances(metric)
    for k in range(len(NAMES)):
        slow = moments.variance(metric, contrast_weights((k, None), len(NAMES)))
        np.testing.assert_allclose(fast[:, k], slow, rtol=1e-9, atol=1e-15)


def test_blocks_of_labels_are_the_table(results: dict[str, Any]) -> None:
    for result in results.values():
        whole = io.StringIO(newline="")
        write_csv(result.table.rows(), result.table.columns, whole)
        assert "".join(csv_blocks(result.table_blocks(5))) == whole.getvalue()


def test_an_explorer_of_runs_shows_the_gaps_that_all_have(results: dict[str, Any]) -> None:
    from biasamp.report.explorer_document import explorer_document

    document = explorer_document({"a": results["pairs"], "b": results["reference"]})
    assert [len(run["contrasts"]) for run in document["runs"]] == [5, 5]
    with pytest.raises(ValueError, match="no gap in common"):
        explorer_document({"a": results["rest"], "b": results["reference"]})


@pytest.mark.parametrize(
    ("many", "options", "pairs", "rest"),
    [
        (1, {}, [], []),
        (2, {}, [(0, 1)], []),
        (3, {}, [(0, 1), (0, 2), (1, 2)], [0, 1, 2]),
        (4, {}, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], [0, 1, 2, 3]),
        (5, {}, [(0, 1), (0, 2), (0, 3), (0, 4)], [0, 1, 2, 3, 4]),
        (5, {"contrasts": "pairs"}, [(a, b) for a in range(5) for b in range(a + 1, 5)], [0, 1, 2, 3, 4]),
        (3, {"reference": "b"}, [(0, 1), (1, 2)], [0, 1, 2]),
        (2, {"reference": "b"}, [(0, 1)], []),
        (3, {"contrasts": "reference"}, [(0, 1), (0, 2)], []),
        (3, {"contrasts": "reference", "reference": "c"}, [(0, 2), (1, 2)], []),
        (3, {"contrasts": "rest"}, [], [0, 1, 2]),
        (2, {"contrasts": "rest"}, [(0, 1)], []),
        (2, {"contrasts": "pairs"}, [(0, 1)], []),
        (1, {"contrasts": "rest"}, [], []),
    ],
)
def test_every_choice_of_gaps(many: int, options: dict[str, str], pairs: list[Any], rest: list[int]) -> None:
    assert chosen_contrasts("abcde"[:many], **options) == (*pairs, *((k, None) for k in rest))


def test_choices_that_there_are_not() -> None:
    for options, said in (
        ({"contrasts": "all"}, "contrasts is 'all'; use one of 'auto', 'pairs', 'reference', 'rest'"),
        ({"reference": "z"}, "reference is 'z'; the identities are 'a', 'b', 'c'"),
        ({"reference": 1}, "reference is 1; the identities"),
        ({"contrasts": "pairs", "reference": "a"}, "reference has no meaning with contrasts='pairs'"),
        ({"contrasts": "rest", "reference": "a"}, "reference has no meaning with contrasts='rest'"),
    ):
        with pytest.raises(ValueError, match=said):
            chosen_contrasts(["a", "b", "c"], **options)
