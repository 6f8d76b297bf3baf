"""The same value from every library, every type of number and every layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import biasamp
from biasamp import directional, mals, multi
from biasamp.data.frames import arrow_column, arrow_table, named_columns
from extras import needs

rng = np.random.default_rng(11)
N = 120
GROUP = rng.choice(["a", "b", "c"], N)
CODES = rng.integers(0, 3, N)
T = (rng.random((N, 4)) < 0.4).astype(np.int64)
P = np.where(rng.random((N, 4)) < 0.3, 1 - T, T)
SOFT = rng.integers(0, 9, (N, 4)) / 8  # eighths: exact in every float type
NAMES = ["w", "x", "y", "z"]

SETS: dict[str, Callable[[Any], Any]] = {
    "lists": lambda m: m.tolist(),
    "tuples": lambda m: tuple(map(tuple, m.tolist())),
    "list of arrays": lambda m: list(m),
    "fortran order": np.asfortranarray,
    "strided": lambda m: np.repeat(m, 2, axis=1)[:, ::2],
    "reversed view": lambda m: m[::-1][::-1],
    "mapping": lambda m: {name: m[:, i] for i, name in enumerate(NAMES)},
    "pandas": lambda m: pd.DataFrame(m, columns=NAMES),
    "pandas with numbers for names": lambda m: pd.DataFrame(m),
    "pandas with an index": lambda m: pd.DataFrame(m, columns=NAMES, index=np.arange(N)[::-1] % 7),
    "pandas with two levels of names": lambda m: pd.DataFrame(
        m, columns=pd.MultiIndex.from_product([["u", "v"], ["x", "y"]])
    ),
    "polars": lambda m: pl.DataFrame(m, schema=NAMES),
    "pyarrow table": lambda m: pa.table({n: m[:, i] for i, n in enumerate(NAMES)}),
    "pyarrow batch": lambda m: pa.RecordBatch.from_pydict({n: m[:, i] for i, n in enumerate(NAMES)}),
    "pyarrow in chunks": lambda m: pa.concat_tables(
        [pa.table({n: part[:, i] for i, n in enumerate(NAMES)}) for part in (m[:50], m[50:])]
    ),
    "csr": sp.csr_matrix,
    "csc": sp.csc_matrix,
    "coo array": sp.coo_array,
    "masked, none missing": lambda m: np.ma.masked_array(m, mask=False),
    "masked pandas nullable": lambda m: pd.DataFrame(m, columns=NAMES).convert_dtypes(),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("predicted", [P, SOFT], ids=["hard", "soft"])
def test_sets_of_labels(name: str, predicted: Any) -> None:
    form = SETS[name]
    for metric in (directional, multi):
        expected = metric(GROUP, T, predicted)
        for mixed in (metric(GROUP, form(T), form(predicted)), metric(GROUP, form(T), predicted)):
            assert mixed.value == expected.value
            assert mixed.pairs["delta"].tolist() == expected.pairs["delta"].tolist()


COLUMNS: dict[str, Callable[[Any], Any]] = {
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(v.tolist()),
    "objects": lambda v: v.astype(object),
    "pandas": pd.Series,
    "pandas index": pd.Index,
    "pandas category": lambda v: pd.Series(pd.Categorical(v)),
    "pandas category with unobserved levels": lambda v: pd.Series(
        pd.Categorical(v, categories=["zz", *np.unique(v).tolist(), "00"])
    ),
    "pandas string": lambda v: pd.Series(v.tolist()).convert_dtypes(),
    "pandas arrow": lambda v: pd.Series(pa.array(v.tolist()).to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": lambda v: pl.Series(v.tolist()),
    "pyarrow": lambda v: pa.array(v.tolist()),
    "pyarrow chunked": lambda v: pa.chunked_array([v[:7].tolist(), v[7:].tolist()]),
    "pyarrow dictionary": lambda v: pa.array(v.tolist()).dictionary_encode(),
    "numpy strings": lambda v: v.astype(np.dtypes.StringDType()) if v.dtype.kind == "U" else v,
    "bytes": lambda v: np.char.encode(v) if v.dtype.kind == "U" else v,
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("values", [GROUP, CODES], ids=["text", "numbers"])
def test_one_column(name: str, values: Any) -> None:
    expected = directional(values, CODES.copy(), CODES[::-1])
    result = directional(COLUMNS[name](values), COLUMNS[name](CODES.copy()), COLUMNS[name](CODES[::-1]))
    assert result.value == expected.value
    assert result.pairs["outcome"].tolist() == expected.pairs["outcome"].tolist()
    assert result.pairs["delta"].tolist() == expected.pairs["delta"].tolist()


@pytest.mark.parametrize("name", ["polars category", "polars enum", "polars binary labels"])
def test_polars_types(name: str) -> None:
    expected = directional(GROUP, T, P).value
    if name == "polars binary labels":
        frame = pl.DataFrame(T.astype(bool), schema=NAMES)
        assert directional(GROUP, frame, P).value == expected
        return
    kind = pl.Categorical if name == "polars category" else pl.Enum(["c", "a", "b", "unseen"])
    assert directional(pl.Series(GROUP.tolist(), dtype=kind), T, P).value == expected


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32"]
)
def test_numpy_types(dtype: str) -> None:
    """Integers of any width count rightly: 120 records would wrap an int8 that was summed as it came."""
    for metric in (directional, multi):
        assert metric(GROUP, T.astype(dtype), P.astype(dtype)).value == metric(GROUP, T, P).value
    ones = np.ones((300, 2), dtype=dtype)
    assert directional(np.arange(300) % 2, ones, ones.copy()).pairs["truth_rate"].tolist() == [1.0] * 4
    assert directional(CODES.astype(dtype), T, P).n == N
    if dtype.startswith("float"):
        assert directional(GROUP, T, SOFT.astype(dtype)).value == directional(GROUP, T, SOFT).value


@pytest.mark.parametrize("dtype", ["boolean", "Int8", "UInt8", "Int64", "Float32", "Float64", "bool[pyarrow]"])
def test_pandas_nullable_types(dtype: str) -> None:
    t, p = (pd.DataFrame(m, columns=NAMES).astype(dtype) for m in (T, P))
    assert directional(GROUP, t, p).value == directional(GROUP, T, P).value
    mixed = pd.DataFrame({"w": t["w"], "x": T[:, 1].astype(bool), "y": T[:, 2].astype("f4"), "z": T[:, 3]})
    assert directional(GROUP, mixed, p).value == directional(GROUP, T, P).value


def test_pandas_sparse() -> None:
    frame = pd.DataFrame(T, columns=NAMES).astype(pd.SparseDtype("int64", 0))
    assert directional(GROUP, frame, P).value == directional(GROUP, T, P).value


@pytest.mark.parametrize("dtype", ["uint8", "bool", "float32", "float64"])
def test_scipy_sparse_types(dtype: str) -> None:
    sparse = sp.csr_array(T.astype(dtype)), sp.csr_array(P.astype(dtype))
    assert directional(GROUP, *sparse).value == directional(GROUP, T, P).value
    assert multi(GROUP, *sparse).value == multi(GROUP, T, P).value
    assert mals(GROUP, sparse[0], GROUP, sparse[1]).value == mals(GROUP, T, GROUP, P).value


def test_sparse_with_stored_zeros_and_duplicates() -> None:
    stored = sp.csr_array(T.astype(float))
    stored.data[0] = 0
    dense = stored.toarray()
    assert directional(GROUP, stored, P).value == directional(GROUP, dense, P).value
    assert stored.nnz == T.sum()  # the caller's matrix is left as it was
    doubled = sp.coo_array(([0.5, 0.5], ([0, 0], [1, 1])), shape=(N, 4))
    assert directional(GROUP, T, doubled).value == directional(GROUP, T, doubled.toarray()).value


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
)
def test_torch(dtype: str) -> None:
    torch = needs("torch")
    kind = getattr(torch, dtype)
    t, p = torch.tensor(T).to(kind), torch.tensor(P).to(kind)
    assert directional(torch.tensor(CODES), t, p).value == directional(CODES, T, P).value
    assert multi(CODES, t, p.T.contiguous().T).value == multi(CODES, T, P).value
    if "float" in dtype:
        soft = torch.tensor(SOFT).to(kind).requires_grad_()
        assert directional(CODES, t, soft).value == directional(CODES, T, SOFT).value
        assert (
            directional(CODES, T, SOFT, weights=soft[:, 0]).value
            == directional(CODES, T, SOFT, weights=SOFT[:, 0]).value
        )
    assert directional(CODES, list(t), list(p)).value == directional(CODES, T, P).value
    assert directional(CODES, t.to_sparse(), p.to_sparse()).value == directional(CODES, T, P).value


def test_lists_of_labels() -> None:
    held = [[NAMES[j] for j in np.flatnonzero(row)] for row in T]
    said = [[NAMES[j] for j in np.flatnonzero(row)] for row in P]
    expected = directional(GROUP, T, P).value
    for form in (
        lambda x: x,
        lambda x: [set(items) for items in x],
        lambda x: pd.Series(x),
        lambda x: pl.Series(x, dtype=pl.List(pl.String)),
        lambda x: pa.array(x),
        lambda x: pa.array(x, pa.large_list(pa.large_string())),
        lambda x: np.array([*x, None], dtype=object)[:-1],
    ):
        assert directional(GROUP, form(held), form(said)).value == expected


def test_lists_of_numbers() -> None:
    held = [[int(j) for j in np.flatnonzero(row)] for row in T]
    said = [[int(j) for j in np.flatnonzero(row)] for row in P]
    for form in (lambda x: x, pd.Series, pl.Series, pa.array):
        assert directional(GROUP, form(held), form(said)).value == directional(GROUP, T, P).value


def test_lists_and_bytes_that_share_their_items() -> None:
    column = arrow_column("x", pa.array([["a"], None, ["b", "a"]], pa.list_view(pa.string())))
    assert (column.categories, column.indptr.tolist(), column.gone.tolist()) == (
        ("a", "b"),
        [0, 1, 1, 3],
        [False, True, False],
    )
    assert arrow_column("x", pa.array([b"w", b"m"], pa.binary_view())).categories == ("m", "w")


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (pa.list_(pa.string()), "lists"),
        (pa.list_view(pa.string()), "lists"),
        (pa.struct([("a", pa.int64())]), "fields"),
        (pa.map_(pa.string(), pa.int64()), "maps"),
    ],
)
def test_lists_of_something_else_than_labels_are_refused(kind: Any, what: str) -> None:
    with pytest.raises(TypeError, match=f"^column 'x' holds lists of {what}; a list of labels per record is read$"):
        arrow_column("x", pa.array([[]], pa.list_(kind)))


def test_one_category_however_it_is_spelled() -> None:
    """1, 1.0, True and "1" are one category, so truth and predictions of different types meet."""
    values = (CODES > 0).astype(int)
    truth = directional(GROUP, values, values[::-1]).pairs["delta"].tolist()
    for form in (
        values[::-1].astype(bool),
        values[::-1].astype(float),
        values[::-1].astype(str),
        [str(v) for v in values[::-1]],
        pl.Series(values[::-1].tolist()).cast(pl.Boolean),
        pd.Series(values[::-1], dtype="Int64"),
    ):
        assert directional(GROUP, values, form).pairs["delta"].tolist() == truth


def test_anything_with_an_arrow_stream() -> None:
    class Stream:
        def __init__(self, table: Any) -> None:
            self.table = table

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return self.table.__arrow_c_stream__(requested_schema)

    table = pa.table({n: T[:, i] for i, n in enumerate(NAMES)})
    assert directional(GROUP, Stream(table), P).value == directional(GROUP, T, P).value
    result = directional(GROUP, T, P)
    assert pl.DataFrame(result.pairs)["delta"].to_list() == result.pairs["delta"].tolist()


def test_columns_of_the_same_names_pair_by_name() -> None:
    t = pd.DataFrame(T, columns=NAMES)
    p = pd.DataFrame(P, columns=NAMES)[["y", "w", "z", "x"]]
    assert directional(GROUP, t, p).value == directional(GROUP, T, P).value
    renamed = pd.DataFrame(P, columns=["w_hat", "x_hat", "y_hat", "z_hat"])
    assert directional(GROUP, t, renamed).value == directional(GROUP, T, P).value


def test_one_column_is_a_variable_and_a_matrix_of_one_column_a_label() -> None:
    t, p = T[:, 0], P[:, 0]
    assert len(directional(GROUP, t, p).pairs) == 6
    for form in (lambda x: x[:, None], lambda x: pd.DataFrame({"t": x}), biasamp.binary, lambda x: {"t": x}):
        assert len(directional(GROUP, form(t), form(p)).pairs) == 3
    assert len(directional(GROUP, biasamp.categorical(t[:, None]), biasamp.categorical(p[:, None])).pairs) == 6


def test_text_columns_among_several_give_a_label_for_every_category() -> None:
    frame = pd.DataFrame({"g": GROUP, "yes": T[:, 0]})
    result = directional(frame, T, P)
    assert list(dict.fromkeys(result.pairs["given"].tolist())) == ["g=a", "g=b", "g=c", "yes"]


def test_input_is_never_changed() -> None:
    t, p, w = T.astype(float), SOFT.copy(), np.full(N, 0.5)
    frame = pd.DataFrame(T, columns=NAMES)
    before = frame.copy()
    for metric in (directional, multi):
        metric(GROUP, t, p, weights=w)
        metric(GROUP, frame, p)
    np.testing.assert_array_equal(t, T)
    np.testing.assert_array_equal(p, SOFT)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    "twice",
    [
        pd.DataFrame(T, columns=["a", "b", "a", "c"]),
        pa.table([T[:, 0], T[:, 1]], names=["a", "a"]),
        {1: T[:, 0], "1": T[:, 1]},
    ],
    ids=["pandas", "pyarrow", "mapping"],
)
def test_columns_of_the_same_name_are_refused(twice: Any) -> None:
    """Two labels of one name cannot be told apart, so one would silently take the other's place."""
    with pytest.raises(ValueError, match=r"truth has (columns of the same name|more than one column named)"):
        directional(GROUP, twice, P)


