"""Columns for the fuzzer: mostly such as people have, in every container, and odd ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Rng = np.random.Generator


def _words(rng: Rng, n: int) -> Any:
    pool = rng.choice(
        np.array(["a", "b", "c", "", "NA", "é", "1", "0", "x y", "a|b", "[1]", "\ud800", "=1+1"], dtype=object),
        int(rng.integers(1, 4)),
    )
    return [str(value) for value in rng.choice(pool, n)]


def _numbers(rng: Rng, n: int) -> Any:
    kind = rng.choice(["int8", "int64", "uint64", "float32", "float64", "bool", "object"])
    values = rng.integers(0, int(rng.integers(2, 4)), n)
    return values.astype(kind)


def scores(rng: Rng, n: int) -> Any:
    """Probabilities, with ties."""
    values = rng.random(n).round(int(rng.integers(0, 4)))
    return values.astype(rng.choice(["float32", "float64", "float16"]))


def _with_missing(rng: Rng, n: int) -> Any:
    values = np.array(_MAKERS[int(rng.integers(0, 3))](rng, n), dtype=object)
    values[rng.random(n) < 0.2] = rng.choice(np.array([None, float("nan"), pd.NA, pd.NaT], dtype=object))
    return values.tolist()


def _lists(rng: Rng, n: int) -> Any:
    return [[str(x) for x in "abc" if rng.random() < 0.4] for _ in range(n)]


def _odd(rng: Rng, n: int) -> Any:
    return rng.choice(np.array([2**70, -1, 3, "x", 1.5, None, True, b"b", (1,), 1e300], dtype=object), n).tolist()


def _matrix(rng: Rng, n: int) -> Any:
    return rng.random((n, int(rng.integers(0, 4)))).round(int(rng.integers(0, 2)))


_MAKERS: list[Callable[[Rng, int], Any]] = [_words, _numbers, scores, _with_missing, _lists, _odd, _matrix]


def odd(rng: Rng, n: int) -> Any:
    """A column of any kind, at times of another length."""
    length = n if rng.random() < 0.9 else int(rng.choice([0, 1, n + 1]))
    make = _MAKERS[int(rng.choice(len(_MAKERS), p=[0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.1]))]
    return contained(rng, make(rng, length))


def contained(rng: Rng, values: Any) -> Any:
    """The values in some container."""
    if isinstance(values, np.ndarray) and values.ndim == 2:
        names = [str(i) for i in range(values.shape[1])]
        forms: list[Callable[[], Any]] = [
            lambda: values,
            lambda: np.asfortranarray(values),
            lambda: pd.DataFrame(values, columns=names),
            lambda: pl.DataFrame(values, schema=names),
            lambda: values[:, ::-1][:, ::-1],
        ]
        if len(names) == 1:  # which has no name in an array
            forms = forms[:2]
    else:
        forms = [
            lambda: values,
            lambda: pd.Series(values),
            lambda: pl.Series(values, strict=False),
            lambda: pa.array(values),
            lambda: pa.chunked_array([pa.array(values[:1]), pa.array(values[1:])]),
            lambda: pa.array(values).dictionary_encode(),
            lambda: pd.Series(values).astype("category"),
            lambda: pd.array(values),
            lambda: tuple(values),
        ]
        if not any(isinstance(value, (list, tuple)) for value in values):  # lists of one length would be a table
            forms.append(lambda: np.asarray(values))
    try:
        return forms[int(rng.integers(len(forms)))]()
    except Exception:  # a container that does not hold such values
        return values


def vocabulary(rng: Rng) -> list[Any]:
    """The values of one variable."""
    pools: list[list[Any]] = [
        [0, 1],
        [False, True],
        ["no", "yes"],
        ["w", "m"],
        ["a", "b", "c"],
        ["é", "x y", "=1+1", "a|b"],
        [3, 4, 5],
        ["<b>", "NA", "\u202e"],
    ]
    return pools[int(rng.integers(len(pools)))]


def variable(rng: Rng, n: int, values: list[Any]) -> list[Any]:
    """Some of the values in each record, every one of them at least once where there is room."""
    drawn = [*range(len(values)), *rng.integers(0, len(values), max(n - len(values), 0))]
    return [values[i] for i in rng.permutation(drawn)[:n]]


def changed(rng: Rng, truth: list[Any], values: list[Any]) -> list[Any]:
    """Predictions: the truth, with errors."""
    share = float(rng.choice([0.0, 0.1, 0.5]))
    return [values[int(rng.integers(len(values)))] if rng.random() < share else value for value in truth]
