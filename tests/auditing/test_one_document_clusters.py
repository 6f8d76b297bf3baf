"""One audit on Dask and Spark: the document of records in memory, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.one_document import ROLES, documents

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("cluster", [False, True])
@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("kind", ["dask", "spark"])
def test_clusters_of_machines_give_the_document_of_memory(
    kind: str, roles: str, cluster: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    fixture = {"dask": "dask_client", "spark": "spark"}[kind]
    running = {fixture: request.getfixturevalue(fixture)}
    options = {"roles": roles, "cluster": cluster, "resamples": 50}
    expected = documents(tmp_path, ("memory",), **options)["folder"]  # type: ignore[arg-type]
    made = documents(tmp_path, (kind,), **options, **running)  # type: ignore[arg-type]
    assert list(made.values()) == [expected]
