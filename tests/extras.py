"""What tests need beyond the core install: asked for with ``needs``, told apart by BIASAMP_TEST_EXTRAS."""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

# The optional packages that some tests are about; ``make test EXTRAS=all`` installs them.
OPTIONAL = (
    "numba",
    "torch",
    "torchmetrics",
    "captum",
    "transformers",
    "PIL",
    "matplotlib",
    "openpyxl",
    "starlette",
    "playwright",
    "distributed",
    "pyspark",
)


def all_wanted() -> bool:
    """Whether this run promises to leave nothing out."""
    return os.environ.get("BIASAMP_TEST_EXTRAS") == "all"


def quick_wanted() -> bool:
    """Whether this run leaves out what takes long: ``make test`` of a newcomer does."""
    return os.environ.get("BIASAMP_TEST_EXTRAS") == "core"


def absent() -> list[str]:
    """The optional packages that are not installed."""
    return [name for name in OPTIONAL if find_spec(name) is None]


def data_folder() -> Path | None:
    """The folder of real data sets, where BIASAMP_DATA names one."""
    folder = os.environ.get("BIASAMP_DATA")
    return Path(folder) if folder else None


def needs(module: str) -> ModuleType:
    """Import an optional package, or skip the test; with BIASAMP_TEST_EXTRAS=all its absence is a failure.

    Called in a test it skips the test, called at the top of a file it skips the file.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if all_wanted():
            pytest.fail(f"BIASAMP_TEST_EXTRAS=all, but {module} cannot be imported: {error}")
        pytest.skip(f"{module} is not installed", allow_module_level=True)
