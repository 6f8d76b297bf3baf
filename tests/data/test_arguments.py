"""Bad input gets an error that names the argument, what was found and what to do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import biasamp
from biasamp import binary, categorical, directional, mals, multi, parity

G = np.array([0, 0, 1, 1, 0, 1])
T = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 1], [0, 1]])
P = 1 - T


def refuses(kind: Any, pattern: str, call: Any) -> None:
    with pytest.raises(kind, match=pattern):
        call()


@pytest.mark.parametrize("metric", [directional, multi, parity])
class TestEveryMetric:
    def test_lengths(self, metric: Any) -> None:
        pattern = "lengths differ: given has 5, truth has 6, predicted has 6 records"
        refuses(ValueError, pattern, lambda: metric(G[:5], T, P))

    def test_weights(self, metric: Any) -> None:
        refuses(
            ValueError, r"weights has shape \(5,\), but there are 6 records", lambda: metric(G, T, P, weights=G[:5])
        )
        refuses(ValueError, "not negative: there is -1 .row 3, ", lambda: metric(G, T, P, weights=[1, 1, -1, 1, 1, 1]))
        refuses(ValueError, "there is nan .row 2,", lambda: metric(G, T, P, weights=[1, np.nan, 1, 1, 1, 1]))
        refuses(ValueError, "there is inf .row 1,", lambda: metric(G, T, P, weights=[np.inf, 1, 1, 1, 1, 1]))
        refuses(ValueError, "weights are all 0", lambda: metric(G, T, P, weights=[0] * 6))
        refuses(TypeError, "weights must be numbers", lambda: metric(G, T, P, weights=list("abcdef")))

    @pytest.mark.parametrize("gone", [None, np.nan, pd.NA, pd.NaT])
    def test_missing_group(self, metric: Any, gone: Any) -> None:
        pattern = r"given has 2 records with missing labels \(rows 2, 4, counted from 1 without the header\)\. .*missing=\"drop\""
        refuses(ValueError, pattern, lambda: metric(["a", gone, "b", gone, "a", "b"], T, P))

    def test_missing_in_every_library(self, metric: Any) -> None:
        holes = [1, None, 0, 1, 0, 1]
        for data in (
            pd.Series(holes, dtype="Int64"),
            pd.Series(holes, dtype="boolean"),
            pd.Series(holes),
            pl.Series(holes),
            pa.array(holes),
            np.array(holes, dtype=object),
            np.ma.masked_array(G, mask=[0, 1, 0, 0, 0, 0]),
            pd.Series(["a", None, "b", "a", "b", "a"], dtype="category"),
            pl.Series(["a", None, "b", "a", "b", "a"], dtype=pl.Categorical),
        ):
            refuses(ValueError, r"given has 1 record with missing labels.*row 2, ", lambda d=data: metric(d, T, P))

    def test_missing_in_a_set(self, metric: Any) -> None:
        holes = pd.DataFrame({"cat": [1, 0, None, 1, 0, 1], "dog": T[:, 1]})
        refuses(
            ValueError,
            r"truth has 1 record with missing labels in cat \(row 3, [a-z0-9 ]*\)",
            lambda: metric(G, holes, P),
        )
        refuses(ValueError, "predicted has 1 record with missing labels", lambda: metric(G, T, holes))

    @pytest.mark.parametrize("value", [2, -1, 1.5, -0.1, np.inf])
    def test_values_outside_0_1(self, metric: Any, value: float) -> None:
        off = P.astype(float)
        off[3, 1] = value
        shown = re.escape(f"{value:g}")
        refuses(ValueError, rf"predicted column '1' holds {shown}(\.0)? \(row 4, .*0/1", lambda: metric(G, T, off))

    def test_integers_outside_0_1(self, metric: Any) -> None:
        pattern = r"truth column '0' holds 2 \(row 1, .*categorical\("
        for form in (lambda m: m, sp.csr_array, pd.DataFrame, pl.DataFrame):
            refuses(ValueError, pattern.replace("'0'", "'(0|column_0)'"), lambda f=form: metric(G, f(2 * T), P))

    def test_empty(self, metric: Any) -> None:
        for nothing in ([], np.zeros(0), pd.Series([], dtype=float), pl.Series([], dtype=pl.Int64), pa.array([])):
            refuses(ValueError, "given is empty", lambda d=nothing: metric(d, d, d))
        refuses(ValueError, "truth has no columns", lambda: metric(G, np.zeros((6, 0)), P))
        refuses(ValueError, "truth has no columns", lambda: metric(G, pd.DataFrame(index=range(6)), P))
        refuses(ValueError, "truth is an empty mapping", lambda: metric(G, {}, P))

    def test_shapes(self, metric: Any) -> None:
        refuses(ValueError, "truth has 3 dimensions", lambda: metric(G, T[None], P))
        refuses(ValueError, "given has 0 dimensions", lambda: metric(np.array(1), T, P))
        refuses(ValueError, "predicted has 2 columns, but truth has 1 column", lambda: metric(G, G, P))
        refuses(ValueError, "predicted has 1 column, but truth has 2 columns", lambda: metric(G, T, G))

    def test_types(self, metric: Any) -> None:
        refuses(TypeError, "given is the text 'gender'; a list, a numpy array", lambda: metric("gender", T, P))
        refuses(TypeError, "given is None", lambda: metric(None, T, P))
        refuses(TypeError, "given is a int", lambda: metric(3, T, P))
        refuses(TypeError, "given is a generator", lambda: metric((g for g in G), T, P))
        refuses(TypeError, "truth holds complex128", lambda: metric(G, G + 0j, G))

    def test_fractions_in_truth(self, metric: Any) -> None:
        pattern = r"truth column '0' holds fractions such as 0.5 \(row 1, .*swapped"
        refuses(ValueError, pattern, lambda: metric(G, T / 2, T))
        refuses(ValueError, "truth holds fractions such as 0.5", lambda: metric(G, G / 2, G))
        refuses(ValueError, "predicted holds fractions.*truth must be a 0/1 variable", lambda: metric(G, G + 1, G / 2))

    def test_text_in_a_set_of_labels(self, metric: Any) -> None:
        frame = pd.DataFrame({"cat": list("ynynyn"), "dog": T[:, 1]})
        refuses(ValueError, "'cat' was read as categorical.*say what they are", lambda: metric(G, frame, P))
        refuses(
            ValueError, "declared binary but holds text such as 'n', 'y'", lambda: metric(G, binary(list("ynynyn")), P)
        )

    def test_class_probabilities(self, metric: Any) -> None:
        rows = np.full((6, 2), 0.6)
        pattern = "must sum to 1 for every record, but one sums to 1.2 .row 1,"
        refuses(ValueError, pattern, lambda: metric(G, G, categorical(rows, categories=[0, 1])))
        refuses(ValueError, "names one category twice", lambda: categorical(rows, categories=[1, "1"]))
        refuses(ValueError, "holds '1', which categories", lambda: metric(G, categorical(G, categories=[0]), G))

    def test_labels_cannot_break_a_message(self, metric: Any) -> None:
        """A name with a line break or a terminal code stays on one line."""
        frame = pd.DataFrame({"evil\n\x1b[31mname": [1, 0, None, 1, 0, 1], "dog": T[:, 1]})
        with pytest.raises(ValueError, match="missing") as caught:
            metric(G, frame, P)
        assert "\n" not in str(caught.value)
        assert "\x1b" not in str(caught.value)


class TestTrain:
    @pytest.mark.parametrize("metric", [directional, multi])
    def test_shape(self, metric: Any) -> None:
        refuses(TypeError, r"train must be a pair \(given, truth\).*ndarray", lambda: metric(G, T, P, train=G))
        refuses(TypeError, r"train must be a pair.*tuple of 3 items", lambda: metric(G, T, P, train=(G, T, T)))
        refuses(ValueError, "train truth has 1 column, but truth has 2", lambda: metric(G, T, P, train=(G, T[:, :1])))
        refuses(ValueError, "train given has 2 columns, but given has 1", lambda: metric(G, T, P, train=(T, T)))
        refuses(ValueError, "train given has 5, train truth has 6", lambda: metric(G, T, P, train=(G[:5], T)))

    def test_mals_of_several_attributes(self) -> None:
        """Never pooled: 1/|A| of two genders and three races is not 1/5."""
        both = pd.DataFrame({"gender": list("wmwmwm"), "race": list("abcabc")})
        refuses(ValueError, "A holds 2 attributes .'gender', 'race'.*one by one", lambda: mals(both, T, both, P))

    def test_mals(self) -> None:
        refuses(TypeError, r"train must be a pair \(A, T\)", lambda: mals(G, T, G, P, train=3))
        refuses(ValueError, "A is None: true labels are needed unless train", lambda: mals(None, T, G, P))
        refuses(ValueError, "T is None", lambda: mals(G, None, G, P))
        refuses(ValueError, "A and T come together", lambda: mals(G, None, G, P, train=(G, T)))


class TestOptions:
    def test_directional(self) -> None:
        refuses(
            ValueError, "signs is 'cross'; use one of 'plugin', 'crossfit'", lambda: directional(G, T, P, signs="cross")
        )
        refuses(ValueError, "ties is 'drop'; use one of 'zero', 'negative'", lambda: directional(G, T, P, ties="drop"))
        refuses(TypeError, "unexpected keyword", lambda: directional(G, T, P, sign="plugin"))  # type: ignore[call-arg]
        refuses(
            ValueError,
            "comes? from elsewhere",
            lambda: directional(G, T, P, train=(G.copy(), T.copy()), signs="crossfit"),
        )
        refuses(ValueError, "truth is None", lambda: directional(G, None, P))
        refuses(ValueError, "both train and direction", lambda: directional(G, T, P, train=(G, T), direction=(G, T)))
        with pytest.warns(UserWarning, match="truth has one value only"):
            refuses(
                ValueError,
                "records in both halves",
                lambda: directional(biasamp.binary([1]), [1], [0], signs="crossfit"),
            )

    def test_multi(self) -> None:
        refuses(
            ValueError, "itemsets is 'all'; use one of 'records', 'subsets'", lambda: multi(G, T, P, itemsets="all")
        )
        refuses(ValueError, "min_size is 0; a whole number of 1 or more", lambda: multi(G, T, P, min_size=0))
        refuses(ValueError, "min_support is -1; a whole number of 1 or more", lambda: multi(G, T, P, min_support=-1))
        refuses(ValueError, "max_size is 1, below min_size 2", lambda: multi(G, T, P, min_size=2, max_size=1))
        refuses(ValueError, "no itemset of truth is left", lambda: multi(G, T, P, min_support=7))
        for option in ("min_size", "max_size", "min_support"):
            for value in (1.5, "2", True):
                refuses(TypeError, f"{option} is .*whole number", lambda o=option, v=value: multi(G, T, P, **{o: v}))

    @pytest.mark.parametrize("name", ["resamples", "seed"])
    @pytest.mark.parametrize("value", [2.5, "a", None, True])
    def test_whole_numbers(self, name: str, value: Any) -> None:
        result = directional(list("aabb"), [1, 0, 1, 0], [1, 0, 0, 0])
        with pytest.raises(TypeError, match=f"{name} is {value!r}; a whole number (of 2 to 1,000,000 )?is needed"):
            result.confidence_interval(**{name: value})

    def test_intervals(self) -> None:
        result = directional(G, T, P)
        refuses(ValueError, "level is 95; it must lie strictly between 0 and 1", lambda: result.confidence_interval(95))
        refuses(ValueError, "method is 'magic'", lambda: result.confidence_interval(method="magic"))
        for resamples in (0, -1):
            refuses(ValueError, "resamples is", lambda r=resamples: result.confidence_interval(resamples=r))


class TestBase:
    def test_tables(self) -> None:
        pattern = (
            r"base has shape \(2, 3\); a row for each of the 2 given labels and a column for each of the 2 outcome"
        )
        refuses(ValueError, pattern, lambda: directional(G, G.copy(), G.copy(), base=np.ones((2, 3))))
        refuses(
            ValueError, "not negative, and not all 0", lambda: directional(G, G.copy(), G.copy(), base=-np.ones((2, 2)))
        )
        refuses(
            ValueError, "not negative, and not all 0", lambda: directional(G, G.copy(), G.copy(), base=np.zeros((2, 2)))
        )
        refuses(
            ValueError,
            "base holds missing values",
            lambda: directional(G, G.copy(), G.copy(), base=[[1, np.nan], [1, 1]]),
        )
        refuses(
            ValueError,
            "base row has no entry for the label '1'",
            lambda: directional(G, G.copy(), G.copy(), base={0: {0: 1}, 1: {}}),
        )
        refuses(ValueError, "yes/no labels, whose rows do not sum", lambda: directional(G, T, P, base=np.ones((2, 2))))

    def test_names(self) -> None:
        refuses(
            ValueError,
            "base is 'even'; the only base with a name is 'uniform'",
            lambda: directional(G, G.copy(), G.copy(), base="even"),
        )
        refuses(ValueError, "uniform.*give direction=", lambda: directional(G, G.copy(), G.copy(), base="uniform"))

    def test_conditionals(self) -> None:
        rates = [[0.5, 0.5], [0.1, 0.9]]
        refuses(
            ValueError, "no 'given' marginal", lambda: directional(G, G.copy(), G.copy(), base={"conditional": rates})
        )
        table = {"conditional": [[0.5, 1.5], [0.1, 0.9]], "given": [1, 1]}
        refuses(ValueError, r"outside \[0, 1\]", lambda: directional(G, G.copy(), G.copy(), base=table))
        table = {"conditional": rates, "given": [1, 1, 1]}
        refuses(
            ValueError,
            "one share for each of the 2 given labels",
            lambda: directional(G, G.copy(), G.copy(), base=table),
        )

    def test_labels(self) -> None:
        refuses(
            ValueError,
            "base given has 5, base truth has 6",
            lambda: directional(G, G.copy(), G.copy(), base=(G[:5], G)),
        )
        refuses(
            ValueError,
            "given has '0', '1'; base given has '1', '2'",
            lambda: directional(G, G.copy(), G.copy(), base=(G + 1, G)),
        )
        refuses((TypeError, ValueError), r"base .*pair.*tuple", lambda: directional(G, T, P, base=[G, T]))

    def test_direction(self) -> None:
        table = [[2, 0], [0, 1]]
        refuses(
            ValueError, "other values than -1, 0 and 1", lambda: directional(G, G.copy(), G.copy(), direction=table)
        )
        refuses(
            ValueError, r"direction has shape \(1, 2\)", lambda: directional(G, G.copy(), G.copy(), direction=[[1, -1]])
        )


class TestExcluded:
    def test_a_group_that_only_the_train_set_has(self) -> None:
        train = (["a", "b", "c"], [1, 0, 1])
        with pytest.warns(UserWarning, match=r"2 of 6 pairs are undefined.*\(c, 0\).*\.excluded lists them") as caught:
            result = directional(["a", "b", "a"], [1, 0, 0], [1, 1, 0], train=train)
        assert caught[0].filename == __file__  # the warning points at the caller's line
        assert [(row["given"], row["outcome"]) for row in result.excluded] == [("c", "0"), ("c", "1")]
        row = result.excluded[0]
        assert row["reason"] == "no record has the given label"
        assert (row["given_count"], row["outcome_count"], row["joint_count"]) == (0, 2, 0)
        assert len(result.pairs) == 4
        assert not np.isnan(result.value)

    def test_mals_of_a_task_never_predicted(self) -> None:
        with pytest.warns(UserWarning, match="never predicted"):
            result = mals(G, T, G, np.column_stack([P[:, 0], np.zeros(6, dtype=int)]))
        assert {row["outcome"] for row in result.excluded} == {"1"}
        assert {row["outcome"] for row in result.pairs.rows()} == {"0"}

    def test_nothing_is_left(self) -> None:
        nobody = np.zeros((6, 2), dtype=int)
        refuses(
            ValueError, "no pair is defined: no record has any of the given labels", lambda: directional(nobody, T, P)
        )
        refuses(ValueError, "no task is defined", lambda: mals(G, T, G, nobody))

    def test_a_weight_of_0_empties_a_group(self) -> None:
        with pytest.warns(UserWarning, match="2 of 4 pairs"):
            result = directional(G, T, P, weights=1 - G)
        assert {row["given"] for row in result.excluded} == {"1"}


def test_attributes_are_told_apart_from_typos() -> None:
    with pytest.raises(AttributeError, match="no attribute 'directinal'"):
        biasamp.directinal  # noqa: B018
    assert set(biasamp.__all__) <= set(dir(biasamp))