def test_python_objects_of_mixed_types_become_arrow_values() -> None:
    """As counting in parts needs them; what they say is what reading them in memory says."""
    data = {
        "mixed": ["a", 1, None, 2.0],
        "lists": [["a", 1], [], None, [2.0, "a"]],
        "numbers": [True, 2, None, 3],
        "array": np.arange(4),
    }
    table = arrow_table(data, None, "data")
    assert table["mixed"].to_pylist() == ["a", "1", None, "2"]
    assert table["lists"].to_pylist() == [["1", "a"], [], None, ["2", "a"]]
    assert table["numbers"].to_pylist() == [1, 2, None, 3]
    for name, column in named_columns(data, list(data), "data").items():
        again = arrow_column(name, table[name])
        assert again.categories == column.categories
        assert np.array_equal(again.values, column.values)
    with pytest.raises(ValueError, match="the columns of data have different lengths"):
        arrow_table({"a": [1], "b": [1, 2]}, None, "data")


@pytest.mark.parametrize("column", [{"a": 1, "b": 2}, {"a", "b"}, frozenset({"a"}), {"a": {}}])
def test_a_mapping_or_a_set_is_no_column(column: Any) -> None:
    """Their keys passed for values, in no order of records."""
    with pytest.raises(TypeError, match=rf"is a {type(column).__name__}; a column of values is needed"):
        biasamp.associate({"record": column, "label": ["x", "y"]}, ["x"], record="record", label="label")
    with pytest.raises((TypeError, ValueError), match="'g'"):
        biasamp.audit({"g": column, "t": [1, 0], "p": [1, 0]}, attributes="g", tasks="t", task_predictions="p")
