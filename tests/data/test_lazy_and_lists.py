"""Lazy frames of polars, of which the needed columns are collected, and series and arrays of lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import biasamp

N = 120
RNG = np.random.default_rng(0)
WORDS = ["cat", "dog", "man", "woman"]
GROUP, TRUTH, SAID = RNG.choice(["w", "m"], N), RNG.integers(0, 2, N), RNG.integers(0, 2, N)
LISTS, MORE = ([[str(w) for w in RNG.choice(WORDS, RNG.integers(1, 4), replace=False)] for _ in range(N)] for _ in "ab")
FRAME = pl.DataFrame({"g": GROUP, "t": TRUTH, "p": SAID, "words": LISTS, "id": range(N), "text": ["x"] * N})
# A column that cannot be collected: whoever asks for it fails.
LAZY = FRAME.lazy().with_columns(boom=pl.col("text").cast(pl.Int64))
ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


def objects(lists: Any, kind: Any) -> Any:
    out = np.empty(len(lists), dtype=object)
    out[:] = [kind(item) for item in lists]
    return out


FORMS = {
    "polars": pl.Series,
    "pandas": pd.Series,
    "pandas of tuples": lambda lists: pd.Series([tuple(item) for item in lists]),
    "pandas of arrow": lambda lists: pd.Series(lists, dtype=pd.ArrowDtype(pa.list_(pa.string()))),
    "array of lists": lambda lists: objects(lists, list),
    "array of arrays": lambda lists: objects(lists, np.array),
    "arrow": pa.array,
    "arrow chunks": lambda lists: pa.chunked_array([lists[:50], lists[50:]]),
}


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_lazy_frames_are_audited(engine: str) -> None:
    settings: dict[str, Any] = {**ROLES, "metrics": ["directional"], "resamples": 20, "engine": engine}
    expected = biasamp.audit(FRAME, **settings).document["metrics"]
    assert biasamp.audit(LAZY, **settings).document["metrics"] == expected
    with pytest.raises(ValueError, match="data has no column 'gg'; did you mean 'g'"):
        biasamp.audit(LAZY, **{**settings, "attributes": "gg"})


def test_lazy_frames_as_train_and_base() -> None:
    other = FRAME.with_columns(t=1 - pl.col("t"))
    settings: dict[str, Any] = {**ROLES, "metrics": ["directional"], "resamples": 20}
    for role in ("train", "base"):
        expected = biasamp.audit(FRAME, **settings, **{role: other}).document["metrics"]
        lazy = other.lazy().with_columns(boom=pl.col("text").cast(pl.Int64))
        assert biasamp.audit(LAZY, **settings, **{role: lazy}).document["metrics"] == expected


def test_lazy_frames_are_counted_and_associated() -> None:
    assert biasamp.count(LAZY, **ROLES).to_dict()["records"] == N
    expected = biasamp.associate(LISTS, ["man", "woman"]).joint.tolist()
    for arguments in ({"label": "words", "record": "id"}, {"label": "words"}, {}):
        assert biasamp.associate(LAZY, ["man", "woman"], **arguments).joint.tolist() == expected


def test_lazy_frames_as_labels() -> None:
    lazy = [FRAME.lazy().select(name) for name in "gtp"]
    assert biasamp.directional(*lazy).value == biasamp.directional(GROUP, TRUTH, SAID).value


@pytest.mark.parametrize("form", FORMS)
def test_series_and_arrays_of_lists(form: str) -> None:
    truth, said = FORMS[form](LISTS), FORMS[form](MORE)
    expected = biasamp.directional(GROUP, LISTS, MORE).value
    assert biasamp.directional(GROUP, truth, said).value == expected
    settings: dict[str, Any] = {**ROLES, "metrics": ["directional"], "resamples": 20}
    for engine in ("auto", "local"):
        found = biasamp.audit({"g": GROUP, "t": truth, "p": said}, **settings, engine=engine)
        assert found.document["metrics"][0]["value"] == pytest.approx(expected, abs=1e-15)
    found = biasamp.associate(truth, ["man", "woman"])
    assert found.joint.tolist() == biasamp.associate(LISTS, ["man", "woman"]).joint.tolist()


@pytest.mark.parametrize("values", [pl.Series(["a", "b"]), pd.Series(["a", "b"]), pa.array(["a", "b"])])
def test_a_series_of_text_is_no_list_of_labels(values: Any) -> None:
    with pytest.raises(
        TypeError, match=r"data is a series of .*string; a series of lists of labels is read, or a table"
    ):
        biasamp.associate(values, ["a", "b"])
