"""Dask and Spark clusters of real processes: the same results as threads give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from biasamp.data.parts import split_frame, split_table
from biasamp.engines import Engine, engine_for
from cluster_kernels import add, fail, groups, spread, total

KEYS = np.random.default_rng(0).integers(0, 300, 2000)
TABLE = pa.table({"value": np.arange(2000), "key": KEYS})
PARTS = split_table(TABLE, part_rows=150)


@pytest.fixture(params=["local", "dask", "spark"])
def engine(request: pytest.FixtureRequest) -> Any:
    given = "local" if request.param == "local" else request.getfixturevalue(_FIXTURE[request.param])
    with engine_for(given) as found:
        assert found.name == request.param
        yield found


_FIXTURE = {"dask": "dask_client", "spark": "spark"}


def frame_of(engine: Engine) -> Any:
    """The table as a dataframe of the engine's own."""
    if engine.name == "dask":
        import dask.dataframe as dd

        return dd.from_pandas(TABLE.to_pandas(), npartitions=5)
    rows = list(zip(TABLE["value"].to_pylist(), TABLE["key"].to_pylist(), strict=True))
    return engine.session.createDataFrame(rows, "value long, key long").repartition(5)  # type: ignore[attr-defined]


def check(engine: Engine, parts: Any) -> None:
    assert engine.reduce(total, parts, add) == 1999 * 1000
    found = engine.regroup(spread, parts, groups, add)
    assert sum(rows for rows, _ in found) == 2000
    assert sum(distinct for _, distinct in found) == len(set(KEYS.tolist()))


def test_parts_are_counted_once_and_keys_come_together(engine: Engine) -> None:
    check(engine, PARTS)
    expected = [(i, int(np.arange(2000)[150 * i : 150 * (i + 1)].sum())) for i in range(14)]
    assert sorted(engine.map(total, PARTS)) == expected


def test_an_error_arrives_as_it_was_raised(engine: Engine) -> None:
    for call in (lambda: engine.reduce(fail, PARTS, add), lambda: list(engine.map(fail, PARTS))):
        with pytest.raises(ValueError, match=r"^rows 450 on is damaged$"):
            call()


@pytest.mark.parametrize("kind", ["dask", "spark"])
def test_dataframes_of_a_cluster_stay_there(kind: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(_FIXTURE[kind])
    with engine_for(kind) as engine:
        frame = frame_of(engine)
        with engine_for("auto", frame) as found:
            assert found.name == kind
            check(found, split_frame(frame, ["value", "key"]))
        with pytest.raises(ValueError, match=f"stays on its cluster; engine is 'local', and 'auto' or '{kind}'"):
            engine_for("local", frame)
        with pytest.raises(ValueError, match="data has no column 'valu'; did you mean 'value'"):
            split_frame(frame, ["valu"])
