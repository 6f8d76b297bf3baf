"""What the whole suite shares: what is left out is said, randomness is fixed, real data are optional."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from clusters import dask_client, spark
from extras import absent, all_wanted, data_folder, quick_wanted

__all__ = ["dask_client", "spark"]

# The same examples on every run: a failure that comes and goes helps nobody. A search for new ones is a
# matter of HYPOTHESIS_PROFILE=search.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets; tests that use it carry ``@pytest.mark.data``."""
    folder = data_folder()
    if folder is None:
        pytest.skip("BIASAMP_DATA is not set")
    assert folder.is_dir(), f"BIASAMP_DATA names {folder}, which is not a folder"
    return folder


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    if data_folder() is None:
        for item in items:
            if item.get_closest_marker("data") is not None:
                item.add_marker(pytest.mark.skip(reason="BIASAMP_DATA is not set"))
    if quick_wanted():
        slow = [item for item in items if item.get_closest_marker("slow") is not None]
        if slow:
            items[:] = [item for item in items if item.get_closest_marker("slow") is None]
            config.hook.pytest_deselected(items=slow)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say plainly what was left out and how to run it."""
    lines = []
    if not all_wanted() and absent():
        lines.append(f"tests that need {', '.join(absent())}: run `make test EXTRAS=all`")
    if quick_wanted():
        lines.append("tests marked slow, such as simulations of coverage: run `make test EXTRAS=all`")
    if data_folder() is None:
        lines.append("tests on real data: set BIASAMP_DATA to the folder of data sets")
    if lines:
        terminalreporter.section("left out of this run")
        for line in lines:
            terminalreporter.line(f"- {line}")
